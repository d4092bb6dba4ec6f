//! `p3-ir run`.

use crate::merge::{merge_to, MergeOptions};
use crate::side_by_side::{self, Side};
use crate::{build, Outcome};
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use p3_hunt::input::JsonBytes;
use p3_passes::build::BuildOptions;
use p3_passes::execute::{self, Execution, FailedSpec, Given, Position, Results, VersionResult};
use serde::Serialize;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Neither equal nor different: the run did not come to its end.
pub const INCONCLUSIVE: u8 = 5;
/// The width of the page where there is no terminal to ask.
const WIDTH: usize = 130;

/// Arguments of `run`.
#[derive(Args)]
pub struct RunArgs {
    /// A product, its executable, or two or more versions to be merged
    #[arg(required = true, num_args = 1..=16, value_name = "FILE")]
    files: Vec<OsString>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Give up after so many seconds
    #[arg(long, value_name = "S", value_parser = seconds)]
    timeout: Option<Duration>,
    /// Standard input of the versions, instead of this command's
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// Leave the product, the executable and what the versions wrote in DIR
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Whether to use colours; auto heeds NO_COLOR
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    color: Color,
    /// A flag for clang when it builds the product (repeatable), e.g. --clang-flag=-lm
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    clang_flag: Vec<OsString>,
    #[command(flatten)]
    merge: MergeOptions,
    /// The versions' arguments
    #[arg(last = true, value_name = "ARG")]
    args: Vec<OsString>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

/// Merges and builds if needed, runs, and shows what happened.
pub fn run(args: &RunArgs) -> Outcome {
    let scratch = tempfile::tempdir().context("cannot create a temporary directory")?;
    let place = match &args.keep {
        Some(keep) => keep.clone(),
        None => scratch.path().to_path_buf(),
    };
    let outdir = std::path::absolute(place.join("out"))?;
    std::fs::create_dir_all(&outdir)
        .with_context(|| format!("{}: cannot create", outdir.display()))?;
    let report = outdir.join("report.json");
    if report.exists() {
        std::fs::remove_file(&report)
            .with_context(|| format!("{}: old report", report.display()))?;
    }

    let program = program(args, &place)?;
    // The name of a temporary directory would be another one in each run.
    let name = match program.starts_with(&place) {
        true => "product".into(),
        false => program.clone().into_os_string(),
    };
    let outcome = execute::execute(&Execution {
        program: program.clone(),
        name,
        arguments: args.args.clone(),
        stdin: args.stdin.clone(),
        timeout: args.timeout,
        outdir,
    })?;
    let mut stdout = AutoStream::new(io::stdout().lock(), args.color.choice());
    let code = match outcome {
        execute::Outcome::Finished(results) => {
            pass_on(&results.stderr);
            let written = match args.json {
                true => write_json(&mut stdout, &JsonResult::of(&results)),
                false => write_text(&mut stdout, &results, width()),
            };
            finish(written)?;
            u8::from(results.difference || !results.failed_specs.is_empty())
        }
        execute::Outcome::TimedOut => {
            let seconds = args.timeout.unwrap_or_default().as_secs_f64();
            let reason = format!("no end after {seconds} s");
            inconclusive(args.json, &mut stdout, &program, &reason)?
        }
        execute::Outcome::NoReport { status, stderr } => {
            pass_on(&stderr);
            if args.files.len() == 1 && status.code().is_some() && stderr.is_empty() {
                return Err(execute::not_a_product(&program).into());
            }
            let reason = format!("ended before its report ({status})");
            inconclusive(args.json, &mut stdout, &program, &reason)?
        }
    };
    Ok(ExitCode::from(code))
}

/// The executable to run, made in `place` if need be.
fn program(args: &RunArgs, place: &Path) -> anyhow::Result<PathBuf> {
    let product = match args.files.as_slice() {
        [only] => {
            let only = PathBuf::from(only);
            if execute::classify(&only)? == Given::Program {
                return Ok(only);
            }
            only
        }
        versions => {
            let product = place.join("product.bc");
            merge_to(&product, versions, &args.merge)?;
            product
        }
    };
    let program = place.join("product");
    build::build(&BuildOptions {
        product,
        output: program.clone(),
        sanitizers: Vec::new(),
        flags: args.clang_flag.clone(),
    })?;
    Ok(program)
}

/// A number of seconds on the command line, but not none at all.
pub fn some_seconds(text: &str) -> Result<Duration, String> {
    let time = seconds(text)?;
    match time < Duration::from_millis(1) {
        true => Err("no time at all".to_string()),
        false => Ok(time),
    }
}

/// A number of seconds on the command line.
pub fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number".to_string())?;
    Duration::try_from_secs_f64(seconds).map_err(|e| e.to_string())
}

impl Color {
    fn choice(self) -> ColorChoice {
        match self {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        }
    }
}

fn width() -> usize {
    let columns = || std::env::var("COLUMNS").ok()?.parse().ok();
    terminal_size::terminal_size()
        .map(|(width, _)| width.0.into())
        .or_else(columns)
        .unwrap_or(WIDTH)
}

/// What the product says on its own account: failed checks, a sanitizer's report.
fn pass_on(stderr: &[u8]) {
    // There is nowhere to complain to if this fails.
    let _ = io::stderr().write_all(stderr);
}

/// A reader that has seen enough is no error.
fn finish(written: io::Result<()>) -> anyhow::Result<()> {
    match written {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => Err(e).context("standard output"),
        _ => Ok(()),
    }
}

fn inconclusive(
    json: bool,
    stdout: &mut impl Write,
    program: &Path,
    reason: &str,
) -> anyhow::Result<u8> {
    eprintln!("p3-ir: {}: inconclusive: {reason}", program.display());
    if json {
        let result = JsonResult {
            inconclusive: Some(reason.to_string()),
            ..JsonResult::default()
        };
        finish(write_json(stdout, &result))?;
    }
    Ok(INCONCLUSIVE)
}

/// Chooses an output of a version.
type OutputOf = fn(&VersionResult) -> &Vec<u8>;

/// The two outputs of a version, with their names.
const STREAMS: [(&str, OutputOf); 2] = [("stdout", |v| &v.stdout), ("stderr", |v| &v.stderr)];

/// The results for people.
fn write_text(out: &mut impl Write, results: &Results, width: usize) -> io::Result<()> {
    let versions = &results.versions;
    let bold = Style::new().bold();
    let names = versions.iter().map(|v| v.name.chars().count()).max();
    for (index, version) in versions.iter().enumerate() {
        let assertion = match version.assert_failed {
            true => ", a failed assertion",
            false => "",
        };
        let (name, room) = (&version.name, names.unwrap_or_default());
        let style = match version.status == versions[0].status {
            true => Style::new(),
            false => AnsiColor::Red.on_default(),
        };
        writeln!(
            out,
            "{} {name:room$}  {style}{}{style:#}{assertion}",
            index + 1,
            version.status
        )?;
    }
    for (stream, text) in STREAMS {
        let groups = groups(versions, text);
        if let [_] = groups.as_slice() {
            let text = text(&versions[0]);
            if !text.is_empty() {
                writeln!(out, "\n{bold}{stream}: equal{bold:#}")?;
                write_lines(out, text)?;
            }
            continue;
        }
        for other in &groups[1..] {
            let first = &groups[0];
            let at = results
                .differences
                .iter()
                .find(|d| d.stream == stream && d.versions[1] == other[0] + 1);
            writeln!(out, "\n{bold}{stream}: {}{bold:#}", position(at))?;
            let side = |group: &[usize]| (title(versions, group), text(&versions[group[0]]));
            let ((left_title, left), (right_title, right)) = (side(first), side(other));
            let left = Side {
                title: &left_title,
                text: left,
            };
            let right = Side {
                title: &right_title,
                text: right,
            };
            side_by_side::write(out, left, right, width)?;
        }
    }
    if !results.failed_specs.is_empty() {
        writeln!(out, "\n{bold}specifications that do not hold{bold:#}")?;
    }
    for failed in &results.failed_specs {
        writeln!(out, "{}", failed_spec(failed))?;
    }
    writeln!(out, "\n{bold}{}{bold:#}", summary(results))?;
    out.flush()
}

/// `RELATION at FILE:LINE / FILE:LINE`, and how often if more than once.
fn failed_spec(failed: &FailedSpec) -> String {
    let places = failed.places.iter().flatten().cloned();
    let places: Vec<String> = places.collect();
    let times = match failed.count {
        1 => String::new(),
        count => format!(", {count} times"),
    };
    format!("{} at {}{times}", failed.spec, places.join(" / "))
}

/// `no difference`, or in what there is one.
fn summary(results: &Results) -> String {
    let versions = &results.versions;
    let mut differing: Vec<String> = Vec::new();
    if versions.iter().any(|v| v.status != versions[0].status) {
        differing.push("status".to_string());
    }
    match &results.outputs {
        // What the program says is its output.
        Some(outputs) => differing.extend(outputs.iter().map(|name| format!("'{name}'"))),
        None => {
            let differs = |text: fn(&VersionResult) -> &Vec<u8>| {
                versions.iter().any(|v| text(v) != text(&versions[0]))
            };
            let streams = STREAMS.iter().filter(|(_, text)| differs(*text));
            differing.extend(streams.map(|(stream, _)| stream.to_string()));
        }
    }
    if !results.failed_specs.is_empty() {
        differing.push("specification".to_string());
    }
    match differing.as_slice() {
        [] => "no difference".to_string(),
        _ => format!("different: {}", differing.join(", ")),
    }
}

fn write_lines(out: &mut impl Write, text: &[u8]) -> io::Result<()> {
    text.split_inclusive(|byte| *byte == b'\n')
        .try_for_each(|line| writeln!(out, "{}", p3_hunt::words::visible(line)))
}

/// Indices of versions with the same stream, in the order of their first member.
fn groups(versions: &[VersionResult], text: fn(&VersionResult) -> &Vec<u8>) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for (index, version) in versions.iter().enumerate() {
        let same = |group: &&mut Vec<usize>| text(&versions[group[0]]) == text(version);
        match groups.iter_mut().find(same) {
            Some(group) => group.push(index),
            None => groups.push(vec![index]),
        }
    }
    groups
}

/// `1 old.bc`, or `1, 3 old.bc` for versions with equal output.
fn title(versions: &[VersionResult], group: &[usize]) -> String {
    let numbers: Vec<String> = group.iter().map(|index| (index + 1).to_string()).collect();
    format!("{} {}", numbers.join(", "), versions[group[0]].name)
}

fn position(at: Option<&Position>) -> String {
    match at {
        Some(at) => format!(
            "different from line {}, column {} (byte {}) on",
            at.line, at.column, at.offset
        ),
        None => "different".to_string(),
    }
}

/// The results as JSON; the README documents it.
#[derive(Default, Serialize)]
struct JsonResult {
    difference: bool,
    inconclusive: Option<String>,
    versions: Vec<JsonVersion>,
    differences: Vec<Position>,
    /// What differs of what the program gives out by `pp_output`, by name, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    outputs: Option<Vec<String>>,
    failed_specs: Vec<FailedSpec>,
}

#[derive(Serialize)]
struct JsonVersion {
    name: String,
    status: String,
    assert_failed: bool,
    stdout: JsonBytes,
    stderr: JsonBytes,
}

impl JsonResult {
    fn of(results: &Results) -> JsonResult {
        let version = |v: &VersionResult| JsonVersion {
            name: v.name.clone(),
            status: v.status.clone(),
            assert_failed: v.assert_failed,
            stdout: JsonBytes::of(&v.stdout),
            stderr: JsonBytes::of(&v.stderr),
        };
        JsonResult {
            difference: results.difference,
            inconclusive: None,
            versions: results.versions.iter().map(version).collect(),
            differences: results.differences.clone(),
            outputs: results.outputs.clone(),
            failed_specs: results.failed_specs.clone(),
        }
    }
}

fn write_json(out: &mut impl Write, result: &JsonResult) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, result)?;
    writeln!(out)?;
    out.flush()
}
