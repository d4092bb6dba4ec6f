//! `p3-ir build`: the executable, sanitizers, flags, and what can go wrong.

mod common;
#[path = "common/program.rs"]
mod program;

use common::{call, p3_ir, texts};
use program::merge;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// The script, in which `$0` is p3-ir, runs the product and shows its second version.
fn shows_version_two(directory: &Path, script: &str) {
    let done = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_p3-ir")])
        .env("P3_SHOW", "2")
        .env("P3_STATUS", "2")
        .current_dir(directory)
        .output()
        .unwrap();
    assert_eq!(
        texts(done),
        (0, "common line\nversion 2\n".into(), "".into())
    );
}

#[test]
fn the_executable_runs_and_takes_the_products_name() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    merge(directory);
    assert_eq!(
        call(directory, &["build", "product.bc"]),
        (0, String::new(), String::new())
    );
    shows_version_two(directory, "./product output");
}

#[test]
fn pipes_and_devices_are_written_to() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    merge(directory);
    let script = "
        mkfifo pipe && { cat pipe > copy & } && \"$0\" build product.bc -o pipe && wait && test -p pipe &&
        chmod +x copy && ./copy output";
    shows_version_two(directory, script);
}

#[test]
fn ir_needs_no_extension_and_flags_reach_clang() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    merge(directory);
    fs::rename(directory.join("product.bc"), directory.join("ir")).unwrap();
    let (status, _, stderr) = call(directory, &["build", "ir", "-o", "sub", "--", "-O2", "-s"]);
    assert_eq!((status, stderr.as_str()), (0, ""));
    assert!(directory.join("sub").exists());

    let (status, _, stderr) = call(
        directory,
        &["build", "ir", "-o", "bad", "--", "-lno-such-lib"],
    );
    assert_eq!(status, 2);
    assert!(stderr.starts_with("p3-ir: clang-16: "), "{stderr}");
    assert_eq!(stderr.lines().count(), 1);
    assert!(!directory.join("bad").exists());
}

#[test]
fn sanitizers_find_what_a_version_does() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    merge(directory);
    let build = ["build", "product.bc", "-o", "asan", "--sanitize", "address"];
    let (status, _, stderr) = call(directory, &build);
    assert_eq!((status, stderr.as_str()), (0, ""));
    let run = |argument: &str| {
        let program = directory.join("asan");
        texts(Command::new(program).arg(argument).output().unwrap())
    };
    let (status, stdout, stderr) = run("overflow");
    assert_ne!(status, 0);
    assert_eq!(stdout, "");
    assert!(stderr.contains("heap-buffer-overflow"), "{stderr}");
    assert_eq!(run(""), (0, String::new(), String::new()));
}

#[test]
fn instrumented_bitcode_is_not_instrumented_twice() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = "int table[4]; int main(int argc, char **argv) { int zero[2] = {0};\n\
                  return argc > 1 ? table[argc + 2] : zero[argc - 1]; }";
    fs::write(directory.join("program.c"), source).unwrap();
    let compile = |sanitizer: &str| {
        let done = Command::new("clang-16")
            .args(["-c", "-emit-llvm", "program.c", sanitizer])
            .current_dir(directory)
            .status();
        assert!(done.unwrap().success());
        let merge = ["merge", "program.bc", "program.bc", "-o", "product.bc"];
        assert_eq!(call(directory, &merge).0, 0);
    };
    compile("-fsanitize=address,undefined");
    let build = ["build", "product.bc", "--sanitize", "address,undefined"];
    assert_eq!(call(directory, &build), (0, String::new(), String::new()));
    let run = |arguments: &[&str]| {
        let program = directory.join("product");
        texts(Command::new(program).args(arguments).output().unwrap())
    };
    assert_eq!(run(&[]), (0, String::new(), String::new()));
    let (status, _, stderr) = run(&["more"; 2]);
    assert_ne!(status, 0);
    assert!(stderr.contains("index 5 out of bounds"), "{stderr}");
    assert!(stderr.contains("global-buffer-overflow"), "{stderr}");

    // The runtime would have to be instrumented, too: every byte that it hands over would count as undefined.
    compile("-fsanitize=memory");
    let build = ["build", "product.bc", "--sanitize", "memory", "-o", "msan"];
    let (status, _, stderr) = call(directory, &build);
    assert_eq!(status, 2);
    assert!(
        stderr.starts_with("p3-ir: product.bc: its versions were compiled with -fsanitize=memory")
    );
    assert!(!directory.join("msan").exists());
}

#[test]
fn undefined_behaviour_needs_instrumented_bitcode() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    merge(directory);
    let build = ["build", "product.bc", "--sanitize", "undefined"];
    let (status, _, stderr) = call(directory, &build);
    assert_eq!(status, 0);
    assert!(
        stderr.contains("compiled without -fsanitize=undefined"),
        "{stderr}"
    );

    for version in ["1", "2"] {
        let source = "int main(int argc, char **argv) { return (0x7fffffff + argc - V) & 0; }";
        fs::write(directory.join("ub.c"), source).unwrap();
        let done = Command::new("clang-16")
            .args(["-c", "-emit-llvm", "-fsanitize=undefined", "ub.c", "-o"])
            .arg(format!("ub{version}.bc"))
            .arg(format!("-DV={}", if version == "2" { 0 } else { 1 }))
            .current_dir(directory)
            .status()
            .unwrap();
        assert!(done.success());
    }
    call(directory, &["merge", "ub1.bc", "ub2.bc", "-o", "ub.bc"]);
    let build = ["build", "ub.bc", "--sanitize", "undefined"];
    assert_eq!(call(directory, &build), (0, String::new(), String::new()));
    let (_, _, stderr) = texts(
        Command::new(directory.join("ub"))
            .env("P3_SHOW", "1")
            .env("P3_STATUS", "1")
            .output()
            .unwrap(),
    );
    assert!(stderr.contains("signed integer overflow"), "{stderr}");
}

/// lib.o, and p.bc, which needs it.
fn compile_library_and_program(directory: &Path) {
    let sources = [
        (
            "lib.c",
            "static int count; int bump(void) { return ++count; }",
        ),
        (
            "p.c",
            "int bump(void); int main(void) { bump(); return bump() - 2; }",
        ),
    ];
    for (name, text) in sources {
        fs::write(directory.join(name), text).unwrap();
    }
    let compile = "clang-16 -c lib.c && clang-16 -c -emit-llvm p.c";
    let shell = Command::new("sh")
        .args(["-ec", compile])
        .current_dir(directory)
        .status();
    assert!(shell.unwrap().success());
}

#[test]
fn a_product_that_cannot_be_written_leaves_no_other_output() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    compile_library_and_program(directory);
    symlink("/dev/full", directory.join("out.bc")).unwrap();
    let arguments = "merge p.bc p.bc --native-lib lib.o --report report.json -o out.bc";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let before = names_in(directory);
    let (status, _, stderr) = call(directory, &arguments);
    assert_eq!(status, 2);
    assert!(
        stderr.starts_with("p3-ir: out.bc: cannot write: No space left"),
        "{stderr}"
    );
    assert_eq!(names_in(directory), before);
}

fn names_in(directory: &Path) -> BTreeSet<OsString> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().file_name()).collect()
}

#[test]
fn copies_of_native_libraries_are_linked() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    compile_library_and_program(directory);
    let merge = ["merge", "p.bc", "p.bc", "--native-lib", "lib.o"];
    assert_eq!(call(directory, &merge).0, 0);
    assert_eq!(call(directory, &["build", "product.bc"]).0, 0);
    assert!(Command::new(directory.join("product"))
        .status()
        .unwrap()
        .success());

    fs::remove_file(directory.join("product.native2.0.o")).unwrap();
    let (status, _, stderr) = call(directory, &["build", "product.bc"]);
    assert_eq!(status, 2);
    assert!(stderr.contains("product.native2.0.o: missing"), "{stderr}");
}

#[test]
fn exit_in_a_native_library_ends_one_version() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let library = "#include <stdlib.h>\nvoid quit(int status) { exit(status); }";
    let program = r#"
#include <stdio.h>
#include <stdlib.h>
void quit(int status);
static void handler(void) { printf("handler of %d\n", V); }
int main(void) {
  atexit(handler);
  printf("version %d, ", V);
  quit(V + 2);
  puts("not reached");
}
"#;
    fs::write(directory.join("lib.c"), library).unwrap();
    fs::write(directory.join("p.c"), program).unwrap();
    let compile = "clang-16 -c lib.c && for v in 1 2 3; do \
                   clang-16 -DV=$v -c -emit-llvm p.c -o p$v.bc; done";
    let shell = Command::new("sh")
        .args(["-ec", compile])
        .current_dir(directory)
        .status();
    assert!(shell.unwrap().success());
    let merge = "merge p1.bc p2.bc p3.bc --native-lib lib.o";
    let merge: Vec<&str> = merge.split(' ').collect();
    assert_eq!(call(directory, &merge).0, 0);
    assert_eq!(call(directory, &["build", "product.bc"]).0, 0);
    for version in 1..=3 {
        let run = Command::new(directory.join("product"))
            .env("P3_SHOW", version.to_string())
            .env("P3_STATUS", version.to_string())
            .output()
            .unwrap();
        let said = format!("version {version}, handler of {version}\n");
        assert_eq!(texts(run), (version + 2, said, String::new()));
    }
}

#[test]
fn bad_input_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    merge(directory);
    fs::write(directory.join("text"), "no IR").unwrap();
    fs::write(directory.join("empty.bc"), "").unwrap();
    for (arguments, place) in [
        (&["build", "missing.bc"][..], "missing.bc: "),
        (&["build", "text"], "text: "),
        (&["build", "empty.bc"], "empty.bc: empty"),
        (&["build", "v1.bc"], "v1.bc: not a product"),
        (&["build", "product.bc", "-o", "."], ".: "),
        (
            &["build", "product.bc", "-o", "no/such/place"],
            "no/such/place: ",
        ),
    ] {
        let (status, stdout, stderr) = call(directory, arguments);
        assert_eq!(
            (status, stdout.as_str()),
            (2, ""),
            "{arguments:?}: {stderr}"
        );
        assert!(stderr.starts_with(&format!("p3-ir: {place}")), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
    let (status, _, stderr) = call(directory, &["build", "product.bc", "--sanitize", "magic"]);
    assert_eq!(status, 2);
    assert!(stderr.contains("unknown sanitizer 'magic'"), "{stderr}");
}

#[test]
fn a_missing_compiler_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    merge(directory);
    let output = p3_ir(directory)
        .args(["build", "product.bc"])
        .env("P3_CLANG", "/no/such/clang")
        .output()
        .unwrap();
    let (status, _, stderr) = texts(output);
    assert_eq!(status, 2);
    assert!(
        stderr.starts_with("p3-ir: /no/such/clang: No such file"),
        "{stderr}"
    );
}
