//! `p3-ir header`.

use crate::{output, Outcome};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `header`.
#[derive(Args)]
pub struct HeaderArgs {
    /// Where it goes (- for standard output)
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
}

/// Writes the header.
pub fn run(args: &HeaderArgs) -> Outcome {
    output::write(&args.output, p3_passes::HEADER.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
