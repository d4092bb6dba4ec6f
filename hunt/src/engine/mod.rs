//! Programs that look for inputs: KLEE, libFuzzer, AFL++.
//!
//! An engine runs on a product for some time and hands on inputs on which versions may differ. It decides
//! nothing: every input is examined on the versions alone.

mod afl;
mod call;
mod harness;
mod klee;
mod ktest;
mod libfuzzer;

use crate::background::Background;
use crate::input::Input;
use crate::programs::Sources;
use crate::template::Template;
use harness::Harness;
use p3_passes::build::{self, Sanitizer};
use p3_passes::pipeline::Observer;
use p3_passes::{Error, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Engine {
    LibFuzzer,
    Afl,
    Klee,
}

impl Engine {
    const ALL: [Engine; 3] = [Engine::LibFuzzer, Engine::Afl, Engine::Klee];

    /// The engine of this name; the error lists all names.
    pub fn parse(name: &str) -> std::result::Result<Engine, String> {
        let found = Self::ALL.into_iter().find(|engine| engine.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Engine::name);
            format!("unknown engine '{name}' (known: {})", names.join(", "))
        })
    }

    /// The name that users write.
    pub fn name(self) -> &'static str {
        match self {
            Engine::LibFuzzer => "libfuzzer",
            Engine::Afl => "afl",
            Engine::Klee => "klee",
        }
    }

    /// The programs that it needs on PATH besides clang, and where to get them.
    fn needs(self) -> (&'static [&'static str], &'static str) {
        match self {
            Engine::LibFuzzer => (&[], ""),
            Engine::Afl => (
                &["afl-fuzz", "afl-clang-fast"],
                "on Debian: apt-get install afl++",
            ),
            Engine::Klee => (
                &["klee"],
                "Debian has no package: see https://klee-se.org, built with LLVM 16 and klee-uclibc",
            ),
        }
    }

    /// Fails if something is missing, with a message that says where to get it, or if the engine cannot be given such
    /// inputs.
    pub fn check(self, template: &Template) -> Result<()> {
        if self != Engine::Klee {
            harness::passable(template)?;
        }
        let (programs, hint) = self.needs();
        for program in programs {
            if find(program).is_none() {
                let reason = format!("not found; --engine {} needs it ({hint})", self.name());
                return Err(Error::bad_input(program, reason));
            }
        }
        // The versions are built, whoever looks for inputs.
        build::clang().map(drop)
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Engine::LibFuzzer => "libFuzzer",
            Engine::Afl => "AFL++",
            Engine::Klee => "KLEE",
        })
    }
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let candidates = std::env::split_paths(&path).map(|directory| directory.join(program));
    candidates.into_iter().find(|candidate| candidate.is_file())
}

/// What an engine is to do.
pub struct Task<'a> {
    /// What is merged.
    pub sources: &'a Sources,
    /// A directory for everything that the engine writes.
    pub directory: &'a Path,
    /// Inputs to begin with.
    pub seeds: &'a [Input],
    /// Under which names the product takes the bytes for `pp_input` of inputs that were examined.
    pub names: &'a HashMap<Input, Vec<u8>>,
    /// How long it may take.
    pub time: Duration,
}

impl Task<'_> {
    /// Which inputs may be tried.
    fn template(&self) -> &Template {
        &self.sources.template
    }
}

/// Why an input is handed on, the most telling reason first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// The product's checks failed on it.
    Difference,
    /// A version crashed.
    Crash,
    /// It went a new way.
    Path,
}

/// An input to be examined.
#[derive(Clone, Debug)]
pub struct Candidate {
    pub input: Input,
    pub reason: Reason,
}

/// Takes what an engine finds.
pub trait Sink {
    /// The engine has made so many runs on so many different paths.
    fn progress(&mut self, runs: u64, paths: u64);

    /// Inputs to be examined.
    fn candidates(&mut self, candidates: Vec<Candidate>) -> Result<()>;

    /// Whether the engine should go on, although it has time left.
    fn wants_more(&self) -> bool;

    /// Who is told what merges and builds do.
    fn observer(&mut self) -> &mut dyn Observer;

    /// Something that the user should know; each text is said once.
    fn warn(&mut self, text: &str);
}

/// What an engine did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EngineReport {
    /// Which one.
    pub engine: Engine,
    /// How long it took.
    pub seconds: f64,
    /// Runs of the product; for KLEE, paths.
    pub runs: u64,
    /// Different paths, as far as the engine tells them apart.
    pub paths: u64,
    /// Whether it has tried every input that the template allows.
    pub complete: bool,
    /// In which part of the inputs it has followed every path; none if it cannot say.
    pub bound: Option<String>,
    /// Why it could not do its work.
    pub failure: Option<String>,
    /// What kept it from covering everything.
    pub limits: Vec<String>,
}

impl EngineReport {
    fn new(engine: Engine) -> EngineReport {
        EngineReport {
            engine,
            seconds: 0.0,
            runs: 0,
            paths: 0,
            complete: false,
            bound: None,
            failure: None,
            limits: Vec::new(),
        }
    }
}

/// An engine that is about to run: what it fuzzes is merged, and a compiler at work on it.
pub struct Started {
    engine: Engine,
    /// None: it builds nothing.
    harness: Option<(Harness, Background<Vec<String>>)>,
}

/// Merges what an engine needs, in `directory`, and begins to build it. `libraries` are the sanitizers that the versions were
/// compiled for.
pub fn start(
    engine: Engine,
    sources: &Sources,
    libraries: &[Sanitizer],
    directory: &Path,
    observe: &mut dyn Observer,
) -> Result<Started> {
    let harness = match engine {
        Engine::Klee => None,
        Engine::LibFuzzer => Some(libfuzzer::start(sources, libraries, directory, observe)?),
        Engine::Afl => Some(afl::start(sources, libraries, directory, observe)?),
    };
    Ok(Started { engine, harness })
}

impl Started {
    /// Waits for the compiler, and runs the engine.
    pub fn run(self, task: &Task, sink: &mut dyn Sink) -> Result<EngineReport> {
        let mut start = Instant::now();
        let mut report = match self.harness {
            None => klee::run(task, sink)?,
            Some((harness, build)) => {
                let of_build = build.finish()?;
                for warning in harness.warnings.iter().chain(&of_build) {
                    sink.warn(warning);
                }
                harness.write_seeds(task)?;
                start = Instant::now(); // waiting for compilers is no search
                match self.engine {
                    Engine::Afl => afl::run(harness, task, sink)?,
                    _ => libfuzzer::run(harness, task, sink)?,
                }
            }
        };
        report.seconds = start.elapsed().as_secs_f64();
        Ok(report)
    }
}
