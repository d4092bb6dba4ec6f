//! An input of a program: arguments, standard input, files; and the folder that keeps one.
//!
//! A program finds its files in its working directory, under the names that KLEE gives them: `A`, `B`, ...

use crate::words;
use base64::prelude::{Engine as _, BASE64_STANDARD};
use p3_passes::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;

/// What a program is given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Input {
    /// What follows `argv[0]`. No argument has a NUL byte.
    pub arguments: Vec<Vec<u8>>,
    /// Standard input.
    pub stdin: Vec<u8>,
    /// The contents of the files, which are called as [`file_name`] says.
    pub files: Vec<Vec<u8>>,
    /// What it takes by `pp_input`; zeros follow.
    pub marked: Vec<u8>,
}

/// The name of a file of an input, counted from 0.
pub fn file_name(index: usize) -> String {
    char::from(b'A' + index as u8).to_string()
}

/// What a folder with an input has in it.
const ARGUMENTS: &str = "args";
const STDIN: &str = "stdin";
/// What `pp_input` takes; only if there is anything.
pub(crate) const MARKED: &str = "pp_input";

impl Input {
    /// Bytes that somebody has to look at, with one for each argument.
    pub fn weight(&self) -> usize {
        let arguments: usize = self.arguments.iter().map(|a| a.len() + 1).sum();
        let files: usize = self.files.iter().map(Vec::len).sum();
        arguments + self.stdin.len() + files + self.marked.len()
    }

    /// Writes the input into `folder`: `args` has a NUL behind each argument, as `xargs -0` takes them.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let mut arguments = Vec::new();
        for argument in &self.arguments {
            arguments.extend_from_slice(argument);
            arguments.push(0);
        }
        write(&folder.join(ARGUMENTS), &arguments)?;
        write(&folder.join(STDIN), &self.stdin)?;
        if !self.marked.is_empty() {
            write(&folder.join(MARKED), &self.marked)?;
        }
        for (index, contents) in self.files.iter().enumerate() {
            write(&folder.join(file_name(index)), contents)?;
        }
        Ok(())
    }

    /// Reads what [`Input::write`] wrote.
    pub fn read(folder: &Path) -> Result<Input> {
        let arguments = read(&folder.join(ARGUMENTS))?;
        let mut arguments: Vec<Vec<u8>> =
            arguments.split(|b| *b == 0).map(<[u8]>::to_vec).collect();
        // What follows the last NUL is nothing.
        arguments.pop();
        let mut files = Vec::new();
        while folder.join(file_name(files.len())).exists() {
            files.push(read(&folder.join(file_name(files.len())))?);
        }
        let marked = folder.join(MARKED);
        Ok(Input {
            arguments,
            stdin: read(&folder.join(STDIN))?,
            files,
            marked: match marked.exists() {
                true => read(&marked)?,
                false => Vec::new(),
            },
        })
    }

    /// Whether `folder` has an input in it.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(ARGUMENTS).is_file()
    }
}

/// Bytes in JSON: text if they are UTF-8, else base64.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JsonBytes {
    Text(String),
    Base64(String),
}

impl JsonBytes {
    /// Says it in the way that suits the bytes.
    pub fn of(bytes: &[u8]) -> JsonBytes {
        match std::str::from_utf8(bytes) {
            Ok(text) => JsonBytes::Text(text.to_string()),
            Err(_) => JsonBytes::Base64(BASE64_STANDARD.encode(bytes)),
        }
    }

    /// The bytes; none if the base64 is wrong.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            JsonBytes::Text(text) => Some(text.clone().into_bytes()),
            JsonBytes::Base64(text) => BASE64_STANDARD.decode(text).ok(),
        }
    }
}

/// A seed as the user wrote it: `ARGS < FILE`, words as in a template.
pub struct Seed {
    /// All arguments.
    pub arguments: Vec<Vec<u8>>,
    /// Standard input; empty without `<`.
    pub stdin: Vec<u8>,
}

impl Seed {
    /// Reads it, and the file behind `<`.
    pub fn parse(text: &str) -> Result<Seed> {
        let wrong = |reason: String| Error::bad_input(format!("--seed '{text}'"), reason);
        let mut arguments = Vec::new();
        let mut stdin = None;
        let mut words = words::split_marked(text).map_err(wrong)?.into_iter();
        while let Some(word) = words.next() {
            if word.quoted || !word.bytes.starts_with(b"<") {
                arguments.push(word.bytes);
                continue;
            }
            let name = match word.bytes.len() {
                1 => words.next().map(|next| next.bytes),
                _ => Some(word.bytes[1..].to_vec()),
            };
            let name = name.ok_or_else(|| wrong("no file behind <".to_string()))?;
            if stdin.is_some() {
                return Err(wrong("more than one <".to_string()));
            }
            stdin = Some(read(Path::new(&std::ffi::OsString::from_vec(name)))?);
        }
        Ok(Seed {
            arguments,
            stdin: stdin.unwrap_or_default(),
        })
    }

    /// Reads a file of seeds, one a line; lines that are empty or begin with # say nothing.
    pub fn parse_file(path: &Path) -> Result<Vec<Seed>> {
        let text = read(path)?;
        let text = String::from_utf8(text)
            .map_err(|_| Error::bad_input(path, "not UTF-8 (write other bytes as \\xHH)"))?;
        let lines = text.lines().map(str::trim);
        lines
            .filter(|line| !line.is_empty() && !line.starts_with('#'))
            .map(Seed::parse)
            .collect()
    }
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).map_err(|e| Error::bad_input(path, e))
}

pub(crate) fn write(path: &Path, data: &[u8]) -> Result<()> {
    fs::write(path, data).map_err(|e| Error::bad_input(path, format!("cannot write: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_keeps_every_byte() {
        let folder = tempfile::tempdir().unwrap();
        let input = Input {
            arguments: vec![b"a b".to_vec(), Vec::new(), b"\xff\n".to_vec()],
            stdin: b"\0x".to_vec(),
            files: vec![b"one".to_vec(), Vec::new()],
            marked: b"\0\0".to_vec(),
        };
        input.write(folder.path()).unwrap();
        assert_eq!(Input::read(folder.path()).unwrap(), input);
        let empty = tempfile::tempdir().unwrap();
        Input::default().write(empty.path()).unwrap();
        assert_eq!(Input::read(empty.path()).unwrap(), Input::default());
    }

    #[test]
    fn seeds() {
        let scratch = tempfile::tempdir().unwrap();
        let file = scratch.path().join("in");
        fs::write(&file, "text").unwrap();
        let name = file.display();
        let seed = Seed::parse(&format!("-d \"a b\" \"<\" <{name}")).unwrap();
        assert_eq!(seed.arguments, [&b"-d"[..], b"a b", b"<"]);
        assert_eq!(seed.stdin, b"text");
        assert_eq!(Seed::parse(&format!("< {name}")).unwrap().stdin, b"text");
        assert!(Seed::parse("a <").is_err());
    }
}
