//! Aligns two sequences: what occurs once in both first (patience diff), then, where everything repeats, what a
//! shortest edit script keeps (Myers), and what lies between these by dynamic programming on similarity.
//!
//! The work is bounded by a constant times the lengths, however different the sequences are: edit scripts are
//! given up when they get long, and large gaps are searched within a band around the diagonal.

use super::features::Features;
use std::collections::HashMap;
use std::ops::Range;

/// Gaps of up to this many pairs are searched completely.
const COMPLETE: usize = 4096;
/// How far from the diagonal larger gaps are searched.
const BAND: usize = 48;
/// Edit scripts are followed up to this length.
const EDITS: usize = 1024;
/// How often anchors may split a gap again.
const SPLITS: u32 = 24;

/// Aligns `a` with `b`; the pairs found ascend in both. Adds the number of comparisons made to `comparisons`.
pub(super) fn align(
    a: &[&Features],
    b: &[&Features],
    comparisons: &mut usize,
) -> Vec<(usize, usize)> {
    let mut aligner = Aligner {
        a,
        b,
        pairs: Vec::new(),
        comparisons,
    };
    aligner.gap(0..a.len(), 0..b.len(), SPLITS);
    aligner.pairs
}

/// 0 to 256. Loops around one inner loop look the same unless what they do themselves counts as much.
pub(super) fn similarity(a: &Features, b: &Features) -> u32 {
    let all = a.sketch.similarity(&b.sketch);
    if a.own.elements().is_empty() {
        all
    } else {
        (all + a.own.similarity(&b.own)) / 2
    }
}

/// What matching two things is worth, 0 if it must not be.
pub(super) fn worth(a: &Features, b: &Features) -> u32 {
    if a.class != b.class {
        return 0;
    }
    let similarity = similarity(a, b);
    // A long run of equal instructions is worth more than a short one, but not so much that one run outweighs
    // the shape of everything around it.
    let size = 4 + 2 * (1 + a.weight.min(b.weight)).ilog2();
    let mut worth = COMPATIBLE + similarity * size;
    if a.condition != 0 && a.condition == b.condition {
        worth += SAME_CONDITION;
    }
    if a.content == b.content {
        worth += SAME_CONTENT;
    }
    let same = |a: &[u64; 2], b: &[u64; 2]| (0..2).filter(|&i| a[i] == b[i]).count() as u32;
    worth += SAME_CONTENT * same(&a.context, &b.context);
    worth + SAME_SHAPE * same(&a.shape, &b.shape)
}

// Found by trying: matching releases of Lua and zlib with each other (what diff keeps should be matched) and
// coreutils at -O0 with -O2 (matched code should come from the same lines). Half or twice of any changes the
// result by a few nodes in ten thousand.
const COMPATIBLE: u32 = 512;
const SAME_CONDITION: u32 = 2048;
const SAME_CONTENT: u32 = 256;
const SAME_SHAPE: u32 = 512;

/// What pairs the rest between two ranges.
type Inner<'f, S> = &'f mut dyn FnMut(&mut S, Range<usize>, Range<usize>);

/// The positions of hashes that occur once in both sequences, ascending in `a`.
pub(super) fn unique_common(
    a: impl Iterator<Item = (usize, u64)>,
    b: impl Iterator<Item = (usize, u64)>,
) -> Vec<(usize, usize)> {
    let mut places: HashMap<u64, (usize, usize, u8)> = HashMap::new();
    for (position, hash) in a {
        let place = places.entry(hash).or_insert((position, 0, 0));
        place.2 = (place.2 + 1).min(2);
    }
    places.retain(|_, place| place.2 == 1);
    for (position, hash) in b {
        if let Some(place) = places.get_mut(&hash) {
            place.1 = position;
            place.2 = (place.2 + 1).min(3);
        }
    }
    let mut pairs: Vec<(usize, usize)> = places
        .into_values()
        .filter(|place| place.2 == 2)
        .map(|(a, b, _)| (a, b))
        .collect();
    pairs.sort_unstable();
    pairs
}

struct Aligner<'a> {
    a: &'a [&'a Features],
    b: &'a [&'a Features],
    pairs: Vec<(usize, usize)>,
    comparisons: &'a mut usize,
}

impl Aligner<'_> {
    /// Aligns what lies in `a` with what lies in `b`.
    fn gap(&mut self, a: Range<usize>, b: Range<usize>, splits: u32) {
        let context = |f: &Features| f.context[0];
        self.trimmed(a, b, &context, &mut |this, a, b| {
            if a.len() * b.len() <= COMPLETE {
                return this.search(a, b);
            }
            let levels: [&dyn Fn(&Features) -> u64; 3] =
                [&|f| f.context[1], &|f| f.context[0], &|f| f.content];
            for level in levels {
                let anchors = this.anchors(a.clone(), b.clone(), level);
                if anchors.is_empty() || splits == 0 {
                    continue;
                }
                let (mut from_a, mut from_b) = (a.start, b.start);
                for (x, y) in anchors {
                    this.gap(from_a..x, from_b..y, splits - 1);
                    this.pairs.push((x, y));
                    (from_a, from_b) = (x + 1, y + 1);
                }
                return this.gap(from_a..a.end, from_b..b.end, splits - 1);
            }
            this.trimmed(a, b, &|f| f.content, &mut |this, a, b| {
                let Some(kept) = this.kept_by_edits(a.clone(), b.clone()) else {
                    return this.search(a, b);
                };
                let (mut from_a, mut from_b) = (a.start, b.start);
                for (x, y) in kept {
                    this.search(from_a..x, from_b..y);
                    this.pairs.push((x, y));
                    (from_a, from_b) = (x + 1, y + 1);
                }
                this.search(from_a..a.end, from_b..b.end);
            });
        });
    }

    /// The pairs of equal things that a shortest edit script keeps; none if it is long.
    fn kept_by_edits(&mut self, a: Range<usize>, b: Range<usize>) -> Option<Vec<(usize, usize)>> {
        let most = ((a.len() + b.len()) / 4).min(EDITS);
        // So short a script keeps most of both, which must be there to be kept.
        if 2 * self.common(a.clone(), b.clone()) + most < a.len() + b.len() {
            return None;
        }
        let (side_a, side_b) = (self.a, self.b);
        let equal = |x: usize, y: usize| {
            *self.comparisons += 1;
            let (x, y) = (side_a[a.start + x], side_b[b.start + y]);
            x.class == y.class && x.content == y.content
        };
        let kept = shortest_edit(a.len(), b.len(), most, equal)?;
        Some(
            kept.into_iter()
                .map(|(x, y)| (a.start + x, b.start + y))
                .collect(),
        )
    }

    /// How much of `a` finds an equal in `b` if each is used once, in any order.
    fn common(&self, a: Range<usize>, b: Range<usize>) -> usize {
        let mut count: HashMap<u64, usize> = HashMap::new();
        for x in a {
            *count.entry(self.a[x].content).or_default() += 1;
        }
        b.filter(|&y| {
            let left = count.get_mut(&self.b[y].content);
            left.filter(|n| **n > 0).map(|n| *n -= 1).is_some()
        })
        .count()
    }

    /// Pairs what is equal at both ends and leaves the rest to `inner`.
    fn trimmed(
        &mut self,
        mut a: Range<usize>,
        mut b: Range<usize>,
        hash: &dyn Fn(&Features) -> u64,
        inner: Inner<'_, Self>,
    ) {
        let equal = |x: &Features, y: &Features| x.class == y.class && hash(x) == hash(y);
        while !a.is_empty() && !b.is_empty() && equal(self.a[a.start], self.b[b.start]) {
            self.pairs.push((a.start, b.start));
            a.start += 1;
            b.start += 1;
        }
        let mut tail = Vec::new();
        while !a.is_empty() && !b.is_empty() && equal(self.a[a.end - 1], self.b[b.end - 1]) {
            a.end -= 1;
            b.end -= 1;
            tail.push((a.end, b.end));
        }
        if !a.is_empty() && !b.is_empty() {
            inner(self, a, b);
        }
        self.pairs.extend(tail.into_iter().rev());
    }

    /// The longest ascending chain of things that are equal and occur once on both sides (patience diff).
    fn anchors(
        &self,
        a: Range<usize>,
        b: Range<usize>,
        hash: &dyn Fn(&Features) -> u64,
    ) -> Vec<(usize, usize)> {
        let of = |features: &[&Features], range: Range<usize>| -> Vec<(usize, u64)> {
            range.map(|i| (i, hash(features[i]))).collect()
        };
        let pairs = unique_common(of(self.a, a).into_iter(), of(self.b, b).into_iter());
        let pairs = pairs
            .into_iter()
            .filter(|&(x, y)| self.a[x].class == self.b[y].class)
            .collect();
        longest_ascending(pairs)
    }

    /// Finds the pairs of greatest worth by dynamic programming within a band around the diagonal.
    fn search(&mut self, a: Range<usize>, b: Range<usize>) {
        let (rows, columns) = (a.len(), b.len());
        let complete = rows * columns <= COMPLETE;
        // The columns that row i looks at; both ends ascend with i.
        let window = |i: usize| {
            if complete {
                return 0..columns;
            }
            let middle = i * columns / rows;
            let next = (i + 1) * columns / rows;
            middle.saturating_sub(BAND)..(next + BAND).min(columns)
        };
        // best[j]: the worth of the rows so far with the columns before j.
        let mut best = vec![0u64; columns + 1];
        let mut steps: Vec<Vec<Step>> = Vec::with_capacity(rows);
        let mut reached = 0;
        for i in 0..rows {
            let columns = window(i);
            // Columns that earlier rows did not look at have what was best before them.
            for j in reached + 1..=columns.end {
                best[j] = best[j - 1];
            }
            reached = columns.end;
            let mut row = Vec::with_capacity(columns.len());
            let mut diagonal = best[columns.start];
            for j in columns {
                let worth = worth(self.a[a.start + i], self.b[b.start + j]);
                *self.comparisons += 1;
                let above = best[j + 1];
                let left = best[j];
                let pair = diagonal + u64::from(worth);
                diagonal = above;
                // Of equals the pair; then the later start of a.
                let step = if worth > 0 && pair >= above && pair >= left {
                    best[j + 1] = pair;
                    Step::Pair
                } else if above >= left {
                    Step::Up
                } else {
                    best[j + 1] = left;
                    Step::Left
                };
                row.push(step);
            }
            steps.push(row);
        }
        let mut pairs = Vec::new();
        let (mut i, mut j) = (rows, columns);
        while i > 0 && j > 0 {
            let columns = window(i - 1);
            if j > columns.end {
                j = columns.end;
            } else if j <= columns.start {
                i -= 1;
            } else {
                match steps[i - 1][j - 1 - columns.start] {
                    Step::Pair => {
                        i -= 1;
                        j -= 1;
                        pairs.push((a.start + i, b.start + j));
                    }
                    Step::Up => i -= 1,
                    Step::Left => j -= 1,
                }
            }
        }
        self.pairs.extend(pairs.into_iter().rev());
    }
}

/// What a shortest edit script of at most `most` insertions and deletions keeps (Myers, 1986).
fn shortest_edit(
    rows: usize,
    columns: usize,
    most: usize,
    mut equal: impl FnMut(usize, usize) -> bool,
) -> Option<Vec<(usize, usize)>> {
    let (rows, columns, most) = (rows as isize, columns as isize, most as isize);
    let slot = |diagonal: isize| (diagonal + most + 1) as usize;
    // The diagonal that the furthest way to `diagonal` comes from after so many edits.
    let previous = |furthest: &dyn Fn(isize) -> isize, edits: isize, diagonal: isize| {
        let from_above = diagonal == -edits
            || diagonal != edits && furthest(diagonal - 1) < furthest(diagonal + 1);
        diagonal + if from_above { 1 } else { -1 }
    };
    // furthest[diagonal]: the row that the edits so far reach on it; a diagonal is row - column.
    let mut furthest = vec![0isize; 2 * most as usize + 3];
    // What `furthest` was before each edit, from the lowest diagonal in use.
    let mut history: Vec<Vec<isize>> = Vec::new();
    for edits in 0..=most {
        let reach = (edits - 1).max(0);
        history.push(furthest[slot(-reach)..=slot(reach)].to_vec());
        for diagonal in (-edits..=edits).step_by(2) {
            let mut row = 0;
            if edits > 0 {
                let from = previous(&|d| furthest[slot(d)], edits, diagonal);
                row = furthest[slot(from)] + isize::from(from < diagonal);
            }
            while row < rows
                && row - diagonal < columns
                && equal(row as usize, (row - diagonal) as usize)
            {
                row += 1;
            }
            furthest[slot(diagonal)] = row;
            if row < rows || row - diagonal < columns {
                continue;
            }
            let mut kept = Vec::new();
            let (mut row, mut column) = (rows, columns);
            for edits in (0..=edits).rev() {
                let before = &history[edits as usize];
                let at = |d: isize| before[(d + edits - 1) as usize];
                let (start_row, start_column) = if edits == 0 {
                    (0, 0)
                } else {
                    let from = previous(&at, edits, row - column);
                    (at(from), at(from) - from)
                };
                while row > start_row && column > start_column {
                    row -= 1;
                    column -= 1;
                    kept.push((row as usize, column as usize));
                }
                (row, column) = (start_row, start_column);
            }
            kept.reverse();
            return Some(kept);
        }
    }
    None
}

#[derive(Clone, Copy)]
enum Step {
    Pair,
    Up,
    Left,
}

/// The longest subsequence that ascends in its second part; the pairs ascend in the first.
pub(super) fn longest_ascending(pairs: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    // ends[l]: the pair that ends the best chain of length l + 1.
    let mut ends: Vec<usize> = Vec::new();
    let mut previous = vec![usize::MAX; pairs.len()];
    for (index, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].1 < pair.1);
        if length > 0 {
            previous[index] = ends[length - 1];
        }
        if length == ends.len() {
            ends.push(index);
        } else {
            ends[length] = index;
        }
    }
    let mut chain = Vec::with_capacity(ends.len());
    let mut current = ends.last().copied().unwrap_or(usize::MAX);
    while current != usize::MAX {
        chain.push(pairs[current]);
        current = previous[current];
    }
    chain.reverse();
    chain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(a: &str, b: &str, most: usize) -> Option<String> {
        let (a, b) = (a.as_bytes(), b.as_bytes());
        let pairs = shortest_edit(a.len(), b.len(), most, |x, y| a[x] == b[y])?;
        assert!(pairs.windows(2).all(|p| p[0].0 < p[1].0 && p[0].1 < p[1].1));
        assert!(pairs.iter().all(|&(x, y)| a[x] == b[y]));
        Some(pairs.into_iter().map(|(x, _)| a[x] as char).collect())
    }

    #[test]
    fn edit_scripts_are_shortest() {
        assert_eq!(kept("abcabba", "cbabac", 5).map(|k| k.len()), Some(4));
        assert_eq!(kept("abcabba", "cbabac", 4), None);
        assert_eq!(kept("same", "same", 0).as_deref(), Some("same"));
        assert_eq!(kept("", "abc", 3).as_deref(), Some(""));
        assert_eq!(kept("abc", "", 3).as_deref(), Some(""));
        assert_eq!(kept("abxxc", "abc", 2).as_deref(), Some("abc"));
        assert_eq!(kept("xy", "yx", 2).map(|k| k.len()), Some(1));
    }

    #[test]
    fn chains_are_longest() {
        let pairs = vec![(0, 5), (1, 1), (2, 2), (3, 0), (4, 3)];
        assert_eq!(longest_ascending(pairs), [(1, 1), (2, 2), (4, 3)]);
        assert_eq!(longest_ascending(Vec::new()), []);
    }
}
