//! From a product, or from one version alone, to an executable: asks for sanitizers, finds clang, links the
//! copies of native libraries.
//!
//! Input: a product that `merge` has written, or a version as `merge` takes it. Guarantee: the executable
//! appears whole or not at all.
//! Not handled: instrumenting for undefined behaviour, which clang does from source only; the versions' bitcode
//! must have been compiled with `-fsanitize=undefined`, and the build links its run-time library.

use crate::entry::Entry;
use crate::llvm::{self, Context, Module};
use crate::load::{self, Input};
use crate::pipeline::Observer;
use crate::{entry, execute, interruption, link, native, runtime, Error, Result};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The clang that reads this LLVM's bitcode.
const CLANG: &str = "clang-16";

/// What a fuzzer calls.
const HARNESS: &str = "LLVMFuzzerTestOneInput";

/// What to build, and how.
#[derive(Clone, Debug)]
pub struct BuildOptions {
    /// The product, bitcode or textual IR.
    pub product: PathBuf,
    /// The executable.
    pub output: PathBuf,
    /// The sanitizers to build with.
    pub sanitizers: Vec<Sanitizer>,
    /// Further flags for clang.
    pub flags: Vec<OsString>,
}

/// A sanitizer, by its name in `-fsanitize=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sanitizer {
    Address,
    Leak,
    Memory,
    Thread,
    Undefined,
}

impl Sanitizer {
    const ALL: [(Sanitizer, &'static str); 5] = [
        (Sanitizer::Address, "address"),
        (Sanitizer::Leak, "leak"),
        (Sanitizer::Memory, "memory"),
        (Sanitizer::Thread, "thread"),
        (Sanitizer::Undefined, "undefined"),
    ];

    /// The sanitizer of this name; the error lists all names.
    pub fn parse(name: &str) -> std::result::Result<Sanitizer, String> {
        let found = Self::ALL.iter().find(|(_, known)| *known == name);
        found.map(|(sanitizer, _)| *sanitizer).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|(_, known)| *known).collect();
            format!("unknown sanitizer '{name}' (known: {})", names.join(", "))
        })
    }

    /// The name in `-fsanitize=`.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(sanitizer, _)| *sanitizer == self)
            .map_or("", |(_, name)| name)
    }

    /// The function attribute that LLVM's pass looks for.
    fn attribute(self) -> Option<&'static str> {
        match self {
            Sanitizer::Address => Some("sanitize_address"),
            Sanitizer::Memory => Some("sanitize_memory"),
            Sanitizer::Thread => Some("sanitize_thread"),
            Sanitizer::Leak | Sanitizer::Undefined => None,
        }
    }

    /// What the functions that instrumented code calls begin with.
    fn calls(self) -> Option<&'static str> {
        match self {
            Sanitizer::Address => Some("__asan_"),
            Sanitizer::Memory => Some("__msan_"),
            Sanitizer::Thread => Some("__tsan_"),
            Sanitizer::Undefined => Some("__ubsan_"),
            Sanitizer::Leak => None,
        }
    }
}

/// One version, to be built as it is: nothing is merged, and it gets no runtime but what `pp_input` needs.
#[derive(Clone, Debug)]
pub struct AloneOptions {
    /// The version's files.
    pub version: Input,
    /// The executable.
    pub output: PathBuf,
    /// The sanitizers to build with. Those that the version was compiled for are linked in any case.
    pub sanitizers: Vec<Sanitizer>,
    /// Further flags for clang.
    pub flags: Vec<OsString>,
    /// Native objects and archives to link with it.
    pub native_libraries: Vec<PathBuf>,
    /// How it begins.
    pub entry: Entry,
}

/// A compiler's run that has everything it needs. Several may run at the same time.
pub struct Job {
    command: Command,
    output: PathBuf,
    warnings: Vec<String>,
    sources: Vec<PathBuf>,
    files: Vec<PathBuf>,
    sanitizers: Vec<Sanitizer>,
    takes_input: bool,
    /// Holds what the compiler reads.
    _scratch: TempDir,
}

impl Job {
    /// The directories in which a version was compiled, as far as debug info says: relative names of source
    /// files are relative to one of them.
    pub fn source_directories(&self) -> &[PathBuf] {
        &self.sources
    }

    /// The source files of the version's functions, as far as debug info says, with their directories.
    pub fn source_files(&self) -> &[PathBuf] {
        &self.files
    }

    /// The sanitizers whose run-time libraries are linked.
    pub fn sanitizers(&self) -> &[Sanitizer] {
        &self.sanitizers
    }

    /// Whether a version takes bytes by `pp_input`, or as KLEE's symbolic values: from the file `P3_INPUT`.
    pub fn takes_input(&self) -> bool {
        self.takes_input
    }

    /// Builds the executable. Returns warnings.
    pub fn run(self) -> Result<Vec<String>> {
        let mut warnings = self.warnings;
        warnings.extend(run(self.command, &self.output)?);
        Ok(warnings)
    }
}

/// Builds the executable of a product. Returns warnings.
///
/// [`Error::BadInput`]: not a product, no clang, a copy of a native library is missing, or clang refuses.
pub fn build(options: &BuildOptions, observe: &mut dyn Observer) -> Result<Vec<String>> {
    prepare(options, observe)?.run()
}

/// Reads a product and makes everything ready to compile it.
pub fn prepare(options: &BuildOptions, observe: &mut dyn Observer) -> Result<Job> {
    let context = llvm::new_context();
    let file = &options.product;
    let product = read_product(&context, file, observe)?;
    let (mut command, scratch) = start()?;
    let mut warnings = Vec::new();
    for sanitizer in &options.sanitizers {
        warnings.extend(ask_for(&product, file, *sanitizer)?);
    }
    if defines(&product, HARNESS) && !defines(&product, "main") {
        // It brings the main function.
        command.arg("-fsanitize=fuzzer");
    }
    if options.sanitizers.is_empty() {
        command.arg(file);
    } else {
        command.arg(format!("-fsanitize={}", names(&options.sanitizers)));
        command.arg(write_module(&product, &scratch)?);
    }
    command.args(["-x", "none"]);
    for copy in native::recorded(&product) {
        let path = file.with_file_name(copy);
        if !path.exists() {
            return Err(Error::bad_input(
                path,
                format!("missing: {} must be linked with it", file.display()),
            ));
        }
        command.arg(path);
    }
    command.args(&options.flags);
    Ok(Job {
        command,
        output: options.output.clone(),
        warnings,
        sources: Vec::new(),
        files: Vec::new(),
        sanitizers: options.sanitizers.clone(),
        takes_input: false,
        _scratch: scratch,
    })
}

/// Reads a version and makes everything ready to compile it alone.
pub fn prepare_alone(options: &AloneOptions, observe: &mut dyn Observer) -> Result<Job> {
    let context = llvm::new_context();
    let name = options.version.name();
    let loaded = load::load(&context, &options.version, observe)?;
    let mut warnings = loaded.warnings.clone();
    let module = link::link(loaded, &name, std::slice::from_ref(&options.entry.function))?;
    // Before it gets a driver, which has a use for KLEE's functions of its own.
    let takes_input = runtime::stand_alone(&context, &module)?;
    entry::drive(&context, &module, &options.entry)?;
    let (mut command, scratch) = start()?;
    let mut sanitizers = compiled_for(&module);
    for sanitizer in &options.sanitizers {
        // That one can do nothing for bitcode that was compiled without it; that is no reason to warn here.
        if *sanitizer != Sanitizer::Undefined {
            warnings.extend(ask_for(&module, Path::new(&name), *sanitizer)?);
            sanitizers.retain(|known| known != sanitizer);
            sanitizers.push(*sanitizer);
        }
    }
    if !sanitizers.is_empty() {
        command.arg(format!("-fsanitize={}", names(&sanitizers)));
    }
    command.arg(write_module(&module, &scratch)?);
    command.args(["-x", "none"]);
    command.args(&options.native_libraries);
    command.args(&options.flags);
    Ok(Job {
        command,
        output: options.output.clone(),
        warnings,
        sources: directories(&module),
        files: files(&module),
        sanitizers,
        takes_input,
        _scratch: scratch,
    })
}

/// Where the functions of a module were compiled.
fn directories(module: &Module) -> Vec<PathBuf> {
    let functions = llvm::functions(module).into_iter();
    let places = functions.filter_map(|function| function.definition_place());
    let directories: BTreeSet<PathBuf> = places.map(|place| place.directory.into()).collect();
    directories.into_iter().collect()
}

/// The files in which a module's functions are.
fn files(module: &Module) -> Vec<PathBuf> {
    let functions = llvm::functions(module).into_iter();
    let places = functions.filter_map(|function| function.definition_place());
    let files: BTreeSet<PathBuf> = places
        .map(|place| Path::new(&place.directory).join(place.file))
        .collect();
    files.into_iter().collect()
}

/// A compiler that takes whatever file comes next for IR, and a place for that file.
fn start() -> Result<(Command, TempDir)> {
    let mut command = Command::new(clang()?);
    command.args(["-Wno-override-module", "-Wno-unused-command-line-argument"]);
    command.args(["-x", "ir"]);
    let scratch = tempfile::tempdir().map_err(|e| Error::bad_input(std::env::temp_dir(), e))?;
    Ok((command, scratch))
}

fn write_module(module: &Module, scratch: &TempDir) -> Result<PathBuf> {
    let path = scratch.path().join("module.bc");
    match module.write_bitcode_to_path(&path) {
        true => Ok(path),
        false => Err(Error::bad_input(&path, "cannot write")),
    }
}

fn names(sanitizers: &[Sanitizer]) -> String {
    let names: Vec<_> = sanitizers.iter().map(|s| s.name()).collect();
    names.join(",")
}

/// The sanitizers whose run-time libraries the bitcode calls.
pub fn compiled_for(module: &Module) -> Vec<Sanitizer> {
    Sanitizer::ALL
        .iter()
        .map(|(sanitizer, _)| *sanitizer)
        .filter(|sanitizer| {
            sanitizer
                .calls()
                .is_some_and(|prefix| calls(module, prefix))
        })
        .collect()
}

fn read_product<'ctx>(
    context: &'ctx Context,
    file: &Path,
    observe: &mut dyn Observer,
) -> Result<Module<'ctx>> {
    let data = fs::read(file).map_err(|e| Error::bad_input(file, e))?;
    if data.is_empty() {
        return Err(Error::bad_input(file, "empty file"));
    }
    let name = file.to_string_lossy();
    observe.reading(&name, data.len());
    let parsed = llvm::parse(context, &data, &name);
    observe.read();
    let module = parsed.map_err(|reason| Error::bad_input(file, reason))?;
    if has_tables(&module) {
        Ok(module)
    } else {
        Err(Error::bad_input(file, "not a product of p3-ir merge"))
    }
}

/// The tables that the finish pass emits.
fn has_tables(module: &Module) -> bool {
    let starts = ["main", HARNESS];
    starts.iter().any(|name| defines(module, name))
        && ["p3_versions", "p3_names"]
            .iter()
            .all(|name| defines(module, name))
}

fn defines(module: &Module, name: &str) -> bool {
    llvm::global_named(module, name).is_some_and(|g| !g.is_declaration())
}

/// Whether the module calls a function whose name begins so. The runtime itself asks whether there is an
/// `__asan_init`.
fn calls(module: &Module, prefix: &str) -> bool {
    llvm::functions(module).iter().any(|function| {
        let name = function.name_text();
        name.starts_with(prefix) && !name.ends_with("_init") && !function.users().is_empty()
    })
}

/// Marks the functions that a sanitizer's pass shall instrument. Bitcode that was compiled with the sanitizer
/// is kept from being instrumented once more, which would crash at the first access to shadow memory.
fn ask_for(product: &Module, file: &Path, sanitizer: Sanitizer) -> Result<Option<String>> {
    let instrumented = sanitizer
        .calls()
        .is_some_and(|prefix| calls(product, prefix));
    let Some(attribute) = sanitizer.attribute() else {
        let uninstrumented = sanitizer == Sanitizer::Undefined && !instrumented;
        return Ok(uninstrumented.then(|| {
            "--sanitize undefined finds nothing in bitcode that was compiled without -fsanitize=undefined"
                .to_string()
        }));
    };
    if instrumented && sanitizer == Sanitizer::Memory {
        let reason = "its versions were compiled with -fsanitize=memory, the runtime was not: compile them without";
        return Err(Error::bad_input(file, reason));
    }
    // What a harness does between runs costs more to compile and to run than the versions do, and what it touches for
    // them it touches by functions that AddressSanitizer replaces.
    let spares_core = sanitizer == Sanitizer::Address && defines(product, HARNESS);
    for function in llvm::functions(product) {
        if function.is_declaration()
            || spares_core && runtime::is_core(function)
            || function.has_attribute("naked")
            || function.has_attribute("disable_sanitizer_instrumentation")
        {
            continue;
        }
        if instrumented {
            function.remove_attribute(attribute);
            function.add_attribute("disable_sanitizer_instrumentation");
        } else {
            function.add_attribute(attribute);
        }
    }
    Ok(None)
}

/// `P3_CLANG`, else the first clang of the right version.
pub fn clang() -> Result<PathBuf> {
    if let Some(clang) = std::env::var_os("P3_CLANG") {
        return Ok(clang.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .map(|directory| directory.join(CLANG))
        .chain([PathBuf::from("/usr/lib/llvm-16/bin/clang")])
        .find(|candidate| candidate.is_file())
        .ok_or_else(|| Error::bad_input(CLANG, "not found (on Debian: apt-get install clang-16)"))
}

/// Compiles a C file with hand-written product functions; `include` holds p3.h.
pub(crate) fn compile_model(file: &Path, include: &Path, output: &Path) -> Result<()> {
    if !file.is_file() {
        return Err(Error::bad_input(file, "no such file"));
    }
    let mut clang = Command::new(self::clang()?);
    clang.args(["-c", "-emit-llvm", "-O1", "-g", "-DP3_MODEL", "-I"]);
    clang.arg(include).arg(file);
    run(clang, output).map(|_| ())
}

/// Runs the compiler with its output beside the final place, and moves it there if that went well; into a device or
/// pipe it is copied. Returns the compiler's warnings.
fn run(mut clang: Command, output: &Path) -> Result<Vec<String>> {
    let is_special = fs::metadata(output).is_ok_and(|there| !there.is_file() && !there.is_dir());
    let system = std::env::temp_dir();
    let directory = match output.parent() {
        _ if is_special => &system,
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let cannot_write = |e: std::io::Error| Error::bad_input(output, format!("cannot write: {e}"));
    if output.is_dir() {
        return Err(Error::bad_input(output, "is a directory"));
    }
    let scratch = tempfile::Builder::new()
        .prefix(".p3-ir-")
        .tempdir_in(directory)
        .map_err(cannot_write)?;
    let program = scratch.path().join("program");
    interruption::check()?;
    clang.arg("-o").arg(&program);
    let done = execute::output(&mut clang).map_err(|e| Error::bad_input(clang.get_program(), e))?;
    if !done.status.success() {
        return Err(refusal(&done));
    }
    if is_special {
        copy_into(&program, output).map_err(cannot_write)?;
    } else {
        fs::rename(&program, output).map_err(cannot_write)?;
    }
    let text = String::from_utf8_lossy(&done.stderr);
    Ok(text
        .lines()
        .map(|line| format!("{CLANG}: {line}"))
        .collect())
}

/// Unlike [`fs::copy`] leaves the output's mode alone.
fn copy_into(file: &Path, output: &Path) -> std::io::Result<()> {
    let (mut from, mut to) = (File::open(file)?, File::options().write(true).open(output)?);
    std::io::copy(&mut from, &mut to).map(|_| ())
}

/// The compiler's first complaint in one line.
fn refusal(done: &std::process::Output) -> Error {
    let text = String::from_utf8_lossy(&done.stderr);
    let telling = |line: &&str| line.contains("error:") || line.contains("undefined reference");
    let line = text
        .lines()
        .find(telling)
        .or_else(|| text.lines().next())
        .unwrap_or_default();
    let hint = if text.contains("undefined reference") {
        " (give the program's libraries behind --, as in: -- -lm)"
    } else {
        ""
    };
    Error::bad_input(CLANG, format!("{line}{hint} ({})", done.status))
}
