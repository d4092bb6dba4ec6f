//! Keeps pairs that fail, and makes them small with cvise, which asks again and again whether they still fail.

use crate::pair::{is_usable, source_path, Pair};
use anyhow::{bail, Context, Result};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use testsuite::tally::Tally;

/// What describes the pair, beside its sources.
const DESCRIPTION: &str = "pair.json";

/// Copies the pair's sources to `kept`, with what is needed to try it again.
pub fn keep(pair: &Pair, directory: &Path, kept: &Path) -> Result<()> {
    std::fs::create_dir_all(kept).with_context(|| kept.display().to_string())?;
    for version in 1..=pair.versions {
        std::fs::copy(source_path(directory, version), source_path(kept, version))?;
    }
    std::fs::write(kept.join(DESCRIPTION), serde_json::to_vec_pretty(pair)?)?;
    let description = std::fs::canonicalize(kept)?.join(DESCRIPTION);
    let script = kept.join("still-fails.sh");
    let text = format!(
        "#!/bin/sh\nexec '{}' --still-fails '{}'\n",
        std::env::current_exe()?.display(),
        description.display()
    );
    std::fs::write(&script, text)?;
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// Makes the sources in `kept` as small as they can be while the pair fails.
pub fn reduce(kept: &Path) -> Result<()> {
    let description = std::fs::read(kept.join(DESCRIPTION))?;
    let pair: Pair = serde_json::from_slice(&description)?;
    let mut cvise = Command::new("cvise");
    cvise
        .current_dir(kept)
        .args(["--n", "2", "./still-fails.sh"]);
    cvise.args((1..=pair.versions).map(|version| format!("v{version}.c")));
    let output = cvise.output().context("cvise (Debian package cvise)")?;
    if !output.status.success() {
        let text = String::from_utf8_lossy(&output.stderr);
        bail!("cvise: {}", text.lines().last().unwrap_or_default());
    }
    Ok(())
}

/// Whether the versions in the current directory are still programs without undefined behaviour and still fail.
pub fn still_fails(description: &Path) -> Result<bool> {
    let description = std::fs::read(description)?;
    let pair: Pair = serde_json::from_slice(&description)?;
    let directory = std::env::current_dir()?;
    for version in 1..=pair.versions {
        if !is_usable(&source_path(&directory, version))? {
            return Ok(false);
        }
    }
    let mismatches = crate::pairs::check(&pair, &directory, &Arc::new(Tally::default()))?;
    Ok(!mismatches.is_empty())
}
