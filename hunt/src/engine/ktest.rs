//! KLEE's test cases: a list of named symbolic objects with their bytes.
//!
//! Its symbolic environment names an argument `argNN`, the number of arguments of a range `n_args`, the file A
//! `A_data` and standard input `stdin`; each stream has an object with what stat says of it as well. All of them come
//! before what the program itself makes symbolic; some KLEEs have an object `model_version` behind them.

use crate::input::Input;
use crate::template::{Stream, Template, Word};
use p3_passes::entry::Object;

/// A test case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KTest {
    /// KLEE's command line from the program on.
    pub arguments: Vec<Vec<u8>>,
    /// The objects in the order in which they became symbolic.
    pub objects: Vec<Object>,
}

const VERSION_OF_MODEL: &[u8] = b"model_version";

/// Whether an object of this name belongs to KLEE's symbolic environment, if it comes before all that does not.
fn is_of_environment(name: &[u8]) -> bool {
    let numbered = |name: &[u8]| name.len() > 1 && name.iter().all(u8::is_ascii_digit);
    let is_stream = |name: &[u8]| match name.strip_suffix(b"_data") {
        Some(file) => file.len() == 1,
        None => name == b"stdin",
    };
    name == VERSION_OF_MODEL
        || name.starts_with(b"n_args")
        || name.strip_prefix(b"arg").is_some_and(numbered)
        || is_stream(name.strip_suffix(b"_stat").unwrap_or(name))
}

/// The version of the format that has everything that is used here.
const VERSION: u32 = 3;

impl KTest {
    /// Reads the bytes of a .ktest file; none if they are not one.
    pub fn parse(data: &[u8]) -> Option<KTest> {
        let mut rest = data
            .strip_prefix(b"KTEST")
            .or_else(|| data.strip_prefix(b"BOUT\n"))?;
        let version = number(&mut rest)?;
        let count = number(&mut rest)?;
        let mut arguments = Vec::new();
        for _ in 0..count {
            arguments.push(bytes(&mut rest)?);
        }
        if version >= 2 {
            number(&mut rest)?;
            number(&mut rest)?;
        }
        let mut objects = Vec::new();
        for _ in 0..number(&mut rest)? {
            let name = bytes(&mut rest)?;
            objects.push((name, bytes(&mut rest)?));
        }
        Some(KTest { arguments, objects })
    }

    /// The bytes of a .ktest file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut data = b"KTEST".to_vec();
        let number = |data: &mut Vec<u8>, value: usize| {
            data.extend_from_slice(&(value as u32).to_be_bytes());
        };
        number(&mut data, VERSION as usize);
        number(&mut data, self.arguments.len());
        for argument in &self.arguments {
            number(&mut data, argument.len());
            data.extend_from_slice(argument);
        }
        number(&mut data, 0);
        number(&mut data, 0);
        number(&mut data, self.objects.len());
        for (name, value) in &self.objects {
            for part in [name, value] {
                number(&mut data, part.len());
                data.extend_from_slice(part);
            }
        }
        data
    }

    /// The input that the objects stand for; none if one is missing.
    pub fn input(&self, template: &Template) -> Option<Input> {
        let is_argument = |name: &[u8]| name.starts_with(b"arg") || name.starts_with(b"n_args");
        let (environment, own) = self.divide(is_of_environment);
        let mut objects = environment.iter().filter(|(name, _)| is_argument(name));
        let mut next = |prefix: &[u8]| {
            let (name, value) = objects.next()?;
            name.starts_with(prefix).then_some(value)
        };
        // KLEE overwrites the last byte with a NUL when it has made all of them symbolic.
        let text = |value: &Vec<u8>, max: usize| {
            let value = &value[..value.len().min(max)];
            value.split(|b| *b == 0).next().unwrap_or_default().to_vec()
        };
        let mut input = Input::default();
        for word in template.words() {
            match word {
                Word::Literal(bytes) => input.arguments.push(bytes.clone()),
                Word::Argument(max) => input.arguments.push(text(next(b"arg")?, *max)),
                Word::Arguments(range, max) => {
                    // A range of one number is no choice, and has no object.
                    let count = match range.start() == range.end() {
                        true => *range.start(),
                        false => usize::from(*next(b"n_args")?.first()?),
                    };
                    for _ in 0..count {
                        input.arguments.push(text(next(b"arg")?, *max));
                    }
                }
                Word::File(max) => {
                    let name = crate::input::file_name(input.files.len());
                    let mut contents = self.object(&format!("{name}_data")).unwrap_or_default();
                    contents.truncate(*max);
                    input.files.push(contents);
                    input.arguments.push(name.into_bytes());
                }
                Word::Stdin(_) | Word::Marked(_) => {}
            }
        }
        if template
            .streams()
            .iter()
            .any(|(stream, _)| *stream == Stream::Stdin)
        {
            input.stdin = self.object("stdin").unwrap_or_default();
        }
        if template.has_marked() {
            input.marked = marked(own.iter().map(|(_, bytes)| bytes.as_slice()));
        }
        Some(input)
    }

    /// What a program makes symbolic itself that has no symbolic arguments or streams.
    pub fn objects_of_program(&self) -> &[Object] {
        self.divide(|name| name == VERSION_OF_MODEL).1
    }

    /// KLEE's environment, and what follows it.
    fn divide(&self, is_environment: impl Fn(&[u8]) -> bool) -> (&[Object], &[Object]) {
        let first = self
            .objects
            .iter()
            .position(|(name, _)| !is_environment(name));
        self.objects.split_at(first.unwrap_or(self.objects.len()))
    }

    fn object(&self, name: &str) -> Option<Vec<u8>> {
        let found = self
            .objects
            .iter()
            .find(|(known, _)| known == name.as_bytes());
        found.map(|(_, value)| value.clone())
    }
}

/// What `pp_input` takes natively to get these objects, in the order in which they became symbolic.
pub fn marked<'a>(objects: impl Iterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut bytes: Vec<u8> = objects.flatten().copied().collect();
    // Zeros follow anyway.
    let length = bytes.iter().rposition(|b| *b != 0).map_or(0, |at| at + 1);
    bytes.truncate(length);
    bytes
}

/// The objects that a program makes of `bytes` by `pp_input`; `names` says in which order it takes them, as
/// `P3_INPUT_NAMES` has it.
pub fn named(names: &[u8], bytes: &[u8]) -> Vec<Object> {
    let mut at = 0;
    let takings = names.split(|b| *b == 0).filter_map(|taking| {
        let text = std::str::from_utf8(taking.split(|b| *b == b' ').next()?).ok()?;
        let size: usize = text.parse().ok()?;
        Some((taking[text.len() + 1..].to_vec(), size))
    });
    let objects = takings.map(|(name, size)| {
        let mut value = bytes.get(at..).unwrap_or_default().to_vec();
        value.resize(size, 0);
        at += size;
        (name, value)
    });
    // KLEE cannot read a file with an object of no bytes.
    objects.filter(|(_, value)| !value.is_empty()).collect()
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let (first, left) = rest.split_first_chunk::<4>()?;
    *rest = left;
    Some(u32::from_be_bytes(*first))
}

fn bytes(rest: &mut &[u8]) -> Option<Vec<u8>> {
    let size = number(rest)? as usize;
    let taken = rest.get(..size)?.to_vec();
    *rest = &rest[size..];
    Some(taken)
}

/// The test case that begins with this input, if streams have the sizes given.
pub fn seed(template: &Template, input: &Input, sizes: &[(Stream, usize)]) -> Option<KTest> {
    let counts = template.counts(input)?;
    let mut objects: Vec<Object> = Vec::new();
    let mut arguments = input.arguments.iter();
    let mut number = 0;
    for (word, count) in template.words().iter().zip(counts) {
        let size = match word {
            Word::Argument(max) => *max,
            Word::Arguments(range, max) => {
                if range.start() != range.end() {
                    let count = u32::try_from(count).ok()?;
                    objects.push((b"n_args".to_vec(), count.to_le_bytes().to_vec()));
                }
                *max
            }
            _ => {
                arguments.by_ref().take(count).for_each(drop);
                continue;
            }
        };
        for argument in arguments.by_ref().take(count) {
            let mut value = argument.clone();
            value.resize(size + 1, 0);
            objects.push((format!("arg{number:02}").into_bytes(), value));
            number += 1;
        }
    }
    for (stream, size) in sizes {
        let mut value = input.stream(*stream).clone();
        value.resize(*size, 0);
        let name = match stream {
            Stream::File(index) => format!("{}_data", crate::input::file_name(*index)),
            Stream::Stdin => "stdin".to_string(),
            // Their names and sizes are known to the program alone.
            Stream::Marked => continue,
        };
        objects.push((name.into_bytes(), value));
    }
    Some(KTest {
        arguments: vec![b"product.bc".to_vec()],
        objects,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_read_back() {
        let text = "-x @arg:3 @args:0-2:2 @args:1-1:4 @file:4 @stdin:4";
        let template = Template::parse(text).unwrap();
        let input = Input {
            arguments: ["-x", "abc", "d", "efgh", "A"]
                .map(|a| a.as_bytes().to_vec())
                .to_vec(),
            stdin: b"in\0\n".to_vec(),
            files: vec![b"data".to_vec()],
            ..Input::default()
        };
        let test = seed(&template, &input, &template.streams()).unwrap();
        let names: Vec<_> = test
            .objects
            .iter()
            .map(|(n, _)| String::from_utf8_lossy(n))
            .collect();
        assert_eq!(
            names,
            ["arg00", "n_args", "arg01", "arg02", "A_data", "stdin"]
        );
        let again = KTest::parse(&test.to_bytes()).unwrap();
        assert_eq!(again, test);
        assert_eq!(again.input(&template).unwrap(), input);
    }

    #[test]
    fn what_follows_the_environment_is_the_programs() {
        let template = Template::parse("@arg:2 @input").unwrap();
        let object = |name: &str, bytes: &[u8]| (name.as_bytes().to_vec(), bytes.to_vec());
        let environment = [object("arg00", b"ab\0"), object("stdin_stat", &[7; 144])];
        let version = [object("model_version", &[1, 0, 0, 0])];
        let own = [object("size", &[0, 2]), object("arg", b"c\0\0")];
        for objects in [
            [&environment[..], &version, &own].concat(),
            [&environment[..], &own].concat(),
        ] {
            let test = KTest {
                arguments: Vec::new(),
                objects,
            };
            let input = test.input(&template).unwrap();
            assert_eq!(input.arguments, [b"ab"]);
            assert_eq!(input.marked, b"\0\x02c");
            assert_eq!(test.objects_of_program().len(), test.objects.len());
        }
        let call = KTest {
            arguments: Vec::new(),
            objects: [&version[..], &[object("arg01", b"x")]].concat(),
        };
        assert_eq!(call.objects_of_program(), [object("arg01", b"x")]);
    }

    #[test]
    fn takings_are_objects_in_their_order() {
        let object = |name: &str, bytes: &[u8]| (name.as_bytes().to_vec(), bytes.to_vec());
        let objects = named(b"2 a\x000 nothing\x003 b c\x002 a\0", b"12345");
        let expected = [
            object("a", b"12"),
            object("b c", b"345"),
            object("a", b"\0\0"),
        ];
        assert_eq!(objects, expected);
        let bytes = marked(objects.iter().map(|(_, bytes)| bytes.as_slice()));
        assert_eq!(bytes, b"12345");
        assert!(named(b"", b"12").is_empty());
    }

    #[test]
    fn what_klee_overwrites_is_no_part_of_an_argument() {
        let template = Template::parse("@arg:2").unwrap();
        let test = KTest {
            arguments: Vec::new(),
            objects: vec![(b"arg00".to_vec(), b"000".to_vec())],
        };
        assert_eq!(test.input(&template).unwrap().arguments, [b"00"]);
    }

    #[test]
    fn other_files_are_none() {
        assert!(KTest::parse(b"KTEST\0\0").is_none());
        assert!(KTest::parse(b"").is_none());
    }
}
