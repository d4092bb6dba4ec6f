//! **align**: says which functions and which nodes of the versions correspond.
//!
//! Input: the functions of every version and their [`Graph`]s. Guarantee, which weaving relies on: a node is in
//! at most one group; a group holds one node of every member; its nodes are alike in what weaving must handle
//! together (see [`match_nodes`]); and the order of execution that the groups impose has no cycle. Which
//! nodes are matched within these rules is a heuristic: it decides how much runs in lock-step, never what the
//! versions do.
//!
//! Not handled: a loop matches at most one loop, and a node only nodes in the same loop; so one that was peeled,
//! unrolled or wrapped into another loop matches in part.

mod digest;
mod features;
mod functions;
mod nest;
mod not_woven;
mod pair;
mod sequence;
#[cfg(test)]
mod tests;

pub(crate) use functions::match_functions;
pub(crate) use not_woven::not_woven_reason;

use crate::llvm::Value;
use crate::nodes::{Graph, NodeId};
use features::{Callee, Describer};
use pair::Side;

/// The nodes of one function group that run in lock-step.
pub(crate) struct NodeMatch {
    /// `groups[g][k]` is the node of member `k`; ordered by the first member's nodes, so that group 0 is the
    /// entries.
    pub(crate) groups: Vec<Vec<NodeId>>,
    /// `group_of[k][node]`: the group of a node of member `k`.
    pub(crate) group_of: Vec<Vec<Option<usize>>>,
    /// How many pairs of nodes were compared, the measure of the work done.
    pub(crate) comparisons: usize,
}

/// Matches the nodes of at least two functions. `called_group` gives the function group of a defined callee,
/// none if calls of it are not woven.
///
/// The nodes of a group are calls of the same group (or all of unwoven functions, or all through pointers to
/// the same function type), or end with terminators of the same opcode and condition type, or all have no
/// terminator; and all are headers of matched loops or none is a header. The entries are exempt: they are
/// group 0 whatever they are.
pub(crate) fn match_nodes(
    graphs: &[Graph],
    called_group: &dyn Fn(Value) -> Option<usize>,
) -> NodeMatch {
    let resolve = |function: Value| match called_group(function) {
        Some(group) => Callee::Group(group),
        None => Callee::Name,
    };
    let mut describer = Describer::new(&resolve);
    let use_names = graphs
        .iter()
        .all(|graph| features::has_variable_names(graph.function));
    let sides: Vec<Side> = graphs
        .iter()
        .map(|graph| {
            let features = features::features(graph, &mut describer, use_names);
            Side::of(graph, features)
        })
        .collect();
    let mut comparisons = 0;
    let counterparts: Vec<Vec<Option<NodeId>>> = sides[1..]
        .iter()
        .map(|side| pair::pair(&sides[0], side, &mut comparisons))
        .collect();
    let groups = (0..graphs[0].nodes.len())
        .filter_map(|node| {
            let others = counterparts.iter().map(|counterpart| counterpart[node]);
            std::iter::once(Some(node)).chain(others).collect()
        })
        .collect();
    NodeMatch::new(groups, graphs, comparisons)
}

impl NodeMatch {
    fn new(groups: Vec<Vec<NodeId>>, graphs: &[Graph], comparisons: usize) -> NodeMatch {
        let mut group_of: Vec<Vec<Option<usize>>> = graphs
            .iter()
            .map(|graph| vec![None; graph.nodes.len()])
            .collect();
        for (index, group) in groups.iter().enumerate() {
            for (member, &node) in group.iter().enumerate() {
                group_of[member][node] = Some(index);
            }
        }
        NodeMatch {
            groups,
            group_of,
            comparisons,
        }
    }
}
