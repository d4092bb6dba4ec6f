//! What product functions are written with and do without in the end.
//!
//! While a product function is written, every value that crosses nodes is in memory, and every node has a block of
//! its own. The checker looks at it like that; then the memory becomes SSA values, stores and loads of frames that
//! are not needed go, blocks are merged and branches take the form that costs least.
//!
//! A frame's fields are used by one lock-step function, which only stores, and its continuation. Nobody else has its
//! address. So a field that is not read while other versions run is as good as a local variable of the
//! continuation, and what the continuation never reads need not be handed over. Values that are never needed at the same
//! time share a field (`Plan::homes`).

use super::{branches, frames};
use crate::llvm::{append_block, Block, Builder, Types, Value};
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::{BTreeMap, HashMap};

/// A product function that has been written but not cleaned up.
pub(crate) struct Scaffold {
    pub(super) function: Value,
    /// Allocas that only loads and stores use.
    pub(super) memory: Vec<Value>,
    /// The ways out, each with code of its own for the time being.
    pub(super) spills: Vec<Spill>,
    pub(super) continuation: Option<ContinuationScaffold>,
}

/// Code that fills a frame, calls the continuation and returns.
pub(super) struct Spill {
    /// The frame's alloca.
    pub(super) frame: Value,
    /// The fields that are stored: number and address.
    pub(super) fields: Vec<(u32, Value)>,
    pub(super) call: Value,
    /// The return.
    pub(super) end: Value,
}

/// The same for a continuation.
pub(crate) struct ContinuationScaffold {
    pub(super) function: Value,
    /// Allocas that only loads and stores use.
    pub(super) memory: Vec<Value>,
    pub(super) fields: Vec<Field>,
}

/// A field of the frame, which only loads and stores of the continuation use.
pub(super) struct Field {
    pub(super) number: u32,
    pub(super) address: Value,
    /// The number of the field whose memory it uses, its own or a lower one. None: what it holds is not needed after
    /// others have run.
    pub(super) home: Option<u32>,
}

impl Scaffold {
    /// Brings the function and its continuation into their final form.
    pub(crate) fn remove(mut self) {
        if let Some(continuation) = self.continuation {
            let home_of = continuation.remove();
            for spill in &mut self.spills {
                spill.fields.retain_mut(|(number, address)| {
                    let Some(&home) = home_of.get(number) else {
                        erase_with_users(*address);
                        return false;
                    };
                    let types = Types::of_function(self.function);
                    address.set_operand(2, types.constant(32, u64::from(home)));
                    *number = home;
                    true
                });
            }
        }
        share_spills(self.function, self.spills);
        self.function.promote(&self.memory);
        self.function.merge_blocks();
        self.function.forward_blocks();
        branches::branch_one_by_one(self.function);
    }
}

impl ContinuationScaffold {
    /// Returns the fields that have to be filled in: by their numbers, the number of the field that is used instead.
    fn remove(self) -> HashMap<u32, u32> {
        let mut memory = self.memory;
        let mut frame: BTreeMap<u32, Value> = BTreeMap::new();
        let mut home_of = HashMap::new();
        for field in self.fields {
            let Some(home) = field.home else {
                match field.address.has_uses() {
                    true => memory.push(make_local(field.address)),
                    false => field.address.erase_instruction(),
                }
                continue;
            };
            home_of.insert(field.number, home);
            // A home stands before those that share it.
            let address = *frame.entry(home).or_insert(field.address);
            if address != field.address {
                field.address.replace_all_uses_with(address);
                field.address.erase_instruction();
            }
        }
        self.function.promote(&memory);
        self.function.merge_blocks();
        let addresses: Vec<Value> = frame.values().copied().collect();
        let read = frames::simplify(self.function, &addresses);
        home_of.retain(|_, home| read.contains(&frame[home]));
        for address in addresses {
            if !address.has_uses() {
                address.erase_instruction();
            }
        }
        self.function.forward_blocks();
        branches::branch_one_by_one(self.function);
        home_of
    }
}

/// So many ways out share code at most: every shared value has a phi with an operand of each, which LLVM's register
/// allocator makes copies of.
const MOST_SHARING: usize = 128;

/// Lets ways out share their code where that is shorter. Values meet in phis there; what a way out does not need is
/// undefined on its edge, so that nothing stays alive for it.
fn share_spills(function: Value, spills: Vec<Spill>) {
    let mut chunk: Vec<Spill> = Vec::new();
    let mut union: BTreeMap<u32, Value> = BTreeMap::new();
    let mut stored = 0;
    for spill in spills {
        let own = spill.fields.len();
        let new = spill.fields.iter();
        let new = new
            .filter(|(number, _)| !union.contains_key(number))
            .count();
        // A shared value takes a phi, an address and a store; one of a way out's own only the last two.
        let is_shorter = 3 * new <= 2 * own + 4;
        // The phis' operands must not grow faster than what is stored.
        let is_dense = (chunk.len() + 1) * (union.len() + new) <= 4 * (stored + own) + 64;
        if !(is_shorter && is_dense) || chunk.len() == MOST_SHARING {
            share(function, &std::mem::take(&mut chunk), &union);
            union.clear();
            stored = 0;
        }
        stored += own;
        union.extend(spill.fields.iter().copied());
        chunk.push(spill);
    }
    share(function, &chunk, &union);
}

/// Replaces the code of several ways out by one copy. `fields` are all of theirs, with an address of each.
fn share(function: Value, spills: &[Spill], fields: &BTreeMap<u32, Value>) {
    let [first, _, ..] = spills else {
        return;
    };
    let builder = Builder::at_end(append_block(function, "spill"));
    builder.set_location_of(first.call);
    let blocks: Vec<Block> = spills
        .iter()
        .map(|spill| spill.end.parent_block())
        .collect();
    let phi = |values: Vec<Value>| {
        let incoming: Vec<(Value, Block)> = values.into_iter().zip(blocks.clone()).collect();
        builder.phi(incoming[0].0.ty(), &incoming)
    };
    let argument = |index: u32| {
        let values = spills.iter().filter_map(|spill| spill.call.operand(index));
        phi(values.collect())
    };
    let (state, stop) = (argument(1), argument(2));
    let stored: Vec<HashMap<u32, Value>> = spills.iter().map(stored_by).collect();
    let values: Vec<(Value, Value)> = fields
        .iter()
        .filter_map(|(number, &address)| {
            let ty = stored.iter().find_map(|values| values.get(number))?.ty();
            let here = |values: &HashMap<u32, Value>| {
                values.get(number).copied().unwrap_or(ty.undefined())
            };
            Some((address, phi(stored.iter().map(here).collect())))
        })
        .collect();
    let frame = builder.insert_clone(first.frame);
    for (address, value) in values {
        let address = builder.insert_clone(address);
        address.set_operand(0, frame);
        builder.store(value, address);
    }
    let call = builder.insert_clone(first.call);
    for (index, operand) in [frame, state, stop].into_iter().enumerate() {
        call.set_operand(index as u32, operand);
    }
    let end = builder.insert_clone(first.end);
    if end.operand_count() > 0 {
        end.set_operand(0, call);
    }
    for (spill, block) in spills.iter().zip(blocks) {
        spill.end.erase_instruction();
        let on = Builder::at_end(block);
        on.set_location_of(spill.call);
        on.branch(builder.block());
        spill.call.erase_instruction();
        for &(_, address) in &spill.fields {
            erase_with_users(address);
        }
        spill.frame.erase_instruction();
    }
}

/// What a way out stores in the fields.
fn stored_by(spill: &Spill) -> HashMap<u32, Value> {
    let fields = spill.fields.iter();
    fields
        .filter_map(|&(number, address)| {
            let store = address.users().into_iter().next()?;
            Some((number, store.operand(0)?))
        })
        .collect()
}

/// Removes the ways through a product function on which only some versions are active, if every caller activates
/// all of them. `members` is the number of activation variables.
pub(super) fn settle_activations(function: Value, members: usize) {
    let activates_all = |call: Value| {
        call.is_call()
            && call.called_function() == Some(function)
            && (0..members as u32).all(|i| {
                call.operand(i)
                    .is_some_and(|active| active.as_integer() == Some(1))
            })
    };
    let callers = function.users();
    if !callers.into_iter().all(activates_all) {
        return;
    }
    let truth = Types::of_function(function).constant(1, 1);
    for active in function.parameters().into_iter().take(members) {
        active.replace_all_uses_with(truth);
    }
    // Not more than that: exits keep blocks of their own (`branches.rs`).
    function.fold_branches();
}

/// Puts a local variable in the place of a field.
fn make_local(field: Value) -> Value {
    let users = field.users().into_iter();
    let ty = users
        .map(|user| match user.opcode() {
            LLVMOpcode::LLVMStore => user.operand(0).unwrap_or(user).ty(),
            _ => user.ty(),
        })
        .next()
        .unwrap_or(field.ty());
    let local = Builder::before(field).alloca(ty, "local");
    field.replace_all_uses_with(local);
    field.erase_instruction();
    local
}

/// Erases an address and the stores to it.
fn erase_with_users(address: Value) {
    for user in address.users() {
        user.erase_instruction();
    }
    address.erase_instruction();
}
