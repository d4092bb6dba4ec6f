//! `p3-ir header`.

use crate::{output, Outcome};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// What programs include.
const P3_H: &str = include_str!("../runtime/include/p3.h");

/// Arguments of `header`.
#[derive(Args)]
pub struct HeaderArgs {
    /// Where it goes (- for standard output)
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
}

/// Writes the header.
pub fn run(args: &HeaderArgs) -> Outcome {
    output::write(&args.output, P3_H.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
