//! Full disks: at `P3_OUTDIR` the product says which file it is, and what it was to show has been shown; at `TMPDIR` nothing
//! is lost at all.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

fn succeeds(directory: &Path, program: &str, arguments: &[&str]) {
    let mut command = Command::new(program);
    let status = command.args(arguments).current_dir(directory).status();
    assert!(status.unwrap().success(), "{program} {arguments:?}");
}

/// The product of a program with itself.
fn product(directory: &Path, source: &str) {
    fs::write(directory.join("program.c"), source).unwrap();
    succeeds(directory, "clang-16", &["-c", "-emit-llvm", "program.c"]);
    let p3_ir = env!("CARGO_BIN_EXE_p3-ir");
    succeeds(directory, p3_ir, &["merge", "program.bc", "program.bc"]);
    succeeds(directory, p3_ir, &["build", "product.bc"]);
}

#[test]
fn a_full_directory_for_temporary_files_is_not_noticed() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = "int printf(const char *, ...);\n\
                  int main(void) { for (int i = 0; i < 40000; i++) printf(\"%9d\\n\", i); return 0; }\n";
    product(directory, source);
    fs::create_dir(directory.join("small")).unwrap();
    let script =
        "mount -t tmpfs -o size=64k none small || exit 77; head -c 100000 /dev/zero > small/full; \
                  TMPDIR=$PWD/small P3_SHOW=2 ./product";
    let output = Command::new("unshare")
        .args(["--map-root-user", "--mount", "sh", "-c", script])
        .current_dir(directory)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(77) || said.starts_with("unshare: ") {
        eprintln!("not run: nothing can be mounted here");
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert_eq!(output.stdout.len(), 400_000, "{said}");
}

#[test]
fn a_full_disk_is_named_and_nothing_shown_is_lost() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = "int puts(const char *);\nint main(void) { puts(\"shown\"); return 3; }\n";
    product(directory, source);
    for file in ["1.stdout", "2.status", "report.json"] {
        let outdir = directory.join(file);
        fs::create_dir(&outdir).unwrap();
        symlink("/dev/full", outdir.join(file)).unwrap();
        let output = Command::new(directory.join("product"))
            .env("P3_OUTDIR", &outdir)
            .env("P3_SHOW", "1")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert_eq!(output.stdout, b"shown\n");
        assert_eq!(
            String::from_utf8(output.stderr).unwrap(),
            format!("p3: cannot write {file} in P3_OUTDIR: No space left on device\n")
        );
    }
}
