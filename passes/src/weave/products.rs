//! The product functions of a program: their types, how they are called, and the dispatch of calls through
//! pointers.

use super::forks::Forks;
use super::lockstep_checks::{LockstepChecks, Parting};
use super::weights;
use crate::libc;
use crate::llvm::{self, append_block, Block, Builder, Module, Type, Types, Value};
use crate::lookup;
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};

/// `{r1, r2, ...} _PP_f(i1 p1, i1 p2, ..., args1..., args2..., ...)`
pub(crate) struct Product {
    pub(crate) function: Value,
    pub(crate) ty: Type,
    /// Per version: its plain function.
    pub(crate) members: Vec<Option<Value>>,
}

impl Product {
    /// Declares the product function of `members` (at least two).
    pub(super) fn declare(module: &Module, name: &str, members: Vec<Option<Value>>) -> Product {
        let types = Types::of(module);
        let present: Vec<Value> = members.iter().flatten().copied().collect();
        let mut parameters = vec![types.integer(1); present.len()];
        for member in &present {
            parameters.extend(member.value_type().parameter_types());
        }
        let ty = types.function(result_type(&types, &present), &parameters);
        let function = llvm::add_function(module, name, ty);
        function.set_internal();
        function.copy_code_generation_attributes(present[0]);
        for &member in &present[1..] {
            function.keep_common_attributes(member);
        }
        let mut index = present.len() as u32;
        for member in &present {
            for parameter in 0..member.parameters().len() as u32 {
                function.copy_byval(index, *member, parameter);
                index += 1;
            }
        }
        Product {
            function,
            ty,
            members,
        }
    }

    /// The versions that have the function.
    pub(crate) fn versions(&self) -> Vec<usize> {
        (0..self.members.len())
            .filter(|&version| self.members[version].is_some())
            .collect()
    }

    /// The plain functions of [`Product::versions`].
    pub(crate) fn present(&self) -> Vec<Value> {
        self.members.iter().flatten().copied().collect()
    }

    /// Splits the product function's parameters: activation variables, and each member's arguments.
    pub(super) fn split_parameters(&self) -> (Vec<Value>, Vec<Vec<Value>>) {
        let mut parameters = self.function.parameters().into_iter();
        let present = self.present();
        let active = parameters.by_ref().take(present.len()).collect();
        let arguments = present
            .iter()
            .map(|member| {
                parameters
                    .by_ref()
                    .take(member.parameters().len())
                    .collect()
            })
            .collect();
        (active, arguments)
    }
}

/// A struct of the results of those that have one; void if none has.
fn result_type(types: &Types, functions: &[Value]) -> Type {
    let results: Vec<Type> = functions
        .iter()
        .map(|f| f.value_type().return_type())
        .filter(|ty| !ty.is_void())
        .collect();
    if results.is_empty() {
        types.void()
    } else {
        types.structure(&results)
    }
}

/// Returns the members' results from a function of [`result_type`].
pub(super) fn build_return(builder: &Builder, ty: Type, results: &[Option<Value>]) {
    if ty.is_void() {
        builder.ret(None);
        return;
    }
    let mut all = ty.undefined();
    for (field, result) in results.iter().flatten().enumerate() {
        all = builder.insert_value(all, *result, field as u32);
    }
    builder.ret(Some(all));
}

/// A call that one version makes alone.
pub(super) struct SoloCall<'a> {
    pub(super) ty: Type,
    pub(super) callee: Value,
    pub(super) arguments: &'a [Value],
    /// How a call of a pointer passes values ([`Value::call_extensions`]).
    pub(super) extensions: &'a [u32],
}

/// What a call depends on: writes what finds it out, for the k-th call; none if that one does not.
pub(super) type Condition<'a> = &'a dyn Fn(&Builder, usize) -> Option<Value>;

/// Makes calls one after the other, each if its `conditions` hold, which are asked in this order; where one does not, the
/// result is `absent`. Returns a builder for what follows, and the results.
pub(super) fn call_apart(
    builder: Builder,
    calls: &[SoloCall],
    conditions: &[Condition],
    absent: fn(Type) -> Value,
) -> (Builder, Vec<Option<Value>>) {
    let function = builder.block().parent();
    let mut builder = builder;
    let mut results = Vec::new();
    for (k, solo) in calls.iter().enumerate() {
        let mut next = None;
        let mut skipping = Vec::new();
        for condition in conditions {
            if let Some(condition) = condition(&builder, k) {
                let here = append_block(function, "solo");
                let next = *next.get_or_insert_with(|| append_block(function, "some"));
                skipping.push(builder.block());
                builder.conditional_branch(condition, here, next);
                builder = builder.followed_by(here);
            }
        }
        let call = builder.call(solo.ty, solo.callee, solo.arguments);
        match solo.callee.as_function() {
            Some(callee) => call.copy_call_attributes_from(callee),
            None => call.set_call_extensions(solo.extensions),
        }
        let returned = solo.ty.return_type();
        let mut result = call;
        if let Some(next) = next {
            let here = builder.block();
            builder.branch(next);
            builder = builder.followed_by(next);
            if !returned.is_void() {
                let skipping = skipping.into_iter().map(|block| (absent(returned), block));
                let incoming: Vec<(Value, Block)> = skipping.chain([(call, here)]).collect();
                result = builder.phi(returned, &incoming);
            }
        }
        results.push((!returned.is_void()).then_some(result));
    }
    (builder, results)
}

/// What a matched call becomes.
pub(super) enum Target {
    /// Index of a product function.
    Product(usize),
    /// A dispatcher, which takes the pointers behind the arguments ([`Dispatcher`]).
    Dispatcher(Value, Type),
}

/// A product call and the result of each caller's member.
pub(super) struct Results {
    pub(super) call: Value,
    pub(super) values: Vec<Option<Value>>,
}

/// Dispatchers with more candidates than this look them up in a table.
const LONGEST_CHAIN: usize = 8;

/// The runtime's function that does so (runtime/core/dispatch.c).
const LOOKUP: &str = "p3_dispatch";

/// All product functions, and the dispatchers made so far.
pub(super) struct Products<'m, 'ctx> {
    module: &'m Module<'ctx>,
    pub(super) all: Vec<Product>,
    pub(super) forks: &'m Forks,
    pub(super) checks: &'m LockstepChecks<'m, 'ctx>,
    /// Functions that correspond and have no product function, one per version.
    apart: Vec<Vec<Value>>,
    by_member: HashMap<Value, usize>,
    dispatchers: RefCell<BTreeMap<usize, Dispatcher>>,
    by_key: RefCell<HashMap<DispatchKey, Option<usize>>>,
}

/// The versions whose calls meet, and the function types that these calls assume.
type DispatchKey = (Vec<usize>, Vec<Type>, Vec<Vec<u32>>);

/// A function that finds the product function of a tuple of pointers. It has the parameters of product functions of all
/// its versions, so that it can jump to them (the activation variables are not used); behind these come the pointers, and
/// the record of the place where divergences are reported.
struct Dispatcher {
    function: Value,
    ty: Type,
    versions: Vec<usize>,
    types: Vec<Type>,
    /// How these calls pass values ([`Value::call_extensions`]).
    extensions: Vec<Vec<u32>>,
    candidates: Vec<usize>,
}

impl<'m, 'ctx> Products<'m, 'ctx> {
    pub(super) fn new(
        module: &'m Module<'ctx>,
        all: Vec<Product>,
        forks: &'m Forks,
        checks: &'m LockstepChecks<'m, 'ctx>,
        apart: Vec<Vec<Value>>,
    ) -> Self {
        let mut by_member = HashMap::new();
        for (index, product) in all.iter().enumerate() {
            for member in product.present() {
                by_member.insert(member, index);
            }
        }
        Products {
            module,
            all,
            forks,
            checks,
            apart,
            by_member,
            dispatchers: RefCell::default(),
            by_key: RefCell::default(),
        }
    }

    /// Whether a version may return from the function in a child as well.
    pub(super) fn may_fork(&self, product: &Product) -> bool {
        product
            .present()
            .into_iter()
            .any(|member| self.forks.may_return_in_child(Some(member)))
    }

    /// What the calls (one per version of `versions`) become together; none if each has to be made alone.
    pub(super) fn target(&self, calls: &[Value], versions: &[usize]) -> Option<Target> {
        let callees: Vec<Option<Value>> = calls.iter().map(|call| call.called_function()).collect();
        if callees.iter().all(Option::is_none) {
            return self.dispatcher(calls, versions);
        }
        let mut found = None;
        for (call, callee) in calls.iter().zip(callees) {
            let callee = callee?;
            let index = *self.by_member.get(&callee)?;
            let is_same = *found.get_or_insert(index) == index;
            if !is_same || call.called_type() != callee.value_type() {
                return None;
            }
        }
        found.map(Target::Product)
    }

    fn dispatcher(&self, calls: &[Value], versions: &[usize]) -> Option<Target> {
        let types: Vec<Type> = calls.iter().map(|call| call.called_type()).collect();
        let is_plain = calls
            .iter()
            .all(|call| call.has_default_convention() && !call.passes_memory_by_value())
            && types.iter().all(|ty| !ty.is_variadic());
        if !is_plain {
            return None;
        }
        let extensions = calls.iter().map(|call| call.call_extensions()).collect();
        let key = (versions.to_vec(), types, extensions);
        if let Some(known) = self.by_key.borrow().get(&key) {
            let dispatchers = self.dispatchers.borrow();
            return known.map(|index| {
                let dispatcher = &dispatchers[&index];
                Target::Dispatcher(dispatcher.function, dispatcher.ty)
            });
        }
        let candidates: Vec<usize> = (0..self.all.len())
            .filter(|&index| {
                versions.iter().zip(&key.1).all(|(&version, &ty)| {
                    self.all[index].members[version].is_some_and(|member| {
                        member.value_type() == ty && lookup::is_pointed_to(member)
                    })
                })
            })
            .collect();
        if candidates.is_empty() && !self.checks.divergence {
            self.by_key.borrow_mut().insert(key, None);
            return None;
        }
        let context = Types::of(self.module);
        let results: Vec<Type> = key
            .1
            .iter()
            .map(|ty| ty.return_type())
            .filter(|ty| !ty.is_void())
            .collect();
        let result = if results.is_empty() {
            context.void()
        } else {
            context.structure(&results)
        };
        let mut parameters = vec![context.integer(1); versions.len()];
        parameters.extend(key.1.iter().flat_map(|ty| ty.parameter_types()));
        let further = versions.len() + usize::from(self.checks.divergence);
        parameters.resize(parameters.len() + further, context.pointer());
        let ty = context.function(result, &parameters);
        let index = self.dispatchers.borrow().len();
        let function = llvm::add_function(self.module, &format!("_PP_dispatch.{index}"), ty);
        function.set_internal();
        let (versions, types, extensions) = key.clone();
        self.by_key.borrow_mut().insert(key, Some(index));
        self.dispatchers.borrow_mut().insert(
            index,
            Dispatcher {
                function,
                ty,
                versions,
                types,
                extensions,
                candidates,
            },
        );
        Some(Target::Dispatcher(function, ty))
    }

    /// Calls a target for the versions of a caller. `calls` are the original calls, `pointers` the called pointers.
    pub(super) fn call(
        &self,
        builder: &Builder,
        target: &Target,
        versions: &[usize],
        calls: &[Value],
        pointers: &[Value],
        arguments: &[Vec<Value>],
    ) -> Results {
        match target {
            Target::Dispatcher(function, ty) => {
                let unused = Types::of(self.module).integer(1).undefined();
                let mut all = vec![unused; versions.len()];
                all.extend(arguments.iter().flatten());
                all.extend(pointers);
                if self.checks.divergence {
                    all.push(self.checks.record(Parting::Call, versions, calls));
                }
                let call = builder.call(*ty, *function, &all);
                let mut field = 0;
                let values = pointers.iter().enumerate().map(|(k, _)| {
                    let index = self.dispatcher_of(*function);
                    let returns = !self.dispatchers.borrow()[&index].types[k]
                        .return_type()
                        .is_void();
                    returns.then(|| {
                        field += 1;
                        builder.extract_value(call, field - 1)
                    })
                });
                let values = values.collect();
                Results { call, values }
            }
            Target::Product(index) => {
                self.call_product(builder, &self.all[*index], versions, arguments)
            }
        }
    }

    fn dispatcher_of(&self, function: Value) -> usize {
        self.dispatchers
            .borrow()
            .iter()
            .find(|(_, dispatcher)| dispatcher.function == function)
            .map_or(0, |(&index, _)| index)
    }

    /// Calls a product function for some of its versions; the others are inactive.
    pub(super) fn call_product(
        &self,
        builder: &Builder,
        product: &Product,
        versions: &[usize],
        arguments: &[Vec<Value>],
    ) -> Results {
        let types = Types::of(self.module);
        let mut active = Vec::new();
        let mut all = Vec::new();
        let mut fields = HashMap::new();
        let mut field = 0;
        for version in product.versions() {
            let Some(member) = product.members[version] else {
                continue;
            };
            let caller = versions.iter().position(|&v| v == version);
            active.push(types.constant(1, caller.is_some().into()));
            match caller {
                Some(k) => all.extend(&arguments[k]),
                None => all.extend(
                    member
                        .value_type()
                        .parameter_types()
                        .into_iter()
                        .map(Type::zero),
                ),
            }
            if !member.value_type().return_type().is_void() {
                fields.insert(version, field);
                field += 1;
            }
        }
        active.extend(all);
        let call = builder.call(product.ty, product.function, &active);
        call.copy_call_attributes_from(product.function);
        let values = versions
            .iter()
            .map(|version| {
                fields
                    .get(version)
                    .map(|&field| builder.extract_value(call, field))
            })
            .collect();
        Results { call, values }
    }

    /// Writes the bodies of the dispatchers: find the candidate whose members the pointers are and call its
    /// product function; if none fits, call each pointer alone. Few candidates are all compared.
    pub(super) fn emit_dispatchers(&self) {
        for dispatcher in self.dispatchers.borrow().values() {
            let mut block = append_block(dispatcher.function, "");
            let candidates = dispatcher.candidates.iter().copied();
            let (mut listed, mut compared): (Vec<usize>, Vec<usize>) =
                candidates.partition(|&candidate| self.takes_the_same(dispatcher, candidate));
            if listed.len() > LONGEST_CHAIN {
                block = self.emit_lookup(dispatcher, &listed, block);
            } else {
                compared.append(&mut listed);
                if compared.len() <= LONGEST_CHAIN {
                    // What is compared takes less than to hand all arguments on.
                    dispatcher.function.add_attribute("alwaysinline");
                }
            }
            for candidate in compared {
                let next = append_block(dispatcher.function, "next");
                self.emit_candidate(dispatcher, candidate, block, next);
                block = next;
            }
            self.emit_apart(dispatcher, block);
        }
    }

    /// Whether a candidate has the parameters and results that the dispatcher has.
    fn takes_the_same(&self, dispatcher: &Dispatcher, candidate: usize) -> bool {
        let product = &self.all[candidate];
        let mut parameters = 0..product.function.parameters().len() as u32;
        product.versions() == dispatcher.versions
            && product.ty.return_type() == dispatcher.ty.return_type()
            && !parameters.any(|index| product.function.parameter_has_attribute(index, "byval"))
    }

    /// Looks for the candidate whose first member is the first pointer, in a table that has the product function behind
    /// the members, and jumps there; returns the block for what fits none.
    fn emit_lookup(&self, dispatcher: &Dispatcher, candidates: &[usize], block: Block) -> Block {
        let none = append_block(dispatcher.function, "none");
        let types = Types::of(self.module);
        let (pointers, arguments) = dispatcher.split_parameters();
        let entry = |&candidate: &usize| {
            let product = &self.all[candidate];
            let mut cells = product.present();
            cells.push(product.function);
            types.constant_structure(&cells)
        };
        let entries: Vec<Value> = candidates.iter().map(entry).collect();
        // A `struct p3_dispatch`, which the runtime sorts at the first call.
        let count = entries.len() as u64;
        let width = pointers.len() as u64 + 1;
        let table = types.constant_structure(&[
            types.constant(32, count),
            types.constant(32, width),
            types.constant(32, 0),
            types.array(entries[0].ty(), &entries),
        ]);
        let name = format!("{}.table", dispatcher.function.name_text());
        let global = llvm::add_global(self.module, &name, table.ty());
        global.set_initializer(table);
        global.set_internal();
        let integer = types.integer(64);
        let ty = types.function(integer, &[types.pointer(), types.pointer()]);
        let lookup = llvm::global_named(self.module, LOOKUP)
            .unwrap_or_else(|| llvm::add_function(self.module, LOOKUP, ty));
        let mut builder = Builder::at_end(block);
        let found = builder.call(ty, lookup, &[global, pointers[0]]);
        let continue_if = |builder: Builder, condition: Value| {
            let next = append_block(dispatcher.function, "found");
            let branch = builder.conditional_branch(condition, next, none);
            weights::expect(branch, |way| way == next);
            Builder::at_end(next)
        };
        let cell = |builder: &Builder, number: usize| {
            let indices = [
                types.constant(64, 0),
                types.constant(32, 3),
                found,
                types.constant(32, number as u64),
            ];
            builder.load(
                types.pointer(),
                builder.element(table.ty(), global, &indices),
            )
        };
        let is_there = builder.less(found, types.constant(64, count));
        builder = continue_if(builder, is_there);
        for (number, &pointer) in pointers.iter().enumerate() {
            let member = cell(&builder, number);
            let is_member = builder.equal(pointer, member);
            builder = continue_if(builder, is_member);
        }
        let product = &self.all[candidates[0]];
        let mut all = vec![types.constant(1, 1); pointers.len()];
        all.extend(arguments.iter().flatten());
        let call = builder.call(product.ty, cell(&builder, pointers.len()), &all);
        // Whatever it is given belongs to others: a jump will do.
        call.set_tail_call();
        let returns = !product.ty.return_type().is_void();
        builder.ret(returns.then_some(call));
        none
    }

    /// Calls each pointer alone.
    fn emit_apart(&self, dispatcher: &Dispatcher, block: Block) {
        let (pointers, arguments) = dispatcher.split_parameters();
        let block = if self.checks.divergence {
            self.emit_call_check(dispatcher, block)
        } else {
            block
        };
        let enter = llvm::global_named(self.module, libc::SWITCH_FOR);
        let enter = enter.filter(|function| function.has_uses());
        let calls: Vec<SoloCall> = pointers
            .iter()
            .enumerate()
            .map(|(k, &callee)| SoloCall {
                ty: dispatcher.types[k],
                callee,
                arguments: &arguments[k],
                extensions: &dispatcher.extensions[k],
            })
            .collect();
        let goes_on = |builder: &Builder, k: usize| {
            let may_be_over = k > 0 && self.forks.may_return_in_child(None);
            may_be_over.then(|| self.forks.is_alive(builder, dispatcher.versions[k]))
        };
        // Becoming the owner of the process may let a signal in that ends the version.
        let enters = |builder: &Builder, k: usize| {
            let (function, version) = (enter?, dispatcher.versions[k]);
            let index = Types::of(self.module).constant(32, version as u64);
            builder.call(function.value_type(), function, &[index, pointers[k]]);
            Some(self.forks.is_alive(builder, version))
        };
        let builder = Builder::at_end(block);
        let conditions: [Condition; 2] = [&goes_on, &enters];
        let (builder, results) = call_apart(builder, &calls, &conditions, Type::undefined);
        build_return(&builder, dispatcher.ty.return_type(), &results);
    }

    /// Reports pointers that do not mean the same function; returns the block for what follows.
    fn emit_call_check(&self, dispatcher: &Dispatcher, block: Block) -> Block {
        let (pointers, _) = dispatcher.split_parameters();
        let same = append_block(dispatcher.function, "same");
        let is_relevant = |members: &&Vec<Value>| {
            let mut types = dispatcher.versions.iter().zip(&dispatcher.types);
            types.all(|(&version, &ty)| members[version].value_type() == ty)
        };
        let external = vec![pointers[0]; pointers.len()];
        let known = self.apart.iter().filter(is_relevant).map(|members| {
            let versions = dispatcher.versions.iter();
            versions.map(|&version| members[version]).collect()
        });
        let mut block = block;
        for members in std::iter::once(external).chain(known) {
            let next = append_block(dispatcher.function, "next");
            let builder = Builder::at_end(block);
            let equal = pointers
                .iter()
                .zip(members)
                .map(|(&pointer, member)| builder.equal(pointer, member))
                .reduce(|all, one| builder.and(all, one));
            match equal {
                Some(equal) => builder.conditional_branch(equal, same, next),
                None => builder.branch(next),
            };
            block = next;
        }
        let builder = Builder::at_end(block);
        let mask = dispatcher.versions[1..].iter().map(|&v| 1 << v).sum();
        let mask = Types::of(self.module).constant(32, mask);
        if let Some(&record) = dispatcher.function.parameters().last() {
            self.checks.report(&builder, record, mask).branch(same);
        }
        same
    }

    /// Calls the candidate's product function if the pointers are its members, and goes on to `next` otherwise.
    fn emit_candidate(&self, dispatcher: &Dispatcher, candidate: usize, block: Block, next: Block) {
        let product = &self.all[candidate];
        let (pointers, arguments) = dispatcher.split_parameters();
        let mut block = block;
        for (&version, &pointer) in dispatcher.versions.iter().zip(&pointers) {
            let Some(member) = product.members[version] else {
                continue;
            };
            let builder = Builder::at_end(block);
            block = append_block(dispatcher.function, "candidate");
            builder.conditional_branch(builder.equal(pointer, member), block, next);
        }
        let builder = Builder::at_end(block);
        let results = self.call_product(&builder, product, &dispatcher.versions, &arguments);
        let result = dispatcher.ty.return_type();
        if self.takes_the_same(dispatcher, candidate) {
            builder.ret((!result.is_void()).then_some(results.call));
        } else {
            build_return(&builder, result, &results.values);
        }
    }
}

/// Dispatchers that jump to what they have found need the parameters of product functions, though they do not use all of
/// these. Nobody removes them from now on; before, that would keep dispatchers alive that are not needed.
pub(crate) fn keep_jumps(module: &Module) {
    let lookup = llvm::global_named(module, LOOKUP);
    let calls = lookup.map(Value::users).unwrap_or_default();
    let mut dispatchers: Vec<Value> = calls
        .into_iter()
        .filter(|user| user.is_call())
        .map(|call| call.parent_block().parent())
        .collect();
    dispatchers.sort_by_key(|dispatcher| dispatcher.name());
    dispatchers.into_iter().for_each(Value::keep_parameters);
}

impl Dispatcher {
    /// The pointers, and each version's arguments.
    fn split_parameters(&self) -> (Vec<Value>, Vec<Vec<Value>>) {
        let parameters = self.function.parameters().into_iter();
        let mut parameters = parameters.skip(self.versions.len());
        let arguments = self
            .types
            .iter()
            .map(|ty| {
                parameters
                    .by_ref()
                    .take(ty.parameter_types().len())
                    .collect()
            })
            .collect();
        (parameters.take(self.types.len()).collect(), arguments)
    }
}
