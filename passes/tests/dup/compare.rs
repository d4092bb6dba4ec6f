//! Compares an object or archive with its copy: nothing but names may differ, and these in the way promised.
//! Reads both files with `object` on its own, sharing nothing with the code under test.

use object::elf;
use object::read::archive::ArchiveFile;
use object::read::elf::{FileHeader, SectionHeader, Sym};
use object::{Endianness, FileKind, SymbolIndex};
use std::collections::{BTreeMap, BTreeSet};

/// Old and new names of one object.
#[derive(Default)]
pub struct Names {
    /// Defined global symbols.
    pub defined: BTreeMap<String, String>,
    pub undefined: BTreeMap<String, String>,
    pub local: Vec<(String, String)>,
    pub sections: Vec<(String, String)>,
    /// Signatures of section groups.
    pub groups: Vec<(String, String)>,
}

/// Compares two objects and returns their names.
pub fn objects(old: &[u8], new: &[u8]) -> Names {
    match FileKind::parse(old).unwrap() {
        FileKind::Elf32 => elf_objects::<elf::FileHeader32<Endianness>>(old, new),
        FileKind::Elf64 => elf_objects::<elf::FileHeader64<Endianness>>(old, new),
        other => panic!("{other:?}"),
    }
}

/// Compares two archives member by member and returns all names, and checks the index of the new one.
pub fn archives(old: &[u8], new: &[u8]) -> Names {
    let mut all = Names::default();
    let old = ArchiveFile::parse(old)
        .map(|archive| (archive, old))
        .unwrap();
    let new = ArchiveFile::parse(new)
        .map(|archive| (archive, new))
        .unwrap();
    let mut old_members = old.0.members();
    let mut index: BTreeSet<(u64, Vec<u8>)> = BTreeSet::new();
    for new_member in new.0.members() {
        let (old_member, new_member) = (old_members.next().unwrap().unwrap(), new_member.unwrap());
        assert_eq!(old_member.name(), new_member.name());
        let new_data = new_member.data(new.1).unwrap();
        let names = objects(old_member.data(old.1).unwrap(), new_data);
        let header =
            new_member.file_range().0 - std::mem::size_of::<object::archive::Header>() as u64;
        index.extend(
            names
                .defined
                .values()
                .map(|name| (header, name.clone().into())),
        );
        all.defined.extend(names.defined);
        all.undefined.extend(names.undefined);
        all.local.extend(names.local);
        all.sections.extend(names.sections);
        all.groups.extend(names.groups);
    }
    assert!(old_members.next().is_none());
    if let Some(symbols) = new.0.symbols().unwrap() {
        let written: BTreeSet<_> = symbols
            .map(|symbol| symbol.unwrap())
            .map(|symbol| (symbol.offset().0, symbol.name().to_vec()))
            .collect();
        assert_eq!(written, index);
    } else {
        assert!(index.is_empty());
    }
    all
}

/// Checks that every name in `names` has changed by the rules for a library without versioned symbols and
/// without dot symbols.
pub fn assert_prefixed(names: &Names, prefix: &str) {
    for (old, new) in &names.defined {
        assert_eq!(*new, format!("{prefix}{old}"));
    }
    for (old, new) in &names.undefined {
        let bound = ["__start_", "__stop_"].iter().find_map(|bound| {
            let section = old.strip_prefix(bound)?;
            let known = names.sections.iter().any(|(old, _)| old == section);
            known.then(|| format!("{bound}{prefix}{section}"))
        });
        let expected = match bound {
            _ if names.defined.contains_key(old) => format!("{prefix}{old}"),
            Some(name) => name,
            None => old.clone(),
        };
        assert_eq!(*new, expected);
    }
    for (old, new) in &names.groups {
        assert_eq!(*new, format!("{prefix}{old}"));
    }
}

struct Parsed<'data, Elf: FileHeader> {
    data: &'data [u8],
    endian: Elf::Endian,
    header: &'data Elf,
    sections: object::read::elf::SectionTable<'data, Elf>,
    symbols: object::read::elf::SymbolTable<'data, Elf>,
}

impl<'data, Elf: FileHeader<Endian = Endianness>> Parsed<'data, Elf> {
    fn new(data: &'data [u8]) -> Self {
        let header = Elf::parse(data).unwrap();
        let endian = header.endian().unwrap();
        let sections = header.sections(endian, data).unwrap();
        let symbols = sections.symbols(endian, data, elf::SHT_SYMTAB).unwrap();
        Parsed {
            data,
            endian,
            header,
            sections,
            symbols,
        }
    }

    fn section_name(&self, section: &Elf::SectionHeader) -> String {
        text(self.sections.section_name(self.endian, section).unwrap())
    }

    fn symbol_name(&self, symbol: &Elf::Sym) -> String {
        text(self.symbols.symbol_name(self.endian, symbol).unwrap())
    }

    fn signature(&self, group: &Elf::SectionHeader) -> String {
        let index = SymbolIndex(group.sh_info(self.endian) as usize);
        let symbol = self.symbols.symbol(index).unwrap();
        let name = self.symbol_name(symbol);
        if !name.is_empty() || symbol.st_type() != elf::STT_SECTION {
            return name;
        }
        let section = self.symbols.symbol_section(self.endian, symbol, index);
        let section = self.sections.section(section.unwrap().unwrap()).unwrap();
        self.section_name(section)
    }
}

fn text(name: &[u8]) -> String {
    String::from_utf8(name.to_vec()).unwrap()
}

fn elf_objects<Elf: FileHeader<Endian = Endianness>>(old: &[u8], new: &[u8]) -> Names {
    let (old, new) = (Parsed::<Elf>::new(old), Parsed::<Elf>::new(new));
    let endian = old.endian;
    let mut names = Names::default();

    assert_eq!(
        format!("{:?}", old.header.e_ident()),
        format!("{:?}", new.header.e_ident())
    );
    assert_eq!(old.header.e_type(endian), new.header.e_type(endian));
    assert_eq!(old.header.e_machine(endian), new.header.e_machine(endian));
    assert_eq!(old.header.e_flags(endian), new.header.e_flags(endian));
    assert_eq!(old.header.e_shnum(endian), new.header.e_shnum(endian));
    assert_eq!(old.header.e_shstrndx(endian), new.header.e_shstrndx(endian));
    assert_eq!(old.sections.len(), new.sections.len());
    let section_names = old.header.section_strings_index(endian, old.data).unwrap();
    let name_tables = [section_names, old.symbols.string_section()];
    let mut signatures_added = 0;

    for ((index, a), b) in old.sections.enumerate().zip(new.sections.iter()) {
        names
            .sections
            .push((old.section_name(a), new.section_name(b)));
        assert_eq!(a.sh_type(endian), b.sh_type(endian));
        assert_eq!(a.sh_flags(endian).into(), b.sh_flags(endian).into());
        assert_eq!(a.sh_addr(endian).into(), b.sh_addr(endian).into());
        assert_eq!(a.sh_link(endian), b.sh_link(endian));
        assert_eq!(a.sh_addralign(endian).into(), b.sh_addralign(endian).into());
        assert_eq!(a.sh_entsize(endian).into(), b.sh_entsize(endian).into());
        match a.sh_type(endian) {
            elf::SHT_NULL | elf::SHT_NOBITS => {
                assert_eq!(a.sh_size(endian).into(), b.sh_size(endian).into());
            }
            _ => {
                let (a, b) = (
                    a.data(endian, old.data).unwrap(),
                    b.data(endian, new.data).unwrap(),
                );
                if name_tables.contains(&index) {
                    assert!(b.starts_with(a), "section {}", index.0);
                } else if index != old.symbols.section() && index != old.symbols.shndx_section() {
                    assert_eq!(a, b, "section {}", index.0);
                }
            }
        }
        if a.sh_info(endian) != b.sh_info(endian) {
            assert_eq!(a.sh_type(endian), elf::SHT_GROUP);
            assert!(b.sh_info(endian) as usize >= old.symbols.len());
            signatures_added += 1;
        }
        if a.sh_type(endian) == elf::SHT_GROUP {
            names.groups.push((old.signature(a), new.signature(b)));
        }
    }

    assert_eq!(old.symbols.len() + signatures_added, new.symbols.len());
    for ((index, a), b) in old.symbols.enumerate().zip(new.symbols.iter()) {
        assert_eq!(a.st_info(), b.st_info());
        assert_eq!(a.st_other(), b.st_other());
        assert_eq!(a.st_shndx(endian), b.st_shndx(endian));
        assert_eq!(
            old.symbols.shndx(endian, index),
            new.symbols.shndx(endian, index)
        );
        assert_eq!(a.st_value(endian).into(), b.st_value(endian).into());
        assert_eq!(a.st_size(endian).into(), b.st_size(endian).into());
        let pair = (old.symbol_name(a), new.symbol_name(b));
        if a.is_local() || pair.0.is_empty() {
            names.local.push(pair);
        } else if a.is_undefined(endian) {
            names.undefined.insert(pair.0, pair.1);
        } else {
            names.defined.insert(pair.0, pair.1);
        }
    }
    for symbol in new.symbols.iter().skip(old.symbols.len()) {
        assert!(symbol.is_weak() && symbol.is_undefined(endian));
    }
    names
}
