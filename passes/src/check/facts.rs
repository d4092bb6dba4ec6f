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

    /// What is known of the values that `stands_for` accepts (a value and the block of the fact).
    pub(super) fn known(
        &self,
        truth: [Value; 2],
        stands_for: impl Fn(Value, u32) -> bool,
    ) -> Option<Known> {
        let of_value = |&(value, constant, from): &(Value, Value, u32)| {
            stands_for(value, from).then_some(Known::Is(constant))
        };
        let of_pair = |&(a, b, same, from): &(Value, Value, bool, u32)| {
            [(a, b), (b, a)].into_iter().find_map(|(other, value)| {
                let constant = match other.is_constant() && other.as_integer().is_some() {
                    true => Some(other),
                    false => self.is.iter().find(|fact| fact.0 == other).map(|f| f.1),
                };
                let excluded = self.is_not.iter().find(|fact| fact.0 == other);
                let known = match (constant, excluded) {
                    (Some(constant), _) if same => Known::Is(constant),
                    (Some(constant), _) if constant == truth[0] => Known::Is(truth[1]),
                    (Some(constant), _) if constant == truth[1] => Known::Is(truth[0]),
                    (Some(constant), _) => Known::IsNot(vec![constant]),
                    (None, Some((_, values, _))) if same => Known::IsNot(values.clone()),
                    _ => return None,
                };
                stands_for(value, from).then_some(known)
            })
        };
        let of_excluded = |(value, values, from): &(Value, Vec<Value>, u32)| {
            stands_for(*value, *from).then(|| Known::IsNot(values.clone()))
        };
        let first = self.is.iter().find_map(of_value);
        let second = || self.same.iter().find_map(of_pair);
        first
            .or_else(second)
            .or_else(|| self.is_not.iter().find_map(of_excluded))
    }
}
