//! How many instructions a program has, and what a product has them for.
//!
//! Intrinsics that only describe the program to debuggers and optimisers are not counted.

use crate::llvm::{self, Module, Value};
use crate::nodes::is_marker;
use crate::runtime;
use serde::Serialize;

/// A product's instructions by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProductSize {
    /// The versions' own functions.
    pub plain: usize,
    /// What runs the versions in lock-step.
    pub lockstep: usize,
    /// What finishes activations in which versions have parted.
    pub continuation: usize,
    /// What hands values over from lock-step functions to their continuations.
    pub spills: usize,
    /// The runtime: what is there once and what every version has of its own.
    pub runtime: usize,
}

impl ProductSize {
    /// Counts the instructions of a finished product.
    pub(crate) fn of(product: &Module) -> ProductSize {
        let mut size = ProductSize::default();
        for function in llvm::functions(product) {
            if function.is_declaration() {
                continue;
            }
            let name = function.name_text();
            let all = instructions(function);
            if name.starts_with("_PP_") {
                if name.ends_with(".diverged") {
                    size.continuation += all;
                } else {
                    let spills = spills(function);
                    size.spills += spills;
                    size.lockstep += all - spills;
                }
            } else if name.starts_with("_PP") && !runtime::is_runtime(function) {
                size.plain += all;
            } else {
                size.runtime += all;
            }
        }
        size
    }

    /// All of them.
    pub fn total(&self) -> usize {
        self.plain + self.lockstep + self.continuation + self.spills + self.runtime
    }
}

/// The instructions of a function.
pub(crate) fn instructions(function: Value) -> usize {
    let blocks = function.blocks().into_iter();
    blocks.map(|block| executed(block).count()).sum()
}

/// The instructions of those blocks of a lock-step function that call its continuation.
fn spills(function: Value) -> usize {
    let leaves = |instruction: Value| {
        let callee = instruction
            .is_call()
            .then(|| instruction.called_function())
            .flatten();
        callee.is_some_and(|callee| callee.name().ends_with(b".diverged"))
    };
    let blocks = function.blocks().into_iter();
    blocks
        .filter(|&block| executed(block).any(leaves))
        .map(|block| executed(block).count())
        .sum()
}

fn executed(block: llvm::Block) -> impl Iterator<Item = Value> {
    let instructions = block.instructions().into_iter();
    instructions.filter(|&instruction| !is_marker(instruction))
}
