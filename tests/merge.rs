//! `p3-ir merge`: what it prints and writes besides the product.

mod common;
#[path = "common/program.rs"]
mod program;

use common::{call, p3_ir};
use program::{compile, merge};
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

#[test]
fn every_level_of_preparation_makes_a_product() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    compile(directory, 2);
    for level in ["none", "fold", "O1"] {
        let run = ["run", "--prepare", level, "v1.bc", "v1.bc", "--", "output"];
        let (status, stdout, stderr) = call(directory, &run);
        assert_eq!((status, stderr.as_str()), (0, ""), "{level}");
        assert!(
            stdout.contains("stdout: equal\ncommon line\nversion 1\n"),
            "{level}: {stdout}"
        );
    }
}

#[test]
fn verbose_tells_what_was_done() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    merge(directory);
    let says = |flags: &[&str]| {
        let merge = [&["merge", "-v", "v1.bc", "v2.bc"], flags].concat();
        let (status, stdout, stderr) = call(directory, &merge);
        assert_eq!((status, stdout.as_str()), (0, ""));
        stderr
    };
    let woven = says(&[]);
    let first = woven.lines().next().unwrap();
    assert!(
        first.starts_with("p3-ir: v1.bc: 1 function, ")
            && first.ends_with(" names of libc isolated"),
        "{woven}"
    );
    assert!(
        woven.contains(" instructions, 1 function in lock-step, 0 one version after the other\n"),
        "{woven}"
    );
    let numbers = |line: &str| -> Vec<u64> {
        line.split(' ')
            .filter_map(|word| word.parse().ok())
            .collect()
    };
    let last: Vec<&str> = woven.lines().rev().take(2).collect();
    let (parts, all) = (numbers(last[0]), numbers(last[1])[0]);
    assert_eq!((parts.len(), parts.iter().sum()), (5, all), "{woven}");
    let part = says(&["--no-weave=main"]);
    assert!(
        part.contains(", 0 functions in lock-step, 1 one version after the other\n"),
        "{part}"
    );
    let none = says(&["--no-weave"]);
    assert!(
        none.ends_with(" instructions, one version after the other\n"),
        "{none}"
    );
}

#[test]
fn modules_are_shown_after_passes() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    compile(directory, 2);
    let merge = [
        "merge",
        "v1.bc",
        "v2.bc",
        "--dump-dir",
        "dump",
        "--print-after",
        "rename",
    ];
    let (status, stdout, stderr) = call(directory, &merge);
    assert_eq!((status, stderr.as_str()), (0, ""));
    assert!(stdout.starts_with("; after rename.1\n") && stdout.contains("\n; after rename.2\n"));
    let printed = stdout.split("; after rename.2\n").nth(1).unwrap();
    let dumped = fs::read_to_string(directory.join("dump/5-rename.2.ll")).unwrap();
    assert_eq!(printed.trim_end(), dumped.trim_end());
    assert!(directory.join("dump/7-finish.ll").exists());
}

#[test]
fn standard_output_that_takes_no_more() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    compile(directory, 2);
    let merge = |stdout: Stdio| {
        let mut command = p3_ir(directory);
        command.args(["merge", "v1.bc", "v2.bc", "--print-after", "finish"]);
        command
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    // A reader that has seen enough.
    let mut child = merge(Stdio::piped());
    let mut line = [0; 8];
    child.stdout.take().unwrap().read_exact(&mut line).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(
        (done.status.code(), done.stderr.as_slice()),
        (Some(0), &b""[..])
    );

    fs::remove_file(directory.join("product.bc")).unwrap();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let done = merge(full.into()).wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&done.stderr),
        "p3-ir: standard output: No space left on device\n"
    );
    assert!(!directory.join("product.bc").exists());
}

#[test]
fn options_that_mean_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    compile(directory, 2);
    let refused: [(&[&str], &str); 2] = [
        (
            &["--report", "both", "-o", "both"],
            "p3-ir: both: given as --output and as --report\n",
        ),
        (&["--check", "none,output"], "none stands by itself"),
    ];
    for (flags, message) in refused {
        let merge = [&["merge", "v1.bc", "v2.bc"], flags].concat();
        let (status, stdout, stderr) = call(directory, &merge);
        assert_eq!((status, stdout.as_str()), (2, ""), "{flags:?}: {stderr}");
        assert!(stderr.contains(message), "{flags:?}: {stderr}");
        assert!(!directory.join("product.bc").exists() && !directory.join("both").exists());
    }
    // The compiler may have inlined the function, so that it is no error.
    let unknown = [
        ("--map=nosuch=main", "nosuch"),
        ("--map=main=none", "none"),
        ("--no-weave=main,gone", "gone"),
    ];
    for (flag, name) in unknown {
        let (status, stdout, stderr) = call(directory, &["merge", "v1.bc", "v2.bc", flag]);
        assert_eq!((status, stdout.as_str()), (0, ""), "{flag}: {stderr}");
        let flag = flag.replace("--map=", "--map ").replace("main,", "");
        let warning = format!("p3-ir: warning: {flag}: no version defines a function {name}\n");
        assert_eq!(stderr, warning);
    }
}

/// What `--report` says of the functions of the program, sorted, and the warnings.
fn reported(directory: &Path, flags: &[&str]) -> (Vec<String>, Vec<String>) {
    let merge = ["merge", "old.bc", "new.bc", "--report", "report.json"];
    let (status, stdout, stderr) = call(directory, &[&merge, flags].concat());
    assert_eq!((status, stdout.as_str()), (0, ""), "{stderr}");
    let warnings = stderr.lines().map(|line| {
        let warning = line.strip_prefix("p3-ir: warning: ");
        warning.unwrap_or_else(|| panic!("{stderr}")).to_string()
    });
    let report = fs::read(directory.join("report.json")).unwrap();
    let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
    let functions = report["woven"].as_array().unwrap().iter();
    let functions = functions.filter(|function| {
        let name = function["name"].as_str().unwrap();
        !name.starts_with("p3v_")
    });
    let line = |function: &serde_json::Value| {
        let why = function["sequential"].as_str().unwrap_or("woven");
        let [name, nodes] = ["name", "nodes"].map(|key| function[key].to_string());
        format!("{name} {nodes} {}: {why}", function["matched"])
    };
    let mut lines: Vec<String> = functions.map(line).collect();
    lines.sort();
    (lines, warnings.collect())
}

#[test]
fn what_is_not_woven_is_reported_and_so_are_options_without_effect() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let program = "
        int sum(int count, ...) { return count ? count + 1 : 0; }
        int old_name(int x) { return x; }
        int main(int argc, char **argv) { return old_name(sum(argc, 1)); }";
    let models = "
        struct two { int a, b; };
        struct two _PP_sum(_Bool is_a, _Bool is_b, int a, int b) { return (struct two){a, b}; }
        struct two _PP_none(_Bool is_a, _Bool is_b, int a, int b) { return (struct two){a, b}; }";
    for (file, text) in [
        ("old", program),
        ("new", &program.replace("old_name", "new_name")),
        ("model", models),
    ] {
        let source = format!("{file}.c");
        fs::write(directory.join(&source), text).unwrap();
        let compile = ["-c", "-emit-llvm", &source];
        let compile = Command::new("clang-16")
            .args(compile)
            .current_dir(directory)
            .status();
        assert!(compile.unwrap().success());
    }
    let lines = |why: [&str; 3]| {
        [
            "\"main\" [4,4] 4",
            "\"old_name\" [2,2] 2",
            "\"sum\" [2,2] 2",
        ]
        .iter()
        .zip(why)
        .map(|(function, why)| format!("{function}: {why}"))
        .collect::<Vec<_>>()
    };
    let excluded = "excluded by --no-weave";

    let (functions, warnings) = reported(directory, &["--map=old_name=new_name"]);
    let expected = lines(["woven", "woven", "variadic definition"]);
    assert_eq!((functions, warnings), (expected, vec![]));

    let flags = ["--no-weave", "--model=model.bc", "--map=new_name=old_name"];
    let (functions, warnings) = reported(directory, &flags);
    let expected = lines([excluded; 3]);
    let not_used = "--map new_name=old_name: not used: another pair names one of them, or no version before one with \
                    old_name has new_name";
    let no_model = "model.bc: hand-written product functions are not used with --no-weave";
    assert_eq!(functions, expected);
    assert_eq!(warnings, [not_used, no_model]);

    let flags = [
        "--model=model.bc",
        "--map=old_name=new_name",
        "--map=old_name=main",
    ];
    let (_, warnings) = reported(directory, &flags);
    let expected = [
        "--map old_name=main: not used: another pair names one of them, or no version before one with main has old_name",
        "model.bc: _PP_none is never called: no version has or calls such a function",
        "model.bc: _PP_sum is never called: variadic definition",
    ];
    assert_eq!(warnings, expected);
}

/// Whether a handler that calls `handled` jumps is found out by what that reaches.
const SIGNALS: &str = r#"
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
static jmp_buf back;
static volatile int seen;
static int compare(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }
static int jumps(const void *a, const void *b) { if (a != b) longjmp(back, 1); return 0; }
static void stay(int a, int b) { seen = a + b; }
static void leave(int a, int b) { longjmp(back, a + b); }
static void (*stored)(int, int) = stay;
static void handled(void) {
  char text[] = "text";
  if (KIND == 0) qsort(text, 4, 1, compare), seen++;
  if (KIND == 1) leave(1, 1);
  if (KIND == 2) qsort(text, 4, 1, jumps);
  if (KIND == 3) stored(1, 1);
}
static void handler(int number) { seen = number; handled(); }
int main(int argc, char **argv) {
  signal(SIGUSR1, handler);
  if (setjmp(back) == 0) {
    if (argc > 1) stored = leave;
    if (argc > 2) leave(1, 1);
    raise(SIGUSR1);
  }
  return seen;
}
"#;

#[test]
fn what_jumps_is_woven_unless_a_handler_may() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    fs::write(directory.join("signals.c"), SIGNALS).unwrap();
    let jump = "the program handles signals and uses longjmp";
    for (kind, expected) in [(0, None), (1, Some(jump)), (2, Some(jump)), (3, Some(jump))] {
        let compiled = Command::new("clang-16")
            .args(["-c", "-emit-llvm", "signals.c"])
            .arg(format!("-DKIND={kind}"))
            .current_dir(directory)
            .status();
        assert!(compiled.unwrap().success());
        let arguments = ["merge", "signals.bc", "signals.bc", "--report", "report"];
        assert_eq!(call(directory, &arguments).0, 0);
        let report = fs::read(directory.join("report")).unwrap();
        let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
        let woven = report["woven"].as_array().unwrap();
        let leave = woven.iter().find(|one| one["name"] == "leave").unwrap();
        assert_eq!(leave["sequential"].as_str(), expected, "kind {kind}");
    }
}
