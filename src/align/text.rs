//! The alignment as text for a terminal.

use super::rows::{self, Row, Status};
use super::source::Sources;
use p3_passes::align::{Alignment, FunctionAlignment, How, NodeView};
use std::fmt::Write;

/// How wide one version's column is.
const WIDTH: usize = 56;
/// How many source lines of a node are shown.
const LINES: usize = 12;

/// One line per function.
pub fn table(alignment: &Alignment) -> String {
    let name_width = alignment
        .functions
        .iter()
        .map(|f| names(f).chars().count())
        .max()
        .unwrap_or(0)
        .clamp(8, 48);
    let mut text = format!(
        "{:name_width$}  {:>14}  {:>7}  {:>6}  remarks\n",
        "function", "nodes", "matched", ""
    );
    let (mut all, mut matched, mut woven, mut changed) = (0, 0, 0, 0);
    for function in &alignment.functions {
        let nodes: Vec<String> = function
            .members
            .iter()
            .map(|m| {
                m.as_ref()
                    .map_or("-".to_string(), |m| m.nodes.len().to_string())
            })
            .collect();
        let most = most_nodes(function);
        all += most;
        matched += function.groups.len();
        woven += usize::from(function.sequential.is_none());
        changed += usize::from(function.changed);
        let line = format!(
            "{:name_width$}  {:>14}  {:>7}  {:>6}  {}",
            names(function),
            nodes.join(" "),
            function.groups.len(),
            percent(function.groups.len(), most),
            remarks(function)
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }
    let _ = writeln!(
        text,
        "{} functions: {woven} woven, {changed} changed; {matched} of {all} nodes matched ({})",
        alignment.functions.len(),
        percent(matched, all)
    );
    text
}

fn most_nodes(function: &FunctionAlignment) -> usize {
    let counts = function.members.iter().flatten().map(|m| m.nodes.len());
    counts.max().unwrap_or(0)
}

/// Rounded down, so that 100 % means all.
fn percent(part: usize, all: usize) -> String {
    match (100 * part).checked_div(all) {
        Some(percent) => format!("{percent} %"),
        None => String::new(),
    }
}

/// The function's name; its names if they differ.
pub fn names(function: &FunctionAlignment) -> String {
    let mut names: Vec<&str> = Vec::new();
    for member in function.members.iter().flatten() {
        if !names.contains(&member.name.as_str()) {
            names.push(&member.name);
        }
    }
    names.join(" = ")
}

fn remarks(function: &FunctionAlignment) -> String {
    let mut remarks = Vec::new();
    match function.how {
        How::Map => remarks.push("matched by --map".to_string()),
        How::Body => remarks.push("matched by equal bodies".to_string()),
        How::Likeness => remarks.push("matched by similar bodies".to_string()),
        How::Name | How::Alone => {}
    }
    if let Some(reason) = &function.sequential {
        remarks.push(format!("not woven: {reason}"));
    } else if function.changed {
        remarks.push("changed".to_string());
    }
    remarks.join("; ")
}

/// The nodes of each function, matched ones on one line.
pub fn side_by_side(alignment: &Alignment) -> String {
    let mut sources = Sources::default();
    let mut text = String::new();
    for function in &alignment.functions {
        let counts = function.members.iter().flatten();
        let counts: Vec<String> = counts.map(|m| m.nodes.len().to_string()).collect();
        let _ = writeln!(
            text,
            "{}: {} nodes, {} matched {}",
            names(function),
            counts.join(" and "),
            function.groups.len(),
            remarks(function)
        );
        let _ = writeln!(
            text,
            "= the same, > goes elsewhere, ~ changed, ! without counterpart\n"
        );
        for row in rows::rows(function) {
            write_row(&mut text, function, &row, &mut sources);
        }
        text.push('\n');
    }
    text
}

fn write_row(text: &mut String, function: &FunctionAlignment, row: &Row, sources: &mut Sources) {
    let cells: Vec<Vec<String>> = row
        .nodes
        .iter()
        .zip(&function.members)
        .map(|(node, member)| match (node, member) {
            (Some(node), Some(member)) => cell(*node, &member.nodes[*node], sources),
            _ => Vec::new(),
        })
        .collect();
    let mark = match row.status {
        Status::Same => '=',
        Status::Edges => '>',
        Status::Changed => '~',
        Status::Alone => '!',
    };
    for line in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
        let mut whole = String::from(if line == 0 { mark } else { ' ' });
        for cell in &cells {
            let part = cell.get(line).map_or("", String::as_str);
            let _ = write!(whole, " {part:WIDTH$} |");
        }
        text.push_str(whole.trim_end_matches(['|', ' ']));
        text.push('\n');
    }
}

/// The lines of one node: what it is, then its source.
fn cell(index: usize, node: &NodeView, sources: &mut Sources) -> Vec<String> {
    let ways: Vec<String> = node
        .successors
        .iter()
        .map(|edge| match edge.label.as_str() {
            "" => format!("n{}", edge.to),
            label => format!("{label} n{}", edge.to),
        })
        .collect();
    let indent = " ".repeat(2 * node.depth);
    let mut head = format!("{indent}n{index} {}", rows::title(node));
    if !ways.is_empty() {
        let _ = write!(head, " -> {}", ways.join(", "));
    }
    let mut lines = vec![head];
    let shown = node.lines.iter().take(LINES);
    lines.extend(shown.map(|place| {
        let source = sources.line(place).unwrap_or("").trim();
        format!("{indent}{:>5} {source}", place.line)
    }));
    if node.lines.len() > LINES {
        lines.push(format!("{indent}      ... {} lines", node.lines.len()));
    }
    for line in &mut lines {
        if line.chars().count() > WIDTH {
            *line = line.chars().take(WIDTH - 1).chain(['…']).collect();
        }
    }
    lines
}
