//! **isolate**: gives a version its own libc state.
//!
//! Input: a prepared version. Guarantee: every reference to a libc function or variable that the runtime
//! stands in for is bound to the version's own copy of `runtime/version`, which is linked in; the entry
//! function, constructors and destructors are reachable only through `p3v_user_main`, `p3v_user_ctors` and
//! `p3v_user_dtors`; `errno` is the version's own and is copied in and out around every call that leaves the
//! version. What the program may look up by `dlsym` is the version's own, too (`lookup.rs`).
//!
//! What the program defines itself is not replaced. Not handled: errno of variadic external functions that
//! are called through a pointer.

use crate::libc::{self, Switch};
use crate::llvm::{self, append_block, Builder, Context, Linkage, Module, Type, Types, Value};
use crate::lookup::{self, Symbols};
use crate::native::Natives;
use crate::{runtime, size, Error, Result};
use inkwell::llvm_sys::LLVMTypeKind;
use std::collections::{HashMap, HashSet};

/// The end of the names of program symbols that [`isolate`] has put out of the runtime's way.
pub(crate) const SHIELD: &str = ".p3-own";

/// What isolation did to a version.
pub(crate) struct Isolated {
    /// The names that are bound to shims, sorted.
    pub(crate) bound: Vec<String>,
    /// Definitions that copies of native libraries refer to.
    pub(crate) exported: HashSet<String>,
}

/// What isolation has to know besides the module.
pub(crate) struct Isolation<'a> {
    /// The version's number, from 0.
    pub(crate) index: usize,
    /// What the version was read from, for messages.
    pub(crate) file: &'a str,
    pub(crate) natives: &'a Natives,
    /// Whether some version may change its locale.
    pub(crate) locales: bool,
    /// Whether versions will alternate.
    pub(crate) woven: bool,
    /// Whether they run again and again in one process.
    pub(crate) harness: bool,
}

/// Isolates a version.
pub(crate) fn isolate<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    isolation: &Isolation,
) -> Result<Isolated> {
    let &Isolation {
        index,
        file,
        natives,
        locales,
        woven,
        harness,
    } = isolation;
    let internal = |reason: String| Error::internal("isolate", reason);
    drop_inline_copies(module);
    let mut symbols = Symbols::own(module);
    let version = runtime::version(context, module, locales)?;
    refuse_reserved(module, file, &version)?;
    build_entry(module, file)?;
    build_life_cycle(module)?;
    define_index(module, index);
    natives.bind(module, index);
    prepare_exceptions(module);
    let mut bound = bind(module, &version);
    let interposed = interposed(module, &version);
    shield(module, &version);
    llvm::link(module, version).map_err(internal)?;
    for (shim, own) in &interposed {
        if let Some(shim) = llvm::global_named(module, shim) {
            shim.replace_all_uses_with(*own);
        }
    }
    symbols.add_shims(module, &mut bound, &interposed);
    symbols.define(module);
    bind_runtime_errno(module);
    if !harness {
        drop_hook(module, "p3v_files_next");
    }
    let exported = exported_to(module, &natives.undefined());
    // Unused shims go now, so that later passes do not pay for them.
    keep_only_reachable(module, &exported)?;
    define_used_streams(module);
    define_unknown_calls(module);
    copy_errno(module)?;
    if woven {
        switch_versions(module)?;
    }
    Ok(Isolated { bound, exported })
}

/// Names that the runtime has for itself must not be those of visible things of the program. What `p3.h` declares
/// stands in programs, too.
fn refuse_reserved(module: &Module, file: &str, version: &Module) -> Result<()> {
    for needed in llvm::globals(version) {
        let name = needed.name_text();
        if !name.starts_with("p3") {
            continue;
        }
        let own = llvm::global_named(module, &name);
        let is_visible = |own: Value| {
            !matches!(own.linkage(), Linkage::Internal | Linkage::Private)
                && (!own.is_declaration() || name.starts_with("p3v_"))
        };
        if own.is_some_and(is_visible) {
            let construct = format!("symbol '{name}', which p3-ir has for itself");
            return Err(Error::unsupported(file, construct));
        }
    }
    Ok(())
}

/// `available_externally` definitions are copies of what libc defines (glibc's inline functions); the real
/// thing is the undefined symbol.
fn drop_inline_copies(module: &Module) {
    for global in llvm::functions(module)
        .into_iter()
        .chain(llvm::variables(module))
    {
        if global.linkage() == Linkage::AvailableExternally {
            global.delete_body();
        }
    }
}

/// Variables of libc that the program defines itself, as the loader lets it (`argp_program_version`, `optarg`):
/// the shim's name and the program's definition, which takes the shim's place in the runtime. A variable that
/// libc has under several names stays libc's own: libc uses a name that programs do not define.
fn interposed(module: &Module, version: &Module) -> Vec<(String, Value)> {
    let aliased: Vec<Value> = llvm::aliases(version)
        .into_iter()
        .filter_map(|alias| alias.operand(0))
        .collect();
    llvm::variables(version)
        .into_iter()
        .filter(|shim| !shim.is_declaration() && !aliased.contains(shim))
        .filter_map(|shim| {
            let name = shim.name_text();
            let own = llvm::global_named(module, name.strip_prefix(runtime::SHIM_PREFIX)?)?;
            (!own.is_declaration() && own.linkage() != Linkage::Internal).then_some((name, own))
        })
        .collect()
}

/// What the program defines under a name of libc that the runtime refers to gets [`SHIELD`] behind its name, so
/// that linking leaves libc's to the runtime. The rename pass takes it away again.
fn shield(module: &Module, version: &Module) {
    for needed in llvm::globals(version) {
        let name = needed.name_text();
        if !needed.is_declaration() || name.starts_with("llvm.") || name.starts_with("p3") {
            continue;
        }
        if let Some(own) = llvm::global_named(module, &name) {
            if !own.is_declaration() {
                own.set_name(format!("{name}{SHIELD}").as_bytes());
            }
        }
    }
}

/// Renames undefined NAME to p3_shim_NAME wherever the runtime has that; linking then resolves it.
fn bind(module: &Module, version: &Module) -> Vec<String> {
    let shims: HashSet<String> = llvm::globals(version)
        .into_iter()
        .filter(|g| !g.is_declaration())
        .filter_map(|g| {
            g.name_text()
                .strip_prefix(runtime::SHIM_PREFIX)
                .map(str::to_string)
        })
        .collect();
    let mut bound = Vec::new();
    for global in llvm::globals(module) {
        if !global.is_declaration() {
            continue;
        }
        let full = global.name_text();
        let name = full.strip_prefix('\x01').unwrap_or(&full);
        if !shims.contains(name) {
            continue;
        }
        let shim = format!("{}{name}", runtime::SHIM_PREFIX);
        match llvm::global_named(module, &shim) {
            // Both `foo` and `\1foo` were declared.
            Some(other) if other != global => global.replace_all_uses_with(other),
            _ => global.set_name(shim.as_bytes()),
        }
        // A shim exists always, so a weak reference to it is as good as a strong one.
        if global.linkage() == Linkage::ExternWeak {
            global.set_external();
        }
        bound.push(name.to_string());
    }
    bound.sort();
    bound.dedup();
    bound
}

/// `int p3v_user_main(int, char **, char **)`: calls main with as many of these as it takes.
fn build_entry(module: &Module, file: &str) -> Result<()> {
    let function = llvm::global_named(module, "main")
        .and_then(Value::strip_to_function)
        .ok_or_else(|| Error::internal("isolate", format!("{file} has no main")))?;
    let types = Types::of(module);
    let integer = types.integer(32);
    let wrapper_type = types.function(integer, &[integer, types.pointer(), types.pointer()]);
    let wrapper = define(module, "p3v_user_main", wrapper_type)?;
    let builder = Builder::at_end(append_block(wrapper, ""));
    let arguments = main_arguments(&builder, wrapper, function).ok_or_else(|| {
        Error::bad_input(
            file,
            "entry function 'main' does not have the parameters of main (int, char **, char **)",
        )
    })?;
    let result = builder.call(function.value_type(), function, &arguments);
    let is_signed = function.result_has_attribute("signext");
    builder.ret(Some(status(&builder, result, integer, is_signed)));
    Ok(())
}

/// What the caller of a main with an odd result takes for the status, as the first register of a result has it.
fn status(builder: &Builder, result: Value, integer: Type, is_signed: bool) -> Value {
    match result.ty().kind() {
        LLVMTypeKind::LLVMIntegerTypeKind => builder.integer_cast(result, integer, is_signed),
        LLVMTypeKind::LLVMPointerTypeKind => builder.pointer_to_integer(result, integer),
        LLVMTypeKind::LLVMStructTypeKind if result.ty().field_count() > 0 => {
            status(builder, builder.extract_value(result, 0), integer, false)
        }
        _ => integer.zero(),
    }
}

/// The arguments for `callee`, taken from the parameters (int, char **, char **) of `caller`.
fn main_arguments(builder: &Builder, caller: Value, callee: Value) -> Option<Vec<Value>> {
    let given = caller.parameters();
    let wanted = callee.value_type().parameter_types();
    if wanted.len() > given.len() {
        return None;
    }
    wanted
        .into_iter()
        .zip(given)
        .map(|(ty, value)| {
            if ty == value.ty() {
                Some(value)
            } else if ty.integer_width().is_some() && value.ty().integer_width().is_some() {
                Some(builder.integer_cast(value, ty, true))
            } else {
                None
            }
        })
        .collect()
}

fn define(module: &Module, name: &str, ty: Type) -> Result<Value> {
    if llvm::global_named(module, name).is_some() {
        return Err(Error::unsupported(
            name,
            "a symbol with a name reserved by p3-ir (p3v_*)",
        ));
    }
    Ok(llvm::add_function(module, name, ty))
}

/// A function to run at a version's start or end.
struct LifeCycleEntry {
    priority: u64,
    function: Value,
}

/// Moves constructors and destructors out of the loader's reach, into p3v_user_ctors and p3v_user_dtors.
fn build_life_cycle(module: &Module) -> Result<()> {
    let types = Types::of(module);
    let mut constructors = section_entries(module, &[".preinit_array"]);
    constructors.extend(take_list(module, "llvm.global_ctors"));
    constructors.extend(section_entries(module, &[".init_array", ".ctors"]));
    constructors.sort_by_key(|entry| entry.priority);
    let mut destructors = take_list(module, "llvm.global_dtors");
    destructors.extend(section_entries(module, &[".fini_array", ".dtors"]));
    destructors.sort_by_key(|entry| entry.priority);
    // The loader runs .fini_array from its end.
    destructors.reverse();

    let parameters = [types.integer(32), types.pointer(), types.pointer()];
    let constructor_type = types.function(types.void(), &parameters);
    build_calls(module, "p3v_user_ctors", constructor_type, &constructors)?;
    let destructor_type = types.function(types.void(), &[]);
    let has_destructors = llvm::add_global(module, "p3v_has_destructors", types.integer(8));
    has_destructors.set_initializer(types.constant(8, u64::from(!destructors.is_empty())));
    has_destructors.set_constant(true);
    build_calls(module, "p3v_user_dtors", destructor_type, &destructors)
}

/// How the names begin that a program with C++'s standard library refers to, if something of it may throw.
const MAY_THROW: [&str; 9] = [
    "_ZN9__gnu_cxx",
    "_ZNKSt",
    "_ZNSt",
    "_ZSt",
    "_Zna",
    "_Znw",
    "__cxa_rethrow",
    "__cxa_throw",
    "__gxx_personality",
];

/// Before the constructors of a program that may throw, the runtime gets ready for an exception that nobody catches.
fn prepare_exceptions(module: &Module) {
    let may_throw = |function: Value| {
        let name = function.name_text();
        function.is_declaration() && MAY_THROW.iter().any(|start| name.starts_with(start))
    };
    let constructors = llvm::global_named(module, "p3v_user_ctors")
        .and_then(|function| function.blocks().into_iter().next())
        .and_then(|block| block.instructions().into_iter().next());
    let Some(first) = constructors.filter(|_| llvm::functions(module).into_iter().any(may_throw))
    else {
        return;
    };
    let ty = Types::of(module);
    let ty = ty.function(ty.void(), &[]);
    let start = llvm::add_function(module, "p3v_exceptions_start", ty);
    Builder::before(first).call(ty, start, &[]);
}

fn build_calls(module: &Module, name: &str, ty: Type, entries: &[LifeCycleEntry]) -> Result<()> {
    let wrapper = define(module, name, ty)?;
    let builder = Builder::at_end(append_block(wrapper, ""));
    for entry in entries {
        let callee_type = entry.function.value_type();
        match main_arguments(&builder, wrapper, entry.function) {
            Some(arguments) => builder.call(callee_type, entry.function, &arguments),
            None => {
                let place = entry.function.name_text();
                return Err(Error::unsupported(
                    place,
                    "a constructor or destructor with parameters of its own",
                ));
            }
        };
    }
    builder.ret(None);
    Ok(())
}

/// Takes the entries of llvm.global_ctors or llvm.global_dtors and deletes the list.
fn take_list(module: &Module, name: &str) -> Vec<LifeCycleEntry> {
    let Some(list) = llvm::global_named(module, name) else {
        return Vec::new();
    };
    let mut entries = Vec::new();
    if let Some(array) = list.initializer() {
        for index in 0..array.ty().array_length() {
            let Some(element) = array.element(index) else {
                continue;
            };
            let priority = element
                .element(0)
                .and_then(Value::as_integer)
                .unwrap_or(65535);
            if let Some(function) = element.element(1).and_then(Value::strip_to_function) {
                entries.push(LifeCycleEntry { priority, function });
            }
        }
    }
    list.delete_global();
    entries
}

/// Entries that the source placed in the loader's sections by hand; the variables stay, in no section.
fn section_entries(module: &Module, sections: &[&str]) -> Vec<LifeCycleEntry> {
    let mut entries = Vec::new();
    for variable in llvm::variables(module) {
        let Some(section) = variable.section() else {
            continue;
        };
        let Some(base) = sections
            .iter()
            .find(|base| section == **base || section.starts_with(&format!("{base}.")))
        else {
            continue;
        };
        let priority = section[base.len()..]
            .trim_start_matches('.')
            .parse()
            .unwrap_or(65535);
        variable.set_section("");
        let Some(initializer) = variable.initializer() else {
            continue;
        };
        let functions: Vec<Value> = match initializer.strip_to_function() {
            Some(function) => vec![function],
            None => (0..)
                .map_while(|i| initializer.element(i))
                .filter_map(Value::strip_to_function)
                .collect(),
        };
        entries.extend(
            functions
                .into_iter()
                .map(|function| LifeCycleEntry { priority, function }),
        );
    }
    entries
}

fn define_index(module: &Module, index: usize) {
    let types = Types::of(module);
    let constant = llvm::add_global(module, "p3v_index", types.integer(32));
    constant.set_initializer(types.constant(32, index as u64));
    constant.set_constant(true);
}

/// `p3v_used_streams`: which of stdin, stdout and stderr the program can reach. All that is left in the module is
/// reachable, and the runtime's own preparation of the streams does not count.
fn define_used_streams(module: &Module) {
    let Some(declared) = llvm::global_named(module, "p3v_used_streams") else {
        return;
    };
    let is_use = |user: Value| {
        !user.is_instruction() || user.parent_block().parent().name_text() != "p3v_streams_init"
    };
    let is_used = |name: &str| {
        llvm::global_named(module, &format!("{}{name}", runtime::SHIM_PREFIX))
            .is_none_or(|variable| variable.users().into_iter().any(is_use))
    };
    let used = ["stdin", "stdout", "stderr"]
        .iter()
        .enumerate()
        .map(|(stream, name)| u64::from(is_used(name)) << stream)
        .sum();
    let types = Types::of(module);
    declared.set_initializer(types.constant(8, used));
    declared.set_constant(true);
    declared.set_internal();
}

/// `p3v_has_unknown_calls`: whether the program reaches code that may write to real descriptors without the runtime.
fn define_unknown_calls(module: &Module) {
    let Some(declared) = llvm::global_named(module, "p3v_has_unknown_calls") else {
        return;
    };
    let is_unknown =
        |function: Value| libc::switch_before(&function.name_text(), false) == Switch::All;
    let calls_it = |call: Value| {
        call.is_call()
            && !runtime::is_runtime(call.parent_block().parent())
            && match call.called_function() {
                Some(callee) => callee.is_declaration() && is_unknown(callee),
                None => call.called_operand().is_some_and(Value::is_inline_asm),
            }
    };
    let functions = llvm::functions(module);
    let unknown = has_any(module, &["dlopen", "dlmopen"])
        || has_any(module, &lookup::FUNCTIONS)
        || functions.iter().any(|&function| {
            if function.is_declaration() {
                function.address_taken() && is_unknown(function)
            } else {
                function
                    .blocks()
                    .into_iter()
                    .any(|block| block.instructions().into_iter().any(calls_it))
            }
        });
    let types = Types::of(module);
    declared.set_initializer(types.constant(8, u64::from(unknown)));
    declared.set_constant(true);
    declared.set_internal();
}

/// Whether the program refers to one of these functions of libc.
fn has_any(module: &Module, names: &[&str]) -> bool {
    names.iter().any(|name| {
        [name.to_string(), format!("{}{name}", runtime::SHIM_PREFIX)]
            .iter()
            .any(|name| llvm::global_named(module, name).is_some())
    })
}

/// What native libraries may refer to by these names: the program's own definitions, else shims.
fn exported_to(module: &Module, undefined: &HashSet<String>) -> HashSet<String> {
    let is_defined = |name: &String| {
        [name.clone(), format!("{name}{SHIELD}")]
            .iter()
            .filter_map(|name| llvm::global_named(module, name))
            .any(|g| !g.is_declaration() && g.linkage() != Linkage::Internal)
    };
    undefined
        .iter()
        .flat_map(|name| [name.clone(), format!("{}{name}", runtime::SHIM_PREFIX)])
        .filter(is_defined)
        .collect()
}

/// Takes a function that nobody will call out of the version's table of hooks.
fn drop_hook(module: &Module, name: &str) {
    if let Some(function) = llvm::global_named(module, name) {
        function.replace_all_uses_with(Types::of(module).pointer().zero());
    }
}

/// Removes what neither the program nor the version's hooks use.
fn keep_only_reachable(module: &Module, exported: &HashSet<String>) -> Result<()> {
    for global in llvm::globals(module) {
        if global.is_declaration() || global.linkage() != Linkage::External {
            continue;
        }
        let name = global.name_text();
        let is_helper = global.as_function().is_some_and(runtime::is_runtime);
        if (is_helper || name.starts_with(runtime::SHIM_PREFIX)) && !exported.contains(&name) {
            global.set_internal();
        }
    }
    llvm::run_passes(module, "globaldce").map_err(|reason| Error::internal("isolate", reason))
}

/// Wraps every call that leaves the version: libc's errno becomes the version's before, and the version's
/// takes libc's after.
fn copy_errno(module: &Module) -> Result<()> {
    let types = Types::of(module);
    let own = llvm::global_named(module, "p3v_errno")
        .ok_or_else(|| Error::internal("isolate", "the runtime has no p3v_errno"))?;
    let location = libc_errno_location(module, &types);
    wrap_address_taken(module);

    let errno = Errno {
        own,
        location,
        integer: types.integer(32),
    };
    for function in llvm::functions(module) {
        for block in function.blocks() {
            for instruction in block.instructions() {
                if leaves_version(instruction) {
                    errno.copy_around(instruction);
                }
            }
        }
    }
    Ok(())
}

/// Before calls that depend on the process's attributes, the version becomes the one that they belong to: in
/// lock-step another one may have been it. Pointers from `dlsym` may lead anywhere.
fn switch_versions(module: &Module) -> Result<()> {
    let index = llvm::global_named(module, "p3v_index")
        .ok_or_else(|| Error::internal("isolate", "the version has no p3v_index"))?;
    let types = Types::of(module);
    let integer = types.integer(32);
    let index = index.initializer().unwrap_or(integer.zero());
    let ty = types.function(types.void(), &[integer]);
    let declare = |name| {
        llvm::global_named(module, name).unwrap_or_else(|| llvm::add_function(module, name, ty))
    };
    let (all, light) = (declare(libc::SWITCH_ALL), declare(libc::SWITCH_LIGHT));
    let turn = declare(libc::SWITCH_TURN);
    let any_ty = types.function(types.void(), &[integer, types.pointer()]);
    let for_any = llvm::global_named(module, libc::SWITCH_FOR)
        .unwrap_or_else(|| llvm::add_function(module, libc::SWITCH_FOR, any_ty));
    let loads_code = has_any(module, &lookup::FUNCTIONS);
    for function in llvm::functions(module) {
        let in_runtime = runtime::is_runtime(function);
        for block in function.blocks() {
            for call in block.instructions().into_iter().filter(|i| i.is_call()) {
                let switch = match call.called_function() {
                    Some(callee) if callee.is_declaration() => {
                        libc::switch_before(&callee.name_text(), in_runtime)
                    }
                    None if loads_code
                        && !in_runtime
                        && !call.called_operand().is_some_and(Value::is_inline_asm) =>
                    {
                        let before = Builder::before(call);
                        before.set_location_of(call);
                        let pointer = call.called_operand().into_iter();
                        let arguments: Vec<Value> = [index].into_iter().chain(pointer).collect();
                        before.call(any_ty, for_any, &arguments);
                        continue;
                    }
                    _ => Switch::None,
                };
                let function = match switch {
                    Switch::None => continue,
                    Switch::Turn => turn,
                    Switch::Light => light,
                    Switch::All => all,
                };
                let before = Builder::before(call);
                before.set_location_of(call);
                before.call(ty, function, &[index]);
            }
        }
    }
    Ok(())
}

/// `errno` in the runtime's own version code is the version's, too.
fn bind_runtime_errno(module: &Module) {
    let shim = format!("{}__errno_location", runtime::SHIM_PREFIX);
    if let (Some(libc), Some(shim)) = (
        llvm::global_named(module, "__errno_location"),
        llvm::global_named(module, &shim),
    ) {
        libc.replace_all_uses_with(shim);
    }
}

fn libc_errno_location(module: &Module, types: &Types) -> Value {
    llvm::global_named(module, "__errno_location").unwrap_or_else(|| {
        let function = llvm::add_function(
            module,
            "__errno_location",
            types.function(types.pointer(), &[]),
        );
        // As libc's header says: in one thread it is always the same.
        for attribute in ["memory", "nounwind", "willreturn"] {
            function.add_attribute(attribute);
        }
        function
    })
}

/// Calls of external functions that may touch errno.
fn leaves_version(instruction: Value) -> bool {
    if !instruction.is_call() || instruction.is_must_tail() {
        return false;
    }
    match instruction.called_function() {
        Some(callee) => callee.is_declaration() && !libc::keeps_errno(&callee.name_text()),
        None => false,
    }
}

struct Errno {
    own: Value,
    location: Value,
    integer: Type,
}

impl Errno {
    fn copy_around(&self, call: Value) {
        let before = Builder::before(call);
        let address = before.call(self.location.value_type(), self.location, &[]);
        before.store(before.load(self.integer, self.own), address);
        let after = match call.next_instruction() {
            Some(next) => Builder::before(next),
            None => after_invoke(call),
        };
        after.set_location_of(call);
        after.store(after.load(self.integer, address), self.own);
    }
}

/// A builder on the normal edge of an invoke or the default edge of a callbr, in a block of its own.
fn after_invoke(call: Value) -> Builder {
    let target = call.normal_destination();
    let edge = target.insert_on_edge_from(call.parent_block(), "errno");
    call.set_normal_destination(edge);
    Builder::before(edge.terminator().expect("the new block ends with a branch"))
}

/// Gives every external function whose address is taken a wrapper in the version, so that calls through the
/// pointer copy errno too.
fn wrap_address_taken(module: &Module) {
    for function in llvm::functions(module) {
        let name = function.name_text();
        if !function.is_declaration()
            || libc::keeps_errno(&name)
            || function.value_type().is_variadic()
            || function.linkage() == Linkage::ExternWeak
            || !function.address_taken()
        {
            continue;
        }
        let direct: Vec<Value> = function
            .users()
            .into_iter()
            .filter(|user| user.is_call() && user.called_operand() == Some(function))
            .collect();
        let ty = function.value_type();
        let wrapper = llvm::add_function(module, &format!("p3v_wrapper_{name}"), ty);
        function.replace_all_uses_with(wrapper);
        for call in direct {
            call.set_operand(call.operand_count() - 1, function);
        }
        wrapper.set_internal();
        let builder = Builder::at_end(append_block(wrapper, ""));
        let result = builder.call(ty, function, &wrapper.parameters());
        result.copy_call_attributes_from(function);
        builder.ret((!ty.return_type().is_void()).then_some(result));
    }
}

/// Counts what a version consists of, for the report.
pub(crate) fn size(module: &Module) -> HashMap<&'static str, usize> {
    let mut functions = 0;
    let mut instructions = 0;
    for function in llvm::functions(module) {
        if !function.is_declaration() {
            functions += 1;
            instructions += size::instructions(function);
        }
    }
    HashMap::from([("functions", functions), ("instructions", instructions)])
}
