//! Breaks product functions on purpose, to show that the checker and the other oracles notice.
//!
//! Input: a product after weave. A mutant differs from it in one place of one product function or continuation.
//! What only costs lock-step and cannot change what a version does is not mutated: where versions meet, whether
//! they leave or enter it, cells that are declared unneeded. So hardly any mutant is equivalent to the product.

use crate::llvm::{self, Block, Module, Types, Value};
use inkwell::llvm_sys::LLVMOpcode;

/// What was done to a product.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// One of [`KINDS`].
    pub kind: &'static str,
    /// The function and the place.
    pub what: String,
}

/// The ways to break a product.
pub const KINDS: [&str; 8] = [
    "drop", "forget", "operands", "order", "wire", "redirect", "constant", "number",
];

/// The same numbers for the same seed (xorshift).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..8 {
            random.below(2);
        }
        random
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % bound
    }

    fn pick<T: Copy>(&mut self, all: &[T]) -> Option<T> {
        (!all.is_empty()).then(|| all[self.below(all.len())])
    }
}

/// Breaks one place of `module`, which one depends on `seed`; none if the seed leads to no place that can be broken
/// so that LLVM's verifier still accepts the module, which is not to be used then.
pub fn mutate(module: &Module, seed: u64) -> Option<Mutant> {
    let mut random = Random::new(seed);
    let functions: Vec<Value> = llvm::functions(module)
        .into_iter()
        .filter(|f| !f.is_declaration() && f.name().starts_with(b"_PP_") && f.blocks().len() > 1)
        .collect();
    let function = random.pick(&functions)?;
    let kind = random.pick(&KINDS)?;
    let place = Place {
        blocks: function.blocks(),
        types: Types::of(module),
    };
    let what = match kind {
        "drop" => place.drop_instruction(&mut random),
        "forget" => place.forget(&mut random),
        "operands" => place.swap_operands(&mut random),
        "order" => place.swap_instructions(&mut random),
        "wire" => place.cross_wire(&mut random),
        "redirect" => place.redirect(&mut random),
        "constant" => place.change_constant(&mut random),
        _ => place.change_number(&mut random),
    }?;
    llvm::verify(module).ok()?;
    let what = format!("{}: {what}", function.name_text());
    Some(Mutant { kind, what })
}

/// The function to be broken.
struct Place {
    blocks: Vec<Block>,
    types: Types,
}

fn text(value: Value) -> String {
    value.print().trim().to_string()
}

fn has_opcode(value: Value, opcode: LLVMOpcode) -> bool {
    value.is_instruction() && value.opcode() == opcode
}

fn is_alloca_named(value: Value, name: &str) -> bool {
    has_opcode(value, LLVMOpcode::LLVMAlloca) && value.name_text().starts_with(name)
}

/// The address of a load or store.
fn address(instruction: Value) -> Option<Value> {
    match instruction.opcode() {
        LLVMOpcode::LLVMLoad => instruction.operand(0),
        LLVMOpcode::LLVMStore => instruction.operand(1),
        _ => None,
    }
}

/// A field of a frame: the first parameter's, or of an alloca's that is called so.
fn is_field(value: Value) -> bool {
    has_opcode(value, LLVMOpcode::LLVMGetElementPtr)
        && value
            .operand(0)
            .is_some_and(|base| base.is_argument() || is_alloca_named(base, "frame"))
        && value.operands().len() == 3
}

fn is_cell(address: Value) -> bool {
    is_alloca_named(address, "slot") || is_alloca_named(address, "result") || is_field(address)
}

/// What says where versions meet, or what nobody needs any more.
fn costs_lockstep_only(instruction: Value) -> bool {
    let on_stop = |value: Value| {
        address(value).is_some_and(|address| is_alloca_named(address, "stop"))
            || is_alloca_named(value, "stop")
    };
    let is_undefined = has_opcode(instruction, LLVMOpcode::LLVMStore)
        && instruction.operand(0).is_some_and(Value::is_undefined);
    let operands = instruction.operands();
    let activates = has_opcode(instruction, LLVMOpcode::LLVMAnd)
        && operands.iter().any(|operand| operand.is_argument());
    is_undefined
        || activates
        || on_stop(instruction)
        || operands.iter().any(|&operand| {
            operand.is_instruction()
                && (on_stop(operand)
                    || operand
                        .operands()
                        .into_iter()
                        .any(|o| o.is_instruction() && on_stop(o)))
        })
}

/// The version whose global an instruction names, directly or in what it computes with.
fn version(value: Value, depth: usize) -> Option<String> {
    if value.is_global() {
        let name = value.name_text();
        let (number, _) = name.strip_prefix("_PP")?.split_once('_')?;
        return (!number.is_empty()).then(|| number.to_string());
    }
    let goes_on = depth > 0 && (value.is_instruction() || value.expression_opcode().is_some());
    let operands = goes_on.then(|| value.operands());
    let mut operands = operands.into_iter().flatten();
    operands.find_map(|operand| version(operand, depth - 1))
}

impl Place {
    fn instructions(&self) -> Vec<Value> {
        let all = self.blocks.iter().flat_map(|block| block.instructions());
        all.filter(|&instruction| !costs_lockstep_only(instruction))
            .collect()
    }

    /// Operands that are data: not what is called, not where a terminator goes.
    fn data_operands(&self, instruction: Value) -> Vec<u32> {
        let count = match instruction.opcode() {
            _ if instruction.is_call() => instruction.argument_count(),
            LLVMOpcode::LLVMBr if instruction.operand_count() == 1 => 0,
            _ if instruction.is_terminator() => instruction.operand_count().min(1),
            LLVMOpcode::LLVMPHI | LLVMOpcode::LLVMAlloca => 0,
            _ => instruction.operand_count(),
        };
        (0..count).collect()
    }

    fn remove(&self, instruction: Value) {
        if instruction.has_uses() {
            instruction.replace_all_uses_with(instruction.ty().zero());
        }
        instruction.erase_instruction();
    }

    /// An instruction is missing; zero stands for its value.
    fn drop_instruction(&self, random: &mut Random) -> Option<String> {
        let mut all = self.instructions();
        all.retain(|&instruction| {
            !instruction.is_terminator()
                && !matches!(
                    instruction.opcode(),
                    LLVMOpcode::LLVMPHI | LLVMOpcode::LLVMAlloca
                )
                && !is_field(instruction)
                && !address(instruction).is_some_and(is_cell)
        });
        let instruction = random.pick(&all)?;
        let what = format!("without `{}`", text(instruction));
        self.remove(instruction);
        Some(what)
    }

    /// A value is not kept or not fetched.
    fn forget(&self, random: &mut Random) -> Option<String> {
        let mut all = self.instructions();
        all.retain(|&instruction| address(instruction).is_some_and(is_cell));
        let instruction = random.pick(&all)?;
        let what = format!("without `{}`", text(instruction));
        self.remove(instruction);
        Some(what)
    }

    /// Two operands of one type change places.
    fn swap_operands(&self, random: &mut Random) -> Option<String> {
        let mut all = Vec::new();
        for instruction in self.instructions() {
            let commutes = matches!(
                instruction.opcode(),
                LLVMOpcode::LLVMAnd
                    | LLVMOpcode::LLVMOr
                    | LLVMOpcode::LLVMXor
                    | LLVMOpcode::LLVMAdd
                    | LLVMOpcode::LLVMMul
                    | LLVMOpcode::LLVMFAdd
                    | LLVMOpcode::LLVMFMul
            ) || has_opcode(instruction, LLVMOpcode::LLVMICmp)
                && matches!(instruction.operation(), 32 | 33);
            let operands = self.data_operands(instruction);
            for &a in operands.iter().filter(|_| !commutes) {
                for &b in operands.iter().filter(|&&b| b > a) {
                    let pair = (instruction.operand(a)?, instruction.operand(b)?);
                    if pair.0 != pair.1 && pair.0.ty() == pair.1.ty() {
                        all.push((instruction, a, b));
                    }
                }
            }
        }
        let (instruction, a, b) = random.pick(&all)?;
        let what = format!("operands {a} and {b} of `{}` swapped", text(instruction));
        let (first, second) = (instruction.operand(a)?, instruction.operand(b)?);
        instruction.set_operand(a, second);
        instruction.set_operand(b, first);
        Some(what)
    }

    /// Two neighbours of one version change places, of which one writes to memory and the other uses some.
    fn swap_instructions(&self, random: &mut Random) -> Option<String> {
        let uses_memory = |instruction: Value| match address(instruction) {
            Some(address) => !is_cell(address) && !is_control(address),
            None => instruction.is_call(),
        };
        let mut all = Vec::new();
        for first in self.instructions() {
            let Some(second) = first.next_instruction() else {
                continue;
            };
            let writes = !has_opcode(first, LLVMOpcode::LLVMLoad)
                || !has_opcode(second, LLVMOpcode::LLVMLoad);
            let owner = version(first, 4);
            if uses_memory(first)
                && uses_memory(second)
                && writes
                && owner.is_some()
                && owner == version(second, 4)
            {
                all.push((first, second));
            }
        }
        let (first, second) = random.pick(&all)?;
        let what = format!("`{}` and `{}` swapped", text(first), text(second));
        second.move_before(first);
        Some(what)
    }

    /// An operand is another value of its type.
    fn cross_wire(&self, random: &mut Random) -> Option<String> {
        let instruction = random.pick(&self.instructions())?;
        let index = random.pick(&self.data_operands(instruction))?;
        let old = instruction.operand(index)?;
        let function = instruction.parent_block().parent();
        let before = instruction.parent_block().instructions();
        let before = before.into_iter().take_while(|&other| other != instruction);
        let entry = self.blocks[0]
            .instructions()
            .into_iter()
            .filter(|&i| is_cell(i));
        let is_same_load = |other: Value| {
            has_opcode(other, LLVMOpcode::LLVMLoad)
                && has_opcode(old, LLVMOpcode::LLVMLoad)
                && other.operand(0) == old.operand(0)
        };
        let mut others: Vec<Value> = function.parameters();
        others.extend(before.chain(entry));
        others.retain(|&other| {
            other != old
                && other.ty() == old.ty()
                && is_cell(other) == is_cell(old)
                && !is_alloca_named(other, "stop")
                && !is_alloca_named(other, "frame")
                && !is_same_load(other)
        });
        let other = random.pick(&others)?;
        let what = format!(
            "operand {index} of `{}` is `{}`",
            text(instruction),
            text(other)
        );
        instruction.set_operand(index, other);
        Some(what)
    }

    /// An edge goes to another block, though not out of lock-step.
    fn redirect(&self, random: &mut Random) -> Option<String> {
        let mut all = self.instructions();
        all.retain(|terminator| terminator.is_terminator() && !terminator.successors().is_empty());
        let terminator = random.pick(&all)?;
        let index = random.below(terminator.successors().len());
        let old = terminator.successors()[index];
        let mut blocks = self.blocks[1..].to_vec();
        let begins_with_phi = |block: &Block| {
            let first = block.instructions().first().copied();
            first.is_some_and(|first| has_opcode(first, LLVMOpcode::LLVMPHI))
        };
        let leaves = |block: &Block| {
            let mut stores = block.instructions().into_iter().filter_map(address);
            stores.any(|address| {
                is_alloca_named(address, "state") || is_alloca_named(address, "stop")
            })
        };
        blocks.retain(|block| *block != old && !begins_with_phi(block) && !leaves(block));
        let block = random.pick(&blocks)?;
        let target = text(*block.instructions().first()?);
        let what = format!(
            "successor {index} of `{}` is that with `{target}`",
            text(terminator)
        );
        terminator.set_successor(index as u32, block);
        Some(what)
    }

    fn constants(&self, wanted: impl Fn(Value, Value) -> bool) -> Vec<(Value, u32)> {
        let mut all = Vec::new();
        for instruction in self.instructions().into_iter().filter(|&i| !is_field(i)) {
            for index in self.data_operands(instruction) {
                let is_wanted = instruction.operand(index).is_some_and(|operand| {
                    operand.is_constant()
                        && operand.as_integer().is_some()
                        && wanted(instruction, operand)
                });
                if is_wanted {
                    all.push((instruction, index));
                }
            }
        }
        all
    }

    fn change(&self, random: &mut Random, (instruction, index): (Value, u32)) -> Option<String> {
        let old = instruction.operand(index)?;
        let width = old.ty().integer_width().filter(|&width| width <= 64)?;
        let difference = random.pick(&[1, 2, u64::MAX, 256])?;
        let number = old.as_integer()?.wrapping_add(difference);
        let mask = u64::MAX >> (64 - width);
        let new = self.types.constant(width, number & mask);
        let what = format!(
            "operand {index} of `{}` is `{}`",
            text(instruction),
            text(new)
        );
        instruction.set_operand(index, new);
        (new != old).then_some(what)
    }

    /// A constant is another one.
    fn change_constant(&self, random: &mut Random) -> Option<String> {
        let is_number = |instruction| address(instruction).is_some_and(is_control);
        let all = self.constants(|instruction, _| !is_number(instruction));
        let place = random.pick(&all)?;
        self.change(random, place)
    }

    /// A version goes on elsewhere.
    fn change_number(&self, random: &mut Random) -> Option<String> {
        let all = self.constants(|instruction, _| address(instruction).is_some_and(is_control));
        let place = random.pick(&all)?;
        self.change(random, place)
    }
}

fn is_control(address: Value) -> bool {
    is_alloca_named(address, "state") || is_alloca_named(address, "resume")
}
