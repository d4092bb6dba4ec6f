//! `p3-ir align` on C programs: what is matched, how it is shown, messages and exit statuses.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn align(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_p3-ir"))
        .arg("align")
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Compiles `NAME.c` with this text to `NAME.bc`.
fn compile(directory: &Path, name: &str, source: &str, flags: &[&str]) {
    let file = format!("{name}.c");
    fs::write(directory.join(&file), source).unwrap();
    let output = Command::new("clang-16")
        .args(["-g", "-w", "-c", "-emit-llvm", &file, "-o"])
        .arg(format!("{name}.bc"))
        .args(flags)
        .current_dir(directory)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Two versions of `f`, compiled and matched. Lines that hold `@tag` can be looked up by the tag.
struct Pair {
    sources: [String; 2],
    function: Value,
}

impl Pair {
    fn new(old: &str, new: &str) -> Pair {
        Pair::compiled(old, "-O0", new, "-O0")
    }

    fn compiled(old: &str, old_flag: &str, new: &str, new_flag: &str) -> Pair {
        let scratch = tempfile::tempdir().unwrap();
        compile(scratch.path(), "old", old, &[old_flag]);
        compile(scratch.path(), "new", new, &[new_flag]);
        let arguments = ["old.bc", "new.bc", "--function", "f", "--format", "json"];
        let output = align(scratch.path(), &arguments);
        let all: Value = serde_json::from_str(&text(&output)).unwrap();
        Pair {
            sources: [old.to_string(), new.to_string()],
            function: all["functions"][0].clone(),
        }
    }

    /// Whether a node with the tagged line of the old version is matched with one of the new version.
    fn together(&self, tag: &str) -> bool {
        let line = |side: usize| {
            let mark = format!("@{tag}");
            let found = self.sources[side].lines().position(|l| l.contains(&mark));
            1 + found.unwrap_or_else(|| panic!("no {mark}")) as u64
        };
        let has = |side: usize, node: &Value| {
            let node = &self.function["members"][side]["nodes"][node.as_u64().unwrap() as usize];
            let mut lines = node["lines"].as_array().unwrap().iter();
            lines.any(|place| place["line"].as_u64() == Some(line(side)))
        };
        self.function["groups"].as_array().unwrap().iter().any(|g| {
            let nodes = &g["nodes"];
            has(0, &nodes[0]) && has(1, &nodes[1])
        })
    }

    #[track_caller]
    fn assert_together(&self, tags: &[&str]) {
        for tag in tags {
            assert!(self.together(tag), "{tag} in {:#}", self.function["groups"]);
        }
    }

    /// How many nodes of each version have no counterpart.
    fn unmatched(&self) -> [usize; 2] {
        [0, 1].map(|side| {
            let nodes = self.function["members"][side]["nodes"].as_array().unwrap();
            nodes.iter().filter(|n| n["group"].is_null()).count()
        })
    }
}

const LOOP: &str = "
int seen; void g(int x) { seen += x; } void h(int x) { seen ^= x; }
int f(const char *s, int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {   // @head
    if (s[i] == 'x')              // @test
      g(i);                       // @then
    else
      h(i);                       // @else
    sum += s[i];                  // @sum
  }
  return sum;                     // @end
}";

const ALL: [&str; 6] = ["head", "test", "then", "else", "sum", "end"];

#[test]
fn small_changes_leave_the_rest_matched() {
    let same = Pair::new(LOOP, LOOP);
    assert_eq!(same.unmatched(), [0, 0]);
    assert_eq!(same.function["changed"], false);

    let bound = Pair::new(LOOP, &LOOP.replace("i < n", "i < n - 1"));
    bound.assert_together(&ALL);
    assert_eq!(bound.unmatched(), [0, 0]);
    assert_eq!(bound.function["changed"], true);

    let inserted = LOOP.replace("    sum +=", "    if (sum > 100) g(sum);\n    sum +=");
    let inserted = Pair::new(LOOP, &inserted);
    inserted.assert_together(&ALL);
    assert_eq!(inserted.unmatched()[0], 0);

    let exchanged = LOOP
        .replace("== 'x'", "!= 'x'")
        .replace("g(i);                       // @then", "h(i);  // @else")
        .replace(
            "    else\n      h(i);                       // @else",
            "    else\n      g(i);  // @then",
        );
    let exchanged = Pair::new(LOOP, &exchanged);
    exchanged.assert_together(&ALL);
    assert_eq!(exchanged.unmatched(), [0, 0]);
}

#[test]
fn early_exits_may_move() {
    let leaves = |before: &str, after: &str| {
        LOOP.replace("    if (s[i]", &format!("    {before}\n    if (s[i]"))
            .replace("// @sum", &format!("// @sum\n    {after}"))
    };
    for exit in ["break;", "return -1;", "continue;", "goto out;"] {
        // On another value than the next condition, or the two become one switch.
        let exit = format!("if (seen == 7) {exit}");
        let labelled = |text: String| text.replace("  return sum;", "out: ;\n  return sum;");
        let pair = Pair::new(&labelled(leaves(&exit, "")), &labelled(leaves("", &exit)));
        // What stands beside the exit may have become part of another node.
        pair.assert_together(&["head", "test", "then", "else"]);
    }
}

#[test]
fn a_goto_out_of_two_loops_may_move() {
    let text = |inner: &str, outer: &str| {
        format!(
            "int seen; void g(int x) {{ seen += x; }} void h(int x) {{ seen ^= x; }}
int f(int n) {{
  for (int i = 0; i < n; i++) {{      // @outer
    g(i);                            // @g
    {outer}
    for (int j = 0; j < i; j++) {{    // @inner
      h(j);                          // @h
      {inner}
    }}
  }}
out:
  return n;                          // @end
}}"
        )
    };
    let jump = "if (n > 7) goto out;";
    let pair = Pair::new(&text(jump, ""), &text("", jump));
    pair.assert_together(&["outer", "g", "inner", "h", "end"]);
}

#[test]
fn an_if_chain_matches_a_switch() {
    let chain = "
void a(void); void b(void); void c(void); void d(void); void before(void); void after(void);
int f(int x) {
  before();                 // @before
  if (x == 1) a();          // @a
  else if (x == 5) b();     // @b
  else if (x == 9) c();     // @c
  else d();                 // @d
  after();                  // @after
  return x;                 // @end
}";
    let switch = "
void a(void); void b(void); void c(void); void d(void); void before(void); void after(void);
int f(int x) {
  before();                 // @before
  switch (x) {
  case 1: a(); break;       // @a
  case 5: b(); break;       // @b
  case 9: c(); break;       // @c
  default: d();             // @d
  }
  after();                  // @after
  return x;                 // @end
}";
    for (old, new) in [(chain, switch), (switch, chain)] {
        let pair = Pair::new(old, new);
        pair.assert_together(&["before", "a", "b", "c", "d", "after", "end"]);
    }
}

#[test]
fn a_loop_split_in_two_matches_one_of_them() {
    let one = "
int seen; void g(int x) { seen += x; } void h(int x) { seen ^= x; } void k(int x) { seen -= x; }
int f(int n) {
  for (int i = 0; i < n; i++) { // @head
    g(i);                       // @g
    h(i);                       // @h
  }
  k(n);                         // @k
  return n;                     // @end
}";
    let two = "
int seen; void g(int x) { seen += x; } void h(int x) { seen ^= x; } void k(int x) { seen -= x; }
int f(int n) {
  for (int i = 0; i < n; i++)   // @head
    g(i);                       // @g
  for (int i = 0; i < n; i++)
    h(i);                       // @h
  k(n);                         // @k
  return n;                     // @end
}";
    for (old, new) in [(one, two), (two, one)] {
        let pair = Pair::new(old, new);
        pair.assert_together(&["k", "end"]);
        assert!(pair.together("g") != pair.together("h"));
    }
}

#[test]
fn duffs_device_matches() {
    let text = |extra: &str| {
        format!(
            "void f(char *to, const char *from, int count) {{
  int n = (count + 7) / 8;                // @start
  switch (count % 8) {{                    // @switch
  case 0: do {{ *to++ = *from++; {extra}    // @zero
  case 3:      *to++ = *from++;           // @three
  case 2:      *to++ = *from++;           // @two
  case 1:      *to++ = *from++;           // @one
          }} while (--n > 0);              // @while
  }}
}}"
        )
    };
    let same = Pair::new(&text(""), &text(""));
    assert_eq!(same.unmatched(), [0, 0]);
    let changed = Pair::new(&text(""), &text("to[0] ^= 1;"));
    changed.assert_together(&["start", "switch", "zero", "three", "two", "one", "while"]);
    assert_eq!(changed.unmatched(), [0, 0]);
}

#[test]
fn optimisation_levels_match_in_part() {
    let kept = LOOP.replace("void g", "__attribute__((noinline)) void g");
    let kept = kept.replace("void h", "__attribute__((noinline)) void h");
    let pair = Pair::compiled(&kept, "-O0", &kept, "-O2");
    // The loop is rotated: its test stands at its end.
    pair.assert_together(&["then", "else", "end"]);
}

#[test]
fn the_table_names_functions_and_reasons() {
    let scratch = tempfile::tempdir().unwrap();
    let old = "
#include <stdarg.h>
#include <setjmp.h>
static jmp_buf where;
int before(int x) { return x * 7 + 3; }
int renamed_old(int x) { return before(x) - 1; }
int mapped_old(void) { return 1; }
int list(int n, ...) { va_list l; va_start(l, n); n += va_arg(l, int); va_end(l); return n; }
int jumps(void) { return setjmp(where); }
int gone(void) { return 99; }
int main(void) { return list(before(1), 2) + renamed_old(3); }";
    let new = old
        .replace("before", "after")
        .replace("renamed_old", "renamed_new")
        .replace(
            "mapped_old(void) { return 1",
            "mapped_new(void) { return 2000",
        )
        .replace("int gone(void) { return 99; }", "");
    compile(scratch.path(), "old", old, &[]);
    compile(scratch.path(), "new", &new, &[]);
    let output = align(
        scratch.path(),
        &["old.bc", "new.bc", "--map", "mapped_old=mapped_new"],
    );
    let table = text(&output);
    let line = |name: &str| {
        let found = table.lines().find(|l| l.starts_with(name));
        found.unwrap_or_else(|| panic!("no {name} in\n{table}"))
    };
    assert!(line("before = after").contains("matched by equal bodies"));
    assert!(line("renamed_old = renamed_new").contains("matched by equal bodies"));
    assert!(line("mapped_old = mapped_new").contains("matched by --map; changed"));
    assert!(line("list").contains("not woven: variadic definition"));
    assert!(line("jumps").contains("not woven: calls _setjmp, which returns twice"));
    assert!(line("gone").contains("not woven: exists in one version only"));
    assert!(!line("main").contains("changed"));
    assert!(line("7 functions: 4 woven, 2 changed; ").contains("nodes matched"));
}

#[test]
fn static_functions_of_one_name_match_by_file() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let file = |user: &str, constant: u32| {
        format!(
            "static int help(int x) {{ return x * {constant}; }}
int {user}(int x) {{ return help(x) + help(x + 1); }}"
        )
    };
    compile(directory, "a", &file("a", 1), &[]);
    compile(directory, "b", &file("b", 2), &[]);
    fs::create_dir(directory.join("new")).unwrap();
    let new = directory.join("new");
    // A file in front takes the plain name; all bodies are changed.
    compile(&new, "z", &file("z", 3), &[]);
    compile(&new, "a", &file("a", 4), &[]);
    compile(&new, "b", &file("b", 5), &[]);
    let table = text(&align(
        directory,
        &["a.bc+b.bc", "new/z.bc+new/a.bc+new/b.bc"],
    ));
    assert!(
        table.lines().any(|l| l.starts_with("help = help.a.c ")),
        "{table}"
    );
    assert!(table.lines().any(|l| l.starts_with("help.b.c ")), "{table}");
    let alone = "not woven: exists in one version only";
    let added = |l: &str| l.starts_with("help ") && l.ends_with(alone);
    assert!(table.lines().any(added), "{table}");
}

#[test]
fn every_format_shows_the_same_function() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    compile(directory, "old", LOOP, &[]);
    // Whatever a source holds, the page stays a page.
    let new = LOOP.replace("sum += s[i];", "sum -= s[i]; // </script><b>&amp;");
    compile(directory, "new", &new, &[]);

    let rows = text(&align(directory, &["old.bc", "new.bc", "--function", "f"]));
    assert!(
        rows.contains("sum += s[i];") && rows.contains("sum -= s[i];"),
        "{rows}"
    );
    assert!(rows.lines().any(|l| l.starts_with('~')) && rows.lines().any(|l| l.starts_with('=')));

    let arguments = ["old.bc", "new.bc", "--function", "f", "--format", "dot"];
    let dot = text(&align(directory, &arguments));
    assert!(dot.starts_with("digraph") && dot.contains("call g") && dot.contains("style=dashed"));

    let arguments = ["old.bc", "new.bc", "--format", "html", "-o", "page.html"];
    assert!(text(&align(directory, &arguments)).is_empty());
    let page = fs::read_to_string(directory.join("page.html")).unwrap();
    assert!(!page.contains("<b>&amp;"));
    assert_eq!(page.matches("</script>").count(), 2);
    for outside in ["src=", "@import", "url(", "href=\"http"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let start = page.find(r#"id="data">"#).unwrap() + 10;
    let end = start + page[start..].find("</script>").unwrap();
    let data: Value = serde_json::from_str(&page[start..end]).unwrap();
    let f = data["functions"].as_array().unwrap().last().unwrap();
    assert_eq!(f["name"], "f");
    assert!(f["sides"][0]["nodes"][1]["code"].is_array());
    let source = data["source"]["1"].as_object().unwrap();
    assert!(source
        .values()
        .any(|l| l.as_str().unwrap().contains("</script><b>&amp;")));

    // The same twice, byte for byte.
    let json = |_| text(&align(directory, &["old.bc", "new.bc", "--format", "json"]));
    assert_eq!(json(0), json(1));
}

#[test]
fn three_versions_share_rows() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    compile(directory, "a", LOOP, &[]);
    compile(
        directory,
        "b",
        &LOOP.replace("sum += s[i]", "sum += 2 * s[i]"),
        &[],
    );
    compile(
        directory,
        "c",
        &LOOP.replace("    sum +=", "    g(1);\n    sum +="),
        &[],
    );
    let rows = text(&align(
        directory,
        &["a.bc", "b.bc", "c.bc", "--function", "f"],
    ));
    let ends: Vec<&str> = rows
        .lines()
        .filter(|l| l.matches("return sum;").count() == 3)
        .collect();
    assert_eq!(ends.len(), 1, "{rows}");
    let table = text(&align(directory, &["a.bc", "b.bc", "c.bc"]));
    assert!(table.contains("changed"), "{table}");
}

#[test]
fn what_cannot_be_shown_is_said() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    compile(directory, "a", LOOP, &[]);
    let fails = |arguments: &[&str], words: &str| {
        let output = align(directory, arguments);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        assert!(message.contains(words), "{message}");
        assert!(output.stdout.is_empty());
    };
    fails(&["a.bc", "missing.bc"], "missing.bc");
    fails(
        &["a.bc", "a.bc", "--function", "nothing"],
        "no function 'nothing' is defined",
    );
    fails(&["a.bc", "a.bc", "--format", "dot"], "--function");
    fails(
        &["a.bc", "a.bc", "a.bc", "--format", "html"],
        "two versions",
    );
    fails(&["a.bc", "a.bc", "--map", "x"], "OLD=NEW");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let directory = tempfile::tempdir().unwrap();
    // Far more than a pipe holds.
    let functions: String = (0..3000)
        .map(|number| format!("define void @f{number}() {{\n  ret void\n}}\n"))
        .collect();
    fs::write(directory.path().join("many.ll"), functions).unwrap();
    let mut aligning = Command::new(env!("CARGO_BIN_EXE_p3-ir"))
        .args(["align", "many.ll", "many.ll", "--format", "json"])
        .current_dir(directory.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(aligning.stdout.take());
    let output = aligning.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn names_that_would_break_lines_are_changed() {
    let directory = tempfile::tempdir().unwrap();
    let function = "define void @f() gc \"a\\00b\\0Ac\" {\n  ret void\n}\n";
    fs::write(directory.path().join("odd.ll"), function).unwrap();
    let table = text(&align(directory.path(), &["odd.ll", "odd.ll"]));
    assert!(table.contains("2 of 2 nodes matched"), "{table}");
}
