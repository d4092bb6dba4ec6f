//! Runs one case: every version alone, the product in the same circumstances, and the comparison.

use crate::directives::{Case, Expect, Klee, Run, Sink, Verdict};
use crate::klee;
use crate::process::{Observed, Place};
use crate::tally::Tally;
use anyhow::{anyhow, bail, Context, Result};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::Arc;

const CLANG: &str = "clang-16";
/// Where cases find p3.h.
const INCLUDE: &str = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../runtime/include");

/// The tools that a case needs.
#[derive(Clone, Debug)]
pub struct Tools {
    /// The command that stands for `p3-ir`.
    pub p3_ir: PathBuf,
    /// Its environment.
    pub p3_ir_env: Vec<(String, String)>,
    /// Only run the versions alone: whether the cases are usable.
    pub alone_only: bool,
    /// Whether products are woven; if they are, those of the middle level are tested sequential, too.
    pub woven: bool,
    /// Whether cases with three levels are tested with all products; otherwise each goes without three of six, by turns.
    pub thorough: bool,
    /// How often each run of each product is tried, and the versions alone before it: what depends on the machine's
    /// load fails now and then only.
    pub repeat: usize,
    /// Where what was woven is counted.
    pub tally: Arc<Tally>,
}

/// How a product runs its versions.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Weaving {
    Woven,
    Sequential,
}

/// Runs a case in `scratch`. Returns one line per mismatch; none: the case holds. An error says why the case
/// itself is not usable.
pub fn run(case: &Case, tools: &Tools, scratch: &Path) -> Result<Vec<String>> {
    let mut session = Session::new(case, tools, scratch)?;
    if case.merge_error.is_some() {
        session.expect_merge_error()?;
        return Ok(session.mismatches);
    }
    for level in &case.levels {
        if tools.alone_only || !session.is_left_out(level) {
            session.whole(level)?;
        }
    }
    if !tools.alone_only {
        session.equal_versions()?;
    }
    Ok(session.mismatches)
}

/// Runs a case's product in KLEE; needs `klee` on PATH.
pub fn run_klee(case: &Case, tools: &Tools, scratch: &Path) -> Result<Vec<String>> {
    let mut session = Session::new(case, tools, scratch)?;
    match &case.klee {
        Some(klee) if klee.verdict == Verdict::PathsEqual => session.equal_paths(klee)?,
        Some(klee) if klee.verdict == Verdict::Quarter => session.quarter(klee)?,
        Some(klee) => session.verdict(klee)?,
        None => {}
    }
    Ok(session.mismatches)
}

/// A case's versions at one level and what they do alone, to be compared with products that are made elsewhere.
pub struct Reference<'a> {
    session: Session<'a>,
    modules: Vec<PathBuf>,
    /// Per run and version.
    alone: Vec<Vec<Observed>>,
}

impl<'a> Reference<'a> {
    /// Compiles the versions and runs them.
    pub fn new(case: &'a Case, tools: &'a Tools, scratch: &'a Path, level: &str) -> Result<Self> {
        let session = Session::new(case, tools, scratch)?;
        let versions = 1..=session.versions();
        let modules = versions
            .clone()
            .map(|version| session.bitcode(version, level))
            .collect::<Result<Vec<_>>>()?;
        let natives = versions
            .map(|version| session.native(version, level))
            .collect::<Result<Vec<_>>>()?;
        let mut alone = Vec::new();
        for run in &case.runs {
            let observed = natives
                .iter()
                .map(|native| session.place.run(native, run, &[]));
            alone.push(observed.collect::<Result<Vec<_>>>()?);
        }
        Ok(Reference {
            session,
            modules,
            alone,
        })
    }

    /// The versions' bitcode.
    pub fn modules(&self) -> &[PathBuf] {
        &self.modules
    }

    /// Builds a product and runs it; one line per mismatch, of the first run that has any.
    pub fn mismatches(&mut self, product: &Path) -> Result<Vec<String>> {
        let session = &mut self.session;
        session.mismatches.clear();
        if let Some(program) = session.build(product, "product")? {
            for (run, alone) in session.case.runs.iter().zip(&self.alone) {
                if session.mismatches.is_empty() {
                    session.compare(&program, run, alone, &run.label, true)?;
                }
            }
        }
        Ok(std::mem::take(&mut session.mismatches))
    }
}

struct Session<'a> {
    case: &'a Case,
    tools: &'a Tools,
    scratch: &'a Path,
    place: Place,
    mismatches: Vec<String>,
}

impl<'a> Session<'a> {
    fn new(case: &'a Case, tools: &'a Tools, scratch: &'a Path) -> Result<Self> {
        Ok(Session {
            case,
            tools,
            scratch,
            place: Place::new(scratch.to_path_buf()),
            mismatches: Vec::new(),
        })
    }

    fn versions(&self) -> usize {
        self.case.sources.len()
    }

    /// How products are made that are tested in one way only.
    fn weaving(&self) -> Weaving {
        if self.tools.woven {
            Weaving::Woven
        } else {
            Weaving::Sequential
        }
    }

    /// Whether this case's product of the middle level is the sequential one only, its version 1 merged with itself
    /// of that level only, and the highest level left out; else it is the woven one, the lowest level merged with the
    /// highest, and the products of the lowest left out. None: all of them.
    fn turn(&self) -> Option<bool> {
        let is_whole = self.tools.thorough || !self.tools.woven || self.case.levels.len() < 3;
        let sum: usize = self.case.name.bytes().map(usize::from).sum();
        (!is_whole).then_some(sum % 2 == 0)
    }

    fn is_left_out(&self, level: &str) -> bool {
        let levels = &self.case.levels;
        let end = match self.turn() {
            Some(true) => levels.last(),
            Some(false) => levels.first(),
            None => None,
        };
        end.is_some_and(|end| end == level)
    }

    fn middle_level(&self) -> &'a str {
        let levels = &self.case.levels;
        &levels[levels.len() / 2]
    }

    /// All versions at one level: alone and as products.
    fn whole(&mut self, level: &str) -> Result<()> {
        let mut natives = Vec::new();
        let mut modules = Vec::new();
        for version in 1..=self.versions() {
            natives.push(self.native(version, level)?);
            if !self.tools.alone_only {
                modules.push(self.bitcode(version, level)?);
            }
        }
        let mut products = Vec::new();
        if !modules.is_empty() {
            let is_middle = level == self.middle_level();
            let label = level.to_string();
            if !is_middle || self.turn() != Some(true) {
                products.extend(
                    self.product(&modules, &label, self.weaving())?
                        .map(|product| (product, label)),
                );
            }
            if self.tools.woven && is_middle && self.turn() != Some(false) {
                let label = format!("{level} --no-weave");
                products.extend(
                    self.product(&modules, &label, Weaving::Sequential)?
                        .map(|product| (product, label)),
                );
            }
        }
        let tries = |run| std::iter::repeat_n(run, self.tools.repeat);
        for run in self.case.runs.iter().flat_map(tries) {
            let alone = natives
                .iter()
                .map(|native| self.place.run(native, run, &[]))
                .collect::<Result<Vec<_>>>()?;
            let place = |label: &str| format!("{label} {}", run.label).trim_end().to_string();
            check_expectation(run, &alone).with_context(|| place(level))?;
            for (product, label) in &products {
                let woven = self.tools.woven && !label.ends_with("--no-weave");
                self.compare(product, run, &alone, &place(label), woven)?;
            }
        }
        Ok(())
    }

    /// Two oracles that need no second source: a version merged with itself, and with itself compiled at
    /// another level, differs nowhere.
    fn equal_versions(&mut self) -> Result<()> {
        let levels = &self.case.levels;
        let (first, last) = (&levels[0], &levels[levels.len() - 1]);
        let mut pairs = Vec::new();
        if self.turn() != Some(false) {
            pairs.push((self.middle_level(), self.middle_level()));
        }
        if first != last && self.turn() != Some(true) {
            pairs.push((first.as_str(), last.as_str()));
        }
        for (left, right) in pairs {
            let label = format!("{left}+{right} of version 1");
            let modules = [self.bitcode(1, left)?, self.bitcode(1, right)?];
            let native = self.native(1, left)?;
            let Some(product) = self.product(&modules, &label, self.weaving())? else {
                continue;
            };
            for run in &self.case.runs {
                let alone = self.place.run(&native, run, &[])?;
                let place = format!("{label} {}", run.label).trim_end().to_string();
                self.compare_recorded(&product, run, &[alone.clone(), alone], &place)?;
            }
        }
        Ok(())
    }

    /// The product at -O1 gives the wanted verdict.
    fn verdict(&mut self, klee: &Klee) -> Result<()> {
        let versions = (1..=self.versions())
            .map(|version| self.bitcode(version, "-O1"))
            .collect::<Result<Vec<_>>>()?;
        if let Some(product) = self.merge(&versions, "klee", self.weaving(), &[])? {
            let found = klee::run(&product, &klee.args, self.scratch)?.unwanted(klee.verdict);
            self.mismatches
                .extend(found.map(|what| format!("klee: {what}")));
        }
        Ok(())
    }

    /// Version 1 woven with itself explores as many paths as it does alone as `prepare` has left it, and takes at most
    /// 2.3 times the instructions.
    fn equal_paths(&mut self, klee: &Klee) -> Result<()> {
        for level in ["-O0", "-O1"] {
            let module = self.bitcode(1, level)?;
            let label = format!("klee {level}");
            let dumps = self.scratch.join("dumps");
            let dump: [&OsStr; 2] = ["--dump-dir".as_ref(), dumps.as_ref()];
            let pair = [module.clone(), module];
            let Some(product) = self.merge(&pair, &label, Weaving::Woven, &dump)? else {
                continue;
            };
            let (mut paths, mut instructions) = (Vec::new(), Vec::new());
            for (who, program) in [
                ("alone", dumps.join("2-prepare.1.ll")),
                ("product", product),
            ] {
                let explored = klee::run(&program, &klee.args, self.scratch)?;
                self.mismatches.extend(
                    explored
                        .unwanted(klee.verdict)
                        .map(|what| format!("{label}: {who}: {what}")),
                );
                paths.push(explored.paths);
                instructions.push(explored.instructions);
            }
            if paths[0] != paths[1] {
                self.mismatch(
                    &label,
                    "completed paths",
                    &paths[0].to_string(),
                    &paths[1].to_string(),
                );
            }
            if 10 * instructions[1] > 23 * instructions[0] {
                self.mismatches.push(format!(
                    "{label}: {} instructions, more than 2.3 times the {} of the program alone",
                    instructions[1], instructions[0]
                ));
            }
        }
        Ok(())
    }

    /// The woven product costs a quarter of what the versions cost as they were compiled, one after the other.
    fn quarter(&mut self, klee: &Klee) -> Result<()> {
        let versions = (1..=self.versions())
            .map(|version| self.bitcode(version, "-O0"))
            .collect::<Result<Vec<_>>>()?;
        let as_compiled: [&OsStr; 2] = ["--prepare".as_ref(), "none".as_ref()];
        let ways: [(&str, Weaving, &[&OsStr]); 2] = [
            ("woven", Weaving::Woven, &[]),
            ("as compiled", Weaving::Sequential, &as_compiled),
        ];
        let mut instructions = Vec::new();
        for (label, weaving, flags) in ways {
            let Some(product) = self.merge(&versions, label, weaving, flags)? else {
                return Ok(());
            };
            let explored = klee::run(&product, &klee.args, self.scratch)?;
            let unwanted = explored.unwanted(klee.verdict);
            self.mismatches
                .extend(unwanted.map(|what| format!("klee {label}: {what}")));
            instructions.push(explored.instructions);
        }
        if 4 * instructions[0] > instructions[1] {
            self.mismatches.push(format!(
                "klee: woven {} instructions, more than a quarter of {}",
                instructions[0], instructions[1]
            ));
        }
        Ok(())
    }

    /// All comparisons of one run.
    fn compare(
        &mut self,
        product: &Path,
        run: &Run,
        alone: &[Observed],
        place: &str,
        woven: bool,
    ) -> Result<()> {
        self.compare_recorded(product, run, alone, place)?;
        if let (Some(expected), true) = (&run.spec_counts, woven) {
            let found = reported_specs(&self.scratch.join("outdir"))?;
            if found != *expected {
                let (expected, found) = (expected.join(" "), found.join(" "));
                self.mismatch(place, "report.json's spec", &expected, &found);
            }
        }

        let last = alone.len();
        let shown = self.place.run(product, run, &show(&last.to_string()))?;
        self.same_as_alone(&shown, &alone[last - 1], run, place, last);

        let plain = self.place.run(product, run, &[])?;
        let mut failing = self.checks().into_iter().any(|check| match check.as_str() {
            "output" if run.marked.is_some() => run.marked == Some(true),
            "output" => differs(alone, |o| (&o.stdout, &o.stderr)),
            "status" => differs(alone, |o| &o.status),
            "assert" => alone.iter().any(failed_assertion),
            _ => false,
        });
        let spec = run.spec.as_ref().filter(|_| woven);
        failing = (failing || spec.is_some()) && !(run.assumption_fails && woven);
        let status = if failing {
            "signal ABRT".to_string()
        } else {
            combined_status(alone)
        };
        if plain.status != status {
            self.mismatch(place, "the product's status", &status, &plain.status);
        }
        let said = if run.stderr == Sink::Stdout {
            &plain.stdout
        } else {
            &plain.stderr
        };
        let text = String::from_utf8_lossy(said).into_owned();
        let pieces = spec
            .or(run.check.as_ref())
            .cloned()
            .unwrap_or_else(|| vec!["p3: ".to_string()]);
        let line = text.lines().find(|line| contains_in_order(line, &pieces));
        if failing && line.is_none() && comparable(run.stderr) {
            self.mismatch(
                place,
                "the failed check's line",
                &pieces.join("..."),
                text.trim_end(),
            );
        }
        if run.check.is_some() && !failing {
            bail!("{place}: expect-check, but no check can fail");
        }
        Ok(())
    }

    /// Runs the product once with `P3_OUTDIR`, showing version 1, and compares the recorded files, the report
    /// and what was shown.
    fn compare_recorded(
        &mut self,
        product: &Path,
        run: &Run,
        alone: &[Observed],
        place: &str,
    ) -> Result<()> {
        let outdir = self.scratch.join("outdir");
        if outdir.exists() {
            std::fs::remove_dir_all(&outdir)?;
        }
        std::fs::create_dir(&outdir)?;
        let mut extra = show("1").to_vec();
        extra.push(("P3_OUTDIR", outdir.as_os_str()));
        let shown = self.place.run(product, run, &extra)?;
        self.same_as_alone(&shown, &alone[0], run, place, 1);

        for (index, alone) in alone.iter().enumerate() {
            let version = index + 1;
            let read = |stream: &str| std::fs::read(outdir.join(format!("{version}.{stream}")));
            let mut streams = vec![("status", format!("{}\n", alone.status).into_bytes())];
            // What went to a common stream is not to be told apart, and how much a reader that goes away leaves
            // unread is up to the scheduler.
            let told_apart = run.stderr != Sink::Stdout;
            if told_apart && !matches!(run.stdout, Sink::Head(_)) {
                streams.push(("stdout", alone.stdout.clone()));
            }
            if told_apart && !matches!(run.stderr, Sink::Head(_)) {
                streams.push(("stderr", alone.stderr.clone()));
            }
            for (stream, expected) in streams {
                let what = format!("{version}.{stream}");
                match read(stream) {
                    Ok(found) if as_recorded(&found, stream, run) == expected => {}
                    Ok(found) => self.bytes_differ(place, &what, &expected, &found),
                    Err(error) => self.mismatch(place, &what, "a file", &error.to_string()),
                }
            }
        }
        // Streams that differ do not count where what is given out by `pp_output` does not; a version that is merged with
        // itself differs in neither.
        let output = run.marked != Some(false)
            && ((comparable(run.stdout) && differs(alone, |o| &o.stdout))
                || (comparable(run.stderr) && differs(alone, |o| &o.stderr)));
        let expected = output || differs(alone, |o| &o.status);
        match report_says_difference(&outdir) {
            Ok(found) if found == expected => {}
            Ok(found) => self.mismatch(
                place,
                "report.json's difference",
                &expected.to_string(),
                &found.to_string(),
            ),
            Err(error) => self.mismatch(place, "report.json", "a report", &format!("{error:#}")),
        }
        Ok(())
    }

    /// With `P3_SHOW=i P3_STATUS=i` the product is version i.
    fn same_as_alone(
        &mut self,
        shown: &Observed,
        alone: &Observed,
        run: &Run,
        place: &str,
        version: usize,
    ) {
        if shown.status != alone.status {
            let what = format!("status shown as version {version}");
            self.mismatch(place, &what, &alone.status, &shown.status);
        }
        for (stream, sink, shown, alone) in [
            ("stdout", run.stdout, &shown.stdout, &alone.stdout),
            ("stderr", run.stderr, &shown.stderr, &alone.stderr),
        ] {
            let equal = match sink {
                Sink::Head(_) => shown.starts_with(alone) || alone.starts_with(shown),
                _ => shown == alone,
            };
            if !equal {
                let what = format!("{stream} shown as version {version}");
                self.bytes_differ(place, &what, alone, shown);
            }
        }
        for (shown, alone) in shown.fifos.iter().zip(&alone.fifos) {
            if shown != alone {
                let what = format!("FIFO written as version {version}");
                self.bytes_differ(place, &what, alone, shown);
            }
        }
    }

    /// The merge must fail as the case says, without leaving an output file.
    fn expect_merge_error(&mut self) -> Result<()> {
        let level = &self.case.levels[0];
        let modules = (1..=self.versions())
            .map(|version| self.bitcode(version, level))
            .collect::<Result<Vec<_>>>()?;
        let product = self.scratch.join("error.bc");
        let output = self
            .merge_command(&modules, &product, self.weaving())
            .output()?;
        let message = String::from_utf8_lossy(&output.stderr)
            .trim_end()
            .to_string();
        let (status, text) = self.case.merge_error.as_ref().expect("checked by run");
        if output.status.code() != Some(*status) || !message.contains(text) {
            self.mismatch(
                "merge",
                "the error",
                &format!("status {status}, {text}"),
                &format!("{}, {message}", output.status),
            );
        }
        if product.exists() {
            self.mismatch("merge", "the output file", "none", "a file");
        }
        Ok(())
    }

    /// Merges and builds; none: failed, which is recorded.
    fn product(
        &mut self,
        modules: &[PathBuf],
        label: &str,
        weaving: Weaving,
    ) -> Result<Option<PathBuf>> {
        match self.merge(modules, label, weaving, &[])? {
            Some(product) => self.build(&product, label),
            None => Ok(None),
        }
    }

    fn build(&mut self, product: &Path, label: &str) -> Result<Option<PathBuf>> {
        let program = product.with_extension("exe");
        let mut build = Command::new(CLANG);
        build
            .arg(product)
            .arg("-o")
            .arg(&program)
            .arg("-Wno-override-module");
        build.args(&self.case.link);
        let output = build.output()?;
        if !output.status.success() {
            self.mismatch(
                label,
                "building the product",
                "a program",
                &failure(&output),
            );
            return Ok(None);
        }
        Ok(Some(program))
    }

    fn merge(
        &mut self,
        modules: &[PathBuf],
        label: &str,
        weaving: Weaving,
        flags: &[&OsStr],
    ) -> Result<Option<PathBuf>> {
        let file: String = label
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .collect();
        let product = self.scratch.join(format!("product{file}.bc"));
        let report = self.scratch.join("merge.json");
        let mut merge = self.merge_command(modules, &product, weaving);
        let output = merge.args(flags).arg("--report").arg(&report).output()?;
        if !output.status.success() {
            self.mismatch(label, "the merge", "a product", &failure(&output));
            return Ok(None);
        }
        self.tools.tally.add(&report)?;
        Ok(Some(product))
    }

    fn merge_command(&self, modules: &[PathBuf], product: &Path, weaving: Weaving) -> Command {
        let mut merge = Command::new(&self.tools.p3_ir);
        merge.envs(self.tools.p3_ir_env.iter().map(|(n, v)| (n, v)));
        merge.arg("merge").args(modules).arg("-o").arg(product);
        merge.args(&self.case.merge);
        let is_chosen = |flag: &String| flag.starts_with("--no-weave");
        if weaving == Weaving::Sequential && !self.case.merge.iter().any(is_chosen) {
            merge.arg("--no-weave");
        }
        merge
    }

    /// A version's bitcode files as one argument of `merge`.
    fn bitcode(&self, version: usize, level: &str) -> Result<PathBuf> {
        let files = &self.case.sources[version - 1];
        let modules = files.iter().map(|file| {
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            let output = self.scratch.join(format!("{version}{level}.{name}.bc"));
            let flags = ["-c", "-emit-llvm"];
            self.compile(version, level, &flags, std::slice::from_ref(file), &output)
        });
        let modules = modules.collect::<Result<Vec<PathBuf>>>()?;
        let mut argument = OsString::new();
        for module in modules {
            if !argument.is_empty() {
                argument.push("+");
            }
            argument.push(module);
        }
        Ok(argument.into())
    }

    fn native(&self, version: usize, level: &str) -> Result<PathBuf> {
        let files = &self.case.sources[version - 1];
        let output = self.scratch.join(format!("{version}{level}.exe"));
        let flags: Vec<&str> = self.case.link.iter().map(String::as_str).collect();
        self.compile(version, level, &flags, files, &output)
    }

    fn compile(
        &self,
        version: usize,
        level: &str,
        flags: &[&str],
        files: &[PathBuf],
        output: &Path,
    ) -> Result<PathBuf> {
        if output.exists() {
            return Ok(output.to_path_buf());
        }
        let mut clang = Command::new(CLANG);
        // Relative names, so that __FILE__ is the same for everybody.
        clang.current_dir(files[0].parent().context("a source in a directory")?);
        clang.arg(level).args(["-D_GNU_SOURCE", "-w", INCLUDE]);
        if self.case.selected_by_macro {
            clang.arg(format!("-DV={version}"));
        }
        clang.args(&self.case.cflags);
        for file in files {
            clang.arg(file.file_name().context("a source with a name")?);
        }
        clang.args(flags).arg("-o").arg(output);
        let done = clang.output()?;
        if !done.status.success() {
            bail!("version {version} does not compile: {}", failure(&done));
        }
        Ok(output.to_path_buf())
    }

    /// The checks that the product makes.
    fn checks(&self) -> Vec<String> {
        let flags = &self.case.merge;
        let list = flags
            .iter()
            .position(|flag| flag == "--check")
            .and_then(|at| flags.get(at + 1))
            .map_or("output,status,assert,spec", String::as_str);
        list.split(',').map(String::from).collect()
    }

    fn mismatch(&mut self, place: &str, what: &str, expected: &str, found: &str) {
        let line = format!("{place}: {what}: expected {expected}, found {found}");
        self.mismatches.push(line.replace('\n', "\\n"));
    }

    fn bytes_differ(&mut self, place: &str, what: &str, expected: &[u8], found: &[u8]) {
        let at = expected
            .iter()
            .zip(found)
            .position(|(a, b)| a != b)
            .unwrap_or(expected.len().min(found.len()));
        let what = format!("{what} at byte {at}");
        self.mismatch(place, &what, &excerpt(expected, at), &excerpt(found, at));
    }
}

/// The environment that makes a product stand in for one version.
fn show(version: &str) -> [(&str, &OsStr); 2] {
    [
        ("P3_SHOW", OsStr::new(version)),
        ("P3_STATUS", OsStr::new(version)),
    ]
}

/// The versions alone must differ as the case says; else the case does not test what it is meant to.
fn check_expectation(run: &Run, alone: &[Observed]) -> Result<()> {
    if let Some(version) = alone.iter().position(|o| o.status == "timeout") {
        bail!("version {} alone ran into the timeout", version + 1);
    }
    let output = differs(alone, |o| (&o.stdout, &o.stderr));
    let status = differs(alone, |o| &o.status);
    let found = match (output, status) {
        (false, false) => Expect::None,
        (true, false) => Expect::Output,
        (false, true) => Expect::Status,
        (true, true) => Expect::Both,
    };
    if run.expect != Expect::Any && found != run.expect {
        let versions: Vec<String> = alone
            .iter()
            .map(|o| {
                format!(
                    "{} stdout {} stderr {}",
                    o.status,
                    excerpt(&o.stdout, 0),
                    excerpt(&o.stderr, 0)
                )
            })
            .collect();
        bail!(
            "expected difference {:?}, the versions alone show {found:?}: {}",
            run.expect,
            versions.join("; ")
        );
    }
    Ok(())
}

fn differs<'o, T: PartialEq>(all: &'o [Observed], part: impl Fn(&'o Observed) -> T) -> bool {
    all.iter().any(|o| part(o) != part(&all[0]))
}

/// Whether what arrives at the other side says what the program wrote.
fn comparable(sink: Sink) -> bool {
    !matches!(sink, Sink::Head(_) | Sink::Full | Sink::Closed)
}

fn failed_assertion(alone: &Observed) -> bool {
    alone.status == "signal ABRT"
        && String::from_utf8_lossy(&alone.stderr).contains(": Assertion `")
}

/// The sum of 2^(i-1) over the versions that failed, for up to 7 versions.
fn combined_status(alone: &[Observed]) -> String {
    let failed = alone.iter().map(|o| o.status != "exit 0");
    let status = if alone.len() <= 7 {
        failed.enumerate().map(|(i, f)| u32::from(f) << i).sum()
    } else {
        u32::from(failed.into_iter().any(|f| f))
    };
    format!("exit {status}")
}

/// A recorded stream in the form in which it reaches the other side: a terminal turns newlines into CR LF.
fn as_recorded(found: &[u8], stream: &str, run: &Run) -> Vec<u8> {
    let sink = match stream {
        "stdout" => run.stdout,
        "stderr" => run.stderr,
        _ => Sink::Pipe,
    };
    match sink {
        Sink::Terminal => {
            let lines: Vec<&[u8]> = found.split(|b| *b == b'\n').collect();
            lines.join(&b"\r\n"[..])
        }
        _ => found.to_vec(),
    }
}

fn report_says_difference(outdir: &Path) -> Result<bool> {
    let text = std::fs::read_to_string(outdir.join("report.json"))?;
    let report: serde_json::Value = serde_json::from_str(&text)?;
    report["difference"]
        .as_bool()
        .ok_or_else(|| anyhow!("no boolean `difference` in {text}"))
}

/// What the report says of specifications: evaluated/failed/skipped.
fn reported_specs(outdir: &Path) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(outdir.join("report.json"))?;
    let report: serde_json::Value = serde_json::from_str(&text)?;
    let specs = report["spec"]
        .as_array()
        .ok_or_else(|| anyhow!("no list `spec` in {text}"))?;
    Ok(specs
        .iter()
        .map(|spec| {
            let counts = ["evaluated", "failed", "skipped"].map(|count| spec[count].to_string());
            counts.join("/")
        })
        .collect())
}

/// Whether the pieces stand in the line one after the other.
fn contains_in_order(line: &str, pieces: &[String]) -> bool {
    let mut rest = line;
    pieces.iter().all(|piece| match rest.find(piece.as_str()) {
        Some(at) => {
            rest = &rest[at + piece.len()..];
            true
        }
        None => false,
    })
}

/// A few bytes from shortly before `at`, made visible.
fn excerpt(bytes: &[u8], at: usize) -> String {
    let start = at.saturating_sub(20).min(bytes.len());
    let end = (at + 60).min(bytes.len());
    let text = format!("\"{}\"", bytes[start..end].escape_ascii());
    let ellipsis = |cut| if cut { "..." } else { "" };
    format!(
        "{}{text}{} ({} bytes)",
        ellipsis(start > 0),
        ellipsis(end < bytes.len()),
        bytes.len()
    )
}

fn failure(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr);
    let mut lines: Vec<&str> = text.lines().take(4).collect();
    let status = output.status.to_string();
    lines.insert(0, &status);
    lines.join("; ")
}
