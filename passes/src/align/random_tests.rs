//! The matcher on random functions: structured ones with random edits, and arbitrary graphs.

use super::tests::match_texts;
use crate::llvm;
use std::fmt::Write;

/// A small generator of numbers (xorshift), so that every run tests the same.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit
    }
}

#[derive(Clone)]
enum Statement {
    /// x = x * 3 + constant, in a block that goes on.
    Compute(usize),
    Call(usize),
    If(usize, bool, Vec<Statement>, Vec<Statement>),
    Loop(usize, Vec<Statement>),
    Switch(Vec<(usize, Vec<Statement>)>),
    Break,
    Return(usize),
}

use Statement::*;

fn random_body(random: &mut Random, depth: usize, in_loop: bool) -> Vec<Statement> {
    let count = 1 + random.below(4);
    (0..count)
        .map(|_| random_statement(random, depth, in_loop))
        .collect()
}

fn random_statement(random: &mut Random, depth: usize, in_loop: bool) -> Statement {
    let constant = random.below(1000);
    match random.below(if depth == 0 { 5 } else { 12 }) {
        0..=2 => Compute(constant),
        3 => Call(random.below(4)),
        4 if in_loop && random.below(4) == 0 => Break,
        4 if random.below(6) == 0 => Return(constant),
        4 => Call(random.below(4)),
        5..=8 => If(
            constant,
            false,
            random_body(random, depth - 1, in_loop),
            random_body(random, depth - 1, in_loop),
        ),
        9 | 10 => Loop(constant, random_body(random, depth - 1, true)),
        _ => Switch(
            (0..2 + random.below(3))
                .map(|case| (case * 10, random_body(random, depth - 1, in_loop)))
                .collect(),
        ),
    }
}

/// Changes one statement somewhere.
fn edit(random: &mut Random, body: &mut Vec<Statement>, in_loop: bool) {
    let at = random.below(body.len());
    if random.below(3) > 0 {
        match &mut body[at] {
            If(_, _, a, b) => {
                let side = if random.below(2) == 0 { a } else { b };
                return edit(random, side, in_loop);
            }
            Loop(_, inner) => return edit(random, inner, true),
            Switch(cases) => {
                let case = random.below(cases.len());
                return edit(random, &mut cases[case].1, in_loop);
            }
            _ => {}
        }
    }
    match random.below(4) {
        0 => body.insert(at, random_statement(random, 1, in_loop)),
        1 if body.len() > 1 => {
            body.remove(at);
        }
        _ => match &mut body[at] {
            Compute(c) | Loop(c, _) | Return(c) => *c += 1,
            If(_, negated, a, b) => {
                *negated = !*negated;
                std::mem::swap(a, b);
            }
            Switch(cases) => cases.push((7777, vec![Compute(1), Call(1)])),
            other => *other = Compute(5),
        },
    }
}

struct Printer {
    text: String,
    labels: usize,
}

impl Printer {
    fn print(body: &[Statement]) -> String {
        let mut text = String::new();
        for callee in 0..4 {
            writeln!(
                text,
                "define void @c{callee}(ptr %p) {{\n  store i32 {callee}, ptr %p\n  ret void\n}}"
            )
            .unwrap();
        }
        text += "define i32 @f(i32 %a) {\n  %x = alloca i32\n  store i32 %a, ptr %x\n";
        let mut printer = Printer { text, labels: 0 };
        printer.body(body, None);
        printer.text += "  ret i32 0\n}\n";
        printer.text
    }

    fn label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    fn line(&mut self, line: String) {
        self.text += &line;
        self.text.push('\n');
    }

    /// A condition on x in `%c{n}`.
    fn condition(&mut self, predicate: &str, constant: usize) -> usize {
        let n = self.label();
        self.line(format!("  %v{n} = load i32, ptr %x"));
        self.line(format!("  %c{n} = icmp {predicate} i32 %v{n}, {constant}"));
        n
    }

    fn body(&mut self, body: &[Statement], after_loop: Option<usize>) {
        for statement in body {
            match statement {
                Compute(constant) => {
                    let n = self.label();
                    self.line(format!("  %v{n} = load i32, ptr %x"));
                    self.line(format!("  %m{n} = mul i32 %v{n}, 3"));
                    self.line(format!("  %s{n} = add i32 %m{n}, {constant}"));
                    self.line(format!("  store i32 %s{n}, ptr %x"));
                }
                Call(callee) => self.line(format!("  call void @c{callee}(ptr %x)")),
                If(constant, negated, a, b) => {
                    let predicate = if *negated { "uge" } else { "ult" };
                    let n = self.condition(predicate, *constant);
                    self.line(format!("  br i1 %c{n}, label %then{n}, label %else{n}"));
                    self.line(format!("then{n}:"));
                    self.body(a, after_loop);
                    self.line(format!("  br label %join{n}\nelse{n}:"));
                    self.body(b, after_loop);
                    self.line(format!("  br label %join{n}\njoin{n}:"));
                }
                Loop(bound, inner) => {
                    let exit = self.label();
                    self.line(format!("  br label %head{exit}\nhead{exit}:"));
                    let n = self.condition("ne", *bound);
                    self.line(format!(
                        "  br i1 %c{n}, label %body{exit}, label %exit{exit}"
                    ));
                    self.line(format!("body{exit}:"));
                    self.body(inner, Some(exit));
                    self.line(format!("  br label %head{exit}\nexit{exit}:"));
                }
                Switch(cases) => {
                    let n = self.label();
                    self.line(format!("  %v{n} = load i32, ptr %x"));
                    let targets: String = cases
                        .iter()
                        .map(|(value, _)| format!(" i32 {value}, label %case{n}.{value}"))
                        .collect();
                    self.line(format!("  switch i32 %v{n}, label %join{n} [{targets} ]"));
                    for (value, inner) in cases {
                        self.line(format!("case{n}.{value}:"));
                        self.body(inner, after_loop);
                        self.line(format!("  br label %join{n}"));
                    }
                    self.line(format!("join{n}:"));
                }
                Break => {
                    let exit = after_loop.expect("only in loops");
                    let n = self.label();
                    self.line(format!("  br label %exit{exit}\ndead{n}:"));
                }
                Return(constant) => {
                    let n = self.label();
                    self.line(format!("  ret i32 {constant}\ndead{n}:"));
                }
            }
        }
    }
}

#[test]
fn random_functions_match_themselves() {
    let mut random = Random(0x1234_5678_9abc_def1);
    for _ in 0..100 {
        let body = random_body(&mut random, 3, false);
        let text = Printer::print(&body);
        let context = llvm::new_context();
        let matched = match_texts(&context, &[&text, &text, &text], "f");
        assert_eq!(matched.unmatched(), [0, 0, 0]);
    }
}

#[test]
fn random_edits_leave_the_rest_matched() {
    let mut random = Random(0xfeed_beef_1234_5678);
    let (mut nodes, mut unmatched, mut wrong) = (0, 0, 0);
    for _ in 0..300 {
        let old = random_body(&mut random, 3, false);
        let mut new = old.clone();
        edit(&mut random, &mut new, false);
        let mut newer = new.clone();
        edit(&mut random, &mut newer, false);
        let texts = [old, new, newer].map(|body| Printer::print(&body));
        let context = llvm::new_context();
        let pair = match_texts(&context, &[&texts[0], &texts[1]], "f");
        let sizes: Vec<usize> = pair.graphs.iter().map(|g| g.nodes.len()).collect();
        let smaller = *sizes.iter().min().unwrap();
        nodes += smaller;
        unmatched += smaller - pair.found.groups.len();
        wrong += usize::from(smaller - pair.found.groups.len() > 4 + smaller / 4);
        // Consistency is checked inside.
        match_texts(&context, &[&texts[0], &texts[1], &texts[2]], "f");
    }
    // An edit may take a loop or a branch with all that is in it away, so some nodes go legitimately.
    assert!(
        unmatched * 100 < nodes * 2,
        "{unmatched} of {nodes} nodes unmatched"
    );
    assert!(wrong <= 3, "{wrong} of 300 functions lost much");
}

/// A function of `count` blocks with random edges.
fn random_graph(random: &mut Random, count: usize) -> String {
    let mut text = String::from(
        "define i32 @f(i32 %a) {\n  %x = alloca i32\n  store i32 %a, ptr %x\n  br label %b0\n",
    );
    for block in 0..count {
        let mut target = || {
            // Mostly near, so that loops of all sizes appear.
            let reach = 1 + random.below(8);
            let low = block.saturating_sub(reach);
            low + random.below((block + reach).min(count - 1) - low + 1)
        };
        let (a, b, c) = (target(), target(), target());
        let constant = random.below(5);
        writeln!(text, "b{block}:").unwrap();
        writeln!(text, "  %v{block} = load i32, ptr %x").unwrap();
        writeln!(text, "  %s{block} = add i32 %v{block}, {constant}").unwrap();
        writeln!(text, "  store i32 %s{block}, ptr %x").unwrap();
        match random.below(10) {
            0 => writeln!(text, "  ret i32 %v{block}").unwrap(),
            1..=3 => writeln!(text, "  br label %b{a}").unwrap(),
            4 => writeln!(
                text,
                "  switch i32 %v{block}, label %b{a} [ i32 1, label %b{b} i32 2, label %b{c} i32 3, label %b{c} ]"
            )
            .unwrap(),
            _ => writeln!(
                text,
                "  %c{block} = icmp eq i32 %v{block}, {constant}\n  br i1 %c{block}, label %b{a}, label %b{b}"
            )
            .unwrap(),
        }
    }
    text + "}\n"
}

#[test]
fn arbitrary_graphs_keep_their_order() {
    let mut random = Random(0x0dd0_15ee_d5ee_d5ee);
    for _ in 0..150 {
        let count = 2 + random.below(60);
        let texts = [0; 3].map(|_| random_graph(&mut random, count));
        let context = llvm::new_context();
        let texts = [&texts[0][..], &texts[1], &texts[2]];
        // Consistency is checked inside.
        match_texts(&context, &texts, "f");
        match_texts(&context, &texts[..2], "f");
        let same = match_texts(&context, &[texts[0], texts[0]], "f");
        assert_eq!(same.unmatched(), [0, 0]);
    }
}
