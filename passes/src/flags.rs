//! The runtime's flags that are tested most, as truth values.
//!
//! Input: a product in which the runtime keeps these flags in bytes, and code tests them by loading a byte and comparing
//! it with 0: those that say whether versions have ended behind every call that may end one. Guarantee: each flag is a
//! variable of one bit, a test loads it and branches; nothing compares. A flag's address may be known to others, who copy
//! its byte.
//!
//! The byte was right up to here: C has no other type for it, and the checker reads the tests as comparisons.

use crate::llvm::{self, Builder, Module, Types, Value};
use crate::{rename, runtime};
use inkwell::llvm_sys::LLVMOpcode;

/// Makes all flags of a product truth values; `count` is the number of versions.
pub(crate) fn make_truth_values(product: &Module, count: usize) {
    let of_versions = (0..count).flat_map(|version| {
        ["p3v_alive", "p3v_ends_late"].map(|name| format!("{}{name}", rename::prefix(version)))
    });
    for name in of_versions.chain([runtime::ENDED.into(), "p3_klee".into()]) {
        if let Some(flag) = llvm::global_named(product, &name) {
            make_truth_value(product, flag);
        }
    }
}

fn make_truth_value(product: &Module, byte: Value) {
    let types = Types::of(product);
    let accesses = byte.users();
    let flag = llvm::add_global(product, "", types.integer(1));
    let begins = byte.initializer().and_then(Value::as_integer);
    flag.set_initializer(types.constant(1, begins.unwrap_or_default().min(1)));
    flag.set_internal();
    let name = byte.name();
    byte.replace_all_uses_with(flag);
    byte.delete_global();
    flag.set_name(&name);
    for access in accesses
        .into_iter()
        .filter(|access| access.is_instruction())
    {
        match access.opcode() {
            LLVMOpcode::LLVMLoad => load(access, flag, &types),
            LLVMOpcode::LLVMStore if access.operand(1) == Some(flag) => store(access, flag),
            _ => {}
        }
    }
}

fn store(byte: Value, flag: Value) {
    let Some(value) = byte.operand(0) else {
        return;
    };
    let builder = Builder::before(byte);
    builder.store(builder.not_equal(value, value.ty().zero()), flag);
    byte.erase_instruction();
}

fn load(byte: Value, flag: Value, types: &Types) {
    let builder = Builder::before(byte);
    let truth = builder.load(types.integer(1), flag);
    for user in byte.users() {
        let compares = user.opcode() == LLVMOpcode::LLVMICmp
            && user.operand(1).is_some_and(Value::is_null)
            && user.compares_unequal().is_some();
        if !compares {
            continue;
        }
        if user.compares_unequal() == Some(true) {
            user.replace_all_uses_with(truth);
        } else {
            negate(user, truth);
        }
        user.erase_instruction();
    }
    if byte.has_uses() {
        byte.replace_all_uses_with(builder.integer_cast(truth, byte.ty(), false));
    }
    byte.erase_instruction();
}

/// Replaces `comparison` by the opposite of `truth`: branches change sides.
fn negate(comparison: Value, truth: Value) {
    for user in comparison.users() {
        if user.opcode() == LLVMOpcode::LLVMBr {
            let sides = user.successors();
            user.set_operand(0, truth);
            user.set_successor(0, sides[1]);
            user.set_successor(1, sides[0]);
        }
    }
    if comparison.has_uses() {
        let builder = Builder::before(comparison);
        let opposite = builder.equal(truth, truth.ty().zero());
        comparison.replace_all_uses_with(opposite);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_load_a_truth_value_and_branch() {
        let context = llvm::new_context();
        let text = "@_PP1_p3v_alive = internal global i8 1\n\
            @p3_ended = internal global i8 0\n\
            @table = global ptr @p3_ended\n\
            define void @end() {\n store i8 0, ptr @_PP1_p3v_alive\n store i8 1, ptr @p3_ended\n ret void\n}\n\
            define i8 @test() {\n\
            %a = load i8, ptr @_PP1_p3v_alive\n %b = icmp eq i8 %a, 0\n br i1 %b, label %dead, label %alive\n\
            dead:\n ret i8 7\n\
            alive:\n %c = load i8, ptr @p3_ended\n %d = icmp ne i8 %c, 0\n br i1 %d, label %dead, label %rest\n\
            rest:\n %e = load i8, ptr @_PP1_p3v_alive\n %f = icmp eq i8 %e, 0\n %g = zext i1 %f to i8\n\
            %h = add i8 %g, %e\n ret i8 %h\n}\n";
        let module = llvm::parse(&context, text.as_bytes(), "test").unwrap();
        make_truth_values(&module, 1);
        llvm::verify(&module).unwrap();
        let printed = |name: &str| llvm::global_named(&module, name).unwrap().print();
        assert!(printed("_PP1_p3v_alive").contains("internal global i1 true"));
        assert!(printed("p3_ended").contains("internal global i1 false"));
        assert!(printed("table").contains("ptr @p3_ended"));
        let (end, test) = (printed("end"), printed("test"));
        assert!(end.contains("store i1 false, ptr @_PP1_p3v_alive"), "{end}");
        assert!(end.contains("store i1 true, ptr @p3_ended"), "{end}");
        for line in [
            "br i1 %1, label %alive, label %dead",
            "br i1 %2, label %dead, label %rest",
            "%4 = zext i1 %3 to i8",
            "%5 = icmp eq i1 %3, false",
            "%g = zext i1 %5 to i8",
        ] {
            assert!(test.contains(line), "{line}: {test}");
        }
    }
}
