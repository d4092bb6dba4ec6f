//! **load**: finds and reads the bitcode of one version.
//!
//! Input: the paths of one version's files. Guarantee: modules that passed LLVM's verifier, in the order
//! given.

use crate::llvm::{self, Context, Module};
use crate::{Error, Result};
use std::path::{Path, PathBuf};

/// One version: its files are linked together.
#[derive(Clone, Debug)]
pub struct Input {
    /// At least one file.
    pub files: Vec<PathBuf>,
}

impl Input {
    /// How messages call this version: the file given first.
    pub fn name(&self) -> String {
        self.files
            .first()
            .map(|f| f.display().to_string())
            .unwrap_or_default()
    }
}

/// Reads every module of a version.
pub fn load<'ctx>(context: &'ctx Context, input: &Input) -> Result<Vec<Module<'ctx>>> {
    input
        .files
        .iter()
        .map(|file| load_file(context, file))
        .collect()
}

fn load_file<'ctx>(context: &'ctx Context, file: &Path) -> Result<Module<'ctx>> {
    let data = std::fs::read(file).map_err(|e| Error::bad_input(file, e))?;
    let module = llvm::parse(context, &data, &file.display().to_string())
        .map_err(|reason| Error::bad_input(file, reason))?;
    llvm::verify(&module)
        .map_err(|reason| Error::bad_input(file, format!("invalid IR: {reason}")))?;
    Ok(module)
}
