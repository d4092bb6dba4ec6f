//! `p3-ir merge`: what it prints and writes besides the product.

mod common;
#[path = "common/program.rs"]
mod program;

use common::{call, p3_ir};
use program::{compile, merge};
use std::fs::{self, File};
use std::io::Read;
use std::process::Stdio;

#[test]
fn every_level_of_preparation_makes_a_product() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    compile(directory, 2);
    for level in ["none", "fold", "O1"] {
        let run = ["run", "--prepare", level, "v1.bc", "v1.bc", "--", "output"];
        let (status, stdout, stderr) = call(directory, &run);
        assert_eq!((status, stderr.as_str()), (0, ""), "{level}");
        assert!(
            stdout.contains("stdout: equal\ncommon line\nversion 1\n"),
            "{level}: {stdout}"
        );
    }
}

#[test]
fn verbose_tells_what_was_done() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    merge(directory);
    let says = |flags: &[&str]| {
        let merge = [&["merge", "-v", "v1.bc", "v2.bc"], flags].concat();
        let (status, stdout, stderr) = call(directory, &merge);
        assert_eq!((status, stdout.as_str()), (0, ""));
        stderr
    };
    let woven = says(&[]);
    let first = woven.lines().next().unwrap();
    assert!(
        first.starts_with("p3-ir: v1.bc: 1 function, ")
            && first.ends_with(" names of libc isolated"),
        "{woven}"
    );
    assert!(
        woven.contains(" instructions, 1 function in lock-step, 0 one version after the other\n"),
        "{woven}"
    );
    let numbers = |line: &str| -> Vec<u64> {
        line.split(' ')
            .filter_map(|word| word.parse().ok())
            .collect()
    };
    let last: Vec<&str> = woven.lines().rev().take(2).collect();
    let (parts, all) = (numbers(last[0]), numbers(last[1])[0]);
    assert_eq!((parts.len(), parts.iter().sum()), (5, all), "{woven}");
    let part = says(&["--no-weave=main"]);
    assert!(
        part.contains(", 0 functions in lock-step, 1 one version after the other\n"),
        "{part}"
    );
    let none = says(&["--no-weave"]);
    assert!(
        none.ends_with(" instructions, one version after the other\n"),
        "{none}"
    );
}

#[test]
fn modules_are_shown_after_passes() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    compile(directory, 2);
    let merge = [
        "merge",
        "v1.bc",
        "v2.bc",
        "--dump-dir",
        "dump",
        "--print-after",
        "rename",
    ];
    let (status, stdout, stderr) = call(directory, &merge);
    assert_eq!((status, stderr.as_str()), (0, ""));
    assert!(stdout.starts_with("; after rename.1\n") && stdout.contains("\n; after rename.2\n"));
    let printed = stdout.split("; after rename.2\n").nth(1).unwrap();
    let dumped = fs::read_to_string(directory.join("dump/5-rename.2.ll")).unwrap();
    assert_eq!(printed.trim_end(), dumped.trim_end());
    assert!(directory.join("dump/7-finish.ll").exists());
}

#[test]
fn standard_output_that_takes_no_more() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    compile(directory, 2);
    let merge = |stdout: Stdio| {
        let mut command = p3_ir(directory);
        command.args(["merge", "v1.bc", "v2.bc", "--print-after", "finish"]);
        command
            .stdout(stdout)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    // A reader that has seen enough.
    let mut child = merge(Stdio::piped());
    let mut line = [0; 8];
    child.stdout.take().unwrap().read_exact(&mut line).unwrap();
    let done = child.wait_with_output().unwrap();
    assert_eq!(
        (done.status.code(), done.stderr.as_slice()),
        (Some(0), &b""[..])
    );

    fs::remove_file(directory.join("product.bc")).unwrap();
    let full = File::options().write(true).open("/dev/full").unwrap();
    let done = merge(full.into()).wait_with_output().unwrap();
    assert_eq!(done.status.code(), Some(2));
    assert_eq!(
        String::from_utf8_lossy(&done.stderr),
        "p3-ir: standard output: No space left on device\n"
    );
    assert!(!directory.join("product.bc").exists());
}

#[test]
fn options_that_mean_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    compile(directory, 2);
    let refused: [(&[&str], &str); 2] = [
        (
            &["--report", "both", "-o", "both"],
            "p3-ir: both: given as --output and as --report\n",
        ),
        (&["--check", "none,output"], "none stands by itself"),
    ];
    for (flags, message) in refused {
        let merge = [&["merge", "v1.bc", "v2.bc"], flags].concat();
        let (status, stdout, stderr) = call(directory, &merge);
        assert_eq!((status, stdout.as_str()), (2, ""), "{flags:?}: {stderr}");
        assert!(stderr.contains(message), "{flags:?}: {stderr}");
        assert!(!directory.join("product.bc").exists() && !directory.join("both").exists());
    }
    // The compiler may have inlined the function, so that it is no error.
    let unknown = [
        ("--map=nosuch=main", "nosuch"),
        ("--map=main=none", "none"),
        ("--no-weave=main,gone", "gone"),
    ];
    for (flag, name) in unknown {
        let (status, stdout, stderr) = call(directory, &["merge", "v1.bc", "v2.bc", flag]);
        assert_eq!((status, stdout.as_str()), (0, ""), "{flag}: {stderr}");
        let flag = flag.replace("--map=", "--map ").replace("main,", "");
        let warning = format!("p3-ir: warning: {flag}: no version defines a function {name}\n");
        assert_eq!(stderr, warning);
    }
}
