//! **entry**: gives a version that begins with another function than `main` a `main` that calls it.
//!
//! Input: the linked modules of all versions. Guarantee: each has a `main`, and is a program as any other from here
//! on; one that is built alone gets the same. A function with the parameters of main is called with them. A fuzz
//! target (`LLVMFuzzerTestOneInput`) gets the standard input or what the files have in them that the arguments
//! name. Any other function gets arguments that are made of such bytes as its debug info says (`shape.rs`;
//! `runtime/entry` makes them), the same in all versions, and what it returns and writes is printed.
//! `F(POINTER=LENGTH, ...)` says what debug info leaves open (`lengths.rs`).
//! Not handled: functions that take functions, memory of unknown size, variable arguments, or lists of pointers.

mod driver;
mod lengths;
mod objects;
mod shape;

use crate::llvm::{self, Context, Linkage, Module, Value};
use crate::{Error, Result};
use inkwell::llvm_sys::LLVMTypeKind;
use lengths::Choice;
pub use objects::Object;
pub use shape::Signature;

/// The entry of versions that are written for a fuzzer.
const FUZZ_TARGET: &str = "LLVMFuzzerTestOneInput";

/// How one version begins.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The function that runs first.
    pub(crate) function: String,
    /// What calls it.
    pub(crate) driver: Driver,
}

/// What calls a version's function.
#[derive(Clone, Debug)]
pub(crate) enum Driver {
    /// The runtime: it is `main`.
    None,
    /// A `main` that hands on its parameters.
    Arguments,
    /// A `main` that reads its data.
    FuzzTarget,
    /// A `main` that makes its arguments of what it reads.
    Signature(Box<Signature>),
}

impl Entry {
    /// How its arguments are made, unless it gets the program's arguments or plain bytes.
    pub fn signature(&self) -> Option<&Signature> {
        match &self.driver {
            Driver::Signature(signature) => Some(signature),
            _ => None,
        }
    }

    /// Whether what it gets is made of one string of bytes.
    pub fn takes_bytes(&self) -> bool {
        matches!(self.driver, Driver::FuzzTarget | Driver::Signature(_))
    }
}

/// The function's name in `F` or `F(POINTER=LENGTH, ...)`.
pub fn function_name(entry: &str) -> &str {
    entry.split('(').next().unwrap_or_default().trim()
}

/// The names that the function `entry` may have in a version.
pub(crate) fn names(entry: &str, map: &[(String, String)]) -> Vec<String> {
    let entry = function_name(entry);
    let others = map.iter().filter_map(|(old, new)| match entry {
        _ if entry == old => Some(new.clone()),
        _ if entry == new => Some(old.clone()),
        _ => None,
    });
    std::iter::once(entry.to_string()).chain(others).collect()
}

/// Decides how the versions (read from what `files` names) begin.
pub(crate) fn plan(
    modules: &[Module],
    files: &[String],
    entry: &str,
    map: &[(String, String)],
) -> Result<Vec<Entry>> {
    let names = names(entry, map);
    let mut choice = Choice::parse(entry)?;
    let mut entries = Vec::new();
    for (module, file) in modules.iter().zip(files) {
        let function = find(module, file, &names)?;
        let driver = driver_for(module, function, file, &mut choice)?;
        entries.push(Entry {
            function: function.name_text(),
            driver,
        });
    }
    choice.check(function_name(entry))?;
    shape::agree(&mut entries, files)?;
    Ok(entries)
}

/// The definition of one of the names.
fn find(module: &Module, file: &str, names: &[String]) -> Result<Value> {
    let mut found = None;
    for name in names {
        let Some(global) = llvm::global_named(module, name) else {
            continue;
        };
        let function = global
            .strip_to_function()
            .ok_or_else(|| Error::bad_input(file, format!("'{name}' is not a function")))?;
        // An `available_externally` one is a copy of what another file defines.
        if !function.is_declaration() && function.linkage() != Linkage::AvailableExternally {
            return Ok(function);
        }
        found = found.or(Some(name));
    }
    let reason = match found {
        Some(name) => format!("entry function '{name}' is not defined"),
        None => format!("no entry function '{}'", names.join("' or '")),
    };
    Err(Error::bad_input(file, reason))
}

fn driver_for(module: &Module, function: Value, file: &str, choice: &mut Choice) -> Result<Driver> {
    let name = function.name_text();
    let types = llvm::Types::of(module);
    let parameters = function.value_type().parameter_types();
    let result = function.value_type().return_type();
    if name == "main" {
        return Ok(Driver::None);
    }
    if name == FUZZ_TARGET {
        let wanted = [types.pointer(), types.integer(64)];
        if parameters != wanted || result != types.integer(32) {
            let reason = format!("'{FUZZ_TARGET}' is not int (const uint8_t *, size_t)");
            return Err(Error::bad_input(file, reason));
        }
        return Ok(Driver::FuzzTarget);
    }
    let is_status = result.is_void() || result.integer_width() == Some(32);
    let is_as_main = match parameters.as_slice() {
        [] => is_status,
        [count, rest @ ..] => {
            is_status
                && count.integer_width() == Some(32)
                && (1..=2).contains(&rest.len())
                && rest
                    .iter()
                    .all(|ty| ty.kind() == LLVMTypeKind::LLVMPointerTypeKind)
        }
    };
    if is_as_main && shape::says_main(function) {
        return Ok(Driver::Arguments);
    }
    let signature = Signature::read(function, file, choice)?;
    Ok(Driver::Signature(Box::new(signature)))
}

/// Gives a version its `main`.
pub(crate) fn drive<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    entry: &Entry,
) -> Result<()> {
    driver::drive(context, module, entry)
}
