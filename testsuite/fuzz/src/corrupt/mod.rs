//! Damaged and hostile files: whatever is in them, p3-ir ends in time and with little memory, with what was asked for
//! or with one line that says why not.
//!
//! A case depends on its seed and the forms (see [`forms`]) alone. What is asked of each: exit status 0, 2 or 3, no
//! more than [`PATIENCE`] and [`MAX_MEMORY`], one line and no output file on a refusal, nothing else left behind.

mod damage;
mod forms;
mod hostile;

use anyhow::{Context, Result};
use fastrand::Rng;
use rustix::process::{setrlimit, Resource, Rlimit};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A run takes no longer. LLVM's reader is given 20 seconds of processor time, and the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);
/// No process needs more memory, in bytes.
const MAX_MEMORY: u64 = 1 << 30;
/// What a run can take before the system refuses it, so that a fault harms nobody else.
const ADDRESS_SPACE: u64 = 4 << 30;
/// What the output file holds before.
const BEFORE: &[u8] = b"was here before\n";
const OUTPUT: &str = "output";

/// What is tried.
#[derive(clap::Args)]
pub struct CorruptArguments {
    /// The first case's seed; the others follow
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many cases
    #[arg(long, default_value_t = 1000)]
    count: u64,
    /// Begin no more cases after so many seconds
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<u64>,
    /// Where cases that fail are kept
    #[arg(long, value_name = "DIR", default_value = "p3-fuzz-failures")]
    pub keep: PathBuf,
}

/// What became of the cases.
#[derive(Default)]
struct Outcomes {
    /// Per exit status.
    ended: BTreeMap<i32, u64>,
    failed: u64,
    longest: Duration,
    most_memory: u64,
}

/// Whether every case passed.
pub fn attack(arguments: &CorruptArguments) -> Result<bool> {
    println!("seeds {} and following", arguments.seed);
    let deadline = arguments
        .seconds
        .map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let scratch = tempfile::tempdir()?;
    let forms = forms::make(scratch.path())?;
    let mut outcomes = Outcomes::default();
    for seed in arguments.seed..arguments.seed + arguments.count {
        if deadline.is_some_and(|deadline| Instant::now() > deadline) {
            break;
        }
        let case = Case::draw(seed, &forms, scratch.path())?;
        let run = case.run(scratch.path())?;
        outcomes.longest = outcomes.longest.max(run.took);
        outcomes.most_memory = outcomes.most_memory.max(run.memory);
        *outcomes.ended.entry(run.code()).or_default() += 1;
        if let Some(fault) = case.fault(&run, scratch.path())? {
            outcomes.failed += 1;
            println!(
                "seed {seed} FAILED: {fault}: p3-ir {} [{}]",
                case.arguments.join(" "),
                case.what
            );
            let kept = arguments.keep.join(format!("corrupt-{seed}"));
            let keep = case.keep(scratch.path(), &kept, &run);
            keep.with_context(|| kept.display().to_string())?;
            println!("kept in {}", kept.display());
        }
        for name in &case.files {
            remove(&scratch.path().join(name))?;
        }
        if (seed - arguments.seed + 1) % 500 == 0 {
            println!("{outcomes}");
        }
    }
    println!("{outcomes}");
    anyhow::ensure!(!outcomes.ended.is_empty(), "no case was tried");
    Ok(outcomes.failed == 0)
}

impl std::fmt::Display for Outcomes {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(
            f,
            "{} files: exit status: number {:?}; {} failed; at most {:.1} s and {} MB",
            self.ended.values().sum::<u64>(),
            self.ended,
            self.failed,
            self.longest.as_secs_f64(),
            self.most_memory >> 20
        )
    }
}

fn remove(path: &Path) -> Result<()> {
    match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(path)?,
        Ok(_) => fs::remove_file(path)?,
        Err(_) => {}
    }
    Ok(())
}

/// Files in the scratch directory, and what p3-ir is asked to do with them.
struct Case {
    arguments: Vec<String>,
    /// What the files are, for messages.
    what: String,
    /// Made for this case.
    files: Vec<String>,
    /// Everything that stands in the directory before.
    there: BTreeSet<String>,
}

/// How p3-ir ended.
struct Run {
    status: Option<ExitStatus>,
    stderr: String,
    took: Duration,
    memory: u64,
}

impl Run {
    /// The exit status; 128 and more for signals, as in a shell; -1 for a run that took too long.
    fn code(&self) -> i32 {
        self.status.map_or(-1, |status| {
            status
                .code()
                .unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
        })
    }
}

impl Case {
    fn draw(seed: u64, forms: &[String], directory: &Path) -> Result<Case> {
        let mut rng = Rng::with_seed(seed);
        let (files, what) = if rng.u8(..6) == 0 {
            hostile::write(&mut rng, directory)?
        } else {
            let form = &forms[rng.usize(..forms.len())];
            let mut data = fs::read(directory.join(form))?;
            let kinds = damage::damage(form, &mut data, &mut rng);
            let name = format!("damaged-{form}");
            fs::write(directory.join(&name), data)?;
            (vec![name], format!("{form}: {}", kinds.join(", ")))
        };
        fs::write(directory.join(OUTPUT), BEFORE)?;
        Ok(Case {
            arguments: arguments(&mut rng, &files[0]),
            what,
            files,
            there: listing(directory)?,
        })
    }

    fn run(&self, directory: &Path) -> Result<Run> {
        let captured = tempfile::tempfile()?;
        let mut command = Command::new(std::env::current_exe()?);
        command
            .env(crate::AS_TOOL, "1")
            .env_remove("WLLVM_BC_STORE")
            .args(&self.arguments)
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(captured.try_clone()?)
            .process_group(0);
        let limit = Rlimit {
            current: Some(ADDRESS_SPACE),
            maximum: Some(ADDRESS_SPACE),
        };
        // SAFETY: one system call, which may be made between fork and exec.
        unsafe {
            command.pre_exec(move || Ok(setrlimit(Resource::As, limit)?));
        }
        let begun = Instant::now();
        let child = command.spawn().context("p3-ir")?;
        let (status, memory) = wait(child.id() as i32, begun + PATIENCE)?;
        Ok(Run {
            status,
            stderr: read_all(captured)?,
            took: begun.elapsed(),
            memory,
        })
    }

    /// What is wrong with how p3-ir ended.
    fn fault(&self, run: &Run, directory: &Path) -> Result<Option<String>> {
        let mut left: Vec<String> = listing(directory)?
            .difference(&self.there)
            .cloned()
            .collect();
        for name in &left {
            remove(&directory.join(name))?;
        }
        if run.code() == 0 {
            // Copies of native libraries belong to the product.
            left.retain(|name| !name.starts_with("output.native"));
        }
        let first = run.stderr.lines().next().unwrap_or_default();
        let code = run.code();
        let output = fs::read(directory.join(OUTPUT)).unwrap_or_default();
        let writes = self.arguments[0] != "align";
        let is_warning = |line: &str| line.starts_with("p3-ir: warning: ");
        Ok(match code {
            -1 => Some("does not end".to_string()),
            0 | 2 | 3 if run.memory > MAX_MEMORY => Some(format!("{} MB", run.memory >> 20)),
            0 if writes && output == BEFORE => Some("no output".to_string()),
            0 if !run.stderr.lines().all(is_warning) => Some(format!("says {first}")),
            0 | 2 | 3 if !left.is_empty() => Some(format!("leaves {} behind", left.join(" "))),
            2 | 3 if output != BEFORE => Some("touches the output file".to_string()),
            2 | 3 if run.stderr.lines().count() != 1 => {
                Some(format!("{} lines: {first}", run.stderr.lines().count()))
            }
            2 | 3 if !first.starts_with("p3-ir: ") || first.chars().count() > 8000 => Some(
                format!("says {}", first.chars().take(300).collect::<String>()),
            ),
            0 | 2 | 3 => None,
            _ => Some(format!("status {code}, says {first}")),
        })
    }

    /// Copies what is needed to try it again.
    fn keep(&self, directory: &Path, kept: &Path, run: &Run) -> Result<()> {
        fs::create_dir_all(kept)?;
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_used =
                self.files.contains(&name) || self.arguments.iter().any(|a| a.contains(&name));
            if is_used && entry.file_type()?.is_file() {
                fs::copy(entry.path(), kept.join(name))?;
            }
        }
        let text = format!(
            "{}\n{}\n{}",
            self.arguments.join(" "),
            self.what,
            run.stderr
        );
        fs::write(kept.join("case"), text)?;
        Ok(())
    }
}

/// What p3-ir is asked to do with `file`.
fn arguments(rng: &mut Rng, file: &str) -> Vec<String> {
    let mut words: Vec<&str> = match rng.u8(..20) {
        0 => vec!["align", file, "plain.bc"],
        1 => vec!["align", "debug.bc", file],
        2 => vec!["build", file],
        3 => vec!["dup", file, "--prefix", "x_"],
        4 => vec!["merge", "plain.bc", "plain.bc", "--native-lib", file],
        5 => vec!["merge", "plain.bc", "debug.bc", "--model", file],
        6..=8 => vec!["merge", "plain.bc", file],
        9..=11 => vec!["merge", file, file],
        12 => vec!["merge", file, "plain.bc", file, "debug.bc"],
        _ => vec!["merge", file, "plain.bc"],
    };
    let joined = [format!("plain.bc+{file}"), format!("{file}+debug.bc")];
    if words[0] == "merge" {
        match rng.u8(..16) {
            0 => words.extend(["--prepare", "none"]),
            1..=3 => words.extend(["--prepare", "O1"]),
            4 => words.push("--no-weave"),
            5 => words.push("--harness"),
            6 => words[1] = &joined[0],
            7 => words[1] = &joined[1],
            8 => words.extend(["--assert-equal-returns", "steps"]),
            _ => {}
        }
    }
    if words[0] != "align" {
        words.extend(["-o", OUTPUT]);
    }
    words.into_iter().map(String::from).collect()
}

fn listing(directory: &Path) -> Result<BTreeSet<String>> {
    fs::read_dir(directory)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect()
}

fn read_all(mut file: File) -> Result<String> {
    use std::io::{Read, Seek};
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// How the process ended, none if it had to be killed, and the most memory (bytes) that it or one of those that it
/// waited for had at a time.
fn wait(process: i32, deadline: Instant) -> Result<(Option<ExitStatus>, u64)> {
    let mut is_killed = false;
    loop {
        let mut status = 0;
        // SAFETY: plain data, which the call fills.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: both places are valid; the process is a child that nobody else waits for.
        let ended = unsafe { libc::wait4(process, &mut status, libc::WNOHANG, &mut usage) };
        if ended < 0 {
            return Err(std::io::Error::last_os_error()).context("waiting for p3-ir");
        }
        if ended == process {
            let status = (!is_killed).then(|| ExitStatus::from_raw(status));
            return Ok((status, usage.ru_maxrss as u64 * 1024));
        }
        if !is_killed && Instant::now() > deadline {
            // SAFETY: the group of a child that has not been waited for.
            unsafe { libc::kill(-process, libc::SIGKILL) };
            is_killed = true;
        }
        thread::sleep(Duration::from_millis(2));
    }
}
