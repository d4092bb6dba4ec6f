//! The matcher on small functions given as text, and on random ones.

use super::*;
use crate::llvm::{self, Context, Module};
use inkwell::llvm_sys::LLVMOpcode;
use petgraph::graph::DiGraph;
use std::fmt::Write;

/// Some versions of a function, matched.
pub(super) struct Matched<'ctx> {
    modules: Vec<Module<'ctx>>,
    pub(super) graphs: Vec<Graph>,
    pub(super) found: NodeMatch,
}

fn parse<'ctx>(context: &'ctx Context, text: &str) -> Module<'ctx> {
    let module = llvm::parse(context, text.as_bytes(), "test").expect("valid IR");
    llvm::verify(&module).expect("valid IR");
    module
}

/// Matches the functions called `name` of the given modules; callees match by name.
pub(super) fn match_texts<'ctx>(
    context: &'ctx Context,
    texts: &[&str],
    name: &str,
) -> Matched<'ctx> {
    let modules: Vec<Module> = texts.iter().map(|text| parse(context, text)).collect();
    let functions: Vec<Vec<Value>> = modules.iter().map(defined).collect();
    let groups = match_functions(&functions, &[]);
    let group_of = |function: Value| {
        groups
            .iter()
            .position(|g| g.members.contains(&Some(function)))
            .filter(|&g| groups[g].members.iter().all(Option::is_some))
    };
    let graphs: Vec<Graph> = modules
        .iter()
        .map(|module| Graph::of(llvm::global_named(module, name).expect("the function")))
        .collect();
    let found = match_nodes(&graphs, &group_of);
    check_consistency(&graphs, &found, &group_of);
    Matched {
        modules,
        graphs,
        found,
    }
}

fn defined(module: &Module) -> Vec<Value> {
    let mut all = llvm::functions(module);
    all.retain(|f| !f.is_declaration());
    all
}

/// What weaving relies on.
fn check_consistency(
    graphs: &[Graph],
    found: &NodeMatch,
    called_group: &dyn Fn(Value) -> Option<usize>,
) {
    assert_eq!(found.groups[0], vec![0; graphs.len()], "the entries");
    let mut first = None;
    for (index, group) in found.groups.iter().enumerate() {
        assert_eq!(group.len(), graphs.len());
        assert!(first.replace(group[0]) < Some(group[0]), "ordered");
        for (member, &node) in group.iter().enumerate() {
            assert_eq!(found.group_of[member][node], Some(index));
        }
        let kinds: Vec<String> = group
            .iter()
            .zip(graphs)
            .map(|(&node, graph)| kind(graph, node, called_group))
            .collect();
        assert!(kinds.windows(2).all(|k| k[0] == k[1]), "{kinds:?}");
    }
    for (member, groups) in found.group_of.iter().enumerate() {
        for (node, group) in groups.iter().enumerate() {
            assert!(group.is_none_or(|g| found.groups[g][member] == node));
        }
    }

    // Matched nodes as one, what happens in one pass through the loops has no cycle.
    let mut merged: DiGraph<(), ()> = DiGraph::new();
    let of_group: Vec<_> = found.groups.iter().map(|_| merged.add_node(())).collect();
    for (member, graph) in graphs.iter().enumerate() {
        let own: Vec<_> = found.group_of[member]
            .iter()
            .map(|group| group.map_or_else(|| merged.add_node(()), |g| of_group[g]))
            .collect();
        for (from, node) in graph.nodes.iter().enumerate() {
            for &to in node.successors.iter().filter(|&&to| to > from) {
                merged.add_edge(own[from], own[to], ());
            }
        }
    }
    assert!(!petgraph::algo::is_cyclic_directed(&merged), "cyclic order");
}

/// What the nodes of one group have in common.
fn kind(graph: &Graph, id: NodeId, called_group: &dyn Fn(Value) -> Option<usize>) -> String {
    let node = &graph.nodes[id];
    let own = if node.is_call {
        let call = node.instructions[0];
        match call.called_function() {
            Some(callee) => format!("call of {:?}", called_group(callee)),
            None => format!("call through {}", call.named_type().unwrap().print()),
        }
    } else if let Some(terminator) = node.terminator {
        let condition = match terminator.opcode() {
            LLVMOpcode::LLVMSwitch => terminator.operand(0),
            LLVMOpcode::LLVMBr if node.successors.len() == 2 => terminator.operand(0),
            _ => None,
        };
        let ty = condition.map(|c| c.ty().print());
        format!("{:?} {ty:?}", terminator.opcode())
    } else {
        "straight".to_string()
    };
    let is_header = node.predecessors.iter().any(|&p| p >= id);
    format!("{own} header {is_header}")
}

impl Matched<'_> {
    /// How many nodes of each member have no counterpart.
    pub(super) fn unmatched(&self) -> Vec<usize> {
        self.found
            .group_of
            .iter()
            .map(|groups| groups.iter().filter(|g| g.is_none()).count())
            .collect()
    }

    /// Whether the nodes with these instructions are one group; instructions by a part of their text, which
    /// one instruction of the function must have.
    fn together(&self, parts: &[&str]) -> bool {
        let groups: Vec<Option<usize>> = self
            .graphs
            .iter()
            .zip(parts)
            .enumerate()
            .map(|(member, (graph, part))| {
                let mut holders = graph.nodes.iter().enumerate().filter(|(_, node)| {
                    node.instructions
                        .iter()
                        .chain(&node.terminator)
                        .any(|i| i.print().contains(part))
                });
                let (id, _) = holders.next().unwrap_or_else(|| panic!("no {part}"));
                assert!(holders.next().is_none(), "several {part}");
                self.found.group_of[member][id]
            })
            .collect();
        groups[0].is_some() && groups.windows(2).all(|g| g[0] == g[1])
    }
}

const BRANCHES: &str = "
declare i32 @getchar()
define i32 @f(i32 %a, i32 %b) {
entry:
  %c = icmp sgt i32 %a, 10
  br i1 %c, label %then, label %else
then:
  %x = mul i32 %a, 3
  %x2 = add i32 %x, %b
  br label %join
else:
  %y = sub i32 %b, 7
  %y2 = xor i32 %y, %a
  br label %join
join:
  %r = phi i32 [ %x2, %then ], [ %y2, %else ]
  %d = icmp eq i32 %r, 99
  br i1 %d, label %last, label %end
last:
  %g = call i32 @getchar()
  br label %end
end:
  %s = phi i32 [ %r, %join ], [ %g, %last ]
  ret i32 %s
}";

#[test]
fn a_function_matches_itself() {
    let context = llvm::new_context();
    let matched = match_texts(&context, &[BRANCHES, BRANCHES, BRANCHES], "f");
    assert_eq!(matched.unmatched(), [0, 0, 0]);
    for group in &matched.found.groups {
        assert!(group.iter().all(|&node| node == group[0]));
    }
}

#[test]
fn an_inserted_node_stays_alone() {
    let context = llvm::new_context();
    let inserted = BRANCHES.replace(
        "join:",
        "join:
  %r = phi i32 [ %x2, %then ], [ %y2, %else ]
  %new = icmp ult i32 %r, 5
  br i1 %new, label %inserted, label %rest
inserted:
  %z = lshr i32 %r, 2
  br label %rest
rest:
  %q = phi i32 [ %r, %join ], [ %z, %inserted ]",
    );
    let inserted = inserted
        .replace("%r = phi i32 [ %x2, %then ], [ %y2, %else ]\n  %d", "%d")
        .replace("%d = icmp eq i32 %r, 99", "%d = icmp eq i32 %q, 99")
        .replace("[ %r, %join ], [ %g", "[ %q, %rest ], [ %g");
    for texts in [[BRANCHES, &inserted], [&inserted, BRANCHES]] {
        let matched = match_texts(&context, &texts, "f");
        let mut unmatched = matched.unmatched();
        unmatched.sort();
        assert_eq!(unmatched, [0, 2]);
        assert!(matched.together(&["%x = mul", "%x = mul"]));
        assert!(matched.together(&["%d = icmp", "%d = icmp"]));
        assert!(matched.together(&["@getchar", "@getchar"]));
    }
}

#[test]
fn exchanged_sides_of_a_branch_match_crosswise() {
    let context = llvm::new_context();
    let exchanged = BRANCHES.replace(
        "%c = icmp sgt i32 %a, 10\n  br i1 %c, label %then, label %else",
        "%c = icmp sle i32 %a, 10\n  br i1 %c, label %else, label %then",
    );
    let matched = match_texts(&context, &[BRANCHES, &exchanged], "f");
    assert_eq!(matched.unmatched(), [0, 0]);
    assert!(matched.together(&["%x = mul", "%x = mul"]));
    assert!(matched.together(&["%y = sub", "%y = sub"]));
}

/// A loop over a switch with the given cases.
fn switch_loop(cases: &[u32]) -> String {
    let mut text = String::from(
        "define i32 @f(ptr %p, i32 %n) {
entry:
  br label %head
head:
  %i = phi i32 [ 0, %entry ], [ %i2, %latch ]
  %acc = phi i32 [ 0, %entry ], [ %acc2, %latch ]
  %go = icmp slt i32 %i, %n
  br i1 %go, label %body, label %done
body:
  %q = getelementptr i8, ptr %p, i32 %i
  %v = load i8, ptr %q
  %w = zext i8 %v to i32
  switch i32 %w, label %latch [",
    );
    for case in cases {
        write!(text, " i32 {case}, label %case{case}").unwrap();
    }
    text += " ]\n";
    for case in cases {
        write!(
            text,
            "case{case}:\n  %r{case} = add i32 %acc, {}\n  br label %latch\n",
            case * 7
        )
        .unwrap();
    }
    text += "latch:\n  %acc2 = phi i32 [ %acc, %body ]";
    for case in cases {
        write!(text, ", [ %r{case}, %case{case} ]").unwrap();
    }
    text += "
  %i2 = add i32 %i, 1
  br label %head
done:
  ret i32 %acc
}";
    text
}

#[test]
fn a_switch_with_more_cases_matches_the_old_ones() {
    let context = llvm::new_context();
    let old: Vec<u32> = (1..=500).collect();
    let mut new = old.clone();
    new.insert(499, 1003);
    new.insert(250, 1002);
    new.insert(0, 1001);
    let matched = match_texts(&context, &[&switch_loop(&old), &switch_loop(&new)], "f");
    assert_eq!(matched.unmatched(), [0, 3]);
    assert!(matched.together(&["%r250 =", "%r250 ="]));
    // The same cases in another order.
    new.reverse();
    let matched = match_texts(&context, &[&switch_loop(&old), &switch_loop(&new)], "f");
    assert_eq!(matched.unmatched(), [0, 3]);
    assert!(matched.together(&["%r250 =", "%r250 ="]));
}

/// A chain of `count` branches, each with something to skip; some of them all the same.
fn chain(count: usize, skip: impl Fn(usize) -> bool) -> String {
    let mut text = String::from("declare void @g(i32)\ndefine void @f(ptr %p) {\n  br label %b0\n");
    for i in (0..count).filter(|&i| !skip(i)) {
        let constant = if i % 3 == 0 { 7 } else { i % 100 };
        let next = (i + 1..count).find(|&n| !skip(n)).unwrap_or(count);
        write!(
            text,
            "b{i}:
  %v{i} = load i32, ptr %p
  %c{i} = icmp eq i32 %v{i}, {constant}
  br i1 %c{i}, label %d{i}, label %b{next}
d{i}:
  call void @g(i32 {})
  br label %b{next}
",
            i % 40
        )
        .unwrap();
    }
    write!(text, "b{count}:\n  ret void\n}}\n").unwrap();
    text
}

#[test]
fn long_functions_take_work_in_proportion_to_their_length() {
    let context = llvm::new_context();
    for count in [1000, 4000] {
        // Every hundredth pair of blocks is gone, and a long stretch.
        let gone = |i: usize| i % 100 == 50 || (count / 2..count / 2 + 60).contains(&i);
        let (old, new) = (chain(count, |_| false), chain(count, gone));
        let removed = 2 * (0..count).filter(|&i| gone(i)).count();
        for texts in [[&old[..], &new], [&new, &old]] {
            let matched = match_texts(&context, &texts, "f");
            let mut unmatched = matched.unmatched();
            unmatched.sort();
            assert_eq!(unmatched, [0, removed]);
            let nodes = 2 * count;
            let comparisons = matched.found.comparisons;
            assert!(comparisons < 150 * nodes, "{comparisons} comparisons");
        }
        // Nothing in common but the shape.
        let other = chain(count, |_| false)
            .replace("icmp eq", "icmp ugt")
            .replace("@g", "@h");
        let matched = match_texts(&context, &[&old, &other], "f");
        assert_eq!(matched.unmatched(), [0, 0]);
        assert!(matched.found.comparisons < 150 * 2 * count);
    }
}

/// A function that fails in one of six ways or works on `operand`.
fn failing(operand: &str, fails_first: bool) -> String {
    let sides = ["%check", "%work0"];
    let [first, second] = if fails_first {
        sides
    } else {
        [sides[1], sides[0]]
    };
    let mut text = format!(
        "declare void @fail(i32) noreturn\ndefine i32 @f(i32 %a, i32 %b) {{\nentry:\n  %c = mul i32 {operand}, 3\n  \
         %d = icmp eq i32 %c, {operand}\n  br i1 %d, label {first}, label {second}\n\
         check:\n  switch i32 %b, label %fail0 [ i32 1, label %fail1 i32 2, label %fail2 i32 3, label %fail3\n    \
         i32 4, label %fail4 i32 5, label %fail5 ]\n"
    );
    for way in 0..6 {
        write!(
            text,
            "fail{way}:\n  call void @fail(i32 {way})\n  unreachable\n"
        )
        .expect("text");
    }
    for step in 0..3 {
        write!(
            text,
            "work{step}:\n  %x{step} = mul i32 {operand}, %b\n  %y{step} = icmp slt i32 %x{step}, {operand}\n  \
             br i1 %y{step}, label %work{}, label %end\n",
            step + 1
        )
        .expect("text");
    }
    // Even the return looks different.
    write!(
        text,
        "work3:\n  store i32 {operand}, ptr null\n  br label %end\nend:\n  %r = or i32 {operand}, %b\n  ret i32 %r\n}}"
    )
    .expect("text");
    text
}

#[test]
fn where_the_failing_side_stands_does_not_matter() {
    let context = llvm::new_context();
    let texts = [("%a", false), ("7", true)].map(|(operand, first)| failing(operand, first));
    for order in [[0, 1], [1, 0]] {
        let matched = match_texts(&context, &order.map(|i| texts[i].as_str()), "f");
        assert_eq!(matched.unmatched(), [0, 0]);
    }
}

#[test]
fn headers_match_headers_of_the_same_depth() {
    let context = llvm::new_context();
    let single = "
define i32 @f(i32 %n) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i2, %outer.latch ]
  %a = icmp slt i32 %i, %n
  br i1 %a, label %outer.latch, label %done
outer.latch:
  %i2 = add i32 %i, 1
  br label %outer
done:
  ret i32 %i
}";
    let nested = "
define i32 @f(i32 %n) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i2, %outer.latch ]
  %a = icmp slt i32 %i, %n
  br i1 %a, label %inner, label %done
inner:
  %j = phi i32 [ 0, %outer ], [ %j2, %inner.latch ]
  %b = icmp slt i32 %j, %i
  br i1 %b, label %inner.latch, label %outer.latch
inner.latch:
  %j2 = add i32 %j, 1
  br label %inner
outer.latch:
  %i2 = add i32 %i, 1
  br label %outer
done:
  ret i32 %i
}";
    let matched = match_texts(&context, &[single, nested], "f");
    assert_eq!(matched.unmatched(), [0, 2]);
    assert!(matched.together(&["%a = icmp", "%a = icmp"]));
    assert!(matched.together(&["%i2 = add", "%i2 = add"]));
    assert_eq!(matched.modules.len(), 2);
}

#[test]
fn calls_match_calls_of_the_same_function() {
    let context = llvm::new_context();
    let text = |first: &str, second: &str| {
        format!(
            "define i32 @g(i32 %x) {{
  %r = add i32 %x, 1
  ret i32 %r
}}
define i32 @h(i32 %x) {{
  %r = shl i32 %x, 4
  ret i32 %r
}}
define i32 @f(i32 %a, ptr %p) {{
  %x = call i32 @{first}(i32 %a)
  %y = call i32 @{second}(i32 %x)
  %z = call i32 %p(i32 %y)
  %w = call i64 %p(i32 %z)
  ret i32 %z
}}"
        )
    };
    let matched = match_texts(&context, &[&text("g", "h"), &text("h", "g")], "f");
    // One of two crossing calls stays alone on each side.
    assert_eq!(matched.unmatched(), [1, 1]);
    assert!(matched.together(&["%z =", "%z ="]));
    assert!(matched.together(&["%w =", "%w ="]));
}

#[test]
fn moved_fields_do_not_shift_the_match() {
    let context = llvm::new_context();
    // Every constant of the new version was that of the next call in the old one.
    let text = |first: usize| {
        let mut text = String::from(
            "define void @g(ptr %p) {\n  store i8 0, ptr %p\n  ret void\n}\ndefine void @f(ptr %p) {\n",
        );
        for i in 0..6 {
            write!(
                text,
                "  %q{i} = getelementptr i8, ptr %p, i64 {}\n  call void @g(ptr %q{i})\n",
                8 * (first + i)
            )
            .unwrap();
        }
        text + "  ret void\n}\n"
    };
    let matched = match_texts(&context, &[&text(0), &text(1)], "f");
    assert_eq!(matched.unmatched(), [0, 0]);
    assert!(matched.together(&["i64 16", "i64 24"]));
}

#[test]
fn irreducible_control_flow_matches_itself_and_a_variant() {
    let context = llvm::new_context();
    let text = |constant: u32| {
        format!(
            "define i32 @f(i32 %n, i1 %c) {{
entry:
  %slot = alloca i32
  store i32 %n, ptr %slot
  br i1 %c, label %left, label %right
left:
  %x = load i32, ptr %slot
  %x2 = sub i32 %x, {constant}
  store i32 %x2, ptr %slot
  %cx = icmp sgt i32 %x2, 0
  br i1 %cx, label %right, label %done
right:
  %y = load i32, ptr %slot
  %y2 = sub i32 %y, 2
  store i32 %y2, ptr %slot
  %cy = icmp sgt i32 %y2, 0
  br i1 %cy, label %left, label %done
done:
  %r = load i32, ptr %slot
  ret i32 %r
}}"
        )
    };
    let matched = match_texts(&context, &[&text(1), &text(1)], "f");
    assert_eq!(matched.unmatched(), [0, 0]);
    let matched = match_texts(&context, &[&text(1), &text(5)], "f");
    assert_eq!(matched.unmatched(), [0, 0]);
    assert!(matched.together(&["%y2 = sub", "%y2 = sub"]));
}

/// The groups of the given modules' functions, as the names of the members.
fn function_groups(texts: &[&str], map: &[(&str, &str)]) -> Vec<(String, functions::How)> {
    let context = llvm::new_context();
    let modules: Vec<Module> = texts.iter().map(|text| parse(&context, text)).collect();
    let functions: Vec<Vec<Value>> = modules.iter().map(defined).collect();
    let map: Vec<(String, String)> = map
        .iter()
        .map(|(old, new)| (old.to_string(), new.to_string()))
        .collect();
    match_functions(&functions, &map)
        .into_iter()
        .map(|group| {
            let names: Vec<String> = group
                .members
                .iter()
                .map(|m| m.map_or("-".to_string(), functions::plain_name))
                .collect();
            (names.join(" "), group.how)
        })
        .collect()
}

fn group_names(texts: &[&str]) -> Vec<String> {
    let groups = function_groups(texts, &[]).into_iter();
    groups.map(|(names, _)| names).collect()
}

fn body(name: &str, constant: u32) -> String {
    format!("define i32 @{name}(i32 %x) {{\n  %r = add i32 %x, {constant}\n  ret i32 %r\n}}\n")
}

#[test]
fn functions_match_by_name_map_and_body() {
    use functions::How::*;
    let caller = |name: &str, callee: &str| {
        format!(
            "define i32 @{name}(i32 %x) {{\n  %r = call i32 @{callee}(i32 %x)\n  ret i32 %r\n}}\n"
        )
    };
    let old = body("_PP1_same", 1)
        + &body("_PP1_old_leaf", 2)
        + &caller("_PP1_old_caller", "_PP1_old_leaf")
        + &body("_PP1_mapped_old", 3)
        + &body("_PP1_gone", 4);
    let new = body("_PP2_added", 9)
        + &caller("_PP2_new_caller", "_PP2_new_leaf")
        + &body("_PP2_new_leaf", 2)
        + &body("_PP2_same", 5)
        + &body("_PP2_mapped_new", 33);
    let expected = [
        ("same same", Name),
        ("old_leaf new_leaf", Body),
        ("old_caller new_caller", Body),
        ("mapped_old mapped_new", Map),
        ("gone -", Alone),
        ("- added", Alone),
    ];
    let found = function_groups(&[&old, &new], &[("mapped_old", "mapped_new")]);
    assert_eq!(found, expected.map(|(names, how)| (names.to_string(), how)));
}

#[test]
fn static_functions_of_one_name_match_by_body() {
    let old = body("_PP1_help", 1) + &body("_PP1_help.3", 2) + &body("_PP1_help.5", 3);
    // A file was added in front, so the numbers moved.
    let new = body("_PP2_help", 7)
        + &body("_PP2_help.4", 1)
        + &body("_PP2_help.6", 2)
        + &body("_PP2_help.8", 3);
    assert_eq!(
        group_names(&[&old, &new]),
        ["help help.4", "help.3 help.6", "help.5 help.8", "- help"]
    );
}

#[test]
fn static_functions_of_one_name_match_by_file() {
    let text = |first: (&str, u32), second: (&str, u32)| {
        let unit = "distinct !DICompileUnit(language: DW_LANG_C11, file: ";
        format!(
            "{}{}
!llvm.dbg.cu = !{{!10, !11}}
!llvm.module.flags = !{{!9}}
!9 = !{{i32 2, !\"Debug Info Version\", i32 3}}
!10 = {unit} !20)
!11 = {unit} !21)
!20 = !DIFile(filename: \"{}\", directory: \"/src\")
!21 = !DIFile(filename: \"{}\", directory: \"/src\")
!30 = distinct !DISubprogram(name: \"f\", file: !20, line: 3, unit: !10, spFlags: DISPFlagDefinition)
!31 = distinct !DISubprogram(name: \"f\", file: !21, line: 3, unit: !11, spFlags: DISPFlagDefinition)",
            body("f", first.1).replace(") {", ") !dbg !30 {"),
            body("f.1", second.1).replace(") {", ") !dbg !31 {"),
            first.0,
            second.0
        )
    };
    for ([a, b], [new_a, new_b]) in [
        (["a.c", "b.c"], ["a.c", "b.c"]),
        (["/old/a.c", "/old/b.c"], ["/new/a.c", "/new/./b.c"]),
        (["old/a/f.c", "old/b/f.c"], ["../new/a/f.c", "../new/b/f.c"]),
    ] {
        let old = text((a, 1), (b, 2));
        let new = text((new_b, 3), (new_a, 4));
        assert_eq!(group_names(&[&old, &new]), ["f f.1", "f.1 f"]);
    }
}

/// Thirty steps, one of which is `changed`.
fn long_body(name: &str, seed: u32, changed: u32) -> String {
    let mut text = format!("define i32 @{name}(i32 %x0) {{\n");
    for i in 0..30 {
        let constant = if i == 11 { changed } else { i * i + seed };
        writeln!(text, "  %x{} = mul i32 %x{i}, {constant}", i + 1).unwrap();
    }
    text + "  ret i32 %x30\n}\n"
}

#[test]
fn static_functions_of_one_name_match_by_likeness() {
    let old = long_body("f", 5, 1000) + &long_body("f.1", 7000, 2000);
    let new = long_body("f", 7000, 3000) + &long_body("f.1", 5, 4000);
    assert_eq!(group_names(&[&old, &new]), ["f f.1", "f.1 f"]);
}

#[test]
fn a_renamed_and_changed_function_matches_by_likeness() {
    let [old, new] = [("before", 1000), ("after", 2000)].map(|(n, c)| long_body(n, 5, c));
    let found = function_groups(&[&old, &new], &[]);
    assert_eq!(
        found,
        [("before after".to_string(), functions::How::Likeness)]
    );
}

#[test]
fn three_versions_group_what_each_pair_shares() {
    let found = function_groups(
        &[
            &(body("a", 1) + &body("b", 2)),
            &(body("b", 2) + &body("c", 3)),
            &(body("c", 3) + &body("a", 1) + &body("d", 4)),
        ],
        &[],
    );
    let names: Vec<String> = found.into_iter().map(|(names, _)| names).collect();
    assert_eq!(names, ["a - a", "b b -", "- c c", "- - d"]);
}
