//! Words as people write them: separated by blanks, with double quotes and C's escapes.

use std::iter::Peekable;
use std::str::Bytes;

/// Splits at blanks; double quotes keep blanks, and C's escapes hold everywhere.
pub fn split(text: &str) -> Result<Vec<Vec<u8>>, String> {
    let words = split_marked(text)?;
    Ok(words.into_iter().map(|word| word.bytes).collect())
}

/// A word, and whether any part of it was quoted or escaped.
pub(crate) struct Word {
    pub bytes: Vec<u8>,
    pub quoted: bool,
}

/// Like [`split`], for readers to whom an unquoted word may have a meaning of its own.
pub(crate) fn split_marked(text: &str) -> Result<Vec<Word>, String> {
    let mut words = Vec::new();
    let mut word: Option<Word> = None;
    let mut inside = false;
    let mut bytes = text.bytes().peekable();
    let empty = || Word {
        bytes: Vec::new(),
        quoted: false,
    };
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => {
                inside = !inside;
                word.get_or_insert_with(empty).quoted = true;
            }
            b' ' | b'\t' if !inside => words.extend(word.take()),
            b'\\' => {
                let word = word.get_or_insert_with(empty);
                word.quoted = true;
                word.bytes.push(escape(&mut bytes)?);
            }
            _ => word.get_or_insert_with(empty).bytes.push(byte),
        }
    }
    if inside {
        return Err("a quote is not closed".to_string());
    }
    words.extend(word);
    Ok(words)
}

/// The byte behind a backslash: one of C's letters, `xHH`, up to three octal digits, or itself.
fn escape(bytes: &mut Peekable<Bytes>) -> Result<u8, String> {
    let first = bytes.next().ok_or("a backslash at the end")?;
    Ok(match first {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'f' => 0x0c,
        b'e' => 0x1b,
        b'x' => number(bytes, 16, 2, 0) as u8,
        b'0'..=b'7' => number(bytes, 8, 2, u32::from(first - b'0')) as u8,
        other => other,
    })
}

fn number(bytes: &mut Peekable<Bytes>, radix: u32, digits: usize, start: u32) -> u32 {
    let mut value = start;
    for _ in 0..digits {
        let Some(digit) = bytes.peek().and_then(|b| char::from(*b).to_digit(radix)) else {
            break;
        };
        value = value * radix + digit;
        bytes.next();
    }
    value
}

/// The word as [`split`] reads it, in quotes where it needs them.
pub fn quoted(word: &[u8]) -> String {
    let plain = |b: &u8| b.is_ascii_graphic() && !b"\"\\<>#@".contains(b);
    if !word.is_empty() && word.iter().all(plain) {
        return String::from_utf8_lossy(word).into_owned();
    }
    let mut text = String::from("\"");
    for chunk in word.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '"' | '\\' => text.extend(['\\', c]),
                '\n' => text.push_str("\\n"),
                '\t' => text.push_str("\\t"),
                '\r' => text.push_str("\\r"),
                _ if c.is_control() => {
                    let mut bytes = [0; 4];
                    for byte in c.encode_utf8(&mut bytes).bytes() {
                        text.push_str(&format!("\\x{byte:02x}"));
                    }
                }
                _ => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text.push('"');
    text
}

/// The word as a POSIX shell reads it; bytes that no text has are written for `$'...'`, which bash knows.
pub fn for_shell(word: &[u8]) -> String {
    let plain = |b: &u8| b.is_ascii_alphanumeric() || b"-_./=+:,%@^".contains(b);
    if !word.is_empty() && word.iter().all(plain) {
        return String::from_utf8_lossy(word).into_owned();
    }
    if word.iter().all(|b| (b' '..0x7f).contains(b)) {
        return format!("'{}'", String::from_utf8_lossy(word).replace('\'', "'\\''"));
    }
    let mut text = String::from("$'");
    for byte in word {
        match byte {
            b'\'' | b'\\' => text.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => text.push(char::from(*byte)),
            // Three octal digits end by themselves, whatever follows.
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text.push('\'');
    text
}

/// Something visible for every character of a line but its newline.
pub fn visible(line: &[u8]) -> String {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    let mut text = String::with_capacity(line.len());
    for chunk in line.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\0'..='\x1f' => text.extend(char::from_u32(0x2400 + c as u32)),
                '\x7f' => text.push('\u{2421}'),
                // Invisible, or changing the direction of what follows.
                '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => {
                    text.extend(c.escape_unicode());
                }
                _ if c.is_control() => text.extend(c.escape_unicode()),
                _ => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_escapes() {
        let words = split(r#"a "b c" d\ e "" \x41\101 é"#).unwrap();
        let words: Vec<_> = words.iter().map(|w| String::from_utf8_lossy(w)).collect();
        assert_eq!(words, ["a", "b c", "d e", "", "AA", "é"]);
        assert_eq!(split("a \"b").unwrap_err(), "a quote is not closed");
        assert_eq!(split("a\\").unwrap_err(), "a backslash at the end");
    }

    #[test]
    fn what_is_quoted_reads_back() {
        for word in [
            &b"plain"[..],
            b"",
            b"a b",
            b"\"\\",
            b"\x00\xff\n",
            b"@arg",
            "ü\u{85}".as_bytes(),
        ] {
            let text = quoted(word);
            assert_eq!(split(&text).unwrap(), [word], "{text}");
        }
    }

    #[test]
    fn shell_words() {
        assert_eq!(for_shell(b"a-b.c"), "a-b.c");
        assert_eq!(for_shell(b""), "''");
        assert_eq!(for_shell(b"it's"), "'it'\\''s'");
        assert_eq!(for_shell(b"\n1\xff'"), "$'\\0121\\377\\''");
    }

    #[test]
    fn every_byte_is_visible() {
        assert_eq!(
            visible(b"a\tb\x1b[0m\r\x7f\xff\xc3\xbc\n"),
            "a\u{2409}b\u{241b}[0m\u{240d}\u{2421}\\xff\u{fc}"
        );
    }
}
