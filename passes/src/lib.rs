//! The p3-ir pipeline as a library: LLVM bitcode of n versions of a program in, one product program out.
//!
//! [`pipeline::merge`] reads top to bottom like the pipeline; every pass is a file of its own.

pub mod align;
mod assembly;
pub mod build;
mod check;
mod dictionary;
pub mod dup;
pub mod entry;
mod error;
pub mod execute;
mod finish;
mod flags;
mod harness;
pub mod interruption;
mod isolate;
mod libc;
mod link;
mod llvm;
pub mod load;
mod lookup;
pub mod mutation;
pub mod native;
mod nodes;
pub mod pipeline;
mod prepare;
mod rename;
pub mod report;
mod runtime;
mod share;
mod sites;
pub mod size;
mod spec;
mod terminate;
pub mod weave;

pub use error::{Error, Result};
pub use llvm::{new_context, Context, Module};
pub use spec::HEADER;
