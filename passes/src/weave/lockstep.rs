//! The lock-step function of a product function: matched nodes only, all versions back to back, in SSA form.
//!
//! Values that cross nodes are in allocas named `slot` until the scaffold is removed.
//! Where the versions cannot go on together it spills what is live into a frame and lets the continuation
//! finish the activation.

use super::continuation::{state_at, Continuation};
use super::emit::{Copier, Copies, Place, Surroundings, Synchronous};
use super::hand_over::Spill;
use super::plan::{Exit, Plan};
use super::products::{build_return, call_apart, Product, Products, SoloCall};
use super::scaffold::Scaffold;
use super::weights;
use crate::llvm::{Block, Builder, Subprogram, Type, Types, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Writes the body of `product`; returns where versions may leave lock-step, and the scaffold.
pub(super) fn emit(
    plan: &Plan,
    product: &Product,
    products: &Products,
    continuation: &Continuation,
    subprogram: Option<Subprogram>,
) -> (BTreeSet<Exit>, Scaffold) {
    let (active, arguments) = product.split_parameters();
    let mut copier = Copier {
        plan,
        function: product.function,
        subprogram,
        places: Vec::new(),
    };
    let types = Types::of_function(product.function);
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
                let memory = builder.alloca(slot.ty(), "slot");
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
    let branch = builder.conditional_branch(all_active, together, apart);
    weights::expect(branch, |next| next == together);
    emit_partial(
        copier.builder(apart),
        product,
        products,
        &active,
        &arguments,
    );

    let mut exits = Exits {
        continuation,
        products,
        versions: &versions,
        state: builder_before(entry).alloca(types.integer(32), "state"),
        stop: builder_before(entry).alloca(types.integer(32), "stop"),
        blocks: BTreeMap::new(),
    };
    promotable.extend([exits.state, exits.stop]);
    let mut synchronous = Synchronous::new(&copier, products, &versions);
    let start = synchronous.block(0);
    products
        .checks
        .compare_arguments(
            copier.builder(together),
            product,
            products.forks,
            &arguments,
        )
        .branch(start);
    synchronous.emit_all(&mut exits);
    let spills = exits.spill(&copier, product);
    let scaffold = Scaffold {
        function: product.function,
        memory: promotable,
        spills,
        continuation: None,
    };
    (exits.blocks.into_keys().collect(), scaffold)
}

fn builder_before(entry: Block) -> Builder {
    Builder::before(entry.instructions()[0])
}

/// Only some versions are active: each calls its plain function.
fn emit_partial(
    builder: Builder,
    product: &Product,
    products: &Products,
    active: &[Value],
    arguments: &[Vec<Value>],
) {
    let versions = product.versions();
    let members = product.present();
    let calls: Vec<SoloCall> = members
        .iter()
        .zip(arguments)
        .map(|(&member, arguments)| SoloCall {
            ty: member.value_type(),
            callee: member,
            arguments,
            extensions: &[],
        })
        .collect();
    let may_fork = products.may_fork(product);
    let condition = |builder: &Builder, k: usize| {
        Some(if may_fork {
            builder.and(active[k], products.forks.is_alive(builder, versions[k]))
        } else {
            active[k]
        })
    };
    let (builder, results) = call_apart(builder, &calls, &[&condition], Type::zero);
    build_return(&builder, product.ty.return_type(), &results);
}

struct Exits<'a, 'm, 'ctx> {
    continuation: &'a Continuation,
    products: &'a Products<'m, 'ctx>,
    versions: &'a [usize],
    /// Arguments for the continuation (allocas, promoted later).
    state: Value,
    stop: Value,
    blocks: BTreeMap<Exit, Block>,
}

impl Exits<'_, '_, '_> {
    /// Completes the exits: what is live goes into a frame, and the continuation finishes the activation.
    fn spill(&self, copier: &Copier, product: &Product) -> Vec<Spill> {
        let types = Types::of_function(copier.function);
        let mut spills = Vec::new();
        let exits: Vec<(Exit, Block)> = self.blocks.iter().map(|(&e, &b)| (e, b)).collect();
        for (exit, block) in exits {
            let plan = copier.plan;
            let builder = copier.builder(block);
            let stop = self.continuation.stop_at(exit.meeting);
            builder.store(
                types.constant(32, state_at(exit.group, exit.leave)),
                self.state,
            );
            builder.store(types.constant(32, stop), self.stop);
            // Allocated here and not at the entry: most activations never leave lock-step.
            let frame = builder.alloca(self.continuation.frame_type, "frame");
            let mut fields = Vec::new();
            for k in 0..plan.members.len() {
                for slot in plan.live_at_exit(k, exit).collect::<BTreeSet<usize>>() {
                    let value = plan.members[k].slots[slot];
                    let value = copier.read(&builder, k, value, &mut Copies::new());
                    let field = self.continuation.field(k, slot);
                    let address = builder.field(self.continuation.frame_type, frame, field);
                    builder.store(value, address);
                    fields.push((field, address));
                }
            }
            let state = builder.load(types.integer(32), self.state);
            let stop = builder.load(types.integer(32), self.stop);
            let arguments = [frame, state, stop];
            let call = builder.call(self.continuation.ty, self.continuation.function, &arguments);
            let returns = !product.ty.return_type().is_void();
            let end = builder.ret(returns.then_some(call));
            spills.push(Spill {
                frame,
                fields,
                call,
                end,
            });
        }
        spills
    }
}

impl Surroundings for Exits<'_, '_, '_> {
    fn exit(&mut self, copier: &Copier, exit: Exit) -> Block {
        *self
            .blocks
            .entry(exit)
            .or_insert_with(|| copier.block("exit"))
    }

    fn finish(&mut self, copier: &Copier, builder: Builder, results: &[Option<Value>]) {
        let (plan, forks) = (copier.plan, self.products.forks);
        let checks = self.products.checks;
        let builder = checks.compare_results(builder, plan, forks, self.versions, results);
        build_return(
            &builder,
            copier.function.value_type().return_type(),
            results,
        );
    }
}
