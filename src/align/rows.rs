//! The nodes of all versions as rows of one table.

use p3_passes::align::{FunctionAlignment, FunctionVersion, NodeView};

/// One row: matched nodes, or a node of one version.
pub struct Row {
    pub status: Status,
    /// One entry per version.
    pub nodes: Vec<Option<usize>>,
}

/// How the nodes of a row compare.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Matched, the same code, the same ways on.
    Same,
    /// Matched, the same code, but other ways on.
    Edges,
    /// Matched, other code.
    Changed,
    /// In one version only (or not in all).
    Alone,
}

/// The rows of a function, in the order of the first version that has it. Nodes that only other versions have
/// follow the matched node that they follow there.
pub fn rows(function: &FunctionAlignment) -> Vec<Row> {
    let present: Vec<(usize, &FunctionVersion)> = function
        .members
        .iter()
        .enumerate()
        .filter_map(|(version, member)| Some((version, member.as_ref()?)))
        .collect();
    let alone = |version: usize, node: usize| {
        let mut nodes = vec![None; function.members.len()];
        nodes[version] = Some(node);
        Row {
            status: Status::Alone,
            nodes,
        }
    };
    let mut rows = Vec::new();
    // behind[g]: rows that follow group g.
    let mut behind: Vec<Vec<Row>> = function.groups.iter().map(|_| Vec::new()).collect();
    for &(version, member) in present.iter().skip(1) {
        let mut last = None;
        for (index, node) in member.nodes.iter().enumerate() {
            match (node.group, last) {
                (Some(group), _) => last = Some(group),
                (None, Some(group)) => behind[group].push(alone(version, index)),
                (None, None) => rows.push(alone(version, index)),
            }
        }
    }
    let Some(&(first_version, first)) = present.first() else {
        return rows;
    };
    for (index, node) in first.nodes.iter().enumerate() {
        let Some(group) = node.group else {
            rows.push(alone(first_version, index));
            continue;
        };
        let mut nodes = vec![None; function.members.len()];
        for (&(version, _), &node) in present.iter().zip(&function.groups[group].nodes) {
            nodes[version] = Some(node);
        }
        let status = match &function.groups[group] {
            g if !g.same_code => Status::Changed,
            g if !g.same_edges => Status::Edges,
            _ => Status::Same,
        };
        rows.push(Row { status, nodes });
        rows.append(&mut behind[group]);
    }
    rows
}

/// What a node is, in a few words.
pub fn title(node: &NodeView) -> String {
    use p3_passes::align::Kind;
    let kind = match node.kind {
        Kind::Entry => "entry".to_string(),
        Kind::Call => match &node.callee {
            Some(callee) => format!("call {callee}"),
            None => "call through pointer".to_string(),
        },
        Kind::Next => "code".to_string(),
        Kind::Jump => "jump".to_string(),
        Kind::Branch => "branch".to_string(),
        Kind::Switch => format!("switch ({} cases)", node.successors.len().saturating_sub(1)),
        Kind::Return => "return".to_string(),
        Kind::Unreachable => "unreachable".to_string(),
        Kind::Other => "other".to_string(),
    };
    if node.header {
        format!("loop: {kind}")
    } else {
        kind
    }
}
