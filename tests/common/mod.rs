//! `p3-ir` as a process, for the tests of its commands.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// `p3-ir` in `directory`, with nothing on standard input.
pub fn p3_ir(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_p3-ir"));
    command.current_dir(directory).stdin(Stdio::null());
    command
}

/// The exit status of `p3-ir` with these arguments, which must succeed in starting, and its output.
pub fn call(directory: &Path, arguments: &[&str]) -> (i32, String, String) {
    texts(p3_ir(directory).args(arguments).output().unwrap())
}

/// Status, standard output, standard error.
pub fn texts(output: Output) -> (i32, String, String) {
    (
        output.status.code().unwrap_or(-1),
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
    )
}
