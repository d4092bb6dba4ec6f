//! Which instructions of two functions correspond, whatever blocks they stand in: for things that belong between two
//! instructions of one version and are wanted in another.

use super::digest::{Digest, Sketch};
use super::features::{self, Callee, Describer, Features, Hashes};
use super::sequence;
use crate::llvm::Value;
use crate::nodes::Graph;

/// Keeps these features apart from those of nodes.
const INSTRUCTION: u64 = 0x696e_7374;

/// For each of `a`, instructions of one function in their order, the index of its counterpart in `b`, those of
/// another function.
pub(crate) fn corresponding(a: &[Value], b: &[Value]) -> Vec<Option<usize>> {
    let mut found = vec![None; a.len()];
    if a.is_empty() || b.is_empty() {
        return found;
    }
    let resolve = |_: Value| Callee::Name;
    let mut describer = Describer::new(&resolve);
    let sides = [a, b].map(|all| all[0].parent_block().parent());
    let use_names = sides
        .iter()
        .all(|&function| features::has_variable_names(function));
    let described = [(sides[0], a), (sides[1], b)].map(|(function, all)| {
        let graph = Graph::of(function);
        describe(&features::hashes(&graph, &mut describer, use_names, all))
    });
    // Calls say what code is about; everything else repeats itself and lies between them.
    let calls = [a, b]
        .map(|all| -> Vec<usize> { (0..all.len()).filter(|&at| all[at].is_call()).collect() });
    let called = [0, 1].map(|side| -> Vec<&Features> {
        calls[side].iter().map(|&at| &described[side][at]).collect()
    });
    let mut from = (0, 0);
    let anchors = sequence::align(&called[0], &called[1], &mut 0);
    let anchors = anchors.into_iter().map(|(x, y)| (calls[0][x], calls[1][y]));
    for (x, y) in anchors.chain([(a.len(), b.len())]) {
        let gap: Vec<&Features> = described[0][from.0..x].iter().collect();
        let other: Vec<&Features> = described[1][from.1..y].iter().collect();
        for (p, q) in sequence::align(&gap, &other, &mut 0) {
            found[from.0 + p] = Some(from.1 + q);
        }
        if x < a.len() {
            found[x] = Some(y);
        }
        from = (x + 1, y + 1);
    }
    found
}

fn describe(hashes: &[Hashes]) -> Vec<Features> {
    let around = |of: &dyn Fn(&Hashes) -> u64, at: usize, reach: usize| {
        let range = at.saturating_sub(reach)..(at + reach + 1).min(hashes.len());
        let all = hashes[range].iter();
        all.fold(Digest::new(INSTRUCTION), |digest, one| digest.add(of(one)))
            .finish()
    };
    let full = |one: &Hashes| one.full;
    let bare = |one: &Hashes| one.bare;
    hashes
        .iter()
        .enumerate()
        .map(|(at, one)| Features {
            class: Digest::new(INSTRUCTION).add(one.bare).finish(),
            content: one.full,
            context: [around(&full, at, 1), around(&full, at, 2)],
            shape: [around(&bare, at, 1), around(&bare, at, 2)],
            sketch: Sketch::of(vec![one.full, one.plain, one.bare]),
            weight: 1,
            ..Features::default()
        })
        .collect()
}
