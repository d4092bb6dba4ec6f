//! `p3-ir merge`.

use crate::output::{self, Output};
use crate::progress::Progress;
use crate::{worker, Outcome};
use anyhow::Context as _;
use clap::{Args, FromArgMatches as _, ValueEnum};
use p3_passes::load::Input;
use p3_passes::native;
use p3_passes::pipeline::{self, Observer, Options, PrepareLevel, Product, ProductChecks, PASSES};
use p3_passes::report::MergeReport;
use p3_passes::weave::WeaveOptions;
use p3_passes::{Context, Error, Module};
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `merge`.
#[derive(Args)]
pub struct MergeArgs {
    /// The versions, oldest first; 2 to 16 of them
    ///
    /// Each is bitcode (.bc), LLVM assembly (.ll), an archive of bitcode or of objects with bitcode, an ELF
    /// file that lists bitcode (built with wllvm, gllvm or rllvm) or holds it (-fembed-bitcode=all,
    /// -ffat-lto-objects), or - for standard input. The files of one version are joined with plus signs:
    /// a1.bc+a2.bc. Of an archive that stands first all members are linked; of one after a plus sign those
    /// that define what is missing, as a linker does. A file whose very name has a plus sign in it is found.
    #[arg(required = true, num_args = 2..=16, value_name = "VERSION")]
    versions: Vec<OsString>,
    /// Where the product goes (- for standard output)
    #[arg(short, long, default_value = "product.bc")]
    output: PathBuf,
    /// The product's form; .ll files are text by default
    #[arg(long)]
    emit: Option<Emit>,
    #[command(flatten)]
    merge: MergeOptions,
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

/// How to merge, for every command that does.
#[derive(Args)]
pub struct MergeOptions {
    /// The function that runs first: main, LLVMFuzzerTestOneInput, or any function of a library, called with what its
    /// debug info says, made of standard input; 'F(buf=n, key=16, text=string)' says how many objects a pointer leads to
    /// where names do not (a parameter, a number, or up to a NUL; members as in point.at=point_size)
    #[arg(long, value_name = "F", default_value = "main")]
    entry: String,
    /// How far versions are simplified before they are merged; fold, and ssa in what the fuzzers of diff run, if nothing
    /// is said
    #[arg(long)]
    prepare: Option<Prepare>,
    /// What the product checks: output, status, assert, spec, divergence, returns or none
    #[arg(long, default_value = "output,status,assert,spec", value_parser = ProductChecks::parse)]
    check: ProductChecks,
    /// A native object or archive whose state each version shall have for itself; the copies are written beside
    /// the product (repeatable)
    #[arg(long, value_name = "FILE")]
    native_lib: Vec<PathBuf>,
    /// Keep all functions, or these, out of lock-step: the versions run them one after the other
    #[arg(long, value_name = "F,...", num_args = 0..=1, require_equals = true, default_missing_value = "",
          value_delimiter = ',')]
    no_weave: Option<Vec<String>>,
    /// Bitcode with hand-written product functions (_PP_NAME), which replace the woven ones (repeatable)
    #[arg(long, value_name = "FILE")]
    model: Vec<PathBuf>,
    /// C code with hand-written product functions, compiled with clang-16: as --model, and pp_assert of p3.h can be
    /// used in it (repeatable)
    #[arg(long, value_name = "FILE.c")]
    spec: Vec<PathBuf>,
    /// What function F returns must be equal in all versions whenever they have called it together; of a pointer,
    /// whether it is null (repeatable)
    #[arg(long, value_name = "F")]
    assert_equal_returns: Vec<String>,
    /// The same of its arguments (repeatable)
    #[arg(long, value_name = "F")]
    assert_equal_args: Vec<String>,
    /// Verify that weaving kept every version's code intact (exit status 4 if not: a bug in p3-ir); debug builds
    /// always do
    #[arg(long)]
    verify_product: bool,
    /// Make a fuzzer's function (LLVMFuzzerTestOneInput) instead of a program: one input per call, in one process
    #[arg(long)]
    harness: bool,
    /// Function OLD corresponds to NEW
    #[arg(long, value_name = "OLD=NEW", value_parser = name_pair)]
    map: Vec<(String, String)>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Emit {
    Bc,
    Ll,
}

/// How far versions are simplified before anything else.
#[derive(Clone, Copy, ValueEnum)]
pub enum Prepare {
    /// Not at all
    None,
    /// Variables into registers, all branches as they are
    Ssa,
    /// Variables into registers, short-circuit conditions into one
    Fold,
    /// Much of what -O1 does
    #[value(name = "O1")]
    O1,
}

impl From<Prepare> for PrepareLevel {
    fn from(level: Prepare) -> Self {
        match level {
            Prepare::None => PrepareLevel::None,
            Prepare::Ssa => PrepareLevel::Ssa,
            Prepare::Fold => PrepareLevel::Fold,
            Prepare::O1 => PrepareLevel::O1,
        }
    }
}

/// Merges and writes the product.
pub fn run(args: &MergeArgs) -> Outcome {
    if let Some(dir) = &args.dump_dir {
        std::fs::create_dir_all(dir)
            .with_context(|| format!("{}: cannot create", dir.display()))?;
    }
    if args.report.as_deref() == Some(&args.output) {
        let reason = "given as --output and as --report";
        return Err(Error::bad_input(&args.output, reason).into());
    }
    let report_output = args.report.as_deref().map(Output::open).transpose()?;
    let mut watch = Watch {
        print_after: args.print_after.as_deref(),
        dump_dir: args.dump_dir.as_deref(),
        progress: Progress::new("merging"),
    };
    let as_text = match args.emit {
        Some(Emit::Ll) => true,
        Some(Emit::Bc) => false,
        None => args.output.extension().is_some_and(|e| e == "ll"),
    };
    let output = Output::open(&args.output)?;
    let context = p3_passes::new_context();
    let options = args.merge.pipeline_options(&args.versions);
    let merged = pipeline::merge(&context, &options, &mut watch)?;
    drop(watch);
    let mut outputs = name_copies(&args.output, &context, &merged)?;
    let report = &merged.report;
    let report_text = serde_json::to_vec_pretty(report)?;
    if let Some(report_output) = report_output {
        outputs.push((report_output, &report_text));
    }
    if as_text {
        let text = merged.module.print_to_string();
        outputs.push((output, text.to_bytes()));
        output::write_all(outputs)?;
    } else {
        let bitcode = merged.module.write_bitcode_to_memory();
        outputs.push((output, bitcode.as_slice()));
        output::write_all(outputs)?;
    }
    warn(report);
    if args.verbose {
        say_what_was_done(report);
    }
    Ok(ExitCode::SUCCESS)
}

fn say_what_was_done(report: &MergeReport) {
    for version in &report.versions {
        eprintln!(
            "p3-ir: {}: {}, {}, {} of libc isolated",
            version.files.join("+"),
            count(version.functions, "function"),
            count(version.instructions, "instruction"),
            count(version.bound.len(), "name")
        );
    }
    let size = count(report.product_instructions, "instruction");
    let parts = &report.product_size;
    if report.woven.iter().all(|f| f.sequential.is_some()) {
        eprintln!("p3-ir: product: {size}, one version after the other");
        return;
    }
    // Those of the program that several versions have.
    let common = report
        .woven
        .iter()
        .filter(|function| function.versions.len() > 1 && !function.name.starts_with("p3v_"));
    let (woven, sequential): (Vec<_>, Vec<_>) =
        common.partition(|function| function.sequential.is_none());
    eprintln!(
        "p3-ir: product: {size}, {} in lock-step, {} one version after the other",
        count(woven.len(), "function"),
        sequential.len()
    );
    eprintln!(
        "p3-ir: of these {} plain, {} lock-step, {} continuation, {} spills, {} runtime",
        parts.plain, parts.lockstep, parts.continuation, parts.spills, parts.runtime
    );
}

/// `1 function`, `2 functions`.
fn count(number: usize, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// Merges `versions` into the bitcode file `output`, on the way to something else.
pub fn merge_to(
    output: &Path,
    versions: &[OsString],
    options: &MergeOptions,
) -> anyhow::Result<()> {
    let mut watch = Watch {
        print_after: None,
        dump_dir: None,
        progress: Progress::new("merging"),
    };
    let context = p3_passes::new_context();
    let merged = pipeline::merge(&context, &options.pipeline_options(versions), &mut watch)?;
    drop(watch);
    let mut outputs = name_copies(output, &context, &merged)?;
    let bitcode = merged.module.write_bitcode_to_memory();
    outputs.push((Output::open(output)?, bitcode.as_slice()));
    output::write_all(outputs)?;
    warn(&merged.report);
    Ok(())
}

fn warn(report: &MergeReport) {
    for warning in &report.warnings {
        eprintln!("p3-ir: warning: {warning}");
    }
}

impl Default for MergeOptions {
    /// What the command line says by saying nothing.
    fn default() -> Self {
        let command = MergeOptions::augment_args(clap::Command::new("merge"));
        let matches = command.get_matches_from(["merge"]);
        // Every option has a default, or is none.
        MergeOptions::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

impl MergeOptions {
    /// How far versions are simplified, if the user has said it.
    pub fn prepare(&self) -> Option<PrepareLevel> {
        self.prepare.map(PrepareLevel::from)
    }

    /// The pipeline's options for these versions.
    pub fn pipeline_options(&self, versions: &[OsString]) -> Options {
        Options {
            inputs: versions.iter().map(|v| Input::parse(v)).collect(),
            entry: self.entry.clone(),
            prepare: self.prepare().unwrap_or_default(),
            checks: self.check,
            native_libraries: self.native_lib.clone(),
            weave: self.weave_options(),
            harness: self.harness,
            sites: false,
            verify: self.verify_product || cfg!(debug_assertions),
        }
    }

    fn weave_options(&self) -> WeaveOptions {
        let named: Vec<String> = self
            .no_weave
            .iter()
            .flatten()
            .filter(|n| !n.is_empty())
            .cloned()
            .collect();
        WeaveOptions {
            none: self.no_weave.is_some() && named.is_empty(),
            except: named,
            map: self.map.clone(),
            models: self.model.clone(),
            specs: self.spec.clone(),
            equal_returns: self.assert_equal_returns.clone(),
            equal_arguments: self.assert_equal_args.clone(),
            exits: false,
        }
    }
}

/// The copies of native libraries, which go beside the product. It learns their names.
fn name_copies<'ctx, 'p>(
    output: &Path,
    context: &'ctx Context,
    merged: &'p Product<'ctx>,
) -> anyhow::Result<Vec<(Output, &'p [u8])>> {
    if merged.copies.is_empty() {
        return Ok(Vec::new());
    }
    if output == Path::new("-") {
        let reason = "the copies of native libraries need a product with a file name";
        return Err(Error::bad_input("-", reason).into());
    }
    let (mut names, mut outputs) = (Vec::new(), Vec::new());
    for copy in &merged.copies {
        let stem = output.file_stem().unwrap_or_default();
        let name = format!("{}{}", stem.to_string_lossy(), copy.suffix);
        outputs.push((Output::open(&output.with_file_name(&name))?, &*copy.data));
        names.push(name);
    }
    native::record(context, &merged.module, &names)?;
    Ok(outputs)
}

/// An argument OLD=NEW.
pub fn name_pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => Ok((old.into(), new.into())),
        _ => Err("expected OLD=NEW".into()),
    }
}

/// Prints and dumps modules, and keeps the supervising process and the user informed.
struct Watch<'a> {
    print_after: Option<&'a str>,
    dump_dir: Option<&'a Path>,
    progress: Progress,
}

impl Observer for Watch<'_> {
    fn reading(&mut self, place: &str, size: usize) {
        worker::reading(place, size);
    }

    fn read(&mut self) {
        worker::read();
    }

    fn after(
        &mut self,
        pass: &'static str,
        version: Option<usize>,
        module: &Module,
    ) -> p3_passes::Result<()> {
        let label = worker::step(pass, version);
        worker::after(&label);
        self.progress.done(&label);
        if self.print_after == Some(pass) {
            let text = module.print_to_string();
            let written = writeln!(io::stdout(), "; after {label}\n{}", text.to_string_lossy());
            match written {
                // A reader that has seen enough is no error.
                Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
                    return Err(Error::bad_input("standard output", e));
                }
                _ => {}
            }
        }
        if let Some(dir) = self.dump_dir {
            let position = PASSES.iter().position(|p| *p == pass).unwrap_or_default();
            let path = dir.join(format!("{position}-{label}.ll"));
            std::fs::write(&path, module.print_to_string().to_bytes())
                .map_err(|e| Error::bad_input(&path, e))?;
        }
        Ok(())
    }
}
