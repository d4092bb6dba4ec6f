//! The only place where p3-ir talks to LLVM's C API: owned handles for contexts and modules (inkwell's),
//! copyable handles for what lives inside a module.
//!
//! [`Value`], [`Block`] and [`Type`] are plain pointers into a module. They stay valid until the thing they
//! name is erased or the module is dropped; nothing here checks that. Names are copied before they are handed
//! out, since renaming frees LLVM's buffer. Enumerations come back as integers or as the few cases that the
//! passes ask for, so that a value this LLVM knows and we do not cannot be undefined behaviour.

mod builder;
mod debug;
mod inspect;
mod module;
mod value;

pub(crate) use builder::{append_block, Builder};
pub(crate) use debug::{encoding, tag, DebugType, Location, Node};
pub(crate) use inspect::Place;
pub(crate) use module::{
    add_function, add_global, aliases, check_assembly, check_processors, clean_collector_names,
    complete_target, drop_name_escapes, drop_unknown_features, flatten_aliases, functions,
    global_named, globals, huge_vector, ifuncs, link, module_asm, normal_triple, parse,
    prepare_flags, release, run_passes, set_module_asm, size_of, source_file, variables, verify,
    Linker, Types,
};
pub(crate) use value::*;

pub use inkwell::context::Context;
pub use inkwell::module::Module;
pub use module::new_context;
