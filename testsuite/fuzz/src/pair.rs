//! Draws what is merged with what: input is a seed, output are the versions' sources and how to treat them.

use crate::mutate::{Mutation, Source};
use anyhow::{Context, Result};
use fastrand::Rng;
use p3_hunt::input::Input;
use p3_hunt::process::{self, Status};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use testsuite::directives::{Case, Expect, Run, Stdin};

/// How the versions of a pair are related.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Relation {
    /// The same program: everything must match and nothing diverge.
    Itself,
    /// One program, changed in a few places.
    Mutant,
    /// Base, two variants, and the variant with the changes of both.
    Candidates,
    /// Two programs that have nothing in common but csmith's frame.
    Unrelated,
}

/// A pair (or more) of versions, ready to be merged.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pair {
    pub relation: Relation,
    /// Levels to compile at, as in a case.
    pub levels: Vec<String>,
    /// Flags of `merge`.
    pub merge: Vec<String>,
    pub versions: usize,
    /// What was changed.
    pub changes: Vec<String>,
}

/// What is not defined in C would not be the same in two compilations.
const DEFINED: [&str; 3] = [
    "-fwrapv",
    "-fno-strict-aliasing",
    "-ftrivial-auto-var-init=zero",
];
/// Where Debian's libcsmith-dev has csmith.h.
const HEADERS: &str = "/usr/include/csmith";
/// csmith's programs print more than one sum if they have an argument.
const ARGUMENT: &[u8] = b"1";
/// A program alone must end within this; some of csmith's never do.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// So many draws of one pair before it is given up.
const DRAWS: usize = 40;

impl Pair {
    /// Writes the versions of the pair with this seed to `v1.c`, `v2.c`, ... in `directory`. Every version compiles
    /// and ends, without undefined behaviour that the sanitizers see. None: too many draws were not like that.
    pub fn draw(seed: u64, directory: &Path) -> Result<Option<Pair>> {
        let mut rng = Rng::with_seed(seed);
        for _ in 0..DRAWS {
            if let Some(pair) = attempt(&mut rng, directory)? {
                return Ok(Some(pair));
            }
        }
        Ok(None)
    }

    /// The pair as a case of the testsuite.
    pub fn case(&self, directory: &Path) -> Case {
        let sources = (1..=self.versions).map(|version| vec![source_path(directory, version)]);
        Case {
            name: "pair".to_string(),
            sources: sources.collect(),
            other_counts: Vec::new(),
            selected_by_macro: false,
            cflags: cflags(),
            link: Vec::new(),
            merge: self.merge.clone(),
            levels: self.levels.clone(),
            runs: vec![Run {
                args: vec![ARGUMENT.to_vec()],
                stdin: Stdin::Null,
                expect: Expect::Any,
                ..Run::default()
            }],
            merge_error: None,
            klee: None,
        }
    }
}

/// Where version `version` stands.
pub fn source_path(directory: &Path, version: usize) -> PathBuf {
    directory.join(format!("v{version}.c"))
}

fn attempt(rng: &mut Rng, directory: &Path) -> Result<Option<Pair>> {
    let relation = match rng.u8(..10) {
        0 => Relation::Itself,
        1 => Relation::Unrelated,
        2 | 3 => Relation::Candidates,
        _ => Relation::Mutant,
    };
    let base = csmith(rng, directory)?;
    let source = Source::new(&base);
    let mut changes: Vec<Mutation> = Vec::new();
    let texts = match relation {
        Relation::Itself => Some(vec![base.clone(), base.clone()]),
        Relation::Unrelated => Some(vec![base.clone(), csmith(rng, directory)?]),
        Relation::Mutant => {
            let wanted = rng.usize(1..6);
            changes.extend((0..wanted).filter_map(|_| source.mutation(rng)));
            let mutant = source.apply(&changes.iter().collect::<Vec<_>>());
            mutant.map(|mutant| vec![base.clone(), mutant])
        }
        Relation::Candidates => {
            let wanted = rng.usize(2..6);
            changes.extend((0..wanted).filter_map(|_| source.mutation(rng)));
            let (left, right) = changes.split_at(changes.len() / 2);
            let (left, right): (Vec<_>, Vec<_>) = (left.iter().collect(), right.iter().collect());
            let all: Vec<_> = changes.iter().collect();
            let mut texts = vec![
                Some(base.clone()),
                source.apply(&left),
                source.apply(&right),
            ];
            if rng.bool() {
                texts.push(source.apply(&all));
            }
            texts.into_iter().collect()
        }
    };
    let Some(texts) = texts.filter(|texts| relation_holds(relation, texts)) else {
        return Ok(None);
    };
    for (index, text) in texts.iter().enumerate() {
        // csmith's header does not declare what the changes use.
        let text = format!("#include <stdio.h>\n#include <stdlib.h>\n{text}");
        let path = source_path(directory, index + 1);
        std::fs::write(&path, text)?;
        let is_new = index == 0 || texts[index - 1] != texts[index];
        if is_new && !is_usable(&path)? {
            return Ok(None);
        }
    }
    Ok(Some(Pair {
        relation,
        levels: levels(rng, relation),
        merge: flags(rng, relation),
        versions: texts.len(),
        changes: changes
            .iter()
            .map(|change| change.kind.to_string())
            .collect(),
    }))
}

/// Versions that are to differ do.
fn relation_holds(relation: Relation, texts: &[String]) -> bool {
    relation == Relation::Itself || texts.iter().skip(1).any(|text| *text != texts[0])
}

fn levels(rng: &mut Rng, relation: Relation) -> Vec<String> {
    const CHOICES: [&[&str]; 5] = [&["-O0"], &["-O1"], &["-O2"], &["-O0", "-O2"], &["-Os"]];
    let choices = match relation {
        // With two levels the case merges one level with the other.
        Relation::Itself => &CHOICES[..3],
        _ => &CHOICES[..],
    };
    let chosen = choices[rng.usize(..choices.len())];
    chosen.iter().map(|level| level.to_string()).collect()
}

fn flags(rng: &mut Rng, relation: Relation) -> Vec<String> {
    const PREPARE: [&str; 4] = ["none", "fold", "fold", "O1"];
    let prepare = PREPARE[rng.usize(..4)];
    let mut flags = ["--verify-product", "--prepare", prepare]
        .map(String::from)
        .to_vec();
    if relation == Relation::Itself {
        flags.extend(["--check", "output,status,assert,divergence"].map(String::from));
    }
    flags
}

/// A program of moderate size. csmith leaves a file in `directory`.
fn csmith(rng: &mut Rng, directory: &Path) -> Result<String> {
    let mut command = Command::new("csmith");
    command.current_dir(directory);
    command.args(["--seed", &rng.u32(..).to_string(), "--concise"]);
    command.args(["--max-funcs", &rng.u32(2..7).to_string()]);
    command.args(["--max-block-depth", &rng.u32(2..5).to_string()]);
    command.args(["--max-expr-complexity", &rng.u32(3..9).to_string()]);
    if rng.u8(..3) == 0 {
        command.arg("--float");
    }
    if rng.u8(..3) == 0 {
        command.arg("--inline-function");
    }
    let output = command.output().context("csmith (Debian package csmith)")?;
    anyhow::ensure!(output.status.success(), "csmith: {}", output.status);
    Ok(String::from_utf8(output.stdout)?)
}

/// Whether a program compiles, ends soon, and does nothing undefined.
pub fn is_usable(source: &Path) -> Result<bool> {
    let program = source.with_extension("checked");
    let mut compile = Command::new("clang-16");
    // An optimiser may take out a loop that never ends.
    compile.args(["-O0", "-w", "-D_GNU_SOURCE"]).args(cflags());
    compile.args([
        "-fsanitize=address,undefined",
        "-fno-sanitize=alignment",
        "-fno-sanitize-recover=all",
    ]);
    compile.arg(source).arg("-o").arg(&program);
    let compiled = compile.stderr(Stdio::null()).status().context("clang-16")?;
    if !compiled.success() {
        return Ok(false);
    }
    let input = Input {
        arguments: vec![ARGUMENT.to_vec()],
        ..Input::default()
    };
    let run = process::Run {
        program: &program,
        name: "prog".as_ref(),
        input: &input,
        timeout: PATIENCE,
        variables: vec![
            ("ASAN_OPTIONS", "detect_leaks=0:exitcode=99".into()),
            ("UBSAN_OPTIONS", "exitcode=99".into()),
        ],
    };
    let ended = run.run()?;
    std::fs::remove_file(&program)?;
    // Of the signals only abort's is one that a change can have put there.
    Ok(match ended.status {
        Status::Exit(code) => code != 99,
        Status::Signal(_) => true,
        Status::TimedOut | Status::TooMuchOutput => false,
    })
}

/// The flags of every compilation.
fn cflags() -> Vec<String> {
    let mut flags: Vec<String> = DEFINED.map(String::from).to_vec();
    flags.push(format!("-I{HEADERS}"));
    flags
}
