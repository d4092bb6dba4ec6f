//! The pairs of C programs: input are seeds, output is whether every pair passed all that a case of the testsuite
//! goes through, whether a program merged with itself matches entirely, and whether merges can be repeated.

use crate::pair::{Pair, Relation};
use crate::{reduce, AS_TOOL};
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use testsuite::case::{self, Tools};
use testsuite::directives::Case;
use testsuite::tally::Tally;

/// Which pairs.
#[derive(clap::Args)]
pub struct PairArguments {
    /// The first pair's seed; the others follow
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many pairs
    #[arg(long, default_value_t = 100)]
    count: u64,
    /// Begin no more pairs after so many seconds
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<u64>,
    /// How many pairs at once
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Where pairs that fail are kept
    #[arg(long, value_name = "DIR", default_value = "p3-fuzz-failures")]
    pub keep: PathBuf,
    /// Reduce pairs that fail with cvise
    #[arg(long)]
    reduce: bool,
    /// Exit with 0 if the pair in the current directory, described by FILE, still fails (what --reduce asks)
    #[arg(long, value_name = "FILE", hide = true)]
    pub still_fails: Option<PathBuf>,
}

/// What became of the pairs.
#[derive(Default)]
struct Outcomes {
    /// Per relation.
    passed: BTreeMap<String, usize>,
    /// Per kind of change, in pairs that passed.
    changes: BTreeMap<String, usize>,
    failed: Vec<String>,
    unusable: Vec<String>,
}

impl std::fmt::Display for Outcomes {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let passed: usize = self.passed.values().sum();
        write!(
            f,
            "{passed} pairs passed {:?}, {} failed, {} seeds gave none",
            self.passed,
            self.failed.len(),
            self.unusable.len()
        )
    }
}

/// A line of progress stands behind so many pairs.
pub const PROGRESS: u64 = 20;

/// Whether every pair passed.
pub fn attack(arguments: &PairArguments) -> Result<bool> {
    println!("seeds {} and following", arguments.seed);
    let deadline = arguments
        .seconds
        .map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let next = AtomicU64::new(arguments.seed);
    let end = arguments.seed + arguments.count;
    let outcomes = Mutex::new(Outcomes::default());
    let tally = Arc::new(Tally::default());
    let is_broken = AtomicBool::new(false);
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs {
            scope.spawn(|| loop {
                let is_late = deadline.is_some_and(|deadline| Instant::now() > deadline);
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= end || is_late || is_broken.load(Ordering::Relaxed) {
                    break;
                }
                if let Err(error) = attack_with(seed, arguments, &tally, &outcomes) {
                    eprintln!("p3-fuzz: seed {seed}: {error:#}");
                    is_broken.store(true, Ordering::Relaxed);
                }
                let tried = seed + 1 - arguments.seed;
                if tried % PROGRESS == 0 {
                    let outcomes = outcomes.lock().expect("no thread panicked");
                    println!("{outcomes}, after {} s", begun.elapsed().as_secs());
                }
            });
        }
    });
    let outcomes = outcomes.into_inner().expect("no thread panicked");
    let passed: usize = outcomes.passed.values().sum();
    println!("{outcomes}");
    println!("changes in them: {:?}", outcomes.changes);
    print!("{tally}");
    anyhow::ensure!(!is_broken.load(Ordering::Relaxed), "stopped");
    anyhow::ensure!(passed + outcomes.failed.len() > 0, "no pair was tried");
    Ok(outcomes.failed.is_empty())
}

fn attack_with(
    seed: u64,
    arguments: &PairArguments,
    tally: &Arc<Tally>,
    outcomes: &Mutex<Outcomes>,
) -> Result<()> {
    let temporary = tempfile::tempdir()?;
    let directory = temporary.path();
    let pair = match Pair::draw(seed, directory) {
        Ok(Some(pair)) => pair,
        Ok(None) => {
            let mut outcomes = outcomes.lock().expect("no thread panicked");
            outcomes.unusable.push(seed.to_string());
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let mismatches = check(&pair, directory, tally)?;
    let relation = format!("{:?}", pair.relation);
    let mut outcomes = outcomes.lock().expect("no thread panicked");
    if mismatches.is_empty() {
        *outcomes.passed.entry(relation).or_default() += 1;
        for change in pair.changes {
            *outcomes.changes.entry(change).or_default() += 1;
        }
        return Ok(());
    }
    println!(
        "seed {seed} FAILED: {relation} {} {}, changes {:?}: {}",
        pair.levels.join(" "),
        pair.merge.join(" "),
        pair.changes,
        mismatches[0]
    );
    let kept = arguments.keep.join(seed.to_string());
    reduce::keep(&pair, directory, &kept).with_context(|| kept.display().to_string())?;
    println!("kept in {}", kept.display());
    outcomes.failed.push(mismatches[0].clone());
    drop(outcomes);
    if arguments.reduce {
        reduce::reduce(&kept)?;
    }
    Ok(())
}

/// All oracles on the pair in `directory`; one line per mismatch.
pub fn check(pair: &Pair, directory: &Path, tally: &Arc<Tally>) -> Result<Vec<String>> {
    let scratch = tempfile::tempdir()?;
    let is_itself = pair.relation == Relation::Itself;
    let mut mismatches = try_case(&pair.case(directory), is_itself, tally, scratch.path())?;
    if mismatches.is_empty() && !is_repeatable(pair, scratch.path())? {
        mismatches.push("another merge gives other bytes".to_string());
    }
    Ok(mismatches)
}

/// The testsuite's oracles on a case, and, if its versions are the same program, whether all nodes are matched.
pub fn try_case(
    case: &Case,
    is_itself: bool,
    tally: &Arc<Tally>,
    scratch: &Path,
) -> Result<Vec<String>> {
    let own_tally = match is_itself {
        true => Arc::new(Tally::default()),
        false => tally.clone(),
    };
    let tools = Tools {
        p3_ir: std::env::current_exe()?,
        p3_ir_env: vec![(AS_TOOL.to_string(), "1".to_string())],
        alone_only: false,
        woven: true,
        thorough: true,
        repeat: 1,
        tally: own_tally.clone(),
    };
    let mut mismatches = case::run(case, &tools, scratch)?;
    if is_itself && own_tally.unmatched() > 0 {
        mismatches.push(format!("{} nodes not matched", own_tally.unmatched()));
    }
    Ok(mismatches)
}

/// Whether the first level's product, which stands in `scratch`, comes out the same once more.
fn is_repeatable(pair: &Pair, scratch: &Path) -> Result<bool> {
    let level = &pair.levels[0];
    let again = scratch.join("again.bc");
    let mut merge = Command::new(std::env::current_exe()?);
    merge.env(AS_TOOL, "1").arg("merge");
    merge.args((1..=pair.versions).map(|v| scratch.join(format!("{v}{level}.v{v}.bc"))));
    merge.args(&pair.merge).arg("-o").arg(&again);
    let output = merge.output()?;
    anyhow::ensure!(output.status.success(), "the second merge failed");
    let name = format!("product{}.bc", level.replace('-', "_"));
    let first = std::fs::read(scratch.join(&name)).context(name)?;
    Ok(first == std::fs::read(again)?)
}
