//! **terminate**: ends one version from any depth without ending the others.
//!
//! Input: an isolated version. Guarantee: after `p3v_die` has cleared the version's `p3v_alive` flag, its
//! frames return one by one without running any more of the program: behind every call that may reach
//! `p3v_die` the flag is tested, if more follows than the return, and the function returns (any value, nobody looks
//! at it); functions that external code may call back return at once while the flag is clear. `noreturn` is dropped from what now
//! returns, and the `unreachable` behind it stays unreachable, behind the test.
//!
//! A call may reach `p3v_die` if its callee does in the call graph, if it is indirect and a function whose
//! address is taken does, or if it is external, may call back and such a function exists. Not handled: a loop
//! that makes no call (a signal handler that ended the version is followed by the runtime's own way out, in
//! lock-step by a second run without it).
//!
//! Weaving divides functions at the tests, and other versions run in between. So no test comes between a call that
//! leaves the version and what belongs to it: becoming the owner of the process and the copies of errno.

use crate::llvm::{self, append_block, Builder, Module, Types, Value};
use crate::{assembly, libc, Error, Result};
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::{HashMap, HashSet};

/// What core/ calls when the version is over, and what that calls: does its work then. So does what the frames of a
/// coroutine return to.
const AFTERWARDS: [&str; 3] = ["p3v_coroutine", "p3v_files_discard", "p3v_files_next"];

/// The blocks that return from a version that is over: one per function, shared by all its tests.
type DeadEnds = HashMap<Value, llvm::Block>;

/// Adds the tests; returns how many functions of the version can end it. `bound` are the names of libc that the
/// program refers to and the runtime stands in for.
pub(crate) fn terminate(module: &Module, bound: &[String]) -> Result<usize> {
    let missing = |name: &str| Error::internal("terminate", format!("the runtime has no {name}"));
    let alive = llvm::global_named(module, "p3v_alive").ok_or_else(|| missing("p3v_alive"))?;
    let die = llvm::global_named(module, "p3v_die").ok_or_else(|| missing("p3v_die"))?;
    let errno = llvm::global_named(module, "p3v_errno").ok_or_else(|| missing("p3v_errno"))?;
    let inlined = alive.users().into_iter().find(|user| {
        user.is_instruction()
            && user.opcode() == LLVMOpcode::LLVMStore
            && user.parent_block().parent() != die
    });
    if let Some(store) = inlined {
        let place = store.parent_block().parent().name_text();
        return Err(Error::internal(
            "terminate",
            format!("{place} clears p3v_alive itself instead of calling p3v_die"),
        ));
    }
    // Becoming the owner of the process may let signals in that were pending for the version.
    let asynchronous = bound.iter().any(|name| libc::is_asynchronous(name));
    let graph = CallGraph::of(module, asynchronous);
    let ending = graph.reaching(die);

    for &function in &ending.functions {
        function.remove_attribute("noreturn");
        function.remove_attribute("willreturn");
    }
    let mut dead_ends = DeadEnds::new();
    for function in llvm::functions(module) {
        if function.is_declaration()
            || function == die
            || AFTERWARDS.contains(&function.name_text().as_str())
        {
            continue;
        }
        let calls: Vec<Value> = function
            .blocks()
            .into_iter()
            .flat_map(|block| block.instructions())
            .filter(|instruction| instruction.is_call())
            .filter(|&call| {
                let named = named_functions(module, call);
                ending.contains_call(call) || named.iter().any(|f| ending.functions.contains(f))
            })
            .collect();
        for call in calls {
            if call.called_function().is_some_and(is_switch) {
                return_if_dead_after(switch_earlier(call, errno), alive, errno, &mut dead_ends);
            } else {
                return_if_dead_after(call, alive, errno, &mut dead_ends);
            }
        }
        if ending.through_pointer && graph.address_taken.contains(&function) {
            return_if_dead_at_entry(function, alive, &mut dead_ends);
        }
    }
    Ok(ending.functions.len())
}

/// Who calls whom, as far as names tell.
struct CallGraph {
    callers: HashMap<Value, Vec<Value>>,
    /// Functions that call through a pointer or call external code that may call back.
    open: Vec<Value>,
    /// Defined functions whose address is taken.
    address_taken: HashSet<Value>,
    /// Whether the program has signal handlers, timers or threads.
    asynchronous: bool,
}

/// The calls that may end the version.
struct Ending {
    functions: HashSet<Value>,
    /// Whether a function whose address is taken is among them.
    through_pointer: bool,
    asynchronous: bool,
}

impl CallGraph {
    fn of(module: &Module, asynchronous: bool) -> CallGraph {
        let mut callers: HashMap<Value, Vec<Value>> = HashMap::new();
        let mut open = Vec::new();
        let mut address_taken = HashSet::new();
        for function in llvm::functions(module) {
            if function.is_declaration() {
                continue;
            }
            if function.address_taken() {
                address_taken.insert(function);
            }
            let mut is_open = false;
            for block in function.blocks() {
                for call in block.instructions().into_iter().filter(|i| i.is_call()) {
                    match call.called_function() {
                        Some(callee) if !callee.is_declaration() => {
                            callers.entry(callee).or_default().push(function);
                        }
                        _ => {
                            is_open |= is_open_call(call, asynchronous);
                            for callee in named_functions(module, call) {
                                callers.entry(callee).or_default().push(function);
                            }
                        }
                    }
                }
            }
            if is_open {
                open.push(function);
            }
        }
        CallGraph {
            callers,
            open,
            address_taken,
            asynchronous,
        }
    }

    /// Every function that may reach `target`: a closure over callers, into which the open calls enter as soon
    /// as one function whose address is taken is in it.
    fn reaching(&self, target: Value) -> Ending {
        let mut functions = HashSet::from([target]);
        let mut work = vec![target];
        let mut through_pointer = false;
        while let Some(function) = work.pop() {
            let direct = self.callers.get(&function).into_iter().flatten();
            let mut next: Vec<Value> = direct.copied().collect();
            if !through_pointer && self.address_taken.contains(&function) {
                through_pointer = true;
                next.extend(&self.open);
            }
            for caller in next {
                if functions.insert(caller) {
                    work.push(caller);
                }
            }
        }
        Ending {
            functions,
            through_pointer,
            asynchronous: self.asynchronous,
        }
    }
}

impl Ending {
    fn contains_call(&self, call: Value) -> bool {
        match call.called_function() {
            Some(callee) if !callee.is_declaration() => self.functions.contains(&callee),
            _ => self.through_pointer && is_open_call(call, self.asynchronous),
        }
    }
}

/// A call that may arrive at any function whose address is taken.
fn is_open_call(call: Value, asynchronous: bool) -> bool {
    match call.called_function() {
        Some(callee) => {
            let name = callee.name_text();
            callee.is_declaration()
                && (libc::may_call_back(&name) || asynchronous && libc::switches_version(&name))
        }
        None => !call.called_operand().is_some_and(Value::is_inline_asm),
    }
}

/// The functions that inline assembly names, which it may call.
fn named_functions(module: &Module, call: Value) -> Vec<Value> {
    let text = call.inline_assembly().unwrap_or_default();
    let names = assembly::names(&text).into_iter();
    let mut named: Vec<Value> = names
        .filter_map(|name| llvm::global_named(module, name))
        .filter(|global| global.as_function().is_some() && !global.is_declaration())
        .collect();
    named.sort_by_key(|function| function.name());
    named
}

fn is_switch(function: Value) -> bool {
    libc::switches_version(&function.name_text())
}

/// Makes the version the owner of the process before what belongs to the call behind `switch` as well; returns that
/// call. The version may end there, hardly any more at the other one.
fn switch_earlier(switch: Value, errno: Value) -> Value {
    let block = switch.parent_block().instructions();
    let at = block.iter().position(|&i| i == switch).unwrap_or_default();
    let copies = |three: &[Value]| {
        three[0].is_call()
            && three[1].opcode() == LLVMOpcode::LLVMLoad
            && three[1].operand(0) == Some(errno)
            && three[2].opcode() == LLVMOpcode::LLVMStore
            && three[2].operands() == [three[1], three[0]]
    };
    let first = match at.checked_sub(3) {
        Some(start) if copies(&block[start..at]) => block[start],
        _ => switch,
    };
    let builder = Builder::before(first);
    builder.set_location_of(switch);
    let function = switch.called_function().expect("found by its name");
    builder.call(function.value_type(), function, &switch.arguments())
}

/// The call, or the copy of errno that follows it.
fn end_of(call: Value, errno: Value) -> Value {
    let load = call
        .next_instruction()
        .filter(|next| next.opcode() == LLVMOpcode::LLVMLoad);
    let store = load
        .and_then(Value::next_instruction)
        .filter(|next| next.opcode() == LLVMOpcode::LLVMStore);
    match (load, store) {
        (Some(load), Some(store)) if store.operands() == [load, errno] => store,
        _ => call,
    }
}

fn return_if_dead_after(call: Value, alive: Value, errno: Value, dead_ends: &mut DeadEnds) {
    call.remove_call_attribute("noreturn");
    // A musttail call stands right before its return.
    if call.is_must_tail() || call.opcode() == LLVMOpcode::LLVMCallBr {
        return;
    }
    let (check_block, rest) = match end_of(call, errno).next_instruction() {
        // It returns anyhow: calls that can be tail calls stay such, however deep they go.
        Some(next) if only_returns(next) => return,
        Some(next) => (call.parent_block(), next.split_before("alive")),
        None => {
            let target = call.normal_destination();
            let edge = target.insert_on_edge_from(call.parent_block(), "ended");
            call.set_normal_destination(edge);
            (edge, target)
        }
    };
    add_test(check_block, rest, alive, Some(call), dead_ends);
}

/// Whether nothing happens from `instruction` on but that the function returns.
fn only_returns(instruction: Value) -> bool {
    let mut next = instruction;
    let mut passed = HashSet::new();
    while next.opcode() == LLVMOpcode::LLVMBr {
        let [target] = next.successors()[..] else {
            return false;
        };
        let instructions = target.instructions().into_iter();
        let mut rest = instructions.skip_while(|i| i.opcode() == LLVMOpcode::LLVMPHI);
        match rest.next() {
            Some(first) if passed.insert(target) => next = first,
            _ => return false,
        }
    }
    next.opcode() == LLVMOpcode::LLVMRet
}

fn return_if_dead_at_entry(function: Value, alive: Value, dead_ends: &mut DeadEnds) {
    let Some(entry) = function.blocks().into_iter().next() else {
        return;
    };
    // Static allocas stay in the entry block.
    let Some(first) = entry
        .instructions()
        .into_iter()
        .find(|i| i.opcode() != LLVMOpcode::LLVMAlloca)
    else {
        return;
    };
    let rest = first.split_before("alive");
    add_test(entry, rest, alive, None, dead_ends);
}

/// Replaces the branch at the end of `block` by: alive ? go to `rest` : return.
fn add_test(
    block: llvm::Block,
    rest: llvm::Block,
    alive: Value,
    location: Option<Value>,
    dead_ends: &mut DeadEnds,
) {
    let function = block.parent();
    let dead = *dead_ends
        .entry(function)
        .or_insert_with(|| dead_end(function));
    if let Some(old) = block.terminator() {
        old.erase_instruction();
    }
    let builder = Builder::at_end(block);
    if let Some(call) = location {
        builder.set_location_of(call);
    }
    let flag = builder.load(Types::of_function(function).integer(8), alive);
    builder.conditional_branch(builder.is_zero(flag), dead, rest);
}

/// A block that returns any value.
fn dead_end(function: Value) -> llvm::Block {
    let dead = append_block(function, "dead");
    let result = function.value_type().return_type();
    Builder::at_end(dead).ret((!result.is_void()).then(|| result.zero()));
    dead
}
