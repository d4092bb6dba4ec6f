//! **spec**: makes the specifications of `p3.h` (`pp_assert`, `pp_assume`) something that weave can place.
//!
//! Input: prepared versions. Guarantee: the code of every specification stands in a function of its own
//! (`relation.rs`), and the place of it is one call, `p3_spec_reached(place, captured)`, which names what the
//! runtime has to know (`struct p3_place`) and takes with it what that function needs of the variables there. So a
//! place is a node; matched places run back to back, and behind them weave asks the runtime to evaluate.
//!
//! Not handled: a specification that the compiler has mixed with the code around it (`Unsupported`), and in
//! code with exception handling, which is not woven: there it has a place but no relation.

mod path;
mod relation;
mod variables;

use crate::llvm::{self, Module, Types, Value};
use crate::nodes::is_marker;
use crate::weave::WeaveOptions;
use crate::{Error, Result};
use inkwell::llvm_sys::LLVMOpcode;

/// What programs include.
pub const HEADER: &str = include_str!("../../../runtime/include/p3.h");

/// The function that a place calls.
pub(crate) const REACHED: &str = "p3_spec_reached";
/// What the runtime knows of a place; LLVM numbers them.
pub(crate) const PLACE: &str = "p3_spec_place";
/// What the runtime knows of places that weave has put back to back; LLVM numbers them.
pub(crate) const MEETING: &str = "p3_spec_meeting";
/// The code of a specification.
const RELATION: &str = "p3_spec_relation";
/// The code of variables that another version wants by name.
const VARIABLES: &str = "p3_spec_variables";
/// Where the code of a specification begins and ends in what the compiler leaves behind.
const BEGIN: &str = "p3_spec_begin";
const END: &str = "p3_spec_end";
/// What else is null in a program that is no product.
const OUTPUT: &str = "p3_output";
const INPUT: &str = "p3_input";
/// Asks for an operand there.
const OPERAND: &str = "p3_spec_operand";

/// Fields of `struct p3_place`.
mod field {
    pub(super) const WHAT: u32 = 1;
    pub(super) const FILE: u32 = 2;
    pub(super) const LINE: u32 = 3;
    pub(super) const TEXT: u32 = 4;
    pub(super) const NAMED: u32 = 5;
    pub(super) const RELATION: u32 = 6;
}

/// A specification as the source has it.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Spec {
    /// `P3_ASSERT_` or `P3_ASSUME_`
    pub(crate) what: u64,
    pub(crate) file: String,
    pub(crate) line: u64,
    /// The relation.
    pub(crate) text: String,
    /// Bit i: it wants something of version i (from 0).
    pub(crate) named: u64,
}

impl Spec {
    /// What a call of [`REACHED`] is the place of.
    pub(crate) fn at(call: Value) -> Option<Spec> {
        Spec::of(place_of(call)?)
    }

    /// What a `struct p3_place` stands for.
    pub(crate) fn of(place: Value) -> Option<Spec> {
        let place = place.initializer()?;
        let number = |index| place.element(index).and_then(Value::as_integer);
        Some(Spec {
            what: number(field::WHAT)?,
            file: text_of(place.element(field::FILE)?)?,
            line: number(field::LINE)?,
            text: text_of(place.element(field::TEXT)?)?,
            named: number(field::NAMED)?,
        })
    }

    /// `file:line`
    pub(crate) fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }
}

/// The `struct p3_place` of a call of [`REACHED`]; none for other instructions.
pub(crate) fn place_of(instruction: Value) -> Option<Value> {
    if !instruction.is_call() {
        return None;
    }
    let callee = instruction.called_function()?;
    let is_place = callee.name() == REACHED.as_bytes();
    let place = instruction.operand(0).filter(|_| is_place)?;
    place.is_global_variable().then_some(place)
}

/// Whether a function holds code of a specification.
pub(crate) fn is_relation(name: &str) -> bool {
    name.starts_with(RELATION) || name.starts_with(VARIABLES)
}

/// Whether a variable of the product is a `struct p3_place`.
pub(crate) fn is_place(name: &str) -> bool {
    let plain = name
        .strip_prefix("_PP")
        .and_then(|rest| rest.split_once('_'));
    plain.is_some_and(|(_, plain)| is_numbered(plain, PLACE))
}

/// Whether the programs or the options have any specifications.
pub(crate) fn are_there(product: &Module, options: &WeaveOptions) -> bool {
    !options.specs.is_empty()
        || !options.equal_returns.is_empty()
        || !options.equal_arguments.is_empty()
        || llvm::variables(product)
            .into_iter()
            .any(|variable| is_place(&variable.name_text()))
}

/// Whether a variable of the product is a `struct p3_meeting`.
pub(crate) fn is_meeting(name: &str) -> bool {
    is_numbered(name, MEETING)
}

fn is_numbered(name: &str, base: &str) -> bool {
    let rest = name.strip_prefix(base);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The text of a string constant.
fn text_of(pointer: Value) -> Option<String> {
    let data = pointer
        .is_global_variable()
        .then(|| pointer.initializer())??;
    let bytes = match data.as_bytes() {
        Some(bytes) => bytes,
        None if data.is_null() => Vec::new(),
        None => return None,
    };
    let end = bytes.iter().position(|&byte| byte == 0)?;
    Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
}

/// Before prepare, on all versions: gives those without a specification that others have a place for it. `names` is
/// what the versions were read from, `map` as for [`crate::align::match_functions`]. Returns warnings.
pub(crate) fn complete(
    modules: &[&Module],
    names: &[String],
    map: &[(String, String)],
) -> Result<Vec<String>> {
    modules.iter().for_each(|module| announce(module));
    variables::complete(modules, names, map)
}

/// What is null in a program that is no product is there in this one; the variables in which compilers keep it
/// unless they optimise are removed.
fn announce(module: &Module) {
    for name in [BEGIN, OUTPUT, INPUT] {
        let function = llvm::global_named(module, name).filter(|f| f.is_declaration());
        if let Some(function) = function {
            function.set_external();
            is_there(function);
        }
    }
    let Some(begin) = llvm::global_named(module, BEGIN) else {
        return;
    };
    for call in begin.users() {
        let stores = call
            .users()
            .into_iter()
            .filter(|user| user.is_instruction() && user.opcode() == LLVMOpcode::LLVMStore);
        for store in stores {
            if let Some(memory) = store.operand(1).filter(|&memory| is_plain_variable(memory)) {
                store.parent_block().parent().promote(&[memory]);
                break;
            }
        }
    }
}

/// Decides comparisons of the function with null.
fn is_there(function: Value) {
    let types = Types::of_function(function);
    for user in function.users() {
        let is_comparison = user.is_constant()
            && user.expression_opcode() == Some(LLVMOpcode::LLVMICmp)
            || user.is_instruction() && user.opcode() == LLVMOpcode::LLVMICmp;
        // LLVM's numbers of the predicates eq and ne.
        if is_comparison && [32, 33].contains(&user.operation()) {
            let differs = u64::from(user.operation() == 33);
            user.replace_all_uses_with(types.constant(1, differs));
        }
    }
}

fn is_plain_variable(memory: Value) -> bool {
    memory.is_instruction()
        && memory.opcode() == LLVMOpcode::LLVMAlloca
        && memory.users().into_iter().all(|user| match user.opcode() {
            LLVMOpcode::LLVMLoad => true,
            LLVMOpcode::LLVMStore => user.operand(1) == Some(memory),
            _ => is_marker(user),
        })
}

/// Gives the specifications of version `index` (from 0) functions of their own; `file` is what the
/// version was read from. Returns whether there are any.
pub(crate) fn outline(module: &Module, index: usize, file: &str) -> Result<bool> {
    let Some(begin) = llvm::global_named(module, BEGIN) else {
        return Ok(false);
    };
    let mut found = false;
    for function in llvm::functions(module) {
        let mut changed = false;
        // One after the other: what is in the code of one goes with it.
        while let Some(call) = first_call(function, begin) {
            relation::take_out(module, call, index, file)?;
            changed = true;
        }
        if changed {
            function.fold_branches();
        }
        found |= changed;
    }
    Ok(found)
}

fn first_call(function: Value, callee: Value) -> Option<Value> {
    let calls = |instruction: &Value| {
        instruction.is_call() && instruction.called_function() == Some(callee)
    };
    let mut blocks = function.blocks().into_iter();
    blocks.find_map(|block| block.instructions().into_iter().find(calls))
}

/// Whether a `struct p3_place` has code for the relation.
pub(crate) fn has_relation(place: Value) -> bool {
    let relation = place
        .initializer()
        .and_then(|all| all.element(field::RELATION));
    relation.is_some_and(|relation| !relation.is_null())
}

/// A `struct p3_place`.
pub(crate) fn define_place(
    module: &Module,
    index: usize,
    spec: &Spec,
    relation: Option<Value>,
    variables: Option<Value>,
) -> Value {
    let types = Types::of(module);
    let text = |text: &str| {
        let text = types.string(text.as_bytes());
        let global = llvm::add_global(module, "p3_spec_text", text.ty());
        global.set_initializer(text);
        global.set_constant(true);
        global.set_internal();
        global
    };
    let null = types.pointer().zero();
    let fields = [
        types.constant(32, index as u64),
        types.constant(32, spec.what),
        text(&spec.file),
        types.constant(32, spec.line),
        text(&spec.text),
        types.constant(32, spec.named),
        relation.unwrap_or(null),
        variables.unwrap_or(null),
        types.constant(64, 0),
    ];
    let initial = types.constant_structure(&fields);
    let place = llvm::add_global(module, PLACE, initial.ty());
    place.set_initializer(initial);
    place.set_internal();
    place
}

/// An error about a specification.
fn unsupported(file: &str, spec: &Spec, what: &str) -> Error {
    Error::unsupported(file, format!("{}: {}: {what}", spec.place(), spec.text))
}
