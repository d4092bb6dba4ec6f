//! What a program wrote to one of its outputs, however much that was: its beginning is kept, and of the whole a digest.
//!
//! Digests of everything up to each multiple of [`BLOCK`] say in which block two outputs differ first. The exact place
//! is known if another run has kept the bytes from there on ([`Captured::keep_from`]).

use sha2::{Digest as _, Sha256};

/// So many bytes are kept from the beginning.
const HEAD: usize = 512 << 10;
/// Bytes between two digests; a divisor of [`HEAD`].
const BLOCK: usize = 64 << 10;
/// So many bytes are kept where another run has differed.
const WINDOW: usize = 2 * BLOCK;
/// Of more output than this the rest is not taken.
pub const MAX_OUTPUT: u64 = 1 << 30;

/// SHA-256.
type Digest = [u8; 32];

/// What is known at the end of a block of everything up to there.
#[derive(Clone, Debug)]
struct Mark {
    digest: Digest,
    newlines: u64,
    /// Where the last line begins.
    line_start: u64,
}

/// An output.
#[derive(Clone, Debug)]
pub struct Captured {
    head: Vec<u8>,
    length: u64,
    /// At the end of each whole block.
    marks: Vec<Mark>,
    hasher: Sha256,
    newlines: u64,
    line_start: u64,
    /// Where the second piece that is kept begins, a multiple of [`BLOCK`], and the piece.
    window: Option<(u64, Vec<u8>)>,
}

/// Where two outputs differ first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Position {
    /// Equal bytes before it.
    pub offset: u64,
    /// Counted from 1.
    pub line: u64,
    /// In bytes, counted from 1.
    pub column: u64,
    /// The differing bytes; none where an output has ended, or if they were not kept.
    pub bytes: [Option<u8>; 2],
    /// Whether this is the place, and not only the beginning of its block.
    pub is_exact: bool,
}

impl Default for Captured {
    fn default() -> Self {
        Captured {
            head: Vec::new(),
            length: 0,
            marks: Vec::new(),
            hasher: Sha256::new(),
            newlines: 0,
            line_start: 0,
            window: None,
        }
    }
}

impl Captured {
    /// Keeps what comes at `start` and behind it, besides the beginning; for an output of which nothing is there yet.
    pub fn keep_from(start: Option<u64>) -> Captured {
        Captured {
            window: start.map(|start| (start, Vec::new())),
            ..Captured::default()
        }
    }

    /// Takes what was written next; whether all of it, as there may be too much.
    pub fn push(&mut self, bytes: &[u8]) -> bool {
        let room = usize::try_from(MAX_OUTPUT - self.length).unwrap_or(usize::MAX);
        let mut rest = &bytes[..bytes.len().min(room)];
        while !rest.is_empty() {
            let in_block = BLOCK - (self.length % BLOCK as u64) as usize;
            let (now, later) = rest.split_at(in_block.min(rest.len()));
            self.push_in_block(now);
            rest = later;
        }
        bytes.len() <= room
    }

    /// Bytes of one block.
    fn push_in_block(&mut self, bytes: &[u8]) {
        let space = HEAD.saturating_sub(self.head.len());
        self.head
            .extend_from_slice(&bytes[..bytes.len().min(space)]);
        if let Some((start, window)) = &mut self.window {
            if self.length >= *start && window.len() < WINDOW {
                window.extend_from_slice(bytes);
            }
        }
        self.hasher.update(bytes);
        self.newlines += newlines(bytes);
        if let Some(at) = bytes.iter().rposition(|b| *b == b'\n') {
            self.line_start = self.length + at as u64 + 1;
        }
        self.length += bytes.len() as u64;
        if self.length % BLOCK as u64 == 0 {
            self.marks.push(Mark {
                digest: self.digest(),
                newlines: self.newlines,
                line_start: self.line_start,
            });
        }
    }

    /// The beginning.
    pub fn head(&self) -> &[u8] {
        &self.head
    }

    /// How much it was.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Whether the beginning is everything.
    pub fn is_whole(&self) -> bool {
        self.head.len() as u64 == self.length
    }

    /// SHA-256 of everything, in hexadecimal digits.
    pub fn sha256(&self) -> String {
        self.digest().iter().map(|b| format!("{b:02x}")).collect()
    }

    fn digest(&self) -> Digest {
        self.hasher.clone().finalize().into()
    }

    /// The bytes to show of a difference at `offset`, and where they begin.
    pub fn around(&self, offset: u64) -> (u64, &[u8]) {
        match &self.window {
            Some((start, window)) if offset >= *start && offset >= HEAD as u64 => (*start, window),
            _ => (0, &self.head),
        }
    }

    fn at(&self, offset: u64) -> Option<u8> {
        let (start, bytes) = self.around(offset);
        let index = usize::try_from(offset - start).ok()?;
        bytes.get(index).copied()
    }

    /// Whether one begins with the other, as far as whole blocks and beginnings say.
    pub fn agrees(&self, other: &Captured) -> bool {
        let common = self.head.len().min(other.head.len());
        let mut marks = self.marks.iter().zip(&other.marks);
        self.head[..common] == other.head[..common] && marks.all(|(a, b)| a.digest == b.digest)
    }

    /// The block in which two outputs that are not equal differ first, by its beginning; none if what is kept of them
    /// shows the difference.
    pub fn differing_block(&self, other: &Captured) -> Option<u64> {
        let common = self.head.len().min(other.head.len());
        let is_kept = self.head[..common] != other.head[..common] || common < HEAD;
        let marks = self.marks.iter().zip(&other.marks);
        let equal = marks.take_while(|(a, b)| a.digest == b.digest).count();
        (!is_kept && self != other).then_some((equal * BLOCK) as u64)
    }

    /// Where two outputs differ first; none if they are equal.
    pub fn first_difference(&self, other: &Captured) -> Option<Position> {
        if self == other {
            return None;
        }
        let base = self.differing_block(other).unwrap_or(0);
        let (start, old) = self.around(base);
        let (other_start, new) = other.around(base);
        let is_exact = start == base && other_start == base;
        let equal = match is_exact {
            true => old.iter().zip(new).take_while(|(a, b)| a == b).count(),
            false => 0,
        };
        let offset = base + equal as u64;
        // Of what is before the block.
        let mark = (base as usize / BLOCK)
            .checked_sub(1)
            .and_then(|last| self.marks.get(last));
        let (newlines_before, line_start) = mark.map_or((0, 0), |m| (m.newlines, m.line_start));
        let before = &old[..equal];
        let line_start = match before.iter().rposition(|b| *b == b'\n') {
            Some(at) => base + at as u64 + 1,
            None => line_start,
        };
        let byte = |captured: &Captured| captured.at(offset).filter(|_| is_exact);
        Some(Position {
            offset,
            line: newlines_before + newlines(before) + 1,
            column: offset - line_start + 1,
            bytes: [byte(self), byte(other)],
            is_exact,
        })
    }
}

/// Equal if the whole outputs are, whatever is kept of them.
impl PartialEq for Captured {
    fn eq(&self, other: &Captured) -> bool {
        self.length == other.length && self.digest() == other.digest()
    }
}

impl Eq for Captured {}

impl From<&[u8]> for Captured {
    fn from(bytes: &[u8]) -> Captured {
        let mut captured = Captured::default();
        captured.push(bytes);
        captured
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|b| **b == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bytes: &[u8]) -> Captured {
        Captured::from(bytes)
    }

    /// Taken in pieces that have nothing to do with blocks.
    fn in_pieces(bytes: &[u8], window: Option<u64>) -> Captured {
        let mut captured = Captured::keep_from(window);
        for piece in bytes.chunks(1000) {
            assert!(captured.push(piece));
        }
        captured
    }

    #[test]
    fn positions_are_counted_in_bytes() {
        let difference = of(b"a\nbcd").first_difference(&of(b"a\nbxd")).unwrap();
        let place = (difference.offset, difference.line, difference.column);
        assert_eq!(place, (3, 2, 2));
        assert_eq!(difference.bytes, [Some(b'c'), Some(b'x')]);
        let ended = of(b"a\n").first_difference(&of(b"a\nb")).unwrap();
        assert_eq!((ended.line, ended.column), (2, 1));
        assert_eq!(ended.bytes, [None, Some(b'b')]);
        assert_eq!(of(b"a").first_difference(&of(b"a")), None);
    }

    #[test]
    fn a_difference_far_behind_what_is_kept() {
        let old: Vec<u8> = b"line\n".repeat(1 << 18);
        let mut new = old.clone();
        let offset = 5 * 200_000 + 2;
        new[offset] = b'!';
        let (a, b) = (in_pieces(&old, None), in_pieces(&new, None));
        assert!(!a.is_whole() && a.head().len() == HEAD && a.length() == old.len() as u64);
        assert!(a != b && a == of(&old));
        let block = a.differing_block(&b).unwrap();
        assert_eq!(block, (offset / BLOCK * BLOCK) as u64);
        let rough = a.first_difference(&b).unwrap();
        assert!(!rough.is_exact && rough.offset == block && rough.bytes == [None, None]);
        let kept = |bytes| in_pieces(bytes, Some(block));
        let exact = kept(&old).first_difference(&kept(&new)).unwrap();
        assert!(exact.is_exact);
        assert_eq!(exact.offset, offset as u64);
        assert_eq!((exact.line, exact.column), (200_001, 3));
        assert_eq!(exact.bytes, [Some(b'n'), Some(b'!')]);
        // One of them ends where the other goes on.
        let short = &old[..offset];
        let block = in_pieces(short, None).differing_block(&a);
        let ended = in_pieces(short, block).first_difference(&in_pieces(&old, block));
        let ended = ended.unwrap();
        assert_eq!(
            (ended.offset, ended.bytes),
            (offset as u64, [None, Some(b'n')])
        );
    }

    #[test]
    fn an_output_that_was_cut_agrees_with_what_it_begins() {
        let all = vec![b'y'; HEAD + 3 * BLOCK + 7];
        let mut other = all.clone();
        assert!(of(&all).agrees(&of(&all[..HEAD + BLOCK + 1])));
        other[HEAD + 5] = b'n';
        assert!(!of(&all).agrees(&of(&other)));
        assert!(of(&all[..HEAD]).agrees(&of(&other)));
    }
}
