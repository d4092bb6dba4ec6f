//! **check**: verifies that weaving kept every version intact.
//!
//! Input: the product after weave and before its scaffold is removed: the versions' plain functions `_PPi_f` stand
//! beside the product functions `_PP_f` and their continuations, every value that crosses nodes is in memory.
//! What comes behind the checker is LLVM's own (merging of blocks, globaldce), SSA values in place of memory
//! (`p3_promote` in `llvm/wrappers.cpp`), what `weave/scaffold.rs`, `weave/frames.rs` and `weave/hand_over.rs` do to
//! frames, `weave/branches.rs`, `weave/switches.rs`, `flags.rs` and `share.rs`. Guarantee: for every version, what a
//! product function does along any path is what the version's plain function does along one of its own paths: the same
//! instructions in the same order on the same version's values, the same branches by the version's own conditions, the
//! same arguments and result. What belongs to no version can neither change nor read a version's memory.
//!
//! It shares no table with weave. What it takes for granted is the shape of the interface: the parameters
//! of a product function, memory called `slot` and `result`, the frame with one field per value, a number that
//! says where each version goes on (-1: it has returned) and a switch per version that obeys it. What a cell is
//! for, where versions stand in a block and what a number means is found by walking product and plain functions
//! side by side; this may guess, and a wrong guess rejects a good product at worst, because all of it is then
//! shown to hold by induction: at the entry, and behind every block and edge if it holds before (`walk.rs`).
//! `contents.rs` follows what values and cells hold within a block, `facts.rs` what has been branched on.
//!
//! Not checked: hand-written models; what a version does after it has ended in a forked child; flags such as `nsw`
//! and metadata; that versions meet again as early as they could.

mod body;
mod calls;
mod contents;
mod dispatch;
mod facts;
mod plain;
mod specs;
mod state;
mod walk;

use crate::llvm::{self, Module, Type, Value};
use crate::{weave, Error, Result};
use body::Body;
use inkwell::llvm_sys::LLVMOpcode;
use plain::Plain;
use std::cell::RefCell;
use std::collections::HashMap;
use walk::{Member, Numbers, Walk};

/// Calls that weave may insert: functions of runtime/core that leave the versions' memory alone.
const GLUE_CALLS: [&str; 7] = [
    "p3_enter",
    "p3_enter_for",
    "p3_touch",
    "p3_parted",
    "p3_dispatch",
    "p3_spec_evaluate",
    "p3_spec_compared",
];

/// The number of a version that has returned.
const RETURNED: u64 = u32::MAX as u64;

/// Dispatchers, and the calls that they stand for: versions and function types.
type Dispatchers = HashMap<Value, Vec<(usize, Type)>>;

/// What is learned about product functions and dispatchers.
struct Tables {
    /// Per product function: its members, with their versions.
    products: HashMap<Value, Vec<(usize, Value)>>,
    dispatchers: RefCell<Dispatchers>,
}

fn is_product_name(name: &str) -> bool {
    name.starts_with("_PP_")
}

fn is_dispatcher_name(name: &str) -> bool {
    name.starts_with("_PP_dispatch.")
}

/// The version (from 0) in whose name space a symbol is.
fn version_of(name: &str) -> Option<usize> {
    let (number, _) = name.strip_prefix("_PP")?.split_once('_')?;
    number.parse::<usize>().ok()?.checked_sub(1)
}

/// Verifies all product functions of `module`; the error is the first violation.
pub(crate) fn check(module: &Module) -> Result<()> {
    match violations(module).into_iter().next() {
        Some(first) => Err(first),
        None => Ok(()),
    }
}

/// What is wrong with the product functions of `module`, at most one violation per function.
pub(crate) fn violations(module: &Module) -> Vec<Error> {
    let mut found = Vec::new();
    let mut products = HashMap::new();
    let mut all = Vec::new();
    for function in llvm::functions(module) {
        let name = function.name_text();
        let first = function
            .parameters()
            .first()
            .and_then(|p| p.ty().integer_width());
        if function.is_declaration() || !is_product_name(&name) || first != Some(1) {
            continue;
        }
        if let Some(members) = members_of(function) {
            products.insert(function, members);
            all.push(function);
        } else if let Some(members) = members_of_model(module, function) {
            products.insert(function, members);
        } else if !is_model(function) && !is_dispatcher_name(&name) {
            found.push(violation(function, "its members cannot be seen"));
        }
    }
    let tables = Tables {
        products,
        dispatchers: RefCell::default(),
    };
    for function in all {
        found.extend(check_product(function, &tables).err());
    }
    let mut dispatchers: Vec<Value> = tables.dispatchers.borrow().keys().copied().collect();
    dispatchers.sort_by_key(|dispatcher| dispatcher.name());
    for dispatcher in dispatchers {
        found.extend(
            dispatch::check(dispatcher, &tables)
                .err()
                .map(|what| violation(dispatcher, what)),
        );
    }
    found
}

fn violation(function: Value, what: impl std::fmt::Display) -> Error {
    Error::internal("check", format!("{}: {what}", function.name_text()))
}

/// A product function's members: what it calls when only one activation variable is set.
fn members_of(product: Value) -> Option<Vec<(usize, Value)>> {
    let mut members: Vec<(usize, Value)> = Vec::new();
    // What comes behind the activation variables are the members' arguments, which may be conditions, too.
    let is_all = |members: &[(usize, Value)]| {
        let count: usize = members.iter().map(|m| 1 + m.1.parameters().len()).sum();
        members.len() >= 2 && count == product.parameters().len()
    };
    for parameter in product.parameters() {
        if parameter.ty().integer_width() != Some(1) || is_all(&members) {
            break;
        }
        // Where a version may have ended in a child, its flag is looked at as well.
        let conditions = parameter.users().into_iter().filter(|user| {
            user.opcode() == LLVMOpcode::LLVMAnd
                && user
                    .operands()
                    .iter()
                    .any(|&operand| tested_flag(operand).is_some())
        });
        let branch = conditions
            .chain([parameter])
            .flat_map(|condition| condition.users())
            .find(|user| user.opcode() == LLVMOpcode::LLVMBr);
        let Some(branch) = branch else {
            break;
        };
        let call = branch.successors()[0]
            .instructions()
            .into_iter()
            .find(|instruction| instruction.is_call())?;
        let member = call.called_function()?;
        members.push((version_of(&member.name_text())?, member));
    }
    (are_in_order(&members) && is_all(&members)).then_some(members)
}

fn are_in_order(members: &[(usize, Value)]) -> bool {
    members.windows(2).all(|pair| pair[0].0 < pair[1].0)
}

/// The members of a product function whose body is a model, as weave names them. A wrong name shows where it is
/// called: the versions call something else there.
fn members_of_model(module: &Module, product: Value) -> Option<Vec<(usize, Value)>> {
    let names = product.text_attribute(weave::MEMBERS)?;
    let member = |name| {
        let function = llvm::global_named(module, name)?;
        Some((version_of(name)?, function))
    };
    let members: Vec<(usize, Value)> = names.lines().map(member).collect::<Option<_>>()?;
    are_in_order(&members).then_some(members)
}

/// Whether a function that looks like a product function is a hand-written model, or what a model calls the woven
/// one by.
fn is_model(product: Value) -> bool {
    product.blocks().len() == 1 || product.name().ends_with(b".model")
}

fn check_product(product: Value, tables: &Tables) -> Result<()> {
    let found = tables.products[&product].clone();
    let mut result = 0;
    let members: Vec<Member> = found
        .iter()
        .map(|&(version, function)| {
            let returns = !function.value_type().return_type().is_void();
            let field = returns.then_some(result);
            result += u32::from(returns);
            Member {
                version,
                plain: Plain::of(function),
                result: field,
            }
        })
        .collect();
    let fail = |function: Value| move |what: String| violation(function, what);
    specs::check(product).map_err(fail(product))?;
    let read = |function, is_continuation| {
        let body = Body::of(function, members.len(), is_continuation)?;
        Walk::new(&members, body, tables, is_continuation)
    };

    let mut lockstep = read(product, false).map_err(fail(product))?;
    lockstep.walk().map_err(fail(product))?;
    if let Some(function) = lockstep.continuation().map_err(fail(product))? {
        specs::check(function).map_err(fail(function))?;
        let mut rest = read(function, true).map_err(fail(function))?;
        rest.numbers = std::mem::take(&mut lockstep.numbers);
        lockstep.homes_of_fields(&mut rest.homes);
        rest.walk().map_err(fail(function))?;
        lockstep.homes_from_fields(&rest.homes);
        lockstep.numbers = members.iter().map(|_| Numbers::default()).collect();
        lockstep.walk_again().map_err(fail(product))?;
        lockstep
            .check_departures(&rest.homes)
            .map_err(fail(product))?;
        rest.numbers = std::mem::take(&mut lockstep.numbers);
        rest.walk_again().map_err(fail(function))?;
        rest.verify().map_err(fail(function))?;
        lockstep.numbers = std::mem::take(&mut rest.numbers);
        lockstep.verify().map_err(fail(product))?;
        return lockstep
            .check_departures(&rest.homes)
            .map_err(fail(product));
    }
    lockstep.walk_again().map_err(fail(product))?;
    lockstep.verify().map_err(fail(product))
}

/// The version whose alive flag a comparison tests, and whether it holds if the version has ended.
fn tested_flag(condition: Value) -> Option<(usize, bool)> {
    if !condition.is_instruction() || condition.opcode() != LLVMOpcode::LLVMICmp {
        return None;
    }
    let (load, zero) = (condition.operand(0)?, condition.operand(1)?);
    let is_load = load.is_instruction() && load.opcode() == LLVMOpcode::LLVMLoad;
    let flag = load.operand(0).filter(|flag| is_load && flag.is_global())?;
    let name = flag.name_text();
    let version = version_of(&name).filter(|_| name.ends_with("_p3v_alive"))?;
    let has_ended = match condition.operation() {
        EQUAL => true,
        NOT_EQUAL => false,
        _ => return None,
    };
    zero.is_null().then_some((version, has_ended))
}

/// The load of the runtime's flag that some version has ended that a comparison tests, and whether it holds then.
fn tests_ended(condition: Value) -> Option<(Value, bool)> {
    if !condition.is_instruction() || condition.opcode() != LLVMOpcode::LLVMICmp {
        return None;
    }
    let (load, zero) = (condition.operand(0)?, condition.operand(1)?);
    let flag = body::is_load(load).then(|| load.operand(0)).flatten()?;
    let is_flag = flag.is_global() && flag.name_text() == ENDED && zero.is_null();
    match condition.operation() {
        EQUAL if is_flag => Some((load, false)),
        NOT_EQUAL if is_flag => Some((load, true)),
        _ => None,
    }
}

/// The runtime's flag that is set when the first version ends, before that version's own is cleared.
const ENDED: &str = "p3_ended";

/// LLVM's numbers of predicates.
const EQUAL: u32 = 32;
const NOT_EQUAL: u32 = 33;
