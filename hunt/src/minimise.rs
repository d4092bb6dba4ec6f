//! Makes an input smaller and plainer while it still shows the same difference.
//!
//! Whole arguments and runs of bytes are left out, the largest runs first (delta debugging); then bytes are made
//! letters, digits or newlines. An input that the template does not allow is never tried.

use crate::examine::{examine, Examined};
use crate::input::Input;
use crate::programs::Programs;
use crate::template::Template;
use p3_passes::{interruption, Result};
use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

/// How inputs are minimised.
pub struct Minimiser<'a> {
    pub programs: &'a Programs,
    /// Which inputs are allowed; none: those with as many files, and any arguments.
    pub template: Option<&'a Template>,
    /// Whether it still shows the difference that is meant.
    pub is_same: &'a dyn Fn(&Examined) -> bool,
    /// How long one input may take.
    pub time: Duration,
}

/// What plain bytes are tried in place of others.
const PLAIN: [u8; 4] = [b'a', b'0', b' ', b'\n'];

impl Minimiser<'_> {
    /// Minimises an input that shows the difference.
    pub fn minimise(&self, start: Examined) -> Result<Examined> {
        let mut search = Search {
            minimiser: self,
            best: start,
            tried: HashSet::new(),
            deadline: Instant::now() + self.time,
        };
        loop {
            let before = search.best.input.clone();
            search.shrink()?;
            if search.best.input == before {
                break;
            }
        }
        search.simplify()?;
        Ok(search.best)
    }

    fn allows(&self, input: &Input) -> bool {
        match self.template {
            Some(template) => template.encode(input).is_some(),
            None => true,
        }
    }
}

struct Search<'a> {
    minimiser: &'a Minimiser<'a>,
    best: Examined,
    tried: HashSet<Input>,
    deadline: Instant,
}

impl Search<'_> {
    /// Takes the input if it shows the same; whether it does.
    fn attempt(&mut self, input: Input) -> Result<bool> {
        let is_late = Instant::now() > self.deadline || interruption::is_requested();
        if is_late || !self.minimiser.allows(&input) || !self.tried.insert(input.clone()) {
            return Ok(false);
        }
        let examined = match examine(self.minimiser.programs, &input) {
            // What there is now is as small as it gets.
            Err(_) if interruption::is_requested() => return Ok(false),
            examined => examined?,
        };
        let same = (self.minimiser.is_same)(&examined);
        if same {
            self.best = examined;
        }
        Ok(same)
    }

    fn shrink(&mut self) -> Result<()> {
        // Most often it is one part that matters, and nothing of the others.
        for part in self.parts() {
            let mut input = self.best.input.clone();
            if !part.of(&mut input).is_empty() {
                part.of(&mut input).clear();
                self.attempt(input)?;
            }
        }
        let mut index = 0;
        while index < self.best.input.arguments.len() {
            let mut input = self.best.input.clone();
            input.arguments.remove(index);
            if !self.attempt(input)? {
                index += 1;
            }
        }
        for part in self.parts() {
            self.shrink_part(part)?;
        }
        Ok(())
    }

    /// Leaves out runs of half the length, a quarter, ... of a part.
    fn shrink_part(&mut self, part: Part) -> Result<()> {
        let length = |search: &Self| part.of(&mut search.best.input.clone()).len();
        let mut run = length(self).div_ceil(2);
        while run > 0 {
            let mut at = 0;
            while at < length(self) {
                let mut input = self.best.input.clone();
                let bytes = part.of(&mut input);
                bytes.drain(at..(at + run).min(bytes.len()));
                if !self.attempt(input)? {
                    at += run;
                }
            }
            run /= 2;
        }
        Ok(())
    }

    fn simplify(&mut self) -> Result<()> {
        // Bytes that have to be equal can only be changed together.
        let parts = self.parts();
        let present: BTreeSet<u8> = parts
            .iter()
            .flat_map(|part| part.of(&mut self.best.input.clone()).clone())
            .filter(|byte| !PLAIN.contains(byte))
            .collect();
        for byte in present {
            for plain in PLAIN {
                let mut input = self.best.input.clone();
                for part in &parts {
                    let bytes = part.of(&mut input).iter_mut();
                    bytes.filter(|b| **b == byte).for_each(|b| *b = plain);
                }
                if self.attempt(input)? {
                    break;
                }
            }
        }
        for part in self.parts() {
            for at in 0..part.of(&mut self.best.input.clone()).len() {
                for plain in PLAIN {
                    let mut input = self.best.input.clone();
                    let byte = &mut part.of(&mut input)[at];
                    if *byte == plain {
                        break;
                    }
                    *byte = plain;
                    if self.attempt(input)? {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    fn parts(&self) -> Vec<Part> {
        let input = &self.best.input;
        let arguments = (0..input.arguments.len()).map(Part::Argument);
        let files = (0..input.files.len()).map(Part::File);
        let streams = [Part::Stdin, Part::Marked];
        files.chain(streams).chain(arguments).collect()
    }
}

#[derive(Clone, Copy)]
enum Part {
    Argument(usize),
    Stdin,
    File(usize),
    Marked,
}

impl Part {
    fn of(self, input: &mut Input) -> &mut Vec<u8> {
        match self {
            Part::Argument(index) => &mut input.arguments[index],
            Part::Stdin => &mut input.stdin,
            Part::File(index) => &mut input.files[index],
            Part::Marked => &mut input.marked,
        }
    }
}
