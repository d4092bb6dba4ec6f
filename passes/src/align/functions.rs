//! Which functions of the versions are one function.

use crate::llvm::Value;
use std::collections::{HashMap, HashSet};

/// One function as it exists in some of the versions.
pub(crate) struct FunctionGroup {
    /// One entry per version.
    pub(crate) members: Vec<Option<Value>>,
    /// Why the members are held for one function.
    pub(crate) how: How,
}

/// What two functions were matched by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum How {
    /// Equal names.
    Name,
    /// The user's word.
    Map,
    /// Only one version has it.
    Alone,
}

/// Groups the functions of all versions, `functions[i]` being those of version i. `map` gives (old, new) names
/// of renamed functions: `old` in one version is `new` in a later one. The first version's order is kept,
/// functions that it lacks follow.
pub(crate) fn match_functions(
    functions: &[Vec<Value>],
    map: &[(String, String)],
) -> Vec<FunctionGroup> {
    let mut groups: Vec<FunctionGroup> = Vec::new();
    let mut named: HashMap<String, usize> = HashMap::new();
    for (version, candidates) in functions.iter().enumerate() {
        let names: HashSet<String> = candidates.iter().map(|&f| plain_name(f)).collect();
        for &function in candidates {
            let own = plain_name(function);
            let mapped = map
                .iter()
                .find(|(old, new)| version > 0 && *new == own && !names.contains(old));
            let name = mapped.map_or(&own, |(old, _)| old).clone();
            let index = *named.entry(name).or_insert_with(|| {
                groups.push(FunctionGroup {
                    members: vec![None; functions.len()],
                    how: How::Alone,
                });
                groups.len() - 1
            });
            let group = &mut groups[index];
            if group.members.iter().any(Option::is_some) {
                group.how = if mapped.is_some() {
                    How::Map
                } else {
                    How::Name
                };
            }
            group.members[version] = Some(function);
        }
    }
    groups
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
