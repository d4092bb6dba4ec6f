//! A function as *nodes*: the unit that is matched and woven.
//!
//! A node is a run of instructions of one basic block. Every call that may go to a defined function (direct or
//! through a pointer) is a node of its own, so that matched calls can become one call of a product function;
//! the instructions between two such calls, or up to the block's terminator, form a node. The allocas at the
//! entry are a node of their own, empty if there are none, so that all functions begin alike. Blocks are not
//! split in the IR. Debug and lifetime intrinsics belong to no node. Blocks that cannot be reached from the
//! entry have no nodes.

use crate::llvm::{Block, Value};
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::HashMap;

/// Index of a node in its [`Graph`]; the entry node is 0.
pub(crate) type NodeId = usize;

/// A function's nodes and the edges between them.
pub(crate) struct Graph {
    pub(crate) function: Value,
    /// In reverse post-order of the blocks; nodes of one block stand together.
    pub(crate) nodes: Vec<Node>,
    /// The node that each reachable block begins with.
    pub(crate) first_of: HashMap<Block, NodeId>,
    /// The node that each instruction (phis and terminators too) belongs to.
    pub(crate) node_of: HashMap<Value, NodeId>,
}

/// One node.
pub(crate) struct Node {
    pub(crate) block: Block,
    /// The block's phis, if the node is its first.
    pub(crate) phis: Vec<Value>,
    /// What the node executes, phis and terminator not included.
    pub(crate) instructions: Vec<Value>,
    /// Whether the only instruction is a call that may go to a defined function.
    pub(crate) is_call: bool,
    /// The block's terminator if the node is its last; otherwise the next node follows.
    pub(crate) terminator: Option<Value>,
    /// In the terminator's order, one entry per edge (a target may stand there twice); exactly one entry
    /// where there is no terminator.
    pub(crate) successors: Vec<NodeId>,
    /// Each predecessor once.
    pub(crate) predecessors: Vec<NodeId>,
}

impl Graph {
    /// The first instruction of a node that debug info gives a place.
    pub(crate) fn place_of(&self, node: NodeId) -> Option<Value> {
        let node = &self.nodes[node];
        let all = node.instructions.iter().chain(&node.terminator);
        all.copied()
            .find(|instruction| instruction.debug_line() != 0)
    }

    /// Divides the body of a defined function.
    pub(crate) fn of(function: Value) -> Graph {
        let blocks = reverse_post_order(function);
        let mut nodes = Vec::new();
        let mut first_of = HashMap::new();
        for &block in &blocks {
            first_of.insert(block, nodes.len());
            divide(block, nodes.is_empty(), &mut nodes);
        }
        for (id, node) in nodes.iter_mut().enumerate() {
            node.successors = match node.terminator {
                Some(terminator) => terminator
                    .successors()
                    .into_iter()
                    .map(|block| first_of[&block])
                    .collect(),
                None => vec![id + 1],
            };
        }
        let mut node_of = HashMap::new();
        for id in 0..nodes.len() {
            for successor in nodes[id].successors.clone() {
                let predecessors = &mut nodes[successor].predecessors;
                // All edges of one node come together, so only the last entry can be this node.
                if predecessors.last() != Some(&id) {
                    predecessors.push(id);
                }
            }
            let node = &nodes[id];
            let all = node
                .phis
                .iter()
                .chain(&node.instructions)
                .chain(&node.terminator);
            node_of.extend(all.map(|&instruction| (instruction, id)));
        }
        Graph {
            function,
            nodes,
            first_of,
            node_of,
        }
    }
}

/// Appends the nodes of one block.
fn divide(block: Block, is_entry: bool, nodes: &mut Vec<Node>) {
    let empty = || Node {
        block,
        phis: Vec::new(),
        instructions: Vec::new(),
        is_call: false,
        terminator: None,
        successors: Vec::new(),
        predecessors: Vec::new(),
    };
    let mut node = empty();
    let mut at_entry = is_entry;
    for instruction in block.instructions() {
        if at_entry && instruction.opcode() != LLVMOpcode::LLVMAlloca && !is_marker(instruction) {
            nodes.push(std::mem::replace(&mut node, empty()));
            at_entry = false;
        }
        if instruction.opcode() == LLVMOpcode::LLVMPHI {
            node.phis.push(instruction);
        } else if instruction.is_terminator() {
            node.terminator = Some(instruction);
        } else if is_marker(instruction) {
            continue;
        } else if may_call_defined(instruction) {
            if !node.instructions.is_empty() || !node.phis.is_empty() {
                nodes.push(std::mem::replace(&mut node, empty()));
            }
            node.instructions.push(instruction);
            node.is_call = true;
            nodes.push(std::mem::replace(&mut node, empty()));
        } else {
            node.instructions.push(instruction);
        }
    }
    nodes.push(node);
}

/// Intrinsics that say something to debuggers and optimisers and do nothing.
pub(crate) fn is_marker(instruction: Value) -> bool {
    instruction.is_call()
        && instruction.called_function().is_some_and(|callee| {
            let name = callee.name();
            name.starts_with(b"llvm.dbg.")
                || name.starts_with(b"llvm.lifetime.")
                || name.starts_with(b"llvm.invariant.")
                || name.starts_with(b"llvm.experimental.noalias.scope.decl")
        })
}

/// A call of a defined function, or one through a pointer, or the place of a specification.
fn may_call_defined(instruction: Value) -> bool {
    if !instruction.is_call() {
        return false;
    }
    match instruction.called_function() {
        Some(callee) if callee.name() == crate::spec::REACHED.as_bytes() => true,
        // runtime/core does not belong to any version.
        Some(callee) => !callee.is_declaration() && !callee.name().starts_with(b"p3_"),
        None => !instruction
            .called_operand()
            .is_some_and(Value::is_inline_asm),
    }
}

/// The blocks reachable from the entry.
fn reverse_post_order(function: Value) -> Vec<Block> {
    let Some(entry) = function.blocks().into_iter().next() else {
        return Vec::new();
    };
    let successors = |block: Block| {
        block
            .terminator()
            .map(Value::successors)
            .unwrap_or_default()
    };
    let mut seen = std::collections::HashSet::from([entry]);
    // Depth first with an explicit stack: block, its successors, how many of them are done.
    let mut stack = vec![(entry, successors(entry), 0)];
    let mut order = Vec::new();
    while let Some((block, targets, next)) = stack.last_mut() {
        // Later successors first, so that the reversed order keeps the terminator's.
        match targets.len().checked_sub(*next + 1).map(|i| targets[i]) {
            Some(target) => {
                *next += 1;
                if seen.insert(target) {
                    stack.push((target, successors(target), 0));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
