//! The outer structure of bitcode: top-level blocks and the identification block.
//!
//! LLVM's reader takes exactly one module and is not kind to damaged files, so the walk over the top-level
//! blocks comes first. It finds every module of a buffer (an ELF section holds the modules of all objects
//! that were linked, with padding between them; `llvm-cat -b` puts several into one stream), tells a
//! truncated file from a damaged one, and reads who wrote it. What is inside the module blocks is left to
//! LLVM.

use std::borrow::Cow;
use std::ops::Range;

/// How raw bitcode starts.
const MAGIC: [u8; 4] = *b"BC\xC0\xDE";
/// How the wrapper of Darwin's tools starts (0x0B17C0DE in little endian).
const WRAPPER_MAGIC: [u8; 4] = [0xDE, 0xC0, 0x17, 0x0B];

/// Numbers from LLVM's bitcode format.
const ENTER_SUBBLOCK: u64 = 1;
const IDENTIFICATION_BLOCK: u64 = 13;
const MODULE_BLOCK: u64 = 8;
const STRTAB_BLOCK: u64 = 23;
const IDENTIFICATION_STRING: u64 = 1;

/// Where one module stands in a buffer.
pub(super) struct Unit {
    place: Place,
    /// Who wrote it, e.g. `LLVM16.0.6`; bitcode before LLVM 3.8 does not say.
    pub(super) producer: Option<String>,
}

enum Place {
    /// A stream of its own.
    Whole(Range<usize>),
    /// The blocks that belong to it in a stream of several modules.
    Blocks(Vec<Range<usize>>),
}

impl Unit {
    /// The module as a stream of its own, from the buffer that it was found in.
    pub(super) fn bytes<'a>(&self, data: &'a [u8]) -> Cow<'a, [u8]> {
        match &self.place {
            Place::Whole(range) => data[range.clone()].into(),
            Place::Blocks(ranges) => {
                let blocks = ranges.iter().map(|range| &data[range.clone()]);
                let pieces: Vec<&[u8]> = std::iter::once(&MAGIC[..]).chain(blocks).collect();
                pieces.concat().into()
            }
        }
    }
}

/// Whether `data` starts as raw or wrapped bitcode does.
pub(super) fn is_bitcode(data: &[u8]) -> bool {
    data.starts_with(&MAGIC) || data.starts_with(&WRAPPER_MAGIC)
}

/// The modules in `data`, in order. The error is the reason why there is none, for people.
pub(super) fn units(data: &[u8]) -> Result<Vec<Unit>, String> {
    let mut units = Vec::new();
    let mut at = 0;
    while let Some(start) = next_stream(data, at) {
        let rest = &data[start..];
        if rest.starts_with(&WRAPPER_MAGIC) {
            let inner = unwrap(rest)?;
            at = start + inner.end;
            Stream::walk(&data[..at], start + inner.start)?.split(data, &mut units);
        } else if rest.starts_with(&MAGIC) {
            let stream = Stream::walk(data, start)?;
            at = stream.whole.end;
            stream.split(data, &mut units);
        } else if rest.len() <= MAX_TRAILER {
            break;
        } else {
            return Err(format!("damaged bitcode: no block starts at byte {start}"));
        }
    }
    if units.is_empty() {
        return Err("bitcode without a module".to_string());
    }
    Ok(units)
}

/// LLVM ignores this much behind the last block, which some archivers pad.
const MAX_TRAILER: usize = 8;

/// Where the bytes other than zero go on from `at`.
fn next_stream(data: &[u8], at: usize) -> Option<usize> {
    let rest = data.get(at..)?;
    rest.iter()
        .position(|byte| *byte != 0)
        .map(|skip| at + skip)
}

/// The bitcode inside a wrapper.
fn unwrap(data: &[u8]) -> Result<Range<usize>, String> {
    let truncated = || format!("truncated bitcode wrapper ({} bytes)", data.len());
    let offset = word(data, 8).ok_or_else(truncated)? as usize;
    let size = word(data, 12).ok_or_else(truncated)? as usize;
    let range = offset..offset + size;
    match data.get(range.clone()) {
        Some(inner) if inner.starts_with(&MAGIC) => Ok(range),
        Some(_) => Err("damaged bitcode: the wrapper holds no bitcode".to_string()),
        None => Err(format!(
            "truncated bitcode: the wrapper names bytes {} to {} of {}",
            range.start,
            range.end,
            data.len()
        )),
    }
}

fn word(data: &[u8], at: usize) -> Option<u32> {
    let bytes = data.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

/// The top-level blocks from one magic number up to the next one or the end.
struct Stream {
    whole: Range<usize>,
    /// Identification (if any) and body of each module.
    modules: Vec<(Option<Range<usize>>, Range<usize>)>,
    string_tables: Vec<Range<usize>>,
}

impl Stream {
    /// The stream whose magic number stands at `start`.
    fn walk(data: &[u8], start: usize) -> Result<Stream, String> {
        let mut modules = Vec::new();
        let mut string_tables = Vec::new();
        let mut identification = None;
        let mut at = start + MAGIC.len();
        while let Some(length) = word(data, at + 4) {
            let mut bits = Bits::new(&data[at..at + 4]);
            let (Some(ENTER_SUBBLOCK), Some(block)) = (bits.fixed(2), bits.vbr(8)) else {
                // Padding or the next stream.
                break;
            };
            let size = 8 + 4 * length as usize;
            if size > data.len() - at {
                return Err(format!(
                    "truncated bitcode: the block at byte {at} is {size} bytes long, but only {} are left",
                    data.len() - at
                ));
            }
            let range = at..at + size;
            at = range.end;
            match block {
                IDENTIFICATION_BLOCK => identification = Some(range),
                MODULE_BLOCK => modules.push((identification.take(), range)),
                STRTAB_BLOCK => string_tables.push(range),
                _ => {}
            }
        }
        if at == start + MAGIC.len() {
            let left = data.len() - start;
            return Err(format!("truncated bitcode: {left} bytes and no block"));
        }
        Ok(Stream {
            whole: start..at,
            modules,
            string_tables,
        })
    }

    /// Adds a unit per module of this stream of `data`.
    fn split(self, data: &[u8], units: &mut Vec<Unit>) {
        let alone = self.modules.len() == 1;
        for (identification, body) in self.modules {
            let producer = identification
                .as_ref()
                .and_then(|range| producer(&data[range.clone()]));
            let place = if alone {
                Place::Whole(self.whole.clone())
            } else {
                // A module's names are in the first string table behind it.
                let tables = &self.string_tables;
                let table = tables.partition_point(|table| table.start < body.end);
                let mut ranges: Vec<_> = identification.into_iter().chain([body]).collect();
                ranges.extend(tables.get(table).cloned());
                Place::Blocks(ranges)
            };
            units.push(Unit { place, producer });
        }
    }
}

/// The string in an identification block, which `block` is, header included.
fn producer(block: &[u8]) -> Option<String> {
    let mut bits = Bits::new(block);
    bits.fixed(2)?;
    bits.vbr(8)?;
    let width = bits.vbr(4)?;
    bits.at = 64;
    let mut abbreviations: Vec<Vec<Operand>> = Vec::new();
    loop {
        let record = match bits.fixed(width)? {
            0 | 1 => return None,
            2 => {
                abbreviations.push(bits.abbreviation()?);
                continue;
            }
            3 => bits.plain_record()?,
            id => bits.record(abbreviations.get(id as usize - 4)?)?,
        };
        if let Some((&IDENTIFICATION_STRING, text)) = record.split_first() {
            let bytes: Vec<u8> = text.iter().map(|c| *c as u8).collect();
            return Some(String::from_utf8_lossy(&bytes).into_owned());
        }
    }
}

/// One operand of an abbreviation.
#[derive(Clone, Copy)]
enum Operand {
    Literal(u64),
    Fixed(u64),
    Vbr(u64),
    Array,
    Char6,
    Blob,
}

/// No identification record is longer.
const MAX_OPERANDS: u64 = 4096;

/// A cursor over a bitstream.
struct Bits<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Bits<'a> {
    fn new(data: &'a [u8]) -> Self {
        Bits { data, at: 0 }
    }

    /// An unsigned number of `width` bits, the lowest first.
    fn fixed(&mut self, width: u64) -> Option<u64> {
        if width > 64 {
            return None;
        }
        let mut value = 0;
        for position in 0..width {
            let byte = self.data.get(self.at / 8)?;
            value |= u64::from(byte >> (self.at % 8) & 1) << position;
            self.at += 1;
        }
        Some(value)
    }

    /// A number in chunks of `width` bits, the highest bit of which says that another follows.
    fn vbr(&mut self, width: u64) -> Option<u64> {
        if !(2..=32).contains(&width) {
            return None;
        }
        let mut value = 0;
        let mut shift = 0;
        loop {
            let chunk = self.fixed(width)?;
            let payload = chunk & ((1 << (width - 1)) - 1);
            value |= payload.checked_shl(shift)?;
            if chunk >> (width - 1) == 0 {
                return Some(value);
            }
            shift += width as u32 - 1;
        }
    }

    fn abbreviation(&mut self) -> Option<Vec<Operand>> {
        let count = self.vbr(5)?;
        (0..count.min(MAX_OPERANDS))
            .map(|_| {
                Some(if self.fixed(1)? == 1 {
                    Operand::Literal(self.vbr(8)?)
                } else {
                    match self.fixed(3)? {
                        1 => Operand::Fixed(self.vbr(5)?),
                        2 => Operand::Vbr(self.vbr(5)?),
                        3 => Operand::Array,
                        4 => Operand::Char6,
                        5 => Operand::Blob,
                        _ => return None,
                    }
                })
            })
            .collect()
    }

    /// A record without abbreviation: its code, then its operands.
    fn plain_record(&mut self) -> Option<Vec<u64>> {
        let code = self.vbr(6)?;
        let count = self.vbr(6)?.min(MAX_OPERANDS);
        let mut record = vec![code];
        for _ in 0..count {
            record.push(self.vbr(6)?);
        }
        Some(record)
    }

    fn record(&mut self, abbreviation: &[Operand]) -> Option<Vec<u64>> {
        let mut record = Vec::new();
        let mut operands = abbreviation.iter();
        while let Some(operand) = operands.next() {
            if !matches!(operand, Operand::Array) {
                record.push(self.scalar(*operand)?);
                continue;
            }
            let element = operands.next()?;
            for _ in 0..self.vbr(6)?.min(MAX_OPERANDS) {
                record.push(self.scalar(*element)?);
            }
        }
        Some(record)
    }

    /// An operand that is one number; identification blocks have no blobs.
    fn scalar(&mut self, operand: Operand) -> Option<u64> {
        match operand {
            Operand::Literal(value) => Some(value),
            Operand::Fixed(width) => self.fixed(width),
            Operand::Vbr(width) => self.vbr(width),
            Operand::Char6 => {
                const ALPHABET: &[u8; 64] =
                    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
                Some(ALPHABET[self.fixed(6)? as usize].into())
            }
            Operand::Array | Operand::Blob => None,
        }
    }
}

/// The LLVM release that a producer string names (`LLVM16.0.6`, `LLVM17.0.6-rust-1.75.0`); other vendors'
/// strings count in their own way.
pub(super) fn llvm_release(producer: &str) -> Option<u32> {
    let digits = producer.strip_prefix("LLVM")?.trim_start();
    let end = digits
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(digits.len());
    digits[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream whose identification block says `producer` in 8-bit characters, and an empty module block.
    fn stream(producer: &str) -> Vec<u8> {
        let mut bits = BitWriter::default();
        // Abbreviation width 5; DEFINE_ABBREV of [literal 1, array of fixed 8].
        bits.put(2, 5);
        for (value, width) in [
            (3, 5),
            (1, 1),
            (1, 8),
            (0, 1),
            (3, 3),
            (0, 1),
            (1, 3),
            (8, 5),
        ] {
            bits.put(value, width);
        }
        bits.put(4, 5);
        bits.put(producer.len() as u64, 6);
        for byte in producer.bytes() {
            bits.put(byte.into(), 8);
        }
        bits.put(0, 5);
        let mut data = MAGIC.to_vec();
        data.extend(block(IDENTIFICATION_BLOCK, &bits.aligned()));
        data.extend(block(MODULE_BLOCK, &[0; 8]));
        data
    }

    fn block(id: u64, body: &[u8]) -> Vec<u8> {
        let mut bits = BitWriter::default();
        bits.put(ENTER_SUBBLOCK, 2);
        bits.put(id, 8);
        bits.put(5, 4);
        let mut data = bits.aligned();
        data.extend((body.len() as u32 / 4).to_le_bytes());
        data.extend(body);
        data
    }

    #[derive(Default)]
    struct BitWriter {
        bits: Vec<bool>,
    }

    impl BitWriter {
        fn put(&mut self, value: u64, width: u32) {
            self.bits.extend((0..width).map(|i| value >> i & 1 == 1));
        }

        fn aligned(mut self) -> Vec<u8> {
            while self.bits.len() % 32 != 0 {
                self.bits.push(false);
            }
            self.bits
                .chunks(8)
                .map(|byte| {
                    byte.iter()
                        .rev()
                        .fold(0, |value, bit| value << 1 | u8::from(*bit))
                })
                .collect()
        }
    }

    fn producers(data: &[u8]) -> Vec<Option<String>> {
        let units = units(data).expect("bitcode");
        units.into_iter().map(|unit| unit.producer).collect()
    }

    #[test]
    fn one_stream_is_one_unit() {
        let data = stream("LLVM16.0.6");
        let units = units(&data).expect("bitcode");
        assert_eq!(units.len(), 1);
        assert_eq!(*units[0].bytes(&data), data);
        assert_eq!(units[0].producer.as_deref(), Some("LLVM16.0.6"));
    }

    #[test]
    fn a_section_holds_padded_streams() {
        let mut data = stream("LLVM15.0.7");
        data.extend([0; 13]);
        data.extend(stream("LLVM16.0.6"));
        data.extend([0; 4]);
        let expected = ["LLVM15.0.7", "LLVM16.0.6"].map(|p| Some(p.to_string()));
        assert_eq!(producers(&data), expected);
    }

    #[test]
    fn modules_of_one_stream_are_split() {
        let mut data = stream("LLVM15.0.7");
        data.extend(&stream("LLVM16.0.6")[MAGIC.len()..]);
        let table = block(STRTAB_BLOCK, b"name");
        data.extend(&table);
        let units = units(&data).expect("bitcode");
        assert_eq!(units.len(), 2);
        for unit in &units {
            let bytes = unit.bytes(&data);
            assert!(bytes.starts_with(&MAGIC));
            assert!(bytes.ends_with(&table));
        }
        assert_eq!(units[1].producer.as_deref(), Some("LLVM16.0.6"));
    }

    #[test]
    fn wrappers_are_opened() {
        let inner = stream("LLVM16.0.6");
        let mut data = WRAPPER_MAGIC.to_vec();
        for field in [0, 20, inner.len() as u32, 7] {
            data.extend(field.to_le_bytes());
        }
        data.extend(&inner);
        data.extend([0; 12]);
        assert_eq!(producers(&data), [Some("LLVM16.0.6".to_string())]);
        let reason = units(&data[..30]).err().expect("truncated");
        assert!(reason.starts_with("truncated bitcode"), "{reason}");
    }

    #[test]
    fn every_truncation_is_noticed_or_harmless() {
        let data = stream("LLVM16.0.6");
        for end in 4..data.len() {
            let Err(reason) = units(&data[..end]) else {
                panic!("{end} of {} bytes accepted", data.len());
            };
            assert!(reason.contains("bitcode"), "{reason}");
        }
    }

    #[test]
    fn releases_are_read_from_producers() {
        assert_eq!(llvm_release("LLVM16.0.6"), Some(16));
        assert_eq!(llvm_release("LLVM22.1.2-rust-1.95.0-stable"), Some(22));
        assert_eq!(llvm_release("LLVM 3.9.1"), Some(3));
        assert_eq!(llvm_release("APPLE_1_1500.3.9.4_0"), None);
    }
}
