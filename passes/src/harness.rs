//! **harness**: makes a fuzzer's function of the product (`merge --harness`).
//!
//! Input: a product whose versions are woven or not. Guarantee: instead of `main` it has
//! `LLVMFuzzerInitialize` and `LLVMFuzzerTestOneInput`; wherever versions and `runtime/core` use a function NAME
//! of libc, `p3_instead_NAME` of `runtime/harness` is used if there is one; `p3_regions` and `p3_thread_locals`
//! tell `runtime/harness` every variable that a run may change, in sections of their own where that is possible;
//! code of the runtime does not count as coverage.
//!
//! Not handled: what native libraries keep between calls.

use crate::llvm::{self, append_block, Builder, Context, Linkage, Module, Types, Value};
use crate::{finish, runtime, Error, Result};

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
