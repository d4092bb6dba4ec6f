//! What fuzzers run: a product that is a fuzzer's function, its template, and the folder of its findings.

use super::{Candidate, Reason, Sink, Task};
use crate::input::{read, write};
use crate::programs::write_product;
use crate::template::{Template, Word};
use p3_passes::build::{self, BuildOptions, Sanitizer};
use p3_passes::pipeline::{Options, ProductChecks};
use p3_passes::{Error, Result};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Folders and files in the engine's directory.
pub(super) struct Harness {
    pub directory: PathBuf,
    /// Inputs to begin with; libFuzzer adds what it finds worth keeping.
    pub corpus: PathBuf,
    findings: PathBuf,
    seen: HashSet<PathBuf>,
}

impl Harness {
    /// Merges, and writes the seeds.
    pub(super) fn new(task: &Task, sink: &mut dyn Sink) -> Result<Harness> {
        let directory =
            std::path::absolute(task.directory).map_err(|e| Error::bad_input(task.directory, e))?;
        let harness = Harness {
            corpus: directory.join("corpus"),
            findings: directory.join("findings"),
            seen: HashSet::new(),
            directory,
        };
        passable(task.template())?;
        for folder in [&harness.corpus, &harness.findings] {
            fs::create_dir_all(folder).map_err(|e| Error::bad_input(folder, e))?;
        }
        let options = Options {
            harness: true,
            sites: true,
            checks: with_divergence(task.sources.merge.checks)?,
            ..task.sources.merge.clone()
        };
        write_product(&harness.product(), &options, sink.observer())?;
        let nothing = task.template().decode(&[]);
        for (index, input) in task.seeds.iter().chain([&nothing]).enumerate() {
            if let Some(data) = task.template().encode(input) {
                // Some fuzzers do not take empty files.
                let data = if data.is_empty() { vec![0] } else { data };
                write(&harness.corpus.join(format!("seed-{index}")), &data)?;
            }
        }
        Ok(harness)
    }

    /// The product's bitcode.
    pub(super) fn product(&self) -> PathBuf {
        self.directory.join("harness.bc")
    }

    /// Builds it for libFuzzer, with AddressSanitizer.
    pub(super) fn build(&self, task: &Task, program: &Path, sink: &mut dyn Sink) -> Result<()> {
        let mut sanitizers = vec![Sanitizer::Address];
        sanitizers.extend(
            task.libraries
                .iter()
                .filter(|known| **known != Sanitizer::Address),
        );
        let options = BuildOptions {
            product: self.product(),
            output: program.to_path_buf(),
            sanitizers,
            flags: [&["-O1".into()], task.sources.flags.as_slice()].concat(),
        };
        build::build(&options, sink.observer()).map(drop)
    }

    /// Sets the variables that the harness reads.
    pub(super) fn configure(&self, command: &mut Command, task: &Task) {
        command
            .env("P3_TEMPLATE", task.template().to_string())
            .env("P3_FINDINGS", &self.findings)
            .env("P3_PROGRAM", &task.sources.program);
    }

    /// Hands on what is new: differences and other ways, and what is in the folders of crashes.
    pub(super) fn collect(
        &mut self,
        task: &Task,
        crashes: &[PathBuf],
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let mut candidates = Vec::new();
        for path in files(&self.findings) {
            // A smaller input replaces a larger one under the same name.
            let reason = match path.extension().and_then(|e| e.to_str()) {
                Some("input") => Reason::Difference,
                Some("flow") => Reason::Path,
                _ => continue,
            };
            self.take(task, path, reason, &mut candidates);
        }
        for path in crashes {
            self.take(task, path.clone(), Reason::Crash, &mut candidates);
        }
        match candidates.is_empty() {
            true => Ok(()),
            false => sink.candidates(candidates),
        }
    }

    fn take(
        &mut self,
        task: &Task,
        path: PathBuf,
        reason: Reason,
        candidates: &mut Vec<Candidate>,
    ) {
        // One that is just being replaced is there the next time.
        let Ok(data) = read(&path) else {
            return;
        };
        if self
            .seen
            .insert(path.with_extension(format!("{reason:?}.{}", data.len())))
        {
            let input = task.template().decode(&data);
            candidates.push(Candidate { input, reason });
        }
    }

    /// Hands on inputs that went new ways, when the fuzzer is done.
    pub(super) fn collect_corpus(
        &self,
        task: &Task,
        folder: &Path,
        sink: &mut dyn Sink,
    ) -> Result<()> {
        let inputs = files(folder)
            .into_iter()
            .filter_map(|path| read(&path).ok());
        let candidates = inputs.map(|data| Candidate {
            input: task.template().decode(&data),
            reason: Reason::Path,
        });
        sink.candidates(candidates.collect())
    }
}

/// The files of a folder, in the order of their names.
pub(super) fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_file())
        .collect();
    files.sort();
    files
}

/// The harness reads the template from a variable in which nothing can be escaped.
fn passable(template: &Template) -> Result<()> {
    for word in template.words() {
        if let Word::Literal(bytes) = word {
            let is_plain = !bytes.starts_with(b"@")
                && bytes.iter().all(|b| !b"\"\\\n".contains(b) && *b >= b' ');
            if !is_plain {
                return Err(Error::bad_input(
                    format!("--args '{template}'"),
                    "the fuzzers cannot be given this argument (KLEE can)",
                ));
            }
        }
    }
    Ok(())
}

/// These checks and the one for divergences.
pub(super) fn with_divergence(checks: ProductChecks) -> Result<ProductChecks> {
    let names: Vec<&str> = ProductChecks::NAMES
        .into_iter()
        .filter(|name| checks.has(name) || *name == "divergence")
        .collect();
    ProductChecks::parse(&names.join(",")).map_err(|e| Error::internal("harness", e))
}
