//! Specifications: `header`, `merge --spec`, what is warned of and what is refused. The relations themselves are cases
//! of the testsuite (`spec_*`).

mod common;

use common::{call, texts};
use std::fs;
use std::path::Path;
use std::process::Command;

const PROGRAM: &str = r#"
#include <p3.h>
#include <stdio.h>
static int count(const char *text, int unused) {
  int n = 0;
  for (; *text; text++)
    n += *text == ' ';
#if V == 1
  n++;
#endif
#ifdef WRONG
  n -= n > 3;
#endif
  return n + 0 * unused;
}
int main(int argc, char **argv) {
  int n = count(argv[1], argc);
  pp_assert(PP1(n) > 0);
  puts(n > 1 ? "many" : "few");
  return 0;
}
"#;

const SPEC: &str = r#"
#include <p3.h>
#include <stdbool.h>
struct results { int old, new; };
struct results _PP_count_woven(bool, bool, const char *, int, const char *, int);
struct results _PP_count(bool is_old, bool is_new, const char *old, int i, const char *new, int j) {
  struct results results = _PP_count_woven(is_old, is_new, old, i, new, j);
  if (is_old && is_new) {
    pp_assume(results.old < 6);
    pp_assert(results.new == results.old - 1);
  }
  return results;
}
"#;

const LARGE: &str = "
struct large { long a, b, c; };
__attribute__((noinline)) struct large make(long a) { return (struct large){a, a, a}; }
int main(int argc, char **argv) { return (int)make(argc).b - 1; }
";

fn compile(directory: &Path, version: u8, flags: &[&str]) {
    fs::write(directory.join("program.c"), PROGRAM).unwrap();
    let header = call(directory, &["header", "-o", "p3.h"]);
    assert_eq!(header, (0, String::new(), String::new()));
    let done = Command::new("clang-16")
        .args(["-g", "-I.", "-c", "-emit-llvm", "program.c", "-o"])
        .arg(format!("v{version}.bc"))
        .arg(format!("-DV={version}"))
        .args(flags)
        .current_dir(directory)
        .status()
        .unwrap();
    assert!(done.success());
}

fn run(directory: &Path, argument: &str) -> (i32, String, String) {
    let mut product = Command::new(directory.join("product"));
    texts(
        product
            .arg(argument)
            .current_dir(directory)
            .output()
            .unwrap(),
    )
}

#[test]
fn a_product_function_in_c_calls_the_woven_one() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    compile(at, 1, &[]);
    compile(at, 2, &["-DWRONG"]);
    fs::write(at.join("spec.c"), SPEC).unwrap();
    let merge = [
        "merge", "--spec", "spec.c", "--check", "spec", "v1.bc", "v2.bc",
    ];
    assert_eq!(call(at, &merge), (0, String::new(), String::new()));
    assert_eq!(call(at, &["build", "product.bc"]).0, 0);
    assert_eq!(run(at, "a b c").0, 0);
    let (status, _, message) = run(at, "a b c d e");
    assert_eq!(status, -1);
    let expected = "spec.c:10: results.new == results.old - 1 does not hold\n";
    assert!(message.ends_with(expected), "{message}");
    assert!(message.starts_with("p3: spec: "), "{message}");
    // What it assumes does not hold: nothing counts any more, for whoever reads the report, too.
    let (status, _, message) = run(at, "a b c d e f g");
    assert_eq!(status, 0, "{message}");
    let expected = "spec.c:9: results.old < 6 does not hold: nothing is checked\n";
    assert!(message.ends_with(expected), "{message}");
    let (status, stdout, _) = call(at, &["run", "product.bc", "--", "a b c d e f g"]);
    assert_eq!(status, 0, "{stdout}");
}

#[test]
fn what_is_never_evaluated_is_warned_of() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    compile(at, 1, &[]);
    compile(at, 2, &[]);
    let (status, _, message) = call(at, &["merge", "--no-weave", "v1.bc", "v2.bc"]);
    assert_eq!(status, 0);
    assert!(message.contains("none is with --no-weave"), "{message}");
    let (status, _, message) = call(at, &["merge", "--no-weave=main", "v1.bc", "v2.bc"]);
    assert_eq!(status, 0);
    let expected =
        "program.c:18: PP1(n) > 0 is never evaluated: function main: excluded by --no-weave";
    assert!(message.contains(expected), "{message}");
}

/// In whatever C++ a program is written.
#[test]
fn the_header_compiles_in_templates() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let source = r#"
#include <p3.h>
#include <string.h>
struct fields { int bits : 3; };
template <class T> int twice(T x) { T y = x + x; pp_assert(PP1(y) == PP2(y)); return (int)y; }
template <class T> struct holder {
  T held;
  bool is_one() { pp_assume(PP1(held) != 77); return held == 1; }
};
int main(int argc, char **argv) {
  fields f = {1};
  const char name[] = "ab";
  const int &count = argc;
  volatile bool flag = true;
  pp_assert(PP1(f.bits) == PP2(f.bits) && PP1(count) == PP2(count) && PP1(flag) == PP2(flag));
  pp_assert(strcmp(PP1(name), PP2(name)) == 0 && PP1(argv[0]) != PP2("x"));
  holder<long> h = {1};
  return twice(2) == 4 && h.is_one() ? 0 : 1;
}
"#;
    fs::write(at.join("templates.cc"), source).unwrap();
    assert_eq!(call(at, &["header", "-o", "p3.h"]).0, 0);
    for compiler in ["clang++-16", "g++"] {
        for standard in ["c++98", "c++17"] {
            let done = Command::new(compiler)
                .args([
                    "-I.",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    "templates.cc",
                    "-o",
                    "templates",
                ])
                .arg(format!("-std={standard}"))
                .current_dir(at)
                .output()
                .unwrap();
            let (status, _, message) = texts(done);
            assert_eq!(status, 0, "{compiler} {standard}: {message}");
            assert_eq!(
                texts(Command::new(at.join("templates")).output().unwrap()).0,
                0
            );
        }
    }
}

#[test]
fn functions_that_cannot_be_compared_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    compile(at, 1, &[]);
    compile(at, 2, &[]);
    let merge = |option, name| call(at, &["merge", option, name, "v1.bc", "v2.bc"]);
    let (status, _, message) = merge("--assert-equal-returns", "nothing");
    assert_eq!(status, 2);
    assert!(
        message.contains("no version has such a function"),
        "{message}"
    );
    fs::write(at.join("large.c"), LARGE).unwrap();
    let compiled = Command::new("clang-16")
        .args(["-c", "-emit-llvm", "large.c"])
        .current_dir(at)
        .status();
    assert!(compiled.unwrap().success());
    let refused = [
        "merge",
        "--assert-equal-returns",
        "make",
        "large.bc",
        "large.bc",
    ];
    let (status, _, message) = call(at, &refused);
    assert_eq!(status, 3, "{message}");
    assert!(
        message.contains("make: unsupported: it returns a structure in memory"),
        "{message}"
    );
    let (status, _, message) = merge("--spec", "missing.c");
    assert_eq!(status, 2);
    assert!(message.contains("missing.c: no such file"), "{message}");
    fs::write(at.join("bad.c"), "int _PP_count(void) { return x; }").unwrap();
    let (status, _, message) = merge("--spec", "bad.c");
    assert_eq!(status, 2);
    assert!(message.contains("bad.c:1"), "{message}");
}

/// The model does both versions' work at once, and adds 100, so that it shows.
const MODELLED: &str = r#"
#include <stdio.h>
#include <stdlib.h>
int twice(int x);
#if V == 1
__attribute__((noinline)) int twice(int x) { return 2 * x; }
#else
__attribute__((noinline)) int twice(int x) { return x + x; }
#endif
int main(int argc, char **argv) {
  for (int i = 0; i < 3; i++)
    printf("%d %ld\n", twice(i + argc), labs(-i));
  return 0;
}
"#;

const MODEL: &str = r#"
#include <stdbool.h>
struct ints { int old, new; };
struct ints _PP_twice(bool is_old, bool is_new, int old, int new) {
  int more = is_old && is_new ? 100 : 0;
  return (struct ints){2 * old + more, 2 * new + more};
}
struct longs { long old, new; };
struct longs _PP_labs(bool is_old, bool is_new, long old, long new) {
  return (struct longs){old < 0 ? -old : old, new < 0 ? -new : new};
}
"#;

/// Of a function that the versions define, and of one that they do not.
#[test]
fn models_replace_product_functions() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    for (name, text) in [("program.c", MODELLED), ("model.c", MODEL)] {
        fs::write(at.join(name), text).unwrap();
    }
    for (output, source, flags) in [
        ("v1.bc", "program.c", "-DV=1"),
        ("v2.bc", "program.c", "-DV=2"),
        ("model.bc", "model.c", "-O1"),
    ] {
        let done = Command::new("clang-16")
            .args(["-g", "-fno-builtin", "-w", "-c", "-emit-llvm", source, "-o"])
            .args([output, flags])
            .current_dir(at)
            .status()
            .unwrap();
        assert!(done.success());
    }
    let merge = [
        "merge",
        "--verify-product",
        "--model",
        "model.bc",
        "v1.bc",
        "v2.bc",
    ];
    assert_eq!(call(at, &merge), (0, String::new(), String::new()));
    assert_eq!(call(at, &["build", "product.bc"]).0, 0);
    // The argument makes argc 2.
    let expected = "104 0\n106 1\n108 2\n".to_string();
    assert_eq!(run(at, "x"), (0, expected, String::new()));
}

#[test]
fn run_names_the_specifications_that_do_not_hold() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    compile(at, 1, &[]);
    compile(at, 2, &["-DWRONG"]);
    fs::write(at.join("spec.c"), SPEC).unwrap();
    let run = ["run", "--spec", "spec.c", "--json", "v1.bc", "v2.bc", "--"];
    for (argument, failed) in [("a b c", false), ("a b c d e", true)] {
        let (status, stdout, stderr) = call(at, &[&run[..], &[argument]].concat());
        assert_eq!(status, i32::from(failed), "{stderr}");
        let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(json["difference"], false);
        let expected = match failed {
            false => serde_json::json!([]),
            true => serde_json::json!([{
                "spec": "results.new == results.old - 1",
                "places": ["spec.c:10", "spec.c:10"],
                "count": 1,
            }]),
        };
        assert_eq!(json["failed_specs"], expected);
    }
    let run = [
        "run",
        "--assert-equal-returns",
        "count",
        "v1.bc",
        "v2.bc",
        "--",
        "a b c",
    ];
    let (status, stdout, _) = call(at, &run);
    assert_eq!(status, 1);
    let line =
        "--assert-equal-returns count at program.c:4 / program.c:4\n\ndifferent: specification\n";
    assert!(stdout.ends_with(line), "{stdout}");
}
