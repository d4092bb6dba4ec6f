//! The checker's own reading of a plain function: blocks without markers, positions in them, liveness.

use crate::llvm::{Block, Value};
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::{HashMap, HashSet};

/// Where a version stands: before the instruction `index` of a block's body, at its terminator if there is none.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) struct Pos {
    pub(super) block: u32,
    pub(super) index: u32,
}

impl Pos {
    /// At the product function's entry, where its activation variable is still to be looked at.
    pub(super) const GUARD: Pos = Pos {
        block: u32::MAX - 1,
        index: 0,
    };
    /// Set in the index of positions on an edge.
    const EDGE: u32 = 1 << 31;

    /// Behind the branch at a block's end and before the phis of the block that it goes to.
    pub(super) fn on_edge(block: u32, target: u32) -> Pos {
        Pos {
            block,
            index: Pos::EDGE | target,
        }
    }

    /// Where an edge goes that this position is on.
    pub(super) fn edge_target(self) -> Option<u32> {
        let is_on_edge = self.block < Pos::GUARD.block && self.index & Pos::EDGE != 0;
        is_on_edge.then_some(self.index & !Pos::EDGE)
    }

    /// It has returned, or was never active.
    pub(super) const RETURNED: Pos = Pos {
        block: u32::MAX,
        index: 0,
    };
}

pub(super) struct PlainBlock {
    pub(super) block: Block,
    pub(super) phis: Vec<Value>,
    /// Without phis, terminator, static allocas and what does nothing.
    pub(super) body: Vec<Value>,
    pub(super) terminator: Value,
    pub(super) successors: Vec<u32>,
    /// All operands of body and terminator.
    operands: HashSet<Value>,
}

pub(super) struct Plain {
    pub(super) function: Value,
    pub(super) blocks: Vec<PlainBlock>,
    /// Allocas of the entry block whose size is constant, in order.
    pub(super) static_allocas: Vec<Value>,
    /// Where each instruction stands; phis at 0.
    place_of: HashMap<Value, Pos>,
    /// Per block: what its successors need of it, values for their phis included.
    live_out: Vec<HashSet<Value>>,
}

/// Whether a value is one of its function's own, which differ between activations.
pub(super) fn is_local(value: Value) -> bool {
    value.is_instruction() || value.is_argument()
}

pub(super) fn is_phi(value: Value) -> bool {
    value.is_instruction() && value.opcode() == LLVMOpcode::LLVMPHI
}

/// Intrinsics that describe and do nothing; products leave them out.
fn does_nothing(instruction: Value) -> bool {
    const NAMES: [&[u8]; 4] = [
        b"llvm.dbg.",
        b"llvm.lifetime.",
        b"llvm.invariant.",
        b"llvm.experimental.noalias.scope.decl",
    ];
    let callee = instruction
        .is_call()
        .then(|| instruction.called_function())
        .flatten();
    callee.is_some_and(|callee| {
        let name = callee.name();
        NAMES.iter().any(|prefix| name.starts_with(prefix))
    })
}

/// The blocks' numbers in their order.
pub(super) fn numbers_of(blocks: &[Block]) -> HashMap<Block, u32> {
    let numbered = blocks.iter().zip(0..);
    numbered.map(|(&block, number)| (block, number)).collect()
}

impl Plain {
    pub(super) fn of(function: Value) -> Plain {
        let all = function.blocks();
        let index_of = numbers_of(&all);
        let mut blocks = Vec::new();
        let mut static_allocas = Vec::new();
        let mut place_of = HashMap::new();
        for (number, &block) in all.iter().enumerate() {
            let mut phis = Vec::new();
            let mut body: Vec<Value> = Vec::new();
            let mut terminator = None;
            for instruction in block.instructions() {
                let place = Pos {
                    block: number as u32,
                    index: body.len() as u32,
                };
                if is_phi(instruction) {
                    phis.push(instruction);
                } else if instruction.is_terminator() {
                    terminator = Some(instruction);
                } else if does_nothing(instruction) {
                    continue;
                } else if number == 0 && is_static_alloca(instruction) {
                    static_allocas.push(instruction);
                    continue;
                } else {
                    body.push(instruction);
                }
                place_of.insert(instruction, place);
            }
            let Some(terminator) = terminator else {
                continue;
            };
            let operands = body
                .iter()
                .chain([&terminator])
                .flat_map(|instruction| instruction.operands())
                .collect();
            blocks.push(PlainBlock {
                block,
                phis,
                body,
                terminator,
                operands,
                successors: terminator
                    .successors()
                    .iter()
                    .map(|block| index_of[block])
                    .collect(),
            });
        }
        let mut plain = Plain {
            function,
            blocks,
            static_allocas,
            place_of,
            live_out: Vec::new(),
        };
        plain.live_out = plain.liveness(&index_of);
        plain
    }

    /// Follows every value from its uses back to its definition.
    fn liveness(&self, index_of: &HashMap<Block, u32>) -> Vec<HashSet<Value>> {
        let mut predecessors: Vec<Vec<u32>> = vec![Vec::new(); self.blocks.len()];
        for (number, block) in self.blocks.iter().enumerate() {
            for &successor in &block.successors {
                predecessors[successor as usize].push(number as u32);
            }
        }
        let mut live_out: Vec<HashSet<Value>> = vec![HashSet::new(); self.blocks.len()];
        let mut work = Vec::new();
        for (number, block) in self.blocks.iter().enumerate() {
            for phi in &block.phis {
                for (value, from) in phi.incoming() {
                    if is_local(value) {
                        work.push((value, index_of[&from]));
                    }
                }
            }
            let here = number as u32;
            let enter = |value: Value, work: &mut Vec<(Value, u32)>| {
                if is_local(value) && self.block_of(value) != Some(here) {
                    work.extend(predecessors[number].iter().map(|&p| (value, p)));
                }
            };
            for &instruction in block.body.iter().chain([&block.terminator]) {
                for operand in instruction.operands() {
                    enter(operand, &mut work);
                }
            }
            while let Some((value, end)) = work.pop() {
                if live_out[end as usize].insert(value) && self.block_of(value) != Some(end) {
                    work.extend(predecessors[end as usize].iter().map(|&p| (value, p)));
                }
            }
        }
        live_out
    }

    /// The block that computes a value; none for arguments and static allocas.
    fn block_of(&self, value: Value) -> Option<u32> {
        self.place_of.get(&value).map(|place| place.block)
    }

    /// What is needed from `pos` on of what was computed before.
    pub(super) fn live_at(&self, pos: Pos) -> Vec<Value> {
        if pos == Pos::RETURNED || pos == Pos::GUARD {
            return Vec::new();
        }
        let block = &self.blocks[pos.block as usize];
        let rest = block.body.get(pos.index as usize..).unwrap_or_default();
        let computed: HashSet<Value> = rest.iter().copied().collect();
        let mut seen = HashSet::new();
        let ending = pos.edge_target().is_none().then_some(&block.terminator);
        let used = rest
            .iter()
            .chain(ending)
            .flat_map(|instruction| instruction.operands())
            .filter(|&operand| is_local(operand));
        used.chain(self.live_out[pos.block as usize].iter().copied())
            .filter(|value| !computed.contains(value))
            .filter(|&value| seen.insert(value))
            .collect()
    }

    pub(super) fn is_live(&self, value: Value, pos: Pos) -> bool {
        if value == self.result() {
            return pos == Pos::RETURNED;
        }
        if pos == Pos::RETURNED || pos == Pos::GUARD {
            return false;
        }
        let block = &self.blocks[pos.block as usize];
        let rest = block.body.get(pos.index as usize..).unwrap_or_default();
        let ending = pos.edge_target().is_none().then_some(&block.terminator);
        let used = match pos.index {
            0 => block.operands.contains(&value),
            _ => rest
                .iter()
                .chain(ending)
                .any(|instruction| instruction.operands().contains(&value)),
        };
        let computed_here = self
            .place_of
            .get(&value)
            .is_some_and(|place| place.block == pos.block && place.index >= pos.index)
            && !is_phi(value);
        (used || self.live_out[pos.block as usize].contains(&value)) && !computed_here
    }

    pub(super) fn instruction(&self, pos: Pos) -> Option<Value> {
        let block = self.blocks.get(pos.block as usize)?;
        block.body.get(pos.index as usize).copied()
    }

    /// The block at whose terminator `pos` is.
    pub(super) fn at_end(&self, pos: Pos) -> Option<&PlainBlock> {
        let block = self.blocks.get(pos.block as usize)?;
        (pos.index as usize == block.body.len()).then_some(block)
    }

    /// Goes along edges that the version takes in any case: nothing happens there. Stops before phis.
    pub(super) fn normal(&self, pos: Pos) -> Pos {
        let mut path = vec![pos];
        loop {
            let pos = path[path.len() - 1];
            let Some(next) = self
                .at_end(pos)
                .and_then(|block| self.certain_target(block))
            else {
                return pos;
            };
            if !self.blocks[next as usize].phis.is_empty() {
                return Pos::on_edge(pos.block, next);
            }
            let next = Pos {
                block: next,
                index: 0,
            };
            // A loop that does nothing is one place.
            if let Some(begin) = path.iter().position(|&before| before == next) {
                let all = path[begin..].iter().copied();
                return all.min_by_key(|pos| (pos.block, pos.index)).unwrap_or(pos);
            }
            path.push(next);
        }
    }

    /// Where a block's terminator goes whatever the values are.
    fn certain_target(&self, block: &PlainBlock) -> Option<u32> {
        match (block.terminator.opcode(), &block.successors[..]) {
            (LLVMOpcode::LLVMBr | LLVMOpcode::LLVMSwitch, &[next]) => Some(next),
            (LLVMOpcode::LLVMBr | LLVMOpcode::LLVMSwitch, successors) => {
                let condition = block.terminator.operand(0)?;
                let number = condition.is_constant().then(|| condition.as_integer())??;
                match block.terminator.opcode() {
                    LLVMOpcode::LLVMBr => Some(successors[usize::from(number == 0)]),
                    _ => {
                        let cases = block.terminator.case_values();
                        let case = cases.iter().position(|&case| case == condition);
                        Some(successors[case.map_or(0, |case| case + 1)])
                    }
                }
            }
            _ => None,
        }
    }

    /// Whether the version may go round for ever without doing anything.
    pub(super) fn has_idle_loop(&self) -> bool {
        let edges: Vec<(u32, u32)> = self
            .blocks
            .iter()
            .zip(0..)
            .flat_map(|(block, from)| block.successors.iter().map(move |&to| (from, to)))
            .collect();
        let is_idle = |block: u32| {
            let block = &self.blocks[block as usize];
            block.body.is_empty() && block.phis.is_empty()
        };
        super::walk::cycle_in(self.blocks.len(), &edges, is_idle).is_some()
    }

    /// Where the version goes if it has not ended, if `pos` is before a test of that and nothing else.
    pub(super) fn behind_alive_test(&self, pos: Pos, version: usize) -> Option<u32> {
        let block = self.blocks.get(pos.block as usize)?;
        let rest = block.body.get(pos.index as usize..)?;
        let &[load, comparison] = rest else {
            return None;
        };
        let is_test = block.successors.len() == 2
            && block.terminator.operand(0) == Some(comparison)
            && comparison.operand(0) == Some(load)
            && super::tested_flag(comparison) == Some((version, true));
        let is_only_tested =
            || load.users() == [comparison] && comparison.users() == [block.terminator];
        (is_test && is_only_tested()).then(|| block.successors[1])
    }

    /// Where the version is when it goes from one block to another.
    pub(super) fn entering(&self, from: u32, target: u32) -> Pos {
        match self.blocks[target as usize].phis.is_empty() {
            true => self.start(target),
            false => Pos::on_edge(from, target),
        }
    }

    pub(super) fn start(&self, block: u32) -> Pos {
        self.normal(Pos { block, index: 0 })
    }

    /// Stands for the function's result where a value is asked for: nothing has this for an operand.
    pub(super) fn result(&self) -> Value {
        self.blocks[0].terminator
    }

    /// A position for messages.
    pub(super) fn describe(&self, pos: Pos) -> String {
        if pos == Pos::RETURNED {
            return "after its return".into();
        }
        if pos == Pos::GUARD {
            return "before its entry".into();
        }
        let block = &self.blocks[pos.block as usize];
        let instruction = self.instruction(pos).unwrap_or(block.terminator);
        format!("before `{}`", instruction.print().trim())
    }
}

fn is_static_alloca(instruction: Value) -> bool {
    instruction.opcode() == LLVMOpcode::LLVMAlloca
        && instruction.operand(0).and_then(Value::as_integer).is_some()
}
