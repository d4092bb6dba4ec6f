//! Output files appear whole or not at all: written beside their place, then renamed.

use anyhow::{Context, Result};
use std::io::Write;
use std::path::Path;

/// Writes `data` to `path`; `-` is standard output.
pub fn write(path: &Path, data: &[u8]) -> Result<()> {
    let describe = || format!("{}: cannot write", path.display());
    if path == Path::new("-") {
        return std::io::stdout().write_all(data).with_context(describe);
    }
    // A device or pipe cannot be replaced by a rename.
    if path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir()) {
        return std::fs::write(path, data).with_context(describe);
    }
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .prefix(".p3-ir-")
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666))
        .tempfile_in(directory)
        .with_context(describe)?;
    file.write_all(data).with_context(describe)?;
    file.persist(path)
        .map_err(|e| e.error)
        .with_context(describe)?;
    Ok(())
}
