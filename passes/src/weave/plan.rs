//! What is known about a product function before any of it is written: which values live in slots, what is
//! live where a version may leave lock-step, and where the versions meet again.

use crate::align::NodeMatch;
use crate::llvm::Value;
use crate::nodes::{Graph, NodeId};
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::HashMap;

/// Index of a group of matched nodes.
pub(crate) type GroupId = usize;

/// How versions leave lock-step: at the end of which group, and where they meet again.
pub(crate) type Exit = (GroupId, Option<GroupId>);

/// A product function to be: the members' graphs and what was derived from them.
pub(crate) struct Plan {
    pub(crate) graphs: Vec<Graph>,
    pub(crate) matched: NodeMatch,
    pub(crate) members: Vec<MemberPlan>,
    /// Per group: where the versions meet again after they left lock-step at its end, wherever they go.
    meeting: Vec<Option<GroupId>>,
    trees: Vec<PostDominators>,
}

/// What is known about one version's function.
pub(crate) struct MemberPlan {
    /// Values that are needed outside the node that computes them, in a fixed order.
    pub(crate) slots: Vec<Value>,
    pub(crate) slot_of: HashMap<Value, usize>,
    /// Allocas of the entry block with constant size, in order.
    pub(crate) static_allocas: Vec<Value>,
    /// Per node: slots whose values are still needed at its terminator or on its way out.
    pub(crate) live_at_end: Vec<Vec<usize>>,
    /// Per node: whether it only returns from a version that has ended.
    pub(crate) is_dead_end: Vec<bool>,
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
        let meeting = matched
            .groups
            .iter()
            .map(|group| meeting_point(group, &matched, &trees))
            .collect();
        Plan {
            graphs,
            matched,
            members,
            meeting,
            trees,
        }
    }

    /// Leaving lock-step at the end of `group`, whatever each version does there.
    pub(crate) fn exit(&self, group: GroupId) -> Exit {
        (group, self.meeting[group])
    }

    /// Leaving lock-step at the end of `group` if each version goes on at its node in `targets`.
    pub(crate) fn exit_to(&self, group: GroupId, targets: &[NodeId]) -> Exit {
        let mut candidate = Some(targets[0]);
        while let Some(node) = candidate {
            if let Some(meeting) = self.matched.group_of[0][node] {
                let nodes = self.matched.groups[meeting].iter().zip(targets).enumerate();
                let in_all = nodes.into_iter().all(|(k, (&node, &target))| {
                    node == target || self.trees[k].strictly_post_dominates(node, target)
                });
                if in_all {
                    return (group, Some(meeting));
                }
            }
            candidate = self.trees[0].immediate[node];
        }
        self.exit(group)
    }

    /// The group that these successors, one per member, form.
    pub(crate) fn group_of_targets(&self, targets: &[NodeId]) -> Option<GroupId> {
        let group = self.matched.group_of[0][targets[0]]?;
        (self.matched.groups[group] == targets).then_some(group)
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
                if value.is_instruction() {
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
    let live_at_end = liveness(graph, &slots, &slot_of);
    MemberPlan {
        slots,
        slot_of,
        static_allocas,
        live_at_end,
        is_dead_end,
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

/// Per node, the slots that are live at its end: the terminator reads them, an edge copies them into a phi, or
/// a later node reads them before they are computed again. Every value is followed from its uses back to its
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
            let at_end = node.terminator == Some(instruction);
            for operand in instruction.operands() {
                if let Some(&slot) = slot_of.get(&operand) {
                    uses[slot].push((id, at_end));
                }
            }
        }
    }
    let mut live = vec![Vec::new(); graph.nodes.len()];
    // Which slot last marked the node as live at its end, and on entry.
    let mut marked = vec![usize::MAX; graph.nodes.len()];
    let mut entered = vec![usize::MAX; graph.nodes.len()];
    let mut work = Vec::new();
    for (slot, uses) in uses.iter().enumerate() {
        let definition = defined_in(slot);
        work.extend(uses.iter().copied());
        while let Some((node, at_end)) = work.pop() {
            if at_end && marked[node] != slot {
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
