//! Decisions of the generator: a sequence of random numbers, of which a few can be changed to get a similar program.

use fastrand::Rng;
use std::collections::BTreeSet;

/// Random numbers, as a function of the seed and of the places where they are changed.
pub struct Tape {
    rng: Rng,
    drawn: usize,
    changed: BTreeSet<usize>,
}

impl Tape {
    /// The tape of this seed, changed at these places.
    pub fn new(seed: u64, changed: BTreeSet<usize>) -> Self {
        Tape {
            rng: Rng::with_seed(seed),
            drawn: 0,
            changed,
        }
    }

    /// How many numbers were drawn.
    pub fn drawn(&self) -> usize {
        self.drawn
    }

    /// Any number.
    pub fn any(&mut self) -> u64 {
        let number = self.rng.u64(..);
        self.drawn += 1;
        match self.changed.contains(&(self.drawn - 1)) {
            true => number.rotate_left(17) ^ 0x5bd1,
            false => number,
        }
    }

    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.any() >> 16) as usize % end
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of these.
    pub fn choose<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
