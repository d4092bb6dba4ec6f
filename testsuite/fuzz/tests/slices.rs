//! A small slice of what p3-fuzz does, other seeds with every commit; a failure names the seed.

use std::process::Command;

/// The first seed: a number made of the commit, always the same where there is none.
fn seed() -> u64 {
    let head = Command::new("git").args(["rev-parse", "HEAD"]).output();
    let text = head.map(|output| output.stdout).unwrap_or_default();
    let digits = std::str::from_utf8(&text)
        .ok()
        .and_then(|text| text.get(..10));
    digits
        .and_then(|digits| u64::from_str_radix(digits, 16).ok())
        .unwrap_or(5)
}

/// Runs p3-fuzz from the seed on; whatever fails is kept in the target directory.
fn slice(arguments: &[&str]) {
    let output = Command::new(env!("CARGO_BIN_EXE_p3-fuzz"))
        .args(arguments)
        .args(["--seed", &seed().to_string()])
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
    slice(&["corrupt", "--count", "300", "--seconds", "20"]);
}

#[test]
fn pairs_of_programs() {
    slice(&["--seconds", "15", "--jobs", "1", "--count", "1000"]);
}

#[test]
fn pairs_in_llvms_language() {
    slice(&["ir", "--seconds", "15", "--count", "1000"]);
}
