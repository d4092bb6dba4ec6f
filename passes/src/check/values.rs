//! What the product's values hold.
//!
//! `holds` decides whether a value of the product is a version's value at some point, by going back: to the
//! copy that computes it, through phis of both sides along the edges by which the point is reached, through
//! what is stored in the frame. Along cycles it is assumed (the largest relation that every edge preserves).
//! With its help everything that the walk took for granted is verified once all states are known.

use super::body::Edge;
use super::plain::{is_local, is_phi, Pos};
use super::walk::{Def, Log, Move, Place, State, Walk, END};
use super::RETURNED;
use crate::llvm::Value;
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// What can be said within one block.
enum Local {
    Yes,
    No,
    /// It holds if this holds on entry of the block.
    OnEntry(Value, Value),
}

type Goal = (u32, Value, usize, Value);

impl Walk<'_> {
    /// Whether `here` is what member k's `there` is, before the moment `time` in `block`. `there` may be the
    /// member's function: its result.
    pub(super) fn holds(&self, block: u32, time: u32, here: Value, k: usize, there: Value) -> bool {
        self.trace(block, time, here, k, there).is_some()
    }

    /// What [`Walk::holds`] rests on; none if it does not hold.
    fn trace(
        &self,
        block: u32,
        time: u32,
        here: Value,
        k: usize,
        there: Value,
    ) -> Option<HashSet<Goal>> {
        let mut seen: HashSet<Goal> = HashSet::new();
        let mut work = vec![];
        match self.locally(block, time, here, k, there) {
            Local::Yes => return Some(seen),
            Local::No => return None,
            Local::OnEntry(here, there) => work.push((block, here, k, there)),
        }
        while let Some(goal) = work.pop() {
            if self.proven.contains(&goal) || !seen.insert(goal) {
                continue;
            }
            let (block, here, k, there) = goal;
            let is_result = there == self.members[k].plain.result();
            let state = self.states[block as usize]
                .as_ref()
                .map(|states| &states[k]);
            if is_result {
                // As long as a version has not returned, anything may stand for its result.
                let returned = match state {
                    Some(State::At(list)) => list.contains(&Pos::RETURNED),
                    _ => true,
                };
                if !returned || block == 0 && self.is_continuation {
                    continue;
                }
            }
            let in_edges = &self.body.blocks[block as usize].in_edges;
            if in_edges.is_empty() {
                return None;
            }
            let label = self.body.label_phi(block, k);
            for &edge in in_edges {
                if !self.contributions.contains_key(&edge) {
                    continue;
                }
                if self.contributions[&edge][k] == State::Ended || self.ends(k, edge) {
                    continue;
                }
                let value = self.body.on_edge(here, edge);
                if let (true, Some(label)) = (is_result, label) {
                    let label = self.body.on_edge(label, edge);
                    if label.is_constant() && label.as_integer() != Some(RETURNED) {
                        continue;
                    }
                }
                let moves = self.moves_on(edge, k);
                if is_result && moves.contains(&Move::Skip) {
                    continue;
                }
                let goal = self.before_moves(k, there, &moves)?;
                match self.locally(edge.from, END, value, k, goal) {
                    Local::Yes => {}
                    Local::No => return None,
                    Local::OnEntry(here, there) => work.push((edge.from, here, k, there)),
                }
            }
        }
        Some(seen)
    }

    /// [`Walk::holds`], remembering what was found.
    fn prove(&mut self, block: u32, time: u32, here: Value, k: usize, there: Value) -> bool {
        match self.trace(block, time, here, k, there) {
            Some(proven) => {
                self.proven.extend(proven);
                true
            }
            None => false,
        }
    }

    /// The steps that member k takes on an edge.
    pub(super) fn moves_on(&self, edge: Edge, k: usize) -> Rc<Vec<Move>> {
        if !self.finished {
            return Rc::new(self.find_moves(edge, k));
        }
        if let Some(known) = self.known_moves.borrow().get(&(edge, k)) {
            return known.clone();
        }
        let found = Rc::new(self.find_moves(edge, k));
        self.known_moves
            .borrow_mut()
            .insert((edge, k), found.clone());
        found
    }

    fn find_moves(&self, edge: Edge, k: usize) -> Vec<Move> {
        let target = self.body.target(edge);
        let Some(log) = self.logs[edge.from as usize].as_ref() else {
            return Vec::new();
        };
        let out = &log.out[k];
        let goal = match self.states[target as usize]
            .as_ref()
            .map(|states| &states[k])
        {
            Some(State::At(list)) => self.chosen(target, k, list),
            Some(State::Suspended { .. }) => {
                let number = self
                    .body
                    .label_phi(target, k)
                    .map(|phi| self.body.on_edge(phi, edge))
                    .filter(|label| label.is_constant())
                    .and_then(Value::as_integer);
                match number {
                    Some(RETURNED) => Pos::RETURNED,
                    Some(number) => match self.goes_on_at(k, number) {
                        Some(pos) => pos,
                        None => return Vec::new(),
                    },
                    None => return Vec::new(),
                }
            }
            Some(State::Ended) | None => return Vec::new(),
        };
        if self.body.blocks[target as usize].in_edges.len() == 1
            && self.body.label_phi(target, k).is_none()
        {
            return Vec::new();
        }
        let starts = match out {
            State::At(list) if !log.moved[k] => vec![self.chosen(edge.from, k, list)],
            State::At(list) => list.clone(),
            State::Ended => Vec::new(),
            State::Suspended { .. } => {
                let list = self
                    .positions(k, out, Place::Edge(edge))
                    .unwrap_or_default();
                let good = |pos: &Pos| !self.is_about_to_enter(edge.from, k, *pos);
                let kept: Vec<Pos> = list.iter().copied().filter(good).collect();
                if kept.is_empty() {
                    list
                } else {
                    kept
                }
            }
        };
        let steps = self
            .steps
            .get(&(edge, k))
            .map(Vec::as_slice)
            .unwrap_or_default();
        let path_from = |start: Pos| {
            let mut moves = Vec::new();
            let mut pos = start;
            while pos != goal && moves.len() <= steps.len() {
                let (_, next, step) = steps.iter().find(|(from, ..)| *from == pos)?;
                moves.push(*step);
                pos = *next;
            }
            (pos == goal).then_some(moves)
        };
        let found = starts.into_iter().rev().find_map(path_from);
        found.unwrap_or_default()
    }

    /// Which of its positions a version has on entry of a block: the last one at which the frame holds already
    /// what the blocks entered on the way compute in their phis.
    pub(super) fn chosen(&self, block: u32, k: usize, list: &[Pos]) -> Pos {
        if list.len() == 1 {
            return list[0];
        }
        let candidates = || list.iter().rev().copied();
        candidates()
            .filter(|&pos| pos != Pos::RETURNED)
            .filter(|&pos| !self.is_about_to_enter(block, k, pos))
            .find(|&pos| self.has_arrived(block, k, pos))
            .or(candidates().last())
            .unwrap_or(Pos::RETURNED)
    }

    /// Whether `block` stores what phis hold at `pos`: then the version has not come there yet.
    fn is_about_to_enter(&self, block: u32, k: usize, pos: Pos) -> bool {
        let plain = &self.members[k].plain;
        let (Some(log), Some(entered)) = (
            self.logs[block as usize].as_ref(),
            plain.blocks.get(pos.block as usize),
        ) else {
            return false;
        };
        self.is_continuation
            && pos.index == 0
            && entered.phis.iter().any(|&phi| {
                let field = self.tables.fields_of.get(&(k, phi));
                field.is_some_and(|field| log.stores.contains_key(field))
                    && !log.defs.contains_key(&(k, phi))
            })
    }

    /// Whether what member k's phis hold at `pos` has been stored on all edges to `block`.
    fn has_arrived(&self, block: u32, k: usize, pos: Pos) -> bool {
        let in_edges = &self.body.blocks[block as usize].in_edges;
        !self.is_continuation
            || in_edges.iter().all(|edge| {
                let (Some(steps), Some(log)) = (
                    self.steps.get(&(*edge, k)),
                    self.logs[edge.from as usize].as_ref(),
                ) else {
                    return true;
                };
                // What a number says is looked at where the number is given.
                let terminator = self.body.blocks[edge.from as usize].terminator;
                let is_dispatch = terminator.opcode() == LLVMOpcode::LLVMSwitch;
                if is_dispatch && !matches!(log.out[k], State::At(_)) {
                    return true;
                }
                // The steps of an edge follow one another; those up to `pos` have been taken.
                let taken = steps
                    .iter()
                    .position(|(from, ..)| *from == pos)
                    .unwrap_or(steps.len());
                steps[..taken].iter().all(|(.., step)| {
                    let Move::Along(_, to) = step else {
                        return true;
                    };
                    let phis = &self.members[k].plain.blocks[*to as usize].phis;
                    phis.iter()
                        .all(|&phi| match self.tables.fields_of.get(&(k, phi)) {
                            Some(field) => log.stores.contains_key(field),
                            None => true,
                        })
                })
            })
    }

    fn locally(&self, block: u32, time: u32, here: Value, k: usize, there: Value) -> Local {
        let (mut here, mut there, mut time) = (here, there, time);
        let plain = &self.members[k].plain;
        let answer = |yes: bool| if yes { Local::Yes } else { Local::No };
        if let Some([copy]) = self.copies.get(&(k, there)).map(Vec::as_slice) {
            if is_copy(here, *copy) {
                return Local::Yes;
            }
        }
        let Some(log) = self.logs[block as usize].as_ref() else {
            return Local::OnEntry(here, there);
        };
        loop {
            let is_result = there == plain.result();
            if !is_result && !is_local(there) {
                return answer(here == there || there.is_undefined());
            }
            if self.fixed.get(&here) == Some(&(k, there)) {
                return Local::Yes;
            }
            // What the frame was given in this block is what it gives back.
            let position = self.position_in(block, here);
            if let (Some(ord), Some(field)) = (position, self.field_loaded(here)) {
                if let Some(stored) = stored_before(log, field, ord) {
                    here = stored;
                    continue;
                }
            }
            let def = log
                .defs
                .get(&(k, there))
                .and_then(|defs| defs.iter().rev().find(|(ord, _)| *ord < time));
            match def {
                Some(&(_, def @ Def::Copy(..))) => return answer(is_copy(here, def)),
                Some(&(_, Def::Anything)) => return Local::Yes,
                Some(&(ord, Def::Phi(from))) => match plain.incoming(there, from) {
                    Some(value) => (there, time) = (value, ord),
                    None => return Local::No,
                },
                Some(&(ord, Def::Return(from))) => {
                    match plain.blocks[from as usize].terminator.operand(0) {
                        Some(value) => (there, time) = (value, ord),
                        None => return Local::Yes,
                    }
                }
                None => break,
            }
        }
        match position_kind(self, block, here) {
            Kind::Loaded(field) => {
                if there == plain.result() {
                    return Local::No;
                }
                let mut homes = self.tables.homes.borrow_mut();
                match homes.get(&field) {
                    Some(home) => answer(*home == (k, there)),
                    // A value has one field.
                    None if self.may_bind.get()
                        && !self.tables.bound.borrow().contains(&(k, there)) =>
                    {
                        homes.insert(field, (k, there));
                        self.tables.bound.borrow_mut().insert((k, there));
                        Local::Yes
                    }
                    None => Local::No,
                }
            }
            Kind::Computed => Local::No,
            Kind::Before => Local::OnEntry(here, there),
        }
    }

    /// When a value is computed, if that is in `block` and not by a phi.
    fn position_in(&self, block: u32, value: Value) -> Option<u32> {
        let here = self.body.block_of.get(&value) == Some(&block) && !is_phi(value);
        here.then(|| self.ord.get(&value).copied()).flatten()
    }

    /// Verifies all values, now that all states are known.
    pub(super) fn verify_values(&mut self) -> Result<(), String> {
        for block in 0..self.body.blocks.len() as u32 {
            let Some(log) = self.logs[block as usize].take() else {
                continue;
            };
            let mut wanted = Vec::new();
            for execution in &log.executions {
                for &(here, there) in &execution.operands {
                    wanted.push((execution.ord, here, execution.k, there, execution.copy));
                }
            }
            let returns: Vec<(usize, Value)> = log.returns.clone();
            self.logs[block as usize] = Some(log);
            for (ord, here, k, there, copy) in wanted {
                if !self.prove(block, ord, here, k, there) {
                    return Err(format!(
                        "operand `{}` of `{}` is not version {}'s `{}`",
                        short(here),
                        copy.print().trim(),
                        self.members[k].version + 1,
                        short(there)
                    ));
                }
            }
            for (k, here) in returns {
                let result = self.members[k].plain.result();
                if !self.prove(block, END, here, k, result) {
                    return Err(format!(
                        "`{}` is not the result of version {}",
                        short(here),
                        self.members[k].version + 1
                    ));
                }
            }
            if self.is_continuation {
                self.verify_fields(block)?;
            }
        }
        Ok(())
    }

    /// Every field holds its value again at the end of a block, as far as somebody needs it.
    fn verify_fields(&mut self, block: u32) -> Result<(), String> {
        let Some(log) = self.logs[block as usize].as_ref() else {
            return Ok(());
        };
        for successor in 0..self.body.blocks[block as usize].successors.len() as u32 {
            let edge = Edge {
                from: block,
                successor,
            };
            if !self.contributions.contains_key(&edge) {
                continue;
            }
            let mut wanted: Vec<(u32, usize, Value)> = Vec::new();
            for &field in log.stores.keys() {
                if let Some(&(k, value)) = self.tables.homes.borrow().get(&field) {
                    wanted.push((field, k, value));
                }
            }
            let all_moves: Vec<Rc<Vec<Move>>> = (0..self.members.len())
                .map(|k| self.moves_on(edge, k))
                .collect();
            let fields = &self.tables.fields_of;
            let changed = log.defs.keys().copied();
            let entered = all_moves.iter().enumerate().flat_map(|(k, moves)| {
                let plain = &self.members[k].plain;
                moves.iter().flat_map(move |step| {
                    let phis: &[Value] = match step {
                        Move::Along(_, to) => &plain.blocks[*to as usize].phis,
                        _ => &[],
                    };
                    phis.iter().map(move |&phi| (k, phi))
                })
            });
            for (k, value) in changed.chain(entered) {
                if let Some(&field) = fields.get(&(k, value)) {
                    wanted.push((field, k, value));
                }
            }
            wanted.sort_by_key(|w| w.0);
            wanted.dedup();
            for (field, k, value) in wanted {
                if self.contributions[&edge][k] == State::Ended || self.ends(k, edge) {
                    continue;
                }
                let target = self.body.target(edge);
                let is_needed = match &self.position_after(edge, target, k) {
                    Some(pos) => self.members[k].plain.is_live(value, *pos),
                    None => true,
                };
                if !is_needed {
                    continue;
                }
                let goal = self.before_moves(k, value, &all_moves[k]);
                let good = match (stored_before(log, field, END), goal) {
                    (Some(here), Some(goal)) => self.holds(block, END, here, k, goal),
                    // Not stored: good if the value is still what it was.
                    (None, Some(goal)) => goal == value && !log.defs.contains_key(&(k, value)),
                    _ => false,
                };
                if !good {
                    return Err(format!(
                        "the frame does not hold version {}'s `{}` where it goes on",
                        self.members[k].version + 1,
                        short(value)
                    ));
                }
            }
        }
        Ok(())
    }

    /// Where member k stands behind an edge.
    fn position_after(&self, edge: Edge, target: u32, k: usize) -> Option<Pos> {
        let in_edges = self.body.blocks[target as usize].in_edges.len();
        let label = self
            .body
            .label_phi(target, k)
            .map(|phi| self.body.on_edge(phi, edge));
        if let Some(label) = label {
            let number = label.is_constant().then(|| label.as_integer()).flatten()?;
            return match number {
                RETURNED => Some(Pos::RETURNED),
                _ => self.goes_on_at(k, number),
            };
        }
        match self.states[target as usize]
            .as_ref()
            .map(|states| &states[k])
        {
            Some(State::At(list)) if in_edges == 1 => list.first().copied(),
            Some(State::At(list)) => Some(self.chosen(target, k, list)),
            _ => None,
        }
    }

    /// Finds out for numbers that stand for several positions whose branch conditions are handed over.
    pub(super) fn look_at_departures(&mut self) {
        let mut found = Vec::new();
        for block in 0..self.body.blocks.len() as u32 {
            let Some(log) = self.logs[block as usize].as_ref() else {
                continue;
            };
            let Some(label) = log.departure.and_then(|(call, _)| call.operand(1)) else {
                continue;
            };
            let edges: Vec<Option<Edge>> = match self.body.block_of.get(&label) {
                Some(&at) if is_phi(label) => {
                    let all = self.body.blocks[at as usize].in_edges.iter();
                    all.map(|&edge| Some(edge)).collect()
                }
                _ => vec![None],
            };
            for edge in edges {
                let on_edge = |value| edge.map_or(value, |edge| self.body.on_edge(value, edge));
                let end = edge.map_or(block, |edge| edge.from);
                let label = on_edge(label);
                let Some(number) = label.is_constant().then(|| label.as_integer()).flatten() else {
                    continue;
                };
                for (k, member) in self.members.iter().enumerate() {
                    let Some(list) = self.tables.labels[k].get(&number) else {
                        continue;
                    };
                    for &pos in list.iter().filter(|_| list.len() > 1) {
                        let terminator = member.plain.at_end(pos).map(|block| block.terminator);
                        let condition = terminator
                            .filter(|terminator| terminator.successors().len() > 1)
                            .and_then(|terminator| terminator.operand(0));
                        let Some(condition) = condition else {
                            continue;
                        };
                        for (&field, stores) in &log.stores {
                            let handed = stores.last().map(|&(_, value)| on_edge(value));
                            let same = handed.is_some_and(|value| {
                                value.ty() == condition.ty()
                                    && self.holds(end, END, value, k, condition)
                            });
                            if same {
                                found.push(((k, number, field), pos));
                            }
                        }
                    }
                }
            }
        }
        self.tables.handed_over.extend(found);
    }

    /// Tells the lock-step function where the continuation goes on.
    pub(super) fn remember_resumptions(&mut self) {
        let mut found = HashMap::new();
        for (k, labels) in self.tables.labels.iter().enumerate() {
            for &number in labels.keys() {
                found.extend(self.goes_on_at(k, number).map(|pos| ((k, number), pos)));
            }
        }
        self.tables.resumed = found;
    }

    /// The lock-step function hands over all that the continuation reads.
    pub(super) fn verify_departures(&mut self) -> Result<(), String> {
        for block in 0..self.body.blocks.len() as u32 {
            let Some(log) = self.logs[block as usize].as_ref() else {
                continue;
            };
            let Some((call, ord)) = log.departure else {
                continue;
            };
            let Some(label) = call.operand(1) else {
                continue;
            };
            if label.is_constant() {
                self.verify_departure(block, call, ord, None, label)?;
                continue;
            }
            let Some(&at) = self.body.block_of.get(&label).filter(|_| is_phi(label)) else {
                return Err(format!(
                    "`{}` says nowhere where to go on",
                    call.print().trim()
                ));
            };
            for edge in self.body.blocks[at as usize].in_edges.clone() {
                if self.contributions.contains_key(&edge) {
                    let number = self.body.on_edge(label, edge);
                    self.verify_departure(block, call, ord, Some(edge), number)?;
                }
            }
        }
        Ok(())
    }

    fn verify_departure(
        &self,
        block: u32,
        call: Value,
        ord: u32,
        edge: Option<Edge>,
        label: Value,
    ) -> Result<(), String> {
        let Some(log) = self.logs[block as usize].as_ref() else {
            return Ok(());
        };
        let number = label
            .is_constant()
            .then(|| label.as_integer())
            .flatten()
            .ok_or_else(|| format!("`{}` says nowhere where to go on", call.print().trim()))?;
        for k in 0..self.members.len() {
            let plain = &self.members[k].plain;
            let Some(pos) = self.goes_on_at(k, number) else {
                return Err(format!("number {number} stands for no place"));
            };
            if edge.is_none() {
                let state = &log.out[k];
                let place = match log.moved[k] {
                    true => Place::Unknowing,
                    false => Place::Block(block),
                };
                if !self.chain(k, state, place).contains(&pos) {
                    return Err(format!(
                        "number {number} is not where version {} stands",
                        k + 1
                    ));
                }
            }
            for value in plain.live_at(pos) {
                let Some(field) = self.tables.fields_of.get(&(k, value)) else {
                    continue;
                };
                let stored = stored_before(log, *field, ord);
                let good = stored.is_some_and(|here| match edge {
                    None => self.holds(block, ord, here, k, value),
                    Some(edge) => {
                        let moves = self.moves_on(edge, k);
                        let here = self.body.on_edge(here, edge);
                        self.before_moves(k, value, &moves)
                            .is_some_and(|goal| self.holds(edge.from, END, here, k, goal))
                    }
                });
                if !good {
                    return Err(format!(
                        "version {}'s `{}` is not handed over at number {number}",
                        self.members[k].version + 1,
                        short(value)
                    ));
                }
            }
        }
        Ok(())
    }
}

enum Kind {
    Loaded(u32),
    Computed,
    Before,
}

fn position_kind(walk: &Walk, block: u32, value: Value) -> Kind {
    let is_here = walk.body.block_of.get(&value) == Some(&block);
    match walk.field_loaded(value) {
        Some(field) if is_here => Kind::Loaded(field),
        _ if is_here && !is_phi(value) => Kind::Computed,
        _ => Kind::Before,
    }
}

fn stored_before(log: &Log, field: u32, time: u32) -> Option<Value> {
    let stores = log.stores.get(&field)?;
    stores
        .iter()
        .rev()
        .find(|(ord, _)| *ord < time)
        .map(|s| s.1)
}

/// Whether `value` is what a copy computes.
fn is_copy(value: Value, def: Def) -> bool {
    match def {
        Def::Copy(copy, None) => value == copy,
        Def::Copy(copy, Some(field)) => {
            value.is_instruction()
                && value.opcode() == LLVMOpcode::LLVMExtractValue
                && value.operand(0) == Some(copy)
                && value.indices() == [field]
        }
        _ => false,
    }
}

fn short(value: Value) -> String {
    let text = value.print();
    let text = text.trim();
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text.to_string(),
    }
}
