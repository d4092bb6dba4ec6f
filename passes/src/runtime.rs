//! The C runtime, compiled to bitcode by the build and embedded here.

use crate::llvm::{self, Context, Linkage, Module, Value};
use crate::lookup::Lookups;
use crate::{Error, Result};

/// `runtime/alone`: linked into versions that are built alone and use it.
const ALONE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/alone.bc"));
/// `runtime/core`: linked into a product once.
const CORE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/core.bc"));
/// `runtime/harness`: linked into products that are a fuzzer's function.
const HARNESS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/harness.bc"));
/// `runtime/entry`: linked into versions that begin with another function than `main`.
const ENTRY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/entry.bc"));
/// `runtime/version`: linked into every version.
const VERSION: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/version.bc"));

/// Functions and variables of `runtime/version` with this prefix stand in for libc's of the rest of the name.
pub(crate) const SHIM_PREFIX: &str = "p3_shim_";
/// The same, but needed only if some version may change its locale.
const LOCALE_PREFIX: &str = "p3_locale_";

/// What programs call to take bytes under a name.
const TAKE_INPUT: [&str; 4] = ["p3_input", "klee_make_symbolic", "klee_int", "klee_range"];

/// Functions of `runtime/version` that are woven: the way from core/ to the program's entry.
pub(crate) const WOVEN: [&str; 3] = ["p3v_run", "p3v_user_main", "p3v_user_ctors"];

/// The variable of `runtime/core` that is not 0 from when a version's alive flag is cleared.
pub(crate) const ENDED: &str = "p3_ended";

/// Marks functions of the runtime, whatever they are called after linking.
const MARK: &str = "p3-runtime";

/// Whether a function came with the runtime.
pub(crate) fn is_runtime(function: llvm::Value) -> bool {
    function.text_attribute(MARK).is_some()
}

/// Makes a function count as one that came with the runtime.
pub(crate) fn mark(function: Value) {
    function.add_text_attribute(MARK, "");
}

/// Whether a function of a finished product came with a part of the runtime that is there once.
pub(crate) fn is_core(function: llvm::Value) -> bool {
    is_runtime(function) && !function.name_text().starts_with("_PP")
}

/// A fresh copy of the part that is linked once.
pub(crate) fn core<'ctx>(context: &'ctx Context, like: &Module<'ctx>) -> Result<Module<'ctx>> {
    read(context, CORE, "runtime/core", like)
}

/// A fresh copy of the part that makes a product a fuzzer's function.
pub(crate) fn harness<'ctx>(
    context: &'ctx Context,
    product: &Module<'ctx>,
) -> Result<Module<'ctx>> {
    read(context, HARNESS, "runtime/harness", product)
}

/// A fresh copy of the part that calls a version's function.
pub(crate) fn entry<'ctx>(context: &'ctx Context, like: &Module<'ctx>) -> Result<Module<'ctx>> {
    read(context, ENTRY, "runtime/entry", like)
}

/// Links what a version needs that is built alone and takes bytes by `pp_input` or as KLEE's symbolic values; whether it
/// does.
pub(crate) fn stand_alone<'ctx>(context: &'ctx Context, module: &Module<'ctx>) -> Result<bool> {
    let alone = read(context, ALONE, "runtime/alone", module)?;
    let lacks =
        |name: &str| llvm::global_named(module, name).is_some_and(|own| own.is_declaration());
    let takes_input = TAKE_INPUT.into_iter().any(lacks);
    let given = llvm::functions(&alone).into_iter();
    let given = given.filter(|function| function.linkage() == Linkage::Weak);
    if given
        .map(|function| function.name_text())
        .any(|name| lacks(&name))
    {
        llvm::link(module, alone).map_err(|reason| Error::internal("runtime/alone", reason))?;
    }
    Ok(takes_input)
}

/// A fresh copy of the part that every version has. `locales`: with what keeps the versions' locales apart.
pub(crate) fn version<'ctx>(
    context: &'ctx Context,
    like: &Module<'ctx>,
    locales: bool,
) -> Result<Module<'ctx>> {
    let module = read(context, VERSION, "runtime/version", like)?;
    for global in llvm::globals(&module) {
        let name = global.name_text();
        if let Some(replaced) = name.strip_prefix(LOCALE_PREFIX) {
            if locales {
                global.set_name(format!("{SHIM_PREFIX}{replaced}").as_bytes());
            } else {
                global.set_internal();
            }
        }
    }
    Ok(module)
}

/// Whether the program refers to a function that changes the locale, or may look one up.
pub(crate) fn changes_locale(module: &Module) -> bool {
    let lookups = Lookups::of(module);
    [
        "setlocale",
        "newlocale",
        "uselocale",
        "__newlocale",
        "__uselocale",
    ]
    .iter()
    .any(|name| {
        lookups.has(name) || llvm::global_named(module, name).is_some_and(|f| f.is_declaration())
    })
}

/// Reads one part and gives it the triple and data layout of `like`, which differ at most in spelling
/// (`pc` or `unknown` vendor): [`check_target`] has refused other targets.
fn read<'ctx>(
    context: &'ctx Context,
    bitcode: &[u8],
    name: &str,
    like: &Module<'ctx>,
) -> Result<Module<'ctx>> {
    let module =
        llvm::parse(context, bitcode, name).map_err(|reason| Error::internal("runtime", reason))?;
    module.set_triple(&like.get_triple());
    module.set_data_layout(&like.get_data_layout());
    llvm::prepare_flags(&module);
    for function in llvm::functions(&module) {
        if function.is_declaration() {
            continue;
        }
        mark(function);
        // How it was compiled here says nothing about how the product is to be: short functions, such as what stands
        // in for isspace, are inlined then. That the names of libc mean nothing only matters where they are called.
        function.remove_attribute("minsize");
        function.remove_attribute("optsize");
        let blocks = function.blocks().into_iter();
        let mut instructions = blocks.flat_map(|block| block.instructions());
        let is_libc = |callee: Value| {
            let name = callee.name();
            !name.starts_with(b"llvm.") && !name.starts_with(b"p3")
        };
        let calls_libc = |instruction: Value| {
            let callee = instruction.is_call().then(|| instruction.called_function());
            callee.is_some_and(|callee| callee.is_none_or(is_libc))
        };
        if !instructions.any(calls_libc) {
            function.remove_text_attribute("no-builtins");
        }
    }
    Ok(module)
}

/// The data layout of x86_64 Linux.
const LAYOUT: &str = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128";

/// Refuses targets that the runtime is not compiled for.
pub(crate) fn check_target(module: &Module, file: &str) -> Result<()> {
    let triple = module.get_triple();
    let text = triple.as_str().to_string_lossy();
    let mut parts = text.split('-');
    let is_ours =
        parts.next() == Some("x86_64") && text.contains("linux") && !text.ends_with("x32");
    if !is_ours && !text.is_empty() {
        return Err(Error::unsupported(
            file,
            format!("target {text} (the runtime is built for x86_64 Linux)"),
        ));
    }
    let layout = module
        .get_data_layout()
        .as_str()
        .to_string_lossy()
        .into_owned();
    if !layout.is_empty() && layout != LAYOUT {
        return Err(Error::unsupported(
            file,
            format!("data layout {layout} (the runtime is built for {LAYOUT})"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Constant arrays of pointers become tables of 32-bit distances, unless they are two-dimensional arrays of characters.
    #[test]
    fn klee_knows_the_intrinsics_of_the_runtime() {
        let context = llvm::new_context();
        for (part, bitcode) in [("core", CORE), ("version", VERSION)] {
            let module = llvm::parse(&context, bitcode, part).unwrap();
            let unknown = llvm::functions(&module)
                .into_iter()
                .map(Value::name_text)
                .find(|name| name.starts_with("llvm.load.relative"));
            assert_eq!(unknown, None, "{part}");
        }
    }
}
