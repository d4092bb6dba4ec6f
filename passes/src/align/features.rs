//! What nodes look like, as hashes: names without version prefixes, types, constants, opcodes, source variables.

use super::digest::{Digest, Sketch};
use super::functions::{plain_local, plain_name, plain_type};
use crate::llvm::{Linkage, Type, Value};
use crate::nodes::{Graph, Node};
use crate::spec::Spec;
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::HashMap;

/// What the matcher knows of a node, or of a whole loop.
#[derive(Default)]
pub(super) struct Features {
    /// Only things of equal class are ever matched.
    pub(super) class: u64,
    /// Equal for equal code on equal operands.
    pub(super) content: u64,
    /// `content` together with that of everything up to one edge and up to two edges away.
    pub(super) context: [u64; 2],
    /// The classes of everything up to two and up to three edges away.
    pub(super) shape: [u64; 2],
    /// The condition of the branch or switch at the end up to negation; 0 if there is none.
    pub(super) condition: u64,
    /// Whether `condition` is that of the negation.
    pub(super) is_negated: bool,
    /// The instructions, each with operands, without, and without constants.
    pub(super) sketch: Sketch,
    /// Of a loop: the instructions that are in no inner loop. Empty for nodes.
    pub(super) own: Sketch,
    /// Number of instructions.
    pub(super) weight: u32,
}

/// Domains of [`Digest`], so that hashes of different things differ.
mod domain {
    pub(super) const INTEGER: u64 = 1;
    pub(super) const REAL: u64 = 2;
    pub(super) const NULL: u64 = 3;
    pub(super) const UNDEFINED: u64 = 4;
    pub(super) const BYTES: u64 = 5;
    pub(super) const EXPRESSION: u64 = 6;
    pub(super) const AGGREGATE: u64 = 7;
    pub(super) const NAME: u64 = 8;
    pub(super) const GROUP: u64 = 9;
    pub(super) const DATA: u64 = 10;
    pub(super) const TYPE: u64 = 11;
    pub(super) const INSTRUCTION: u64 = 12;
    pub(super) const OPERANDS: u64 = 13;
    pub(super) const ARGUMENT: u64 = 14;
    pub(super) const VARIABLE: u64 = 15;
    pub(super) const OTHER: u64 = 16;
    pub(super) const CONDITION: u64 = 17;
    pub(super) const NODE: u64 = 18;
    pub(super) const CONTEXT: u64 = 19;
    pub(super) const CASE: u64 = 20;
    pub(super) const CALL: u64 = 21;
    pub(super) const CALL_UNMATCHED: u64 = 22;
    pub(super) const CALL_INDIRECT: u64 = 23;
    pub(super) const TERMINATOR: u64 = 24;
    pub(super) const NO_TERMINATOR: u64 = 25;
    pub(super) const FUNCTION: u64 = 26;
    pub(super) const BARE: u64 = 27;
    pub(super) const SPEC: u64 = 28;
}

/// How deep constants and conditions are looked into.
const DEPTH: u32 = 3;
/// How many elements of a constant aggregate are looked at.
const ELEMENTS: u32 = 64;

/// How a function used in code is told apart from others.
pub(super) enum Callee {
    /// Equal numbers are one function.
    Group(usize),
    /// By its plain name.
    Name,
    /// Any function of this type.
    Type,
}

/// Describes values of one module; caches what is expensive.
pub(super) struct Describer<'a> {
    resolve: &'a dyn Fn(Value) -> Callee,
    types: HashMap<Type, u64>,
    globals: HashMap<Value, u64>,
}

impl<'a> Describer<'a> {
    pub(super) fn new(resolve: &'a dyn Fn(Value) -> Callee) -> Self {
        Describer {
            resolve,
            types: HashMap::new(),
            globals: HashMap::new(),
        }
    }

    pub(super) fn ty(&mut self, ty: Type) -> u64 {
        *self.types.entry(ty).or_insert_with(|| {
            Digest::new(domain::TYPE)
                .add_bytes(plain_type(ty).as_bytes())
                .finish()
        })
    }

    fn global(&mut self, global: Value, depth: u32) -> u64 {
        if let Some(&known) = self.globals.get(&global) {
            return known;
        }
        let digest = if global.as_function().is_some() {
            match (self.resolve)(global) {
                Callee::Group(group) => Digest::new(domain::GROUP).add(group as u64),
                Callee::Name => named(global),
                Callee::Type => Digest::new(domain::FUNCTION).add(self.ty(global.value_type())),
            }
        } else {
            // Literals are numbered in the order in which the compiler meets them.
            match private_data(global) {
                Some(data) if depth > 0 => {
                    Digest::new(domain::DATA).add(self.constant(data, depth - 1))
                }
                _ => named(global),
            }
        };
        let digest = digest.finish();
        if depth == DEPTH {
            self.globals.insert(global, digest);
        }
        digest
    }

    fn constant(&mut self, value: Value, depth: u32) -> u64 {
        let digest = if value.is_global() {
            return self.global(value, depth);
        } else if let Some(integer) = value.as_integer() {
            Digest::new(domain::INTEGER)
                .add(self.ty(value.ty()))
                .add(integer)
        } else if value.is_null() {
            Digest::new(domain::NULL).add(self.ty(value.ty()))
        } else if value.is_undefined() {
            Digest::new(domain::UNDEFINED).add(self.ty(value.ty()))
        } else if let Some(real) = value.as_real() {
            Digest::new(domain::REAL)
                .add(self.ty(value.ty()))
                .add(real.to_bits())
        } else if let Some(bytes) = value.as_bytes() {
            Digest::new(domain::BYTES).add_bytes(&bytes)
        } else if depth == 0 {
            Digest::new(domain::OTHER).add(self.ty(value.ty()))
        } else if let Some(opcode) = value.expression_opcode() {
            (0..value.operand_count())
                .filter_map(|i| value.operand(i))
                .fold(
                    Digest::new(domain::EXPRESSION).add(opcode as u64),
                    |digest, operand| digest.add(self.constant(operand, depth - 1)),
                )
        } else {
            (0..ELEMENTS)
                .map_while(|i| value.element(i))
                .fold(Digest::new(domain::AGGREGATE), |digest, element| {
                    digest.add(self.constant(element, depth - 1))
                })
        };
        digest.finish()
    }
}

fn named(global: Value) -> Digest {
    let name = plain_name(global);
    Digest::new(domain::NAME).add_bytes(plain_local(&name).as_bytes())
}

/// The contents of a private variable that nothing but its contents identifies.
fn private_data(global: Value) -> Option<Value> {
    if !global.is_global_variable() || global.linkage() != Linkage::Private {
        return None;
    }
    global.initializer()
}

/// Whether debug info names variables of this function.
pub(super) fn has_variable_names(function: Value) -> bool {
    !variable_names(function).is_empty()
}

/// The source variables that values hold, by debug info; the first one found for each value.
fn variable_names(function: Value) -> HashMap<Value, String> {
    let mut names = HashMap::new();
    for block in function.blocks() {
        for instruction in block.instructions() {
            if let Some((value, name)) = instruction.debug_variable() {
                if value.is_instruction() || value.is_argument() {
                    names.entry(value).or_insert(name);
                }
            }
        }
    }
    names
}

/// Computes the features of a function's nodes.
struct Reader<'a, 'b> {
    describer: &'a mut Describer<'b>,
    arguments: HashMap<Value, u64>,
    variables: HashMap<Value, u64>,
    /// Each instruction without its operands other than constants.
    plain: HashMap<Value, u64>,
}

/// The features of all nodes of `graph`. Source names count only if `use_names`: versions without debug info
/// have none.
///
/// The hashes of the instructions without their operands (other than constants) come with them.
pub(super) fn features(
    graph: &Graph,
    describer: &mut Describer,
    use_names: bool,
) -> (Vec<Features>, HashMap<Value, u64>) {
    let mut reader = Reader::of(graph, describer, use_names);
    let mut all: Vec<Features> = graph.nodes.iter().map(|node| reader.node(node)).collect();
    add_context(graph, &mut all);
    (all, reader.plain)
}

/// One instruction as hashes.
pub(super) struct Hashes {
    /// With its operands.
    pub(super) full: u64,
    /// Without operands other than constants.
    pub(super) plain: u64,
    /// Without operands.
    pub(super) bare: u64,
}

/// Of some of the instructions in `graph`.
pub(super) fn hashes(
    graph: &Graph,
    describer: &mut Describer,
    use_names: bool,
    instructions: &[Value],
) -> Vec<Hashes> {
    let mut reader = Reader::of(graph, describer, use_names);
    instructions
        .iter()
        .map(|&instruction| Hashes {
            full: reader.full_digest(instruction),
            plain: reader.plain[&instruction],
            bare: reader.bare_digest(instruction),
        })
        .collect()
}

impl<'a, 'b> Reader<'a, 'b> {
    fn of(graph: &Graph, describer: &'a mut Describer<'b>, use_names: bool) -> Self {
        let arguments = graph.function.parameters().into_iter().enumerate();
        let arguments = arguments.map(|(i, a)| (a, i as u64)).collect();
        let names = if use_names {
            variable_names(graph.function)
        } else {
            HashMap::new()
        };
        let variables = names.into_iter().map(|(value, name)| {
            let digest = Digest::new(domain::VARIABLE).add_bytes(name.as_bytes());
            (value, digest.finish())
        });
        let mut reader = Reader {
            describer,
            arguments,
            variables: variables.collect(),
            plain: HashMap::with_capacity(graph.node_of.len()),
        };
        for node in &graph.nodes {
            for &instruction in node
                .phis
                .iter()
                .chain(&node.instructions)
                .chain(&node.terminator)
            {
                let plain = reader.plain_digest(instruction);
                reader.plain.insert(instruction, plain);
            }
        }
        reader
    }
}

impl Reader<'_, '_> {
    /// Opcode, types and callee: what stays when the fields of a structure move.
    fn bare_digest(&mut self, instruction: Value) -> u64 {
        let mut digest = Digest::new(domain::BARE)
            .add(instruction.opcode() as u64)
            .add(self.describer.ty(instruction.ty()))
            .add(instruction.operation().into());
        if let Some(ty) = instruction.named_type() {
            digest = digest.add(self.describer.ty(ty));
        }
        if let Some(callee) = instruction.is_call().then(|| instruction.called_function()) {
            digest = digest.add(callee.map_or(0, |f| self.describer.global(f, DEPTH)));
        }
        digest.finish()
    }

    /// Opcode, types, constants and callee.
    fn plain_digest(&mut self, instruction: Value) -> u64 {
        let opcode = instruction.opcode();
        let mut digest = Digest::new(domain::INSTRUCTION)
            .add(opcode as u64)
            .add(self.describer.ty(instruction.ty()))
            .add(instruction.operation().into());
        if opcode == LLVMOpcode::LLVMPHI {
            // The order of a phi's entries means nothing.
            let constants = instruction.incoming_values().into_iter();
            let sum = constants
                .filter(|value| value.is_constant())
                .fold(0, |sum: u64, value| {
                    sum.wrapping_add(self.describer.constant(value, DEPTH))
                });
            return digest.add(sum).finish();
        }
        if let Some(ty) = instruction.named_type() {
            digest = digest.add(self.describer.ty(ty));
        }
        for index in instruction.indices() {
            digest = digest.add(index.into());
        }
        // The cases of a switch count one by one, as features of their own.
        if opcode != LLVMOpcode::LLVMSwitch {
            for operand in operands(instruction) {
                digest = digest.add(if operand.is_constant() {
                    self.describer.constant(operand, DEPTH)
                } else if operand.is_inline_asm() {
                    Digest::new(domain::OTHER)
                        .add_bytes(operand.print().as_bytes())
                        .finish()
                } else {
                    0
                });
            }
        }
        digest.finish()
    }

    /// What an operand is: the variable it holds, else what computes it.
    fn operand_digest(&mut self, operand: Value) -> u64 {
        if let Some(&variable) = self.variables.get(&operand) {
            return variable;
        }
        if let Some(&plain) = self.plain.get(&operand) {
            return plain;
        }
        if let Some(&index) = self.arguments.get(&operand) {
            let ty = self.describer.ty(operand.ty());
            return Digest::new(domain::ARGUMENT).add(index).add(ty).finish();
        }
        if operand.is_constant() {
            self.describer.constant(operand, DEPTH)
        } else {
            0
        }
    }

    fn full_digest(&mut self, instruction: Value) -> u64 {
        let digest = Digest::new(domain::OPERANDS).add(self.plain[&instruction]);
        match instruction.opcode() {
            LLVMOpcode::LLVMPHI => {
                if let Some(&variable) = self.variables.get(&instruction) {
                    return digest.add(variable).finish();
                }
                // The order of a phi's entries means nothing.
                let sum = instruction
                    .incoming_values()
                    .into_iter()
                    .fold(0, |sum: u64, value| {
                        sum.wrapping_add(self.operand_digest(value))
                    });
                digest.add(sum).finish()
            }
            LLVMOpcode::LLVMSwitch => digest
                .add(instruction.operand(0).map_or(0, |c| self.operand_digest(c)))
                .finish(),
            _ => operands(instruction)
                .fold(digest, |digest, operand| {
                    digest.add(self.operand_digest(operand))
                })
                .finish(),
        }
    }

    /// An expression as a tree; the comparison on top without its sense, since compilers turn branches around.
    fn condition(&mut self, value: Value, depth: u32, top: bool) -> u64 {
        let is_inner = value.is_instruction()
            && !matches!(value.opcode(), LLVMOpcode::LLVMPHI | LLVMOpcode::LLVMAlloca)
            && !value.is_call();
        if depth == 0 || !is_inner || !top && self.variables.contains_key(&value) {
            return self.operand_digest(value);
        }
        let opcode = value.opcode();
        let own = match opcode {
            LLVMOpcode::LLVMICmp | LLVMOpcode::LLVMFCmp if top => {
                without_sense(opcode, value.operation()).into()
            }
            _ => self.plain.get(&value).copied().unwrap_or(0),
        };
        operands(value)
            .fold(
                Digest::new(domain::CONDITION).add(own),
                |digest, operand| digest.add(self.condition(operand, depth - 1, false)),
            )
            .finish()
    }

    fn node(&mut self, node: &Node) -> Features {
        let mut hashes = Vec::with_capacity(2 * node.instructions.len() + 4);
        let mut phis = 0u64;
        for &phi in &node.phis {
            let full = self.full_digest(phi);
            phis = phis.wrapping_add(full);
            hashes.extend([full, self.plain[&phi]]);
        }
        let mut content = Digest::new(domain::NODE).add(phis);
        for &instruction in &node.instructions {
            let full = self.full_digest(instruction);
            content = content.add(full);
            let bare = self.bare_digest(instruction);
            hashes.extend([full, self.plain[&instruction], bare]);
        }
        let mut condition = 0;
        let mut is_negated = false;
        let class = match node.terminator {
            _ if node.is_call => self.call_class(node.instructions[0]),
            None => Digest::new(domain::NO_TERMINATOR),
            Some(terminator) => {
                let full = self.full_digest(terminator);
                content = content.add(full);
                hashes.push(full);
                let mut class = Digest::new(domain::TERMINATOR).add(terminator.opcode() as u64);
                if let Some(tested) = tested(terminator) {
                    condition = self.condition(tested, DEPTH, true);
                    is_negated = is_negation(tested);
                    hashes.push(condition);
                    class = class.add(self.describer.ty(tested.ty()));
                }
                if terminator.opcode() == LLVMOpcode::LLVMSwitch {
                    for case in operands(terminator).filter(|value| value.is_constant()) {
                        let value = self.describer.constant(case, DEPTH);
                        content = content.add(value);
                        hashes.push(Digest::new(domain::CASE).add(value).finish());
                    }
                }
                class
            }
        };
        let class = class.finish();
        Features {
            class,
            content: content.add(class).finish(),
            context: [0; 2],
            shape: [0; 2],
            condition,
            is_negated,
            sketch: Sketch::of(hashes),
            own: Sketch::default(),
            weight: (node.phis.len() + node.instructions.len()) as u32
                + u32::from(node.terminator.is_some()),
        }
    }

    fn call_class(&mut self, call: Value) -> Digest {
        if let Some(spec) = Spec::at(call) {
            let digest = Digest::new(domain::SPEC).add(spec.what);
            return digest.add_bytes(spec.text.as_bytes());
        }
        match call.called_function().map(|f| (self.describer.resolve)(f)) {
            Some(Callee::Group(group)) => Digest::new(domain::CALL).add(group as u64),
            Some(_) => Digest::new(domain::CALL_UNMATCHED),
            None => {
                let ty = call.named_type().map_or(0, |ty| self.describer.ty(ty));
                Digest::new(domain::CALL_INDIRECT).add(ty)
            }
        }
    }
}

fn operands(instruction: Value) -> impl Iterator<Item = Value> {
    (0..instruction.operand_count()).filter_map(move |i| instruction.operand(i))
}

/// The value that a conditional branch or a switch decides on.
fn tested(terminator: Value) -> Option<Value> {
    match terminator.opcode() {
        LLVMOpcode::LLVMBr if terminator.operand_count() == 3 => terminator.operand(0),
        LLVMOpcode::LLVMSwitch => terminator.operand(0),
        _ => None,
    }
}

/// Whether [`without_sense`] takes a comparison for the negation of another.
fn is_negation(value: Value) -> bool {
    value.is_instruction()
        && matches!(value.opcode(), LLVMOpcode::LLVMICmp | LLVMOpcode::LLVMFCmp)
        && without_sense(value.opcode(), value.operation()) != value.operation()
}

/// The same number for a comparison and its negation.
fn without_sense(opcode: LLVMOpcode, predicate: u32) -> u32 {
    let inverse = match (opcode, predicate) {
        (LLVMOpcode::LLVMFCmp, _) => 15 - predicate,
        // eq ne; ugt ule; uge ult; sgt sle; sge slt
        (_, 32) => 33,
        (_, 33) => 32,
        (_, 34..=37) => 71 - predicate,
        _ => 79 - predicate,
    };
    predicate.min(inverse)
}

/// Fills in the hashes that say what stands around a node.
fn add_context(graph: &Graph, features: &mut [Features]) {
    let mut content: Vec<u64> = features.iter().map(|f| f.content).collect();
    let mut shape: Vec<u64> = features.iter().map(|f| f.class).collect();
    for round in 0..2 {
        content = with_surroundings(graph, &content);
        shape = with_surroundings(graph, &shape);
        for (id, features) in features.iter_mut().enumerate() {
            features.context[round] = content[id];
            features.shape[round] = shape[id];
        }
    }
}

/// Each node's hash together with those of its neighbours, in no order: a branch that was turned around looks the
/// same.
fn with_surroundings(graph: &Graph, inner: &[u64]) -> Vec<u64> {
    let sum = |ids: &[usize]| {
        ids.iter().fold(0u64, |sum, &id| {
            sum.wrapping_add(Digest::new(domain::CONTEXT).add(inner[id]).finish())
        })
    };
    let nodes = graph.nodes.iter().enumerate();
    nodes
        .map(|(id, node)| {
            Digest::new(domain::CONTEXT)
                .add(inner[id])
                .add(sum(&node.predecessors))
                .add(sum(&node.successors))
                .finish()
        })
        .collect()
}

/// A whole body as one hash.
pub(super) fn body(graph: &Graph, describer: &mut Describer) -> u64 {
    let ty = describer.ty(graph.function.value_type());
    let (all, _) = features(graph, describer, false);
    let mut digest = Digest::new(domain::FUNCTION).add(ty);
    for (node, features) in graph.nodes.iter().zip(&all) {
        digest = digest.add(features.content);
        for &successor in &node.successors {
            digest = digest.add(successor as u64);
        }
    }
    digest.finish()
}

/// A whole function, for finding similar ones.
pub(super) struct Outline {
    pub(super) sketch: Sketch,
    pub(super) weight: u32,
}

/// What a function consists of, wherever in it.
pub(super) fn outline(function: Value, describer: &mut Describer) -> Outline {
    let (all, _) = features(&Graph::of(function), describer, false);
    Outline {
        sketch: Sketch::union(all.iter().map(|f| &f.sketch)),
        weight: all.iter().map(|f| f.weight).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparisons_and_their_negations_share_a_number() {
        let icmp = |p| without_sense(LLVMOpcode::LLVMICmp, p);
        for (a, b) in [(32, 33), (34, 37), (35, 36), (38, 41), (39, 40)] {
            assert_eq!(icmp(a), icmp(b));
            assert_eq!(icmp(a), a.min(b));
        }
        let fcmp = |p| without_sense(LLVMOpcode::LLVMFCmp, p);
        assert_eq!(fcmp(1), fcmp(14));
        assert_eq!(fcmp(0), fcmp(15));
    }
}
