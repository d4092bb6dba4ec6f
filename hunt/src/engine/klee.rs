//! KLEE: follows every path of an ordinary product with symbolic arguments and streams.
//!
//! A symbolic stream has one size, so KLEE runs once for each of several sizes, the smallest first. Arguments
//! need no such care: a symbolic NUL ends them anywhere. That all paths were followed is claimed only if KLEE
//! ended by itself with nothing left out: no path given up, no value made concrete, no fork refused.
//!
//! Sizes that it could not finish get a second look, with a product that knows where versions part: first it ends
//! there, so that inputs which lead to a parting come up early; then KLEE follows these as its seeds without a fork up
//! to the parting, and goes on behind it breadth first. What is different for a while shows there if it ever shows.

use super::call;
use super::harness::with_divergence;
use super::ktest::{self, KTest};
use super::{Candidate, Engine, EngineReport, Reason, Sink, Task};
use crate::input::{read, write, Input};
use crate::process::spawn;
use crate::programs::write_product;
use crate::template::{Stream, Template, Word};
use p3_passes::entry::Entry;
use p3_passes::execute::kill_group;
use p3_passes::pipeline::Options;
use p3_passes::{Error, Result};
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Up to here every size is tried; then each is twice the one before.
const EVERY_SIZE: usize = 8;
/// The largest symbolic stream.
const MAX_SIZE: usize = 256;
/// The part of the time that the second look may take, if it is needed ...
const SECOND_LOOK: u32 = 2;
/// ... and the part of this for the search for partings.
const PARTINGS: u32 = 3;
/// So many inputs that lead to partings are followed.
const MANY_PARTINGS: usize = 16;
/// How long KLEE may take to stop after it was asked to.
const PATIENCE: Duration = Duration::from_secs(3);
const GLANCE: Duration = Duration::from_millis(100);

/// What in KLEE's messages means that it left something out.
const LEFT_OUT: [(&str, &str); 6] = [
    ("HaltTimer invoked", "time was up"),
    ("halting execution", "it was stopped"),
    (
        "silently concretizing",
        "a symbolic value was made concrete",
    ),
    ("skipping fork", "a fork was refused for lack of memory"),
    ("over memory cap", "paths were given up for lack of memory"),
    ("query timed out", "the solver took too long"),
];

/// Runs KLEE once per size of the streams.
pub(super) fn run(task: &Task, sink: &mut dyn Sink) -> Result<EngineReport> {
    let mut report = EngineReport::new(Engine::Klee);
    let deadline = Instant::now() + task.time;
    let product = task.directory.join("product.bc");
    let merged = write_product(&product, &task.sources.merge, sink.observer())?;
    for warning in &merged.warnings {
        sink.warn(warning);
    }
    let entry = call::entry(&task.sources.merge, sink.observer())?;
    let (seeded, all): (BTreeSet<usize>, Vec<usize>) = match &entry {
        Some(entry) => {
            let all = call::sizes(entry, task.template(), MAX_SIZE);
            let fits = |seed: &Input, size: usize| call::seed(entry, seed, size).is_some();
            let first = |seed| all.iter().copied().find(|size| fits(seed, *size));
            (
                task.seeds.iter().filter_map(first).collect(),
                all.iter().copied().collect(),
            )
        }
        None => {
            let seeded = task.seeds.iter().map(largest_stream);
            let seeded = seeded.filter(|size| *size <= MAX_SIZE).collect();
            (seeded, sizes(task.template()))
        }
    };
    let others = all.into_iter().filter(|size| !seeded.contains(size));
    // Somebody knows why the seeds are what they are.
    let sizes: Vec<usize> = seeded.iter().copied().chain(others).collect();
    // For a function there is no second look.
    let first_end = match &entry {
        Some(_) => deadline,
        None => deadline - task.time / SECOND_LOOK,
    };
    let mut unfinished = Vec::new();
    let mut finished = Vec::new();
    for (index, size) in sizes.iter().enumerate() {
        let left = first_end.saturating_duration_since(Instant::now());
        let is_last = index + 1 == sizes.len();
        // Larger streams get their turn, too.
        let time = if is_last { left } else { left / 2 };
        if time < Duration::from_secs(1) || !sink.wants_more() {
            break;
        }
        let session = Session {
            call: entry.as_ref().map(|entry| (entry, *size)),
            ..Session::new(task, &product, "size", *size)
        };
        let done = session.run(time, sink, (report.runs, report.paths))?;
        report.add(&done);
        if done.left_out.is_empty() {
            finished.push(*size);
        } else {
            unfinished.push(*size);
        }
        for reason in done.left_out {
            if !report.limits.contains(&reason) {
                report.limits.push(reason);
            }
        }
        sink.candidates(done.candidates)?;
        if done.failure.is_some() {
            report.failure = done.failure;
            break;
        }
    }
    if report.failure.is_none() && !unfinished.is_empty() && entry.is_none() {
        look_behind_partings(task, sink, &mut report, &unfinished, deadline)?;
    }
    finished.sort_unstable();
    match &entry {
        Some(entry) => {
            report.complete = call::is_everything(entry, task.template(), &finished);
            report.bound = call::bound(entry, &finished);
        }
        None => {
            report.complete =
                finished.len() == sizes.len() && is_everything(task.template(), &sizes);
            report.bound = bound(task.template(), &finished);
        }
    }
    Ok(report)
}

/// The second look, at these sizes.
fn look_behind_partings(
    task: &Task,
    sink: &mut dyn Sink,
    report: &mut EngineReport,
    sizes: &[usize],
    deadline: Instant,
) -> Result<()> {
    let product = task.directory.join("partings.bc");
    let options = Options {
        checks: with_divergence(task.sources.merge.checks)?,
        ..task.sources.merge.clone()
    };
    let mut is_written = false;
    for (index, size) in sizes.iter().enumerate() {
        let left = deadline.saturating_duration_since(Instant::now());
        let share = left / (sizes.len() - index) as u32;
        if share < Duration::from_secs(2) || !sink.wants_more() {
            break;
        }
        if !is_written {
            write_product(&product, &options, sink.observer())?;
            is_written = true;
        }
        let mut session = Session {
            on_divergence: Some("abort"),
            ..Session::new(task, &product, "partings", *size)
        };
        let start = Instant::now();
        let done = session.run(share / PARTINGS, sink, (report.runs, report.paths))?;
        report.add(&done);
        let tests = done.candidates.iter().zip(&done.tests);
        let parts = tests.filter(|(candidate, _)| candidate.reason == Reason::Difference);
        let mut parting: Vec<(&Input, &PathBuf)> = parts
            .map(|(candidate, test)| (&candidate.input, test))
            .collect();
        parting.sort_by_key(|(input, _)| input.weight());
        parting.dedup_by_key(|(input, _)| *input);
        // In large ones much is still open behind the parting.
        let step = parting.len().div_ceil(MANY_PARTINGS).max(1);
        let parting = parting.into_iter().rev().step_by(step);
        let parting: Vec<PathBuf> = parting.map(|(_, test)| test.clone()).collect();
        // That they part is no difference yet.
        let paths = done.candidates.into_iter().map(|candidate| Candidate {
            reason: candidate.reason.max(Reason::Path),
            ..candidate
        });
        sink.candidates(paths.collect())?;
        if parting.is_empty() {
            continue;
        }
        session.directory = task.directory.join(format!("behind-{size}"));
        session.seeds = Seeds::Tests(&parting);
        session.flags = &["--search=bfs"];
        session.on_divergence = Some("explore");
        let done = session.run(
            share.saturating_sub(start.elapsed()),
            sink,
            (report.runs, report.paths),
        )?;
        report.add(&done);
        sink.candidates(done.candidates)?;
    }
    Ok(())
}

/// The streams whose size is KLEE's to choose; the program says itself how much it takes by `pp_input`.
fn streams(template: &Template) -> Vec<(Stream, usize)> {
    let mut streams = template.streams();
    streams.retain(|(stream, _)| *stream != Stream::Marked);
    streams
}

/// The sizes of streams to try.
fn sizes(template: &Template) -> Vec<usize> {
    let streams = streams(template);
    let max = streams.iter().map(|(_, max)| *max).max().unwrap_or(0);
    let doubled = std::iter::successors(Some(EVERY_SIZE * 2), |size| Some(size * 2));
    let all = (0..=EVERY_SIZE).chain(doubled.take_while(|size| *size <= MAX_SIZE));
    let mut sizes: Vec<usize> = all.filter(|size| *size <= max).collect();
    if max <= MAX_SIZE && sizes.last() != Some(&max) {
        sizes.push(max);
    }
    sizes
}

fn largest_stream(input: &Input) -> usize {
    let files = input.files.iter().map(Vec::len);
    files.chain([input.stdin.len()]).max().unwrap_or(0)
}

/// The streams, none larger than `size`; all of KLEE's files have one size.
fn streams_of(template: &Template, size: usize) -> Vec<(Stream, usize)> {
    let streams = streams(template);
    let is_file = |stream: &Stream| matches!(stream, Stream::File(_));
    let files = streams.iter().filter(|(stream, _)| is_file(stream));
    let largest = files.map(|(_, max)| *max).max().unwrap_or(0);
    let sized = streams.iter().map(|(stream, max)| {
        let max = if is_file(stream) { largest } else { *max };
        (*stream, max.min(size))
    });
    sized.collect()
}

/// Whether the sizes are all that the template allows: each from 0 to the largest, of one stream.
fn is_everything(template: &Template, sizes: &[usize]) -> bool {
    match streams(template).as_slice() {
        [] => true,
        [(_, max)] => sizes.len() == max + 1,
        _ => false,
    }
}

impl EngineReport {
    fn add(&mut self, done: &Done) {
        self.runs += done.paths;
        self.paths += done.paths;
    }
}

/// What KLEE has followed all paths of, in words.
fn bound(template: &Template, sizes: &[usize]) -> Option<String> {
    let first = sizes.first()?;
    let streams = streams(template);
    if streams.is_empty() {
        return Some(format!("all inputs of the form '{template}'"));
    }
    let is_run = sizes.iter().enumerate().all(|(i, size)| first + i == *size);
    let text = match sizes {
        [one] => one.to_string(),
        [.., last] if is_run => format!("{first} to {last}"),
        _ => {
            let numbers: Vec<String> = sizes.iter().map(usize::to_string).collect();
            numbers.join(", ")
        }
    };
    let what = match streams.as_slice() {
        [(Stream::Stdin, _)] => "standard input",
        [_] => "the file",
        _ => "files and standard input",
    };
    Some(format!(
        "inputs of the form '{template}' with {what} of {text} bytes"
    ))
}

/// KLEE's options for the template.
fn symbolic(template: &Template, streams: &[(Stream, usize)]) -> Vec<OsString> {
    let mut options: Vec<OsString> = Vec::new();
    let size_of = |wanted: Stream| {
        let found = streams.iter().find(|(stream, _)| *stream == wanted);
        found.map_or(0, |(_, size)| *size)
    };
    let mut files = 0;
    for word in template.words() {
        match word {
            Word::Literal(bytes) => options.push(OsString::from_vec(bytes.clone())),
            Word::Argument(max) => options.extend(["--sym-arg".into(), text(*max)]),
            Word::Arguments(range, max) => options.extend([
                "--sym-args".into(),
                text(*range.start()),
                text(*range.end()),
                text(*max),
            ]),
            Word::File(_) => {
                options.push(crate::input::file_name(files).into());
                files += 1;
            }
            Word::Stdin(_) | Word::Marked(_) => {}
        }
    }
    if files > 0 {
        let size = size_of(Stream::File(0));
        options.extend(["--sym-files".into(), text(files), text(size)]);
    }
    options.extend(["--sym-stdin".into(), text(size_of(Stream::Stdin))]);
    options
}

fn text(number: usize) -> OsString {
    number.to_string().into()
}

/// One run of KLEE.
struct Session<'a> {
    task: &'a Task<'a>,
    product: &'a Path,
    directory: PathBuf,
    streams: Vec<(Stream, usize)>,
    /// What it begins with.
    seeds: Seeds<'a>,
    flags: &'a [&'a str],
    /// What the product does where versions part, if it knows.
    on_divergence: Option<&'a str>,
    /// The function that gets symbolic arguments, and how large they are.
    call: Option<(&'a Entry, usize)>,
}

/// What a run of KLEE begins with.
enum Seeds<'a> {
    /// Those of the task.
    OfTask,
    /// KLEE's own test cases of a run with the same streams.
    Tests(&'a [PathBuf]),
}

/// What a run of KLEE came to.
struct Done {
    candidates: Vec<Candidate>,
    /// The test case of each.
    tests: Vec<PathBuf>,
    paths: u64,
    left_out: Vec<String>,
    failure: Option<String>,
}

impl<'a> Session<'a> {
    /// A run on streams of `size` bytes, in a folder of its own; the program knows of no partings.
    fn new(task: &'a Task, product: &'a Path, folder: &str, size: usize) -> Session<'a> {
        Session {
            task,
            product,
            directory: task.directory.join(format!("{folder}-{size}")),
            streams: streams_of(task.template(), size),
            seeds: Seeds::OfTask,
            flags: &[],
            on_divergence: None,
            call: None,
        }
    }

    fn run(&self, time: Duration, sink: &mut dyn Sink, before: (u64, u64)) -> Result<Done> {
        let log = self.directory.with_extension("log");
        let file = |path: &Path| {
            File::create(path).map_err(|e| Error::bad_input(path, format!("cannot write: {e}")))
        };
        let mut command = Command::new("klee");
        command
            .args(["--libc=uclibc", "--posix-runtime", "--emit-all-errors"])
            .args(["--dump-states-on-halt=false", "--write-kqueries=false"])
            .args(["--output-stats=false", "--output-istats=false"])
            .arg(format!("--max-time={}s", time.as_secs().max(1)))
            .arg("--output-dir")
            .arg(&self.directory);
        command.args(self.flags).env_remove("P3_ON_DIVERGENCE");
        if let Some(reaction) = self.on_divergence {
            command.env("P3_ON_DIVERGENCE", reaction);
        }
        let seeds = match self.seeds {
            Seeds::OfTask => self.write_seeds()?,
            Seeds::Tests(tests) => tests.to_vec(),
        };
        if !seeds.is_empty() {
            // What KLEE makes symbolic besides, such as what stat says of a stream, no seed has.
            command.args(["--named-seed-matching", "--allow-seed-extension"]);
        }
        for seed in seeds {
            command.arg("--seed-file").arg(seed);
        }
        command
            .arg(self.product)
            .args(match self.call {
                Some((_, size)) => call::options(size),
                None => symbolic(self.task.template(), &self.streams),
            })
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file(&log)?);
        let mut klee = spawn(&mut command).map_err(|e| Error::bad_input("klee", e))?;
        let end = Instant::now() + time + PATIENCE;
        let waiting = |e| Error::internal("klee", format!("cannot wait: {e}"));
        let mut stopped = None;
        let status = loop {
            if let Some(status) = klee.try_wait().map_err(waiting)? {
                break status;
            }
            if Instant::now() > end || stopped.is_some_and(|at: Instant| at.elapsed() > PATIENCE) {
                kill_group(&klee);
                stopped = Some(Instant::now());
                break klee.wait().map_err(waiting)?;
            }
            let tests = count_tests(&self.directory);
            sink.progress(before.0 + tests, before.1 + tests);
            if stopped.is_none() && !sink.wants_more() {
                // SAFETY: a system call on numbers; the child has not been waited for.
                unsafe { libc::kill(klee.id() as i32, libc::SIGINT) };
                stopped = Some(Instant::now());
            }
            std::thread::sleep(GLANCE);
        };
        let messages = String::from_utf8_lossy(&read(&log)?).into_owned();
        let (candidates, tests, crashed) = self.candidates()?;
        let paths = candidates.len() as u64;
        sink.progress(before.0 + paths, before.1 + paths);
        let mut left_out: Vec<String> = LEFT_OUT
            .iter()
            .filter(|(sign, _)| messages.contains(sign))
            .map(|(_, reason)| (*reason).to_string())
            .collect();
        left_out.extend(crashed);
        if stopped.is_some() && left_out.is_empty() {
            left_out.push("it was stopped".to_string());
        }
        let failed = !status.success() && stopped.is_none();
        let reason = || {
            let line = messages.lines().rfind(|line| line.contains("ERROR"));
            line.or(messages.lines().last())
                .unwrap_or_default()
                .to_string()
        };
        Ok(Done {
            candidates,
            tests,
            paths,
            left_out,
            failure: failed.then(|| format!("{status}: {}", reason())),
        })
    }

    /// The files of the seeds that are not larger than this run's streams or arguments.
    fn write_seeds(&self) -> Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for (index, seed) in self.task.seeds.iter().enumerate() {
            let fits = |(stream, size): &(Stream, usize)| seed.stream(*stream).len() <= *size;
            let test = match self.call {
                Some((entry, size)) => call::seed(entry, seed, size),
                None if self.streams.iter().all(fits) => {
                    ktest::seed(self.task.template(), seed, &self.streams)
                }
                None => None,
            };
            // KLEE cannot read a file with an object of no bytes; what it makes of nothing needs no seed.
            let is_readable =
                |test: &KTest| test.objects.iter().all(|(_, bytes)| !bytes.is_empty());
            if let Some(mut test) = test.filter(is_readable) {
                if let Some(names) = self.task.names.get(seed) {
                    test.objects.extend(ktest::named(names, &seed.marked));
                }
                let path = self.directory.with_extension(format!("{index}.ktest"));
                write(&path, &test.to_bytes())?;
                files.push(path);
            }
        }
        Ok(files)
    }

    /// The inputs of all test cases, their files, and what the errors are that no check of the product made.
    fn candidates(&self) -> Result<(Vec<Candidate>, Vec<PathBuf>, Vec<String>)> {
        let mut candidates = Vec::new();
        let mut tests = Vec::new();
        let mut errors = Vec::new();
        // One that was stopped at once has not made its directory.
        let entries = fs::read_dir(&self.directory).into_iter().flatten();
        let names: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        let of_kind = |kind: &'static str| {
            let is_kind = move |path: &&PathBuf| path.extension().is_some_and(|e| e == kind);
            names.iter().filter(is_kind)
        };
        let mut failed: HashMap<_, _> = HashMap::new();
        for path in of_kind("err") {
            failed.insert(file_stem(path), path);
        }
        for path in of_kind("ktest") {
            let error = failed.get(&file_stem(path));
            let reason = match error {
                None => Reason::Path,
                Some(error) if error.to_string_lossy().ends_with(".abort.err") => {
                    Reason::Difference
                }
                Some(error) => {
                    let text = String::from_utf8_lossy(&read(error)?).into_owned();
                    let line = text.lines().next().unwrap_or_default();
                    let line = format!(
                        "a path ended early ({})",
                        line.trim_start_matches("Error: ")
                    );
                    if !errors.contains(&line) {
                        errors.push(line);
                    }
                    Reason::Crash
                }
            };
            // A test case that was cut off by the end of KLEE says nothing.
            let test = KTest::parse(&read(path)?);
            let input = |test: KTest| match self.call {
                Some((entry, _)) => call::input(entry, &test),
                None => test.input(self.task.template()),
            };
            if let Some(input) = test.and_then(input) {
                candidates.push(Candidate { input, reason });
                tests.push(path.clone());
            }
        }
        Ok((candidates, tests, errors))
    }
}

/// The name of a test, without what tells its files apart.
fn file_stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_string()
}

fn count_tests(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_test = |entry: &fs::DirEntry| entry.path().extension().is_some_and(|e| e == "ktest");
    entries.filter(is_test).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(text: &str) -> Template {
        Template::parse(text).unwrap()
    }

    #[test]
    fn options_follow_the_words() {
        let template = template("-d @arg:2 @args:0-2:3 @file:9 @stdin:9");
        let options = symbolic(&template, &streams_of(&template, 4));
        let options: Vec<_> = options.iter().map(|o| o.to_string_lossy()).collect();
        let expected = "-d --sym-arg 2 --sym-args 0 2 3 A --sym-files 1 4 --sym-stdin 4";
        assert_eq!(options.join(" "), expected);
    }

    #[test]
    fn sizes_and_what_they_cover() {
        assert_eq!(sizes(&template("@arg:3")), [0]);
        assert!(is_everything(&template("@arg:3"), &[0]));
        assert_eq!(sizes(&template("@stdin:3")), [0, 1, 2, 3]);
        assert!(is_everything(&template("@stdin:3"), &[0, 1, 2, 3]));
        assert_eq!(sizes(&template("@stdin:20"))[7..], [7, 8, 16, 20]);
        let large = template("@stdin:4096");
        assert_eq!(sizes(&large).last(), Some(&256));
        assert!(!is_everything(&large, &sizes(&large)));
        assert_eq!(
            bound(&template("@stdin:3"), &[0, 1]).unwrap(),
            "inputs of the form '@stdin:3' with standard input of 0 to 1 bytes"
        );
        assert_eq!(bound(&large, &[]), None);
    }
}
