//! Specifications that not every version has: the others get a place for them, and code for the variables that they
//! are asked for by name.
//!
//! The place is between the instructions that correspond to those around the specification in the version that has
//! it: before the counterpart of what follows, or else behind the counterpart of what precedes. What a variable is
//! there, debug info knows: where it is in memory, or in which value; one that has no place any more is an
//! error, as is one that is not in scope.

use super::path::{self, kind, Path, Route};
use super::relation::{call_reached, decided, is_call_of, parse_begin, region};
use super::{define_place, Spec, BEGIN, VARIABLES};
use crate::align;
use crate::llvm::{self, append_block, Block, Builder, Location, Module, Node, Type, Types, Value};
use crate::nodes::{is_marker, Graph};
use crate::{Error, Result};
use inkwell::llvm_sys::{LLVMOpcode, LLVMTypeKind};
use std::collections::{HashMap, HashSet};

/// What a specification wants of another version by name.
struct Wanted {
    version: usize,
    /// Of the operand.
    number: u64,
    text: String,
    /// Kind and size, in bytes, of the type that the specification gives it.
    kind: u64,
    size: u64,
}

/// A specification in the code of a version, as it is before prepare.
struct Occurrence {
    begin: Value,
    spec: Spec,
    wanted: Vec<Wanted>,
    /// The instructions that are there for its sake.
    own: HashSet<Value>,
}

/// Completes the specifications of all versions (not prepared yet; `names` is what they were read from). Returns
/// warnings.
pub(super) fn complete(
    modules: &[&Module],
    names: &[String],
    map: &[(String, String)],
) -> Result<Vec<String>> {
    let mut occurrences: HashMap<Value, Vec<Occurrence>> = HashMap::new();
    for (module, name) in modules.iter().zip(names) {
        let Some(begin) = llvm::global_named(module, BEGIN) else {
            continue;
        };
        for call in begin.users() {
            if call.is_call() && call.called_function() == Some(begin) {
                let occurrence = read(call, name)?;
                let function = call.parent_block().parent();
                occurrences.entry(function).or_default().push(occurrence);
            }
        }
    }
    let mut warnings = Vec::new();
    if occurrences.is_empty() {
        return Ok(warnings);
    }
    // In the order of the code, which places that they give others at one instruction keep.
    for (&function, list) in &mut occurrences {
        let blocks = function.blocks().into_iter();
        let order: HashMap<Value, usize> = blocks
            .flat_map(Block::instructions)
            .enumerate()
            .map(|(index, instruction)| (instruction, index))
            .collect();
        list.sort_by_key(|occurrence| order[&occurrence.begin]);
    }
    let functions: Vec<Vec<Value>> = modules
        .iter()
        .map(|module| {
            let mut all = llvm::functions(module);
            all.retain(|function| !function.is_declaration());
            all
        })
        .collect();
    for group in align::match_functions(&functions, map) {
        let of = |version: usize| {
            let list = group.members[version].and_then(|f| occurrences.get(&f));
            list.map_or(&[][..], Vec::as_slice)
        };
        // The newest version that has it, of every specification.
        let mut newest: HashMap<(u64, &str), usize> = HashMap::new();
        for version in 0..modules.len() {
            for occurrence in of(version) {
                newest.insert((occurrence.spec.what, &occurrence.spec.text), version);
            }
        }
        for source in 0..modules.len() {
            let others = of(source).iter().flat_map(|o| o.own.iter().copied());
            let others: HashSet<Value> = others.collect();
            for occurrence in of(source) {
                let (what, text) = (occurrence.spec.what, occurrence.spec.text.as_str());
                if newest[&(what, text)] != source {
                    continue;
                }
                warnings.extend(never(occurrence, modules.len(), names));
                for version in 0..modules.len() {
                    let mut there = of(version).iter();
                    let is_there = there.any(|o| o.spec.what == what && o.spec.text == text);
                    let wanted: Vec<&Wanted> = occurrence
                        .wanted
                        .iter()
                        .filter(|wanted| wanted.version == version)
                        .collect();
                    let own = of(version).iter().flat_map(|o| o.own.iter().copied());
                    let target = Target {
                        module: modules[version],
                        version,
                        file: &names[version],
                        function: group.members[version],
                        // Other specifications there are no code of the version's.
                        own: own.collect(),
                    };
                    match (is_there, &wanted[..]) {
                        (true, []) => {}
                        (true, [first, ..]) => {
                            let what = "the version has this specification itself: \
                                        PPi(...) instead of PPi_VAR";
                            return Err(target.error(occurrence, first, what));
                        }
                        (false, wanted) => target.add_place(occurrence, &others, wanted)?,
                    }
                }
            }
        }
    }
    Ok(warnings)
}

/// A warning if the specification names versions that there are not.
fn never(occurrence: &Occurrence, count: usize, names: &[String]) -> Option<String> {
    let version = (count..64).find(|version| occurrence.spec.named >> version & 1 != 0)?;
    Some(format!(
        "{}: {} is never evaluated: it names version {}, but there are {}",
        occurrence.spec.place(),
        occurrence.spec.text,
        version + 1,
        names.len()
    ))
}

fn read(begin: Value, file: &str) -> Result<Occurrence> {
    let spec = parse_begin(begin, file)?;
    let mut wanted = Vec::new();
    let mut own = HashSet::from([begin]);
    let pieces = region(begin).map_err(|what| super::unsupported(file, &spec, what))?;
    let all = || pieces.iter().flat_map(|piece| &piece.instructions).copied();
    own.extend(all());
    for operand in all().filter(|&i| is_call_of(i, super::OPERAND)) {
        let number = |i| operand.operand(i).and_then(Value::as_integer);
        let (Some(version), Some(number)) = (number(1), number(2)) else {
            continue;
        };
        let version = version as i32;
        if version >= 0 {
            continue;
        }
        let get = all()
            .filter(|&i| is_call_of(i, "p3_spec_get"))
            .find(|get| get.operand(1).and_then(Value::as_integer) == Some(number));
        let given = |i| {
            get.and_then(|get| get.operand(i))
                .and_then(Value::as_integer)
        };
        let text = operand.operand(3).and_then(super::text_of);
        let (Some(size), Some(kind), Some(text)) = (given(3), given(4), text) else {
            return Err(super::unsupported(
                file,
                &spec,
                "the compiler has merged two operands",
            ));
        };
        wanted.push(Wanted {
            version: version.unsigned_abs() as usize - 1,
            number,
            text,
            kind,
            size,
        });
    }
    Ok(Occurrence {
        begin,
        spec,
        wanted,
        own,
    })
}

/// The function that gets a place.
struct Target<'a, 'm, 'ctx> {
    module: &'m Module<'ctx>,
    version: usize,
    file: &'a str,
    function: Option<Value>,
    own: HashSet<Value>,
}

/// A variable found.
struct Found {
    number: u64,
    route: Route,
    base: Base,
}

/// Where what is read first is.
#[derive(Clone, Copy)]
enum Base {
    Address(Value),
    /// It is this value.
    Value(Value),
}

impl Target<'_, '_, '_> {
    fn error(&self, occurrence: &Occurrence, wanted: &Wanted, what: &str) -> Error {
        Error::bad_input(
            self.file,
            format!(
                "{}: PP{}_VAR({}): {what}",
                occurrence.spec.place(),
                wanted.version + 1,
                wanted.text
            ),
        )
    }

    /// Gives the function a place for a specification that it does not have. Where nothing is wanted of it, it need
    /// not be possible: the versions then are not in lock-step there.
    fn add_place(
        &self,
        occurrence: &Occurrence,
        others: &HashSet<Value>,
        wanted: &[&Wanted],
    ) -> Result<()> {
        let source = occurrence.begin.parent_block().parent();
        let name = source.name_text();
        let positions = self
            .function
            .map(|function| positions(source, occurrence, others, function, &self.own));
        let has_debug_info = self.function.is_none_or(|f| f.definition_place().is_some());
        let mut problem = match positions.as_deref() {
            None => Some(format!("the version has no function {name}")),
            Some(_) if !has_debug_info => {
                Some("the version has no debug info (compile it with -g)".into())
            }
            Some([]) => Some(format!("no place in function {name} corresponds to that")),
            Some(_) => None,
        };
        if let (false, [first, ..]) = (has_debug_info, wanted) {
            return Err(self.error(occurrence, first, &problem.unwrap_or_default()));
        }
        for &position in positions.iter().flatten() {
            let found: std::result::Result<Vec<Found>, (usize, String)> = wanted
                .iter()
                .enumerate()
                .map(|(i, wanted)| find(self.module, position, wanted).map_err(|what| (i, what)))
                .collect();
            match found {
                Ok(found) => {
                    self.insert(occurrence, position, &found);
                    return Ok(());
                }
                Err((i, what)) if problem.is_none() => {
                    let at = match position.debug_place() {
                        Some(place) => format!("{}:{}", place.file, place.line),
                        None => format!("{name}()"),
                    };
                    problem = Some(format!("{what} at {at}"));
                    if i > 0 {
                        return Err(self.error(occurrence, wanted[i], &format!("{what} at {at}")));
                    }
                }
                Err(_) => {}
            }
        }
        match (wanted, problem) {
            ([first, ..], Some(what)) => Err(self.error(occurrence, first, &what)),
            _ => Ok(()),
        }
    }

    fn insert(&self, occurrence: &Occurrence, position: Value, found: &[Found]) {
        let (file, line) = match position.debug_place() {
            Some(place) => (place.file, place.line.into()),
            None => {
                let name = position.parent_block().parent().name_text();
                (format!("{name}()"), 0)
            }
        };
        let spec = Spec {
            file,
            line,
            ..occurrence.spec.clone()
        };
        let builder = Builder::before(position);
        let captured: Vec<Value> = found.iter().map(|found| found.capture(&builder)).collect();
        let variables = (!found.is_empty()).then(|| build_variables(self.module, found, &captured));
        let place = define_place(self.module, self.version, &spec, None, variables);
        call_reached(self.module, position, place, &captured);
    }
}

impl Found {
    /// What is to be known of the variable at its place; pointers are followed only when they are asked for.
    fn capture(&self, builder: &Builder) -> Value {
        let address = match self.base {
            Base::Value(value) => return value,
            Base::Address(address) => builder.offset(address, self.route.start),
        };
        let types = Types::of_function(builder.block().parent());
        match first_type(&types, &self.route) {
            Some(ty) => builder.load(ty, address),
            None => address,
        }
    }
}

/// The type of what is read of the variable itself; none if only its address is wanted.
fn first_type(types: &Types, route: &Route) -> Option<Type> {
    if !route.hops.is_empty() {
        return Some(types.pointer());
    }
    value_type(types, route).filter(|_| !route.is_array)
}

/// The type of a value as LLVM has it; none for aggregates.
fn value_type(types: &Types, route: &Route) -> Option<Type> {
    match (route.kind, route.size) {
        (kind::POINTER | kind::STRING, _) => Some(types.pointer()),
        (kind::REAL, 4 | 8 | 16) => Some(types.real(route.size)),
        (kind::SIGNED | kind::UNSIGNED, 1 | 2 | 4 | 8 | 16) => {
            Some(types.integer(8 * route.size as u32))
        }
        _ => None,
    }
}

/// `void variables(struct p3_spec *, void *captured, int number)`: gives the operand of that number.
fn build_variables(module: &Module, found: &[Found], captured: &[Value]) -> Value {
    let types = Types::of(module);
    let (pointer, integer) = (types.pointer(), types.integer(32));
    let ty = types.function(types.void(), &[pointer, pointer, integer]);
    let function = llvm::add_function(module, VARIABLES, ty);
    function.set_internal();
    let parameters = function.parameters();
    let put_type = types.function(
        types.void(),
        &[pointer, integer, pointer, types.integer(64), integer],
    );
    let put = llvm::global_named(module, "p3_spec_put")
        .unwrap_or_else(|| llvm::add_function(module, "p3_spec_put", put_type));
    put.set_external();
    let entry = append_block(function, "");
    let end = append_block(function, "");
    Builder::at_end(end).ret(None);
    let fields: Vec<Type> = captured.iter().map(|value| value.ty()).collect();
    let structure = types.structure(&fields);
    let mut cases = Vec::new();
    for (i, found) in found.iter().enumerate() {
        let block = append_block(function, "");
        let builder = Builder::at_end(block);
        let route = &found.route;
        // The address of what is wanted next.
        let mut at = builder.field(structure, parameters[1], i as u32);
        for &hop in &route.hops {
            at = builder.offset(builder.load(pointer, at), hop);
        }
        let is_address = route.hops.is_empty() && first_type(&types, route).is_none();
        if is_address && !route.is_array {
            at = builder.load(pointer, at);
        } else if route.is_array && !route.hops.is_empty() {
            // Its address is the value.
            let memory = builder.alloca(pointer, "");
            builder.store(at, memory);
            at = memory;
        }
        let arguments = [
            parameters[0],
            types.constant(32, found.number),
            at,
            types.constant(64, route.size),
            types.constant(32, route.kind),
        ];
        builder.call(put_type, put, &arguments);
        builder.branch(end);
        cases.push((types.constant(32, found.number), block));
    }
    Builder::at_end(entry).switch(parameters[2], end, &cases);
    function
}

/// Looks for what is wanted where `position` is.
fn find(module: &Module, position: Value, wanted: &Wanted) -> std::result::Result<Found, String> {
    let path = path::parse(&wanted.text)
        .ok_or("not a variable, or a member or element that it leads to")?;
    let (variable, inlined_at) = variable_at(module, position, &path)?;
    let route = path::resolve(&path, variable.node.variable().ty)?;
    let fits = match (wanted.kind, route.kind) {
        (kind::OTHER, kind::OTHER) => wanted.size == route.size,
        (kind::POINTER | kind::STRING, kind::POINTER | kind::STRING) => true,
        (kind::SIGNED | kind::UNSIGNED | kind::REAL, kind::SIGNED | kind::UNSIGNED) => true,
        (kind::REAL, kind::REAL) => true,
        _ => false,
    };
    if !fits {
        return Err(format!(
            "{} is of another type than that given",
            wanted.text.trim()
        ));
    }
    let base = match variable.global {
        Some(global) => Base::Address(global),
        None => locate(position, variable.node, inlined_at, &route)
            .ok_or_else(|| format!("'{}' has been optimised away", path.variable))?,
    };
    Ok(Found {
        number: wanted.number,
        route,
        base,
    })
}

/// A variable in scope.
struct InScope {
    node: Node,
    global: Option<Value>,
}

/// The variable that the name means at `position`, and where the code there was inlined.
fn variable_at(
    module: &Module,
    position: Value,
    path: &Path,
) -> std::result::Result<(InScope, Option<Node>), String> {
    let function = position.parent_block().parent();
    let scope = scope_near(position);
    let inlined_at = scope.and_then(|(_, inlined_at)| inlined_at);
    let scopes: Vec<Node> =
        std::iter::successors(scope.map(|(scope, _)| scope), |scope| scope.outer_scope()).collect();
    let mut known: Vec<InScope> = Vec::new();
    for block in function.blocks() {
        let locations = block
            .instructions()
            .into_iter()
            .filter_map(Value::debug_location);
        let here = locations.filter(|location| location.inlined_at == inlined_at);
        known.extend(here.map(|location| InScope {
            node: location.variable,
            global: None,
        }));
    }
    if inlined_at.is_none() {
        let retained = function.debug_retained().into_iter();
        known.extend(retained.map(|node| InScope { node, global: None }));
    }
    for global in llvm::variables(module) {
        if let Some(node) = global.debug_global() {
            let global = Some(global);
            known.push(InScope { node, global });
        }
    }
    // The innermost one; those of files come last.
    let distance = |node: Node| {
        let variable = node.variable();
        if variable.name != path.variable {
            return None;
        }
        match variable.scope {
            Some(scope) => scopes.iter().position(|&s| s == scope),
            None => Some(usize::MAX),
        }
    };
    known
        .into_iter()
        .filter_map(|found| Some((distance(found.node)?, found)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, found)| (found, inlined_at))
        .ok_or_else(|| format!("there is no variable '{}'", path.variable))
}

/// The scope of an instruction, or of one near it if it has none.
fn scope_near(position: Value) -> Option<(Node, Option<Node>)> {
    let block = position.parent_block().instructions();
    let at = block.iter().position(|&i| i == position)?;
    let behind = block[at..].iter();
    let before = block[..at].iter().rev();
    behind.chain(before).find_map(|i| i.debug_scope())
}

/// Where the first thing of the route is at `position`.
fn locate(
    position: Value,
    variable: Node,
    inlined_at: Option<Node>,
    route: &Route,
) -> Option<Base> {
    let part = (8 * route.start, 8 * route.first_size());
    let tells = |instruction: Value| {
        let location = instruction.debug_location()?;
        let is_it = location.variable == variable && location.inlined_at == inlined_at;
        let covers = match location.fragment {
            None => true,
            Some((offset, size)) => offset < part.0 + part.1.max(8) && part.0 < offset + size,
        };
        (is_it && covers).then_some(location)
    };
    let function = position.parent_block().parent();
    let memory = function
        .blocks()
        .into_iter()
        .flat_map(Block::instructions)
        .filter(|i| is_declare(*i))
        .find_map(tells);
    let location = match memory {
        Some(location) => location,
        None => reaching(position, &tells)?,
    };
    let value = location.value?;
    if value.is_undefined() || !value.dominates(position) {
        return None;
    }
    if location.is_address {
        return location.fragment.is_none().then_some(Base::Address(value));
    }
    // The value itself, or of a part just what is wanted.
    let is_all = match location.fragment {
        None => route.start == 0,
        Some(fragment) => fragment == part,
    };
    let types = Types::of_function(function);
    let is_fit = first_type(&types, route)
        .is_some_and(|ty| ty == value.ty() || both_pointers(ty, value.ty()));
    (is_all && is_fit).then_some(Base::Value(value))
}

fn both_pointers(a: Type, b: Type) -> bool {
    [a, b]
        .iter()
        .all(|ty| ty.kind() == LLVMTypeKind::LLVMPointerTypeKind)
}

fn is_declare(instruction: Value) -> bool {
    instruction.is_call()
        && instruction
            .called_function()
            .is_some_and(|callee| callee.name() == b"llvm.dbg.declare")
}

/// What debug info said last on every way to `position`, if that is the same.
fn reaching(position: Value, tells: &dyn Fn(Value) -> Option<Location>) -> Option<Location> {
    let start = position.parent_block();
    let instructions = start.instructions();
    let at = instructions.iter().position(|&i| i == position)?;
    if let Some(location) = instructions[..at].iter().rev().find_map(|&i| tells(i)) {
        return Some(location);
    }
    let predecessors = start.parent().predecessors();
    let mut found: Option<Location> = None;
    let mut seen = HashSet::new();
    let mut work = vec![start];
    while let Some(block) = work.pop() {
        let before = predecessors.get(&block).map_or(&[][..], Vec::as_slice);
        if before.is_empty() {
            return None;
        }
        for &block in before
            .iter()
            .filter(|&&block| seen.insert(block))
            .collect::<Vec<_>>()
        {
            match block.instructions().into_iter().rev().find_map(tells) {
                Some(location) if found.is_none_or(|found| found == location) => {
                    found = Some(location);
                }
                Some(_) => return None,
                None => work.push(block),
            }
        }
    }
    found
}

/// Where in `function` the specification belongs, most likely first: the instructions before which it would stand.
fn positions(
    source: Value,
    occurrence: &Occurrence,
    others: &HashSet<Value>,
    function: Value,
    own: &HashSet<Value>,
) -> Vec<Value> {
    let (a, b) = (sequence(source, others), sequence(function, own));
    let counterpart = align::corresponding(&a, &b);
    let of = |instruction: Value| {
        let at = a.iter().position(|&i| i == instruction)?;
        Some(b[counterpart[at]?])
    };
    let (before, after) = around(source, occurrence, others, &a);
    let precede = |partner: Value| match partner.opcode() {
        LLVMOpcode::LLVMPHI => None,
        _ => Some(partner),
    };
    let follow = |partner: Value| partner.next_instruction();
    let first = |list: &[Value]| list.first().copied();
    let mut found = Vec::new();
    found.extend(first(&after).and_then(of).and_then(precede));
    found.extend(first(&before).and_then(of).and_then(follow));
    found.extend(
        after
            .iter()
            .skip(1)
            .copied()
            .filter_map(of)
            .find_map(precede),
    );
    found.extend(
        before
            .iter()
            .skip(1)
            .copied()
            .filter_map(of)
            .find_map(follow),
    );
    // A terminator is none of what precedes.
    found
}

/// What of a function is compared: no phis, no jumps, nothing of specifications.
fn sequence(function: Value, own: &HashSet<Value>) -> Vec<Value> {
    let graph = Graph::of(function);
    let is_compared = |instruction: &Value| {
        let is_jump = instruction.is_terminator() && instruction.successors().len() == 1;
        let is_known_branch = instruction.is_terminator()
            && instruction.successors().len() == 2
            && instruction.operand(0).is_some_and(|condition| {
                condition.is_constant()
                    || condition.is_instruction()
                        && condition.operands().iter().any(|o| is_call_of_begin(*o))
            });
        let is_test = instruction.opcode() == LLVMOpcode::LLVMICmp
            && instruction.operands().iter().any(|o| is_call_of_begin(*o));
        !(is_jump
            || is_known_branch
            || is_test
            || own.contains(instruction)
            || is_spec_call(*instruction))
    };
    let nodes = graph.nodes.iter();
    nodes
        .flat_map(|node| node.instructions.iter().chain(&node.terminator))
        .copied()
        .filter(is_compared)
        .collect()
}

fn is_call_of_begin(value: Value) -> bool {
    value.is_instruction() && is_call_of(value, BEGIN)
}

fn is_spec_call(instruction: Value) -> bool {
    instruction.is_call()
        && instruction
            .called_function()
            .is_some_and(|callee| callee.name().starts_with(b"p3_spec_"))
}

/// What precedes the specification in the same run of code, last first, and what follows it. `own` is what is there for
/// the sake of this one and others.
fn around(
    source: Value,
    occurrence: &Occurrence,
    own: &HashSet<Value>,
    all: &[Value],
) -> (Vec<Value>, Vec<Value>) {
    let compared: HashSet<Value> = all.iter().copied().collect();
    let of = |block: Block| -> Vec<Value> {
        let mut list = block.instructions();
        list.retain(|i| compared.contains(i) && !is_marker(*i));
        list
    };
    let blocks = source.blocks();
    let is_plain = |block: &Block| {
        let mut instructions = block.instructions().into_iter();
        !instructions.any(|i| own.contains(&i) || is_spec_call(i))
    };
    let start = occurrence.begin.parent_block();
    let in_start = start.instructions();
    let begins = in_start.iter().position(|&i| i == occurrence.begin);
    let mut before: Vec<Value> = in_start[..begins.unwrap_or(0)].to_vec();
    before.retain(|i| compared.contains(i));
    before.reverse();
    let mut block = Some(start);
    for _ in 0..blocks.len() {
        let Some(here) = block.filter(|_| before.is_empty()) else {
            break;
        };
        // Code on another way does not precede this.
        let leads_here = |b: &&Block| {
            let terminator = b.terminator();
            terminator.is_some_and(|t| t.successors().contains(&here)) && is_plain(b)
        };
        block = the_only(blocks.iter().filter(leads_here).copied(), here);
        before = block.map(of).unwrap_or_default();
        before.retain(|i| !i.is_terminator());
        before.reverse();
    }
    let mut block = start.terminator().and_then(|terminator| {
        let taken = decided(occurrence.begin, terminator)?;
        let successors = terminator.successors();
        successors.into_iter().find(|&next| next != taken)
    });
    let mut after = Vec::new();
    for _ in 0..blocks.len() {
        let Some(here) = block.filter(|_| after.is_empty()) else {
            break;
        };
        after = of(here);
        let next = here.terminator().map(Value::successors).unwrap_or_default();
        block = the_only(next.into_iter().filter(is_plain), here);
    }
    (before, after)
}

/// The element of a list of one, if it is not `here`: a block that leads to itself leads nowhere else.
fn the_only(mut blocks: impl Iterator<Item = Block>, here: Block) -> Option<Block> {
    let first = blocks.next().filter(|&block| block != here)?;
    blocks.all(|block| block == first).then_some(first)
}
