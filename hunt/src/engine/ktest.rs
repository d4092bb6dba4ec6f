//! KLEE's test cases: a list of named symbolic objects with their bytes.
//!
//! Its symbolic environment names an argument `argNN`, the number of arguments of a range `n_args`, the file A
//! `A_data` and standard input `stdin`; each stream has an object with what stat says of it as well.

use crate::input::Input;
use crate::template::{Stream, Template, Word};

/// A test case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KTest {
    /// KLEE's command line from the program on.
    pub arguments: Vec<Vec<u8>>,
    /// The objects in the order in which they became symbolic.
    pub objects: Vec<(Vec<u8>, Vec<u8>)>,
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
        let before = self.objects.len() - self.objects_of_program().len();
        let environment = self.objects[..before].iter();
        let mut objects = environment.filter(|(name, _)| is_argument(name));
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
            let own = self.objects_of_program();
            input.marked = marked(own.iter().map(|(_, bytes)| bytes.as_slice()));
        }
        Some(input)
    }

    /// What the program itself makes symbolic: what follows KLEE's environment, which ends with its version.
    pub fn objects_of_program(&self) -> &[(Vec<u8>, Vec<u8>)] {
        let is_last = |(name, _): &(Vec<u8>, Vec<u8>)| name == b"model_version";
        match self.objects.iter().position(is_last) {
            Some(last) => &self.objects[last + 1..],
            None => &[],
        }
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
    let mut objects: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
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
        let test = KTest {
            arguments: Vec::new(),
            objects: vec![
                object("arg00", b"ab\0"),
                object("model_version", &[1, 0, 0, 0]),
                object("size", &[0, 2]),
                object("arg", b"c\0\0"),
            ],
        };
        let input = test.input(&template).unwrap();
        assert_eq!(input.arguments, [b"ab"]);
        assert_eq!(input.marked, b"\0\x02c");
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
