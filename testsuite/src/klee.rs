//! Runs a product in KLEE.

use crate::directives::Klee;
use anyhow::{Context, Result};
use std::path::Path;
use std::process::Command;

/// Runs the product and returns what was not as wanted.
pub fn run(product: &Path, wanted: &Klee, scratch: &Path) -> Result<Option<String>> {
    let directory = scratch.join("klee-out");
    if directory.exists() {
        std::fs::remove_dir_all(&directory)?;
    }
    let mut klee = Command::new("klee");
    klee.args(["--libc=uclibc", "--posix-runtime", "--max-time=60s"]);
    klee.arg("--output-dir").arg(&directory);
    klee.arg(product).args(&wanted.args);
    let output = klee.output().context("klee")?;
    let log = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        let last = log.lines().last().unwrap_or_default();
        return Ok(Some(format!("{}: {last}", output.status)));
    }
    if log.contains("HaltTimer invoked") {
        return Ok(Some("ran out of time".to_string()));
    }
    let mut errors: Vec<String> = std::fs::read_dir(&directory)?
        .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
        .collect::<Result<Vec<_>>>()?
        .into_iter()
        .filter(|name| name.ends_with(".err"))
        .collect();
    errors.sort();
    let is_check = |name: &String| name.ends_with(".abort.err");
    Ok(
        match (wanted.difference, errors.iter().find(|e| !is_check(e))) {
            (_, Some(other)) => {
                let text = std::fs::read_to_string(directory.join(other)).unwrap_or_default();
                let first = text.lines().next().unwrap_or_default();
                Some(format!("{other}: {first}"))
            }
            (true, None) if errors.is_empty() => Some("no difference found".to_string()),
            (false, None) if !errors.is_empty() => Some(format!("a failed check: {}", errors[0])),
            _ => None,
        },
    )
}
