//! Walks a product function and its versions' plain functions side by side.
//!
//! Every block of the product function gets a state that says where each version stands. Within a block every
//! instruction is a copy of the next instruction of one version, a call that stands for the next calls of several,
//! or glue. Versions follow their branches only where what the product has branched on decides them.
//!
//! [`Walk::walk`] finds the states, what cells are for and what numbers mean; it may guess. [`Walk::verify`] then
//! shows that all of it is true whenever a block is entered: true at the entry, and kept by every block and edge.

use super::body::{is_load, Body, Cell, Control, Edge};
use super::contents::{Contents, Holder, Homes, Thing};
use super::facts::{Facts, Known};
use super::plain::{is_local, Plain, Pos};
use super::state::{State, Suspended};
use super::{tested_flag, Tables, GLUE_CALLS, RETURNED};
use crate::llvm::{Types, Value};
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::{BTreeSet, HashMap, HashSet};

/// One version's function in a product function.
pub(super) struct Member {
    pub(super) version: usize,
    pub(super) plain: Plain,
    /// Where the result stands among the product's results.
    pub(super) result: Option<u32>,
}

/// A member gets a number.
struct Stop {
    number: u64,
    list: Vec<Pos>,
    /// The number of the meeting point, if this is one.
    meeting: Option<u64>,
}

/// What happens in a block.
#[derive(Default)]
pub(super) struct Log {
    contents: Contents,
    /// Per member: whether it has done anything.
    moved: Vec<bool>,
    /// Per member: the block of its function whose instruction came last.
    last_block: Vec<Option<u32>>,
    /// Per member: how it stopped.
    stopped: Vec<Option<Stop>>,
    /// Loads of controls that have not been changed since.
    numbers: HashMap<Value, Control>,
    changed: HashSet<Control>,
    departure: Option<Value>,
    /// What was stored in a frame for the continuation.
    spilled: HashMap<Cell, Value>,
    out: Vec<State>,
}

/// What the numbers of one member stand for.
#[derive(Default)]
pub(super) struct Numbers {
    /// Where it goes on.
    labels: HashMap<u64, Vec<Pos>>,
    /// Where it meets the others.
    meetings: HashMap<u64, Vec<Pos>>,
}

pub(super) struct Walk<'a> {
    pub(super) members: &'a [Member],
    body: Body,
    pub(super) tables: &'a Tables,
    is_continuation: bool,
    pub(super) homes: Homes,
    pub(super) numbers: Vec<Numbers>,
    states: Vec<Option<Vec<State>>>,
    contributions: HashMap<Edge, Vec<State>>,
    logs: Vec<Option<Log>>,
    /// Arguments and static allocas of the lock-step function.
    fixed: HashMap<Value, (usize, Value)>,
    active: Vec<Value>,
    /// Whether it is known what cells are for.
    bound: bool,
    /// Whether everything has been found and is verified now.
    verifying: bool,
    ranks: Vec<u32>,
    work: BTreeSet<(u32, u32)>,
    new_numbers: bool,
    /// Numbers that are the only ones a member may have: member, numbers, whether of meetings.
    demanded: Vec<(usize, HashSet<u64>, bool)>,
    truth: [Value; 2],
}

type Checked<T> = Result<T, String>;

/// A product call's result field and the values that stand for the call's operands.
type ProductCall = (Option<u32>, Vec<(Value, Value)>);

impl<'a> Walk<'a> {
    pub(super) fn new(
        members: &'a [Member],
        body: Body,
        tables: &'a Tables,
        is_continuation: bool,
    ) -> Checked<Walk<'a>> {
        let count = body.blocks.len();
        let types = Types::of_function(body.function);
        let ranks = body.ranks();
        let mut walk = Walk {
            members,
            body,
            tables,
            is_continuation,
            homes: Homes::default(),
            numbers: members.iter().map(|_| Numbers::default()).collect(),
            states: vec![None; count],
            contributions: HashMap::new(),
            logs: (0..count).map(|_| None).collect(),
            fixed: HashMap::new(),
            active: Vec::new(),
            bound: false,
            verifying: false,
            ranks,
            work: BTreeSet::new(),
            new_numbers: false,
            demanded: Vec::new(),
            truth: [types.constant(1, 0), types.constant(1, 1)],
        };
        match is_continuation {
            true => walk.bind_results(),
            false => walk.read_entry()?,
        }
        Ok(walk)
    }

    /// The parameters of the lock-step function are the activation variables and the members' arguments, the
    /// allocas at its entry the members' in order.
    fn read_entry(&mut self) -> Checked<()> {
        let mut parameters = self.body.function.parameters().into_iter();
        self.active = parameters.by_ref().take(self.members.len()).collect();
        let mut wanted = Vec::new();
        for (k, member) in self.members.iter().enumerate() {
            for argument in member.plain.function.parameters() {
                if let Some(parameter) = parameters.next() {
                    self.fixed.insert(parameter, (k, argument));
                }
            }
            wanted.extend(member.plain.static_allocas.iter().map(|&a| (k, a)));
        }
        let mut wanted = wanted.into_iter();
        for &instruction in &self.body.blocks[0].body {
            let is_own = self.body.cells.contains_key(&instruction)
                || self.body.controls.contains_key(&instruction)
                || instruction.opcode() != LLVMOpcode::LLVMAlloca
                // Not used where versions never leave lock-step.
                || !instruction.has_uses() && instruction.name().starts_with(b"st");
            if is_own {
                continue;
            }
            let (k, alloca) = wanted
                .next()
                .ok_or_else(|| format!("{} belongs to no version", quoted(instruction)))?;
            if !instruction.is_same_operation(alloca) || instruction.operand(0) != alloca.operand(0)
            {
                return Err(format!(
                    "{} stands for {}",
                    quoted(instruction),
                    quoted(alloca)
                ));
            }
            self.fixed.insert(instruction, (k, alloca));
        }
        match wanted.next() {
            Some((_, alloca)) => Err(format!("{} is missing", quoted(alloca))),
            None => Ok(()),
        }
    }

    /// Results are in the cells that the continuation returns.
    fn bind_results(&mut self) {
        for block in &self.body.blocks {
            let returned = match block.terminator.opcode() {
                LLVMOpcode::LLVMRet => block.terminator.operand(0),
                _ => None,
            };
            let Some(all) = returned else {
                continue;
            };
            for (k, member) in self.members.iter().enumerate() {
                let value = member.result.map(|field| field_of(all, field));
                let address = value.filter(|&v| is_load(v)).and_then(|v| v.operand(0));
                let cell = address.and_then(|address| self.body.cells.get(&address));
                if let Some(&cell) = cell {
                    let result = member.plain.result();
                    if self.homes.get(cell).is_none() && self.homes.cell(k, result).is_none() {
                        self.homes.bind(cell, k, result);
                    }
                }
            }
        }
    }

    // Finding out.

    /// Finds out once more where the versions stand, now that it is known what cells are for.
    pub(super) fn walk_again(&mut self) -> Checked<()> {
        self.bound = true;
        self.states.fill(None);
        self.contributions.clear();
        self.logs.iter_mut().for_each(|log| *log = None);
        self.walk()
    }

    /// Finds out where the versions stand everywhere.
    pub(super) fn walk(&mut self) -> Checked<()> {
        let start = (0..self.members.len())
            .map(|_| match self.is_continuation {
                false => State::at(vec![Pos::GUARD]),
                true => State::Suspended(Suspended {
                    returned: false,
                    open: true,
                    met: false,
                    numbers: BTreeSet::new(),
                }),
            })
            .collect();
        self.states[0] = Some(start);
        self.push(0);
        let mut rounds = 0usize;
        let limit = 64 * (self.body.blocks.len() + 16);
        loop {
            while let Some((_, block)) = self.work.pop_first() {
                rounds += 1;
                if rounds > limit {
                    return Err("the versions' positions do not settle".into());
                }
                self.logs[block as usize] = Some(self.run(block)?);
                for edge in self.out_edges(block) {
                    self.follow(edge)?;
                }
            }
            if !std::mem::take(&mut self.new_numbers) {
                return Ok(());
            }
            // What goes on at numbers can be walked on now.
            for block in 0..self.body.blocks.len() as u32 {
                let terminator = self.body.blocks[block as usize].terminator;
                let on_number = terminator.opcode() == LLVMOpcode::LLVMSwitch
                    && self.logs[block as usize].is_some()
                    && terminator.operand(0).is_some_and(is_load);
                if on_number {
                    for edge in self.out_edges(block) {
                        self.follow(edge)?;
                    }
                }
            }
        }
    }

    fn push(&mut self, block: u32) {
        self.work.insert((self.ranks[block as usize], block));
    }

    fn out_edges(&self, block: u32) -> Vec<Edge> {
        let successors = self.body.blocks[block as usize].successors.len();
        (0..successors as u32)
            .map(|successor| Edge {
                from: block,
                successor,
            })
            .collect()
    }

    /// Carries the states along an edge.
    fn follow(&mut self, edge: Edge) -> Checked<()> {
        let Some(arriving) = self.arriving(edge)? else {
            return Ok(());
        };
        let target = self.body.target(edge);
        let before = self.contributions.insert(edge, arriving.clone());
        if before.as_ref() == Some(&arriving) {
            return Ok(());
        }
        let joined = match (&before, &self.states[target as usize]) {
            (None, Some(known)) => self.join(known, &arriving, target)?,
            _ => {
                let mut joined: Option<Vec<State>> = None;
                for in_edge in &self.body.blocks[target as usize].in_edges {
                    if let Some(states) = self.contributions.get(in_edge) {
                        joined = Some(match joined {
                            None => states.clone(),
                            Some(before) => self.join(&before, states, target)?,
                        });
                    }
                }
                joined.unwrap_or(arriving)
            }
        };
        if self.states[target as usize].as_ref() != Some(&joined) {
            self.states[target as usize] = Some(joined);
            self.push(target);
        }
        Ok(())
    }

    fn join(&self, a: &[State], b: &[State], target: u32) -> Checked<Vec<State>> {
        let pairs = a.iter().zip(b).enumerate();
        pairs
            .map(|(k, (a, b))| {
                a.join(b).ok_or_else(|| {
                    format!(
                        "version {} comes to {} in two ways: {} and {}",
                        self.members[k].version + 1,
                        self.describe_block(target),
                        self.describe(k, a),
                        self.describe(k, b)
                    )
                })
            })
            .collect()
    }

    // What edges say.

    /// The states behind an edge; none if it is never taken.
    fn arriving(&mut self, edge: Edge) -> Checked<Option<Vec<State>>> {
        if self.is_dead(edge) {
            return Ok(None);
        }
        let mut all = Vec::new();
        for k in 0..self.members.len() {
            match self.arriving_member(edge, k)? {
                Some(state) => all.push(state),
                None => return Ok(None),
            }
        }
        Ok(Some(all))
    }

    /// Whether an edge is not taken because the condition is a constant.
    fn is_dead(&self, edge: Edge) -> bool {
        let block = &self.body.blocks[edge.from as usize];
        let is_conditional = block.terminator.opcode() == LLVMOpcode::LLVMSwitch
            || block.terminator.opcode() == LLVMOpcode::LLVMBr && block.successors.len() == 2;
        let condition = block.terminator.operand(0).filter(|_| is_conditional);
        let known = condition
            .filter(|condition| condition.is_constant() && condition.as_integer().is_some());
        let Some(condition) = known else {
            return false;
        };
        let taken = match block.terminator.opcode() {
            LLVMOpcode::LLVMBr => u32::from(condition == self.truth[0]),
            _ => {
                let cases = block.terminator.case_values();
                let case = cases.iter().position(|&case| case == condition);
                case.map_or(0, |case| case as u32 + 1)
            }
        };
        taken != edge.successor
    }

    /// Whether an edge is taken only if member k's version has ended, as glue has found out.
    fn ends(&self, k: usize, edge: Edge) -> bool {
        let block = &self.body.blocks[edge.from as usize];
        let condition = block.terminator.operand(0).filter(|&condition| {
            block.terminator.opcode() == LLVMOpcode::LLVMBr
                && block.successors.len() == 2
                && condition.is_instruction()
                && condition.operand(0).is_some_and(is_flag_of_glue)
        });
        condition
            .and_then(tested_flag)
            .is_some_and(|(version, has_ended)| {
                version == self.members[k].version && has_ended == (edge.successor == 0)
            })
    }

    fn arriving_member(&mut self, edge: Edge, k: usize) -> Checked<Option<State>> {
        let Some(log) = self.logs[edge.from as usize].as_ref() else {
            return Ok(None);
        };
        match log.out[k].clone() {
            State::At { .. } | State::Suspended(_) if self.ends(k, edge) => Ok(Some(State::Ended)),
            State::At { list, results } => match self.closure(edge, k, list, results) {
                Some(State::At { list, results }) => Ok(Some(State::At {
                    list: self.kept_positions(k, &list, log)?,
                    results,
                })),
                other => Ok(other),
            },
            State::Suspended(suspended) => Ok(self.arriving_suspended(edge, k, suspended)),
            state => Ok(Some(state)),
        }
    }

    /// Adds the positions that branches lead to; none if what has been branched on contradicts itself.
    fn closure(
        &self,
        edge: Edge,
        k: usize,
        list: Vec<Pos>,
        results: HashSet<Value>,
    ) -> Option<State> {
        let plain = &self.members[k].plain;
        let mut list = list;
        let mut facts = None;
        let mut at = 0;
        while at < list.len() {
            let pos = list[at];
            at += 1;
            let gather = || {
                let moved = |block: u32| {
                    self.logs[block as usize]
                        .as_ref()
                        .is_some_and(|l| l.moved[k])
                };
                Facts::gather(&self.body, Some(edge), self.truth, moved)
            };
            if let Some(alive) = plain.behind_alive_test(pos, self.members[k].version) {
                if self.body.shows_all_alive(edge) {
                    push_new(&mut list, plain.entering(pos.block, alive));
                }
                continue;
            }
            if pos == Pos::GUARD {
                match self.is_active(k, facts.get_or_insert_with(gather)) {
                    Some(true) => push_new(&mut list, plain.start(0)),
                    Some(false) => return Some(State::Inactive),
                    None => {}
                }
                continue;
            }
            let Some(block) = plain.at_end(pos) else {
                continue;
            };
            let condition = block.terminator.operand(0);
            let Some(condition) = condition.filter(|_| block.successors.len() > 1) else {
                continue;
            };
            let facts = facts.get_or_insert_with(gather);
            let known = facts.known(self.truth, |value, _| {
                self.stood_for(facts, value, k, condition)
            });
            if matches!(known, Some(Known::Never)) {
                return None;
            }
            let target =
                known.and_then(|known| decide(block.terminator, &block.successors, &known));
            if let Some(target) = target {
                push_new(&mut list, plain.entering(pos.block, target));
            }
        }
        // What phis select of the results is a result, too.
        let target = self.body.target(edge);
        let from = self.body.blocks[edge.from as usize].block;
        let mut all = results.clone();
        for &phi in &self.body.blocks[target as usize].phis {
            let selected = phi.incoming_from(from);
            if selected.is_some_and(|value| results.contains(&value)) {
                all.insert(phi);
            }
        }
        Some(State::At { list, results: all })
    }

    /// Whether member k is called, if that has been found out.
    fn is_active(&self, k: usize, facts: &Facts) -> Option<bool> {
        let active = self.active[k];
        let tests_flag =
            |value: &Value| tested_flag(*value).is_some_and(|f| f.0 == self.members[k].version);
        facts.is.iter().find_map(|&(value, truth, _)| {
            let holds = truth == self.truth[1];
            // Not active, or ended.
            let is_either = value.is_instruction()
                && value.opcode() == LLVMOpcode::LLVMAnd
                && value.operands().contains(&active)
                && value.operands().iter().any(tests_flag);
            (value == active || is_either && !holds).then_some(holds)
        })
    }

    /// Whether a value that the product has branched on was member k's `goal`.
    fn stood_for(&self, facts: &Facts, value: Value, k: usize, goal: Value) -> bool {
        if !is_local(goal) {
            return value == goal;
        }
        if let Some(&fixed) = self.fixed.get(&value) {
            return fixed == (k, goal);
        }
        let at = self.body.block_of.get(&value);
        at.filter(|at| facts.blocks.contains(at))
            .and_then(|&at| self.logs[at as usize].as_ref())
            .is_some_and(|log| {
                let things = log.contents.of(Holder::Value(value));
                things.contains(&Thing::Own(k, goal))
            })
    }

    /// What the branches up to `edge` say about a control, as it is there.
    fn control_facts(&self, edge: Option<Edge>, control: Control) -> Facts {
        Facts::gather(&self.body, edge, self.truth, |block| {
            let log = self.logs[block as usize].as_ref();
            log.is_none_or(|log| log.changed.contains(&control))
        })
    }

    /// Whether `value` is a control as it was when the facts were found.
    fn is_number(&self, facts: &Facts, value: Value, control: Control) -> bool {
        let at = self.body.block_of.get(&value);
        at.filter(|at| facts.blocks.contains(at))
            .and_then(|&at| self.logs[at as usize].as_ref())
            .is_some_and(|log| log.numbers.get(&value) == Some(&control))
    }

    fn arriving_suspended(&mut self, edge: Edge, k: usize, suspended: Suspended) -> Option<State> {
        let mut suspended = suspended;
        let block = &self.body.blocks[edge.from as usize];
        let is_branch = block.successors.len() > 1;
        if !is_branch {
            return Some(State::Suspended(suspended));
        }
        let terminator = block.terminator;
        let switched = terminator
            .operand(0)
            .filter(|_| terminator.opcode() == LLVMOpcode::LLVMSwitch);
        let cases = || -> HashSet<u64> {
            let cases = terminator.case_values().into_iter();
            cases.filter_map(Value::as_integer).collect()
        };

        let control = Control::Resume(k);
        let facts = self.control_facts(Some(edge), control);
        let is_mine = |value: Value| self.is_number(&facts, value, control);
        match facts.known(self.truth, |value, _| is_mine(value)) {
            Some(Known::Is(number)) => {
                return match number.as_integer() {
                    Some(RETURNED) => suspended.returned.then(|| State::at(vec![Pos::RETURNED])),
                    Some(number) if suspended.open => {
                        let list = self.numbers[k].labels.get(&number)?;
                        Some(State::at(list.clone()))
                    }
                    _ => None,
                };
            }
            Some(Known::Never) => return None,
            Some(Known::IsNot(_)) | None => {}
        }
        let has_not_returned = facts.same.iter().any(|&(a, b, same, _)| {
            let pair = |a: Value, b: Value| {
                is_mine(a) && b.is_constant() && b.as_integer() == Some(RETURNED)
            };
            !same && (pair(a, b) || pair(b, a))
        });
        let is_default = edge.successor == 0 && switched.is_some_and(is_mine);
        suspended.returned &= !has_not_returned;
        if is_default {
            if self.verifying {
                self.demanded.push((k, cases(), false));
            }
            suspended.open = false;
            suspended.met = true;
        }
        if !suspended.returned && !suspended.open {
            return None;
        }
        let is_known = suspended.met && !suspended.returned;
        let control = Control::Stop;
        let on_stop = switched.filter(|_| is_known).is_some_and(|value| {
            let facts = self.control_facts(Some(edge), control);
            self.is_number(&facts, value, control)
        });
        if on_stop {
            if edge.successor == 0 {
                if self.verifying {
                    self.demanded.push((k, cases(), true));
                }
                return None;
            }
            let number = terminator.case_values()[edge.successor as usize - 1].as_integer()?;
            let list = self.numbers[k].meetings.get(&number)?;
            return Some(State::at(list.clone()));
        }
        Some(State::Suspended(suspended))
    }

    // Within blocks.

    /// Goes through a block.
    fn run(&mut self, block: u32) -> Checked<Log> {
        let count = self.members.len();
        let mut cursor = self.states[block as usize].clone().unwrap_or_default();
        let mut log = Log {
            moved: vec![false; count],
            last_block: vec![None; count],
            stopped: (0..count).map(|_| None).collect(),
            ..Log::default()
        };
        let mut current = 0;
        for instruction in self.body.blocks[block as usize].body.clone() {
            if self.fixed.contains_key(&instruction)
                || self.use_memory(block, instruction, &mut cursor, &mut log)?
                || is_flag_of_glue(instruction)
            {
                continue;
            }
            if self.body.departures.contains(&instruction) {
                log.departure = Some(instruction);
                continue;
            }
            let callee = instruction
                .is_call()
                .then(|| instruction.called_function())
                .flatten();
            if let Some(parts) = callee.and_then(|callee| self.product_parts(instruction, callee)) {
                current = 0;
                self.match_product_call(instruction, parts?, &mut cursor, &mut log)?;
                continue;
            }
            if let Some(k) = self.partial_call(block, instruction, &cursor, &log) {
                log.moved[k] = true;
                cursor[k] = State::At {
                    list: vec![Pos::RETURNED],
                    results: HashSet::from([instruction]),
                };
                continue;
            }
            let candidates = (0..count).filter_map(|k| {
                let pos = self.next(k, &cursor[k])?;
                let plain = self.members[k].plain.instruction(pos)?;
                // Versions take turns block by block.
                let goes_on = log.last_block[k].is_some_and(|last| last != pos.block);
                let rank = (goes_on, (k + count - current) % count);
                self.looks_like(instruction, k, plain, &log)
                    .then_some((rank, k))
            });
            match candidates.min() {
                Some((_, k)) => {
                    current = k;
                    self.commit(k, instruction, None, &mut cursor[k], &mut log);
                }
                None if self.is_glue(instruction) => self.look_at_glue(instruction, &mut log),
                None => return Err(self.no_match(instruction, &cursor)),
            }
        }
        self.finish_block(block, &mut cursor, &mut log)?;
        log.out = cursor;
        Ok(log)
    }

    fn no_match(&self, instruction: Value, cursor: &[State]) -> String {
        let places: Vec<String> = cursor
            .iter()
            .enumerate()
            .map(|(k, state)| {
                let version = self.members[k].version + 1;
                format!("version {version} is {}", self.describe(k, state))
            })
            .collect();
        format!(
            "{} is not what a version does next: {}",
            quoted(instruction),
            places.join(", ")
        )
    }

    fn describe(&self, k: usize, state: &State) -> String {
        let plain = &self.members[k].plain;
        match state {
            State::At { list, .. } => list
                .iter()
                .map(|&pos| plain.describe(pos))
                .collect::<Vec<String>>()
                .join(" or "),
            State::Inactive => "not called".into(),
            State::Suspended(_) => "suspended".into(),
            State::Ended => "ended".into(),
        }
    }

    fn describe_block(&self, block: u32) -> String {
        let all = &self.body.blocks[block as usize];
        let first = all.body.first().unwrap_or(&all.terminator);
        format!("block {block} ({})", quoted(*first))
    }

    /// Loads and stores of cells and controls, addresses of fields, frames.
    fn use_memory(
        &mut self,
        block: u32,
        instruction: Value,
        cursor: &mut [State],
        log: &mut Log,
    ) -> Checked<bool> {
        match instruction.opcode() {
            LLVMOpcode::LLVMGetElementPtr => Ok(self.body.cells.contains_key(&instruction)
                || self.body.frame_fields.contains_key(&instruction)),
            LLVMOpcode::LLVMAlloca => Ok(self.body.is_frame(instruction)
                || block == 0
                    && (self.body.cells.contains_key(&instruction)
                        || self.body.controls.contains_key(&instruction)
                        || !instruction.has_uses())),
            LLVMOpcode::LLVMLoad => {
                let Some(address) = instruction.operand(0) else {
                    return Ok(false);
                };
                if let Some(&cell) = self.body.cells.get(&address) {
                    let things = log.contents.of_cell(cell, &self.homes);
                    log.contents.set(Holder::Value(instruction), things);
                    return Ok(true);
                }
                if let Some(&control) = self.body.controls.get(&address) {
                    log.numbers.insert(instruction, control);
                    return Ok(true);
                }
                Ok(false)
            }
            LLVMOpcode::LLVMStore => {
                let (Some(value), Some(address)) = (instruction.operand(0), instruction.operand(1))
                else {
                    return Ok(false);
                };
                if let Some(&cell) = self.body.cells.get(&address) {
                    self.store(cell, value, log);
                    return Ok(true);
                }
                if let Some(&field) = self.body.frame_fields.get(&address) {
                    log.spilled.insert(field, value);
                    return Ok(true);
                }
                if let Some(&control) = self.body.controls.get(&address) {
                    log.numbers.retain(|_, other| *other != control);
                    self.store_number(block, control, value, cursor, log)?;
                    log.changed.insert(control);
                    return Ok(true);
                }
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    fn store(&mut self, cell: Cell, value: Value, log: &mut Log) {
        let things = self.things(value, &log.contents);
        if !self.bound && self.homes.get(cell).is_none() {
            let is_fixed = |k: usize, value: Value| self.fixed.values().any(|&f| f == (k, value));
            let new = things.iter().find_map(|&thing| match thing {
                Thing::Own(k, value) => (self.homes.may_bind(cell, k, value)
                    && (value.is_instruction() && !is_fixed(k, value)))
                .then_some((k, value)),
                Thing::Constant(_) => None,
            });
            if let Some((k, value)) = new {
                self.homes.bind(cell, k, value);
            }
        }
        log.contents.set(Holder::Cell(cell), things);
    }

    /// A number is stored: members stop, or are told where to meet.
    fn store_number(
        &mut self,
        block: u32,
        control: Control,
        value: Value,
        cursor: &mut [State],
        log: &mut Log,
    ) -> Checked<()> {
        let number = value.is_constant().then(|| value.as_integer()).flatten();
        match control {
            // The versions go on where they are whatever the meeting point is.
            Control::Stop => {
                for state in cursor {
                    if let State::Suspended(suspended) = state {
                        suspended.met = !suspended.open;
                    }
                }
                Ok(())
            }
            Control::Resume(_) if Some(value) == self.given_number() && block == 0 => Ok(()),
            Control::Resume(k) => {
                let number = number.ok_or_else(|| format!("{} is no number", quoted(value)))?;
                self.suspend(block, k, number, &mut cursor[k], log)
            }
            Control::State => {
                let number = number
                    .filter(|&number| number != RETURNED)
                    .ok_or_else(|| format!("{} is no number", quoted(value)))?;
                for (k, state) in cursor.iter_mut().enumerate() {
                    self.suspend(block, k, number, state, log)?;
                }
                Ok(())
            }
        }
    }

    /// The number that the continuation is called with.
    fn given_number(&self) -> Option<Value> {
        let parameters = self.body.function.parameters();
        self.is_continuation.then(|| parameters.get(1).copied())?
    }

    /// Member k stops and will go on at `number`.
    fn suspend(
        &mut self,
        block: u32,
        k: usize,
        number: u64,
        state: &mut State,
        log: &mut Log,
    ) -> Checked<()> {
        let version = self.members[k].version + 1;
        let has_returned = Suspended {
            returned: true,
            open: false,
            met: true,
            numbers: BTreeSet::new(),
        };
        let list = match state {
            State::At { list, .. } => list.clone(),
            State::Ended if number == RETURNED => {
                *state = State::Suspended(has_returned);
                return Ok(());
            }
            _ => {
                return Err(format!(
                    "version {version} gets number {number}, but is {}",
                    self.describe(k, state)
                ))
            }
        };
        if number == RETURNED {
            if !self.finish_member(k, &list, log) && !list.contains(&Pos::RETURNED) {
                return Err(format!(
                    "version {version} is said to have returned, but is {}",
                    self.describe(k, state)
                ));
            }
            log.stopped[k] = Some(Stop {
                number,
                list: vec![Pos::RETURNED],
                meeting: None,
            });
            *state = State::Suspended(has_returned);
            return Ok(());
        }
        let mut list = list;
        list.retain(|&pos| pos != Pos::RETURNED && pos != Pos::GUARD);
        let facts = self.control_facts(self.body.only_edge(block), Control::Stop);
        let known = facts.known(self.truth, |value, _| {
            self.is_number(&facts, value, Control::Stop)
        });
        let meeting = match known {
            Some(Known::Is(number)) => number.as_integer(),
            _ => None,
        };
        log.stopped[k] = Some(Stop {
            number,
            list,
            meeting,
        });
        *state = State::Suspended(Suspended {
            returned: false,
            open: true,
            met: false,
            numbers: match self.is_continuation {
                true => BTreeSet::new(),
                false => BTreeSet::from([number]),
            },
        });
        Ok(())
    }

    /// At the end of a block: what suspended members need is in its cells, and their numbers have a meaning.
    fn settle_stop(&mut self, k: usize, state: &mut State, log: &mut Log) -> Checked<()> {
        let State::Suspended(suspended) = state else {
            return Ok(());
        };
        let Some(stop) = log.stopped[k].take() else {
            // Whatever it needs where it goes on.
            let touched = self.touched(k, log);
            let lost = touched
                .into_iter()
                .find(|&(value, cell)| !self.is_kept(k, value, cell, log));
            return match lost {
                Some((value, _)) if self.bound => Err(self.lost(k, value)),
                _ => Ok(()),
            };
        };
        let list = self.kept_positions(k, &stop.list, log)?;
        if stop.number == RETURNED {
            return Ok(());
        }
        self.give_meaning(k, stop.number, false, &list)?;
        // A version that parts on its way from the meeting point is not there.
        let meeting = stop
            .meeting
            .filter(|_| !log.changed.contains(&Control::Stop));
        suspended.met =
            meeting.is_some_and(|number| self.give_meaning(k, number, true, &list).is_ok());
        Ok(())
    }

    /// Member k's values whose cells have been written, or that have been computed, in a block.
    fn touched(&self, k: usize, log: &Log) -> Vec<(Value, Cell)> {
        let written = log.contents.written();
        let written = written.filter_map(|cell| self.homes.get(cell));
        let touched = written.chain(log.contents.defined.iter().copied());
        touched
            .filter(|&(other, _)| other == k)
            .filter_map(|(_, value)| Some((value, self.homes.cell(k, value)?)))
            .collect()
    }

    /// The positions at which member k finds all that it needs in its cells.
    fn kept_positions(&self, k: usize, list: &[Pos], log: &Log) -> Checked<Vec<Pos>> {
        let plain = &self.members[k].plain;
        let mut kept = list.to_vec();
        let mut last_lost = None;
        for (value, cell) in self.touched(k, log) {
            if !self.is_kept(k, value, cell, log) {
                kept.retain(|&pos| !plain.is_live(value, pos));
                last_lost = Some(value);
            }
        }
        match last_lost {
            Some(value) if kept.is_empty() => Err(self.lost(k, value)),
            _ => Ok(kept),
        }
    }

    fn lost(&self, k: usize, value: Value) -> String {
        let version = self.members[k].version + 1;
        format!("version {version}'s {} is lost", quoted(value))
    }

    /// A number stands for these positions of member k.
    fn give_meaning(&mut self, k: usize, number: u64, is_met: bool, list: &[Pos]) -> Checked<()> {
        let numbers = &mut self.numbers[k];
        let table = match is_met {
            true => &mut numbers.meetings,
            false => &mut numbers.labels,
        };
        let old = table.get(&number);
        let new: Vec<Pos> = match old {
            None => list.to_vec(),
            Some(old) => old
                .iter()
                .copied()
                .filter(|pos| list.contains(pos))
                .collect(),
        };
        if new.is_empty() || self.verifying && old != Some(&new) {
            let plain = &self.members[k].plain;
            let places: Vec<String> = old
                .and_then(|old| old.first())
                .into_iter()
                .chain(list.first())
                .map(|&pos| plain.describe(pos))
                .collect();
            return Err(format!(
                "number {number} of version {} stands for two places: {}",
                self.members[k].version + 1,
                places.join(" and ")
            ));
        }
        if old != Some(&new) {
            table.insert(number, new);
            self.new_numbers = true;
        }
        Ok(())
    }

    /// Lets member k return if it is about to and its result has been kept (in the continuation).
    fn finish_member(&self, k: usize, list: &[Pos], log: &mut Log) -> bool {
        let plain = &self.members[k].plain;
        let at_return = list.iter().find_map(|&pos| {
            let block = plain.at_end(pos)?;
            (block.terminator.opcode() == LLVMOpcode::LLVMRet).then_some(block.terminator)
        });
        let Some(terminator) = at_return else {
            return false;
        };
        let Some(value) = terminator.operand(0) else {
            return true;
        };
        let result = plain.result();
        let Some(cell) = self.homes.cell(k, result) else {
            return false;
        };
        let source = (!value.is_undefined()).then_some(value);
        log.contents.assign(k, &[(result, source)], &self.homes);
        self.is_kept(k, result, cell, log)
    }

    fn is_kept(&self, k: usize, value: Value, cell: Cell, log: &Log) -> bool {
        log.contents.is_free(k, value)
            || log
                .contents
                .of_cell(cell, &self.homes)
                .contains(&Thing::Own(k, value))
    }

    /// What a value of the product is.
    fn things(&self, value: Value, contents: &Contents) -> Vec<Thing> {
        if !is_local(value) {
            return vec![Thing::Constant(value)];
        }
        match self.fixed.get(&value) {
            Some(&(k, value)) => vec![Thing::Own(k, value)],
            None => contents.of(Holder::Value(value)).to_vec(),
        }
    }

    /// What may stand in a product without being a version's: it touches no memory and cannot trap, or is a call of
    /// the runtime that [`GLUE_CALLS`] permits.
    fn is_glue(&self, instruction: Value) -> bool {
        match instruction.opcode() {
            LLVMOpcode::LLVMICmp
            | LLVMOpcode::LLVMAnd
            | LLVMOpcode::LLVMOr
            | LLVMOpcode::LLVMXor
            | LLVMOpcode::LLVMSelect
            | LLVMOpcode::LLVMBitCast
            | LLVMOpcode::LLVMInsertValue
            | LLVMOpcode::LLVMExtractValue => true,
            LLVMOpcode::LLVMCall => is_glue_call(instruction),
            _ => false,
        }
    }

    /// Glue takes the results of product calls apart.
    fn look_at_glue(&self, instruction: Value, log: &mut Log) {
        if instruction.opcode() != LLVMOpcode::LLVMExtractValue {
            return;
        }
        if let (Some(call), &[field]) = (instruction.operand(0), &instruction.indices()[..]) {
            let things = log.contents.of(Holder::Part(call, field)).to_vec();
            log.contents.set(Holder::Value(instruction), things);
        }
    }

    /// A call of member k's plain function with the product's own arguments, before anything else of it has run.
    fn partial_call(&self, block: u32, call: Value, cursor: &[State], log: &Log) -> Option<usize> {
        if self.is_continuation || !call.is_call() {
            return None;
        }
        let callee = call.called_function()?;
        let is_at_start = |k: &usize| {
            let member = &self.members[*k];
            let start = member.plain.start(0);
            let at_start = matches!(&cursor[*k], State::At { list, .. }
                if list.contains(&Pos::GUARD) && list.contains(&start));
            member.plain.function == callee && at_start && !log.moved[*k]
        };
        let k = (0..self.members.len()).find(is_at_start)?;
        // On the way to the lock-step code the activation variables have been looked at together.
        let facts = Facts::gather(&self.body, self.body.only_edge(block), self.truth, |_| true);
        let alone = facts.is.iter().any(|&(value, truth, _)| {
            truth == self.truth[1]
                && (value == self.active[k] || value.operands().contains(&self.active[k]))
        });
        let arguments: Vec<Option<(usize, Value)>> = call
            .arguments()
            .into_iter()
            .map(|argument| self.fixed.get(&argument).copied())
            .collect();
        let own: Vec<Option<(usize, Value)>> = callee
            .parameters()
            .into_iter()
            .map(|parameter| Some((k, parameter)))
            .collect();
        (alone && arguments == own && call.called_type() == callee.value_type()).then_some(k)
    }

    /// Where the next instruction of member k stands.
    fn next(&self, k: usize, state: &State) -> Option<Pos> {
        let State::At { list, .. } = state else {
            return None;
        };
        let plain = &self.members[k].plain;
        let mut list = list.iter().rev().copied();
        list.find(|&pos| plain.instruction(pos).is_some())
    }

    pub(super) fn next_instruction(&self, k: usize, state: &State) -> Option<Value> {
        let pos = self.next(k, state)?;
        self.members[k].plain.instruction(pos)
    }

    /// Whether `copy` may be member k's `plain`.
    fn looks_like(&self, copy: Value, k: usize, plain: Value, log: &Log) -> bool {
        copy.opcode() == plain.opcode()
            && copy.is_same_operation(plain)
            && copy.indices() == plain.indices()
            && copy.operand_count() == plain.operand_count()
            && copy
                .operands()
                .into_iter()
                .zip(plain.operands())
                .all(|(here, there)| self.is_plausible(here, k, there, log))
    }

    /// Whether `here` is member k's `there`, or may be said to be.
    pub(super) fn is_plausible(&self, here: Value, k: usize, there: Value, log: &Log) -> bool {
        if !is_local(there) {
            return here == there || there.is_undefined();
        }
        log.contents.is_free(k, there)
            || self
                .things(here, &log.contents)
                .contains(&Thing::Own(k, there))
            || self.unbound_cell(here, k, there, log).is_some()
    }

    /// The cell that `here` comes from if nothing is known of it and it may be for member k's `there`.
    fn unbound_cell(&self, here: Value, k: usize, there: Value, log: &Log) -> Option<Cell> {
        if self.bound || here.ty() != there.ty() {
            return None;
        }
        let cell = self.cell_loaded(here)?;
        let is_new = self.homes.may_bind(cell, k, there) && !log.contents.is_written(cell);
        is_new.then_some(cell)
    }

    /// Member k's next instruction is this one.
    pub(super) fn commit(
        &mut self,
        k: usize,
        copy: Value,
        product: Option<ProductCall>,
        state: &mut State,
        log: &mut Log,
    ) {
        let plain = &self.members[k].plain;
        let Some((pos, instruction)) = self
            .next(k, state)
            .and_then(|pos| Some((pos, plain.instruction(pos)?)))
        else {
            return;
        };
        let holder = match &product {
            None => Some(Holder::Value(copy)),
            Some((field, _)) => field.map(|field| Holder::Part(copy, field)),
        };
        let operands = match product {
            Some((_, operands)) => operands,
            None => copy
                .operands()
                .into_iter()
                .zip(instruction.operands())
                .collect(),
        };
        for (here, there) in operands {
            // The first use of a cell tells what it is for; all others have to agree.
            if is_local(there) {
                if let Some(cell) = self.unbound_cell(here, k, there, log) {
                    self.homes.bind(cell, k, there);
                }
            }
        }
        log.contents.forget(k, instruction, &self.homes);
        if let Some(holder) = holder {
            log.contents.set(holder, vec![Thing::Own(k, instruction)]);
        }
        log.moved[k] = true;
        log.last_block[k] = Some(pos.block);
        let after = Pos {
            block: pos.block,
            index: pos.index + 1,
        };
        *state = State::at(vec![plain.normal(after)]);
    }

    /// The block's end: phis that its stores have gone through, results, and what ends the function.
    fn finish_block(&mut self, block: u32, cursor: &mut [State], log: &mut Log) -> Checked<()> {
        for (k, state) in cursor.iter_mut().enumerate() {
            if let State::At { list, results } = state {
                if !log.moved[k] && log.changed.is_empty() {
                    if let Some(pos) = self.enter_phis(k, list, log) {
                        log.moved[k] = true;
                        *list = vec![pos];
                    }
                }
                if log.moved[k] && !list.contains(&Pos::RETURNED) {
                    results.clear();
                }
                if self.is_continuation
                    && !list.contains(&Pos::RETURNED)
                    && self.finish_member(k, list, log)
                {
                    list.push(Pos::RETURNED);
                }
                results.extend(self.results(k, list, log));
            }
            self.settle_stop(k, state, log)?;
        }
        let terminator = self.body.blocks[block as usize].terminator;
        match terminator.opcode() {
            LLVMOpcode::LLVMBr | LLVMOpcode::LLVMSwitch => Ok(()),
            LLVMOpcode::LLVMRet => self.check_return(terminator, cursor, log),
            LLVMOpcode::LLVMUnreachable => self.check_unreachable(block, cursor),
            _ => Err(format!("{} ends a block", quoted(terminator))),
        }
    }

    /// Member k enters a block with phis if this is where they get their values; returns where it is then.
    fn enter_phis(&mut self, k: usize, list: &[Pos], log: &mut Log) -> Option<Pos> {
        let plain = &self.members[k].plain;
        let (from, target) = list
            .iter()
            .rev()
            .find_map(|pos| Some((pos.block, pos.edge_target()?)))?;
        let phis = &plain.blocks[target as usize].phis;
        let from = plain.blocks[from as usize].block;
        let values: Vec<(Value, Option<Value>)> = phis
            .iter()
            .map(|&phi| {
                let value = phi.incoming_from(from);
                (phi, value.filter(|value| !value.is_undefined()))
            })
            .collect();
        let is_theirs = |cell: Cell| match self.homes.get(cell) {
            Some((other, value)) => other == k && phis.contains(&value),
            // Another member may enter a block here, too.
            None => values
                .iter()
                .any(|&(phi, value)| self.may_be_phis(log, cell, k, phi, value)),
        };
        if !log.contents.written().any(is_theirs) {
            return None;
        }
        if !self.bound {
            self.bind_phis(k, &values, log);
        }
        log.contents.assign(k, &values, &self.homes);
        Some(plain.start(target))
    }

    /// Finds the cells of phis among those that have got what the phis become: theirs are written in the phis' order.
    /// The cells themselves may come in another order: a phi that another one reads has its cell early.
    fn bind_phis(&mut self, k: usize, values: &[(Value, Option<Value>)], log: &Log) {
        let mut unbound = log.contents.written_in_order();
        unbound.retain(|&cell| self.homes.get(cell).is_none());
        for &(phi, value) in values {
            let mut cells = unbound.iter().copied();
            if let Some(cell) = cells.find(|&cell| self.may_be_phis(log, cell, k, phi, value)) {
                self.homes.bind(cell, k, phi);
            }
        }
    }

    /// Whether a cell that nothing is known of is that of member k's `phi`, which becomes `value`.
    fn may_be_phis(
        &self,
        log: &Log,
        cell: Cell,
        k: usize,
        phi: Value,
        value: Option<Value>,
    ) -> bool {
        self.homes.may_bind(cell, k, phi) && has_become(log, cell, k, phi, value)
    }

    /// The values of the product that are what member k returns or has returned.
    fn results(&self, k: usize, list: &[Pos], log: &Log) -> Vec<Value> {
        let plain = &self.members[k].plain;
        let mut found = Vec::new();
        for &pos in list {
            let returned = match pos {
                Pos::RETURNED => Some(plain.result()),
                _ => plain
                    .at_end(pos)
                    .map(|block| block.terminator)
                    .filter(|terminator| terminator.opcode() == LLVMOpcode::LLVMRet)
                    .and_then(|terminator| terminator.operand(0)),
            };
            let Some(returned) = returned else {
                continue;
            };
            if !is_local(returned) {
                found.push(returned);
                continue;
            }
            let holders = log.contents.holders_of(Thing::Own(k, returned)).iter();
            found.extend(holders.filter_map(|holder| match holder {
                Holder::Value(value) => Some(*value),
                _ => None,
            }));
            let fixed = self.fixed.iter().filter(|(_, &own)| own == (k, returned));
            found.extend(fixed.map(|(&value, _)| value));
        }
        found
    }

    fn check_return(&self, terminator: Value, cursor: &[State], log: &Log) -> Checked<()> {
        if let Some(call) = log.departure {
            if terminator.operand(0).is_some_and(|result| result != call) {
                return Err("what the continuation returns is lost".into());
            }
            let is_suspended =
                |state: &State| matches!(state, State::Suspended(s) if s.open && !s.returned);
            let numbers = call.operands();
            let current = log.numbers.get(&numbers[1]) == Some(&Control::State);
            return match cursor.iter().all(is_suspended) && current {
                true => Ok(()),
                false => Err(format!("{} is given no number for a version", quoted(call))),
            };
        }
        for (k, state) in cursor.iter().enumerate() {
            let version = self.members[k].version + 1;
            let plain = &self.members[k].plain;
            let (list, results) = match state {
                State::Ended | State::Inactive => continue,
                State::At { list, results } => (list, results),
                State::Suspended(_) => {
                    return Err(format!("the product returns while version {version} waits"))
                }
            };
            let at_return = list.iter().find_map(|&pos| {
                let block = plain.at_end(pos)?;
                (block.terminator.opcode() == LLVMOpcode::LLVMRet).then_some(block.terminator)
            });
            if at_return.is_none() && !list.contains(&Pos::RETURNED) {
                return Err(format!(
                    "the product returns, but version {version} is {}",
                    self.describe(k, state)
                ));
            }
            let (Some(field), Some(all)) = (self.members[k].result, terminator.operand(0)) else {
                continue;
            };
            let value = field_of(all, field);
            let is_undefined = at_return
                .and_then(|terminator| terminator.operand(0))
                .is_some_and(Value::is_undefined);
            if !results.contains(&value) && !is_undefined {
                return Err(format!(
                    "{} is not the result of version {version}",
                    quoted(value)
                ));
            }
        }
        Ok(())
    }

    fn check_unreachable(&self, block: u32, cursor: &[State]) -> Checked<()> {
        let last = self.body.blocks[block as usize].body.last();
        if last.is_some_and(|&last| ends_product(last)) {
            return Ok(());
        }
        let mut any = false;
        for (k, state) in cursor.iter().enumerate() {
            let State::At { list, .. } = state else {
                continue;
            };
            any = list.iter().any(|&pos| {
                let block = self.members[k].plain.at_end(pos);
                block.is_some_and(|b| b.terminator.opcode() == LLVMOpcode::LLVMUnreachable)
            });
            if !any {
                break;
            }
        }
        match any {
            true => Ok(()),
            false => Err("the product ends where a version does not".into()),
        }
    }

    // Verifying.

    /// Verifies what [`Walk::walk`] has found.
    pub(super) fn verify(&mut self) -> Checked<()> {
        self.verifying = true;
        self.demanded.clear();
        let reached: Vec<u32> = (0..self.body.blocks.len() as u32)
            .filter(|&block| self.states[block as usize].is_some())
            .collect();
        for &block in &reached {
            self.logs[block as usize] = Some(self.run(block)?);
        }
        let mut ways = Vec::new();
        for &block in &reached {
            for edge in self.out_edges(block) {
                let Some(arriving) = self.arriving(edge)? else {
                    continue;
                };
                let target = self.body.target(edge);
                ways.push((block, target));
                let known = self.states[target as usize].clone();
                let known = known.ok_or("a way that was not walked")?;
                if self.join(&known, &arriving, target)? != known {
                    return Err(format!(
                        "not what was known at {}",
                        self.describe_block(target)
                    ));
                }
            }
        }
        self.verify_progress(&ways)?;
        for (k, cases, is_met) in &self.demanded {
            let table = match is_met {
                true => &self.numbers[*k].meetings,
                false => &self.numbers[*k].labels,
            };
            if let Some(number) = table.keys().find(|number| !cases.contains(number)) {
                return Err(format!(
                    "version {} cannot go on at number {number}",
                    self.members[*k].version + 1
                ));
            }
        }
        Ok(())
    }

    /// There is no way round on which no version does anything, unless a version has such a loop itself.
    fn verify_progress(&self, ways: &[(u32, u32)]) -> Checked<()> {
        if self
            .members
            .iter()
            .any(|member| member.plain.has_idle_loop())
        {
            return Ok(());
        }
        // Versions part at most as often as one of them has done something since they met.
        let is_idle = |block: u32| {
            self.logs[block as usize].as_ref().is_some_and(|log| {
                !log.moved.contains(&true) && !log.changed.contains(&Control::Stop)
            })
        };
        match cycle_in(self.body.blocks.len(), ways, is_idle) {
            Some(block) => Err(format!(
                "no version goes on at {}",
                self.describe_block(block)
            )),
            None => Ok(()),
        }
    }

    // Between the lock-step function and its continuation.

    /// What the continuation's fields are for, as far as what is stored in them tells.
    pub(super) fn homes_of_fields(&self, homes: &mut Homes) {
        for log in self.logs.iter().flatten() {
            for (&field, &value) in &log.spilled {
                let cell = self.cell_loaded(value);
                let home = cell.and_then(|cell| self.homes.get(cell));
                if let Some((k, value)) = home.or_else(|| self.fixed.get(&value).copied()) {
                    if homes.get(field).is_none() && homes.cell(k, value).is_none() {
                        homes.bind(field, k, value);
                    }
                }
            }
        }
    }

    fn cell_loaded(&self, value: Value) -> Option<Cell> {
        let address = is_load(value).then(|| value.operand(0)).flatten()?;
        self.body.cells.get(&address).copied()
    }

    /// Cells that only the continuation makes use of.
    pub(super) fn homes_from_fields(&mut self, fields: &Homes) {
        let mut found = Vec::new();
        for log in self.logs.iter().flatten() {
            for (&field, &value) in &log.spilled {
                if let (Some(cell), Some(home)) = (self.cell_loaded(value), fields.get(field)) {
                    found.push((cell, home));
                }
            }
        }
        for (cell, (k, value)) in found {
            if self.homes.may_bind(cell, k, value) {
                self.homes.bind(cell, k, value);
            }
        }
    }

    /// The lock-step function hands over all that the continuation reads; `fields` says where. Of several positions
    /// that a number may stand for those remain at which that is so.
    pub(super) fn check_departures(&mut self, fields: &Homes) -> Checked<()> {
        for log in self.logs.iter().flatten() {
            let Some(call) = log.departure else {
                continue;
            };
            for (k, state) in log.out.iter().enumerate() {
                let State::Suspended(suspended) = state else {
                    continue;
                };
                let plain = &self.members[k].plain;
                for number in &suspended.numbers {
                    let Some(places) = self.numbers[k].labels.get_mut(number) else {
                        continue;
                    };
                    let lost = |pos: Pos| {
                        plain.live_at(pos).into_iter().find(|&value| {
                            let field = fields.cell(k, value);
                            field
                                .is_some_and(|field| !hands_over(&self.fixed, log, field, k, value))
                        })
                    };
                    let all = places.len();
                    let first_lost = places.first().and_then(|&pos| lost(pos));
                    places.retain(|&pos| lost(pos).is_none());
                    if places.is_empty() || self.verifying && places.len() < all {
                        return Err(format!(
                            "version {}'s {} is not handed over at number {number} by {}",
                            self.members[k].version + 1,
                            first_lost.map_or_else(String::new, quoted),
                            quoted(call)
                        ));
                    }
                }
            }
        }
        Ok(())
    }

    /// The continuation that versions leave to, if they can.
    pub(super) fn continuation(&self) -> Checked<Option<Value>> {
        let departures = self.body.departures.iter();
        let callees: HashSet<Value> = departures
            .filter_map(|call| call.called_function())
            .collect();
        let mut callees = callees.into_iter();
        match (callees.next(), callees.next()) {
            (callee, None) => Ok(callee),
            _ => Err("versions leave to two functions".into()),
        }
    }
}

/// A node of a cycle of edges between nodes that are wanted.
pub(super) fn cycle_in(
    count: usize,
    edges: &[(u32, u32)],
    is_wanted: impl Fn(u32) -> bool,
) -> Option<u32> {
    let wanted: Vec<bool> = (0..count as u32).map(is_wanted).collect();
    let mut successors = vec![Vec::new(); count];
    let mut open = vec![0usize; count];
    for &(from, to) in edges {
        if wanted[from as usize] && wanted[to as usize] {
            successors[from as usize].push(to as usize);
            open[to as usize] += 1;
        }
    }
    // Nodes without predecessors are taken away until there are none.
    let mut work: Vec<usize> = (0..count).filter(|&node| open[node] == 0).collect();
    while let Some(node) = work.pop() {
        for &next in &successors[node] {
            open[next] -= 1;
            if open[next] == 0 {
                work.push(next);
            }
        }
    }
    open.iter()
        .position(|&open| open > 0)
        .map(|node| node as u32)
}

/// Whether what a lock-step function stores in a field of the frame is member k's `value`.
fn hands_over(
    fixed: &HashMap<Value, (usize, Value)>,
    log: &Log,
    field: Cell,
    k: usize,
    value: Value,
) -> bool {
    log.spilled.get(&field).is_some_and(|here| {
        let things = log.contents.of(Holder::Value(*here));
        fixed.get(here) == Some(&(k, value)) || things.contains(&Thing::Own(k, value))
    })
}

/// Whether a cell holds what member k's `phi` becomes; `value` is none if that is undefined.
fn has_become(log: &Log, cell: Cell, k: usize, phi: Value, value: Option<Value>) -> bool {
    let things = log.contents.of(Holder::Cell(cell));
    match value {
        Some(value) => things.contains(&Thing::of(k, value)),
        None => things.iter().any(|&thing| match thing {
            Thing::Constant(value) => value.is_undefined() && value.ty() == phi.ty(),
            Thing::Own(..) => false,
        }),
    }
}

/// Adds a position that is not there yet.
fn push_new(list: &mut Vec<Pos>, pos: Pos) {
    if !list.contains(&pos) {
        list.push(pos);
    }
}

/// Where a terminator goes if its condition is `known`.
fn decide(terminator: Value, successors: &[u32], known: &Known) -> Option<u32> {
    if terminator.opcode() == LLVMOpcode::LLVMBr {
        return match known {
            Known::Is(value) if value.as_integer() == Some(1) => Some(successors[0]),
            Known::Is(value) if value.as_integer() == Some(0) => Some(successors[1]),
            _ => None,
        };
    }
    let cases = terminator.case_values();
    match known {
        Known::Is(value) => {
            let case = cases.iter().position(|case| case == value);
            Some(successors[case.map_or(0, |case| case + 1)])
        }
        Known::IsNot(values) => cases
            .iter()
            .all(|case| values.contains(case))
            .then_some(successors[0]),
        Known::Never => None,
    }
}

/// A field of a product's result.
fn field_of(all: Value, field: u32) -> Value {
    let mut all = all;
    loop {
        let is_insert = all.is_instruction() && all.opcode() == LLVMOpcode::LLVMInsertValue;
        if !is_insert {
            return all
                .is_constant()
                .then(|| all.element(field))
                .flatten()
                .unwrap_or(all);
        }
        match (all.indices()[..] == [field], all.operand(0), all.operand(1)) {
            (true, _, Some(value)) => return value,
            (false, Some(rest), _) => all = rest,
            _ => return all,
        }
    }
}

/// Whether a load of an alive flag is glue's: nothing is done with the comparison but branching. A version's own
/// test is compared with the other versions' or kept in a cell.
pub(super) fn is_flag_of_glue(load: Value) -> bool {
    let branches_only = |comparison: Value| {
        (tested_flag(comparison).is_some() || super::tests_ended(comparison).is_some())
            && comparison.users().into_iter().all(|user| {
                matches!(
                    user.opcode(),
                    LLVMOpcode::LLVMBr | LLVMOpcode::LLVMAnd | LLVMOpcode::LLVMOr
                )
            })
    };
    is_load(load) && load.has_uses() && load.users().into_iter().all(branches_only)
}

/// Whether a call ends the product because the runtime wants it.
fn ends_product(call: Value) -> bool {
    let is_abort = call.is_call()
        && call
            .called_function()
            .is_some_and(|callee| callee.is_declaration() && callee.name_text() == "abort");
    let next = call.next_instruction();
    is_abort && next.is_some_and(|next| next.opcode() == LLVMOpcode::LLVMUnreachable)
}

/// Whether weave may have inserted a call.
pub(super) fn is_glue_call(call: Value) -> bool {
    let name = call.called_function().map(Value::name_text);
    name.is_some_and(|name| GLUE_CALLS.contains(&name.as_str())) || ends_product(call)
}

/// A value in a message.
fn quoted(value: Value) -> String {
    let text = value.print();
    let text = text.trim();
    match text.char_indices().nth(160) {
        Some((end, _)) => format!("`{} ...`", &text[..end]),
        None => format!("`{text}`"),
    }
}
