//! What programs were built with besides the versions, so that other versions can be built alike.

use crate::input::JsonBytes;
use crate::programs::Sources;
use p3_passes::{Error, Result};
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Flags and files that belong to all versions. Files have their whole paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Besides {
    /// For clang.
    pub flags: Vec<JsonBytes>,
    pub native_libraries: Vec<JsonBytes>,
    /// Bitcode with product functions.
    pub models: Vec<JsonBytes>,
    /// C code with product functions.
    pub specs: Vec<JsonBytes>,
    /// Functions whose results have to be equal.
    pub equal_returns: Vec<String>,
    /// Functions whose arguments have to be equal.
    pub equal_arguments: Vec<String>,
    /// Whether no function is woven.
    pub weaves_none: bool,
    /// Functions that are not.
    pub except: Vec<String>,
}

impl Besides {
    /// What these sources say.
    pub(crate) fn of(sources: &Sources) -> Result<Besides> {
        let weave = &sources.merge.weave;
        Ok(Besides {
            flags: sources.flags.iter().map(|flag| bytes(flag)).collect(),
            native_libraries: whole(&sources.merge.native_libraries)?,
            models: whole(&weave.models)?,
            specs: whole(&weave.specs)?,
            equal_returns: weave.equal_returns.clone(),
            equal_arguments: weave.equal_arguments.clone(),
            weaves_none: weave.none,
            except: weave.except.clone(),
        })
    }

    /// Builds `sources` with the same.
    pub fn add_to(&self, sources: &mut Sources) {
        sources
            .flags
            .splice(0..0, self.flags.iter().filter_map(text));
        let weave = &mut sources.merge.weave;
        weave.models.extend(paths(&self.models));
        weave.specs.extend(paths(&self.specs));
        weave
            .equal_returns
            .extend(self.equal_returns.iter().cloned());
        weave
            .equal_arguments
            .extend(self.equal_arguments.iter().cloned());
        weave.none |= self.weaves_none;
        weave.except.extend(self.except.iter().cloned());
        let libraries = paths(&self.native_libraries);
        sources.merge.native_libraries.extend(libraries);
    }
}

fn bytes(text: &OsStr) -> JsonBytes {
    JsonBytes::of(text.as_bytes())
}

fn text(bytes: &JsonBytes) -> Option<OsString> {
    bytes.bytes().map(OsString::from_vec)
}

fn whole(files: &[PathBuf]) -> Result<Vec<JsonBytes>> {
    let whole = |file: &PathBuf| {
        let path = std::path::absolute(file).map_err(|e| Error::bad_input(file, e))?;
        Ok(bytes(path.as_os_str()))
    };
    files.iter().map(whole).collect()
}

fn paths(files: &[JsonBytes]) -> impl Iterator<Item = PathBuf> + '_ {
    files
        .iter()
        .filter_map(text)
        .map(|path| Path::new(&path).to_path_buf())
}
