//! A scratch directory with compilers, archivers and `dup` at hand.

use p3_passes::dup::{duplicate, Options};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub struct Scratch(tempfile::TempDir);

impl Scratch {
    pub fn new() -> Self {
        Scratch(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    pub fn write(&self, file: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(file);
        fs::write(&path, contents).unwrap();
        path
    }

    /// Runs a program in the directory; its words are separated by spaces. Returns what it prints.
    pub fn run(&self, command: &str) -> String {
        let mut words = command.split_whitespace();
        let output = Command::new(words.next().unwrap())
            .args(words)
            .current_dir(self.0.path())
            .output()
            .unwrap_or_else(|e| panic!("{command}: {e}"));
        assert!(
            output.status.success(),
            "{command}: {}\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    /// Compiles or assembles `source` to the object `file`, whose source gets the ending `ending`.
    pub fn object(&self, file: &str, ending: &str, flags: &str, source: &str) -> PathBuf {
        let input = file.replace(".o", ending);
        self.write(&input, source);
        let compiler = if ending == ".cc" {
            "clang++-16"
        } else {
            "clang-16"
        };
        self.run(&format!("{compiler} {flags} -c {input} -o {file}"));
        self.path(file)
    }

    pub fn c(&self, file: &str, source: &str) -> PathBuf {
        self.object(file, ".c", "-O1", source)
    }

    pub fn asm(&self, file: &str, source: &str) -> PathBuf {
        let input = file.replace(".o", ".s");
        self.write(&input, source);
        self.run(&format!("as {input} -o {file}"));
        self.path(file)
    }

    /// Copies the library `from` to the file `to`.
    pub fn dup(&self, from: &str, prefix: &str, to: &str) {
        self.dup_with(from, prefix, to, &[]);
    }

    /// As [`Scratch::dup`], with new names for undefined symbols.
    pub fn dup_with(&self, from: &str, prefix: &str, to: &str, undefined: &[(&str, &str)]) {
        let map = undefined
            .iter()
            .map(|(old, new)| (old.as_bytes().to_vec(), new.as_bytes().to_vec()))
            .collect();
        let copy = dup_file(&self.path(from), prefix, &map);
        self.write(to, copy);
    }

    /// Links the objects with a C program's source, runs it and returns what it prints.
    pub fn link_and_run(&self, program: &str, objects: &str) -> String {
        self.write("program.c", program);
        self.run(&format!("clang-16 program.c {objects} -o program"));
        self.run("./program")
    }
}

/// Copies the library at `path`; a second time, to see that the copy depends on nothing else.
pub fn dup_file(path: &Path, prefix: &str, undefined_map: &HashMap<Vec<u8>, Vec<u8>>) -> Vec<u8> {
    let data = fs::read(path).unwrap();
    let copy = || {
        let options = Options {
            prefix,
            undefined_map,
        };
        duplicate(&data, path.to_str().unwrap(), options).unwrap()
    };
    let first = copy();
    assert!(first == copy(), "{}: not deterministic", path.display());
    first
}
