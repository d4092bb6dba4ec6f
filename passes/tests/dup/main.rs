//! `dup` on objects that compilers and assemblers make: copies are linked and run, and compared with their
//! originals field by field.

mod bad_input;
mod compare;
mod formats;
mod fuzz;
mod isolation;
mod real;
mod tools;
