//! The form in which product functions branch in the end.
//!
//! Input: product functions in SSA form, in which versions that may go different ways are found before they branch:
//! `differs = a != b; differs ? exit : together`, and in `together` `a ? then : otherwise`. That is what the checker
//! reads. Guarantee: the same ways are taken for the same values, by branches on `a` and then on `b`, which processors
//! do with half of the instructions: no truth value has to be put into a register to be compared.
//!
//! Not handled: switches, and exits that need values of their own edge.

use crate::llvm::{append_block, Block, Builder, Value};
use inkwell::llvm_sys::LLVMOpcode;

/// Rewrites every such branch of the function. Exits keep blocks of their own, though these only branch on: what phis
/// take from an exit would else be moved into place before the branch, in unoptimised code, whether it is taken or not.
/// Continuations, which few activations come to, do without them (`scaffold.rs`).
pub(super) fn branch_one_by_one(function: Value) {
    let predecessors = function.predecessors();
    for block in function.blocks() {
        let Some(terminator) = block.terminator() else {
            continue;
        };
        if let Some(shared) = SharedBranch::at(terminator) {
            if predecessors.get(&shared.together).map(Vec::len) == Some(1) {
                shared.rewrite(terminator);
            }
        }
    }
}

/// `differs ? exit : together`, and the branch in `together`.
struct SharedBranch {
    differs: Value,
    exit: Block,
    together: Block,
    branch: Value,
    /// Whose debug location new branches get.
    location: Value,
    first: Value,
    /// The conditions of the other versions, and whether they are the same as the first one's.
    others: Vec<(Value, bool)>,
}

impl SharedBranch {
    fn at(terminator: Value) -> Option<SharedBranch> {
        let differs = condition(terminator)?;
        let [exit, together] = terminator.successors()[..] else {
            return None;
        };
        let branch = *together.instructions().first()?;
        let first = condition(branch)?;
        let [then, otherwise] = branch.successors()[..] else {
            return None;
        };
        let is_simple = exit != together && exit.parent() == together.parent() && !has_phis(exit);
        if !is_simple || then == otherwise || [then, otherwise].contains(&together) {
            return None;
        }
        let mut others = Vec::new();
        collect(differs, first, &mut others)?;
        Some(SharedBranch {
            differs,
            exit,
            together,
            branch,
            location: terminator,
            first,
            others,
        })
    }

    fn rewrite(&self, terminator: Value) {
        let [then, otherwise] = self.branch.successors()[..] else {
            return;
        };
        // Phis behind the branch take the values of `together` from there still, or from a new block.
        let apart = otherwise.insert_on_edge_from(self.together, "together");
        let exits = self.exits();
        let yes = self.chain(self.branch, [then, exits[0]], true);
        let Some(end) = apart.terminator() else {
            return;
        };
        let no = self.chain(end, [otherwise, exits[1]], false);
        replace_branch(terminator, terminator, self.first, [yes, no]);
        if !self.differs.has_uses() {
            self.differs.erase_instruction();
        }
    }

    /// Where versions go that differ, if the first one's condition is true and if it is false: where an exit leads that
    /// only branches on that, else there.
    fn exits(&self) -> [Block; 2] {
        let start = self.exit.instructions().first().copied();
        let Some(branch) = start.filter(|&start| condition(start) == Some(self.first)) else {
            return [self.exit; 2];
        };
        let [then, otherwise] = branch.successors()[..] else {
            return [self.exit; 2];
        };
        if then == otherwise {
            return [self.exit; 2];
        }
        // What phis there take from the exit they take from a new block.
        let exits = [then, otherwise].map(|next| match has_phis(next) {
            true => next.insert_on_edge_from(self.exit, "exit"),
            false => next,
        });
        replace_branch(branch, branch, self.first, exits);
        exits
    }

    /// Instead of `end`, the end of a block: to `target` if the others go where the first one goes, whose condition
    /// is `value`, else to `exit`. Returns the block where the first of the others is tested.
    fn chain(&self, end: Value, [target, exit]: [Block; 2], value: bool) -> Block {
        let ways = |on: Block, is_same: bool| {
            if value == is_same {
                [on, exit]
            } else {
                [exit, on]
            }
        };
        let location = self.location;
        let mut block = end.parent_block();
        let mut others = self.others.iter().rev();
        if let Some(&(last, is_same)) = others.next() {
            replace_branch(end, location, last, ways(target, is_same));
        }
        for &(other, is_same) in others {
            let before = append_block(block.parent(), "together");
            let builder = Builder::at_end(before);
            builder.set_location_of(location);
            let [then, otherwise] = ways(block, is_same);
            builder.conditional_branch(other, then, otherwise);
            block = before;
        }
        block
    }
}

/// The condition of a conditional branch.
fn condition(terminator: Value) -> Option<Value> {
    (terminator.opcode() == LLVMOpcode::LLVMBr && terminator.successors().len() == 2)
        .then(|| terminator.operand(0))
        .flatten()
}

fn has_phis(block: Block) -> bool {
    let first = block.instructions().first().copied();
    first.is_some_and(|first| first.opcode() == LLVMOpcode::LLVMPHI)
}

/// What `differs` compares with `first`, all of it or nothing.
fn collect(differs: Value, first: Value, others: &mut Vec<(Value, bool)>) -> Option<()> {
    if !differs.is_instruction() {
        return None;
    }
    let (a, b) = (differs.operand(0)?, differs.operand(1)?);
    match differs.opcode() {
        LLVMOpcode::LLVMOr => {
            collect(a, first, others)?;
            collect(b, first, others)
        }
        LLVMOpcode::LLVMICmp if a == first => {
            others.push((b, differs.compares_unequal()?));
            Some(())
        }
        _ => None,
    }
}

fn replace_branch(old: Value, like: Value, condition: Value, [then, otherwise]: [Block; 2]) {
    let builder = Builder::before(old);
    builder.set_location_of(like);
    builder.conditional_branch(condition, then, otherwise);
    old.erase_instruction();
}
