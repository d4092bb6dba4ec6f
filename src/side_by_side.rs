//! Two texts in two columns, equal lines beside each other, as `diff -y` prints them.
//!
//! A column between them says what a row is: nothing for equal lines, `|` for changed ones, `<` and `>` for
//! lines that only one side has. Long lines go on in the next row. Of equal lines only those near a difference
//! are shown. Control bytes are shown as the symbols that Unicode has for them, bytes that are not UTF-8 as `\xHH`.

use anstyle::{AnsiColor, Style};
use p3_hunt::words::visible;
use similar::{Algorithm, DiffOp};
use std::io::{self, Write};
use std::ops::Range;
use std::time::{Duration, Instant};
use unicode_width::UnicodeWidthChar;

/// Equal lines that are shown before and after a difference.
const CONTEXT: usize = 3;
/// After so long the alignment may be coarser than necessary.
const PATIENCE: Duration = Duration::from_secs(2);

const LEFT: Style = AnsiColor::Red.on_default();
const RIGHT: Style = AnsiColor::Green.on_default();
const DIM: Style = Style::new().dimmed();
const BOLD: Style = Style::new().bold();

/// One side: its title and its text.
pub struct Side<'a> {
    pub title: &'a str,
    pub text: &'a [u8],
}

/// Writes both sides in `width` columns.
pub fn write(out: &mut impl Write, left: Side, right: Side, width: usize) -> io::Result<()> {
    let column = (width.saturating_sub(3) / 2).max(8);
    let lines = (split(left.text), split(right.text));
    let mut page = Page { out, column };
    page.row(&cut(left.title), ' ', &cut(right.title), BOLD, BOLD)?;
    let rows = align(&lines.0, &lines.1);
    let mut start = 0;
    for shown in near_differences(&rows) {
        page.skipped(shown.start - start)?;
        start = shown.end;
        for row in &rows[shown] {
            let side = |line: Option<usize>, lines: &[&[u8]]| {
                line.map(|index| visible(lines[index])).unwrap_or_default()
            };
            let texts = (side(row.left, &lines.0), side(row.right, &lines.1));
            let (left, right) = match row.mark() {
                ' ' => (Style::new(), Style::new()),
                _ => (LEFT, RIGHT),
            };
            page.row(&texts.0, row.mark_of(&lines), &texts.1, left, right)?;
        }
    }
    page.skipped(rows.len() - start)
}

/// Lines with their newlines.
fn split(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

/// Lines that stand in one row, by their index.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    left: Option<usize>,
    right: Option<usize>,
    equal: bool,
}

impl Row {
    fn mark(&self) -> char {
        match (self.equal, self.left, self.right) {
            (true, ..) => ' ',
            (_, Some(_), Some(_)) => '|',
            (_, Some(_), None) => '<',
            (_, None, _) => '>',
        }
    }

    /// The mark; two lines that differ in nothing but the newline at the end have one of their own.
    fn mark_of(&self, lines: &(Vec<&[u8]>, Vec<&[u8]>)) -> char {
        let without = |line: &'_ [u8]| line.strip_suffix(b"\n").map(<[u8]>::len);
        match (self.left, self.right) {
            (Some(left), Some(right)) if !self.equal => {
                let (left, right) = (lines.0[left], lines.1[right]);
                match (without(left), without(right)) {
                    (Some(length), None) if left[..length] == *right => '/',
                    (None, Some(length)) if right[..length] == *left => '\\',
                    _ => '|',
                }
            }
            _ => self.mark(),
        }
    }
}

fn align(left: &[&[u8]], right: &[&[u8]]) -> Vec<Row> {
    // Long equal ends are the usual case and would only slow the search down.
    let head = common(left.iter().zip(right));
    let (a, b) = (&left[head..], &right[head..]);
    let tail = common(a.iter().rev().zip(b.iter().rev()));
    let (a, b) = (&a[..a.len() - tail], &b[..b.len() - tail]);

    let mut rows: Vec<Row> = (0..head).map(|i| equal(i, i)).collect();
    let deadline = Some(Instant::now() + PATIENCE);
    for op in similar::capture_diff_slices_deadline(Algorithm::Myers, a, b, deadline) {
        let (_, old, new) = op.as_tag_tuple();
        let (old, new) = (shift(old, head), shift(new, head));
        if let DiffOp::Equal { .. } = op {
            rows.extend(old.zip(new).map(|(left, right)| equal(left, right)));
            continue;
        }
        for index in 0..old.len().max(new.len()) {
            rows.push(Row {
                left: (index < old.len()).then(|| old.start + index),
                right: (index < new.len()).then(|| new.start + index),
                equal: false,
            });
        }
    }
    rows.extend(
        (0..tail)
            .rev()
            .map(|i| equal(left.len() - 1 - i, right.len() - 1 - i)),
    );
    rows
}

fn equal(left: usize, right: usize) -> Row {
    Row {
        left: Some(left),
        right: Some(right),
        equal: true,
    }
}

fn shift(range: Range<usize>, by: usize) -> Range<usize> {
    range.start + by..range.end + by
}

fn common<T: PartialEq>(pairs: impl Iterator<Item = (T, T)>) -> usize {
    pairs.take_while(|(a, b)| a == b).count()
}

/// The parts of the page that are shown: differences with their surroundings.
fn near_differences(rows: &[Row]) -> Vec<Range<usize>> {
    let mut shown: Vec<Range<usize>> = Vec::new();
    for (index, _) in rows.iter().enumerate().filter(|(_, row)| !row.equal) {
        let range = index.saturating_sub(CONTEXT)..(index + CONTEXT + 1).min(rows.len());
        match shown.last_mut() {
            // A gap of one line takes no more room than the note that it was left out.
            Some(last) if range.start <= last.end + 1 => last.end = range.end,
            _ => shown.push(range),
        }
    }
    if let Some(first) = shown.first_mut().filter(|first| first.start == 1) {
        first.start = 0;
    }
    shown
}

/// Titles take one row.
fn cut(title: &str) -> String {
    visible(title.as_bytes())
}

struct Page<'a, W> {
    out: &'a mut W,
    column: usize,
}

impl<W: Write> Page<'_, W> {
    /// One line of each side, in as many rows as they need.
    fn row(
        &mut self,
        left: &str,
        mark: char,
        right: &str,
        left_style: Style,
        right_style: Style,
    ) -> io::Result<()> {
        let mut pieces = (wrap(left, self.column), wrap(right, self.column));
        loop {
            let (left, left_width) = pieces.0.next().unwrap_or_default();
            let (right, _) = pieces.1.next().unwrap_or_default();
            let mut line = format!("{left_style}{left}{left_style:#}");
            let rest = mark != ' ' || !right.is_empty();
            if rest {
                line.push_str(&" ".repeat(self.column - left_width));
                match mark {
                    ' ' => line.push_str("  "),
                    _ => line.push_str(&format!(" {BOLD}{mark}{BOLD:#}")),
                }
            }
            if !right.is_empty() {
                line.push_str(&format!(" {right_style}{right}{right_style:#}"));
            }
            writeln!(self.out, "{line}")?;
            if pieces.0.is_empty() && pieces.1.is_empty() {
                return Ok(());
            }
        }
    }

    fn skipped(&mut self, count: usize) -> io::Result<()> {
        match count {
            0 => Ok(()),
            1 => writeln!(self.out, "{DIM}... 1 equal line{DIM:#}"),
            _ => writeln!(self.out, "{DIM}... {count} equal lines{DIM:#}"),
        }
    }
}

/// The pieces of a line that fit into `width` columns, each with the columns that it takes.
fn wrap(line: &str, width: usize) -> Pieces<'_> {
    Pieces { rest: line, width }
}

struct Pieces<'a> {
    rest: &'a str,
    width: usize,
}

impl Pieces<'_> {
    fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = (&'a str, usize);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let mut taken = 0;
        let mut end = self.rest.len();
        for (at, c) in self.rest.char_indices() {
            let columns = c.width().unwrap_or(0);
            if taken + columns > self.width {
                end = at;
                break;
            }
            taken += columns;
        }
        let (piece, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some((piece, taken))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(left: &str, right: &str, width: usize) -> String {
        let mut out = Vec::new();
        let side = |title, text: &'static str| Side {
            title,
            text: text.as_bytes(),
        };
        let (left, right) = (left.to_string().leak(), right.to_string().leak());
        write(&mut out, side("a", left), side("b", right), width).unwrap();
        let plain = anstream::adapter::strip_bytes(&out).into_vec();
        String::from_utf8(plain).unwrap()
    }

    #[test]
    fn rows_are_marked() {
        let text = page("same\nold\nonly left\nend\n", "same\nnew\nend\nmore\n", 27);
        assert_eq!(
            text,
            "a              b\n\
             same           same\n\
             old          | new\n\
             only left    <\n\
             end            end\n\
             \x20            > more\n"
        );
    }

    #[test]
    fn a_missing_newline_at_the_end_has_its_own_mark() {
        assert_eq!(
            page("x", "x\n", 27),
            "a              b\nx            \\ x\n"
        );
        assert_eq!(page("x\n", "x", 27), "a              b\nx            / x\n");
    }

    #[test]
    fn equal_lines_far_from_differences_are_left_out() {
        let many = |middle: &str| {
            let lines = |range: Range<u32>| -> String { range.map(|i| format!("{i}\n")).collect() };
            format!("{}{middle}\n{}", lines(0..10), lines(10..15))
        };
        let text = page(&many("x"), &many("y"), 27);
        assert!(text.contains("... 7 equal lines\n7 "), "{text}");
        assert!(
            text.ends_with("12             12\n... 2 equal lines\n"),
            "{text}"
        );
    }

    #[test]
    fn long_lines_go_on_in_the_next_row() {
        let text = page("0123456789abcdef\n", "x\n", 27);
        assert!(
            text.ends_with("0123456789ab | x\ncdef         |\n"),
            "{text}"
        );
    }
}
