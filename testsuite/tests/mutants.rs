//! `cargo test -p testsuite --test mutants`: breaks products in one place each and counts who notices.
//!
//! A mutant is a product in which one instruction is missing, exchanged or wired to another value
//! (`p3_passes::mutation`). The checker sees it first; if it accepts, the product is built and run like that of the
//! case, so that what a version does is compared with what it does alone. At least 95 % have to be noticed.
//! Mutants that LLVM's verifier rejects are not counted; those that nobody notices are counted as missed, although
//! some of them may do the same as the product. `P3_MUTANTS=N` makes N mutants instead of 100, `P3_MUTANTS_FIRST=N`
//! other ones, `P3_MUTANTS_LIST=1` prints each.

use p3_passes::load::Input;
use p3_passes::mutation::{self, Mutant};
use p3_passes::pipeline::{self, Options, PrepareLevel, ProductChecks};
use p3_passes::weave::WeaveOptions;
use p3_passes::{new_context, Error, Module};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use testsuite::case::{Reference, Tools};
use testsuite::directives::{read_cases, Case};
use testsuite::tally::Tally;

/// Set to a seed when this executable is started to make one mutant, in a process of its own.
const SEED: &str = "P3_MUTANT_SEED";
/// The exit status if the seed leads to no mutant.
const NO_MUTANT: u8 = 9;
/// The exit status if the checker rejects the mutant.
const REJECTED: u8 = 8;

/// The cases that are broken, and at which level.
const CASES: [(&str, &str); 16] = [
    ("has_digit", "-O0"),
    ("weave_exit_nested", "-O1"),
    ("weave_irreducible", "-O0"),
    ("weave_duff", "-O2"),
    ("weave_callbacks", "-O0"),
    ("weave_recursion", "-O1"),
    ("weave_if_switch", "-O0"),
    ("weave_parameters", "-O0"),
    ("weave_n_sort.3", "-O1"),
    ("weave_n_calculator.4", "-O0"),
    ("weave_unrolled", "-O1"),
    ("klee_parser", "-O0"),
    ("klee_machine", "-O1"),
    ("exit_deep", "-O1"),
    ("versions_four", "-O0"),
    ("system", "-O0"),
];

/// What became of mutants of one kind.
#[derive(Clone, Copy, Default)]
struct Count {
    checker: usize,
    runs: usize,
    missed: usize,
}

fn number(name: &str, default: usize) -> usize {
    let value = std::env::var(name).ok();
    value
        .and_then(|value| value.parse().ok())
        .unwrap_or(default)
}

fn main() -> ExitCode {
    if let Ok(seed) = std::env::var(SEED) {
        return make_mutant(&seed);
    }
    // Like other tests: nothing to list, and other tests' names select nothing here.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let is_chosen =
        |argument: &String| argument.starts_with('-') || "mutants".contains(argument.as_str());
    if arguments.iter().any(|a| a == "--list") || !arguments.iter().all(is_chosen) {
        return ExitCode::SUCCESS;
    }
    match run_all() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("mutants: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Merges the versions named as arguments behind the product's name, and breaks the product.
fn make_mutant(seed: &str) -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Ok(seed), Some(product)) = (seed.parse(), arguments.next()) else {
        return ExitCode::FAILURE;
    };
    let inputs: Vec<OsString> = arguments.collect();
    let options = Options {
        inputs: inputs.iter().map(|input| Input::parse(input)).collect(),
        entry: "main".to_string(),
        prepare: PrepareLevel::Fold,
        checks: ProductChecks::default(),
        native_libraries: Vec::new(),
        weave: WeaveOptions::default(),
        harness: false,
        sites: false,
        verify: true,
    };
    let mut mutant: Option<Mutant> = None;
    let mut is_tried = false;
    let mut observe = |pass: &'static str, _: Option<usize>, module: &Module| {
        if pass == "weave" {
            is_tried = true;
            mutant = mutation::mutate(module, seed);
            if mutant.is_none() {
                return Err(Error::internal("mutation", "no mutant"));
            }
        }
        Ok(())
    };
    let context = new_context();
    let merged = pipeline::merge(&context, &options, &mut observe);
    let Some(mutant) = mutant else {
        return match (merged, is_tried) {
            (Err(error), false) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
            _ => ExitCode::from(NO_MUTANT),
        };
    };
    println!("{}\t{}", mutant.kind, mutant.what);
    match merged {
        Ok(merged) => match merged.module.write_bitcode_to_path(Path::new(&product)) {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        },
        Err(Error::Internal { pass, reason }) if pass == "check" => {
            println!("{reason}");
            ExitCode::from(REJECTED)
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run_all() -> anyhow::Result<bool> {
    let wanted = number("P3_MUTANTS", 100);
    let first = number("P3_MUTANTS_FIRST", 0) as u64;
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let mut all: BTreeMap<String, Case> = BTreeMap::new();
    for mut case in read_cases(&directory)? {
        for run in &mut case.runs {
            run.timeout = run.timeout.min(Duration::from_secs(5));
        }
        all.insert(case.name.clone(), case);
    }
    let tools = Tools {
        p3_ir: std::env::current_exe()?,
        p3_ir_env: Vec::new(),
        alone_only: false,
        woven: true,
        thorough: false,
        repeat: 1,
        tally: Arc::new(Tally::default()),
    };
    let next = AtomicUsize::new(0);
    let counts: Mutex<BTreeMap<String, Count>> = Mutex::default();
    let failures: Mutex<Vec<String>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(&(name, level)) = CASES.get(index) else {
                    break;
                };
                let share = wanted / CASES.len() + usize::from(index < wanted % CASES.len());
                let done = match all.get(name) {
                    Some(case) => {
                        let seeds = first + 1_000_000 * index as u64;
                        mutate_case(case, level, &tools, seeds, share, &counts)
                    }
                    None => Err(anyhow::anyhow!("no such case")),
                };
                if let Err(error) = done {
                    let mut failures = failures.lock().expect("nobody panics with it");
                    failures.push(format!("{name} {level}: {error:#}"));
                }
            });
        }
    });
    let failures = failures.into_inner()?;
    for failure in &failures {
        println!("{failure}");
    }
    let counts = counts.into_inner()?;
    println!(
        "{:<10} {:>8} {:>8} {:>8}",
        "mutants", "checker", "runs", "missed"
    );
    let mut sum = Count::default();
    for (kind, count) in &counts {
        println!(
            "{kind:<10} {:>8} {:>8} {:>8}",
            count.checker, count.runs, count.missed
        );
        sum.checker += count.checker;
        sum.runs += count.runs;
        sum.missed += count.missed;
    }
    let made = sum.checker + sum.runs + sum.missed;
    println!(
        "{:<10} {:>8} {:>8} {:>8}",
        "all", sum.checker, sum.runs, sum.missed
    );
    println!("noticed: {} of {made}", made - sum.missed);
    Ok(failures.is_empty() && made == wanted && (made - sum.missed) * 100 >= made * 95)
}

/// Makes `share` mutants of a case's product.
fn mutate_case(
    case: &Case,
    level: &str,
    tools: &Tools,
    first_seed: u64,
    share: usize,
    counts: &Mutex<BTreeMap<String, Count>>,
) -> anyhow::Result<()> {
    let scratch = tempfile::tempdir()?;
    let mut reference = Reference::new(case, tools, scratch.path(), level)?;
    let product = scratch.path().join("mutant.bc");
    let is_listed = std::env::var_os("P3_MUTANTS_LIST").is_some();
    let mut made = 0;
    for seed in (first_seed..).take(share * 50) {
        if made == share {
            break;
        }
        let mut command = Command::new(&tools.p3_ir);
        command.env(SEED, seed.to_string()).arg(&product);
        let output = command.args(reference.modules()).output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let verdict = match output.status.code() {
            Some(code) if code == i32::from(NO_MUTANT) => continue,
            Some(code) if code == i32::from(REJECTED) => "checker",
            Some(0) if reference.mismatches(&product)?.is_empty() => "missed",
            Some(0) => "runs",
            _ => anyhow::bail!(
                "seed {seed}: {} {text}{}",
                output.status,
                String::from_utf8_lossy(&output.stderr)
            ),
        };
        made += 1;
        let mut counts = counts.lock().expect("nobody panics with it");
        let kind = text.split('\t').next().unwrap_or_default();
        let count = counts.entry(kind.to_string()).or_default();
        match verdict {
            "checker" => count.checker += 1,
            "runs" => count.runs += 1,
            _ => count.missed += 1,
        }
        if is_listed || verdict == "missed" {
            println!(
                "{verdict}: {} {level}, seed {seed}: {}",
                case.name,
                text.trim().replace('\n', ": ")
            );
        }
    }
    anyhow::ensure!(made == share, "only {made} of {share} mutants");
    Ok(())
}
