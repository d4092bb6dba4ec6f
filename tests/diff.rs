//! `p3-ir diff`, `replay` and `minimise`: what they find, report and return. The pairs are in testsuite/pairs.

mod common;

use common::{call, texts};
use serde_json::Value;
use std::fs;
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
    let Some((scratch, status, stdout, report)) =
        klee("has_digit", &["--args", "@arg:8", "--no-stdin"])
    else {
        return;
    };
    let directory = scratch.path();
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

    replay_and_minimise(directory, &folder);
    accepted_differences(directory, finding);
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

fn accepted_differences(directory: &Path, finding: &Value) {
    let suggestion = finding["suggestion"].as_str().unwrap();
    let file = directory.join("expect");
    let again = [
        "--engine",
        "klee",
        "--args",
        "@arg:2",
        "--no-stdin",
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
    assert_eq!(finding["places"], serde_json::json!([null, null]));
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

#[test]
fn only_the_empty_input_differs() {
    let Some((_scratch, status, stdout, report)) = klee("empty_input", &["--max-stdin", "2"])
    else {
        return;
    };
    assert_eq!(status, 1, "{stdout}");
    assert_eq!(visible(&report)[0]["input"]["stdin"]["text"], "");
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

#[test]
fn what_cannot_be_used_is_named() {
    let scratch = pair("has_digit");
    let directory = scratch.path();
    let refused = |arguments: &[&str], words: &str| {
        let all = [&["diff", "old.bc", "new.bc", "-o", "out"], arguments].concat();
        let (status, _, stderr) = call(directory, &all);
        assert_eq!(status, 2, "{stderr}");
        assert!(stderr.contains(words), "{stderr}");
    };
    refused(&["--engine", "magic"], "known: libfuzzer, afl, klee");
    refused(&["--args", "@arg"], "expected @arg:N");
    refused(&["--seed", "a b"], "");
    refused(&["--seed", "< nowhere"], "nowhere");
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
