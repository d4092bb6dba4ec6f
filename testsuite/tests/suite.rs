//! `cargo test -p testsuite [NAME]`: every case as one test.
//!
//! `P3_TESTSUITE_KEEP=DIR` keeps what is compiled and run in DIR, `P3_TESTSUITE_ALL=1` prints all mismatches of
//! a case instead of the first, `P3_TESTSUITE_ALONE=1` only runs the versions alone, `P3_TESTSUITE_NO_WEAVE=1`
//! keeps the products sequential, `P3_TESTSUITE_THOROUGH=1` leaves no product out, `P3_TESTSUITE_REPEAT=20` tries
//! each run 20 times.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use testsuite::case::{self, Tools};
use testsuite::directives::{read_cases, Case};
use testsuite::tally::Tally;

/// Set when this executable is started as `p3-ir`: the merge runs in a process of its own, so that a crash
/// fails one case, and needs no executable that another package must have built.
const AS_TOOL: &str = "P3_TESTSUITE_AS_TOOL";

fn main() -> ExitCode {
    if std::env::var_os(AS_TOOL).is_some() {
        return p3_ir::main();
    }
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(2);

    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let cases = match read_cases(&directory) {
        Ok(cases) => cases,
        Err(error) => {
            eprintln!("{error:#}");
            return ExitCode::FAILURE;
        }
    };
    let tools = Tools {
        p3_ir: std::env::current_exe().expect("this process has an executable"),
        p3_ir_env: vec![(AS_TOOL.to_string(), "1".to_string())],
        alone_only: std::env::var_os("P3_TESTSUITE_ALONE").is_some(),
        woven: std::env::var_os("P3_TESTSUITE_NO_WEAVE").is_none(),
        thorough: std::env::var_os("P3_TESTSUITE_THOROUGH").is_some(),
        repeat: repeat(),
        tally: Arc::new(Tally::default()),
    };
    let tally = tools.tally.clone();
    let have_klee = on_path("klee");
    let mut trials = Vec::new();
    for case in cases {
        if case.klee.is_some() {
            let (case, tools) = (case.clone(), tools.clone());
            let name = format!("{}.klee", case.name);
            if !have_klee {
                eprintln!("{name}: skipped: no klee");
            }
            let trial = Trial::test(name.clone(), move || {
                in_scratch(&name, &|scratch| case::run_klee(&case, &tools, scratch))
            });
            trials.push(trial.with_ignored_flag(!have_klee));
        }
        let tools = tools.clone();
        trials.push(Trial::test(case.name.clone(), move || run(&case, &tools)));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        print!("{tally}");
    }
    conclusion.exit_code()
}

fn run(case: &Case, tools: &Tools) -> Result<(), Failed> {
    in_scratch(&case.name, &|scratch| case::run(case, tools, scratch))
}

/// Calls `body` with a fresh directory and turns its mismatches into one line.
fn in_scratch(
    name: &str,
    body: &dyn Fn(&Path) -> anyhow::Result<Vec<String>>,
) -> Result<(), Failed> {
    let temporary = tempfile::tempdir().map_err(|e| Failed::from(e.to_string()))?;
    let mut scratch = temporary.path().to_path_buf();
    if let Some(keep) = std::env::var_os("P3_TESTSUITE_KEEP").filter(|keep| !keep.is_empty()) {
        scratch = PathBuf::from(keep).join(name);
        let _ = std::fs::remove_dir_all(&scratch);
        scratch = std::fs::create_dir_all(&scratch)
            .and_then(|()| scratch.canonicalize())
            .map_err(|e| Failed::from(e.to_string()))?;
    }
    let mismatches = body(&scratch).map_err(|e| Failed::from(format!("{name}: {e:#}")))?;
    match mismatches.split_first() {
        None => Ok(()),
        Some(_) if std::env::var_os("P3_TESTSUITE_ALL").is_some() => {
            Err(Failed::from(mismatches.join("\n")))
        }
        Some((first, [])) => Err(Failed::from(format!("{name}: {first}"))),
        Some((first, rest)) => Err(Failed::from(format!(
            "{name}: {first} (and {} more)",
            rest.len()
        ))),
    }
}

/// `P3_TESTSUITE_REPEAT`, else 1.
fn repeat() -> usize {
    match std::env::var("P3_TESTSUITE_REPEAT") {
        Ok(text) => text
            .parse()
            .unwrap_or_else(|_| panic!("P3_TESTSUITE_REPEAT={text} is not a number")),
        Err(_) => 1,
    }
}

fn on_path(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| dir.join(program).is_file()))
}
