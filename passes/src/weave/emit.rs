//! Copies nodes of a version into a product function.
//!
//! A node is self-contained: what it needs from elsewhere it reads from slots, what others need of it it
//! writes to slots, so it can be emitted any number of times. In a lock-step function slots are allocas that
//! are promoted to SSA values afterwards, in a continuation they are fields of the frame.

use super::lockstep_checks::Parting;
use super::plan::{is_static_alloca, Exit, GroupId, Leave, Plan};
use super::products::Products;
use crate::libc;
use crate::llvm::{append_block, Block, Builder, Subprogram, Types, Value};
use crate::nodes::NodeId;
use crate::spec;
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::HashMap;

/// Where a slot's value is found.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// The value itself, the same in the whole function: an argument, the address of a static alloca.
    Value(Value),
    /// Memory of the slot's own: an alloca that is promoted later, or a field of the frame.
    Memory(Value),
}

/// The function being written and where its slots are.
pub(super) struct Copier<'p> {
    pub(super) plan: &'p Plan,
    pub(super) function: Value,
    /// The artificial subprogram of the function, if the versions have debug info.
    pub(super) subprogram: Option<Subprogram>,
    /// Per member and slot.
    pub(super) places: Vec<Vec<Place>>,
}

/// The copies of values within one emitted node.
pub(super) type Copies = HashMap<Value, Value>;

impl Copier<'_> {
    /// A builder at the end of `block` whose instructions belong to no line.
    pub(super) fn builder(&self, block: Block) -> Builder {
        let builder = Builder::at_end(block);
        if let Some(subprogram) = self.subprogram {
            builder.set_artificial_location(subprogram);
        }
        builder
    }

    pub(super) fn block(&self, name: &str) -> Block {
        append_block(self.function, name)
    }

    /// What `value` of member `k` is here: constants are themselves.
    pub(super) fn read(
        &self,
        builder: &Builder,
        k: usize,
        value: Value,
        copies: &mut Copies,
    ) -> Value {
        if let Some(&copy) = copies.get(&value) {
            return copy;
        }
        let Some(&slot) = self.plan.members[k].slot_of.get(&value) else {
            return value;
        };
        let copy = match self.places[k][slot] {
            Place::Value(known) => known,
            Place::Memory(memory) => builder.load(value.ty(), memory),
        };
        copies.insert(value, copy);
        copy
    }

    /// Stores what member `k`'s `value` is now, if it has a slot.
    pub(super) fn write(&self, builder: &Builder, k: usize, value: Value, copy: Value) {
        if let Some(&slot) = self.plan.members[k].slot_of.get(&value) {
            if let Place::Memory(memory) = self.places[k][slot] {
                builder.store(copy, memory);
            }
        }
    }

    /// Copies the instructions of a node (not its phis and terminator).
    pub(super) fn copy_node(&self, builder: &Builder, k: usize, node: NodeId, copies: &mut Copies) {
        let entry_block = self.plan.graphs[k].nodes[0].block;
        let body = &self.plan.graphs[k].nodes[node];
        for &instruction in &body.instructions {
            if body.block == entry_block && is_static_alloca(instruction) {
                continue;
            }
            self.copy_instruction(builder, k, instruction, copies);
        }
    }

    fn copy_instruction(
        &self,
        builder: &Builder,
        k: usize,
        instruction: Value,
        copies: &mut Copies,
    ) {
        // Another version may have run since the node before.
        if let Some(switch) = libc::switch_for(instruction) {
            self.insert_copy(builder, k, switch, copies);
        }
        let copy = self.insert_copy(builder, k, instruction, copies);
        copies.insert(instruction, copy);
        self.write(builder, k, instruction, copy);
    }

    fn insert_copy(
        &self,
        builder: &Builder,
        k: usize,
        instruction: Value,
        copies: &mut Copies,
    ) -> Value {
        let operands: Vec<Value> = instruction
            .operands()
            .into_iter()
            .map(|operand| self.read(builder, k, operand, copies))
            .collect();
        let copy = builder.insert_clone(instruction);
        for (index, operand) in operands.into_iter().enumerate() {
            copy.set_operand(index as u32, operand);
        }
        copy.drop_alias_scopes();
        if let Some(subprogram) = self.subprogram {
            copy.inline_location(instruction, subprogram);
        }
        copy
    }

    /// Emits the copies into the phis of `to` that its edge from `from` makes; they happen at once.
    pub(super) fn copy_edge(&self, builder: &Builder, k: usize, from: NodeId, to: NodeId) {
        let graph = &self.plan.graphs[k];
        let block = graph.nodes[from].block;
        let mut copies = Copies::new();
        let values: Vec<(Value, Value)> = graph.nodes[to]
            .phis
            .iter()
            .filter_map(|&phi| Some((phi, phi.incoming_from(block)?)))
            .map(|(phi, value)| (phi, self.read(builder, k, value, &mut copies)))
            .collect();
        for (phi, value) in values {
            self.write(builder, k, phi, value);
        }
    }

    pub(super) fn edge_copies_anything(&self, k: usize, to: NodeId) -> bool {
        !self.plan.graphs[k].nodes[to].phis.is_empty()
    }
}

/// What differs between the two places where versions run in lock-step.
pub(super) trait Surroundings {
    /// The block that all versions go to when they leave lock-step there.
    fn exit(&mut self, copier: &Copier, exit: Exit) -> Block;

    /// Ends the function with the members' return values.
    fn finish(&mut self, copier: &Copier, builder: Builder, results: &[Option<Value>]);
}

/// Emits groups of matched nodes, all versions back to back.
pub(super) struct Synchronous<'c, 'p, 'm, 'ctx> {
    copier: &'c Copier<'p>,
    products: &'c Products<'m, 'ctx>,
    /// The version of each member.
    versions: &'c [usize],
    blocks: HashMap<GroupId, Block>,
    edges: HashMap<(GroupId, GroupId), Block>,
    work: Vec<GroupId>,
}

impl<'c, 'p, 'm, 'ctx> Synchronous<'c, 'p, 'm, 'ctx> {
    pub(super) fn new(
        copier: &'c Copier<'p>,
        products: &'c Products<'m, 'ctx>,
        versions: &'c [usize],
    ) -> Self {
        Synchronous {
            copier,
            products,
            versions,
            blocks: HashMap::new(),
            edges: HashMap::new(),
            work: Vec::new(),
        }
    }

    /// The block where `group` begins; it is emitted later.
    pub(super) fn block(&mut self, group: GroupId) -> Block {
        *self.blocks.entry(group).or_insert_with(|| {
            self.work.push(group);
            self.copier.block("sync")
        })
    }

    /// Emits every group asked for, and those that can be reached from there in lock-step.
    pub(super) fn emit_all(&mut self, surroundings: &mut dyn Surroundings) {
        while let Some(group) = self.work.pop() {
            self.emit(group, surroundings);
        }
    }

    fn emit(&mut self, group: GroupId, surroundings: &mut dyn Surroundings) {
        let copier = self.copier;
        let plan = copier.plan;
        let nodes = &plan.matched.groups[group];
        let mut builder = copier.builder(self.blocks[&group]);
        if plan.tests_alive[group] {
            self.emit_alive_test(group, &builder, surroundings);
            return;
        }
        let mut copies: Vec<Copies> = vec![Copies::new(); nodes.len()];
        let is_call = nodes
            .iter()
            .enumerate()
            .all(|(k, &node)| plan.graphs[k].nodes[node].is_call);
        let may_fork = nodes.iter().enumerate().any(|(k, &node)| {
            let body = &plan.graphs[k].nodes[node];
            let call = body.instructions.first().filter(|_| body.is_call);
            call.is_some_and(|call| {
                let forks = self.products.forks;
                forks.may_return_in_child(call.called_function())
            })
        });
        if !(is_call && self.call_product(&builder, nodes, &mut copies)) {
            for (k, &node) in nodes.iter().enumerate() {
                if may_fork && k > 0 {
                    builder = self.copy_if_alive(&builder, k, node, &mut copies[k]);
                } else {
                    copier.copy_node(&builder, k, node, &mut copies[k]);
                }
            }
        }
        if may_fork {
            builder = self.part_if_any_ended(group, &builder, surroundings);
            copies.iter_mut().for_each(Copies::clear);
        }
        let calls = nodes.iter().enumerate().map(|(k, &node)| {
            let body = &plan.graphs[k].nodes[node];
            body.instructions.first().copied().filter(|_| body.is_call)
        });
        if let Some(places) = calls.map(|call| spec::place_of(call?)).collect() {
            let checks = self.products.checks;
            builder = checks.evaluate_spec(builder, self.versions, places);
        }
        self.emit_end(group, &builder, &mut copies, surroundings);
    }

    /// Goes on if no version has ended. Otherwise each makes its own test, outside lock-step.
    fn emit_alive_test(
        &mut self,
        group: GroupId,
        builder: &Builder,
        surroundings: &mut dyn Surroundings,
    ) {
        let plan = self.copier.plan;
        let nodes = plan.matched.groups[group].iter().enumerate();
        let alive: Vec<NodeId> = nodes
            .map(|(k, &node)| plan.graphs[k].nodes[node].successors[1])
            .collect();
        let ended = self.products.forks.any_has_ended(builder);
        let exit = self.exit(group, Leave::Start, surroundings);
        let next = self.follow(group, Leave::Start, &alive, surroundings);
        builder.conditional_branch(ended, exit, next);
    }

    /// Copies a node that is run only if the member's version has not ended; returns a builder for what follows.
    fn copy_if_alive(
        &self,
        builder: &Builder,
        k: usize,
        node: NodeId,
        copies: &mut Copies,
    ) -> Builder {
        let (alive, next) = (self.copier.block("alive"), self.copier.block("next"));
        let has_ended = self.products.forks.has_ended(builder, self.versions[k]);
        builder.conditional_branch(has_ended, next, alive);
        let builder = self.copier.builder(alive);
        self.copier.copy_node(&builder, k, node, copies);
        builder.branch(next);
        self.copier.builder(next)
    }

    /// Leaves lock-step at the end of `group` if a version has ended; returns a builder for the other case.
    fn part_if_any_ended(
        &self,
        group: GroupId,
        builder: &Builder,
        surroundings: &mut dyn Surroundings,
    ) -> Builder {
        let ended = self
            .versions
            .iter()
            .map(|&version| self.products.forks.has_ended(builder, version))
            .reduce(|any, one| builder.or(any, one));
        let exit = self.exit(group, Leave::End, surroundings);
        let on = self.copier.block("on");
        match ended {
            Some(ended) => builder.conditional_branch(ended, exit, on),
            None => builder.branch(on),
        };
        self.copier.builder(on)
    }

    /// One call of the product function for the members' calls. False if there is none.
    fn call_product(&self, builder: &Builder, nodes: &[NodeId], copies: &mut [Copies]) -> bool {
        let copier = self.copier;
        let calls: Vec<Value> = nodes
            .iter()
            .enumerate()
            .map(|(k, &node)| copier.plan.graphs[k].nodes[node].instructions[0])
            .collect();
        let Some(target) = self.products.target(&calls, self.versions) else {
            return false;
        };
        let mut arguments = Vec::new();
        let mut pointers = Vec::new();
        for (k, &call) in calls.iter().enumerate() {
            let mut read = |value| copier.read(builder, k, value, &mut copies[k]);
            let own = call.arguments().into_iter();
            arguments.push(own.map(&mut read).collect::<Vec<Value>>());
            pointers.extend(call.called_operand().map(&mut read));
        }
        let results = self.products.call(
            builder,
            &target,
            self.versions,
            &calls,
            &pointers,
            &arguments,
        );
        if let Some(subprogram) = copier.subprogram {
            results.call.inline_location(calls[0], subprogram);
        }
        for (k, &call) in calls.iter().enumerate() {
            if let Some(value) = results.values[k] {
                copies[k].insert(call, value);
                copier.write(builder, k, call, value);
            }
        }
        true
    }

    /// The block for the edge between two groups, with the phis' copies of all members.
    fn edge(&mut self, from: GroupId, to: GroupId) -> Block {
        let target = self.block(to);
        let copier = self.copier;
        let matched = &copier.plan.matched;
        let (sources, targets) = (&matched.groups[from], &matched.groups[to]);
        if (0..targets.len()).all(|k| !copier.edge_copies_anything(k, targets[k])) {
            return target;
        }
        *self.edges.entry((from, to)).or_insert_with(|| {
            let block = copier.block("edge");
            let builder = copier.builder(block);
            for k in 0..targets.len() {
                copier.copy_edge(&builder, k, sources[k], targets[k]);
            }
            builder.branch(target);
            block
        })
    }

    /// The block that all versions go to when they leave lock-step at `group`.
    fn exit(&self, group: GroupId, leave: Leave, surroundings: &mut dyn Surroundings) -> Block {
        surroundings.exit(self.copier, self.copier.plan.exit(group, leave))
    }

    /// Where the members go together if each goes to its node in `targets`; the exit, if these do not match.
    fn follow(
        &mut self,
        group: GroupId,
        leave: Leave,
        targets: &[NodeId],
        surroundings: &mut dyn Surroundings,
    ) -> Block {
        match self.copier.plan.group_of_targets(targets) {
            Some(next) => self.edge(group, next),
            None => {
                let exit = self.copier.plan.exit_to(group, leave, targets);
                let exit = surroundings.exit(self.copier, exit);
                self.emit_leaving(group, Some(targets), exit)
            }
        }
    }

    /// A block that reports where the members are when they leave lock-step at the end of `group` for their nodes in
    /// `targets`, and goes on to `exit`; `exit` if nobody wants to know.
    fn emit_leaving(&self, group: GroupId, targets: Option<&[NodeId]>, exit: Block) -> Block {
        let (checks, plan) = (self.products.checks, self.copier.plan);
        let is_over = targets.is_some_and(|targets| {
            let mut members = plan.members.iter().zip(targets);
            members.any(|(member, &target)| member.is_dead_end[target])
        });
        if !checks.exits || is_over {
            return exit;
        }
        let place = |k: usize| {
            let graph = &plan.graphs[k];
            let next = targets.and_then(|targets| graph.place_of(targets[k]));
            let here = next.or_else(|| graph.place_of(plan.matched.groups[group][k]));
            here.unwrap_or(graph.function)
        };
        let places: Vec<Value> = (0..self.versions.len()).map(place).collect();
        let block = self.copier.block("leave");
        let builder = self.copier.builder(block);
        let record = checks.record(Parting::Exit, self.versions, &places);
        let others = self.versions[1..].iter().map(|version| 1 << version);
        let mask = Types::of(checks.module).constant(32, others.sum());
        checks.report(&builder, record, mask).branch(exit);
        block
    }

    fn emit_end(
        &mut self,
        group: GroupId,
        builder: &Builder,
        copies: &mut [Copies],
        surroundings: &mut dyn Surroundings,
    ) {
        let copier = self.copier;
        let plan = copier.plan;
        let nodes = &plan.matched.groups[group];
        let terminators: Option<Vec<Value>> = nodes
            .iter()
            .enumerate()
            .map(|(k, &node)| plan.graphs[k].nodes[node].terminator)
            .collect();
        let successors: Vec<&[NodeId]> = nodes
            .iter()
            .enumerate()
            .map(|(k, &node)| plan.graphs[k].nodes[node].successors.as_slice())
            .collect();
        let opcode = match &terminators {
            Some(all) if all.iter().all(|t| t.opcode() == all[0].opcode()) => Some(all[0].opcode()),
            _ => None,
        };
        let all_have = |count: usize| successors.iter().all(|s| s.len() == count);
        let is_plain_jump = all_have(1)
            && terminators
                .iter()
                .flatten()
                .all(|t| t.opcode() == LLVMOpcode::LLVMBr);
        match (opcode, terminators) {
            _ if is_plain_jump => {
                let targets: Vec<NodeId> = successors.iter().map(|s| s[0]).collect();
                let next = self.follow(group, Leave::Together(0), &targets, surroundings);
                builder.branch(next);
            }
            (Some(LLVMOpcode::LLVMRet), Some(all)) => {
                let results: Vec<Option<Value>> = all
                    .iter()
                    .enumerate()
                    .map(|(k, ret)| {
                        let value = ret.operand(0)?;
                        Some(copier.read(builder, k, value, &mut copies[k]))
                    })
                    .collect();
                let builder = copier.builder(builder.block());
                surroundings.finish(copier, builder, &results);
            }
            (Some(LLVMOpcode::LLVMUnreachable), _) => {
                builder.unreachable();
            }
            (Some(LLVMOpcode::LLVMBr), Some(all)) if all_have(2) => {
                self.emit_branch(group, builder, &all, &successors, copies, surroundings);
            }
            (Some(LLVMOpcode::LLVMSwitch), Some(all)) => {
                self.emit_switch(group, builder, &all, &successors, copies, surroundings);
            }
            _ => {
                let exit = self.exit(group, Leave::End, surroundings);
                builder.branch(self.emit_leaving(group, None, exit));
            }
        }
    }

    /// Branches to the exit unless the members' conditions are equal; returns a builder for what follows and
    /// the first condition. None: the types do not allow it, and the exit is taken always.
    fn compare(
        &mut self,
        group: GroupId,
        builder: &Builder,
        terminators: &[Value],
        inverted: &[bool],
        copies: &mut [Copies],
        surroundings: &mut dyn Surroundings,
    ) -> Option<(Builder, Value)> {
        let copier = self.copier;
        let conditions: Vec<Value> = terminators
            .iter()
            .enumerate()
            .map(|(k, terminator)| {
                let condition = terminator.operand(0).unwrap_or(*terminator);
                copier.read(builder, k, condition, &mut copies[k])
            })
            .collect();
        let first = conditions[0];
        let mut differs = Vec::new();
        for (k, &condition) in conditions.iter().enumerate().skip(1) {
            if condition.ty() != first.ty() {
                let exit = self.exit(group, Leave::End, surroundings);
                builder.branch(self.emit_leaving(group, None, exit));
                return None;
            }
            let different = if inverted[k] {
                builder.equal(first, condition)
            } else {
                builder.not_equal(first, condition)
            };
            differs.push(different);
        }
        let differ = differs
            .iter()
            .copied()
            .reduce(|any, one| builder.or(any, one))?;
        let is_branch = terminators[0].opcode() == LLVMOpcode::LLVMBr;
        let mut exit = if is_branch && terminators.len() == 2 && !differ.is_constant() {
            // With two versions the first one's condition tells where both go. Constants are left alone: whether the
            // branches of two versions with one constant in common are the same one cannot be seen any more.
            let apart = copier.block("apart");
            let mut side = |side| self.exit(group, Leave::Apart(side), surroundings);
            let (then, otherwise) = (side(0), side(1));
            builder
                .followed_by(apart)
                .conditional_branch(first, then, otherwise);
            apart
        } else {
            self.exit(group, Leave::End, surroundings)
        };
        if self.products.checks.divergence && !self.may_test_alive(group) {
            exit = self.emit_report(builder, terminators, &differs, exit);
        }
        let together = copier.block("together");
        builder.conditional_branch(differ, exit, together);
        Some((copier.builder(together), first))
    }

    /// Whether a member ends with the test that its version has not ended.
    fn may_test_alive(&self, group: GroupId) -> bool {
        let plan = self.copier.plan;
        let nodes = &plan.matched.groups[group];
        nodes.iter().enumerate().any(|(k, &node)| {
            let successors = &plan.graphs[k].nodes[node].successors;
            successors
                .iter()
                .any(|&next| plan.members[k].is_dead_end[next])
        })
    }

    /// A block that reports that the members differ and goes on to `exit`.
    fn emit_report(
        &self,
        builder: &Builder,
        terminators: &[Value],
        differs: &[Value],
        exit: Block,
    ) -> Block {
        let checks = self.products.checks;
        let parting = match terminators[0].opcode() {
            LLVMOpcode::LLVMSwitch => Parting::Switch,
            _ => Parting::Branch,
        };
        let block = self.copier.block("differ");
        let report = builder.followed_by(block);
        let record = checks.record(parting, self.versions, terminators);
        let mask = checks.mask(&report, self.versions, differs);
        checks.report(&report, record, mask).branch(exit);
        block
    }

    fn emit_branch(
        &mut self,
        group: GroupId,
        builder: &Builder,
        terminators: &[Value],
        successors: &[&[NodeId]],
        copies: &mut [Copies],
        surroundings: &mut dyn Surroundings,
    ) {
        let inverted = self.copier.plan.inverted(group);
        let Some((rest, condition)) =
            self.compare(group, builder, terminators, &inverted, copies, surroundings)
        else {
            return;
        };
        let mut side = |index: usize| {
            let targets: Vec<NodeId> = successors
                .iter()
                .zip(&inverted)
                .map(|(s, &inverted)| s[index ^ usize::from(inverted)])
                .collect();
            self.follow(group, Leave::Together(index), &targets, surroundings)
        };
        let (then, otherwise) = (side(0), side(1));
        let branch = rest.conditional_branch(condition, then, otherwise);
        if let Some(subprogram) = self.copier.subprogram {
            branch.inline_location(terminators[0], subprogram);
        }
    }

    fn emit_switch(
        &mut self,
        group: GroupId,
        builder: &Builder,
        terminators: &[Value],
        successors: &[&[NodeId]],
        copies: &mut [Copies],
        surroundings: &mut dyn Surroundings,
    ) {
        let straight = vec![false; terminators.len()];
        let Some((rest, condition)) =
            self.compare(group, builder, terminators, &straight, copies, surroundings)
        else {
            return;
        };
        // Each member's targets by case value; the default stands first in the successors.
        let tables: Vec<HashMap<Value, NodeId>> = terminators
            .iter()
            .zip(successors)
            .map(|(terminator, successors)| {
                terminator
                    .case_values()
                    .into_iter()
                    .zip(successors[1..].iter().copied())
                    .collect()
            })
            .collect();
        let mut targets_of = |case: Option<Value>| {
            let targets: Vec<NodeId> = tables
                .iter()
                .zip(successors)
                .map(|(table, successors)| {
                    case.and_then(|case| table.get(&case).copied())
                        .unwrap_or(successors[0])
                })
                .collect();
            self.follow(group, Leave::End, &targets, surroundings)
        };
        let default = targets_of(None);
        let mut cases = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for terminator in terminators {
            for case in terminator.case_values() {
                if seen.insert(case) {
                    cases.push((case, targets_of(Some(case))));
                }
            }
        }
        let switch = rest.switch(condition, default, &cases);
        if let Some(subprogram) = self.copier.subprogram {
            switch.inline_location(terminators[0], subprogram);
        }
    }
}
