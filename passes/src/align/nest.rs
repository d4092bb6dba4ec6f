//! The loops of a function and the acyclic regions between them.
//!
//! A *region* is the function or one loop. Its items are the nodes that belong to no inner loop, and the inner
//! loops as wholes; the first item is the entry or the loop's header. Without the edges back to the header the
//! items form an acyclic graph. Loops are cycles as in LLVM's CycleInfo: in irreducible code the node that a
//! depth-first search enters first is the header, so every cycle lies in a loop.

use crate::llvm::Value;
use crate::nodes::{Graph, Node, NodeId};
use inkwell::llvm_sys::LLVMOpcode;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Index of a region; 0 is the function.
pub(super) type RegionId = usize;

/// The function or one loop.
#[derive(Clone)]
pub(super) struct Region {
    pub(super) parent: Option<RegionId>,
    /// In the order of the first node of each.
    pub(super) items: Vec<Item>,
    /// Edges between items, by position in `items`; none lead back to item 0.
    pub(super) successors: Vec<Vec<usize>>,
    /// For each item whether the function never returns behind it.
    ends: Vec<bool>,
}

/// A part of a region.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Item {
    Node(NodeId),
    Loop(RegionId),
}

/// The loops of a function.
pub(super) struct Nest {
    pub(super) regions: Vec<Region>,
    /// The innermost region that each node belongs to.
    pub(super) region_of: Vec<RegionId>,
    /// For each node whether the function may return behind it.
    returns: Vec<bool>,
}

impl Nest {
    pub(super) fn of(graph: &Graph) -> Nest {
        let cycles = Cycles::of(graph);
        // Cycles are found innermost first.
        let region = |cycle: usize| 1 + cycle;
        let region_of: Vec<RegionId> = cycles
            .innermost
            .iter()
            .map(|cycle| cycle.map_or(0, region))
            .collect();
        let mut regions = vec![Region {
            parent: None,
            items: Vec::new(),
            successors: Vec::new(),
            ends: Vec::new(),
        }];
        regions.extend(cycles.parent.iter().map(|parent| Region {
            parent: Some(parent.map_or(0, region)),
            items: Vec::new(),
            successors: Vec::new(),
            ends: Vec::new(),
        }));
        let mut depth = vec![0; regions.len()];
        for id in (1..regions.len()).rev() {
            depth[id] = regions[id].parent.map_or(0, |parent| depth[parent] + 1);
        }

        // A header is the first node of its loop, so its loop enters the parent in order.
        let returns = returns(graph);
        let mut position = vec![0; graph.nodes.len()];
        let mut loop_position = vec![0; regions.len()];
        for node in 0..graph.nodes.len() {
            let own = region_of[node];
            if let (true, Some(parent)) = (regions[own].items.is_empty(), regions[own].parent) {
                loop_position[own] = regions[parent].items.len();
                regions[parent].items.push(Item::Loop(own));
                regions[parent].ends.push(!returns[node]);
            }
            position[node] = regions[own].items.len();
            regions[own].items.push(Item::Node(node));
            regions[own].ends.push(!returns[node]);
        }
        for region in &mut regions {
            region.successors = vec![Vec::new(); region.items.len()];
        }

        for (from, node) in graph.nodes.iter().enumerate() {
            for &to in &node.successors {
                let (mut a, mut at) = (region_of[from], position[from]);
                let (mut b, mut bt) = (region_of[to], position[to]);
                let up = |regions: &[Region], r: &mut RegionId, item: &mut usize| {
                    *item = loop_position[*r];
                    *r = regions[*r].parent.unwrap_or(0);
                };
                while depth[a] > depth[b] {
                    up(&regions, &mut a, &mut at);
                }
                // Only a back edge ends in the header of a loop that contains its start.
                if a == b && b != 0 && position[to] == 0 && region_of[to] == b {
                    continue;
                }
                while depth[b] > depth[a] {
                    up(&regions, &mut b, &mut bt);
                }
                while a != b {
                    up(&regions, &mut a, &mut at);
                    up(&regions, &mut b, &mut bt);
                }
                regions[a].successors[at].push(bt);
            }
        }
        Nest {
            regions,
            region_of,
            returns,
        }
    }

    /// The loops directly in a region.
    pub(super) fn loops_in(&self, region: RegionId) -> impl Iterator<Item = RegionId> + '_ {
        let items = self.regions[region].items.iter();
        items.filter_map(|item| match *item {
            Item::Loop(inner) => Some(inner),
            Item::Node(_) => None,
        })
    }

    /// The region as it would be if the loops in `open`, which lie in it or in one another, were none: what is in
    /// them belongs to the region itself, and their back edges are gone.
    pub(super) fn opened(&self, graph: &Graph, region: RegionId, open: &[RegionId]) -> Region {
        let is_open = |r: RegionId| r == region || open.contains(&r);
        // Everything inside, and the item that it is part of.
        let mut item_of: HashMap<NodeId, Item> = HashMap::new();
        let mut work = vec![(region, None)];
        while let Some((inner, part_of)) = work.pop() {
            for &item in &self.regions[inner].items {
                match item {
                    Item::Node(node) => {
                        item_of.insert(node, part_of.unwrap_or(item));
                    }
                    Item::Loop(r) if is_open(r) => work.push((r, part_of)),
                    Item::Loop(r) => work.push((r, part_of.or(Some(item)))),
                }
            }
        }
        let mut nodes: Vec<NodeId> = item_of.keys().copied().collect();
        nodes.sort_unstable();
        let mut items: Vec<Item> = Vec::new();
        let mut ends = Vec::new();
        let mut position: HashMap<Item, usize> = HashMap::new();
        for node in &nodes {
            position.entry(item_of[node]).or_insert_with(|| {
                items.push(item_of[node]);
                ends.push(!self.returns[*node]);
                items.len() - 1
            });
        }
        let mut successors = vec![Vec::new(); items.len()];
        for &from in &nodes {
            for to in &graph.nodes[from].successors {
                let Some(target) = item_of.get(to) else {
                    continue;
                };
                // Back edges lead to a node that comes earlier.
                if *target != item_of[&from] && *to > from {
                    successors[position[&item_of[&from]]].push(position[target]);
                }
            }
        }
        Region {
            parent: self.regions[region].parent,
            items,
            successors,
            ends,
        }
    }

    /// How many loops contain the node.
    pub(super) fn depth(&self, node: NodeId) -> usize {
        let mut region = self.region_of[node];
        let mut depth = 0;
        while let Some(parent) = self.regions[region].parent {
            depth += 1;
            region = parent;
        }
        depth
    }

    /// Whether the node is the header of a loop.
    pub(super) fn is_header(&self, node: NodeId) -> bool {
        let region = self.region_of[node];
        region != 0 && self.regions[region].items[0] == Item::Node(node)
    }
}

/// For each node whether the function may return behind it.
fn returns(graph: &Graph) -> Vec<bool> {
    let mut returns = vec![false; graph.nodes.len()];
    let ends = |node: &Node| {
        let last = node.terminator.map(Value::opcode);
        node.successors.is_empty() && last != Some(LLVMOpcode::LLVMUnreachable)
    };
    let mut work: Vec<NodeId> = (0..graph.nodes.len())
        .filter(|&id| ends(&graph.nodes[id]))
        .collect();
    while let Some(node) = work.pop() {
        if !std::mem::replace(&mut returns[node], true) {
            work.extend(&graph.nodes[node].predecessors);
        }
    }
    returns
}

impl Region {
    /// A topological order of the items in which both sides of a branch stay together.
    pub(super) fn order(&self) -> Vec<usize> {
        let mut seen = vec![false; self.items.len()];
        seen[0] = true;
        // What is searched first ends up last.
        let mut stack = vec![(0, self.successors[0].len())];
        let mut order = Vec::with_capacity(self.items.len());
        while let Some((item, left)) = stack.last_mut() {
            if *left == 0 {
                order.push(*item);
                stack.pop();
                continue;
            }
            *left -= 1;
            let next = self.successors[*item][*left];
            if !std::mem::replace(&mut seen[next], true) {
                stack.push((next, self.successors[next].len()));
            }
        }
        order.reverse();
        order
    }

    /// The same with those successors last, in [`Region::order`] too, behind which the function never returns. None: all
    /// are.
    pub(super) fn with_ends_last(&self) -> Option<Region> {
        let ends = |item: &usize| self.ends[*item];
        let mut all = self.successors.iter();
        if all.all(|successors| successors.is_sorted_by_key(ends)) {
            return None;
        }
        let mut region = self.clone();
        for successors in &mut region.successors {
            successors.sort_by_key(ends);
        }
        Some(region)
    }

    /// The topological order with the smallest keys first, as far as the edges allow it. Items without a key
    /// stay behind the one that they follow in [`Region::order`]; if `apart` and they may return, behind the last of
    /// those before them that may.
    pub(super) fn order_by(&self, keys: &[Option<usize>], apart: bool) -> Vec<usize> {
        let usual = self.order();
        let mut priority = vec![(0, 0); usual.len()];
        let (mut last, mut last_to_return) = (0, 0);
        for (rank, &item) in usual.iter().enumerate() {
            let behind = if apart && !self.ends[item] {
                last_to_return
            } else {
                last
            };
            last = keys[item].unwrap_or(behind);
            if !self.ends[item] {
                last_to_return = last;
            }
            priority[item] = (last, rank);
        }
        let mut waiting_for = vec![0; usual.len()];
        for &successor in self.successors.iter().flatten() {
            waiting_for[successor] += 1;
        }
        let mut ready = BinaryHeap::from([Reverse((priority[0], 0))]);
        let mut order = Vec::with_capacity(usual.len());
        while let Some(Reverse((_, item))) = ready.pop() {
            order.push(item);
            for &successor in &self.successors[item] {
                waiting_for[successor] -= 1;
                if waiting_for[successor] == 0 {
                    ready.push(Reverse((priority[successor], successor)));
                }
            }
        }
        debug_assert_eq!(order.len(), usual.len(), "a region without cycles");
        order
    }

    /// For each item the smallest key among the items that it dominates.
    pub(super) fn spread_over_dominated(&self, keys: &mut [Option<usize>]) {
        let order = self.order();
        let mut rank = vec![0; order.len()];
        for (r, &item) in order.iter().enumerate() {
            rank[item] = r;
        }
        let mut predecessors = vec![Vec::new(); order.len()];
        for &item in &order {
            for &successor in &self.successors[item] {
                predecessors[successor].push(item);
            }
        }
        // One pass settles dominators where there are no cycles. Taking the predecessors from the last to the
        // first makes each step up the tree a step that is taken once.
        let mut dominator = vec![0; order.len()];
        for &item in order.iter().skip(1) {
            let mut common = None;
            for &predecessor in predecessors[item].iter().rev() {
                let mut a = predecessor;
                let mut b = common.unwrap_or(predecessor);
                while a != b {
                    if rank[a] > rank[b] {
                        a = dominator[a];
                    } else {
                        b = dominator[b];
                    }
                }
                common = Some(a);
            }
            dominator[item] = common.unwrap_or(0);
        }
        for &item in order.iter().skip(1).rev() {
            if let Some(key) = keys[item] {
                let above = &mut keys[dominator[item]];
                *above = Some(above.map_or(key, |k| k.min(key)));
            }
        }
    }
}

/// The cycles of a graph, innermost first.
struct Cycles {
    parent: Vec<Option<usize>>,
    /// The innermost cycle that each node is in.
    innermost: Vec<Option<usize>>,
}

impl Cycles {
    /// Every node that a depth-first search reaches again from below heads a cycle: what leads back to it
    /// within its part of the search tree. Taken from the deepest header up, finished cycles act as one node.
    fn of(graph: &Graph) -> Cycles {
        let search = Search::of(graph);
        let mut parent: Vec<Option<usize>> = Vec::new();
        // A shortcut towards the outermost cycle around each.
        let mut above: Vec<usize> = Vec::new();
        let mut entries: Vec<Vec<NodeId>> = Vec::new();
        let mut innermost: Vec<Option<usize>> = vec![None; graph.nodes.len()];
        for &header in search.preorder.iter().rev() {
            let below = |node: NodeId| search.is_below(node, header);
            let mut work: Vec<NodeId> = graph.nodes[header]
                .predecessors
                .iter()
                .copied()
                .filter(|&p| below(p))
                .collect();
            if work.is_empty() {
                continue;
            }
            let cycle = parent.len();
            parent.push(None);
            above.push(cycle);
            entries.push(vec![header]);
            innermost[header] = Some(cycle);
            while let Some(node) = work.pop() {
                let reached = match innermost[node] {
                    None => {
                        innermost[node] = Some(cycle);
                        vec![node]
                    }
                    Some(inner) => {
                        let outermost = find(&mut above, inner);
                        if outermost == cycle {
                            continue;
                        }
                        parent[outermost] = Some(cycle);
                        above[outermost] = cycle;
                        entries[outermost].clone()
                    }
                };
                for node in reached {
                    let mut is_entry = false;
                    for &p in &graph.nodes[node].predecessors {
                        if below(p) {
                            work.push(p);
                        } else {
                            is_entry = true;
                        }
                    }
                    if is_entry {
                        entries[cycle].push(node);
                    }
                }
            }
        }
        Cycles { parent, innermost }
    }
}

/// Follows shortcuts to the end and shortens them.
fn find(above: &mut [usize], mut cycle: usize) -> usize {
    while above[cycle] != cycle {
        above[cycle] = above[above[cycle]];
        cycle = above[cycle];
    }
    cycle
}

/// A depth-first search in the order that numbered the nodes.
struct Search {
    preorder: Vec<NodeId>,
    /// Each node's number in `preorder` and the last number below it.
    span: Vec<(usize, usize)>,
}

impl Search {
    fn of(graph: &Graph) -> Search {
        let mut preorder = Vec::with_capacity(graph.nodes.len());
        let mut span = vec![(usize::MAX, 0); graph.nodes.len()];
        let mut stack: Vec<(NodeId, usize)> = Vec::new();
        let enter = |node: NodeId, span: &mut Vec<(usize, usize)>, order: &mut Vec<NodeId>| {
            span[node].0 = order.len();
            order.push(node);
            (node, graph.nodes[node].successors.len())
        };
        stack.push(enter(0, &mut span, &mut preorder));
        while let Some((node, left)) = stack.last_mut() {
            if *left == 0 {
                span[*node].1 = preorder.len() - 1;
                stack.pop();
                continue;
            }
            *left -= 1;
            let next = graph.nodes[*node].successors[*left];
            if span[next].0 == usize::MAX {
                stack.push(enter(next, &mut span, &mut preorder));
            }
        }
        Search { preorder, span }
    }

    fn is_below(&self, node: NodeId, top: NodeId) -> bool {
        self.span[top].0 <= self.span[node].0 && self.span[node].0 <= self.span[top].1
    }
}
