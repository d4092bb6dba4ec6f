//! Tells LLVM which ways through a lock-step function are usual.
//!
//! Input: a lock-step function in its final form. Guarantee: where versions may leave lock-step, and elsewhere not, the
//! branch says that they hardly ever do. Else LLVM takes every way out for one in two (or in 16, before calls that are
//! `cold`), and registers for what only the ways out need.

use crate::llvm::{Block, Value};
use std::collections::HashSet;

/// How often lock-step goes on for once that it is left: what LLVM makes of `__builtin_expect`.
const USUAL: u32 = 2000;

/// Gives weights to the branches of `function` of which some lead to calls of `continuation` only.
pub(super) fn expect_lockstep(function: Value, continuation: Value) {
    let predecessors = function.predecessors();
    let calls = continuation
        .users()
        .into_iter()
        .filter(|user| user.is_call() && user.parent_block().parent() == function);
    let mut work: Vec<Block> = calls.map(Value::parent_block).collect();
    let mut leaving: HashSet<Block> = work.iter().copied().collect();
    let mut mixed: Vec<Block> = Vec::new();
    while let Some(block) = work.pop() {
        for &before in predecessors.get(&block).into_iter().flatten() {
            let Some(terminator) = before.terminator() else {
                continue;
            };
            let mut successors = terminator.successors().into_iter();
            if !successors.all(|next| leaving.contains(&next)) {
                mixed.push(before);
            } else if leaving.insert(before) {
                work.push(before);
            }
        }
    }
    mixed.retain(|block| !leaving.contains(block));
    for terminator in mixed.into_iter().filter_map(Block::terminator) {
        expect(terminator, |next| !leaving.contains(&next));
    }
}

/// Lets a branch go to the usual ones of its successors.
pub(super) fn expect(terminator: Value, is_usual: impl Fn(Block) -> bool) {
    let weights = terminator
        .successors()
        .into_iter()
        .map(|next| match is_usual(next) {
            true => USUAL,
            false => 1,
        });
    terminator.set_branch_weights(&weights.collect::<Vec<u32>>());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm;

    /// The branches of `@f`, which may leave to `@f.diverged`, with the weights that they get.
    fn branches(body: &str) -> Vec<String> {
        let context = llvm::new_context();
        let text = format!(
            "declare void @f.diverged(i32)\n\
             declare i1 @other()\n\
             define void @f(i1 %a, i1 %b, i32 %c) {{\n{body}\n}}\n"
        );
        let module = llvm::parse(&context, text.as_bytes(), "test").unwrap();
        let named = |name| llvm::global_named(&module, name).unwrap();
        expect_lockstep(named("f"), named("f.diverged"));
        llvm::verify(&module).unwrap();
        let weights = |number: &str| {
            let printed = module.print_to_string().to_string();
            let node = printed
                .lines()
                .find(|line| line.starts_with(&format!("{number} = ")));
            let list = node.and_then(|line| line.split("branch_weights\", ").nth(1));
            list.map(|list| list.trim_end_matches('}').replace("i32 ", ""))
        };
        let terminators = named("f")
            .blocks()
            .into_iter()
            .filter_map(Block::terminator);
        terminators
            .map(|terminator| {
                let printed = terminator.print();
                let number = printed.split("!prof ").nth(1).map(str::trim);
                number.and_then(weights).unwrap_or_default()
            })
            .collect()
    }

    #[test]
    fn what_leads_to_ways_out_only_is_unusual() {
        let found = branches(
            "br i1 %a, label %exit, label %on
             exit: br label %spill
             on: br i1 %b, label %stay, label %part
             part: br i1 %a, label %exit, label %spill
             stay: switch i32 %c, label %end [ i32 1, label %exit i32 2, label %end ]
             end: ret void
             spill: call void @f.diverged(i32 1)
             ret void",
        );
        assert_eq!(
            found,
            ["1, 2000", "", "2000, 1", "", "2000, 1, 2000", "", ""]
        );
    }

    #[test]
    fn branches_within_lockstep_have_no_weights() {
        let found = branches(
            "br i1 %a, label %on, label %off
             on: br label %off
             off: %x = call i1 @other()
             br i1 %x, label %on, label %end
             end: ret void",
        );
        assert_eq!(found, [""; 4]);
    }
}
