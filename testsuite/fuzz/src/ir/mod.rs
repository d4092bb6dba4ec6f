//! Generated programs in LLVM's own language, with what no C program has: see [`body`] for functions; around them
//! stand all kinds of linkage, aliases of aliases, an ifunc, thread-local and common variables, comdats, functions
//! that pass things in every way, exceptions, `musttail`, and metadata on everything.
//!
//! Each program is valid, ends, does nothing undefined, and prints a sum of what it computed. What is asked of it is
//! what is asked of a case of the testsuite; of one merged with itself in addition that everything matches.

mod body;
mod tape;
mod types;

use crate::pair::PATIENCE;
use crate::pairs;
use anyhow::{Context, Result};
use body::Body;
use fastrand::Rng;
use p3_hunt::input::Input;
use p3_hunt::process;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tape::Tape;

use testsuite::directives::{Case, Expect, Run, Stdin};
use testsuite::tally::Tally;
use types::{Ty, STRUCTURE};

/// Which programs.
#[derive(clap::Args)]
pub struct IrArguments {
    /// The first pair's seed; the others follow
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many pairs
    #[arg(long, default_value_t = 100)]
    count: u64,
    /// Begin no more pairs after so many seconds
    #[arg(long, value_name = "SECONDS")]
    seconds: Option<u64>,
    /// Where pairs that fail are kept
    #[arg(long, value_name = "DIR", default_value = "p3-fuzz-failures")]
    pub keep: PathBuf,
}

/// How a function is called.
#[derive(Clone, Debug)]
pub struct Signature {
    name: String,
    parameters: Vec<Ty>,
    result: Option<Ty>,
    /// It also gets a structure `byval` and returns one through `sret`.
    in_memory: bool,
    convention: &'static str,
    /// Per parameter.
    attributes: Vec<&'static str>,
}

impl Signature {
    fn draw(tape: &mut Tape, name: String) -> Signature {
        let in_memory = tape.once_in(4);
        let parameters: Vec<Ty> = (0..tape.below(6)).map(|_| Ty::draw(tape)).collect();
        let attributes = parameters
            .iter()
            .map(|ty| match ty {
                Ty::Int(width) if *width < 32 => {
                    tape.choose(&["zeroext ", "signext ", "noundef ", ""])
                }
                Ty::Int(width) if *width <= 64 => tape.choose(&["inreg ", "noundef ", "", ""]),
                _ => "",
            })
            .collect();
        let result = (!in_memory && !tape.once_in(8)).then(|| Ty::draw(tape));
        let drawn = tape.choose(&["", "", "fastcc ", "coldcc ", "preserve_mostcc "]);
        // LLVM 16 restores the register of the result, too: what the caller gets is what it had there.
        let convention = match (drawn, result) {
            ("preserve_mostcc ", Some(_)) => "",
            _ => drawn,
        };
        Signature {
            name,
            result,
            parameters,
            in_memory,
            convention,
            attributes,
        }
    }

    fn attribute(&self, index: usize) -> &'static str {
        self.attributes[index]
    }

    fn result_name(&self) -> String {
        self.result.map_or("void".to_string(), |ty| ty.to_string())
    }

    fn parameters(&self) -> String {
        let mut words = Vec::new();
        if self.in_memory {
            words.push(format!("ptr noalias sret({STRUCTURE}) align 8 %ret"));
            words.push(format!("ptr byval({STRUCTURE}) align 8 %by"));
        }
        for (index, ty) in self.parameters.iter().enumerate() {
            words.push(format!("{ty} {}%p{index}", self.attributes[index]));
        }
        words.join(", ")
    }
}

/// What stands in every program.
const FRAME: &str = r#"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128"
target triple = "x86_64-pc-linux-gnu"

$weak_table = comdat any
$linked_once = comdat any
@sum = internal global i64 5, align 8
@fuel = internal global i32 3000
@table = dso_local global [8 x i32] [i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8], section "numbers", align 64, !mark !0
@local_table = internal thread_local(localdynamic) global [8 x i32] zeroinitializer, align 4
@weak_table = weak_odr hidden global [8 x i32] zeroinitializer, comdat, align 4
@common_table = common global [8 x i32] zeroinitializer, align 4
@table_alias = protected alias [8 x i32], ptr @table_alias_once
@table_alias_once = private alias [8 x i32], ptr @table
@atomic_i8 = dso_local global i8 0, align 8
@atomic_i16 = linkonce_odr global i16 0, align 8
@atomic_i32 = internal unnamed_addr global i32 0, align 8
@atomic_i64 = weak global i64 0, align 8
@passed = internal global { i32, i64, i8 } zeroinitializer, align 8
@returned = internal thread_local(initialexec) global { i32, i64, i8 } zeroinitializer, align 8
@format = private unnamed_addr constant [14 x i8] c"%s %lx %d %d\0A\00"
@word = private constant [4 x i8] c"sum\00"
@unknown = extern_weak global i32
@_ZTIi = external constant ptr
@llvm.global_ctors = appending global [2 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @begin, ptr null }, { i32, ptr, ptr } { i32 200, ptr @begin, ptr @table }]
@llvm.global_dtors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @finish, ptr null }]
@llvm.used = appending global [2 x ptr] [ptr @relay_alias, ptr @common_table], section "llvm.metadata"
@relay_alias = internal alias i64 (i64, i64), ptr @relay
@relay_alias_alias = hidden unnamed_addr alias i64 (i64, i64), ptr @relay_alias
@relay_ifunc = internal ifunc i64 (i64, i64), ptr @resolve

declare i32 @printf(ptr nocapture readonly, ...)
declare void @exit(i32) noreturn
declare i32 @__gxx_personality_v0(...)
declare ptr @__cxa_allocate_exception(i64)
declare void @__cxa_throw(ptr, ptr, ptr) noreturn
declare ptr @__cxa_begin_catch(ptr)
declare void @__cxa_end_catch()
declare ptr @llvm.threadlocal.address.p0(ptr)
declare void @llvm.va_start(ptr)
declare void @llvm.va_copy(ptr, ptr)
declare void @llvm.va_end(ptr)

define internal void @mix(i64 %value) nounwind {
  %old = load i64, ptr @sum
  %turned = call i64 @llvm.fshl.i64(i64 %old, i64 %old, i64 7)
  %new = xor i64 %turned, %value
  store i64 %new, ptr @sum
  ret void
}

define internal void @begin() {
  call void @mix(i64 17)
  ret void
}

define internal void @finish() {
  %sum = load i64, ptr @sum
  %no = call i32 (ptr, ...) @printf(ptr @format, ptr @word, i64 %sum, i32 -1, i32 0)
  ret void
}

define internal i64 @variadic(i32 %count, ...) {
  %list = alloca [3 x i64], align 16
  %copy = alloca [3 x i64], align 16
  call void @llvm.va_start(ptr %list)
  call void @llvm.va_copy(ptr %copy, ptr %list)
  br label %next
next:
  %i = phi i32 [ 0, %0 ], [ %j, %take ]
  %all = phi i64 [ 3, %0 ], [ %more, %take ]
  %goes_on = icmp slt i32 %i, %count
  br i1 %goes_on, label %take, label %done
take:
  %one = va_arg ptr %list, i64
  %three = mul i64 %all, 3
  %more = add i64 %three, %one
  %j = add nuw nsw i32 %i, 1
  br label %next
done:
  call void @llvm.va_end(ptr %copy)
  call void @llvm.va_end(ptr %list)
  ret i64 %all
}

define weak_odr i64 @relay_weak(i64 %a, i64 %b) {
  %c = mul i64 %a, 31
  %d = xor i64 %c, %b
  ret i64 %d
}

define linkonce_odr i64 @linked_once(i64 %a, i64 %b) comdat {
  %r = musttail call i64 @relay_weak(i64 %b, i64 %a)
  ret i64 %r
}

define internal i64 @relay(i64 %a, i64 %b) {
  %left = load i32, ptr @fuel
  %less = sub i32 %left, 1
  store i32 %less, ptr @fuel
  %small = and i64 %a, 3
  %again = icmp ne i64 %small, 0
  %can = icmp sgt i32 %less, 0
  %both = and i1 %again, %can
  br i1 %both, label %more, label %last
more:
  %c = lshr i64 %a, 1
  %r = musttail call i64 @relay(i64 %c, i64 %b)
  ret i64 %r
last:
  %p = load volatile ptr, ptr @other
  %s = musttail call i64 %p(i64 %b, i64 %a)
  ret i64 %s
}
@other = internal global ptr @linked_once

define internal ptr @resolve() {
  ret ptr @relay_weak
}

define internal void @thrower(i64 %value) {
  %bits = and i64 %value, 3
  %throws = icmp eq i64 %bits, 1
  br i1 %throws, label %throw, label %done
throw:
  %object = call ptr @__cxa_allocate_exception(i64 4)
  %thrown = trunc i64 %value to i32
  store i32 %thrown, ptr %object
  call void @__cxa_throw(ptr %object, ptr @_ZTIi, ptr null)
  unreachable
done:
  ret void
}

define internal void @between(i64 %value) personality ptr @__gxx_personality_v0 {
  invoke void @thrower(i64 %value) to label %done unwind label %pad
pad:
  %caught = landingpad { ptr, i32 } cleanup
  call void @mix(i64 99)
  resume { ptr, i32 } %caught
done:
  ret void
}
"#;

/// The program of this tape.
fn program(tape: &mut Tape) -> String {
    let mut text = FRAME.to_string();
    let has_lines = tape.once_in(2);
    let signatures: Vec<Signature> = (0..2 + tape.below(5))
        .map(|index| Signature::draw(tape, format!("f{index}")))
        .collect();
    let linkages = [
        "internal ",
        "",
        "weak ",
        "linkonce_odr ",
        "hidden ",
        "protected ",
        "private ",
        "weak_odr dso_local ",
    ];
    let mut calls = String::new();
    for (index, signature) in signatures.iter().enumerate() {
        let (marks, line) = match has_lines {
            true => (
                format!(" !dbg !{}", 100 + 2 * index),
                format!(", !dbg !{}", 101 + 2 * index),
            ),
            false => (String::new(), ", !mark !0".to_string()),
        };
        let body = Body::write(tape, signature, &signatures[index + 1..], &line);
        let attributes = tape.choose(&[
            "",
            "noinline optnone",
            "alwaysinline",
            "minsize",
            "noinline ssp",
            "\"frame-pointer\"=\"all\"",
        ]);
        let _ = write!(
            text,
            "\n@pointer_{name} = internal global ptr @{name}\ndefine {}{}{} @{name}({}) {attributes} personality ptr @__gxx_personality_v0{marks} {{\n{body}}}\n",
            tape.choose(&linkages),
            signature.convention,
            signature.result_name(),
            signature.parameters(),
            name = signature.name,
        );
        calls.push_str(&call_from_main(tape, signature));
    }
    let status = tape.choose(&[
        "ret i32 0",
        "ret i32 %narrow",
        "call void @exit(i32 %narrow)\n  unreachable",
    ]);
    let _ = write!(
        text,
        "\ndefine i32 @main(i32 %argc, ptr %argv) !mark !1 {{\n  %structure = alloca {STRUCTURE}, align 8\n  \
         store {STRUCTURE} {{ i32 7, i64 -9, i8 3 }}, ptr %structure\n{calls}  %last = load i64, ptr @sum\n  \
         %short = trunc i64 %last to i32\n  %narrow = and i32 %short, 63\n  {status}\n}}\n"
    );
    text.push_str(&intrinsics(&text));
    text.push_str("!mark = !{!0, !1}\n!0 = !{!\"a\", !1, i32 5}\n!1 = distinct !{!1, !0}\n");
    if has_lines {
        text.push_str(
            "!llvm.dbg.cu = !{!90}\n!llvm.module.flags = !{!92}\n!90 = distinct !DICompileUnit(language: DW_LANG_C99, file: !91, emissionKind: FullDebug)\n\
             !91 = !DIFile(filename: \"p.c\", directory: \"/\")\n!92 = !{i32 2, !\"Debug Info Version\", i32 3}\n!93 = !DISubroutineType(types: !94)\n!94 = !{null}\n",
        );
        for (index, signature) in signatures.iter().enumerate() {
            let (function, line) = (100 + 2 * index, 101 + 2 * index);
            let _ = write!(
                text,
                "!{function} = distinct !DISubprogram(name: \"{}\", scope: !91, file: !91, line: {line}, type: !93, spFlags: DISPFlagDefinition, unit: !90)\n\
                 !{line} = !DILocation(line: {line}, column: 3, scope: !{function})\n",
                signature.name
            );
        }
    }
    text
}

fn call_from_main(tape: &mut Tape, callee: &Signature) -> String {
    let mut text = String::new();
    let name = &callee.name;
    for time in 0..1 + tape.below(3) {
        let mut words = Vec::new();
        if callee.in_memory {
            let _ = writeln!(text, "  %out.{name}.{time} = alloca {STRUCTURE}, align 8");
            words.push(format!("ptr sret({STRUCTURE}) align 8 %out.{name}.{time}"));
            words.push(format!("ptr byval({STRUCTURE}) align 8 %structure"));
        }
        for (index, ty) in callee.parameters.iter().enumerate() {
            words.push(format!(
                "{ty} {}{}",
                callee.attribute(index),
                ty.constant(tape)
            ));
        }
        let _ = writeln!(
            text,
            "  store i32 3000, ptr @fuel\n  {}call {}{} @{name}({})\n  %sum.{name}.{time} = load i64, ptr @sum\n  \
             %printed.{name}.{time} = call i32 (ptr, ...) @printf(ptr @format, ptr @word, i64 %sum.{name}.{time}, i32 {time}, i32 %argc)",
            callee.result.map_or(String::new(), |_| format!("%result.{name}.{time} = ")),
            callee.convention,
            callee.result_name(),
            words.join(", ")
        );
    }
    text
}

/// Declarations of the intrinsics that the text calls. They are all called as `TYPE @llvm.NAME(TYPE VALUE, ...)`.
fn intrinsics(text: &str) -> String {
    let mut declared = BTreeSet::new();
    for (at, _) in text.match_indices(" @llvm.") {
        let rest = &text[at + 1..];
        let Some(open) = rest.find('(') else { continue };
        let name = &rest[..open];
        let already = text.contains(&format!("declare ptr {name}("))
            || text.contains(&format!("declare void {name}("));
        if already || name.contains([' ', ',', '=']) {
            continue;
        }
        let Some(call) = text[..at].rfind("call ") else {
            continue;
        };
        let result = &text[call + 5..at];
        let end = rest.find(')').unwrap_or(open);
        let parameters: Vec<&str> = rest[open + 1..end]
            .split(", ")
            .map(|argument| argument.rsplit_once(' ').map_or(argument, |(ty, _)| ty))
            .collect();
        // Constants of vectors hold blanks and commas.
        let suffix = name.rsplit('.').next().unwrap_or_default();
        let parameters = match suffix.strip_prefix('v') {
            Some(vector) => {
                let (count, of) = vector.split_once('i').unwrap_or((vector, "1"));
                format!("<{count} x i{of}>")
            }
            None => parameters.join(", "),
        };
        declared.insert(format!("declare {result} {name}({parameters})\n"));
    }
    declared.into_iter().collect()
}

/// A pair: what the versions are, and how to treat them.
struct Pair {
    what: &'static str,
    case: Case,
}

/// Writes the versions of a pair.
fn draw(seed: u64, directory: &Path) -> Result<Pair> {
    let mut rng = Rng::with_seed(seed);
    let program_seed = rng.u64(..);
    let mut first = Tape::new(program_seed, BTreeSet::new());
    let mut texts = vec![program(&mut first)];
    let kind = rng.u8(..10);
    let what = match kind {
        0..=2 => {
            texts.push(texts[0].clone());
            "itself"
        }
        3 => {
            texts.push(program(&mut Tape::new(rng.u64(..), BTreeSet::new())));
            "unrelated"
        }
        _ => {
            for _ in 0..1 + usize::from(kind > 7) {
                let places = (0..rng.usize(1..4)).map(|_| rng.usize(..first.drawn()));
                texts.push(program(&mut Tape::new(program_seed, places.collect())));
            }
            "mutant"
        }
    };
    let mut sources = Vec::new();
    for (index, text) in texts.iter().enumerate() {
        let path = directory.join(format!("v{}.ll", index + 1));
        std::fs::write(&path, text)?;
        sources.push(vec![path]);
    }
    // With two levels the case merges one level with the other.
    let choices = if what == "itself" { 3 } else { 4 };
    let levels: &[&str] = [&["-O0"][..], &["-O1"], &["-O2"], &["-O0", "-O2"]][rng.usize(..choices)];
    let prepare = ["none", "fold", "O1"][rng.usize(..3)];
    let mut merge = vec!["--verify-product", "--prepare", prepare];
    if what == "itself" {
        merge.extend(["--check", "output,status,assert,divergence"]);
    }
    let strings = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
    Ok(Pair {
        what,
        case: Case {
            name: "ir".to_string(),
            sources,
            other_counts: Vec::new(),
            selected_by_macro: false,
            cflags: strings(&["-Wno-unused-command-line-argument"]),
            link: strings(&["-lstdc++"]),
            merge: strings(&merge),
            levels: strings(levels),
            runs: vec![Run {
                stdin: Stdin::Null,
                expect: Expect::Any,
                ..Run::default()
            }],
            merge_error: None,
            klee: None,
        },
    })
}

/// Whether every pair passed.
pub fn attack(arguments: &IrArguments) -> Result<bool> {
    println!("seeds {} and following", arguments.seed);
    let begun = Instant::now();
    let limit = arguments.seconds.map(Duration::from_secs);
    let tally = Arc::new(Tally::default());
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for seed in arguments.seed..arguments.seed + arguments.count {
        if limit.is_some_and(|limit| begun.elapsed() > limit) {
            break;
        }
        let temporary = tempfile::tempdir()?;
        let pair = draw(seed, temporary.path())?;
        check_valid(&pair.case).with_context(|| format!("seed {seed}"))?;
        if !has_one_meaning(&pair.case, temporary.path())? {
            skipped += 1;
            println!("seed {seed} skipped: clang -O0 and -O2 alone do not agree");
            continue;
        }
        let scratch = tempfile::tempdir()?;
        let is_itself = pair.what == "itself";
        let mismatches = pairs::try_case(&pair.case, is_itself, &tally, scratch.path())?;
        if mismatches.is_empty() {
            passed += 1;
        } else {
            failed += 1;
            let line = format!(
                "seed {seed} FAILED: {} {} {}: {}",
                pair.what,
                pair.case.levels.join(" "),
                pair.case.merge.join(" "),
                mismatches[0]
            );
            println!("{line}");
            let kept = arguments.keep.join(format!("ir-{seed}"));
            keep(&pair.case, &line, &kept).with_context(|| kept.display().to_string())?;
        }
        if (passed + failed) % pairs::PROGRESS == 0 {
            println!(
                "{passed} pairs passed, {failed} failed, after {} s",
                begun.elapsed().as_secs()
            );
        }
    }
    println!("{passed} pairs passed, {failed} failed, {skipped} skipped");
    print!("{tally}");
    anyhow::ensure!(passed + failed > 0, "no pair was tried");
    Ok(failed == 0)
}

/// Copies the programs of a pair that fails, and the line that says how it was merged.
fn keep(case: &Case, line: &str, kept: &Path) -> Result<()> {
    std::fs::create_dir_all(kept)?;
    for source in case.sources.iter().flatten() {
        std::fs::copy(source, kept.join(source.file_name().unwrap_or_default()))?;
    }
    std::fs::write(kept.join("case"), format!("{line}\n"))?;
    println!("kept in {}", kept.display());
    Ok(())
}

/// Whether each program does the same at -O0 and -O2, without p3-ir: else it has undefined behaviour in spite of the
/// generator's care, or LLVM compiles one of the odd types wrongly, and what a product does says nothing.
fn has_one_meaning(case: &Case, directory: &Path) -> Result<bool> {
    let input = Input::default();
    for source in case.sources.iter().flatten() {
        let mut ends = Vec::new();
        for level in ["-O0", "-O2"] {
            let program = directory.join("alone");
            let mut compile = Command::new("clang-16");
            compile.arg(level).arg("-w").arg(source).args(&case.link);
            let compiled = compile.arg("-o").arg(&program).output()?;
            anyhow::ensure!(
                compiled.status.success(),
                "clang-16 {level} cannot compile {}",
                source.display()
            );
            let run = process::Run {
                program: &program,
                name: "prog".as_ref(),
                input: &input,
                timeout: PATIENCE,
                variables: Vec::new(),
            };
            let ended = run.run()?;
            ends.push((ended.status.to_string(), ended.stdout, ended.stderr));
        }
        if ends[0] != ends[1] {
            return Ok(false);
        }
    }
    Ok(true)
}

/// An error here is the generator's.
fn check_valid(case: &Case) -> Result<()> {
    for source in case.sources.iter().flatten() {
        let output = Command::new("llvm-as-16")
            .arg(source)
            .args(["-o", "/dev/null"])
            .output()?;
        let text = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(
            output.status.success(),
            "{}",
            text.lines().take(3).collect::<Vec<_>>().join(" ")
        );
    }
    Ok(())
}
