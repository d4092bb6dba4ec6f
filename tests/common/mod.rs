//! Small products for the tests of `p3-ir build` and `p3-ir run`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A program that greets, fails or takes long as its first argument says; `V` is the version.
pub const PROGRAM: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  int c;
  if (!strcmp(what, "cat"))
    while ((c = getchar()) != EOF)
      putchar(c);
  if (!strcmp(what, "output"))
    printf("common line\nversion %d\n", V);
  if (!strcmp(what, "last"))
    printf("version %d\n", V == 3);
  if (!strcmp(what, "status"))
    return V;
  if (!strcmp(what, "binary"))
    printf("\xff%c", V);
  if (!strcmp(what, "escape"))
    printf("\x1b[31m%d\n", V);
  if (!strcmp(what, "error"))
    fprintf(stderr, "%s: error in %d\n", argv[0], V);
  if (!strcmp(what, "overflow"))
    return ((volatile char *)malloc(4))[V + 3];
  if (!strcmp(what, "sleep"))
    sleep(60);
  return 0;
}
"#;

/// Compiles [`PROGRAM`] to `v1.bc`, `v2.bc`, ... in `directory`.
pub fn compile(directory: &Path, versions: usize) {
    fs::write(directory.join("program.c"), PROGRAM).unwrap();
    for version in 1..=versions {
        let done = Command::new("clang-16")
            .args(["-c", "-emit-llvm", "program.c", "-o"])
            .arg(format!("v{version}.bc"))
            .arg(format!("-DV={version}"))
            .current_dir(directory)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    }
}

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

/// Merges two versions to `product.bc`.
pub fn merge(directory: &Path) {
    compile(directory, 2);
    let (status, _, stderr) = call(directory, &["merge", "v1.bc", "v2.bc"]);
    assert_eq!((status, stderr.as_str()), (0, ""));
}
