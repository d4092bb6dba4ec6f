//! **harness**: makes a fuzzer's function of the product (`merge --harness`).
//!
//! Input: a product whose versions are woven or not. Guarantee: instead of `main` it has
//! `LLVMFuzzerInitialize` and `LLVMFuzzerTestOneInput`; wherever versions and `runtime/core` use a function NAME
//! of libc, `p3_instead_NAME` of `runtime/harness` is used if there is one; `p3_regions` and `p3_thread_locals`
//! tell `runtime/harness` every variable that a run may change, in sections of their own where that is possible;
//! code of the runtime does not count as coverage; continuations are compiled as they are; AFL++ is told what the
//! program compares by functions of libc (`runtime/harness/comparisons.c`).
//!
//! Not handled: what native libraries keep between calls.

use crate::llvm::{self, append_block, Builder, Context, Linkage, Module, Types, Value};
use crate::{finish, runtime, weave, Error, Result};

/// Functions of `runtime/harness` with this prefix are used instead of libc's of the rest of the name.
const INSTEAD: &str = "p3_instead_";

/// Sections of variables that a run may change. ASan leaves variables alone whose section is a C identifier.
const DATA: &str = ".data.p3_state";
const ZEROS: &str = ".bss.p3_state";
const LARGE_ZEROS: &str = ".bss.p3_large";
/// Variables of the runtime that nothing has to be done about (`P3_KEPT`).
const KEPT: &str = ".bss.p3_kept";

/// Variables of this size are given back to the kernel, if they begin with zeros.
const LARGE: u64 = 16 << 10;

/// How a variable is brought back; the numbers are those of runtime/harness/snapshot.c.
enum Kind {
    Alone = 0,
    WithData = 1,
    WithZeros = 2,
    LargeZeros = 3,
}

/// Makes the product a harness.
pub(crate) fn harness<'ctx>(context: &'ctx Context, product: &Module<'ctx>) -> Result<()> {
    let harness = runtime::harness(context, product)?;
    for function in llvm::functions(product) {
        if weave::is_continuation(function) {
            // One has many blocks in one tangle of loops, for which LLVM's branch probabilities take time by the square,
            // and hardly ever runs.
            for attribute in ["alwaysinline", "optsize", "minsize"] {
                function.remove_attribute(attribute);
            }
            function.add_attribute("noinline");
            function.add_attribute("optnone");
        }
        if !runtime::is_runtime(function) {
            announce_comparisons(product, function);
        }
        if runtime::is_runtime(function) && !function.is_declaration() && !is_way_in(function) {
            function.add_attribute("nosanitize_coverage");
            // Else it would be instrumented as a part of its callers.
            function.remove_attribute("alwaysinline");
            function.add_attribute("noinline");
        }
    }
    for function in llvm::functions(&harness) {
        if !function.is_declaration() {
            function.add_attribute("nosanitize_coverage");
        }
        if let Some(name) = function.name_text().strip_prefix(INSTEAD) {
            replace(product, name);
        }
    }
    if let Some(main) = llvm::global_named(product, "main") {
        main.delete_function();
    }
    // Those of the harness itself stay as they are.
    let variables: Vec<Value> = llvm::variables(product)
        .into_iter()
        .filter(|variable| !variable.is_declaration() && !variable.is_immutable())
        .filter(|variable| variable.section().as_deref() != Some(KEPT))
        .filter(|variable| !variable.name_text().starts_with("llvm."))
        .collect();
    for table in finish::TABLES {
        if let Some(table) = llvm::global_named(product, table) {
            table.set_external();
        }
    }
    llvm::link(product, harness).map_err(|reason| Error::internal("harness", reason))?;
    let (locals, globals): (Vec<_>, Vec<_>) = variables
        .into_iter()
        .partition(|variable| variable.is_thread_local());
    define_regions(product, &globals);
    define_thread_locals(product, &locals);
    Ok(())
}

/// Functions of libc that compare, and what of AFL++ takes their first arguments.
const COMPARISONS: [(&str, &str, usize); 8] = [
    ("memcmp", "__cmplog_rtn_hook_n", 3),
    ("bcmp", "__cmplog_rtn_hook_n", 3),
    ("strcmp", "__cmplog_rtn_hook_str", 2),
    ("strcasecmp", "__cmplog_rtn_hook_str", 2),
    ("strcoll", "__cmplog_rtn_hook_str", 2),
    ("strstr", "__cmplog_rtn_hook_str", 2),
    ("strncmp", "__cmplog_rtn_hook_strn", 3),
    ("strncasecmp", "__cmplog_rtn_hook_strn", 3),
];

/// Calls AFL++ before each comparison, with the arguments.
fn announce_comparisons(product: &Module, function: Value) {
    let types = Types::of(product);
    let kinds = [types.pointer(), types.pointer(), types.integer(64)];
    let blocks = function.blocks().into_iter();
    let instructions = blocks.flat_map(|block| block.instructions());
    for call in instructions.filter(|instruction| instruction.is_call()) {
        let Some(callee) = call.called_function() else {
            continue;
        };
        let name = callee.name_text();
        let known = COMPARISONS.iter().find(|(libc, ..)| *libc == name);
        let Some((_, hook, count)) = known.filter(|_| callee.is_declaration()) else {
            continue;
        };
        let count = *count;
        if call.argument_count() as usize != count {
            continue;
        }
        let arguments: Vec<Value> = call.operands().into_iter().take(count).collect();
        let fits = |(argument, kind): (&Value, _)| argument.ty() == kind;
        if !arguments.iter().zip(kinds).all(fits) {
            continue;
        }
        let ty = types.function(types.void(), &kinds[..count]);
        let hook = llvm::global_named(product, hook)
            .unwrap_or_else(|| llvm::add_function(product, hook, ty));
        let builder = Builder::before(call);
        builder.set_location_of(call);
        builder.call(ty, hook, &arguments);
    }
}

/// The way from the harness to the program's entry: the program's code may be inlined there.
fn is_way_in(function: Value) -> bool {
    let name = function.name_text();
    runtime::WOVEN.iter().any(|way| name.ends_with(way))
}

/// Lets all uses of the external function name the stand-in.
fn replace(product: &Module, name: &str) {
    let Some(function) = llvm::global_named(product, name) else {
        return;
    };
    if !function.is_declaration() || function.as_function().is_none() {
        return;
    }
    let instead = llvm::add_function(product, &format!("{INSTEAD}{name}"), function.value_type());
    function.replace_all_uses_with(instead);
}

fn define_regions(product: &Module, variables: &[Value]) {
    let types = Types::of(product);
    let word = types.integer(64);
    let region = types.structure(&[types.pointer(), word, word]);
    let entries: Vec<Value> = variables
        .iter()
        .map(|variable| {
            let size = llvm::size_of(product, variable.value_type());
            let kind = place(*variable, size) as u64;
            types.constant_structure(&[
                *variable,
                types.constant(64, size),
                types.constant(64, kind),
            ])
        })
        .collect();
    let count = types.constant(64, entries.len() as u64);
    finish::replace(product, "p3_regions", types.array(region, &entries));
    finish::replace(product, "p3_region_count", count);
}

/// Puts the variable into one of the sections if nothing stands against it.
fn place(variable: Value, size: u64) -> Kind {
    let fixed = variable.section().is_some()
        || variable.has_comdat()
        || !matches!(
            variable.linkage(),
            Linkage::Internal | Linkage::External | Linkage::Private
        );
    let zero = variable.initializer().is_some_and(Value::is_null);
    match (zero, fixed) {
        (_, true) => Kind::Alone,
        (true, false) if size >= LARGE => {
            variable.set_section(LARGE_ZEROS);
            Kind::LargeZeros
        }
        (true, false) => {
            variable.set_section(ZEROS);
            Kind::WithZeros
        }
        (false, false) => {
            variable.set_section(DATA);
            Kind::WithData
        }
    }
}

/// `void p3_thread_locals(void (*visit)(char *, size_t))`
fn define_thread_locals(product: &Module, variables: &[Value]) {
    let types = Types::of(product);
    let visit = types.function(types.void(), &[types.pointer(), types.integer(64)]);
    let ty = types.function(types.void(), &[types.pointer()]);
    let function = llvm::global_named(product, "p3_thread_locals")
        .unwrap_or_else(|| llvm::add_function(product, "p3_thread_locals", ty));
    let builder = Builder::at_end(append_block(function, ""));
    for &variable in variables {
        let size = types.constant(64, llvm::size_of(product, variable.value_type()));
        builder.call(visit, function.parameters()[0], &[variable, size]);
    }
    builder.ret(None);
}
