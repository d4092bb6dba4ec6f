//! The `main` of a version that begins with another function.

use super::shape::{Kind, Shape, Signature};
use super::{Driver, Entry};
use crate::llvm::{self, append_block, Builder, Context, Module, Type, Types, Value};
use crate::{runtime, Error, Result};

/// What the end of a replaced `main`'s name is.
const REPLACED: &str = ".p3-replaced";

pub(super) fn drive<'ctx>(
    context: &'ctx Context,
    module: &Module<'ctx>,
    entry: &Entry,
) -> Result<()> {
    if matches!(entry.driver, Driver::None) {
        return Ok(());
    }
    if let Some(main) = llvm::global_named(module, "main") {
        main.set_name(format!("main{REPLACED}").as_bytes());
        if !main.is_declaration() {
            main.set_internal();
        }
    }
    let function = llvm::global_named(module, &entry.function)
        .and_then(Value::strip_to_function)
        .ok_or_else(|| Error::internal("entry", format!("no function {}", entry.function)))?;
    let types = Types::of(module);
    let (integer, pointer) = (types.integer(32), types.pointer());
    let ty = types.function(integer, &[integer, pointer, pointer]);
    let main = llvm::add_function(module, "main", ty);
    let maker = Maker {
        module,
        types,
        function,
        main,
    };
    match &entry.driver {
        Driver::None => {}
        Driver::Arguments => maker.hand_on(),
        Driver::FuzzTarget => maker.fuzz_target(),
        Driver::Signature(signature) => maker.call(signature)?,
    }
    if !matches!(entry.driver, Driver::Arguments) {
        let driver = runtime::entry(context, module)?;
        llvm::link(module, driver).map_err(|reason| Error::internal("entry", reason))?;
        for function in llvm::functions(module) {
            let is_ours = runtime::is_runtime(function) && !function.is_declaration();
            if is_ours && function.linkage() == llvm::Linkage::External {
                function.set_internal();
            }
        }
    }
    Ok(())
}

struct Maker<'m, 'ctx> {
    module: &'m Module<'ctx>,
    types: Types,
    function: Value,
    main: Value,
}

impl Maker<'_, '_> {
    fn helper(&self, builder: &Builder, name: &str, result: Type, arguments: &[Value]) -> Value {
        let parameters: Vec<Type> = arguments.iter().map(|argument| argument.ty()).collect();
        let ty = self.types.function(result, &parameters);
        let function = llvm::global_named(self.module, name)
            .unwrap_or_else(|| llvm::add_function(self.module, name, ty));
        builder.call(ty, function, arguments)
    }

    fn constant(&self, name: &str, value: Value) -> Value {
        let global = llvm::add_global(self.module, name, value.ty());
        global.set_initializer(value);
        global.set_constant(true);
        global.set_internal();
        global
    }

    fn text(&self, text: &str) -> Value {
        let text: Vec<u8> = text.bytes().filter(|b| *b != 0).collect();
        self.constant("p3_entry_name", self.types.string(&text))
    }

    /// `return f(argc, argv, envp);`
    fn hand_on(&self) {
        let builder = Builder::at_end(append_block(self.main, ""));
        let ty = self.function.value_type();
        let count = ty.parameter_types().len();
        let call = builder.call(ty, self.function, &self.main.parameters()[..count]);
        let status = match ty.return_type().is_void() {
            true => self.types.integer(32).zero(),
            false => call,
        };
        builder.ret(Some(status));
    }

    /// `p3_entry_start(argc, argv); LLVMFuzzerInitialize(&argc, &argv); while (data = p3_entry_data()) f(data, size);`
    fn fuzz_target(&self) {
        let types = &self.types;
        let (integer, word, pointer) = (types.integer(32), types.integer(64), types.pointer());
        let start = Builder::at_end(append_block(self.main, ""));
        let given = self.main.parameters();
        let initialize = llvm::global_named(self.module, "LLVMFuzzerInitialize")
            .and_then(Value::as_function)
            .filter(|function| {
                !function.is_declaration()
                    && function.value_type().parameter_types() == [pointer, pointer]
            });
        let (mut count, mut list) = (given[0], given[1]);
        if let Some(initialize) = initialize {
            let (counted, listed) = (start.alloca(integer, ""), start.alloca(pointer, ""));
            start.store(count, counted);
            start.store(list, listed);
            start.call(initialize.value_type(), initialize, &[counted, listed]);
            (count, list) = (start.load(integer, counted), start.load(pointer, listed));
        }
        self.helper(&start, "p3_entry_start", types.void(), &[count, list]);
        let next = append_block(self.main, "next");
        start.branch(next);
        let next_builder = Builder::at_end(next);
        let data = self.helper(&next_builder, "p3_entry_data", pointer, &[]);
        let builder = self.while_there(&next_builder, data);
        let size = self.helper(&builder, "p3_entry_size", word, &[]);
        let result = builder.call(self.function.value_type(), self.function, &[data, size]);
        let name = self.text(&self.function.name_text());
        self.helper(
            &builder,
            "p3_entry_target_returned",
            types.void(),
            &[name, result],
        );
        builder.branch(next);
    }

    /// What follows if `pointer` is not null; otherwise main ends.
    fn while_there(&self, builder: &Builder, pointer: Value) -> Builder {
        let (there, end) = (
            append_block(self.main, "there"),
            append_block(self.main, "end"),
        );
        builder.conditional_branch(builder.is_zero(pointer), end, there);
        let ending = Builder::at_end(end);
        let status = self.helper(&ending, "p3_entry_status", self.types.integer(32), &[]);
        ending.ret(Some(status));
        Builder::at_end(there)
    }

    /// `p3_entry_start(argc, argv); while (frame = p3_entry_frame(signature)) { result = f(...); p3_entry_returned(); }`
    fn call(&self, signature: &Signature) -> Result<()> {
        let types = &self.types;
        let start = Builder::at_end(append_block(self.main, ""));
        let given = self.main.parameters();
        self.helper(&start, "p3_entry_start", types.void(), &given[..2]);
        let next = append_block(self.main, "next");
        start.branch(next);
        let next_builder = Builder::at_end(next);
        let table = self.signature(signature);
        let frame = self.helper(&next_builder, "p3_entry_frame", types.pointer(), &[table]);
        let builder = self.while_there(&next_builder, frame);
        let arguments = self.arguments(&builder, signature, frame)?;
        let ty = self.function.value_type();
        let call = builder.call(ty, self.function, &arguments);
        call.copy_call_attributes_from(self.function);
        if let Some(result) = signature
            .result
            .as_ref()
            .filter(|_| !ty.return_type().is_void())
        {
            let at = builder.offset(frame, result.offset);
            let value = match call.ty().integer_width() {
                Some(1) => builder.integer_cast(call, types.integer(8), false),
                _ => call,
            };
            builder.store(value, at);
        }
        self.helper(&builder, "p3_entry_returned", types.void(), &[]);
        builder.branch(next);
        Ok(())
    }

    /// What the function gets, as the ABI of x86_64 passes it: structures of up to 16 bytes in one or two registers,
    /// larger ones in memory.
    fn arguments(
        &self,
        builder: &Builder,
        signature: &Signature,
        frame: Value,
    ) -> Result<Vec<Value>> {
        let wanted = self.function.value_type().parameter_types();
        let mut arguments: Vec<Value> = Vec::new();
        let other = || {
            Error::unsupported(
                format!("'{}'", signature.function),
                "the compiler has given it other parameters than its source",
            )
        };
        if self.function.parameter_has_attribute(0, "sret") {
            let result = signature.result.as_ref().ok_or_else(other)?;
            arguments.push(builder.offset(frame, result.offset));
        }
        for parameter in &signature.parameters.children {
            if parameter.size == 0 {
                continue;
            }
            let index = arguments.len();
            let at = builder.offset(frame, parameter.offset);
            if self.function.parameter_has_attribute(index as u32, "byval") {
                arguments.push(at);
                continue;
            }
            let mut offset = 0;
            while offset < parameter.size {
                let ty = *wanted.get(arguments.len()).ok_or_else(other)?;
                let size = llvm::size_of(self.module, ty);
                if size > parameter.size.next_multiple_of(16) {
                    return Err(other());
                }
                let at = builder.offset(at, offset);
                let value = match ty.integer_width() {
                    // A bool is a byte in memory.
                    Some(width) if width < 8 => {
                        let byte = builder.load(self.types.integer(8), at);
                        builder.integer_cast(byte, ty, false)
                    }
                    _ => builder.load(ty, at),
                };
                arguments.push(value);
                offset += size.next_multiple_of(8);
            }
        }
        if arguments.len() != wanted.len() {
            return Err(other());
        }
        Ok(arguments)
    }

    /// The table that runtime/entry/entry.h describes.
    fn signature(&self, signature: &Signature) -> Value {
        let types = &self.types;
        let result = match &signature.result {
            Some(result) => self.shapes(std::slice::from_ref(result)),
            None => types.pointer().zero(),
        };
        let parts = signature.parts() as u64;
        let table = types.constant_structure(&[
            self.text(&signature.function),
            types.constant(64, signature.frame),
            types.constant(64, parts),
            self.shapes(std::slice::from_ref(&signature.parameters)),
            result,
        ]);
        self.constant("p3_entry_signature", table)
    }

    fn shapes(&self, shapes: &[Shape]) -> Value {
        let types = &self.types;
        let rows: Vec<Value> = shapes.iter().map(|shape| self.shape(shape)).collect();
        match rows.first() {
            None => types.pointer().zero(),
            Some(first) => self.constant("p3_entry_shapes", types.array(first.ty(), &rows)),
        }
    }

    fn shape(&self, shape: &Shape) -> Value {
        let types = &self.types;
        let enumerators: Vec<Value> = shape
            .enumerators
            .iter()
            .map(|(name, value)| {
                types.constant_structure(&[types.constant(64, *value as u64), self.text(name)])
            })
            .collect();
        let count = match shape.kind {
            Kind::Struct => shape.children.len() as u64,
            Kind::Enum | Kind::Flags => enumerators.len() as u64,
            _ => shape.count,
        };
        let enumerators = match enumerators.first() {
            None => types.pointer().zero(),
            Some(first) => self.constant(
                "p3_entry_enumerators",
                types.array(first.ty(), &enumerators),
            ),
        };
        let number = |width, value: u64| types.constant(width, value);
        types.constant_structure(&[
            number(32, shape.kind as u64),
            number(32, shape.flags.into()),
            number(64, shape.offset),
            number(64, shape.size),
            number(32, shape.bits.into()),
            number(32, shape.shift.into()),
            number(64, count),
            number(64, shape.partner.unwrap_or(0) as u64),
            self.text(&shape.name),
            self.shapes(&shape.children),
            enumerators,
        ])
    }
}
