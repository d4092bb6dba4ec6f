//! **align**: says which functions and which nodes of the versions correspond.
//!
//! Input: the functions of every version and their [`Graph`]s. Guarantee, which weaving relies on: a node is in
//! at most one group; a group holds one node of every member; its nodes are alike in what weaving must handle
//! together (see [`match_nodes`]); and the order of execution that the groups impose has no cycle. Which
//! nodes are matched within these rules is a heuristic: it decides how much runs in lock-step, never what the
//! versions do.

mod functions;

pub(crate) use functions::{match_functions, FunctionGroup, How};

use crate::llvm::Value;
use crate::nodes::{Graph, NodeId};

/// The nodes of one function group that run in lock-step.
pub(crate) struct NodeMatch {
    /// `groups[g][k]` is the node of member `k`; ordered by the first member's nodes, so that group 0 is the
    /// entries.
    pub(crate) groups: Vec<Vec<NodeId>>,
    /// `group_of[k][node]`: the group of a node of member `k`.
    pub(crate) group_of: Vec<Vec<Option<usize>>>,
}

/// Matches the nodes of at least two functions; `called_group` gives the function group of a defined callee,
/// none if its calls are not woven.
pub(crate) fn match_nodes(
    graphs: &[Graph],
    called_group: &dyn Fn(Value) -> Option<usize>,
) -> NodeMatch {
    let pivot = &graphs[0];
    let same = |graph: &Graph| {
        graph.nodes.len() == pivot.nodes.len()
            && (0..pivot.nodes.len()).all(|id| {
                let (a, b) = (&pivot.nodes[id], &graph.nodes[id]);
                a.successors == b.successors
                    && a.instructions.len() == b.instructions.len()
                    && a.is_call == b.is_call
                    && a.instructions
                        .iter()
                        .zip(&b.instructions)
                        .chain(a.terminator.iter().zip(&b.terminator))
                        .all(|(a, b)| a.opcode() == b.opcode() && a.ty() == b.ty())
                    && (!a.is_call || {
                        let group = |call: Value| call.called_function().and_then(called_group);
                        group(a.instructions[0]) == group(b.instructions[0])
                    })
            })
    };
    let groups = if graphs[1..].iter().all(same) {
        (0..pivot.nodes.len())
            .map(|id| vec![id; graphs.len()])
            .collect()
    } else {
        vec![vec![0; graphs.len()]]
    };
    NodeMatch::new(groups, graphs)
}

impl NodeMatch {
    fn new(groups: Vec<Vec<NodeId>>, graphs: &[Graph]) -> NodeMatch {
        let mut group_of: Vec<Vec<Option<usize>>> = graphs
            .iter()
            .map(|graph| vec![None; graph.nodes.len()])
            .collect();
        for (index, group) in groups.iter().enumerate() {
            for (member, &node) in group.iter().enumerate() {
                group_of[member][node] = Some(index);
            }
        }
        NodeMatch { groups, group_of }
    }
}
