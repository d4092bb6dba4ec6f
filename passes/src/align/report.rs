//! What the matcher found, in words and numbers, for people and as JSON.

use super::functions::How;
use super::nest::Nest;
use super::{
    match_functions, not_woven_reason, plain_name, unused_pairs, Matcher, NodeMatch, ALONE,
};
use crate::llvm::{self, Block, Context, Module, Place, Value};
use crate::load::{Input, Source};
use crate::nodes::{Graph, Node, NodeId};
use crate::pipeline::{self, Observer};
use crate::prepare::Prepare;
use crate::{spec, Result};
use inkwell::llvm_sys::LLVMOpcode;
use serde::Serialize;
use std::collections::HashMap;

/// What to match.
#[derive(Clone, Debug)]
pub struct Options {
    /// The versions, in order.
    pub inputs: Vec<Input>,
    /// The function that runs first, which decides what archives contribute.
    pub entry: String,
    /// How far versions are simplified first.
    pub prepare: Prepare,
    /// Functions that correspond under different names: old, new.
    pub map: Vec<(String, String)>,
}

/// The versions side by side.
#[derive(Debug, Serialize)]
pub struct Alignment {
    /// The files of each version.
    pub versions: Vec<Vec<String>>,
    /// Things the user should know of.
    pub warnings: Vec<String>,
    /// In the order of the first version; functions that it lacks follow.
    pub functions: Vec<FunctionAlignment>,
}

/// One function in all versions.
#[derive(Debug, Serialize)]
pub struct FunctionAlignment {
    /// Its name in the first version that has it.
    pub name: String,
    /// How the members were found to be one function.
    pub how: How,
    /// One entry per version, null where the version lacks the function.
    pub members: Vec<Option<FunctionVersion>>,
    /// The nodes that run in lock-step, by the first member's nodes.
    pub groups: Vec<Group>,
    /// Why the function runs one version after the other; null if it is woven.
    pub sequential: Option<String>,
    /// Whether the members differ in any node or edge, or one is missing.
    pub changed: bool,
    /// How many pairs of nodes were compared, the measure of the work done.
    pub comparisons: usize,
}

/// A function in one version.
#[derive(Debug, Serialize)]
pub struct FunctionVersion {
    /// Its name in this version.
    pub name: String,
    /// Where it is defined, by debug info.
    pub place: Option<SourcePlace>,
    /// In the order of the code.
    pub nodes: Vec<NodeView>,
}

/// Nodes that are matched, one of each version that has the function.
#[derive(Debug, Serialize)]
pub struct Group {
    /// Indices into the `nodes` of the members, in version order.
    pub nodes: Vec<usize>,
    /// Whether all do the same on corresponding operands.
    pub same_code: bool,
    /// Whether all lead to matched nodes in the same way.
    pub same_edges: bool,
}

/// One node.
#[derive(Debug, Serialize)]
pub struct NodeView {
    /// The basic block, as LLVM prints it, and the node's number within the block from 0 on.
    pub block: String,
    pub part: usize,
    /// What the node ends with: `call`, `next` (the block goes on), or the terminator's kind.
    pub kind: Kind,
    /// Whom a call node calls; null if through a pointer.
    pub callee: Option<String>,
    /// How many loops surround the node.
    pub depth: usize,
    /// Whether the node is the header of the innermost loop.
    pub header: bool,
    /// The source lines of its instructions, ascending, each once.
    pub lines: Vec<SourcePlace>,
    /// Where control goes from here.
    pub successors: Vec<Edge>,
    /// Index into the function's `groups`; null for a node without counterpart.
    pub group: Option<usize>,
    /// LLVM's text of the instructions; empty unless asked for.
    pub code: Vec<String>,
}

/// What a node ends with.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// The function's beginning, where its variables are allocated.
    Entry,
    Call,
    Next,
    Jump,
    Branch,
    Switch,
    Return,
    Unreachable,
    Other,
}

/// An edge to another node of the function.
#[derive(Debug, Serialize)]
pub struct Edge {
    /// Index into `nodes`.
    pub to: usize,
    /// `true`, `false`, a case's value, `default`, or empty.
    pub label: String,
}

/// A line of a source file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct SourcePlace {
    pub file: String,
    /// What a relative `file` is relative to.
    pub directory: String,
    pub line: u32,
}

impl From<Place> for SourcePlace {
    fn from(place: Place) -> Self {
        SourcePlace {
            file: place.file,
            directory: place.directory,
            line: place.line,
        }
    }
}

impl FunctionAlignment {
    /// Whether any version calls the function so.
    pub fn has_name(&self, name: &str) -> bool {
        self.members.iter().flatten().any(|m| m.name == name)
    }
}

/// Matches the versions as they are after `prepare`, before the runtime is linked in. `wants_code` says of which
/// functions (name, changed) the text of the instructions is wanted.
pub fn align_versions(
    context: &Context,
    options: &Options,
    observe: &mut dyn Observer,
    wants_code: &dyn Fn(&str, bool) -> bool,
) -> Result<Alignment> {
    let (modules, mut warnings) = pipeline::read(
        context,
        &options.inputs,
        &options.entry,
        &options.map,
        observe,
    )?;
    warnings.extend(pipeline::unknown_pairs(&modules, &options.map));
    let names: Vec<String> = options.inputs.iter().map(Input::name).collect();
    warnings.extend(pipeline::complete_specs(&modules, &names, &options.map)?);
    for (index, module) in modules.iter().enumerate() {
        pipeline::simplify(module, index, &names[index], options.prepare)?;
        pipeline::checked("prepare", index, module, observe)?;
    }
    let functions: Vec<Vec<Value>> = modules
        .iter()
        .map(|module| {
            let mut all = llvm::functions(module);
            all.retain(|function| {
                !function.is_declaration() && !spec::is_relation(&function.name_text())
            });
            all
        })
        .collect();
    let groups = match_functions(&functions, &options.map);
    warnings.extend(unused_pairs(&functions, &groups, &options.map));
    let sequential: Vec<Option<String>> = groups
        .iter()
        .map(|group| {
            let present = group.present();
            if present.len() < 2 {
                return Some(ALONE.to_string());
            }
            not_woven_reason(&present)
        })
        .collect();
    let group_of: HashMap<Value, usize> = groups
        .iter()
        .enumerate()
        .filter(|&(index, _)| sequential[index].is_none())
        .flat_map(|(index, group)| group.members.iter().flatten().map(move |&f| (f, index)))
        .collect();
    let texts: HashMap<Value, Printed> = modules.iter().flat_map(printed).collect();
    let called_group = |callee: Value| group_of.get(&callee).copied();
    let functions = groups
        .iter()
        .zip(sequential)
        .map(|(group, sequential)| {
            let present = group.present();
            let mut view = view(&group.members, &texts, &called_group, sequential, group.how);
            if wants_code(&view.name, view.changed) {
                let members = view.members.iter_mut().flatten();
                for (member, &function) in members.zip(&present) {
                    add_code(member, &Graph::of(function), &texts[&function]);
                }
            }
            view
        })
        .collect();
    Ok(Alignment {
        versions: options
            .inputs
            .iter()
            .map(|input| {
                let files = input.files.iter();
                files.map(Source::to_string).collect()
            })
            .collect(),
        functions,
        warnings,
    })
}

/// One function without the text of its instructions.
fn view(
    members: &[Option<Value>],
    texts: &HashMap<Value, Printed>,
    called_group: &dyn Fn(Value) -> Option<usize>,
    sequential: Option<String>,
    how: How,
) -> FunctionAlignment {
    let graphs: Vec<Graph> = members.iter().flatten().map(|&f| Graph::of(f)).collect();
    let matcher = Matcher::new(&graphs, called_group);
    let found = if graphs.len() > 1 {
        matcher.run()
    } else {
        NodeMatch::new(Vec::new(), &graphs, 0)
    };
    // People read the code in the order in which it is written, not in that in which it is analysed.
    let layouts: Vec<Layout> = graphs
        .iter()
        .map(|graph| Layout::of(graph, &texts[&graph.function]))
        .collect();
    let groups: Vec<Group> = (0..found.groups.len())
        .map(|index| {
            let nodes = found.groups[index].iter().zip(&layouts);
            Group {
                nodes: nodes.map(|(&node, layout)| layout.position[node]).collect(),
                same_code: matcher.is_same_code(&found, index),
                same_edges: has_same_edges(&graphs, &found, index),
            }
        })
        .collect();
    let mut views =
        graphs
            .iter()
            .zip(&layouts)
            .zip(&found.group_of)
            .map(|((graph, layout), group_of)| {
                let nest = Nest::of(graph);
                FunctionVersion {
                    name: plain_name(graph.function),
                    place: graph.function.definition_place().map(SourcePlace::from),
                    nodes: layout
                        .order
                        .iter()
                        .map(|&id| node_view(graph, id, &nest, layout, group_of[id]))
                        .collect(),
                }
            });
    let versions: Vec<Option<FunctionVersion>> = members
        .iter()
        .map(|member| member.and_then(|_| views.next()))
        .collect();
    let changed = versions.iter().any(Option::is_none)
        || groups.iter().any(|g| !g.same_code || !g.same_edges)
        || found.group_of.iter().flatten().any(Option::is_none);
    let name = versions.iter().flatten().next();
    FunctionAlignment {
        name: name.map_or(String::new(), |version| version.name.clone()),
        how,
        members: versions,
        groups,
        sequential,
        changed,
        comparisons: found.comparisons,
    }
}

/// Whether matched nodes go on to matched nodes; a branch that was turned around counts as changed.
fn has_same_edges(graphs: &[Graph], found: &NodeMatch, index: usize) -> bool {
    let targets = |member: usize| -> Vec<Option<usize>> {
        graphs[member].nodes[found.groups[index][member]]
            .successors
            .iter()
            .map(|&successor| found.group_of[member][successor])
            .collect()
    };
    let first = targets(0);
    first.iter().all(Option::is_some) && (1..graphs.len()).all(|member| targets(member) == first)
}

fn node_view(
    graph: &Graph,
    id: NodeId,
    nest: &Nest,
    layout: &Layout,
    group: Option<usize>,
) -> NodeView {
    let node = &graph.nodes[id];
    let mut lines: Vec<SourcePlace> = node
        .phis
        .iter()
        .chain(&node.instructions)
        .chain(&node.terminator)
        .filter_map(|instruction| instruction.debug_place())
        .map(SourcePlace::from)
        .collect();
    lines.sort();
    lines.dedup();
    let call = node.is_call.then(|| node.instructions[0]);
    let targets = node.successors.iter().zip(edge_labels(node));
    NodeView {
        block: layout.labels.get(&node.block).cloned().unwrap_or_default(),
        part: id - graph.first_of[&node.block],
        kind: if id == 0 { Kind::Entry } else { kind(node) },
        callee: call.and_then(Value::called_function).map(plain_name),
        depth: nest.depth(id),
        header: nest.is_header(id),
        lines,
        successors: targets
            .map(|(&to, label)| Edge {
                to: layout.position[to],
                label,
            })
            .collect(),
        group,
        code: Vec::new(),
    }
}

fn kind(node: &Node) -> Kind {
    let Some(terminator) = node.terminator else {
        return if node.is_call { Kind::Call } else { Kind::Next };
    };
    match terminator.opcode() {
        LLVMOpcode::LLVMBr if node.successors.len() == 2 => Kind::Branch,
        LLVMOpcode::LLVMBr => Kind::Jump,
        LLVMOpcode::LLVMSwitch => Kind::Switch,
        LLVMOpcode::LLVMRet => Kind::Return,
        LLVMOpcode::LLVMUnreachable => Kind::Unreachable,
        _ => Kind::Other,
    }
}

/// What each successor stands for.
fn edge_labels(node: &Node) -> Vec<String> {
    match (kind(node), node.terminator) {
        (Kind::Branch, _) => vec!["true".to_string(), "false".to_string()],
        (Kind::Switch, Some(switch)) => (0..node.successors.len() as u32)
            .map(|edge| match switch.operand(2 * edge) {
                // Operands are the condition and the default, then a value and a target per case.
                Some(value) if edge > 0 => value
                    .as_integer()
                    .map_or("?".to_string(), |v| v.to_string()),
                _ => "default".to_string(),
            })
            .collect(),
        _ => vec![String::new(); node.successors.len()],
    }
}

/// The text of a function, block by block: label, instructions.
type Printed = Vec<(String, Vec<String>)>;

/// The text of every function of a module. Printing functions one by one would number the module's metadata
/// anew for each, and printing instructions one by one the function's values.
fn printed(module: &Module) -> HashMap<Value, Printed> {
    let text = module.print_to_string();
    let text = text.to_string_lossy();
    let mut bodies: Vec<Printed> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if !inside {
            if line.starts_with("define ") && line.ends_with('{') {
                inside = true;
                bodies.push(Vec::new());
            }
            continue;
        }
        let blocks = bodies.last_mut().expect("inside of a body");
        if line == "}" {
            inside = false;
        } else if line.starts_with("  ") {
            if blocks.is_empty() {
                // The first block has no label line unless it is named.
                blocks.push(("entry".to_string(), Vec::new()));
            }
            let instructions = &mut blocks.last_mut().expect("just made").1;
            let is_continued = line.starts_with("   ") || line.starts_with("  ]");
            match instructions.last_mut() {
                Some(last) if is_continued => {
                    last.push(' ');
                    last.push_str(line.trim());
                }
                _ => instructions.push(line.trim().to_string()),
            }
        } else if let Some((label, _)) = line.split_once(':') {
            blocks.push((label.trim_matches('"').to_string(), Vec::new()));
        }
    }
    let functions = llvm::functions(module).into_iter();
    functions
        .filter(|function| !function.is_declaration())
        .zip(bodies)
        .collect()
}

/// How a function is written down.
struct Layout {
    /// The graph's nodes in the order of the code.
    order: Vec<NodeId>,
    /// The place of each node in `order`.
    position: Vec<usize>,
    labels: HashMap<Block, String>,
}

impl Layout {
    fn of(graph: &Graph, printed: &Printed) -> Layout {
        let blocks = graph.function.blocks();
        let block_position: HashMap<Block, usize> =
            blocks.iter().enumerate().map(|(i, &b)| (b, i)).collect();
        let mut order: Vec<NodeId> = (0..graph.nodes.len()).collect();
        order.sort_by_key(|&id| block_position[&graph.nodes[id].block]);
        let mut position = vec![0; order.len()];
        for (place, &id) in order.iter().enumerate() {
            position[id] = place;
        }
        let labels = printed.iter().map(|(label, _)| label.clone());
        Layout {
            order,
            position,
            labels: blocks.into_iter().zip(labels).collect(),
        }
    }
}

/// Fills in the text of the instructions.
fn add_code(version: &mut FunctionVersion, graph: &Graph, printed: &Printed) {
    let layout = Layout::of(graph, printed);
    for (block, (_, lines)) in graph.function.blocks().into_iter().zip(printed) {
        for (instruction, line) in block.instructions().into_iter().zip(lines) {
            if let Some(&node) = graph.node_of.get(&instruction) {
                let node = &mut version.nodes[layout.position[node]];
                node.code.push(without_metadata(line));
            }
        }
    }
}

/// Cuts off `, !dbg !7` and the like, and `#3`, the attributes of a call.
fn without_metadata(line: &str) -> String {
    let mut text = line;
    loop {
        let shorter = text
            .rfind(", !")
            .filter(|&at| {
                let tail = &text[at + 3..];
                let mut words = tail.split(' ');
                let is_name = |w: &str| {
                    w.chars()
                        .all(|c| c.is_alphanumeric() || c == '.' || c == '_')
                };
                words.next().is_some_and(is_name)
                    && words.all(|w| w.starts_with('!') || w.starts_with('#'))
            })
            .map(|at| &text[..at]);
        let shorter = shorter.or_else(|| {
            let at = text.rfind(" #")?;
            let digits = &text[at + 2..];
            (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| &text[..at])
        });
        match shorter {
            Some(shorter) => text = shorter,
            None => return text.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_cut_off() {
        let cut = without_metadata;
        assert_eq!(
            cut("%3 = load i32, ptr %2, align 4, !dbg !12, !tbaa !13"),
            "%3 = load i32, ptr %2, align 4"
        );
        assert_eq!(
            cut("call void @f(ptr %x) #4, !dbg !7"),
            "call void @f(ptr %x)"
        );
        assert_eq!(cut("ret i32 0"), "ret i32 0");
    }
}
