//! Matches the nodes of two functions, region by region: the items of a region are ordered topologically and
//! the orders aligned; matched loops are regions in turn.
//!
//! That the order of execution stays free of cycles follows from the construction: pairs ascend in one
//! topological order of each function in which every loop is one piece, and loops are only matched with loops.

use super::digest::{Digest, Sketch};
use super::features::Features;
use super::nest::{Item, Nest, RegionId};
use super::sequence::{self, align};
use crate::nodes::{Graph, NodeId};

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
            let features = match (id, region.items.first()) {
                (0, _) | (_, None) => Features::default(),
                (_, Some(header)) => {
                    let content = region
                        .items
                        .iter()
                        .fold(0u64, |sum, item| sum.wrapping_add(of(item).content));
                    let context = of(header).context;
                    let around = |hash| Digest::new(LOOP).add(content).add(hash).finish();
                    Features {
                        class: LOOP,
                        content,
                        context: [around(context[0]), around(context[1])],
                        condition: 0,
                        sketch: Sketch::union(region.items.iter().map(|i| &of(i).sketch)),
                        weight: region.items.iter().map(|i| of(i).weight).sum(),
                    }
                }
            };
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
    fn items(&self, region: RegionId) -> Vec<&Features> {
        self.nest.regions[region]
            .items
            .iter()
            .map(|&item| self.features(item))
            .collect()
    }
}

/// For each node of `a` its counterpart in `b`. Adds the number of comparisons made to `comparisons`.
pub(super) fn pair(a: &Side, b: &Side, comparisons: &mut usize) -> Vec<Option<NodeId>> {
    let mut counterpart = vec![None; a.nodes.len()];
    if is_same(a, b) {
        return (0..a.nodes.len()).map(Some).collect();
    }
    let mut work = vec![(0, 0)];
    while let Some((region_a, region_b)) = work.pop() {
        for (x, y) in pair_items(a, b, region_a, region_b, comparisons) {
            match (
                a.nest.regions[region_a].items[x],
                b.nest.regions[region_b].items[y],
            ) {
                (Item::Node(x), Item::Node(y)) => counterpart[x] = Some(y),
                (Item::Loop(x), Item::Loop(y)) => work.push((x, y)),
                _ => unreachable!("loops have a class of their own"),
            }
        }
    }
    counterpart
}

/// Equal code in equal order: no search finds anything better than each with itself.
fn is_same(a: &Side, b: &Side) -> bool {
    let successors = |side: &Side, id: NodeId| side.graph.nodes[id].successors.clone();
    a.nodes.len() == b.nodes.len()
        && (0..a.nodes.len()).all(|id| {
            a.nodes[id].class == b.nodes[id].class
                && a.nodes[id].content == b.nodes[id].content
                && successors(a, id) == successors(b, id)
        })
}

/// Pairs the items of two regions, by position.
fn pair_items(
    a: &Side,
    b: &Side,
    region_a: RegionId,
    region_b: RegionId,
    comparisons: &mut usize,
) -> Vec<(usize, usize)> {
    let (items_a, items_b) = (a.items(region_a), b.items(region_b));
    let order_a = a.nest.regions[region_a].order();
    let order_b = order_like(a, b, region_a, region_b, &order_a);
    let mut pairs = Vec::new();
    // Entries always pair; a header pairs with a header or not at all. Both are item 0 and first in order.
    if region_a == 0 || items_a[0].class == items_b[0].class {
        pairs.push((0, 0));
    }
    let rest_a: Vec<&Features> = order_a[1..].iter().map(|&i| items_a[i]).collect();
    let rest_b: Vec<&Features> = order_b[1..].iter().map(|&i| items_b[i]).collect();
    let found = align(&rest_a, &rest_b, comparisons);
    pairs.extend(
        found
            .into_iter()
            .map(|(x, y)| (order_a[x + 1], order_b[y + 1])),
    );
    pairs
}

/// An order of the items of `b` that follows `order_a` where unmistakable counterparts show how, so that
/// branches whose sides were exchanged do not cross.
fn order_like(
    a: &Side,
    b: &Side,
    region_a: RegionId,
    region_b: RegionId,
    order_a: &[usize],
) -> Vec<usize> {
    let (items_a, items_b) = (a.items(region_a), b.items(region_b));
    let region = &b.nest.regions[region_b];
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
    region.spread_over_dominated(&mut keys);
    region.order_by(&keys)
}
