//! `p3-ir run`: what it prints and how it exits.

mod common;
#[path = "common/program.rs"]
mod program;

use common::{call, p3_ir, texts};
use program::{compile, merge};
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn two_versions_are_merged_built_and_run() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    compile(directory, 2);
    let (status, stdout, stderr) = call(directory, &["run", "v1.bc", "v2.bc", "--", "output"]);
    assert_eq!((status, stderr.as_str()), (1, ""));
    let rows: Vec<&str> = stdout.lines().collect();
    assert_eq!(rows[0], "1 v1.bc  exit 0");
    assert_eq!(
        rows[3],
        "stdout: different from line 2, column 9 (byte 20) on"
    );
    assert!(rows[5].starts_with("common line  ") && rows[5].ends_with("   common line"));
    assert!(rows[6].starts_with("version 1  ") && rows[6].ends_with(" | version 2"));
    assert_eq!(rows.last(), Some(&"different: stdout"));
    assert!(!stdout.contains('\x1b'));
    let left: Vec<_> = fs::read_dir(directory).unwrap().collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

#[test]
fn exit_statuses_and_standard_error() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    merge(directory);
    assert_eq!(call(directory, &["build", "product.bc"]).0, 0);
    let run = |argument| call(directory, &["run", "./product", "--", argument]);
    assert_eq!(
        run("").1,
        "1 v1.bc  exit 0\n2 v2.bc  exit 0\n\nno difference\n"
    );
    assert_eq!(run("").0, 0);
    let (status, stdout, _) = run("status");
    assert_eq!(status, 1);
    assert_eq!(
        stdout,
        "1 v1.bc  exit 1\n2 v2.bc  exit 2\n\ndifferent: status\n"
    );
    let (status, stdout, stderr) = run("error");
    assert_eq!((status, stderr.as_str()), (1, ""));
    assert!(stdout.contains("./product: error in 1"), "{stdout}");
}

#[test]
fn a_product_is_built_first_and_reads_the_given_file() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    merge(directory);
    fs::write(directory.join("input"), "some input\n").unwrap();
    let run = ["run", "product.bc", "--stdin", "input", "--", "cat"];
    let (status, stdout, _) = call(directory, &run);
    assert_eq!(status, 0);
    assert!(stdout.contains("stdout: equal\nsome input\n"), "{stdout}");

    let run = ["run", "product.bc", "--stdin", "nowhere", "--", "cat"];
    let (status, _, stderr) = call(directory, &run);
    assert_eq!(status, 2);
    assert!(stderr.starts_with("p3-ir: nowhere: "), "{stderr}");
}

#[test]
fn versions_with_equal_output_are_shown_together() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    compile(directory, 4);
    let versions = ["run", "v1.bc", "v2.bc", "v3.bc", "v4.bc", "--", "last"];
    let (status, stdout, _) = call(directory, &versions);
    assert_eq!(status, 1);
    assert!(stdout.contains("1, 2, 4 v1.bc "), "{stdout}");
    assert!(stdout.contains(" 3 v3.bc\n"), "{stdout}");
}

#[test]
fn json_is_one_object_with_every_byte() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    merge(directory);
    let (status, stdout, _) = call(directory, &["run", "--json", "product.bc", "--", "binary"]);
    assert_eq!(status, 1);
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(json["difference"], true);
    assert_eq!(json["inconclusive"], serde_json::Value::Null);
    assert_eq!(json["versions"][1]["name"], "v2.bc");
    assert_eq!(json["versions"][1]["status"], "exit 0");
    assert_eq!(json["versions"][1]["stdout"]["base64"], "/wI=");
    assert_eq!(json["versions"][1]["stderr"]["text"], "");
    assert_eq!(json["differences"][0]["offset"], 1);
    assert_eq!(json["differences"][0]["bytes"][1], 2);
}

#[test]
fn colours_and_control_bytes() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    merge(directory);
    let run = |color| {
        call(
            directory,
            &["run", "product.bc", "--color", color, "--", "escape"],
        )
        .1
    };
    let (plain, coloured) = (run("auto"), run("always"));
    assert!(
        plain.contains("\u{241b}[31m1") && !plain.contains('\x1b'),
        "{plain}"
    );
    assert!(
        coloured.contains("\x1b[31m\u{241b}[31m1\x1b[0m"),
        "{coloured}"
    );
    assert_eq!(run("never"), plain);
}

#[test]
fn a_timeout_is_inconclusive() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    merge(directory);
    let start = Instant::now();
    let run = [
        "run",
        "--timeout",
        "0.5",
        "--json",
        "product.bc",
        "--",
        "sleep",
    ];
    let (status, stdout, stderr) = call(directory, &run);
    assert_eq!(status, 5);
    assert!(
        stderr.contains("inconclusive: no end after 0.5 s"),
        "{stderr}"
    );
    let json: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(json["inconclusive"], "no end after 0.5 s");
    assert!(start.elapsed() < Duration::from_secs(50));

    let (status, _, stderr) = call(directory, &["run", "--timeout", "-1", "product.bc"]);
    assert_eq!(status, 2, "{stderr}");
}

#[test]
fn what_is_no_product_is_not_run_or_named() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    merge(directory);
    let script = directory.join("script");
    fs::write(&script, "#!/bin/sh\nexit 0\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    for (file, reason) in [
        ("/bin/true", "not a product"),
        ("script", "not a product"),
        ("v1.bc", "not a product"),
        ("program.c", ""),
        ("missing", "No such file"),
    ] {
        let (status, stdout, stderr) = call(directory, &["run", file]);
        assert_eq!((status, stdout.as_str()), (2, ""), "{file}: {stderr}");
        assert!(
            stderr.starts_with(&format!("p3-ir: {file}: {reason}")),
            "{stderr}"
        );
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

#[test]
fn a_sanitizers_report_is_inconclusive_and_shown() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    merge(directory);
    let build = ["build", "product.bc", "-o", "asan", "--sanitize", "address"];
    assert_eq!(call(directory, &build).0, 0);
    let (status, stdout, stderr) = call(directory, &["run", "asan", "--", "overflow"]);
    assert_eq!((status, stdout.as_str()), (5, ""));
    assert!(stderr.contains("heap-buffer-overflow"), "{stderr}");
    assert!(stderr.contains("p3-ir: asan: inconclusive: "), "{stderr}");
}

#[test]
fn everything_can_be_kept() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    compile(directory, 2);
    let run = ["run", "--keep", "kept", "v1.bc", "v2.bc", "--", "output"];
    assert_eq!(call(directory, &run).0, 1);
    for file in [
        "product.bc",
        "product",
        "out/1.stdout",
        "out/2.status",
        "out/report.json",
    ] {
        assert!(directory.join("kept").join(file).exists(), "{file}");
    }
    let second = fs::read_to_string(directory.join("kept/out/2.stdout")).unwrap();
    assert_eq!(second, "common line\nversion 2\n");
}

#[test]
fn libraries_are_given_to_clang() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = "#include <math.h>\nint main(int argc, char **argv) { return lgamma(argc) > 1; }";
    fs::write(directory.join("m.c"), source).unwrap();
    let compiled = std::process::Command::new("clang-16")
        .args(["-c", "-emit-llvm", "m.c"])
        .current_dir(directory)
        .status();
    assert!(compiled.unwrap().success());
    let (status, _, stderr) = call(directory, &["run", "m.bc", "m.bc"]);
    assert_eq!(status, 2);
    assert!(stderr.contains("undefined reference"), "{stderr}");
    let output = p3_ir(directory)
        .args(["run", "--clang-flag=-lm", "m.bc", "m.bc"])
        .output()
        .unwrap();
    assert_eq!(texts(output).0, 0);
}

#[test]
fn a_reader_that_is_gone_ends_versions_that_are_not_shown_too() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    merge(directory);
    assert_eq!(call(directory, &["build", "product.bc"]).0, 0);
    for show in ["none", "1"] {
        let mut child = Command::new(directory.join("product"))
            .arg("cat")
            .env("P3_SHOW", show)
            .env("P3_STATUS", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        child.stdin.take().unwrap().write_all(b"text\n").unwrap();
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(13), "{show}");
    }
}

/// Makes `product` of the two versions of a source, and `v1` and `v2` alone.
fn product_of(directory: &Path, source: &str) {
    fs::write(directory.join("source.c"), source).unwrap();
    let clang = |arguments: &[&str]| {
        let done = Command::new("clang-16")
            .args(arguments)
            .current_dir(directory)
            .status();
        assert!(done.unwrap().success());
    };
    for version in ["1", "2"] {
        let (bitcode, define) = (format!("v{version}.bc"), format!("-DV={version}"));
        clang(&[
            "-g",
            "-c",
            "-emit-llvm",
            "source.c",
            "-o",
            &bitcode,
            &define,
        ]);
        clang(&[&bitcode, "-o", &format!("v{version}")]);
    }
    let merge = ["merge", "v1.bc", "v2.bc", "--check", "none"];
    assert_eq!(call(directory, &merge).0, 0);
    let build = ["build", "product.bc", "-o", "product"];
    assert_eq!(call(directory, &build).0, 0);
}

/// What the runtime keeps for itself must not be what a limit on files strikes.
#[test]
fn limits_on_files_are_the_versions_own() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = r#"
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int main(void) {
  int wrong = time(NULL) < 1000;
  for (int i = 0; i < 100000; i++)
    wrong += clock() < 0;
  char *text = malloc(3000);
  for (int i = 0; i < 3000; i++)
    text[i] = 'a';
  wrong += write(1, text, 3000) != 3000;
  puts(V == 1 ? "end" : "END");
  return wrong;
}
"#;
    product_of(directory, source);
    // In units of 1024 bytes: less than the runtime's own files have, and more.
    for limit in ["4", "8", "64", "9000", "unlimited"] {
        let script = format!("ulimit -f {limit} && exec ./product");
        let output = Command::new("bash")
            .args(["-c", &script])
            .envs([("P3_SHOW", "1"), ("P3_STATUS", "1")])
            .current_dir(directory)
            .output();
        let (status, stdout, stderr) = texts(output.unwrap());
        assert_eq!((status, stderr.as_str()), (0, ""), "{limit}");
        assert!(stdout.ends_with("aend\n"), "{limit}");
    }
}

/// Every version may have as many descriptors as its soft limit says, whatever the others and the runtime have,
/// also after it has raised that limit.
#[test]
fn the_soft_limit_of_descriptors_is_the_versions_own() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = r#"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
static void open_all(const char *when) {
  int first = open("/dev/null", O_RDONLY), last = first, count = 0;
  for (int fd = first; fd >= 0; fd = open("/dev/null", O_RDONLY), count++)
    last = fd;
  printf("%s: %d, last %d, %d\n", when, count, last, errno == EMFILE);
  while (last >= first)
    close(last--);
}
int main(void) {
  struct rlimit limit;
  open_all("at first");
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_cur * 3 / 2 + V;
  printf("%d\n", setrlimit(RLIMIT_NOFILE, &limit));
  open_all("raised");
  return 0;
}
"#;
    product_of(directory, source);
    for (limit, version) in [("64", "1"), ("64", "2"), ("1024", "1"), ("1024", "2")] {
        let run = |program: &str| {
            let script = format!("ulimit -Sn {limit} && exec ./{program}");
            let output = Command::new("bash")
                .args(["-c", &script])
                .envs([("P3_SHOW", version), ("P3_STATUS", version)])
                .current_dir(directory)
                .output();
            texts(output.unwrap())
        };
        assert_eq!(run("product"), run(&format!("v{version}")), "{limit}");
    }
}
