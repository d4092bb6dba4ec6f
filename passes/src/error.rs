//! What can go wrong, sorted by whose fault it is; the command line turns each into its exit status.

use std::path::Path;

/// An error of the pipeline. Every variant prints as one line.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user's input cannot be used: names the file and the reason.
    #[error("{file}: {reason}")]
    BadInput { file: String, reason: String },
    /// Valid input that p3-ir cannot merge: names the construct and where it stands.
    #[error("{place}: unsupported: {construct}")]
    Unsupported { place: String, construct: String },
    /// A broken invariant of p3-ir itself.
    #[error("internal error in {pass}: {reason} (a bug in p3-ir: please report it with the files that --dump-dir DIR writes)")]
    Internal { pass: String, reason: String },
}

impl Error {
    /// Bad input in `file`; the reason is folded into one line.
    pub fn bad_input(file: impl AsRef<Path>, reason: impl std::fmt::Display) -> Self {
        Error::BadInput {
            // A path is not longer; a member of an archive can be.
            file: shortened(printable(&file.as_ref().display().to_string()), 5000),
            reason: one_line(without_code(&reason.to_string())),
        }
    }

    /// A construct that cannot be merged, at `place` (a file or a function).
    pub fn unsupported(place: impl std::fmt::Display, construct: impl std::fmt::Display) -> Self {
        Error::Unsupported {
            place: one_line(&place.to_string()),
            construct: one_line(&construct.to_string()),
        }
    }

    /// A broken invariant, found by `pass`.
    pub fn internal(pass: impl std::fmt::Display, reason: impl std::fmt::Display) -> Self {
        Error::Internal {
            pass: pass.to_string(),
            reason: one_line(&reason.to_string()),
        }
    }

    /// The exit status of a command that ends with this error: 2 bad input, 3 unsupported, 4 our bug.
    pub fn exit_status(&self) -> u8 {
        match self {
            Error::BadInput { .. } => 2,
            Error::Unsupported { .. } => 3,
            Error::Internal { .. } => 4,
        }
    }
}

/// LLVM's messages may have several lines, names of files any bytes, and symbols a megabyte; a message has
/// one line that can be read.
pub(crate) fn one_line(text: &str) -> String {
    let parts = text.split(['\n', '\r']).map(str::trim);
    let parts: Vec<&str> = parts.filter(|part| !part.is_empty()).collect();
    shortened(printable(&parts.join("; ").replace('\t', " ")), 1000)
}

/// At most so much of a name that may have any length.
pub(crate) fn shortened(text: String, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text,
    }
}

/// The system's message without Rust's " (os error 2)" behind it.
fn without_code(message: &str) -> &str {
    message.split(" (os error ").next().unwrap_or(message)
}

/// Shows control characters as escapes.
fn printable(text: &str) -> String {
    let mut printable = String::new();
    for c in text.chars() {
        match c.is_control() {
            true => printable.extend(c.escape_default()),
            false => printable.push(c),
        }
    }
    printable
}

/// The library's result.
pub type Result<T> = std::result::Result<T, Error>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_messages_are_the_systems() {
        let missing = std::io::Error::from_raw_os_error(2);
        let error = Error::bad_input("a.bc", missing);
        assert_eq!(error.to_string(), "a.bc: No such file or directory");
    }

    #[test]
    fn messages_have_one_readable_line() {
        let error = Error::bad_input("a\nb\u{1b}.bc", "first\n  second\r\n\n\tthird\u{7}");
        assert_eq!(
            error.to_string(),
            "a\\nb\\u{1b}.bc: first; second; third\\u{7}"
        );
        let long = Error::bad_input("a.bc", "x".repeat(1 << 20)).to_string();
        assert!(long.len() < 1100 && long.ends_with(" ..."));
    }
}
