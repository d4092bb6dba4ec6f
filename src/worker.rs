//! The work is done in a child process; this one waits and explains how it ended.
//!
//! LLVM's bitcode and assembly readers are not made for hostile files: they may abort, overflow the stack,
//! loop or ask for any amount of memory. A parse in a child first and then again here would double the time
//! of every merge; instead the whole run happens in a child forked at the start, which costs a millisecond.
//! The child keeps a note in shared memory of what it is doing, limits itself while LLVM reads a file
//! (processor time and memory in proportion to the file's size), and catches what LLVM prints meanwhile. If it
//! dies while reading, the file is to blame (exit status 2); if it dies elsewhere, p3-ir is (exit status 4).

use p3_passes::pipeline::Observer;
use p3_passes::{interruption, Error, Module};
use rustix::fs::{memfd_create, MemfdFlags};
use rustix::mm::{mmap_anonymous, MapFlags, ProtFlags};
use rustix::process::{self, Resource, Rlimit, Signal, WaitOptions};
use rustix::stdio;
use rustix::time::{clock_gettime, ClockId};
use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, AtomicU8, Ordering};
use std::sync::OnceLock;

/// While LLVM reads, it may use this much processor time ...
const READ_SECONDS: u64 = 20;
/// ... and so many seconds more per megabyte (a slow machine needs a tenth).
const READ_SECONDS_PER_MB: u64 = 2;
/// Memory for reading anything ...
const READ_MEMORY: u64 = 512 << 20;
/// ... and for each byte of the file: LLVM's modules are some 30 times as large as bitcode.
const READ_MEMORY_PER_BYTE: u64 = 100;

/// What the child is doing, for the parent to read after its death.
#[repr(C)]
struct Note {
    phase: AtomicU32,
    length: AtomicU32,
    text: [AtomicU8; Note::CAPACITY],
}

const WORKING: u32 = 0;
const READING: u32 = 1;
const DONE: u32 = 2;

impl Note {
    const CAPACITY: usize = 2048;

    /// In memory that a child forked later shares, all zero.
    fn shared() -> Option<&'static Note> {
        // SAFETY: a fresh anonymous mapping that is never unmapped; zeroed atomics are valid.
        unsafe {
            let memory = mmap_anonymous(
                std::ptr::null_mut(),
                std::mem::size_of::<Note>(),
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
            );
            memory.ok().map(|memory| &*memory.cast::<Note>())
        }
    }

    fn write(&self, phase: u32, text: &str) {
        for (cell, byte) in self.text.iter().zip(text.bytes()) {
            cell.store(byte, Ordering::Relaxed);
        }
        let length = text.len().min(Self::CAPACITY) as u32;
        self.length.store(length, Ordering::Relaxed);
        self.phase.store(phase, Ordering::Release);
    }

    fn read(&self) -> (u32, String) {
        let phase = self.phase.load(Ordering::Acquire);
        let length = self.length.load(Ordering::Relaxed) as usize;
        let bytes: Vec<u8> = self.text[..length.min(Self::CAPACITY)]
            .iter()
            .map(|cell| cell.load(Ordering::Relaxed))
            .collect();
        (phase, String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The child's side.
struct Worker {
    note: &'static Note,
    /// Takes what LLVM prints while it reads.
    captured: OwnedFd,
    stderr: OwnedFd,
    /// As this process was started.
    limits: [(Resource, Rlimit); 3],
}

static WORKER: OnceLock<Worker> = OnceLock::new();

/// Forks. Returns nothing in the child, which does the work, and the exit status in the parent, once the
/// child has ended. Where no child can be made this process does the work itself.
///
/// Must be called before there are threads.
pub fn supervise() -> Option<ExitCode> {
    let note = Note::shared()?;
    let captured = memfd_create("p3-ir-messages", MemfdFlags::CLOEXEC).ok()?;
    let for_worker = captured.try_clone().ok()?;
    let parent = process::getpid();
    // SAFETY: the process has one thread, so the child finds everything as it is here.
    match unsafe { libc::fork() } {
        -1 => None,
        0 => {
            start_work(note, for_worker, parent);
            None
        }
        child => {
            pass_on_signals(child);
            let status = wait(process::Pid::from_raw(child)?)?;
            Some(conclude(status, note, captured))
        }
    }
}

fn start_work(note: &'static Note, captured: OwnedFd, parent: process::Pid) {
    // Without effect on what the user sees if it fails.
    let _ = process::set_parent_process_death_signal(Some(Signal::KILL));
    if process::getppid() != Some(parent) {
        std::process::exit(4);
    }
    let Ok(stderr) = rustix::io::fcntl_dupfd_cloexec(stdio::stderr(), 3) else {
        // There is nobody to explain anything to.
        note.write(DONE, "");
        return;
    };
    let limits = [Resource::Cpu, Resource::Data, Resource::Core]
        .map(|resource| (resource, process::getrlimit(resource)));
    let _ = WORKER.set(Worker {
        note,
        captured,
        stderr,
        limits,
    });
}

/// The signals by which users end a program.
const ENDS: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

static CHILD: AtomicI32 = AtomicI32::new(0);

/// The child decides what such a signal does. A terminal sends it to both.
fn pass_on_signals(child: i32) {
    extern "C" fn pass_on(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
        // SAFETY: the kernel gives a valid description; kill may be called in a handler.
        unsafe {
            if (*info).si_code <= 0 {
                libc::kill(CHILD.load(Ordering::Relaxed), signal);
            }
        }
    }
    CHILD.store(child, Ordering::Relaxed);
    set_handler(pass_on, libc::SA_SIGINFO | libc::SA_RESTART);
}

/// A terminal and timeout(1) send a signal to this process and once more through the parent; nobody presses keys so
/// fast.
const ONE_REQUEST: u64 = 500;

/// When the first request came, in milliseconds since the machine was started; 0: none came.
static FIRST_REQUEST: AtomicU64 = AtomicU64::new(0);

/// From now on the first signal that is to end this process is a request to end the work; one that comes later ends the
/// process.
pub fn end_by_request() {
    extern "C" fn keep(signal: i32, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
        let now = clock_gettime(ClockId::Monotonic);
        let now = (now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000).max(1);
        let first = FIRST_REQUEST.compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        interruption::request();
        // In another thread the one that came first may have been later to note its time.
        if first.is_err_and(|first| now.saturating_sub(first) > ONE_REQUEST) {
            // SAFETY: both may be called in a handler; the signal comes when the handler has returned.
            unsafe {
                libc::signal(signal, libc::SIG_DFL);
                libc::raise(signal);
            }
        }
    }
    interruption::expect();
    set_handler(keep, libc::SA_SIGINFO | libc::SA_RESTART);
}

/// For signals that are not ignored, as under nohup.
fn set_handler(handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::c_void), flags: i32) {
    for signal in ENDS {
        // SAFETY: zeroed actions are valid; the handlers do nothing but atomic accesses and system calls.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            libc::sigaction(signal, std::ptr::null(), &mut action);
            if action.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            action.sa_sigaction = handler as *const () as usize;
            action.sa_flags = flags;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// Keeps the supervising process informed of what a pipeline does.
pub struct Supervised;

impl Observer for Supervised {
    fn reading(&mut self, place: &str, size: usize) {
        reading(place, size);
    }

    fn read(&mut self) {
        read();
    }

    fn after(
        &mut self,
        pass: &'static str,
        version: Option<usize>,
        _: &Module,
    ) -> p3_passes::Result<()> {
        after(&step(pass, version));
        interruption::check()
    }
}

/// A pass and the version that it has worked on, in words.
pub fn step(pass: &str, version: Option<usize>) -> String {
    match version {
        Some(version) => format!("{pass}.{version}"),
        None => pass.to_string(),
    }
}

/// LLVM is about to read `size` bytes of `file`.
pub fn reading(file: &str, size: usize) {
    let Some(worker) = WORKER.get() else {
        return;
    };
    worker.note.write(READING, file);
    for (resource, original) in worker.limits {
        let limit = match resource {
            Resource::Cpu => processor_seconds() + seconds_allowed(size),
            Resource::Data => data_size() + memory_allowed(size),
            _ => 0,
        };
        let current = Some(original.current.map_or(limit, |soft| soft.min(limit)));
        let _ = process::setrlimit(
            resource,
            Rlimit {
                current,
                ..original
            },
        );
    }
    let _ = stdio::dup2_stderr(&worker.captured);
}

/// It has.
pub fn read() {
    let Some(worker) = WORKER.get() else {
        return;
    };
    let _ = stdio::dup2_stderr(&worker.stderr);
    for (resource, original) in worker.limits {
        let _ = process::setrlimit(resource, original);
    }
    worker.note.write(WORKING, "");
}

/// Keeps in mind what was finished last.
pub fn after(step: &str) {
    if let Some(worker) = WORKER.get() {
        worker.note.write(WORKING, step);
    }
}

/// Whatever was to be done is done, or has failed with a message. An exit before this is LLVM's.
pub fn done() {
    if let Some(worker) = WORKER.get() {
        worker.note.write(DONE, "");
    }
}

fn seconds_allowed(size: usize) -> u64 {
    READ_SECONDS + READ_SECONDS_PER_MB * (size as u64 >> 20)
}

fn memory_allowed(size: usize) -> u64 {
    READ_MEMORY + READ_MEMORY_PER_BYTE * size as u64
}

/// Used by this process so far, rounded up.
fn processor_seconds() -> u64 {
    clock_gettime(ClockId::ProcessCPUTime).tv_sec as u64 + 1
}

/// What counts towards the limit on data, or a little more.
fn data_size() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split_whitespace().nth(5);
    let pages: u64 = pages.and_then(|field| field.parse().ok()).unwrap_or(0);
    pages * rustix::param::page_size() as u64
}

fn wait(child: process::Pid) -> Option<process::WaitStatus> {
    loop {
        match process::waitpid(Some(child), WaitOptions::empty()) {
            Ok(Some((_, status))) if status.exited() || status.signaled() => return Some(status),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// The exit status for a child that ended with `status`; says why if the child could not.
fn conclude(status: process::WaitStatus, note: &Note, captured: OwnedFd) -> ExitCode {
    let (phase, text) = note.read();
    if let Some(code) = status.exit_status().filter(|_| phase == DONE) {
        return ExitCode::from(code as u8);
    }
    let signal = status.terminating_signal();
    if let Some(stop @ (libc::SIGINT | libc::SIGTERM | libc::SIGHUP | libc::SIGQUIT)) = signal {
        // SAFETY: ends this process as the child was ended.
        unsafe {
            libc::signal(stop, libc::SIG_DFL);
            libc::raise(stop);
        }
    }
    let how = signal.map_or("an exit of LLVM's".to_string(), signal_name);
    let error = match phase {
        READING => Error::bad_input(text, reader_failure(signal, &how, captured)),
        _ => {
            let place = match text.is_empty() {
                true => "p3-ir".to_string(),
                false => format!("what follows {text}"),
            };
            Error::internal(place, format!("ended by {how}"))
        }
    };
    eprintln!("p3-ir: {error}");
    ExitCode::from(error.exit_status())
}

/// Why LLVM did not survive reading a file.
fn reader_failure(signal: Option<i32>, how: &str, captured: OwnedFd) -> String {
    const NEEDS_MEMORY: [&str; 4] = [
        "out of memory",
        "bad_alloc",
        "Allocation failed",
        "memory allocation of",
    ];
    let message = first_line(captured);
    if signal == Some(libc::SIGXCPU) {
        format!("LLVM's reader does not come to an end (stopped after {READ_SECONDS} s or more)")
    } else if NEEDS_MEMORY.iter().any(|words| message.contains(words)) {
        "LLVM's reader needs too much memory for a file of this size".to_string()
    } else if message.is_empty() {
        format!("LLVM's reader fails on it ({how})")
    } else {
        format!("LLVM's reader fails on it ({how}): {message}")
    }
}

fn first_line(captured: OwnedFd) -> String {
    let mut file = File::from(captured);
    let mut bytes = Vec::new();
    if file.rewind().is_err() || file.take(4096).read_to_end(&mut bytes).is_err() {
        return String::new();
    }
    let text = String::from_utf8_lossy(&bytes);
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    line.unwrap_or_default().to_string()
}

fn signal_name(signal: i32) -> String {
    let known = [
        (libc::SIGABRT, "ABRT"),
        (libc::SIGBUS, "BUS"),
        (libc::SIGFPE, "FPE"),
        (libc::SIGILL, "ILL"),
        (libc::SIGKILL, "KILL (out of memory?)"),
        (libc::SIGSEGV, "SEGV"),
        (libc::SIGTRAP, "TRAP"),
        (libc::SIGXCPU, "XCPU"),
    ];
    match known.iter().find(|(number, _)| *number == signal) {
        Some((_, name)) => format!("signal {name}"),
        None => format!("signal {signal}"),
    }
}

/// Panics are bugs of ours and reported as such, on one line.
pub fn report_panics() {
    std::panic::set_hook(Box::new(|panic| {
        read();
        let message = panic.payload();
        let message = message
            .downcast_ref::<&str>()
            .map(|text| text.to_string())
            .or_else(|| message.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        let place = panic.location().map(ToString::to_string);
        let error = Error::internal(place.unwrap_or_default(), message);
        eprintln!("p3-ir: {error}");
    }));
}
