//! Archives of objects: read in the GNU (thin too), System V and BSD formats, written in GNU format.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::mem::size_of;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use object::archive::{Header, MAGIC, TERMINATOR, THIN_MAGIC};
use object::pod;

/// Thin archives can refer to members of archives, which can be thin.
const MAX_DEPTH: usize = 8;

/// A member of an archive that is read.
pub(super) struct Member<'a> {
    pub(super) name: Vec<u8>,
    pub(super) data: Cow<'a, [u8]>,
}

impl Member<'_> {
    /// The member as messages call it.
    pub(super) fn display(&self, archive: &str) -> String {
        format!("{archive}({})", String::from_utf8_lossy(&self.name))
    }
}

/// A member of an archive that is written.
pub(super) struct NewMember<'a> {
    pub(super) name: &'a [u8],
    pub(super) data: Vec<u8>,
    /// What the archive's symbol index says of it.
    pub(super) symbols: Vec<Vec<u8>>,
}

pub(super) fn is_archive(data: &[u8]) -> bool {
    data.starts_with(&MAGIC) || data.starts_with(&THIN_MAGIC)
}

/// Reads all members of the archive `data`, which was read from `path`.
pub(super) fn read<'a>(data: &'a [u8], path: &Path) -> Result<Vec<Member<'a>>, String> {
    entries(data)?
        .into_iter()
        .map(|entry| {
            let data = match entry.data {
                Some(data) => Cow::Borrowed(data),
                None => Cow::Owned(read_thin(&entry, path, MAX_DEPTH)?),
            };
            let name = match entry.name.iter().rposition(|&byte| byte == b'/') {
                Some(slash) if entry.data.is_none() => entry.name[slash + 1..].to_vec(),
                _ => entry.name.to_vec(),
            };
            Ok(Member { name, data })
        })
        .collect()
}

/// A member's header, and its contents if the archive has them.
struct Entry<'a> {
    /// Where the header is.
    offset: usize,
    name: &'a [u8],
    data: Option<&'a [u8]>,
    /// For a member of the archive `name`: where its header is there.
    origin: Option<usize>,
}

fn entries(data: &[u8]) -> Result<Vec<Entry<'_>>, String> {
    let thin = data.starts_with(&THIN_MAGIC);
    let mut entries = Vec::new();
    let mut long_names: &[u8] = b"";
    let mut next = MAGIC.len();
    while next < data.len() {
        let offset = next;
        let truncated = || format!("is a truncated or damaged archive: no member at byte {offset}");
        let (header, rest) =
            pod::from_bytes::<Header>(&data[offset..]).map_err(|()| truncated())?;
        if header.terminator != TERMINATOR {
            return Err(truncated());
        }
        let size = number(&header.size).ok_or_else(truncated)?;
        let name = header.name.trim_ascii_end();
        let special = matches!(name, b"/" | b"//" | b"/SYM64/" | b"/<ECSYMBOLS>/");
        let contents = if thin && !special {
            None
        } else {
            Some(rest.get(..size).ok_or_else(truncated)?)
        };
        next = offset + size_of::<Header>() + contents.map_or(0, |contents| contents.len());
        next += next % 2;

        let mut entry = Entry {
            offset,
            name,
            data: contents,
            origin: None,
        };
        if name == b"//" {
            long_names = contents.unwrap_or_default();
        }
        if special {
            continue;
        }
        if let Some(reference) = name.strip_prefix(b"/") {
            let (name, origin) = long_name(reference, long_names).ok_or_else(truncated)?;
            entry.name = name;
            entry.origin = origin;
        } else if let (Some(length), Some(contents)) = (name.strip_prefix(b"#1/"), contents) {
            let length = number(length).ok_or_else(truncated)?;
            if length > contents.len() {
                return Err(truncated());
            }
            let (name, contents) = contents.split_at(length);
            let end = name.iter().position(|&byte| byte == 0).unwrap_or(length);
            entry.name = &name[..end];
            entry.data = Some(contents);
        } else {
            entry.name = name.strip_suffix(b"/").unwrap_or(name);
        }
        // The symbol index of BSD archives.
        if !entry.name.starts_with(b"__.SYMDEF") {
            entries.push(entry);
        }
    }
    Ok(entries)
}

/// Looks a name up in the table of long names. `reference` is the name's offset there and, in a thin
/// archive, may go on with a colon and a member's offset in the archive of that name.
fn long_name<'a>(reference: &[u8], long_names: &'a [u8]) -> Option<(&'a [u8], Option<usize>)> {
    let mut parts = reference.splitn(2, |&byte| byte == b':');
    let name = long_names.get(number(parts.next()?)?..)?;
    let origin = match parts.next() {
        Some(origin) => Some(number(origin)?),
        None => None,
    };
    let end = name.iter().position(|&byte| byte == b'\n' || byte == 0)?;
    let name = &name[..end];
    Some((name.strip_suffix(b"/").unwrap_or(name), origin))
}

fn number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.trim_end().parse().ok()
}

/// Reads the file that an entry of the thin archive `archive` stands for.
fn read_thin(entry: &Entry, archive: &Path, depth: usize) -> Result<Vec<u8>, String> {
    let path = archive
        .parent()
        .unwrap_or(Path::new(""))
        .join(OsStr::from_bytes(entry.name));
    let failed = |reason: &str| {
        format!(
            "is a thin archive whose member `{}` cannot be read: {reason}",
            path.display()
        )
    };
    let is_file = fs::metadata(&path)
        .map_err(|error| failed(&error.to_string()))?
        .is_file();
    if !is_file || depth == 0 {
        return Err(failed("not a regular file"));
    }
    let data = fs::read(&path).map_err(|error| failed(&error.to_string()))?;
    let Some(origin) = entry.origin else {
        return Ok(data);
    };
    if !is_archive(&data) {
        return Err(failed("not an archive"));
    }
    let inner = entries(&data)
        .map_err(|reason| failed(&reason))?
        .into_iter()
        .find(|inner| inner.offset == origin)
        .ok_or_else(|| failed("the archive has changed"))?;
    match inner.data {
        Some(data) => Ok(data.to_vec()),
        None => read_thin(&inner, &path, depth - 1),
    }
}

/// Returns the archive with these members and a symbol index.
///
/// Times, owners and modes are constants, so that the same members give the same bytes.
pub(super) fn write(members: &[NewMember]) -> Result<Vec<u8>, String> {
    write_with_limit(members, u32::MAX.into())
}

/// As [`write`], with 64-bit offsets in the index if an offset would be above `limit`.
fn write_with_limit(members: &[NewMember], limit: u64) -> Result<Vec<u8>, String> {
    if members.is_empty() {
        return Ok(MAGIC.to_vec());
    }
    let mut long_names = Vec::new();
    let names: Vec<_> = members
        .iter()
        .map(|member| header_name(member.name, &mut long_names))
        .collect();
    if long_names.len() % 2 != 0 {
        long_names.push(b'\n');
    }
    let symbols: usize = members.iter().map(|member| member.symbols.len()).sum();
    let symbol_names: usize = members
        .iter()
        .flat_map(|member| &member.symbols)
        .map(|name| name.len() + 1)
        .sum();
    let index_size = |width: usize| (width * (symbols + 1) + symbol_names).next_multiple_of(2);
    let first = |width: usize| {
        let names = match long_names.len() {
            0 => 0,
            len => member_size(len),
        };
        MAGIC.len() + member_size(index_size(width)) + names
    };
    let sizes: usize = members
        .iter()
        .map(|member| member_size(member.data.len()))
        .sum();
    let width = if (first(4) + sizes) as u64 > limit {
        8
    } else {
        4
    };

    let mut index = Vec::with_capacity(index_size(width));
    let mut put_number = |value: usize| {
        let bytes = (value as u64).to_be_bytes();
        index.extend_from_slice(&bytes[bytes.len() - width..]);
    };
    put_number(symbols);
    let mut offset = first(width);
    for member in members {
        member.symbols.iter().for_each(|_| put_number(offset));
        offset += member_size(member.data.len());
    }
    for name in members.iter().flat_map(|member| &member.symbols) {
        index.extend_from_slice(name);
        index.push(0);
    }
    index.resize(index_size(width), 0);

    let mut out = MAGIC.to_vec();
    out.reserve(first(width) + sizes);
    let index_name: &[u8] = if width == 8 { b"/SYM64/" } else { b"/" };
    write_member(&mut out, index_name, Attributes::Mode(b"0"), &index)?;
    if !long_names.is_empty() {
        write_member(&mut out, b"//", Attributes::None, &long_names)?;
    }
    for (name, member) in names.iter().zip(members) {
        write_member(&mut out, name, Attributes::Mode(b"644"), &member.data)?;
    }
    Ok(out)
}

/// The bytes that a member takes with its header and padding.
fn member_size(data: usize) -> usize {
    (size_of::<Header>() + data).next_multiple_of(2)
}

/// Returns what to write in a member's header for its name, having added it to the long names if need be.
fn header_name(name: &[u8], long_names: &mut Vec<u8>) -> Vec<u8> {
    const SHORT: usize = 15;
    let plain = |byte: &u8| !matches!(byte, b'/' | b'\n' | b'\0');
    if !name.is_empty() && name.len() <= SHORT && name.iter().all(plain) {
        return [name, b"/"].concat();
    }
    let reference = format!("/{}", long_names.len());
    // A line feed or NUL ends a name in the table.
    long_names.extend(name.iter().map(|&byte| match byte {
        b'\n' | b'\0' => b'_',
        byte => byte,
    }));
    long_names.extend_from_slice(b"/\n");
    reference.into_bytes()
}

fn write_member(
    out: &mut Vec<u8>,
    name: &[u8],
    attributes: Attributes,
    data: &[u8],
) -> Result<(), String> {
    let mut header = Header {
        name: [b' '; 16],
        date: [b' '; 12],
        uid: [b' '; 6],
        gid: [b' '; 6],
        mode: [b' '; 8],
        size: [b' '; 10],
        terminator: TERMINATOR,
    };
    put(&mut header.name, name)?;
    put(&mut header.size, data.len().to_string().as_bytes())?;
    if let Attributes::Mode(mode) = attributes {
        put(&mut header.mode, mode)?;
        for field in [&mut header.date[..], &mut header.uid, &mut header.gid] {
            put(field, b"0")?;
        }
    }
    out.extend_from_slice(pod::bytes_of(&header));
    out.extend_from_slice(data);
    if out.len() % 2 != 0 {
        out.push(b'\n');
    }
    Ok(())
}

/// What a member's header says of the file it was.
enum Attributes {
    /// Owned by number 0 and as old as the clock, with this mode in octal.
    Mode(&'static [u8]),
    None,
}

fn put(field: &mut [u8], text: &[u8]) -> Result<(), String> {
    field
        .get_mut(..text.len())
        .ok_or("has members too large for an archive")?
        .copy_from_slice(text);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use object::read::archive::{ArchiveFile, ArchiveKind};

    /// The form for archives of 4 GiB and more, with a lower limit.
    #[test]
    fn wide_index() {
        let member = |name, contents: &str, symbols: &[&str]| NewMember {
            name,
            data: contents.into(),
            symbols: symbols
                .iter()
                .map(|symbol| symbol.as_bytes().to_vec())
                .collect(),
        };
        let members = [
            member(b"short", "odd", &["f", "g"]),
            member(b"one that is long", "even", &["h"]),
        ];
        for (limit, kind) in [
            (u32::MAX.into(), ArchiveKind::Gnu),
            (100, ArchiveKind::Gnu64),
        ] {
            let data = write_with_limit(&members, limit).unwrap();
            let archive = ArchiveFile::parse(&*data).unwrap();
            assert_eq!(archive.kind(), kind);
            let found: Vec<_> = archive
                .symbols()
                .unwrap()
                .unwrap()
                .map(|symbol| symbol.unwrap())
                .map(|symbol| {
                    (
                        symbol.name(),
                        archive.member(symbol.offset()).unwrap().name(),
                    )
                })
                .collect();
            let long = &b"one that is long"[..];
            let short = &b"short"[..];
            assert_eq!(found, [(&b"f"[..], short), (b"g", short), (b"h", long)]);
            let read = read(&data, Path::new("")).unwrap();
            assert_eq!(*read[0].data, *b"odd");
            assert_eq!(*read[1].data, *b"even");
        }
    }
}
