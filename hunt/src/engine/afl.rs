//! AFL++: the same harness, instrumented by clang, linked by AFL++ and run in its persistent mode.
//!
//! Debian's AFL++ is built on another LLVM and cannot read the product's bitcode, but what it links only has to
//! be instrumented with `trace-pc-guard`.

use super::harness::{files, Harness};
use super::{Engine, EngineReport, Sink, Task};
use crate::background::Background;
use crate::input::read;
use crate::process::spawn;
use crate::programs::Sources;
use p3_passes::build::{self, Sanitizer};
use p3_passes::execute::{self, interrupt_group, kill_group};
use p3_passes::pipeline::Observer;
use p3_passes::{Error, Result};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const GLANCE: Duration = Duration::from_millis(200);
/// How long AFL++ may take to stop by itself.
const PATIENCE: Duration = Duration::from_secs(10);

/// Merges the harness and begins to build it.
pub(super) fn start(
    sources: &Sources,
    libraries: &[Sanitizer],
    directory: &Path,
    observe: &mut dyn Observer,
) -> Result<(Harness, Background<Vec<String>>)> {
    let harness = Harness::merge(sources, directory, observe)?;
    let (compiler, linker) = build(sources, libraries, &harness)?;
    let build = Background::start(|| {
        finish(compiler)?;
        finish(linker)?;
        Ok(Vec::new())
    });
    Ok((harness, build))
}

/// Lets AFL++ work on the harness.
pub(super) fn run(mut harness: Harness, task: &Task, sink: &mut dyn Sink) -> Result<EngineReport> {
    let mut report = EngineReport::new(Engine::Afl);
    let output = harness.directory.join("afl");
    let log = harness.directory.join("afl.log");
    let file = || File::create(&log).map_err(|e| Error::bad_input(&log, e));
    let mut command = Command::new("afl-fuzz");
    if let Some(dictionary) = harness.dictionary() {
        command.arg("-x").arg(dictionary);
    }
    command
        .arg("-i")
        .arg(&harness.corpus)
        .arg("-o")
        .arg(&output)
        .arg("-V")
        .arg(task.time.as_secs().max(1).to_string())
        .args(["-m", "none", "-D", "-c", "0", "-t"])
        .arg(task.sources.timeout.as_millis().to_string())
        .arg("--")
        .arg(harness.program())
        .current_dir(&harness.directory)
        .env("AFL_NO_UI", "1")
        .env("AFL_SKIP_CPUFREQ", "1")
        .env("AFL_NO_AFFINITY", "1")
        .env("AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES", "1")
        .env("AFL_FAST_CAL", "1")
        .stdin(Stdio::null())
        .stdout(file()?)
        .stderr(Stdio::null());
    harness.configure(&mut command, task);
    let mut afl = spawn(&mut command).map_err(|e| Error::bad_input("afl-fuzz", e))?;
    let waiting = |e| Error::internal("afl", format!("cannot wait: {e}"));
    let end = Instant::now() + task.time + PATIENCE;
    let status = loop {
        let status = afl.try_wait().map_err(waiting)?;
        let default = output.join("default");
        let queue = files(&default.join("queue"));
        report.paths = queue.len() as u64;
        let crashes = [
            files(&default.join("crashes")),
            files(&default.join("hangs")),
        ]
        .concat();
        // Its statistics come once a minute, its files at once.
        let known = figure(&default, "execs_done").unwrap_or(0);
        let named = queue
            .iter()
            .chain(&crashes)
            .filter_map(|path| runs_before(path));
        report.runs = named.fold(report.runs.max(known), u64::max);
        sink.progress(report.runs, report.paths);
        harness.collect(task, &crashes, sink)?;
        let has_new = harness.collect_some(task, &default.join("queue"), sink)?;
        if let Some(status) = status {
            break Some(status);
        }
        if !sink.wants_more() || Instant::now() > end {
            // It ends its own process, which is in another group, when it is asked to.
            interrupt_group(&afl);
            let last = Instant::now() + PATIENCE;
            while afl.try_wait().map_err(waiting)?.is_none() {
                if Instant::now() > last {
                    kill_group(&afl);
                    afl.wait().map_err(waiting)?;
                    break;
                }
                std::thread::sleep(GLANCE);
            }
            break None;
        }
        if !has_new {
            std::thread::sleep(GLANCE);
        }
    };
    if status.is_some_and(|status| !status.success()) {
        let log = String::from_utf8_lossy(&read(&log)?).into_owned();
        let line = log
            .lines()
            .find(|line| line.contains("PROGRAM ABORT") || line.contains("[-]"));
        report.failure = Some(
            line.or(log.lines().last())
                .unwrap_or_default()
                .trim()
                .to_string(),
        );
    }
    harness.collect_corpus(task, &output.join("default/queue"), sink)?;
    Ok(report)
}

/// Instruments with clang, links with AFL++'s driver.
fn build(
    sources: &Sources,
    libraries: &[Sanitizer],
    harness: &Harness,
) -> Result<(Command, Command)> {
    let object = harness.directory.join("harness.o");
    let names: Vec<&str> = libraries.iter().map(|s| s.name()).collect();
    let sanitizers = (!names.is_empty()).then(|| format!("-fsanitize={}", names.join(",")));
    let mut clang = Command::new(build::clang()?);
    clang
        .args([
            "-Wno-override-module",
            // AFL++ has functions for both, and what is compared goes to its CMPLOG.
            "-fsanitize-coverage=trace-pc-guard,trace-cmp",
            "-O1",
            "-c",
        ])
        .arg(harness.product())
        .arg("-o")
        .arg(&object);
    let mut linker = Command::new("afl-clang-fast");
    linker
        .arg("-fsanitize=fuzzer")
        .args(sanitizers)
        .arg(&object)
        .args(&sources.flags)
        // The runtime asks it about floating-point environments; clang++, which links for libFuzzer, adds it itself.
        .arg("-lm")
        .arg("-o")
        .arg(harness.program())
        .env("AFL_QUIET", "1");
    Ok((clang, linker))
}

/// Runs a compiler; its first complaint is the error.
fn finish(mut compiler: Command) -> Result<()> {
    let name = compiler.get_program().to_os_string();
    let done = execute::output(&mut compiler).map_err(|e| Error::bad_input(&name, e))?;
    if done.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&done.stderr);
    let is_telling = |line: &&str| line.contains("error") || line.contains("undefined");
    let line = text.lines().find(is_telling).or(text.lines().last());
    Err(Error::bad_input(name, line.unwrap_or_default()))
}

/// How many runs AFL++ had made before it kept an input, as the file's name says (`id:000010,...,execs:10851,...`).
fn runs_before(kept: &Path) -> Option<u64> {
    let name = kept.file_name()?.to_str()?;
    let field = name
        .split(',')
        .find_map(|part| part.strip_prefix("execs:"))?;
    field.parse().ok()
}

/// A figure of AFL++'s statistics.
fn figure(folder: &Path, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(folder.join("fuzzer_stats")).ok()?;
    let line = text
        .lines()
        .find(|line| line.split_whitespace().next() == Some(name))?;
    line.split_once(':')?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_in_the_names_of_kept_inputs() {
        let name = "queue/id:000010,src:000002,time:3655,execs:10851,op:havoc,rep:4,+cov";
        assert_eq!(runs_before(Path::new(name)), Some(10851));
        assert_eq!(runs_before(Path::new("queue/README.txt")), None);
    }
}
