//! Runs a program on an input, alone, and keeps what it did.
//!
//! It runs in a directory of its own, which has the input's files, as the leader of a process group that does not
//! outlive the run, and its outputs are pipes, of which no more is kept than [`Captured`] does. Both versions get the same name and the same environment.

use crate::captured::Captured;
use crate::input::{file_name, write, Input};
use p3_passes::execute::{kill_group, lead_group};
use p3_passes::{interruption, Error, Result};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::process::{pidfd_open, Pid, PidfdFlags};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How often to see whether the user has interrupted the search.
const GLANCE: Duration = Duration::from_millis(100);
/// The largest file that a program may write.
const MAX_FILE: u64 = 64 << 20;

/// How a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    Exit(i32),
    /// The signal's name without SIG.
    Signal(String),
    /// It ran too long and was killed.
    TimedOut,
    /// It wrote too much and was killed.
    TooMuchOutput,
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Status::Exit(code) => write!(f, "exit {code}"),
            Status::Signal(name) => write!(f, "signal {name}"),
            Status::TimedOut => f.write_str("no end"),
            Status::TooMuchOutput => f.write_str("endless output"),
        }
    }
}

impl Status {
    /// What a status that was waited for says.
    pub fn of(status: ExitStatus) -> Status {
        match (status.code(), status.signal()) {
            (Some(code), _) => Status::Exit(code),
            (None, signal) => Status::Signal(signal_name(signal.unwrap_or_default())),
        }
    }

    /// Whether the program was ended by a fault of its own, an abort included.
    pub fn is_crash(&self) -> bool {
        let names = ["ABRT", "BUS", "FPE", "ILL", "SEGV", "SYS", "TRAP"];
        matches!(self, Status::Signal(name) if names.contains(&name.as_str()))
    }
}

fn signal_name(number: i32) -> String {
    let known = [
        (libc::SIGABRT, "ABRT"),
        (libc::SIGALRM, "ALRM"),
        (libc::SIGBUS, "BUS"),
        (libc::SIGFPE, "FPE"),
        (libc::SIGHUP, "HUP"),
        (libc::SIGILL, "ILL"),
        (libc::SIGINT, "INT"),
        (libc::SIGKILL, "KILL"),
        (libc::SIGPIPE, "PIPE"),
        (libc::SIGPROF, "PROF"),
        (libc::SIGQUIT, "QUIT"),
        (libc::SIGSEGV, "SEGV"),
        (libc::SIGSYS, "SYS"),
        (libc::SIGTERM, "TERM"),
        (libc::SIGTRAP, "TRAP"),
        (libc::SIGUSR1, "USR1"),
        (libc::SIGUSR2, "USR2"),
        (libc::SIGVTALRM, "VTALRM"),
        (libc::SIGXCPU, "XCPU"),
        (libc::SIGXFSZ, "XFSZ"),
    ];
    match known.iter().find(|(known, _)| *known == number) {
        Some((_, name)) => (*name).to_string(),
        None => number.to_string(),
    }
}

/// What a program did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    pub status: Status,
    pub stdout: Captured,
    pub stderr: Captured,
}

impl Ended {
    /// Whether it was killed while it might have written more.
    fn is_cut(&self) -> bool {
        matches!(self.status, Status::TimedOut | Status::TooMuchOutput)
    }

    /// Whether one of the outputs of both is the same. How far a program came before it was killed says nothing if it
    /// writes without end.
    pub fn has_same(&self, other: &Ended, output: fn(&Ended) -> &Captured) -> bool {
        let (ours, theirs) = (output(self), output(other));
        let is_endless = self.is_cut() && other.is_cut() && !ours.is_whole() && !theirs.is_whole();
        ours == theirs || is_endless && ours.agrees(theirs)
    }

    /// Whether both have done the same.
    pub fn is_same(&self, other: &Ended) -> bool {
        self.status == other.status
            && self.has_same(other, |ended| &ended.stdout)
            && self.has_same(other, |ended| &ended.stderr)
    }
}

/// How to run a program.
pub struct Run<'a> {
    /// The executable.
    pub program: &'a Path,
    /// Its `argv[0]`.
    pub name: &'a OsStr,
    /// What it is given.
    pub input: &'a Input,
    /// How long it may take.
    pub timeout: Duration,
    /// Variables that it finds besides this process's.
    pub variables: Vec<(&'static str, OsString)>,
}

impl Run<'_> {
    /// Runs it.
    pub fn run(&self) -> Result<Ended> {
        self.run_keeping([None, None])
    }

    /// Runs it; of standard output and standard error, what follows these offsets is kept besides the beginning.
    pub(crate) fn run_keeping(&self, windows: [Option<u64>; 2]) -> Result<Ended> {
        let scratch = tempfile::tempdir().map_err(|e| Error::bad_input(std::env::temp_dir(), e))?;
        let directory = scratch.path().join("run");
        fs::create_dir(&directory).map_err(|e| Error::bad_input(&directory, e))?;
        for (index, contents) in self.input.files.iter().enumerate() {
            write(&directory.join(file_name(index)), contents)?;
        }
        let stdin = scratch.path().join("stdin");
        write(&stdin, &self.input.stdin)?;
        let stdin = File::open(&stdin).map_err(|e| Error::bad_input(&stdin, e))?;

        let mut command = Command::new(self.program);
        command
            .arg0(self.name)
            .args(self.input.arguments.iter().map(|a| OsStr::from_bytes(a)))
            .current_dir(&directory)
            .stdin(stdin)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for (name, _) in std::env::vars_os() {
            if name.as_bytes().starts_with(b"P3_") {
                command.env_remove(name);
            }
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        let mut child = spawn(&mut command)
            .map_err(|e| Error::bad_input(self.program, format!("cannot run: {e}")))?;
        let ended = attend(&mut child, self.timeout, windows);
        kill_group(&child);
        let status = child.wait();
        let broken = |e: io::Error| Error::internal("process", format!("cannot wait: {e}"));
        interruption::check()?;
        let mut ended = ended.map_err(broken)?;
        if ended.status == Status::Exit(-1) {
            ended.status = Status::of(status.map_err(broken)?);
        }
        Ok(ended)
    }
}

/// Starts a command as the leader of a process group; it does not outlive this thread.
pub(crate) fn spawn(command: &mut Command) -> io::Result<Child> {
    lead_group(command);
    // SAFETY: the closure makes nothing but system calls between fork and exec.
    unsafe {
        command.pre_exec(|| {
            let none = libc::rlimit {
                rlim_cur: 0,
                rlim_max: 0,
            };
            libc::setrlimit(libc::RLIMIT_CORE, &none);
            let size = libc::rlimit {
                rlim_cur: MAX_FILE,
                rlim_max: libc::RLIM_INFINITY,
            };
            libc::setrlimit(libc::RLIMIT_FSIZE, &size);
            Ok(())
        })
    };
    command.spawn()
}

/// Reads the child's outputs until it has ended. The status is the child's own if it is `exit -1`.
fn attend(child: &mut Child, timeout: Duration, windows: [Option<u64>; 2]) -> io::Result<Ended> {
    let deadline = Instant::now() + timeout;
    let pid = Pid::from_raw(child.id() as i32).ok_or(io::ErrorKind::NotFound)?;
    let gone = pidfd_open(pid, PidfdFlags::empty())?;
    let mut stdout = Output::of(child.stdout.take(), windows[0]);
    let mut stderr = Output::of(child.stderr.take(), windows[1]);
    let mut status = None;
    while status.is_none() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            status = Some(Status::TimedOut);
            break;
        }
        if interruption::is_requested() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        // Rounded up, so that the deadline has passed when it wakes up.
        let left = left.min(GLANCE);
        let wait = Timespec {
            tv_sec: left.as_secs() as i64,
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        let mut fds = vec![PollFd::new(&gone, PollFlags::IN)];
        fds.extend(stdout.poll_fd());
        fds.extend(stderr.poll_fd());
        match poll(&mut fds, Some(&wait)) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(e) => return Err(e.into()),
        }
        let has_ended = !fds[0].revents().is_empty();
        drop(fds);
        // What it wrote before its end is in the pipes.
        while stdout.read_some()? | stderr.read_some()? {
            if !stdout.has_room || !stderr.has_room {
                status = Some(Status::TooMuchOutput);
                break;
            }
            // It may write faster than anybody reads.
            if !has_ended && Instant::now() > deadline {
                break;
            }
        }
        if has_ended {
            status.get_or_insert(Status::Exit(-1));
        }
    }
    Ok(Ended {
        status: status.unwrap_or(Status::TimedOut),
        stdout: stdout.data,
        stderr: stderr.data,
    })
}

/// One of the child's outputs, up to its end.
struct Output<R> {
    pipe: Option<R>,
    data: Captured,
    has_room: bool,
    buffer: Vec<u8>,
}

impl<R: Read + AsFd> Output<R> {
    fn of(pipe: Option<R>, window: Option<u64>) -> Output<R> {
        Output {
            pipe,
            data: Captured::keep_from(window),
            has_room: true,
            buffer: vec![0; 1 << 16],
        }
    }

    fn poll_fd(&self) -> Option<PollFd<'_>> {
        self.pipe
            .as_ref()
            .map(|pipe| PollFd::new(pipe, PollFlags::IN))
    }

    /// Reads what is there now; whether there was anything.
    fn read_some(&mut self) -> io::Result<bool> {
        let Some(pipe) = &mut self.pipe else {
            return Ok(false);
        };
        let mut fds = [PollFd::new(pipe, PollFlags::IN)];
        poll(&mut fds, Some(&Timespec::default()))?;
        if fds[0].revents().is_empty() {
            return Ok(false);
        }
        let size = pipe.read(&mut self.buffer)?;
        self.has_room &= self.data.push(&self.buffer[..size]);
        if size == 0 {
            self.pipe = None;
        }
        Ok(size > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, input: &Input, timeout: u64) -> Ended {
        let mut arguments = vec![b"-c".to_vec(), script.as_bytes().to_vec(), b"sh".to_vec()];
        arguments.extend(input.arguments.iter().cloned());
        let input = Input {
            arguments,
            ..input.clone()
        };
        let run = Run {
            program: Path::new("/bin/sh"),
            name: OsStr::new("sh"),
            input: &input,
            timeout: Duration::from_millis(timeout),
            variables: Vec::new(),
        };
        run.run().unwrap()
    }

    #[test]
    fn everything_is_kept() {
        let input = Input {
            arguments: vec![b"\xff".to_vec()],
            stdin: b"in\n".to_vec(),
            files: vec![b"file\n".to_vec()],
            ..Input::default()
        };
        let ended = sh("cat - A; printf %s \"$1\" >&2; exit 3", &input, 5000);
        assert_eq!(ended.status, Status::Exit(3));
        assert_eq!(ended.stdout.head(), b"in\nfile\n");
        assert_eq!(ended.stderr.head(), b"\xff");
    }

    #[test]
    fn ends_of_all_kinds() {
        let none = Input::default();
        let crash = sh("kill -SEGV $$", &none, 5000);
        assert_eq!(crash.status, Status::Signal("SEGV".into()));
        assert!(crash.status.is_crash());
        assert_eq!(sh("sleep 60", &none, 100).status, Status::TimedOut);
        let endless = sh("yes", &none, 300);
        assert_eq!(endless.status, Status::TimedOut);
        assert!(!endless.stdout.is_whole());
        assert!(endless.is_same(&sh("yes", &none, 400)));
        assert!(!endless.is_same(&sh("yes no", &none, 300)));
        // Somebody else still has the pipe.
        let left = Instant::now();
        let background = sh("echo a; sleep 60 & exit 1", &none, 20_000);
        assert_eq!(background.status, Status::Exit(1));
        assert_eq!(background.stdout.head(), b"a\n");
        assert!(left.elapsed() < Duration::from_secs(10));
    }
}
