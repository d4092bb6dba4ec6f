//! Cases of two or more versions of a C program, and the runner that holds products against them.
//!
//! What a case must print is what its versions print when they run alone: nothing expected is stored. See
//! `README.md` for the directives and for what is compared.

pub mod case;
pub mod directives;
mod klee;
pub mod process;
pub mod tally;
