//! From a product to an executable: asks for sanitizers, finds clang, links the copies of native libraries.
//!
//! Input: a product that `merge` has written. Guarantee: the executable appears whole or not at all.
//! Not handled: instrumenting for undefined behaviour, which clang does from source only; the versions' bitcode
//! must have been compiled with `-fsanitize=undefined`, and the build links its run-time library.

use crate::llvm::{self, Context, Module};
use crate::pipeline::Observer;
use crate::{native, Error, Result};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The clang that reads this LLVM's bitcode.
const CLANG: &str = "clang-16";

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

    /// The function attribute that LLVM's pass looks for, and a prefix of the functions that it calls.
    fn attribute(self) -> Option<(&'static str, &'static str)> {
        match self {
            Sanitizer::Address => Some(("sanitize_address", "__asan_")),
            Sanitizer::Memory => Some(("sanitize_memory", "__msan_")),
            Sanitizer::Thread => Some(("sanitize_thread", "__tsan_")),
            Sanitizer::Leak | Sanitizer::Undefined => None,
        }
    }
}

/// Builds the executable. Returns warnings.
///
/// [`Error::BadInput`]: not a product, no clang, a copy of a native library is missing, or clang refuses.
pub fn build(options: &BuildOptions, observe: &mut dyn Observer) -> Result<Vec<String>> {
    let context = llvm::new_context();
    let file = &options.product;
    let product = read_product(&context, file, observe)?;
    let clang = find_clang()?;

    let scratch = tempfile::tempdir().map_err(|e| Error::bad_input(std::env::temp_dir(), e))?;
    let mut warnings = Vec::new();
    for sanitizer in &options.sanitizers {
        warnings.extend(ask_for(&product, file, *sanitizer)?);
    }
    let mut command = Command::new(clang);
    // Whatever the file is called, it is IR.
    command.args(["-Wno-override-module", "-Wno-unused-command-line-argument"]);
    command.args(["-x", "ir"]);
    if options.sanitizers.is_empty() {
        command.arg(file);
    } else {
        let marked = scratch.path().join("product.bc");
        if !product.write_bitcode_to_path(&marked) {
            return Err(Error::bad_input(&marked, "cannot write"));
        }
        let names: Vec<_> = options.sanitizers.iter().map(|s| s.name()).collect();
        command.arg(format!("-fsanitize={}", names.join(",")));
        command.arg(marked);
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
    warnings.extend(run(command, &options.output)?);
    Ok(warnings)
}

fn read_product<'ctx>(
    context: &'ctx Context,
    file: &Path,
    observe: &mut dyn Observer,
) -> Result<Module<'ctx>> {
    let data = std::fs::read(file).map_err(|e| Error::bad_input(file, e))?;
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
    ["main", "p3_versions", "p3_names"]
        .iter()
        .all(|name| llvm::global_named(module, name).is_some_and(|g| !g.is_declaration()))
}

/// Marks the functions that a sanitizer's pass shall instrument. Bitcode that was compiled with the sanitizer
/// is kept from being instrumented once more, which would crash at the first access to shadow memory.
fn ask_for(product: &Module, file: &Path, sanitizer: Sanitizer) -> Result<Option<String>> {
    // The runtime itself asks whether there is an __asan_init.
    let calls = |prefix: &str| {
        llvm::functions(product).iter().any(|function| {
            let name = function.name_text();
            name.starts_with(prefix) && !name.ends_with("_init") && !function.users().is_empty()
        })
    };
    let Some((attribute, prefix)) = sanitizer.attribute() else {
        let uninstrumented = sanitizer == Sanitizer::Undefined && !calls("__ubsan_");
        return Ok(uninstrumented.then(|| {
            "--sanitize undefined finds nothing in bitcode that was compiled without -fsanitize=undefined"
                .to_string()
        }));
    };
    let instrumented = calls(prefix);
    if instrumented && sanitizer == Sanitizer::Memory {
        let reason = "its versions were compiled with -fsanitize=memory, the runtime was not: compile them without";
        return Err(Error::bad_input(file, reason));
    }
    for function in llvm::functions(product) {
        if function.is_declaration() || function.has_attribute("naked") {
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
fn find_clang() -> Result<PathBuf> {
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

/// Runs the compiler with its output beside the final place, and moves it there if that went well. Returns
/// the compiler's warnings.
fn run(mut clang: Command, output: &Path) -> Result<Vec<String>> {
    let directory = match output.parent() {
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
    let done = clang
        .arg("-o")
        .arg(&program)
        .output()
        .map_err(|e| Error::bad_input(clang.get_program(), e))?;
    if !done.status.success() {
        return Err(refusal(&done));
    }
    std::fs::rename(&program, output).map_err(cannot_write)?;
    let text = String::from_utf8_lossy(&done.stderr);
    Ok(text
        .lines()
        .map(|line| format!("{CLANG}: {line}"))
        .collect())
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
