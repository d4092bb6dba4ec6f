//! Matches the nodes of two functions, region by region: the items of a region are ordered topologically and
//! the orders aligned; matched loops are regions in turn.
//!
//! That the order of execution stays free of cycles follows from the construction: pairs ascend in one
//! topological order of each function in which every loop is one piece, and loops are only matched with loops.
//! A loop that one version lacks may be *opened*: its insides then belong to the region around it, where they
//! stand together just the same.

use super::digest::{Digest, Sketch};
use super::features::Features;
use super::nest::{Item, Nest, Region, RegionId};
use super::sequence::{self, align};
use crate::nodes::{Graph, NodeId};
use std::borrow::Cow;

/// A function with what the matcher knows of it.
pub(super) struct Side<'a> {
    pub(super) graph: &'a Graph,
    nodes: Vec<Features>,
    nest: Nest,
    /// Indexed by region; that of the function itself stands for nothing.
    loops: Vec<Features>,
}

/// Keeps loops and loop headers apart from other nodes; added to node classes.
const HEADER: u64 = 0x6865_6164;
const LOOP: u64 = 0x6c6f_6f70;

impl<'a> Side<'a> {
    pub(super) fn of(graph: &'a Graph, mut nodes: Vec<Features>) -> Side<'a> {
        let nest = Nest::of(graph);
        for (id, features) in nodes.iter_mut().enumerate() {
            if nest.is_header(id) {
                features.class = Digest::new(HEADER).add(features.class).finish();
            }
        }
        let mut loops: Vec<Features> = Vec::with_capacity(nest.regions.len());
        // Inner loops stand after index 0 and before the loops around them.
        for (id, region) in nest.regions.iter().enumerate() {
            let of = |item: &Item| match *item {
                Item::Node(node) => &nodes[node],
                Item::Loop(inner) => &loops[inner],
            };
            let nodes_of = |item: &Item| match *item {
                Item::Node(node) => Some(&nodes[node].sketch),
                Item::Loop(_) => None,
            };
            let mut features = Features {
                class: LOOP,
                own: Sketch::union(region.items.iter().filter_map(nodes_of)),
                ..Features::default()
            };
            if let (1.., Some(header)) = (id, region.items.first()) {
                let items = || region.items.iter().map(of);
                let content = items().fold(0u64, |sum, f| sum.wrapping_add(f.content));
                let around = |hash| Digest::new(LOOP).add(content).add(hash).finish();
                features.content = content;
                features.context = of(header).context.map(around);
                features.sketch = Sketch::union(items().map(|f| &f.sketch));
                features.weight = items().map(|f| f.weight).sum();
            }
            loops.push(features);
        }
        Side {
            graph,
            nodes,
            nest,
            loops,
        }
    }

    fn features(&self, item: Item) -> &Features {
        match item {
            Item::Node(node) => &self.nodes[node],
            Item::Loop(region) => &self.loops[region],
        }
    }

    /// The features of the region's items, in the region's own numbering.
    fn items(&self, region: &Region) -> Vec<&Features> {
        let items = region.items.iter();
        items.map(|&item| self.features(item)).collect()
    }

    /// The region without the loops in `open`.
    fn region(&self, region: RegionId, open: &[RegionId]) -> Cow<'_, Region> {
        if open.is_empty() {
            Cow::Borrowed(&self.nest.regions[region])
        } else {
            Cow::Owned(self.nest.opened(self.graph, region, open))
        }
    }
}

/// For each node of `a` its counterpart in `b`. Adds the number of comparisons made to `comparisons`.
pub(super) fn pair(a: &Side, b: &Side, comparisons: &mut usize) -> Vec<Option<NodeId>> {
    if is_same_form(a, b, comparisons) {
        (0..a.nodes.len()).map(Some).collect()
    } else {
        pair_by_search(a, b, comparisons)
    }
}

/// Whether the graphs have one form and each node has something in common with the one in its place. Where
/// fields of structures or literals have moved, contents mislead, and no search finds anything better.
fn is_same_form(a: &Side, b: &Side, comparisons: &mut usize) -> bool {
    a.nodes.len() == b.nodes.len()
        && (0..a.nodes.len()).all(|id| {
            a.nodes[id].class == b.nodes[id].class
                && a.graph.nodes[id].successors == b.graph.nodes[id].successors
        })
        && a.nodes.iter().zip(&b.nodes).all(|(a, b)| {
            *comparisons += 1;
            // A negated condition says that the sides of a branch have changed places.
            let is_turned = a.condition == b.condition && a.is_negated != b.is_negated;
            a.content == b.content || !is_turned && a.sketch.similarity(&b.sketch) >= 64
        })
}

fn pair_by_search(a: &Side, b: &Side, comparisons: &mut usize) -> Vec<Option<NodeId>> {
    let mut counterpart = vec![None; a.nodes.len()];
    let mut work = vec![(0, 0)];
    while let Some((id_a, id_b)) = work.pop() {
        let (open_a, open_b) = loops_to_open(a, b, id_a, id_b, comparisons);
        let (region_a, region_b) = (a.region(id_a, &open_a), b.region(id_b, &open_b));
        for (x, y) in pair_items((a, &region_a), (b, &region_b), comparisons) {
            match (region_a.items[x], region_b.items[y]) {
                (Item::Node(x), Item::Node(y)) => counterpart[x] = Some(y),
                (Item::Loop(x), Item::Loop(y)) => work.push((x, y)),
                _ => unreachable!("loops have a class of their own"),
            }
        }
    }
    counterpart
}

/// Loops that have no counterpart as loops, but whose insides have: a loop may have been put around code, or
/// taken away from around it. Such loops are looked into as if they were none.
fn loops_to_open(
    a: &Side,
    b: &Side,
    region_a: RegionId,
    region_b: RegionId,
    comparisons: &mut usize,
) -> (Vec<RegionId>, Vec<RegionId>) {
    let (mut open_a, mut open_b) = (Vec::new(), Vec::new());
    let mut loops_a: Vec<RegionId> = a.nest.loops_in(region_a).collect();
    let mut loops_b: Vec<RegionId> = b.nest.loops_in(region_b).collect();
    loop {
        if loops_a.len() * loops_b.len() > MANY {
            break;
        }
        let around_a = &a.loops[region_a].own;
        let around_b = &b.loops[region_b].own;
        let found_b = wrapper(b, &loops_b, a, &loops_a, around_a, comparisons);
        let found_a = wrapper(a, &loops_a, b, &loops_b, around_b, comparisons);
        let open = |side: &Side, loops: &mut Vec<RegionId>, all: &mut Vec<RegionId>, at| {
            let opened = loops.remove(at);
            loops.extend(side.nest.loops_in(opened));
            all.push(opened);
        };
        match (found_a, found_b) {
            (None, None) => break,
            (_, Some(at)) => open(b, &mut loops_b, &mut open_b, at),
            (Some(at), None) => open(a, &mut loops_a, &mut open_a, at),
        }
    }
    (open_a, open_b)
}

/// Regions with more pairs of loops than this are not searched for loops to open.
const MANY: usize = 4096;
/// How much more the inside of a loop must have in common with the other version than the loop has, of 256.
const MARGIN: u32 = 64;
/// How much that must be at least.
const ENOUGH: u32 = 144;

/// The position of one of the `loops` of `side` that should be opened. `others` are the other version's loops in
/// the same place and `around` what else is there.
fn wrapper(
    side: &Side,
    loops: &[RegionId],
    other: &Side,
    others: &[RegionId],
    around: &Sketch,
    comparisons: &mut usize,
) -> Option<usize> {
    loops.iter().position(|&candidate| {
        *comparisons += others.len();
        let own = &side.loops[candidate].own;
        let to_own = |sketch: &Sketch| {
            let likeness = others
                .iter()
                .map(|&o| sketch.similarity(&other.loops[o].own));
            likeness.max().unwrap_or(0)
        };
        let as_loop = to_own(own);
        let inner = side.nest.loops_in(candidate).map(|inner| {
            *comparisons += others.len();
            to_own(&side.loops[inner].own)
        });
        let inside = inner.max().unwrap_or(0).max(own.contained_in(around));
        inside >= ENOUGH && inside >= as_loop + MARGIN
    })
}

/// Pairs the items of two regions, by position: of the orders tried, by those whose pairs are worth most.
///
/// The first items, which are entries or headers, come first in all orders and pair with each other or not at
/// all; entries are always alike.
fn pair_items(
    (a, region_a): (&Side, &Region),
    (b, region_b): (&Side, &Region),
    comparisons: &mut usize,
) -> Vec<(usize, usize)> {
    let (items_a, items_b) = (a.items(region_a), b.items(region_b));
    let mut pairs = Vec::new();
    let mut most = None;
    for (order_a, order_b) in orders((&items_a, region_a), (&items_b, region_b)) {
        let rest_a: Vec<&Features> = order_a[1..].iter().map(|&i| items_a[i]).collect();
        let rest_b: Vec<&Features> = order_b[1..].iter().map(|&i| items_b[i]).collect();
        let found = align(&rest_a, &rest_b, comparisons);
        let worth = |&(x, y): &(usize, usize)| u64::from(sequence::worth(rest_a[x], rest_b[y]));
        let total: u64 = found.iter().map(worth).sum();
        if most < Some(total) {
            most = Some(total);
            let items = |(x, y): (usize, usize)| (order_a[x + 1], order_b[y + 1]);
            pairs = found.into_iter().map(items).collect();
        }
    }
    if items_a[0].class == items_b[0].class {
        pairs.push((0, 0));
    }
    pairs
}

/// Orders of the items of both regions in which they may be aligned. Code that ends the program is what makes them
/// differ: where it stands tells little about the code around it, yet most of it is unmistakable.
fn orders(
    (items_a, region_a): (&[&Features], &Region),
    (items_b, region_b): (&[&Features], &Region),
) -> Vec<(Vec<usize>, Vec<usize>)> {
    let mut orders = Vec::new();
    let mut add = |region_a: &Region, region_b: &Region| {
        let order_a = region_a.order();
        for apart in [false, true] {
            let order_b = order_like(items_a, &order_a, items_b, region_b, apart);
            orders.push((order_a.clone(), order_b));
        }
    };
    add(region_a, region_b);
    let (last_a, last_b) = (region_a.with_ends_last(), region_b.with_ends_last());
    if last_a.is_some() || last_b.is_some() {
        add(
            last_a.as_ref().unwrap_or(region_a),
            last_b.as_ref().unwrap_or(region_b),
        );
    }
    orders.dedup();
    orders
}

/// An order of the items of `b` that follows `order_a` where unmistakable counterparts show how, so that
/// branches whose sides were exchanged do not cross. `apart` as in [`Region::order_by`].
fn order_like(
    items_a: &[&Features],
    order_a: &[usize],
    items_b: &[&Features],
    region_b: &Region,
    apart: bool,
) -> Vec<usize> {
    let mut keys = vec![None; items_b.len()];
    let levels: [&dyn Fn(&Features) -> u64; 3] =
        [&|f| f.content, &|f| f.context[0], &|f| f.context[1]];
    // What the widest context says comes last and stays.
    for hash in levels {
        let common = sequence::unique_common(
            order_a.iter().map(|&i| hash(items_a[i])).enumerate(),
            items_b.iter().map(|f| hash(f)).enumerate(),
        );
        for (rank, item) in common {
            keys[item] = Some(rank);
        }
    }
    region_b.spread_over_dominated(&mut keys);
    region_b.order_by(&keys, apart)
}
