//! The checker's reading of a product function's body: blocks, edges, and the memory that is the function's own.
//!
//! Before clean-up a product function keeps its versions' values in *cells* (allocas called `slot` and `result`,
//! fields of the continuation's frame) and where they go on in *controls*. Nothing else uses that memory.

use super::plain::{is_phi, numbers_of};
use crate::llvm::{Block, Type, Value};
use inkwell::llvm_sys::LLVMOpcode;
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

/// Memory that holds a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Control {
    /// In the lock-step function: where all members go on in the continuation.
    State,
    /// In the continuation: where this member goes on.
    Resume(usize),
    /// Where the members meet.
    Stop,
}

/// Memory that holds values of versions.
pub(super) type Cell = u32;

/// The cells of results come behind all others.
pub(super) const FIRST_RESULT: Cell = 1 << 30;

pub(super) struct Body {
    pub(super) function: Value,
    pub(super) blocks: Vec<BodyBlock>,
    /// The block that each instruction stands in.
    pub(super) block_of: HashMap<Value, u32>,
    /// Addresses of cells.
    pub(super) cells: HashMap<Value, Cell>,
    pub(super) controls: HashMap<Value, Control>,
    /// The lock-step function: addresses of fields of frames that it fills.
    pub(super) frame_fields: HashMap<Value, Cell>,
    /// The lock-step function: frames.
    frames: HashSet<Value>,
    /// The lock-step function: calls of the continuation.
    pub(super) departures: HashSet<Value>,
}

/// A call of a continuation: (frame, number, stop), the frame being memory of the caller.
fn is_departure(call: Value) -> bool {
    call.is_call()
        && call.argument_count() == 3
        && call.called_function().is_some_and(|callee| {
            !callee.is_declaration() && super::is_product_name(&callee.name_text())
        })
        && call.operand(0).is_some_and(is_alloca)
}

fn is_alloca(value: Value) -> bool {
    value.is_instruction() && value.opcode() == LLVMOpcode::LLVMAlloca
}

pub(super) fn is_load(value: Value) -> bool {
    value.is_instruction() && value.opcode() == LLVMOpcode::LLVMLoad
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
        let mut body = Body {
            function,
            blocks,
            block_of,
            cells: HashMap::new(),
            controls: HashMap::new(),
            frame_fields: HashMap::new(),
            frames: HashSet::new(),
            departures: HashSet::new(),
        };
        match is_continuation {
            true => body.read_continuation(members)?,
            false => body.read_lockstep()?,
        }
        body.check_memory()?;
        Ok(body)
    }

    fn read_lockstep(&mut self) -> Result<(), String> {
        let instructions = || self.blocks.iter().flat_map(|block| &block.body).copied();
        self.departures = instructions().filter(|&call| is_departure(call)).collect();
        for call in &self.departures {
            let operands = call.operands();
            self.frames.insert(operands[0]);
            for (operand, control) in [(operands[1], Control::State), (operands[2], Control::Stop)]
            {
                let memory = is_load(operand).then(|| operand.operand(0)).flatten();
                let memory = memory
                    .filter(|&memory| is_alloca(memory))
                    .ok_or_else(|| format!("`{}` is given no number", call.print().trim()))?;
                if *self.controls.entry(memory).or_insert(control) != control {
                    return Err(format!("`{}` mixes numbers", call.print().trim()));
                }
            }
        }
        for &instruction in &self.blocks[0].body {
            if is_alloca(instruction) && instruction.name().starts_with(b"slot") {
                self.cells.insert(instruction, self.cells.len() as Cell);
            }
        }
        for frame in self.frames.clone() {
            self.frame_fields.extend(fields_of(frame));
        }
        Ok(())
    }

    /// The continuation begins with one switch per member, each behind the default of the one before.
    fn read_continuation(&mut self, members: usize) -> Result<(), String> {
        let parameters = self.function.parameters();
        self.cells.extend(fields_of(parameters[0]));
        let given = |address: Value, parameter: Value| {
            let first = &self.blocks[0].body;
            first.iter().any(|store| {
                store.opcode() == LLVMOpcode::LLVMStore && store.operands() == [parameter, address]
            })
        };
        let mut resumes = Vec::new();
        let mut block = 0u32;
        let mut steps = 0;
        while resumes.len() < members {
            steps += 1;
            let unseen = || "a version without a switch that lets it go on".to_string();
            if steps > self.blocks.len() {
                return Err(unseen());
            }
            let BodyBlock {
                terminator,
                successors,
                ..
            } = &self.blocks[block as usize];
            let ended = terminator
                .operand(0)
                .and_then(super::tested_flag)
                .is_some_and(|(_, has_ended)| has_ended);
            block = match terminator.opcode() {
                LLVMOpcode::LLVMBr if successors.len() == 1 => successors[0],
                // A version that has ended does not go on.
                LLVMOpcode::LLVMBr if ended => successors[1],
                LLVMOpcode::LLVMSwitch => {
                    let number = terminator.operand(0).filter(|&number| is_load(number));
                    let memory = number.and_then(|number| number.operand(0));
                    let memory = memory.filter(|&memory| given(memory, parameters[1]));
                    resumes.push(memory.ok_or_else(unseen)?);
                    successors[0]
                }
                _ => return Err(unseen()),
            };
        }
        for (k, memory) in resumes.into_iter().enumerate() {
            if self.controls.insert(memory, Control::Resume(k)).is_some() {
                return Err("two versions go on at one number".into());
            }
        }
        let mut results = FIRST_RESULT;
        for &instruction in &self.blocks[0].body {
            if !is_alloca(instruction) || self.controls.contains_key(&instruction) {
                continue;
            }
            if given(instruction, parameters[2]) {
                self.controls.insert(instruction, Control::Stop);
            } else if instruction.name().starts_with(b"result") {
                self.cells.insert(instruction, results);
                results += 1;
            }
        }
        Ok(())
    }

    /// Cells and controls are used for nothing but to keep values of one type.
    fn check_memory(&self) -> Result<(), String> {
        let mut types: HashMap<(bool, Cell), Type> = HashMap::new();
        let cells = self
            .cells
            .iter()
            .map(|(&a, &cell)| (a, Some((false, cell))));
        let fields = self.frame_fields.iter();
        let fields = fields.map(|(&a, &cell)| (a, Some((true, cell))));
        let controls = self.controls.keys().map(|&a| (a, None));
        for (address, cell) in cells.chain(fields).chain(controls) {
            for user in address.users() {
                let ty = match user.opcode() {
                    LLVMOpcode::LLVMLoad => user.ty(),
                    LLVMOpcode::LLVMStore if user.operand(0) != Some(address) => {
                        user.operand(0).map(Value::ty).ok_or("a store of nothing")?
                    }
                    _ => return Err(format!("`{}` lets memory escape", user.print().trim())),
                };
                let known = match cell {
                    Some(cell) => *types.entry(cell).or_insert(ty),
                    None if ty.integer_width() == Some(32) => ty,
                    None => return Err(format!("`{}` is no number", user.print().trim())),
                };
                if known != ty {
                    return Err(format!("`{}` mixes types", user.print().trim()));
                }
            }
        }
        let bases = self.frames.iter().copied();
        let bases = bases.chain(match self.frames.is_empty() && self.departures.is_empty() {
            true => self.continuation_frame(),
            false => None,
        });
        for base in bases {
            let known = |user: &Value| {
                self.cells.contains_key(user)
                    || self.frame_fields.contains_key(user)
                    || self.departures.contains(user)
            };
            if let Some(user) = base.users().into_iter().find(|user| !known(user)) {
                return Err(format!("`{}` lets a frame escape", user.print().trim()));
            }
        }
        Ok(())
    }

    fn continuation_frame(&self) -> Option<Value> {
        let first = self.function.parameters().first().copied();
        first.filter(|_| {
            self.controls
                .values()
                .any(|c| matches!(c, Control::Resume(_)))
        })
    }

    pub(super) fn is_frame(&self, value: Value) -> bool {
        self.frames.contains(&value)
    }

    pub(super) fn target(&self, edge: Edge) -> u32 {
        self.blocks[edge.from as usize].successors[edge.successor as usize]
    }

    /// Whether an edge is taken only if no version has ended: its block has just found that out.
    pub(super) fn shows_all_alive(&self, edge: Edge) -> bool {
        let block = &self.blocks[edge.from as usize];
        let is_branch =
            block.terminator.opcode() == LLVMOpcode::LLVMBr && block.successors.len() == 2;
        let condition = block.terminator.operand(0).filter(|_| is_branch);
        let tested = condition.and_then(super::tests_ended);
        let Some((load, _)) = tested.filter(|(_, has_ended)| *has_ended == (edge.successor == 1))
        else {
            return false;
        };
        // A call may end a version, so none stands in between.
        let mut last = block.body.iter().rev();
        last.find(|&&i| i == load || i.is_call()) == Some(&load)
    }

    /// The only edge to a block.
    pub(super) fn only_edge(&self, block: u32) -> Option<Edge> {
        match self.blocks[block as usize].in_edges[..] {
            [edge] => Some(edge),
            _ => None,
        }
    }

    /// The blocks' ranks, predecessors first but for loops.
    pub(super) fn ranks(&self) -> Vec<u32> {
        let mut ranks = vec![u32::MAX; self.blocks.len()];
        let mut seen = vec![false; self.blocks.len()];
        let mut next_rank = self.blocks.len() as u32;
        let mut stack = vec![(0u32, 0usize)];
        seen[0] = true;
        while let Some((block, next)) = stack.pop() {
            let Some(&target) = self.blocks[block as usize].successors.get(next) else {
                next_rank -= 1;
                ranks[block as usize] = next_rank;
                continue;
            };
            stack.push((block, next + 1));
            if !std::mem::replace(&mut seen[target as usize], true) {
                stack.push((target, 0));
            }
        }
        ranks
    }
}

/// The addresses of a frame's fields.
fn fields_of(frame: Value) -> Vec<(Value, Cell)> {
    let mut found = Vec::new();
    for address in frame.users() {
        if address.opcode() != LLVMOpcode::LLVMGetElementPtr {
            continue;
        }
        if let [base, zero, field] = address.operands()[..] {
            if let (true, Some(0), Some(field)) =
                (base == frame, zero.as_integer(), field.as_integer())
            {
                found.push((address, field as Cell));
            }
        }
    }
    found
}
