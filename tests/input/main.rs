//! What `p3-ir merge` reads: every form of input, how files are linked, and how it answers bad input.

mod bad_input;
mod forms;
mod link;
mod tools;
