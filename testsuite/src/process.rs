//! Starts a program in given circumstances and records what it does.

use crate::directives::{Pipe, Run, Sink, Stdin};
use anyhow::{Context, Result};
use p3_hunt::process::Status;
use p3_passes::execute::kill_group;
use std::ffi::{CString, OsStr};
use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// `argv[0]` of every run, alone or as a product.
pub const PROGRAM_NAME: &str = "prog";
/// What stands in a file that a run appends to.
const BEFORE: &[u8] = b"before\n";

/// What a run did.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// What the program wrote to FIFOs that somebody else reads, in their order.
    pub fifos: Vec<Vec<u8>>,
    /// `exit N`, `signal NAME` or `timeout`.
    pub status: String,
}

/// A place to run in: the working directory is made anew for each run and always has the same name, as has
/// the program.
pub struct Place {
    directory: PathBuf,
}

impl Place {
    /// Uses `directory`, which must exist.
    pub fn new(directory: PathBuf) -> Self {
        Place { directory }
    }

    /// Runs `program`. `extra` is added to the run's environment.
    pub fn run(&self, program: &Path, run: &Run, extra: &[(&str, &OsStr)]) -> Result<Observed> {
        let bin = self.directory.join("bin");
        let work = self.directory.join("work");
        std::fs::create_dir_all(&bin)?;
        if work.exists() {
            std::fs::remove_dir_all(&work).context("the last run's working directory")?;
        }
        std::fs::create_dir(&work)?;
        let executable = bin.join(PROGRAM_NAME);
        if executable.exists() {
            std::fs::remove_file(&executable)?;
        }
        std::fs::hard_link(program, &executable)?;

        let mut command = Command::new(&executable);
        command.arg0(PROGRAM_NAME).current_dir(&work).env_clear();
        command.args(run.args.iter().map(|arg| OsStr::from_bytes(arg)));
        command.env(
            "PATH",
            format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()),
        );
        for (name, value) in &run.env {
            command.env(name, OsStr::from_bytes(value));
        }
        for (name, value) in extra {
            command.env(name, value);
        }
        self.observe(command, run)
    }

    fn observe(&self, mut command: Command, run: &Run) -> Result<Observed> {
        let mut closed = Vec::new();
        let mut terminal = None;
        let mut feed = None;
        match &run.stdin {
            Stdin::Null => {
                command.stdin(Stdio::null());
            }
            Stdin::Closed => closed.push(0),
            Stdin::File(contents, offset) => {
                let path = self.directory.join("stdin");
                std::fs::write(&path, contents)?;
                let mut file = File::open(&path)?;
                file.seek(SeekFrom::Start(*offset))?;
                command.stdin(file);
            }
            Stdin::Pipe(contents) => {
                let (reader, writer) = pipe()?;
                command.stdin(reader);
                feed = Some(feed_pipe(writer.into(), contents)?);
            }
            Stdin::Terminal(contents) => {
                let pair: &(File, OwnedFd) = terminal.insert(open_terminal()?);
                // Short enough for the line discipline to hold it until the program reads.
                (&pair.0).write_all(contents)?;
                command.stdin(pair.1.try_clone()?);
            }
        }

        let others = Others::start(&self.directory.join("work"), &run.pipes)?;
        let inherited = others.inherited();
        let stdout = self.sink(run.stdout, 1, &mut terminal, &mut closed)?;
        let stderr = match run.stderr {
            Sink::Stdout => Opened {
                child: stdout.child.as_ref().map(OwnedFd::try_clone).transpose()?,
                source: Source::Nothing,
            },
            other => self.sink(other, 2, &mut terminal, &mut closed)?,
        };
        let (out_source, err_source) = (stdout.source, stderr.source);
        command.stdout(stdout.child.map_or_else(Stdio::null, Stdio::from));
        command.stderr(stderr.child.map_or_else(Stdio::null, Stdio::from));
        command.process_group(0);
        // SAFETY: the closure runs between fork and exec and makes system calls only.
        unsafe {
            command.pre_exec(move || {
                for fd in &closed {
                    libc::close(*fd);
                }
                libc::syscall(
                    libc::SYS_close_range,
                    3u32,
                    u32::MAX,
                    libc::CLOSE_RANGE_CLOEXEC,
                );
                for (from, to) in &inherited {
                    libc::dup2(*from, *to);
                }
                let none = libc::rlimit {
                    rlim_cur: 0,
                    rlim_max: 0,
                };
                libc::setrlimit(libc::RLIMIT_CORE, &none);
                // A shell's background jobs, and what nohup starts, ignore these and would pass that on.
                for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT] {
                    libc::signal(signal, libc::SIG_DFL);
                }
                Ok(())
            })
        };

        let mut child = command.spawn().context("cannot start the program")?;
        // The child's ends of pipes and terminals must not stay open here.
        drop(command);
        // Our side of a terminal stays open until the program has ended: without it the program's is hung up.
        let master = terminal.map(|(master, _)| master);
        let out = out_source.read();
        let err = err_source.read();
        if let Some(Feed { mut pipe, rest }) = feed {
            // The program may end without reading everything.
            thread::spawn(move || pipe.write_all(&rest));
        }

        let deadline = Instant::now() + run.timeout;
        let status = wait(&mut child, deadline)?;
        let status_text = match status {
            Some(status) => Status::of(status).to_string(),
            None => "timeout".to_string(),
        };
        drop(master);
        let stdout = out.finish(deadline)?;
        let stderr = err.finish(deadline)?;
        // Children that outlived the program; there are usually none.
        kill_group(&child);
        let fifos = others.finish()?;
        let stdout = match run.stdout {
            Sink::Append => stdout.strip_prefix(BEFORE).unwrap_or(&stdout).to_vec(),
            _ => stdout,
        };
        Ok(Observed {
            stdout,
            stderr,
            fifos,
            status: status_text,
        })
    }

    /// Opens what descriptor `number` of the program becomes.
    fn sink(
        &self,
        sink: Sink,
        number: i32,
        terminal: &mut Option<(File, OwnedFd)>,
        closed: &mut Vec<i32>,
    ) -> Result<Opened> {
        let path = self.directory.join(format!("output{number}"));
        let opened = |child: OwnedFd, source| Opened {
            child: Some(child),
            source,
        };
        Ok(match sink {
            Sink::Pipe | Sink::Head(_) => {
                let (reader, writer) = pipe()?;
                let limit = match sink {
                    Sink::Head(bytes) => Some(bytes),
                    _ => None,
                };
                opened(writer, Source::Stream(reader, limit))
            }
            Sink::File => opened(File::create(&path)?.into(), Source::File(path)),
            Sink::Append => {
                std::fs::write(&path, BEFORE)?;
                let file = OpenOptions::new().append(true).open(&path)?;
                opened(file.into(), Source::File(path))
            }
            Sink::Terminal => {
                if terminal.is_none() {
                    *terminal = Some(open_terminal()?);
                }
                let (master, slave) = terminal.as_ref().expect("opened above");
                opened(
                    slave.try_clone()?,
                    Source::Stream(master.try_clone()?, None),
                )
            }
            Sink::Full => opened(
                OpenOptions::new().write(true).open("/dev/full")?.into(),
                Source::Nothing,
            ),
            Sink::Closed | Sink::Stdout => {
                closed.push(number);
                Opened {
                    child: None,
                    source: Source::Nothing,
                }
            }
        })
    }
}

/// Those who are at the other ends of a run's pipes.
#[derive(Default)]
struct Others {
    /// Who writes each FIFO, and who reads each.
    writers: Vec<(PathBuf, JoinHandle<()>)>,
    readers: Vec<(PathBuf, JoinHandle<std::io::Result<Vec<u8>>>)>,
    /// Stays open.
    _held: Vec<File>,
    /// With the numbers that they get in the program.
    inherited: Vec<(OwnedFd, i32)>,
}

impl Others {
    /// Makes FIFOs in `directory`.
    fn start(directory: &Path, pipes: &[Pipe]) -> Result<Self> {
        let mut others = Others::default();
        for description in pipes {
            match description {
                Pipe::Written(name, contents) => {
                    let path = make_fifo(directory, name)?;
                    let (place, contents) = (path.clone(), contents.clone());
                    let write = move || {
                        // The program may neither open it nor want everything.
                        let opened = OpenOptions::new().write(true).open(place);
                        let _ = opened.and_then(|mut fifo| fifo.write_all(&contents));
                    };
                    others.writers.push((path, thread::spawn(write)));
                }
                Pipe::Read(name) => {
                    let path = make_fifo(directory, name)?;
                    let place = path.clone();
                    let read = move || std::fs::read(place);
                    others.readers.push((path, thread::spawn(read)));
                }
                Pipe::Held(name, contents) => {
                    let path = make_fifo(directory, name)?;
                    let mut fifo = OpenOptions::new().read(true).write(true).open(path)?;
                    fifo.write_all(contents)?;
                    others._held.push(fifo);
                }
                Pipe::Inherited(number, contents) => {
                    let (reader, writer) = pipe()?;
                    let Feed { mut pipe, rest } = feed_pipe(writer.into(), contents)?;
                    thread::spawn(move || pipe.write_all(&rest));
                    // Above the numbers that the program gets.
                    // SAFETY: duplicates a descriptor that is open; the duplicate is ours alone.
                    let high = unsafe {
                        let high = libc::fcntl(reader.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 256);
                        anyhow::ensure!(high >= 0, "no descriptor for a pipe");
                        OwnedFd::from_raw_fd(high)
                    };
                    others.inherited.push((high, *number));
                }
            }
        }
        Ok(others)
    }

    /// Real descriptors and what they become.
    fn inherited(&self) -> Vec<(i32, i32)> {
        let pair = |(fd, number): &(OwnedFd, i32)| (fd.as_raw_fd(), *number);
        self.inherited.iter().map(pair).collect()
    }

    /// What was read from FIFOs. Nobody waits for the program any more.
    fn finish(self) -> Result<Vec<Vec<u8>>> {
        for (path, thread) in self.writers {
            wake(&thread, OpenOptions::new().read(true), &path);
        }
        let mut read = Vec::new();
        for (path, thread) in self.readers {
            wake(&thread, OpenOptions::new().write(true), &path);
            read.push(thread.join().expect("reads or fails")?);
        }
        Ok(read)
    }
}

/// Opens the other end of a FIFO until the thread, which may be waiting for that, has ended.
fn wake<T>(thread: &JoinHandle<T>, options: &mut OpenOptions, path: &Path) {
    while !thread.is_finished() {
        drop(options.custom_flags(libc::O_NONBLOCK).open(path));
        thread::sleep(Duration::from_micros(200));
    }
}

fn make_fifo(directory: &Path, name: &str) -> Result<PathBuf> {
    let path = directory.join(name);
    let text = CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: a string that ends.
    if unsafe { libc::mkfifo(text.as_ptr(), 0o600) } != 0 {
        return Err(std::io::Error::last_os_error()).context(path.display().to_string());
    }
    Ok(path)
}

/// What of a pipe's contents did not fit into it at once.
struct Feed {
    pipe: File,
    rest: Vec<u8>,
}

/// Writes before the program begins what a pipe can hold, so that what is there does not depend on who runs
/// first.
fn feed_pipe(pipe: File, contents: &[u8]) -> Result<Feed> {
    // SAFETY: a query and a change of flags of a descriptor that is open.
    let flags = unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_GETFL) };
    let set = |flags: i32| unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETFL, flags) };
    set(flags | libc::O_NONBLOCK);
    let mut done = 0;
    while done < contents.len() {
        match (&pipe).write(&contents[done..]) {
            Ok(written) => done += written,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error).context("the program's standard input"),
        }
    }
    set(flags);
    Ok(Feed {
        pipe,
        rest: contents[done..].to_vec(),
    })
}

struct Opened {
    child: Option<OwnedFd>,
    source: Source,
}

/// Where the program's output can be read.
enum Source {
    Nothing,
    File(PathBuf),
    /// A pipe or terminal; with a limit it is closed after so many bytes.
    Stream(File, Option<usize>),
}

enum Reading {
    Nothing,
    File(PathBuf),
    Stream(Receiver<Vec<u8>>),
}

impl Source {
    /// Begins to read, in a thread of its own where the program could block otherwise.
    fn read(self) -> Reading {
        match self {
            Source::Nothing => Reading::Nothing,
            Source::File(path) => Reading::File(path),
            Source::Stream(mut file, limit) => {
                let (sender, receiver) = mpsc::channel();
                thread::spawn(move || {
                    let mut data = Vec::new();
                    // A terminal without a program on the other side reports an error: that is its end.
                    let _ = match limit {
                        Some(limit) => (&file).take(limit as u64).read_to_end(&mut data),
                        None => file.read_to_end(&mut data),
                    };
                    drop(file);
                    sender.send(data)
                });
                Reading::Stream(receiver)
            }
        }
    }
}

impl Reading {
    /// What was written. After the deadline nothing more is waited for.
    fn finish(self, deadline: Instant) -> Result<Vec<u8>> {
        match self {
            Reading::Nothing => Ok(Vec::new()),
            Reading::File(path) => Ok(std::fs::read(path)?),
            Reading::Stream(receiver) => {
                let left = deadline.saturating_duration_since(Instant::now());
                Ok(receiver
                    .recv_timeout(left.max(Duration::from_millis(100)))
                    .unwrap_or_default())
            }
        }
    }
}

/// Waits until the deadline; none: the program and its children were killed.
fn wait(child: &mut Child, deadline: Instant) -> Result<Option<ExitStatus>> {
    let mut pause = Duration::from_micros(200);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            kill_group(child);
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    }
}

fn pipe() -> Result<(File, OwnedFd)> {
    let mut ends = [0; 2];
    // SAFETY: `ends` has room for two descriptors, which are ours alone afterwards.
    unsafe {
        if libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) != 0 {
            return Err(std::io::Error::last_os_error()).context("pipe");
        }
        Ok((File::from_raw_fd(ends[0]), OwnedFd::from_raw_fd(ends[1])))
    }
}

/// A pseudo-terminal without echo: our side and the program's.
fn open_terminal() -> Result<(File, OwnedFd)> {
    let (mut master, mut slave) = (0, 0);
    // SAFETY: openpty fills in two descriptors, which are ours alone afterwards; null asks for defaults.
    let pair = unsafe {
        let null = std::ptr::null_mut();
        if libc::openpty(
            &mut master,
            &mut slave,
            null,
            std::ptr::null(),
            std::ptr::null(),
        ) != 0
        {
            return Err(std::io::Error::last_os_error()).context("openpty");
        }
        (File::from_raw_fd(master), OwnedFd::from_raw_fd(slave))
    };
    // SAFETY: plain calls on descriptors that are open; `attributes` is filled in by the first.
    unsafe {
        for fd in [pair.0.as_raw_fd(), pair.1.as_raw_fd()] {
            libc::fcntl(fd, libc::F_SETFD, libc::FD_CLOEXEC);
        }
        let mut attributes: libc::termios = std::mem::zeroed();
        libc::tcgetattr(pair.1.as_raw_fd(), &mut attributes);
        attributes.c_lflag &= !libc::ECHO;
        libc::tcsetattr(pair.1.as_raw_fd(), libc::TCSANOW, &attributes);
    }
    Ok(pair)
}
