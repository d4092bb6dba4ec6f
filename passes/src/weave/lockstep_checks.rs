//! The checks inside product functions (`merge --check divergence,returns`).
//!
//! divergence: where versions come to a matched branch, switch or indirect call and do not go on alike, the
//! runtime is told the places. exits (`WeaveOptions::exits`): where they leave lock-step with equal conditions, since
//! one of them goes on at what the others do not have; no check fails by that. returns: at the end of a product function, results of one type that differ. The
//! runtime says whether the product is to end; then `abort` is called right there, so that analysers which tell
//! errors apart by the instruction see every place as an error of its own.
//!
//! Not looked at: the tests that a version is still alive (its end shows in its status), results that hold
//! pointers (the versions' objects have different addresses).

use super::forks::Forks;
use super::plan::Plan;
use super::specs::Equal;
use crate::finish::Checks;
use crate::llvm::{self, Builder, Module, Type, Types, Value};
use inkwell::llvm_sys::LLVMTypeKind;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// What a product function reports; the numbers are `enum p3_parting` in runtime/p3_runtime.h.
#[derive(Clone, Copy)]
pub(super) enum Parting {
    Branch = 0,
    Switch = 1,
    Call = 2,
    Returns = 3,
    Exit = 4,
}

/// Emits the calls that report.
pub(super) struct LockstepChecks<'m, 'ctx> {
    pub(super) module: &'m Module<'ctx>,
    pub(super) divergence: bool,
    pub(super) returns: bool,
    pub(super) exits: bool,
    pub(super) count: usize,
    made: Cell<usize>,
    /// The meetings made so far, by their places.
    pub(super) meetings: RefCell<HashMap<Vec<Value>, Value>>,
    /// What is to be equal, and the meetings for that, by text and functions.
    pub(super) equal: Equal,
    pub(super) compared: RefCell<HashMap<(String, Vec<Value>), Value>>,
}

impl<'m, 'ctx> LockstepChecks<'m, 'ctx> {
    /// `count` is the number of versions.
    pub(super) fn new(
        module: &'m Module<'ctx>,
        checks: Checks,
        exits: bool,
        equal: Equal,
        count: usize,
    ) -> Self {
        LockstepChecks {
            module,
            divergence: checks.has("divergence"),
            returns: checks.has("returns"),
            exits,
            count,
            made: Cell::new(0),
            meetings: RefCell::default(),
            equal,
            compared: RefCell::default(),
        }
    }

    /// Reports that the versions whose bits are set in `mask` (an i32) part from the first at `record`. Returns a
    /// builder for what follows.
    pub(super) fn report(&self, builder: &Builder, record: Value, mask: Value) -> Builder {
        self.ask(builder, "p3_parted", &[record, mask])
    }

    /// Calls a function of the runtime that says whether the product is to end here. Returns a builder for the other
    /// case.
    pub(super) fn ask(&self, builder: &Builder, name: &str, arguments: &[Value]) -> Builder {
        let types = Types::of(self.module);
        let given: Vec<Type> = arguments.iter().map(|argument| argument.ty()).collect();
        let ty = types.function(types.integer(1), &given);
        let fatal = builder.call(ty, self.runtime(name, ty), arguments);
        let function = builder.block().parent();
        let end = llvm::append_block(function, "fatal");
        let on = llvm::append_block(function, "on");
        builder.conditional_branch(fatal, end, on);
        let last = builder.followed_by(end);
        let ty = types.function(types.void(), &[]);
        last.call(ty, self.runtime("abort", ty), &[]);
        last.unreachable();
        builder.followed_by(on)
    }

    /// The mask of the members (one `i1` each from the second on) that differ from the first.
    pub(super) fn mask(&self, builder: &Builder, versions: &[usize], differs: &[Value]) -> Value {
        let types = Types::of(self.module);
        let integer = types.integer(32);
        let bit = |k: usize| types.constant(32, 1 << versions[k + 1]);
        if differs.len() == 1 {
            return bit(0);
        }
        differs
            .iter()
            .enumerate()
            .map(|(k, &differs)| builder.select(differs, bit(k), integer.zero()))
            .reduce(|all, one| builder.or(all, one))
            .unwrap_or(integer.zero())
    }

    /// Compares results of the members; returns a builder for what follows.
    pub(super) fn compare_returns(
        &self,
        builder: Builder,
        plan: &Plan,
        forks: &Forks,
        versions: &[usize],
        results: &[Option<Value>],
    ) -> Builder {
        let Some(Some(first)) = results.first().copied() else {
            return builder;
        };
        let mut differs = Vec::new();
        for result in &results[1..] {
            match result {
                Some(result) if result.ty() == first.ty() => {
                    match different(&builder, first, *result) {
                        Some(value) => differs.push(value),
                        None => return builder,
                    }
                }
                _ => return builder,
            }
        }
        let any = differs
            .iter()
            .copied()
            .reduce(|any, one| builder.or(any, one));
        // What a version that has ended returns is no result.
        let (Some(any), Some(alive)) = (any, forks.are_alive(&builder, versions)) else {
            return builder;
        };
        let condition = builder.and(any, alive);
        let parent = builder.block().parent();
        let (different, on) = (
            llvm::append_block(parent, "returns"),
            llvm::append_block(parent, "on"),
        );
        builder.conditional_branch(condition, different, on);
        let report = builder.followed_by(different);
        let mask = self.mask(&report, versions, &differs);
        let places: Vec<Value> = plan.graphs.iter().map(|graph| graph.function).collect();
        let record = self.record(Parting::Returns, versions, &places);
        self.report(&report, record, mask).branch(on);
        builder.followed_by(on)
    }

    /// A `struct p3_parting`: link, count, versions seen to differ, kind, one text per version. `places` are
    /// instructions or functions, one per version of `versions`.
    pub(super) fn record(&self, parting: Parting, versions: &[usize], places: &[Value]) -> Value {
        let types = Types::of(self.module);
        let number = self.made.get();
        self.made.set(number + 1);
        let null = types.pointer().zero();
        let mut texts = vec![null; self.count];
        for (&version, &place) in versions.iter().zip(places) {
            let text = types.string(text_of(place).as_bytes());
            let global = llvm::add_global(
                self.module,
                &format!("p3_place.{number}.{}", version + 1),
                text.ty(),
            );
            global.set_initializer(text);
            global.set_constant(true);
            global.set_internal();
            texts[version] = global;
        }
        let fields = [
            null,
            types.constant(64, 0),
            types.constant(32, 0),
            types.constant(32, parting as u64),
            types.array(types.pointer(), &texts),
        ];
        let initial = types.constant_structure(&fields);
        let record = llvm::add_global(self.module, &format!("p3_parting.{number}"), initial.ty());
        record.set_initializer(initial);
        record.set_internal();
        record
    }

    fn runtime(&self, name: &str, ty: Type) -> Value {
        llvm::global_named(self.module, name)
            .unwrap_or_else(|| llvm::add_function(self.module, name, ty))
    }
}

/// Whether two values of one type differ, bit by bit; none if they hold pointers.
pub(super) fn different(builder: &Builder, a: Value, b: Value) -> Option<Value> {
    match a.ty().kind() {
        LLVMTypeKind::LLVMIntegerTypeKind => Some(builder.not_equal(a, b)),
        LLVMTypeKind::LLVMStructTypeKind => (0..a.ty().field_count())
            .map(|i| {
                let (a, b) = (builder.extract_value(a, i), builder.extract_value(b, i));
                different(builder, a, b)
            })
            .reduce(|any, one| Some(builder.or(any?, one?)))?,
        LLVMTypeKind::LLVMFloatTypeKind
        | LLVMTypeKind::LLVMDoubleTypeKind
        | LLVMTypeKind::LLVMX86_FP80TypeKind
        | LLVMTypeKind::LLVMFP128TypeKind
        | LLVMTypeKind::LLVMHalfTypeKind => {
            let (a, b) = (builder.bits(a)?, builder.bits(b)?);
            Some(builder.not_equal(a, b))
        }
        _ => None,
    }
}

/// The place in the source, or the function where there is no debug info.
pub(crate) fn text_of(place: Value) -> String {
    let found = if place.is_instruction() {
        place.debug_place()
    } else {
        place.definition_place()
    };
    match found {
        Some(place) => format!("{}:{}", place.file, place.line),
        None => {
            let function = if place.is_instruction() {
                place.parent_block().parent()
            } else {
                place
            };
            let name = function.name_text();
            let plain = name
                .strip_prefix("_PP")
                .and_then(|rest| rest.split_once('_'))
                .map_or(name.as_str(), |(_, plain)| plain);
            let plain = plain.strip_suffix(super::CONTINUATION).unwrap_or(plain);
            format!("{plain}()")
        }
    }
}
