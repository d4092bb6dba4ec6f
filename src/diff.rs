//! `p3-ir diff`.

use crate::folder::Folder;
use crate::merge::MergeOptions;
use crate::progress::Progress;
use crate::run::{some_seconds, INCONCLUSIVE};
use crate::worker::{self, Supervised};
use crate::Outcome;
use anyhow::Context as _;
use clap::Args;
use p3_hunt::engine::Engine;
use p3_hunt::expect::Expectations;
use p3_hunt::hunt::{self, Options};
use p3_hunt::input::Seed;
use p3_hunt::programs::Sources;
use p3_hunt::report::{Finding, Report};
use p3_hunt::template::{Template, DEFAULT_STREAM};
use p3_passes::load::Source;
use p3_passes::pipeline::{self, Observer, ProductChecks};
use p3_passes::{interruption, Error};
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// Arguments of `diff`.
#[derive(Args)]
pub struct DiffArgs {
    /// The old version, as for merge
    old: OsString,
    /// The new version
    new: OsString,
    /// The folder for the report, the findings and the programs
    #[arg(short, long, value_name = "DIR", default_value = "p3-diff")]
    output: PathBuf,
    /// Who looks for inputs: libfuzzer, afl, klee; several in turn, each with what those before it have found
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "libfuzzer", value_parser = Engine::parse)]
    engine: Vec<Engine>,
    /// How many seconds they look altogether; less if differences were found and no new ones come up
    #[arg(long, value_name = "S", default_value = "60", value_parser = some_seconds)]
    time: Duration,
    /// Use all the time, whatever is found
    #[arg(long)]
    full_time: bool,
    #[command(flatten)]
    program: ProgramArgs,
    /// An input to begin with (repeatable), e.g. --seed '-d , -f 2 < rows.csv'
    #[arg(long, value_name = "ARGS < FILE", allow_hyphen_values = true)]
    seed: Vec<String>,
    /// A file with such inputs, one a line (repeatable)
    #[arg(long, value_name = "FILE")]
    seed_file: Vec<PathBuf>,
    /// Differences that are accepted, one a line: place OLD NEW, output stdout|stderr REGEX REGEX, status OLD NEW
    #[arg(long, value_name = "FILE")]
    expect: Option<PathBuf>,
    /// Print report.json
    #[arg(long)]
    json: bool,
    /// Leave what the engines wrote
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    merge: MergeOptions,
}

/// What the program takes, and how it is built.
#[derive(Args)]
pub struct ProgramArgs {
    /// The arguments to try: words, @arg:N (of up to N bytes), @args:MIN-MAX:N (so many of them), @file[:N] (a file
    /// of up to N bytes), @stdin[:N], @input[:N] (for pp_input of p3.h; there by itself if a version uses that)
    #[arg(long, value_name = "TEMPLATE", default_value = "", value_parser = Template::parse, allow_hyphen_values = true)]
    args: Template,
    /// The largest standard input to try, in bytes; 4096 if nothing is said
    #[arg(long, value_name = "N")]
    max_stdin: Option<usize>,
    /// Standard input is empty
    #[arg(long, conflicts_with = "max_stdin")]
    no_stdin: bool,
    /// How many seconds one run of a version may take
    #[arg(long, value_name = "S", default_value = "5", value_parser = some_seconds)]
    timeout: Duration,
    /// The program's name, its argv[0]
    #[arg(long, value_name = "NAME", default_value = "prog")]
    program: String,
    /// A flag for clang (repeatable), e.g. --clang-flag=-lm
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    clang_flag: Vec<OsString>,
}

/// Looks for differences, and reports them.
pub fn run(args: &DiffArgs) -> Outcome {
    let options = options(args)?;
    let folder = Folder::take(&args.output)?;
    worker::end_by_request();
    let mut watch = Watch::new("diff");
    let report = hunt::hunt(&options, &args.output, &mut watch)?;
    drop(watch);
    let Some(report) = report else {
        eprintln!("p3-ir: interrupted before anything was tried");
        return Ok(ExitCode::from(INCONCLUSIVE));
    };
    folder.keep();
    let mut stdout = io::stdout().lock();
    let written = match args.json {
        true => serde_json::to_writer_pretty(&mut stdout, &report)
            .map_err(io::Error::from)
            .and_then(|()| writeln!(stdout)),
        false => write_text(&mut stdout, &report, &args.output),
    };
    match written {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            return Err(e).context("standard output")
        }
        _ => {}
    }
    Ok(ExitCode::from(report.exit_status()))
}

fn options(args: &DiffArgs) -> anyhow::Result<Options> {
    for (index, engine) in args.engine.iter().enumerate() {
        if args.engine[..index].contains(engine) {
            let reason = format!("{} is named twice", engine.name());
            return Err(Error::bad_input("--engine", reason).into());
        }
    }
    let sources = args.program.sources([&args.old, &args.new], &args.merge)?;
    for engine in &args.engine {
        engine.check(&sources.template)?;
    }
    for input in &sources.merge.inputs {
        for file in &input.files {
            if let Source::File(path) = file {
                std::fs::File::open(path).map_err(|e| Error::bad_input(path, e))?;
            }
        }
    }
    let mut seeds = Vec::new();
    for seed in &args.seed {
        seeds.push(sources.template.seed(&Seed::parse(seed)?)?);
    }
    for file in &args.seed_file {
        for seed in Seed::parse_file(file)? {
            seeds.push(sources.template.seed(&seed)?);
        }
    }
    let expectations = match &args.expect {
        Some(file) => Expectations::read(file)?,
        None => Expectations::default(),
    };
    Ok(Options {
        sources,
        seeds,
        engines: args.engine.clone(),
        time: args.time,
        stops_early: !args.full_time,
        expectations,
        keep: args.keep,
    })
}

impl ProgramArgs {
    /// What to build of these versions.
    pub fn sources(
        &self,
        versions: [&OsString; 2],
        merge: &MergeOptions,
    ) -> p3_passes::Result<Sources> {
        let prepare = merge.prepare();
        let merge = differences_only(merge.pipeline_options(&versions.map(Clone::clone)))?;
        let has_stdin = self.args.has_stdin();
        if has_stdin && self.no_stdin {
            let reason = "@stdin and --no-stdin contradict each other";
            return Err(Error::bad_input("--args", reason));
        }
        if has_stdin && self.max_stdin.is_some() {
            let reason = "@stdin and --max-stdin both say how large standard input is";
            return Err(Error::bad_input("--args", reason));
        }
        let template = match self.no_stdin {
            true => Ok(self.args.clone()),
            false => {
                let max = self.max_stdin.unwrap_or(DEFAULT_STREAM);
                self.args.clone().with_stdin(max)
            }
        };
        Ok(Sources {
            merge,
            prepare,
            flags: self.clang_flag.clone(),
            program: self.program.clone(),
            template: template.map_err(|e| Error::bad_input("--max-stdin", e))?,
            timeout: self.timeout,
        })
    }
}

/// What a comparison merges: products that check what makes a difference.
pub fn differences_only(mut merge: pipeline::Options) -> p3_passes::Result<pipeline::Options> {
    if merge
        .inputs
        .iter()
        .any(|input| input.files.contains(&Source::Stdin))
    {
        return Err(Error::bad_input(
            "-",
            "diff has to read its versions more than once",
        ));
    }
    if merge.harness {
        return Err(Error::bad_input(
            "--harness",
            "diff makes the harnesses that it needs",
        ));
    }
    // An assertion that fails in both versions is no difference, and one that fails in one is a crash of it.
    let differences: Vec<&str> = ProductChecks::NAMES
        .into_iter()
        .filter(|name| *name != "assert" && merge.checks.has(name))
        .collect();
    let list = if differences.is_empty() {
        "none".to_string()
    } else {
        differences.join(",")
    };
    merge.checks = ProductChecks::parse(&list).map_err(|e| Error::bad_input("--check", e))?;
    Ok(merge)
}

/// The result for people.
fn write_text(out: &mut impl Write, report: &Report, folder: &Path) -> io::Result<()> {
    writeln!(out, "{}", report.sentence())?;
    for finding in &report.findings {
        write_finding(out, finding, folder)?;
    }
    for stale in &report.stale_expectations {
        writeln!(out, "\nnothing was accepted by: {stale}")?;
    }
    writeln!(out, "\nreport: {}", folder.join("report.html").display())?;
    out.flush()
}

fn write_finding(out: &mut impl Write, finding: &Finding, folder: &Path) -> io::Result<()> {
    let accepted = if finding.accepted.is_some() {
        " (accepted)"
    } else {
        ""
    };
    writeln!(
        out,
        "\n{}. {}{accepted}: {}",
        finding.number, finding.class, finding.summary
    )?;
    writeln!(out, "   input: {}", finding.input.text())?;
    if finding.places.iter().any(Option::is_some) {
        let place = |place: &Option<p3_hunt::report::SourcePlace>| match place {
            Some(place) if place.line > 0 => format!("{}:{}", place.file, place.line),
            Some(place) => place.file.clone(),
            None => "-".to_string(),
        };
        let places: Vec<String> = finding.places.iter().map(place).collect();
        let kind = finding.kind.as_deref().unwrap_or("place");
        writeln!(out, "   {kind}: {}", places.join(" / "))?;
    }
    let script = folder.join(&finding.folder).join("repro.sh");
    writeln!(
        out,
        "   again: {}",
        p3_hunt::words::for_shell(script.as_os_str().as_bytes())
    )
}

/// Keeps the user and the supervising process informed.
pub struct Watch {
    progress: Progress,
    supervised: Supervised,
}

impl Watch {
    /// Shows the name of the work.
    pub fn new(work: &'static str) -> Watch {
        Watch {
            progress: Progress::new(work),
            supervised: Supervised,
        }
    }
}

impl hunt::Watch for Watch {
    fn observer(&mut self) -> &mut dyn Observer {
        &mut self.supervised
    }

    fn step(&mut self, what: &str) {
        worker::after(what);
        self.progress.done(what);
    }

    fn searching(&mut self, engine: Engine, progress: hunt::Progress) {
        let differences = match progress.differences {
            1 => "1 difference".to_string(),
            count => format!("{count} differences"),
        };
        let (runs, paths) = (progress.runs, progress.paths);
        self.progress.done(&format!(
            "{engine}: {runs} runs, {paths} paths, {differences}"
        ));
    }

    fn warn(&mut self, text: &str) {
        self.progress.say(&format!("p3-ir: warning: {text}"));
    }

    fn is_interrupted(&self) -> bool {
        interruption::is_requested()
    }
}
