//! Product functions written by hand (`merge --model FILE`).
//!
//! A model defines `_PP_f` in C as `struct results _PP_f(bool p1, bool p2, ..., args1..., args2...)`. For a
//! function that the versions define it replaces the woven product function. For an external function it becomes
//! the product function of wrappers `_PPi_f` that every version calls instead.

use super::products::{build_return, Product};
use crate::llvm::{self, append_block, Builder, Context, Module, Types, Value};
use crate::pipeline::Observer;
use crate::{load, rename, Error, Result};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The hand-written product functions of a program.
pub(super) struct Models {
    /// By the modelled function's name: the model, now called `_PP_f.model`, and its file.
    functions: HashMap<String, (Value, PathBuf)>,
}

impl Models {
    /// Links the models into the product and gives external functions that they model wrappers in all of the
    /// `count` versions.
    pub(super) fn link<'ctx>(
        context: &'ctx Context,
        product: &Module<'ctx>,
        files: &[PathBuf],
        count: usize,
        observe: &mut dyn Observer,
    ) -> Result<Models> {
        let mut names: Vec<(String, PathBuf)> = Vec::new();
        for file in files {
            let input = load::Input {
                files: vec![load::Source::File(file.clone())],
            };
            for load::Part { module, .. } in load::load(context, &input, observe)?.parts {
                let before = names.len();
                for function in llvm::functions(&module) {
                    let name = function.name_text();
                    if let (false, Some(modelled)) =
                        (function.is_declaration(), name.strip_prefix("_PP_"))
                    {
                        function.set_name(format!("{name}.model").as_bytes());
                        names.push((modelled.to_string(), file.clone()));
                    }
                }
                if names.len() == before {
                    return Err(Error::bad_input(
                        file,
                        "defines no product function (_PP_NAME)",
                    ));
                }
                llvm::prepare_flags(&module);
                llvm::link(product, module).map_err(|reason| Error::bad_input(file, reason))?;
            }
        }
        let mut functions = HashMap::new();
        for (name, file) in names {
            let model =
                llvm::global_named(product, &format!("_PP_{name}.model")).ok_or_else(|| {
                    Error::internal("weave", format!("_PP_{name} was lost in linking"))
                })?;
            let external = llvm::global_named(product, &name)
                .filter(|global| global.is_declaration() && global.as_function().is_some());
            if let Some(external) = external {
                if external.value_type().is_variadic() {
                    return Err(Error::unsupported(
                        file.display(),
                        format!("a model of the variadic function {name}"),
                    ));
                }
                wrap_external(product, external, &name, count);
            }
            functions.insert(name, (model, file));
        }
        Ok(Models { functions })
    }

    /// Writes the body of the product function of `name` if there is a model; whether there is.
    pub(super) fn implement(&self, product: &Product, name: &str) -> Result<bool> {
        match self.functions.get(name) {
            Some((model, file)) => adapt(product, name, *model, file).map(|()| true),
            None => Ok(false),
        }
    }
}

/// `_PPi_f` calls f, and version i calls `_PPi_f`.
fn wrap_external(product: &Module, external: Value, name: &str, count: usize) {
    let ty = external.value_type();
    let calls: Vec<Value> = external
        .users()
        .into_iter()
        .filter(|user| user.is_call() && user.called_operand() == Some(external))
        .filter(|call| call.called_type() == ty)
        .collect();
    for version in 0..count {
        let prefix = rename::prefix(version);
        let mine: Vec<Value> = calls
            .iter()
            .copied()
            .filter(|call| {
                call.parent_block()
                    .parent()
                    .name_text()
                    .starts_with(&prefix)
            })
            .collect();
        if mine.is_empty() {
            continue;
        }
        let wrapper = llvm::add_function(product, &format!("{prefix}{name}"), ty);
        for call in mine {
            call.set_operand(call.operand_count() - 1, wrapper);
        }
        wrapper.set_internal();
        let builder = Builder::at_end(append_block(wrapper, ""));
        let result = builder.call(ty, external, &wrapper.parameters());
        result.copy_call_attributes_from(external);
        builder.ret((!ty.return_type().is_void()).then_some(result));
    }
}

/// Lets the product function call the model. The C compiler may return a struct in registers of other types or
/// through a pointer; it goes through memory here.
fn adapt(product: &Product, name: &str, model: Value, file: &Path) -> Result<()> {
    let builder = Builder::at_end(append_block(product.function, ""));
    let ty = model.value_type();
    let result = product.ty.return_type();
    let mut arguments = product.function.parameters();
    let through_pointer = ty.return_type().is_void() && !result.is_void();
    let memory = (!result.is_void()).then(|| {
        // Either may be the larger one: padding, or registers that are not full.
        let returned = if through_pointer {
            result
        } else {
            ty.return_type()
        };
        let both = Types::of_function(product.function).structure(&[result, returned]);
        builder.alloca(both, "")
    });
    if through_pointer {
        arguments.splice(0..0, memory);
    }
    let given: Vec<_> = arguments.iter().map(|argument| argument.ty()).collect();
    if given != ty.parameter_types()
        || ty.is_variadic()
        || (result.is_void() && !ty.return_type().is_void())
    {
        return Err(Error::bad_input(
            file,
            format!("_PP_{name} does not have the parameters and results of a product function of {name}"),
        ));
    }
    let call = builder.call(ty, model, &arguments);
    call.copy_call_attributes_from(model);
    let all = memory.map(|memory| {
        if !through_pointer {
            builder.store(call, memory);
        }
        builder.load(result, memory)
    });
    let fields = all.map_or(0, |all| all.ty().field_count());
    let results: Vec<Option<Value>> = (0..fields)
        .map(|field| all.map(|all| builder.extract_value(all, field)))
        .collect();
    build_return(&builder, result, &results);
    Ok(())
}
