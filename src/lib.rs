//! `p3-ir`: the command line. Argument types, one file per subcommand, printing; no IR work.

mod align;
mod build;
mod diff;
mod dup;
mod folder;
mod header;
mod merge;
mod output;
mod progress;
mod replay;
mod run;
mod side_by_side;
mod worker;

use anyhow::Result;
use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Merges the LLVM bitcode of several versions of a program into one product program that runs them together
/// on one input.
#[derive(Parser)]
#[command(
    version,
    after_help = "Exit status: 0 fine, 1 difference found, 2 bad input, 3 unsupported, 4 bug in p3-ir, 5 inconclusive"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Merge two or more versions into one product
    Merge(merge::MergeArgs),
    /// Show which functions and nodes of the versions are matched
    Align(align::AlignArgs),
    /// Build an executable from a product
    Build(build::BuildArgs),
    /// Run a product, or merge and build versions first, and show how they differ
    Run(run::RunArgs),
    /// Look for inputs on which two versions differ, and report them
    Diff(diff::DiffArgs),
    /// Run both versions again on inputs that diff has found
    Replay(replay::ReplayArgs),
    /// Make an input smaller while it shows the same difference
    Minimise(replay::MinimiseArgs),
    /// Copy a native library under other symbol names
    Dup(dup::DupArgs),
    /// Write p3.h, the header for specifications in programs
    Header(header::HeaderArgs),
}

/// Runs the command line of this process, which must not have threads yet.
pub fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| refuse(&error));
    if let Some(code) = worker::supervise() {
        return code;
    }
    worker::report_panics();
    let code = std::panic::catch_unwind(|| run(cli)).unwrap_or(ExitCode::from(4));
    worker::done();
    code
}

/// Says what is wrong with the command line. A value that cannot be used takes one line, as any bad input does.
fn refuse(error: &clap::Error) -> ! {
    if !matches!(
        error.kind(),
        ErrorKind::ValueValidation | ErrorKind::InvalidValue | ErrorKind::ArgumentConflict
    ) {
        error.exit();
    }
    let text = error.render().to_string();
    let lines = text.lines().map(str::trim);
    // What follows the blank line is advice; what stands before it may be a list.
    let lines: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
    let line = lines.join(" ");
    eprintln!("p3-ir: {}", line.strip_prefix("error: ").unwrap_or(&line));
    std::process::exit(2)
}

fn run(cli: Cli) -> ExitCode {
    let result = match cli.command {
        Command::Merge(args) => merge::run(&args),
        Command::Align(args) => align::run(&args),
        Command::Build(args) => build::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Replay(args) => replay::replay(&args),
        Command::Minimise(args) => replay::minimise(&args),
        Command::Dup(args) => dup::run(&args),
        Command::Header(args) => header::run(&args),
    };
    match result {
        Ok(code) => code,
        Err(error) => {
            eprintln!("p3-ir: {error:#}");
            ExitCode::from(exit_status(&error))
        }
    }
}

/// The status that the library's error asks for; errors of the command line itself (output that cannot be
/// written) are the user's to mend.
fn exit_status(error: &anyhow::Error) -> u8 {
    error
        .chain()
        .find_map(|cause| cause.downcast_ref::<p3_passes::Error>())
        .map_or(2, p3_passes::Error::exit_status)
}

/// What a subcommand returns: its exit status, or an error that is printed as one line.
type Outcome = Result<ExitCode>;
