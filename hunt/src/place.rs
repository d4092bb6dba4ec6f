//! Places in source files, and the lines that stand there.

use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::path::{Component, Path, PathBuf};

/// A line of a source file, or a function if there is no debug information.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The file's name, or `function()`.
    pub file: String,
    /// Counted from 1; 0 if it is a function.
    pub line: u32,
}

impl Place {
    /// A line of a file.
    pub fn new(file: &str, line: u32) -> Place {
        Place {
            file: file.to_string(),
            line,
        }
    }

    /// Reads `file:line`; anything else is a function.
    pub fn parse(text: &str) -> Place {
        match text
            .rsplit_once(':')
            .map(|(file, line)| (file, line.parse()))
        {
            Some((file, Ok(line))) => Place::new(file, line),
            _ => Place::new(text, 0),
        }
    }

    /// Whether both mean the same line, though one of them may say less of the path.
    pub fn is_same(&self, other: &Place) -> bool {
        let (a, b) = (Path::new(&self.file), Path::new(&other.file));
        self.line == other.line && (a.ends_with(b) || b.ends_with(a))
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self.line {
            0 => f.write_str(&self.file),
            line => write!(f, "{}:{line}", self.file),
        }
    }
}

/// What a file of one version is called, so that the same file of another version is called the same: what its path has
/// in common with the end of one of the other version's (`others`). A file that both versions share, or only this
/// one has, is named from the directory where it was compiled, if it is below that.
pub fn common_name(file: &str, others: &[PathBuf], directories: &[PathBuf]) -> String {
    let path = plain(Path::new(file));
    let count = path.components().count();
    let in_common = |other: &PathBuf| {
        let (a, b) = (path.components().rev(), plain(other));
        a.zip(b.components().rev())
            .take_while(|(a, b)| a == b)
            .count()
    };
    let most = others.iter().map(in_common).max().unwrap_or(0);
    let named: PathBuf = if path.is_absolute() && (1..count).contains(&most) {
        let end = path.components().skip(count - most);
        // The root is in common by itself.
        end.filter(|part| *part != Component::RootDir).collect()
    } else {
        let inside = |directory: &PathBuf| path.strip_prefix(directory).ok();
        let inside = directories.iter().filter_map(inside);
        inside
            .min_by_key(|rest| rest.components().count())
            .unwrap_or(&path)
            .to_path_buf()
    };
    named.to_string_lossy().into_owned()
}

/// The path without `.` and, where that can be told, `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}

/// Source files, read when they are asked for.
#[derive(Default)]
pub struct Sources {
    /// Files that are known by their whole paths.
    known: Vec<PathBuf>,
    /// Where to look for files whose names are relative.
    directories: Vec<PathBuf>,
    files: HashMap<String, Option<Vec<String>>>,
}

impl Sources {
    /// Looks for a file among those that debug information names (`known`) if one of them is meant, then in the current
    /// directory, then where debug information says that files were compiled.
    pub fn new(known: &[PathBuf], directories: impl IntoIterator<Item = PathBuf>) -> Sources {
        let mut seen = HashSet::new();
        Sources {
            known: known.iter().map(|file| plain(file)).collect(),
            directories: directories
                .into_iter()
                .filter(|d| seen.insert(d.clone()))
                .collect(),
            files: HashMap::new(),
        }
    }

    /// The lines around a place, each with its number.
    pub fn around(&mut self, place: &Place, context: u32) -> Vec<(u32, String)> {
        let lines = self.lines(&place.file);
        let Some(lines) =
            lines.filter(|lines| place.line > 0 && place.line as usize <= lines.len())
        else {
            return Vec::new();
        };
        let first = place.line.saturating_sub(context).max(1);
        let last = (place.line + context).min(lines.len() as u32);
        let text = |line: u32| lines[line as usize - 1].clone();
        (first..=last).map(|line| (line, text(line))).collect()
    }

    fn lines(&mut self, file: &str) -> Option<&Vec<String>> {
        if !self.files.contains_key(file) {
            let here = std::iter::once(PathBuf::from(file));
            let elsewhere = self
                .directories
                .iter()
                .map(|directory| directory.join(file));
            let mut meant = self
                .known
                .iter()
                .filter(|known| known.ends_with(plain(Path::new(file))));
            let meant = match (meant.next(), meant.next()) {
                (Some(one), None) => Some(one.clone()),
                _ => None,
            };
            let data = meant
                .into_iter()
                .chain(here)
                .chain(elsewhere)
                .find_map(|path| std::fs::read(path).ok());
            let lines = data.map(|data| {
                let text = String::from_utf8_lossy(&data).into_owned();
                text.lines().map(str::to_string).collect()
            });
            self.files.insert(file.to_string(), lines);
        }
        self.files[file].as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_back() {
        for text in ["a.c:12", "dir/a b.c:1", "main()"] {
            assert_eq!(Place::parse(text).to_string(), text);
        }
        assert!(Place::new("/src/a.c", 3).is_same(&Place::new("src/a.c", 3)));
        assert!(!Place::new("/src/a.c", 3).is_same(&Place::new("b.c", 3)));
    }

    #[test]
    fn lines_around() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("x.c"), "one\ntwo\nthree\n").unwrap();
        let mut sources = Sources::new(&[], [directory.path().to_path_buf()]);
        let lines = sources.around(&Place::new("x.c", 1), 1);
        assert_eq!(lines, [(1, "one".to_string()), (2, "two".to_string())]);
        assert!(sources.around(&Place::new("x.c", 9), 1).is_empty());
        assert!(sources.around(&Place::new("y.c", 1), 1).is_empty());
        let known = [directory.path().join("x.c"), "/other/y.c".into()];
        let mut sources = Sources::new(&known, []);
        assert_eq!(sources.around(&Place::new("x.c", 3), 0).len(), 1);
    }

    #[test]
    fn files_of_two_directories_have_one_name() {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let old = paths(&["/work/v1/src/a.c", "/work/v1/src/b.c", "/usr/include/x.h"]);
        let new = paths(&[
            "/work/v2/lib/c.c",
            "/work/v2/./lib/../src/a.c",
            "/usr/include/x.h",
        ]);
        let here = paths(&["/work"]);
        let of_old = |file: &str| common_name(file, &new, &here);
        assert_eq!(of_old("/work/v1/src/a.c"), "src/a.c");
        assert_eq!(common_name("/work/v2/src/a.c", &old, &here), "src/a.c");
        assert_eq!(of_old("/work/v1/src/b.c"), "v1/src/b.c");
        assert_eq!(of_old("/usr/include/x.h"), "/usr/include/x.h");
        assert_eq!(of_old("a.c"), "a.c");
        let one = paths(&["/work/a.c"]);
        assert_eq!(common_name("/work/a.c", &one, &here), "a.c");
    }
}
