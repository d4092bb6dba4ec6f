//! What fuzzers run: a product that is a fuzzer's function, its template, and the folder of its findings.

use super::{Candidate, Reason, Sink, Task};
use crate::input::{read, write};
use crate::programs::{dictionary, write_product, Sources};
use crate::template::{Template, Word};
use p3_passes::build::{self, BuildOptions, Job, Sanitizer};
use p3_passes::pipeline::{Observer, Options, PrepareLevel, ProductChecks};
use p3_passes::weave::WeaveOptions;
use p3_passes::{Error, Result};
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Products with more instructions behind partings take minutes to compile with a sanitizer, a multiple of what the
/// versions take one after the other. Then the harness finds no partings, but it runs.
const LARGE: usize = 60_000;

/// So many inputs that went new ways are handed on at a time while the fuzzer runs: whatever it finds besides has to wait
/// for them.
const FEW: usize = 8;

/// Folders and files in the engine's directory.
pub(super) struct Harness {
    pub directory: PathBuf,
    /// Inputs to begin with; libFuzzer adds what it finds worth keeping.
    pub corpus: PathBuf,
    /// What merging it had to say.
    pub warnings: Vec<String>,
    findings: PathBuf,
    seen: HashSet<PathBuf>,
}

impl Harness {
    /// Merges.
    pub(super) fn merge(
        sources: &Sources,
        directory: &Path,
        observe: &mut dyn Observer,
    ) -> Result<Harness> {
        let directory =
            std::path::absolute(directory).map_err(|e| Error::bad_input(directory, e))?;
        let mut harness = Harness {
            warnings: Vec::new(),
            corpus: directory.join("corpus"),
            findings: directory.join("findings"),
            seen: HashSet::new(),
            directory,
        };
        for folder in [&harness.corpus, &harness.findings] {
            fs::create_dir_all(folder).map_err(|e| Error::bad_input(folder, e))?;
        }
        let options = Options {
            harness: true,
            sites: true,
            // Each half of a condition that a fuzzer meets is a step for it.
            prepare: sources.prepare.unwrap_or(PrepareLevel::Ssa),
            checks: with_divergence(sources.merge.checks)?,
            ..sources.merge.clone()
        };
        let mut merged = write_product(&harness.product(), &options, observe)?;
        if merged.product_size.continuation > LARGE {
            let options = Options {
                checks: sources.merge.checks,
                weave: WeaveOptions {
                    none: true,
                    ..sources.merge.weave.clone()
                },
                ..options
            };
            merged = write_product(&harness.product(), &options, observe)?;
        }
        harness.warnings = merged.warnings;
        Ok(harness)
    }

    /// Writes what the fuzzer begins with.
    pub(super) fn write_seeds(&self, task: &Task) -> Result<()> {
        let nothing = task.template().decode(&[]);
        for (index, input) in task.seeds.iter().chain([&nothing]).enumerate() {
            if let Some(data) = task.template().encode(input) {
                // Some fuzzers do not take empty files.
                let data = if data.is_empty() { vec![0] } else { data };
                write(&self.corpus.join(format!("seed-{index}")), &data)?;
            }
        }
        Ok(())
    }

    /// The product's bitcode.
    pub(super) fn product(&self) -> PathBuf {
        self.directory.join("harness.bc")
    }

    /// What the versions compare their input with, for the fuzzer; none if they do not.
    pub(super) fn dictionary(&self) -> Option<PathBuf> {
        let path = dictionary(&self.product());
        // AFL++ does not take an empty one.
        let size = fs::metadata(&path).map_or(0, |file| file.len());
        (size > 0).then_some(path)
    }

    /// The executable.
    pub(super) fn program(&self) -> PathBuf {
        self.directory.join("harness")
    }

    /// What builds it for libFuzzer, with AddressSanitizer.
    pub(super) fn job(
        &self,
        sources: &Sources,
        libraries: &[Sanitizer],
        observe: &mut dyn Observer,
    ) -> Result<Job> {
        let mut sanitizers = vec![Sanitizer::Address];
        sanitizers.extend(
            libraries
                .iter()
                .filter(|known| **known != Sanitizer::Address),
        );
        let options = BuildOptions {
            product: self.product(),
            output: self.program(),
            sanitizers,
            flags: [&["-O1".into()], sources.flags.as_slice()].concat(),
        };
        build::prepare(&options, observe)
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

    /// Hands on the next inputs that went new ways, while the fuzzer runs: what the product does not notice, such as a
    /// write behind the end of an object, a version under a sanitizer may. Returns whether there were any.
    pub(super) fn collect_some(
        &mut self,
        task: &Task,
        folder: &Path,
        sink: &mut dyn Sink,
    ) -> Result<bool> {
        let mut candidates = Vec::new();
        for path in files(folder) {
            if candidates.len() == FEW {
                break;
            }
            if self.seen.contains(&path) {
                continue;
            }
            // The fuzzer writes each under a name of its own.
            self.seen.insert(path.clone());
            self.take(task, path, Reason::Path, &mut candidates);
        }
        let any = !candidates.is_empty();
        if any {
            sink.candidates(candidates)?;
        }
        Ok(any)
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
pub(super) fn passable(template: &Template) -> Result<()> {
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
