//! Small products for the tests of `p3-ir build` and `p3-ir run`.

use crate::common::call;
use std::fs;
use std::path::Path;
use std::process::Command;

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

/// Merges two versions to `product.bc`.
pub fn merge(directory: &Path) {
    compile(directory, 2);
    let (status, _, stderr) = call(directory, &["merge", "v1.bc", "v2.bc"]);
    assert_eq!((status, stderr.as_str()), (0, ""));
}
