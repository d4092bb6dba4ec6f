//! Which loads and stores of the variables that stand for its frame's fields a continuation needs.
//!
//! Nobody but the continuation uses them, and only by loads and stores of the whole. So what one of them, a field for
//! short, holds is known wherever the last store or load on all ways is the same, and what is stored and not
//! loaded again need not be stored. Where ways meet that may have stored different things is what LLVM's phis would be
//! placed at: the iterated dominance frontier of the stores (Cytron et al., TOPLAS 1991), found here for all fields at
//! once, a bit each.

use crate::llvm::{Block, Value};
use inkwell::llvm_sys::LLVMOpcode;
use petgraph::algo::dominators::simple_fast;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::{HashMap, HashSet};

/// Removes loads and stores of fields (given by their addresses, which nothing else uses) that are not needed. Returns
/// those that take fewer instructions as SSA values: phis are fewer than loads and stores are left.
pub(super) fn simplify(function: Value, fields: &[Value]) -> Vec<Value> {
    if fields.is_empty() {
        return Vec::new();
    }
    let mut flow = Flow::of(function, fields);
    flow.forward();
    loop {
        flow.drop_unused_loads();
        let live = flow.live();
        if !flow.drop_dead_stores(&live) {
            let better = flow.better_as_values(&live, fields.len()).into_iter();
            return better.map(|field| fields[field]).collect();
        }
    }
}

/// A set of fields.
type Fields = Vec<u64>;

fn bits(set: &Fields) -> impl Iterator<Item = usize> + '_ {
    set.iter().enumerate().flat_map(|(word, &bits)| {
        (0..64)
            .filter(move |bit| bits >> bit & 1 == 1)
            .map(move |bit| word * 64 + bit)
    })
}

fn insert(set: &mut Fields, field: usize) {
    set[field / 64] |= 1 << (field % 64);
}

fn remove(set: &mut Fields, field: usize) {
    set[field / 64] &= !(1 << (field % 64));
}

fn contains(set: &Fields, field: usize) -> bool {
    set[field / 64] >> (field % 64) & 1 == 1
}

/// Adds a set to another one; whether that has grown.
fn add(set: &mut Fields, other: &Fields) -> bool {
    let mut grown = false;
    for (word, other) in set.iter_mut().zip(other) {
        grown |= *other & !*word != 0;
        *word |= other;
    }
    grown
}

/// A load or store of a field.
#[derive(Clone, Copy)]
struct Access {
    instruction: Value,
    field: usize,
    is_store: bool,
}

/// A function's blocks in reverse post-order, by number, and what they do to fields.
struct Flow {
    accesses: Vec<Vec<Access>>,
    successors: Vec<Vec<usize>>,
    predecessors: Vec<Vec<usize>>,
    /// The immediate dominator; the entry's is itself.
    dominator: Vec<usize>,
    /// For empty sets.
    words: usize,
}

/// The fields that are loaded before they are stored, from where a block starts and from where it ends.
struct Live {
    at_start: Vec<Fields>,
    at_end: Vec<Fields>,
}

impl Flow {
    fn of(function: Value, fields: &[Value]) -> Flow {
        let number: HashMap<Value, usize> = fields.iter().copied().zip(0..).collect();
        let blocks = reverse_post_order(function);
        let order: HashMap<Block, usize> = blocks.iter().copied().zip(0..).collect();
        let mut predecessors = vec![Vec::new(); blocks.len()];
        let mut successors = vec![Vec::new(); blocks.len()];
        let mut accesses = Vec::new();
        for (from, block) in blocks.iter().enumerate() {
            for next in successors_of(*block) {
                let to = order[&next];
                successors[from].push(to);
                predecessors[to].push(from);
            }
            let instructions = block.instructions().into_iter();
            let access = |instruction: Value| {
                let (address, is_store) = match instruction.opcode() {
                    LLVMOpcode::LLVMLoad => (instruction.operand(0), false),
                    LLVMOpcode::LLVMStore => (instruction.operand(1), true),
                    _ => (None, false),
                };
                let field = *number.get(&address?)?;
                Some(Access {
                    instruction,
                    field,
                    is_store,
                })
            };
            accesses.push(instructions.filter_map(access).collect());
        }
        Flow {
            accesses,
            dominator: dominators(&successors),
            successors,
            predecessors,
            words: fields.len().div_ceil(64),
        }
    }

    fn empty_sets(&self) -> Vec<Fields> {
        vec![vec![0; self.words]; self.accesses.len()]
    }

    /// Replaces loads by what their fields are known to hold, and removes stores of that.
    fn forward(&mut self) {
        let meetings = self.meetings();
        let mut children = vec![Vec::new(); self.dominator.len()];
        for (block, &dominator) in self.dominator.iter().enumerate().skip(1) {
            children[dominator].push(block);
        }
        let mut known: Vec<Option<Value>> = vec![None; self.words * 64];
        enum Step {
            Enter(usize),
            Restore(Vec<(usize, Option<Value>)>),
        }
        let mut work = vec![Step::Enter(0)];
        while let Some(step) = work.pop() {
            let block = match step {
                Step::Enter(block) => block,
                Step::Restore(before) => {
                    for (field, value) in before.into_iter().rev() {
                        known[field] = value;
                    }
                    continue;
                }
            };
            let mut before = Vec::new();
            for field in bits(&meetings[block]) {
                if known[field].is_some() {
                    before.push((field, known[field].take()));
                }
            }
            self.accesses[block].retain(|access| {
                let instruction = access.instruction;
                let holds = match access.is_store {
                    true => instruction.operand(0),
                    false => Some(instruction),
                };
                let needed = match known[access.field] {
                    Some(value) if access.is_store => holds != Some(value),
                    Some(value) => {
                        instruction.replace_all_uses_with(value);
                        false
                    }
                    None => true,
                };
                match needed {
                    true => before.push((
                        access.field,
                        std::mem::replace(&mut known[access.field], holds),
                    )),
                    false => instruction.erase_instruction(),
                }
                needed
            });
            work.push(Step::Restore(before));
            work.extend(children[block].iter().map(|&child| Step::Enter(child)));
        }
    }

    /// Per block, the fields that may hold different things on the ways to it.
    fn meetings(&self) -> Vec<Fields> {
        let mut frontier: Vec<Vec<usize>> = vec![Vec::new(); self.dominator.len()];
        for (block, before) in self.predecessors.iter().enumerate() {
            // The way from outside into the entry is one more.
            if before.len() + usize::from(block == 0) < 2 {
                continue;
            }
            let end = match block {
                0 => None,
                _ => Some(self.dominator[block]),
            };
            for &from in before {
                let mut runner = Some(from);
                while runner != end {
                    let Some(at) = runner else { break };
                    if frontier[at].last() == Some(&block) {
                        break;
                    }
                    frontier[at].push(block);
                    runner = (at > 0).then(|| self.dominator[at]);
                }
            }
        }
        let mut changed = self.empty_sets();
        for (set, accesses) in changed.iter_mut().zip(&self.accesses) {
            let stores = accesses.iter().filter(|access| access.is_store);
            stores.for_each(|access| insert(set, access.field));
        }
        let mut meetings = self.empty_sets();
        let mut has_grown = true;
        while has_grown {
            has_grown = false;
            for (block, frontier) in frontier.iter().enumerate() {
                for &meeting in frontier {
                    if add(&mut meetings[meeting], &changed[block]) {
                        let here = meetings[meeting].clone();
                        add(&mut changed[meeting], &here);
                        has_grown = true;
                    }
                }
            }
        }
        meetings
    }

    fn drop_unused_loads(&mut self) {
        for accesses in &mut self.accesses {
            accesses.retain(|access| {
                let needed = access.is_store || access.instruction.has_uses();
                if !needed {
                    access.instruction.erase_instruction();
                }
                needed
            });
        }
    }

    fn live(&self) -> Live {
        let mut live = Live {
            at_start: self.empty_sets(),
            at_end: self.empty_sets(),
        };
        let mut has_grown = true;
        while has_grown {
            has_grown = false;
            for block in (0..self.accesses.len()).rev() {
                for &next in &self.successors[block] {
                    add(&mut live.at_end[block], &live.at_start[next]);
                }
                let mut here = live.at_end[block].clone();
                for access in self.accesses[block].iter().rev() {
                    match access.is_store {
                        true => remove(&mut here, access.field),
                        false => insert(&mut here, access.field),
                    }
                }
                has_grown |= add(&mut live.at_start[block], &here);
            }
        }
        live
    }

    /// Whether there were any.
    fn drop_dead_stores(&mut self, live: &Live) -> bool {
        let mut dropped = false;
        for (accesses, live) in self.accesses.iter_mut().zip(&live.at_end) {
            let mut live = live.clone();
            let mut needed: Vec<bool> = accesses
                .iter()
                .rev()
                .map(|access| {
                    let is_live = contains(&live, access.field);
                    match access.is_store {
                        true => remove(&mut live, access.field),
                        false => insert(&mut live, access.field),
                    }
                    !access.is_store || is_live
                })
                .collect();
            accesses.retain(|access| {
                let needed = needed.pop().unwrap_or(true);
                if !needed {
                    access.instruction.erase_instruction();
                    dropped = true;
                }
                needed
            });
        }
        dropped
    }

    /// The fields of `count` that take fewer instructions as SSA values, and not many more operands of these: where
    /// versions take turns, hundreds of ways meet.
    fn better_as_values(&self, live: &Live, count: usize) -> Vec<usize> {
        const OPERANDS: usize = 8;
        let mut accesses = vec![0; count];
        for access in self.accesses.iter().flatten() {
            accesses[access.field] += 1;
        }
        let (mut phis, mut operands) = (vec![0; count], vec![0; count]);
        for (block, fields) in self.meetings().iter().enumerate() {
            let live = &live.at_start[block];
            for field in bits(fields).filter(|&field| contains(live, field)) {
                phis[field] += 1;
                operands[field] += self.predecessors[block].len();
            }
        }
        (0..count)
            .filter(|&field| accesses[field] > 0)
            .filter(|&field| phis[field] <= accesses[field])
            .filter(|&field| operands[field] <= OPERANDS * accesses[field])
            .collect()
    }
}

fn successors_of(block: Block) -> Vec<Block> {
    block
        .terminator()
        .map(Value::successors)
        .unwrap_or_default()
}

/// The blocks that can be reached.
pub(super) fn reverse_post_order(function: Value) -> Vec<Block> {
    let entry = function.blocks()[0];
    let mut seen = HashSet::from([entry]);
    let mut order = Vec::new();
    let mut work = vec![(entry, successors_of(entry))];
    while let Some((block, next)) = work.last_mut() {
        match next.pop() {
            Some(next) if seen.insert(next) => work.push((next, successors_of(next))),
            Some(_) => {}
            None => {
                order.push(*block);
                work.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Per block its immediate dominator; the entry's is itself.
fn dominators(successors: &[Vec<usize>]) -> Vec<usize> {
    let edges = successors.iter().enumerate().flat_map(|(from, next)| {
        let edge = move |&to: &usize| (from as u32, to as u32);
        next.iter().map(edge)
    });
    let mut graph = DiGraph::<(), ()>::from_edges(edges);
    while graph.node_count() < successors.len() {
        graph.add_node(());
    }
    let found = simple_fast(&graph, NodeIndex::new(0));
    let of = |block: usize| found.immediate_dominator(NodeIndex::new(block));
    (0..successors.len())
        .map(|block| of(block).map_or(0, NodeIndex::index))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm;

    /// The lines of a function's body that load and store, after simplification, and the names of the fields that had
    /// better be SSA values. `body` uses the fields `%a` and `%b`.
    fn simplified(body: &str) -> (Vec<String>, Vec<String>) {
        let context = llvm::new_context();
        let text = format!(
            "declare void @use(i32)\n\
             define void @f(ptr %frame, i1 %c, i32 %v, i32 %w) {{\n\
             %a = getelementptr {{ i32, i32 }}, ptr %frame, i32 0, i32 0\n\
             %b = getelementptr {{ i32, i32 }}, ptr %frame, i32 0, i32 1\n\
             {body}\n}}\n"
        );
        let module = llvm::parse(&context, text.as_bytes(), "test").unwrap();
        let function = llvm::global_named(&module, "f").unwrap();
        let fields = &function.blocks()[0].instructions()[..2];
        let values = simplify(function, fields).into_iter();
        let values = values.map(Value::name_text).collect();
        llvm::verify(&module).unwrap();
        let lines = function.print();
        let left = lines
            .lines()
            .filter(|line| line.contains("load") || line.contains("store") || line.contains("use("))
            .map(|line| {
                line.split(", align")
                    .next()
                    .unwrap_or(line)
                    .trim()
                    .to_string()
            })
            .collect();
        (left, values)
    }

    #[test]
    fn what_is_known_on_all_ways_is_not_loaded() {
        // A diamond that does not change the field, and a load that its first one dominates.
        let (left, values) = simplified(
            "store i32 %v, ptr %a
             br i1 %c, label %l, label %r
             l:
             call void @use(i32 1)
             br label %m
             r:
             br label %m
             m:
             %x = load i32, ptr %a
             call void @use(i32 %x)
             %y = load i32, ptr %b
             br i1 %c, label %n, label %o
             n:
             br label %o
             o:
             %z = load i32, ptr %b
             call void @use(i32 %z)
             call void @use(i32 %y)
             ret void",
        );
        let expected = [
            "call void @use(i32 1)",
            "call void @use(i32 %v)",
            "%y = load i32, ptr %b",
            "call void @use(i32 %y)",
            "call void @use(i32 %y)",
        ];
        assert_eq!(left, expected);
        assert_eq!(values, ["b"]);
    }

    #[test]
    fn what_ways_store_differently_is_stored_and_may_be_a_phi() {
        let (left, values) = simplified(
            "store i32 %v, ptr %a
             br i1 %c, label %l, label %m
             l:
             store i32 %w, ptr %a
             br label %m
             m:
             %x = load i32, ptr %a
             call void @use(i32 %x)
             ret void",
        );
        let expected = [
            "store i32 %v, ptr %a",
            "store i32 %w, ptr %a",
            "%x = load i32, ptr %a",
            "call void @use(i32 %x)",
        ];
        assert_eq!(left, expected);
        assert_eq!(values, ["a"]);
    }

    #[test]
    fn a_phi_of_many_ways_is_not_worth_it() {
        let cases: String = (0..30).map(|i| format!("i32 {i}, label %m ")).collect();
        let (_, values) = simplified(&format!(
            "store i32 %v, ptr %a
             switch i32 %v, label %l [{cases}]
             l:
             store i32 %w, ptr %a
             br label %m
             m:
             %x = load i32, ptr %a
             call void @use(i32 %x)
             ret void"
        ));
        assert!(values.is_empty());
    }

    #[test]
    fn loops_change_what_their_heads_load() {
        let (left, values) = simplified(
            "br label %h
             h:
             %x = load i32, ptr %a
             call void @use(i32 %x)
             %y = load i32, ptr %a
             store i32 %y, ptr %b
             br i1 %c, label %body, label %out
             body:
             store i32 %w, ptr %a
             br label %h
             out:
             %z = load i32, ptr %b
             call void @use(i32 %z)
             ret void",
        );
        let expected = [
            "%x = load i32, ptr %a",
            "call void @use(i32 %x)",
            "store i32 %w, ptr %a",
            "call void @use(i32 %x)",
        ];
        assert_eq!(left, expected);
        assert_eq!(values, ["a"]);
    }

    #[test]
    fn stores_that_nobody_reads_go_and_what_fed_them() {
        let (left, values) = simplified(
            "%x = load i32, ptr %a
             store i32 %x, ptr %b
             store i32 %v, ptr %a
             br i1 %c, label %l, label %r
             l:
             store i32 %w, ptr %a
             br label %r
             r:
             store i32 1, ptr %b
             %y = load i32, ptr %b
             call void @use(i32 %y)
             ret void",
        );
        assert_eq!(left, ["call void @use(i32 1)"]);
        assert!(values.is_empty());
    }

    #[test]
    fn what_was_loaded_before_a_loop_does_not_hold_in_it() {
        let (left, _) = simplified(
            "%x = load i32, ptr %a
             br label %h
             h:
             %y = load i32, ptr %a
             call void @use(i32 %y)
             store i32 %w, ptr %a
             br i1 %c, label %h, label %out
             out:
             call void @use(i32 %x)
             ret void",
        );
        let expected = [
            "%x = load i32, ptr %a",
            "%y = load i32, ptr %a",
            "call void @use(i32 %y)",
            "store i32 %w, ptr %a",
            "call void @use(i32 %x)",
        ];
        assert_eq!(left, expected);
    }
}
