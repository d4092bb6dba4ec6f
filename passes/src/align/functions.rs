//! Which functions of the versions are one function.

use super::features::{self, Callee, Describer, Outline};
use crate::llvm::{Type, Value};
use crate::nodes::Graph;
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::path::{Component, Path};

/// One function as it exists in some of the versions.
pub(crate) struct FunctionGroup {
    /// One entry per version.
    pub(crate) members: Vec<Option<Value>>,
    /// Why the members are held for one function.
    pub(crate) how: How,
}

impl FunctionGroup {
    /// The members that there are, in the order of the versions.
    pub(crate) fn present(&self) -> Vec<Value> {
        self.members.iter().flatten().copied().collect()
    }
}

/// Why a function is not woven that no other version has.
pub(crate) const ALONE: &str = "exists in one version only";

/// What functions were matched by; of several reasons the least certain one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// Only one version has it.
    Alone,
    /// The user's word.
    Map,
    /// Equal names.
    Name,
    /// Equal bodies.
    Body,
    /// Bodies that have most in common.
    Likeness,
}

/// Groups the functions of all versions, `functions[i]` being those of version i. `map` gives (old, new) names
/// of renamed functions: `old` in one version is `new` in a later one. The first version's order is kept,
/// functions that it lacks follow.
///
/// The user's word comes first, then names; what is left over goes by equal bodies and at last by bodies that
/// have most in common.
pub(crate) fn match_functions(
    functions: &[Vec<Value>],
    map: &[(String, String)],
) -> Vec<FunctionGroup> {
    let mut grouping = Grouping {
        groups: Vec::new(),
        group_of: HashMap::new(),
    };
    for (version, candidates) in functions.iter().enumerate() {
        let mut left: Vec<Value> = candidates.clone();
        grouping.match_mapped(version, &mut left, map);
        grouping.match_named(version, &mut left);
        grouping.match_equal_bodies(version, &mut left);
        grouping.match_similar_bodies(version, &mut left);
        for function in left {
            let mut members = vec![None; functions.len()];
            members[version] = Some(function);
            let how = How::Alone;
            grouping.group_of.insert(function, grouping.groups.len());
            grouping.groups.push(FunctionGroup { members, how });
        }
    }
    grouping.groups
}

/// Warnings of pairs in `map` that say nothing although there are functions of both names: `functions`, `groups` and
/// `map` as for [`match_functions`], which takes the first of several pairs for one function.
pub(crate) fn unused_pairs(
    functions: &[Vec<Value>],
    groups: &[FunctionGroup],
    map: &[(String, String)],
) -> Vec<String> {
    let is_there = |name: &str| {
        let mut all = functions.iter().flatten();
        all.any(|&function| plain_name(function) == name)
    };
    let is_used = |old: &str, new: &str| {
        groups.iter().any(|group| {
            let mut names = group.members.iter().flatten().map(|&f| plain_name(f));
            names.any(|name| name == old) && names.any(|name| name == new)
        })
    };
    map.iter()
        .filter(|(old, new)| is_there(old) && is_there(new) && !is_used(old, new))
        .map(|(old, new)| {
            format!(
                "--map {old}={new}: not used: another pair names one of them, or no version before one with {new} has {old}"
            )
        })
        .collect()
}

/// Functions smaller than this (in instructions) say too little to be matched by likeness.
const TELLING: u32 = 12;
/// How much two bodies must have in common, of 256.
const ALIKE: u32 = 160;
/// Code that more functions than this share does not single out any of them.
const COMMON: usize = 16;

/// The groups formed so far.
struct Grouping {
    groups: Vec<FunctionGroup>,
    group_of: HashMap<Value, usize>,
}

impl Grouping {
    fn join(&mut self, group: usize, version: usize, function: Value, how: How) {
        self.group_of.insert(function, group);
        let group = &mut self.groups[group];
        group.members[version] = Some(function);
        group.how = group.how.max(how);
    }

    /// The groups that lack this version, each with its first member.
    fn open(&self, version: usize) -> impl Iterator<Item = (usize, Value)> + '_ {
        self.groups
            .iter()
            .enumerate()
            .filter(move |(_, group)| group.members[version].is_none())
            .filter_map(|(index, group)| {
                Some((index, group.members.iter().copied().flatten().next()?))
            })
    }

    fn match_mapped(&mut self, version: usize, left: &mut Vec<Value>, map: &[(String, String)]) {
        for (old, new) in map {
            let named = |name: &str, function: Value| plain_name(function) == name;
            let group = self.open(version).map(|(group, _)| group).find(|&group| {
                let mut members = self.groups[group].members.iter().flatten();
                members.any(|&member| named(old, member))
            });
            let function = left.iter().position(|&f| named(new, f));
            if let (Some(group), Some(function)) = (group, function) {
                self.join(group, version, left.remove(function), How::Map);
            }
        }
    }

    /// Equal names. Static functions of one name, which the linker numbers in the order of the files, are told
    /// apart by their files, then by their bodies, and only then by number. Of a file's path the versions share the end.
    fn match_named(&mut self, version: usize, left: &mut Vec<Value>) {
        let mut families: BTreeMap<String, (Vec<usize>, Vec<Value>)> = BTreeMap::new();
        let family = |function: Value| plain_local(&plain_name(function)).to_string();
        for (group, first) in self.open(version) {
            families.entry(family(first)).or_default().0.push(group);
        }
        for &function in left.iter() {
            if let Some(members) = families.get_mut(&family(function)) {
                members.1.push(function);
            }
        }
        for (mut groups, mut functions) in families.into_values() {
            if groups.len() > 1 || functions.len() > 1 {
                let firsts = groups.iter().filter_map(|&group| self.first(group));
                let paths: HashMap<Value, Vec<String>> = firsts
                    .chain(functions.iter().copied())
                    .filter_map(|f| Some((f, path_from_end(&f.definition_place()?.file))))
                    .collect();
                let longest = paths.values().map(Vec::len).max().unwrap_or(0);
                for length in (1..=longest).rev() {
                    let end = |f: Value| paths.get(&f)?.get(..length).map(<[String]>::to_vec);
                    self.match_by(version, &mut groups, &mut functions, How::Name, end);
                }
                let bodies = self.bodies(version, &groups, &functions);
                let body = |f: Value| bodies.get(&f).copied();
                self.match_by(version, &mut groups, &mut functions, How::Name, body);
                self.match_similar(version, &mut groups, &mut functions, How::Name);
                let name = |f: Value| Some(plain_name(f));
                self.match_by(version, &mut groups, &mut functions, How::Name, name);
            }
            if let ([group], [function]) = (&groups[..], &functions[..]) {
                self.join(*group, version, *function, How::Name);
            }
        }
        left.retain(|function| !self.group_of.contains_key(function));
    }

    /// Matches groups and functions that alone have some key, and takes them out of the lists.
    fn match_by<K: Hash + Eq>(
        &mut self,
        version: usize,
        groups: &mut Vec<usize>,
        functions: &mut Vec<Value>,
        how: How,
        key: impl Fn(Value) -> Option<K>,
    ) {
        let mut of_key: HashMap<K, (Vec<usize>, Vec<Value>)> = HashMap::new();
        for &group in groups.iter() {
            if let Some(key) = self.first(group).and_then(&key) {
                of_key.entry(key).or_default().0.push(group);
            }
        }
        for &function in functions.iter() {
            if let Some(members) = key(function).and_then(|key| of_key.get_mut(&key)) {
                members.1.push(function);
            }
        }
        for (groups, functions) in of_key.into_values() {
            if let ([group], [function]) = (&groups[..], &functions[..]) {
                self.join(*group, version, *function, how);
            }
        }
        groups.retain(|&group| self.groups[group].members[version].is_none());
        functions.retain(|function| !self.group_of.contains_key(function));
    }

    fn first(&self, group: usize) -> Option<Value> {
        self.groups[group].members.iter().copied().flatten().next()
    }

    /// Renamed functions; each match may make its callers equal.
    fn match_equal_bodies(&mut self, version: usize, left: &mut Vec<Value>) {
        loop {
            let mut groups: Vec<usize> = self.open(version).map(|(group, _)| group).collect();
            if groups.is_empty() || left.is_empty() {
                return;
            }
            let before = left.len();
            let bodies = self.bodies(version, &groups, left);
            let body = |f: Value| bodies.get(&f).copied();
            self.match_by(version, &mut groups, left, How::Body, body);
            if left.len() == before {
                return;
            }
        }
    }

    /// Renamed functions that were changed as well.
    fn match_similar_bodies(&mut self, version: usize, left: &mut Vec<Value>) {
        let mut groups: Vec<usize> = self.open(version).map(|(group, _)| group).collect();
        self.match_similar(version, &mut groups, left, How::Likeness);
    }

    /// Matches groups and functions of which each is the other's most similar, and takes them out of the lists.
    fn match_similar(
        &mut self,
        version: usize,
        groups: &mut Vec<usize>,
        functions: &mut Vec<Value>,
        how: How,
    ) {
        let resolve = |function: Value| self.callee(version, function);
        let mut describer = Describer::new(&resolve);
        let mut outlines = |functions: &[Value]| -> Vec<Outline> {
            functions
                .iter()
                .map(|&function| features::outline(function, &mut describer))
                .collect()
        };
        let firsts = groups.iter().filter_map(|&group| self.first(group));
        let old = outlines(&firsts.collect::<Vec<_>>());
        let new = outlines(functions);
        let forth = most_similar(&old, &new);
        let back = most_similar(&new, &old);
        let pairs: Vec<(usize, Value)> = forth
            .into_iter()
            .enumerate()
            .filter_map(|(x, y)| (back[y?] == Some(x)).then_some((groups[x], functions[y?])))
            .collect();
        for (group, function) in pairs {
            self.join(group, version, function, how);
        }
        groups.retain(|&group| self.groups[group].members[version].is_none());
        functions.retain(|function| !self.group_of.contains_key(function));
    }

    /// Body hashes of the groups' first members and of the functions.
    fn bodies(&self, version: usize, groups: &[usize], functions: &[Value]) -> HashMap<Value, u64> {
        let resolve = |function: Value| self.callee(version, function);
        let mut describer = Describer::new(&resolve);
        groups
            .iter()
            .filter_map(|&group| self.first(group))
            .chain(functions.iter().copied())
            .map(|function| {
                (
                    function,
                    features::body(&Graph::of(function), &mut describer),
                )
            })
            .collect()
    }

    /// Functions matched in this version are told apart, those that are not yet count by their type.
    fn callee(&self, version: usize, function: Value) -> Callee {
        match self.group_of.get(&function) {
            Some(&group) if self.groups[group].members[version].is_some() => Callee::Group(group),
            _ if function.is_declaration() => Callee::Name,
            _ => Callee::Type,
        }
    }
}

/// The parts of a file's path, its name first.
fn path_from_end(file: &str) -> Vec<String> {
    let parts = Path::new(file).components().rev();
    let normal = parts.filter(|part| matches!(part, Component::Normal(_)));
    normal
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect()
}

/// For each of `from` the one of `to` that is most similar, if any is similar enough.
fn most_similar(from: &[Outline], to: &[Outline]) -> Vec<Option<usize>> {
    let mut holders: HashMap<u32, Vec<usize>> = HashMap::new();
    for (index, outline) in to.iter().enumerate() {
        for &element in outline.sketch.elements() {
            holders.entry(element).or_default().push(index);
        }
    }
    from.iter()
        .map(|outline| {
            let mut candidates: Vec<usize> = outline
                .sketch
                .elements()
                .iter()
                .filter_map(|element| holders.get(element))
                .filter(|holders| holders.len() <= COMMON)
                .flatten()
                .copied()
                .filter(|&index| outline.weight.min(to[index].weight) >= TELLING)
                .collect();
            candidates.sort_unstable();
            candidates.dedup();
            candidates
                .into_iter()
                .map(|index| (outline.sketch.similarity(&to[index].sketch), index))
                .filter(|&(similarity, _)| similarity >= ALIKE)
                .max_by_key(|&(similarity, index)| (similarity, std::cmp::Reverse(index)))
                .map(|(_, index)| index)
        })
        .collect()
}

/// A global's name in its source: without the version's prefix.
pub(crate) fn plain_name(global: Value) -> String {
    let name = global.name_text();
    let text = name.strip_prefix('\x01').unwrap_or(&name);
    without_prefix(text).to_string()
}

/// Strips `_PPi_`.
fn without_prefix(name: &str) -> &str {
    name.strip_prefix("_PP")
        .map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_digit()))
        .filter(|rest| rest.len() < name.len() - 3)
        .and_then(|rest| rest.strip_prefix('_'))
        .unwrap_or(name)
}

/// LLVM's text of a type as it would be without other modules in the context: a struct by its name alone.
pub(super) fn plain_type(ty: Type) -> String {
    let text = ty.print();
    let head = text.split(" = type").next().unwrap_or_default();
    let mut plain = String::with_capacity(head.len());
    let mut rest = head;
    while let Some(start) = rest.find('%') {
        let name_end = rest[start + 1..]
            .find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | ':' | '$' | '-'))
            .map_or(rest.len(), |end| start + 1 + end);
        plain.push_str(&rest[..start]);
        plain.push_str(plain_local(&rest[start..name_end]));
        rest = &rest[name_end..];
    }
    plain.push_str(rest);
    plain
}

/// Endings of source files, which [`crate::link`] puts behind names that several files have.
const SOURCE_ENDINGS: [&str; 9] = [".c", ".C", ".cc", ".cpp", ".cxx", ".m", ".rs", ".h", ".ll"];

/// Strips what tells apart local symbols of one name: the `.N` that LLVM appends, again and again in every
/// module it links or loads, and the source file that [`crate::link`] appends.
pub(super) fn plain_local(name: &str) -> &str {
    let mut name = name;
    loop {
        let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let numbered = base
            .strip_suffix('.')
            .filter(|shorter| base.len() < name.len() && !shorter.is_empty());
        let filed = || {
            let ending = SOURCE_ENDINGS.iter().find_map(|e| name.strip_suffix(e))?;
            let end = ending.rfind('.').filter(|&end| end > 0)?;
            Some(&name[..end])
        };
        match numbered.or_else(filed) {
            Some(shorter) => name = shorter,
            None => return name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lose_prefixes_and_numbers() {
        assert_eq!(plain_local("help.3"), "help");
        assert_eq!(plain_local("struct.anon.57.890"), "struct.anon");
        assert_eq!(plain_local("help.b.c"), "help");
        assert_eq!(plain_local("f.count.long-name.cpp.2"), "f.count");
        assert_eq!(plain_local("sha256"), "sha256");
        assert_eq!(plain_local("x.c"), "x.c");
        assert_eq!(plain_local(".5"), ".5");
        assert_eq!(without_prefix("_PP12_main"), "main");
        assert_eq!(without_prefix("_PPmain"), "_PPmain");
        assert_eq!(without_prefix("_PP_main"), "_PP_main");
        assert_eq!(without_prefix("main"), "main");
    }
}
