//! Whole modules: reading, linking, writing, verifying, walking their globals.

use super::value::{c_string, wrap, Type, Value};
use super::{Context, Module};
use inkwell::llvm_sys::core::*;
use inkwell::llvm_sys::linker::LLVMLinkModules2;
use inkwell::llvm_sys::prelude::*;
use inkwell::llvm_sys::target::{LLVMABISizeOfType, LLVMGetModuleDataLayout};
use inkwell::llvm_sys::target_machine::LLVMTargetMachineRef;
use inkwell::llvm_sys::LLVMDiagnosticSeverity;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::{
    CodeModel, InitializationConfig, RelocMode, Target, TargetMachine, TargetTriple,
};
use inkwell::OptimizationLevel;
use std::cell::RefCell;
use std::ffi::{c_char, c_void, CStr};

extern "C" {
    fn p3_keep_module_flags(
        module: LLVMModuleRef,
        keep: *const *const c_char,
        behaviors: *const u32,
        count: usize,
    );
    fn p3_find_bad_processor(module: LLVMModuleRef, machine: LLVMTargetMachineRef) -> LLVMValueRef;
    fn p3_drop_unknown_features(
        module: LLVMModuleRef,
        machine: LLVMTargetMachineRef,
    ) -> *mut c_char;
    fn p3_clean_collector_names(module: LLVMModuleRef) -> *mut c_char;
    fn p3_find_assembly_error(module: LLVMModuleRef, machine: LLVMTargetMachineRef) -> *mut c_char;
    fn p3_find_huge_vector(module: LLVMModuleRef, most: u64) -> LLVMValueRef;
    fn p3_flatten_aliases(module: LLVMModuleRef);
    fn p3_linker_new(destination: LLVMModuleRef) -> *mut c_void;
    fn p3_linker_link(linker: *mut c_void, source: LLVMModuleRef) -> i32;
    fn p3_linker_delete(linker: *mut c_void);
    fn p3_erase_named_metadata(module: LLVMModuleRef, name: *const c_char);
}

thread_local! {
    /// Messages that LLVM gave to the context's handler since they were last taken.
    static DIAGNOSTICS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// A context whose diagnostics are collected instead of printed (or, for errors, ending the process).
pub fn new_context() -> Context {
    let context = Context::create();
    install_handler(&context);
    context
}

fn install_handler(context: &Context) {
    // The handler refers to no object, so it may outlive anything.
    unsafe { LLVMContextSetDiagnosticHandler(context.raw(), Some(collect), std::ptr::null_mut()) }
}

extern "C" fn collect(info: LLVMDiagnosticInfoRef, _: *mut c_void) {
    // SAFETY: LLVM hands a valid diagnostic; the description is ours to dispose of.
    unsafe {
        if !matches!(
            LLVMGetDiagInfoSeverity(info),
            LLVMDiagnosticSeverity::LLVMDSError
        ) {
            return;
        }
        let raw = LLVMGetDiagInfoDescription(info);
        let text = CStr::from_ptr(raw).to_string_lossy().into_owned();
        LLVMDisposeMessage(raw);
        DIAGNOSTICS.with_borrow_mut(|all| all.push(text));
    }
}

fn take_diagnostics() -> String {
    DIAGNOSTICS.with_borrow_mut(std::mem::take).join("; ")
}

/// Reads bitcode or textual IR. The error is LLVM's own message.
pub(crate) fn parse<'ctx>(
    context: &'ctx Context,
    data: &[u8],
    name: &str,
) -> Result<Module<'ctx>, String> {
    take_diagnostics();
    // LLVM's text reader wants a NUL behind the buffer, which the copying constructor provides.
    let buffer = MemoryBuffer::create_from_memory_range_copy(data, name);
    let result = context
        .create_module_from_ir(buffer)
        .map_err(|e| e.to_string());
    let collected = take_diagnostics();
    match result {
        Ok(module) => Ok(module),
        Err(message) if collected.is_empty() => Err(message),
        Err(message) if message.trim().is_empty() => Err(collected),
        Err(message) => Err(format!("{message}; {collected}")),
    }
}

/// The major version of the LLVM that p3-ir runs with; it reads bitcode of this version and older.
pub(crate) fn release() -> u32 {
    let mut major = 0;
    // SAFETY: LLVM takes null for what is not asked.
    unsafe { LLVMGetVersion(&mut major, std::ptr::null_mut(), std::ptr::null_mut()) };
    major
}

/// The target of modules that name none.
const DEFAULT_TRIPLE: &str = "x86_64-pc-linux-gnu";

/// Gives a module that has no triple or no data layout (written by hand) those of x86_64 Linux. A layout
/// cannot be given to a module of a target that this LLVM does not generate code for.
pub(crate) fn complete_target(module: &Module) -> Result<(), String> {
    if module.get_triple().as_str().to_bytes().is_empty() {
        module.set_triple(&TargetTriple::create(DEFAULT_TRIPLE));
    }
    let has_layout = !module.get_data_layout().as_str().to_bytes().is_empty();
    let triple = module.get_triple();
    if !has_layout && triple.as_str().to_bytes().starts_with(b"x86_64") {
        module.set_data_layout(&target_machine(&triple)?.get_target_data().get_data_layout());
    }
    Ok(())
}

/// Refuses functions of an x86_64 module for a processor that LLVM does not know or that has no 64-bit mode:
/// LLVM would end the process once it asks what such a processor can do.
pub(crate) fn check_processors(module: &Module) -> Result<(), String> {
    if !is_for_x86_64(module) {
        return Ok(());
    }
    let machine = target_machine(&module.get_triple())?;
    // SAFETY: both handles are valid; the machine is for the module's target.
    let bad = unsafe { p3_find_bad_processor(module.as_mut_ptr(), machine.as_mut_ptr()) };
    match wrap(bad) {
        None => Ok(()),
        Some(function) => Err(format!(
            "function '{}' is for a processor that LLVM does not know or that has no 64-bit mode",
            function.name_text()
        )),
    }
}

/// Whether the module is for a target that this LLVM generates code for.
fn is_for_x86_64(module: &Module) -> bool {
    module
        .get_triple()
        .as_str()
        .to_bytes()
        .starts_with(b"x86_64")
}

/// A message of one of our wrappers.
fn take_message(raw: *mut c_char) -> Option<String> {
    if raw.is_null() {
        return None;
    }
    // SAFETY: made by LLVMCreateMessage, and ours to dispose of.
    unsafe {
        let text = CStr::from_ptr(raw).to_string_lossy().into_owned();
        LLVMDisposeMessage(raw);
        Some(text)
    }
}

/// Takes features of processors and processors to tune for that LLVM does not know, and ignores with a message each
/// time that it sees one, out of the functions of an x86_64 module. Returns them. LLVM prints some of its messages once
/// more.
pub(crate) fn drop_unknown_features(module: &Module) -> Result<Option<String>, String> {
    if !is_for_x86_64(module) {
        return Ok(None);
    }
    let machine = target_machine(&module.get_triple())?;
    // SAFETY: both handles are valid; the machine is for the module's target.
    let dropped = unsafe { p3_drop_unknown_features(module.as_mut_ptr(), machine.as_mut_ptr()) };
    Ok(take_message(dropped))
}

/// Takes characters that would break the module's text out of the names of garbage collectors. Returns the functions that
/// had such a name.
pub(crate) fn clean_collector_names(module: &Module) -> Option<String> {
    take_message(unsafe { p3_clean_collector_names(module.as_mut_ptr()) })
}

/// Whether LLVM's assembler takes the file-level assembly of an x86_64 module; the error is its first one.
pub(crate) fn check_assembly(module: &Module) -> Result<(), String> {
    if !is_for_x86_64(module) {
        return Ok(());
    }
    let machine = target_machine(&module.get_triple())?;
    // SAFETY: both handles are valid; the machine is for the module's target.
    let error = unsafe { p3_find_assembly_error(module.as_mut_ptr(), machine.as_mut_ptr()) };
    take_message(error).map_or(Ok(()), Err)
}

/// A function or variable with a vector of more elements than LLVM's passes can treat one by one.
pub(crate) fn huge_vector(module: &Module) -> Option<Value> {
    const MOST: u64 = 1 << 16;
    wrap(unsafe { p3_find_huge_vector(module.as_mut_ptr(), MOST) })
}

/// Aliases of aliases become aliases of what those are of. LLVM goes along such a chain for each of its members,
/// again and again.
pub(crate) fn flatten_aliases(module: &Module) {
    unsafe { p3_flatten_aliases(module.as_mut_ptr()) }
}

/// The name of the source file, as the compiler was given it.
pub(crate) fn source_file(module: &Module) -> String {
    module.get_source_file_name().to_string_lossy().into_owned()
}

/// The triple in four fields (`x86_64-linux-gnu` lacks the vendor).
pub(crate) fn normal_triple(module: &Module) -> String {
    let triple = module.get_triple();
    let normal = TargetMachine::normalize_triple(&triple);
    normal.as_str().to_string_lossy().into_owned()
}

/// Takes the prefix `\1` off names. It says that the name is the assembler's as it stands, which on ELF is
/// true of every name; with it, a declaration would miss its definition in another file.
pub(crate) fn drop_name_escapes(module: &Module) {
    for global in globals(module) {
        let name = global.name();
        let Some(plain) = name.strip_prefix(b"\x01") else {
            continue;
        };
        let other = std::str::from_utf8(plain)
            .ok()
            .and_then(|plain| global_named(module, plain));
        match other {
            None => global.set_name(plain),
            Some(other) if global.is_declaration() => {
                global.replace_all_uses_with(other);
                global.delete_global();
            }
            Some(other) if other.is_declaration() => {
                other.replace_all_uses_with(global);
                other.delete_global();
                global.set_name(plain);
            }
            // The assembler will tell.
            Some(_) => {}
        }
    }
}

/// Joins modules into one.
///
/// LLVM's linker knows what it has seen of the destination, so that a program in many files costs time in
/// proportion to its size. Nothing else may change the destination meanwhile.
pub(crate) struct Linker<'m, 'ctx> {
    raw: *mut c_void,
    destination: std::marker::PhantomData<&'m Module<'ctx>>,
}

impl<'m, 'ctx> Linker<'m, 'ctx> {
    pub(crate) fn new(destination: &'m Module<'ctx>) -> Self {
        Linker {
            // SAFETY: the destination outlives the linker.
            raw: unsafe { p3_linker_new(destination.as_mut_ptr()) },
            destination: std::marker::PhantomData,
        }
    }

    /// Links `source` in. The error is LLVM's own message.
    pub(crate) fn link(&mut self, source: Module<'ctx>) -> Result<(), String> {
        take_diagnostics();
        let raw = source.as_mut_ptr();
        std::mem::forget(source);
        // SAFETY: the linker consumes the source module in every case.
        let failed = unsafe { p3_linker_link(self.raw, raw) != 0 };
        let collected = take_diagnostics();
        match failed {
            true => Err(collected),
            false => Ok(()),
        }
    }
}

impl Drop for Linker<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: made by p3_linker_new and not used again.
        unsafe { p3_linker_delete(self.raw) }
    }
}

/// Links `source` into `destination`. The error is LLVM's own message.
pub(crate) fn link<'ctx>(destination: &Module<'ctx>, source: Module<'ctx>) -> Result<(), String> {
    take_diagnostics();
    let raw = source.as_mut_ptr();
    std::mem::forget(source);
    // SAFETY: LLVMLinkModules2 consumes the source module in every case.
    let failed = unsafe { LLVMLinkModules2(destination.as_mut_ptr(), raw) != 0 };
    let collected = take_diagnostics();
    if failed {
        Err(collected)
    } else {
        Ok(())
    }
}

/// LLVM's verifier; the error is its report.
pub(crate) fn verify(module: &Module) -> Result<(), String> {
    module.verify().map_err(|e| e.to_string())
}

/// Runs a textual pass pipeline, e.g. `function(sroa,simplifycfg)`.
pub(crate) fn run_passes(module: &Module, pipeline: &str) -> Result<(), String> {
    let triple = module.get_triple();
    let triple = if triple.as_str().to_bytes().is_empty() {
        TargetMachine::get_default_triple()
    } else {
        TargetTriple::create(&triple.as_str().to_string_lossy())
    };
    module
        .run_passes(
            pipeline,
            &target_machine(&triple)?,
            PassBuilderOptions::create(),
        )
        .map_err(|e| e.to_string())
}

fn target_machine(triple: &TargetTriple) -> Result<TargetMachine, String> {
    Target::initialize_x86(&InitializationConfig::default());
    Target::from_triple(triple)
        .map_err(|e| e.to_string())?
        .create_target_machine(
            triple,
            "",
            "",
            OptimizationLevel::Default,
            RelocMode::PIC,
            CodeModel::Default,
        )
        .ok_or_else(|| "LLVM has no code generator for this target".to_string())
}

/// Keeps only these module flags, with these behaviours.
fn keep_module_flags(module: &Module, keep: &[(&str, u32)]) {
    let names: Vec<_> = keep.iter().map(|(name, _)| c_string(name)).collect();
    let raw: Vec<_> = names.iter().map(|n| n.as_ptr()).collect();
    let behaviors: Vec<_> = keep.iter().map(|(_, behavior)| *behavior).collect();
    // SAFETY: the arrays have as many elements as the count says.
    unsafe {
        p3_keep_module_flags(
            module.as_mut_ptr(),
            raw.as_ptr(),
            behaviors.as_ptr(),
            raw.len(),
        )
    }
}

/// Removes a named metadata node, if there is one.
pub(crate) fn erase_named_metadata(module: &Module, name: &str) {
    unsafe { p3_erase_named_metadata(module.as_mut_ptr(), c_string(name).as_ptr()) }
}

macro_rules! walk {
    ($(#[$doc:meta])* $name:ident, $first:ident, $next:ident) => {
        $(#[$doc])*
        pub(crate) fn $name(module: &Module) -> Vec<Value> {
            let mut all = Vec::new();
            let mut current = wrap(unsafe { $first(module.as_mut_ptr()) });
            while let Some(value) = current {
                all.push(value);
                current = wrap(unsafe { $next(value.0) });
            }
            all
        }
    };
}

walk!(
    /// Every function, declarations and intrinsics included.
    functions, LLVMGetFirstFunction, LLVMGetNextFunction
);
walk!(
    /// Every global variable.
    variables, LLVMGetFirstGlobal, LLVMGetNextGlobal
);
walk!(
    /// Every alias.
    aliases, LLVMGetFirstGlobalAlias, LLVMGetNextGlobalAlias
);
walk!(
    /// Every ifunc.
    ifuncs, LLVMGetFirstGlobalIFunc, LLVMGetNextGlobalIFunc
);

/// Every named global of any kind.
pub(crate) fn globals(module: &Module) -> Vec<Value> {
    let mut all = functions(module);
    all.extend(variables(module));
    all.extend(aliases(module));
    all.extend(ifuncs(module));
    all
}

/// The global of any kind with this name.
pub(crate) fn global_named(module: &Module, name: &str) -> Option<Value> {
    let text = c_string(name);
    let m = module.as_mut_ptr();
    // SAFETY: plain look-ups by name; LLVM returns null where there is none.
    unsafe {
        wrap(LLVMGetNamedFunction(m, text.as_ptr()))
            .or_else(|| wrap(LLVMGetNamedGlobal(m, text.as_ptr())))
            .or_else(|| wrap(LLVMGetNamedGlobalAlias(m, text.as_ptr(), name.len())))
            .or_else(|| wrap(LLVMGetNamedGlobalIFunc(m, text.as_ptr(), name.len())))
    }
}

/// A new function declaration; LLVM makes the name unique.
pub(crate) fn add_function(module: &Module, name: &str, ty: Type) -> Value {
    Value(unsafe { LLVMAddFunction(module.as_mut_ptr(), c_string(name).as_ptr(), ty.0) })
}

/// A new global variable without initializer.
pub(crate) fn add_global(module: &Module, name: &str, ty: Type) -> Value {
    Value(unsafe { LLVMAddGlobal(module.as_mut_ptr(), ty.0, c_string(name).as_ptr()) })
}

/// Types and constants of a module's context.
pub(crate) struct Types(LLVMContextRef);

impl Types {
    pub(crate) fn of(module: &Module) -> Types {
        Types(unsafe { LLVMGetModuleContext(module.as_mut_ptr()) })
    }

    /// Those of the context that a function or a global variable belongs to.
    pub(crate) fn of_function(function: Value) -> Types {
        Types(unsafe { LLVMGetModuleContext(LLVMGetGlobalParent(function.0)) })
    }

    pub(crate) fn integer(&self, width: u32) -> Type {
        Type(unsafe { LLVMIntTypeInContext(self.0, width) })
    }

    /// `float`, `double` or `long double`, by its size in bytes.
    pub(crate) fn real(&self, size: u64) -> Type {
        Type(unsafe {
            match size {
                4 => LLVMFloatTypeInContext(self.0),
                8 => LLVMDoubleTypeInContext(self.0),
                _ => LLVMX86FP80TypeInContext(self.0),
            }
        })
    }

    pub(crate) fn pointer(&self) -> Type {
        Type(unsafe { LLVMPointerTypeInContext(self.0, 0) })
    }

    pub(crate) fn void(&self) -> Type {
        Type(unsafe { LLVMVoidTypeInContext(self.0) })
    }

    pub(crate) fn function(&self, result: Type, parameters: &[Type]) -> Type {
        let mut raw: Vec<_> = parameters.iter().map(|p| p.0).collect();
        Type(unsafe { LLVMFunctionType(result.0, raw.as_mut_ptr(), raw.len() as u32, 0) })
    }

    /// A literal struct type.
    pub(crate) fn structure(&self, fields: &[Type]) -> Type {
        let mut raw: Vec<_> = fields.iter().map(|f| f.0).collect();
        Type(unsafe { LLVMStructTypeInContext(self.0, raw.as_mut_ptr(), raw.len() as u32, 0) })
    }

    pub(crate) fn constant(&self, width: u32, value: u64) -> Value {
        Value(unsafe { LLVMConstInt(self.integer(width).0, value, 0) })
    }

    /// A constant array; `ty` is the element type.
    pub(crate) fn array(&self, ty: Type, elements: &[Value]) -> Value {
        let mut raw: Vec<_> = elements.iter().map(|e| e.0).collect();
        Value(unsafe { LLVMConstArray(ty.0, raw.as_mut_ptr(), raw.len() as u32) })
    }

    /// A constant of the struct type that these fields make.
    pub(crate) fn constant_structure(&self, fields: &[Value]) -> Value {
        let mut raw: Vec<_> = fields.iter().map(|f| f.0).collect();
        Value(unsafe { LLVMConstStructInContext(self.0, raw.as_mut_ptr(), raw.len() as u32, 0) })
    }

    /// A constant byte string with a NUL behind it.
    pub(crate) fn string(&self, bytes: &[u8]) -> Value {
        Value(unsafe {
            LLVMConstStringInContext(self.0, bytes.as_ptr().cast(), bytes.len() as u32, 0)
        })
    }
}

/// Bytes that a variable of the type takes.
pub(crate) fn size_of(module: &Module, ty: Type) -> u64 {
    // SAFETY: the layout belongs to the module.
    unsafe { LLVMABISizeOfType(LLVMGetModuleDataLayout(module.as_mut_ptr()), ty.0) }
}

/// The module's file-level assembly.
pub(crate) fn module_asm(module: &Module) -> String {
    let mut length = 0;
    // SAFETY: LLVM returns `length` bytes owned by the module.
    unsafe {
        let raw = LLVMGetModuleInlineAsm(module.as_mut_ptr(), &mut length);
        String::from_utf8_lossy(std::slice::from_raw_parts(raw.cast::<u8>(), length)).into_owned()
    }
}

pub(crate) fn set_module_asm(module: &Module, text: &str) {
    unsafe { LLVMSetModuleInlineAsm2(module.as_mut_ptr(), text.as_ptr().cast(), text.len()) }
}

/// Reduces a module's flags to those that any two modules can share.
///
/// Debug info must keep its version, or LLVM drops it; the others only tune code generation.
pub(crate) fn prepare_flags(module: &Module) {
    // LLVM's numbers of behaviours.
    const ERROR: u32 = 1;
    const WARNING: u32 = 2;
    const MAX: u32 = 7;
    const MIN: u32 = 8;
    const SHARED: &[(&str, u32)] = &[
        ("Debug Info Version", WARNING),
        ("Dwarf Version", MAX),
        ("wchar_size", ERROR),
        ("PIC Level", MIN),
        ("PIE Level", MAX),
        ("uwtable", MAX),
        ("frame-pointer", MAX),
    ];
    keep_module_flags(module, SHARED);
    erase_named_metadata(module, "llvm.linker.options");
}
