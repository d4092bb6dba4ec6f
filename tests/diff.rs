//! `p3-ir diff`, `replay` and `minimise`: what they find, report and return. The pairs are in testsuite/pairs.

mod common;

use common::{call, texts};
use serde_json::Value;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Compiles both versions of a pair to old.bc and new.bc.
fn pair(name: &str) -> TempDir {
    pair_with(name, &["-g"])
}

fn pair_with(name: &str, flags: &[&str]) -> TempDir {
    let scratch = tempfile::tempdir().unwrap();
    let source = format!("{}/testsuite/pairs/{name}.c", env!("CARGO_MANIFEST_DIR"));
    fs::copy(source, scratch.path().join(format!("{name}.c"))).unwrap();
    for (version, file) in [("1", "old.bc"), ("2", "new.bc")] {
        compile(scratch.path(), &format!("{name}.c"), version, file, flags);
    }
    scratch
}

fn compile(directory: &Path, source: &str, version: &str, file: &str, flags: &[&str]) {
    let done = Command::new("clang-16")
        .args(["-c", "-emit-llvm", source, "-o", file])
        .arg(format!("-DV={version}"))
        .args(flags)
        .current_dir(directory)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
}

/// Writes a program and compiles both of its versions to old.bc and new.bc, where it finds p3.h.
fn write_versions(directory: &Path, name: &str, source: &str) {
    fs::write(directory.join(name), source).unwrap();
    let header = call(directory, &["header", "-o", "p3.h"]);
    assert_eq!(header, (0, String::new(), String::new()));
    for (version, file) in [("1", "old.bc"), ("2", "new.bc")] {
        compile(directory, name, version, file, &["-g", "-I."]);
    }
}

fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}

/// Whether KLEE is here; says so if it is not.
fn has_klee() -> bool {
    let has = has("klee");
    if !has {
        eprintln!("not run: there is no klee");
    }
    has
}

/// `p3-ir diff old.bc new.bc` with these arguments: status and output, and the report.
fn diff(directory: &Path, arguments: &[&str]) -> (i32, String, Value) {
    let all = [&["diff", "old.bc", "new.bc", "-o", "out"], arguments].concat();
    let (status, stdout, stderr) = call(directory, &all);
    assert_eq!(stderr, "", "{stdout}");
    let report = fs::read(directory.join("out/report.json")).unwrap();
    (status, stdout, serde_json::from_slice(&report).unwrap())
}

/// What happened where: the kind of the place pair, and its lines.
fn told(finding: &Value) -> (&str, [Option<u64>; 2]) {
    let line = |index: usize| finding["places"][index]["line"].as_u64();
    (finding["kind"].as_str().unwrap_or(""), [line(0), line(1)])
}

/// The visible findings.
fn visible(report: &Value) -> Vec<&Value> {
    let findings = report["findings"].as_array().unwrap().iter();
    findings
        .filter(|finding| finding["class"] != "flow")
        .collect()
}

fn klee(name: &str, arguments: &[&str]) -> Option<(TempDir, i32, String, Value)> {
    if !has_klee() {
        return None;
    }
    let scratch = pair(name);
    let (status, stdout, report) =
        diff(scratch.path(), &[&["--engine", "klee"], arguments].concat());
    Some((scratch, status, stdout, report))
}

#[test]
fn has_digit_in_klee_with_everything_that_is_written() {
    if has_klee() {
        everything_that_is_written("klee");
    }
}

#[test]
fn has_digit_in_libfuzzer_with_everything_that_is_written() {
    everything_that_is_written("libfuzzer");
}

fn everything_that_is_written(engine: &str) {
    let scratch = pair("has_digit");
    let directory = scratch.path();
    let arguments = ["--engine", engine, "--args", "@arg:8", "--no-stdin"];
    let (status, stdout, report) = diff(directory, &arguments);
    assert_eq!(
        (status, report["verdict"].as_str()),
        (1, Some("different")),
        "{stdout}"
    );
    assert!(stdout.starts_with("1 difference\n"), "{stdout}");
    let findings = visible(&report);
    assert_eq!(findings.len(), 1, "{stdout}");
    let finding = findings[0];
    assert_eq!(finding["class"], "output");
    // Two digits are enough, and nothing else is left of the input.
    let argument = finding["input"]["arguments"][0]["text"].as_str().unwrap();
    assert!(
        argument.len() == 2 && argument.bytes().all(|b| b.is_ascii_digit()),
        "{argument}"
    );
    for place in finding["places"].as_array().unwrap() {
        assert_eq!(
            (place["file"].as_str(), place["line"].as_u64()),
            (Some("has_digit.c"), Some(13))
        );
    }
    assert_eq!(finding["differences"][0]["stream"], "stdout");
    assert!(
        stdout.contains("   branch: has_digit.c:13 / has_digit.c:13\n"),
        "{stdout}"
    );

    let folder = directory
        .join("out")
        .join(finding["folder"].as_str().unwrap());
    assert_eq!(
        fs::read(folder.join("args")).unwrap(),
        format!("{argument}\0").as_bytes()
    );
    assert_eq!(fs::read(folder.join("1.stdout")).unwrap(), b"digit\n");
    assert_eq!(fs::read(folder.join("2.stdout")).unwrap(), b"none\n");
    let page = fs::read_to_string(directory.join("out/report.html")).unwrap();
    for text in [
        "output differs",
        "if (found)",
        argument,
        "digit",
        "none",
        "<mark>",
    ] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!page.contains("http") && !page.contains("{{"));

    // The script shows it again; with one program twice there is nothing to show.
    let script = folder.join("repro.sh");
    let (status, stdout, _) = texts(Command::new(&script).output().unwrap());
    assert_eq!(status, 1);
    assert!(
        stdout.contains("-stdout: digit\n+stdout: none\n"),
        "{stdout}"
    );
    let old = directory.join("out/programs/1");
    let same = Command::new(&script).args([&old, &old]).output().unwrap();
    assert_eq!(texts(same).0, 0);

    let gone = Command::new(&script).args(["nowhere", "new"]).output();
    let (status, stdout, stderr) = texts(gone.unwrap());
    assert_eq!((status, stdout.as_str()), (2, ""));
    assert_eq!(stderr, "repro.sh: nowhere: no such program\n");

    replay_and_minimise(directory, &folder);
    accepted_differences(directory, finding, engine);
}

fn replay_and_minimise(directory: &Path, folder: &Path) {
    let (status, stdout, _) = call(directory, &["replay", "out"]);
    assert_eq!(status, 1);
    assert!(stdout.ends_with("01-output: output differs\n"), "{stdout}");
    let fixed = ["replay", "out", "--versions", "old.bc", "old.bc"];
    let (status, stdout, stderr) = call(directory, &fixed);
    assert_eq!((status, stderr.as_str()), (0, ""));
    assert!(
        stdout.contains("no difference (was: output differs)"),
        "{stdout}"
    );

    fs::write(directory.join("raw"), "x1y2z34").unwrap();
    let minimise = ["minimise", "raw", "--in", "out", "-o", "small"];
    let (status, stdout, stderr) = call(directory, &minimise);
    assert_eq!((status, stderr.as_str()), (0, ""));
    assert!(
        stdout.contains("\n3 of 8 bytes are left: small\n"),
        "{stdout}"
    );
    assert_eq!(fs::read(directory.join("small/args")).unwrap().len(), 3);
    let again = Command::new(directory.join("small/repro.sh"))
        .output()
        .unwrap();
    assert_eq!(texts(again).0, 1);
    let (status, stdout, _) = call(directory, &["replay", "raw", "--in", "out"]);
    assert_eq!((status, stdout.as_str()), (1, "raw: output differs\n"));
    assert_eq!(call(directory, &["replay", folder.to_str().unwrap()]).0, 1);
    assert_eq!(call(directory, &["replay", "raw"]).0, 2);
}

fn accepted_differences(directory: &Path, finding: &Value, engine: &str) {
    let suggestion = finding["suggestion"].as_str().unwrap();
    let file = directory.join("expect");
    let again = [
        "--engine",
        engine,
        "--args",
        "@arg:2",
        "--no-stdin",
        "--time",
        // KLEE ends by itself.
        if engine == "klee" { "60" } else { "15" },
        "--expect",
        "expect",
    ];
    fs::write(
        &file,
        format!("# known\n{suggestion}\nstatus \"exit 3\" \"exit 4\"\n"),
    )
    .unwrap();
    let (status, stdout, report) = diff(directory, &again);
    assert_eq!(
        (status, report["verdict"].as_str()),
        (0, Some("none-found")),
        "{stdout}"
    );
    assert_eq!(report["matched_expectations"][0], suggestion);
    assert_eq!(
        report["stale_expectations"][0],
        "status \"exit 3\" \"exit 4\""
    );
    fs::write(&file, "output stdout ^digit$ ^none$\n").unwrap();
    assert_eq!(diff(directory, &again).0, 0);
    fs::write(&file, "output stdout ^digits$ ^none$\n").unwrap();
    assert_eq!(diff(directory, &again).0, 1);
}

#[test]
fn data_alone_differs() {
    let arguments = ["--args", "@arg:1", "--no-stdin"];
    let Some((_scratch, status, stdout, report)) = klee("data_only", &arguments) else {
        return;
    };
    assert_eq!(status, 1, "{stdout}");
    let finding = visible(&report)[0];
    assert_eq!(finding["class"], "output");
    assert_eq!(finding["input"]["arguments"][0]["text"], "{");
    assert_eq!(told(finding), ("write", [Some(6), Some(6)]));
}

#[test]
fn an_equivalent_refactoring_is_called_so_with_its_bound() {
    let arguments = ["--args", "@arg:3", "--no-stdin"];
    let Some((_scratch, status, stdout, report)) = klee("refactoring", &arguments) else {
        return;
    };
    assert_eq!(
        (status, report["verdict"].as_str()),
        (0, Some("equivalent-within-bound")),
        "{stdout}"
    );
    let sentence = "equivalent on all inputs of the form '@arg:3': KLEE finished every path\n";
    assert!(stdout.starts_with(sentence), "{stdout}");
}

/// All paths say nothing of a specification that is on none of them.
/// A difference that the versions alone do not show, on an input that was tried before KLEE began.
#[test]
fn what_only_klee_shows_keeps_it_from_a_claim() {
    if !has_klee() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = r#"
#include <stdio.h>
__attribute__((weak)) void klee_warning(const char *text);
int main(void) {
  if (klee_warning)
    printf("%d\n", V);
  return 0;
}
"#;
    write_versions(directory, "only.c", source);
    let arguments = ["--engine", "klee", "--no-stdin", "--time", "10"];
    let (status, stdout, report) = diff(directory, &arguments);
    assert_eq!(status, 0, "{stdout}");
    assert_eq!(report["verdict"], "none-found", "{stdout}");
    assert_eq!(report["unconfirmed"], 1, "{stdout}");
}

#[test]
fn a_specification_that_no_path_reaches_is_not_proven() {
    if !has_klee() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = r#"
#include <p3.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int n = argc;
  if (argc > LEAST)
    pp_assert(PP1(n) == PP2(n));
  puts("done");
  return 0;
}
"#;
    fs::write(directory.join("dead.c"), source).unwrap();
    assert_eq!(call(directory, &["header", "-o", "p3.h"]).0, 0);
    let arguments = ["--engine", "klee", "--args", "@arg:1", "--no-stdin"];
    for (least, verdict) in [("1", "equivalent-within-bound"), ("5", "none-found")] {
        let least = format!("-DLEAST={least}");
        for (version, file) in [("1", "old.bc"), ("2", "new.bc")] {
            compile(directory, "dead.c", version, file, &["-g", "-I.", &least]);
        }
        let (status, stdout, report) = diff(directory, &arguments);
        assert_eq!(
            (status, &report["verdict"]),
            (0, &verdict.into()),
            "{stdout}"
        );
        let is_dead = verdict == "none-found";
        let says = stdout.contains("; never evaluated: PP1(n) == PP2(n) at dead.c:7 / dead.c:7\n");
        assert_eq!(says, is_dead, "{stdout}");
    }
}

#[test]
fn only_the_empty_input_differs() {
    let Some((_scratch, status, stdout, report)) = klee("empty_input", &["--max-stdin", "2"])
    else {
        return;
    };
    assert_eq!(status, 1, "{stdout}");
    assert_eq!(visible(&report)[0]["input"]["stdin"]["text"], "");
    assert_eq!(told(visible(&report)[0]), ("write", [Some(15), Some(15)]));
    assert_eq!(visible(&report).len(), 1, "{stdout}");
}

#[test]
fn fixed_and_new_crashes() {
    let Some((scratch, status, stdout, report)) =
        klee("heap_overflow", &["--args", "@arg:3", "--no-stdin"])
    else {
        return;
    };
    assert_eq!(status, 1, "{stdout}");
    let fixed = visible(&report)[0];
    assert_eq!(fixed["class"], "fixed-crash", "{stdout}");
    let line = fixed["versions"][0]["crash"]["line"].as_str().unwrap();
    assert!(
        line.contains("AddressSanitizer: heap-buffer-overflow"),
        "{line}"
    );
    assert!(fixed["places"][0]["line"].as_u64().is_some());
    assert!(fixed["places"][1].is_null());
    assert!(fs::read_to_string(scratch.path().join("out/report.html"))
        .unwrap()
        .contains(line));
    let (_, stdout, report) = {
        let directory = scratch.path();
        fs::rename(directory.join("old.bc"), directory.join("x.bc")).unwrap();
        fs::rename(directory.join("new.bc"), directory.join("old.bc")).unwrap();
        fs::rename(directory.join("x.bc"), directory.join("new.bc")).unwrap();
        diff(
            directory,
            &["--engine", "klee", "--args", "@arg:3", "--no-stdin"],
        )
    };
    assert_eq!(visible(&report)[0]["class"], "new-crash", "{stdout}");
}

/// A pair under a fuzzer: the only finding is of this class.
fn fuzz(engine: &str, name: &str, class: &str, arguments: &[&str]) -> (TempDir, Value) {
    let scratch = pair(name);
    let all = [&["--engine", engine, "--time", "40"], arguments].concat();
    let (status, stdout, report) = diff(scratch.path(), &all);
    assert_eq!(status, 1, "{stdout}");
    let findings = visible(&report);
    assert_eq!(findings.len(), 1, "{stdout}");
    assert_eq!(findings[0]["class"], class, "{stdout}");
    let finding = findings[0].clone();
    (scratch, finding)
}

#[test]
fn the_default_command_finds_has_digit() {
    let scratch = pair("has_digit");
    let (status, stdout, report) = diff(scratch.path(), &["--args", "@arg:8"]);
    assert_eq!(status, 1, "{stdout}");
    assert_eq!(report["engines"][0]["engine"], "libfuzzer");
    let finding = visible(&report)[0];
    // A second on an idle machine.
    assert!(finding["after"].as_f64().unwrap() < 30.0);
    let argument = finding["input"]["arguments"][0]["text"].as_str().unwrap();
    assert!(
        argument.len() == 2 && argument.bytes().all(|b| b.is_ascii_digit()),
        "{argument}"
    );
    assert_eq!(finding["input"]["stdin"]["text"], "");
    assert!(
        stdout.contains("   branch: has_digit.c:13 / has_digit.c:13\n"),
        "{stdout}"
    );
}

#[test]
fn fuzzed_input_with_a_magic_value() {
    let (_scratch, finding) = fuzz("libfuzzer", "magic", "output", &[]);
    assert_eq!(finding["input"]["stdin"]["base64"], "iVBxNw==");
    assert_eq!(told(&finding), ("write", [Some(16), Some(10)]));
}

#[test]
fn fuzzed_off_by_one_and_separator_twice() {
    let (_scratch, finding) = fuzz("libfuzzer", "off_by_one", "output", &["--max-stdin", "2"]);
    assert_eq!(finding["input"]["stdin"]["base64"], "AaA=");
    assert_eq!(told(&finding), ("branch", [Some(14), Some(14)]));
    let arguments = ["--args", "@arg:8", "--no-stdin"];
    let (_scratch, finding) = fuzz("libfuzzer", "separator_twice", "output", &arguments);
    assert_eq!(finding["input"]["arguments"][0]["text"], "::");
}

#[test]
fn fuzzed_empty_input() {
    let (_scratch, finding) = fuzz("libfuzzer", "empty_input", "output", &[]);
    assert_eq!(finding["input"]["stdin"]["text"], "");
}

#[test]
fn differences_without_a_common_branch_are_told_apart() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = r#"
#include <stdio.h>
int main(void) {
  int c = getchar();
#if V == 2
  if (c == 'x')
    puts("x");
  else if (c == 'y')
    puts("y");
  else
#endif
    puts("other");
}
"#;
    write_versions(directory, "two.c", source);
    fs::write(directory.join("x"), "x").unwrap();
    fs::write(directory.join("y"), "y").unwrap();
    let seeds = ["--seed", "< x", "--seed", "< y", "--max-stdin", "2"];
    let (status, stdout, report) = diff(directory, &[&seeds, &["--time", "10"][..]].concat());
    assert_eq!(status, 1, "{stdout}");
    let mut places: Vec<_> = visible(&report).into_iter().map(told).collect();
    places.sort();
    let wanted = [7, 9].map(|line| ("write", [Some(12), Some(line)]));
    assert_eq!(places, wanted, "{stdout}");
    let page = fs::read_to_string(directory.join("out/report.html")).unwrap();
    assert!(page.contains("Where they write what differs"));

    // The place of one of them is expected.
    fs::write(directory.join("expect"), "place two.c:12 two.c:7\n").unwrap();
    let expect = ["--expect", "expect", "--time", "10"];
    let (status, stdout, report) = diff(directory, &[&seeds, &expect[..]].concat());
    assert_eq!(status, 1, "{stdout}");
    assert!(
        stdout.contains("1 difference\n") && stdout.contains("(accepted)"),
        "{stdout}"
    );
    assert_eq!(report["matched_expectations"][0], "place two.c:12 two.c:7");
}

#[test]
fn a_specification_that_fails_is_a_finding_of_its_own() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = r#"
#include <p3.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int n = 0;
  pp_assume(PP1(argv[1][0]) != '!');
  for (const char *at = argv[1]; *at; at++)
#if V == 1
    n += *at == ' ';
#else
    n += *at == ' ' || *at == '\t';
#endif
  pp_assert(PP1(n) == PP2(n));
  puts("done");
  return 0;
}
"#;
    write_versions(directory, "spec.c", source);
    let arguments = ["--args", "@arg:4", "--no-stdin", "--time", "30"];
    let (status, stdout, report) = diff(directory, &arguments);
    assert_eq!(status, 1, "{stdout}");
    let finding = visible(&report)[0];
    assert_eq!(finding["class"], "spec", "{stdout}");
    assert_eq!(told(finding), ("spec", [Some(13), Some(13)]));
    assert_eq!(finding["input"]["arguments"][0]["text"], "\t");
    assert!(
        stdout.contains("1. specification fails: PP1(n) == PP2(n) does not hold\n"),
        "{stdout}"
    );
    // It is the product that says so, each time.
    let (status, stdout, _) = call(directory, &["replay", "out"]);
    assert_eq!(status, 1);
    assert!(stdout.contains("specification fails\n"), "{stdout}");
    let script = directory.join("out/findings/01-spec/repro.sh");
    let (status, stdout, stderr) = texts(Command::new(script).output().unwrap());
    assert_eq!((status, stderr.as_str()), (1, ""), "{stdout}");
    assert!(
        stdout.starts_with("p3: spec: spec.c:13: PP1(n) == PP2(n) does not hold"),
        "{stdout}"
    );
    // Where the assumption does not hold nothing counts.
    fs::write(directory.join("raw"), "!\t").unwrap();
    let (status, stdout, _) = call(directory, &["replay", "raw", "--in", "out"]);
    assert_eq!((status, stdout.as_str()), (0, "raw: no difference\n"));
}

#[test]
fn fuzzed_equal_arguments() {
    let arguments = ["--args", "@arg:4 @arg:4", "--no-stdin"];
    let (_scratch, finding) = fuzz("libfuzzer", "two_equal", "output", &arguments);
    assert_eq!(
        finding["input"]["arguments"][0],
        finding["input"]["arguments"][1]
    );
}

#[test]
fn a_crash_does_not_end_the_search() {
    let arguments = ["--args", "@arg:8", "--no-stdin"];
    let (_scratch, finding) = fuzz("libfuzzer", "heap_overflow", "fixed-crash", &arguments);
    let line = finding["versions"][0]["crash"]["line"].as_str().unwrap();
    assert_eq!(
        line,
        "ERROR: AddressSanitizer: heap-buffer-overflow, WRITE of size 1"
    );
}

#[test]
fn afl_finds_has_digit() {
    if !has("afl-fuzz") {
        eprintln!("not run: there is no afl-fuzz");
        return;
    }
    let (_scratch, finding) = fuzz(
        "afl",
        "has_digit",
        "output",
        &["--args", "@arg:8", "--no-stdin"],
    );
    assert_eq!(finding["engine"], "afl");
}

/// What the product does not notice, AddressSanitizer does, on an input that went a new way.
#[test]
fn afl_is_ended_by_a_crash_that_only_a_sanitizer_sees() {
    if !has("afl-fuzz") {
        eprintln!("not run: there is no afl-fuzz");
        return;
    }
    let scratch = pair("heap_overflow");
    let limits = ["--engine", "afl", "--time", "300"];
    let template = ["--args", "@arg:8", "--no-stdin"];
    let (status, stdout, report) = diff(scratch.path(), &[&limits[..], &template].concat());
    assert_eq!(status, 1, "{stdout}");
    assert_eq!(visible(&report)[0]["class"], "fixed-crash", "{stdout}");
    // It did not go on for the time that it had.
    let seconds = report["engines"][0]["seconds"].as_f64().unwrap();
    assert!(seconds < 299.0, "{seconds}");
}

/// Four bytes at once, in a comparison by libc: nobody gets them one by one.
#[test]
fn afl_is_told_what_is_compared() {
    if !has("afl-fuzz") {
        eprintln!("not run: there is no afl-fuzz");
        return;
    }
    let (_scratch, finding) = fuzz("afl", "magic", "output", &["--max-stdin", "8"]);
    assert_eq!(finding["input"]["stdin"]["base64"], "iVBxNw==");
}

#[test]
fn afl_compares_functions_of_libraries() {
    if !has("afl-fuzz") {
        eprintln!("not run: there is no afl-fuzz");
        return;
    }
    let arguments = ["--entry", "checksum", "--max-stdin", "16"];
    let (_scratch, finding) = fuzz("afl", "checksum", "output", &arguments);
    assert_eq!(finding["engine"], "afl");
    let named = finding["input"]["call"].as_str().unwrap();
    assert!(named.starts_with("checksum(data = "), "{named}");
}

/// Much more than anybody keeps is written before the place that differs.
#[test]
fn differences_behind_a_hundred_megabytes() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = r#"
#include <stdio.h>
int main(int argc, char **argv) {
  for (int i = 0; i < 20000000; i++)
    fputs(i == 19000000 && argc > 1 && argv[1][0] == 'x' && V == 2 ? "lime\n" : "line\n", stdout);
  return 0;
}
"#;
    fs::write(directory.join("long.c"), source).unwrap();
    for (version, file) in [("1", "old.bc"), ("2", "new.bc")] {
        compile(directory, "long.c", version, file, &["-g", "-O1"]);
    }
    let arguments = [
        "--args",
        "@arg:1",
        "--no-stdin",
        "--seed",
        "x",
        "--time",
        "1",
    ];
    let (status, stdout, report) =
        diff(directory, &[&arguments[..], &["--timeout", "60"]].concat());
    assert_eq!(status, 1, "{stdout}");
    let finding = visible(&report)[0];
    let difference = &finding["differences"][0];
    assert_eq!(difference["offset"], 5 * 19000000 + 2, "{difference}");
    assert_eq!(difference["line"], 19000001, "{difference}");
    let longer = &finding["versions"][1]["longer"][0];
    assert_eq!(longer["length"], 5 * 20000000, "{longer}");
    let page = fs::metadata(directory.join("out/report.html")).unwrap();
    assert!(page.len() < 200_000, "{}", page.len());
}

#[test]
fn what_counts_as_output_is_what_the_program_says() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = r#"
#include <p3.h>
#include <stdio.h>
int main(int argc, char **argv) {
  unsigned sum = 0;
  for (const char *at = argv[1]; *at; at++)
    sum += V == 2 && *at == '~' ? 0 : (unsigned char)*at;
  printf("version %d\n", V);
#ifndef WITHOUT
  pp_output("sum", &sum, sizeof sum);
#endif
  return 0;
}
"#;
    fs::write(directory.join("output.c"), source).unwrap();
    let header = call(directory, &["header", "-o", "p3.h"]);
    assert_eq!(header, (0, String::new(), String::new()));
    let arguments = ["--args", "@arg:3", "--no-stdin", "--time", "30"];
    let build = |flag: &str| {
        for (version, file) in [("1", "old.bc"), ("2", "new.bc")] {
            compile(directory, "output.c", version, file, &["-g", "-I.", flag]);
        }
    };
    // Every input makes standard output differ, and that does not count.
    build("-DWITH");
    let (status, stdout, report) = diff(directory, &arguments);
    assert_eq!(status, 1, "{stdout}");
    assert_eq!(visible(&report).len(), 1, "{stdout}");
    let finding = visible(&report)[0];
    assert_eq!(finding["class"], "output", "{stdout}");
    assert_eq!(finding["input"]["arguments"][0]["text"], "~", "{stdout}");
    let summary = finding["summary"].as_str().unwrap();
    assert!(summary.contains("sum"), "{summary}");
    let page = fs::read_to_string(directory.join("out/report.html")).unwrap();
    assert!(page.contains("sum"));
    let (status, stdout, _) = call(directory, &["replay", "out"]);
    assert_eq!(status, 1, "{stdout}");
    fs::write(directory.join("raw"), "a").unwrap();
    let (status, stdout, _) = call(directory, &["replay", "raw", "--in", "out"]);
    assert_eq!((status, stdout.as_str()), (0, "raw: no difference\n"));
    // For a run it is the same.
    let (status, stdout, _) = call(directory, &["run", "old.bc", "new.bc", "--", "a"]);
    assert!(
        status == 0 && stdout.ends_with("\nno difference\n"),
        "{stdout}"
    );
    let (status, stdout, _) = call(directory, &["run", "old.bc", "new.bc", "--", "~"]);
    assert!(
        status == 1 && stdout.ends_with("\ndifferent: 'sum'\n"),
        "{stdout}"
    );
    // Without it, it does.
    build("-DWITHOUT");
    let (status, stdout, report) = diff(directory, &arguments);
    assert_eq!(status, 1, "{stdout}");
    let summary = visible(&report)[0]["summary"].as_str().unwrap();
    assert!(summary.starts_with("stdout differs"), "{stdout}");
}

/// Crashes that no sanitizer has a word for, and statuses without a place.
#[test]
fn aborts_and_statuses_are_told_apart() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = r#"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
static void one(void) { if (V == 2) abort(); }
static void two(int d) { if (V == 2 && d == 'Z') abort(); }
static void three(int d) { assert(V == 1 || d != 'Y'); }
int main(void) {
  int c = getchar(), d = getchar();
  if (c == 'a') one();
  else if (c == 'b') two(d);
  else if (c == 'c') three(d);
  else if (c == 'j') exit(3 * (V - 1));
  else if (c == 'm') exit(9 - V);
  puts("ok");
  return 0;
}
"#;
    write_versions(directory, "ends.c", source);
    let mut arguments = vec!["--time", "2", "--max-stdin", "2"];
    let seeds = ["a", "bZ", "cY", "j", "m"].map(|text| {
        fs::write(directory.join(text), text).unwrap();
        format!("< {text}")
    });
    for seed in &seeds {
        arguments.extend(["--seed", seed]);
    }
    let (status, stdout, report) = diff(directory, &arguments);
    let mut found: Vec<(String, Option<u64>)> = visible(&report)
        .into_iter()
        .map(|finding| {
            let class = finding["class"].as_str().unwrap().to_string();
            (class, told(finding).1[1])
        })
        .collect();
    found.sort();
    let crash = |line| ("new-crash".to_string(), Some(line));
    assert_eq!(&found[..3], [crash(5), crash(6), crash(7)], "{stdout}");
    assert_eq!((status, found.len()), (1, 5), "{stdout}");
    assert!(
        found[3..].iter().all(|(class, _)| class == "status"),
        "{stdout}"
    );
}

/// Versions that take the same bytes in another order, and some that only one of them takes.
const TAKES_INPUT: &str = r#"
#include <p3.h>
#include <stdio.h>
#include <string.h>
static void number(unsigned short *n) { pp_input(n, sizeof *n, "number"); }
static void text(char text[4]) { pp_input(text, 4, "text"); }
int main(void) {
  unsigned short n = 7;
  char word[4] = "abc";
#if V == 1
  number(&n);
  text(word);
#else
  unsigned more = 1;
  pp_input(&more, sizeof more, "more");
  text(word);
  number(&n);
#endif
  if (strncmp(word, "key", 4) == 0 && n == 0xabcd)
    puts(V == 1 ? "old" : "new");
  return word[0] == 'z';
}
"#;

#[test]
fn bytes_that_the_program_takes_by_name_are_fuzzed() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    write_versions(directory, "named.c", TAKES_INPUT);
    let (status, stdout, report) = diff(directory, &["--no-stdin", "--time", "50"]);
    assert_eq!(report["template"], "@input:4096");
    let found = visible(&report);
    assert_eq!((status, found.len()), (1, 1), "{stdout}");
    assert_eq!(found[0]["class"], "output");
    // What only the new version takes is behind the first that the old one does, and plays no part.
    let bytes = b"\xcd\xabaaaakey";
    let folder = directory.join("out/findings/01-output");
    assert_eq!(fs::read(folder.join("pp_input")).unwrap(), bytes);
    let command = "P3_INPUT=<(printf '\\315\\253aaaakey') prog < /dev/null";
    assert_eq!(found[0]["input"]["command"], command);
    let repro = || {
        let done = Command::new("bash")
            .arg(folder.join("repro.sh"))
            .output()
            .unwrap();
        texts(done)
    };
    let (status, shown, stderr) = repro();
    assert_eq!((status, stderr.as_str()), (1, ""));
    assert!(
        shown.contains("-stdout: old") && shown.contains("+stdout: new"),
        "{shown}"
    );
    let (status, stdout, _) = call(directory, &["replay", "out"]);
    assert_eq!(status, 1, "{stdout}");
    fs::write(
        directory.join("raw"),
        [&bytes[..], b"\0more bytes"].concat(),
    )
    .unwrap();
    let (status, stdout, stderr) = call(directory, &["minimise", "raw", "--in", "out"]);
    assert_eq!(status, 0, "{stderr}");
    assert!(stdout.contains("9 of 20 bytes are left"), "{stdout}");
    fs::remove_file(folder.join("pp_input")).unwrap();
    let (status, _, stderr) = repro();
    assert!(
        status == 2 && stderr.contains("pp_input: cannot be read"),
        "{stderr}"
    );
    let twice = ["--args", "@input:2 @input"];
    let refused = [&["diff", "old.bc", "new.bc", "-o", "no"][..], &twice].concat();
    let (status, _, stderr) = call(directory, &refused);
    assert!(
        status == 2 && stderr.contains("more than one @input"),
        "{stderr}"
    );
}

#[test]
fn bytes_that_the_program_takes_by_name_come_back_from_klee() {
    if !has_klee() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    write_versions(directory, "named.c", TAKES_INPUT);
    let arguments = ["--no-stdin", "--engine", "klee"];
    let (status, stdout, report) = diff(directory, &arguments);
    assert_eq!((status, visible(&report).len()), (1, 1), "{stdout}");
    let bytes = fs::read(directory.join("out/findings/01-output/pp_input")).unwrap();
    assert_eq!((&bytes[..2], &bytes[6..]), (&b"\xcd\xab"[..], &b"key"[..]));
    fs::copy(directory.join("new.bc"), directory.join("old.bc")).unwrap();
    let (status, stdout, _) = diff(directory, &arguments);
    let verdict = "equivalent on all inputs of the form '@input:4096': KLEE finished every path\n";
    assert!(status == 0 && stdout.starts_with(verdict), "{stdout}");
}

/// Programs that were written for KLEE, whatever engine looks at them.
#[test]
fn what_a_program_makes_symbolic_is_fuzzed() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = r#"
#include <stdint.h>
#include <stdio.h>
#include <stddef.h>
void klee_make_symbolic(void *object, size_t size, const char *name);
int klee_range(int begin, int end, const char *name);
void klee_assume(uintptr_t condition);
int main(void) {
  short a, b;
  klee_make_symbolic(&a, sizeof a, "a");
  klee_make_symbolic(&b, sizeof b, "b");
  int base = klee_range(2, 5, "base");
  if (base < 2 || base > 4)
    return 3;
  klee_assume(a != 0x1234);
  if (a == 0x1234)
    puts(V == 1 ? "no" : "interest");
  if (a == 0x4321 && b == a && base == 4)
    puts(V == 1 ? "old" : "new");
  return 0;
}
"#;
    write_versions(directory, "symbolic.c", source);
    for engine in ["libfuzzer", "klee"] {
        if engine == "klee" && !has_klee() {
            continue;
        }
        let arguments = ["--no-stdin", "--time", "60", "--engine", engine];
        let (status, stdout, report) = diff(directory, &arguments);
        assert_eq!(status, 1, "{stdout}");
        let found = visible(&report);
        assert_eq!(found.len(), 1, "{stdout}");
        assert_eq!(found[0]["versions"][1]["stdout"]["text"], "new\n");
    }
    let excluded = [0x34, 0x12];
    fs::write(directory.join("raw"), excluded).unwrap();
    let (status, stdout, _) = call(directory, &["replay", "raw", "--in", "out"]);
    assert_eq!((status, stdout.as_str()), (0, "raw: no difference\n"));
}

#[test]
fn functions_of_a_library_take_bytes_by_name_too() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = r#"
#include <p3.h>
int f(unsigned char a, const char *text) {
  unsigned char b = 0;
  pp_input(&b, sizeof b, "b");
  return a == 'A' && b == 'B' && text[0] == 'C' ? V : 0;
}
"#;
    write_versions(directory, "function.c", source);
    for engine in ["libfuzzer", "klee"] {
        if engine == "klee" && !has_klee() {
            continue;
        }
        let arguments = ["--entry", "f", "--time", "60", "--engine", engine];
        let (status, stdout, report) = diff(directory, &arguments);
        assert_eq!(status, 1, "{stdout}");
        assert_eq!(report["template"], "@stdin:4096 @input:4096");
        let input = &visible(&report)[0]["input"];
        assert_eq!(input["call"], "f(a = 65, text = \"C\")", "{stdout}");
        assert_eq!(input["pp_input"]["text"], "B", "{stdout}");
    }
}

#[test]
fn seeds_are_where_every_engine_begins() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    // More bytes than anybody finds in a few seconds.
    let source = r#"
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
  char line[32] = "";
  fread(line, 1, 31, stdin);
  if (argc > 2 && strcmp(argv[1], "-n") == 0 && strcmp(argv[2], "a b") == 0 && strcmp(line, "begin-here") == 0)
    puts(argv[3][0] != 'x' && V == 2 ? "new" : "old");
  return 0;
}
"#;
    write_versions(directory, "seeds.c", source);
    fs::write(directory.join("input"), "begin-here").unwrap();
    fs::write(directory.join("seeds"), "# known\n-n \"a b\" x < input\n").unwrap();
    let seed = "-n \"a b\" x < input";
    for (engine, program) in [
        ("libfuzzer", "clang-16"),
        ("afl", "afl-fuzz"),
        ("klee", "klee"),
    ] {
        if !has(program) {
            eprintln!("not run: there is no {program}");
            continue;
        }
        for given in [["--seed", seed], ["--seed-file", "seeds"]] {
            let template = ["--args", "@args:3-3:3", "--max-stdin", "10"];
            let limits = ["--time", "40", "--engine", engine];
            let all = [&given[..], &template, &limits].concat();
            let (status, stdout, report) = diff(directory, &all);
            assert_eq!(status, 1, "{engine} {given:?}: {stdout}");
            let input = &visible(&report)[0]["input"];
            assert_eq!(input["arguments"][1]["text"], "a b", "{stdout}");
            assert_eq!(input["stdin"]["text"], "begin-here", "{stdout}");
        }
    }
}

/// Starts p3-ir so that it heeds SIGINT: what runs in a shell's background ignores it, and so does what that starts.
fn interruptible(directory: &Path, arguments: &[&str]) -> std::process::Child {
    let mut command = common::p3_ir(directory);
    let temporary = directory.join("tmp");
    if temporary.exists() {
        command.env("TMPDIR", temporary);
    }
    // SAFETY: a system call is all that happens between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
    let command = command
        .args(arguments)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    command.spawn().unwrap()
}

fn interrupt(search: &std::process::Child) {
    let pid = search.id().to_string();
    let sent = Command::new("kill").args(["-INT", &pid]).status();
    assert!(sent.unwrap().success());
}

fn wait_for(condition: impl Fn() -> bool) {
    let start = std::time::Instant::now();
    while !condition() && start.elapsed().as_secs() < 120 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[test]
fn an_interrupted_search_reports_what_it_has() {
    let scratch = pair("has_digit");
    let directory = scratch.path();
    let mut search = interruptible(
        directory,
        &[
            "diff",
            "old.bc",
            "new.bc",
            "-o",
            "out",
            "--args",
            "@arg:8",
            "--time",
            "300",
            "--full-time",
            "--seed",
            "a1b2",
            "--no-stdin",
        ],
    );
    // The harness has begun to run when it has a log.
    let log = directory.join("out/engines/libfuzzer/1.log");
    wait_for(|| log.exists());
    interrupt(&search);
    assert_eq!(search.wait().unwrap().code(), Some(1));
    let report = fs::read(directory.join("out/report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    assert_eq!(report["interrupted"], true);
    assert_eq!(visible(&report).len(), 1);
    assert!(directory.join("out/report.html").exists() && !directory.join("out/engines").exists());
    assert_eq!(call(directory, &["replay", "out"]).0, 1);
}

/// Two signals at once are one request, and what was begun goes, the compilers included.
#[test]
fn an_interrupted_build_leaves_nothing() {
    let scratch = pair("has_digit");
    let directory = scratch.path();
    let arguments = ["diff", "old.bc", "new.bc", "-o", "out", "--full-time"];
    let search = interruptible(directory, &arguments);
    wait_for(|| directory.join("out/programs").exists());
    let pid = search.id().to_string();
    // Both wait for it, however busy the machine is.
    let signals = format!("kill -STOP {pid}; kill -INT {pid}; kill -TERM {pid}; kill -CONT {pid}");
    let sent = Command::new("sh").args(["-c", &signals]).status();
    assert!(sent.unwrap().success());
    let (status, stdout, stderr) = texts(search.wait_with_output().unwrap());
    assert_eq!((status, stdout.as_str()), (5, ""), "{stderr}");
    assert_eq!(stderr, "p3-ir: interrupted before anything was tried\n");
    assert!(!directory.join("out").exists());
}

/// What they have up to then counts, and they leave nothing behind.
#[test]
fn interrupted_replay_and_minimise() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = r#"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  if (argv[1][0] != 's')
    return 0;
  usleep(200000);
  printf("%d\n", strlen(argv[1]) > 60 ? V : 0);
  return 0;
}
"#;
    write_versions(directory, "slow.c", source);
    let slow = "slow".repeat(16);
    let arguments = [
        "--args",
        "@arg:64",
        "--no-stdin",
        "--time",
        "1",
        "--seed",
        &slow,
    ];
    assert_eq!(diff(directory, &arguments).0, 1);
    fs::write(directory.join("slow"), slow).unwrap();
    let temporary = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(temporary.path(), directory.join("tmp")).unwrap();
    let left = || fs::read_dir(temporary.path()).unwrap().count();
    let interrupted = |arguments: &[&str]| {
        let work = interruptible(directory, arguments);
        wait_for(|| left() > 0);
        std::thread::sleep(std::time::Duration::from_secs(2));
        interrupt(&work);
        let sent = std::time::Instant::now();
        let done = texts(work.wait_with_output().unwrap());
        assert!(sent.elapsed().as_secs() < 60, "{done:?}");
        assert_eq!(left(), 0, "{done:?}");
        done
    };
    let (status, stdout, stderr) =
        interrupted(&["minimise", "slow", "--in", "out", "--time", "1000"]);
    assert_eq!(status, 0, "{stderr}");
    assert_eq!(stderr, "p3-ir: interrupted: it may be made smaller still\n");
    assert!(stdout.contains(" bytes are left: slow.min\n"), "{stdout}");
    assert!(directory.join("slow.min/repro.sh").exists());
    let replay = [&["replay", "--in", "out"][..], &["slow"; 500]].concat();
    let (status, stdout, stderr) = interrupted(&replay);
    assert_eq!((status, stderr.as_str()), (1, "p3-ir: interrupted\n"));
    assert!(stdout.starts_with("slow: output differs\n"), "{stdout}");
}

#[test]
fn a_search_without_a_result_is_no_equality() {
    let scratch = pair("refactoring");
    let arguments = ["--args", "@arg:3", "--no-stdin", "--time", "2"];
    let (status, stdout, report) = diff(scratch.path(), &arguments);
    assert_eq!(
        (status, report["verdict"].as_str()),
        (0, Some("none-found"))
    );
    assert!(
        stdout.starts_with("no difference found within: "),
        "{stdout}"
    );
    assert!(stdout.contains(" runs of libFuzzer in "), "{stdout}");
}

#[test]
fn behind_a_parting_klee_looks_breadth_first() {
    let arguments = ["--args", "@arg:8", "--no-stdin", "--time", "180"];
    let Some((_scratch, status, stdout, report)) = klee("later", &arguments) else {
        return;
    };
    assert_eq!(status, 1, "{stdout}");
    let text = visible(&report)[0]["input"]["arguments"][0]["text"].clone();
    let text = text.as_str().unwrap();
    assert!(["#", "$"].contains(&&text[3..4]), "{text}");
}

#[test]
fn replayed_versions_are_built_as_the_first_ones() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = r#"
#include <stdio.h>
int hook(int);
static int half(int n) { return n / 2 + (V == 2 && n > 5); }
int main(int argc, char **argv) {
  half(argv[1][0] ? argv[1][0] - '0' : 0);
  printf("%d\n", hook(1));
  return 0;
}
"#;
    write_versions(directory, "main.c", source);
    let library = "static int calls;\nint hook(int n) { return calls += n; }\n";
    fs::write(directory.join("hook.c"), library).unwrap();
    let mut clang = Command::new("clang-16");
    let built = clang.args(["-c", "hook.c"]).current_dir(directory).status();
    assert!(built.unwrap().success());
    let (status, stdout, report) = diff(
        directory,
        &[
            "--args=@arg:1",
            "--no-stdin",
            "--seed=7",
            "--time=1",
            "--native-lib=hook.o",
            "--assert-equal-returns=half",
            "--clang-flag=-lm",
        ],
    );
    assert_eq!(status, 1, "{stdout}");
    assert_eq!(visible(&report)[0]["class"], "spec", "{stdout}");
    // From elsewhere: names of files are no more relative to where diff was.
    let elsewhere = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.join(name).to_str().unwrap().to_string();
    let again = ["replay", &path("out"), "--versions", &path("old.bc")];
    let (status, stdout, stderr) =
        call(elsewhere.path(), &[&again[..], &[&path("new.bc")]].concat());
    assert_eq!((status, stderr.as_str()), (1, ""), "{stdout}");
    assert!(stdout.ends_with(": specification fails\n"), "{stdout}");
    let (status, stdout, _) = call(elsewhere.path(), &[&again[..], &[&path("old.bc")]].concat());
    assert_eq!(status, 0, "{stdout}");
}

#[test]
fn what_minimise_cannot_use_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    fs::create_dir_all(directory.join("other/programs")).unwrap();
    fs::write(directory.join("other/args"), "x\0").unwrap();
    for arguments in [&["other"][..], &["nowhere"], &["other", "--in", "other"]] {
        let (status, stdout, stderr) = call(directory, &[&["minimise"], arguments].concat());
        assert_eq!((status, stdout.as_str()), (2, ""), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
    // Something that looks like it.
    fs::write(directory.join("other/programs/programs.json"), "{}").unwrap();
    let (status, _, stderr) = call(directory, &["minimise", "other"]);
    assert_eq!((status, stderr.lines().count()), (2, 1), "{stderr}");
}

#[test]
fn what_cannot_be_used_is_named() {
    let scratch = pair("has_digit");
    let directory = scratch.path();
    let refused = |arguments: &[&str], words: &str| {
        let all = [&["diff", "old.bc", "new.bc", "-o", "out"], arguments].concat();
        let (status, _, stderr) = call(directory, &all);
        assert_eq!(status, 2, "{stderr}");
        assert!(stderr.contains(words), "{stderr}");
        let lines = stderr.lines().count();
        assert!(lines == 1 && stderr.starts_with("p3-ir: "), "{stderr}");
    };
    refused(&["--engine", "magic"], "known: libfuzzer, afl, klee");
    refused(&["--args", "@arg"], "expected @arg:N");
    refused(&["--seed", "a b"], "");
    refused(&["--seed", "< nowhere"], "nowhere");
    refused(&["--time", "0"], "no time at all");
    refused(&["--timeout", "0"], "no time at all");
    refused(&["--max-stdin", "99999999"], "99999999 bytes are too many");
    refused(&["--engine", "afl,klee,afl"], "afl is named twice");
    refused(&["--args", "@args:2-1:3"], "MIN-MAX must be");
    refused(&["--args", "@stdin:3 @stdin:4"], "more than one @stdin");
    refused(&["--args", "@stdin:3", "--no-stdin"], "contradict");
    refused(&["--args", "@arg:9999999999"], "more than 1048576 bytes");
    refused(&["--args", "'a\\n'"], "the fuzzers cannot be given");
    refused(&["--args", "-n @arg:2", "--seed", "-n abc"], "does not fit");
    refused(&["--expect", "nowhere"], "nowhere");
    assert!(!directory.join("out").exists());
    fs::create_dir(directory.join("full")).unwrap();
    fs::write(directory.join("full/file"), "").unwrap();
    let (status, _, stderr) = call(directory, &["diff", "old.bc", "new.bc", "-o", "full"]);
    assert_eq!(status, 2);
    assert!(stderr.contains("full: is not empty"), "{stderr}");
    let alone = common::p3_ir(directory)
        .args(["diff", "old.bc", "new.bc", "--engine", "klee"])
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    let (status, _, stderr) = texts(alone);
    assert_eq!(status, 2);
    assert!(
        stderr.contains("klee: not found") && stderr.contains("klee-se.org"),
        "{stderr}"
    );
}

#[test]
fn functions_of_a_library_are_compared_without_a_main() {
    let scratch = pair("checksum");
    let directory = scratch.path();
    let entry = ["--entry", "checksum"];
    let (status, stdout, report) = diff(directory, &[&entry[..], &["--time", "40"]].concat());
    let found = visible(&report);
    assert_eq!((status, found.len()), (1, 1), "{stdout}");
    let named = found[0]["input"]["call"].as_str().unwrap();
    assert!(named.starts_with("checksum(data = \""), "{named}");
    assert_eq!(report["template"], "@stdin:4096");
    // What the driver prints is no place of theirs.
    let place = found[0]["places"][0]["file"].as_str().unwrap();
    assert!(place.ends_with("checksum.c"), "{place}");
    assert!(stdout.contains(&format!("   input: {named}\n")), "{stdout}");
    let repro = Command::new("sh")
        .arg("out/findings/01-output/repro.sh")
        .current_dir(directory)
        .output()
        .unwrap();
    let repro = String::from_utf8_lossy(&repro.stdout).into_owned();
    assert!(repro.contains("return = "), "{repro}");
    let (status, stdout, _) = call(directory, &["replay", "out"]);
    assert_eq!(status, 1);
    assert!(
        stdout.contains("out/findings/01-output: output differs\n"),
        "{stdout}"
    );
    let same = ["replay", "out", "--versions", "old.bc", "old.bc"];
    let (status, stdout, _) = call(directory, &same);
    assert_eq!(status, 0, "{stdout}");
    let refused = [
        "diff", "old.bc", "new.bc", "-o", "no", "--entry", "checksum", "--args", "x",
    ];
    let (status, _, stderr) = call(directory, &refused);
    let reason = "p3-ir: --args: an entry function's arguments are made of standard input\n";
    assert_eq!((status, stderr.as_str()), (2, reason));
}

/// One of so many paths that KLEE does not come by it alone.
#[test]
fn seeds_of_functions_reach_klee() {
    if !has_klee() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = r#"
#include <stddef.h>
#include <stdint.h>
struct item { short kind; const char *name; };
static uint32_t walk(const char *text, size_t size) {
  uint32_t way = 1;
  for (size_t i = 0; i < size; i++)
    if (text[i] & 1)
      way = way * 3 + 1;
    else if (text[i] & 2)
      way = way * 5 + 2;
    else
      way = way * 7 + 3;
  return way;
}
int known(int key, const struct item *item, const char *bytes, size_t size) {
  const char *name = item->name;
  size_t length = 0;
  while (name[length])
    length++;
  if (key != 7 || walk(name, length) != NAME || walk(bytes, size) != BYTES)
    return 0;
  return item->kind > 0x100 && V == 2 ? 2 : 1;
}
"#;
    let walk = |text: &[u8]| {
        text.iter().fold(1u32, |way, byte| match byte & 3 {
            1 | 3 => way.wrapping_mul(3).wrapping_add(1),
            2 => way.wrapping_mul(5).wrapping_add(2),
            _ => way.wrapping_mul(7).wrapping_add(3),
        })
    };
    fs::write(directory.join("seeds.c"), source).unwrap();
    let name = format!("-DNAME={}u", walk(b"wheels"));
    let bytes = format!("-DBYTES={}u", walk(b"abcdefgh"));
    for (version, file) in [("1", "old.bc"), ("2", "new.bc")] {
        compile(directory, "seeds.c", version, file, &["-g", &name, &bytes]);
    }
    fs::write(directory.join("call"), b"\x07\0\0\0\x01\0wheels\0abcdefgh").unwrap();
    let arguments = ["--engine", "klee", "--time", "60", "--max-stdin", "24"];
    let chosen = ["--entry", "known", "--seed", "< call"];
    let (status, stdout, report) = diff(directory, &[&arguments[..], &chosen].concat());
    assert_eq!(status, 1, "{stdout}");
    assert_eq!(visible(&report)[0]["class"], "output", "{stdout}");
}

#[test]
fn klee_follows_every_path_of_a_function() {
    if !has_klee() {
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let source = "
        struct pair { short a, b; };
        int fixed(int i, const struct pair *p) { return V == 1 ? i * 2 + p->a : i + i + p->a; }
        int late(int i, const char *text) { return i == 77 && text[0] == 'x' ? V : 0; }
        int text(const char *text) { return text[0] == 'x' && text[1] == 'y' ? V : 0; }";
    fs::write(scratch.path().join("library.c"), source).unwrap();
    for (version, file) in [("1", "old.bc"), ("2", "new.bc")] {
        compile(scratch.path(), "library.c", version, file, &["-g"]);
    }
    let klee = ["--engine", "klee", "--time", "60", "--entry"];
    let (status, stdout, _) = diff(scratch.path(), &[&klee[..], &["fixed"]].concat());
    let verdict = "equivalent on all arguments that --entry makes: KLEE finished every path\n";
    assert!(status == 0 && stdout.starts_with(verdict), "{stdout}");
    let (status, _, report) = diff(scratch.path(), &[&klee[..], &["text"]].concat());
    assert_eq!(status, 1);
    assert_eq!(visible(&report)[0]["input"]["call"], "text(text = \"xy\")");
    // The bound is that of strings: what stands before them takes bytes, too.
    let late = ["late", "--max-stdin", "2"];
    let (status, _, report) = diff(scratch.path(), &[&klee[..], &late].concat());
    assert_eq!(status, 1);
    let named = &visible(&report)[0]["input"]["call"];
    assert_eq!(
        named.as_str().unwrap().split(' ').nth(2),
        Some("77,"),
        "{named}"
    );
}
