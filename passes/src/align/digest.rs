//! Hashes that are the same in every run: nothing here depends on addresses or on a random seed.

/// A running 64-bit hash.
#[derive(Clone, Copy)]
pub(super) struct Digest(u64);

impl Digest {
    /// `domain` keeps hashes of different kinds of things apart.
    pub(super) fn new(domain: u64) -> Digest {
        Digest(domain.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub(super) fn add(self, word: u64) -> Digest {
        Digest((self.0.rotate_left(23) ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd))
    }

    pub(super) fn add_bytes(mut self, bytes: &[u8]) -> Digest {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self = self.add(u64::from_le_bytes(word));
        }
        self.add(bytes.len() as u64)
    }

    pub(super) fn finish(self) -> u64 {
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
}

/// How many elements a [`Sketch`] keeps.
const SKETCH: usize = 96;

/// A small stand-in for a multiset of hashes: its smallest elements. Comparing two sketches estimates how much
/// of the multisets is common, exactly so while they are small.
#[derive(Clone, Default)]
pub(super) struct Sketch(Vec<u32>);

impl Sketch {
    pub(super) fn of(mut hashes: Vec<u64>) -> Sketch {
        hashes.sort_unstable();
        let mut previous = None;
        let mut repeats = 0;
        let mut elements: Vec<u32> = hashes
            .into_iter()
            .map(|hash| {
                // Repeated elements count: the n-th occurrence is an element of its own.
                repeats = if previous == Some(hash) {
                    repeats + 1
                } else {
                    0
                };
                previous = Some(hash);
                Digest::new(repeats).add(hash).finish() as u32
            })
            .collect();
        elements.sort_unstable();
        elements.dedup();
        elements.truncate(SKETCH);
        Sketch(elements)
    }

    /// The sketch of several multisets joined (an element that several have counts once).
    pub(super) fn union<'a>(parts: impl Iterator<Item = &'a Sketch>) -> Sketch {
        let mut elements: Vec<u32> = parts.flat_map(|part| part.0.iter().copied()).collect();
        elements.sort_unstable();
        elements.dedup();
        elements.truncate(SKETCH);
        Sketch(elements)
    }

    /// The elements kept, ascending.
    pub(super) fn elements(&self) -> &[u32] {
        &self.0
    }

    /// How much of this multiset the other contains: 0 (nothing) to 256 (all). 0 as well if too little is kept
    /// of the two to tell.
    pub(super) fn contained_in(&self, other: &Sketch) -> u32 {
        // Beyond the largest element of a full sketch nothing is known.
        let known = |sketch: &Sketch| match sketch.0.last() {
            Some(&last) if sketch.0.len() == SKETCH => last,
            _ => u32::MAX,
        };
        let limit = known(self).min(known(other));
        let part = &self.0[..self.0.partition_point(|&e| e <= limit)];
        if part.len() < 8 {
            return 0;
        }
        let common = part.iter().filter(|e| other.0.binary_search(e).is_ok());
        (256 * common.count() / part.len()) as u32
    }

    /// 0 (nothing in common) to 256 (equal): twice the common part divided by the sum of both.
    pub(super) fn similarity(&self, other: &Sketch) -> u32 {
        let (a, b) = (&self.0, &other.0);
        if a.is_empty() && b.is_empty() {
            return 256;
        }
        let (mut i, mut j, mut common, mut all) = (0, 0, 0, 0);
        while i < a.len() && j < b.len() && all < SKETCH {
            all += 1;
            match a[i].cmp(&b[j]) {
                std::cmp::Ordering::Equal => {
                    common += 1;
                    i += 1;
                    j += 1;
                }
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
            }
        }
        all = (all + (a.len() - i) + (b.len() - j)).min(SKETCH);
        (512 * common / (all + common)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarity_is_exact_for_small_sets() {
        let sketch = |elements: &[u64]| Sketch::of(elements.to_vec());
        assert_eq!(sketch(&[1, 2, 3]).similarity(&sketch(&[3, 2, 1])), 256);
        assert_eq!(sketch(&[1, 2]).similarity(&sketch(&[3, 4])), 0);
        assert_eq!(sketch(&[1, 2]).similarity(&sketch(&[2, 3])), 128);
        assert_eq!(sketch(&[]).similarity(&sketch(&[])), 256);
        assert_eq!(sketch(&[]).similarity(&sketch(&[1])), 0);
        // Repeats count.
        assert_eq!(sketch(&[7, 7, 7]).similarity(&sketch(&[7])), 128);
    }

    #[test]
    fn similarity_is_estimated_for_large_sets() {
        let a = Sketch::of((0..10_000).collect());
        let b = Sketch::of((5_000..15_000).collect());
        let found = a.similarity(&b);
        assert!((96..160).contains(&found), "{found}");
        let part = Sketch::of((5_000..7_000).collect());
        assert!(part.contained_in(&b) > 240);
        assert!(Sketch::of((0..100).collect()).contained_in(&b) < 16);
    }
}
