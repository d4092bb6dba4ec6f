//! What is known about a product function before any of it is written: which values live in slots, what is
//! live where a version may leave lock-step, and where the versions meet again.

use crate::align::NodeMatch;
use crate::llvm::{Type, Value};
use crate::nodes::{Graph, NodeId};
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

/// Index of a group of matched nodes.
pub(crate) type GroupId = usize;

/// Where versions stand when they leave lock-step at a group.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Leave {
    /// At the start of their nodes.
    Start,
    /// At the ends of their nodes, before the terminators.
    End,
    /// Behind the terminators: the first version takes this successor, and the others what corresponds to it.
    Together(usize),
    /// The same, but the second of two versions takes its other branch.
    Apart(usize),
}

/// A way out of lock-step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Exit {
    pub(crate) group: GroupId,
    pub(crate) leave: Leave,
    /// Where the versions meet again.
    pub(crate) meeting: Option<GroupId>,
}

/// A product function to be: the members' graphs and what was derived from them.
pub(crate) struct Plan {
    pub(crate) graphs: Vec<Graph>,
    pub(crate) matched: NodeMatch,
    pub(crate) members: Vec<MemberPlan>,
    /// Per group: where the versions meet again after they left lock-step there, wherever they go.
    meeting: Vec<Option<GroupId>>,
    trees: Vec<PostDominators>,
    /// Per group: whether it only tests that the versions have not ended.
    pub(crate) tests_alive: Vec<bool>,
}

/// What is known about one version's function.
pub(crate) struct MemberPlan {
    /// Values that are needed outside the node that computes them, in a fixed order.
    pub(crate) slots: Vec<Value>,
    pub(crate) slot_of: HashMap<Value, usize>,
    /// Allocas of the entry block with constant size, in order.
    pub(crate) static_allocas: Vec<Value>,
    /// Per node: slots whose values are still needed behind its terminator.
    pub(crate) live_after: Vec<Vec<usize>>,
    /// Per node: whether it only returns from a version that has ended.
    pub(crate) is_dead_end: Vec<bool>,
    /// Per node: whether all that it does is to test that its version has not ended.
    tests_alive: Vec<bool>,
}

impl Plan {
    /// `alive[k]` is the alive flag of member k's version.
    pub(crate) fn new(graphs: Vec<Graph>, matched: NodeMatch, alive: &[Value]) -> Plan {
        let members: Vec<MemberPlan> = graphs
            .iter()
            .zip(alive)
            .map(|(graph, &alive)| plan_member(graph, alive))
            .collect();
        let trees: Vec<PostDominators> = graphs
            .iter()
            .zip(&members)
            .map(|(graph, member)| PostDominators::of(graph, &member.is_dead_end))
            .collect();
        let tests_alive: Vec<bool> = matched
            .groups
            .iter()
            .map(|group| {
                let mut nodes = members.iter().zip(group);
                nodes.all(|(member, &node)| member.tests_alive[node])
            })
            .collect();
        let meeting = matched
            .groups
            .iter()
            .zip(&tests_alive)
            // A version that has ended meets no other.
            .map(|(group, alive)| (!alive).then(|| meeting_point(group, &matched, &trees))?)
            .collect();
        Plan {
            graphs,
            matched,
            members,
            meeting,
            trees,
            tests_alive,
        }
    }

    /// Leaving lock-step at `group`.
    pub(crate) fn exit(&self, group: GroupId, leave: Leave) -> Exit {
        let targets: Option<Vec<NodeId>> = (0..self.members.len())
            .map(|k| self.target_at_exit(k, group, leave))
            .collect();
        match targets {
            Some(targets) => self.exit_to(group, leave, &targets),
            None => Exit {
                group,
                leave,
                meeting: self.meeting[group],
            },
        }
    }

    /// Leaving lock-step at `group` if each version goes on to its node in `targets`.
    pub(crate) fn exit_to(&self, group: GroupId, leave: Leave, targets: &[NodeId]) -> Exit {
        let mut meeting = self.meeting[group];
        let mut candidate = Some(targets[0]);
        while let Some(node) = candidate {
            if let Some(candidate) = self.matched.group_of[0][node] {
                let nodes = self.matched.groups[candidate].iter().zip(targets);
                let in_all = nodes.enumerate().all(|(k, (&node, &target))| {
                    node == target || self.trees[k].strictly_post_dominates(node, target)
                });
                if in_all {
                    meeting = Some(candidate);
                    break;
                }
            }
            candidate = self.trees[0].immediate[node];
        }
        Exit {
            group,
            leave,
            meeting,
        }
    }

    /// Which members have the branch at the end of `group` the other way round.
    pub(crate) fn inverted(&self, group: GroupId) -> Vec<bool> {
        let nodes = &self.matched.groups[group];
        let successors = |k: usize| &self.graphs[k].nodes[nodes[k]].successors;
        let group_of = |k: usize, side: usize| self.matched.group_of[k][successors(k)[side]];
        (0..nodes.len())
            .map(|k| {
                if successors(k).len() != 2 || successors(0).len() != 2 {
                    return false;
                }
                let same = |a: usize, b: usize| {
                    let first = group_of(0, a);
                    first.is_some() && first == group_of(k, b)
                };
                let straight = usize::from(same(0, 0)) + usize::from(same(1, 1));
                let crossed = usize::from(same(0, 1)) + usize::from(same(1, 0));
                crossed > straight
            })
            .collect()
    }

    /// The node that member `k` goes to on leaving lock-step, if it is behind its terminator then.
    pub(crate) fn target_at_exit(&self, k: usize, group: GroupId, leave: Leave) -> Option<NodeId> {
        let successors = &self.graphs[k].nodes[self.matched.groups[group][k]].successors;
        let inverted = || usize::from(self.inverted(group)[k]);
        match leave {
            Leave::Start | Leave::End => None,
            _ if successors.len() == 1 => Some(successors[0]),
            Leave::Together(side) => Some(successors[side ^ inverted()]),
            Leave::Apart(side) => Some(successors[side ^ inverted() ^ usize::from(k == 1)]),
        }
    }

    /// The slots that member `k` needs when it leaves lock-step.
    pub(crate) fn live_at_exit(&self, k: usize, exit: Exit) -> impl Iterator<Item = usize> + '_ {
        let Exit { group, leave, .. } = exit;
        let node = self.matched.groups[group][k];
        let member = &self.members[k];
        let computed_here = move |slot: &usize| {
            leave == Leave::Start && self.graphs[k].node_of.get(&member.slots[*slot]) == Some(&node)
        };
        let after = &member.live_after[node];
        let terminator = self.graphs[k].nodes[node].terminator;
        let operands = terminator
            .filter(|_| leave == Leave::End)
            .map(Value::operands);
        let used: BTreeSet<usize> = operands
            .into_iter()
            .flatten()
            .filter_map(|operand| member.slot_of.get(&operand).copied())
            .filter(|slot| !after.contains(slot))
            .collect();
        let after = after.iter().copied();
        after.filter(move |slot| !computed_here(slot)).chain(used)
    }

    /// Slots of member `k` that may be live when it stops at `group` to meet the others.
    pub(crate) fn live_at_meeting(
        &self,
        k: usize,
        group: GroupId,
    ) -> impl Iterator<Item = usize> + '_ {
        let node = &self.graphs[k].nodes[self.matched.groups[group][k]];
        let member = &self.members[k];
        let phis = node.phis.iter().map(|phi| member.slot_of[phi]);
        let before = node.predecessors.iter().map(|&p| &member.live_after[p]);
        let live = before.min_by_key(|live| live.len()).into_iter().flatten();
        phis.chain(live.copied())
    }

    /// Per slot of member `k` that has to be kept, the one whose memory it can use, itself or a lower one: no two
    /// values that are needed at the same time share any. Phis use that of what flows into them where that can be, so
    /// that nothing has to be copied; then whatever can, so that there is less.
    pub(crate) fn homes(&self, k: usize, kept: &HashSet<usize>) -> Vec<Option<usize>> {
        self.members[k].homes(&self.graphs[k], kept)
    }

    /// The group that these successors, one per member, form.
    pub(crate) fn group_of_targets(&self, targets: &[NodeId]) -> Option<GroupId> {
        let group = self.matched.group_of[0][targets[0]]?;
        (self.matched.groups[group] == targets).then_some(group)
    }
}

impl MemberPlan {
    /// See [`Plan::homes`].
    fn homes(&self, graph: &Graph, kept: &HashSet<usize>) -> Vec<Option<usize>> {
        let mut homes = Homes::new(graph, self, kept);
        for phi in graph.nodes.iter().flat_map(|node| &node.phis) {
            for (value, _) in phi.incoming() {
                if let Some(&slot) = self.slot_of.get(&value) {
                    homes.join(self.slot_of[phi], slot);
                }
            }
        }
        homes.join_any();
        (0..self.slots.len())
            .map(|slot| kept.contains(&slot).then(|| homes.of(slot)))
            .collect()
    }
}

/// Slots that share memory.
struct Homes<'a> {
    slots: &'a [Value],
    kept: &'a HashSet<usize>,
    /// A slot that shares its memory, or itself; following these leads to the home.
    next: Vec<usize>,
    /// Per home, when values are needed that stand there: from a time to before another one, in ascending order. Each
    /// instruction of the function has two times, one when it reads and one when it writes, each node one more where
    /// phis have been written, and one behind its terminator.
    needed: Vec<Vec<Range<u32>>>,
    /// The number of times.
    times: u32,
}

impl<'a> Homes<'a> {
    fn new(graph: &Graph, member: &'a MemberPlan, kept: &'a HashSet<usize>) -> Homes<'a> {
        let slot_of = |value: &Value| {
            let slot = member.slot_of.get(value).copied();
            slot.filter(|slot| kept.contains(slot))
        };
        let mut needed: Vec<Vec<Range<u32>>> = vec![Vec::new(); member.slots.len()];
        let mut start = 0;
        for (id, node) in graph.nodes.iter().enumerate() {
            let mut here: BTreeMap<usize, Range<u32>> = BTreeMap::new();
            let mut need = |slot: usize, from: u32, time: u32| {
                let range = here.entry(slot).or_insert(from..time);
                range.end = range.end.max(time + 1);
            };
            for slot in node.phis.iter().filter_map(slot_of) {
                need(slot, start, start);
            }
            let mut time = start;
            for instruction in node.instructions.iter().chain(&node.terminator) {
                time += 2;
                for slot in instruction.operands().iter().filter_map(slot_of) {
                    need(slot, start, time - 1);
                }
                if let Some(slot) = slot_of(instruction) {
                    // What is allocated once is there before.
                    let from = match is_static_alloca(*instruction) {
                        true => start,
                        false => time,
                    };
                    need(slot, from, time);
                }
            }
            time += 1;
            let after = member.live_after[id].iter();
            for &slot in after.filter(|slot| kept.contains(slot)) {
                need(slot, start, time);
            }
            for (slot, range) in here {
                needed[slot].push(range);
            }
            start = time + 1;
        }
        Homes {
            slots: &member.slots,
            kept,
            next: (0..member.slots.len()).collect(),
            needed,
            times: start,
        }
    }

    fn of(&self, mut slot: usize) -> usize {
        while self.next[slot] != slot {
            slot = self.next[slot];
        }
        slot
    }

    /// Lets two slots share memory if they can.
    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.of(one), self.of(other));
        let may_share = one != other
            && self.kept.contains(&one)
            && self.kept.contains(&other)
            && self.slots[one].ty() == self.slots[other].ty();
        if may_share && are_disjoint(&self.needed[one], &self.needed[other]) {
            let (home, other) = (one.min(other), one.max(other));
            self.next[other] = home;
            let mut all = std::mem::take(&mut self.needed[home]);
            all.append(&mut self.needed[other]);
            // Two ascending lists, which takes linear time.
            all.sort_by_key(|range| range.start);
            self.needed[home] = all;
        }
    }

    /// Lets homes of equal type share memory, each with the first one that it can share with.
    fn join_any(&mut self) {
        /// So many are tried.
        const TRIED: usize = 32;
        let mut of_type: HashMap<Type, Vec<(usize, Times)>> = HashMap::new();
        for slot in 0..self.slots.len() {
            if self.next[slot] != slot || !self.kept.contains(&slot) {
                continue;
            }
            let homes = of_type.entry(self.slots[slot].ty()).or_default();
            let needed = &self.needed[slot];
            let tried = homes.len().saturating_sub(TRIED);
            let is_free = |taken: &Times| !needed.iter().any(|range| taken.meet(range));
            let found = homes[tried..].iter().position(|(_, taken)| is_free(taken));
            let at = found.map_or(homes.len(), |at| tried + at);
            if at == homes.len() {
                homes.push((slot, Times::none(self.times)));
            }
            let (home, taken) = &mut homes[at];
            needed.iter().for_each(|range| taken.insert(range));
            self.next[slot] = *home;
        }
    }
}

/// Whether no range of one ascending list meets one of another.
fn are_disjoint(one: &[Range<u32>], other: &[Range<u32>]) -> bool {
    let (mut one, mut other) = (one.iter().peekable(), other.iter().peekable());
    while let (Some(a), Some(b)) = (one.peek(), other.peek()) {
        if a.end <= b.start {
            one.next();
        } else if b.end <= a.start {
            other.next();
        } else {
            return false;
        }
    }
    true
}

/// A set of times, a bit each.
struct Times(Vec<u64>);

impl Times {
    fn none(count: u32) -> Times {
        Times(vec![0; count as usize / 64 + 1])
    }

    /// The words that hold a range, and the range's bits in each.
    fn words(range: &Range<u32>) -> impl Iterator<Item = (usize, u64)> {
        let Range { start, end } = *range;
        (start / 64..end.div_ceil(64)).map(move |word| {
            let first = start.saturating_sub(word * 64);
            let count = (end - word * 64).min(64) - first;
            (word as usize, u64::MAX >> (64 - count) << first)
        })
    }

    fn meet(&self, range: &Range<u32>) -> bool {
        Times::words(range).any(|(word, bits)| self.0[word] & bits != 0)
    }

    fn insert(&mut self, range: &Range<u32>) {
        for (word, bits) in Times::words(range) {
            self.0[word] |= bits;
        }
    }
}

fn plan_member(graph: &Graph, alive: Value) -> MemberPlan {
    let entry_block = graph.nodes[0].block;
    let static_allocas: Vec<Value> = graph
        .nodes
        .iter()
        .filter(|node| node.block == entry_block)
        .flat_map(|node| &node.instructions)
        .copied()
        .filter(|&i| is_static_alloca(i))
        .collect();
    let mut slots = Vec::new();
    let mut slot_of = HashMap::new();
    let mut add = |value: Value| {
        slot_of.entry(value).or_insert_with(|| {
            slots.push(value);
            slots.len() - 1
        });
    };
    // What crosses nodes: first arguments and allocas, then in the order of use.
    for parameter in graph.function.parameters() {
        if parameter.has_uses() {
            add(parameter);
        }
    }
    static_allocas.iter().for_each(|&alloca| add(alloca));
    for (id, node) in graph.nodes.iter().enumerate() {
        for &phi in &node.phis {
            add(phi);
            for (value, _) in phi.incoming() {
                // What a block computes that is never reached belongs to no node.
                if graph.node_of.contains_key(&value) {
                    add(value);
                }
            }
        }
        for &instruction in node.instructions.iter().chain(&node.terminator) {
            for operand in instruction.operands() {
                let crosses = graph.node_of.get(&operand).is_some_and(|&definition| {
                    definition != id || node.terminator == Some(instruction)
                });
                if crosses {
                    add(operand);
                }
            }
        }
    }
    let is_dead_end = dead_ends(graph, alive);
    let tests_alive = graph
        .nodes
        .iter()
        .map(|node| {
            let condition = node.terminator.and_then(|t| t.operand(0));
            node.phis.is_empty()
                && node.instructions.len() == 2
                && node.successors.len() == 2
                && is_dead_end[node.successors[0]]
                && condition == Some(node.instructions[1])
        })
        .collect();
    let live_after = liveness(graph, &slots, &slot_of);
    MemberPlan {
        slots,
        slot_of,
        static_allocas,
        live_after,
        is_dead_end,
        tests_alive,
    }
}

/// An alloca that every activation executes once, with a size known now.
pub(crate) fn is_static_alloca(instruction: Value) -> bool {
    instruction.opcode() == LLVMOpcode::LLVMAlloca
        && instruction.operand(0).and_then(Value::as_integer).is_some()
}

/// Nodes behind a failed test of the alive flag: they return from a version that is over.
fn dead_ends(graph: &Graph, alive: Value) -> Vec<bool> {
    let mut dead = vec![false; graph.nodes.len()];
    for node in &graph.nodes {
        let Some(terminator) = node.terminator else {
            continue;
        };
        if terminator.opcode() == LLVMOpcode::LLVMBr
            && node.successors.len() == 2
            && terminator.operand(0).is_some_and(|c| tests_alive(c, alive))
        {
            dead[node.successors[0]] = true;
        }
    }
    dead
}

/// Whether a branch condition is the terminate pass's `alive == 0`.
fn tests_alive(condition: Value, alive: Value) -> bool {
    condition.is_instruction()
        && condition.opcode() == LLVMOpcode::LLVMICmp
        && condition.operand(0).is_some_and(|flag| {
            flag.is_instruction()
                && flag.opcode() == LLVMOpcode::LLVMLoad
                && flag.operand(0) == Some(alive)
        })
}

/// Per node, the slots that are live behind its terminator: an edge copies them into a phi, or a later node reads
/// them before they are computed again. Every value is followed from its uses back to its
/// definition, so the work is the sum of the live ranges.
fn liveness(graph: &Graph, slots: &[Value], slot_of: &HashMap<Value, usize>) -> Vec<Vec<usize>> {
    // Where each value's live range ends on the way back; arguments and static allocas exist from the start.
    let defined_in = |slot: usize| {
        let value = slots[slot];
        let is_local = value.is_instruction() && !is_static_alloca(value);
        is_local.then(|| graph.node_of[&value])
    };
    let mut uses: Vec<Vec<(NodeId, bool)>> = vec![Vec::new(); slots.len()];
    for (id, node) in graph.nodes.iter().enumerate() {
        for &phi in &node.phis {
            for (value, block) in phi.incoming() {
                if let Some(&slot) = slot_of.get(&value) {
                    if let Some(end) = block.terminator().and_then(|t| graph.node_of.get(&t)) {
                        uses[slot].push((*end, true));
                    }
                }
            }
        }
        for &instruction in node.instructions.iter().chain(&node.terminator) {
            for operand in instruction.operands() {
                if let Some(&slot) = slot_of.get(&operand) {
                    uses[slot].push((id, false));
                }
            }
        }
    }
    let mut live = vec![Vec::new(); graph.nodes.len()];
    // Which slot last marked the node as one behind which it is live, and on entry.
    let mut marked = vec![usize::MAX; graph.nodes.len()];
    let mut entered = vec![usize::MAX; graph.nodes.len()];
    let mut work = Vec::new();
    for (slot, uses) in uses.iter().enumerate() {
        let definition = defined_in(slot);
        work.extend(uses.iter().copied());
        while let Some((node, is_behind)) = work.pop() {
            if is_behind && marked[node] != slot {
                marked[node] = slot;
                live[node].push(slot);
            }
            if definition == Some(node) || entered[node] == slot {
                continue;
            }
            entered[node] = slot;
            work.extend(graph.nodes[node].predecessors.iter().map(|&p| (p, true)));
        }
    }
    live
}

/// The nearest group that post-dominates `group` in every version.
fn meeting_point(
    group: &[NodeId],
    matched: &NodeMatch,
    trees: &[PostDominators],
) -> Option<GroupId> {
    let mut candidate = trees[0].immediate[group[0]];
    while let Some(node) = candidate {
        if let Some(meeting) = matched.group_of[0][node] {
            let in_all = (1..trees.len())
                .all(|k| trees[k].strictly_post_dominates(matched.groups[meeting][k], group[k]));
            if in_all {
                return Some(meeting);
            }
        }
        candidate = trees[0].immediate[node];
    }
    None
}

/// The post-dominator tree of a graph without its dead ends and unreachable ends.
struct PostDominators {
    /// None: the function's exit, or no way out.
    immediate: Vec<Option<NodeId>>,
    /// Entry and exit times of a walk over the tree; an ancestor's interval holds its descendants'.
    interval: Vec<(usize, usize)>,
}

impl PostDominators {
    fn of(graph: &Graph, is_dead_end: &[bool]) -> PostDominators {
        let count = graph.nodes.len();
        let mut reversed = petgraph::graph::DiGraph::<(), ()>::with_capacity(count + 1, count * 2);
        let indices: Vec<_> = (0..=count).map(|_| reversed.add_node(())).collect();
        let exit = indices[count];
        for (id, node) in graph.nodes.iter().enumerate() {
            if is_dead_end[id] {
                continue;
            }
            if node
                .terminator
                .is_some_and(|t| t.opcode() == LLVMOpcode::LLVMRet)
            {
                reversed.add_edge(exit, indices[id], ());
            }
            for &successor in &node.successors {
                if !is_dead_end[successor] {
                    reversed.add_edge(indices[successor], indices[id], ());
                }
            }
        }
        let dominators = petgraph::algo::dominators::simple_fast(&reversed, exit);
        let immediate: Vec<Option<NodeId>> = indices[..count]
            .iter()
            .map(|&index| {
                dominators
                    .immediate_dominator(index)
                    .filter(|&d| d != exit)
                    .map(|d| d.index())
            })
            .collect();
        let interval = intervals(&immediate);
        PostDominators {
            immediate,
            interval,
        }
    }

    fn strictly_post_dominates(&self, above: NodeId, below: NodeId) -> bool {
        let (outer, inner) = (self.interval[above], self.interval[below]);
        above != below && outer.0 <= inner.0 && inner.1 <= outer.1
    }
}

/// Walks the forest that `parent` describes and gives every node its times of entry and exit.
fn intervals(parent: &[Option<NodeId>]) -> Vec<(usize, usize)> {
    let mut children = vec![Vec::new(); parent.len()];
    let mut stack = Vec::new();
    for (node, parent) in parent.iter().enumerate() {
        match parent {
            Some(parent) => children[*parent].push(node),
            None => stack.push((node, 0)),
        }
    }
    let mut interval = vec![(0, 0); parent.len()];
    let mut time = 0;
    while let Some((node, next)) = stack.pop() {
        if next == 0 {
            time += 1;
            interval[node].0 = time;
        }
        match children[node].get(next) {
            Some(&child) => {
                stack.push((node, next + 1));
                stack.push((child, 0));
            }
            None => {
                time += 1;
                interval[node].1 = time;
            }
        }
    }
    interval
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm;

    /// The names of the values that share memory, in groups of two and more, if all are kept.
    fn sharing(body: &str) -> Vec<Vec<String>> {
        let context = llvm::new_context();
        let text = format!(
            "@alive = global i32 1\n\
             declare i32 @next(i32)\n\
             define i32 @f(i32 %n, i32 %m, i64 %w, i1 %c) {{\n{body}\n}}\n"
        );
        let module = llvm::parse(&context, text.as_bytes(), "test").unwrap();
        let graph = Graph::of(llvm::global_named(&module, "f").unwrap());
        let member = plan_member(&graph, llvm::global_named(&module, "alive").unwrap());
        let kept = (0..member.slots.len()).collect();
        let mut groups: HashMap<usize, Vec<String>> = HashMap::new();
        for (slot, home) in member.homes(&graph, &kept).into_iter().enumerate() {
            let home = home.expect("all are kept");
            assert!(home <= slot);
            let group = groups.entry(home).or_default();
            group.push(member.slots[slot].name_text());
        }
        let mut groups: Vec<_> = groups.into_values().filter(|g| g.len() > 1).collect();
        groups.iter_mut().for_each(|group| group.sort());
        groups.sort();
        groups
    }

    #[test]
    fn phis_share_with_what_flows_into_them() {
        let groups = sharing(
            "entry:
             br label %loop
             loop:
             %i = phi i32 [ %n, %entry ], [ %j, %on ]
             %j = add i32 %i, 1
             br i1 %c, label %on, label %out
             on:
             br label %loop
             out:
             ret i32 %j",
        );
        assert_eq!(groups, [["i", "j", "n"]]);
    }

    #[test]
    fn a_phi_that_is_read_behind_its_next_value_does_not_share_with_it() {
        let groups = sharing(
            "entry:
             br label %loop
             loop:
             %i = phi i32 [ %n, %entry ], [ %j, %loop ]
             %j = add i32 %i, 1
             %k = mul i32 %i, %j
             br i1 %c, label %loop, label %out
             out:
             ret i32 %k",
        );
        assert_eq!(groups, [["i", "k", "n"]]);
    }

    #[test]
    fn values_that_change_places_do_not_share() {
        let groups = sharing(
            "entry:
             br label %loop
             loop:
             %a = phi i32 [ %n, %entry ], [ %b, %loop ]
             %b = phi i32 [ %m, %entry ], [ %a, %loop ]
             br i1 %c, label %loop, label %out
             out:
             %s = sub i32 %a, %b
             ret i32 %s",
        );
        assert_eq!(groups, [vec!["a", "n", "s"], vec!["b", "m"]]);
    }

    #[test]
    fn a_value_that_is_needed_behind_the_phi_does_not_share_with_it() {
        let groups = sharing(
            "entry:
             br label %loop
             loop:
             %i = phi i32 [ %n, %entry ], [ %m, %loop ]
             br i1 %c, label %loop, label %out
             out:
             %s = add i32 %i, %n
             %t = add i32 %s, %m
             ret i32 %t",
        );
        assert_eq!(groups, [["n", "t"]]);
    }

    #[test]
    fn values_of_one_type_that_are_never_needed_together_share() {
        let groups = sharing(
            "entry:
             %a = add i32 %n, 1
             %l = add i64 %w, 1
             br label %one
             one:
             %b = add i32 %a, 1
             br label %two
             two:
             %d = add i32 %b, 1
             br label %three
             three:
             %k = trunc i64 %l to i32
             %e = add i32 %d, %k
             ret i32 %e",
        );
        let (of_32, of_64) = (vec!["a", "b", "d", "e", "n"], vec!["l", "w"]);
        assert_eq!(groups, [of_32, of_64]);
    }
}
