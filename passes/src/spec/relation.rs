//! Takes the code of one specification out of the function in which it stands.
//!
//! The code is what can be reached from `p3_spec_begin` without passing `p3_spec_end`. It is copied into a
//! function `int relation(struct p3_spec *, void *captured)` that returns what `p3_spec_end` would be told; values
//! from before it are taken there by a structure. In the function itself `p3_spec_begin` becomes null, so that the
//! code is dead there: a course that the compiler has to allow for anyway.

use super::{
    define_place, place_of, text_of, unsupported, Spec, BEGIN, END, OPERAND, REACHED, RELATION,
};
use crate::llvm::{self, append_block, Block, Builder, Module, Types, Value};
use crate::nodes::is_marker;
use crate::{Error, Result};
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::{HashMap, HashSet};

/// The part of a block that belongs to the specification.
pub(super) struct Piece {
    block: Block,
    pub(super) instructions: Vec<Value>,
    /// What `p3_spec_end` is told here; none: the block's terminator follows.
    end: Option<Value>,
}

/// The specification that a call of `p3_spec_begin` begins.
pub(super) fn parse_begin(begin: Value, file: &str) -> Result<Spec> {
    let number = |i| begin.operand(i).and_then(Value::as_integer);
    let text = |i| begin.operand(i).and_then(text_of);
    let (Some(what), Some(name), Some(line), Some(text)) = (number(0), text(1), number(2), text(3))
    else {
        let function = begin.parent_block().parent().name_text();
        return Err(Error::unsupported(
            file,
            format!("{function}: the compiler has merged the calls of two specifications"),
        ));
    };
    let mut spec = Spec {
        what,
        file: name,
        line,
        text,
        named: 0,
    };
    let pieces = region(begin).map_err(|what| unsupported(file, &spec, what))?;
    for instruction in pieces.iter().flat_map(|piece| &piece.instructions) {
        if is_call_of(*instruction, OPERAND) {
            let version = instruction.operand(1).and_then(Value::as_integer);
            let Some(version) = version.map(|version| (version as i32).unsigned_abs()) else {
                let what = "the compiler has merged two operands";
                return Err(unsupported(file, &spec, what));
            };
            spec.named |= 1 << (version - 1);
        }
    }
    if spec.named == 0 {
        let what = "names no version (PP1(...), PP2(...))";
        let what = format!("{}: {}: {what}", spec.place(), spec.text);
        return Err(Error::bad_input(file, what));
    }
    Ok(spec)
}

/// Replaces the specification that begins with `begin`, a call of `p3_spec_begin`, by a call of `p3_spec_reached`.
pub(super) fn take_out(module: &Module, begin: Value, index: usize, file: &str) -> Result<()> {
    let spec = parse_begin(begin, file)?;
    let pieces = region(begin).map_err(|what| unsupported(file, &spec, what))?;
    let is_plain = |instruction: &Value| {
        !matches!(
            instruction.opcode(),
            LLVMOpcode::LLVMInvoke | LLVMOpcode::LLVMLandingPad | LLVMOpcode::LLVMCallBr
        )
    };
    let is_copyable = pieces
        .iter()
        .all(|piece| piece.instructions.iter().all(is_plain));
    let (relation, captured) = if is_copyable {
        let (relation, captured) = copy(module, begin, &pieces);
        (Some(relation), captured)
    } else {
        (None, Vec::new())
    };
    let place = define_place(module, index, &spec, relation, None);
    call_reached(module, begin, place, &captured);
    begin.replace_all_uses_with(begin.ty().zero());
    begin.erase_instruction();
    Ok(())
}

pub(super) fn is_call_of(instruction: Value, name: &str) -> bool {
    instruction.is_call()
        && instruction
            .called_function()
            .is_some_and(|callee| callee.name() == name.as_bytes())
}

/// Where a branch on whether `begin` is null goes, since it is not.
pub(super) fn decided(begin: Value, terminator: Value) -> Option<Block> {
    if !terminator.is_terminator() || terminator.successors().len() != 2 {
        return None;
    }
    let condition = terminator.operand(0)?;
    let tests = condition.is_instruction()
        && condition.opcode() == LLVMOpcode::LLVMICmp
        && condition.operand(0) == Some(begin)
        && condition.operand(1).is_some_and(Value::is_null);
    // LLVM's numbers of the predicates eq and ne.
    let side = match tests.then(|| condition.operation())? {
        32 => 1,
        33 => 0,
        _ => return None,
    };
    Some(terminator.successors()[side])
}

fn successors(begin: Value, terminator: Value) -> Vec<Block> {
    match decided(begin, terminator) {
        Some(only) => vec![only],
        None => terminator.successors(),
    }
}

/// The code of the specification; the first piece is what follows `begin` in its block.
pub(super) fn region(begin: Value) -> std::result::Result<Vec<Piece>, &'static str> {
    const MIXED: &str =
        "the compiler has mixed the specification with the code around it (compile with -O1 or -O0)";
    let start = begin.parent_block();
    let mut pieces = Vec::new();
    let mut seen = HashSet::from([start]);
    let mut work = vec![start];
    while let Some(block) = work.pop() {
        let mut instructions = block.instructions();
        if block == start {
            let own = instructions.iter().position(|&i| i == begin).unwrap_or(0);
            instructions.drain(..=own);
        }
        let end = instructions.iter().position(|&i| is_call_of(i, END));
        let told = end.and_then(|end| instructions[end].operand(1));
        if let Some(end) = end {
            instructions.truncate(end);
        }
        if told.is_none() {
            let terminator = block.terminator().ok_or(MIXED)?;
            if terminator.opcode() == LLVMOpcode::LLVMRet {
                return Err(MIXED);
            }
            for next in successors(begin, terminator) {
                if next == start {
                    return Err(MIXED);
                }
                if seen.insert(next) {
                    work.push(next);
                }
            }
        }
        instructions.retain(|&instruction| !is_marker(instruction));
        pieces.push(Piece {
            block,
            instructions,
            end: told,
        });
    }
    Ok(pieces)
}

/// The function of the code, and the values that it is to be given.
fn copy(module: &Module, begin: Value, pieces: &[Piece]) -> (Value, Vec<Value>) {
    let original = begin.parent_block().parent();
    let types = Types::of(module);
    let ty = types.function(types.integer(32), &[types.pointer(), types.pointer()]);
    let function = llvm::add_function(module, RELATION, ty);
    function.set_internal();
    function.copy_code_generation_attributes(original);
    let subprogram = function.make_subprogram(original);
    let entry = append_block(function, "");
    let blocks: HashMap<Block, Block> = pieces
        .iter()
        .map(|piece| (piece.block, append_block(function, "")))
        .collect();
    let inside: HashSet<Value> = pieces
        .iter()
        .flat_map(|piece| piece.instructions.iter().copied())
        .collect();

    let mut copies = HashMap::from([(begin, function.parameters()[0])]);
    let mut made = Vec::new();
    for piece in pieces {
        let builder = Builder::at_end(blocks[&piece.block]);
        for &instruction in &piece.instructions {
            let copy = match instruction.opcode() {
                LLVMOpcode::LLVMPHI => builder.phi(
                    instruction.ty(),
                    &incoming(instruction, piece.block, begin, pieces, &blocks),
                ),
                _ if is_call_of(instruction, BEGIN) => {
                    // In what an operand calls; no version is in lock-step with this one there.
                    copies.insert(instruction, instruction.ty().zero());
                    continue;
                }
                _ => match decided(begin, instruction) {
                    Some(only) => builder.branch(blocks[&only]),
                    None => builder.insert_clone(instruction),
                },
            };
            copy.drop_alias_scopes();
            if let Some(subprogram) = subprogram {
                copy.inline_location(instruction, subprogram);
            }
            if copy.is_terminator() && decided(begin, instruction).is_none() {
                for (i, next) in instruction.successors().into_iter().enumerate() {
                    copy.set_successor(i as u32, blocks[&next]);
                }
            }
            copies.insert(instruction, copy);
            made.push(copy);
        }
        if let Some(told) = piece.end {
            made.push(builder.ret(Some(told)));
        }
    }

    let start = Builder::at_end(entry);
    let mut captured: Vec<Value> = Vec::new();
    let mut uses = Vec::new();
    for copy in made {
        for (i, operand) in copy.operands().into_iter().enumerate() {
            if let Some(&known) = copies.get(&operand) {
                copy.set_operand(i as u32, known);
            } else if operand.is_instruction() && is_scratch(operand, &inside) {
                let own = start.insert_clone(operand);
                copies.insert(operand, own);
                copy.set_operand(i as u32, own);
            } else if operand.is_argument() && operand_is_of(operand, original)
                || operand.is_instruction() && operand.parent_block().parent() == original
            {
                let number = captured.iter().position(|&value| value == operand);
                let number = number.unwrap_or_else(|| {
                    captured.push(operand);
                    captured.len() - 1
                });
                uses.push((copy, i as u32, number));
            }
        }
    }
    let fields: Vec<_> = captured.iter().map(|value| value.ty()).collect();
    let structure = types.structure(&fields);
    let given: Vec<Value> = (0..fields.len() as u32)
        .map(|i| {
            let field = start.field(structure, function.parameters()[1], i);
            start.load(fields[i as usize], field)
        })
        .collect();
    start.branch(blocks[&begin.parent_block()]);
    for (copy, operand, number) in uses {
        copy.set_operand(operand, given[number]);
    }
    (function, captured)
}

fn operand_is_of(argument: Value, function: Value) -> bool {
    function.parameters().contains(&argument)
}

/// A variable of the specification's own.
fn is_scratch(value: Value, inside: &HashSet<Value>) -> bool {
    value.opcode() == LLVMOpcode::LLVMAlloca
        && value
            .users()
            .into_iter()
            .all(|user| inside.contains(&user) || is_marker(user))
}

/// What a phi takes on the edges that are left; the values are still the original's.
fn incoming(
    phi: Value,
    block: Block,
    begin: Value,
    pieces: &[Piece],
    blocks: &HashMap<Block, Block>,
) -> Vec<(Value, Block)> {
    let goes_here = |from: Block| {
        pieces.iter().any(|piece| {
            piece.block == from
                && piece.end.is_none()
                && from
                    .terminator()
                    .is_some_and(|t| successors(begin, t).contains(&block))
        })
    };
    phi.incoming()
        .into_iter()
        .filter(|&(_, from)| goes_here(from))
        .map(|(value, from)| (value, blocks[&from]))
        .collect()
}

/// Before `position`: `p3_spec_reached(place, captured)`.
pub(super) fn call_reached(module: &Module, position: Value, place: Value, captured: &[Value]) {
    let types = Types::of(module);
    let ty = types.function(types.void(), &[types.pointer(), types.pointer()]);
    let reached = llvm::global_named(module, REACHED)
        .unwrap_or_else(|| llvm::add_function(module, REACHED, ty));
    let memory = if captured.is_empty() {
        types.pointer().zero()
    } else {
        let fields: Vec<_> = captured.iter().map(|value| value.ty()).collect();
        let structure = types.structure(&fields);
        let entry = position.parent_block().parent().blocks()[0];
        let memory = Builder::before(entry.instructions()[0]).alloca(structure, "captured");
        let builder = Builder::before(position);
        for (i, &value) in captured.iter().enumerate() {
            builder.store(value, builder.field(structure, memory, i as u32));
        }
        memory
    };
    let builder = Builder::before(position);
    builder.set_location_of(position);
    let call = builder.call(ty, reached, &[place, memory]);
    debug_assert_eq!(place_of(call), Some(place));
}
