//! Where versions stand, and what is known where ways meet.

use super::plain::Pos;
use crate::llvm::Value;
use std::collections::{BTreeSet, HashSet};

/// Where a version stands.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum State {
    /// At one of these positions, which nothing but decided branches separates, in the version's order.
    At {
        list: Vec<Pos>,
        /// Values of the product that are the version's result if it has returned or is about to.
        results: HashSet<Value>,
    },
    /// It was not called.
    Inactive,
    /// It goes on where its number says.
    Suspended(Suspended),
    /// It has ended, in a child of another version: nothing of it is run any more.
    Ended,
}

/// What is known of a suspended version.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Suspended {
    /// It may have returned.
    pub(super) returned: bool,
    /// It may have something left to do.
    pub(super) open: bool,
    /// If it has, it stands at the meeting point.
    pub(super) met: bool,
    /// In the lock-step function: its number is one of these.
    pub(super) numbers: BTreeSet<u64>,
}

impl State {
    pub(super) fn at(list: Vec<Pos>) -> State {
        State::At {
            list,
            results: HashSet::new(),
        }
    }

    /// What holds whichever of two ways was taken; none if nothing does.
    pub(super) fn join(&self, other: &State) -> Option<State> {
        match (self, other) {
            (State::Ended, State::Ended) => Some(State::Ended),
            (State::Ended, at @ State::At { .. }) | (at @ State::At { .. }, State::Ended) => {
                Some(at.clone())
            }
            (State::Inactive, State::Inactive) => Some(State::Inactive),
            (State::Inactive, at @ State::At { list, .. })
            | (at @ State::At { list, .. }, State::Inactive)
                if list.contains(&Pos::RETURNED) =>
            {
                Some(at.clone())
            }
            (State::Suspended(a), State::Suspended(b)) => Some(State::Suspended(Suspended {
                returned: a.returned || b.returned,
                open: a.open || b.open,
                met: a.met && b.met,
                numbers: &a.numbers | &b.numbers,
            })),
            (
                State::At { list, results },
                State::At {
                    list: others,
                    results: more,
                },
            ) => {
                let both: Vec<Pos> = list
                    .iter()
                    .copied()
                    .filter(|pos| others.contains(pos))
                    .collect();
                (!both.is_empty()).then(|| State::At {
                    list: both,
                    results: results & more,
                })
            }
            (State::Suspended(suspended), State::At { list, .. })
            | (State::At { list, .. }, State::Suspended(suspended))
                if !suspended.open && list.contains(&Pos::RETURNED) =>
            {
                Some(State::at(vec![Pos::RETURNED]))
            }
            _ => None,
        }
    }
}
