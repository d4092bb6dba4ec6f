//! Walks a product function and its versions' plain functions side by side.
//!
//! Every block of the product function gets a state that says where each version stands: at a position of its
//! plain function, or suspended, to go on where a label variable says. An instruction of the product is a copy
//! of the next instruction of one version, a call that stands for the next calls of several versions, or glue.
//! Versions follow their branches only where what the product has branched on decides them.

use super::body::{colours, Body, Edge};
use super::plain::{is_local, is_phi, Plain, Pos};
use super::{tested_flag, Tables, EQUAL, GLUE_CALLS, NOT_EQUAL, RETURNED};
use crate::llvm::{Types, Value};
use inkwell::llvm_sys::LLVMOpcode;
use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// One version's function in a product function.
pub(super) struct Member {
    pub(super) version: usize,
    pub(super) plain: Plain,
    /// Where the result stands among the product's results.
    pub(super) result: Option<u32>,
}

/// Where a version stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// At one of these positions, which nothing observable separates, in the version's order.
    At(Vec<Pos>),
    /// Where the label variable says.
    Suspended { label: Value, met: Met },
    /// It has ended, in a child of another version: nothing of it is run any more.
    Ended,
}

/// What is known of a suspended version that has not returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Met {
    /// It has returned on every path.
    Vacuous,
    /// It stands at the meeting point that this variable numbers.
    At(Value),
    Nothing,
}

impl Met {
    fn and(self, other: Met) -> Met {
        match (self, other) {
            (Met::Vacuous, met) | (met, Met::Vacuous) => met,
            (a, b) if a == b => a,
            _ => Met::Nothing,
        }
    }
}

/// How a value of a version gets a new content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Def {
    /// By this instruction of the product, or by this field of its result.
    Copy(Value, Option<u32>),
    /// A phi, because its block is entered from this one.
    Phi(u32),
    /// The version's result, at the return that ends this block.
    Return(u32),
    /// The result of a version that is not active: nobody looks at it.
    Anything,
}

/// A step that a version takes without an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Move {
    Begin,
    /// A branch is decided.
    Decide,
    Skip,
    Along(u32, u32),
    Return(u32),
}

/// An instruction of a version that was found in the product, and what the copy has for operands.
pub(super) struct Execution {
    pub(super) k: usize,
    pub(super) plain: Value,
    pub(super) copy: Value,
    pub(super) ord: u32,
    pub(super) operands: Vec<(Value, Value)>,
}

/// What happens in a block, in order.
#[derive(Default)]
pub(super) struct Log {
    pub(super) defs: HashMap<(usize, Value), Vec<(u32, Def)>>,
    pub(super) stores: HashMap<u32, Vec<(u32, Value)>>,
    pub(super) executions: Vec<Execution>,
    pub(super) moved: Vec<bool>,
    pub(super) used: Vec<Option<Pos>>,
    pub(super) out: Vec<State>,
    pub(super) returns: Vec<(usize, Value)>,
    pub(super) departure: Option<(Value, u32)>,
}

/// Behind everything in a block.
pub(super) const END: u32 = u32::MAX;

/// How many steps of one version fit between two instructions of the product.
const SLOTS: u32 = 64;

/// Something the product has found out by branching.
#[derive(Default)]
pub(super) struct Facts {
    is: Vec<(Value, Value, u32)>,
    is_not: Vec<(Value, Vec<Value>, u32)>,
    same: Vec<(Value, Value, bool, u32)>,
}

pub(super) enum Known {
    Is(Value),
    IsNot(Vec<Value>),
}

#[derive(Clone, Copy)]
pub(super) enum Place {
    Block(u32),
    Edge(Edge),
    /// Where no branch has told anything since the version moved.
    Unknowing,
}

/// From where, to where, and how.
pub(super) type Step = (Pos, Pos, Move);

/// The steps that a member takes on an edge.
type KnownMoves = HashMap<(Edge, usize), Rc<Vec<Move>>>;

/// A product call's result field and the values that stand for the call's operands.
type ProductCall = (Option<u32>, Vec<(Value, Value)>);

struct Ready {
    used: Pos,
    pos: Pos,
    moves: Vec<Move>,
}

pub(super) struct Walk<'a> {
    pub(super) members: &'a [Member],
    pub(super) body: Body,
    pub(super) tables: Tables,
    pub(super) is_continuation: bool,
    pub(super) states: Vec<Option<Vec<State>>>,
    /// The same before [`Walk::settle`].
    wide_states: Vec<Option<Vec<State>>>,
    pub(super) contributions: HashMap<Edge, Vec<State>>,
    pub(super) logs: Vec<Option<Log>>,
    /// All copies of an instruction.
    pub(super) copies: HashMap<(usize, Value), Vec<Def>>,
    /// Whose value an instruction of the product computes.
    pub(super) owner: HashMap<Value, (usize, Value)>,
    /// Arguments and static allocas of the lock-step function.
    pub(super) fixed: HashMap<Value, (usize, Value)>,
    pub(super) active: Vec<Value>,
    /// Whose an instruction of the product seems to be.
    colours: HashMap<Value, usize>,
    /// Whether numbers that stand for several positions have to be taken for the first of them.
    guess: bool,
    pub(super) ord: HashMap<Value, u32>,
    /// Obligations that hold in the finished walk.
    pub(super) proven: HashSet<(u32, Value, usize, Value)>,
    /// The steps on edges, in the finished walk.
    pub(super) steps: HashMap<(Edge, usize), Vec<Step>>,
    pub(super) known_moves: RefCell<KnownMoves>,
    pub(super) finished: bool,
    /// Whether a field that nothing is known of may be taken to hold what is asked for.
    pub(super) may_bind: Cell<bool>,
    work: Vec<u32>,
    changed: HashSet<(usize, u64, bool)>,
    assumed: Vec<(usize, Vec<u64>, bool)>,
    truth: [Value; 2],
}

type Checked<T> = Result<T, String>;

impl<'a> Walk<'a> {
    pub(super) fn new(
        members: &'a [Member],
        body: Body,
        tables: Tables,
        is_continuation: bool,
    ) -> Walk<'a> {
        let count = body.blocks.len();
        let types = Types::of_function(body.function);
        let mut fixed = HashMap::new();
        let mut active = Vec::new();
        if !is_continuation {
            let mut parameters = body.function.parameters().into_iter();
            active.extend(parameters.by_ref().take(members.len()));
            for (k, member) in members.iter().enumerate() {
                for argument in member.plain.function.parameters() {
                    if let Some(parameter) = parameters.next() {
                        fixed.insert(parameter, (k, argument));
                    }
                }
            }
        }
        let arguments = fixed
            .iter()
            .map(|(&value, &(k, _)): (&Value, &(usize, Value))| (value, members[k].version))
            .collect();
        let colours = colours(&body, &arguments);
        Walk {
            members,
            body,
            tables,
            is_continuation,
            states: vec![None; count],
            wide_states: Vec::new(),
            contributions: HashMap::new(),
            logs: (0..count).map(|_| None).collect(),
            copies: HashMap::new(),
            owner: HashMap::new(),
            fixed,
            active,
            colours,
            guess: false,
            ord: HashMap::new(),
            proven: HashSet::new(),
            steps: HashMap::new(),
            known_moves: RefCell::default(),
            finished: false,
            may_bind: Cell::new(true),
            work: Vec::new(),
            changed: HashSet::new(),
            assumed: Vec::new(),
            truth: [types.constant(1, 0), types.constant(1, 1)],
        }
    }

    /// Finds out where the versions stand everywhere.
    pub(super) fn walk(&mut self) -> Checked<()> {
        if !self.is_continuation {
            self.match_static_allocas()?;
        }
        let start = (0..self.members.len())
            .map(|_| match self.is_continuation {
                false => State::At(vec![Pos::GUARD]),
                true => State::Suspended {
                    label: self.body.function.parameters()[1],
                    met: Met::Nothing,
                },
            })
            .collect();
        self.states[0] = Some(start);
        self.work.push(0);
        let mut rounds = 0usize;
        let limit = 64 * (self.body.blocks.len() + 16);
        loop {
            while let Some(block) = self.work.pop() {
                rounds += 1;
                if rounds > limit {
                    return Err("the versions' positions do not settle".into());
                }
                self.process(block)?;
            }
            if !self.follow_new_numbers()? && std::mem::replace(&mut self.guess, true) {
                break;
            }
        }
        for (k, cases, is_met) in std::mem::take(&mut self.assumed) {
            let numbers = if is_met {
                &self.tables.met[k]
            } else {
                &self.tables.labels[k]
            };
            let missing = numbers
                .keys()
                .find(|&&number| number != RETURNED && !cases.contains(&number));
            if let Some(number) = missing {
                return Err(format!(
                    "version {} cannot go on at number {number}",
                    self.members[k].version + 1
                ));
            }
        }
        self.finished = true;
        Ok(())
    }

    /// The allocas at the entry of the lock-step function are those of the versions, in order.
    fn match_static_allocas(&mut self) -> Checked<()> {
        let mut wanted = (0..self.members.len()).flat_map(|k| {
            self.members[k]
                .plain
                .static_allocas
                .iter()
                .map(move |&a| (k, a))
        });
        for &instruction in &self.body.blocks[0].body {
            if instruction.opcode() != LLVMOpcode::LLVMAlloca {
                continue;
            }
            let Some((k, alloca)) = wanted.next() else {
                return Err(format!(
                    "`{}` belongs to no version",
                    instruction.print().trim()
                ));
            };
            if !instruction.is_same_operation(alloca) || instruction.operand(0) != alloca.operand(0)
            {
                return Err(format!(
                    "`{}` stands for `{}`",
                    instruction.print().trim(),
                    alloca.print().trim()
                ));
            }
            self.fixed.insert(instruction, (k, alloca));
        }
        match wanted.next() {
            Some((_, alloca)) => Err(format!("`{}` is missing", alloca.print().trim())),
            None => Ok(()),
        }
    }

    fn process(&mut self, block: u32) -> Checked<()> {
        self.logs[block as usize] = Some(self.run(block)?);
        let successors = self.body.blocks[block as usize].successors.len();
        for successor in 0..successors as u32 {
            self.follow(
                Edge {
                    from: block,
                    successor,
                },
                false,
            )?;
        }
        Ok(())
    }

    /// Decides for one position wherever several would do, now that the frame's fields are known.
    pub(super) fn settle(&mut self) -> Checked<()> {
        if self.wide_states.is_empty() {
            self.wide_states = self.states.clone();
        }
        self.states = self.wide_states.clone();
        self.finished = false;
        self.known_moves.borrow_mut().clear();
        self.proven.clear();
        for block in self.reverse_post_order() {
            let Some(states) = self.states[block as usize].clone() else {
                continue;
            };
            let only_edge = match self.body.blocks[block as usize].in_edges[..] {
                [edge] => Some(edge),
                _ => None,
            };
            let mut settled = Vec::new();
            for (k, state) in states.into_iter().enumerate() {
                let before = only_edge
                    .filter(|_| self.body.label_phi(block, k).is_none())
                    .and_then(|edge| self.logs[edge.from as usize].as_ref());
                settled.push(match (state, before) {
                    (State::At(_), Some(log)) => log.out[k].clone(),
                    (State::At(list), None) => State::At(vec![self.chosen(block, k, &list)]),
                    (suspended, _) => suspended,
                });
            }
            self.states[block as usize] = Some(settled);
            self.logs[block as usize] = Some(self.run(block)?);
            let successors = self.body.blocks[block as usize].successors.len();
            for successor in 0..successors as u32 {
                let edge = Edge {
                    from: block,
                    successor,
                };
                for k in 0..self.members.len() {
                    if self.steps.contains_key(&(edge, k)) {
                        let out = self.logs[block as usize]
                            .as_ref()
                            .map(|log| log.out[k].clone());
                        let (_, steps) = self.chain_and_steps(
                            k,
                            &out.unwrap_or(State::At(Vec::new())),
                            Place::Edge(edge),
                        );
                        self.steps.insert((edge, k), steps);
                    }
                }
            }
        }
        self.finished = true;
        Ok(())
    }

    /// The blocks that versions come to, predecessors first but for loops.
    fn reverse_post_order(&self) -> Vec<u32> {
        let mut seen = vec![false; self.body.blocks.len()];
        let mut order = Vec::new();
        let mut stack = vec![(0u32, 0usize)];
        seen[0] = true;
        while let Some((block, next)) = stack.pop() {
            let Some(&target) = self.body.blocks[block as usize].successors.get(next) else {
                order.push(block);
                continue;
            };
            stack.push((block, next + 1));
            let edge = Edge {
                from: block,
                successor: next as u32,
            };
            if self.contributions.contains_key(&edge)
                && !std::mem::replace(&mut seen[target as usize], true)
            {
                stack.push((target, 0));
            }
        }
        order.reverse();
        order
    }

    /// Goes through a block.
    fn run(&mut self, block: u32) -> Checked<Log> {
        if let Some(old) = self.logs[block as usize].take() {
            for execution in old.executions {
                if let Some(copies) = self.copies.get_mut(&(execution.k, execution.plain)) {
                    let copy = execution.copy;
                    copies.retain(|def| !matches!(def, Def::Copy(p, _) if *p == copy));
                }
            }
        }
        let count = self.members.len();
        let mut cursor = self.states[block as usize].clone().unwrap_or_default();
        let mut log = Log {
            moved: vec![false; count],
            used: vec![None; count],
            ..Log::default()
        };
        let mut ready: Vec<Option<Option<Ready>>> = (0..count).map(|_| None).collect();
        let mut current = 0;
        let mut ord = 0;
        for &phi in &self.body.blocks[block as usize].phis {
            self.ord.insert(phi, 0);
        }
        for instruction in self.body.blocks[block as usize].body.clone() {
            ord += SLOTS * count as u32;
            self.ord.insert(instruction, ord);
            if self.fixed.contains_key(&instruction)
                || self.is_frame_glue(instruction, ord, &mut log)?
            {
                continue;
            }
            if is_flag_of_glue(instruction) {
                continue;
            }
            if self.body.departures.contains(&instruction) {
                log.departure = Some((instruction, ord));
                self.depart(block, instruction, &cursor, &log)?;
                continue;
            }
            let callee = instruction
                .is_call()
                .then(|| instruction.called_function())
                .flatten();
            if let Some(parts) = callee.and_then(|callee| self.product_parts(instruction, callee)) {
                current = 0;
                self.match_product_call(
                    block,
                    instruction,
                    ord,
                    parts?,
                    &mut cursor,
                    &mut ready,
                    &mut log,
                )?;
                continue;
            }
            if let Some(k) = self.partial_call(block, instruction, &cursor) {
                let key = (k, self.members[k].plain.result());
                log.defs
                    .entry(key)
                    .or_default()
                    .push((ord, Def::Copy(instruction, None)));
                log.moved[k] = true;
                cursor[k] = State::At(vec![Pos::RETURNED]);
                ready[k] = None;
                continue;
            }
            let mut matched: Vec<usize> = (0..count)
                .map(|i| (current + i) % count)
                .filter(|&k| {
                    self.next(block, k, &cursor[k], &log, &mut ready[k])
                        .and_then(|next| self.members[k].plain.instruction(next.pos))
                        .is_some_and(|plain| self.looks_like(instruction, k, plain, &log))
                })
                .collect();
            if matched.len() > 1 {
                // Versions take turns block by block: one that would go on to another block comes later.
                let colour = self.colours.get(&instruction);
                matched.sort_by_key(|&k| {
                    let last = log.executions.iter().rev().find(|e| e.k == k);
                    let next = self.next(block, k, &cursor[k], &log, &mut ready[k]);
                    let goes_on = last.zip(next).is_some_and(|(last, next)| {
                        self.members[k].plain.block_of(last.plain) != Some(next.pos.block)
                    });
                    let other = Some(&self.members[k].version) != colour;
                    (other, goes_on, if goes_on { k } else { 0 })
                });
            }
            let matched = matched.first().copied();
            match matched {
                Some(k) => {
                    current = k;
                    self.commit(
                        k,
                        instruction,
                        None,
                        ord,
                        &mut cursor[k],
                        &mut ready[k],
                        &mut log,
                    );
                }
                None if self.is_glue(instruction) => {}
                None => return Err(self.no_match(instruction, &cursor, block, &log)),
            }
        }
        self.finish_block(block, &cursor, ord, &mut log)?;
        log.out = cursor;
        Ok(log)
    }

    fn no_match(&self, instruction: Value, cursor: &[State], block: u32, log: &Log) -> String {
        let places: Vec<String> = (0..self.members.len())
            .map(|k| {
                let version = self.members[k].version + 1;
                let next = self
                    .next(block, k, &cursor[k], log, &mut None)
                    .map(|n| n.pos);
                match (next, &cursor[k]) {
                    (Some(pos), _) => format!(
                        "version {version} is {}",
                        self.members[k].plain.describe(pos)
                    ),
                    (None, State::At(list)) => {
                        format!(
                            "version {version} is {}",
                            self.members[k].plain.describe(list[0])
                        )
                    }
                    (None, State::Suspended { .. }) => format!("version {version} is suspended"),
                    (None, State::Ended) => format!("version {version} has ended"),
                }
            })
            .collect();
        format!(
            "`{}` is not what a version does next: {}",
            instruction.print().trim(),
            places.join(", ")
        )
    }

    /// A continuation is called: if it gets a constant number, that stands for where the versions are here.
    fn depart(&mut self, block: u32, call: Value, cursor: &[State], log: &Log) -> Checked<()> {
        let label = call.operand(1).filter(|label| label.is_constant());
        let Some(number) = label.and_then(Value::as_integer) else {
            return Ok(());
        };
        for (k, state) in cursor.iter().enumerate() {
            let place = match log.moved[k] {
                true => Place::Unknowing,
                false => Place::Block(block),
            };
            let mut list = self.chain(k, state, place);
            list.retain(|&pos| pos != Pos::RETURNED);
            self.number(k, number, false, &list)?;
        }
        Ok(())
    }

    /// Loads, stores and addresses of the frame.
    fn is_frame_glue(&self, instruction: Value, ord: u32, log: &mut Log) -> Checked<bool> {
        let field = |index| {
            let address = instruction.operand(index)?;
            self.body.fields.get(&address).copied()
        };
        match instruction.opcode() {
            LLVMOpcode::LLVMGetElementPtr => Ok(self.body.fields.contains_key(&instruction)),
            LLVMOpcode::LLVMAlloca => Ok(self.body.frames.contains(&instruction)),
            LLVMOpcode::LLVMLoad => Ok(field(0).is_some()),
            LLVMOpcode::LLVMStore => {
                if let (Some(field), Some(value)) = (field(1), instruction.operand(0)) {
                    log.stores.entry(field).or_default().push((ord, value));
                    return Ok(true);
                }
                Ok(false)
            }
            _ => Ok(false),
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
            LLVMOpcode::LLVMLoad => is_flag_of_glue(instruction),
            LLVMOpcode::LLVMCall => is_glue_call(instruction),
            _ => false,
        }
    }

    /// A call of member k's plain function with the product's own arguments, before anything else of it has run.
    fn partial_call(&self, block: u32, call: Value, cursor: &[State]) -> Option<usize> {
        if self.is_continuation || !call.is_call() {
            return None;
        }
        let callee = call.called_function()?;
        let k = self
            .members
            .iter()
            .position(|m| m.plain.function == callee)?;
        let at_guard = matches!(&cursor[k], State::At(list) if list.contains(&Pos::GUARD));
        let facts = self.gather(k, Place::Block(block), None);
        let is_active = facts
            .is
            .iter()
            .any(|f| f.0 == self.active[k] && f.1 == self.truth[1]);
        let arguments: Vec<Option<(usize, Value)>> = (0..call.argument_count())
            .filter_map(|i| call.operand(i))
            .map(|argument| self.fixed.get(&argument).copied())
            .collect();
        let own: Vec<Option<(usize, Value)>> = callee
            .parameters()
            .into_iter()
            .map(|parameter| Some((k, parameter)))
            .collect();
        (at_guard && is_active && arguments == own && call.called_type() == callee.value_type())
            .then_some(k)
    }

    /// The next instruction of member k.
    fn next<'r>(
        &self,
        block: u32,
        k: usize,
        state: &State,
        log: &Log,
        ready: &'r mut Option<Option<Ready>>,
    ) -> Option<Ready>
    where
        'a: 'r,
    {
        if ready.is_none() {
            let place = match log.moved[k] {
                true => Place::Unknowing,
                false => Place::Block(block),
            };
            *ready = Some(self.find_next(k, state, place));
        }
        ready.as_ref().and_then(|found| {
            found.as_ref().map(|found| Ready {
                used: found.used,
                pos: found.pos,
                moves: found.moves.clone(),
            })
        })
    }

    fn find_next(&self, k: usize, state: &State, place: Place) -> Option<Ready> {
        let list = self.positions(k, state, place)?;
        let plain = &self.members[k].plain;
        let mut facts = None;
        let last = list.last().copied();
        // The last position comes first: what led there has been decided.
        list.into_iter().rev().find_map(|used| {
            let mut pos = used;
            let mut moves = Vec::new();
            loop {
                self.may_bind.set(Some(used) == last);
                if plain.instruction(pos).is_some() {
                    self.may_bind.set(true);
                    return Some(Ready { used, pos, moves });
                }
                if moves.len() > plain.blocks.len() {
                    self.may_bind.set(true);
                    return None;
                }
                let found = self.step(k, pos, place, &mut facts, &moves);
                self.may_bind.set(true);
                let (next, step) = found?;
                moves.push(step);
                pos = next;
            }
        })
    }

    /// The positions that a state stands for at a place.
    pub(super) fn positions(&self, k: usize, state: &State, place: Place) -> Option<Vec<Pos>> {
        match state {
            State::Ended => None,
            State::At(list) => Some(list.clone()),
            State::Suspended { label, met } => {
                let facts = self.gather(k, place, Some(*label));
                self.resolve(k, *label, *met, &facts)
            }
        }
    }

    fn resolve(&self, k: usize, label: Value, met: Met, facts: &Facts) -> Option<Vec<Pos>> {
        let value_of = |variable: Value| {
            let direct = facts.is.iter().find(|f| f.0 == variable).map(|f| f.1);
            direct.or_else(|| {
                facts.same.iter().find_map(|&(a, b, same, _)| match same {
                    true if a == variable && b.is_constant() => Some(b),
                    true if b == variable && a.is_constant() => Some(a),
                    _ => None,
                })
            })
        };
        if let Some(number) = value_of(label).and_then(Value::as_integer) {
            return match number {
                RETURNED => Some(vec![Pos::RETURNED]),
                // Where a block begins, the blocks' join tells.
                _ if number % 2 == 0 => self.tables.labels[k].get(&number).cloned(),
                _ => self.goes_on_at(k, number).map(|pos| vec![pos]),
            };
        }
        let Met::At(stop) = met else {
            return None;
        };
        let returned_not = facts.same.iter().any(|&(a, b, same, _)| {
            let number = |v: Value| v.is_constant().then(|| v.as_integer()).flatten();
            !same
                && (a == label && number(b) == Some(RETURNED)
                    || b == label && number(a) == Some(RETURNED))
        });
        let number = value_of(stop).and_then(Value::as_integer)?;
        let met = self.tables.met[k].get(&number).filter(|_| returned_not);
        met.cloned()
    }

    /// Where member k goes on at `number`. Where several positions would do, the code that goes on there tells by
    /// the branch that it begins with, if its field is known; none as long as that may still become known.
    pub(super) fn goes_on_at(&self, k: usize, number: u64) -> Option<Pos> {
        let list = self.tables.labels[k].get(&number)?;
        let (&first, &last) = (list.first()?, list.last()?);
        if first == last {
            return Some(first);
        }
        if number % 2 == 0 {
            let target = self.body.resumes.get(&(k, number)).copied();
            let states = target.and_then(|target| self.states[target as usize].as_ref());
            return match (target, states.map(|states| &states[k])) {
                (Some(target), Some(State::At(joined))) => Some(self.chosen(target, k, joined)),
                _ => Some(last),
            };
        }
        if !self.is_continuation {
            return Some(
                self.tables
                    .resumed
                    .get(&(k, number))
                    .copied()
                    .unwrap_or(first),
            );
        }
        let plain = &self.members[k].plain;
        let target = self.body.resumes.get(&(k, number)).copied()?;
        let terminator = self.body.blocks[target as usize].terminator;
        let condition = terminator
            .operand(0)
            .filter(|c| !c.is_constant() && terminator.successors().len() > 1);
        let end_of = |pos: &Pos| plain.at_end(*pos).map(|block| block.terminator);
        let Some(field) = condition.and_then(|condition| self.field_loaded(condition)) else {
            let plain_jump = |pos: &&Pos| end_of(pos).is_some_and(|t| t.successors().len() == 1);
            return list.iter().find(plain_jump).or(Some(&first)).copied();
        };
        let home = self.tables.homes.borrow().get(&field).copied();
        match home {
            Some((_, value)) => {
                let same = |pos: &&Pos| end_of(pos).is_some_and(|t| t.operand(0) == Some(value));
                list.iter().find(same).or(Some(&first)).copied()
            }
            // The lock-step function may tell what it has handed over in that field.
            None => self
                .tables
                .handed_over
                .get(&(k, number, field))
                .copied()
                .or(self.guess.then_some(first)),
        }
    }

    /// Where member k goes from `pos` without an instruction, if that is decided.
    fn step(
        &self,
        k: usize,
        pos: Pos,
        place: Place,
        facts: &mut Option<Facts>,
        moves: &[Move],
    ) -> Option<(Pos, Move)> {
        let plain = &self.members[k].plain;
        if pos == Pos::RETURNED {
            return None;
        }
        if pos == Pos::GUARD {
            let facts = facts.get_or_insert_with(|| self.gather(k, place, None));
            let active = self.active[k];
            let known = facts.is.iter().find(|f| f.0 == active).map(|f| f.1);
            // Not active, or ended.
            let is_out = facts.is.iter().any(|&(value, truth, _)| {
                truth == self.truth[0]
                    && value.is_instruction()
                    && value.opcode() == LLVMOpcode::LLVMAnd
                    && value.operands().contains(&active)
                    && value.operands().iter().any(|&o| self.tests_flag_of(k, o))
            });
            let known = known.or(is_out.then_some(self.truth[0]))?;
            return match known == self.truth[1] {
                true => Some((plain.start(0), Move::Begin)),
                false => Some((Pos::RETURNED, Move::Skip)),
            };
        }
        if let Some(target) = pos.edge_target() {
            return Some((plain.start(target), Move::Along(pos.block, target)));
        }
        let block = plain.at_end(pos)?;
        let terminator = block.terminator;
        let target = match terminator.opcode() {
            LLVMOpcode::LLVMRet => return Some((Pos::RETURNED, Move::Return(pos.block))),
            LLVMOpcode::LLVMBr if block.successors.len() == 1 => block.successors[0],
            LLVMOpcode::LLVMBr | LLVMOpcode::LLVMSwitch => {
                let condition = terminator.operand(0)?;
                let known = match condition.is_constant() && condition.as_integer().is_some() {
                    true => Known::Is(condition),
                    false => {
                        let condition = self.before_moves(k, condition, moves)?;
                        let facts = facts.get_or_insert_with(|| self.gather(k, place, None));
                        self.known(k, condition, facts)?
                    }
                };
                let target = self.decide(terminator, &block.successors, &known)?;
                if !plain.blocks[target as usize].phis.is_empty() {
                    return Some((Pos::on_edge(pos.block, target), Move::Decide));
                }
                target
            }
            _ => return None,
        };
        Some((plain.start(target), Move::Along(pos.block, target)))
    }

    fn decide(&self, terminator: Value, successors: &[u32], known: &Known) -> Option<u32> {
        if terminator.opcode() == LLVMOpcode::LLVMBr {
            return match known {
                Known::Is(value) if *value == self.truth[1] => Some(successors[0]),
                Known::Is(value) if *value == self.truth[0] => Some(successors[1]),
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
        }
    }

    /// What `value` was before these steps.
    pub(super) fn before_moves(&self, k: usize, value: Value, moves: &[Move]) -> Option<Value> {
        let plain = &self.members[k].plain;
        let mut value = value;
        for step in moves.iter().rev() {
            match *step {
                Move::Along(from, to) if plain.blocks[to as usize].phis.contains(&value) => {
                    value = plain.incoming(value, from)?;
                }
                Move::Return(block) if value == plain.result() => {
                    value = plain.blocks[block as usize].terminator.operand(0)?;
                }
                Move::Skip if value == plain.result() => return None,
                _ => {}
            }
        }
        Some(value)
    }

    /// What the product knows at a place, from branches since member k moved (or since `label` was set).
    fn gather(&self, k: usize, place: Place, label: Option<Value>) -> Facts {
        let mut facts = Facts::default();
        let single = |block: u32| match self.body.blocks[block as usize].in_edges[..] {
            [edge] => Some(edge),
            _ => None,
        };
        let mut edge = match place {
            Place::Unknowing => None,
            Place::Edge(edge) => Some(edge),
            Place::Block(block) => single(block),
        };
        let label_block = label.and_then(|label| self.body.block_of.get(&label).copied());
        while let Some(here) = edge {
            self.add_facts(here, &mut facts);
            let moved = match label {
                None => self.logs[here.from as usize]
                    .as_ref()
                    .is_some_and(|log| log.moved[k]),
                Some(_) => label_block == Some(here.from),
            };
            if moved {
                break;
            }
            edge = single(here.from);
        }
        facts
    }

    fn add_facts(&self, edge: Edge, facts: &mut Facts) {
        let terminator = self.body.blocks[edge.from as usize].terminator;
        let Some(condition) = terminator.operand(0) else {
            return;
        };
        match terminator.opcode() {
            LLVMOpcode::LLVMBr if self.body.blocks[edge.from as usize].successors.len() == 2 => {
                let mut work = vec![(condition, edge.successor == 0)];
                while let Some((value, truth)) = work.pop() {
                    facts
                        .is
                        .push((value, self.truth[usize::from(truth)], edge.from));
                    let opcode = match value.is_instruction() {
                        true => Some(value.opcode()),
                        false => value.expression_opcode(),
                    };
                    let Some(opcode) = opcode else {
                        continue;
                    };
                    let operands = value.operands();
                    match opcode {
                        LLVMOpcode::LLVMICmp if matches!(value.operation(), EQUAL | NOT_EQUAL) => {
                            let same = (value.operation() == EQUAL) == truth;
                            facts.same.push((operands[0], operands[1], same, edge.from));
                        }
                        // What a comparison of two constant conditions is folded to.
                        LLVMOpcode::LLVMXor if value.is_constant() => {
                            facts
                                .same
                                .push((operands[0], operands[1], !truth, edge.from));
                        }
                        LLVMOpcode::LLVMAnd if truth => {
                            work.extend(operands.iter().map(|&o| (o, true)));
                        }
                        LLVMOpcode::LLVMOr if !truth => {
                            work.extend(operands.iter().map(|&o| (o, false)));
                        }
                        _ => {}
                    }
                }
            }
            LLVMOpcode::LLVMSwitch => {
                let cases = terminator.case_values();
                match edge.successor {
                    0 => facts.is_not.push((condition, cases, edge.from)),
                    case => facts
                        .is
                        .push((condition, cases[case as usize - 1], edge.from)),
                }
            }
            _ => {}
        }
    }

    /// What the facts say about member k's `goal`. What is known to hold it comes first; if nothing is, the first
    /// branch on something unknown is taken to be the version's, to be verified later.
    fn known(&self, k: usize, goal: Value, facts: &Facts) -> Option<Known> {
        let may_bind = self.may_bind.replace(false);
        let found = self.look_up(k, goal, facts);
        self.may_bind.set(may_bind);
        match found {
            None if may_bind => self.look_up(k, goal, facts),
            found => found,
        }
    }

    fn look_up(&self, k: usize, goal: Value, facts: &Facts) -> Option<Known> {
        let stands_for = |value: Value, origin: u32| self.holds(origin, END, value, k, goal);
        for &(value, constant, origin) in facts.is.iter().rev() {
            if value.ty() == goal.ty() && stands_for(value, origin) {
                return Some(Known::Is(constant));
            }
        }
        for &(a, b, same, origin) in facts.same.iter().rev() {
            if a.ty() != goal.ty() {
                continue;
            }
            for (from, to) in [(a, b), (b, a)] {
                let constant = match from.is_constant() && from.as_integer().is_some() {
                    true => Some(from),
                    false => facts.is.iter().find(|f| f.0 == from).map(|f| f.1),
                };
                let is_not = facts
                    .is_not
                    .iter()
                    .find(|f| f.0 == from)
                    .map(|f| f.1.clone());
                let known = match (constant, is_not) {
                    (Some(constant), _) if same => Known::Is(constant),
                    (Some(constant), _) if constant == self.truth[0] => Known::Is(self.truth[1]),
                    (Some(constant), _) if constant == self.truth[1] => Known::Is(self.truth[0]),
                    (None, Some(values)) if same => Known::IsNot(values),
                    _ => continue,
                };
                if stands_for(to, origin) {
                    return Some(known);
                }
            }
        }
        for (value, values, origin) in facts.is_not.iter().rev() {
            if value.ty() == goal.ty() && stands_for(*value, *origin) {
                return Some(Known::IsNot(values.clone()));
            }
        }
        None
    }

    /// Whether `copy` may be member k's `plain`, as far as can be seen without knowing what variables hold.
    fn looks_like(&self, copy: Value, k: usize, plain: Value, log: &Log) -> bool {
        copy.opcode() == plain.opcode()
            && copy.is_same_operation(plain)
            && copy.indices() == plain.indices()
            && copy
                .operands()
                .into_iter()
                .zip(plain.operands())
                .all(|(here, there)| self.is_plausible(here, k, there, log))
    }

    fn is_plausible(&self, here: Value, k: usize, there: Value, log: &Log) -> bool {
        let mut here = here;
        while let Some(stored) = self.stored(here, log) {
            here = stored;
        }
        if !is_local(there) {
            return here == there || there.is_undefined();
        }
        if let Some(fixed) = self.fixed.get(&here) {
            return *fixed == (k, there) || fixed.0 == k && is_phi(there);
        }
        if let Some(owner) = self.owner.get(&here) {
            return *owner == (k, there) || owner.0 == k && is_phi(there);
        }
        if is_phi(here) || here.is_constant() {
            return is_phi(there) || is_phi(here);
        }
        if let Some(field) = self.field_loaded(here) {
            return self
                .tables
                .homes
                .borrow()
                .get(&field)
                .is_none_or(|home| home.0 == k);
        }
        true
    }

    /// What a load from the frame gives, if that was stored in the same block.
    fn stored(&self, load: Value, log: &Log) -> Option<Value> {
        let stores = log.stores.get(&self.field_loaded(load)?)?;
        let time = self.ord.get(&load)?;
        stores.iter().rev().find(|(ord, _)| ord < time).map(|s| s.1)
    }

    pub(super) fn field_loaded(&self, value: Value) -> Option<u32> {
        let is_load = value.is_instruction() && value.opcode() == LLVMOpcode::LLVMLoad;
        let address = is_load.then(|| value.operand(0)).flatten()?;
        self.body.fields.get(&address).copied()
    }

    fn log_moves(&self, k: usize, moves: &[Move], ord: u32, log: &mut Log) {
        let plain = &self.members[k].plain;
        for (i, step) in moves.iter().enumerate() {
            let ord = ord + i as u32;
            log.moved[k] = true;
            match *step {
                Move::Along(from, to) => {
                    for &phi in &plain.blocks[to as usize].phis {
                        log.defs
                            .entry((k, phi))
                            .or_default()
                            .push((ord, Def::Phi(from)));
                    }
                }
                Move::Return(block) => log
                    .defs
                    .entry((k, plain.result()))
                    .or_default()
                    .push((ord, Def::Return(block))),
                Move::Skip => log
                    .defs
                    .entry((k, plain.result()))
                    .or_default()
                    .push((ord, Def::Anything)),
                Move::Begin | Move::Decide => {}
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn commit(
        &mut self,
        k: usize,
        copy: Value,
        product: Option<ProductCall>,
        ord: u32,
        cursor: &mut State,
        ready: &mut Option<Option<Ready>>,
        log: &mut Log,
    ) {
        let Some(Some(next)) = ready.take() else {
            return;
        };
        let plain = &self.members[k].plain;
        let Some(instruction) = plain.instruction(next.pos) else {
            return;
        };
        // Behind the previous instruction of the product.
        let before = ord - SLOTS * self.members.len() as u32;
        self.log_moves(k, &next.moves, before + 1 + (SLOTS - 2) * k as u32, log);
        if log.executions.iter().all(|execution| execution.k != k) {
            log.used[k] = Some(next.used);
        }
        log.moved[k] = true;
        let is_product = product.is_some();
        let (field, operands) = product.unwrap_or_else(|| {
            let pairs = copy.operands().into_iter().zip(instruction.operands());
            (None, pairs.collect())
        });
        for &(here, there) in &operands {
            self.bind(k, here, there, log);
        }
        let def = Def::Copy(copy, field);
        log.defs
            .entry((k, instruction))
            .or_default()
            .push((ord, def));
        if !is_product {
            self.owner.insert(copy, (k, instruction));
        } else if let Some(field) = field {
            for user in copy.users() {
                if user.is_instruction()
                    && user.opcode() == LLVMOpcode::LLVMExtractValue
                    && user.indices() == [field]
                {
                    self.owner.insert(user, (k, instruction));
                }
            }
        }
        self.copies.entry((k, instruction)).or_default().push(def);
        log.executions.push(Execution {
            k,
            plain: instruction,
            copy,
            ord,
            operands,
        });
        let after = Pos {
            block: next.pos.block,
            index: next.pos.index + 1,
        };
        *cursor = State::At(vec![plain.normal(after)]);
    }

    /// The first use of a field tells what it holds; all others have to agree.
    fn bind(&self, k: usize, here: Value, there: Value, log: &Log) {
        if let Some(field) = self.field_loaded(here) {
            if is_local(there) && !log.stores.contains_key(&field) {
                self.tables.bound.borrow_mut().insert((k, there));
                self.tables
                    .homes
                    .borrow_mut()
                    .entry(field)
                    .or_insert((k, there));
            }
        }
    }
}

/// One version's part in a product call.
pub(super) struct Part {
    k: usize,
    /// What the version's own call has to call; none for a pointer, which is the first operand.
    callee: Option<Value>,
    arguments: Vec<Value>,
    pointer: Option<Value>,
    result: Option<u32>,
}

impl Walk<'_> {
    /// Whose calls a call of a product function or dispatcher stands for; none for other calls.
    fn product_parts(&self, call: Value, callee: Value) -> Option<Checked<Vec<Part>>> {
        let arguments: Vec<Value> = (0..call.argument_count())
            .filter_map(|i| call.operand(i))
            .collect();
        let member_of = |version: usize| self.members.iter().position(|m| m.version == version);
        if let Some(product) = self.tables.products.get(&callee) {
            let mut rest = arguments.get(product.len()..)?;
            let mut parts = Vec::new();
            let mut result = 0;
            for (&(version, function), &active) in product.iter().zip(&arguments) {
                let count = function.parameters().len();
                if rest.len() < count {
                    return Some(Err(format!(
                        "`{}` has too few arguments",
                        call.print().trim()
                    )));
                }
                let (mine, others) = rest.split_at(count);
                rest = others;
                let field = (!function.value_type().return_type().is_void()).then_some(result);
                result += u32::from(field.is_some());
                match (
                    active.is_constant().then(|| active.as_integer()).flatten(),
                    member_of(version),
                ) {
                    (Some(0), _) => {}
                    (Some(1), Some(k)) => parts.push(Part {
                        k,
                        callee: Some(function),
                        arguments: mine.to_vec(),
                        pointer: None,
                        result: field,
                    }),
                    _ => {
                        return Some(Err(format!(
                            "`{}` activates version {}, which is not there",
                            call.print().trim(),
                            version + 1
                        )))
                    }
                }
            }
            return Some(Ok(parts));
        }
        if !super::is_dispatcher_name(&callee.name_text()) {
            return None;
        }
        Some(Ok(Vec::new()))
    }

    #[allow(clippy::too_many_arguments)]
    fn match_product_call(
        &mut self,
        block: u32,
        call: Value,
        ord: u32,
        mut parts: Vec<Part>,
        cursor: &mut [State],
        ready: &mut [Option<Option<Ready>>],
        log: &mut Log,
    ) -> Checked<()> {
        let text = || call.print().trim().to_string();
        let callee = call.called_function();
        let is_dispatch = callee.is_some_and(|f| super::is_dispatcher_name(&f.name_text()));
        let mut types = Vec::new();
        if is_dispatch {
            let count = self.members.len();
            let all: Vec<Value> = (0..call.argument_count())
                .filter_map(|i| call.operand(i))
                .collect();
            let wanted: usize = (0..count)
                .filter_map(|k| {
                    let next = self.next(block, k, &cursor[k], log, &mut ready[k])?;
                    self.members[k].plain.instruction(next.pos)
                })
                .filter(|plain| plain.is_call())
                .map(|plain| 1 + plain.argument_count() as usize)
                .sum();
            // The record of the place may stand in front.
            let has_record = all.len() == wanted + 1 && all[0].is_global();
            let all = all[usize::from(has_record)..].to_vec();
            let mut offset = count;
            let mut result = 0;
            for k in 0..count {
                let next = self.next(block, k, &cursor[k], log, &mut ready[k]);
                let plain = next.and_then(|next| self.members[k].plain.instruction(next.pos));
                let Some(plain) = plain.filter(|plain| plain.is_call()) else {
                    return Err(format!(
                        "`{}`, but version {} makes no call",
                        text(),
                        self.members[k].version + 1
                    ));
                };
                let arguments = plain.argument_count() as usize;
                if offset + arguments > all.len() {
                    return Err(format!("`{}` has too few arguments", text()));
                }
                let returns = !plain.called_type().return_type().is_void();
                parts.push(Part {
                    k,
                    callee: None,
                    arguments: all[offset..offset + arguments].to_vec(),
                    pointer: Some(all[k]),
                    result: returns.then_some(result),
                });
                result += u32::from(returns);
                offset += arguments;
                types.push((self.members[k].version, plain.called_type()));
            }
            if let Some(dispatcher) = callee {
                let mut dispatchers = self.tables.dispatchers.borrow_mut();
                let known = dispatchers
                    .entry(dispatcher)
                    .or_insert_with(|| types.clone());
                if *known != types {
                    return Err(format!("`{}` dispatches calls of other types", text()));
                }
            }
        }
        for part in &parts {
            let k = part.k;
            let version = self.members[k].version + 1;
            let next = self.next(block, k, &cursor[k], log, &mut ready[k]);
            let plain = next.and_then(|next| self.members[k].plain.instruction(next.pos));
            let Some(plain) = plain.filter(|plain| plain.is_call()) else {
                return Err(format!("`{}`, but version {version} makes no call", text()));
            };
            let same_callee = match part.callee {
                Some(callee) => {
                    plain.called_function() == Some(callee)
                        && plain.called_type() == callee.value_type()
                }
                None => plain.called_function().is_none(),
            };
            if !same_callee || plain.argument_count() as usize != part.arguments.len() {
                return Err(format!(
                    "`{}` does not call what version {version} calls: `{}`",
                    text(),
                    plain.print().trim()
                ));
            }
            let mut operands: Vec<(Value, Value)> = part
                .arguments
                .iter()
                .copied()
                .zip((0..plain.argument_count()).filter_map(|i| plain.operand(i)))
                .collect();
            if let (Some(pointer), Some(called)) = (part.pointer, plain.called_operand()) {
                operands.push((pointer, called));
            }
            self.commit(
                k,
                call,
                Some((part.result, operands)),
                ord,
                &mut cursor[k],
                &mut ready[k],
                log,
            );
        }
        Ok(())
    }

    /// The block's terminator, if it ends the function.
    fn finish_block(
        &mut self,
        block: u32,
        cursor: &[State],
        ord: u32,
        log: &mut Log,
    ) -> Checked<()> {
        let terminator = self.body.blocks[block as usize].terminator;
        match terminator.opcode() {
            LLVMOpcode::LLVMBr | LLVMOpcode::LLVMSwitch => Ok(()),
            LLVMOpcode::LLVMRet => {
                if let Some((call, _)) = log.departure {
                    let result = terminator.operand(0);
                    return match result.is_none_or(|result| result == call) {
                        true => Ok(()),
                        false => Err("what the continuation returns is lost".into()),
                    };
                }
                for (k, state) in cursor.iter().enumerate() {
                    if matches!(state, State::Ended) {
                        continue;
                    }
                    let place = match log.moved[k] {
                        true => Place::Unknowing,
                        false => Place::Block(block),
                    };
                    let moves = self.route(k, state, place, Pos::RETURNED).ok_or_else(|| {
                        format!(
                            "the product returns, but version {} does not",
                            self.members[k].version + 1
                        )
                    })?;
                    self.log_moves(k, &moves, ord + 1 + (SLOTS - 2) * k as u32, log);
                    if let (Some(field), Some(all)) =
                        (self.members[k].result, terminator.operand(0))
                    {
                        log.returns.push((k, field_of(all, field)));
                    }
                }
                Ok(())
            }
            LLVMOpcode::LLVMUnreachable => {
                let last = self.body.blocks[block as usize].body.last();
                if last.is_some_and(|&last| ends_product(last)) {
                    return Ok(());
                }
                let is_there = |k: usize| {
                    if let State::Suspended {
                        label,
                        met: Met::Vacuous,
                    } = cursor[k]
                    {
                        // It has returned, but nobody comes here who has.
                        let facts = self.gather(k, Place::Block(block), Some(label));
                        return facts.same.iter().any(|&(a, b, same, _)| {
                            !same && a == label && b.as_integer() == Some(RETURNED)
                        });
                    }
                    let place = match log.moved[k] {
                        true => Place::Unknowing,
                        false => Place::Block(block),
                    };
                    let plain = &self.members[k].plain;
                    self.chain(k, &cursor[k], place).into_iter().any(|pos| {
                        plain
                            .at_end(pos)
                            .is_some_and(|b| b.terminator.opcode() == LLVMOpcode::LLVMUnreachable)
                    })
                };
                match (0..self.members.len()).any(is_there) {
                    true => Ok(()),
                    false => Err("the product ends where no version does".into()),
                }
            }
            _ => Err(format!("`{}` ends a block", terminator.print().trim())),
        }
    }

    /// The positions that a version may be said to have: those of its state, and where it goes from there.
    pub(super) fn chain(&self, k: usize, state: &State, place: Place) -> Vec<Pos> {
        self.chain_and_steps(k, state, place).0
    }

    /// The same, with the steps between them that are decided here.
    pub(super) fn chain_and_steps(
        &self,
        k: usize,
        state: &State,
        place: Place,
    ) -> (Vec<Pos>, Vec<Step>) {
        let Some(mut list) = self.positions(k, state, place) else {
            return Default::default();
        };
        let mut facts = None;
        let mut steps = Vec::new();
        let mut moves = Vec::new();
        let mut at = 0;
        while at < list.len() {
            self.may_bind.set(at + 1 == list.len());
            let found = self.step(k, list[at], place, &mut facts, &moves);
            self.may_bind.set(true);
            if let Some((next, step)) = found {
                steps.push((list[at], next, step));
                if at + 1 == list.len() && !list.contains(&next) {
                    moves.push(step);
                    list.push(next);
                }
            }
            at += 1;
        }
        if list.len() > 1 {
            list.retain(|&pos| pos != Pos::GUARD);
        }
        (list, steps)
    }

    /// The steps from a state to `target`.
    pub(super) fn route(
        &self,
        k: usize,
        state: &State,
        place: Place,
        target: Pos,
    ) -> Option<Vec<Move>> {
        let mut list = self.positions(k, state, place)?;
        // What a return does is done here unless it has been done.
        if list.len() > 1 {
            list.retain(|&pos| pos != Pos::RETURNED);
        }
        if list.contains(&target) {
            return Some(Vec::new());
        }
        let mut facts = None;
        let limit = self.members[k].plain.blocks.len() + 2;
        list.into_iter().rev().find_map(|start| {
            let mut pos = start;
            let mut moves = Vec::new();
            while pos != target {
                if moves.len() > limit {
                    return None;
                }
                let (next, step) = self.step(k, pos, place, &mut facts, &moves)?;
                moves.push(step);
                pos = next;
            }
            Some(moves)
        })
    }

    fn is_feasible(&mut self, edge: Edge) -> bool {
        let block = &self.body.blocks[edge.from as usize];
        let terminator = block.terminator;
        let condition = match terminator.opcode() {
            LLVMOpcode::LLVMBr if block.successors.len() == 2 => terminator.operand(0),
            LLVMOpcode::LLVMSwitch => terminator.operand(0),
            _ => None,
        };
        let Some(condition) = condition else {
            return true;
        };
        let is_switch = terminator.opcode() == LLVMOpcode::LLVMSwitch;
        let cases = if is_switch {
            terminator.case_values()
        } else {
            Vec::new()
        };
        if condition.is_constant() && condition.as_integer().is_some() {
            return match (is_switch, edge.successor) {
                (false, successor) => (condition == self.truth[1]) == (successor == 0),
                (true, 0) => !cases.contains(&condition),
                (true, case) => cases[case as usize - 1] == condition,
            };
        }
        let Some(log) = self.logs[edge.from as usize].as_ref().filter(|_| is_switch) else {
            return true;
        };
        let numbers: Vec<u64> = cases.iter().filter_map(|case| case.as_integer()).collect();
        let mut feasible = true;
        for (k, state) in log.out.iter().enumerate() {
            let State::Suspended { label, met } = *state else {
                continue;
            };
            if label == condition {
                match edge.successor {
                    0 => self.assumed.push((k, numbers.clone(), false)),
                    case => {
                        feasible &= self.goes_on_at(k, numbers[case as usize - 1]).is_some();
                    }
                }
            } else if met == Met::Vacuous && self.body.stops.contains(&condition) {
                // Only versions that have not returned come here.
                feasible = false;
            } else if met == Met::At(condition) {
                match edge.successor {
                    0 => {
                        self.assumed.push((k, numbers.clone(), true));
                        feasible = false;
                    }
                    case => {
                        feasible &= self.tables.met[k].contains_key(&numbers[case as usize - 1])
                    }
                }
            }
        }
        feasible
    }

    /// Carries the states along an edge.
    fn follow(&mut self, edge: Edge, force: bool) -> Checked<()> {
        if !self.is_feasible(edge) {
            return Ok(());
        }
        let target = self.body.target(edge);
        let mut arriving = Vec::new();
        for k in 0..self.members.len() {
            arriving.push(self.contribution(edge, target, k)?);
        }
        let again = self.contributions.insert(edge, arriving.clone());
        // States only get stricter, unless an edge says something else than before.
        let is_new = again.is_none() || again.as_ref() == Some(&arriving);
        let mut joined: Option<Vec<State>> = None;
        if let (true, Some(before)) = (is_new, &self.states[target as usize]) {
            joined = Some(self.join_all(before.clone(), &arriving, target)?);
        }
        for in_edge in &self.body.blocks[target as usize].in_edges {
            let Some(states) = self
                .contributions
                .get(in_edge)
                .filter(|_| !is_new || joined.is_none())
            else {
                continue;
            };
            joined = Some(match joined {
                None => states.clone(),
                Some(before) => self.join_all(before, states, target)?,
            });
        }
        let joined = joined.unwrap_or_default();
        let before = self.states[target as usize].as_ref();
        let log = self.logs[target as usize].as_ref();
        let settled = before.is_some_and(|before| {
            joined
                .iter()
                .zip(before)
                .enumerate()
                .all(|(k, (new, old))| {
                    new == old
                        || matches!(new, State::At(list) if log.is_some_and(|log| {
                            log.used[k].is_some_and(|used| list.contains(&used))
                        }))
                })
        });
        self.states[target as usize] = Some(joined);
        if !settled || force {
            self.work.push(target);
        }
        Ok(())
    }

    fn tests_flag_of(&self, k: usize, condition: Value) -> bool {
        tested_flag(condition).is_some_and(|(version, _)| version == self.members[k].version)
    }

    /// Whether an edge is taken only if member k's version has ended, as glue has found out.
    pub(super) fn ends(&self, k: usize, edge: Edge) -> bool {
        let terminator = self.body.blocks[edge.from as usize].terminator;
        let successors = self.body.blocks[edge.from as usize].successors.len();
        let flag = terminator
            .operand(0)
            .filter(|_| terminator.opcode() == LLVMOpcode::LLVMBr && successors == 2)
            .filter(|condition| {
                let load = condition
                    .is_instruction()
                    .then(|| condition.operand(0))
                    .flatten();
                load.is_some_and(is_flag_of_glue)
            })
            .and_then(tested_flag);
        flag.is_some_and(|(version, has_ended)| {
            version == self.members[k].version && has_ended == (edge.successor == 0)
        })
    }

    /// What edge `edge` says about member k in `target`.
    fn contribution(&mut self, edge: Edge, target: u32, k: usize) -> Checked<State> {
        let Some(log) = self.logs[edge.from as usize].as_ref() else {
            return Err("an edge from nowhere".into());
        };
        let state = match self.ends(k, edge) {
            true => State::Ended,
            false => log.out[k].clone(),
        };
        if let (State::Ended, false) = (&state, self.body.label_phi(target, k).is_some()) {
            return Ok(State::Ended);
        }
        if let Some(phi) = self.body.label_phi(target, k) {
            return self.suspend(edge, k, state, phi);
        }
        if self.body.blocks[target as usize].in_edges.len() == 1 {
            return Ok(state);
        }
        let (list, steps) = self.chain_and_steps(k, &state, Place::Edge(edge));
        self.steps.insert((edge, k), steps);
        match state {
            // Suspended versions stay so unless it is known where they go on.
            State::Suspended { .. } if list.is_empty() => Ok(state),
            _ => Ok(State::At(list)),
        }
    }

    /// Member k stops at the edge; `phi` says where it goes on.
    fn suspend(&mut self, edge: Edge, k: usize, state: State, phi: Value) -> Checked<State> {
        let label = self.body.on_edge(phi, edge);
        let number = label.is_constant().then(|| label.as_integer()).flatten();
        let version = self.members[k].version + 1;
        let met = match (&state, number) {
            (State::Ended, Some(RETURNED)) => Met::Vacuous,
            (State::Suspended { label: before, met }, None) if *before == label => {
                let terminator = self.body.blocks[edge.from as usize].terminator;
                let is_default = edge.successor == 0
                    && terminator.opcode() == LLVMOpcode::LLVMSwitch
                    && terminator.operand(0) == Some(label);
                match is_default {
                    true => Met::Vacuous,
                    false => *met,
                }
            }
            (_, Some(number)) => {
                let (mut list, steps) = self.chain_and_steps(k, &state, Place::Edge(edge));
                self.steps.insert((edge, k), steps);
                if list.is_empty() {
                    return Err(format!(
                        "version {version} gets number {number}, but nothing says where it is"
                    ));
                }
                if number == RETURNED {
                    if !list.contains(&Pos::RETURNED) {
                        return Err(format!(
                            "version {version} is said to have returned, but has not"
                        ));
                    }
                    Met::Vacuous
                } else {
                    list.retain(|&pos| pos != Pos::RETURNED);
                    self.number(k, number, false, &list)?;
                    let facts = self.gather(k, Place::Edge(edge), Some(phi));
                    let stop = facts.same.iter().find_map(|&(a, b, same, _)| {
                        let is_stop = same && self.body.stops.contains(&a);
                        is_stop
                            .then(|| b.as_integer().map(|number| (a, number)))
                            .flatten()
                    });
                    match stop {
                        Some((stop, meeting)) => {
                            self.number(k, meeting, true, &list)?;
                            Met::At(stop)
                        }
                        None => Met::Nothing,
                    }
                }
            }
            _ => {
                return Err(format!(
                    "nothing says where version {version} goes on after it was stopped"
                ))
            }
        };
        Ok(State::Suspended { label: phi, met })
    }

    /// Number `number` stands for these positions of member k.
    fn number(&mut self, k: usize, number: u64, is_met: bool, list: &[Pos]) -> Checked<()> {
        let table = match is_met {
            true => &mut self.tables.met[k],
            false => &mut self.tables.labels[k],
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
        if new.is_empty() {
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
            self.changed.insert((k, number, is_met));
        }
        Ok(())
    }

    /// Numbers have got a meaning: what goes on at them can be walked now. Whether there is any.
    fn follow_new_numbers(&mut self) -> Checked<bool> {
        let changed = std::mem::take(&mut self.changed);
        let mut edges = Vec::new();
        for from in 0..self.body.blocks.len() as u32 {
            let terminator = self.body.blocks[from as usize].terminator;
            let Some(log) = self.logs[from as usize].as_ref() else {
                continue;
            };
            if terminator.opcode() != LLVMOpcode::LLVMSwitch {
                continue;
            }
            let Some(condition) = terminator.operand(0) else {
                continue;
            };
            for (k, state) in log.out.iter().enumerate() {
                let State::Suspended { label, met } = *state else {
                    continue;
                };
                let is_met = met == Met::At(condition);
                if label != condition && !is_met {
                    continue;
                }
                for (case, value) in terminator.case_values().into_iter().enumerate() {
                    let number = value.as_integer().unwrap_or(RETURNED);
                    let edge = Edge {
                        from,
                        successor: case as u32 + 1,
                    };
                    // New, or so far nobody could tell where it is.
                    let is_open = !self.contributions.contains_key(&edge);
                    if changed.contains(&(k, number, is_met)) || is_open {
                        edges.push((edge, !is_open));
                    }
                }
            }
        }
        edges.sort();
        edges.dedup();
        let mut any = !changed.is_empty();
        for (edge, again) in edges {
            self.follow(edge, again)?;
            any |= !again && self.contributions.contains_key(&edge);
        }
        Ok(any)
    }

    fn join_all(&self, a: Vec<State>, b: &[State], target: u32) -> Checked<Vec<State>> {
        let pairs = a.into_iter().zip(b.iter().cloned()).enumerate();
        pairs
            .map(|(k, (a, b))| self.join(k, a, b, target))
            .collect()
    }

    fn join(&self, k: usize, a: State, b: State, target: u32) -> Checked<State> {
        match (a, b) {
            (State::Ended, other) | (other, State::Ended) => Ok(other),
            (
                State::Suspended { label: a, met },
                State::Suspended {
                    label: b,
                    met: other,
                },
            ) if a == b => Ok(State::Suspended {
                label: a,
                met: met.and(other),
            }),
            (State::At(a), State::At(b)) => {
                let both: Vec<Pos> = a.iter().copied().filter(|pos| b.contains(pos)).collect();
                if both.is_empty() {
                    let plain = &self.members[k].plain;
                    return Err(format!(
                        "version {} comes to block {target} at two places: {} and {}",
                        self.members[k].version + 1,
                        plain.describe(a[0]),
                        plain.describe(b[0])
                    ));
                }
                Ok(State::At(both))
            }
            _ => Err(format!(
                "version {} comes to block {target} both running and suspended",
                self.members[k].version + 1
            )),
        }
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
/// test is compared with the other versions' or stored in the frame.
pub(super) fn is_flag_of_glue(load: Value) -> bool {
    let branches_only = |comparison: Value| {
        tested_flag(comparison).is_some()
            && comparison.users().into_iter().all(|user| {
                matches!(
                    user.opcode(),
                    LLVMOpcode::LLVMBr | LLVMOpcode::LLVMAnd | LLVMOpcode::LLVMOr
                )
            })
    };
    load.is_instruction()
        && load.opcode() == LLVMOpcode::LLVMLoad
        && load.has_uses()
        && load.users().into_iter().all(branches_only)
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
