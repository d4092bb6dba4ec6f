//! Which names a copy changes, and to what.

use std::collections::{BTreeSet, HashMap};

use super::Options;

/// The global names of an object or archive.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Symbols {
    /// As spelled in the symbol tables, `name@VERSION` included.
    defined: BTreeSet<Vec<u8>>,
    /// What a reference may say to mean one of `defined`.
    binds: BTreeSet<Vec<u8>>,
    referenced: BTreeSet<Vec<u8>>,
    /// Sections for which linkers make `__start_X` and `__stop_X`.
    sections: BTreeSet<Vec<u8>>,
    /// Whether the machine's functions have entry points named by a dot before the function's name.
    pub(super) dot_symbols: bool,
}

/// Prefixes that linkers put before a section's name for symbols of their own.
const SECTION_BOUNDS: [&[u8]; 4] = [b"__start_", b"__stop_", b".startof.", b".sizeof."];

impl Symbols {
    /// The names of the defined global symbols as they are spelled in the symbol tables, in order.
    pub fn defined(&self) -> impl Iterator<Item = &[u8]> {
        self.defined.iter().map(Vec::as_slice)
    }

    /// The names that are referred to and not defined in any member, in order.
    pub fn undefined(&self) -> impl Iterator<Item = &[u8]> {
        self.referenced
            .iter()
            .map(Vec::as_slice)
            .filter(|name| !self.is_bound(name))
    }

    /// The name in the copy with this prefix of what `name` refers to outside the library; nothing if the
    /// library does not define it.
    pub fn copy_name(&self, prefix: &str, name: &[u8]) -> Option<Vec<u8>> {
        let spelling = Spelling::parse(name, self.dot_symbols);
        if self.defines(&spelling) {
            return Some(spelling.with_prefix(prefix.as_bytes()));
        }
        let (bound, section) = self.section_bound(name)?;
        Some([bound, prefix.as_bytes(), section].concat())
    }

    pub(super) fn define(&mut self, name: &[u8]) {
        let spelling = Spelling::parse(name, self.dot_symbols);
        if spelling.version.starts_with(b"@@") || spelling.version.is_empty() {
            self.binds.insert(spelling.base.to_vec());
        }
        if !spelling.version.is_empty() {
            self.binds.insert(spelling.key());
        }
        self.defined.insert(name.to_vec());
    }

    pub(super) fn refer(&mut self, name: &[u8]) {
        if !self.referenced.contains(name) {
            self.referenced.insert(name.to_vec());
        }
    }

    pub(super) fn add_section(&mut self, name: &[u8]) {
        if is_c_identifier(name) {
            self.sections.insert(name.to_vec());
        }
    }

    fn defines(&self, name: &Spelling) -> bool {
        if name.version.is_empty() {
            self.binds.contains(name.base)
        } else {
            self.binds.contains(&name.key())
        }
    }

    /// Splits `__start_X` where X is one of the library's sections.
    fn section_bound<'a>(&self, name: &'a [u8]) -> Option<(&'static [u8], &'a [u8])> {
        SECTION_BOUNDS.iter().find_map(|&bound| {
            let section = name.strip_prefix(bound)?;
            self.sections.contains(section).then_some((bound, section))
        })
    }

    fn is_bound(&self, name: &[u8]) -> bool {
        self.defines(&Spelling::parse(name, self.dot_symbols)) || self.section_bound(name).is_some()
    }
}

/// A symbol's name taken apart.
struct Spelling<'a> {
    /// Whether a dot that makes it the name of an entry point comes first.
    dot: bool,
    base: &'a [u8],
    /// `@VERSION`, `@@VERSION` (the default version) or nothing.
    version: &'a [u8],
}

impl<'a> Spelling<'a> {
    fn parse(name: &'a [u8], dot_symbols: bool) -> Self {
        let (dot, rest) = match name.strip_prefix(b".") {
            Some(rest) if dot_symbols => (true, rest),
            _ => (false, name),
        };
        let at = rest
            .iter()
            .position(|&byte| byte == b'@')
            .filter(|&at| at > 0)
            .unwrap_or(rest.len());
        let (base, version) = rest.split_at(at);
        Spelling { dot, base, version }
    }

    fn with_prefix(&self, prefix: &[u8]) -> Vec<u8> {
        [self.dot_bytes(), prefix, self.base, self.version].concat()
    }

    fn dot_bytes(&self) -> &'static [u8] {
        if self.dot {
            b"."
        } else {
            b""
        }
    }

    /// The name with its version in the spelling of a reference.
    fn key(&self) -> Vec<u8> {
        match self.version.strip_prefix(b"@@") {
            Some(version) => [self.base, b"@", version].concat(),
            None => [self.base, self.version].concat(),
        }
    }
}

/// The names of one copy.
pub(super) struct Renaming<'a> {
    symbols: &'a Symbols,
    prefix: &'a str,
    undefined_map: &'a HashMap<Vec<u8>, Vec<u8>>,
}

impl<'a> Renaming<'a> {
    pub(super) fn new(symbols: &'a Symbols, options: &Options<'a>) -> Self {
        Renaming {
            symbols,
            prefix: options.prefix,
            undefined_map: options.undefined_map,
        }
    }

    /// A name that the copy leaves undefined and that is at the same time the new name of a definition, with
    /// that definition's old name.
    pub(super) fn captured(&self) -> Option<(&'a [u8], &'a [u8])> {
        self.symbols.undefined().find_map(|name| {
            let old = name.strip_prefix(self.prefix.as_bytes())?;
            let old = Spelling::parse(old, self.symbols.dot_symbols);
            (self.symbols.defines(&old) && self.symbol(name).is_none()).then_some((name, old.base))
        })
    }

    /// The new name of a global symbol, if it changes.
    pub(super) fn symbol(&self, name: &[u8]) -> Option<Vec<u8>> {
        if let Some(new) = self.own_symbol(name) {
            return Some(new);
        }
        if let Some(new) = self.undefined_map.get(name) {
            return Some(new.clone());
        }
        let spelling = Spelling::parse(name, self.symbols.dot_symbols);
        let new = self.undefined_map.get(spelling.base)?;
        Some([spelling.dot_bytes(), new].concat())
    }

    /// The new name of a global symbol that the library or, for its sections, the linker defines.
    pub(super) fn own_symbol(&self, name: &[u8]) -> Option<Vec<u8>> {
        self.symbols.copy_name(self.prefix, name)
    }

    /// The new name of a section group's signature, whatever symbol carries it.
    pub(super) fn signature(&self, name: &[u8]) -> Vec<u8> {
        Spelling::parse(name, self.symbols.dot_symbols).with_prefix(self.prefix.as_bytes())
    }

    /// The new name of a section, if it changes.
    pub(super) fn section(&self, name: &[u8]) -> Option<Vec<u8>> {
        self.contents_section(name).or_else(|| {
            // A relocation section is called after the section that it applies to.
            [&b".rela"[..], b".rel"].iter().find_map(|rel| {
                let target = self.contents_section(name.strip_prefix(*rel)?)?;
                Some([rel, &target[..]].concat())
            })
        })
    }

    fn contents_section(&self, name: &[u8]) -> Option<Vec<u8>> {
        const LINKONCE: &[u8] = b".gnu.linkonce.";
        const WARNING: &[u8] = b".gnu.warning.";
        // Linkers that find these use the IR in them, with the old names, in place of the machine code.
        const IR: [&[u8]; 2] = [b".gnu.lto_", b".llvm.lto"];

        let prefix = self.prefix.as_bytes();
        if self.symbols.sections.contains(name) {
            return Some([prefix, name].concat());
        }
        if let Some(rest) = name.strip_prefix(LINKONCE) {
            // Linkers keep one section of a name, as they keep one group of a signature.
            let kind = rest
                .iter()
                .position(|&byte| byte == b'.')
                .map_or(0, |dot| dot + 1);
            let (kind, key) = rest.split_at(kind);
            return Some([LINKONCE, kind, prefix, key].concat());
        }
        if let Some(symbol) = name.strip_prefix(WARNING) {
            return Some([WARNING, &self.own_symbol(symbol)?].concat());
        }
        let is_ir = IR.iter().any(|ir| name.starts_with(ir));
        is_ir.then(|| [b".", prefix, name].concat())
    }
}

/// Whether linkers make `__start_X` and `__stop_X` for a section of this name.
pub(super) fn is_c_identifier(name: &[u8]) -> bool {
    let letter = |byte: &u8| byte.is_ascii_alphabetic() || *byte == b'_';
    match name {
        [first, rest @ ..] => letter(first) && rest.iter().all(|b| letter(b) || b.is_ascii_digit()),
        [] => false,
    }
}
