//! The continuation of a product function: finishes an activation whose versions have left lock-step.
//!
//! `_PP_f.diverged(frame, state, stop)` keeps every value that crosses nodes in the frame. It sends the
//! versions one after the other through copies of their own code, each up to the meeting point `stop` or to
//! the function's end, goes on in lock-step there, and may leave lock-step again. Version k goes on at
//! `resume_k`: the number of a group and of a place there (see [`Leave`]); -1 means that it has returned.
//! What only tests that the versions have not ended is left at its start: each version makes its own test. What two
//! versions part at by a condition is left behind it, so that the condition need not be kept.

use super::emit::{Copier, Copies, Place, Surroundings, Synchronous};
use super::plan::{Exit, GroupId, Leave, Plan};
use super::products::{build_return, Product, Products};
use super::scaffold::{ContinuationScaffold, Field};
use super::CONTINUATION;
use crate::llvm::{self, Block, Builder, Module, Subprogram, Type, Types, Value};
use crate::nodes::NodeId;
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A version that has returned resumes nowhere.
const RETURNED: u64 = u32::MAX as u64;

/// The state in which every version leaves lock-step.
pub(super) fn state_at(group: GroupId, leave: Leave) -> u64 {
    let place = match leave {
        Leave::Start => 0,
        Leave::End => 1,
        Leave::Together(side) => 2 + side as u64,
        Leave::Apart(side) => 4 + side as u64,
    };
    8 * group as u64 + place
}

/// A continuation's interface.
pub(super) struct Continuation {
    pub(super) function: Value,
    pub(super) ty: Type,
    pub(super) frame_type: Type,
    /// The address of a 1.
    one: Value,
    /// Per member: the field of its slot 0.
    first_field: Vec<u32>,
    /// The `stop` that no node has.
    nowhere: u64,
}

/// A variable that is always 1, which LLVM does not know.
fn the_one(module: &Module) -> Value {
    const NAME: &str = "p3.one";
    llvm::global_named(module, NAME).unwrap_or_else(|| {
        let value = Types::of(module).constant(32, 1);
        let one = llvm::add_global(module, NAME, value.ty());
        one.set_initializer(value);
        one.set_internal();
        one
    })
}

impl Continuation {
    pub(super) fn declare(module: &Module, plan: &Plan, product: &Product) -> Continuation {
        let types = Types::of(module);
        let mut fields = Vec::new();
        let mut first_field = Vec::new();
        for member in &plan.members {
            first_field.push(fields.len() as u32);
            fields.extend(member.slots.iter().map(|slot| slot.ty()));
        }
        let integer = types.integer(32);
        let ty = types.function(
            product.ty.return_type(),
            &[types.pointer(), integer, integer],
        );
        let name = format!("{}{CONTINUATION}", product.function.name_text());
        let function = llvm::add_function(module, &name, ty);
        function.set_internal();
        function.copy_code_generation_attributes(product.function);
        // Where it stands, it is not in the way of what runs in lock-step.
        function.add_attribute("cold");
        Continuation {
            function,
            one: the_one(module),
            ty,
            frame_type: types.structure(&fields),
            first_field,
            nowhere: plan.matched.groups.len() as u64,
        }
    }

    pub(super) fn field(&self, k: usize, slot: usize) -> u32 {
        self.first_field[k] + slot as u32
    }

    /// The number of where versions meet again.
    pub(super) fn stop_at(&self, meeting: Option<GroupId>) -> u64 {
        meeting.map_or(self.nowhere, |meeting| meeting as u64)
    }

    /// Writes the body, for activations that leave lock-step at `exits`; returns its scaffold.
    pub(super) fn emit(
        &self,
        plan: &Plan,
        product: &Product,
        products: &Products,
        exits: BTreeSet<Exit>,
        subprogram: Option<Subprogram>,
    ) -> ContinuationScaffold {
        let parameters = self.function.parameters();
        let mut copier = Copier {
            plan,
            function: self.function,
            subprogram,
            places: Vec::new(),
        };
        let entry = copier.block("");
        let builder = copier.builder(entry);
        // One address per field for the whole function: fields are used in many copies.
        let mut fields = Vec::new();
        for (k, member) in plan.members.iter().enumerate() {
            let addresses: Vec<Value> = (0..member.slots.len())
                .map(|slot| builder.field(self.frame_type, parameters[0], self.field(k, slot)))
                .collect();
            let places = addresses.iter().copied().map(Place::Memory);
            copier.places.push(places.collect());
            fields.push(addresses);
        }
        let copier = copier;
        let integer = Types::of_function(self.function).integer(32);
        let state = State {
            resume: plan
                .members
                .iter()
                .map(|_| builder.alloca(integer, "resume"))
                .collect(),
            stop: builder.alloca(integer, "stop"),
            results: product
                .present()
                .iter()
                .map(|member| member.value_type().return_type())
                .map(|ty| (!ty.is_void()).then(|| (builder.alloca(ty, "result"), ty)))
                .collect(),
            run: plan.members.iter().map(|_| copier.block("run")).collect(),
            resume_at: plan
                .members
                .iter()
                .map(|_| copier.block("resume"))
                .collect(),
            meet: copier.block("meet"),
            finish: copier.block("finish"),
        };
        for &resume in &state.resume {
            builder.store(parameters[1], resume);
        }
        builder.store(parameters[2], state.stop);
        builder.branch(state.run[0]);

        // The lock-step copies first: they tell at which groups versions can part.
        let versions = product.versions();
        let mut synchronous = Synchronous::new(&copier, products, &versions);
        let mut partings = Partings {
            continuation: self,
            state: &state,
            blocks: HashMap::new(),
            pending: exits.iter().copied().collect(),
        };
        let mut parted = BTreeSet::new();
        let mut meetings = BTreeMap::new();
        while let Some(exit) = partings.pending.pop() {
            if !parted.insert(exit) {
                continue;
            }
            if let Some(meeting) = exit.meeting {
                meetings.insert(meeting, synchronous.block(meeting));
                synchronous.emit_all(&mut partings);
            }
        }

        let mut solo = Solo {
            copier: &copier,
            state: &state,
            meetings: &meetings,
            bodies: HashMap::new(),
            ends: HashMap::new(),
            edges: HashMap::new(),
            work: Vec::new(),
        };
        for (k, &version) in versions.iter().enumerate() {
            let builder = copier.builder(state.run[k]);
            if products.may_fork(product) {
                let has_ended = products.forks.has_ended(&builder, version);
                let over = copier.block("over");
                builder.conditional_branch(has_ended, over, state.resume_at[k]);
                let builder = copier.builder(over);
                builder.store(
                    Types::of_function(self.function).constant(32, RETURNED),
                    state.resume[k],
                );
                builder.branch(state.after(k));
            } else {
                builder.branch(state.resume_at[k]);
            }
            emit_start(&copier, &state, &mut solo, k, &parted);
        }
        solo.emit_all();
        self.emit_meeting(&copier, &state, product, products, &meetings);

        let mut memory = state.resume.clone();
        memory.push(state.stop);
        memory.extend(state.results.iter().flatten().map(|(memory, _)| *memory));
        let mut scaffold = ContinuationScaffold {
            function: self.function,
            one: self.one,
            memory,
            fields: Vec::new(),
        };
        for (k, addresses) in fields.into_iter().enumerate() {
            let homes = plan.homes(k, &kept_while_waiting(plan, k, &parted, &meetings));
            let own = addresses.into_iter().zip(homes).enumerate();
            scaffold
                .fields
                .extend(own.map(|(slot, (address, home))| Field {
                    number: self.field(k, slot),
                    address,
                    ty: plan.members[k].slots[slot].ty(),
                    home: home.map(|home| self.field(k, home)),
                }));
        }
        scaffold
    }

    /// All versions have stopped: they have all returned, or stand at the meeting point, or some of each.
    fn emit_meeting(
        &self,
        copier: &Copier,
        state: &State,
        product: &Product,
        products: &Products,
        meetings: &BTreeMap<GroupId, Block>,
    ) {
        let types = Types::of_function(self.function);
        let integer = types.integer(32);
        let builder = copier.builder(state.meet);
        let returned: Vec<Value> = state
            .resume
            .iter()
            .map(|&resume| {
                let resume = builder.load(integer, resume);
                builder.equal(resume, types.constant(32, RETURNED))
            })
            .collect();
        let all = returned[1..]
            .iter()
            .fold(returned[0], |all, &one| builder.and(all, one));
        let mut any = returned[1..]
            .iter()
            .fold(returned[0], |any, &one| builder.or(any, one));
        if products.may_fork(product) {
            for version in product.versions() {
                any = builder.or(any, products.forks.has_ended(&builder, version));
            }
        }
        let not_all = copier.block("some");
        builder.conditional_branch(all, state.finish, not_all);
        let together = copier.block("together");
        let rest = copier.block("rest");
        copier
            .builder(not_all)
            .conditional_branch(any, rest, together);

        // Those that have not returned go on alone to the end.
        let builder = copier.builder(rest);
        builder.store(types.constant(32, self.nowhere), state.stop);
        builder.branch(state.run[0]);

        let impossible = copier.block("impossible");
        copier.builder(impossible).unreachable();
        let builder = copier.builder(together);
        let stop = builder.load(integer, state.stop);
        let cases: Vec<(Value, Block)> = meetings
            .iter()
            .map(|(&group, &block)| (types.constant(32, group as u64), block))
            .collect();
        builder.switch(stop, impossible, &cases);

        let builder = copier.builder(state.finish);
        let results: Vec<Option<Value>> = state
            .results
            .iter()
            .map(|result| result.map(|(memory, ty)| builder.load(ty, memory)))
            .collect();
        let (checks, forks) = (products.checks, products.forks);
        let versions = product.versions();
        let builder = checks.compare_results(builder, copier.plan, forks, &versions, &results);
        build_return(&builder, product.ty.return_type(), &results);
    }
}

/// The slots of what member `k` may still need where it goes on after others have run.
fn kept_while_waiting(
    plan: &Plan,
    k: usize,
    parted: &BTreeSet<Exit>,
    meetings: &BTreeMap<GroupId, Block>,
) -> HashSet<usize> {
    let parted = parted.iter().flat_map(|&exit| plan.live_at_exit(k, exit));
    let met = meetings
        .keys()
        .flat_map(|&group| plan.live_at_meeting(k, group));
    parted.chain(met).collect()
}

/// Sends member `k` to where it goes on alone.
fn emit_start(copier: &Copier, state: &State, solo: &mut Solo, k: usize, parted: &BTreeSet<Exit>) {
    let plan = copier.plan;
    let types = Types::of_function(copier.function);
    let mut cases: BTreeMap<u64, Block> = BTreeMap::new();
    let met = solo.meetings.keys().map(|&group| (group, Leave::Start));
    for (group, leave) in met.chain(parted.iter().map(|exit| (exit.group, exit.leave))) {
        let node = plan.matched.groups[group][k];
        let block = match (plan.target_at_exit(k, group, leave), leave) {
            (Some(target), _) => solo.edge(k, node, target),
            (None, Leave::Start) => solo.body(k, node),
            (None, _) => solo.end(k, node),
        };
        cases.insert(state_at(group, leave), block);
    }
    let builder = copier.builder(state.resume_at[k]);
    let resume = builder.load(types.integer(32), state.resume[k]);
    let cases: Vec<(Value, Block)> = cases
        .into_iter()
        .map(|(label, block)| (types.constant(32, label), block))
        .collect();
    builder.switch(resume, state.after(k), &cases);
}

/// The continuation's own variables (allocas, promoted at the end) and its fixed blocks.
struct State {
    resume: Vec<Value>,
    stop: Value,
    results: Vec<Option<(Value, Type)>>,
    /// Per member: lets it go on alone.
    run: Vec<Block>,
    /// Per member: where it goes on, if its version has not ended.
    resume_at: Vec<Block>,
    meet: Block,
    finish: Block,
}

impl State {
    /// What comes after member `k` has stopped.
    fn after(&self, k: usize) -> Block {
        self.run.get(k + 1).copied().unwrap_or(self.meet)
    }
}

/// The lock-step copies' surroundings.
struct Partings<'a> {
    continuation: &'a Continuation,
    state: &'a State,
    blocks: HashMap<Exit, Block>,
    pending: Vec<Exit>,
}

impl Surroundings for Partings<'_> {
    fn exit(&mut self, copier: &Copier, exit: Exit) -> Block {
        if let Some(&block) = self.blocks.get(&exit) {
            return block;
        }
        let block = copier.block("part");
        let types = Types::of_function(copier.function);
        let builder = copier.builder(block);
        let label = types.constant(32, state_at(exit.group, exit.leave));
        for &resume in &self.state.resume {
            builder.store(label, resume);
        }
        let stop = self.continuation.stop_at(exit.meeting);
        builder.store(types.constant(32, stop), self.state.stop);
        builder.branch(self.state.run[0]);
        self.blocks.insert(exit, block);
        self.pending.push(exit);
        block
    }

    fn finish(&mut self, _: &Copier, builder: Builder, results: &[Option<Value>]) {
        for (memory, result) in self.state.results.iter().zip(results) {
            if let (Some((memory, _)), Some(result)) = (memory, result) {
                builder.store(*result, *memory);
            }
        }
        builder.branch(self.state.finish);
    }
}

/// Emits the copies in which one version runs alone.
struct Solo<'c, 'p> {
    copier: &'c Copier<'p>,
    state: &'c State,
    meetings: &'c BTreeMap<GroupId, Block>,
    bodies: HashMap<(usize, NodeId), Block>,
    /// The nodes' terminators stand in blocks of their own: versions that parted there begin with them.
    ends: HashMap<(usize, NodeId), Block>,
    edges: HashMap<(usize, NodeId, NodeId), Block>,
    work: Vec<Part>,
}

enum Part {
    Body(usize, NodeId),
    End(usize, NodeId),
}

impl Solo<'_, '_> {
    fn body(&mut self, k: usize, node: NodeId) -> Block {
        *self.bodies.entry((k, node)).or_insert_with(|| {
            self.work.push(Part::Body(k, node));
            self.copier.block("solo")
        })
    }

    fn end(&mut self, k: usize, node: NodeId) -> Block {
        *self.ends.entry((k, node)).or_insert_with(|| {
            self.work.push(Part::End(k, node));
            self.copier.block("end")
        })
    }

    fn emit_all(&mut self) {
        while let Some(part) = self.work.pop() {
            match part {
                Part::Body(k, node) => self.emit_body(k, node),
                Part::End(k, node) => self.emit_end(k, node),
            }
        }
    }

    fn emit_body(&mut self, k: usize, node: NodeId) {
        let copier = self.copier;
        let mut builder = copier.builder(self.bodies[&(k, node)]);
        let group = copier.plan.matched.group_of[k][node];
        if let Some(group) = group.filter(|group| self.meetings.contains_key(group)) {
            builder = self.emit_arrival(&builder, k, group);
        }
        copier.copy_node(&builder, k, node, &mut Copies::new());
        let end = self.end(k, node);
        builder.branch(end);
    }

    /// Stops member `k` here if this is the meeting point; returns a builder for the other case.
    fn emit_arrival(&self, builder: &Builder, k: usize, group: GroupId) -> Builder {
        let copier = self.copier;
        let types = Types::of_function(copier.function);
        let stop = builder.load(types.integer(32), self.state.stop);
        let is_here = builder.equal(stop, types.constant(32, group as u64));
        let arrived = copier.block("arrived");
        let on = copier.block("on");
        builder.conditional_branch(is_here, arrived, on);
        let builder = copier.builder(arrived);
        let label = types.constant(32, state_at(group, Leave::Start));
        builder.store(label, self.state.resume[k]);
        builder.branch(self.state.after(k));
        copier.builder(on)
    }

    /// Where member `k` goes along an edge, with the phis' copies on the way.
    fn edge(&mut self, k: usize, from: NodeId, to: NodeId) -> Block {
        let target = self.body(k, to);
        let copier = self.copier;
        if !copier.edge_copies_anything(k, to) {
            return target;
        }
        *self.edges.entry((k, from, to)).or_insert_with(|| {
            let block = copier.block("edge");
            let builder = copier.builder(block);
            copier.copy_edge(&builder, k, from, to);
            builder.branch(target);
            block
        })
    }

    fn emit_end(&mut self, k: usize, node: NodeId) {
        let copier = self.copier;
        let builder = copier.builder(self.ends[&(k, node)]);
        let body = &copier.plan.graphs[k].nodes[node];
        let targets: Vec<Block> = body
            .successors
            .iter()
            .map(|&successor| self.edge(k, node, successor))
            .collect();
        let Some(terminator) = body.terminator else {
            builder.branch(targets[0]);
            return;
        };
        let mut copies = Copies::new();
        let operand = |copies: &mut Copies| {
            terminator
                .operand(0)
                .map(|value| copier.read(&builder, k, value, copies))
        };
        let made = match terminator.opcode() {
            LLVMOpcode::LLVMRet => {
                if let (Some(value), Some((memory, _))) =
                    (operand(&mut copies), self.state.results[k])
                {
                    builder.store(value, memory);
                }
                let types = Types::of_function(copier.function);
                builder.store(types.constant(32, RETURNED), self.state.resume[k]);
                builder.branch(self.state.after(k))
            }
            LLVMOpcode::LLVMBr if targets.len() == 1 => builder.branch(targets[0]),
            LLVMOpcode::LLVMBr => match operand(&mut copies) {
                Some(condition) => builder.conditional_branch(condition, targets[0], targets[1]),
                None => builder.unreachable(),
            },
            LLVMOpcode::LLVMSwitch => match operand(&mut copies) {
                Some(condition) => {
                    let cases: Vec<(Value, Block)> = terminator
                        .case_values()
                        .into_iter()
                        .zip(targets[1..].iter().copied())
                        .collect();
                    builder.switch(condition, targets[0], &cases)
                }
                None => builder.unreachable(),
            },
            _ => builder.unreachable(),
        };
        if let Some(subprogram) = copier.subprogram {
            made.inline_location(terminator, subprogram);
        }
    }
}
