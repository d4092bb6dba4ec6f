//! What a program may look up by `dlsym` and `dlvsym`, and what it finds then.
//!
//! Where every look-up has a constant string for its name, these are the names. Otherwise (a variable, a wrapper
//! around dlsym, dlsym's address) a name may be any string in a constant of the program, and, since names of functions
//! of its own are also put together or read, that of any of its external definitions. Not seen: a name of libc's that is
//! computed and stands nowhere.
//!
//! The table `p3v_symbols` has, for `runtime/version/dlerror.c`, the shims and the program's definitions of these names.

use crate::llvm::{self, append_block, Builder, Linkage, Module, Types, Value};
use crate::{finish, runtime, spec};
use std::collections::{BTreeMap, HashSet};

/// The functions that look names up.
pub(crate) const FUNCTIONS: [&str; 2] = ["dlsym", "dlvsym"];

/// How the names of runtime symbols begin that need other libraries than libc: whoever does not link these could not
/// link the product. They are given only to programs that refer to them anyhow.
const OF_OTHER_LIBRARIES: [&str; 14] = [
    "_Z",
    "crypt",
    "feclear",
    "fedisable",
    "feenable",
    "feget",
    "fehold",
    "feraise",
    "feset",
    "fetest",
    "feupdate",
    "gamma",
    "klee_",
    "lgamma",
];

/// Marks functions whose addresses are taken by nothing but the table, and that only since a name may be computed.
const ONLY_BY_CHANCE: &str = "p3-only-by-chance";

/// Whether a function is worth expecting where a function is called through a pointer, or kept as a handler of signals.
/// One that a program of any size may find under a computed name, and does nothing else with, is not: dispatchers would be
/// for all functions of its type, and nothing be woven where one that the program does not find jumps.
pub(crate) fn is_pointed_to(function: Value) -> bool {
    function.address_taken() && function.text_attribute(ONLY_BY_CHANCE).is_none()
}

/// The names that a program may look up.
#[derive(Default)]
pub(crate) struct Lookups {
    strings: HashSet<Vec<u8>>,
    /// Whether a name may be computed.
    computed: bool,
}

impl Lookups {
    /// Of a version that nothing of the runtime is linked into yet.
    pub(crate) fn of(module: &Module) -> Lookups {
        let mut lookups = Lookups::default();
        let functions = FUNCTIONS
            .into_iter()
            .filter_map(|name| llvm::global_named(module, name));
        for function in functions.filter(|function| function.is_declaration()) {
            for user in function.users() {
                match looked_up(user, function) {
                    Some(name) => {
                        lookups.strings.insert(name);
                    }
                    None => lookups.computed = true,
                }
            }
        }
        if lookups.computed {
            for variable in llvm::variables(module) {
                if let Some(value) = variable.initializer() {
                    add_strings(value, &mut lookups.strings);
                }
            }
        }
        lookups
    }

    fn is_empty(&self) -> bool {
        self.strings.is_empty() && !self.computed
    }

    /// Whether a name of libc may be among them.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.strings.contains(name.as_bytes())
    }

    /// Whether the name of an external definition of the program may be.
    fn has_own(&self, name: &str) -> bool {
        self.computed || self.has(name)
    }
}

/// The name that a use of `function` looks up, if it is constant.
fn looked_up(user: Value, function: Value) -> Option<Vec<u8>> {
    if !user.is_call() || user.called_operand() != Some(function) {
        return None;
    }
    let arguments = user.arguments();
    let name = *arguments.get(1)?;
    if arguments.contains(&function) || !name.is_global_variable() || !name.is_immutable() {
        return None;
    }
    let bytes = name.initializer()?.as_bytes()?;
    let end = bytes.iter().position(|byte| *byte == 0)?;
    Some(bytes[..end].to_vec())
}

/// The strings in a constant, which may be a table of them.
fn add_strings(value: Value, strings: &mut HashSet<Vec<u8>>) {
    if let Some(bytes) = value.as_bytes() {
        let pieces = bytes.split(|byte| *byte == 0);
        strings.extend(pieces.filter(|piece| !piece.is_empty()).map(<[u8]>::to_vec));
    } else if value.is_aggregate() {
        for part in value.operands() {
            add_strings(part, strings);
        }
    }
}

/// What is found under a name.
#[derive(Default)]
struct Symbol {
    /// What stands in for libc's.
    shim: Option<Value>,
    /// The program's own.
    own: Option<Value>,
}

/// What a version finds.
pub(crate) struct Symbols {
    lookups: Lookups,
    /// Sorted, so that the product is always the same.
    by_name: BTreeMap<String, Symbol>,
}

impl Symbols {
    /// The definitions of the program that an executable shows, if it shows any, or for which libc has a name, too.
    /// Nothing of the runtime is there yet.
    pub(crate) fn own(module: &Module) -> Symbols {
        let lookups = Lookups::of(module);
        let mut by_name: BTreeMap<String, Symbol> = BTreeMap::new();
        if !lookups.is_empty() {
            for own in llvm::globals(module).into_iter().filter(is_shown) {
                let full = own.name_text();
                let name = full.strip_prefix('\x01').unwrap_or(&full);
                let is_of_p3 = ["llvm.", "p3"].iter().any(|start| name.starts_with(start))
                    || spec::is_relation(name);
                if !is_of_p3 && lookups.has_own(name) {
                    by_name.entry(name.to_string()).or_default().own = Some(own);
                }
            }
        }
        Symbols { lookups, by_name }
    }

    /// Adds the shims, which are linked in by now, and their names to `bound`. Variables that the program defines itself
    /// (`interposed`: the shim's name and the definition) have none.
    pub(crate) fn add_shims(
        &mut self,
        module: &Module,
        bound: &mut Vec<String>,
        interposed: &[(String, Value)],
    ) {
        if self.lookups.is_empty() {
            return;
        }
        let referred: HashSet<String> = bound.iter().cloned().collect();
        for shim in llvm::globals(module) {
            let full = shim.name_text();
            let Some(name) = full.strip_prefix(runtime::SHIM_PREFIX) else {
                continue;
            };
            let mut others = OF_OTHER_LIBRARIES.iter();
            if shim.linkage() != Linkage::Internal
                && self.lookups.has(name)
                && (referred.contains(name) || !others.any(|start| name.starts_with(start)))
                && !interposed.iter().any(|(interposed, _)| *interposed == full)
            {
                self.by_name.entry(name.to_string()).or_default().shim = Some(shim);
                bound.push(name.to_string());
            }
        }
        bound.sort();
        bound.dedup();
    }

    /// Defines the table: an entry for each symbol, and one without a name.
    pub(crate) fn define(&self, module: &Module) {
        let types = Types::of(module);
        let null = types.pointer().zero();
        let mut entries = Vec::new();
        for (name, symbol) in &self.by_name {
            let is_by_chance = |own: &Value| {
                own.as_function().is_some() && !self.lookups.has(name) && !own.address_taken()
            };
            if let Some(own) = symbol.own.filter(is_by_chance) {
                own.add_text_attribute(ONLY_BY_CHANCE, "");
            }
            let text = finish::constant(module, "p3v_symbol", types.string(name.as_bytes()));
            let shim = symbol.shim.unwrap_or(null);
            let (own, of_thread) = match symbol.own {
                Some(own) if is_thread_local(own) => (null, define_of_thread(module, own)),
                Some(own) => (own, null),
                None => (null, null),
            };
            entries.push(types.constant_structure(&[text, shim, own, of_thread]));
        }
        let end = types.constant_structure(&[null; 4]);
        entries.push(end);
        finish::replace(module, "p3v_symbols", types.array(end.ty(), &entries));
    }
}

/// Whether something is defined for others than its own executable.
fn is_shown(global: &Value) -> bool {
    let is_external = matches!(
        global.linkage(),
        Linkage::External | Linkage::Weak | Linkage::Common
    );
    is_external
        && !global.is_declaration()
        && !global.is_hidden()
        && !global.as_function().is_some_and(runtime::is_runtime)
}

/// Whether this is a variable, or another name of one, that each thread has for itself.
fn is_thread_local(global: Value) -> bool {
    let target = global.behind_aliases();
    target.is_some_and(|target| target.is_global_variable() && target.is_thread_local())
}

/// A function that returns the address that a variable has in the thread that calls it.
fn define_of_thread(module: &Module, variable: Value) -> Value {
    let types = Types::of(module);
    let ty = types.function(types.pointer(), &[]);
    let function = llvm::add_function(module, "p3v_of_thread", ty);
    function.set_internal();
    runtime::mark(function);
    Builder::at_end(append_block(function, "")).ret(Some(variable));
    function
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookups_of(body: &str) -> Lookups {
        let context = llvm::new_context();
        let text = format!(
            "%entry = type {{ i32, [8 x i8] }}\n\
             @name = private constant [5 x i8] c\"puts\\00\"\n\
             @table = global [2 x %entry] [\
             %entry {{ i32 1, [8 x i8] c\"kill\\00\\00\\00\\00\" }}, \
             %entry {{ i32 2, [8 x i8] c\"a\\00time\\00\\00\" }}]\n\
             declare ptr @dlsym(ptr, ptr)\n\
             declare void @use(ptr)\n\
             define void @f(ptr %p) {{\n{body}\nret void\n}}\n"
        );
        let module = llvm::parse(&context, text.as_bytes(), "test").unwrap();
        Lookups::of(&module)
    }

    #[test]
    fn without_look_ups_nothing_is_looked_up() {
        assert!(lookups_of("").is_empty());
    }

    #[test]
    fn constant_names_are_all_there_is() {
        let lookups = lookups_of("call ptr @dlsym(ptr %p, ptr @name)");
        assert!(lookups.has("puts") && lookups.has_own("puts"));
        assert!(!lookups.has("kill") && !lookups.has_own("f"));
    }

    #[test]
    fn computed_names_may_be_any_string() {
        for body in [
            "call ptr @dlsym(ptr null, ptr %p)",
            "call ptr @dlsym(ptr null, ptr @table)",
            "call void @use(ptr @dlsym)",
        ] {
            let lookups = lookups_of(body);
            assert!(["puts", "kill", "a", "time"]
                .iter()
                .all(|name| lookups.has(name)));
            assert!(!lookups.has("f") && lookups.has_own("f"));
        }
    }
}
