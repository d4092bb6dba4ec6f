//! The alignment of single functions as a drawing for Graphviz.

use super::rows;
use super::source::short;
use p3_passes::align::{Alignment, FunctionAlignment, NodeView};
use std::fmt::Write;

/// Both control-flow graphs of every function, matched nodes joined by dashed lines.
pub fn draw(alignment: &Alignment) -> String {
    let mut text = String::from(
        "digraph align {\n  rankdir=TB; newrank=true; compound=true;\n  \
         node [shape=box, style=filled, fillcolor=white, fontname=monospace, fontsize=10];\n  \
         edge [fontname=monospace, fontsize=9];\n",
    );
    for (index, function) in alignment.functions.iter().enumerate() {
        draw_function(&mut text, index, function, &alignment.versions);
    }
    text.push_str("}\n");
    text
}

fn draw_function(
    text: &mut String,
    index: usize,
    function: &FunctionAlignment,
    versions: &[Vec<String>],
) {
    let id = |version: usize, node: usize| format!("f{index}v{version}n{node}");
    for (version, member) in function.members.iter().enumerate() {
        let Some(member) = member else { continue };
        let title = format!("{}: {}", versions[version].join("+"), member.name);
        let _ = writeln!(
            text,
            "  subgraph cluster_{index}_{version} {{\n    label={};",
            quoted(&title)
        );
        for (node, view) in member.nodes.iter().enumerate() {
            let _ = writeln!(
                text,
                "    {} [label={}, fillcolor={}];",
                id(version, node),
                quoted(&label(node, view)),
                color(function, view)
            );
        }
        for (node, view) in member.nodes.iter().enumerate() {
            for edge in &view.successors {
                let _ = writeln!(
                    text,
                    "    {} -> {} [label={}];",
                    id(version, node),
                    id(version, edge.to),
                    quoted(&edge.label)
                );
            }
        }
        text.push_str("  }\n");
    }
    for group in &function.groups {
        if let [a, b] = group.nodes[..] {
            let _ = writeln!(
                text,
                "  {} -> {} [dir=none, style=dashed, color=gray, constraint=false];",
                id(0, a),
                id(1, b)
            );
        }
    }
}

fn label(index: usize, node: &NodeView) -> String {
    let places = match (node.lines.first(), node.lines.last()) {
        (Some(first), Some(last)) if first != last => format!("\n{} - {}", short(first), last.line),
        (Some(first), _) => format!("\n{}", short(first)),
        _ => String::new(),
    };
    format!("n{index} {}\n%{}{places}", rows::title(node), node.block)
}

fn color(function: &FunctionAlignment, node: &NodeView) -> &'static str {
    match node.group.map(|group| &function.groups[group]) {
        None => "lightpink",
        Some(group) if !group.same_code => "khaki",
        Some(group) if !group.same_edges => "lightcyan",
        Some(_) => "white",
    }
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"");
    format!("\"{}\"", escaped.replace('\n', "\\n"))
}
