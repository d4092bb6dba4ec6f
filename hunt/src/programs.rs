//! The executables of a comparison: each version alone, plain and with sanitizers, and a product that says where
//! the versions part.
//!
//! They stay in the comparison's folder, so that it can be repeated later.

use crate::besides::Besides;
use crate::input::{read, write, Input};
use crate::marked::MarkedFiles;
use crate::place::{self, Place};
use crate::process::{Ended, Run, Status};
use crate::sanitizer::{self, SanitizerReport};
use crate::template::{Template, Word};
use p3_passes::build::{self, AloneOptions, BuildOptions, Job, Sanitizer};
use p3_passes::entry::{function_name, Entry};
use p3_passes::execute::{ReportedOutput, ReportedSpec};
use p3_passes::load;
use p3_passes::pipeline::{self, Observer, Options, PrepareLevel};
use p3_passes::report::MergeReport;
use p3_passes::weave::WeaveOptions;
use p3_passes::{Error, Result};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The description of the programs, in their folder.
const LIST: &str = "programs.json";

/// What to build the programs from.
#[derive(Clone, Debug)]
pub struct Sources {
    /// How the versions are merged; the checks are chosen here.
    pub merge: Options,
    /// How far versions are simplified, if the user has said it.
    pub prepare: Option<PrepareLevel>,
    /// Flags for clang.
    pub flags: Vec<OsString>,
    /// The program's name, its `argv[0]`.
    pub program: String,
    /// Which inputs it takes.
    pub template: Template,
    /// How long a run may take.
    pub timeout: Duration,
}

/// The programs, in one folder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Programs {
    /// The versions' names, oldest first.
    pub names: Vec<String>,
    /// Their `argv[0]`.
    pub program: String,
    /// Per version, where its sources were compiled.
    pub sources: Vec<Vec<PathBuf>>,
    /// Per version, the source files of its functions.
    #[serde(default)]
    pub files: Vec<Vec<PathBuf>>,
    /// The template of the inputs.
    pub template: String,
    /// How long a run may take, in milliseconds.
    pub timeout: u64,
    /// The function that runs first.
    #[serde(default = "main")]
    pub entry: String,
    /// Which functions correspond although their names differ.
    #[serde(default)]
    pub map: Vec<(String, String)>,
    /// What they were built with besides the versions.
    #[serde(default)]
    pub besides: Besides,
    /// Whether standard input is what the entry's arguments are made of.
    #[serde(default)]
    pub makes_arguments: bool,
    /// Whether they take bytes by `pp_input`, or as KLEE's symbolic values.
    #[serde(default)]
    pub takes_input: bool,
    #[serde(skip)]
    folder: PathBuf,
}

/// Programs that are still to be compiled.
pub struct Building {
    programs: Programs,
    template: Template,
    jobs: Vec<Job>,
    warnings: Vec<String>,
    libraries: Vec<Sanitizer>,
}

impl Building {
    /// The sanitizers that the versions were compiled for.
    pub fn libraries(&self) -> &[Sanitizer] {
        &self.libraries
    }

    /// Which inputs to try: those of the sources, with bytes for `pp_input` if the versions take any.
    pub fn template(&self) -> &Template {
        &self.template
    }

    /// Compiles; returns warnings, too.
    pub fn finish(self) -> Result<(Programs, Vec<String>)> {
        let mut warnings = self.warnings;
        warnings.extend(run_all(self.jobs)?);
        let text = serde_json::to_vec_pretty(&self.programs).map_err(internal)?;
        write(&self.programs.folder.join(LIST), &text)?;
        Ok((self.programs, warnings))
    }
}

/// How a version is built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// As it is.
    Plain,
    /// With AddressSanitizer, and what it was compiled with.
    Checked,
}

/// What a version did under sanitizers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// How it ended.
    pub status: Status,
    /// What the sanitizers said.
    pub report: Option<SanitizerReport>,
}

/// A place where versions that ran in lock-step parted, or returned different values.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Parting {
    /// `branch`, `switch` or `call`: what all versions have there; `exit`: they go on alike, but not at the same
    /// code any more; `return`: a function's results differ; `write`: the calls that wrote the first different
    /// output.
    pub kind: String,
    /// One per version; none if it was not there.
    pub places: Vec<Option<Place>>,
}

impl Parting {
    /// Whether all versions are in this function, which has no debug info.
    fn is_at(&self, function: &str) -> bool {
        let mut places = self.places.iter().flatten();
        places.all(|place| place.line == 0 && place.file == function)
    }
}

/// What the program, or the user, says of its versions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Specification {
    /// The relation.
    pub text: String,
    /// One per version; none if it names none there.
    pub places: Vec<Option<Place>>,
}

/// What the program gave out by `pp_output`, where that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DifferentOutput {
    pub name: String,
    /// Equal bytes before the difference.
    pub offset: u64,
}

/// What only the product can say of an input: it sees the versions side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Where the versions part, in the order in which they did.
    pub partings: Vec<Parting>,
    /// Which calls wrote what differs first.
    pub write: Option<Parting>,
    /// Specifications that do not hold.
    pub failed: Vec<Specification>,
    /// All that there are (not assumptions), and whether the versions have computed them on this input.
    pub specifications: Vec<(Specification, bool)>,
    /// An assumption does not hold: the input is of no interest.
    pub is_excluded: bool,
    /// What differs of what the program calls its output; none: it does not say what that is.
    pub outputs: Option<Vec<DifferentOutput>>,
}

impl Programs {
    /// Builds all programs in `folder`, which exists; returns warnings, too.
    pub fn build(
        sources: &Sources,
        folder: &Path,
        observe: &mut dyn Observer,
    ) -> Result<(Programs, Vec<String>)> {
        Programs::prepare(sources, folder, observe)?.finish()
    }

    /// Reads and merges everything that [`Building::finish`] compiles in `folder`, which exists.
    pub fn prepare(
        sources: &Sources,
        folder: &Path,
        observe: &mut dyn Observer,
    ) -> Result<Building> {
        let inputs = &sources.merge.inputs;
        let mut programs = Programs {
            names: inputs.iter().map(load::Input::name).collect(),
            program: sources.program.clone(),
            sources: Vec::new(),
            files: Vec::new(),
            template: String::new(),
            timeout: sources.timeout.as_millis() as u64,
            entry: sources.merge.entry.clone(),
            map: sources.merge.weave.map.clone(),
            besides: Besides::of(sources)?,
            makes_arguments: false,
            takes_input: false,
            folder: absolute(folder)?,
        };
        let mut libraries: Vec<Sanitizer> = Vec::new();
        // LLVM reads files one after the other; the compilers run beside each other.
        let mut jobs = Vec::new();
        let entries = pipeline::entries(&sources.merge, observe)?;
        programs.makes_arguments = entries.iter().any(Entry::takes_bytes);
        let is_stream = |word: &Word| matches!(word, Word::Stdin(_) | Word::Marked(_));
        if programs.makes_arguments && !sources.template.words().iter().all(is_stream) {
            let reason = "an entry function's arguments are made of standard input";
            return Err(Error::bad_input("--args", reason));
        }
        for (index, (input, entry)) in inputs.iter().zip(&entries).enumerate() {
            for kind in [Build::Plain, Build::Checked] {
                let sanitizers = match kind {
                    Build::Plain => Vec::new(),
                    Build::Checked => vec![Sanitizer::Address],
                };
                let options = AloneOptions {
                    version: input.clone(),
                    output: programs.path(index, kind),
                    sanitizers,
                    flags: sources.flags.clone(),
                    native_libraries: sources.merge.native_libraries.clone(),
                    entry: entry.clone(),
                };
                let job = build::prepare_alone(&options, observe)?;
                programs.takes_input |= job.takes_input();
                if kind == Build::Plain {
                    programs.sources.push(job.source_directories().to_vec());
                    programs.files.push(job.source_files().to_vec());
                    for sanitizer in job.sanitizers() {
                        if !libraries.contains(sanitizer) {
                            libraries.push(*sanitizer);
                        }
                    }
                }
                jobs.push(job);
            }
        }
        let template = match programs.takes_input {
            true => sources.template.clone().with_marked(),
            false => Ok(sources.template.clone()),
        };
        let template = template.map_err(|e| Error::bad_input("--args", e))?;
        programs.template = template.to_string();
        let warnings = programs.write_product(sources, observe)?;
        let options = BuildOptions {
            product: programs.product(),
            output: programs.places_program(),
            sanitizers: libraries.clone(),
            flags: sources.flags.clone(),
        };
        jobs.push(build::prepare(&options, observe)?);
        Ok(Building {
            programs,
            template,
            jobs,
            warnings,
            libraries,
        })
    }

    /// Finds programs that were built before.
    pub fn open(folder: &Path) -> Result<Programs> {
        let path = folder.join(LIST);
        let mut programs: Programs =
            serde_json::from_slice(&read(&path)?).map_err(|e| Error::bad_input(&path, e))?;
        programs.folder = absolute(folder)?;
        Ok(programs)
    }

    /// Whether `folder` has programs.
    pub fn are_in(folder: &Path) -> bool {
        folder.join(LIST).is_file()
    }

    /// The folder that they are in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The executable of a version.
    pub fn path(&self, version: usize, kind: Build) -> PathBuf {
        let suffix = match kind {
            Build::Plain => "",
            Build::Checked => ".checked",
        };
        self.folder.join(format!("{}{suffix}", version + 1))
    }

    fn product(&self) -> PathBuf {
        self.folder.join("places.bc")
    }

    fn places_program(&self) -> PathBuf {
        self.folder.join("places")
    }

    /// The product that says where versions part. Conditions that are not folded have more places;
    /// values in registers make it a quarter as large as it is without any preparation.
    fn write_product(&self, sources: &Sources, observe: &mut dyn Observer) -> Result<Vec<String>> {
        let options = Options {
            prepare: PrepareLevel::Ssa,
            checks: checks("output,status,divergence,returns,spec")?,
            sites: true,
            weave: WeaveOptions {
                exits: true,
                ..sources.merge.weave.clone()
            },
            ..sources.merge.clone()
        };
        Ok(write_product(&self.product(), &options, observe)?.warnings)
    }

    fn run(
        &self,
        path: &Path,
        input: &Input,
        variables: Vec<(&'static str, OsString)>,
        windows: [Option<u64>; 2],
    ) -> Result<Ended> {
        Run {
            program: path,
            name: OsStr::new(&self.program),
            input,
            timeout: Duration::from_millis(self.timeout),
            variables,
        }
        .run_keeping(windows)
    }

    /// How the version called its entry function, as it says itself in its first line.
    pub fn call(&self, ended: &Ended) -> Option<String> {
        let line = ended.stdout.head().split(|b| *b == b'\n').next()?;
        let line = std::str::from_utf8(line).ok()?;
        let is_call = line.ends_with(')')
            && line
                .strip_prefix(function_name(&self.entry))
                .is_some_and(|rest| rest.starts_with('('));
        (self.makes_arguments && is_call).then(|| line.to_string())
    }

    /// Runs a version as it is; `windows` are as in [`Run::run_keeping`].
    pub(crate) fn run_plain(
        &self,
        version: usize,
        input: &Input,
        marked: &MarkedFiles,
        windows: [Option<u64>; 2],
    ) -> Result<Ended> {
        // Bitcode that was compiled with a sanitizer says what it finds here, too.
        let none = scratch()?;
        let mut variables = sanitizer::variables(&none.path().join("log"));
        variables.extend(marked.variables());
        self.run(&self.path(version, Build::Plain), input, variables, windows)
    }

    /// Runs a version under sanitizers.
    pub(crate) fn run_checked(
        &self,
        version: usize,
        input: &Input,
        marked: &MarkedFiles,
    ) -> Result<Checked> {
        let logs = scratch()?;
        let mut variables = sanitizer::variables(&logs.path().join("log"));
        variables.extend(marked.variables());
        let program = self.path(version, Build::Checked);
        let status = self.run(&program, input, variables, [None, None])?.status;
        let mut text = Vec::new();
        let entries = fs::read_dir(logs.path()).map_err(|e| Error::bad_input(logs.path(), e))?;
        for entry in entries.flatten() {
            text.extend(read(&entry.path())?);
        }
        let mut report = SanitizerReport::parse(&String::from_utf8_lossy(&text));
        if let Some(place) = report.as_mut().and_then(|report| report.place.as_mut()) {
            place.file = self.common_name(version, &place.file);
        }
        Ok(Checked { status, report })
    }

    /// A source file of a version, called as in the first other version that has it.
    fn common_name(&self, version: usize, file: &str) -> String {
        let others = self.files.iter().enumerate();
        let others = others.filter(|(other, _)| *other != version);
        let others: Vec<PathBuf> = others.flat_map(|(_, files)| files.clone()).collect();
        let directories = self.sources.get(version).map_or(&[][..], Vec::as_slice);
        place::common_name(file, &others, directories)
    }

    /// The source files of a version, to read in.
    pub fn source_files(&self, version: usize) -> place::Sources {
        let known = self.files.get(version).map_or(&[][..], Vec::as_slice);
        let directories = self.sources.get(version).cloned().unwrap_or_default();
        place::Sources::new(known, directories)
    }

    /// What the product says of this input; none if it did not come to its end.
    pub(crate) fn account(&self, input: &Input, marked: &MarkedFiles) -> Result<Option<Account>> {
        let out = scratch()?;
        let mut variables = vec![
            ("P3_OUTDIR", out.path().into()),
            ("P3_SHOW", "none".into()),
            ("P3_STATUS", "1".into()),
            ("P3_ON_DIVERGENCE", "count".into()),
        ];
        variables.extend(marked.variables());
        self.run(&self.places_program(), input, variables, [None, None])?;
        let path = out.path().join("report.json");
        if !path.exists() {
            return Ok(None);
        }
        let report: ProductReport = serde_json::from_slice(&read(&path)?).map_err(internal)?;
        let mut account = Account::from(report);
        if self.makes_arguments {
            // What the driver prints of a call is everybody's, and no place in the versions' code.
            account.write = account.write.filter(|write| !write.is_at("main()"));
        }
        Ok(Some(account))
    }
}

/// The part of a product's report.json that is needed here.
#[derive(Deserialize)]
struct ProductReport {
    divergences: Vec<Reported>,
    returns: Vec<Reported>,
    differences: Vec<ReportedDifference>,
    checks: ReportedChecks,
    spec: Vec<ReportedSpec>,
    outputs: Vec<ReportedOutput>,
}

#[derive(Deserialize)]
struct Reported {
    kind: String,
    places: Vec<Option<String>>,
}

#[derive(Deserialize)]
struct ReportedDifference {
    versions: [usize; 2],
    places: [Option<String>; 2],
}

#[derive(Deserialize)]
struct ReportedChecks {
    spec: ReportedCheck,
}

#[derive(Deserialize)]
struct ReportedCheck {
    verdict: String,
}

impl From<&ReportedSpec> for Specification {
    fn from(reported: &ReportedSpec) -> Specification {
        Specification {
            text: reported.spec.clone(),
            places: places(&reported.places),
        }
    }
}

fn places(texts: &[Option<String>]) -> Vec<Option<Place>> {
    let place = |text: &Option<String>| text.as_deref().map(Place::parse);
    texts.iter().map(place).collect()
}

impl From<ProductReport> for Account {
    fn from(report: ProductReport) -> Account {
        let partings = report.divergences.iter().chain(&report.returns);
        let parting = |reported: &Reported| Parting {
            kind: reported.kind.clone(),
            places: places(&reported.places),
        };
        // Between the first two versions, as everything that is shown of a finding. One that writes no more to one
        // stream may have written to the other instead.
        let writes: Vec<&ReportedDifference> = report
            .differences
            .iter()
            .filter(|difference| difference.versions == [1, 2])
            .collect();
        let site = |k: usize| writes.iter().find_map(|write| write.places[k].clone());
        let sites = [site(0), site(1)];
        let write = sites.iter().any(Option::is_some).then(|| Parting {
            kind: "write".to_string(),
            places: places(&sites),
        });
        let failed = report.spec.iter().filter(|spec| spec.failed > 0);
        let (assumed, asserted): (Vec<_>, Vec<_>) = failed.partition(|spec| spec.is_assumed());
        let mut failed: Vec<Specification> =
            asserted.into_iter().map(Specification::from).collect();
        let asserted = report.spec.iter().filter(|spec| !spec.is_assumed());
        let specifications = asserted.map(|spec| (Specification::from(spec), spec.evaluated > 0));
        if failed.is_empty() && report.checks.spec.verdict == "fail" {
            failed.push(Specification {
                text: "a specification in a product function".to_string(),
                places: Vec::new(),
            });
        }
        let different = report.outputs.iter().filter_map(|output| {
            Some(DifferentOutput {
                name: output.name.clone(),
                offset: output.difference.as_ref()?.offset,
            })
        });
        Account {
            partings: partings.map(parting).collect(),
            write,
            failed,
            specifications: specifications.collect(),
            is_excluded: !assumed.is_empty(),
            outputs: (!report.outputs.is_empty()).then(|| different.collect()),
        }
    }
}

/// Merges and writes a product. Returns what was to say of it.
pub(crate) fn write_product(
    path: &Path,
    options: &Options,
    observe: &mut dyn Observer,
) -> Result<MergeReport> {
    let context = p3_passes::new_context();
    let merged = pipeline::merge(&context, options, observe)?;
    let mut names = Vec::new();
    for copy in &merged.copies {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("{stem}{}", copy.suffix);
        write(&path.with_file_name(&name), &copy.data)?;
        names.push(name);
    }
    p3_passes::native::record(&context, &merged.module, &names)?;
    write(path, merged.module.write_bitcode_to_memory().as_slice())?;
    if options.harness {
        write(
            &dictionary(path),
            dictionary_text(&merged.dictionary).as_bytes(),
        )?;
    }
    Ok(merged.report)
}

/// The dictionary of a harness, beside it.
pub(crate) fn dictionary(product: &Path) -> PathBuf {
    product.with_extension("dict")
}

/// In the form that libFuzzer and AFL++ read.
fn dictionary_text(words: &[Vec<u8>]) -> String {
    let escaped = |word: &Vec<u8>| word.iter().map(|b| format!("\\x{b:02x}")).collect();
    let lines = words.iter().map(|word| {
        let escaped: String = escaped(word);
        format!("\"{escaped}\"\n")
    });
    lines.collect()
}

/// Programs run in directories of their own.
fn absolute(folder: &Path) -> Result<PathBuf> {
    std::path::absolute(folder).map_err(|e| Error::bad_input(folder, e))
}

fn main() -> String {
    "main".to_string()
}

fn checks(list: &str) -> Result<pipeline::ProductChecks> {
    pipeline::ProductChecks::parse(list).map_err(|e| Error::internal("hunt", e))
}

/// Two compilers at a time. Returns warnings, each once.
fn run_all(jobs: Vec<Job>) -> Result<Vec<String>> {
    let mut warnings: Vec<String> = Vec::new();
    let mut jobs = jobs.into_iter().peekable();
    while jobs.peek().is_some() {
        let results: Vec<_> = std::thread::scope(|scope| {
            let running: Vec<_> = jobs
                .by_ref()
                .take(2)
                .map(|job| scope.spawn(|| job.run()))
                .collect();
            running.into_iter().map(|thread| thread.join()).collect()
        });
        for result in results {
            let panicked = |_| Error::internal("build", "a thread ended by a panic");
            warnings.extend(result.map_err(panicked)??);
        }
    }
    warnings.sort();
    warnings.dedup();
    Ok(warnings)
}

pub(crate) fn scratch() -> Result<tempfile::TempDir> {
    tempfile::tempdir().map_err(|e| Error::bad_input(std::env::temp_dir(), e))
}

pub(crate) fn internal(error: impl std::fmt::Display) -> Error {
    Error::internal("hunt", error)
}
