//! The directives at the top of a case's source: `//@ key: value`.

use anyhow::{anyhow, bail, Context, Result};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// One case: its sources and how to compile, merge and run them.
#[derive(Clone, Debug)]
pub struct Case {
    /// The file's or directory's name.
    pub name: String,
    /// The files of each version; equal paths mean that `-DV=n` selects the version.
    pub sources: Vec<Vec<PathBuf>>,
    /// Further numbers of versions, each of which makes a case of its own.
    pub other_counts: Vec<usize>,
    /// Whether `-DV=n` selects the version.
    pub selected_by_macro: bool,
    /// Extra flags of every compilation.
    pub cflags: Vec<String>,
    /// Extra flags of every link.
    pub link: Vec<String>,
    /// Extra arguments of `p3-ir merge`.
    pub merge: Vec<String>,
    /// Optimisation levels to compile at.
    pub levels: Vec<String>,
    /// The circumstances to run in.
    pub runs: Vec<Run>,
    /// The merge must fail with this status and a message that contains this text.
    pub merge_error: Option<(i32, String)>,
    /// To run in KLEE.
    pub klee: Option<Klee>,
}

/// The circumstances of one run, and what is expected of it.
#[derive(Clone, Debug)]
pub struct Run {
    /// What the run is called in messages.
    pub label: String,
    pub args: Vec<Vec<u8>>,
    pub stdin: Stdin,
    pub stdout: Sink,
    pub stderr: Sink,
    /// Pipes besides the standard streams.
    pub pipes: Vec<Pipe>,
    pub env: Vec<(String, Vec<u8>)>,
    pub expect: Expect,
    /// Text that a failed check's line must contain, in pieces.
    pub check: Option<Vec<String>>,
    /// The same of the check `spec`, which only versions in lock-step can fail.
    pub spec: Option<Vec<String>>,
    /// Per specification how often it is evaluated, fails and is skipped in lock-step, as `E/F/S`.
    pub spec_counts: Option<Vec<String>>,
    /// Whether what versions give out by `pp_output`, instead of their outputs, differs.
    pub marked: Option<bool>,
    /// An assumption does not hold, so that no check fails in lock-step.
    pub assumption_fails: bool,
    pub timeout: Duration,
}

/// What standard input is.
#[derive(Clone, Debug, PartialEq)]
pub enum Stdin {
    Null,
    Closed,
    /// A regular file, positioned at the offset.
    File(Vec<u8>, u64),
    Pipe(Vec<u8>),
    Terminal(Vec<u8>),
}

/// A pipe whose other end is not the program's.
#[derive(Clone, Debug, PartialEq)]
pub enum Pipe {
    /// A FIFO with that name. Once the program has opened it somebody writes the contents and closes it.
    Written(String, Vec<u8>),
    /// A FIFO with that name and contents, which is open in both directions all the time.
    Held(String, Vec<u8>),
    /// A FIFO with that name, of which somebody reads what the program writes, once.
    Read(String),
    /// A descriptor that the program is started with.
    Inherited(i32, Vec<u8>),
}

/// What standard output or standard error is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sink {
    Pipe,
    File,
    /// A file with contents, opened for appending.
    Append,
    Terminal,
    /// `/dev/full`.
    Full,
    Closed,
    /// A pipe whose reader goes away after so many bytes.
    Head(usize),
    /// Standard error only: the same as standard output.
    Stdout,
}

/// In what the versions differ when they run alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Expect {
    None,
    Output,
    Status,
    Both,
    /// Not known beforehand (no directive says this).
    Any,
}

/// A run in KLEE.
#[derive(Clone, Debug)]
pub struct Klee {
    /// What must come of it.
    pub verdict: Verdict,
    /// Arguments behind the product's name.
    pub args: Vec<String>,
}

/// What a run in KLEE must come to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    /// No error.
    None,
    /// A failed check.
    Difference,
    /// No error, and as many paths as version 1 alone has.
    PathsEqual,
    /// A failed check, and a quarter of the instructions of the versions as compiled, one after the other.
    Quarter,
}

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(20);

impl Default for Run {
    fn default() -> Self {
        Run {
            label: String::new(),
            args: Vec::new(),
            stdin: Stdin::Null,
            stdout: Sink::Pipe,
            stderr: Sink::Pipe,
            pipes: Vec::new(),
            env: Vec::new(),
            expect: Expect::None,
            check: None,
            spec: None,
            spec_counts: None,
            marked: None,
            assumption_fails: false,
            timeout: DEFAULT_TIMEOUT,
        }
    }
}

/// Reads every case of a directory, in the order of their names.
pub fn read_cases(directory: &Path) -> Result<Vec<Case>> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(directory)
        .with_context(|| directory.display().to_string())?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    paths.sort();
    let is_case =
        |path: &PathBuf| path.is_dir() || path.extension().is_some_and(|e| e == "c" || e == "cpp");
    let cases: Vec<Vec<Case>> = paths
        .into_iter()
        .filter(is_case)
        .map(read_case)
        .collect::<Result<_>>()?;
    Ok(cases.into_iter().flatten().collect())
}

/// Reads `NAME.c` or `NAME.cpp`, or `NAME/v1.c`, `NAME/v2.c`, ..., or `NAME/v1/*.c`, `NAME/v2/*.c`, ...; the directives stand
/// in `NAME.c`, `v1.c` or `v1/main.c`.
fn read_case(path: PathBuf) -> Result<Vec<Case>> {
    let name = path
        .file_stem()
        .ok_or_else(|| anyhow!("{}: no name", path.display()))?
        .to_string_lossy()
        .into_owned();
    let selected_by_macro = path.is_file();
    let first = if selected_by_macro {
        path.clone()
    } else if path.join("v1").is_dir() {
        path.join("v1/main.c")
    } else {
        path.join("v1.c")
    };
    let text = std::fs::read_to_string(&first).with_context(|| first.display().to_string())?;
    let directory = first.parent().unwrap_or(Path::new("."));
    let mut case = parse(&name, &text, directory).with_context(|| first.display().to_string())?;
    case.selected_by_macro = selected_by_macro;
    if !selected_by_macro {
        case.sources = version_files(&path)?;
        return Ok(vec![case]);
    }
    let mut counts = std::mem::take(&mut case.other_counts);
    counts.insert(0, case.sources.len());
    let name_of = |count: usize| match counts.as_slice() {
        [_] => name.clone(),
        _ => format!("{name}.{count}"),
    };
    Ok(counts
        .iter()
        .map(|&count| Case {
            name: name_of(count),
            sources: vec![vec![path.clone()]; count],
            ..case.clone()
        })
        .collect())
}

/// The files of each version in a case's directory.
fn version_files(path: &Path) -> Result<Vec<Vec<PathBuf>>> {
    let mut versions = Vec::new();
    loop {
        let version = path.join(format!("v{}", versions.len() + 1));
        let file = version.with_extension("c");
        if file.exists() {
            versions.push(vec![file]);
        } else if version.is_dir() {
            let mut files = std::fs::read_dir(&version)?
                .map(|entry| Ok(entry?.path()))
                .collect::<Result<Vec<PathBuf>>>()?;
            files.retain(|file| file.extension().is_some_and(|e| e == "c"));
            files.sort();
            versions.push(files);
        } else {
            break;
        }
    }
    if versions.len() < 2 {
        bail!("{}: fewer than two versions", path.display());
    }
    Ok(versions)
}

/// Parses the directives of one source. `sources` of the result has the right length and no contents.
pub fn parse(name: &str, text: &str, directory: &Path) -> Result<Case> {
    let mut case = Case {
        name: name.to_string(),
        sources: vec![Vec::new(); 2],
        other_counts: Vec::new(),
        selected_by_macro: true,
        cflags: Vec::new(),
        link: Vec::new(),
        merge: Vec::new(),
        levels: ["-O0", "-O1", "-O2"].map(String::from).to_vec(),
        runs: Vec::new(),
        merge_error: None,
        klee: None,
    };
    let mut defaults = Run::default();
    let mut in_header = true;
    for (index, line) in text.lines().enumerate() {
        let Some(directive) = line.trim_start().strip_prefix("//@") else {
            in_header &= line.starts_with("//");
            continue;
        };
        let number = index + 1;
        if !in_header {
            bail!("line {number}: a directive below the first comment");
        }
        let (key, value) = directive
            .split_once(':')
            .ok_or_else(|| anyhow!("line {number}: a directive is `key: value`"))?;
        let target = case.runs.last_mut().unwrap_or(&mut defaults);
        let known = run_directive(target, key.trim(), value.trim(), directory)
            .with_context(|| format!("line {number}"))?;
        if known {
            continue;
        }
        case_directive(&mut case, &defaults, key.trim(), value.trim())
            .with_context(|| format!("line {number}"))?;
    }
    if case.runs.is_empty() {
        case.runs.push(defaults);
    }
    Ok(case)
}

/// Directives of the whole case.
fn case_directive(case: &mut Case, defaults: &Run, key: &str, value: &str) -> Result<()> {
    match key {
        "run" => case.runs.push(Run {
            label: value.to_string(),
            ..defaults.clone()
        }),
        "cflags" => case.cflags = text_words(value)?,
        "link" => case.link = text_words(value)?,
        "merge" => case.merge = text_words(value)?,
        "levels" => case.levels = text_words(value)?,
        "versions" => {
            let mut counts = value
                .split_whitespace()
                .map(|word| word.parse().context("versions: a number"))
                .collect::<Result<Vec<usize>>>()?;
            if counts.is_empty() || counts.iter().any(|count| !(2..=16).contains(count)) {
                bail!("versions: 2 to 16");
            }
            case.sources = vec![Vec::new(); counts.remove(0)];
            case.other_counts = counts;
        }
        "merge-error" => {
            let (status, text) = value
                .split_once(' ')
                .ok_or_else(|| anyhow!("merge-error: STATUS TEXT"))?;
            case.merge_error = Some((status.parse()?, text_words(text)?.join(" ")));
        }
        "klee" => {
            let mut args = text_words(value)?;
            if args.is_empty() {
                bail!("klee: none|difference|paths-equal|quarter ARGUMENTS");
            }
            let verdict = match args.remove(0).as_str() {
                "none" => Verdict::None,
                "difference" => Verdict::Difference,
                "paths-equal" => Verdict::PathsEqual,
                "quarter" => Verdict::Quarter,
                other => bail!("klee: {other}: not none, difference, paths-equal or quarter"),
            };
            case.klee = Some(Klee { verdict, args });
        }
        _ => bail!("{key}: no such directive"),
    }
    Ok(())
}

/// Directives of one run; false: not one of them.
fn run_directive(run: &mut Run, key: &str, value: &str, directory: &Path) -> Result<bool> {
    match key {
        "args" => run.args = words(value)?,
        "stdin" => run.stdin = stdin(value, directory)?,
        "stdout" => run.stdout = sink(value)?,
        "stderr" => run.stderr = sink(value)?,
        "fifo" | "fifo-held" | "fifo-read" | "pipe" => {
            let (name, rest) = value.split_once(' ').unwrap_or((value, ""));
            let contents = contents(rest, directory)?;
            run.pipes.push(match key {
                "fifo" => Pipe::Written(name.to_string(), contents),
                "fifo-held" => Pipe::Held(name.to_string(), contents),
                "fifo-read" if rest.is_empty() => Pipe::Read(name.to_string()),
                "fifo-read" => bail!("fifo-read: a name only"),
                _ => Pipe::Inherited(name.parse().context("pipe: a descriptor")?, contents),
            });
        }
        "env" => {
            for word in words(value)? {
                let at = word
                    .iter()
                    .position(|byte| *byte == b'=')
                    .ok_or_else(|| anyhow!("env: NAME=VALUE"))?;
                let name = String::from_utf8(word[..at].to_vec())?;
                run.env.push((name, word[at + 1..].to_vec()));
            }
        }
        "expect" => {
            run.expect = match value {
                "none" => Expect::None,
                "output" => Expect::Output,
                "status" => Expect::Status,
                "both" => Expect::Both,
                _ => bail!("expect: {value}: not none, output, status or both"),
            }
        }
        "expect-check" => run.check = Some(value.split("...").map(String::from).collect()),
        "expect-spec" => run.spec = Some(value.split("...").map(String::from).collect()),
        "expect-specs" => run.spec_counts = Some(value.split(' ').map(String::from).collect()),
        "expect-outputs" => {
            run.marked = Some(match value {
                "same" => false,
                "differ" => true,
                _ => bail!("expect-outputs: {value}: not same or differ"),
            })
        }
        "expect-assumption" if value == "fails" => run.assumption_fails = true,
        "timeout" => run.timeout = Duration::from_secs(value.parse().context("timeout: seconds")?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn sink(value: &str) -> Result<Sink> {
    Ok(match value.split_once(' ').unwrap_or((value, "")) {
        ("pipe", "") => Sink::Pipe,
        ("file", "") => Sink::File,
        ("append", "") => Sink::Append,
        ("tty", "") => Sink::Terminal,
        ("full", "") => Sink::Full,
        ("closed", "") => Sink::Closed,
        ("stdout", "") => Sink::Stdout,
        ("head", bytes) => Sink::Head(bytes.parse().context("head: a number of bytes")?),
        _ => bail!("{value}: not pipe, file, append, tty, full, closed, stdout or head N"),
    })
}

/// Words that are joined, each one text, `@FILE` or `N*TEXT`.
fn contents(value: &str, directory: &Path) -> Result<Vec<u8>> {
    let mut contents = Vec::new();
    for word in words(value)? {
        if let Some(name) = word.strip_prefix(b"@") {
            let path = directory.join(String::from_utf8(name.to_vec())?);
            contents.extend(std::fs::read(&path).with_context(|| path.display().to_string())?);
            continue;
        }
        match repeated(&word) {
            Some((count, text)) => contents.extend(text.repeat(count)),
            None => contents.extend(word),
        }
    }
    Ok(contents)
}

/// `null`, `closed`, or `file`, `pipe`, `tty` and the contents. `file+N` starts at offset N.
fn stdin(value: &str, directory: &Path) -> Result<Stdin> {
    let (kind, rest) = value.split_once(' ').unwrap_or((value, ""));
    match kind {
        "null" => return Ok(Stdin::Null),
        "closed" => return Ok(Stdin::Closed),
        _ => {}
    }
    let contents = contents(rest, directory)?;
    let (kind, offset) = match kind.split_once('+') {
        Some((kind, offset)) => (kind, offset.parse().context("stdin: an offset")?),
        None => (kind, 0),
    };
    match kind {
        "file" => Ok(Stdin::File(contents, offset)),
        "pipe" if offset == 0 => Ok(Stdin::Pipe(contents)),
        "tty" if offset == 0 => Ok(Stdin::Terminal(contents)),
        _ => bail!("stdin: {kind}: not null, closed, file, file+N, pipe or tty"),
    }
}

/// `N*TEXT`.
fn repeated(word: &[u8]) -> Option<(usize, &[u8])> {
    let star = word.iter().position(|byte| *byte == b'*')?;
    let count = std::str::from_utf8(&word[..star]).ok()?.parse().ok()?;
    Some((count, &word[star + 1..]))
}

fn text_words(value: &str) -> Result<Vec<String>> {
    words(value)?
        .into_iter()
        .map(|word| String::from_utf8(word).context("not UTF-8"))
        .collect()
}

/// The words of a value, as commands read them.
fn words(value: &str) -> Result<Vec<Vec<u8>>> {
    p3_hunt::words::split(value).map_err(anyhow::Error::msg)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Case> {
        parse("case", text, Path::new("."))
    }

    #[test]
    fn runs_inherit_what_stands_before_them() {
        let case = parsed(
            "// About.\n//@ env: A=1\n//@ expect: output\n//@ run: one\n//@ args: a \"b c\" \\x41\\n\n\
             //@ run: two\n//@ stdin: pipe 3*ab \"\\0\"\n//@ expect: both\nint x;\n",
        )
        .unwrap();
        assert_eq!(case.runs.len(), 2);
        assert_eq!(
            case.runs[0].args,
            [&b"a"[..], b"b c", b"A\n"].map(<[u8]>::to_vec)
        );
        assert_eq!(case.runs[0].expect, Expect::Output);
        assert_eq!(case.runs[1].env, [("A".to_string(), b"1".to_vec())]);
        assert_eq!(case.runs[1].stdin, Stdin::Pipe(b"ababab\0".to_vec()));
        assert_eq!(case.runs[1].expect, Expect::Both);
    }

    #[test]
    fn one_run_without_a_run_directive() {
        let case = parsed("//@ versions: 3 8\n//@ stdin: file+2 abc\n").unwrap();
        assert_eq!(case.sources.len(), 3);
        assert_eq!(case.other_counts, [8]);
        assert_eq!(case.runs.len(), 1);
        assert_eq!(case.runs[0].stdin, Stdin::File(b"abc".to_vec(), 2));
    }

    #[test]
    fn pipes_have_names_or_numbers_and_contents() {
        let case = parsed(
            "//@ fifo: a \"b c\" 2*d\n//@ fifo-held: e f\n//@ fifo-read: g\n//@ pipe: 63 h\n",
        )
        .unwrap();
        assert_eq!(
            case.runs[0].pipes,
            [
                Pipe::Written("a".to_string(), b"b cdd".to_vec()),
                Pipe::Held("e".to_string(), b"f".to_vec()),
                Pipe::Read("g".to_string()),
                Pipe::Inherited(63, b"h".to_vec()),
            ]
        );
    }

    #[test]
    fn unknown_and_misplaced_directives_are_rejected() {
        for text in [
            "//@ argz: a\n",
            "//@ args\n",
            "int x;\n//@ args: a\n",
            "//@ expect: maybe\n",
            "//@ stdout: nowhere\n",
            "//@ args: \"a\n",
            "//@ versions: 1\n",
            "//@ versions: 3 17\n",
            "//@ fifo-read: a b\n",
            "//@ pipe: a b\n",
        ] {
            assert!(parsed(text).is_err(), "{text:?}");
        }
    }
}
