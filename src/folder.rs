//! The folder that `p3-ir diff` writes: marked as such, one search at a time, and whole or not at all.

use p3_hunt::hunt::{ENGINES, PROGRAMS};
use p3_passes::{Error, Result};
use rustix::fs::{flock, FlockOperation};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// The file that says whose folder it is. Whoever writes there holds a lock on it.
const MARKER: &str = ".p3-ir-diff";
/// Where that of the search before waits until there is something better.
const PREVIOUS: &str = ".previous";
/// What it is called once there is something better, until it is removed.
const REPLACED: &str = ".replaced";
/// What a search leaves there besides.
const FOLDERS: [&str; 3] = [PROGRAMS, ENGINES, "findings"];
const FILES: [&str; 2] = ["report.json", "report.html"];

/// A folder in which a search is about to write. Unless it is kept, everything goes that the search has left there, and
/// what was there before is there again.
pub struct Folder {
    path: PathBuf,
    is_new: bool,
    is_kept: bool,
    /// Locked for as long as this lives.
    _marker: File,
}

impl Folder {
    /// Takes the folder, and puts aside what an earlier search has left. One that has something else in it is refused, and
    /// so is one in which another search is at work.
    pub fn take(path: &Path) -> Result<Folder> {
        let cannot =
            |what: &str, e: io::Error| Error::bad_input(path, format!("cannot {what}: {e}"));
        let is_new = !path.exists();
        fs::create_dir_all(path).map_err(|e| cannot("create", e))?;
        let mut entries = fs::read_dir(path).map_err(|e| cannot("read", e))?;
        if entries.next().is_some() && !path.join(MARKER).is_file() {
            let reason = "is not empty, and not a folder that p3-ir diff has written";
            return Err(Error::bad_input(path, reason));
        }
        let marker = OpenOptions::new()
            .create(true)
            .append(true)
            .open(path.join(MARKER))
            .map_err(|e| cannot("write", e))?;
        // A file system without locks has no searches beside each other.
        let locked = flock(&marker, FlockOperation::NonBlockingLockExclusive);
        if locked == Err(rustix::io::Errno::WOULDBLOCK) {
            let reason = "another p3-ir diff is writing there";
            return Err(Error::bad_input(path, reason));
        }
        let folder = Folder {
            path: path.to_path_buf(),
            is_new,
            is_kept: false,
            _marker: marker,
        };
        // From searches that were killed.
        remove_if_there(&path.join(REPLACED)).map_err(|e| cannot("write", e))?;
        folder.restore().map_err(|e| cannot("write", e))?;
        folder.put_aside().map_err(|e| cannot("write", e))?;
        Ok(folder)
    }

    /// What is there now is what the user wants.
    pub fn keep(mut self) {
        self.is_kept = true;
        // Under its first name the next search would bring it back. What is not removed now goes with that.
        let replaced = self.path.join(REPLACED);
        let _ = fs::rename(self.path.join(PREVIOUS), &replaced);
        let _ = fs::remove_dir_all(replaced);
    }

    fn put_aside(&self) -> io::Result<()> {
        let names = FOLDERS.iter().chain(&FILES);
        let there: Vec<&&str> = names.filter(|name| self.path.join(name).exists()).collect();
        if there.is_empty() {
            return Ok(());
        }
        let previous = self.path.join(PREVIOUS);
        fs::create_dir(&previous)?;
        for name in there {
            fs::rename(self.path.join(name), previous.join(name))?;
        }
        Ok(())
    }

    /// Brings back what was put aside, instead of what is there now; whether there was anything.
    fn restore(&self) -> io::Result<bool> {
        let previous = self.path.join(PREVIOUS);
        if !previous.exists() {
            return Ok(false);
        }
        self.clear()?;
        for entry in fs::read_dir(&previous)? {
            let name = entry?.file_name();
            fs::rename(previous.join(&name), self.path.join(&name))?;
        }
        fs::remove_dir(&previous)?;
        Ok(true)
    }

    fn clear(&self) -> io::Result<()> {
        for name in FOLDERS {
            remove_if_there(&self.path.join(name))?;
        }
        for name in FILES {
            ignore_missing(fs::remove_file(self.path.join(name)))?;
        }
        Ok(())
    }
}

fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn remove_if_there(folder: &Path) -> io::Result<()> {
    ignore_missing(fs::remove_dir_all(folder))
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.is_kept {
            return;
        }
        // The error that led here is the one to report.
        if self.restore().unwrap_or(true) {
            return;
        }
        let _ = self.clear();
        let _ = fs::remove_file(self.path.join(MARKER));
        if self.is_new {
            let _ = fs::remove_dir(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_kept_goes_and_only_that() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("new");
        let write = |name: &str| fs::write(path.join(name), "x").unwrap();
        let folder = Folder::take(&path).unwrap();
        fs::create_dir(path.join(PROGRAMS)).unwrap();
        write("report.json");
        let second = Folder::take(&path).err().unwrap().to_string();
        assert!(
            second.ends_with("another p3-ir diff is writing there"),
            "{second}"
        );
        drop(folder);
        assert!(!path.exists());
        let folder = Folder::take(&path).unwrap();
        write("report.json");
        write("notes");
        folder.keep();
        assert!(path.join("report.json").exists());
        // What fails leaves what was there.
        let failing = Folder::take(&path).unwrap();
        assert!(!path.join("report.json").exists());
        fs::create_dir(path.join(PROGRAMS)).unwrap();
        drop(failing);
        assert!(path.join("report.json").exists() && !path.join(PROGRAMS).exists());
        // So does what is killed, as soon as somebody looks.
        fs::create_dir(path.join(PREVIOUS)).unwrap();
        fs::rename(
            path.join("report.json"),
            path.join(PREVIOUS).join("report.json"),
        )
        .unwrap();
        write("report.html");
        drop(Folder::take(&path).unwrap());
        assert!(path.join("report.json").exists() && !path.join("report.html").exists());
        Folder::take(&path).unwrap().keep();
        assert!(path.join("notes").exists() && !path.join("report.json").exists());
        assert!(!path.join(PREVIOUS).exists());
        // What was replaced does not come back.
        fs::create_dir(path.join(REPLACED)).unwrap();
        write(".replaced/report.json");
        Folder::take(&path).unwrap().keep();
        assert!(!path.join(REPLACED).exists() && !path.join("report.json").exists());
        fs::remove_file(path.join(MARKER)).unwrap();
        // Without the marker it is anybody's.
        let error = Folder::take(&path).err().unwrap().to_string();
        assert!(error.contains("is not empty"), "{error}");
        assert!(path.join("notes").exists());
    }
}
