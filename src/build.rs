//! `p3-ir build`.

use crate::progress::Progress;
use crate::worker::Supervised;
use crate::Outcome;
use clap::Args;
use p3_passes::build::{self, BuildOptions, Sanitizer};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `build`.
#[derive(Args)]
pub struct BuildArgs {
    /// The product that merge has written; one of merge --harness becomes a libFuzzer program
    product: PathBuf,
    /// The executable; by default the product's name without its extension
    #[arg(short, long, value_name = "PROG")]
    output: Option<PathBuf>,
    /// Sanitizers to build with: address, leak, memory, thread, undefined (this one only reports what the
    /// versions were compiled to look for, with -fsanitize=undefined)
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = Sanitizer::parse)]
    sanitize: Vec<Sanitizer>,
    /// Flags for clang: -O2, -g, the program's libraries (-lm), ...
    #[arg(last = true, value_name = "FLAG")]
    flags: Vec<OsString>,
}

/// Builds the executable.
pub fn run(args: &BuildArgs) -> Outcome {
    let output = match &args.output {
        Some(output) => output.clone(),
        None if args.product.extension().is_some() => args.product.with_extension(""),
        None => PathBuf::from("a.out"),
    };
    build(&BuildOptions {
        product: args.product.clone(),
        output,
        sanitizers: args.sanitize.clone(),
        flags: args.flags.clone(),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Builds, and prints warnings.
pub fn build(options: &BuildOptions) -> p3_passes::Result<()> {
    let progress = Progress::new("building");
    let warnings = build::build(options, &mut Supervised)?;
    drop(progress);
    for warning in warnings {
        eprintln!("p3-ir: warning: {warning}");
    }
    Ok(())
}
