//! **sites**: lets a product say which calls in the versions' sources wrote what differs.
//!
//! Input: the joined product, before weaving ([`mark`]) and after it ([`announce`]). Guarantee: before every call
//! that a version's code makes of libc, or of what stands in for it, `p3_site` is told the version and the place;
//! the calls are known by metadata, which weaving copies with them. Only what looks for places asks for this.
//!
//! Not handled: calls through pointers, and what libc's headers inline; their bytes are the call's before.

use crate::llvm::{self, Builder, Module, Types, Value};
use crate::{finish, rename, runtime, weave};
use std::collections::HashMap;

/// The metadata that tells whose call it is.
const KIND: &str = "p3.site";

/// Marks the calls of all versions, if that is wanted; the runtime learns whether it is.
pub(crate) fn mark(product: &Module, count: usize, wanted: bool) {
    let flag = Types::of(product).constant(8, u64::from(wanted));
    finish::replace(product, "p3_has_sites", flag);
    if !wanted {
        return;
    }
    let prefixes: Vec<String> = (0..count).map(rename::prefix).collect();
    for function in llvm::functions(product) {
        let name = function.name_text();
        let version = prefixes.iter().position(|prefix| name.starts_with(prefix));
        let Some(version) = version.filter(|_| !runtime::is_runtime(function)) else {
            continue;
        };
        for call in calls(function) {
            call.set_number(KIND, version as u64);
        }
    }
}

/// Announces the marked calls.
pub(crate) fn announce(product: &Module) {
    let types = Types::of(product);
    let ty = types.function(types.void(), &[types.integer(32), types.pointer()]);
    let mut texts: HashMap<String, Value> = HashMap::new();
    for function in llvm::functions(product) {
        for call in calls(function) {
            let Some(version) = call.number(KIND) else {
                continue;
            };
            let text = weave::text_of(call);
            let number = texts.len();
            let site = *texts.entry(text).or_insert_with_key(|text| {
                let text = types.string(text.as_bytes());
                finish::constant(product, &format!("p3_site.{number}"), text)
            });
            let callee = llvm::global_named(product, "p3_site")
                .unwrap_or_else(|| llvm::add_function(product, "p3_site", ty));
            let builder = Builder::before(call);
            builder.set_location_of(call);
            builder.call(ty, callee, &[types.constant(32, version), site]);
        }
    }
}

/// The direct calls that leave the program's own code.
fn calls(function: Value) -> Vec<Value> {
    let leaves = |call: &Value| {
        call.called_function().is_some_and(|callee| {
            let is_intrinsic = callee.name_text().starts_with("llvm.");
            !is_intrinsic && (callee.is_declaration() || runtime::is_runtime(callee))
        })
    };
    let blocks = function.blocks().into_iter();
    let instructions = blocks.flat_map(|block| block.instructions());
    instructions
        .filter(|instruction| instruction.is_call())
        .filter(leaves)
        .collect()
}
