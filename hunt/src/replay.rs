//! Inputs that are kept in folders, with the programs that showed a difference on them.

use crate::examine::Class;
use crate::hunt::PROGRAMS;
use crate::input::{read, Input};
use crate::programs::{internal, Programs};
use crate::report::Report;
use crate::template::Template;
use p3_passes::{Error, Result};
use std::path::{Path, PathBuf};

/// An input, and what is known of it.
pub struct Kept {
    /// Where it was found.
    pub place: PathBuf,
    pub input: Input,
    /// The class of the finding that it belongs to.
    pub class: Option<Class>,
}

/// The folder of a comparison that `path` is in, or is.
pub fn comparison(path: &Path) -> Result<PathBuf> {
    let absolute = std::path::absolute(path).map_err(|e| Error::bad_input(path, e))?;
    let found = absolute
        .ancestors()
        .find(|folder| Programs::are_in(&folder.join(PROGRAMS)));
    found.map(Path::to_path_buf).ok_or_else(|| {
        Error::bad_input(
            path,
            "not in a folder that p3-ir diff has written (--in DIR names one)",
        )
    })
}

/// The programs of a comparison.
pub fn programs(comparison: &Path) -> Result<Programs> {
    Programs::open(&comparison.join(PROGRAMS))
}

/// The inputs that `path` stands for: all findings of a comparison, one finding, or the bytes of one input.
pub fn inputs(path: &Path, comparison: &Path, programs: &Programs) -> Result<Vec<Kept>> {
    if !path.exists() {
        return Err(Error::bad_input(path, "no such file or folder"));
    }
    let report = comparison.join("report.json");
    let findings = match report.exists() {
        true => {
            let report: Report = serde_json::from_slice(&read(&report)?)
                .map_err(|e| Error::bad_input(&report, e))?;
            report.findings
        }
        false => Vec::new(),
    };
    if path.is_file() {
        let template = Template::parse(&programs.template).map_err(internal)?;
        return Ok(vec![Kept {
            place: path.to_path_buf(),
            input: template.decode(&read(path)?),
            class: None,
        }]);
    }
    let same = |a: &Path, b: &Path| a.canonicalize().ok() == b.canonicalize().ok();
    if Input::is_in(path) {
        let finding = findings
            .iter()
            .find(|f| same(&comparison.join(&f.folder), path));
        return Ok(vec![Kept {
            place: path.to_path_buf(),
            input: Input::read(path)?,
            class: finding.map(|finding| finding.class),
        }]);
    }
    if !same(path, comparison) && !same(path, &comparison.join("findings")) {
        return Err(Error::bad_input(
            path,
            "neither an input nor a folder of findings",
        ));
    }
    let kept = findings.into_iter().map(|finding| {
        let place = comparison.join(&finding.folder);
        Ok(Kept {
            input: Input::read(&place)?,
            place,
            class: Some(finding.class),
        })
    });
    kept.collect()
}
