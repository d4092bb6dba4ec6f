//! **finish**: joins the versions and the shared runtime into the product.
//!
//! Input: renamed versions. Guarantee: one verified module that defines `main`, in which only `main` and the
//! weak `klee_*` functions can be seen from outside, with the tables that `runtime/core` reads (`p3_count`,
//! `p3_versions`, `p3_names`, `p3_checks`, `p3_spec_places`,
//! `p3_spec_meetings`). Undefined functions are libc's or an analyser's.

use crate::llvm::{self, append_block, Builder, Context, Linkage, Module, Types, Value};
use crate::{flags, rename, runtime, share, spec, weave, Error, Result};

/// What the product checks at its end (`--check`); the bits of `P3_CHECK_*` in runtime/p3_runtime.h.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks(pub u32);

impl Checks {
    /// The checks by name, in the order of their bits.
    pub const NAMES: [&'static str; 6] = [
        "output",
        "status",
        "assert",
        "divergence",
        "returns",
        "spec",
    ];

    /// Whether the check of this name is among them.
    pub fn has(self, name: &str) -> bool {
        Self::NAMES
            .iter()
            .position(|known| *known == name)
            .is_some_and(|bit| self.0 & 1 << bit != 0)
    }

    /// Parses a comma-separated list; `none` by itself stands for no check.
    pub fn parse(list: &str) -> std::result::Result<Checks, String> {
        let mut bits = 0;
        if list.trim() == "none" {
            return Ok(Checks(bits));
        }
        for word in list.split(',').map(str::trim) {
            match Self::NAMES.iter().position(|name| *name == word) {
                Some(bit) => bits |= 1 << bit,
                None if word == "none" => return Err("none stands by itself".to_string()),
                None => {
                    return Err(format!(
                        "unknown check '{word}' (known: {}, none)",
                        Self::NAMES.join(", ")
                    ))
                }
            }
        }
        Ok(Checks(bits))
    }
}

impl Default for Checks {
    /// output, status, assert and spec
    fn default() -> Self {
        Checks(0b10_0111)
    }
}

/// The tables that `runtime/core` reads.
pub(crate) const TABLES: [&str; 4] = ["p3_count", "p3_versions", "p3_names", "p3_checks"];

/// Links `versions` (module and name of each) and the shared runtime.
pub(crate) fn join<'ctx>(
    context: &'ctx Context,
    versions: Vec<(Module<'ctx>, String)>,
    checks: Checks,
) -> Result<Module<'ctx>> {
    let internal = |reason: String| Error::internal("finish", reason);
    let first = versions
        .first()
        .ok_or_else(|| Error::internal("finish", "no versions"))?;
    let product = runtime::core(context, &first.0)?;
    product.set_name("product");
    product.set_source_file_name("product");
    let mut names = Vec::new();
    for (index, (module, name)) in versions.into_iter().enumerate() {
        let hooks = format!("{}p3v_hooks", rename::prefix(index));
        let definition = llvm::global_named(&module, &hooks)
            .ok_or_else(|| Error::internal("finish", format!("no {hooks}")))?;
        definition.set_external();
        llvm::link(&product, module).map_err(internal)?;
        names.push(name);
    }
    // Each version's is correct; in one file their macros and file-wide settings meet.
    llvm::check_assembly(&product).map_err(|reason| {
        Error::unsupported(
            names.join(", "),
            format!("file-level assembly that cannot stand in one file: {reason}"),
        )
    })?;
    define_tables(&product, &names, checks)?;
    Ok(product)
}

/// What is called from outside, as far as the product has it: a program's entry, or a fuzzer's.
const ENTRIES: [&str; 4] = [
    "main",
    "LLVMFuzzerInitialize",
    "LLVMFuzzerTestOneInput",
    "__lsan_is_turned_off",
];

/// Completes the product after weaving.
pub(crate) fn finish(product: &Module, count: usize) -> Result<()> {
    let internal = |reason: String| Error::internal("finish", reason);
    define_lockstep(product);
    define_lists(product);
    address_thread_locals_directly(product);
    flags::make_truth_values(product, count);
    share::share(product, count);
    internalize(product);
    llvm::run_passes(product, "globaldce").map_err(internal)?;
    weave::keep_jumps(product);
    llvm::verify(product).map_err(internal)
}

/// Replaces `llvm.threadlocal.address(@x)` by `@x`. KLEE does not know the intrinsic and would make a call out of
/// the program of every access to errno, with all of memory copied out and back. The two differ only in
/// coroutines that go on in another thread.
fn address_thread_locals_directly(product: &Module) {
    for function in llvm::functions(product) {
        if !function.name_text().starts_with("llvm.threadlocal.address") {
            continue;
        }
        for call in function.users() {
            if let Some(variable) = call.operand(0) {
                call.replace_all_uses_with(variable);
                call.erase_instruction();
            }
        }
        function.delete_function();
    }
}

/// What core/ calls to run all versions together: the product function of `p3v_run`, if there is one.
fn define_lockstep(product: &Module) {
    let types = Types::of(product);
    let run = llvm::global_named(product, "_PP_p3v_run");
    let entry = run.map(|run| {
        let ty = types.function(types.void(), &[]);
        let entry = llvm::add_function(product, "p3_lockstep_entry", ty);
        entry.set_internal();
        let builder = Builder::at_end(append_block(entry, ""));
        let active: Vec<Value> = run
            .parameters()
            .iter()
            .map(|_| types.constant(1, 1))
            .collect();
        builder.call(run.value_type(), run, &active);
        builder.ret(None);
        entry
    });
    replace(product, "p3_woven", entry.unwrap_or(types.pointer().zero()));
}

/// What core/ reports of specifications: their places, and what weave has made of them.
fn define_lists(product: &Module) {
    let types = Types::of(product);
    let variables = llvm::variables(product);
    for (list, is_member) in [
        ("p3_spec_places", spec::is_place as fn(&str) -> bool),
        ("p3_spec_meetings", spec::is_meeting),
    ] {
        let mut members: Vec<Value> = variables
            .iter()
            .copied()
            .filter(|variable| is_member(&variable.name_text()))
            .collect();
        members.push(types.pointer().zero());
        replace(product, list, types.array(types.pointer(), &members));
    }
}

fn define_tables(product: &Module, names: &[String], checks: Checks) -> Result<()> {
    let types = Types::of(product);
    let hooks = (0..names.len())
        .map(|index| {
            let name = format!("{}p3v_hooks", rename::prefix(index));
            llvm::global_named(product, &name)
                .ok_or_else(|| Error::internal("finish", format!("{name} was lost in linking")))
        })
        .collect::<Result<Vec<Value>>>()?;
    let texts: Vec<Value> = names
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let text = types.string(name.as_bytes());
            constant(product, &format!("p3_name_{index}"), text)
        })
        .collect();
    replace(product, "p3_count", types.constant(32, names.len() as u64));
    replace(product, "p3_checks", types.constant(32, checks.0.into()));
    replace(product, "p3_versions", types.array(types.pointer(), &hooks));
    replace(product, "p3_names", types.array(types.pointer(), &texts));
    Ok(())
}

pub(crate) fn constant(product: &Module, name: &str, value: Value) -> Value {
    let global = llvm::add_global(product, name, value.ty());
    global.set_initializer(value);
    global.set_constant(true);
    global.set_internal();
    global
}

/// Defines a constant that the runtime declares.
pub(crate) fn replace(product: &Module, name: &str, value: Value) {
    let declared = llvm::global_named(product, name);
    if let Some(declared) = declared {
        declared.set_name(b"");
    }
    let global = constant(product, name, value);
    if let Some(declared) = declared {
        declared.replace_all_uses_with(global);
        declared.delete_global();
    }
}

fn internalize(product: &Module) {
    for global in llvm::globals(product) {
        let name = global.name_text();
        let visible = global.is_declaration()
            || ENTRIES.contains(&name.as_str())
            || name.starts_with("llvm.")
            || matches!(global.linkage(), Linkage::Weak | Linkage::Private)
            // Named by file-level assembly.
            || (name.starts_with("_PP") && !name.ends_with("p3v_hooks"));
        if !visible {
            global.set_internal();
        }
    }
}
