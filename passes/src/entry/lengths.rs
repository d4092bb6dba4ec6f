//! Which number belongs to which pointer: as the user says, else as names and types do.
//!
//! An integer belongs to the pointer beside it if it is called like a length or is a `size_t`; several pointers of one
//! type before one length share it. `--entry 'F(POINTER=LENGTH, ...)'` says otherwise: LENGTH is a parameter (or a member
//! beside POINTER, if that is `parameter.member`), a number of objects, or `string`. Pointers that it does not name
//! keep to the rule, without the lengths that it gives to others.

use super::shape::{Sibling, LARGE};
use crate::llvm::tag;
use crate::{Error, Result};

/// How many objects a pointer leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Given {
    /// As the sibling with this index says.
    By(usize),
    /// So many.
    Count(u64),
    /// Up to a NUL.
    String,
}

impl Given {
    fn by(self) -> Option<usize> {
        match self {
            Given::By(index) => Some(index),
            _ => None,
        }
    }
}

/// What the user says.
#[derive(Debug)]
pub(super) struct Choice {
    parts: Vec<Part>,
}

/// `POINTER=LENGTH`
#[derive(Debug)]
struct Part {
    /// Parameter and members.
    pointer: Vec<String>,
    length: String,
    /// Whether some version has such a pointer, and such a length.
    is_pointer_known: bool,
    is_length_known: bool,
}

const OPTION: &str = "--entry";

impl Choice {
    /// Reads `F` or `F(POINTER=LENGTH, ...)`.
    pub(super) fn parse(entry: &str) -> Result<Choice> {
        let mut parts = Vec::new();
        let Some((_, list)) = entry.split_once('(') else {
            return Ok(Choice { parts });
        };
        let wrong = || {
            let reason = format!("'{entry}' is not F or F(POINTER=LENGTH, ...)");
            Error::bad_input(OPTION, reason)
        };
        let list = list.trim_end().strip_suffix(')').ok_or_else(wrong)?;
        for part in list.split(',') {
            let (pointer, length) = part.split_once('=').ok_or_else(wrong)?;
            let pointer: Vec<String> = pointer.split('.').map(|name| name.trim().into()).collect();
            let length = length.trim().to_string();
            if length.is_empty() || pointer.iter().any(String::is_empty) {
                return Err(wrong());
            }
            parts.push(Part {
                pointer,
                length,
                is_pointer_known: false,
                is_length_known: false,
            });
        }
        Ok(Choice { parts })
    }

    /// What is said of these siblings, to which `path` leads.
    fn of(&mut self, siblings: &[Sibling], path: &[String]) -> Result<Vec<Option<Given>>> {
        let path: Vec<&String> = path.iter().filter(|name| !name.is_empty()).collect();
        let mut given = vec![None; siblings.len()];
        for part in &mut self.parts {
            let Some((name, outer)) = part.pointer.split_last() else {
                continue;
            };
            if !outer.iter().eq(path.iter().copied()) {
                continue;
            }
            let Some(index) = siblings.iter().position(|sibling| sibling.name == *name) else {
                continue;
            };
            part.is_pointer_known = true;
            if let Some(length) = part.length(siblings, index)? {
                part.is_length_known = true;
                given[index] = Some(length);
            }
        }
        Ok(given)
    }

    /// Fails if something is said that no version has.
    pub(super) fn check(&self, function: &str) -> Result<()> {
        for part in &self.parts {
            let missing = match (part.is_pointer_known, part.is_length_known) {
                (false, _) => part.pointer.join("."),
                (true, false) => part.length.clone(),
                (true, true) => continue,
            };
            let what = match part.pointer.len() {
                1 => "parameter",
                _ => "such member",
            };
            let reason = format!("'{function}' has no {what} '{missing}'");
            return Err(Error::bad_input(OPTION, reason));
        }
        Ok(())
    }
}

impl Part {
    /// The length of that sibling; none if there is no such one in this version.
    fn length(&self, siblings: &[Sibling], index: usize) -> Result<Option<Given>> {
        let refuse = |reason: String| Err(Error::bad_input(OPTION, reason));
        let name = self.pointer.join(".");
        let pointer = &siblings[index].stripped;
        let pointee = pointer.pointee();
        if !pointer.is_pointer() || pointee.tag() == tag::SUBROUTINE {
            return refuse(format!("'{name}' does not point to objects"));
        }
        let partner = siblings
            .iter()
            .position(|sibling| sibling.name == self.length);
        if let Some(partner) = partner {
            let length = &siblings[partner].stripped;
            let behind = length.pointee();
            let is_behind = length.is_pointer() && behind.is_integer() && !behind.is_const;
            if partner == index || !length.is_integer() && !is_behind {
                return refuse(format!("'{}' is not an integer", self.length));
            }
            return Ok(Some(Given::By(partner)));
        }
        if self.length == "string" {
            if !pointee.is_character() {
                return refuse(format!("'{name}' does not point to characters"));
            }
            return Ok(Some(Given::String));
        }
        let is_number = self.length.starts_with(|c: char| c.is_ascii_digit());
        match self.length.parse::<u64>() {
            Ok(count) if (1..=LARGE).contains(&count) => Ok(Some(Given::Count(count))),
            _ if is_number => refuse(format!(
                "'{}' is not a number from 1 to {LARGE}",
                self.length
            )),
            _ => Ok(None),
        }
    }
}

/// Whether the name is that of a number of objects.
fn is_called_length(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let whole = ["n", "cnt", "num", "sz", "cap", "max", "avail", "cb", "l"];
    let parts = [
        "len", "size", "count", "nbytes", "nmemb", "capacity", "nelem", "num_", "nitems", "bytes",
    ];
    whole.contains(&name.trim_matches('_'))
        || name.ends_with("_n")
        || name.ends_with("_sz")
        || name.ends_with("_cnt")
        || parts.iter().any(|part| name.contains(part))
}

/// Whether a `size_t` of that name is something else than a length.
fn is_called_otherwise(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let parts = [
        "pos", "index", "idx", "offset", "off", "seed", "hash", "width", "base",
    ];
    name == "i" || parts.iter().any(|part| name.contains(part))
}

/// For each sibling, how many objects it leads to, if anything says that. `path` leads to the siblings.
pub(super) fn lengths(
    siblings: &[Sibling],
    choice: &mut Choice,
    path: &[String],
) -> Result<Vec<Option<Given>>> {
    let given = choice.of(siblings, path)?;
    let is_memory = |sibling: &Sibling| {
        let pointee = sibling.stripped.pointee();
        sibling.stripped.is_pointer() && pointee.tag() != tag::SUBROUTINE && !pointee.is_pointer()
    };
    let is_size = |sibling: &Sibling| {
        let sizes = ["size_t", "ssize_t", "rsize_t"];
        sibling
            .stripped
            .typedefs
            .iter()
            .any(|t| sizes.contains(&t.as_str()))
    };
    let is_list = |sibling: &Sibling| {
        sibling.stripped.is_pointer() && sibling.stripped.pointee().is_pointer()
    };
    // What a user says of one sibling is no matter of its name any more.
    let is_open = |index: usize| given[index].is_none();
    let mut found: Vec<Option<usize>> = given
        .iter()
        .map(|given| given.and_then(Given::by))
        .collect();
    let taken: Vec<usize> = found.iter().flatten().copied().collect();
    for index in 0..siblings.len() {
        if !is_open(index) {
            continue;
        }
        let is_memory = is_memory(&siblings[index]);
        let pointee = siblings[index].stripped.pointee();
        let may_follow = |next: &Sibling| {
            let through = next.stripped.is_pointer() && !pointee.is_opaque() && {
                let length = next.stripped.pointee();
                length.is_count() && !length.is_const && is_called_length(&next.name)
            };
            let is_plain = next.stripped.is_count()
                && (is_called_length(&next.name)
                    || is_size(next) && !is_called_otherwise(&next.name)
                    || pointee.node.is_none());
            is_memory && (through || is_plain)
                || is_list(&siblings[index])
                    && next.stripped.is_count()
                    && is_called_length(&next.name)
        };
        if siblings.get(index + 1).is_some_and(may_follow) && !taken.contains(&(index + 1)) {
            found[index] = Some(index + 1);
        }
    }
    // A length may stand before its pointer, unless it belongs to another one.
    for index in 1..siblings.len() {
        let before = &siblings[index - 1];
        if is_memory(&siblings[index])
            && is_open(index)
            && found[index].is_none()
            && !found.contains(&Some(index - 1))
            && before.stripped.is_count()
            && is_called_length(&before.name)
        {
            found[index] = Some(index - 1);
        }
    }
    // Pointers of one type before one length share it.
    for index in (0..siblings.len().saturating_sub(1)).rev() {
        let next = index + 1;
        let shared = found[next].filter(|length| *length > next);
        let is_length = found.contains(&Some(index)) || found.contains(&Some(next));
        let is_shared = shared.is_some_and(|length| !taken.contains(&length));
        if !is_open(index) || found[index].is_some() || is_length || !is_memory(&siblings[index]) {
            continue;
        }
        let (a, b) = (
            siblings[index].stripped.pointee(),
            siblings[next].stripped.pointee(),
        );
        if is_shared && a.node == b.node {
            found[index] = shared;
        }
    }
    let of_names = found.into_iter().map(|length| length.map(Given::By));
    Ok(given
        .into_iter()
        .zip(of_names)
        .map(|(given, of_name)| given.or(of_name))
        .collect())
}
