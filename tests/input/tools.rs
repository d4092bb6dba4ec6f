//! A scratch directory with a shell, compilers and `p3-ir merge` at hand.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Two files of one program; `helper` is missing in the first.
pub const MAIN: &str = r#"
    #include <stdio.h>
    int helper(int);
    int main(int argc, char **argv) { (void)argv; printf("%d\n", helper(argc)); return 0; }
"#;
pub const HELPER: &str = "int helper(int x) { return x + 41; }\n";

pub struct Scratch(tempfile::TempDir);

impl Scratch {
    pub fn new() -> Self {
        Scratch(tempfile::tempdir().unwrap())
    }

    /// With `main.c`, `helper.c` and the bitcode of both.
    pub fn with_program() -> Self {
        let scratch = Self::new();
        scratch.write("main.c", MAIN);
        scratch.write("helper.c", HELPER);
        scratch.sh("clang-16 -c -emit-llvm main.c helper.c");
        scratch
    }

    pub fn directory(&self) -> &Path {
        self.0.path()
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    pub fn read(&self, file: &str) -> Vec<u8> {
        fs::read(self.path(file)).unwrap()
    }

    pub fn write(&self, file: &str, contents: impl AsRef<[u8]>) {
        fs::write(self.path(file), contents).unwrap();
    }

    /// Runs a shell script in the directory and returns what it prints.
    pub fn sh(&self, script: &str) -> String {
        let output = Command::new("sh")
            .args(["-ec", script])
            .current_dir(self.directory())
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{script}\n{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// `p3-ir merge` with these arguments.
    pub fn merge(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_p3-ir"));
        command
            .arg("merge")
            .args(arguments)
            .current_dir(self.directory())
            .env_remove("WLLVM_BC_STORE")
            .stdin(Stdio::null());
        command
    }

    /// Merges `version` with itself.
    pub fn self_merge(&self, version: &str) -> Output {
        self.merge(&[version, version, "-o", "product.bc"])
    }

    /// The functions of `version` after linking, sorted.
    pub fn functions(&self, version: &str) -> Vec<String> {
        functions(&self.linked(version))
    }

    /// `version` after linking, as LLVM assembly.
    pub fn linked(&self, version: &str) -> String {
        linked(self.command(&[version, version]))
    }

    /// The product of `version` with itself answers as the program that clang makes of the files in
    /// `native`.
    pub fn behaves_like(&self, version: &str, native: &str) {
        let output = self.self_merge(version);
        assert!(output.status.success(), "{output:?}");
        self.sh(&format!(
            "clang-16 product.bc -o product && clang-16 {native} -o native
             ./native > native.out || echo $? >> native.out
             P3_SHOW=1 P3_STATUS=1 ./product > product.out || echo $? >> product.out
             cmp native.out product.out"
        ));
    }
}

/// The first version after linking, as LLVM assembly, of a merge command.
pub fn linked(mut command: Command) -> String {
    let output = command
        .args(["--print-after", "link", "-o", "product.bc"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let end = text.find("; after link.2").expect("two versions");
    text[..end].to_string()
}

/// The functions that LLVM assembly defines, sorted.
pub fn functions(assembly: &str) -> Vec<String> {
    let mut names: Vec<String> = assembly
        .lines()
        .filter(|line| line.starts_with("define "))
        .filter_map(|line| {
            let (_, rest) = line.split_once('@')?;
            Some(rest[..rest.find('(')?].to_string())
        })
        .collect();
    names.sort();
    names
}
