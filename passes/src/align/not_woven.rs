//! Functions that run one version after the other (DESIGN.md 4.5).

use crate::llvm::{self, Module, Value};
use crate::{assembly, lookup, runtime};
use inkwell::llvm_sys::LLVMOpcode::*;
use std::collections::HashSet;

/// Names under which libraries declare functions that return twice, for callers compiled without their headers.
const RETURN_TWICE: [&str; 8] = [
    "setjmp",
    "_setjmp",
    "__setjmp",
    "sigsetjmp",
    "_sigsetjmp",
    "__sigsetjmp",
    "vfork",
    "getcontext",
];

/// The functions of `<fenv.h>` by which a program notices or changes how its plain arithmetic works.
const FENV: [&str; 14] = [
    "feclearexcept",
    "fedisableexcept",
    "feenableexcept",
    "fegetenv",
    "fegetexceptflag",
    "feholdexcept",
    "feraiseexcept",
    "fesetenv",
    "fesetexcept",
    "fesetexceptflag",
    "fesetmode",
    "fesetround",
    "fetestexcept",
    "feupdateenv",
];

/// The functions by which a program asks for what versions cannot have each for itself while they alternate: the
/// kernel's timers of processor time, overruns of timers, and pending signals, of which the kernel keeps one for all.
const SIGNALS_OF_PROCESS: [&str; 8] = [
    "setitimer",
    "signalfd",
    "sigpending",
    "sigqueue",
    "sigtimedwait",
    "sigwait",
    "sigwaitinfo",
    "timer_create",
];

/// The functions that leave others without their returning.
const JUMPS: [&str; 5] = [
    "siglongjmp",
    "longjmp",
    "_longjmp",
    "__longjmp_chk",
    "llvm.eh.sjlj.longjmp",
];

/// Attributes with which code only runs on some processors, or passes vectors otherwise.
const TARGET: [&str; 2] = ["target-cpu", "target-features"];

/// Why no function at all may be woven; `bound[i]` are the names of libc that version i's program refers to.
///
/// The rounding mode and the exception flags are registers, which versions that alternate within a block would
/// share.
pub(crate) fn nothing_woven_reason(module: &Module, bound: &[Vec<String>]) -> Option<String> {
    let uses = |name: &str| bound.iter().flatten().any(|used| used == name);
    if let Some(name) = FENV.into_iter().find(|name| uses(name)) {
        return Some(format!("the program uses {name} of <fenv.h>"));
    }
    if let Some(name) = SIGNALS_OF_PROCESS.into_iter().find(|name| uses(name)) {
        return Some(format!("the program uses {name}"));
    }
    // A handler that jumps leaves what the runtime does around it, for all versions.
    let catches = ["sigaction", "signal"].into_iter().any(uses);
    let jump = JUMPS
        .into_iter()
        .find(|name| llvm::global_named(module, name).is_some_and(is_used_by_program));
    jump.filter(|_| catches && handlers_may_jump(module))
        .map(|name| format!("the program handles signals and uses {name}"))
}

/// Whether a function that can be a handler may come to a jump. It may by what it calls through a pointer, and by what
/// functions of libc call back.
fn handlers_may_jump(module: &Module) -> bool {
    let is_own = |function: Value| !function.is_declaration() && !runtime::is_runtime(function);
    let mut work: Vec<Value> = llvm::functions(module)
        .into_iter()
        .filter(|&function| is_own(function) && can_handle(function))
        .collect();
    let mut reached = HashSet::new();
    while let Some(function) = work.pop() {
        if JUMPS.contains(&function.name_text().as_str()) {
            return true;
        }
        if !reached.insert(function) || !is_own(function) {
            continue;
        }
        let blocks = function.blocks().into_iter();
        let calls = blocks.flat_map(|block| block.instructions());
        for call in calls.filter(|instruction| instruction.is_call()) {
            match call.called_function() {
                Some(callee) => {
                    if !is_own(callee) {
                        work.extend(call.operands().into_iter().filter_map(Value::as_function));
                    }
                    work.push(callee);
                }
                None if call.called_operand().is_some_and(Value::is_inline_asm) => {}
                None => return true,
            }
        }
    }
    false
}

/// Whether the function can have been given to signal or sigaction: its address is taken, and it has a handler's
/// parameters, or was declared without any.
fn can_handle(function: Value) -> bool {
    let parameters = function.parameters();
    let takes_number = parameters
        .first()
        .is_none_or(|first| first.ty().integer_width() == Some(32));
    matches!(parameters.len(), 0 | 1 | 3) && takes_number && lookup::is_pointed_to(function)
}

fn is_used_by_program(function: Value) -> bool {
    function
        .users()
        .into_iter()
        .any(|user| !user.is_instruction() || !runtime::is_runtime(user.parent_block().parent()))
}

/// Why the versions' definitions of a function cannot be woven; none if they can.
pub(crate) fn not_woven_reason(members: &[Value]) -> Option<String> {
    let own = members.iter().find_map(|&member| own_reason(member));
    let differs = |attribute: &&str| {
        let mut values = members
            .iter()
            .map(|member| member.text_attribute(attribute));
        let first = values.next();
        values.any(|value| Some(value) != first)
    };
    own.or_else(|| {
        let attribute = TARGET.into_iter().find(differs)?;
        Some(format!("compiled for different processors ({attribute})"))
    })
}

/// Why a definition cannot be woven, whatever the others are.
fn own_reason(function: Value) -> Option<String> {
    if function.value_type().is_variadic() {
        return Some("variadic definition".into());
    }
    for (attribute, reason) in [
        ("naked", "naked function"),
        ("presplitcoroutine", "coroutine"),
    ] {
        if function.has_attribute(attribute) {
            return Some(reason.into());
        }
    }
    if function.has_collector() {
        return Some("garbage collector".into());
    }
    if function.parameters().into_iter().any(Value::is_swift_error) {
        return Some("swifterror".into());
    }
    function
        .blocks()
        .into_iter()
        .flat_map(|block| block.instructions())
        .find_map(instruction_reason)
}

fn instruction_reason(instruction: Value) -> Option<String> {
    let reason = match instruction.opcode() {
        LLVMInvoke | LLVMLandingPad | LLVMResume | LLVMCatchPad | LLVMCatchSwitch
        | LLVMCatchRet | LLVMCleanupPad | LLVMCleanupRet => "exception handling",
        LLVMCallBr => "callbr",
        LLVMIndirectBr => "indirectbr",
        LLVMAlloca if instruction.is_swift_error() => "swifterror",
        LLVMCall => return call_reason(instruction),
        _ if instruction.ty().is_token() => "token value",
        _ => return None,
    };
    Some(reason.into())
}

fn call_reason(call: Value) -> Option<String> {
    if call.is_must_tail() {
        return Some("musttail call".into());
    }
    if call.call_has_attribute("noduplicate") {
        return Some("call that must not be duplicated".into());
    }
    if let Some(text) = call.inline_assembly() {
        // Each copy would define it.
        let defines = !assembly::definitions(&text).is_empty();
        return defines.then(|| "inline assembly that defines a symbol".into());
    }
    let callee = call.called_function();
    let name = callee.map(Value::name_text).unwrap_or_default();
    let twice = call.call_has_attribute("returns_twice")
        || name.starts_with("llvm.eh.sjlj.setjmp")
        || callee.is_some_and(|callee| callee.has_attribute("returns_twice"))
        || RETURN_TWICE.contains(&name.as_str()) && callee.is_some_and(Value::is_declaration);
    if twice {
        return Some(format!("calls {name}, which returns twice"));
    }
    if name.starts_with("llvm.coro.") {
        return Some("coroutine".into());
    }
    if name.starts_with("llvm.stackrestore") {
        return Some("variable-length array".into());
    }
    if name.starts_with("llvm.localescape") || name.starts_with("llvm.localrecover") {
        return Some("frame of an outlined handler".into());
    }
    call.ty().is_token().then(|| "token value".into())
}
