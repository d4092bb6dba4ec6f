//! **load**: finds and reads the bitcode of one version.
//!
//! Input: the files of one version, each of which may be bitcode (raw or wrapped), LLVM assembly, an archive
//! of these or of objects, or an ELF file that holds or lists bitcode. Guarantee: modules that passed LLVM's
//! verifier, in the order given, each with a target triple and a data layout. Files are read by what is in
//! them, not by their names.
//!
//! Which members of an archive are linked: all of them if the archive stands first (a library is a version,
//! too); otherwise those that define what is missing, as a linker does, which is decided by
//! [`crate::link`]. Members without bitcode are left out with a warning.
//!
//! Not handled: objects other than ELF; archives inside archives. LLVM's reader may crash on hostile
//! bitcode: a program that reads such files learns through [`Observer::reading`] when to be on its guard
//! (`p3-ir` itself does the work in a child process).

mod archive;
mod bitcode;
mod elf;

use crate::error::one_line;
use crate::llvm::{self, Context, Module};
use crate::pipeline::Observer;
use crate::{Error, Result};
use object::read::{ReadCache, ReadRef};
use object::FileKind;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// One file of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// A file.
    File(PathBuf),
    /// Standard input; only one file of one version can be that.
    Stdin,
    /// What a file would hold, in memory.
    Bytes {
        /// How messages call it.
        name: String,
        /// The contents.
        data: Arc<[u8]>,
    },
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Source::File(path) => path.display().fmt(f),
            Source::Stdin => f.write_str("standard input"),
            Source::Bytes { name, .. } => f.write_str(name),
        }
    }
}

/// One version: its files are linked together.
#[derive(Clone, Debug)]
pub struct Input {
    /// At least one file.
    pub files: Vec<Source>,
}

impl Input {
    /// Reads the notation of the command line: `a.bc`, `a.bc+b.bc` for one version in two files, `-` for
    /// standard input. Names with a plus sign are files of that name if there are any: of several ways to
    /// split, the one with the longest existing names from the left is taken.
    pub fn parse(text: &OsStr) -> Input {
        let pieces: Vec<&[u8]> = text.as_bytes().split(|byte| *byte == b'+').collect();
        let mut files = Vec::new();
        let mut from = 0;
        while from < pieces.len() {
            let existing = (from + 1..=pieces.len())
                .rev()
                .map(|to| (to, pieces[from..to].join(&b'+')))
                .find(|(_, name)| Path::new(OsStr::from_bytes(name)).exists());
            let (to, name) = existing.unwrap_or_else(|| (from + 1, pieces[from].to_vec()));
            files.push(match &name[..] {
                b"-" => Source::Stdin,
                name => Source::File(PathBuf::from(OsStr::from_bytes(name))),
            });
            from = to;
        }
        Input { files }
    }

    /// How messages call this version: the file given first.
    pub fn name(&self) -> String {
        self.files
            .first()
            .map(Source::to_string)
            .unwrap_or_default()
    }
}

/// A module and where it comes from.
pub(crate) struct Part<'ctx> {
    pub(crate) module: Module<'ctx>,
    /// How messages call the place: a file, with the member or section in parentheses.
    pub(crate) place: String,
}

/// What the files of one version hold.
#[derive(Default)]
pub(crate) struct Loaded<'ctx> {
    /// The modules that belong to the version.
    pub(crate) parts: Vec<Part<'ctx>>,
    /// Members of archives that belong to it if they define what is missing.
    pub(crate) optional: Vec<Part<'ctx>>,
    pub(crate) warnings: Vec<String>,
}

/// Reads every module of a version.
pub(crate) fn load<'ctx>(
    context: &'ctx Context,
    input: &Input,
    observe: &mut dyn Observer,
) -> Result<Loaded<'ctx>> {
    let mut loader = Loader {
        context,
        observe,
        seen: HashSet::new(),
        open: Vec::new(),
        loaded: Loaded::default(),
    };
    for (index, source) in input.files.iter().enumerate() {
        let place = Place {
            label: source.to_string(),
            directory: PathBuf::from("."),
            archives: match index {
                0 => Archives::Whole,
                _ => Archives::Needed,
            },
            written: match source {
                Source::File(path) => written(path),
                _ => None,
            },
            optional: false,
        };
        let found = match source {
            Source::File(path) => loader.file(path, place.clone())?,
            Source::Stdin => loader.stream(io::stdin().lock(), &place)?,
            Source::Bytes { data, .. } => loader.content(&data[..], &place)?,
        };
        if let Found::Nothing(reason) = found {
            return Err(Error::bad_input(place.label, reason));
        }
    }
    Ok(loader.loaded)
}

/// Where something that is being read stands, and what becomes of it.
#[derive(Clone)]
struct Place {
    /// How messages call it.
    label: String,
    /// Where relative paths in it start.
    directory: PathBuf,
    archives: Archives,
    /// When the file was last written to; not known of what does not have a name.
    written: Option<SystemTime>,
    /// Its modules are linked only if they define what is missing.
    optional: bool,
}

/// Which members of an archive are linked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Archives {
    Whole,
    Needed,
    /// Inside an archive there are no others.
    Refused,
}

fn written(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|file| file.modified()).ok()
}

/// Whether a file had bitcode.
enum Found {
    Modules,
    /// None, for this reason.
    Nothing(String),
}

/// What the first bytes of a file say about it.
enum Kind {
    Bitcode,
    Elf,
    Archive,
    Text,
    /// An object file of another system.
    Foreign(&'static str),
    Unknown,
}

/// So many bytes decide what a file is.
const HEAD: usize = 4096;
/// Pipes are read into memory; this much at most, so that an endless one is noticed.
const MAX_STREAM: u64 = 4 << 30;
/// Files that list files that list files: this deep at most.
const MAX_DEPTH: usize = 16;
const UNKNOWN: &str = "neither bitcode, LLVM assembly, an ELF file nor an archive";

impl Kind {
    fn of(head: &[u8]) -> Kind {
        let is_text = |byte: &u8| *byte >= b' ' && *byte != 0x7f || byte.is_ascii_whitespace();
        if bitcode::is_bitcode(head) {
            Kind::Bitcode
        } else if head.starts_with(b"\x7fELF") {
            Kind::Elf
        } else if archive::is_archive(head) {
            Kind::Archive
        } else if head.iter().all(is_text) {
            Kind::Text
        } else {
            match FileKind::parse(head) {
                Ok(FileKind::MachO32 | FileKind::MachO64) => Kind::Foreign("Mach-O"),
                Ok(FileKind::MachOFat32 | FileKind::MachOFat64) => Kind::Foreign("Mach-O"),
                Ok(FileKind::Pe32 | FileKind::Pe64) => Kind::Foreign("PE"),
                Ok(FileKind::Wasm) => Kind::Foreign("WebAssembly"),
                _ => Kind::Unknown,
            }
        }
    }
}

struct Loader<'a, 'ctx> {
    context: &'ctx Context,
    observe: &'a mut dyn Observer,
    /// Canonical paths of the files that other files named; each is read once.
    seen: HashSet<PathBuf>,
    /// Canonical paths of the files that are being read, outermost first.
    open: Vec<PathBuf>,
    loaded: Loaded<'ctx>,
}

impl<'ctx> Loader<'_, 'ctx> {
    /// Reads a file; `place` needs no directory yet.
    fn file(&mut self, path: &Path, mut place: Place) -> Result<Found> {
        let fail = |e: io::Error| Error::bad_input(&place.label, e);
        if path.as_os_str().is_empty() {
            return Err(Error::bad_input("''", "an empty file name"));
        }
        let file = File::open(path).map_err(fail)?;
        let metadata = file.metadata().map_err(fail)?;
        if metadata.is_dir() {
            return Err(Error::bad_input(place.label, "is a directory"));
        }
        if !metadata.is_file() {
            return self.stream(file, &place);
        }
        let canonical = fs::canonicalize(path).map_err(fail)?;
        if let Some(parent) = path.parent() {
            place.directory = parent.to_path_buf();
        }
        self.open.push(canonical);
        let found = self.content(&ReadCache::new(file), &place);
        self.open.pop();
        found
    }

    /// Reads a file that another file names, once.
    fn named_file(&mut self, path: &Path, place: Place) -> Result<Found> {
        let fail = |reason: String| Error::bad_input(&place.label, reason);
        let failed = |e: io::Error| fail(e.to_string());
        // A pipe or terminal would be waited for.
        if !fs::metadata(path).map_err(failed)?.is_file() {
            return Err(fail("not a regular file".to_string()));
        }
        let canonical = fs::canonicalize(path).map_err(failed)?;
        if self.open.contains(&canonical) {
            return Err(fail("names itself".to_string()));
        }
        if self.open.len() > MAX_DEPTH {
            return Err(fail(format!(
                "more than {MAX_DEPTH} files that list each other"
            )));
        }
        if !self.seen.insert(canonical) {
            return Ok(Found::Modules);
        }
        let written = written(path);
        self.file(path, Place { written, ..place })
    }

    /// Reads something that cannot be sought in.
    fn stream(&mut self, mut stream: impl Read, place: &Place) -> Result<Found> {
        let fail = |e: io::Error| Error::bad_input(&place.label, e);
        let mut data = Vec::new();
        stream
            .by_ref()
            .take(HEAD as u64)
            .read_to_end(&mut data)
            .map_err(fail)?;
        // What cannot be used is not read to its end, which may never come.
        if !matches!(Kind::of(&data), Kind::Unknown | Kind::Foreign(_)) {
            stream
                .take(MAX_STREAM)
                .read_to_end(&mut data)
                .map_err(fail)?;
            if data.len() as u64 > MAX_STREAM {
                return Err(Error::bad_input(
                    &place.label,
                    "more than 4 GiB from a pipe",
                ));
            }
        }
        self.content(&data[..], place)
    }

    /// Reads whatever `data` is.
    fn content<'data, R: ReadRef<'data>>(&mut self, data: R, place: &Place) -> Result<Found> {
        let fail = |reason: String| Error::bad_input(&place.label, reason);
        let unreadable = |()| fail("cannot be read".to_string());
        let size = data.len().map_err(unreadable)?;
        if size == 0 {
            return Err(fail("empty file".to_string()));
        }
        let head = data
            .read_bytes_at(0, size.min(HEAD as u64))
            .map_err(unreadable)?;
        match Kind::of(head) {
            Kind::Bitcode => self.bitcode(data.read_bytes_at(0, size).map_err(unreadable)?, place),
            Kind::Text => self.assembly(data.read_bytes_at(0, size).map_err(unreadable)?, place),
            Kind::Elf => self.elf(data, place),
            Kind::Archive if place.archives == Archives::Refused => {
                Ok(Found::Nothing("an archive inside an archive".to_string()))
            }
            Kind::Archive => self.archive(data, place),
            Kind::Foreign(format) => Err(Error::unsupported(
                &place.label,
                format!("{format} file (p3-ir reads ELF files)"),
            )),
            Kind::Unknown => Ok(Found::Nothing(UNKNOWN.to_string())),
        }
    }

    fn elf<'data, R: ReadRef<'data>>(&mut self, data: R, place: &Place) -> Result<Found> {
        let found = elf::bitcode(data).map_err(|reason| Error::bad_input(&place.label, reason))?;
        match found {
            elf::Bitcode::Absent(reason) => Ok(Found::Nothing(reason.to_string())),
            elf::Bitcode::Listed { paths, linked } => {
                let mut newer = Vec::new();
                for path in &paths {
                    let file = self.listed(path, place)?;
                    if linked
                        && place
                            .written
                            .is_some_and(|then| written(&file) > Some(then))
                    {
                        newer.push(file);
                    }
                }
                if let Some(first) = newer.first() {
                    let what = match newer.len() {
                        1 => "1 listed bitcode file is".to_string(),
                        number => format!("{number} listed bitcode files are"),
                    };
                    self.loaded.warnings.push(format!(
                        "{}: {what} newer, perhaps of another build: {}",
                        place.label,
                        first.display()
                    ));
                }
                Ok(Found::Modules)
            }
            elf::Bitcode::Embedded(section, contents) => {
                let place = Place {
                    label: format!("{}({section})", place.label),
                    ..place.clone()
                };
                for content in contents {
                    self.bitcode(content, &place)?;
                }
                Ok(Found::Modules)
            }
        }
    }

    /// Reads a file that the section `.llvm_bc` of the file at `place` lists, and returns where it was found.
    fn listed(&mut self, path: &Path, place: &Place) -> Result<PathBuf> {
        let path = place.directory.join(path);
        let stored = if path.exists() {
            None
        } else {
            stored_copy(&path)
        };
        let file = stored.as_deref().unwrap_or(&path);
        let inner = Place {
            label: format!("{} (listed in {})", file.display(), place.label),
            archives: Archives::Whole,
            ..place.clone()
        };
        match self.named_file(file, inner.clone())? {
            Found::Modules => Ok(file.to_path_buf()),
            Found::Nothing(reason) => Err(Error::bad_input(inner.label, reason)),
        }
    }

    fn archive<'data, R: ReadRef<'data>>(&mut self, data: R, place: &Place) -> Result<Found> {
        let members =
            archive::members(data).map_err(|reason| Error::bad_input(&place.label, reason))?;
        if members.is_empty() {
            return Ok(Found::Nothing("archive without members".to_string()));
        }
        let mut any = false;
        let mut left_out: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for member in members {
            let inner = Place {
                label: format!("{}({})", place.label, member.name),
                archives: Archives::Refused,
                optional: place.archives == Archives::Needed,
                ..place.clone()
            };
            let found = match member.body {
                archive::Body::Inside([]) => Found::Nothing("empty".to_string()),
                archive::Body::Inside(data) => self.content(data, &inner)?,
                archive::Body::File(path) => self.named_file(&place.directory.join(path), inner)?,
            };
            match found {
                Found::Modules => any = true,
                Found::Nothing(reason) => left_out.entry(reason).or_default().push(member.name),
            }
        }
        for (reason, names) in left_out {
            self.loaded
                .warnings
                .push(left_out_warning(&place.label, &reason, &names));
        }
        Ok(match any {
            true => Found::Modules,
            false => Found::Nothing("archive without bitcode".to_string()),
        })
    }

    fn bitcode(&mut self, data: &[u8], place: &Place) -> Result<Found> {
        let fail = |reason: String| Error::bad_input(&place.label, reason);
        let units = bitcode::units(data).map_err(fail)?;
        let many = units.len() > 1;
        for (index, unit) in units.iter().enumerate() {
            let (ours, producer) = (llvm::release(), unit.producer.as_deref());
            let newer = producer.filter(|p| bitcode::llvm_release(p).is_some_and(|r| r > ours));
            if let Some(producer) = newer {
                return Err(fail(format!(
                    "bitcode of a newer LLVM ({producer}); this p3-ir reads up to LLVM {ours}"
                )));
            }
            let label = match many {
                true => format!("{} (module {})", place.label, index + 1),
                false => place.label.clone(),
            };
            self.module(
                &unit.bytes(data),
                label,
                place.optional,
                |label, message| {
                    Error::bad_input(label, format!("damaged bitcode: {}", message.text))
                },
            )?;
        }
        Ok(Found::Modules)
    }

    fn assembly(&mut self, data: &[u8], place: &Place) -> Result<Found> {
        let is_ll = place.label.trim_end_matches(')').ends_with(".ll");
        let result = self.module(
            data,
            place.label.clone(),
            place.optional,
            |label, message| {
                if message.text == "expected top-level entity" && !is_ll {
                    return Error::bad_input(label, UNKNOWN);
                }
                match message.position {
                    Some(position) => Error::bad_input(format!("{label}:{position}"), message.text),
                    None => Error::bad_input(label, message.text),
                }
            },
        );
        match result {
            // Some text; what that means is for the caller to say.
            Err(Error::BadInput { reason, .. }) if reason == UNKNOWN => Ok(Found::Nothing(reason)),
            result => result.map(|()| Found::Modules),
        }
    }

    /// Lets LLVM read and verify one module, and look at all of it that later passes trust.
    fn module(
        &mut self,
        data: &[u8],
        label: String,
        optional: bool,
        explain: impl Fn(&str, &Message) -> Error,
    ) -> Result<()> {
        self.observe.reading(&label, data.len());
        let result = self.read(data, &label, explain);
        self.observe.read();
        let (module, notes) = result?;
        let notes = notes.into_iter();
        self.loaded
            .warnings
            .extend(notes.map(|note| one_line(&format!("{label}: {note}"))));
        let part = Part {
            module,
            place: label,
        };
        match optional {
            true => self.loaded.optional.push(part),
            false => self.loaded.parts.push(part),
        }
        Ok(())
    }

    fn read(
        &self,
        data: &[u8],
        label: &str,
        explain: impl Fn(&str, &Message) -> Error,
    ) -> Result<(Module<'ctx>, Vec<String>)> {
        let internal = |reason: String| Error::internal("load", reason);
        let module = llvm::parse(self.context, data, BUFFER)
            .map_err(|text| explain(label, &Message::of(&text)))?;
        module.set_name(label);
        llvm::verify(&module)
            .map_err(|reason| Error::bad_input(label, format!("invalid IR: {reason}")))?;
        if let Some(list) = used_list(&module) {
            let reason = format!("invalid IR: the list '{list}' is used");
            return Err(Error::bad_input(label, reason));
        }
        llvm::complete_target(&module).map_err(internal)?;
        let mut notes = Vec::new();
        let features = llvm::drop_unknown_features(&module).map_err(internal)?;
        notes.extend(
            features.map(|names| {
                format!("processor features that LLVM does not know, ignored: {names}")
            }),
        );
        let collected = llvm::clean_collector_names(&module);
        notes.extend(collected.map(|functions| {
            format!(
                "garbage collectors' names that LLVM cannot write down, changed: of {functions}"
            )
        }));
        llvm::check_processors(&module).map_err(|reason| Error::bad_input(label, reason))?;
        llvm::check_assembly(&module)
            .map_err(|reason| Error::bad_input(label, format!("file-level assembly: {reason}")))?;
        if let Some(user) = llvm::huge_vector(&module) {
            let construct = format!(
                "a vector of more than 65,536 elements in '{}'",
                user.name_text()
            );
            return Err(Error::unsupported(label, construct));
        }
        const ESCAPE: &str = "llvm.localescape";
        if llvm::global_named(&module, ESCAPE).is_some_and(|escape| escape.has_uses()) {
            return Err(Error::unsupported(
                label,
                format!("{ESCAPE} (frames that other functions reach into)"),
            ));
        }
        llvm::flatten_aliases(&module);
        llvm::drop_name_escapes(&module);
        Ok((module, notes))
    }
}

/// A list for the linker or of constructors that something refers to. Linking replaces these, and LLVM's verifier
/// overlooks some references.
fn used_list(module: &Module) -> Option<&'static str> {
    const LISTS: [&str; 4] = [
        "llvm.used",
        "llvm.compiler.used",
        "llvm.global_ctors",
        "llvm.global_dtors",
    ];
    let is_used =
        |name: &&str| llvm::global_named(module, name).is_some_and(|list| !list.users().is_empty());
    LISTS.into_iter().find(is_used)
}

/// How LLVM's reader calls what it reads; its messages start so.
const BUFFER: &str = "input";

/// A message of LLVM's reader, e.g. `input:3:5: error: expected type` and the line it means below.
struct Message<'a> {
    /// `line:column`
    position: Option<&'a str>,
    text: &'a str,
}

impl Message<'_> {
    fn of(raw: &str) -> Message<'_> {
        let line = raw.trim().lines().next().unwrap_or_default();
        let rest = line.strip_prefix(BUFFER).unwrap_or(line);
        let (position, text) = rest.split_once("error: ").unwrap_or(("", rest));
        let position = position.trim_matches([':', ' ']);
        Message {
            position: (!position.is_empty()).then_some(position),
            text,
        }
    }
}

fn left_out_warning(archive: &str, reason: &str, names: &[String]) -> String {
    const SHOWN: usize = 3;
    let mut list = names[..names.len().min(SHOWN)].join(", ");
    if names.len() > SHOWN {
        list.push_str(&format!(" and {} more", names.len() - SHOWN));
    }
    format!("{archive}: members left out: {list}: {reason}")
}

/// The copy of listed bitcode that wllvm and gllvm keep in the directory WLLVM_BC_STORE, if it is set: a file
/// named by the hash of the path.
fn stored_copy(path: &Path) -> Option<PathBuf> {
    let store = std::env::var_os("WLLVM_BC_STORE")?;
    let hash = Sha256::digest(path.as_os_str().as_bytes());
    let name: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let copy = Path::new(&store).join(name);
    copy.is_file().then_some(copy)
}
