//! Runs a program in KLEE.

use crate::directives::Verdict;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// What KLEE has found.
pub struct Explored {
    /// Paths that it followed to their ends.
    pub paths: u64,
    /// Instructions that it interpreted, of KLEE's libc as well.
    pub instructions: u64,
    /// Why it did not follow all paths.
    incomplete: Option<String>,
    /// The error files' names and first lines.
    errors: Vec<(String, String)>,
}

/// Explores a program, which may be a product.
pub fn run(program: &Path, args: &[String], scratch: &Path) -> Result<Explored> {
    let directory = scratch.join("klee-out");
    if directory.exists() {
        std::fs::remove_dir_all(&directory)?;
    }
    let mut klee = Command::new("klee");
    klee.args(["--libc=uclibc", "--posix-runtime", "--max-time=300s"]);
    klee.arg("--output-dir").arg(&directory);
    klee.arg(program).args(args);
    let output = klee.output().context("klee")?;
    let log = String::from_utf8_lossy(&output.stderr);
    let incomplete = if !output.status.success() {
        let last = log.lines().last().unwrap_or_default();
        Some(format!("{}: {last}", output.status))
    } else if log.contains("HaltTimer invoked") {
        Some("ran out of time".to_string())
    } else {
        None
    };
    let mut errors = Vec::new();
    if directory.exists() {
        for entry in std::fs::read_dir(&directory)? {
            let path = entry?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if name.ends_with(".err") {
                let text = std::fs::read_to_string(&path).unwrap_or_default();
                let first = text.lines().next().unwrap_or_default();
                errors.push((name.to_string(), first.to_string()));
            }
        }
    }
    errors.sort();
    let figure = |name: &str| {
        log.lines()
            .find_map(|line| line.split_once(name))
            .and_then(|(_, number)| number.trim().parse().ok())
            .unwrap_or_default()
    };
    Ok(Explored {
        paths: figure("completed paths = "),
        instructions: figure("total instructions = "),
        incomplete,
        errors,
    })
}

impl Explored {
    /// What is not as it must be, as far as one program tells.
    pub fn unwanted(&self, wanted: Verdict) -> Option<String> {
        if self.incomplete.is_some() {
            return self.incomplete.clone();
        }
        let is_check = |name: &str| name.ends_with(".abort.err");
        let other = self.errors.iter().find(|(name, _)| !is_check(name));
        match (wanted, other, self.errors.first()) {
            (_, Some((name, first)), _) => Some(format!("{name}: {first}")),
            (Verdict::Difference | Verdict::Quarter, None, None) => {
                Some("no difference found".to_string())
            }
            (Verdict::None | Verdict::PathsEqual, None, Some((name, _))) => {
                Some(format!("a failed check: {name}"))
            }
            _ => None,
        }
    }
}
