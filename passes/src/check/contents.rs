//! What the product's values and cells hold within one block.
//!
//! A cell that is bound to a value of a version holds it on entry of the block if anybody still needs it; that is
//! what [`super::walk`] verifies on every edge. Everything else is followed instruction by instruction.

use super::body::Cell;
use super::plain::is_local;
use crate::llvm::Value;
use std::collections::{HashMap, HashSet};

/// Something that can be held.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Thing {
    /// What this value of this member is now.
    Own(usize, Value),
    /// A constant or a global.
    Constant(Value),
}

impl Thing {
    /// What member k's `value` is.
    pub(super) fn of(k: usize, value: Value) -> Thing {
        match is_local(value) {
            true => Thing::Own(k, value),
            false => Thing::Constant(value),
        }
    }
}

/// What holds something.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Holder {
    /// A value that the product computes in this block.
    Value(Value),
    Cell(Cell),
    /// A field of what a product call returns.
    Part(Value, u32),
}

/// Cells and the values that they are for.
#[derive(Default)]
pub(super) struct Homes {
    of_cell: HashMap<Cell, (usize, Value)>,
    cell_of: HashMap<(usize, Value), Cell>,
    /// The members' own cells come in the order of the members.
    in_order: std::collections::BTreeMap<Cell, usize>,
}

impl Homes {
    pub(super) fn get(&self, cell: Cell) -> Option<(usize, Value)> {
        self.of_cell.get(&cell).copied()
    }

    pub(super) fn cell(&self, k: usize, value: Value) -> Option<Cell> {
        self.cell_of.get(&(k, value)).copied()
    }

    /// Whether `cell` may turn out to be for member k's `value`.
    pub(super) fn may_bind(&self, cell: Cell, k: usize, value: Value) -> bool {
        let before = self.in_order.range(..cell).next_back();
        let after = self.in_order.range(cell..).next();
        !self.of_cell.contains_key(&cell)
            && !self.cell_of.contains_key(&(k, value))
            && before.is_none_or(|(_, &other)| other <= k)
            && after.is_none_or(|(_, &other)| other >= k)
    }

    pub(super) fn bind(&mut self, cell: Cell, k: usize, value: Value) {
        self.of_cell.insert(cell, (k, value));
        self.cell_of.insert((k, value), cell);
        if cell < super::body::FIRST_RESULT {
            self.in_order.insert(cell, k);
        }
    }
}

/// What is held at a moment.
#[derive(Default)]
pub(super) struct Contents {
    held: HashMap<Holder, Vec<Thing>>,
    holders: HashMap<Thing, Vec<Holder>>,
    /// Values of members that are undefined: anything holds them.
    free: HashSet<(usize, Value)>,
    /// What members have computed since the block began.
    pub(super) defined: HashSet<(usize, Value)>,
    /// The cells that have been written, each with the number of its last write.
    written: HashMap<Cell, usize>,
    writes: usize,
}

impl Contents {
    /// What `cell` holds.
    pub(super) fn of_cell(&self, cell: Cell, homes: &Homes) -> Vec<Thing> {
        match self.held.get(&Holder::Cell(cell)) {
            Some(things) => things.clone(),
            None => homes
                .get(cell)
                .map(|(k, value)| Thing::Own(k, value))
                .into_iter()
                .collect(),
        }
    }

    pub(super) fn of(&self, holder: Holder) -> &[Thing] {
        self.held.get(&holder).map_or(&[], Vec::as_slice)
    }

    /// All that hold a thing, as far as they were looked at or written in this block.
    pub(super) fn holders_of(&self, thing: Thing) -> &[Holder] {
        self.holders.get(&thing).map_or(&[], Vec::as_slice)
    }

    pub(super) fn is_free(&self, k: usize, value: Value) -> bool {
        self.free.contains(&(k, value))
    }

    pub(super) fn is_written(&self, cell: Cell) -> bool {
        self.written.contains_key(&cell)
    }

    /// The cells that have been written, in any order.
    pub(super) fn written(&self) -> impl Iterator<Item = Cell> + '_ {
        self.written.keys().copied()
    }

    /// The cells that have been written, in the order of their last writes.
    pub(super) fn written_in_order(&self) -> Vec<Cell> {
        let mut cells: Vec<Cell> = self.written().collect();
        cells.sort_unstable_by_key(|cell| self.written[cell]);
        cells
    }

    /// `holder` holds `things` from now on.
    pub(super) fn set(&mut self, holder: Holder, things: Vec<Thing>) {
        if let Holder::Cell(cell) = holder {
            self.written.insert(cell, self.writes);
            self.writes += 1;
        }
        self.replace(holder, things);
    }

    fn replace(&mut self, holder: Holder, things: Vec<Thing>) {
        for old in self.held.remove(&holder).unwrap_or_default() {
            if let Some(holders) = self.holders.get_mut(&old) {
                holders.retain(|&other| other != holder);
            }
        }
        for &thing in &things {
            self.holders.entry(thing).or_default().push(holder);
        }
        self.held.insert(holder, things);
    }

    fn add(&mut self, holder: Holder, thing: Thing) {
        let things = self.held.entry(holder).or_default();
        if !things.contains(&thing) {
            things.push(thing);
            self.holders.entry(thing).or_default().push(holder);
        }
    }

    /// Nothing holds member k's `value` any more: it is about to be computed anew.
    pub(super) fn forget(&mut self, k: usize, value: Value, homes: &Homes) {
        self.look_at_home(k, value, homes);
        let thing = Thing::Own(k, value);
        for holder in self.holders.remove(&thing).unwrap_or_default() {
            if let Some(things) = self.held.get_mut(&holder) {
                things.retain(|&other| other != thing);
            }
        }
        self.free.remove(&(k, value));
        self.defined.insert((k, value));
    }

    /// Turns what is known about the cell of a value into an entry of its own.
    fn look_at_home(&mut self, k: usize, value: Value, homes: &Homes) {
        if let Some(cell) = homes.cell(k, value) {
            if !self.held.contains_key(&Holder::Cell(cell)) {
                self.replace(Holder::Cell(cell), vec![Thing::Own(k, value)]);
            }
        }
    }

    /// Values of member k become what others are, all at once; none: undefined.
    pub(super) fn assign(&mut self, k: usize, values: &[(Value, Option<Value>)], homes: &Homes) {
        for &(target, source) in values {
            self.look_at_home(k, target, homes);
            if let Some(source) = source {
                self.look_at_home(k, source, homes);
            }
        }
        let found: Vec<(Value, Option<Vec<Holder>>, bool)> = values
            .iter()
            .map(|&(target, source)| match source {
                None => (target, None, true),
                Some(source) => (
                    target,
                    Some(self.holders_of(Thing::of(k, source)).to_vec()),
                    self.is_free(k, source),
                ),
            })
            .collect();
        for (target, ..) in &found {
            self.forget(k, *target, homes);
        }
        for (target, holders, is_free) in found {
            if is_free {
                self.free.insert((k, target));
            }
            for holder in holders.into_iter().flatten() {
                self.add(holder, Thing::Own(k, target));
            }
        }
    }
}
