//! Attacks p3-ir: `cargo run -p p3-fuzz -- --seed 1 --count 100` with pairs of generated programs, see [`pairs`], and
//! `... -- ir --seed 1` with pairs of programs in LLVM's language, see [`ir`], and `... -- corrupt --seed 1` with
//! damaged files, see [`corrupt`].
//!
//! What is tried depends on the seed and the tools (csmith, clang-16) alone. Exit status 1: something failed; 2: bad
//! arguments or a tool is missing.

mod corrupt;
mod ir;
mod mutate;
mod pair;
mod pairs;
mod reduce;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Set when this executable is started as `p3-ir`, as the testsuite's is.
const AS_TOOL: &str = "P3_FUZZ_AS_TOOL";

/// Attacks p3-ir with pairs of generated programs, or with other things.
#[derive(Parser)]
#[command(args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    other: Option<Other>,
    #[command(flatten)]
    pairs: pairs::PairArguments,
}

#[derive(Subcommand)]
enum Other {
    /// Attack with damaged and hostile files
    Corrupt(corrupt::CorruptArguments),
    /// Attack with pairs of programs in LLVM's language
    Ir(ir::IrArguments),
}

fn main() -> ExitCode {
    if std::env::var_os(AS_TOOL).is_some() {
        return p3_ir::main();
    }
    let arguments = Cli::parse();
    let keep = match &arguments.other {
        Some(Other::Corrupt(arguments)) => &arguments.keep,
        Some(Other::Ir(arguments)) => &arguments.keep,
        None => &arguments.pairs.keep,
    };
    if keep.exists() && !keep.is_dir() {
        eprintln!("p3-fuzz: {}: not a directory", keep.display());
        return ExitCode::from(2);
    }
    let done = match (&arguments.other, &arguments.pairs.still_fails) {
        (Some(Other::Corrupt(arguments)), _) => corrupt::attack(arguments),
        (Some(Other::Ir(arguments)), _) => ir::attack(arguments),
        (None, Some(description)) => reduce::still_fails(description),
        (None, None) => pairs::attack(&arguments.pairs),
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("p3-fuzz: {error:#}");
            ExitCode::from(2)
        }
    }
}
