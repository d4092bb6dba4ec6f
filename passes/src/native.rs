//! Native libraries that every version gets its own copy of (`merge --native-lib`).
//!
//! Input: ELF objects or archives without bitcode. Guarantee: version i's references to what a library defines
//! go to copy i; what a copy itself needs of libc goes to version i's shims, of the program to version i. The
//! copies are files beside the product that have to be linked with it; the product names them.
//!
//! Functions that do not return stay libc's, since a shim comes back when it has ended its version: core/main.c
//! sees exit, and core/signals.c what abort raises, and both leave the copy's frames by a jump.
//!
//! Such a product is not woven.
//!
//! Not handled: `_exit` and `quick_exit` in a copy end the product.

use crate::dup::{self, Symbols};
use crate::llvm::{self, Context, Module};
use crate::{rename, runtime, Error, Result};
use inkwell::values::BasicMetadataValueEnum;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

/// The named metadata in which a product lists its copies.
const METADATA: &str = "p3.native";

/// Functions that a copy calls and does not expect to come back from.
const NO_RETURN: [&str; 7] = [
    "_Exit",
    "__assert_fail",
    "__assert_perror_fail",
    "_exit",
    "abort",
    "exit",
    "quick_exit",
];

/// The libraries of one merge.
#[derive(Default)]
pub(crate) struct Natives {
    libraries: Vec<Library>,
}

struct Library {
    file: PathBuf,
    data: Vec<u8>,
    symbols: Symbols,
}

/// A copy of a library for one version.
#[derive(Debug)]
pub struct NativeCopy {
    /// What to append to the product's file name (without extension): `.native1.0.a`
    pub suffix: String,
    /// The copy.
    pub data: Vec<u8>,
}

impl Natives {
    /// Reads the libraries.
    pub(crate) fn read(files: &[PathBuf]) -> Result<Natives> {
        let libraries = files
            .iter()
            .map(|file| {
                let data = std::fs::read(file).map_err(|e| Error::bad_input(file, e))?;
                let symbols = dup::symbols(&data, &file.to_string_lossy())?;
                Ok(Library {
                    file: file.clone(),
                    data,
                    symbols,
                })
            })
            .collect::<Result<Vec<Library>>>()?;
        Ok(Natives { libraries })
    }

    /// The name of version `index`'s copy of a symbol that some library defines.
    fn copy_name(&self, prefix: &str, name: &[u8]) -> Option<Vec<u8>> {
        self.libraries
            .iter()
            .find_map(|library| library.symbols.copy_name(prefix, name))
    }

    /// Lets the undefined symbols of a version that a library defines refer to the version's copy.
    pub(crate) fn bind(&self, module: &Module, index: usize) {
        let prefix = rename::prefix(index);
        for global in llvm::globals(module) {
            if global.is_declaration() {
                if let Some(name) = self.copy_name(&prefix, &global.name()) {
                    global.set_name(&name);
                }
            }
        }
    }

    /// What the libraries leave undefined between them.
    pub(crate) fn undefined(&self) -> HashSet<String> {
        self.libraries
            .iter()
            .flat_map(|library| library.symbols.undefined())
            .filter(|name| self.copy_name("", name).is_none())
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect()
    }

    /// Why versions that use the libraries may not alternate: a version that ends inside of one leaves the stack
    /// that they would share.
    pub(crate) fn not_woven_reason(&self) -> Option<String> {
        let undefined = self.undefined();
        NO_RETURN
            .into_iter()
            .find(|name| undefined.contains(*name))
            .map(|name| format!("a native library uses {name}"))
    }

    /// Copies the libraries for version `index`; `exported` are the names (before renaming) of the version's
    /// definitions that copies may refer to.
    pub(crate) fn copies(
        &self,
        index: usize,
        exported: &HashSet<String>,
    ) -> Result<Vec<NativeCopy>> {
        let prefix = rename::prefix(index);
        let mut copies = Vec::new();
        for (number, library) in self.libraries.iter().enumerate() {
            let mut undefined_map = HashMap::new();
            for name in library.symbols.undefined() {
                let text = String::from_utf8_lossy(name);
                let shim = format!("{}{text}", runtime::SHIM_PREFIX);
                let target = if let Some(copy) = self.copy_name(&prefix, name) {
                    copy
                } else if exported.contains(text.as_ref()) {
                    format!("{prefix}{text}").into_bytes()
                } else if exported.contains(&shim) && !NO_RETURN.contains(&text.as_ref()) {
                    format!("{prefix}{shim}").into_bytes()
                } else {
                    continue;
                };
                undefined_map.insert(name.to_vec(), target);
            }
            let options = dup::Options {
                prefix: &prefix,
                undefined_map: &undefined_map,
            };
            let data = dup::duplicate(&library.data, &library.file.to_string_lossy(), options)?;
            let extension = if data.starts_with(b"!<arch>") {
                "a"
            } else {
                "o"
            };
            copies.push(NativeCopy {
                suffix: format!(".native{}.{number}.{extension}", index + 1),
                data,
            });
        }
        Ok(copies)
    }
}

/// Lets the product name its copies; `files` are names relative to the product's directory.
pub fn record<'ctx>(
    context: &'ctx Context,
    product: &Module<'ctx>,
    files: &[String],
) -> Result<()> {
    for file in files {
        let text = context.metadata_string(file);
        let node = context.metadata_node(&[text.into()]);
        product
            .add_global_metadata(METADATA, &node)
            .map_err(|reason| Error::internal("native", reason))?;
    }
    Ok(())
}

/// The files that [`record`] has named.
pub fn recorded(product: &Module) -> Vec<String> {
    product
        .get_global_metadata(METADATA)
        .into_iter()
        .flat_map(|node| node.get_node_values())
        .flatten()
        .filter_map(|value| match value {
            BasicMetadataValueEnum::MetadataValue(text) => text.get_string_value().map(|text| {
                String::from_utf8_lossy(text)
                    .trim_end_matches('\0')
                    .to_string()
            }),
            _ => None,
        })
        .collect()
}
