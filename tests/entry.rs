//! `p3-ir merge --entry`: functions of libraries, which have no main.

mod common;

use common::{call, texts};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Compiles versions 1 and 2 of `source` to `v1.bc` and `v2.bc`.
fn compile(source: &str, flags: &[&str]) -> TempDir {
    let scratch = tempfile::tempdir().unwrap();
    fs::write(scratch.path().join("library.c"), source).unwrap();
    for version in ["1", "2"] {
        let done = Command::new("clang-16")
            .args(["-w", "-c", "-emit-llvm", "library.c", "-o"])
            .args([format!("v{version}.bc"), format!("-DV={version}")])
            .args(flags)
            .current_dir(&scratch)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    }
    scratch
}

/// Merges and builds `versions` with the options given.
fn build(directory: &Path, versions: [&str; 2], options: &[&str]) {
    let merge = [&["merge"], &versions[..], options].concat();
    assert_eq!(call(directory, &merge), (0, String::new(), String::new()));
    let build = ["build", "product.bc", "-o", "product"];
    assert_eq!(call(directory, &build), (0, String::new(), String::new()));
}

fn run(directory: &Path, input: &[u8]) -> (i32, String, String) {
    fs::write(directory.join("input"), input).unwrap();
    let product = Command::new("./product")
        .stdin(File::open(directory.join("input")).unwrap())
        .current_dir(directory)
        .output()
        .unwrap();
    texts(product)
}

const SHAPES: &str = r#"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
enum color { RED, GREEN = 5, BLUE = -1 };
enum bits { READ = 1, WRITE = 2, RUN = 4 };
struct point { double x; float y; };
struct large { long a[3]; char name[4]; unsigned low : 3, high : 5; struct large *next; };
struct text { const char *at; size_t length; int (*hook)(int); };
union either { int i; float f; };
short numbers(char c, bool b, unsigned char u, short s, enum color e, enum bits f, __int128 w) {
  return s + c + b + u + e + f + (int)w;
}
long double reals(float a, double b, long double c, _Complex float d) { return a + b + c + __real__ d; }
struct point points(struct point p, struct point q) { p.x += q.x; p.y += q.y; return p; }
struct large larges(struct large l, union either u) { l.a[0]++; return l; }
int sum(const int *values, size_t n) {
  int sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += values[i];
  return sum;
}
void upper(char *text) { for (; *text; text++) *text &= ~32; }
char *find(const char *text, int c) { return strchr(text, c); }
int compare(const void *a, const void *b, size_t n) { return memcmp(a, b, n); }
int copy(uint8_t *dest, unsigned long *dest_len, const uint8_t *source, unsigned long source_len) {
  *dest_len = *dest_len < source_len ? *dest_len : source_len;
  memcpy(dest, source, *dest_len);
  return 0;
}
long number(const char *text, char **end) { return strtol(text, end, 10); }
void fill(struct large *large, int *number) { strcpy(large->name, "ab"); *number += large->low; }
int count(const struct text *text, struct point *points, int point_count) {
  points[0].x = 1;
  return text->hook == NULL ? text->at[0] == text->at[text->length - 1] : -1;
}
char *twice(const char *text) { char *s = malloc(99); return strcat(strcpy(s, text), text); }
int old_style(s, n) const char *s; unsigned char n; { return s[0] + n; }
static int hidden(int n) { return n; }
int (*keep)(int) = hidden;
"#;

#[test]
fn arguments_are_made_as_debug_info_says_and_results_are_shown() {
    let scratch = compile(SHAPES, &["-g", "-O1", "-fno-inline"]);
    let cases: [(&str, &[u8], &str); 16] = [
        (
            "numbers",
            b"A\x03\xff\xff\xff\x02\x05\0\0\0\x01",
            "numbers(c = 'A', b = true, u = 255, s = -1, e = BLUE, f = READ|RUN, w = 0x00000000000000001)\n\
             return = 325\n",
        ),
        (
            "reals",
            b"\0\0\0\x3f\0\0\0\0\0\0\xf8\x3f\0\0\0\0\0\0\0\x40",
            "reals(a = 0.5, b = 1.5, c = 2, d = {real = 0, imaginary = 0})\nreturn = 4\n",
        ),
        (
            "points",
            b"\0\0\0\0\0\0\xf8\x3f\0\0\0\x3f\0\0\0\0\0\0\xf8\x3f\0\0\xc0\x7f",
            "points(p = {x = 1.5, y = 0.5}, q = {x = 1.5, y = nan})\nreturn = {x = 3, y = nan}\n",
        ),
        (
            "larges",
            b"\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0abcd\x0d\x0fuuuu",
            "larges(l = {a = {1, 2, 3}, name = \"abc\", low = 5, high = 15, next = NULL}, u = \"uuuu\")\n\
             return = {a = {2, 2, 3}, name = \"abc\", low = 5, high = 15, next = NULL}\n",
        ),
        (
            "sum",
            b"\x01\0\0\0\xff\xff\xff\xff\x07\0\0\0rest",
            "sum(values = {1, -1, 7, 1953719666}, n = 4)\nreturn = 1953719673\n",
        ),
        ("upper", b"a\"\n\0b", "upper(text = \"a\\\"\\n\")\ntext = \"A\\x02\\n\"\n"),
        ("find", b"c\0\0\0abc\xff", "find(text = \"abc\\xff\", c = 99)\nreturn = text + 2\n"),
        ("compare", b"abcabd!", "compare(a = \"abc\", b = \"abd\", n = 3)\nreturn = -1\n"),
        (
            "copy",
            b"\x03\0...ab",
            "copy(dest = \"...\", dest_len = &3, source = \"ab\", source_len = 2)\n\
             return = 0\ndest = \"ab.\"\n*dest_len = 2\n",
        ),
        ("number", b"12x", "number(text = \"12x\", end = &NULL)\nreturn = 12\n*end = text + 2\n"),
        (
            "fill",
            b"\x01\0\0\0\0\0\0\0\x02\0\0\0\0\0\0\0\x03\0\0\0\0\0\0\0wxyz\x07\0\x01",
            "fill(large = &{a = {1, 2, 3}, name = \"wxy\", low = 7, high = 0, next = NULL}, number = &1)\n\
             *large = {a = {1, 2, 3}, name = \"ab\", low = 7, high = 0, next = NULL}\n*number = 8\n",
        ),
        (
            "count",
            b"\x03\0aba\0\0\0\0\0\0\0\x40\0\0\0\x3f",
            "count(text = &{at = \"aba\", length = 3, hook = NULL}, points = {{x = 2, y = 0.5}}, point_count = 1)\n\
             return = 1\npoints = {{x = 1, y = 0.5}}\n",
        ),
        ("twice", b"ab", "twice(text = \"ab\")\nreturn = \"abab\"\n"),
        ("old_style", b"\x02a", "old_style(s = \"a\", n = 2)\nreturn = 99\n"),
        ("hidden", b"\xfe\xff\xff\xff", "hidden(n = -2)\nreturn = -2\n"),
        ("sum", b"", "sum(values = {}, n = 0)\nreturn = 0\n"),
    ];
    for (function, input, expected) in cases {
        build(scratch.path(), ["v1.bc", "v2.bc"], &["--entry", function]);
        let (status, stdout, stderr) = run(scratch.path(), input);
        assert_eq!(
            (status, stdout.as_str(), stderr.as_str()),
            (0, expected, ""),
            "{function}"
        );
    }
}

/// Names that say nothing of lengths, or the wrong thing.
const NAMELESS: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <string.h>
int first(const unsigned char *p, int q, size_t m) { return q > 0 ? p[q - 1] : -(int)m; }
int key(const uint8_t k[4], const char *size, int len) { return k[3] + len + (size[0] == 'x'); }
int one(const char *c, const short *s, void *v) { return c[0] + s[1] + ((char *)v)[2]; }
int text(const unsigned char *text, size_t size) { return (int)strlen((const char *)text) + (int)size; }
int both(const char *a, const char *b, unsigned n) { return memcmp(a, b, n); }
int out(char *to, short *used, char *from, unsigned char have) {
  *used = have < *used ? have : *used;
  memcpy(to, from, (size_t)*used);
  return 0;
}
struct slice { const char *at; unsigned bytes, used; };
int slice(const struct slice *s, int used) { return s->used ? s->at[s->used - 1] : used; }
#if V == 1
int renamed(const char *p, int q) { return q; }
#else
int renamed(const char *at, int far) { return far; }
#endif
"#;

#[test]
fn what_names_do_not_say_of_lengths_can_be_said() {
    let scratch = compile(NAMELESS, &["-g"]);
    let cases: [(&str, &[u8], &str); 12] = [
        (
            "first(p=q)",
            b"\x05\0\0\0\0\0\0\0ab",
            "first(p = \"ab\", q = 2, m = 5)\nreturn = 98\n",
        ),
        (
            "key(k=4, size=string)",
            b"\x01\x02\x03\x04\x05\0\0\0xy",
            "key(k = &\"\\x01\\x02\\x03\\x04\", size = \"xy\", len = 5)\nreturn = 10\n",
        ),
        (
            "one(c=1,s=2,v=3)",
            b"A\x01\0\x02\0abc",
            "one(c = &'A', s = &{1, 2}, v = &\"abc\")\nreturn = 166\n*v = \"abc\"\n",
        ),
        (
            "text(text=string)",
            b"\x03\0\0\0\0\0\0\0ab",
            "text(text = \"ab\", size = 3)\nreturn = 5\n",
        ),
        (
            "both(a=n, b=n)",
            b"aabb",
            "both(a = \"aa\", b = \"bb\", n = 2)\nreturn = -1\n",
        ),
        (
            "both(a=string, b=n)",
            b"ab\0ab",
            "both(a = \"ab\", b = \"ab\", n = 2)\nreturn = 0\n",
        ),
        (
            "out(to=used, from=have)",
            b"\x02\0..xyz",
            "out(to = \"..\", used = &2, from = \"xyz\", have = 3)\n\
             return = 0\nto = \"xy\"\n*used = 2\nfrom = \"xyz\"\n",
        ),
        (
            "slice(s.at = used)",
            b"\x09\0\0\0\x07\0\0\0ab",
            "slice(s = &{at = \"ab\", bytes = 9, used = 2}, used = 7)\nreturn = 98\n",
        ),
        (
            "slice",
            b"\0\0\0\0\x07\0\0\0ab",
            "slice(s = &{at = \"ab\", bytes = 2, used = 0}, used = 7)\nreturn = 7\n",
        ),
        (
            "renamed(p=q, at=far)",
            b"abc",
            "renamed(p = \"abc\", q = 3)\nreturn = 3\n",
        ),
        (
            "first(p = 2)",
            b"ab\x01\0\0\0\0\0\0\0\0\0\0\0",
            "first(p = &\"ab\", q = 1, m = 0)\nreturn = 97\n",
        ),
        (
            "both",
            b"aabb",
            "both(a = \"aa\", b = \"bb\", n = 2)\nreturn = -1\n",
        ),
    ];
    for (entry, input, expected) in cases {
        build(scratch.path(), ["v1.bc", "v2.bc"], &["--entry", entry]);
        let (status, stdout, stderr) = run(scratch.path(), input);
        assert_eq!(
            (status, stdout.as_str(), stderr.as_str()),
            (0, expected, ""),
            "{entry}"
        );
    }
    for (entry, reason) in [
        ("first(p=z)", "'first' has no parameter 'z'"),
        ("first(z=q)", "'first' has no parameter 'z'"),
        ("slice(s.to=used)", "'slice' has no such member 's.to'"),
        ("first(q=m)", "'q' does not point to objects"),
        ("both(a=b)", "'b' is not an integer"),
        ("one(s=string)", "'s' does not point to characters"),
        ("first(p=0)", "'0' is not a number from 1 to 1048576"),
        (
            "first(p=9999999)",
            "'9999999' is not a number from 1 to 1048576",
        ),
        ("first(p)", "'first(p)' is not F or F(POINTER=LENGTH, ...)"),
        (
            "first(p=q",
            "'first(p=q' is not F or F(POINTER=LENGTH, ...)",
        ),
    ] {
        let (status, _, stderr) = call(
            scratch.path(),
            &["merge", "v1.bc", "v2.bc", "--entry", entry],
        );
        assert_eq!(
            (status, stderr),
            (2, format!("p3-ir: --entry: {reason}\n")),
            "{entry}"
        );
    }
    let one = ["merge", "v1.bc", "v2.bc", "--entry", "renamed(p=q)"];
    let (status, _, stderr) = call(scratch.path(), &one);
    assert_eq!(status, 2);
    assert!(
        stderr.starts_with("p3-ir: v2.bc: 'renamed' differs from 'renamed' of v1.bc: "),
        "{stderr}"
    );
}

/// Versions that differ, and what they are given.
const DIFFERENT: &str = r#"
#include <stddef.h>
#include <stdio.h>
#include <string.h>
struct s { int a, b; };
int magic(const char *text) { return V == 2 && strcmp(text, "p3") == 0; }
void clear(char *to, size_t size) { memset(to, 0, size - (V == 2 && size > 3)); }
void change(struct s *s) { s->b = s->a > 100 ? V : 0; }
int print(int n) { if (n == 'a') printf("%d\n", V); return n; }
#if V == 1
int before(int n) { return n / 2; }
#else
int after(int n) { return n >> 1; }
int before(int n, int m) { return n; }
#endif
#if V == 1
int other(int key, struct s *s, const char *t) { return key; }
enum e { A, B };
int known(enum e e) { return e; }
void nothing(int n) {}
#else
int other(long key, struct s *s, const char *t) { return key; }
enum e { A, B, C };
int known(enum e e) { return e; }
int nothing(int n) { return 0; }
#endif
int callback(int n, int (*f)(const char *, int)) { return f("", n); }
int memory(void *p) { return 0; }
int stream(FILE *file) { return 0; }
int variadic(const char *format, ...) { return 0; }
int list(char **strings, int count) { return count; }
"#;

#[test]
fn what_a_function_returns_and_writes_is_output() {
    let scratch = compile(DIFFERENT, &["-g"]);
    for (function, options, same, different, line) in [
        (
            "magic",
            &[][..],
            &b"p4"[..],
            &b"p3"[..],
            "'1' instead of '0'",
        ),
        ("clear", &[], b"abc", b"abcd", "'d' instead of '\\'"),
        ("change", &[], b"\x64", b"\x65", "'2' instead of '1'"),
        ("print", &[], b"b", b"a", "'2' instead of '1'"),
        (
            "before",
            &["--map", "before=after"],
            b"\x05",
            b"\xff\xff\xff\xff",
            "'-' instead of '0'",
        ),
        ("known", &[], b"\x02", b"", ""),
    ] {
        let entry = [&["--entry", function], options].concat();
        if function == "before" {
            // Version 2 has a function of the old name, too.
            let refused = [&["merge", "v1.bc", "v2.bc"], &entry[..]].concat();
            let (status, _, stderr) = call(scratch.path(), &refused);
            let reason = "p3-ir: v2.bc: 'before' differs from 'before' of v1.bc: 2 parameters instead of 1\n";
            assert_eq!((status, stderr.as_str()), (2, reason));
            continue;
        }
        build(scratch.path(), ["v1.bc", "v2.bc"], &entry);
        let (status, _, stderr) = run(scratch.path(), same);
        assert_eq!((status, stderr.as_str()), (0, ""), "{function}");
        let (status, _, stderr) = run(scratch.path(), different);
        match line {
            "" => assert_eq!((status, stderr.as_str()), (0, ""), "{function}"),
            line => assert!(status != 0 && stderr.contains(line), "{function}: {stderr}"),
        }
    }
}

#[test]
fn a_function_may_have_another_name_in_each_version() {
    let source = "
        #if V == 1
        int before(int n) { return n / 2; }
        #else
        int after(int number) { return number >> 1; }
        #endif";
    let scratch = compile(source, &["-g"]);
    for entry in ["before", "after"] {
        let options = ["--entry", entry, "--map", "before=after"];
        build(scratch.path(), ["v1.bc", "v2.bc"], &options);
        let (status, stdout, _) = run(scratch.path(), b"\x05");
        assert_eq!(
            (status, stdout.as_str()),
            (0, "before(n = 5)\nreturn = 2\n")
        );
        let (_, _, stderr) = run(scratch.path(), b"\xff\xff\xff\xff");
        assert!(stderr.starts_with("p3: output: "), "{stderr}");
    }
}

#[test]
fn what_cannot_be_made_is_named() {
    let scratch = compile(DIFFERENT, &["-g"]);
    let plain = compile(DIFFERENT, &[]);
    let refused = |directory: &TempDir, function: &str, status: i32, reason: &str| {
        let merge = ["merge", "v1.bc", "v2.bc", "--entry", function];
        let (real, _, stderr) = call(directory.path(), &merge);
        assert_eq!((real, stderr), (status, format!("p3-ir: {reason}\n")));
    };
    for (function, status, reason) in [
        ("other", 2, "v2.bc: 'other' differs from 'other' of v1.bc: parameter 'key' is long instead of int"),
        ("nothing", 2, "v2.bc: 'nothing' differs from 'nothing' of v1.bc: the result is int instead of void"),
        ("absent", 2, "v1.bc: no entry function 'absent'"),
        ("callback", 3, "'callback': unsupported: parameter 'f' of type int (*)(const char *, int)"),
        (
            "memory",
            3,
            "'memory': unsupported: parameter 'p' of type void *: nothing says how large the memory is",
        ),
        (
            "stream",
            3,
            "'stream': unsupported: parameter 'file' of type FILE *, whose members are not known",
        ),
        ("variadic", 3, "'variadic': unsupported: an entry function with variable arguments"),
        ("list", 3, "'list': unsupported: parameter 'strings' of type char **, a list of pointers"),
    ] {
        refused(&scratch, function, status, reason);
    }
    let reason =
        "v1.bc: 'magic' has no debug info, which says what its parameters are: compile with -g";
    refused(&plain, "magic", 2, reason);
}

const TARGET: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  printf("%zu\n", size);
  if (size == 3 && data[1] == 'z')
    return V == 2 ? -1 : 0;
  return 0;
}
int magic(const char *text, int number) { return number == 47112 && text[1] == 'q' ? V : 0; }
"#;

#[test]
fn files_are_inputs_as_for_a_fuzz_target_that_runs_alone() {
    let scratch = compile(TARGET, &["-g"]);
    let directory = scratch.path();
    fs::write(directory.join("one"), "1234567").unwrap();
    fs::write(directory.join("two"), "").unwrap();
    let product = |arguments: &[&str]| {
        let mut command = Command::new("./product");
        texts(
            command
                .args(arguments)
                .current_dir(directory)
                .output()
                .unwrap(),
        )
    };
    let entry = ["--entry", "LLVMFuzzerTestOneInput"];
    build(directory, ["v1.bc", "v2.bc"], &entry);
    assert_eq!(product(&["one", "two"]), (0, "7\n0\n".into(), "".into()));
    let (status, stdout, stderr) = product(&["none", "two"]);
    assert_eq!((status, stdout.as_str()), (3, "0\n"));
    assert_eq!(stderr, "none: No such file or directory\n");
    build(directory, ["v1.bc", "v2.bc"], &["--entry", "magic"]);
    let (status, stdout, _) = product(&["one"]);
    assert_eq!(
        (status, stdout.as_str()),
        (0, "magic(text = \"567\", number = 875770417)\nreturn = 0\n")
    );
}

#[test]
fn klee_finds_the_arguments_by_their_names() {
    if Command::new("klee").arg("--version").output().is_err() {
        eprintln!("not run: there is no klee");
        return;
    }
    let scratch = compile(TARGET, &["-g"]);
    let directory = scratch.path();
    for (entry, names) in [
        ("LLVMFuzzerTestOneInput", ["size", "data"]),
        ("magic", ["number", "text"]),
    ] {
        let merge = ["merge", "v1.bc", "v2.bc", "--entry", entry];
        assert_eq!(call(directory, &merge).0, 0);
        let output = Command::new("klee")
            .arg(format!("--output-dir={entry}"))
            .args(["--libc=uclibc", "--posix-runtime", "product.bc", "-size=5"])
            .current_dir(directory)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        let files = fs::read_dir(directory.join(entry)).unwrap();
        let name = |file: fs::DirEntry| file.file_name().into_string().unwrap();
        let files: Vec<String> = files.map(|file| name(file.unwrap())).collect();
        let failed: Vec<&String> = files.iter().filter(|f| f.ends_with(".abort.err")).collect();
        assert_eq!(failed.len(), 1, "{entry}: {files:?}");
        let test = failed[0].replace(".abort.err", ".ktest");
        let test = fs::read(directory.join(entry).join(test)).unwrap();
        let test = String::from_utf8_lossy(&test);
        assert!(
            names.iter().all(|name| test.contains(name)),
            "{entry}: {test}"
        );
    }
}
