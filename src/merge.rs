//! `p3-ir merge`.

use crate::{output, Outcome};
use anyhow::Context as _;
use clap::{Args, ValueEnum};
use p3_passes::load::Input;
use p3_passes::native;
use p3_passes::pipeline::{self, Options, PrepareLevel, Product, ProductChecks, PASSES};
use p3_passes::weave::WeaveOptions;
use p3_passes::{Context, Error, Module};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `merge`.
#[derive(Args)]
pub struct MergeArgs {
    /// The versions, oldest first: bitcode (.bc), textual IR (.ll), archives of bitcode, ELF files with
    /// bitcode, or - for standard input. Join the files of one version with '+': a1.bc+a2.bc
    #[arg(required = true, num_args = 2..=16, value_name = "VERSION")]
    versions: Vec<String>,
    /// Where the product goes (- for standard output)
    #[arg(short, long, default_value = "product.bc")]
    output: PathBuf,
    /// The function that runs first
    #[arg(long, default_value = "main")]
    entry: String,
    /// The product's form; .ll files are text by default
    #[arg(long)]
    emit: Option<Emit>,
    /// How far versions are simplified before they are merged
    #[arg(long, default_value = "fold")]
    prepare: Prepare,
    /// What the product checks at its end: output, status, assert, divergence, returns or none
    #[arg(long, default_value = "output,status,assert", value_parser = ProductChecks::parse)]
    check: ProductChecks,
    /// A native object or archive whose state each version shall have for itself; the copies are written beside
    /// the product (repeatable)
    #[arg(long, value_name = "FILE")]
    native_lib: Vec<PathBuf>,
    /// Keep all functions, or these, out of lock-step: the versions run them one after the other
    #[arg(long, value_name = "F,...", num_args = 0..=1, require_equals = true, default_missing_value = "",
          value_delimiter = ',')]
    no_weave: Option<Vec<String>>,
    /// Weave the versions' functions into lock-step product functions
    #[arg(long, conflicts_with = "no_weave")]
    weave: bool,
    /// Function OLD corresponds to NEW
    #[arg(long, value_name = "OLD=NEW", value_parser = name_pair)]
    map: Vec<(String, String)>,
    /// Write what was done as JSON
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// Print the module after this pass
    #[arg(long, value_name = "PASS", value_parser = PASSES)]
    print_after: Option<String>,
    /// Write the module after every pass into this directory
    #[arg(long, value_name = "DIR")]
    dump_dir: Option<PathBuf>,
    /// Say what is done
    #[arg(short, long)]
    verbose: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Emit {
    Bc,
    Ll,
}

#[derive(Clone, Copy, ValueEnum)]
enum Prepare {
    None,
    Fold,
    #[value(name = "O1")]
    O1,
}

/// Merges and writes the product.
pub fn run(args: &MergeArgs) -> Outcome {
    let options = Options {
        inputs: args.versions.iter().map(|text| input(text)).collect(),
        entry: args.entry.clone(),
        prepare: match args.prepare {
            Prepare::None => PrepareLevel::None,
            Prepare::Fold => PrepareLevel::Fold,
            Prepare::O1 => PrepareLevel::O1,
        },
        checks: args.check,
        native_libraries: args.native_lib.clone(),
        weave: weave_options(args),
    };
    if let Some(dir) = &args.dump_dir {
        std::fs::create_dir_all(dir)
            .with_context(|| format!("{}: cannot create", dir.display()))?;
    }
    let context = p3_passes::new_context();
    let merged = pipeline::merge(&context, &options, &mut |pass, version, module| {
        observe(args, pass, version, module)
    })?;
    let (product, report) = (&merged.module, &merged.report);
    write_copies(args, &context, &merged)?;

    let as_text = match args.emit {
        Some(Emit::Ll) => true,
        Some(Emit::Bc) => false,
        None => args.output.extension().is_some_and(|e| e == "ll"),
    };
    if as_text {
        output::write(&args.output, product.print_to_string().to_bytes())?;
    } else {
        output::write(&args.output, product.write_bitcode_to_memory().as_slice())?;
    }
    if let Some(path) = &args.report {
        output::write(path, &serde_json::to_vec_pretty(report)?)?;
    }
    for warning in &report.warnings {
        eprintln!("p3-ir: warning: {warning}");
    }
    if args.verbose {
        for version in &report.versions {
            eprintln!(
                "p3-ir: {}: {} functions, {} instructions, {} libc names isolated",
                version.files.join("+"),
                version.functions,
                version.instructions,
                version.bound.len()
            );
        }
        eprintln!(
            "p3-ir: product: {} instructions",
            report.product_instructions
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the copies of native libraries beside the product and lets it name them.
fn write_copies<'ctx>(
    args: &MergeArgs,
    context: &'ctx Context,
    merged: &Product<'ctx>,
) -> anyhow::Result<()> {
    if merged.copies.is_empty() {
        return Ok(());
    }
    if args.output == Path::new("-") {
        let reason = "the copies of native libraries need a product with a file name";
        return Err(Error::bad_input("-", reason).into());
    }
    let mut names = Vec::new();
    for copy in &merged.copies {
        let stem = args.output.file_stem().unwrap_or_default();
        let name = format!("{}{}", stem.to_string_lossy(), copy.suffix);
        output::write(&args.output.with_file_name(&name), &copy.data)?;
        names.push(name);
    }
    native::record(context, &merged.module, &names)?;
    Ok(())
}

fn name_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => Ok((old.into(), new.into())),
        _ => Err("expected OLD=NEW".into()),
    }
}

fn weave_options(args: &MergeArgs) -> WeaveOptions {
    let named: Vec<String> = args
        .no_weave
        .iter()
        .flatten()
        .filter(|n| !n.is_empty())
        .cloned()
        .collect();
    WeaveOptions {
        none: !args.weave && named.is_empty(),
        except: named,
        map: args.map.clone(),
    }
}

/// `a.bc+b.bc` is one version in two files, unless a file of that very name exists.
fn input(text: &str) -> Input {
    let whole = PathBuf::from(text);
    let files = if whole.exists() {
        vec![whole]
    } else {
        text.split('+').map(PathBuf::from).collect()
    };
    Input { files }
}

fn observe(
    args: &MergeArgs,
    pass: &'static str,
    version: Option<usize>,
    module: &Module,
) -> p3_passes::Result<()> {
    let label = match version {
        Some(version) => format!("{pass}.{version}"),
        None => pass.to_string(),
    };
    if args.print_after.as_deref() == Some(pass) {
        println!(
            "; after {label}\n{}",
            module.print_to_string().to_string_lossy()
        );
    }
    if let Some(dir) = &args.dump_dir {
        let position = PASSES.iter().position(|p| *p == pass).unwrap_or_default();
        let path = dir.join(format!("{position}-{label}.ll"));
        std::fs::write(&path, module.print_to_string().to_bytes())
            .map_err(|e| Error::bad_input(&path, e))?;
    }
    Ok(())
}
