//! What `PPi_VAR` asks for: a variable by its name and what it leads to, resolved by debug info.

use crate::llvm::{encoding, tag, DebugType, Node};
use std::fmt::Write as _;

/// The numbers of `P3_KIND_` in p3.h.
pub(super) mod kind {
    pub(crate) const OTHER: u64 = 0;
    pub(crate) const SIGNED: u64 = 1;
    pub(crate) const UNSIGNED: u64 = 2;
    pub(crate) const REAL: u64 = 3;
    pub(crate) const POINTER: u64 = 4;
    pub(crate) const STRING: u64 = 5;
}

/// A step behind the variable's name.
#[derive(Clone, PartialEq, Debug)]
enum Step {
    Member(String),
    /// A member of what a pointer points to.
    Through(String),
    Element(u64),
}

/// The text of a path, taken apart.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Path {
    pub(super) variable: String,
    steps: Vec<Step>,
}

/// How to get from a variable to what a path names.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Route {
    /// Where in the variable the first thing is, in bytes.
    pub(super) start: u64,
    /// Pointers to be followed: each is read, and what comes next is so many bytes behind its target.
    pub(super) hops: Vec<u64>,
    /// What is found there; an array is not read, its address is the value.
    pub(super) kind: u64,
    /// In bytes.
    pub(super) size: u64,
    pub(super) is_array: bool,
}

impl Route {
    /// The size of what is read of the variable itself: a pointer, or the value.
    pub(super) fn first_size(&self) -> u64 {
        if self.hops.is_empty() {
            self.size
        } else {
            8
        }
    }
}

/// Takes a path apart; none if it is not one.
pub(super) fn parse(text: &str) -> Option<Path> {
    let mut rest = text.trim();
    let variable = identifier(&mut rest)?;
    let mut steps = Vec::new();
    loop {
        rest = rest.trim_start();
        if rest.is_empty() {
            return Some(Path { variable, steps });
        }
        if let Some(next) = rest.strip_prefix("->") {
            rest = next.trim_start();
            steps.push(Step::Through(identifier(&mut rest)?));
        } else if let Some(next) = rest.strip_prefix('.') {
            rest = next.trim_start();
            steps.push(Step::Member(identifier(&mut rest)?));
        } else {
            let (number, next) = rest.strip_prefix('[')?.split_once(']')?;
            steps.push(Step::Element(number.trim().parse().ok()?));
            rest = next;
        }
    }
}

fn identifier(rest: &mut &str) -> Option<String> {
    let end = rest
        .find(|c: char| !c.is_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    let (name, next) = rest.split_at(end);
    let is_name = name.starts_with(|c: char| !c.is_ascii_digit());
    *rest = next;
    is_name.then(|| name.to_string())
}

/// The way from a variable of type `ty` along the path; the error says where it ends.
pub(super) fn resolve(path: &Path, ty: Option<Node>) -> Result<Route, String> {
    let mut route = Route {
        start: 0,
        hops: Vec::new(),
        kind: kind::OTHER,
        size: 0,
        is_array: false,
    };
    let mut so_far = path.variable.clone();
    let mut current = Current::of(ty, &so_far)?;
    current.follow_references(&mut route, &so_far)?;
    for step in &path.steps {
        let is_pointer = current.ty.tag == tag::POINTER;
        match step {
            Step::Member(name) | Step::Through(name) => {
                if is_pointer != matches!(step, Step::Through(_)) {
                    let what = if is_pointer { "a" } else { "no" };
                    return Err(format!("{so_far} is {what} pointer"));
                }
                if is_pointer {
                    current = Current::of(current.ty.base, &so_far)?;
                    route.hops.push(0);
                }
                let member = current
                    .node
                    .member(name)
                    .ok_or_else(|| format!("{so_far} has no member {name}"))?;
                let _ = write!(so_far, "{}{name}", if is_pointer { "->" } else { "." });
                if member.is_bit_field {
                    return Err(format!("{so_far} is a bit-field"));
                }
                current = Current::of(member.ty, &so_far)?;
                route.forward(member.offset / 8);
            }
            Step::Element(index) => {
                if !is_pointer && current.ty.tag != tag::ARRAY {
                    return Err(format!("{so_far} is neither array nor pointer"));
                }
                if current.ty.count.is_some_and(|count| *index >= count) {
                    return Err(format!("{so_far} has no element {index}"));
                }
                if is_pointer {
                    route.hops.push(0);
                }
                current = Current::of(current.ty.base, &so_far)?;
                let _ = write!(so_far, "[{index}]");
                route.forward(index * (current.ty.bits / 8));
            }
        }
        current.follow_references(&mut route, &so_far)?;
    }
    route.is_array = current.ty.tag == tag::ARRAY;
    (route.kind, route.size) = current.value();
    Ok(route)
}

impl Route {
    fn forward(&mut self, bytes: u64) {
        match self.hops.last_mut() {
            Some(last) => *last += bytes,
            None => self.start += bytes,
        }
    }
}

/// Where a path has led to.
struct Current {
    node: Node,
    ty: DebugType,
}

impl Current {
    fn of(ty: Option<Node>, so_far: &str) -> Result<Current, String> {
        let node = ty
            .and_then(Node::plain_type)
            .ok_or_else(|| format!("{so_far} is of no type that has a size"))?;
        let ty = node.debug_type();
        Ok(Current { node, ty })
    }

    fn follow_references(&mut self, route: &mut Route, so_far: &str) -> Result<(), String> {
        while [tag::REFERENCE, tag::RVALUE_REFERENCE].contains(&self.ty.tag) {
            *self = Current::of(self.ty.base, so_far)?;
            route.hops.push(0);
        }
        Ok(())
    }

    /// The kind of the value, and its size.
    fn value(&self) -> (u64, u64) {
        let is_char = |ty: Option<Node>| {
            let ty = ty.and_then(Node::plain_type).map(Node::debug_type);
            ty.is_some_and(|ty| {
                ty.bits == 8
                    && ty.tag == tag::BASE
                    && [encoding::SIGNED_CHAR, encoding::UNSIGNED_CHAR].contains(&ty.encoding)
            })
        };
        let size = self.ty.bits / 8;
        match self.ty.tag {
            tag::POINTER | tag::ARRAY if is_char(self.ty.base) => (kind::STRING, 8),
            tag::POINTER | tag::ARRAY => (kind::POINTER, 8),
            tag::BASE => match self.ty.encoding {
                encoding::FLOAT => (kind::REAL, size),
                encoding::SIGNED | encoding::SIGNED_CHAR => (kind::SIGNED, size),
                _ => (kind::UNSIGNED, size),
            },
            tag::ENUMERATION => {
                let base = self.ty.base.and_then(Node::plain_type);
                let base = base.map(Node::debug_type);
                let is_signed = base.is_some_and(|base| {
                    [encoding::SIGNED, encoding::SIGNED_CHAR].contains(&base.encoding)
                });
                let kind = [kind::UNSIGNED, kind::SIGNED][usize::from(is_signed)];
                (kind, size)
            }
            _ => (kind::OTHER, size),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_apart() {
        let path = parse(" list -> next->words[ 2 ].size ").unwrap();
        assert_eq!(path.variable, "list");
        assert_eq!(
            path.steps,
            [
                Step::Through("next".into()),
                Step::Through("words".into()),
                Step::Element(2),
                Step::Member("size".into()),
            ]
        );
        for wrong in [
            "", "2x", "a b", "a.", "a[", "a[i]", "a[-1]", "*a", "f()", "a->", "a+1",
        ] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }
}
