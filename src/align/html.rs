//! The alignment as one page that needs nothing but a browser.

use super::rows::{self, Status};
use super::source::Sources;
use super::text;
use anyhow::Result;
use p3_passes::align::{Alignment, FunctionAlignment, FunctionVersion, How, Kind, SourcePlace};
use serde::Serialize;
use std::collections::btree_map::Entry;
use std::collections::BTreeMap;

const TEMPLATE: &str = include_str!("page/page.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = include_str!("page/page.js");

/// What the page's script draws.
#[derive(Serialize)]
struct Data<'a> {
    versions: Vec<String>,
    files: Vec<String>,
    /// The lines that nodes refer to, by index into `files` and number.
    source: BTreeMap<usize, BTreeMap<u32, String>>,
    functions: Vec<Function<'a>>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: String,
    how: How,
    sequential: Option<&'a str>,
    changed: bool,
    matched: usize,
    /// One entry per version.
    sides: Vec<Option<Side<'a>>>,
    /// Status, then the node of each version or -1.
    rows: Vec<(&'static str, Vec<i64>)>,
}

#[derive(Serialize)]
struct Side<'a> {
    name: &'a str,
    place: Option<(usize, u32)>,
    nodes: Vec<Node<'a>>,
}

#[derive(Serialize)]
struct Node<'a> {
    block: &'a str,
    title: String,
    kind: Kind,
    depth: usize,
    header: bool,
    lines: Vec<(usize, u32)>,
    next: Vec<(usize, &'a str)>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    code: &'a [String],
}

/// Numbers the files and collects the lines in use.
#[derive(Default)]
struct Places {
    numbers: BTreeMap<(String, String), usize>,
    names: Vec<String>,
    source: BTreeMap<usize, BTreeMap<u32, String>>,
    sources: Sources,
}

impl Places {
    fn add(&mut self, place: &SourcePlace) -> (usize, u32) {
        let key = (place.directory.clone(), place.file.clone());
        let file = *self.numbers.entry(key).or_insert_with(|| {
            self.names.push(place.file.clone());
            self.names.len() - 1
        });
        let lines = self.source.entry(file).or_default();
        if let Entry::Vacant(vacant) = lines.entry(place.line) {
            if let Some(line) = self.sources.line(place) {
                vacant.insert(line.to_string());
            }
        }
        (file, place.line)
    }
}

/// Writes the page.
pub fn page(alignment: &Alignment) -> Result<String> {
    let mut places = Places::default();
    let functions = alignment
        .functions
        .iter()
        .map(|function| describe(function, &mut places))
        .collect();
    let data = Data {
        versions: alignment.versions.iter().map(|v| v.join("+")).collect(),
        functions,
        files: places.names,
        source: places.source,
    };
    // Nothing in the data may end the script element that holds it.
    let data = serde_json::to_string(&data)?.replace('<', "\\u003c");
    let title = data_title(alignment);
    // Later parts are put in last, so that nothing in them is taken for a placeholder.
    let page = TEMPLATE
        .replacen("{{title}}", &title, 1)
        .replacen("{{style}}", STYLE, 1)
        .replacen("{{script}}", SCRIPT, 1);
    Ok(page.replacen("{{data}}", &data, 1))
}

fn data_title(alignment: &Alignment) -> String {
    let names: Vec<String> = alignment.versions.iter().map(|v| v.join("+")).collect();
    let title = format!("{} - p3-ir align", names.join(" and "));
    title
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('{', "&#123;")
}

fn describe<'a>(function: &'a FunctionAlignment, places: &mut Places) -> Function<'a> {
    let rows = rows::rows(function)
        .into_iter()
        .map(|row| {
            let status = match row.status {
                Status::Same => "same",
                Status::Edges => "edges",
                Status::Changed => "changed",
                Status::Alone => "alone",
            };
            let nodes = row.nodes.iter().map(|n| n.map_or(-1, |n| n as i64));
            (status, nodes.collect())
        })
        .collect();
    Function {
        name: text::names(function),
        how: function.how,
        sequential: function.sequential.as_deref(),
        changed: function.changed,
        matched: function.groups.len(),
        sides: function
            .members
            .iter()
            .map(|member| member.as_ref().map(|m| side(m, places)))
            .collect(),
        rows,
    }
}

fn side<'a>(member: &'a FunctionVersion, places: &mut Places) -> Side<'a> {
    Side {
        name: &member.name,
        place: member.place.as_ref().map(|place| places.add(place)),
        nodes: member
            .nodes
            .iter()
            .map(|node| Node {
                block: &node.block,
                title: rows::title(node),
                kind: node.kind,
                depth: node.depth,
                header: node.header,
                lines: node.lines.iter().map(|place| places.add(place)).collect(),
                next: node
                    .successors
                    .iter()
                    .map(|edge| (edge.to, edge.label.as_str()))
                    .collect(),
                code: &node.code,
            })
            .collect(),
    }
}
