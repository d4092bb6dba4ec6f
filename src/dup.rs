//! `p3-ir dup`.

use crate::{output, Outcome};
use clap::Args;
use p3_passes::dup::{duplicate, Options};
use p3_passes::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `dup`.
#[derive(Args)]
pub struct DupArgs {
    /// An ELF relocatable object (.o) or an archive of them (.a)
    #[arg(value_name = "LIB")]
    library: PathBuf,
    /// What to put in front of the name of every global symbol that the library defines
    #[arg(short, long)]
    prefix: String,
    /// Where the copy goes (- for standard output)
    #[arg(short, long)]
    output: PathBuf,
    /// Let the copy refer to NEW where the library refers to OLD and does not define it
    #[arg(long, value_name = "OLD=NEW", value_parser = rename_argument)]
    undefined: Vec<(String, String)>,
}

/// Copies the library and writes the copy.
pub fn run(args: &DupArgs) -> Outcome {
    let data = std::fs::read(&args.library).map_err(|e| Error::bad_input(&args.library, e))?;
    let undefined_map = args
        .undefined
        .iter()
        .map(|(old, new)| (old.clone().into_bytes(), new.clone().into_bytes()))
        .collect();
    let options = Options {
        prefix: &args.prefix,
        undefined_map: &undefined_map,
    };
    let copy = duplicate(&data, &args.library.to_string_lossy(), options)?;
    output::write(&args.output, &copy)?;
    Ok(ExitCode::SUCCESS)
}

fn rename_argument(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => Ok((old.into(), new.into())),
        _ => Err("not of the form OLD=NEW".into()),
    }
}
