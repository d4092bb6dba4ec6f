//! One copy of what the versions' runtimes do alike.
//!
//! Input: a product that is complete; every version has its own copy of the functions of `runtime/version` that it
//! needs. Guarantee: a function whose copies differ only in the addresses that they use (variables of their version) is
//! there once, with these addresses as further parameters. Functions of the runtime call that one; everybody else, and
//! who has its address, finds a copy that hands the version's addresses on. This is function merging by
//! parameterisation, as in Rocha et al., "Function merging by sequence alignment" (CGO 2019), without the alignment:
//! the copies come from one source.
//!
//! Not handled: functions with variable arguments, those that look at their own frame, and where copying is cheaper.

use crate::llvm::{self, append_block, Builder, Module, Type, Types, Value};
use crate::size::instructions;
use crate::{rename, runtime};
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};
use std::collections::{BTreeSet, HashMap, HashSet};

/// So many addresses are handed over at most.
const MOST_ADDRESSES: usize = 16;

/// The instructions of a copy that only hands on: a call and a return.
const HANDING_ON: usize = 2;

/// Shares what can be shared; `count` is the number of versions.
pub(crate) fn share(product: &Module, count: usize) {
    let groups = groups(product, count);
    for group in callees_first(&groups) {
        let members = &groups[group].members;
        if let Some(difference) = Difference::between(members) {
            if pays(members, &difference) {
                merge(product, &groups[group].name, members, &difference);
            }
        }
    }
}

/// A function of the runtime in all versions.
struct Group {
    name: String,
    members: Vec<Value>,
}

/// The functions that all versions have a copy of. Copies go by their names; of several of one name, by their order.
fn groups(product: &Module, count: usize) -> Vec<Group> {
    let functions = llvm::functions(product);
    let of_version = |version: usize| {
        let prefix = rename::prefix(version);
        let mut copies: HashMap<String, usize> = HashMap::new();
        let mut named = Vec::new();
        for &function in functions.iter().filter(|&&function| is_candidate(function)) {
            let name = function.name_text();
            if let Some(name) = name.strip_prefix(&prefix) {
                let end = name.find('.').unwrap_or(name.len());
                let copy = copies.entry(name[..end].into()).or_default();
                named.push(((name[..end].to_string(), *copy), function));
                *copy += 1;
            }
        }
        named
    };
    let others: Vec<HashMap<_, _>> = (1..count)
        .map(|version| of_version(version).into_iter().collect())
        .collect();
    of_version(0)
        .into_iter()
        .filter_map(|(key, first)| {
            let rest = others.iter().map(|version| version.get(&key).copied());
            let members = std::iter::once(Some(first)).chain(rest);
            Some(Group {
                members: members.collect::<Option<Vec<Value>>>()?,
                name: key.0,
            })
        })
        .collect()
}

fn is_candidate(function: Value) -> bool {
    let looks_at_frame = |callee: Value| {
        let name = callee.name_text();
        callee.has_attribute("returns_twice")
            || [
                "llvm.returnaddress",
                "llvm.frameaddress",
                "llvm.addressofreturnaddress",
            ]
            .iter()
            .any(|intrinsic| name.starts_with(intrinsic))
    };
    !function.is_declaration()
        && runtime::is_runtime(function)
        && !function.value_type().is_variadic()
        && !callees(function).into_iter().any(looks_at_frame)
}

/// The functions that a function calls directly.
fn callees(function: Value) -> Vec<Value> {
    let blocks = function.blocks().into_iter();
    blocks
        .flat_map(|block| block.instructions())
        .filter(|instruction| instruction.is_call())
        .filter_map(Value::called_function)
        .collect()
}

/// The groups in an order in which functions come behind those that they call, but for recursion.
fn callees_first(groups: &[Group]) -> Vec<usize> {
    let group_of: HashMap<Value, usize> = groups
        .iter()
        .enumerate()
        .map(|(index, group)| (group.members[0], index))
        .collect();
    let called_by = |group: usize| {
        let called = callees(groups[group].members[0]).into_iter();
        let called = called.filter_map(|callee| group_of.get(&callee).copied());
        called.collect::<BTreeSet<usize>>()
    };
    let mut seen = vec![false; groups.len()];
    let mut order = Vec::new();
    for start in 0..groups.len() {
        let mut work = vec![(start, None)];
        while let Some((group, called)) = work.pop() {
            let mut called: std::collections::btree_set::IntoIter<usize> = match called {
                Some(called) => called,
                None if seen[group] => continue,
                None => {
                    seen[group] = true;
                    called_by(group).into_iter()
                }
            };
            match called.next() {
                Some(next) => work.extend([(group, Some(called)), (next, None)]),
                None => order.push(group),
            }
        }
    }
    order
}

/// In what copies of a function differ.
#[derive(Default)]
struct Difference {
    /// Addresses, one per copy each.
    addresses: Vec<Vec<Value>>,
    /// Where the first copy uses them: instruction, operand, and which.
    uses: Vec<(Value, u32, usize)>,
    /// Calls by which the first copy calls itself.
    recursion: Vec<Value>,
}

impl Difference {
    /// None: they differ in more than addresses.
    fn between(members: &[Value]) -> Option<Difference> {
        let first = members[0];
        let mut counterparts: Vec<HashMap<Value, Value>> = Vec::new();
        for &member in &members[1..] {
            counterparts.push(counterparts_of(first, member)?);
        }
        let mut difference = Difference::default();
        for block in first.blocks() {
            for instruction in block.instructions() {
                let copies: Vec<Value> = counterparts
                    .iter()
                    .map(|counterparts| counterparts[&instruction])
                    .collect();
                if instruction.opcode() == LLVMOpcode::LLVMPHI {
                    let come_from = |phi: Value| {
                        let incoming = phi.incoming().into_iter();
                        incoming
                            .map(|(_, block)| block.as_value())
                            .collect::<Vec<_>>()
                    };
                    let own = come_from(instruction);
                    for (copy, counterparts) in copies.iter().zip(&counterparts) {
                        let others = come_from(*copy);
                        let expected = own.iter().map(|block| counterparts[block]);
                        if !expected.eq(others) {
                            return None;
                        }
                    }
                }
                for index in 0..instruction.operand_count() {
                    difference.add(members, &counterparts, instruction, &copies, index)?;
                }
            }
        }
        Some(difference)
    }

    /// Takes in an operand.
    fn add(
        &mut self,
        members: &[Value],
        counterparts: &[HashMap<Value, Value>],
        instruction: Value,
        copies: &[Value],
        index: u32,
    ) -> Option<()> {
        let own = instruction.operand(index)?;
        let others = copies.iter().map(|copy| copy.operand(index));
        let others = others.collect::<Option<Vec<Value>>>()?;
        if others.iter().all(|&other| other == own) {
            return Some(());
        }
        if counterparts[0].contains_key(&own) {
            let mut pairs = counterparts.iter().zip(&others);
            return pairs.all(|(of, other)| of[&own] == *other).then_some(());
        }
        if own == members[0] && others == members[1..] {
            let is_callee = instruction.is_call() && index + 1 == instruction.operand_count();
            is_callee.then(|| self.recursion.push(instruction))?;
            return Some(());
        }
        let is_address = |value: Value| {
            value.is_constant() && value.ty().kind() == LLVMTypeKind::LLVMPointerTypeKind
        };
        if !is_address(own) || !others.iter().all(|&other| is_address(other)) {
            return None;
        }
        if others.iter().all(|&other| are_same_constants(own, other)) {
            return Some(());
        }
        let addresses: Vec<Value> = std::iter::once(own).chain(others).collect();
        let known = self.addresses.iter().position(|known| *known == addresses);
        let which = known.unwrap_or_else(|| {
            self.addresses.push(addresses);
            self.addresses.len() - 1
        });
        self.uses.push((instruction, index, which));
        Some(())
    }
}

/// What corresponds to the parameters, blocks and instructions of `first` in `other`, if these do the same.
fn counterparts_of(first: Value, other: Value) -> Option<HashMap<Value, Value>> {
    if first.value_type() != other.value_type() {
        return None;
    }
    let mut found: HashMap<Value, Value> = first
        .parameters()
        .into_iter()
        .zip(other.parameters())
        .collect();
    let (blocks, others) = (first.blocks(), other.blocks());
    if blocks.len() != others.len() {
        return None;
    }
    for (block, other) in blocks.into_iter().zip(others) {
        found.insert(block.as_value(), other.as_value());
        let (instructions, others) = (block.instructions(), other.instructions());
        if instructions.len() != others.len() {
            return None;
        }
        for (instruction, other) in instructions.into_iter().zip(others) {
            if !instruction.is_same_but_for_metadata(other) {
                return None;
            }
            found.insert(instruction, other);
        }
    }
    Some(found)
}

/// Whether these are constants of equal value, whose addresses nobody tells apart.
fn are_same_constants(one: Value, other: Value) -> bool {
    let is_value = |constant: Value| {
        constant.is_global_variable() && constant.is_immutable() && constant.is_without_identity()
    };
    is_value(one)
        && is_value(other)
        && one.initializer().is_some()
        && one.initializer() == other.initializer()
}

/// Whether a call is made by the runtime, which can hand the addresses over itself.
fn is_by_runtime(call: Value, function: Value) -> bool {
    call.is_instruction()
        && call.is_call()
        && call.called_operand() == Some(function)
        && runtime::is_runtime(call.parent_block().parent())
}

/// Whether one copy takes fewer instructions, with what it needs to be called. What the runtime itself calls is shared
/// anyhow, so that the functions that call it do not differ in that.
fn pays(members: &[Value], difference: &Difference) -> bool {
    let users: Vec<Vec<bool>> = members
        .iter()
        .map(|&member| {
            let users = member.users().into_iter();
            users.map(|user| is_by_runtime(user, member)).collect()
        })
        .collect();
    let is_called = users.iter().flatten().any(|&by_runtime| by_runtime);
    let handing_on = match users.iter().flatten().all(|&by_runtime| by_runtime) {
        true => 0,
        false => members.len() * HANDING_ON,
    };
    let saved = (members.len() - 1) * instructions(members[0]);
    difference.addresses.len() <= MOST_ADDRESSES && (is_called || saved > handing_on)
}

/// Makes one function of all copies.
fn merge(product: &Module, name: &str, members: &[Value], difference: &Difference) {
    let first = members[0];
    let types = Types::of(product);
    let mut parameters: Vec<Type> = first.value_type().parameter_types();
    let own_count = parameters.len();
    parameters.resize(own_count + difference.addresses.len(), types.pointer());
    let ty = types.function(first.value_type().return_type(), &parameters);
    let former_name = first.name();
    let shared = first.with_type(ty);
    shared.set_name(format!("p3_all_{name}").as_bytes());
    first.set_name(&former_name);
    for (old, new) in first.parameters().into_iter().zip(shared.parameters()) {
        old.replace_all_uses_with(new);
    }
    let given = shared.parameters().split_off(own_count);
    for &(instruction, operand, which) in &difference.uses {
        instruction.set_operand(operand, given[which]);
    }
    for &call in &difference.recursion {
        call_instead(call, shared, &given);
    }
    for &member in &members[1..] {
        member.delete_body();
    }
    for (version, &member) in members.iter().enumerate() {
        let addresses: Vec<Value> = difference
            .addresses
            .iter()
            .map(|addresses| addresses[version])
            .collect();
        let mut seen = HashSet::new();
        for call in member.users() {
            if seen.insert(call) && is_by_runtime(call, member) {
                call_instead(call, shared, &addresses);
            }
        }
        if member.has_uses() {
            hand_on(member, shared, &addresses);
        } else {
            member.delete_function();
        }
    }
}

/// Replaces a call by one of the shared function.
fn call_instead(call: Value, shared: Value, addresses: &[Value]) {
    let mut operands = call.arguments();
    operands.extend(addresses);
    let builder = Builder::before(call);
    let instead = builder.call(shared.value_type(), shared, &operands);
    instead.copy_call_attributes_from(shared);
    call.replace_all_uses_with(instead);
    call.erase_instruction();
}

/// Makes a copy of the function hand on to the shared one.
fn hand_on(member: Value, shared: Value, addresses: &[Value]) {
    member.set_internal();
    let builder = Builder::at_end(append_block(member, ""));
    let mut operands = member.parameters();
    operands.extend(addresses);
    let call = builder.call(shared.value_type(), shared, &operands);
    call.copy_call_attributes_from(shared);
    let returns = !member.value_type().return_type().is_void();
    builder.ret(returns.then_some(call));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The functions of a module in which versions 1 and 2 have what `version` says; `#` is the version's number, and
    /// `~` what it has more than the others (nothing, or a 2).
    fn shared(version: &str) -> impl Fn(&str) -> Option<String> {
        let context = llvm::new_context();
        let of = |number: &str| {
            let more = if number == "2" { "2" } else { "" };
            version.replace('#', number).replace('~', more)
        };
        let text = format!(
            "declare void @out(ptr)\ndefine void @main() {{\ncall void @_PP1_f(i32 1)\n\
             call void @_PP2_f(i32 1)\nret void\n}}\n{}\n{}",
            of("1"),
            of("2")
        );
        let module = llvm::parse(&context, text.as_bytes(), "test").unwrap();
        share(&module, 2);
        llvm::verify(&module).unwrap();
        let functions: HashMap<String, String> = llvm::functions(&module)
            .into_iter()
            .map(|function| (function.name_text(), function.print()))
            .collect();
        move |name| functions.get(name).cloned()
    }

    const USES: &str =
        "%a = add i32 %v, 1\n%b = mul i32 %a, %v\n%c = xor i32 %b, %v\n%d = sub i32 %c, %a\n";

    #[test]
    fn addresses_become_parameters() {
        let function = shared(&format!(
            "@_PP#_x = internal global i32 0\n\
             define internal void @_PP#_f(i32 %v) \"p3-runtime\" {{\n\
             {USES}store i32 %d, ptr @_PP#_x\ncall void @out(ptr @_PP#_x)\nret void\n}}"
        ));
        let all = function("p3_all_f").unwrap();
        assert!(all.contains("store i32 %d, ptr %1"), "{all}");
        assert!(all.contains("call void @out(ptr %1)"), "{all}");
        for version in ["1", "2"] {
            let own = function(&format!("_PP{version}_f")).unwrap();
            let call = format!("call void @p3_all_f(i32 %v, ptr @_PP{version}_x)");
            assert!(own.contains(&call), "{own}");
        }
    }

    #[test]
    fn the_runtime_hands_on_what_its_functions_need() {
        let function = shared(&format!(
            "@_PP#_x = internal global i32 0\n\
             define internal void @_PP#_f(i32 %v) \"p3-runtime\" {{\n\
             {USES}call void @_PP#_g(i32 %d)\nret void\n}}\n\
             define internal void @_PP#_g(i32 %v) \"p3-runtime\" {{\n\
             {USES}store i32 %d, ptr @_PP#_x\n%e = icmp eq i32 %d, 0\n\
             br i1 %e, label %out, label %again\nagain:\n\
             call void @_PP#_g(i32 %d)\nbr label %out\nout:\nret void\n}}"
        ));
        let (f, g) = (function("p3_all_f").unwrap(), function("p3_all_g").unwrap());
        assert!(f.contains("call void @p3_all_g(i32 %d, ptr %1)"), "{f}");
        assert!(g.contains("call void @p3_all_g(i32 %d, ptr %1)"), "{g}");
        // Nobody else calls these.
        assert_eq!((function("_PP1_g"), function("_PP2_g")), (None, None));
    }

    #[test]
    fn what_differs_in_more_stays() {
        for body in [
            "%e = add i32 %d, 1~\ncall void @out(ptr null)\nret void",
            "%e = icmp eq i32 %d, 0\nbr i1 %e, label %x, label %y~\ny:\nret void\ny2:\nret void\nx:\nret void",
            "switch i32 %d, label %x [ i32 1~, label %x ]\nx:\nret void",
        ] {
            let function = shared(&format!(
                "define internal void @_PP#_f(i32 %v) \"p3-runtime\" {{\n{USES}{body}\n}}"
            ));
            assert_eq!(function("p3_all_f"), None);
        }
    }

    #[test]
    fn phis_take_corresponding_values_from_corresponding_blocks() {
        let phi = |from: &str| {
            shared(&format!(
                "define internal void @_PP#_f(i32 %v) \"p3-runtime\" {{\n{USES}\
                 %e = icmp eq i32 %d, 0\nbr i1 %e, label %x, label %x2\nx:\nbr label %out\n\
                 x2:\nbr label %out\nout:\n%p = phi i32 {from}\n\
                 %q = inttoptr i32 %p to ptr\ncall void @out(ptr %q)\nret void\n}}"
            ))
        };
        assert!(phi("[ %a, %x ], [ %b, %x2 ]")("p3_all_f").is_some());
        let other = shared(&format!(
            "define internal void @_PP#_f(i32 %v) \"p3-runtime\" {{\n{USES}\
             %a2 = add i32 %d, 7\n\
             %q = inttoptr i32 %a~ to ptr\ncall void @out(ptr %q)\nret void\n}}"
        ));
        assert_eq!(other("p3_all_f"), None);
    }

    #[test]
    fn the_program_and_short_functions_stay() {
        let own = "define internal void @_PP#_f(i32 %v) {\ncall void @out(ptr null)\nret void\n}";
        assert_eq!(shared(own)("p3_all_f"), None);
        let short = own.replace(") {", ") \"p3-runtime\" {");
        assert_eq!(shared(&short)("p3_all_f"), None);
    }

    #[test]
    fn equal_texts_are_one() {
        let function = shared(&format!(
            "@_PP#_s = private unnamed_addr constant [2 x i8] c\"a\\00\"\n\
             @_PP#_t = private unnamed_addr constant [2 x i8] c\"#\\00\"\n\
             define internal void @_PP#_f(i32 %v) \"p3-runtime\" {{\n\
             {USES}call void @out(ptr @_PP#_s)\ncall void @out(ptr @_PP#_t)\nret void\n}}"
        ));
        let all = function("p3_all_f").unwrap();
        assert!(all.contains("call void @out(ptr @_PP1_s)"), "{all}");
        assert!(all.contains("call void @out(ptr %1)"), "{all}");
    }
}
