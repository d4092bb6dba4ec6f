//! **link**: joins the modules of one version into one.
//!
//! Input: the loaded modules of one version. Guarantee: one module that holds them all, with module flags
//! that cannot conflict; archive members that were optional are in it if they define what was missing (the
//! entry function included), and what they miss in turn. Two strong definitions of a symbol are the input's
//! fault; the error names the symbol and both files. Local symbols of one name in several files are told
//! apart by their files' names.
//!
//! All of a version's archives are searched as one group, whatever their order; the first definition wins.
//! As for a linker, a weak reference does not make a member needed.

use crate::error::shortened;
use crate::llvm::{self, Linkage, Module};
use crate::load::{Loaded, Part};
use crate::{Error, Result};
use std::collections::{HashMap, HashSet, VecDeque};

/// Links what was loaded for the version called `name`, whose entry function has one of the names `entries`.
pub(crate) fn link<'ctx>(
    loaded: Loaded<'ctx>,
    name: &str,
    entries: &[String],
) -> Result<Module<'ctx>> {
    let parts = choose(loaded, entries)?;
    let first = parts
        .first()
        .ok_or_else(|| Error::bad_input(name, "no bitcode"))?;
    for part in &parts {
        check_same_target(&first.module, &first.place, &part.module, &part.place)?;
        llvm::prepare_flags(&part.module);
    }
    name_locals_apart(&parts);
    join(parts)
}

/// Every time it links a file, LLVM's linker goes through all symbols that it has already. More files than
/// this are linked in groups first.
const MANY: usize = 64;

fn join(parts: Vec<Part<'_>>) -> Result<Module<'_>> {
    if parts.len() <= MANY {
        return join_in_order(parts.into_iter());
    }
    let size = (parts.len() as f64).sqrt() as usize;
    let mut groups = Vec::new();
    let mut parts = parts.into_iter();
    while let Some(first) = parts.next() {
        let place = first.place.clone();
        let members = std::iter::once(first).chain(parts.by_ref().take(size));
        let module = join_in_order(members)?;
        groups.push(Part { module, place });
    }
    join_in_order(groups.into_iter())
}

fn join_in_order<'ctx>(mut parts: impl Iterator<Item = Part<'ctx>>) -> Result<Module<'ctx>> {
    let whole = parts
        .next()
        .ok_or_else(|| Error::internal("link", "a group without files"))?;
    let mut linker = llvm::Linker::new(&whole.module);
    for part in parts {
        linker
            .link(part.module)
            .map_err(|reason| Error::bad_input(part.place, reason))?;
    }
    drop(linker);
    Ok(whole.module)
}

/// Gives local functions and variables names of their own, after their source file. LLVM's linker would count
/// instead, and the same function would be called otherwise in each version.
fn name_locals_apart(parts: &[Part]) {
    let is_local = |linkage| matches!(linkage, Linkage::Internal | Linkage::Private);
    let globals = || parts.iter().flat_map(|part| llvm::globals(&part.module));
    let mut taken: HashSet<Vec<u8>> = globals()
        .filter(|global| !is_local(global.linkage()))
        .map(|global| global.name())
        .collect();
    for part in parts {
        let source = llvm::source_file(&part.module);
        let source = source.rsplit('/').next().unwrap_or_default();
        for global in llvm::globals(&part.module) {
            if global.linkage() != Linkage::Internal || taken.insert(global.name()) {
                continue;
            }
            let base = [&global.name()[..], b".", source.as_bytes()].concat();
            let mut name = base.clone();
            let mut count = 2;
            while !taken.insert(name.clone()) {
                name = [&base[..], format!(".{count}").as_bytes()].concat();
                count += 1;
            }
            global.set_name(&name);
        }
    }
}

/// The parts that make up the version, in link order: those that belong to it, then the optional ones that
/// are needed.
fn choose<'ctx>(loaded: Loaded<'ctx>, entries: &[String]) -> Result<Vec<Part<'ctx>>> {
    let mut symbols = Symbols::default();
    for entry in entries {
        symbols.refer_to(entry.as_bytes().to_vec());
    }
    let mut chosen = loaded.parts;
    for part in &chosen {
        symbols.add(part)?;
    }

    let mut optional: Vec<Option<Part>> = loaded.optional.into_iter().map(Some).collect();
    let mut providers: HashMap<Vec<u8>, usize> = HashMap::new();
    for (index, part) in optional.iter().enumerate() {
        for symbol in part.iter().flat_map(|part| definitions(&part.module)) {
            providers.entry(symbol.name).or_insert(index);
        }
    }
    while let Some(missing) = symbols.next_missing() {
        let provider = providers.get(&missing).copied();
        if let Some(part) = provider.and_then(|index| optional[index].take()) {
            symbols.add(&part)?;
            chosen.push(part);
        }
    }
    Ok(chosen)
}

/// The symbols of the parts chosen so far.
#[derive(Default)]
struct Symbols {
    /// Defined in any way.
    defined: HashSet<Vec<u8>>,
    /// Where a definition stands that allows no other.
    strong: HashMap<Vec<u8>, String>,
    /// References, in the order in which they were met; some have been defined since.
    wanted: VecDeque<Vec<u8>>,
    /// What has ever been in `wanted`.
    referred: HashSet<Vec<u8>>,
}

impl Symbols {
    fn add(&mut self, part: &Part) -> Result<()> {
        for symbol in definitions(&part.module) {
            if symbol.is_strong {
                let first = self.strong.insert(symbol.name.clone(), part.place.clone());
                if let Some(first) = first {
                    let name = shortened(String::from_utf8_lossy(&symbol.name).into_owned(), 200);
                    return Err(Error::bad_input(
                        &part.place,
                        format!("'{name}' is defined here and in {first}"),
                    ));
                }
            }
            self.defined.insert(symbol.name);
        }
        for global in llvm::globals(&part.module) {
            if global.is_declaration()
                && global.linkage() != Linkage::ExternWeak
                && !global.users().is_empty()
            {
                self.refer_to(global.name());
            }
        }
        Ok(())
    }

    fn refer_to(&mut self, name: Vec<u8>) {
        if self.referred.insert(name.clone()) {
            self.wanted.push_back(name);
        }
    }

    fn next_missing(&mut self) -> Option<Vec<u8>> {
        loop {
            let name = self.wanted.pop_front()?;
            if !self.defined.contains(&name) {
                return Some(name);
            }
        }
    }
}

struct Definition {
    name: Vec<u8>,
    /// No other module may define the symbol, except weakly.
    is_strong: bool,
}

/// What a module defines for others.
fn definitions(module: &Module) -> impl Iterator<Item = Definition> {
    llvm::globals(module).into_iter().filter_map(|global| {
        let linkage = global.linkage();
        let is_visible = !matches!(
            linkage,
            Linkage::Internal
                | Linkage::Private
                | Linkage::Appending
                | Linkage::AvailableExternally
        );
        let name = global.name();
        if global.is_declaration() || !is_visible || name.starts_with(b"llvm.") {
            return None;
        }
        Some(Definition {
            name,
            // LLVM's linker takes one of the comdats of a name.
            is_strong: linkage == Linkage::External && !global.has_comdat(),
        })
    })
}

/// Two modules that end up in one program must agree on triple and data layout. The vendor field of a triple
/// says nothing about code.
pub(crate) fn check_same_target(
    first: &Module,
    first_name: &str,
    other: &Module,
    other_name: &str,
) -> Result<()> {
    let (a, b) = (llvm::normal_triple(first), llvm::normal_triple(other));
    if without_vendor(&a) != without_vendor(&b) {
        return Err(Error::bad_input(
            other_name,
            format!("target triple {b} differs from {a} of {first_name}"),
        ));
    }
    let (a, b) = (first.get_data_layout(), other.get_data_layout());
    if *a != *b {
        return Err(Error::bad_input(
            other_name,
            format!(
                "data layout {} differs from {} of {first_name}",
                b.as_str().to_string_lossy(),
                a.as_str().to_string_lossy()
            ),
        ));
    }
    Ok(())
}

/// The fields of a normal triple but the second.
fn without_vendor(triple: &str) -> Vec<&str> {
    let fields = triple.split('-').enumerate();
    fields.filter(|(i, _)| *i != 1).map(|(_, f)| f).collect()
}
