//! Small changes of a C program, as patches make them: input is a source that csmith wrote, output are edits of its
//! text. What a mutant does is not known beforehand, and it may not even compile: who asks has to look.

use fastrand::Rng;
use std::ops::Range;
use tree_sitter::{Node, Parser, Tree};

/// Text to put in place of a range of bytes of the source.
#[derive(Clone, Debug)]
pub struct Edit {
    range: Range<usize>,
    text: String,
}

/// One change.
#[derive(Clone, Debug)]
pub struct Mutation {
    /// What it does, for messages.
    pub kind: &'static str,
    edits: Vec<Edit>,
}

type Mutator = fn(&mut Rng, &Source) -> Option<Vec<Edit>>;

const MUTATORS: [(&str, Mutator); 15] = [
    ("constant", constant),
    ("operator", operator),
    ("condition", condition),
    ("delete", delete),
    ("move", move_statement),
    ("twice", twice),
    ("bound", bound),
    ("return", early_return),
    ("break", early_break),
    ("exit", exit),
    ("print", print),
    ("split", split),
    ("inline", inline),
    ("if-to-switch", if_to_switch),
    ("cases", cases),
];

/// A parsed program.
pub struct Source<'s> {
    text: &'s str,
    tree: Tree,
}

impl<'s> Source<'s> {
    /// Parses `text`.
    pub fn new(text: &'s str) -> Self {
        let mut parser = Parser::new();
        parser
            .set_language(&tree_sitter_c::LANGUAGE.into())
            .expect("the grammar is made for this version of the parser");
        let tree = parser
            .parse(text, None)
            .expect("no time limit and a language are set");
        Source { text, tree }
    }

    /// A random change; none: the program has no place for the kind that was drawn, or stays the same.
    pub fn mutation(&self, rng: &mut Rng) -> Option<Mutation> {
        let (kind, mutator) = MUTATORS[rng.usize(..MUTATORS.len())];
        let edits = mutator(rng, self)?;
        let mutation = Mutation { kind, edits };
        let mutant = self.apply(&[&mutation])?;
        (mutant != self.text).then_some(mutation)
    }

    /// The program with these changes; none: two of them overlap.
    pub fn apply(&self, mutations: &[&Mutation]) -> Option<String> {
        let mut edits: Vec<&Edit> = mutations.iter().flat_map(|m| &m.edits).collect();
        edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        let mut text = String::new();
        let mut done = 0;
        for edit in edits {
            if edit.range.start < done {
                return None;
            }
            text.push_str(&self.text[done..edit.range.start]);
            text.push_str(&edit.text);
            done = edit.range.end;
        }
        text.push_str(&self.text[done..]);
        Some(text)
    }

    fn of(&self, node: Node) -> &'s str {
        &self.text[node.byte_range()]
    }

    /// The functions that csmith made, without `main` and what it calls to print.
    fn functions(&self) -> Vec<Node<'_>> {
        let root = self.tree.root_node();
        let mut cursor = root.walk();
        root.children(&mut cursor)
            .filter(|node| node.kind() == "function_definition")
            .filter(|node| {
                let declarator = node.child_by_field_name("declarator");
                declarator.is_some_and(|name| self.of(name).contains("func_"))
            })
            .collect()
    }

    /// All nodes of these kinds in those functions.
    fn all(&self, kinds: &[&str]) -> Vec<Node<'_>> {
        let mut found = Vec::new();
        for function in self.functions() {
            collect(function, kinds, &mut found);
        }
        found
    }

    fn one(&self, rng: &mut Rng, kinds: &[&str]) -> Option<Node<'_>> {
        choose(rng, self.all(kinds))
    }

    /// A condition that stands somewhere in the same function, to be asked once more.
    fn condition_near(&self, rng: &mut Rng, node: Node) -> Option<String> {
        let mut found = Vec::new();
        let kinds = ["if_statement", "while_statement", "binary_expression"];
        collect(function_of(node)?, &kinds, &mut found);
        let chosen = choose(rng, found)?;
        let condition = chosen.child_by_field_name("condition").unwrap_or(chosen);
        Some(self.of(condition).to_string())
    }

    /// A statement of a block, before which something can be put.
    fn statement(&self, rng: &mut Rng) -> Option<Node<'_>> {
        let kinds = ["expression_statement", "if_statement", "for_statement"];
        let mut statements = self.all(&kinds);
        statements.retain(|node| is_in_block(*node));
        choose(rng, statements)
    }
}

fn collect<'t>(node: Node<'t>, kinds: &[&str], found: &mut Vec<Node<'t>>) {
    if kinds.contains(&node.kind()) {
        found.push(node);
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        collect(child, kinds, found);
    }
}

fn choose<T>(rng: &mut Rng, mut all: Vec<T>) -> Option<T> {
    match all.is_empty() {
        true => None,
        false => Some(all.swap_remove(rng.usize(..all.len()))),
    }
}

fn function_of(node: Node) -> Option<Node> {
    let mut at = node;
    while at.kind() != "function_definition" {
        at = at.parent()?;
    }
    Some(at)
}

fn is_in_block(node: Node) -> bool {
    node.parent()
        .is_some_and(|parent| parent.kind() == "compound_statement")
}

fn replace(node: Node, text: impl Into<String>) -> Option<Vec<Edit>> {
    Some(vec![Edit {
        range: node.byte_range(),
        text: text.into(),
    }])
}

fn before(node: Node, text: impl Into<String>) -> Option<Vec<Edit>> {
    let start = node.start_byte();
    Some(vec![Edit {
        range: start..start,
        text: text.into(),
    }])
}

fn constant(rng: &mut Rng, source: &Source) -> Option<Vec<Edit>> {
    let number = source.one(rng, &["number_literal"])?;
    let text = source.of(number);
    let other = match rng.u8(..5) {
        0 => "0".to_string(),
        1 => "1".to_string(),
        2 => "(-1)".to_string(),
        3 => format!("({text} ^ {})", 1u32 << rng.u32(..16)),
        _ => format!("({text} + 1)"),
    };
    replace(number, other)
}

fn operator(rng: &mut Rng, source: &Source) -> Option<Vec<Edit>> {
    const GROUPS: [&[&str]; 4] = [
        &["+", "-", "*"],
        &["<", "<=", ">", ">=", "==", "!="],
        &["&", "|", "^"],
        &["&&", "||"],
    ];
    let expression = source.one(rng, &["binary_expression"])?;
    let operator = expression.child_by_field_name("operator")?;
    let text = source.of(operator);
    let group = GROUPS.iter().find(|group| group.contains(&text))?;
    let others = group.iter().filter(|other| **other != text).collect();
    replace(operator, *choose(rng, others)?)
}

fn condition(rng: &mut Rng, source: &Source) -> Option<Vec<Edit>> {
    let statement = source.one(rng, &["if_statement", "while_statement"])?;
    let condition = statement.child_by_field_name("condition")?;
    let extra = source.condition_near(rng, statement)?;
    let text = source.of(condition);
    let other = match rng.u8(..3) {
        0 => format!("(!{text})"),
        1 => format!("({text} && ({extra}))"),
        _ => format!("({text} || ({extra}))"),
    };
    replace(condition, other)
}

fn delete(rng: &mut Rng, source: &Source) -> Option<Vec<Edit>> {
    let statement = source.statement(rng)?;
    replace(statement, ";")
}

/// Two neighbours exchange their places.
fn move_statement(rng: &mut Rng, source: &Source) -> Option<Vec<Edit>> {
    let first = source.statement(rng)?;
    let second = first
        .next_named_sibling()
        .filter(|next| next.kind() != "return_statement" && next.kind() != "comment")?;
    let mut edits = replace(first, source.of(second))?;
    edits.extend(replace(second, source.of(first))?);
    Some(edits)
}

fn twice(rng: &mut Rng, source: &Source) -> Option<Vec<Edit>> {
    let statement = source.statement(rng)?;
    before(statement, format!("{} ", source.of(statement)))
}

fn bound(rng: &mut Rng, source: &Source) -> Option<Vec<Edit>> {
    let repeated = source.one(rng, &["for_statement"])?;
    let mut numbers = Vec::new();
    collect(
        repeated.child_by_field_name("condition")?,
        &["number_literal"],
        &mut numbers,
    );
    let number = choose(rng, numbers)?;
    let other = match rng.bool() {
        true => format!("({} - 1)", source.of(number)),
        false => rng.u32(..9).to_string(),
    };
    replace(number, other)
}

fn early_return(rng: &mut Rng, source: &Source) -> Option<Vec<Edit>> {
    let statement = source.statement(rng)?;
    let mut returns = Vec::new();
    collect(function_of(statement)?, &["return_statement"], &mut returns);
    let condition = source.condition_near(rng, statement)?;
    let value = source.of(choose(rng, returns)?);
    before(statement, format!("if ({condition}) {value} "))
}

fn early_break(rng: &mut Rng, source: &Source) -> Option<Vec<Edit>> {
    let statement = source.statement(rng)?;
    let condition = source.condition_near(rng, statement)?;
    let how = choose(rng, vec!["break", "continue"])?;
    before(statement, format!("if ({condition}) {how}; "))
}

fn exit(rng: &mut Rng, source: &Source) -> Option<Vec<Edit>> {
    const WAYS: [&str; 4] = [
        "exit(3)",
        "abort()",
        "_Exit(4)",
        "exit(printf(\"exit\\n\"))",
    ];
    let statement = source.statement(rng)?;
    let condition = source.condition_near(rng, statement)?;
    let way = WAYS[rng.usize(..WAYS.len())];
    before(statement, format!("if ({condition}) {way}; "))
}

fn print(rng: &mut Rng, source: &Source) -> Option<Vec<Edit>> {
    const WAYS: [&str; 4] = [
        "printf(\"here\\n\")",
        "fputs(\"there\\n\", stderr)",
        "putchar('.')",
        "printf(\"%d %s\\n\", 17, \"x\")",
    ];
    let statement = source.statement(rng)?;
    // A loop may come by a million times.
    let way = WAYS[rng.usize(..WAYS.len())];
    before(
        statement,
        format!("{{ static int p3_n; if (p3_n++ < 20) {way}; }} "),
    )
}

/// A statement on globals moves into a function of its own.
fn split(rng: &mut Rng, source: &Source) -> Option<Vec<Edit>> {
    let mut statements = source.all(&["expression_statement"]);
    statements.retain(|statement| {
        let mut names = Vec::new();
        collect(*statement, &["identifier"], &mut names);
        let is_local = |name: &Node| {
            let text = source.of(*name);
            text.starts_with("l_") || text.starts_with("p_") || text.len() < 3
        };
        is_in_block(*statement) && !names.iter().any(is_local)
    });
    let statement = choose(rng, statements)?;
    let name = format!("p3_part_{}", statement.start_byte());
    let function = function_of(statement)?;
    let text = source.of(statement);
    let mut edits = before(
        function,
        format!("static __attribute__((noinline)) void {name}(void) {{ {text} }}\n"),
    )?;
    edits.extend(replace(statement, format!("{name}();"))?);
    Some(edits)
}

/// The compiler inlines a function at every call.
fn inline(rng: &mut Rng, source: &Source) -> Option<Vec<Edit>> {
    let function = choose(rng, source.functions())?;
    let how = choose(rng, vec!["always_inline", "noinline"])?;
    before(function, format!("__attribute__(({how})) "))
}

fn if_to_switch(rng: &mut Rng, source: &Source) -> Option<Vec<Edit>> {
    let statement = source.one(rng, &["if_statement"])?;
    let condition = source.of(statement.child_by_field_name("condition")?);
    let consequence = source.of(statement.child_by_field_name("consequence")?);
    let otherwise = match statement.child_by_field_name("alternative") {
        Some(alternative) => source.of(alternative.named_child(0)?),
        None => ";",
    };
    let text = format!(
        "switch (!{condition}) {{ case 0: {consequence} break; default: {otherwise} break; }}"
    );
    replace(statement, text)
}

/// A statement is done in every case of a new chain of ifs or switch.
fn cases(rng: &mut Rng, source: &Source) -> Option<Vec<Edit>> {
    let statement = source.statement(rng)?;
    let condition = source.condition_near(rng, statement)?;
    let text = source.of(statement);
    let chain: String = (0..rng.u32(2..6))
        .map(|value| format!("if (p3_v == {value}) {{ {text} }} else "))
        .collect();
    let switch: String = (0..rng.u32(2..6))
        .map(|value| format!("case {value}: {text} break; "))
        .collect();
    let body = match rng.bool() {
        true => format!("{chain} {{ {text} }}"),
        false => format!("switch (p3_v) {{ {switch} default: {text} }}"),
    };
    replace(
        statement,
        format!("{{ unsigned p3_v = (unsigned)({condition}) % 7; {body} }}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "static int g_1;\nstatic int func_1(int p_2) {\n\
        for (g_1 = 0; g_1 < 9; g_1++) { if (p_2 > 3) { g_1 += 2; } g_1 = 5; }\n return g_1; }\n";

    #[test]
    fn every_kind_finds_a_place() {
        let source = Source::new(PROGRAM);
        let mut kinds = std::collections::BTreeSet::new();
        let mut rng = Rng::with_seed(1);
        for _ in 0..2000 {
            if let Some(mutation) = source.mutation(&mut rng) {
                let mutant = source.apply(&[&mutation]).expect("one change");
                assert_ne!(mutant, PROGRAM, "{mutation:?}");
                kinds.insert(mutation.kind);
            }
        }
        assert_eq!(kinds.len(), MUTATORS.len(), "{kinds:?}");
    }

    #[test]
    fn changes_that_overlap_are_refused() {
        let source = Source::new(PROGRAM);
        let edit = |range, text: &str| Mutation {
            kind: "constant",
            edits: vec![Edit {
                range,
                text: text.to_string(),
            }],
        };
        assert!(source
            .apply(&[&edit(1..4, "a"), &edit(3..5, "b")])
            .is_none());
        let both = source.apply(&[&edit(7..10, "long"), &edit(0..6, "")]);
        assert!(both.is_some_and(|text| text.starts_with(" long g_1;")));
    }
}
