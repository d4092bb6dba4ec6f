//! The pipeline, top to bottom, and its options.

use crate::finish::Checks;
use crate::isolate::Isolation;
use crate::llvm::{self, Context, Module, Value};
use crate::load::{Input, Source};
use crate::native::{NativeCopy, Natives};
use crate::prepare::Prepare;
use crate::report::{MergeReport, VersionReport};
use crate::size::ProductSize;
use crate::weave::WeaveOptions;
use crate::{
    check, dictionary, entry, finish, harness, isolate, link, load, prepare, rename, runtime,
    sites, spec, terminate, weave, Error, Result,
};
use std::path::PathBuf;

pub use crate::finish::Checks as ProductChecks;
pub use crate::prepare::Prepare as PrepareLevel;

/// The fewest and the most versions of one product.
pub const VERSIONS: std::ops::RangeInclusive<usize> = 2..=16;

/// What to merge, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// The versions, in order.
    pub inputs: Vec<Input>,
    /// The function that runs first in each version.
    pub entry: String,
    /// How far versions are simplified first.
    pub prepare: Prepare,
    /// What the product checks at its end.
    pub checks: Checks,
    /// Native libraries that every version gets a copy of.
    pub native_libraries: Vec<PathBuf>,
    /// What is woven.
    pub weave: WeaveOptions,
    /// Whether the product is a fuzzer's function instead of a program.
    pub harness: bool,
    /// Whether the product can say which calls wrote what differs.
    pub sites: bool,
    /// Whether the checker looks at the product after weaving.
    pub verify: bool,
}

/// The names of the passes, in pipeline order; the observer of [`merge`] is called with them.
pub const PASSES: [&str; 8] = [
    "load",
    "link",
    "prepare",
    "isolate",
    "terminate",
    "rename",
    "weave",
    "finish",
];

/// Is told what [`merge`] does. A closure with the parameters of [`Observer::after`] is one, too.
pub trait Observer {
    /// LLVM is about to read `size` bytes from `place`. What it is given may be hostile: it may crash, or use
    /// any amount of time and memory.
    fn reading(&mut self, place: &str, size: usize) {
        let _ = (place, size);
    }

    /// LLVM has read it, or refused to.
    fn read(&mut self) {}

    /// A pass is done with a version (counted from 1; none for the product). An error ends the merge.
    fn after(&mut self, pass: &'static str, version: Option<usize>, module: &Module) -> Result<()>;
}

impl<F> Observer for F
where
    F: FnMut(&'static str, Option<usize>, &Module) -> Result<()>,
{
    fn after(&mut self, pass: &'static str, version: Option<usize>, module: &Module) -> Result<()> {
        self(pass, version, module)
    }
}

/// The result of a merge.
pub struct Product<'ctx> {
    /// The product program.
    pub module: Module<'ctx>,
    /// Copies of native libraries, to be linked with it.
    pub copies: Vec<NativeCopy>,
    /// What was done.
    pub report: MergeReport,
    /// What the versions compare their input with, as words for a fuzzer; of a harness.
    pub dictionary: Vec<Vec<u8>>,
}

/// Merges the versions into one product.
///
/// Errors are [`Error::BadInput`] for files that cannot be used, [`Error::Unsupported`] for valid input that
/// cannot be merged and [`Error::Internal`] for broken invariants.
pub fn merge<'ctx>(
    context: &'ctx Context,
    options: &Options,
    observe: &mut dyn Observer,
) -> Result<Product<'ctx>> {
    let natives = Natives::read(&options.native_libraries)?;
    let mut report = MergeReport::default();
    let map = &options.weave.map;
    let (linked, warnings) = read(context, &options.inputs, &options.entry, map, observe)?;
    report.warnings = warnings;
    runtime::check_target(&linked[0], &options.inputs[0].name())?;
    report
        .warnings
        .extend(unknown_pairs(&linked, &options.weave.map));
    for name in &options.weave.except {
        let unknown = unknown_name(&linked, name, &format!("--no-weave={name}"));
        report.warnings.extend(unknown);
    }

    let names: Vec<String> = options.inputs.iter().map(Input::name).collect();
    let entries = entry::plan(&linked, &names, &options.entry, map)?;
    for (module, entry) in linked.iter().zip(&entries) {
        entry::drive(context, module, entry)?;
    }
    report
        .warnings
        .extend(complete_specs(&linked, &names, &options.weave.map)?);
    let locales = linked.iter().any(runtime::changes_locale);
    let mut versions = Vec::new();
    let mut words = Vec::new();
    let mut copies = Vec::new();
    for (index, (module, input)) in linked.into_iter().zip(&options.inputs).enumerate() {
        let name = input.name();
        simplify(&module, index, &name, options.prepare)?;
        checked("prepare", index, &module, observe)?;
        if options.harness {
            words.push(dictionary::words(&module));
        }
        let size = isolate::size(&module);
        let isolation = Isolation {
            index,
            file: &name,
            natives: &natives,
            locales,
            woven: !options.weave.none,
            harness: options.harness,
        };
        let isolated = isolate::isolate(context, &module, &isolation)?;
        checked("isolate", index, &module, observe)?;
        let terminating = terminate::terminate(&module, &isolated.bound)?;
        checked("terminate", index, &module, observe)?;
        report
            .warnings
            .extend(rename::rename(&module, index, &isolated.exported));
        checked("rename", index, &module, observe)?;
        copies.extend(natives.copies(index, &isolated.exported)?);
        report.versions.push(VersionReport {
            files: input.files.iter().map(Source::to_string).collect(),
            functions: size["functions"],
            instructions: size["instructions"],
            bound: isolated.bound,
            terminating,
        });
        versions.push((module, name));
    }

    let count = versions.len();
    let product = finish::join(context, versions, options.checks)?;
    sites::mark(&product, count, options.sites);
    if options.weave.none && spec::are_there(&product, &options.weave) {
        let what = "specifications are evaluated in lock-step only, so none is with --no-weave";
        report.warnings.push(what.into());
    }
    let (reports, warnings) = if options.weave.none {
        weave::not_woven(&product, count, &options.weave)
    } else {
        let bound: Vec<Vec<String>> = report
            .versions
            .iter()
            .map(|version| version.bound.clone())
            .collect();
        let mut woven = weave::weave(context, &product, &bound, &natives, options, observe)?;
        observe.after("weave", None, &product)?;
        if options.verify {
            check::check(&product)?;
        }
        woven.finish();
        (woven.reports, woven.warnings)
    };
    report.woven = reports;
    report.warnings.extend(warnings);
    if options.sites {
        sites::announce(&product);
    }
    if options.harness {
        harness::harness(context, &product)?;
    }
    finish::finish(&product, count)?;
    observe.after("finish", None, &product)?;
    report.product_size = ProductSize::of(&product);
    report.product_instructions = report.product_size.total();
    Ok(Product {
        module: product,
        copies,
        report,
        dictionary: dictionary::of(&words),
    })
}

/// Lets every version take part in the others' specifications; returns warnings.
pub(crate) fn complete_specs(
    versions: &[Module],
    names: &[String],
    map: &[(String, String)],
) -> Result<Vec<String>> {
    spec::complete(&versions.iter().collect::<Vec<_>>(), names, map)
}

/// Prepares version `index` (from 0), and gives its specifications functions of their own.
pub(crate) fn simplify(module: &Module, index: usize, name: &str, level: Prepare) -> Result<()> {
    prepare::prepare(module, level)?;
    if spec::outline(module, index, name)? {
        // What stood around them is one piece now.
        prepare::prepare(module, level)?;
    }
    Ok(())
}

/// How the versions begin: what [`merge`] does for `entry`, for whoever builds them alone.
pub fn entries(options: &Options, observe: &mut dyn Observer) -> Result<Vec<entry::Entry>> {
    let context = llvm::new_context();
    let map = &options.weave.map;
    let (linked, _) = read(&context, &options.inputs, &options.entry, map, observe)?;
    let names: Vec<String> = options.inputs.iter().map(Input::name).collect();
    entry::plan(&linked, &names, &options.entry, map)
}

/// Loads and links every version, whose entry functions are called `entry` or as `map` says; returns warnings, too.
pub(crate) fn read<'ctx>(
    context: &'ctx Context,
    inputs: &[Input],
    entry: &str,
    map: &[(String, String)],
    observe: &mut dyn Observer,
) -> Result<(Vec<Module<'ctx>>, Vec<String>)> {
    check_inputs(inputs)?;
    let entry_names = entry::names(entry, map);
    let mut warnings = Vec::new();
    let mut linked: Vec<Module<'ctx>> = Vec::new();
    for (index, input) in inputs.iter().enumerate() {
        let name = input.name();
        let mut loaded = load::load(context, input, observe)?;
        for part in &loaded.parts {
            observe.after("load", Some(index + 1), &part.module)?;
        }
        warnings.append(&mut loaded.warnings);
        let module = link::link(loaded, &name, &entry_names)?;
        checked("link", index, &module, observe)?;
        linked.push(module);
    }
    for (module, input) in linked.iter().zip(inputs) {
        link::check_same_target(&linked[0], &inputs[0].name(), module, &input.name())?;
    }
    Ok((linked, warnings))
}

/// Warnings of functions that are said to correspond but do not exist. The compiler may have inlined them.
pub(crate) fn unknown_pairs(versions: &[Module], map: &[(String, String)]) -> Vec<String> {
    let unknown = |(old, new): &(String, String)| {
        let option = format!("--map {old}={new}");
        unknown_name(versions, old, &option).or_else(|| unknown_name(versions, new, &option))
    };
    map.iter().filter_map(unknown).collect()
}

/// A warning if `option` names a function that no version defines.
fn unknown_name(versions: &[Module], name: &str, option: &str) -> Option<String> {
    let is_defined =
        |function: &Value| function.name() == name.as_bytes() && !function.is_declaration();
    let defines = |module: &Module| llvm::functions(module).iter().any(is_defined);
    let is_known = versions.iter().any(defines);
    (!is_known).then(|| format!("{option}: no version defines a function {name}"))
}

fn check_inputs(inputs: &[Input]) -> Result<()> {
    if !VERSIONS.contains(&inputs.len()) {
        let names: Vec<String> = inputs.iter().map(Input::name).collect();
        return Err(Error::bad_input(
            names.join(" "),
            format!(
                "{} versions given, {} to {} can be merged",
                inputs.len(),
                VERSIONS.start(),
                VERSIONS.end()
            ),
        ));
    }
    let files = inputs.iter().flat_map(|input| &input.files);
    if files.filter(|file| **file == Source::Stdin).count() > 1 {
        return Err(Error::bad_input(
            Source::Stdin.to_string(),
            "given more than once, but it can be read once only",
        ));
    }
    Ok(())
}

/// Shows a version's module to the observer; in debug builds LLVM's verifier sees it first.
pub(crate) fn checked(
    pass: &'static str,
    index: usize,
    module: &Module,
    observe: &mut dyn Observer,
) -> Result<()> {
    if cfg!(debug_assertions) {
        llvm::verify(module).map_err(|reason| Error::internal(pass, reason))?;
    }
    observe.after(pass, Some(index + 1), module)
}
