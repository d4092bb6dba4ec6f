//! `p3-ir align`: shows which functions and nodes of the versions are matched.

mod dot;
mod html;
mod rows;
mod source;
mod text;

use crate::merge::{name_pair, Prepare};
use crate::output::Output;
use crate::worker::Supervised;
use crate::Outcome;
use anyhow::bail;
use clap::{Args, ValueEnum};
use p3_passes::align::{align_versions, Alignment, Options};
use p3_passes::load::Input;
use p3_passes::Error;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `align`.
#[derive(Args)]
pub struct AlignArgs {
    /// The versions, oldest first, as for merge
    #[arg(required = true, num_args = 2..=16, value_name = "VERSION")]
    versions: Vec<OsString>,
    /// Show the nodes of this function only (repeatable)
    #[arg(long, value_name = "F")]
    function: Vec<String>,
    /// text: a table of functions, or with --function nodes side by side. json: everything. dot: the
    /// control-flow graphs of --function. html: one page to look at
    #[arg(long, default_value = "text")]
    format: Format,
    /// Function OLD corresponds to NEW
    #[arg(long, value_name = "OLD=NEW", value_parser = name_pair)]
    map: Vec<(String, String)>,
    /// The function that runs first, which decides what archives contribute
    #[arg(long, default_value = "main")]
    entry: String,
    /// How far versions are simplified first
    #[arg(long, default_value = "fold")]
    prepare: Prepare,
    /// Where the result goes (- for standard output)
    #[arg(short, long, default_value = "-")]
    output: PathBuf,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Text,
    Json,
    Dot,
    Html,
}

/// Matches and shows.
pub fn run(args: &AlignArgs) -> Outcome {
    if args.format == Format::Dot && args.function.is_empty() {
        bail!("--format dot draws the functions given with --function");
    }
    if matches!(args.format, Format::Dot | Format::Html) && args.versions.len() > 2 {
        bail!("--format dot and html show two versions");
    }
    let options = Options {
        inputs: args.versions.iter().map(|v| Input::parse(v)).collect(),
        entry: args.entry.clone(),
        prepare: args.prepare.into(),
        map: args.map.clone(),
    };
    let output = Output::open(&args.output)?;
    let context = p3_passes::new_context();
    let wants_code = |name: &str, changed: bool| match args.format {
        Format::Text | Format::Dot => false,
        Format::Json => args.function.iter().any(|f| f == name),
        Format::Html => changed || args.function.iter().any(|f| f == name),
    };
    let mut alignment = align_versions(&context, &options, &mut Supervised, &wants_code)?;
    for warning in &alignment.warnings {
        eprintln!("p3-ir: warning: {warning}");
    }
    select(&mut alignment, &args.function)?;
    let mut data = match args.format {
        Format::Text if args.function.is_empty() => text::table(&alignment).into_bytes(),
        Format::Text => text::side_by_side(&alignment).into_bytes(),
        Format::Json => serde_json::to_vec_pretty(&alignment)?,
        Format::Dot => dot::draw(&alignment).into_bytes(),
        Format::Html => html::page(&alignment)?.into_bytes(),
    };
    if data.last() != Some(&b'\n') {
        data.push(b'\n');
    }
    output.write(&data)?;
    Ok(ExitCode::SUCCESS)
}

/// Keeps the functions that have one of these names in any version; all if there are none.
fn select(alignment: &mut Alignment, names: &[String]) -> Result<(), Error> {
    for name in names {
        let is_known = alignment.functions.iter().any(|f| f.has_name(name));
        if !is_known {
            let files = alignment.versions.concat().join(", ");
            return Err(Error::bad_input(
                files,
                format!("no function '{name}' is defined"),
            ));
        }
    }
    if !names.is_empty() {
        alignment
            .functions
            .retain(|function| names.iter().any(|name| function.has_name(name)));
    }
    Ok(())
}
