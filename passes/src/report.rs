//! What a merge did, for people and as JSON.

use crate::size::ProductSize;
use serde::Serialize;

/// The report of one merge (`--report FILE`).
#[derive(Debug, Default, Serialize)]
pub struct MergeReport {
    /// One entry per version, in order.
    pub versions: Vec<VersionReport>,
    /// The functions of all versions, woven or not.
    pub woven: Vec<crate::weave::FunctionReport>,
    /// Instructions in the product, runtime included.
    pub product_instructions: usize,
    /// What they are for.
    pub product_size: ProductSize,
    /// Things the user should know of; none of them stops the merge.
    pub warnings: Vec<String>,
}

/// What became of one version.
#[derive(Debug, Default, Serialize)]
pub struct VersionReport {
    /// The version's input files.
    pub files: Vec<String>,
    /// Functions that the version defines.
    pub functions: usize,
    /// Instructions after `prepare`.
    pub instructions: usize,
    /// References of the program that are bound to the version's own runtime.
    pub bound: Vec<String>,
    /// Functions that can end the version and therefore unwind cooperatively.
    pub terminating: usize,
}
