//! Which inputs are tried: a template of words, and its encoding of inputs in the bytes that fuzzers mutate.
//!
//! `runtime/harness/template.c` decodes the same bytes in the fuzzing harness;
//! `testsuite/template-vectors.json` holds both to one definition. KLEE's symbolic arguments and streams are
//! made from the template, too.
//!
//! | word | what it stands for |
//! |---|---|
//! | `@arg:N` | an argument of at most N bytes |
//! | `@args:MIN-MAX:N` | MIN to MAX arguments of at most N bytes each |
//! | `@file`, `@file:N` | the name of a file with at most N bytes (4096) |
//! | `@stdin`, `@stdin:N` | no argument: standard input of at most N bytes (4096) |
//! | `@input`, `@input:N` | no argument: at most N bytes (4096) for what the program takes by `pp_input` |
//! | any other | this argument |
//!
//! Decoding goes through the words from left to right. `@args` takes one byte c first (0 if there is none
//! left): MIN + c mod (MAX - MIN + 1) arguments follow. An argument takes bytes up to a NUL, which is
//! consumed, or N bytes (a NUL right behind the Nth is consumed, too), or up to the end. Then come the files,
//! standard input and the bytes for `pp_input`, in the order of their words: each but the last takes two bytes L, little endian
//! (missing bytes are 0), then min(L, N, what is left) bytes; the last takes what is left, at most N.

use crate::input::{file_name, Input, Seed};
use crate::words;
use p3_passes::{Error, Result};
use std::fmt;
use std::ops::RangeInclusive;
use std::path::Path;

/// The longest template, in words.
const MAX_WORDS: usize = 64;
/// The most files: one per letter.
const MAX_FILES: usize = 26;
/// The size of a file or of standard input, if the template does not say.
pub const DEFAULT_STREAM: usize = 4096;
/// A length in two bytes.
const MAX_STREAM: usize = 0xffff;

/// The most bytes of all arguments; the system takes a little more.
const MAX_ARGUMENTS: usize = 1 << 20;

/// A word of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// This argument.
    Literal(Vec<u8>),
    /// An argument of at most so many bytes.
    Argument(usize),
    /// So many arguments of at most so many bytes each.
    Arguments(RangeInclusive<usize>, usize),
    /// The name of a file of at most so many bytes.
    File(usize),
    /// Standard input of at most so many bytes.
    Stdin(usize),
    /// At most so many bytes for `pp_input`.
    Marked(usize),
}

/// A template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    words: Vec<Word>,
}

/// A string of bytes that is no argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// The file of this number, counted from 0.
    File(usize),
    /// Standard input.
    Stdin,
    /// What `pp_input` takes.
    Marked,
}

impl Template {
    /// Reads a template; the error says what is wrong with it.
    pub fn parse(text: &str) -> std::result::Result<Template, String> {
        let mut words = Vec::new();
        for word in words::split_marked(text)? {
            words.push(match word.quoted {
                true => Word::Literal(word.bytes),
                false => Word::parse(word.bytes)?,
            });
        }
        let template = Template { words };
        template.check()?;
        Ok(template)
    }

    fn check(&self) -> std::result::Result<(), String> {
        if self.words.len() > MAX_WORDS {
            return Err(format!("more than {MAX_WORDS} words"));
        }
        let count = |stream: fn(&Word) -> bool| self.words.iter().filter(|w| stream(w)).count();
        if count(|word| matches!(word, Word::Stdin(_))) > 1 {
            return Err("more than one @stdin".to_string());
        }
        if count(|word| matches!(word, Word::Marked(_))) > 1 {
            return Err("more than one @input".to_string());
        }
        if count(|word| matches!(word, Word::File(_))) > MAX_FILES {
            return Err(format!("more than {MAX_FILES} @file"));
        }
        let arguments = self.words.iter().map(|word| match word {
            Word::Argument(max) => *max,
            Word::Arguments(range, max) => range.end().saturating_mul(*max),
            _ => 0,
        });
        if arguments.fold(0, usize::saturating_add) > MAX_ARGUMENTS {
            return Err(format!(
                "the arguments may have more than {MAX_ARGUMENTS} bytes"
            ));
        }
        Ok(())
    }

    /// The template, with standard input of at most `max` bytes if it does not mention it.
    pub fn with_stdin(mut self, max: usize) -> std::result::Result<Template, String> {
        if !self.words.iter().any(|word| matches!(word, Word::Stdin(_))) {
            self.words.push(Word::Stdin(stream_size(max)?));
            self.check()?;
        }
        Ok(self)
    }

    /// The template, with bytes for `pp_input` if it does not mention them.
    pub fn with_marked(mut self) -> std::result::Result<Template, String> {
        if !self.has_marked() {
            self.words.push(Word::Marked(DEFAULT_STREAM));
            self.check()?;
        }
        Ok(self)
    }

    /// Its words.
    pub fn words(&self) -> &[Word] {
        &self.words
    }

    /// What is no argument, in the order of its words, each with its largest size.
    pub fn streams(&self) -> Vec<(Stream, usize)> {
        let mut streams = Vec::new();
        let mut files = 0;
        for word in &self.words {
            match word {
                Word::File(max) => {
                    streams.push((Stream::File(files), *max));
                    files += 1;
                }
                Word::Stdin(max) => streams.push((Stream::Stdin, *max)),
                Word::Marked(max) => streams.push((Stream::Marked, *max)),
                _ => {}
            }
        }
        streams
    }

    /// The most bytes that have a meaning.
    pub fn largest(&self) -> usize {
        let of_words = self.words.iter().map(|word| match word {
            Word::Literal(_) => 0,
            Word::Argument(max) => max + 1,
            Word::Arguments(range, max) => 1 + range.end() * (max + 1),
            Word::File(max) | Word::Stdin(max) | Word::Marked(max) => max + 2,
        });
        of_words.sum()
    }

    /// The input that `data` stands for.
    pub fn decode(&self, data: &[u8]) -> Input {
        let mut rest = data;
        let mut input = Input::default();
        for word in &self.words {
            match word {
                Word::Literal(bytes) => input.arguments.push(bytes.clone()),
                Word::Argument(max) => input.arguments.push(take_argument(&mut rest, *max)),
                Word::Arguments(count, max) => {
                    let choice = take(&mut rest, 1).first().copied().unwrap_or(0);
                    let choices = count.end() - count.start() + 1;
                    for _ in 0..count.start() + usize::from(choice) % choices {
                        input.arguments.push(take_argument(&mut rest, *max));
                    }
                }
                Word::File(_) => {
                    input
                        .arguments
                        .push(file_name(input.files.len()).into_bytes());
                    input.files.push(Vec::new());
                }
                Word::Stdin(_) | Word::Marked(_) => {}
            }
        }
        let streams = self.streams();
        for (index, (stream, max)) in streams.iter().enumerate() {
            let size = match index + 1 == streams.len() {
                true => *max,
                false => {
                    let length = take(&mut rest, 2);
                    let byte = |at: usize| length.get(at).map_or(0, |b| usize::from(*b));
                    (byte(0) | byte(1) << 8).min(*max)
                }
            };
            *input.stream_mut(*stream) = take(&mut rest, size).to_vec();
        }
        input
    }

    /// Bytes that [`Template::decode`] makes this input of; none if the template does not allow it.
    pub fn encode(&self, input: &Input) -> Option<Vec<u8>> {
        let mut data = Vec::new();
        let counts = self.counts(input)?;
        let mut arguments = input.arguments.iter();
        for (word, count) in self.words.iter().zip(counts) {
            if let Word::Arguments(range, _) = word {
                data.push(u8::try_from(count - range.start()).ok()?);
            }
            let taken = arguments.by_ref().take(count);
            if matches!(word, Word::Argument(_) | Word::Arguments(..)) {
                for argument in taken {
                    data.extend_from_slice(argument);
                    data.push(0);
                }
            } else {
                taken.for_each(drop);
            }
        }
        let streams = self.streams();
        let allows = |has: bool, bytes: &Vec<u8>| has || bytes.is_empty();
        if self.files() != input.files.len()
            || !allows(self.has_stdin(), &input.stdin)
            || !allows(self.has_marked(), &input.marked)
        {
            return None;
        }
        for (index, (stream, max)) in streams.iter().enumerate() {
            let bytes = input.stream(*stream);
            if bytes.len() > *max {
                return None;
            }
            if index + 1 < streams.len() {
                data.extend_from_slice(&u16::try_from(bytes.len()).ok()?.to_le_bytes());
            }
            data.extend_from_slice(bytes);
        }
        Some(data)
    }

    /// The input that a seed stands for; files are read.
    pub fn seed(&self, seed: &Seed) -> Result<Input> {
        let shown = || {
            let words: Vec<String> = seed.arguments.iter().map(|a| words::quoted(a)).collect();
            format!("seed {}", words.join(" "))
        };
        let counts = self
            .fit_any_file(&seed.arguments, self.files())
            .ok_or_else(|| {
                Error::bad_input(shown(), format!("does not fit the template '{self}'"))
            })?;
        let mut input = Input {
            arguments: seed.arguments.clone(),
            stdin: seed.stdin.clone(),
            files: Vec::new(),
            marked: Vec::new(),
        };
        let mut at = 0;
        for (word, count) in self.words.iter().zip(counts) {
            if let Word::File(_) = word {
                use std::os::unix::ffi::OsStrExt;
                let path = Path::new(std::ffi::OsStr::from_bytes(&seed.arguments[at]));
                input.arguments[at] = file_name(input.files.len()).into_bytes();
                input.files.push(crate::input::read(path)?);
            }
            at += count;
        }
        match self.encode(&input) {
            Some(_) => Ok(input),
            None => Err(Error::bad_input(
                shown(),
                format!("a file or standard input is larger than the template '{self}' allows"),
            )),
        }
    }

    /// How many of an input's arguments each word stands for; none if the template does not allow the input.
    pub fn counts(&self, input: &Input) -> Option<Vec<usize>> {
        self.fit(&input.arguments, input.files.len())
    }

    /// Whether it mentions standard input.
    pub fn has_stdin(&self) -> bool {
        self.words.iter().any(|word| matches!(word, Word::Stdin(_)))
    }

    /// Whether it mentions bytes for `pp_input`.
    pub fn has_marked(&self) -> bool {
        self.words
            .iter()
            .any(|word| matches!(word, Word::Marked(_)))
    }

    /// How many files it mentions.
    fn files(&self) -> usize {
        let is_file = |word: &&Word| matches!(word, Word::File(_));
        self.words.iter().filter(is_file).count()
    }

    /// How many arguments each word stands for, if the words can stand for all of them.
    fn fit(&self, arguments: &[Vec<u8>], files: usize) -> Option<Vec<usize>> {
        let counts = self.fit_any_file(arguments, files)?;
        let mut at = 0;
        let mut file = 0;
        for (word, count) in self.words.iter().zip(&counts) {
            if let Word::File(_) = word {
                if arguments[at] != file_name(file).as_bytes() {
                    return None;
                }
                file += 1;
            }
            at += count;
        }
        Some(counts)
    }

    fn fit_any_file(&self, arguments: &[Vec<u8>], files: usize) -> Option<Vec<usize>> {
        if self.files() != files || arguments.iter().any(|a| a.contains(&0)) {
            return None;
        }
        let mut counts = Vec::new();
        fit_from(&self.words, arguments, &mut counts).then_some(counts)
    }
}

/// Finds how many of the arguments each word takes, the first words as many as possible.
fn fit_from(words: &[Word], arguments: &[Vec<u8>], counts: &mut Vec<usize>) -> bool {
    let Some((word, rest)) = words.split_first() else {
        return arguments.is_empty();
    };
    let range = match word {
        Word::Literal(_) | Word::Argument(_) | Word::File(_) => 1..=1,
        Word::Arguments(range, _) => range.clone(),
        Word::Stdin(_) | Word::Marked(_) => 0..=0,
    };
    let fits = |argument: &&Vec<u8>| match word {
        Word::Literal(bytes) => *argument == bytes,
        Word::Argument(max) | Word::Arguments(_, max) => argument.len() <= *max,
        Word::File(_) | Word::Stdin(_) | Word::Marked(_) => true,
    };
    let possible = arguments.iter().take_while(fits).count();
    for count in (*range.start()..=possible.min(*range.end())).rev() {
        counts.push(count);
        if fit_from(rest, &arguments[count..], counts) {
            return true;
        }
        counts.pop();
    }
    false
}

fn take<'a>(rest: &mut &'a [u8], size: usize) -> &'a [u8] {
    let (taken, left) = rest.split_at(size.min(rest.len()));
    *rest = left;
    taken
}

fn take_argument(rest: &mut &[u8], max: usize) -> Vec<u8> {
    let end = rest.iter().position(|b| *b == 0).unwrap_or(rest.len());
    let argument = take(rest, end.min(max)).to_vec();
    if rest.first() == Some(&0) {
        take(rest, 1);
    }
    argument
}

impl Input {
    /// The bytes of a stream.
    pub fn stream(&self, stream: Stream) -> &Vec<u8> {
        match stream {
            Stream::File(index) => &self.files[index],
            Stream::Stdin => &self.stdin,
            Stream::Marked => &self.marked,
        }
    }

    /// The bytes of a stream, to be changed.
    pub fn stream_mut(&mut self, stream: Stream) -> &mut Vec<u8> {
        match stream {
            Stream::File(index) => &mut self.files[index],
            Stream::Stdin => &mut self.stdin,
            Stream::Marked => &mut self.marked,
        }
    }
}

fn number(text: &str) -> std::result::Result<usize, String> {
    text.parse()
        .map_err(|_| format!("'{text}' is not a number"))
}

fn stream_size(size: usize) -> std::result::Result<usize, String> {
    match size <= MAX_STREAM {
        true => Ok(size),
        false => Err(format!("{size} bytes are too many (at most {MAX_STREAM})")),
    }
}

impl Word {
    fn parse(bytes: Vec<u8>) -> std::result::Result<Word, String> {
        if !bytes.starts_with(b"@") {
            return Ok(Word::Literal(bytes));
        }
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let parts: Vec<&str> = text.split(':').collect();
        let word = match parts.as_slice() {
            ["@arg", max] => Word::Argument(number(max)?),
            ["@args", range, max] => {
                let (min, most) = range
                    .split_once('-')
                    .ok_or_else(|| format!("{text}: expected @args:MIN-MAX:N"))?;
                let (min, most) = (number(min)?, number(most)?);
                if most < min || most - min > 255 {
                    return Err(format!("{text}: MIN-MAX must be 1 to 256 numbers"));
                }
                Word::Arguments(min..=most, number(max)?)
            }
            ["@file"] => Word::File(DEFAULT_STREAM),
            ["@file", max] => Word::File(stream_size(number(max)?)?),
            ["@stdin"] => Word::Stdin(DEFAULT_STREAM),
            ["@stdin", max] => Word::Stdin(stream_size(number(max)?)?),
            ["@input"] => Word::Marked(DEFAULT_STREAM),
            ["@input", max] => Word::Marked(stream_size(number(max)?)?),
            _ => {
                return Err(format!(
                    "{text}: expected @arg:N, @args:MIN-MAX:N, @file, @file:N, @stdin, @stdin:N, @input or @input:N (in quotes it is an argument)"
                ))
            }
        };
        Ok(word)
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        for (index, word) in self.words.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            match word {
                Word::Literal(bytes) => f.write_str(&words::quoted(bytes))?,
                Word::Argument(max) => write!(f, "@arg:{max}")?,
                Word::Arguments(range, max) => {
                    write!(f, "@args:{}-{}:{max}", range.start(), range.end())?;
                }
                Word::File(max) => write!(f, "@file:{max}")?,
                Word::Stdin(max) => write!(f, "@stdin:{max}")?,
                Word::Marked(max) => write!(f, "@input:{max}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Vector {
        template: String,
        data: String,
        arguments: Vec<String>,
        stdin: String,
        files: Vec<String>,
        #[serde(default)]
        marked: String,
    }

    /// Every character of the table's strings is one byte.
    fn bytes(text: &str) -> Vec<u8> {
        text.chars()
            .map(|c| u8::try_from(u32::from(c)).unwrap())
            .collect()
    }

    #[test]
    fn the_table_that_the_harness_is_held_to() {
        let table = include_str!("../../testsuite/template-vectors.json");
        let vectors: Vec<Vector> = serde_json::from_str(table).unwrap();
        assert!(vectors.len() > 20);
        for vector in vectors {
            let template = Template::parse(&vector.template).unwrap();
            let input = template.decode(&bytes(&vector.data));
            let what = format!("{} {:?}", vector.template, vector.data);
            let arguments: Vec<_> = vector.arguments.iter().map(|a| bytes(a)).collect();
            assert_eq!(input.arguments, arguments, "{what}");
            assert_eq!(input.stdin, bytes(&vector.stdin), "{what}");
            let files: Vec<_> = vector.files.iter().map(|f| bytes(f)).collect();
            assert_eq!(input.files, files, "{what}");
            assert_eq!(input.marked, bytes(&vector.marked), "{what}");
            let data = template.encode(&input).expect(&what);
            assert_eq!(template.decode(&data), input, "{what}");
            assert_eq!(Template::parse(&template.to_string()).unwrap(), template);
        }
    }

    #[test]
    fn what_does_not_fit_has_no_encoding() {
        let template = Template::parse("-d @arg:2 @args:0-2:3").unwrap();
        let input = |arguments: &[&[u8]]| Input {
            arguments: arguments.iter().map(|a| a.to_vec()).collect(),
            ..Input::default()
        };
        assert!(template.encode(&input(&[b"-d", b"ab", b"abc"])).is_some());
        for wrong in [
            &[b"-d".as_slice()][..],
            &[b"-e", b"ab"],
            &[b"-d", b"abc"],
            &[b"-d", b"a\0"],
            &[b"-d", b"a", b"b", b"c", b"d"],
        ] {
            assert!(template.encode(&input(wrong)).is_none(), "{wrong:?}");
        }
        let with_stdin = Input {
            stdin: b"x".to_vec(),
            ..input(&[b"-d", b""])
        };
        assert!(template.encode(&with_stdin).is_none());
        let with_marked = Input {
            marked: b"x".to_vec(),
            ..input(&[b"-d", b""])
        };
        assert!(template.encode(&with_marked).is_none());
    }

    #[test]
    fn unknown_words_are_refused() {
        for text in [
            "@argh:1",
            "@arg",
            "@args:2-1:3",
            "@arg:x",
            "@stdin @stdin",
            "@stdin:70000",
            "@arg:99999999999999999999",
            "@arg:9999999999",
            "@args:0-200:9999",
        ] {
            assert!(Template::parse(text).is_err(), "{text}");
        }
        let quoted = Template::parse("\"@arg\"").unwrap();
        assert_eq!(quoted.words(), [Word::Literal(b"@arg".to_vec())]);
    }

    #[test]
    fn seeds_are_fitted_to_the_words() {
        let template = Template::parse("-x @args:0-3:4 last @stdin:4").unwrap();
        let seed = Seed::parse("-x a b last").unwrap();
        assert_eq!(template.seed(&seed).unwrap().arguments.len(), 4);
        assert!(template.seed(&Seed::parse("-x a b").unwrap()).is_err());
        assert!(template
            .seed(&Seed::parse("-x toolong last").unwrap())
            .is_err());
    }
}
