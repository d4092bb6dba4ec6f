//! What the product has found out by branching.

use super::body::{Body, Edge};
use super::{EQUAL, NOT_EQUAL};
use crate::llvm::Value;
use inkwell::llvm_sys::LLVMOpcode;

/// The branches on the only way to a place, the nearest first. Every fact has the block whose terminator told it.
#[derive(Default)]
pub(super) struct Facts {
    /// A value is a constant.
    pub(super) is: Vec<(Value, Value, u32)>,
    /// A value is none of these.
    pub(super) is_not: Vec<(Value, Vec<Value>, u32)>,
    /// Two values are the same, or are not.
    pub(super) same: Vec<(Value, Value, bool, u32)>,
    /// The blocks that were looked at.
    pub(super) blocks: Vec<u32>,
}

/// What is known of one value.
#[derive(Clone, Debug)]
pub(super) enum Known {
    Is(Value),
    IsNot(Vec<Value>),
    /// The facts contradict each other: nothing ever comes along this way.
    Never,
}

impl Facts {
    /// Collects from the edge `last` backwards as long as there is one way only; `is_first` says of a block that
    /// nothing before its end counts.
    pub(super) fn gather(
        body: &Body,
        last: Option<Edge>,
        truth: [Value; 2],
        is_first: impl Fn(u32) -> bool,
    ) -> Facts {
        let mut facts = Facts::default();
        let mut edge = last;
        while let Some(here) = edge {
            facts.blocks.push(here.from);
            facts.add(body, here, truth);
            if is_first(here.from) || facts.blocks.len() > body.blocks.len() {
                break;
            }
            edge = body.only_edge(here.from);
        }
        facts
    }

    fn add(&mut self, body: &Body, edge: Edge, truth: [Value; 2]) {
        let block = &body.blocks[edge.from as usize];
        let Some(condition) = block.terminator.operand(0) else {
            return;
        };
        match block.terminator.opcode() {
            LLVMOpcode::LLVMBr if block.successors.len() == 2 => {
                self.add_condition(condition, edge.successor == 0, edge.from, truth);
            }
            LLVMOpcode::LLVMSwitch => {
                let cases = block.terminator.case_values();
                match edge.successor {
                    0 => self.is_not.push((condition, cases, edge.from)),
                    case => {
                        let value = cases[case as usize - 1];
                        self.is.push((condition, value, edge.from));
                    }
                }
            }
            _ => {}
        }
    }

    fn add_condition(&mut self, condition: Value, holds: bool, from: u32, truth: [Value; 2]) {
        let mut work = vec![(condition, holds)];
        while let Some((value, holds)) = work.pop() {
            self.is.push((value, truth[usize::from(holds)], from));
            let opcode = match value.is_instruction() {
                true => Some(value.opcode()),
                false => value.expression_opcode(),
            };
            let Some(opcode) = opcode else {
                continue;
            };
            let operands = value.operands();
            match opcode {
                LLVMOpcode::LLVMICmp if matches!(value.operation(), EQUAL | NOT_EQUAL) => {
                    let same = (value.operation() == EQUAL) == holds;
                    self.same.push((operands[0], operands[1], same, from));
                }
                // What a comparison of two constant conditions is folded to, for equality with the first one negated.
                LLVMOpcode::LLVMXor if value.is_constant() => {
                    self.same.push((operands[0], operands[1], !holds, from));
                    let negated = operands[0].constant_not();
                    self.same.push((negated, operands[1], holds, from));
                }
                LLVMOpcode::LLVMAnd if holds => {
                    work.extend(operands.iter().map(|&o| (o, true)));
                }
                LLVMOpcode::LLVMOr if !holds => {
                    work.extend(operands.iter().map(|&o| (o, false)));
                }
                _ => {}
            }
        }
    }

    /// What all facts together say of the value that `stands_for` accepts under its names (each with the block of the
    /// fact).
    pub(super) fn known(
        &self,
        truth: [Value; 2],
        stands_for: impl Fn(Value, u32) -> bool,
    ) -> Option<Known> {
        let mut learned = Learned::default();
        for &(value, constant, from) in &self.is {
            if stands_for(value, from) {
                learned.is(constant);
            }
        }
        for (value, constants, from) in &self.is_not {
            if stands_for(*value, *from) {
                learned.is_not(constants);
            }
        }
        for &(a, b, same, from) in &self.same {
            for (other, value) in [(a, b), (b, a)] {
                if stands_for(value, from) {
                    self.compare(other, same, truth, &mut learned);
                }
            }
        }
        learned.known()
    }

    /// Learns what a value is from its being the same as `other`, or not the same.
    fn compare(&self, other: Value, same: bool, truth: [Value; 2], learned: &mut Learned) {
        let is_number = other.is_constant() && other.as_integer().is_some();
        let told = self.is.iter().filter(|fact| fact.0 == other);
        for constant in is_number
            .then_some(other)
            .into_iter()
            .chain(told.map(|f| f.1))
        {
            match truth.iter().position(|&truth| truth == constant) {
                _ if same => learned.is(constant),
                Some(holds) => learned.is(truth[1 - holds]),
                None => learned.is_not(&[constant]),
            }
        }
        for (_, constants, _) in self.is_not.iter().filter(|fact| same && fact.0 == other) {
            learned.is_not(constants);
        }
    }
}

/// What several facts say of one value.
#[derive(Default)]
struct Learned {
    is: Vec<Value>,
    is_not: Vec<Value>,
}

impl Learned {
    fn is(&mut self, constant: Value) {
        if !self.is.contains(&constant) {
            self.is.push(constant);
        }
    }

    fn is_not(&mut self, constants: &[Value]) {
        self.is_not.extend(constants);
    }

    fn known(self) -> Option<Known> {
        match self.is[..] {
            [] => (!self.is_not.is_empty()).then_some(Known::IsNot(self.is_not)),
            [constant] if !self.is_not.contains(&constant) => Some(Known::Is(constant)),
            _ => Some(Known::Never),
        }
    }
}
