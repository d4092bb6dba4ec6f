//! libFuzzer, which comes with clang: the harness in one process, started again whenever a version crashes.

use super::harness::{files, Harness};
use super::{Engine, EngineReport, Sink, Task};
use crate::background::Background;
use crate::input::read;
use crate::process::spawn;
use crate::programs::Sources;
use crate::sanitizer;
use p3_passes::build::Sanitizer;
use p3_passes::execute::kill_group;
use p3_passes::pipeline::Observer;
use p3_passes::{Error, Result};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const GLANCE: Duration = Duration::from_millis(100);
/// So many crashes in a row without a run in between mean that it does not work at all.
const TRIES: u32 = 3;

/// Merges the harness and begins to build it, with AddressSanitizer: a crash tells more than an overflow that goes
/// unnoticed.
pub(super) fn start(
    sources: &Sources,
    libraries: &[Sanitizer],
    directory: &Path,
    observe: &mut dyn Observer,
) -> Result<(Harness, Background<Vec<String>>)> {
    let harness = Harness::merge(sources, directory, observe)?;
    let job = harness.job(sources, libraries, observe)?;
    let build = Background::start(|| job.run());
    Ok((harness, build))
}

/// Lets libFuzzer work on the harness.
pub(super) fn run(mut harness: Harness, task: &Task, sink: &mut dyn Sink) -> Result<EngineReport> {
    let mut report = EngineReport::new(Engine::LibFuzzer);
    let deadline = Instant::now() + task.time;
    let mut failures = 0;
    for round in 1.. {
        let left = deadline.saturating_duration_since(Instant::now());
        if left < Duration::from_secs(1) || !sink.wants_more() {
            break;
        }
        let runs = fuzz(task, sink, &mut harness, &mut report, round, left)?;
        failures = if runs == 0 { failures + 1 } else { 0 };
        if failures == TRIES {
            let log = String::from_utf8_lossy(&read(&log(&harness, round))?).into_owned();
            let line = log
                .lines()
                .find(|line| line.contains("ERROR") || line.starts_with("p3:"));
            let line = line.or(log.lines().last()).unwrap_or_default();
            report.failure = Some(format!("it does not get beyond its first run: {line}"));
            break;
        }
    }
    harness.collect_corpus(task, &harness.corpus.clone(), sink)?;
    Ok(report)
}

fn log(harness: &Harness, round: u32) -> PathBuf {
    harness.directory.join(format!("{round}.log"))
}

/// One process of libFuzzer; returns its runs.
fn fuzz(
    task: &Task,
    sink: &mut dyn Sink,
    harness: &mut Harness,
    report: &mut EngineReport,
    round: u32,
    left: Duration,
) -> Result<u64> {
    let artifacts = harness.directory.join("crash-");
    let log = log(harness, round);
    let file = File::create(&log).map_err(|e| Error::bad_input(&log, e))?;
    let mut command = Command::new(harness.program());
    command
        .arg(format!("-max_total_time={}", left.as_secs().max(1)))
        .arg(format!("-artifact_prefix={}", artifacts.display()))
        .arg(format!("-max_len={}", task.template().largest()))
        .arg(format!(
            "-timeout={}",
            task.sources.timeout.as_secs().max(1)
        ))
        .args([
            "-print_final_stats=1",
            "-use_value_profile=1",
            "-detect_leaks=0",
            "-rss_limit_mb=2048",
        ])
        // Each round tries something else.
        .arg(format!("-seed={round}"))
        .arg(&harness.corpus)
        .current_dir(&harness.directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(file);
    if let Some(dictionary) = harness.dictionary() {
        command.arg(format!("-dict={}", dictionary.display()));
    }
    harness.configure(&mut command, task);
    command.env("ASAN_OPTIONS", "detect_leaks=0:allocator_may_return_null=1");
    if let Some(symbolizer) = sanitizer::symbolizer() {
        command.env("ASAN_SYMBOLIZER_PATH", symbolizer);
    }
    let mut fuzzer = spawn(&mut command).map_err(|e| Error::bad_input("libFuzzer", e))?;
    let waiting = |e| Error::internal("libfuzzer", format!("cannot wait: {e}"));
    let mut figures = Figures::default();
    loop {
        let status = fuzzer.try_wait().map_err(waiting)?;
        figures.update(&String::from_utf8_lossy(&read(&log)?));
        sink.progress(report.runs + figures.runs, figures.corpus.max(report.paths));
        let crashes = files(&harness.directory).into_iter().filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            ["crash-crash-", "crash-timeout-"]
                .iter()
                .any(|prefix| name.starts_with(prefix))
        });
        harness.collect(task, &crashes.collect::<Vec<_>>(), sink)?;
        if status.is_some() {
            break;
        }
        if !sink.wants_more() {
            kill_group(&fuzzer);
            fuzzer.wait().map_err(waiting)?;
            break;
        }
        std::thread::sleep(GLANCE);
    }
    report.runs += figures.runs;
    report.paths = report.paths.max(figures.corpus);
    Ok(figures.runs)
}

/// What libFuzzer's lines say.
#[derive(Default)]
struct Figures {
    runs: u64,
    corpus: u64,
}

impl Figures {
    /// Reads lines such as `#4096 pulse cov: 7 ft: 9 corp: 3/12b ...` and the final figures.
    fn update(&mut self, log: &str) {
        for line in log.lines() {
            if let Some(count) = line.strip_prefix("stat::number_of_executed_units:") {
                self.runs = count.trim().parse().unwrap_or(self.runs);
            }
            let Some(rest) = line.strip_prefix('#') else {
                continue;
            };
            let runs: u64 = rest
                .split_whitespace()
                .next()
                .and_then(|n| n.parse().ok())
                .unwrap_or(0);
            self.runs = self.runs.max(runs);
            let corpus = rest.split_once("corp: ").map(|(_, text)| text);
            let corpus = corpus.and_then(|text| text.split('/').next()?.parse().ok());
            self.corpus = corpus.unwrap_or(self.corpus);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_log() {
        let mut figures = Figures::default();
        figures.update("INFO: x\n#2\tINITED cov: 5 ft: 6 corp: 1/1b exec/s: 0\n#512\tpulse  cov: 7 ft: 9 corp: 3/12b lim: 4\n");
        assert_eq!((figures.runs, figures.corpus), (512, 3));
        figures.update("stat::number_of_executed_units: 4711\n");
        assert_eq!((figures.runs, figures.corpus), (4711, 3));
    }
}
