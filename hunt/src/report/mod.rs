//! What was found, as data; written as report.json, report.html and one folder per finding.

mod clip;
mod folder;
mod html;

pub use folder::write_alone;

use crate::captured::Captured;
use crate::engine::{Engine, EngineReport};
use crate::examine::{Class, Crash, Examined};
use crate::expect;
use crate::input::{write as write_file, Input, JsonBytes};
use crate::place::Place;
use crate::process::Ended;
use crate::programs::{internal, DifferentOutput, Parting, Programs, Specification};
use crate::sanitizer::SanitizerReport;
use p3_passes::Result;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::Path;

/// What the search came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// There are differences that nobody accepted.
    Different,
    /// None were found; there may be some.
    NoneFound,
    /// There are none: an engine followed every path within the bound.
    EquivalentWithinBound,
    /// The engines could not do their work.
    Inconclusive,
}

/// Everything that is known at the end; `report.json`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Report {
    pub verdict: Verdict,
    /// Within what bound the verdict holds, for people.
    pub bound: Option<String>,
    /// The versions' names.
    pub versions: Vec<String>,
    /// Which inputs were tried.
    pub template: String,
    /// How long everything took.
    pub seconds: f64,
    /// Inputs that were run on the versions alone.
    pub examined: u64,
    /// Inputs that engines proposed and nobody looked at.
    pub unexamined: u64,
    /// Inputs on which the product showed a difference that the versions alone did not show.
    pub unconfirmed: u64,
    /// Whether the user ended the search before its time.
    pub interrupted: bool,
    pub engines: Vec<EngineReport>,
    pub findings: Vec<Finding>,
    /// Specifications that the versions have computed on none of the inputs.
    #[serde(default)]
    pub unevaluated: Vec<Specification>,
    /// What merging and building the programs had to say.
    #[serde(default)]
    pub warnings: Vec<String>,
    pub matched_expectations: Vec<String>,
    /// Expectations that accepted nothing.
    pub stale_expectations: Vec<String>,
}

/// A difference.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finding {
    /// Counted from 1.
    pub number: usize,
    pub class: Class,
    /// What is different, in one line.
    pub summary: String,
    /// Its folder, in the report's.
    pub folder: String,
    /// None: one of the seeds showed it.
    pub engine: Option<Engine>,
    /// How many inputs showed it.
    pub inputs: usize,
    /// How many seconds after the beginning of the search the first of them was there.
    pub after: f64,
    /// The expectations that accept it.
    pub accepted: Option<Vec<String>>,
    /// The line that would accept it.
    pub suggestion: Option<String>,
    pub input: JsonInput,
    /// How many bytes the input had before it was minimised.
    pub weight_before: usize,
    /// What happened at `places`: as of a [`Parting`], or `crash`, or `spec`.
    pub kind: Option<String>,
    /// Where the versions parted, or crashed; one per version.
    pub places: Vec<Option<SourcePlace>>,
    /// Which calls wrote the first different output; empty if that is not known.
    pub writes: Vec<Option<SourcePlace>>,
    /// All places where they parted, in the order in which they did; none if that is not known.
    pub partings: Option<Vec<Parting>>,
    /// The specifications that do not hold.
    pub failed_specs: Vec<Specification>,
    /// Whether only the product, which runs the versions together, shows it.
    #[serde(default)]
    pub rests_on_product: bool,
    pub versions: Vec<VersionReport>,
    /// Where each stream of the second version first differs from the first's.
    pub differences: Vec<Difference>,
}

/// An input, for people and programs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JsonInput {
    /// As one types it in a shell.
    pub command: String,
    /// The call of the entry function that is made of it.
    #[serde(default)]
    pub call: Option<String>,
    pub arguments: Vec<JsonBytes>,
    pub stdin: JsonBytes,
    pub files: Vec<JsonBytes>,
    /// What it takes by `pp_input`, if it takes anything so; zeros follow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pp_input: Option<JsonBytes>,
    /// Under which names it was taken: `SIZE NAME` and a NUL for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pp_input_names: Option<JsonBytes>,
    pub weight: usize,
}

/// A place with the lines around it, where the source can be read.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SourcePlace {
    pub file: String,
    pub line: u32,
    /// Numbers and texts.
    pub source: Vec<(u32, String)>,
}

/// What a version did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VersionReport {
    pub name: String,
    pub status: String,
    pub stdout: JsonBytes,
    pub stderr: JsonBytes,
    pub crash: Option<Crash>,
    pub sanitizer: Option<SanitizerReport>,
    /// Outputs of which `stdout` and `stderr` are only the beginning.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub longer: Vec<LongOutput>,
    #[serde(skip)]
    pub(crate) shown: [Shown; 2],
}

/// An output of which only a part is kept.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LongOutput {
    /// `stdout` or `stderr`.
    pub stream: String,
    /// Of all that was written, in bytes.
    pub length: u64,
    /// SHA-256 of all that was written, in hexadecimal digits.
    pub sha256: String,
}

/// The part of an output that has the first difference.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shown {
    /// Where it begins in the output.
    pub start: u64,
    pub bytes: Vec<u8>,
    /// Bytes of the output behind it.
    pub left: u64,
}

/// Where two streams differ first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// `stdout` or `stderr`.
    pub stream: String,
    /// Equal bytes before it.
    pub offset: u64,
    /// Counted from 1.
    pub line: u64,
    /// In bytes, counted from 1.
    pub column: u64,
    /// The differing bytes; none where a stream has ended.
    pub bytes: [Option<u8>; 2],
}

/// Where a finding comes from.
pub struct Origin {
    /// Counted from 1.
    pub number: usize,
    /// None: none, the input was given.
    pub engine: Option<Engine>,
    /// How many inputs showed it.
    pub inputs: usize,
    /// When the first of them was there.
    pub after: f64,
    /// Before it was minimised.
    pub found: Input,
    /// The expectations that accept it.
    pub accepted: Option<Vec<String>>,
}

/// Lines shown before and after a place.
const CONTEXT: u32 = 3;

impl Origin {
    /// The finding that these results are.
    pub fn finding(
        self,
        examined: &Examined,
        harmless: &HashSet<Parting>,
        programs: &Programs,
    ) -> Finding {
        let class = examined.class().unwrap_or(Class::Flow);
        let places = expect::places(examined, harmless);
        let is_crash = matches!(class, Class::NewCrash | Class::FixedCrash);
        let telling = examined.telling_parting(harmless);
        let kind = match class {
            _ if is_crash => Some("crash".to_string()),
            Class::Spec => Some("spec".to_string()),
            _ => telling.map(|parting| parting.kind.clone()),
        };
        let write = examined.write().map_or(&[][..], |write| &write.places);
        let differences = differences(examined);
        let versions: Vec<VersionReport> = (0..programs.names.len())
            .map(|version| VersionReport::of(examined, version, programs, &differences))
            .collect();
        let source = |(version, place): (usize, &Option<Place>)| {
            let place = place.as_ref()?;
            Some(SourcePlace {
                file: place.file.clone(),
                line: place.line,
                source: programs.source_files(version).around(place, CONTEXT),
            })
        };
        Finding {
            number: self.number,
            class,
            summary: summary(class, examined, &differences),
            folder: format!("findings/{:02}-{}", self.number, class.word()),
            engine: self.engine,
            inputs: self.inputs,
            after: self.after,
            accepted: self.accepted,
            suggestion: expect::suggestion(&places),
            input: JsonInput {
                call: examined.plain.iter().find_map(|ended| programs.call(ended)),
                pp_input_names: programs.takes_input.then(|| JsonBytes::of(&examined.names)),
                ..JsonInput::of(&examined.input, programs)
            },
            weight_before: self.found.weight(),
            kind,
            places: places.iter().enumerate().map(source).collect(),
            writes: write.iter().enumerate().map(source).collect(),
            partings: examined.partings().map(<[_]>::to_vec),
            rests_on_product: class == Class::Spec || examined.differing().contains(&"pp_output"),
            failed_specs: examined.failed_specs().to_vec(),
            versions,
            differences,
        }
    }
}

/// One line that says what is different.
fn summary(class: Class, examined: &Examined, differences: &[Difference]) -> String {
    let crash = |crash: Crash| match &crash.function {
        Some(function) => format!("{} in {function}", crash.line),
        None => crash.line,
    };
    let statuses = || {
        let [old, new] = [0, 1].map(|version| &examined.plain[version].status);
        format!("{old} became {new}")
    };
    match class {
        Class::NewCrash => examined.crash(1).map(crash).unwrap_or_default(),
        Class::FixedCrash => examined.crash(0).map(crash).unwrap_or_default(),
        Class::Status => statuses(),
        Class::Spec => {
            let specs = examined.failed_specs().iter();
            let texts: Vec<String> = specs.map(|spec| spec.text.clone()).collect();
            let verb = if texts.len() == 1 { "does" } else { "do" };
            format!("{} {verb} not hold", texts.join(" and "))
        }
        Class::Output if examined.differing().contains(&"pp_output") => {
            let account = examined.account.iter();
            let outputs = account.flat_map(|account| account.outputs.iter().flatten());
            let part = |output: &DifferentOutput| {
                format!("'{}' differs from byte {} on", output.name, output.offset)
            };
            outputs.map(part).collect::<Vec<_>>().join("; ")
        }
        Class::Output => {
            let mut parts: Vec<String> = differences
                .iter()
                .map(|d| {
                    format!(
                        "{} differs from line {}, column {} on",
                        d.stream, d.line, d.column
                    )
                })
                .collect();
            if examined.plain[0].status != examined.plain[1].status {
                parts.push(statuses());
            }
            parts.join("; ")
        }
        Class::Flow => "other ways to the same result".to_string(),
    }
}

fn differences(examined: &Examined) -> Vec<Difference> {
    let [old, new] = [&examined.plain[0], &examined.plain[1]];
    let difference = |stream: &str, output: fn(&Ended) -> &Captured| {
        let position = output(old).first_difference(output(new))?;
        Some(Difference {
            stream: stream.to_string(),
            offset: position.offset,
            line: position.line,
            column: position.column,
            bytes: position.bytes,
        })
    };
    let stdout = difference("stdout", |ended| &ended.stdout);
    let stderr = difference("stderr", |ended| &ended.stderr);
    stdout.into_iter().chain(stderr).collect()
}

impl VersionReport {
    fn of(
        examined: &Examined,
        version: usize,
        programs: &Programs,
        differences: &[Difference],
    ) -> VersionReport {
        let ended = &examined.plain[version];
        let outputs = [("stdout", &ended.stdout), ("stderr", &ended.stderr)];
        let longer = outputs.iter().filter(|(_, output)| !output.is_whole());
        let longer = longer.map(|(stream, output)| LongOutput {
            stream: stream.to_string(),
            length: output.length(),
            sha256: output.sha256(),
        });
        let shown = |(stream, output): (&str, &Captured)| {
            let difference = differences.iter().find(|d| d.stream == stream);
            let (start, bytes) = output.around(difference.map_or(0, |d| d.offset));
            Shown {
                start,
                bytes: bytes.to_vec(),
                left: output.length().saturating_sub(start + bytes.len() as u64),
            }
        };
        VersionReport {
            name: programs.names[version].clone(),
            status: ended.status.to_string(),
            stdout: JsonBytes::of(ended.stdout.head()),
            stderr: JsonBytes::of(ended.stderr.head()),
            crash: examined.crash(version),
            sanitizer: examined.checked[version].report.clone(),
            longer: longer.collect(),
            shown: outputs.map(shown),
        }
    }
}

impl JsonInput {
    fn of(input: &Input, programs: &Programs) -> JsonInput {
        JsonInput {
            command: folder::command(input, &programs.program, programs.takes_input),
            call: None,
            arguments: input.arguments.iter().map(|a| JsonBytes::of(a)).collect(),
            stdin: JsonBytes::of(&input.stdin),
            files: input.files.iter().map(|f| JsonBytes::of(f)).collect(),
            pp_input_names: None,
            pp_input: programs.takes_input.then(|| JsonBytes::of(&input.marked)),
            weight: input.weight(),
        }
    }

    /// What to tell people of it.
    pub fn text(&self) -> &str {
        self.call.as_deref().unwrap_or(&self.command)
    }

    /// The input itself.
    pub fn input(&self) -> Option<Input> {
        let bytes = |list: &[JsonBytes]| list.iter().map(JsonBytes::bytes).collect::<Option<_>>();
        Some(Input {
            arguments: bytes(&self.arguments)?,
            stdin: self.stdin.bytes()?,
            files: bytes(&self.files)?,
            marked: match &self.pp_input {
                Some(marked) => marked.bytes()?,
                None => Vec::new(),
            },
        })
    }
}

impl Report {
    /// Visible findings that nobody accepted.
    pub fn new_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings
            .iter()
            .filter(|finding| finding.class.is_visible() && finding.accepted.is_none())
    }

    /// Decides the verdict from everything else.
    pub(crate) fn judge(&mut self) {
        let has_findings = self.new_findings().next().is_some();
        let accepted = self
            .findings
            .iter()
            .any(|f| f.class.is_visible() && f.accepted.is_some());
        let failed =
            !self.interrupted && self.engines.iter().all(|engine| engine.failure.is_some());
        let has_run = self.has_run();
        let complete = self.engines.iter().find(|engine| engine.complete);
        let bounds: Vec<String> = self.engines.iter().map(EngineReport::bound_text).collect();
        self.bound = (!bounds.is_empty()).then(|| bounds.join("; "));
        self.verdict = match complete {
            _ if has_findings => Verdict::Different,
            _ if failed || !has_run => Verdict::Inconclusive,
            // A difference that the versions alone do not show may be one all the same; and all paths say nothing of a
            // specification that is on none of them.
            Some(engine) if self.unconfirmed == 0 && !accepted && self.unevaluated.is_empty() => {
                self.bound.clone_from(&engine.bound);
                Verdict::EquivalentWithinBound
            }
            _ if self.interrupted => Verdict::Inconclusive,
            _ => Verdict::NoneFound,
        };
    }

    /// Whether any engine has run the product at all.
    fn has_run(&self) -> bool {
        self.engines.iter().any(|engine| engine.runs > 0)
    }

    /// The exit status of a command that ends with this report.
    pub fn exit_status(&self) -> u8 {
        match self.verdict {
            Verdict::NoneFound | Verdict::EquivalentWithinBound => 0,
            Verdict::Different => 1,
            Verdict::Inconclusive => 5,
        }
    }

    /// The verdict in a sentence, with its bound.
    pub fn sentence(&self) -> String {
        let bound = self.bound.as_deref().unwrap_or("nothing was tried");
        let accepted = self
            .findings
            .iter()
            .filter(|f| f.class.is_visible() && f.accepted.is_some())
            .count();
        let unevaluated: String = self
            .unevaluated
            .iter()
            .map(|specification| format!("; never evaluated: {specification}"))
            .collect();
        match self.verdict {
            Verdict::Different => match self.new_findings().count() {
                1 => "1 difference".to_string(),
                count => format!("{count} differences"),
            },
            Verdict::NoneFound if accepted > 0 => {
                format!("no difference but {accepted} accepted found within: {bound}{unevaluated}")
            }
            Verdict::NoneFound => format!("no difference found within: {bound}{unevaluated}"),
            Verdict::EquivalentWithinBound => {
                format!("equivalent on {bound}: KLEE finished every path")
            }
            Verdict::Inconclusive if self.interrupted => {
                format!("inconclusive: interrupted; no difference found within: {bound}")
            }
            Verdict::Inconclusive if self.engines.iter().any(|e| e.failure.is_none()) => {
                format!("inconclusive: no engine made a run; no difference found within: {bound}")
            }
            Verdict::Inconclusive => "inconclusive: the engine failed".to_string(),
        }
    }
}

impl EngineReport {
    /// What it covered, for people.
    fn bound_text(&self) -> String {
        let seconds = self.seconds;
        match (&self.failure, self.engine) {
            (Some(failure), engine) => format!("{engine} failed ({failure})"),
            (None, Engine::Klee) => {
                let finished = match &self.bound {
                    Some(bound) => format!("KLEE finished every path of {bound}"),
                    None => format!("KLEE finished {} paths", self.paths),
                };
                match self.limits.is_empty() {
                    true => format!("{finished} ({seconds:.1} s)"),
                    false => format!("{finished} ({seconds:.1} s; {})", self.limits.join(", ")),
                }
            }
            (None, engine) => format!("{} runs of {engine} in {seconds:.1} s", self.runs),
        }
    }
}

/// Writes everything into `folder`.
pub fn write(report: &Report, folder: &Path, programs: &Programs) -> Result<()> {
    folder::write(report, folder, programs)?;
    let json = serde_json::to_vec_pretty(report).map_err(internal)?;
    write_file(&folder.join("report.json"), &json)?;
    write_file(&folder.join("report.html"), html::page(report).as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(engines: Vec<EngineReport>) -> Report {
        let mut report = Report {
            verdict: Verdict::Inconclusive,
            bound: None,
            versions: vec!["a".into(), "b".into()],
            template: "@arg:2".into(),
            seconds: 1.0,
            examined: 1,
            unexamined: 0,
            unconfirmed: 0,
            interrupted: false,
            engines,
            findings: Vec::new(),
            unevaluated: Vec::new(),
            warnings: Vec::new(),
            matched_expectations: Vec::new(),
            stale_expectations: Vec::new(),
        };
        report.judge();
        report
    }

    fn engine(complete: bool, failure: Option<&str>) -> EngineReport {
        EngineReport {
            engine: Engine::Klee,
            seconds: 2.0,
            runs: 7,
            paths: 7,
            complete,
            bound: complete.then(|| "all inputs of the form '@arg:2'".to_string()),
            failure: failure.map(str::to_string),
            limits: Vec::new(),
        }
    }

    #[test]
    fn equivalence_needs_every_path() {
        let whole = report(vec![engine(true, None)]);
        assert_eq!(whole.verdict, Verdict::EquivalentWithinBound);
        assert_eq!(
            whole.sentence(),
            "equivalent on all inputs of the form '@arg:2': KLEE finished every path"
        );
        let part = report(vec![engine(false, None)]);
        assert_eq!((part.verdict, part.exit_status()), (Verdict::NoneFound, 0));
        assert!(part.sentence().contains("KLEE finished 7 paths (2.0 s)"));
        let failed = report(vec![engine(false, Some("no memory"))]);
        assert_eq!(
            (failed.verdict, failed.exit_status()),
            (Verdict::Inconclusive, 5)
        );
        let mut stopped = report(vec![engine(false, None)]);
        stopped.interrupted = true;
        stopped.judge();
        assert_eq!(
            (stopped.verdict, stopped.exit_status()),
            (Verdict::Inconclusive, 5)
        );
        assert!(stopped.sentence().starts_with("inconclusive: interrupted;"));
        let mut dead = report(vec![engine(true, None)]);
        dead.unevaluated.push(Specification {
            text: "PP1(n) == PP2(n)".into(),
            places: vec![Some(Place::new("a.c", 3)), None],
        });
        dead.judge();
        assert_eq!(dead.verdict, Verdict::NoneFound);
        let end = "; never evaluated: PP1(n) == PP2(n) at a.c:3 / -";
        assert!(dead.sentence().ends_with(end), "{}", dead.sentence());
        let mut idle = report(vec![EngineReport {
            runs: 0,
            ..engine(false, None)
        }]);
        assert_eq!(
            (idle.verdict, idle.exit_status()),
            (Verdict::Inconclusive, 5)
        );
        assert!(idle
            .sentence()
            .starts_with("inconclusive: no engine made a run;"));
        // Other engines that did are enough.
        idle.engines.push(engine(false, None));
        idle.judge();
        assert_eq!(idle.verdict, Verdict::NoneFound);
        let mut doubtful = report(vec![engine(true, None)]);
        doubtful.unconfirmed = 1;
        doubtful.judge();
        assert_eq!(doubtful.verdict, Verdict::NoneFound);
    }
}
