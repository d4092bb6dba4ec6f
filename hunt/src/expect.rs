//! Differences that are known and accepted, so that only new ones fail a pipeline.
//!
//! A file of expectations has one a line; `#` begins a comment. Words are as in a template.
//!
//! ```text
//! place OLD NEW                    they part there (FILE:LINE, - for none), write what differs, or crash; or a
//!                                  specification fails there
//! output stdout|stderr OLD NEW     two regular expressions: all lines of the old version that are not the new
//!                                  version's match the first, and the other way round
//! status OLD NEW                   two statuses, as in "exit 1"
//! ```
//!
//! A finding is accepted if its place is, or if everything in which the versions differ is: each stream and the
//! status.

use crate::captured::Captured;
use crate::examine::{Class, Examined};
use crate::input::read;
use crate::place::Place;
use crate::programs::Parting;
use crate::words;
use p3_passes::{Error, Result};
use regex::bytes::Regex;
use similar::{Algorithm, DiffOp};
use std::collections::HashSet;
use std::path::Path;

/// Accepted differences, in the order of the file.
#[derive(Default)]
pub struct Expectations(Vec<Expectation>);

struct Expectation {
    /// As it was written.
    text: String,
    kind: Kind,
}

enum Kind {
    Place([Option<Place>; 2]),
    Output(Stream, [Regex; 2]),
    Status([String; 2]),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stream {
    Stdout,
    Stderr,
}

impl Expectations {
    /// Reads a file of expectations.
    pub fn read(path: &Path) -> Result<Expectations> {
        let text =
            String::from_utf8(read(path)?).map_err(|_| Error::bad_input(path, "not UTF-8"))?;
        let mut expectations = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let kind = Kind::parse(line).map_err(|reason| {
                Error::bad_input(path, format!("line {}: {reason}", index + 1))
            })?;
            expectations.push(Expectation {
                text: line.to_string(),
                kind,
            });
        }
        Ok(Expectations(expectations))
    }

    /// Their texts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|expectation| expectation.text.as_str())
    }

    /// The expectations, by their index, that accept what was examined; none if it is not accepted.
    pub fn accept(&self, examined: &Examined, harmless: &HashSet<Parting>) -> Option<Vec<usize>> {
        let class = examined.class()?;
        let accepts = |wanted: &dyn Fn(&Kind) -> bool| {
            self.0
                .iter()
                .position(|expectation| wanted(&expectation.kind))
        };
        let places = places(examined, harmless);
        if let Some(index) = accepts(&|kind| kind.is_place(&places)) {
            return Some(vec![index]);
        }
        let by_place_only = [Class::NewCrash, Class::FixedCrash, Class::Spec, Class::Flow];
        if by_place_only.contains(&class) {
            return None;
        }
        let differing = examined.differing();
        differing
            .iter()
            .map(|what| accepts(&|kind| kind.accepts(what, examined)))
            .collect()
    }
}

/// Where the first two versions part or crash.
pub fn places(examined: &Examined, harmless: &HashSet<Parting>) -> [Option<Place>; 2] {
    let class = examined.class();
    if matches!(class, Some(Class::NewCrash | Class::FixedCrash)) {
        return [0, 1].map(|version| examined.crash(version).and_then(|crash| crash.place));
    }
    if class == Some(Class::Spec) {
        let spec = examined.failed_specs().first();
        return [0, 1].map(|version| spec.and_then(|s| s.places.get(version).cloned().flatten()));
    }
    let parting = examined.telling_parting(harmless);
    [0, 1].map(|version| parting.and_then(|p| p.places.get(version).cloned().flatten()))
}

/// The line that accepts a place.
pub fn suggestion(places: &[Option<Place>; 2]) -> Option<String> {
    if places.iter().all(Option::is_none) {
        return None;
    }
    let word = |place: &Option<Place>| {
        place
            .as_ref()
            .map_or("-".to_string(), |p| words::quoted(p.to_string().as_bytes()))
    };
    Some(format!("place {} {}", word(&places[0]), word(&places[1])))
}

impl Kind {
    fn parse(line: &str) -> std::result::Result<Kind, String> {
        let words = words::split(line)?;
        let words: Vec<String> = words
            .into_iter()
            .map(|word| String::from_utf8(word).map_err(|_| "not UTF-8".to_string()))
            .collect::<std::result::Result<_, _>>()?;
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let place = |text: &str| (text != "-").then(|| Place::parse(text));
        let regex = |text: &str| Regex::new(text).map_err(|e| e.to_string());
        match words.as_slice() {
            ["place", old, new] => Ok(Kind::Place([place(old), place(new)])),
            ["output", "stdout", old, new] => {
                Ok(Kind::Output(Stream::Stdout, [regex(old)?, regex(new)?]))
            }
            ["output", "stderr", old, new] => {
                Ok(Kind::Output(Stream::Stderr, [regex(old)?, regex(new)?]))
            }
            ["status", old, new] => Ok(Kind::Status([old.to_string(), new.to_string()])),
            _ => Err(
                "expected place OLD NEW, output stdout|stderr OLD NEW or status OLD NEW"
                    .to_string(),
            ),
        }
    }

    fn is_place(&self, places: &[Option<Place>; 2]) -> bool {
        let Kind::Place(expected) = self else {
            return false;
        };
        places.iter().any(Option::is_some)
            && expected.iter().zip(places).all(|pair| match pair {
                (Some(expected), Some(place)) => expected.is_same(place),
                (None, None) => true,
                _ => false,
            })
    }

    /// Whether it accepts this stream or the status.
    fn accepts(&self, what: &str, examined: &Examined) -> bool {
        let (old, new) = (&examined.plain[0], &examined.plain[1]);
        match self {
            Kind::Place(_) => false,
            Kind::Output(Stream::Stdout, patterns) => {
                what == "stdout" && lines_match(patterns, &old.stdout, &new.stdout)
            }
            Kind::Output(Stream::Stderr, patterns) => {
                what == "stderr" && lines_match(patterns, &old.stderr, &new.stderr)
            }
            Kind::Status(expected) => {
                let statuses = [old.status.to_string(), new.status.to_string()];
                what == "status" && statuses == *expected
            }
        }
    }
}

/// Whether all lines that only one side has match its pattern. Nobody accepts what was not kept.
fn lines_match(patterns: &[Regex; 2], old: &Captured, new: &Captured) -> bool {
    if !old.is_whole() || !new.is_whole() {
        return false;
    }
    let lines = |text| <[u8]>::split_inclusive(text, |b| *b == b'\n').collect::<Vec<_>>();
    let (old, new) = (lines(old.head()), lines(new.head()));
    let matches = |pattern: &Regex, lines: &[&[u8]]| {
        let mut lines = lines
            .iter()
            .map(|line| line.strip_suffix(b"\n").unwrap_or(line));
        lines.all(|line| pattern.is_match(line))
    };
    similar::capture_diff_slices(Algorithm::Myers, &old, &new)
        .iter()
        .filter(|op| !matches!(op, DiffOp::Equal { .. }))
        .all(|op| {
            matches(&patterns[0], &old[op.old_range()])
                && matches(&patterns[1], &new[op.new_range()])
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::Input;
    use crate::process::{Ended, Status};
    use crate::programs::{Account, Checked};

    fn examined(outputs: [&str; 2], statuses: [i32; 2]) -> Examined {
        let plain: Vec<Ended> = [0, 1]
            .map(|i| Ended {
                status: Status::Exit(statuses[i]),
                stdout: Captured::from(outputs[i].as_bytes()),
                stderr: Captured::default(),
            })
            .into();
        let checked = plain.iter().map(|ended| Checked {
            status: ended.status.clone(),
            report: None,
        });
        Examined {
            input: Input::default(),
            checked: checked.collect(),
            plain,
            account: Some(Account {
                partings: vec![Parting {
                    kind: "branch".into(),
                    places: vec![
                        Some(Place::new("src/a.c", 3)),
                        Some(Place::new("src/a.c", 4)),
                    ],
                }],
                ..Account::default()
            }),
            is_stable: true,
            names: Vec::new(),
        }
    }

    fn expectations(text: &str) -> Expectations {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        Expectations::read(file.path()).unwrap()
    }

    fn accepted(text: &str, examined: &Examined) -> Option<Vec<usize>> {
        expectations(text).accept(examined, &HashSet::new())
    }

    #[test]
    fn by_place() {
        let both = examined(["a\n", "b\n"], [0, 1]);
        assert_eq!(accepted("# none\nplace a.c:3 a.c:4", &both), Some(vec![0]));
        assert_eq!(accepted("place a.c:3 a.c:3", &both), None);
        assert_eq!(accepted("place a.c:3 -", &both), None);
    }

    #[test]
    fn by_pattern() {
        let output = examined(["x\nold 1\n", "x\nnew 2\n"], [0, 0]);
        let pattern = "output stdout \"^old [0-9]$\" ^new";
        assert_eq!(accepted(pattern, &output), Some(vec![0]));
        assert_eq!(accepted("output stderr ^old ^new", &output), None);
        assert_eq!(accepted("output stdout ^x ^new", &output), None);
        let both = examined(["x\nold 1\n", "x\nnew 2\n"], [0, 1]);
        assert_eq!(accepted(pattern, &both), None);
        let two = format!("{pattern}\nstatus \"exit 0\" \"exit 1\"");
        assert_eq!(accepted(&two, &both), Some(vec![0, 1]));
    }

    #[test]
    fn wrong_lines_are_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "\nplaces a b\n").unwrap();
        let error = Expectations::read(file.path()).err().unwrap().to_string();
        assert!(error.contains("line 2: expected place"), "{error}");
    }
}
