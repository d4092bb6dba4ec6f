//! Product functions written by hand (`merge --model FILE`, `merge --spec FILE.c`).
//!
//! A model defines `_PP_f` in C as `struct results _PP_f(bool p1, bool p2, ..., args1..., args2...)`. For a
//! function that the versions define it replaces the woven product function. For an external function it becomes
//! the product function of wrappers `_PPi_f` that every version calls instead. If it declares `_PP_f_woven` of the same
//! type, that is the product function that it stands before.

use super::products::{build_return, Product};
use super::FunctionReport;
use crate::llvm::{self, append_block, Builder, Context, Module, Types, Value};
use crate::pipeline::Observer;
use crate::{build, load, rename, Error, Result};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// An attribute of a product function whose body is a model: its members' names, a line each. The body does not
/// show them.
pub(crate) const MEMBERS: &str = "p3-members";

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
        files: &[(PathBuf, &Path)],
        count: usize,
        observe: &mut dyn Observer,
    ) -> Result<Models> {
        let mut names: Vec<(String, PathBuf)> = Vec::new();
        for (bitcode, file) in files {
            let file: &Path = file;
            let input = load::Input {
                files: vec![load::Source::File(bitcode.clone())],
            };
            for load::Part { module, .. } in load::load(context, &input, observe)?.parts {
                let before = names.len();
                for function in llvm::functions(&module) {
                    let name = function.name_text();
                    if let (false, Some(modelled)) =
                        (function.is_declaration(), name.strip_prefix("_PP_"))
                    {
                        function.set_name(format!("{name}.model").as_bytes());
                        names.push((modelled.to_string(), file.to_path_buf()));
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

    /// Warnings of models that no call reaches; `reports` are of the versions' functions.
    pub(super) fn unused(&self, reports: &[FunctionReport]) -> Vec<String> {
        let mut unused: Vec<String> = self
            .functions
            .iter()
            .filter_map(|(name, (_, file))| {
                let why = match reports.iter().find(|report| report.name == *name) {
                    None => "no version has or calls such a function".to_string(),
                    Some(report) => report.sequential.clone()?,
                };
                Some(format!(
                    "{}: _PP_{name} is never called: {why}",
                    file.display()
                ))
            })
            .collect();
        unused.sort();
        unused
    }

    /// Writes the body of the product function of `name` if there is a model.
    pub(super) fn implement(
        &self,
        module: &Module,
        product: &Product,
        name: &str,
    ) -> Result<Model> {
        let Some((model, file)) = self.functions.get(name) else {
            return Ok(Model::None);
        };
        adapt(product, name, *model, file)?;
        let members: Vec<String> = product.present().iter().map(|m| m.name_text()).collect();
        product
            .function
            .add_text_attribute(MEMBERS, &members.join("\n"));
        let declared = llvm::global_named(module, &format!("_PP_{name}_woven"))
            .filter(|declared| declared.is_declaration());
        let Some(declared) = declared else {
            return Ok(Model::Alone);
        };
        let woven = Product::declare(
            module,
            &format!("_PP_{name}.woven"),
            product.members.clone(),
        );
        if declared.value_type() != model.value_type() {
            return Err(Error::bad_input(
                file,
                format!("_PP_{name}_woven is not declared as _PP_{name} is"),
            ));
        }
        lend(&woven, declared);
        Ok(Model::Around(woven))
    }
}

/// What stands for a product function.
pub(super) enum Model {
    None,
    Alone,
    /// It may call the woven one, which is still to be written.
    Around(Product),
}

/// Bitcode made of C files, and where it is.
pub(super) struct Compiled<'a> {
    /// The bitcode, and the C file.
    pub(super) files: Vec<(PathBuf, &'a Path)>,
    /// Holds it.
    _directory: Option<tempfile::TempDir>,
}

/// Compiles C files with product functions; they can include p3.h.
pub(super) fn compile(files: &[PathBuf]) -> Result<Compiled<'_>> {
    if files.is_empty() {
        return Ok(Compiled {
            files: Vec::new(),
            _directory: None,
        });
    }
    let unwritable = |e| Error::bad_input(std::env::temp_dir(), format!("cannot write: {e}"));
    let directory = tempfile::tempdir().map_err(unwritable)?;
    std::fs::write(directory.path().join("p3.h"), crate::spec::HEADER).map_err(unwritable)?;
    let mut compiled = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let bitcode = directory.path().join(format!("{number}.bc"));
        build::compile_model(file, directory.path(), &bitcode)?;
        compiled.push((bitcode, file.as_path()));
    }
    Ok(Compiled {
        files: compiled,
        _directory: Some(directory),
    })
}

/// Defines `declared`, which is how C sees `product`, by a call of that.
fn lend(product: &Product, declared: Value) {
    let ty = declared.value_type();
    declared.drop_subprogram();
    let builder = Builder::at_end(append_block(declared, ""));
    declared.set_internal();
    let result = product.ty.return_type();
    let mut arguments = declared.parameters();
    let through_pointer = ty.return_type().is_void() && !result.is_void();
    let target = through_pointer.then(|| arguments.remove(0));
    let call = builder.call(product.ty, product.function, &arguments);
    call.copy_call_attributes_from(product.function);
    if let Some(target) = target {
        builder.store(call, target);
    }
    if ty.return_type().is_void() {
        builder.ret(None);
        return;
    }
    // As in `adapt`, through memory that has room for either.
    let both = Types::of_function(declared).structure(&[result, ty.return_type()]);
    let memory = builder.alloca(both, "");
    builder.store(call, memory);
    builder.ret(Some(builder.load(ty.return_type(), memory)));
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
