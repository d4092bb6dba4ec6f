//! The files that are damaged: one of each form that p3-ir reads.

use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// A little of everything that C has.
const PROGRAM: &str = r#"
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct row { int key; double value; char name[8]; };
static struct row rows[4] = {{3, 2.0, "x"}, {2, 3.5, "yy"}, {7, 0.25, "z"}};
static _Thread_local int depth;
static _Atomic long shared;
long double wide = 1.5L;
static int compare(const void *a, const void *b) {
  return ((const struct row *)a)->key - ((const struct row *)b)->key;
}
int steps(int n) {
  int total = 0;
  for (int i = 0; i < n; i++)
    switch (i % 5) {
    case 0: total += i; break;
    case 1: total ^= 3; break;
    case 3: total *= 2; break;
    default: total--;
    }
  return total;
}
extern int paces(int) __attribute__((alias("steps")));
__attribute__((constructor)) static void begin(void) { depth = 1; }
static int sum(int count, ...) {
  va_list list;
  int total = 0;
  va_start(list, count);
  while (count--) total += va_arg(list, int);
  va_end(list);
  return total;
}
static struct row swapped(struct row row) { row.key = -row.key; return row; }
static void *work(void *argument) { shared += (long)argument; return argument; }
int main(int argc, char **argv) {
  static void *const places[] = {&&first, &&second};
  int (*function)(int) = argc > 2 ? steps : paces;
  pthread_t thread;
  qsort(rows, 4, sizeof rows[0], compare);
  goto *places[argc & 1];
first:
  depth += function(argc);
second:
  for (int i = 0; i < argc; i++) {
    printf("%s %d %g\n", argv[i], steps(i + argc), swapped(rows[i & 3]).value);
    if (strlen(argv[i]) > 9) exit(3);
  }
  if (!pthread_create(&thread, NULL, work, (void *)5L)) pthread_join(thread, NULL);
  printf("%d %d %ld %Lg\n", sum(2, 4, 5), depth, shared, wide * argc);
  return 0;
}
"#;

/// Calls that can throw.
const THROWING: &str = r#"
extern "C" int puts(const char *);
struct guard { ~guard() { puts("out"); } };
int thrown(int n) { guard one; if (n > 1) throw n; return n; }
int main(int argc, char **) {
  try { return thrown(argc); } catch (int n) { return n; } catch (...) { throw; }
}
"#;

const BUILD: &str = "
clang-16 -O1 -g -c -emit-llvm program.c -o debug.bc
clang-16 -O0 -c -emit-llvm program.c -o plain.bc
clang-16 -O2 -c -emit-llvm program.c -o vectors.bc
clang-16 -O2 -c -fembed-bitcode=all program.c -o embedded.o
clang-16 -O1 -c -flto program.c -o lto.o
clang-16 -O1 -g -c -emit-llvm throwing.cpp -o throwing.bc
clang-16 -O0 -S -emit-llvm throwing.cpp -o throwing.ll
llvm-ar-16 rc bitcode.a plain.bc
cp embedded.o the_member_with_a_rather_long_name.o
ar rc objects.a embedded.o the_member_with_a_rather_long_name.o
llvm-ar-16 --format=bsd rc bsd.a the_member_with_a_rather_long_name.o plain.bc
llvm-ar-16 rcT thin.a plain.bc debug.bc
llvm-dis-16 plain.bc -o text.ll
llvm-dis-16 debug.bc -o debug.ll
llvm-dis-16 vectors.bc -o vectors.ll
llvm-cat-16 -b throwing.bc debug.bc -o two.bc
clang-16 -c program.c -o native.o
echo debug.bc > list
llvm-objcopy-16 --add-section .llvm_bc=list native.o listing.o
clang-16 listing.o -o listing
";

/// Makes the files in `directory` and returns their names. `plain.bc` and `debug.bc` stay as they are beside them.
pub fn make(directory: &Path) -> Result<Vec<String>> {
    std::fs::write(directory.join("program.c"), PROGRAM)?;
    std::fs::write(directory.join("throwing.cpp"), THROWING)?;
    let output = Command::new("sh")
        .args(["-ec", BUILD])
        .current_dir(directory)
        .output()
        .context("sh")?;
    anyhow::ensure!(
        output.status.success(),
        "the files to damage: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    // Bitcode and text twice: most is in them.
    let names = [
        "debug.bc",
        "plain.bc",
        "vectors.bc",
        "throwing.bc",
        "two.bc",
        "lto.o",
        "text.ll",
        "debug.ll",
        "vectors.ll",
        "throwing.ll",
        "debug.bc",
        "plain.bc",
        "vectors.bc",
        "throwing.bc",
        "text.ll",
        "throwing.ll",
        "embedded.o",
        "listing.o",
        "listing",
        "native.o",
        "bitcode.a",
        "objects.a",
        "bsd.a",
        "thin.a",
    ];
    Ok(names.map(String::from).to_vec())
}
