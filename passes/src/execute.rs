//! Runs a built product and reads what it has recorded.

use crate::{interruption, Error, Result};
use serde::Deserialize;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// A variable that every product knows; its name stands in the executable.
const OUTDIR: &str = "P3_OUTDIR";

/// One run of a product.
#[derive(Clone, Debug)]
pub struct Execution {
    /// The executable.
    pub program: PathBuf,
    /// Its `argv[0]`.
    pub name: OsString,
    /// The program's arguments.
    pub arguments: Vec<OsString>,
    /// A file for standard input; none: this process's.
    pub stdin: Option<PathBuf>,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// An existing directory for what the product records.
    pub outdir: PathBuf,
}

/// How a run ended.
#[derive(Debug)]
pub enum Outcome {
    /// Every version ended and the product reported.
    Finished(Results),
    /// The product did not end in time and was killed with its children.
    TimedOut,
    /// The product ended otherwise, e.g. by a sanitizer's report.
    NoReport {
        status: ExitStatus,
        /// What it wrote on its standard error.
        stderr: Vec<u8>,
    },
}

/// What a product recorded.
#[derive(Debug)]
pub struct Results {
    /// In the order of the merge.
    pub versions: Vec<VersionResult>,
    /// Whether the versions differ in output or end.
    pub difference: bool,
    /// The first difference per stream and version after the first.
    pub differences: Vec<Position>,
    /// What differs of what the program gives out by `pp_output`; none: it does not, and its streams count.
    pub outputs: Option<Vec<String>>,
    /// The specifications that do not hold, unless what the program assumes does not hold either.
    pub failed_specs: Vec<FailedSpec>,
    /// What the product itself said on standard error, e.g. failed checks.
    pub stderr: Vec<u8>,
}

/// A specification that does not hold.
#[derive(Clone, Debug, serde::Serialize)]
pub struct FailedSpec {
    /// The relation.
    pub spec: String,
    /// `FILE:LINE` per version; none: it names nothing there.
    pub places: Vec<Option<String>>,
    /// How often it did not hold.
    pub count: u64,
}

/// What one version did.
#[derive(Debug)]
pub struct VersionResult {
    /// Its input file.
    pub name: String,
    /// `exit N` or `signal NAME`
    pub status: String,
    /// Whether it ended by a failed assertion.
    pub assert_failed: bool,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Where a stream of a version first differs from version 1's.
#[derive(Clone, Debug, Deserialize, serde::Serialize)]
pub struct Position {
    /// `stdout` or `stderr`
    pub stream: String,
    /// The two versions, counted from 1.
    pub versions: [usize; 2],
    /// Equal bytes before it.
    pub offset: u64,
    /// Its line, counted from 1.
    pub line: u64,
    /// Its column in bytes, counted from 1.
    pub column: u64,
    /// The differing bytes; none: that version's stream ends there.
    pub bytes: [Option<u8>; 2],
}

/// The product's report.json.
#[derive(Deserialize)]
struct Report {
    difference: bool,
    versions: Vec<ReportedVersion>,
    differences: Vec<Position>,
    checks: ReportedChecks,
    spec: Vec<ReportedSpec>,
    outputs: Vec<ReportedOutput>,
}

/// What the program gave out by `pp_output`, in a product's report.json.
#[derive(Debug, Deserialize)]
pub struct ReportedOutput {
    /// Its name.
    pub name: String,
    /// Where it differs from version 1's.
    pub difference: Option<ReportedOffset>,
}

/// Equal bytes before a difference.
#[derive(Debug, Deserialize)]
pub struct ReportedOffset {
    pub offset: u64,
}

#[derive(Deserialize)]
struct ReportedChecks {
    spec: ReportedCheck,
}

#[derive(Deserialize)]
struct ReportedCheck {
    enabled: bool,
}

/// A specification in a product's report.json.
#[derive(Debug, Deserialize)]
pub struct ReportedSpec {
    /// `assert` or `assume`
    pub kind: String,
    /// The relation.
    pub spec: String,
    /// `FILE:LINE` per version; none: it names nothing there.
    pub places: Vec<Option<String>>,
    /// How often it was computed.
    pub evaluated: u64,
    /// How often it did not hold.
    pub failed: u64,
}

impl ReportedSpec {
    /// Whether inputs for which it does not hold are of no interest.
    pub fn is_assumed(&self) -> bool {
        self.kind == "assume"
    }
}

impl Report {
    fn failed_specs(&self) -> Vec<FailedSpec> {
        let failed = || self.spec.iter().filter(|spec| spec.failed > 0);
        if !self.checks.spec.enabled || failed().any(ReportedSpec::is_assumed) {
            return Vec::new();
        }
        let of = |spec: &ReportedSpec| FailedSpec {
            spec: spec.spec.clone(),
            places: spec.places.clone(),
            count: spec.failed,
        };
        failed().map(of).collect()
    }
}

#[derive(Deserialize)]
struct ReportedVersion {
    name: String,
    status: String,
    assert_failed: bool,
}

/// What the single file given to `run` is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// Bitcode or textual IR, to be built.
    Product,
    /// Something to execute.
    Program,
}

/// Tells a product's bitcode from its executable.
pub fn classify(file: &Path) -> Result<Given> {
    let data = std::fs::read(file).map_err(|e| Error::bad_input(file, e))?;
    if data.starts_with(b"#!") {
        return Ok(Given::Program);
    }
    if !data.starts_with(b"\x7fELF") {
        return Ok(Given::Product);
    }
    // What is no product must not be run only to find that out.
    let marker = OUTDIR.as_bytes();
    if data.windows(marker.len()).any(|window| window == marker) {
        Ok(Given::Program)
    } else {
        Err(not_a_product(file))
    }
}

/// The error for a program that is no product.
pub fn not_a_product(file: &Path) -> Error {
    Error::bad_input(
        file,
        "not a product of p3-ir (give a product or two versions)",
    )
}

/// Runs the product: nothing is shown, everything is recorded.
pub fn execute(execution: &Execution) -> Result<Outcome> {
    let mut command = Command::new(absolute(&execution.program));
    command
        .arg0(&execution.name)
        .args(&execution.arguments)
        .env(OUTDIR, &execution.outdir)
        .env("P3_SHOW", "none")
        .env("P3_STATUS", "1")
        // A pipe, as programs treat /dev/null specially.
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    if let Some(file) = &execution.stdin {
        command.stdin(File::open(file).map_err(|e| Error::bad_input(file, e))?);
    }
    let terminal = execution.stdin.is_none() && io::stdin().is_terminal();
    lead_group(&mut command);
    let mut child = command
        .spawn()
        .map_err(|e| Error::bad_input(&execution.program, format!("cannot run: {e}")))?;
    let foreground = terminal.then(|| Foreground::give_to(&child));
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let status = wait(&mut child, execution.timeout)
        .map_err(|e| Error::internal("execute", format!("cannot wait: {e}")))?;
    drop(foreground);
    let Some(status) = status else {
        return Ok(Outcome::TimedOut);
    };
    // What the program leaves behind in its process group has no one to talk to any more.
    kill_group(&child);
    let _ = stdout.join();
    let stderr = stderr.join().unwrap_or_default();
    match read_results(&execution.outdir, stderr.clone())? {
        Some(results) => Ok(Outcome::Finished(results)),
        None => Ok(Outcome::NoReport { status, stderr }),
    }
}

/// A path with a slash, so that PATH is not searched.
fn absolute(program: &Path) -> PathBuf {
    std::path::absolute(program).unwrap_or_else(|_| program.to_path_buf())
}

/// The command will be the leader of a process group, and be killed when the thread that starts it ends.
pub fn lead_group(command: &mut Command) {
    command.process_group(0);
    // SAFETY: the closure makes one system call between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        })
    };
}

fn drain(stream: Option<impl Read + Send + 'static>) -> JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut data = Vec::new();
        if let Some(mut stream) = stream {
            // What was read before an error is all there is.
            let _ = stream.read_to_end(&mut data);
        }
        data
    })
}

/// None: out of time; the process group is killed.
fn wait(child: &mut Child, timeout: Option<Duration>) -> io::Result<Option<ExitStatus>> {
    let Some(timeout) = timeout else {
        return child.wait().map(Some);
    };
    let status = wait_for(child, timeout)?;
    if status.is_none() {
        kill_group(child);
        child.wait()?;
    }
    Ok(status)
}

/// None: it has not ended in that time.
fn wait_for(child: &mut Child, time: Duration) -> io::Result<Option<ExitStatus>> {
    let deadline = Instant::now() + time;
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(None);
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(10));
    }
}

/// How long a compiler may take to remove its temporary files.
const PATIENCE: Duration = Duration::from_secs(2);

/// Runs a command to its end and takes what it writes. If the user interrupts p3-ir meanwhile
/// ([`interruption::expect`]), the command and what it has started are ended.
pub fn output(command: &mut Command) -> io::Result<Output> {
    if !interruption::is_expected() {
        return command.output();
    }
    lead_group(command);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdout = drain(child.stdout.take());
    let stderr = drain(child.stderr.take());
    let status = loop {
        if let Some(status) = wait_for(&mut child, Duration::from_millis(100))? {
            break status;
        }
        if interruption::is_requested() {
            interrupt_group(&child);
            if let Some(status) = wait_for(&mut child, PATIENCE)? {
                break status;
            }
            kill_group(&child);
            break child.wait()?;
        }
    };
    let taken = |thread: JoinHandle<Vec<u8>>| thread.join().unwrap_or_default();
    Ok(Output {
        status,
        stdout: taken(stdout),
        stderr: taken(stderr),
    })
}

/// Asks a child that leads a process group ([`lead_group`]) and all of the group to end, as Ctrl-C does.
pub fn interrupt_group(leader: &Child) {
    // SAFETY: a system call on numbers; a group that is gone gives an error.
    unsafe { libc::kill(-(leader.id() as i32), libc::SIGINT) };
}

/// Kills a child that leads a process group ([`lead_group`]), with all of the group.
pub fn kill_group(leader: &Child) {
    // SAFETY: a system call on numbers; a group that is gone gives an error.
    unsafe { libc::kill(-(leader.id() as i32), libc::SIGKILL) };
}

/// The terminal's foreground process group, which may read from it, is the program's for as long as this lives.
struct Foreground;

impl Foreground {
    fn give_to(child: &Child) -> Foreground {
        // SAFETY: a system call on numbers.
        unsafe { libc::tcsetpgrp(0, child.id() as i32) };
        Foreground
    }
}

impl Drop for Foreground {
    fn drop(&mut self) {
        // SAFETY: system calls. A background process that takes the terminal back gets SIGTTOU, which would stop it.
        unsafe {
            let before = libc::signal(libc::SIGTTOU, libc::SIG_IGN);
            libc::tcsetpgrp(0, libc::getpgrp());
            libc::signal(libc::SIGTTOU, before);
        }
    }
}

/// None: there is no report.
fn read_results(outdir: &Path, stderr: Vec<u8>) -> Result<Option<Results>> {
    let path = outdir.join("report.json");
    if !path.exists() {
        return Ok(None);
    }
    let read = |path: &Path| std::fs::read(path).map_err(|e| Error::bad_input(path, e));
    let report: Report = serde_json::from_slice(&read(&path)?)
        .map_err(|e| Error::internal("execute", format!("report.json: {e}")))?;
    let failed_specs = report.failed_specs();
    let mut versions = Vec::new();
    for (index, version) in report.versions.into_iter().enumerate() {
        let stream = |kind: &str| read(&outdir.join(format!("{}.{kind}", index + 1)));
        versions.push(VersionResult {
            name: version.name,
            status: version.status,
            assert_failed: version.assert_failed,
            stdout: stream("stdout")?,
            stderr: stream("stderr")?,
        });
    }
    Ok(Some(Results {
        versions,
        difference: report.difference,
        differences: report.differences,
        outputs: (!report.outputs.is_empty()).then(|| {
            let different = report.outputs.iter().filter(|o| o.difference.is_some());
            different.map(|output| output.name.clone()).collect()
        }),
        failed_specs,
        stderr,
    }))
}
