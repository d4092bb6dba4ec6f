//! Entry functions in KLEE: their arguments themselves are symbolic, each under its own name, and one number says how
//! many objects buffers and strings have at most.
//!
//! A run with a larger number follows all paths of those with smaller ones, which find the first differences sooner.

use super::ktest::{self, KTest};
use crate::input::Input;
use crate::template::{Stream, Template};
use p3_passes::entry::Entry;
use p3_passes::pipeline::{self, Observer, Options};
use p3_passes::Result;
use std::collections::BTreeSet;
use std::ffi::OsString;

/// The first version's entry, if its arguments are made of standard input.
pub(super) fn entry(merge: &Options, observe: &mut dyn Observer) -> Result<Option<Entry>> {
    let entries = pipeline::entries(merge, observe)?;
    Ok(entries.into_iter().next().filter(Entry::takes_bytes))
}

/// Whether arguments of some size are all that there are.
fn is_fixed(entry: &Entry) -> bool {
    entry
        .signature()
        .is_some_and(|signature| signature.is_fixed())
}

/// The largest input.
fn largest(template: &Template) -> usize {
    let mut streams = template.streams().into_iter();
    let stdin = streams.find(|(stream, _)| *stream == Stream::Stdin);
    stdin.map_or(0, |(_, max)| max)
}

/// The sizes to try.
pub(super) fn sizes(entry: &Entry, template: &Template, max: usize) -> BTreeSet<usize> {
    let largest = largest(template).min(max);
    if is_fixed(entry) || largest == 0 {
        return BTreeSet::from([0]);
    }
    let doubled = std::iter::successors(Some(1), |size| Some(size * 2));
    doubled
        .take_while(|size| *size < largest)
        .chain([largest])
        .collect()
}

/// Whether runs of these sizes have followed all paths of all inputs.
pub(super) fn is_everything(entry: &Entry, template: &Template, finished: &[usize]) -> bool {
    let last = finished.last();
    last.is_some_and(|last| is_fixed(entry) || *last >= largest(template))
}

/// What runs of these sizes have followed all paths of, in words.
pub(super) fn bound(entry: &Entry, finished: &[usize]) -> Option<String> {
    let last = finished.last()?;
    Some(match (is_fixed(entry), entry.signature()) {
        (true, _) => "all arguments that --entry makes".to_string(),
        (false, None) => format!("all inputs of up to {last} bytes"),
        (false, Some(_)) => {
            format!("all arguments that --entry makes with buffers and strings of up to {last} elements")
        }
    })
}

/// The product's arguments for a size. Memory has exactly the size that it has natively.
pub(super) fn options(size: usize) -> Vec<OsString> {
    vec!["-exact".into(), format!("-size={size}").into()]
}

/// The input that makes the same arguments natively.
pub(super) fn input(entry: &Entry, test: &KTest) -> Option<Input> {
    let objects = test.objects_of_program().iter();
    let mut objects = objects.map(|(_, bytes)| bytes.as_slice());
    let bytes = match entry.signature() {
        Some(signature) => signature.bytes_of(&mut objects)?,
        None => data(&mut objects)?,
    };
    // Its size is bounded by that of buffers and strings, not by the template.
    Some(Input {
        stdin: bytes,
        // What is left the function took itself.
        marked: ktest::marked(objects),
        ..Input::default()
    })
}

/// The other way round: what KLEE begins with for an input; none if it is larger than the product's `-size`.
pub(super) fn seed(entry: &Entry, input: &Input, size: usize) -> Option<KTest> {
    let objects = match entry.signature() {
        Some(signature) => signature.objects_of(&input.stdin, size)?,
        None if input.stdin.len() > size => return None,
        None => {
            let length = (input.stdin.len() as u64).to_le_bytes().to_vec();
            vec![
                (b"size".to_vec(), length),
                (b"data".to_vec(), input.stdin.clone()),
            ]
        }
    };
    Some(KTest {
        arguments: vec![b"product.bc".to_vec()],
        objects,
    })
}

/// That of a fuzz target: its size, then its bytes.
fn data<'a>(objects: &mut impl Iterator<Item = &'a [u8]>) -> Option<Vec<u8>> {
    let size = u64::from_le_bytes(objects.next()?.try_into().ok()?);
    let data = objects.next().unwrap_or_default();
    (data.len() as u64 == size).then(|| data.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fuzz_target_gets_as_many_bytes_as_its_size_says() {
        let size = 2u64.to_le_bytes();
        let read = |objects: &[&[u8]]| data(&mut objects.iter().copied());
        assert_eq!(read(&[&size, b"ab"]).unwrap(), b"ab");
        assert_eq!(read(&[&[0; 8]]).unwrap(), b"");
        assert!(read(&[&size, b"a"]).is_none());
        assert!(read(&[]).is_none());
    }
}
