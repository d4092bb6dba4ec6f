//! Bitcode in ELF files: embedded, or listed by path.
//!
//! wllvm, gllvm and rllvm write the path of each object's bitcode into its section `.llvm_bc`; the linker
//! concatenates these sections. `-fembed-bitcode` puts the bitcode itself into `.llvmbc`,
//! `-ffat-lto-objects` into `.llvm.lto`, again concatenated. A list wins over embedded bitcode, because in a
//! program built with a wrapper it is the list that covers every object.

use object::read::{Object, ObjectSection, ReadRef};
use object::ObjectKind;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// What an ELF file says about its bitcode.
pub(super) enum Bitcode<'data> {
    /// Paths of bitcode files, in the order of the objects.
    Listed {
        paths: Vec<PathBuf>,
        /// The file came from a linker, after all of these.
        linked: bool,
    },
    /// The sections of this name.
    Embedded(&'static str, Vec<&'data [u8]>),
    /// None, for this reason.
    Absent(&'static str),
}

const LIST: &[u8] = b".llvm_bc";
const EMBEDDED: [&str; 2] = [".llvmbc", ".llvm.lto"];

/// Finds the bitcode of an ELF file. The error is the reason why the file cannot be read.
pub(super) fn bitcode<'data, R: ReadRef<'data>>(data: R) -> Result<Bitcode<'data>, String> {
    let damaged = |e: object::Error| format!("damaged ELF file: {e}");
    let file = object::File::parse(data).map_err(damaged)?;
    let contents = |name: &[u8]| -> Result<Vec<&'data [u8]>, String> {
        let sections = file.sections().filter(|s| s.name_bytes() == Ok(name));
        sections.map(|s| s.data().map_err(damaged)).collect()
    };
    let lists = contents(LIST)?;
    if !lists.is_empty() {
        let paths: Vec<PathBuf> = lists.into_iter().flat_map(paths).collect();
        return Ok(match paths.is_empty() {
            true => Bitcode::Absent("ELF file whose section .llvm_bc is empty"),
            false => Bitcode::Listed {
                paths,
                linked: file.kind() != ObjectKind::Relocatable,
            },
        });
    }
    for name in EMBEDDED {
        let sections = contents(name.as_bytes())?;
        if sections.iter().any(|s| s.iter().any(|byte| *byte != 0)) {
            return Ok(Bitcode::Embedded(name, sections));
        }
        if !sections.is_empty() {
            return Ok(Bitcode::Absent(
                "ELF file with a bitcode marker only (compile with -fembed-bitcode=all)",
            ));
        }
    }
    Ok(Bitcode::Absent(
        "ELF file without bitcode (no section .llvm_bc, .llvmbc or .llvm.lto)",
    ))
}

/// Splits a list. Linkers pad between the objects' parts with NULs.
fn paths(section: &[u8]) -> impl Iterator<Item = PathBuf> + '_ {
    section
        .split(|byte| matches!(byte, 0 | b'\n' | b'\r'))
        .filter(|path| !path.is_empty())
        .map(|path| PathBuf::from(OsStr::from_bytes(path)))
}
