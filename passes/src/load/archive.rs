//! Members of archives: GNU, BSD and thin.

use object::read::archive::ArchiveFile;
use object::read::ReadRef;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// One member, in the archive's order; symbol and name tables are not members.
pub(super) struct Member<'data> {
    /// The name without padding.
    pub(super) name: String,
    pub(super) body: Body<'data>,
}

/// Where a member's bytes are.
pub(super) enum Body<'data> {
    Inside(&'data [u8]),
    /// In this file, for a thin archive; relative paths start at the archive's directory.
    File(PathBuf),
}

/// How archives start.
pub(super) fn is_archive(data: &[u8]) -> bool {
    data.starts_with(b"!<arch>\n") || data.starts_with(b"!<thin>\n")
}

/// Lists the members. The error is the reason why the archive cannot be read.
pub(super) fn members<'data, R: ReadRef<'data>>(data: R) -> Result<Vec<Member<'data>>, String> {
    let damaged = |e: object::Error| format!("damaged archive: {e}");
    let archive = ArchiveFile::parse(data).map_err(damaged)?;
    let mut members = Vec::new();
    for member in archive.members() {
        let member = member.map_err(damaged)?;
        // BSD pads long names with NULs.
        let name = member.name();
        let end = name
            .iter()
            .rposition(|byte| *byte != 0)
            .map_or(0, |at| at + 1);
        let name = &name[..end];
        let body = if archive.is_thin() && member.is_thin() {
            Body::File(PathBuf::from(OsStr::from_bytes(name)))
        } else {
            let bytes = member.data(data).map_err(|_| {
                let name = String::from_utf8_lossy(name);
                format!("truncated archive: member {name} passes its end")
            })?;
            Body::Inside(bytes)
        };
        let name = String::from_utf8_lossy(name).into_owned();
        // A BSD symbol table that is not the first member, or has a long name.
        if !name.starts_with("__.SYMDEF") {
            members.push(Member { name, body });
        }
    }
    Ok(members)
}
