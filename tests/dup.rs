//! `p3-ir dup` as a command: its output file, its messages and its exit status.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

fn dup(directory: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_p3-ir"))
        .arg("dup")
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap()
}

fn run(directory: &Path, command: &str) -> String {
    let output = Command::new("sh")
        .args(["-ec", command])
        .current_dir(directory)
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_copy_is_written_and_binds_as_asked() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    run(
        directory,
        r#"printf 'int puts(const char *); int f(void) { return puts("x"); }' > f.c
           clang-16 -c f.c && ar rcs lib.a f.o"#,
    );
    let arguments = ["lib.a", "--prefix", "_PP1_", "-o", "copy.a"];
    let undefined = ["--undefined", "puts=_PP1_p3_shim_puts"];
    let output = dup(directory, &[&arguments[..], &undefined].concat());
    assert!(output.status.success());
    assert!(output.stdout.is_empty() && output.stderr.is_empty());
    let names = run(directory, "nm -j copy.a");
    assert!(names.contains("\n_PP1_f\n") && names.contains("\n_PP1_p3_shim_puts\n"));
    assert_eq!(
        fs::metadata(directory.join("copy.a"))
            .unwrap()
            .permissions()
            .mode()
            & 0o111,
        0
    );

    // The library may be replaced by its copy; standard output will do for a file.
    let output = dup(directory, &["lib.a", "-p", "_PP1_", "-o", "-"]);
    assert!(output.status.success());
    assert!(dup(directory, &["lib.a", "-p", "_PP1_", "-o", "lib.a"])
        .status
        .success());
    assert!(fs::read(directory.join("lib.a")).unwrap() == output.stdout);
}

#[test]
fn bad_input_is_one_line_and_status_2_and_leaves_the_output_alone() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    run(
        directory,
        "printf 'int f(void) { return 0; }' > f.c
         clang-16 -c f.c && head -c 100 f.o > truncated.o && : > empty.o && echo old > out.o && mkdir dir",
    );
    let cases = [
        (
            ["missing.o", "p_", "out.o"],
            "missing.o: No such file or directory",
        ),
        (["empty.o", "p_", "out.o"], "empty.o: is empty"),
        (
            ["f.c", "p_", "out.o"],
            "f.c: is not an ELF object or archive",
        ),
        (
            ["truncated.o", "p_", "out.o"],
            "truncated.o: is a truncated or damaged ELF file",
        ),
        (
            ["f.o", "p.", "out.o"],
            "f.o: cannot be copied with the prefix `p.`",
        ),
        (
            ["f.o", "p_", "missing/out.o"],
            "missing/out.o: cannot write",
        ),
        (["f.o", "p_", "dir"], "dir: cannot write"),
    ];
    for ([library, prefix, out], reason) in cases {
        let output = dup(directory, &[library, "--prefix", prefix, "-o", out]);
        assert_eq!(output.status.code(), Some(2), "{library}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(
            message.starts_with(&format!("p3-ir: {reason}")),
            "{message}"
        );
        assert_eq!(message.lines().count(), 1, "{message}");
    }
    assert_eq!(fs::read(directory.join("out.o")).unwrap(), b"old\n");
    assert_eq!(
        run(directory, "ls -A"),
        "dir\nempty.o\nf.c\nf.o\nout.o\ntruncated.o\n"
    );
}
