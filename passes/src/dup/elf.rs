//! Renaming in one ELF relocatable object.
//!
//! The object is taken apart into its sections and laid out again in their old order. Only the string
//! tables, which new names are added to, and the name fields of symbols and section headers differ (and
//! in rare cases the symbol table gains symbols at its end). Everything that counts symbols or sections
//! (relocations, groups, extended section indices, address-significance tables) therefore stays valid
//! without being understood.

use std::collections::hash_map::Entry;
use std::collections::HashMap;
use std::mem::{offset_of, size_of};

use object::elf;
use object::elf::{FileHeader32, FileHeader64};
use object::read::elf::{
    Dyn, FileHeader, ProgramHeader, SectionHeader, SectionTable, Sym, SymbolTable,
};
use object::{Endian, Endianness, FileKind, SectionIndex, SymbolIndex};

use super::names::{Renaming, Symbols};

type Result<T> = std::result::Result<T, String>;

/// A renamed object.
pub(super) struct Renamed {
    pub(super) data: Vec<u8>,
    /// The global symbols that it defines, in symbol table order.
    pub(super) globals: Vec<Vec<u8>>,
}

/// Adds the names in the object `data` to `symbols`.
pub(super) fn scan(data: &[u8], symbols: &mut Symbols) -> Result<()> {
    if is_64(data)? {
        Object::<FileHeader64<Endianness>>::parse(data)?.scan(symbols)
    } else {
        Object::<FileHeader32<Endianness>>::parse(data)?.scan(symbols)
    }
}

/// Returns the object `data` under its new names.
pub(super) fn rename(data: &[u8], renaming: &Renaming) -> Result<Renamed> {
    if is_64(data)? {
        Object::<FileHeader64<Endianness>>::parse(data)?.rename(renaming)
    } else {
        Object::<FileHeader32<Endianness>>::parse(data)?.rename(renaming)
    }
}

fn is_64(data: &[u8]) -> Result<bool> {
    match FileKind::parse(data) {
        Ok(FileKind::Elf64) => Ok(true),
        Ok(FileKind::Elf32) => Ok(false),
        _ => Err("is a truncated or damaged ELF file".into()),
    }
}

/// Where an ELF class has the fields that a copy changes, and how it stores them.
trait Class: FileHeader<Endian = Endianness> {
    const E_SHOFF: usize;
    const SH_NAME: usize;
    const SH_OFFSET: usize;
    const SH_SIZE: usize;
    const SH_INFO: usize;
    const ST_NAME: usize;
    const ST_INFO: usize;
    const ST_OTHER: usize;

    fn word(endian: Endianness, value: usize) -> Result<Vec<u8>>;
}

macro_rules! class {
    ($header:ident, $section:ident, $symbol:ident, $word:ty, $bytes:ident) => {
        impl Class for elf::$header<Endianness> {
            const E_SHOFF: usize = offset_of!(elf::$header<Endianness>, e_shoff);
            const SH_NAME: usize = offset_of!(elf::$section<Endianness>, sh_name);
            const SH_OFFSET: usize = offset_of!(elf::$section<Endianness>, sh_offset);
            const SH_SIZE: usize = offset_of!(elf::$section<Endianness>, sh_size);
            const SH_INFO: usize = offset_of!(elf::$section<Endianness>, sh_info);
            const ST_NAME: usize = offset_of!(elf::$symbol<Endianness>, st_name);
            const ST_INFO: usize = offset_of!(elf::$symbol<Endianness>, st_info);
            const ST_OTHER: usize = offset_of!(elf::$symbol<Endianness>, st_other);

            fn word(endian: Endianness, value: usize) -> Result<Vec<u8>> {
                match <$word>::try_from(value) {
                    Ok(value) => Ok(endian.$bytes(value).to_vec()),
                    Err(_) => Err("is too large for its ELF class with longer names".into()),
                }
            }
        }
    };
}
class!(FileHeader32, SectionHeader32, Sym32, u32, write_u32_bytes);
class!(FileHeader64, SectionHeader64, Sym64, u64, write_u64_bytes);

struct Object<'data, Elf: Class> {
    data: &'data [u8],
    endian: Endianness,
    header: &'data Elf,
    sections: SectionTable<'data, Elf>,
    section_names: SectionIndex,
    symbols: SymbolTable<'data, Elf>,
}

struct Global<'data> {
    index: SymbolIndex,
    name: &'data [u8],
    is_defined: bool,
}

impl<'data, Elf: Class> Object<'data, Elf> {
    fn parse(data: &'data [u8]) -> Result<Self> {
        let header = Elf::parse(data).map_err(damaged)?;
        let endian = header.endian().map_err(damaged)?;
        check_type(header, endian, data)?;
        if header.phnum(endian, data).map_err(damaged)? != 0 {
            return Err("is an ELF relocatable object with program headers".into());
        }
        let sections = header.sections(endian, data).map_err(damaged)?;
        if sections.is_empty() {
            return Err("is an ELF object without sections".into());
        }
        check_ranges(data, endian, &sections)?;
        let section_names = header
            .section_strings_index(endian, data)
            .map_err(damaged)?;
        if sections.strings(endian, data, section_names).is_err() {
            return Err("is a damaged ELF file: section names are not in a string table".into());
        }
        let tables = sections
            .iter()
            .filter(|section| section.sh_type(endian) == elf::SHT_SYMTAB);
        if tables.count() > 1 {
            return Err("is an ELF object with more than one symbol table".into());
        }
        let symbols = sections
            .symbols(endian, data, elf::SHT_SYMTAB)
            .map_err(damaged)?;
        Ok(Object {
            data,
            endian,
            header,
            sections,
            section_names,
            symbols,
        })
    }

    /// The named symbols that linkers see in other objects, in symbol table order.
    fn globals(&self) -> Result<Vec<Global<'data>>> {
        let mut globals = Vec::new();
        for (index, symbol) in self.symbols.enumerate() {
            let name = self.symbol_name(symbol)?;
            if !symbol.is_local() && !name.is_empty() {
                globals.push(Global {
                    index,
                    name,
                    is_defined: !symbol.is_undefined(self.endian),
                });
            }
        }
        Ok(globals)
    }

    fn symbol_name(&self, symbol: &Elf::Sym) -> Result<&'data [u8]> {
        self.symbols
            .symbol_name(self.endian, symbol)
            .map_err(damaged)
    }

    fn section_name(&self, section: &Elf::SectionHeader) -> Result<&'data [u8]> {
        self.sections
            .section_name(self.endian, section)
            .map_err(damaged)
    }

    fn scan(&self, found: &mut Symbols) -> Result<()> {
        found.dot_symbols |= self.header.e_machine(self.endian) == elf::EM_PPC64;
        for Global {
            name, is_defined, ..
        } in self.globals()?
        {
            if name == b"__gnu_lto_slim" {
                return Err(
                    "is a GCC link-time-optimisation object without machine code: \
                     compile it with -ffat-lto-objects"
                        .into(),
                );
            }
            if is_defined {
                found.define(name);
            } else {
                found.refer(name);
            }
        }
        for section in self.sections.iter() {
            // The sections' names matter to linkers for what is in the program's memory only.
            if section.sh_flags(self.endian).into() & u64::from(elf::SHF_ALLOC) != 0 {
                found.add_section(self.section_name(section)?);
            }
        }
        Ok(())
    }

    fn rename(&self, renaming: &Renaming) -> Result<Renamed> {
        let mut edit = Edit::new(self)?;
        let mut globals = Vec::new();
        for global in self.globals()? {
            let new = renaming.symbol(global.name);
            if let Some(new) = &new {
                edit.rename_symbol(global.index, new)?;
            }
            if global.is_defined {
                globals.push(new.unwrap_or_else(|| global.name.to_vec()));
            }
        }
        for (index, section) in self.sections.enumerate() {
            let name = self.section_name(section)?;
            if let Some(new) = renaming.section(name) {
                edit.rename_section(index, &new)?;
            }
            if section.sh_type(self.endian) == elf::SHT_GROUP {
                self.rename_group(index, section, renaming, &mut edit)?;
            }
        }
        Ok(Renamed {
            data: edit.finish()?,
            globals,
        })
    }

    /// Gives a section group a signature of the copy's own, so that linkers do not take the groups of two
    /// copies for one.
    fn rename_group(
        &self,
        index: SectionIndex,
        group: &Elf::SectionHeader,
        renaming: &Renaming,
        edit: &mut Edit<'_, 'data, Elf>,
    ) -> Result<()> {
        if group.link(self.endian) != self.symbols.section() {
            return Err(format!(
                "is a damaged ELF object: section {} is a group outside the symbol table",
                index.0
            ));
        }
        let signature = SymbolIndex(group.sh_info(self.endian) as usize);
        let symbol = self.symbols.symbol(signature).map_err(damaged)?;
        let name = self.symbol_name(symbol)?;
        if name.is_empty() && symbol.st_type() == elf::STT_SECTION {
            // The section's name counts. A name for its symbol would not outlive `ld -r`.
            let section = self
                .symbols
                .symbol_section(self.endian, symbol, signature)
                .map_err(damaged)?
                .unwrap_or(SectionIndex(0));
            let section = self.sections.section(section).map_err(damaged)?;
            let new = renaming.signature(self.section_name(section)?);
            let signature = edit.add_signature(&new)?;
            edit.set_info(index, signature)
        } else if symbol.is_local() {
            edit.rename_symbol(signature, &renaming.signature(name))
        } else if symbol.is_undefined(self.endian) && renaming.own_symbol(name).is_none() {
            // References to the symbol keep meaning something outside of the library.
            let signature = edit.add_signature(&renaming.signature(name))?;
            edit.set_info(index, signature)
        } else {
            Ok(())
        }
    }
}

fn damaged(error: object::read::Error) -> String {
    format!("is a truncated or damaged ELF file: {error}")
}

/// Only relocatable objects can be renamed: in others, addresses are already assigned.
fn check_type<Elf: Class>(header: &Elf, endian: Endianness, data: &[u8]) -> Result<()> {
    let what = match header.e_type(endian) {
        elf::ET_REL => return Ok(()),
        elf::ET_EXEC => "executable",
        elf::ET_DYN if is_pie(header, endian, data) => "position-independent executable",
        elf::ET_DYN => "shared library",
        elf::ET_CORE => "core dump",
        other => return Err(format!("is an ELF file of unknown type {other}")),
    };
    Err(format!("is an ELF {what}, not a relocatable object"))
}

fn is_pie<Elf: Class>(header: &Elf, endian: Endianness, data: &[u8]) -> bool {
    let segments = header.program_headers(endian, data).unwrap_or_default();
    segments.iter().any(|segment| {
        let entries = segment.dynamic(endian, data).ok().flatten();
        entries.unwrap_or_default().iter().any(|entry| {
            entry.tag32(endian) == Some(elf::DT_FLAGS_1)
                && entry.d_val(endian).into() & u64::from(elf::DF_1_PIE) != 0
        })
    })
}

/// Sections must lie in the file. If they overlapped, laying them out apart could grow without limit.
fn check_ranges<Elf: Class>(
    data: &[u8],
    endian: Endianness,
    sections: &SectionTable<Elf>,
) -> Result<()> {
    let mut total = 0;
    for (index, section) in sections.enumerate() {
        if section.sh_type(endian) == elf::SHT_NULL {
            continue;
        }
        total += section
            .data(endian, data)
            .map_err(|_| {
                format!(
                    "is a truncated or damaged ELF file: section {} ends behind the end of the file",
                    index.0
                )
            })?
            .len();
        if total > data.len() {
            return Err("is a damaged ELF file: sections overlap".into());
        }
    }
    Ok(())
}

/// The changes to an object.
struct Edit<'object, 'data, Elf: Class> {
    object: &'object Object<'data, Elf>,
    section_headers: Vec<u8>,
    /// New contents of sections.
    contents: HashMap<SectionIndex, Vec<u8>>,
    /// Where the string tables (the first component) have the names that were added.
    added: HashMap<(SectionIndex, Vec<u8>), u32>,
}

impl<'object, 'data, Elf: Class> Edit<'object, 'data, Elf> {
    fn new(object: &'object Object<'data, Elf>) -> Result<Self> {
        let start: u64 = object.header.e_shoff(object.endian).into();
        let size = object.sections.len() * size_of::<Elf::SectionHeader>();
        let section_headers = usize::try_from(start)
            .ok()
            .and_then(|start| object.data.get(start..)?.get(..size))
            .ok_or("is a truncated ELF file")?;
        Ok(Edit {
            object,
            section_headers: section_headers.to_vec(),
            contents: HashMap::new(),
            added: HashMap::new(),
        })
    }

    fn rename_symbol(&mut self, symbol: SymbolIndex, name: &[u8]) -> Result<()> {
        let object = self.object;
        let name = self.add_string(object.symbols.string_section(), name)?;
        let table = self.contents(object.symbols.section())?;
        let field = symbol.0 * size_of::<Elf::Sym>() + Elf::ST_NAME;
        put(table, field, &object.endian.write_u32_bytes(name))
    }

    fn rename_section(&mut self, section: SectionIndex, name: &[u8]) -> Result<()> {
        let name = self.add_string(self.object.section_names, name)?;
        let name = self.object.endian.write_u32_bytes(name);
        self.put_section_field(section, Elf::SH_NAME, &name)
    }

    fn set_info(&mut self, section: SectionIndex, info: u32) -> Result<()> {
        let info = self.object.endian.write_u32_bytes(info);
        self.put_section_field(section, Elf::SH_INFO, &info)
    }

    /// Adds a symbol that only names a group. It is weak and hidden: nothing has to define it and nothing
    /// outside of a linked file sees it.
    fn add_signature(&mut self, name: &[u8]) -> Result<u32> {
        let object = self.object;
        let name = self.add_string(object.symbols.string_section(), name)?;
        let name = object.endian.write_u32_bytes(name);
        let mut symbol = vec![0; size_of::<Elf::Sym>()];
        put(&mut symbol, Elf::ST_NAME, &name)?;
        put(&mut symbol, Elf::ST_INFO, &[elf::STB_WEAK << 4])?;
        put(&mut symbol, Elf::ST_OTHER, &[elf::STV_HIDDEN])?;

        let table = self.contents(object.symbols.section())?;
        let index = table.len() / size_of::<Elf::Sym>();
        table.truncate(index * size_of::<Elf::Sym>());
        table.extend(symbol);
        let extended_indices = object.symbols.shndx_section();
        if extended_indices != SectionIndex(0) {
            let indices = self.contents(extended_indices)?;
            indices.resize((index + 1) * size_of::<u32>(), 0);
        }
        u32::try_from(index).map_err(|_| "has too many symbols".into())
    }

    /// Returns the offset of `string` in the new contents of a string table.
    fn add_string(&mut self, table: SectionIndex, string: &[u8]) -> Result<u32> {
        let key = (table, string.to_vec());
        if let Some(&offset) = self.added.get(&key) {
            return Ok(offset);
        }
        let contents = self.contents(table)?;
        if contents.last() != Some(&0) {
            contents.push(0);
        }
        let offset = u32::try_from(contents.len())
            .map_err(|_| "has too many names for an ELF string table")?;
        contents.extend(string);
        contents.push(0);
        self.added.insert(key, offset);
        Ok(offset)
    }

    /// The new contents of a section, to be changed.
    fn contents(&mut self, section: SectionIndex) -> Result<&mut Vec<u8>> {
        match self.contents.entry(section) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => {
                let object = self.object;
                let header = object.sections.section(section);
                let header = header.map_err(damaged)?;
                let old = header.data(object.endian, object.data).map_err(damaged)?;
                Ok(entry.insert(old.to_vec()))
            }
        }
    }

    fn put_section_field(
        &mut self,
        section: SectionIndex,
        field: usize,
        value: &[u8],
    ) -> Result<()> {
        let header = section.0 * size_of::<Elf::SectionHeader>();
        put(&mut self.section_headers, header + field, value)
    }

    /// Lays the object out again.
    fn finish(mut self) -> Result<Vec<u8>> {
        const HEADERS_ALIGNMENT: u64 = 8;
        let object = self.object;
        let endian = object.endian;
        let mut order: Vec<_> = object
            .sections
            .enumerate()
            .filter(|(_, section)| section.sh_type(endian) != elf::SHT_NULL)
            .collect();
        // Sections at the same offset (empty ones) stay in the order of their headers.
        order.sort_by_key(|(_, section)| section.sh_offset(endian).into());

        let mut out = object.data[..size_of::<Elf>()].to_vec();
        for (index, section) in order {
            let old = section.data(endian, object.data).map_err(damaged)?;
            let new = self.contents.remove(&index);
            let contents = new.as_deref().unwrap_or(old);
            if !contents.is_empty() {
                align(&mut out, section.sh_addralign(endian).into());
            }
            self.put_section_field(index, Elf::SH_OFFSET, &Elf::word(endian, out.len())?)?;
            if new.is_some() {
                self.put_section_field(index, Elf::SH_SIZE, &Elf::word(endian, contents.len())?)?;
            }
            out.extend(contents);
        }
        align(&mut out, HEADERS_ALIGNMENT);
        let headers = Elf::word(endian, out.len())?;
        put(&mut out, Elf::E_SHOFF, &headers)?;
        out.extend(self.section_headers);
        Ok(out)
    }
}

/// Pads to an alignment. A section's place in an object's file does not matter to the program, so a
/// great alignment of its memory need not be kept here.
fn align(out: &mut Vec<u8>, alignment: u64) {
    const MAX: u64 = 64;
    let alignment = alignment.clamp(1, MAX) as usize;
    out.resize(out.len().next_multiple_of(alignment), 0);
}

fn put(bytes: &mut [u8], offset: usize, value: &[u8]) -> Result<()> {
    bytes
        .get_mut(offset..)
        .and_then(|bytes| bytes.get_mut(..value.len()))
        .ok_or("is a truncated ELF file")?
        .copy_from_slice(value);
    Ok(())
}
