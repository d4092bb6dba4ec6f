//! The files that programs read what they take by `pp_input` from.
//!
//! One has the bytes (`P3_INPUT`), the other (`P3_INPUT_NAMES`) hands on from one program to the next under which names
//! they were taken, so that all get the same (`runtime/p3_named_bytes.h`). It is the product that takes them first, as
//! in the engine that has found the input: where versions take other bytes, or in another order, that decides.

use crate::input::{read, write, Input, MARKED};
use crate::programs::{scratch, Programs};
use p3_passes::{Error, Result};
use std::ffi::OsString;
use std::fs;
use tempfile::TempDir;

/// Files for one run of each program, one after the other.
pub(crate) struct MarkedFiles(Option<TempDir>);

const NAMES: &str = "names";

impl MarkedFiles {
    /// Writes them, if the programs take any such bytes.
    pub(crate) fn new(programs: &Programs, input: &Input) -> Result<MarkedFiles> {
        if !programs.takes_input {
            return Ok(MarkedFiles(None));
        }
        let folder = scratch()?;
        write(&folder.path().join(MARKED), &input.marked)?;
        write(&folder.path().join(NAMES), &[])?;
        Ok(MarkedFiles(Some(folder)))
    }

    /// The same for other programs, that take what was taken up to now as these do.
    pub(crate) fn copy(&self) -> Result<MarkedFiles> {
        let Some(folder) = &self.0 else {
            return Ok(MarkedFiles(None));
        };
        let copy = scratch()?;
        for name in [MARKED, NAMES] {
            let to = copy.path().join(name);
            fs::copy(folder.path().join(name), &to).map_err(|e| Error::bad_input(&to, e))?;
        }
        Ok(MarkedFiles(Some(copy)))
    }

    /// Under which names they were taken up to now.
    pub(crate) fn names(&self) -> Result<Vec<u8>> {
        match &self.0 {
            Some(folder) => read(&folder.path().join(NAMES)),
            None => Ok(Vec::new()),
        }
    }

    /// The variables that name them.
    pub(crate) fn variables(&self) -> Vec<(&'static str, OsString)> {
        let Some(folder) = &self.0 else {
            return Vec::new();
        };
        let path = |name: &str| folder.path().join(name).into_os_string();
        vec![("P3_INPUT", path(MARKED)), ("P3_INPUT_NAMES", path(NAMES))]
    }
}
