//! **rename**: takes every symbol of a version out of the common name space.
//!
//! Input: an isolated version (its own runtime linked in). Guarantee: every definition of version i (counted
//! from 1) is called `_PPi_name` and has internal linkage, so nothing of two versions can meet in the linker;
//! undefined functions keep their names (libc, KLEE's and LLVM's intrinsics). Sections whose names are C
//! identifiers, and the `__start_`/`__stop_` symbols that the linker makes for them, become the version's own.
//! Assembly, of files and inline, follows as far as its words are symbols of the version.

use crate::assembly;
use crate::isolate::SHIELD;
use crate::llvm::{self, Linkage, Module, Value};
use std::collections::{HashMap, HashSet};

/// The prefix of version `index` (0-based).
pub(crate) fn prefix(index: usize) -> String {
    format!("_PP{}_", index + 1)
}

/// Renames the symbols of version `index`; returns warnings. Definitions named in `exported` stay visible under
/// their new names.
pub(crate) fn rename(module: &Module, index: usize, exported: &HashSet<String>) -> Vec<String> {
    let prefix = prefix(index);
    let asm = llvm::module_asm(module);
    let inline = inline_assembly(module);
    let texts = || inline.iter().map(|(_, text)| text).chain([&asm]);
    let words: HashSet<&str> = texts().flat_map(|text| assembly::names(text)).collect();
    let asm_defined: HashSet<&str> = texts()
        .flat_map(|text| assembly::definitions(text))
        .collect();
    let mut renamed: HashMap<String, String> = HashMap::new();
    let mut warnings = Vec::new();

    use_ifuncs_by_their_names(module);
    let gathered = rename_sections(module, &prefix);
    for global in llvm::globals(module) {
        let full = global.name();
        let name = full.strip_suffix(SHIELD.as_bytes()).unwrap_or(&full);
        if name.starts_with(b"llvm.") || name.is_empty() {
            continue;
        }
        let text = String::from_utf8_lossy(name).into_owned();
        if global.is_declaration() {
            if asm_defined.contains(text.as_str()) {
                renamed.insert(text.clone(), format!("{prefix}{text}"));
                global.set_name(format!("{prefix}{text}").as_bytes());
            }
            continue;
        }
        let mut new_name = prefix.clone().into_bytes();
        // A leading \1 asks for the name as it is, without the target's own prefix.
        match name.strip_prefix(b"\x01") {
            Some(rest) => {
                new_name.insert(0, 1);
                new_name.extend_from_slice(rest);
            }
            None => new_name.extend_from_slice(name),
        }
        global.drop_comdat();
        global.set_name(&new_name);
        if words.contains(text.as_str()) || exported.contains(&text) {
            // The assembler and the linker see only symbols that exist in the object file under these names.
            global.set_external();
            renamed.insert(text.clone(), format!("{prefix}{text}"));
        } else if gathered.contains(&global) {
            global.set_external();
        } else if global.linkage() != Linkage::Private {
            global.set_internal();
        }
    }
    for name in asm_defined {
        renamed
            .entry(name.to_string())
            .or_insert_with(|| format!("{prefix}{name}"));
    }
    for (call, text) in &inline {
        call.set_inline_assembly(&assembly::rename(text, &renamed));
    }
    if !asm.trim().is_empty() {
        llvm::set_module_asm(module, &assembly::rename(&asm, &renamed));
        warnings.push(format!(
            "version {} has file-level assembly: symbols in it were renamed by name, its data is as written",
            index + 1
        ));
    }
    warnings
}

/// The calls of inline assembly, with its text.
fn inline_assembly(module: &Module) -> Vec<(Value, String)> {
    let functions = llvm::functions(module).into_iter();
    functions
        .flat_map(|function| function.blocks())
        .flat_map(|block| block.instructions())
        .filter(|instruction| instruction.is_call())
        .filter_map(|call| Some((call, call.inline_assembly()?)))
        .collect()
}

/// Puts ifuncs in the place of their aliases: an alias that is local to its file is no ifunc to the linker, but the
/// function that chooses.
fn use_ifuncs_by_their_names(module: &Module) {
    for alias in llvm::aliases(module) {
        if let Some(ifunc) = alias.behind_aliases().filter(|target| target.is_ifunc()) {
            alias.replace_all_uses_with(ifunc);
        }
    }
}

/// Whether the linker makes `__start_NAME` and `__stop_NAME` for a section of this name.
fn is_c_identifier(name: &str) -> bool {
    let mut characters = name.chars();
    characters
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns the definitions that have to stay though nothing names them: those that the source made visible to
/// other files, in a section that the program goes through from `__start_X` to `__stop_X`.
fn rename_sections(module: &Module, prefix: &str) -> HashSet<Value> {
    let objects = llvm::functions(module)
        .into_iter()
        .chain(llvm::variables(module));
    let mut gone_through: HashSet<String> = HashSet::new();
    let mut members: Vec<(Value, String)> = Vec::new();
    let mut bounds: Vec<(Value, String)> = Vec::new();
    for object in objects {
        if object.is_declaration() {
            let name = object.name_text();
            if let Some(section) = ["__start_", "__stop_"]
                .iter()
                .find_map(|bound| name.strip_prefix(bound))
            {
                let bound = name.len() - section.len();
                let new_name = format!("{}{prefix}{section}", &name[..bound]);
                bounds.push((object, new_name));
                gone_through.insert(section.to_string());
            }
        } else if let Some(section) = object.section() {
            if is_c_identifier(&section) {
                object.set_section(&format!("{prefix}{section}"));
                members.push((object, section));
            }
        }
    }
    for (bound, name) in bounds {
        bound.set_name(name.as_bytes());
    }
    members
        .into_iter()
        .filter(|(object, section)| {
            object.linkage() == Linkage::External && gone_through.contains(section)
        })
        .map(|(object, _)| object)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c_identifiers() {
        assert!(is_c_identifier("my_set"));
        assert!(!is_c_identifier(".text.hot"));
        assert!(!is_c_identifier("1st"));
    }
}
