//! Removes calls by which versions become the owner of the process for nothing.
//!
//! Input: a lock-step function. A call through a pointer that may lead out of the versions has such a call right before
//! it, and in programs with handlers of signals one more before the last test that the version has not ended. Guarantee:
//! in lock-step only the former are left, of calls that versions make one after the other: dispatchers do the same
//! themselves where a pointer does lead out, the test included, and most lead to a product function.

use crate::libc;
use crate::llvm::Value;

/// Removes them from `function`.
pub(super) fn remove_needless(function: Value) {
    for block in function.blocks() {
        let calls = block.instructions().into_iter().filter(|i| i.is_call());
        let mut calls = calls.peekable();
        while let Some(call) = calls.next() {
            let next = calls.peek().and_then(|next| next.called_operand());
            let is_needed = next.is_some() && next == call.operand(1);
            if libc::switches_for_pointer(call) && !is_needed {
                call.erase_instruction();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm;

    #[test]
    fn only_what_stands_before_its_own_call_is_left() {
        let context = llvm::new_context();
        let text = "declare void @p3_enter_for(i32, ptr)
            declare i32 @dispatch(i32, ptr, ptr)
            define i32 @f(ptr %p, ptr %q, ptr %m) {
            call void @p3_enter_for(i32 0, ptr %p)
            call void @p3_enter_for(i32 1, ptr %q)
            br label %on
            on:
            call void @p3_enter_for(i32 2, ptr %p)
            %a = load i32, ptr %m
            %x = call i32 %p(i32 %a)
            call void @p3_enter_for(i32 3, ptr %p)
            %y = call i32 %q(i32 %x)
            call void @p3_enter_for(i32 4, ptr %q)
            %z = call i32 @dispatch(i32 %y, ptr %p, ptr %q)
            ret i32 %z
            }";
        let module = llvm::parse(&context, text.as_bytes(), "test").unwrap();
        let function = llvm::global_named(&module, "f").unwrap();
        remove_needless(function);
        llvm::verify(&module).unwrap();
        let printed = function.print();
        let left: Vec<&str> = printed
            .lines()
            .filter(|line| line.contains("p3_enter_for"))
            .collect();
        assert_eq!(left, ["  call void @p3_enter_for(i32 2, ptr %p)"]);
    }
}
