//! The checker's reading of a product function's body: blocks, edges, the frame's fields, label variables.

use super::plain::{is_phi, numbers_of};
use crate::llvm::{Block, Value};
use inkwell::llvm_sys::LLVMOpcode;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

/// An edge: a block and the index of a successor of its terminator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(super) struct Edge {
    pub(super) from: u32,
    pub(super) successor: u32,
}

pub(super) struct BodyBlock {
    pub(super) block: Block,
    pub(super) phis: Vec<Value>,
    pub(super) body: Vec<Value>,
    pub(super) terminator: Value,
    pub(super) successors: Vec<u32>,
    pub(super) in_edges: Vec<Edge>,
}

pub(super) struct Body {
    pub(super) function: Value,
    pub(super) blocks: Vec<BodyBlock>,
    /// The block that each instruction stands in.
    pub(super) block_of: HashMap<Value, u32>,
    /// Addresses of the frame's fields.
    pub(super) fields: HashMap<Value, u32>,
    /// What points to a frame.
    pub(super) frames: HashSet<Value>,
    /// Calls of the continuation.
    pub(super) departures: Vec<Value>,
    /// Per member: the variables that say where it goes on.
    pub(super) labels: Vec<HashSet<Value>>,
    /// The variables that say where the versions meet.
    pub(super) stops: HashSet<Value>,
    /// Per member (continuations): what the first label variable is.
    pub(super) first_label: Vec<Value>,
    /// Where the continuation goes on with a member at a number.
    pub(super) resumes: HashMap<(usize, u64), u32>,
    /// Per block and member: the phi that says where the member goes on.
    label_phis: Vec<Vec<Option<Value>>>,
    incoming: Incoming,
}

/// Phis' values by predecessor, looked up many times.
#[derive(Default)]
pub(super) struct Incoming(RefCell<HashMap<Value, HashMap<Block, Value>>>);

impl Incoming {
    pub(super) fn get(&self, phi: Value, from: Block) -> Option<Value> {
        let mut all = self.0.borrow_mut();
        let of_phi = all.entry(phi).or_insert_with(|| {
            phi.incoming()
                .into_iter()
                .map(|(value, block)| (block, value))
                .collect()
        });
        of_phi.get(&from).copied()
    }
}

/// A call of a continuation: (frame, number, stop), the frame being memory of the caller.
fn is_departure(call: Value) -> bool {
    let is_integer = |index| {
        call.operand(index)
            .is_some_and(|operand| operand.ty().integer_width() == Some(32))
    };
    call.is_call()
        && call.argument_count() == 3
        && call.called_function().is_some_and(|callee| {
            !callee.is_declaration() && super::is_product_name(&callee.name_text())
        })
        && call
            .operand(0)
            .is_some_and(|frame| frame.is_instruction() && frame.opcode() == LLVMOpcode::LLVMAlloca)
        && is_integer(1)
        && is_integer(2)
}

impl Body {
    pub(super) fn of(
        function: Value,
        members: usize,
        is_continuation: bool,
    ) -> Result<Body, String> {
        let all = function.blocks();
        let index_of = numbers_of(&all);
        let mut blocks = Vec::new();
        let mut block_of = HashMap::new();
        let mut departures = Vec::new();
        let mut addresses = Vec::new();
        for (number, &block) in all.iter().enumerate() {
            let mut phis = Vec::new();
            let mut body = Vec::new();
            let mut terminator = None;
            for instruction in block.instructions() {
                block_of.insert(instruction, number as u32);
                if is_phi(instruction) {
                    phis.push(instruction);
                } else if instruction.is_terminator() {
                    terminator = Some(instruction);
                } else {
                    if instruction.opcode() == LLVMOpcode::LLVMGetElementPtr {
                        addresses.push(instruction);
                    }
                    if !is_continuation && is_departure(instruction) {
                        departures.push(instruction);
                    }
                    body.push(instruction);
                }
            }
            let terminator = terminator.ok_or("a block without terminator")?;
            blocks.push(BodyBlock {
                block,
                phis,
                body,
                terminator,
                successors: terminator
                    .successors()
                    .iter()
                    .map(|block| index_of[block])
                    .collect(),
                in_edges: Vec::new(),
            });
        }
        for from in 0..blocks.len() {
            for (successor, target) in blocks[from].successors.clone().into_iter().enumerate() {
                blocks[target as usize].in_edges.push(Edge {
                    from: from as u32,
                    successor: successor as u32,
                });
            }
        }
        let parameters = function.parameters();
        let frames: HashSet<Value> = match is_continuation {
            true => HashSet::from([parameters[0]]),
            false => departures
                .iter()
                .filter_map(|call| call.operand(0))
                .collect(),
        };
        let mut fields = HashMap::new();
        for address in addresses {
            let operands = address.operands();
            let [base, zero, field] = operands[..] else {
                continue;
            };
            let index = field.as_integer();
            if let (true, Some(0), Some(index)) = (frames.contains(&base), zero.as_integer(), index)
            {
                fields.insert(address, index as u32);
            }
        }
        let mut found = Body {
            function,
            blocks,
            block_of,
            fields,
            frames,
            departures,
            labels: Vec::new(),
            stops: HashSet::new(),
            first_label: Vec::new(),
            label_phis: Vec::new(),
            resumes: HashMap::new(),
            incoming: Incoming::default(),
        };
        if is_continuation {
            found.find_dispatches(members)?;
            found.stops = found.stop_variables(parameters[2]);
        } else {
            let all: HashSet<Value> = found
                .departures
                .iter()
                .filter_map(|call| call.operand(1))
                .flat_map(variable)
                .collect();
            found.labels = vec![all; members];
        }
        found.label_phis = found
            .blocks
            .iter()
            .map(|block| {
                let phi_of = |labels: &HashSet<Value>| {
                    let mut phis = block.phis.iter().copied();
                    phis.find(|phi| labels.contains(phi))
                };
                found.labels.iter().map(phi_of).collect()
            })
            .collect();
        Ok(found)
    }

    /// The continuation begins with one switch per member, each behind the default of the one before.
    fn find_dispatches(&mut self, members: usize) -> Result<(), String> {
        let mut block = 0u32;
        let mut steps = 0;
        while self.first_label.len() < members {
            let terminator = self.blocks[block as usize].terminator;
            let successors = &self.blocks[block as usize].successors;
            match terminator.opcode() {
                LLVMOpcode::LLVMBr if successors.len() == 1 => {}
                LLVMOpcode::LLVMSwitch => {
                    let k = self.first_label.len();
                    let cases = terminator.case_values().into_iter().zip(&successors[1..]);
                    for (number, &target) in cases {
                        self.resumes
                            .extend(number.as_integer().map(|number| ((k, number), target)));
                    }
                    self.first_label.extend(terminator.operand(0));
                }
                // A version that has ended does not go on.
                LLVMOpcode::LLVMBr
                    if terminator
                        .operand(0)
                        .and_then(super::tested_flag)
                        .is_some_and(|(_, has_ended)| has_ended) =>
                {
                    block = successors[1];
                    steps += 1;
                    if steps > self.blocks.len() {
                        return Err("a version without a switch that lets it go on".into());
                    }
                    continue;
                }
                _ => return Err("a version without a switch that lets it go on".into()),
            }
            block = successors[0];
            steps += 1;
            if steps > self.blocks.len() {
                return Err("a version without a switch that lets it go on".into());
            }
        }
        self.labels = self.first_label.iter().map(|&v| variable(v)).collect();
        Ok(())
    }

    fn stop_variables(&self, parameter: Value) -> HashSet<Value> {
        let phis = self.blocks.iter().flat_map(|block| &block.phis);
        let mut stops: HashSet<Value> = phis
            .copied()
            .filter(|phi| phi.incoming_values().contains(&parameter))
            .flat_map(variable)
            .collect();
        stops.insert(parameter);
        stops
    }

    pub(super) fn target(&self, edge: Edge) -> u32 {
        self.blocks[edge.from as usize].successors[edge.successor as usize]
    }

    /// What `value` is on the way along `edge` if it is a phi of the edge's target.
    pub(super) fn on_edge(&self, value: Value, edge: Edge) -> Value {
        let target = self.target(edge);
        if is_phi(value) && self.block_of.get(&value) == Some(&target) {
            let from = self.blocks[edge.from as usize].block;
            return self.incoming.get(value, from).unwrap_or(value);
        }
        value
    }

    /// The phi of `block` that says where member `k` goes on.
    pub(super) fn label_phi(&self, block: u32, k: usize) -> Option<Value> {
        self.label_phis[block as usize][k]
    }
}

/// Whose a value seems to be, from the names of globals and from arguments, along uses in both directions. Only
/// a hint about which version to try first.
pub(super) fn colours(body: &Body, arguments: &HashMap<Value, usize>) -> HashMap<Value, usize> {
    let mut colour: HashMap<Value, Option<usize>> = HashMap::new();
    let mut by_field: HashMap<u32, Vec<Value>> = HashMap::new();
    let mut work: Vec<(Value, usize)> = arguments
        .iter()
        .map(|(&v, &version)| (v, version))
        .collect();
    let all = || {
        body.blocks
            .iter()
            .flat_map(|block| block.phis.iter().chain(&block.body))
            .copied()
    };
    let field_of = |instruction: Value| {
        let (address, value) = match instruction.opcode() {
            LLVMOpcode::LLVMLoad => (instruction.operand(0)?, instruction),
            LLVMOpcode::LLVMStore => (instruction.operand(1)?, instruction.operand(0)?),
            _ => return None,
        };
        Some((*body.fields.get(&address)?, value))
    };
    let is_field_store = |value: Value| {
        value.is_instruction()
            && value.opcode() == LLVMOpcode::LLVMStore
            && field_of(value).is_some()
    };
    for instruction in all() {
        if let Some((field, value)) = field_of(instruction) {
            by_field.entry(field).or_default().push(value);
        } else if !mixes(instruction) {
            work.extend(version_named(instruction).map(|version| (instruction, version)));
        }
    }
    let mut fields_of_value: HashMap<Value, Vec<u32>> = HashMap::new();
    for (&field, values) in &by_field {
        for &value in values {
            fields_of_value.entry(value).or_default().push(field);
        }
    }
    while let Some((value, version)) = work.pop() {
        let is_frame = body.frames.contains(&value) || body.fields.contains_key(&value);
        if is_frame || is_field_store(value) {
            continue;
        }
        match colour.get(&value) {
            None => {}
            Some(Some(known)) if *known != version => {
                colour.insert(value, None);
                continue;
            }
            _ => continue,
        }
        colour.insert(value, Some(version));
        for user in value.users() {
            if user.is_instruction() && body.block_of.contains_key(&user) && !mixes(user) {
                work.push((user, version));
            }
        }
        if value.is_instruction() && !mixes(value) && !compares(value) {
            for operand in value.operands() {
                if operand.is_instruction() && !mixes(operand) {
                    work.push((operand, version));
                }
            }
        }
        for field in fields_of_value.get(&value).into_iter().flatten() {
            for &other in &by_field[field] {
                if other.is_instruction() {
                    work.push((other, version));
                }
            }
        }
    }
    colour
        .into_iter()
        .filter_map(|(value, version)| Some((value, version?)))
        .collect()
}

/// Instructions in which values of several versions meet.
fn mixes(instruction: Value) -> bool {
    match instruction.opcode() {
        LLVMOpcode::LLVMInsertValue | LLVMOpcode::LLVMStore | LLVMOpcode::LLVMGetElementPtr => {
            instruction.opcode() == LLVMOpcode::LLVMInsertValue
        }
        LLVMOpcode::LLVMCall => instruction
            .called_function()
            .is_some_and(|callee| super::is_product_name(&callee.name_text())),
        _ => instruction.is_terminator(),
    }
}

fn compares(instruction: Value) -> bool {
    matches!(
        instruction.opcode(),
        LLVMOpcode::LLVMICmp | LLVMOpcode::LLVMAnd | LLVMOpcode::LLVMOr
    )
}

/// The version whose global an instruction names.
fn version_named(instruction: Value) -> Option<usize> {
    let mut work = instruction.operands();
    let mut steps = 0;
    while let Some(value) = work.pop() {
        steps += 1;
        if value.is_global() {
            if let Some(version) = super::version_of(&value.name_text()) {
                return Some(version);
            }
        } else if value.expression_opcode().is_some() && steps < 32 {
            work.extend(value.operands());
        }
    }
    None
}

/// A variable as phis: `value` and all phis that flow into it.
fn variable(value: Value) -> HashSet<Value> {
    let mut all = HashSet::new();
    let mut work = vec![value];
    while let Some(value) = work.pop() {
        if !value.is_constant() && all.insert(value) && is_phi(value) {
            work.extend(value.incoming_values());
        }
    }
    all
}
