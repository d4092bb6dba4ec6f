//! p3-fuzz itself works: some seeds of each kind. `scripts/test.sh` tries others with every commit.

use std::process::Command;

/// Runs p3-fuzz on seeds that are known to pass; whatever fails is kept in the target directory.
fn slice(arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_p3-fuzz"))
        .args(arguments)
        .args([
            "--keep",
            concat!(env!("CARGO_TARGET_TMPDIR"), "/p3-fuzz-failures"),
        ])
        .output()
        .expect("p3-fuzz starts");
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{error}");
}

#[test]
fn damaged_files() {
    slice(&["corrupt", "--seed", "1", "--count", "100"]);
}

#[test]
fn pairs_of_programs() {
    slice(&["--seed", "1", "--jobs", "1", "--count", "2"]);
}

#[test]
fn pairs_in_llvms_language() {
    slice(&["ir", "--seed", "1", "--count", "3"]);
}
