//! `merge --check divergence,returns` and `P3_ON_DIVERGENCE`: where versions leave lock-step is reported.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Status (-1: a signal) and standard error.
fn outcome(command: &mut Command) -> (i32, String) {
    let output = command.output().unwrap();
    let status = output.status.code().unwrap_or(-1);
    (status, String::from_utf8(output.stderr).unwrap())
}

fn p3_ir(directory: &Path, arguments: &[&str]) -> (i32, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_p3-ir"));
    outcome(command.args(arguments).current_dir(directory))
}

/// Versions differ at a branch for arguments beyond 'm', at a call through a pointer if there are two
/// arguments, and in the result of `rank` for 'q'.
const PROGRAM: &str = r#"
static int up(int c) { return c + 1; }
static int down(int c) { return c - 1; }
static int (*const table[])(int) = {up, down};
static volatile int late;
static int is_late(int c) {
  if (c > (V == 2 ? 'n' : 'm'))
    late = 1;
  return 0;
}
static int rank(int c) { return c * (1 + (c == 'q' && V == 2)); }
int main(int argc, char **argv) {
  volatile int sum = is_late(argv[1][0]) + rank(argv[1][0]);
  sum += table[(argc + V) % (argc > 2 ? 2 : 1)](sum);
  return 0;
}
"#;

fn product(directory: &Path, checks: &str, versions: [u8; 2]) {
    fs::write(directory.join("program.c"), PROGRAM).unwrap();
    for version in 1..=2 {
        let done = Command::new("clang-16")
            .args(["-g", "-c", "-emit-llvm", "program.c", "-o"])
            .arg(format!("v{version}.bc"))
            .arg(format!("-DV={version}"))
            .current_dir(directory)
            .status()
            .unwrap();
        assert!(done.success());
    }
    let files = versions.map(|version| format!("v{version}.bc"));
    let merge = ["merge", "--check", checks, &files[0], &files[1]];
    assert_eq!(p3_ir(directory, &merge), (0, String::new()));
    assert_eq!(p3_ir(directory, &["build", "product.bc"]).0, 0);
}

fn run(directory: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> (i32, String) {
    let mut command = Command::new(directory.join("product"));
    command.args(arguments).envs(environment.iter().copied());
    outcome(command.current_dir(directory))
}

#[test]
fn a_divergence_names_both_places_and_aborts() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    product(directory, "divergence", [1, 2]);
    assert_eq!(run(directory, &["a"], &[]), (0, String::new()));
    let aborted = -1;
    let (status, stderr) = run(directory, &["n"], &[]);
    assert_eq!(status, aborted);
    assert_eq!(
        stderr,
        "p3: divergence: version 2 (v2.bc) at program.c:7 parts from version 1 (v1.bc) at program.c:7: branch\n"
    );
    let (status, stderr) = run(directory, &["a", "b"], &[]);
    assert_eq!(status, aborted);
    assert_eq!(
        stderr,
        "p3: divergence: version 2 (v2.bc) at program.c:14 parts from version 1 (v1.bc) at program.c:14: call\n"
    );
}

#[test]
fn divergences_are_counted_or_logged_on_demand() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    product(directory, "divergence", [1, 2]);
    let log = run(directory, &["n", "b"], &[("P3_ON_DIVERGENCE", "log")]);
    assert_eq!((log.0, log.1.lines().count()), (0, 2));
    let counting = [("P3_ON_DIVERGENCE", "count"), ("P3_OUTDIR", ".")];
    assert_eq!(run(directory, &["n", "b"], &counting), (0, String::new()));
    let report = fs::read(directory.join("report.json")).unwrap();
    let report: Value = serde_json::from_slice(&report).unwrap();
    let kinds: Vec<(&str, u64)> = report["divergences"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one["kind"].as_str().unwrap(),
                one["count"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(kinds, [("branch", 1), ("call", 1)]);
    let (status, stderr) = run(directory, &["a"], &[("P3_ON_DIVERGENCE", "often")]);
    assert_eq!(status, 2);
    assert_eq!(
        stderr,
        "p3: P3_ON_DIVERGENCE=often: expected abort, count, explore or log\n"
    );
}

#[test]
fn different_results_are_found() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    product(directory, "returns", [1, 2]);
    assert_eq!(run(directory, &["a"], &[]), (0, String::new()));
    let (status, stderr) = run(directory, &["q"], &[]);
    assert_eq!(status, -1);
    assert!(
        stderr.starts_with("p3: returns: version 2 (v2.bc) at program.c:11 returns another value"),
        "{stderr}"
    );
}

#[test]
fn a_version_merged_with_itself_never_diverges() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    product(directory, "divergence,returns", [2, 2]);
    for arguments in [&["a"][..], &["q"], &["n", "b"]] {
        assert_eq!(run(directory, arguments, &[]), (0, String::new()));
    }
}
