//! Versions in forked children.
//!
//! In a child only the version that forked goes on; the others are over there, but stand on the same stack. So
//! behind a call in which one version may have forked, no other version runs any further without a test of its
//! alive flag: in lock-step such a test sends all of them to the continuation, which lets only those that are
//! alive go on.

use crate::llvm::{self, Builder, Module, Types, Value};
use crate::{libc, rename, runtime, Error, Result};
use std::collections::{HashMap, HashSet};

/// Which functions may return in a child as well.
pub(super) struct Forks {
    functions: HashSet<Value>,
    /// Whether a function whose address is taken is among them.
    through_pointer: bool,
    /// The versions' alive flags.
    alive: Vec<Value>,
    /// The runtime's flag that is set as soon as any version has ended.
    ended: Value,
}

impl Forks {
    /// `bound[i]` are the names of libc that version i's program refers to and the runtime stands in for.
    pub(super) fn of(module: &Module, bound: &[Vec<String>]) -> Result<Forks> {
        let alive = (0..bound.len())
            .map(|version| {
                let name = format!("{}p3v_alive", rename::prefix(version));
                llvm::global_named(module, &name)
                    .ok_or_else(|| Error::internal("weave", format!("no {name}")))
            })
            .collect::<Result<Vec<Value>>>()?;
        let mut forks = Forks {
            functions: HashSet::new(),
            through_pointer: false,
            alive,
            ended: llvm::global_named(module, runtime::ENDED)
                .ok_or_else(|| Error::internal("weave", format!("no {}", runtime::ENDED)))?,
        };
        for (version, bound) in bound.iter().enumerate() {
            for name in bound.iter().filter(|name| libc::returns_in_child(name)) {
                let prefix = rename::prefix(version);
                let shim = format!("{prefix}{}{name}", runtime::SHIM_PREFIX);
                forks.functions.extend(llvm::global_named(module, &shim));
            }
        }
        if !forks.functions.is_empty() {
            forks.close(module);
        }
        Ok(forks)
    }

    /// Adds the callers.
    fn close(&mut self, module: &Module) {
        let mut callers: HashMap<Value, Vec<Value>> = HashMap::new();
        // Programs' functions that call through a pointer or call code that may call back.
        let mut open = Vec::new();
        for function in llvm::functions(module) {
            if function.is_declaration() || !is_program(function) {
                continue;
            }
            let mut is_open = false;
            for block in function.blocks() {
                for call in block.instructions().into_iter().filter(|i| i.is_call()) {
                    match call.called_function() {
                        Some(callee) => {
                            callers.entry(callee).or_default().push(function);
                            is_open |= !callee.is_declaration() && runtime::is_runtime(callee)
                                || callee.is_declaration()
                                    && libc::may_call_back(&callee.name_text());
                        }
                        None => is_open = true,
                    }
                }
            }
            if is_open {
                open.push(function);
            }
        }
        let mut work: Vec<Value> = self.functions.iter().copied().collect();
        while let Some(function) = work.pop() {
            let mut next = callers.get(&function).cloned().unwrap_or_default();
            // runtime/core calls p3v_run only, through the version's hooks.
            let is_hook = runtime::is_runtime(function) && is_program(function);
            if !self.through_pointer && !is_hook && function.address_taken() {
                self.through_pointer = true;
                next.extend(&open);
            }
            for caller in next {
                if self.functions.insert(caller) {
                    work.push(caller);
                }
            }
        }
    }

    /// Whether a call of `callee` (none: through a pointer) may return in a child as well.
    pub(super) fn may_return_in_child(&self, callee: Option<Value>) -> bool {
        match callee {
            Some(callee) => {
                self.functions.contains(&callee)
                    || self.through_pointer && runtime::is_runtime(callee)
            }
            None => self.through_pointer,
        }
    }

    /// Whether any version may have ended, as a condition.
    pub(super) fn any_has_ended(&self, builder: &Builder) -> Value {
        let ended = builder.load(Types::of_function(self.ended).integer(8), self.ended);
        builder.not_equal(ended, ended.ty().zero())
    }

    /// Whether `version` has ended, as a condition.
    pub(super) fn has_ended(&self, builder: &Builder, version: usize) -> Value {
        builder.is_zero(self.flag(builder, version))
    }

    /// Whether `version` has not ended, as a condition.
    pub(super) fn is_alive(&self, builder: &Builder, version: usize) -> Value {
        let flag = self.flag(builder, version);
        builder.not_equal(flag, flag.ty().zero())
    }

    /// Whether none of the versions has ended; none: there are no versions.
    pub(super) fn are_alive(&self, builder: &Builder, versions: &[usize]) -> Option<Value> {
        versions
            .iter()
            .map(|&version| self.is_alive(builder, version))
            .reduce(|all, one| builder.and(all, one))
    }

    fn flag(&self, builder: &Builder, version: usize) -> Value {
        let alive = self.alive[version];
        builder.load(Types::of_function(alive).integer(8), alive)
    }

    /// The versions' alive flags.
    pub(super) fn alive(&self, version: usize) -> Value {
        self.alive[version]
    }
}

/// The programs' own code, and the runtime's that is woven with it.
fn is_program(function: Value) -> bool {
    let name = function.name_text();
    !runtime::is_runtime(function) || runtime::WOVEN.iter().any(|woven| name.ends_with(woven))
}
