//! dup: copies a native library under other names, so that several versions can each have their own.
//!
//! Input: a native ELF relocatable object or an archive of them (thin archives too, whose members are
//! read from the file system), of either class and either byte order, for any machine.
//!
//! Guarantee: the copy is the input with every name that two copies would share replaced: the global
//! symbols that it defines (COMMON, weak, unique, thread-local and versioned ones too) wherever one of
//! its members mentions them, the signatures of its section groups, its `.gnu.linkonce` sections, and
//! its sections with C identifiers for names together with their `__start_X` and `__stop_X`. Names of
//! symbols that the input does not define stay, or change as [`Options::undefined_map`] says. Nothing
//! but names changes: section contents, relocations and symbol order are the input's. So a program that
//! links copies with different prefixes has all of the library's state once per copy, and the
//! constructors of every copy run. The same input and options give the same bytes.
//!
//! Not handled: link-time-optimisation objects without machine code and archives of bitcode (bad
//! input: merge those as bitcode); names in debug information, which stay as in the source. The IR in
//! an object that holds both IR and machine code is hidden from linkers, which would prefer it.

mod archive;
mod elf;
mod names;

use std::borrow::Cow;
use std::collections::HashMap;

use object::FileKind;

pub use names::Symbols;

use crate::{Error, Result};
use names::Renaming;

/// How [`duplicate`] renames.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// Put in front of the name of every symbol that the library defines. A C identifier.
    pub prefix: &'a str,
    /// New names, in full, for symbols that the library leaves undefined.
    pub undefined_map: &'a HashMap<Vec<u8>, Vec<u8>>,
}

/// Returns a copy of the object or archive `data` with its symbols renamed.
///
/// `name` is the file's path: errors cite it, and members of a thin archive are found relative to it.
pub fn duplicate(data: &[u8], name: &str, options: Options) -> Result<Vec<u8>> {
    check_options(name, &options)?;
    let input = Input::read(data, name)?;
    let symbols = input.symbols(name)?;
    let renaming = Renaming::new(&symbols, &options);
    if let Some((undefined, defined)) = renaming.captured() {
        return Err(Error::bad_input(
            name,
            format!(
                "refers to the undefined symbol `{}`, which would be the new name of its own `{}`; \
                 choose another prefix",
                undefined.escape_ascii(),
                defined.escape_ascii()
            ),
        ));
    }
    match &input {
        Input::Object(data) => elf::rename(data, &renaming)
            .map(|copy| copy.data)
            .map_err(|reason| Error::bad_input(name, reason)),
        Input::Archive(members) => {
            let copies = members
                .iter()
                .map(|member| {
                    let copy = elf::rename(&member.data, &renaming)
                        .map_err(|reason| Error::bad_input(member.display(name), reason))?;
                    Ok(archive::NewMember {
                        name: &member.name,
                        data: copy.data,
                        symbols: copy.globals,
                    })
                })
                .collect::<Result<Vec<_>>>()?;
            archive::write(&copies).map_err(|reason| Error::bad_input(name, reason))
        }
    }
}

/// Returns what the object or archive `data` defines and what it leaves undefined.
///
/// `name` is as in [`duplicate`].
pub fn symbols(data: &[u8], name: &str) -> Result<Symbols> {
    Input::read(data, name)?.symbols(name)
}

enum Input<'a> {
    Object(&'a [u8]),
    Archive(Vec<archive::Member<'a>>),
}

impl<'a> Input<'a> {
    fn read(data: &'a [u8], name: &str) -> Result<Self> {
        if !archive::is_archive(data) {
            check_object(data).map_err(|reason| Error::bad_input(name, reason))?;
            return Ok(Input::Object(data));
        }
        let members =
            archive::read(data, name.as_ref()).map_err(|reason| Error::bad_input(name, reason))?;
        for member in &members {
            check_object(&member.data)
                .map_err(|reason| Error::bad_input(member.display(name), reason))?;
        }
        Ok(Input::Archive(members))
    }

    fn symbols(&self, name: &str) -> Result<Symbols> {
        let mut found = Symbols::default();
        match self {
            Input::Object(data) => {
                elf::scan(data, &mut found).map_err(|reason| Error::bad_input(name, reason))?;
            }
            Input::Archive(members) => {
                for member in members {
                    elf::scan(&member.data, &mut found)
                        .map_err(|reason| Error::bad_input(member.display(name), reason))?;
                }
            }
        }
        Ok(found)
    }
}

fn check_options(name: &str, options: &Options) -> Result<()> {
    if !names::is_c_identifier(options.prefix.as_bytes()) {
        return Err(Error::bad_input(
            name,
            format!(
                "cannot be copied with the prefix `{}`: a prefix is a C identifier",
                options.prefix
            ),
        ));
    }
    match options
        .undefined_map
        .values()
        .find(|new| new.is_empty() || new.contains(&0))
    {
        Some(new) => Err(Error::bad_input(
            name,
            format!("cannot refer to a symbol named `{}`", new.escape_ascii()),
        )),
        None => Ok(()),
    }
}

/// Says what `data` is unless it begins like an ELF file.
fn check_object(data: &[u8]) -> std::result::Result<(), Cow<'static, str>> {
    if data.starts_with(&object::elf::ELFMAG) {
        return Ok(());
    }
    const BITCODE: &[&[u8]] = &[b"BC\xc0\xde", b"\xde\xc0\x17\x0b"];
    let what = if data.is_empty() {
        "is empty"
    } else if BITCODE.iter().any(|magic| data.starts_with(magic)) {
        "is LLVM bitcode, not a native object: merge it as bitcode"
    } else if archive::is_archive(data) {
        "is an archive inside an archive"
    } else if data.starts_with(&object::archive::AIX_BIG_MAGIC) {
        "is an AIX archive, not an ELF object or archive"
    } else if is_linker_script(data) {
        "is a linker script, not an object or archive: give the library that it names"
    } else if let Ok(kind) = FileKind::parse(data) {
        return Err(format!("is a {kind:?} file, not an ELF object or archive").into());
    } else {
        "is not an ELF object or archive"
    };
    Err(what.into())
}

/// Some development packages install a script under the name `libX.a`.
fn is_linker_script(data: &[u8]) -> bool {
    const WORDS: &[&str] = &["GNU ld script", "GROUP", "INPUT", "OUTPUT_FORMAT"];
    data.len() < 1 << 16
        && std::str::from_utf8(data).is_ok_and(|text| WORDS.iter().any(|word| text.contains(word)))
}
