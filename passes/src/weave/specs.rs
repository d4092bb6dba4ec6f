//! Specifications in product functions.
//!
//! Those of programs (`p3.h`): where the versions have reached the places of one back to back, the runtime is asked to
//! evaluate it. Those of the command line (`--assert-equal-returns`, `--assert-equal-args`): values of all versions
//! are compared where they are, bit by bit; of pointers only whether they are null. The runtime says whether the
//! product is to end, as it does for [`LockstepChecks`].

use super::forks::Forks;
use super::lockstep_checks::{different, LockstepChecks};
use super::plan::Plan;
use super::products::Product;
use crate::llvm::{self, append_block, Builder, Module, Types, Value};
use crate::rename;
use crate::spec::{self, Spec};
use crate::{Error, Result};
use inkwell::llvm_sys::LLVMTypeKind;

/// Functions whose results or arguments are to be equal, by their names without prefix.
#[derive(Clone, Debug, Default)]
pub(super) struct Equal {
    pub(super) returns: Vec<String>,
    pub(super) arguments: Vec<String>,
}

const RETURNS: &str = "--assert-equal-returns";
const ARGUMENTS: &str = "--assert-equal-args";

impl Equal {
    /// Whether the versions' functions can be compared so.
    pub(super) fn check(&self, product: &Product, name: &str) -> Result<()> {
        let present = product.present();
        let fail = |option: &str, what: String| {
            let option = format!("{option} {name}");
            Err(Error::bad_input(option, what))
        };
        if self.returns.iter().any(|f| f == name) {
            let results: Vec<_> = present
                .iter()
                .map(|f| f.value_type().return_type())
                .collect();
            let in_memory = |f: &Value| f.parameter_has_attribute(0, "sret");
            if present.iter().any(in_memory) {
                let option = format!("{RETURNS} {name}");
                let reason =
                    "it returns a structure in memory (--spec FILE.c can compare its members)";
                return Err(Error::unsupported(option, reason));
            }
            if results.iter().any(|ty| ty.is_void()) {
                return fail(RETURNS, "the function returns nothing".into());
            }
            if results.iter().any(|&ty| ty != results[0]) {
                return fail(RETURNS, "its results are of different types".into());
            }
        }
        if self.arguments.iter().any(|f| f == name) {
            let all: Vec<_> = present
                .iter()
                .map(|f| f.value_type().parameter_types())
                .collect();
            let count = all.iter().map(Vec::len).min().unwrap_or(0);
            if count == 0 {
                return fail(ARGUMENTS, "the function has no parameters".into());
            }
            let differs = (0..count).find(|&i| all.iter().any(|types| types[i] != all[0][i]));
            if let Some(i) = differs {
                let what = format!("parameter {} is of different types", i + 1);
                return fail(ARGUMENTS, what);
            }
        }
        Ok(())
    }

    /// The names that no version defines.
    pub(super) fn unknown(&self, is_known: &dyn Fn(&str) -> bool) -> Result<()> {
        let options = self.returns.iter().map(|name| (RETURNS, name));
        for (option, name) in options.chain(self.arguments.iter().map(|name| (ARGUMENTS, name))) {
            if !is_known(name) {
                let option = format!("{option} {name}");
                let what = "no version has such a function (the compiler may have inlined it)";
                return Err(Error::bad_input(option, what));
            }
        }
        Ok(())
    }

    /// The options that say something of a function.
    pub(super) fn options(&self, name: &str) -> Vec<String> {
        let returns = self.returns.iter().filter(|f| *f == name).map(|_| RETURNS);
        let arguments = self
            .arguments
            .iter()
            .filter(|f| *f == name)
            .map(|_| ARGUMENTS);
        returns
            .chain(arguments)
            .map(|option| format!("{option} {name}"))
            .collect()
    }
}

/// Warnings of specifications in the programs that cannot be evaluated; `reason` is that why a function is not woven.
pub(super) fn never_evaluated(
    module: &Module,
    count: usize,
    reason: &dyn Fn(&str) -> Option<String>,
) -> Vec<String> {
    let met: Vec<Value> = llvm::variables(module)
        .into_iter()
        .filter(|variable| spec::is_meeting(&variable.name_text()))
        .filter_map(|meeting| meeting.initializer()?.element(3))
        .flat_map(|places| (0..count as u32).filter_map(move |i| places.element(i)))
        .collect();
    let mut warnings = Vec::new();
    let Some(reached) = llvm::global_named(module, spec::REACHED) else {
        return warnings;
    };
    let all = (1u64 << count) - 1;
    for call in reached.users() {
        let Some(place) = spec::place_of(call).filter(|place| !met.contains(place)) else {
            continue;
        };
        let function = call.parent_block().parent().name_text();
        let Some(found) = Spec::of(place).filter(|_| !function.starts_with("_PP_")) else {
            continue;
        };
        if !spec::has_relation(place) || found.named & !all != 0 {
            continue;
        }
        let plain = (0..count)
            .find_map(|i| function.strip_prefix(&rename::prefix(i)))
            .unwrap_or(&function);
        let why =
            reason(plain).unwrap_or_else(|| "the versions have no such place in common".into());
        warnings.push(format!(
            "{}: {} is never evaluated: function {plain}: {why}",
            found.place(),
            found.text
        ));
    }
    // Versions that have it at the same line say it once.
    warnings.sort();
    warnings.dedup();
    warnings
}

impl LockstepChecks<'_, '_> {
    /// Evaluates the specification whose `places` (`struct p3_place`, one per version of `versions`) have just been
    /// reached; returns a builder for what follows.
    pub(super) fn evaluate_spec(
        &self,
        builder: Builder,
        versions: &[usize],
        places: Vec<Value>,
    ) -> Builder {
        let present: u64 = versions.iter().map(|&version| 1 << version).sum();
        let named = places
            .iter()
            .filter_map(|&place| Spec::of(place))
            .map(|spec| spec.named);
        if named.fold(0, |all, one| all | one) & !present != 0 {
            return builder;
        }
        let known = self.meetings.borrow().get(&places).copied();
        let meeting = known.unwrap_or_else(|| {
            let meeting = self.meeting(present, versions, &places);
            self.meetings.borrow_mut().insert(places, meeting);
            meeting
        });
        self.ask(&builder, "p3_spec_evaluate", &[meeting])
    }

    /// Compares the members' results as `--check returns` and `--assert-equal-returns` ask for it; returns a builder
    /// for what follows.
    pub(super) fn compare_results(
        &self,
        builder: Builder,
        plan: &Plan,
        forks: &Forks,
        versions: &[usize],
        results: &[Option<Value>],
    ) -> Builder {
        let builder = if self.returns {
            self.compare_returns(builder, plan, forks, versions, results)
        } else {
            builder
        };
        let functions: Vec<Value> = plan.graphs.iter().map(|graph| graph.function).collect();
        let name = plain(functions[0], versions[0]);
        let all: Option<Vec<Value>> = results.iter().copied().collect();
        let Some(all) = all.filter(|_| self.equal.returns.contains(&name)) else {
            return builder;
        };
        let values: Vec<Vec<Value>> = all.into_iter().map(|value| vec![value]).collect();
        let text = format!("{RETURNS} {name}");
        self.assert_equal(builder, &text, forks, versions, &functions, &values)
    }

    /// The same of the arguments.
    pub(super) fn compare_arguments(
        &self,
        builder: Builder,
        product: &Product,
        forks: &Forks,
        arguments: &[Vec<Value>],
    ) -> Builder {
        let (functions, versions) = (product.present(), product.versions());
        let name = plain(functions[0], versions[0]);
        if !self.equal.arguments.contains(&name) {
            return builder;
        }
        let text = format!("{ARGUMENTS} {name}");
        self.assert_equal(builder, &text, forks, &versions, &functions, arguments)
    }

    /// Tells the runtime which versions have other values than the first.
    fn assert_equal(
        &self,
        builder: Builder,
        text: &str,
        forks: &Forks,
        versions: &[usize],
        functions: &[Value],
        values: &[Vec<Value>],
    ) -> Builder {
        let types = Types::of(self.module);
        let none = types.integer(32).zero();
        let mut mask = none;
        for (k, others) in values.iter().enumerate().skip(1) {
            let differs = values[0]
                .iter()
                .zip(others)
                .filter_map(|(&a, &b)| unequal(&builder, a, b))
                .reduce(|any, one| builder.or(any, one));
            if let Some(differs) = differs {
                let bit = types.constant(32, 1 << versions[k]);
                mask = builder.or(mask, builder.select(differs, bit, none));
            }
        }
        // What a version that has ended returns is no result.
        let Some(alive) = forks.are_alive(&builder, versions) else {
            return builder;
        };
        let parent = builder.block().parent();
        let (compared, on) = (append_block(parent, "compared"), append_block(parent, "on"));
        builder.conditional_branch(alive, compared, on);
        let present: u64 = versions.iter().map(|&version| 1 << version).sum();
        let meeting = self.meeting_of_functions(present, text, versions, functions);
        let compared = builder.followed_by(compared);
        self.ask(&compared, "p3_spec_compared", &[meeting, mask])
            .branch(on);
        builder.followed_by(on)
    }

    /// A meeting at functions instead of at places in them; one for both copies of a product function.
    fn meeting_of_functions(
        &self,
        present: u64,
        text: &str,
        versions: &[usize],
        functions: &[Value],
    ) -> Value {
        let key = (text.to_string(), functions.to_vec());
        if let Some(&known) = self.compared.borrow().get(&key) {
            return known;
        }
        let places: Vec<Value> = versions
            .iter()
            .zip(functions)
            .map(|(&version, &function)| {
                let (file, line) = match function.definition_place() {
                    Some(place) => (place.file, place.line.into()),
                    None => (format!("{}()", plain(function, version)), 0),
                };
                let spec = Spec {
                    what: 0,
                    file,
                    line,
                    text: text.to_string(),
                    named: present,
                };
                let place = spec::define_place(self.module, version, &spec, None, None);
                let name = format!("{}{}", rename::prefix(version), spec::PLACE);
                place.set_name(name.as_bytes());
                place
            })
            .collect();
        let meeting = self.meeting(present, versions, &places);
        self.compared.borrow_mut().insert(key, meeting);
        meeting
    }

    /// A `struct p3_meeting`: versions, how often evaluated and failed, a place per version.
    fn meeting(&self, present: u64, versions: &[usize], places: &[Value]) -> Value {
        let types = Types::of(self.module);
        let mut all = vec![types.pointer().zero(); self.count];
        for (&version, &place) in versions.iter().zip(places) {
            all[version] = place;
        }
        let fields = [
            types.constant(32, present),
            types.constant(64, 0),
            types.constant(64, 0),
            types.array(types.pointer(), &all),
        ];
        let initial = types.constant_structure(&fields);
        let meeting = llvm::add_global(self.module, spec::MEETING, initial.ty());
        meeting.set_initializer(initial);
        meeting.set_internal();
        meeting
    }
}

/// A version's function's name without prefix.
fn plain(function: Value, version: usize) -> String {
    let name = function.name_text();
    let plain = name.strip_prefix(&rename::prefix(version));
    plain.unwrap_or(&name).to_string()
}

/// Whether two values of one type differ; none if that cannot be told.
fn unequal(builder: &Builder, a: Value, b: Value) -> Option<Value> {
    if a.ty().kind() == LLVMTypeKind::LLVMPointerTypeKind {
        let (a, b) = (builder.is_zero(a), builder.is_zero(b));
        return Some(builder.not_equal(a, b));
    }
    different(builder, a, b)
}
