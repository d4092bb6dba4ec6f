//! `P3_OUTDIR` on a full disk: the product says which file it is, and what it was to show has been shown.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

fn succeeds(directory: &Path, program: &str, arguments: &[&str]) {
    let mut command = Command::new(program);
    let status = command.args(arguments).current_dir(directory).status();
    assert!(status.unwrap().success(), "{program} {arguments:?}");
}

#[test]
fn a_full_disk_is_named_and_nothing_shown_is_lost() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let source = "int puts(const char *);\nint main(void) { puts(\"shown\"); return 3; }\n";
    fs::write(directory.join("program.c"), source).unwrap();
    succeeds(directory, "clang-16", &["-c", "-emit-llvm", "program.c"]);
    let p3_ir = env!("CARGO_BIN_EXE_p3-ir");
    succeeds(directory, p3_ir, &["merge", "program.bc", "program.bc"]);
    succeeds(directory, p3_ir, &["build", "product.bc"]);
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
