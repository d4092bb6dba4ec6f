//! Output files appear whole or not at all: written beside their place, then renamed.

use p3_passes::{Error, Result};
use std::error::Error as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A place for output that could be written to when it was opened, so that a path that cannot be used is
/// reported before the work is done.
pub struct Output {
    /// As the user wrote it.
    path: PathBuf,
    target: Target,
}

enum Target {
    Stdout,
    /// A device or pipe, which a rename would replace.
    Open(File),
    /// Where the finished file goes; symbolic links are followed.
    File(PathBuf),
}

impl Output {
    /// Opens `path`; `-` is standard output.
    pub fn open(path: &Path) -> Result<Output> {
        match target(path) {
            Ok(target) => Ok(Output {
                path: path.to_path_buf(),
                target,
            }),
            Err(e) => Err(cannot_write(path, e)),
        }
    }

    /// Writes `data`. On an error nothing is left behind, and a file that was there before stays.
    pub fn write(self, data: &[u8]) -> Result<()> {
        write_all(vec![(self, data)])
    }

    /// Everything but the rename: what cannot be undone is done last.
    fn stage(self, data: &[u8]) -> Result<Staged> {
        let renames = match &self.target {
            Target::File(target) => match fill(target, data) {
                Ok(file) => Some((file, target.clone())),
                Err(e) => return Err(cannot_write(&self.path, e)),
            },
            _ => None,
        };
        Ok(Staged {
            output: self,
            renames,
        })
    }
}

/// An output whose data is in a temporary file, if it is to be a file.
struct Staged {
    output: Output,
    renames: Option<(NamedTempFile, PathBuf)>,
}

/// Writes several outputs, all or none: on an error no file is left behind that was not there before.
pub fn write_all(outputs: Vec<(Output, &[u8])>) -> Result<()> {
    let mut staged = Vec::new();
    for (output, data) in outputs {
        staged.push((output.stage(data)?, data));
    }
    for (Staged { output, .. }, data) in &staged {
        let result = match &output.target {
            Target::Stdout => {
                let mut stdout = io::stdout().lock();
                match stdout.write_all(data).and_then(|()| stdout.flush()) {
                    // Who reads has seen enough.
                    Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                    result => result,
                }
            }
            Target::Open(file) => {
                let mut file = file;
                file.write_all(data)
            }
            Target::File(_) => Ok(()),
        };
        result.map_err(|e| cannot_write(&output.path, e))?;
    }
    let mut created = Vec::new();
    for (Staged { output, renames }, _) in staged {
        let Some((file, target)) = renames else {
            continue;
        };
        let is_new = !target.exists();
        if let Err(e) = file.persist(&target) {
            for path in created {
                // The error that led here is the one to report.
                let _ = fs::remove_file(path);
            }
            return Err(cannot_write(&output.path, e.error));
        }
        if is_new {
            created.push(target);
        }
    }
    Ok(())
}

/// Writes `data` to `path`; `-` is standard output.
pub fn write(path: &Path, data: &[u8]) -> Result<()> {
    Output::open(path)?.write(data)
}

fn cannot_write(path: &Path, error: io::Error) -> Error {
    Error::bad_input(path, format!("cannot write: {error}"))
}

fn target(path: &Path) -> io::Result<Target> {
    if path == Path::new("-") {
        return Ok(Target::Stdout);
    }
    match path.metadata() {
        Ok(metadata) if metadata.is_dir() => return Err(io::Error::other("is a directory")),
        Ok(metadata) => {
            // A file that may not be written to is not replaced either.
            let file = OpenOptions::new().write(true).open(path)?;
            if !metadata.is_file() {
                return Ok(Target::Open(file));
            }
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    let target = follow(path);
    if target.file_name().is_none() {
        return Err(io::Error::other("not a file name"));
    }
    beside(&target)?;
    Ok(Target::File(target))
}

/// The file that `path` leads to, whether it exists or not.
fn follow(path: &Path) -> PathBuf {
    if let Ok(existing) = fs::canonicalize(path) {
        return existing;
    }
    match fs::read_link(path) {
        Ok(link) => path.parent().unwrap_or(Path::new("")).join(link),
        Err(_) => path.to_path_buf(),
    }
}

/// A temporary file in the directory of `target`.
fn beside(target: &Path) -> io::Result<NamedTempFile> {
    let directory = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    tempfile::Builder::new()
        .prefix(".p3-ir-")
        .permissions(fs::Permissions::from_mode(0o666))
        .tempfile_in(directory)
        .map_err(without_path)
}

/// The error that tempfile met. The path that it adds is one that the user never saw.
fn without_path(error: io::Error) -> io::Error {
    let cause = error.source().and_then(|e| e.downcast_ref::<io::Error>());
    match cause.and_then(io::Error::raw_os_error) {
        Some(code) => io::Error::from_raw_os_error(code),
        None => error,
    }
}

fn fill(target: &Path, data: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = beside(target)?;
    file.write_all(data)?;
    Ok(file)
}
