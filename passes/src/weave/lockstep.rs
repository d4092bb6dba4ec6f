//! The lock-step function of a product function: matched nodes only, all versions back to back, in SSA form.
//!
//! Where the versions cannot go on together it spills what is live into a frame and lets the continuation
//! finish the activation.

use super::continuation::Continuation;
use super::emit::{Copier, Copies, Place, Surroundings, Synchronous};
use super::plan::{is_static_alloca, GroupId, Plan};
use super::products::{build_return, Product, Products};
use crate::llvm::{Block, Subprogram, Types, Value};
use crate::Result;
use std::collections::{BTreeSet, HashMap};

/// Writes the body of `product`; returns the groups at whose ends versions may leave lock-step.
pub(super) fn emit(
    plan: &Plan,
    product: &Product,
    products: &Products,
    continuation: &Continuation,
    subprogram: Option<Subprogram>,
) -> Result<BTreeSet<GroupId>> {
    let (active, arguments) = product.split_parameters();
    let mut copier = Copier {
        plan,
        function: product.function,
        subprogram,
        places: Vec::new(),
        frame: None,
    };
    let entry = copier.block("");
    let builder = copier.builder(entry);
    let mut promotable = Vec::new();
    for (k, member) in plan.members.iter().enumerate() {
        let mut known: HashMap<Value, Value> = plan.graphs[k]
            .function
            .parameters()
            .into_iter()
            .zip(arguments[k].iter().copied())
            .collect();
        for &alloca in &member.static_allocas {
            known.insert(alloca, builder.insert_clone(alloca));
        }
        let places = member.slots.iter().map(|slot| match known.get(slot) {
            Some(&value) => Place::Value(value),
            None => {
                let memory = builder.alloca(slot.ty());
                promotable.push(memory);
                Place::Memory(memory)
            }
        });
        copier.places.push(places.collect());
    }

    let versions = product.versions();
    let together = copier.block("all");
    let apart = copier.block("some");
    let all_active = active[1..]
        .iter()
        .fold(active[0], |all, &one| builder.and(all, one));
    builder.conditional_branch(all_active, together, apart);
    promotable.extend(emit_partial(
        &copier, product, apart, entry, &active, &arguments,
    ));

    let mut exits = Exits {
        continuation,
        product,
        blocks: HashMap::new(),
        groups: BTreeSet::new(),
    };
    let mut synchronous = Synchronous::new(&copier, products, &versions);
    let start = synchronous.block(0);
    copier.builder(together).branch(start);
    synchronous.emit_all(&mut exits)?;
    let groups = exits.groups;
    product.function.promote(&promotable);
    product.function.merge_blocks();
    Ok(groups)
}

/// Only some versions are active: each calls its plain function. Returns the allocas used.
fn emit_partial(
    copier: &Copier,
    product: &Product,
    start: Block,
    entry: Block,
    active: &[Value],
    arguments: &[Vec<Value>],
) -> Vec<Value> {
    let first = entry.instructions()[0];
    let mut block = start;
    let mut memories = Vec::new();
    let mut results = Vec::new();
    for (k, member) in product.present().into_iter().enumerate() {
        let returned = member.value_type().return_type();
        let memory = (!returned.is_void()).then(|| {
            let builder = crate::llvm::Builder::before(first);
            builder.alloca(returned)
        });
        let builder = copier.builder(block);
        if let Some(memory) = memory {
            builder.store(returned.zero(), memory);
            memories.push(memory);
        }
        let call_block = copier.block("solo");
        let next = copier.block("some");
        builder.conditional_branch(active[k], call_block, next);
        let builder = copier.builder(call_block);
        let call = builder.call(member.value_type(), member, &arguments[k]);
        call.copy_call_attributes_from(member);
        if let Some(memory) = memory {
            builder.store(call, memory);
        }
        builder.branch(next);
        results.push(memory.map(|memory| (memory, returned)));
        block = next;
    }
    let builder = copier.builder(block);
    let results: Vec<Option<Value>> = results
        .into_iter()
        .map(|result| result.map(|(memory, ty)| builder.load(ty, memory)))
        .collect();
    build_return(&builder, product.ty.return_type(), &results);
    memories
}

struct Exits<'a> {
    continuation: &'a Continuation,
    product: &'a Product,
    blocks: HashMap<GroupId, Block>,
    groups: BTreeSet<GroupId>,
}

impl Surroundings for Exits<'_> {
    fn exit(&mut self, copier: &Copier, group: GroupId, _differ: bool, copies: &[Copies]) -> Block {
        if let Some(&block) = self.blocks.get(&group) {
            return block;
        }
        self.groups.insert(group);
        let block = copier.block("exit");
        let builder = copier.builder(block);
        // Allocated here and not at the entry: most activations never leave lock-step.
        let frame = builder.alloca(self.continuation.frame_type);
        let plan = copier.plan;
        for (k, &node) in plan.matched.groups[group].iter().enumerate() {
            let mut known = copies[k].clone();
            let member = &plan.members[k];
            for &slot in &member.live_at_end[node] {
                let value = copier.read(&builder, k, member.slots[slot], &mut known);
                let field = self.continuation.field(k, slot);
                builder.store(
                    value,
                    builder.field(self.continuation.frame_type, frame, field),
                );
            }
        }
        let types = Types::of_function(copier.function);
        let state = self.continuation.state_at_end_of(group);
        let stop = self.continuation.stop_after(plan, group);
        let call = builder.call(
            self.continuation.ty,
            self.continuation.function,
            &[frame, types.constant(32, state), types.constant(32, stop)],
        );
        let returns = !self.product.ty.return_type().is_void();
        builder.ret(returns.then_some(call));
        self.blocks.insert(group, block);
        block
    }

    fn finish(&mut self, _: &Copier, builder: &crate::llvm::Builder, results: &[Option<Value>]) {
        build_return(builder, self.product.ty.return_type(), results);
    }
}

/// Whether a value is one that the lock-step function keeps in its own stack frame.
pub(super) fn lives_in_stack_frame(value: Value) -> bool {
    value.is_instruction() && is_static_alloca(value)
}
