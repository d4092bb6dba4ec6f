//! Branches instead of selections (`select`) where an address depends on them.
//!
//! Folding makes data out of branches: `c ? a : b` becomes a selection. For pointers, indices and sizes that is
//! undone. KLEE asks the solver about each object that a selected pointer may mean, once per version. What was
//! accessed at a selected index it keeps in an array of its own, and versions' values that come out of different
//! arrays never look equal to it, however they were computed. A branch asks once, for all versions.
//!
//! Not handled: selections that reach an address through memory, and what is no selection (`i += c`).

use crate::llvm::{self, append_block, Builder, Module, Types, Value};
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};
use std::collections::{HashMap, HashSet};

/// Turns the selections that addresses depend on into branches.
pub(super) fn branch_for_addresses(module: &Module) {
    let addresses = AddressParts::of(module);
    let selections: Vec<Value> = instructions(module)
        .filter(|&instruction| is_scalar_selection(instruction))
        .filter(|selection| is_pointer(*selection) || addresses.0.contains(selection))
        .collect();
    if selections.is_empty() {
        return;
    }
    let byte = Types::of(module).integer(8);
    let apart = llvm::add_global(module, "p3.apart", byte);
    apart.set_initializer(byte.zero());
    apart.set_constant(true);
    apart.set_internal();
    for selection in selections {
        branch_for(selection, apart);
    }
}

fn instructions(module: &Module) -> impl Iterator<Item = Value> {
    llvm::functions(module)
        .into_iter()
        .flat_map(Value::blocks)
        .flat_map(|block| block.instructions())
}

/// The integers from which indices, sizes and pointers are computed, through calls but not through memory.
struct AddressParts(HashSet<Value>);

impl AddressParts {
    fn of(module: &Module) -> AddressParts {
        let mut work = Vec::new();
        let mut calls: HashMap<Value, Vec<Value>> = HashMap::new();
        let mut results: HashMap<Value, Vec<Value>> = HashMap::new();
        for instruction in instructions(module) {
            match instruction.opcode() {
                LLVMOpcode::LLVMGetElementPtr => work.extend(instruction.operands().split_off(1)),
                LLVMOpcode::LLVMAlloca | LLVMOpcode::LLVMIntToPtr => {
                    work.extend(instruction.operands())
                }
                LLVMOpcode::LLVMRet => results
                    .entry(instruction.parent_block().parent())
                    .or_default()
                    .extend(instruction.operand(0)),
                _ => {}
            }
            if let Some(callee) = instruction.is_call().then(|| instruction.called_function()) {
                match callee {
                    Some(callee) if !callee.is_declaration() => {
                        calls.entry(callee).or_default().push(instruction);
                    }
                    Some(callee) => work.extend(sizes(instruction, callee)),
                    None => {}
                }
            }
        }
        let mut arguments = HashMap::new();
        for (&function, calls) in &calls {
            for (index, parameter) in function.parameters().into_iter().enumerate() {
                arguments.insert(parameter, (calls, index as u32));
            }
        }
        let mut parts = HashSet::new();
        while let Some(part) = work.pop() {
            let is_integer = part.ty().kind() == LLVMTypeKind::LLVMIntegerTypeKind;
            if !is_integer || !(part.is_instruction() || part.is_argument()) || !parts.insert(part)
            {
                continue;
            }
            if let Some((calls, index)) = arguments.get(&part) {
                work.extend(calls.iter().filter_map(|call| call.operand(*index)));
            }
            if !part.is_instruction() {
                continue;
            }
            match part.opcode() {
                LLVMOpcode::LLVMSelect => work.extend(part.operands().split_off(1)),
                LLVMOpcode::LLVMPHI => work.extend(part.incoming_values()),
                opcode if is_arithmetic(opcode) => work.extend(part.operands()),
                _ if part.is_call() => {
                    let callee = part.called_function();
                    work.extend(
                        callee
                            .and_then(|callee| results.get(&callee))
                            .into_iter()
                            .flatten(),
                    );
                }
                _ => {}
            }
        }
        AddressParts(parts)
    }
}

/// The arguments of a function without a body that may be sizes.
fn sizes(call: Value, callee: Value) -> Vec<Value> {
    let parameters = callee.value_type().parameter_types();
    let arguments = call.arguments().into_iter();
    arguments
        .zip(parameters)
        .filter(|(_, ty)| ty.integer_width() == Some(64))
        .map(|(argument, _)| argument)
        .collect()
}

fn is_arithmetic(opcode: LLVMOpcode) -> bool {
    matches!(
        opcode,
        LLVMOpcode::LLVMAdd
            | LLVMOpcode::LLVMSub
            | LLVMOpcode::LLVMMul
            | LLVMOpcode::LLVMUDiv
            | LLVMOpcode::LLVMSDiv
            | LLVMOpcode::LLVMURem
            | LLVMOpcode::LLVMSRem
            | LLVMOpcode::LLVMShl
            | LLVMOpcode::LLVMLShr
            | LLVMOpcode::LLVMAShr
            | LLVMOpcode::LLVMAnd
            | LLVMOpcode::LLVMOr
            | LLVMOpcode::LLVMXor
            | LLVMOpcode::LLVMZExt
            | LLVMOpcode::LLVMSExt
            | LLVMOpcode::LLVMTrunc
            | LLVMOpcode::LLVMFreeze
    )
}

fn is_pointer(value: Value) -> bool {
    value.ty().kind() == LLVMTypeKind::LLVMPointerTypeKind
}

/// A selection by one bit, not one by a vector.
fn is_scalar_selection(instruction: Value) -> bool {
    instruction.opcode() == LLVMOpcode::LLVMSelect
        && instruction
            .operand(0)
            .is_some_and(|condition| condition.ty().integer_width() == Some(1))
}

/// The branch must not become a selection again, here or when KLEE simplifies the product as it loads it. So
/// one side reads `apart`, which no pass may do on both.
fn branch_for(selection: Value, apart: Value) {
    let [condition, then, otherwise] = selection.operands()[..] else {
        return;
    };
    let before = selection.parent_block();
    let after = selection.split_before("selected");
    if let Some(jump) = before.terminator() {
        jump.erase_instruction();
    }
    let builder = Builder::before(selection);
    let from = append_block(before.parent(), "apart");
    let value = builder.phi(selection.ty(), &[(then, from), (otherwise, before)]);
    let builder = builder.followed_by(before);
    // A selection by an undefined condition is no error as long as nobody needs it.
    let condition = builder.freeze(condition);
    builder.conditional_branch(condition, from, after);
    let builder = builder.followed_by(from);
    builder.volatile_load(apart.value_type(), apart);
    builder.branch(after);
    selection.replace_all_uses_with(value);
    selection.erase_instruction();
}
