//! Finds inputs on which versions of a program differ.
//!
//! [`hunt::hunt`] reads top to bottom: the programs are built, engines look for inputs, every input is examined
//! on the versions alone, findings are told apart, minimised and reported.

mod background;
pub mod besides;
pub mod captured;
pub mod engine;
pub mod examine;
pub mod expect;
pub mod hunt;
pub mod input;
mod marked;
pub mod minimise;
pub mod place;
pub mod process;
pub mod programs;
pub mod replay;
pub mod report;
pub mod sanitizer;
pub mod template;
pub mod words;
