//! **align**: says which functions and which nodes of the versions correspond.
//!
//! Input: the functions of every version and their [`Graph`]s. Guarantee, which weaving relies on: a node is in
//! at most one group; a group holds one node of every member; its nodes are alike in what weaving must handle
//! together (see [`match_nodes`]); and the order of execution that the groups impose has no cycle. Which
//! nodes are matched within these rules is a heuristic: it decides how much runs in lock-step, never what the
//! versions do.
//!
//! Not handled: a loop matches at most one loop, and a node only nodes in the same loops (those that one version
//! lacks set aside); so a loop that was peeled, unrolled or split matches in part.

mod digest;
mod features;
mod functions;
mod instructions;
mod nest;
mod not_woven;
mod pair;
#[cfg(test)]
mod random_tests;
mod report;
mod sequence;
#[cfg(test)]
mod tests;

pub(crate) use functions::{match_functions, unused_pairs, FunctionGroup, ALONE};
pub(crate) use instructions::corresponding;
pub(crate) use not_woven::{not_woven_reason, nothing_woven_reason};
pub use report::{
    align_versions, Alignment, Edge, FunctionAlignment, FunctionVersion, Group, Kind, NodeView,
    Options, SourcePlace,
};

use crate::llvm::Value;
use crate::nodes::{Graph, NodeId};
use features::{Callee, Describer};
use functions::plain_name;
pub use functions::How;
use inkwell::llvm_sys::LLVMOpcode;
use pair::Side;
use std::collections::HashMap;

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
/// terminator; and all are headers of loops or none is. The entries are group 0.
pub(crate) fn match_nodes(
    graphs: &[Graph],
    called_group: &dyn Fn(Value) -> Option<usize>,
) -> NodeMatch {
    Matcher::new(graphs, called_group).run()
}

/// The functions of one group with all that is known of their nodes.
struct Matcher<'a> {
    graphs: &'a [Graph],
    sides: Vec<Side<'a>>,
    plain: Vec<HashMap<Value, u64>>,
}

impl<'a> Matcher<'a> {
    fn new(graphs: &'a [Graph], called_group: &dyn Fn(Value) -> Option<usize>) -> Matcher<'a> {
        let resolve = |function: Value| match called_group(function) {
            Some(group) => Callee::Group(group),
            None => Callee::Name,
        };
        let mut describer = Describer::new(&resolve);
        let use_names = graphs
            .iter()
            .all(|graph| features::has_variable_names(graph.function));
        let (sides, plain) = graphs
            .iter()
            .map(|graph| {
                let (features, plain) = features::features(graph, &mut describer, use_names);
                (Side::of(graph, features), plain)
            })
            .unzip();
        Matcher {
            graphs,
            sides,
            plain,
        }
    }

    fn run(&self) -> NodeMatch {
        let mut comparisons = 0;
        let counterparts: Vec<Vec<Option<NodeId>>> = self.sides[1..]
            .iter()
            .map(|side| pair::pair(&self.sides[0], side, &mut comparisons))
            .collect();
        let groups = (0..self.graphs[0].nodes.len())
            .filter_map(|node| {
                let others = counterparts.iter().map(|counterpart| counterpart[node]);
                std::iter::once(Some(node)).chain(others).collect()
            })
            .collect();
        NodeMatch::new(groups, self.graphs, comparisons)
    }

    /// Whether the nodes of a group are instruction for instruction the same on operands that correspond.
    fn is_same_code(&self, found: &NodeMatch, group: usize) -> bool {
        let nodes = &found.groups[group];
        let of = |member: usize| {
            let node = &self.graphs[member].nodes[nodes[member]];
            (&node.phis, &node.instructions, node.terminator)
        };
        let first = of(0);
        (1..nodes.len()).all(|member| {
            let other = of(member);
            first.0.len() == other.0.len()
                && first.1.len() == other.1.len()
                && first.2.is_some() == other.2.is_some()
                && first
                    .0
                    .iter()
                    .zip(other.0)
                    .chain(first.1.iter().zip(other.1))
                    .chain(first.2.iter().zip(&other.2))
                    .all(|(&a, &b)| self.is_same_instruction(found, member, a, b))
        })
    }

    fn is_same_instruction(&self, found: &NodeMatch, member: usize, a: Value, b: Value) -> bool {
        if self.plain[0].get(&a) != self.plain[member].get(&b)
            || a.operand_count() != b.operand_count()
        {
            return false;
        }
        // The order of a phi's entries means nothing.
        if a.opcode() == LLVMOpcode::LLVMPHI {
            return true;
        }
        (0..a.operand_count()).all(|index| match (a.operand(index), b.operand(index)) {
            (Some(a), Some(b)) if a.is_instruction() && b.is_instruction() => {
                let place = |member: usize, value: Value| {
                    let node = *self.graphs[member].node_of.get(&value)?;
                    found.group_of[member][node]
                };
                let (x, y) = (place(0, a), place(member, b));
                x == y && (x.is_some() || self.plain[0].get(&a) == self.plain[member].get(&b))
            }
            (Some(a), Some(b)) if a.is_argument() || b.is_argument() => {
                let position = |member: usize, value: Value| {
                    let mut all = self.graphs[member].function.parameters().into_iter();
                    all.position(|parameter| parameter == value)
                };
                position(0, a) == position(member, b)
            }
            // Other constants were compared above, with all but the cases of switches.
            (Some(a), Some(b)) => a.as_integer() == b.as_integer(),
            _ => true,
        })
    }
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
