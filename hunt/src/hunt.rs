//! The whole search, top to bottom.

use crate::engine::{self, Candidate, Engine, EngineReport, Reason, Sink, Started, Task};
use crate::examine::{examine, Class, Examined, Identity};
use crate::expect::Expectations;
use crate::input::Input;
use crate::marked::MarkedFiles;
use crate::minimise::Minimiser;
use crate::programs::{Account, Parting, Programs, Sources, Specification};
use crate::report::{self, Finding, Report, Verdict};
use crate::template::Template;
use p3_passes::build::Sanitizer;
use p3_passes::pipeline::Observer;
use p3_passes::{Error, Result};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What to compare, and how long to look.
pub struct Options {
    /// The versions, and which inputs they take.
    pub sources: Sources,
    /// Inputs to begin with.
    pub seeds: Vec<Input>,
    /// The engines, in turn.
    pub engines: Vec<Engine>,
    /// How long they may take altogether.
    pub time: Duration,
    /// Whether to end when differences were found and no new ones come up.
    pub stops_early: bool,
    /// Differences that are accepted.
    pub expectations: Expectations,
    /// Whether to leave what the engines wrote.
    pub keep: bool,
}

/// Is told how the search goes.
pub trait Watch {
    /// Who is told what merges and builds do.
    fn observer(&mut self) -> &mut dyn Observer;

    /// What is done now.
    fn step(&mut self, what: &str);

    /// How far the engine is.
    fn searching(&mut self, engine: Engine, progress: Progress);

    /// Something that the user should know.
    fn warn(&mut self, text: &str);

    /// Whether the user wants to see what there is now, and no more.
    fn is_interrupted(&self) -> bool {
        false
    }
}

/// Figures for people who wait.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Runs of the product.
    pub runs: u64,
    /// Paths through it.
    pub paths: u64,
    /// Confirmed and not accepted ones.
    pub differences: usize,
}

/// Data of inputs that any program takes.
const PLAIN: [&[u8]; 3] = [b"", b"a", b"0\n"];
/// Where the programs are, in the folder of a comparison.
pub const PROGRAMS: &str = "programs";
/// Where the engines work; removed at the end.
pub const ENGINES: &str = "engines";
/// Of inputs that an engine gives for one reason at a time, so many are examined.
const MANY: usize = 24;
/// How long inputs that nobody examines may be run only to see whether they reach a specification.
const SPECIFICATIONS: Duration = Duration::from_secs(30);
/// At most so many findings are minimised and reported.
const MAX_FINDINGS: usize = 100;
/// How long minimising one finding may take ...
const MINIMISE: Duration = Duration::from_secs(8);
/// ... and all of them.
const MINIMISE_ALL: Duration = Duration::from_secs(40);
/// After a difference, so long without a new one is enough ...
const QUIET: Duration = Duration::from_secs(2);

/// Compares the versions and writes everything into `folder`, which exists. The engines have been checked
/// ([`Engine::check`]). None: the user interrupted it before anything was tried.
pub fn hunt(options: &Options, folder: &Path, watch: &mut dyn Watch) -> Result<Option<Report>> {
    let begin = Instant::now();
    let built = build(options, folder, watch);
    if watch.is_interrupted() {
        return Ok(None);
    }
    let Built {
        programs,
        warnings,
        libraries,
        workspace,
        mut first,
        sources,
    } = built?;

    let mut search = Search::new(options, &sources.template, &programs, watch);
    for warning in &warnings {
        search.warn(warning);
    }
    search.begin()?;
    let mut engines = Vec::new();
    let mut left = options.time;
    for (index, engine) in options.engines.iter().enumerate() {
        if !search.wants_more() {
            break;
        }
        search.watch.step("building");
        let started = match first.take() {
            Some(started) => Ok(started),
            None => {
                let observer = search.watch.observer();
                start(*engine, &sources, &libraries, &workspace, observer)
            }
        };
        let (started, directory) = match started {
            Err(_) if search.watch.is_interrupted() => break,
            started => started?,
        };
        let seeds = search.seeds();
        let names = search.names.clone();
        let task = Task {
            sources: &sources,
            directory: &directory,
            seeds: &seeds,
            names: &names,
            time: left / (options.engines.len() - index) as u32,
        };
        search.engine = Some(*engine);
        let report = match started.run(&task, &mut search) {
            // The signal that interrupts reaches the compilers, too.
            Err(_) if search.watch.is_interrupted() => break,
            report => report?,
        };
        left = left.saturating_sub(Duration::from_secs_f64(report.seconds));
        if let Some(failure) = &report.failure {
            search.watch.warn(&format!("{engine} failed: {failure}"));
        }
        engines.push(report);
    }
    drop(first);
    if !options.keep {
        fs::remove_dir_all(&workspace).map_err(|e| Error::bad_input(&workspace, e))?;
    }

    let findings = search.minimise()?;
    let report = search.report(findings, engines, begin.elapsed());
    search.watch.step("writing");
    report::write(&report, folder, &programs)?;
    Ok(Some(report))
}

/// What is there when the search begins.
struct Built {
    programs: Programs,
    warnings: Vec<String>,
    /// The sanitizers that the versions were compiled for.
    libraries: Vec<Sanitizer>,
    /// Where the engines work.
    workspace: PathBuf,
    /// The first engine, and its folder.
    first: Option<(Started, PathBuf)>,
    /// What they are built from, with the template that fits the versions.
    sources: Sources,
}

fn build(options: &Options, folder: &Path, watch: &mut dyn Watch) -> Result<Built> {
    let programs_folder = subfolder(folder, PROGRAMS)?;
    watch.step("building");
    let building = Programs::prepare(&options.sources, &programs_folder, watch.observer())?;
    let sources = Sources {
        template: building.template().clone(),
        ..options.sources.clone()
    };
    let libraries = building.libraries().to_vec();
    let workspace = subfolder(folder, ENGINES)?;
    // What the first engine runs takes longest to compile.
    let first = match options.engines.first() {
        Some(engine) => {
            let observer = watch.observer();
            Some(start(*engine, &sources, &libraries, &workspace, observer)?)
        }
        None => None,
    };
    let (programs, warnings) = building.finish()?;
    Ok(Built {
        programs,
        warnings,
        libraries,
        workspace,
        first,
        sources,
    })
}

/// Merges what an engine needs, in a folder of its own, and begins to build it.
fn start(
    engine: Engine,
    sources: &Sources,
    libraries: &[Sanitizer],
    workspace: &Path,
    observe: &mut dyn Observer,
) -> Result<(Started, PathBuf)> {
    let directory = subfolder(workspace, engine.name())?;
    let started = engine::start(engine, sources, libraries, &directory, observe)?;
    Ok((started, directory))
}

/// An empty folder in `folder`.
fn subfolder(folder: &Path, name: &str) -> Result<PathBuf> {
    let path = folder.join(name);
    let cannot = |e| Error::bad_input(&path, format!("cannot write: {e}"));
    if path.exists() {
        fs::remove_dir_all(&path).map_err(cannot)?;
    }
    fs::create_dir_all(&path).map_err(cannot)?;
    Ok(path)
}

/// An input that showed a difference.
struct Shown {
    examined: Examined,
    /// None: one of the seeds.
    engine: Option<Engine>,
    /// Since the search began.
    after: Duration,
}

/// A difference, and the expectations that accept it.
type Key = (Identity, Option<Vec<usize>>);

struct Search<'a> {
    options: &'a Options,
    template: &'a Template,
    programs: &'a Programs,
    watch: &'a mut dyn Watch,
    engine: Option<Engine>,
    /// Inputs that were examined.
    seen: HashSet<Input>,
    /// Those of them that show a visible difference.
    visible: HashSet<Input>,
    shown: Vec<Shown>,
    /// Under which names inputs that were examined take bytes by `pp_input`.
    names: HashMap<Input, Vec<u8>>,
    /// Partings on inputs that show nothing.
    harmless: HashSet<Parting>,
    examined: u64,
    /// Inputs whose difference the versions do not show alone.
    unconfirmed: HashSet<Input>,
    /// How many nobody looked at.
    unexamined: u64,
    start: Instant,
    /// When the engine made its first run: what it takes to build says nothing of how hard the search is.
    first_run: Option<Instant>,
    last_new: Instant,
    known: HashSet<Key>,
    /// Specifications of the program, and whether any input has reached them.
    specifications: BTreeMap<Specification, bool>,
    /// What the user was told, each once.
    warnings: Vec<String>,
}

impl<'a> Search<'a> {
    fn new(
        options: &'a Options,
        template: &'a Template,
        programs: &'a Programs,
        watch: &'a mut dyn Watch,
    ) -> Search<'a> {
        Search {
            options,
            template,
            programs,
            watch,
            engine: None,
            seen: HashSet::new(),
            visible: HashSet::new(),
            shown: Vec::new(),
            names: HashMap::new(),
            harmless: HashSet::new(),
            examined: 0,
            unconfirmed: HashSet::new(),
            unexamined: 0,
            start: Instant::now(),
            first_run: None,
            last_new: Instant::now(),
            known: HashSet::new(),
            specifications: BTreeMap::new(),
            warnings: Vec::new(),
        }
    }

    /// The seeds, and plain inputs: what the versions do on any input tells no difference from another.
    fn begin(&mut self) -> Result<()> {
        self.watch.step("examining seeds");
        let plain = PLAIN.iter().map(|data| self.template.decode(data));
        let plain: Vec<Input> = plain.collect();
        for input in self.options.seeds.iter().chain(&plain) {
            if self.watch.is_interrupted() {
                break;
            }
            self.examine(input)?;
        }
        Ok(())
    }

    /// What later engines begin with: the user's seeds, and what earlier ones found.
    fn seeds(&self) -> Vec<Input> {
        let found = self.shown.iter().map(|shown| &shown.examined.input);
        self.options.seeds.iter().chain(found).cloned().collect()
    }

    fn examine(&mut self, input: &Input) -> Result<()> {
        if !self.seen.insert(input.clone()) {
            return Ok(());
        }
        self.examined += 1;
        let examined = match examine(self.programs, input) {
            // The engine ends by itself: it asks.
            Err(_) if self.watch.is_interrupted() => return Ok(()),
            examined => examined?,
        };
        self.note_specifications(examined.account.as_ref());
        if !examined.names.is_empty() {
            self.names.insert(input.clone(), examined.names.clone());
        }
        let class = examined.class();
        if class.is_some_and(Class::is_visible) {
            self.visible.insert(input.clone());
        } else if examined.is_stable {
            self.harmless
                .extend(examined.partings().into_iter().flatten().cloned());
        }
        if class.is_some() {
            let key = self.key(&examined);
            if let Some(key) = key.filter(|(identity, _)| identity.class.is_visible()) {
                if self.known.insert(key) {
                    self.last_new = Instant::now();
                }
            }
            self.shown.push(Shown {
                examined,
                engine: self.engine,
                after: self.start.elapsed(),
            });
        }
        Ok(())
    }

    /// Keeps in mind which specifications were computed.
    fn note_specifications(&mut self, account: Option<&Account>) {
        let all = account.map_or(&[][..], |account| &account.specifications);
        for (specification, is_evaluated) in all {
            match self.specifications.get_mut(specification) {
                Some(known) => *known |= is_evaluated,
                None => {
                    self.specifications
                        .insert(specification.clone(), *is_evaluated);
                }
            }
        }
    }

    /// Those that no input has reached.
    fn unevaluated(&self) -> impl Iterator<Item = &Specification> {
        let unevaluated = self.specifications.iter().filter(|(_, known)| !**known);
        unevaluated.map(|(specification, _)| specification)
    }

    /// Runs the product on inputs until every specification was computed: KLEE's word that all paths are fine is
    /// worth nothing for one that is on none of them.
    fn reach_specifications(&mut self, candidates: &[Candidate]) -> Result<()> {
        let start = Instant::now();
        for candidate in candidates {
            let is_done = self.unevaluated().next().is_none() || start.elapsed() > SPECIFICATIONS;
            if is_done || self.watch.is_interrupted() {
                break;
            }
            if !self.seen.contains(&candidate.input) {
                let marked = MarkedFiles::new(self.programs, &candidate.input)?;
                let account = match self.programs.account(&candidate.input, &marked) {
                    Err(_) if self.watch.is_interrupted() => break,
                    account => account?,
                };
                self.note_specifications(account.as_ref());
            }
        }
        Ok(())
    }

    fn key(&self, examined: &Examined) -> Option<Key> {
        let identity = examined.identity(&self.harmless)?;
        let accepted = self.options.expectations.accept(examined, &self.harmless);
        Some((identity, accepted))
    }

    /// Visible and not accepted.
    fn differences(&self) -> usize {
        self.known
            .iter()
            .filter(|(_, accepted)| accepted.is_none())
            .count()
    }

    /// One finding per difference, made as small as possible.
    fn minimise(&mut self) -> Result<Vec<Finding>> {
        let mut groups: BTreeMap<Key, Vec<Shown>> = BTreeMap::new();
        for shown in std::mem::take(&mut self.shown) {
            if let Some(key) = self.key(&shown.examined) {
                groups.entry(key).or_default().push(shown);
            }
        }
        let count = groups.len().clamp(1, MAX_FINDINGS) as u32;
        let time = match self.watch.is_interrupted() {
            true => Duration::ZERO,
            false => MINIMISE.min(MINIMISE_ALL / count),
        };
        let mut findings: Vec<Finding> = Vec::new();
        for (index, (key, group)) in groups.into_iter().take(MAX_FINDINGS).enumerate() {
            self.watch
                .step(&format!("minimising {} of {count}", index + 1));
            let inputs = group.len();
            let after = group
                .iter()
                .map(|shown| shown.after)
                .min()
                .unwrap_or_default();
            let smallest = group
                .into_iter()
                .min_by_key(|shown| shown.examined.input.weight());
            let Some(Shown {
                examined, engine, ..
            }) = smallest
            else {
                continue;
            };
            let found = examined.input.clone();
            let is_same = |examined: &Examined| self.key(examined).as_ref() == Some(&key);
            let minimiser = Minimiser {
                programs: self.programs,
                template: Some(self.template),
                is_same: &is_same,
                // Nobody will look at it for long.
                time: if key.0.class.is_visible() {
                    time
                } else {
                    time / 4
                },
            };
            let smaller = minimiser.minimise(examined)?;
            findings.push(
                report::Origin {
                    number: index + 1,
                    engine,
                    inputs,
                    after: after.as_secs_f64(),
                    found,
                    accepted: key.1.map(|indices| self.expectation_texts(&indices)),
                }
                .finding(&smaller, &self.harmless, self.programs),
            );
        }
        Ok(findings)
    }

    fn expectation_texts(&self, indices: &[usize]) -> Vec<String> {
        let texts = self.options.expectations.texts().enumerate();
        texts
            .filter(|(index, _)| indices.contains(index))
            .map(|(_, text)| text.to_string())
            .collect()
    }

    fn report(&self, findings: Vec<Finding>, engines: Vec<EngineReport>, time: Duration) -> Report {
        let accepted: HashSet<&String> = findings
            .iter()
            .flat_map(|f| f.accepted.iter().flatten())
            .collect();
        let (matched, stale) = self
            .options
            .expectations
            .texts()
            .map(str::to_string)
            .partition(|text| accepted.contains(text));
        let mut report = Report {
            verdict: Verdict::Inconclusive,
            bound: None,
            versions: self.programs.names.clone(),
            template: self.programs.template.clone(),
            seconds: time.as_secs_f64(),
            examined: self.examined,
            unexamined: self.unexamined,
            unconfirmed: self.unconfirmed.len() as u64,
            interrupted: self.watch.is_interrupted(),
            engines,
            findings,
            unevaluated: self.unevaluated().cloned().collect(),
            warnings: self.warnings.clone(),
            matched_expectations: matched,
            stale_expectations: stale,
        };
        report.judge();
        report
    }
}

impl Sink for Search<'_> {
    fn progress(&mut self, runs: u64, paths: u64) {
        if runs > 0 {
            self.first_run.get_or_insert_with(Instant::now);
        }
        let progress = Progress {
            runs,
            paths,
            differences: self.differences(),
        };
        if let Some(engine) = self.engine {
            self.watch.searching(engine, progress);
        }
    }

    fn candidates(&mut self, candidates: Vec<Candidate>) -> Result<()> {
        // Whatever its figures say.
        self.first_run.get_or_insert_with(Instant::now);
        for reason in [Reason::Difference, Reason::Crash, Reason::Path] {
            let mut inputs: Vec<&Input> = candidates
                .iter()
                .filter(|candidate| candidate.reason == reason)
                .map(|candidate| &candidate.input)
                .filter(|input| !self.seen.contains(input))
                .collect();
            inputs.sort_by_key(|input| input.weight());
            inputs.dedup();
            // Small ones are easier to understand, but only all sizes show all differences.
            let step = inputs.len().div_ceil(MANY).max(1);
            self.unexamined += (inputs.len() - inputs.len().div_ceil(step)) as u64;
            for input in inputs.into_iter().step_by(step) {
                if self.watch.is_interrupted() {
                    return Ok(());
                }
                self.examine(input)?;
            }
        }
        // One of them may have been examined for another reason before.
        let differing = candidates
            .iter()
            .filter(|candidate| candidate.reason == Reason::Difference)
            .map(|candidate| &candidate.input)
            .filter(|input| self.seen.contains(input) && !self.visible.contains(input));
        self.unconfirmed.extend(differing.cloned());
        self.reach_specifications(&candidates)
    }

    fn wants_more(&self) -> bool {
        if self.watch.is_interrupted() {
            return false;
        }
        if !self.options.stops_early || self.differences() == 0 {
            return true;
        }
        // A search that took long to find something may take as long again.
        let Some(first_run) = self.first_run else {
            return true;
        };
        let until_last = self.last_new.saturating_duration_since(first_run);
        let quiet = self.last_new.max(first_run).elapsed();
        quiet < QUIET.max(until_last)
    }

    fn observer(&mut self) -> &mut dyn Observer {
        self.watch.observer()
    }

    fn warn(&mut self, text: &str) {
        if !self.warnings.iter().any(|known| known == text) {
            self.watch.warn(text);
            self.warnings.push(text.to_string());
        }
    }
}
