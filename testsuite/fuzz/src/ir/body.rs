//! Bodies of generated functions: an arbitrary control-flow graph (loops with several entries, blocks that nothing
//! reaches, every terminator), phis at its joins, and straight code between.
//!
//! Nothing undefined is executed: shifts and indices are masked, divisors are odd and positive, floats become
//! integers by saturation. Jumps backward use up the program's fuel and leave the function when there is none.

use super::tape::Tape;
use super::types::{Ty, STRUCTURE};
use super::Signature;
use std::fmt::Write as _;

/// How a block ends; numbers are blocks.
#[derive(Clone, Debug)]
enum End {
    Return,
    Branch(usize),
    Condition(usize, usize),
    Switch(usize, Vec<usize>),
    Indirect(Vec<usize>),
    /// `callbr`: fall-through and jump.
    Assembly(usize, usize),
    /// `invoke`: normal way, and where the landing pad goes on.
    Invoke(usize, usize),
}

impl End {
    fn draw(tape: &mut Tape, blocks: usize, is_last: bool) -> End {
        let mut to = || 1 + tape.below(blocks - 1);
        let (a, b, c) = (to(), to(), to());
        if is_last {
            return End::Return;
        }
        match tape.below(14) {
            0 => End::Return,
            1 | 2 => End::Branch(a),
            3..=6 => End::Condition(a, b),
            7 => End::Switch(a, vec![b, c, a, b]),
            8 => {
                let count = if tape.once_in(6) {
                    300
                } else {
                    1 + tape.below(6)
                };
                let cases = (0..count).map(|_| 1 + tape.below(blocks - 1));
                End::Switch(a, cases.collect())
            }
            9 | 10 => {
                let mut all = vec![a, b, c];
                all.sort();
                all.dedup();
                End::Indirect(all)
            }
            11 if a != b => End::Assembly(a, b),
            12 => End::Invoke(a, b),
            _ => End::Condition(b, c),
        }
    }

    fn targets(&self) -> Vec<usize> {
        match self {
            End::Return => Vec::new(),
            End::Branch(a) => vec![*a],
            End::Condition(a, b) | End::Assembly(a, b) | End::Invoke(a, b) => vec![*a, *b],
            End::Switch(a, cases) => [&[*a], &cases[..]].concat(),
            End::Indirect(all) => all.clone(),
        }
    }
}

type Value = (Ty, String);

/// Writes one function.
pub struct Body<'a> {
    tape: &'a mut Tape,
    /// The function's own name and what it returns.
    own: &'a Signature,
    /// Functions that it may call.
    callees: &'a [Signature],
    /// Behind every instruction.
    metadata: &'a str,
    text: String,
    numbered: usize,
    /// Local variables.
    slots: Vec<Value>,
    /// What can be used in all blocks, and what only in this one.
    everywhere: Vec<Value>,
    here: Vec<Value>,
}

impl<'a> Body<'a> {
    /// The text between the braces.
    pub fn write(
        tape: &'a mut Tape,
        own: &'a Signature,
        callees: &'a [Signature],
        metadata: &'a str,
    ) -> String {
        let mut body = Body {
            tape,
            own,
            callees,
            metadata,
            text: String::new(),
            numbered: 0,
            slots: Vec::new(),
            everywhere: Vec::new(),
            here: Vec::new(),
        };
        body.blocks();
        body.text
    }

    fn blocks(&mut self) {
        let count = 2 + self.tape.below(12);
        let ends: Vec<End> = (0..count)
            .map(|block| End::draw(self.tape, count, block + 1 == count))
            .collect();
        let is_guarded = |block: usize| ends[block].targets().iter().any(|to| *to <= block);
        // Per block: the labels that edges come from.
        let mut edges: Vec<Vec<(usize, String)>> = vec![Vec::new(); count];
        for (block, end) in ends.iter().enumerate() {
            let label = match is_guarded(block) {
                true => format!("b{block}.go"),
                false => format!("b{block}"),
            };
            for (index, to) in end.targets().into_iter().enumerate() {
                let label = match (end, index) {
                    (End::Invoke(..), 1) => format!("b{block}.pad"),
                    _ => label.clone(),
                };
                edges[to].push((block, label));
            }
        }
        let mut known: Vec<Vec<Value>> = Vec::new();
        for block in 0..count {
            let _ = writeln!(self.text, "b{block}:");
            self.here.clear();
            if block == 0 {
                self.entry();
            } else {
                self.phis(&edges[block], &known);
            }
            for _ in 0..self.tape.below(7) {
                self.operation();
            }
            if block == 0 {
                self.everywhere.append(&mut self.here);
            }
            if block > 0 && edges[block].is_empty() {
                // Nothing comes here, so that even this is valid.
                let _ = writeln!(self.text, "  %dead{block} = add i64 %dead{block}, 1");
            }
            known.push(self.here.clone());
            if is_guarded(block) {
                let left = self.fresh();
                let _ = writeln!(
                    self.text,
                    "  {left}.0 = load i32, ptr @fuel{md}\n  {left}.1 = sub i32 {left}.0, 1\n  store i32 {left}.1, ptr @fuel{md}\n  \
                     {left}.2 = icmp sgt i32 {left}.1, 0\n  br i1 {left}.2, label %b{block}.go, label %out{md}\nb{block}.go:",
                    md = self.metadata
                );
            }
            self.end(block, &ends[block]);
        }
        let _ = writeln!(self.text, "out:");
        self.here.clear();
        self.give_back();
    }

    fn fresh(&mut self) -> String {
        self.numbered += 1;
        format!("%v{}", self.numbered)
    }

    /// Appends an instruction.
    fn line(&mut self, instruction: &str) {
        let _ = writeln!(self.text, "  {instruction}{}", self.metadata);
    }

    /// Appends an instruction that computes something.
    fn define(&mut self, ty: Ty, instruction: &str) -> String {
        let name = self.fresh();
        self.line(&format!("{name} = {instruction}"));
        self.here.push((ty, name.clone()));
        name
    }

    fn entry(&mut self) {
        for index in 0..4 + self.tape.below(4) {
            let ty = Ty::draw(self.tape);
            let name = format!("%s{index}");
            self.line(&format!("{name} = alloca {ty}, align 16"));
            let first = ty.constant(self.tape);
            self.line(&format!("store {ty} {first}, ptr {name}"));
            self.slots.push((ty, name));
        }
        for (index, ty) in self.own.parameters.iter().enumerate() {
            self.everywhere.push((*ty, format!("%p{index}")));
        }
        if self.own.in_memory {
            let loaded = self.define(Ty::Structure, &format!("load {STRUCTURE}, ptr %by"));
            self.everywhere.push((Ty::Structure, loaded));
        }
    }

    fn phis(&mut self, edges: &[(usize, String)], known: &[Vec<Value>]) {
        if edges.is_empty() {
            return;
        }
        let mut made = Vec::new();
        for _ in 0..self.tape.below(4) {
            let ty = Ty::draw(self.tape);
            let mut incoming: Vec<(String, String)> = Vec::new();
            for (block, label) in edges {
                let same = incoming.iter().find(|(_, from)| from == label).cloned();
                let value = match same {
                    Some((value, _)) => value,
                    None => {
                        let there = known.get(*block).into_iter().flatten();
                        let all: Vec<&String> = there
                            .chain(&self.everywhere)
                            .filter(|(of, _)| *of == ty)
                            .map(|(_, name)| name)
                            .collect();
                        match all.is_empty() || self.tape.once_in(3) {
                            true => ty.constant(self.tape),
                            false => all[self.tape.below(all.len())].clone(),
                        }
                    }
                };
                incoming.push((value, label.clone()));
            }
            let pairs: Vec<String> = incoming
                .iter()
                .map(|(v, l)| format!("[ {v}, %{l} ]"))
                .collect();
            let name = self.fresh();
            self.line(&format!("{name} = phi {ty} {}", pairs.join(", ")));
            made.push((ty, name));
        }
        self.here.extend(made);
    }

    /// Something of this type.
    fn value(&mut self, ty: Ty) -> String {
        let all: Vec<String> = self
            .here
            .iter()
            .chain(&self.everywhere)
            .filter(|(of, _)| *of == ty)
            .map(|(_, name)| name.clone())
            .collect();
        if !all.is_empty() && !self.tape.once_in(4) {
            return all[self.tape.below(all.len())].clone();
        }
        let slots: Vec<String> = self
            .slots
            .iter()
            .filter(|(of, _)| *of == ty)
            .map(|(_, name)| name.clone())
            .collect();
        if !slots.is_empty() && !self.tape.once_in(3) {
            let slot = slots[self.tape.below(slots.len())].clone();
            let is_volatile = if self.tape.once_in(6) {
                "volatile "
            } else {
                ""
            };
            return self.define(ty, &format!("load {is_volatile}{ty}, ptr {slot}"));
        }
        match (ty, self.tape.once_in(2)) {
            (Ty::Int(_), true) => {
                let any = self.wide();
                self.resize(&any, 64, ty)
            }
            _ => ty.constant(self.tape),
        }
    }

    /// An i64 that depends on something.
    fn wide(&mut self) -> String {
        let all: Vec<Value> = self.here.iter().chain(&self.everywhere).cloned().collect();
        match all.is_empty() {
            true => self.define(Ty::Int(64), "load i64, ptr @sum"),
            false => {
                let (ty, name) = all[self.tape.below(all.len())].clone();
                self.as_wide(ty, &name)
            }
        }
    }

    fn resize(&mut self, value: &str, width: u32, to: Ty) -> String {
        let Ty::Int(wanted) = to else {
            return to.constant(self.tape);
        };
        match wanted.cmp(&width) {
            std::cmp::Ordering::Equal => value.to_string(),
            std::cmp::Ordering::Less => self.define(to, &format!("trunc i{width} {value} to {to}")),
            std::cmp::Ordering::Greater => {
                let how = self.tape.choose(&["zext", "sext"]);
                self.define(to, &format!("{how} i{width} {value} to {to}"))
            }
        }
    }

    fn as_wide(&mut self, ty: Ty, value: &str) -> String {
        let wide = Ty::Int(64);
        match ty {
            Ty::Int(width) if width > 64 => {
                let high = self.define(ty, &format!("lshr {ty} {value}, {}", width - 64));
                let mixed = self.define(ty, &format!("xor {ty} {value}, {high}"));
                self.define(wide, &format!("trunc {ty} {mixed} to i64"))
            }
            Ty::Int(width) => self.resize(value, width, wide),
            Ty::Float(name) => {
                let suffix = ty.suffix();
                self.define(
                    wide,
                    &format!("call i64 @llvm.fptosi.sat.i64.{suffix}({name} {value})"),
                )
            }
            Ty::Vector(_, width) => {
                let suffix = ty.suffix();
                let all = self.define(
                    Ty::Int(width),
                    &format!("call i{width} @llvm.vector.reduce.xor.{suffix}({ty} {value})"),
                );
                self.resize(&all, width, wide)
            }
            Ty::Structure => self.define(wide, &format!("extractvalue {ty} {value}, 1")),
        }
    }

    fn operation(&mut self) {
        match self.tape.below(12) {
            0 => {
                let value = self.wide();
                self.line(&format!("call void @mix(i64 {value})"));
            }
            1 | 2 => {
                let (ty, slot) = self.slots[self.tape.below(self.slots.len())].clone();
                let value = self.value(ty);
                self.line(&format!("store {ty} {value}, ptr {slot}"));
            }
            3 => self.atomic(),
            4 => self.call(),
            5 => {
                let ty = Ty::draw(self.tape);
                let (a, b) = (self.value(ty), self.value(ty));
                let condition = self.value(Ty::Int(1));
                self.define(ty, &format!("select i1 {condition}, {ty} {a}, {ty} {b}"));
            }
            6 => self.array(),
            _ => {
                let ty = Ty::draw(self.tape);
                match ty {
                    Ty::Int(width) => self.integer(width),
                    Ty::Float(_) => self.float(ty),
                    Ty::Vector(count, width) => self.vector(ty, count, width),
                    Ty::Structure => self.structure(),
                }
            }
        }
    }

    fn integer(&mut self, width: u32) {
        let ty = Ty::Int(width);
        let (a, b) = (self.value(ty), self.value(ty));
        let kinds = if width < 8 { 5 } else { 9 };
        match self.tape.below(kinds) {
            0 | 1 => {
                let how = self.tape.choose(&["add", "sub", "mul", "and", "or", "xor"]);
                self.define(ty, &format!("{how} {ty} {a}, {b}"));
            }
            2 => {
                let how = self.tape.choose(&["eq", "ne", "ult", "sge", "sgt", "ule"]);
                self.define(Ty::Int(1), &format!("icmp {how} {ty} {a}, {b}"));
            }
            3 => {
                let to = Ty::Int(self.tape.choose(&[1, 8, 13, 32, 64, 128, 257]));
                self.resize(&a, width, to);
            }
            4 => {
                let how = self.tape.choose(&["shl", "lshr", "ashr"]);
                let by = self.tape.below(width as usize);
                self.define(ty, &format!("{how} {ty} {a}, {by}"));
            }
            5 => {
                let small = self.define(ty, &format!("and {ty} {b}, 62"));
                let odd = self.define(ty, &format!("or {ty} {small}, 1"));
                let how = self.tape.choose(&["udiv", "urem", "sdiv", "srem"]);
                self.define(ty, &format!("{how} {ty} {a}, {odd}"));
            }
            6 => {
                let how = self.tape.choose(&["umax", "smin", "sadd.sat", "usub.sat"]);
                self.define(
                    ty,
                    &format!("call {ty} @llvm.{how}.{ty}({ty} {a}, {ty} {b})"),
                );
            }
            7 => {
                let pair = self.fresh();
                let how = self.tape.choose(&["uadd", "ssub", "umul"]);
                let how = if width > 64 { "uadd" } else { how };
                self.line(&format!("{pair} = call {{ {ty}, i1 }} @llvm.{how}.with.overflow.{ty}({ty} {a}, {ty} {b})"));
                self.define(ty, &format!("extractvalue {{ {ty}, i1 }} {pair}, 0"));
                self.define(
                    Ty::Int(1),
                    &format!("extractvalue {{ {ty}, i1 }} {pair}, 1"),
                );
            }
            _ => {
                let to = Ty::Float(self.tape.choose(&["float", "double", "x86_fp80"]));
                if width <= 64 {
                    self.define(to, &format!("sitofp {ty} {a} to {to}"));
                } else {
                    self.define(ty, &format!("freeze {ty} {a}"));
                }
            }
        }
    }

    fn float(&mut self, ty: Ty) {
        let (a, b) = (self.value(ty), self.value(ty));
        match self.tape.below(4) {
            0 | 1 => {
                let how = self.tape.choose(&["fadd", "fsub", "fmul", "fdiv"]);
                self.define(ty, &format!("{how} {ty} {a}, {b}"));
            }
            2 => {
                let how = self.tape.choose(&["oeq", "ult", "ogt", "uno", "one"]);
                self.define(Ty::Int(1), &format!("fcmp {how} {ty} {a}, {b}"));
            }
            _ => {
                let to = Ty::Int(self.tape.choose(&[8, 32, 64]));
                self.define(
                    to,
                    &format!("call {to} @llvm.fptosi.sat.{to}.{}({ty} {a})", ty.suffix()),
                );
            }
        }
    }

    fn vector(&mut self, ty: Ty, count: u32, width: u32) {
        let (a, b) = (self.value(ty), self.value(ty));
        let of = Ty::Int(width);
        let at = self.tape.below(count as usize);
        match self.tape.below(5) {
            0 => {
                let how = self.tape.choose(&["add", "xor", "mul", "and"]);
                self.define(ty, &format!("{how} {ty} {a}, {b}"));
            }
            1 => {
                self.define(of, &format!("extractelement {ty} {a}, i32 {at}"));
            }
            2 => {
                let new = self.value(of);
                self.define(ty, &format!("insertelement {ty} {a}, {of} {new}, i32 {at}"));
            }
            3 => {
                let mask: Vec<String> = (0..count)
                    .map(|_| format!("i32 {}", self.tape.below(2 * count as usize)))
                    .collect();
                self.define(
                    ty,
                    &format!(
                        "shufflevector {ty} {a}, {ty} {b}, <{count} x i32> <{}>",
                        mask.join(", ")
                    ),
                );
            }
            _ => {
                let bits = Ty::Vector(count, 1);
                let compared = self.fresh();
                self.line(&format!("{compared} = icmp ugt {ty} {a}, {b}"));
                if bits == Ty::Vector(8, 1) {
                    self.here.push((bits, compared.clone()));
                }
                self.define(
                    ty,
                    &format!("select <{count} x i1> {compared}, {ty} {a}, {ty} {b}"),
                );
            }
        }
    }

    fn structure(&mut self) {
        let ty = Ty::Structure;
        let value = self.value(ty);
        let (at, of) = self.tape.choose(&[(0, 32), (1, 64), (2, 8)]);
        match self.tape.once_in(2) {
            true => {
                self.define(Ty::Int(of), &format!("extractvalue {ty} {value}, {at}"));
            }
            false => {
                let new = self.value(Ty::Int(of));
                self.define(ty, &format!("insertvalue {ty} {value}, i{of} {new}, {at}"));
            }
        }
    }

    fn atomic(&mut self) {
        let ty = Ty::Int(self.tape.choose(&[8, 16, 32, 64]));
        let place = format!("@atomic_{ty}");
        let order = self
            .tape
            .choose(&["monotonic", "acquire", "release", "acq_rel", "seq_cst"]);
        match self.tape.below(5) {
            0 => {
                let order = self
                    .tape
                    .choose(&["unordered", "monotonic", "acquire", "seq_cst"]);
                self.define(
                    ty,
                    &format!("load atomic {ty}, ptr {place} {order}, align 8"),
                );
            }
            1 => {
                let order = self.tape.choose(&["unordered", "release", "seq_cst"]);
                let value = self.value(ty);
                self.line(&format!(
                    "store atomic {ty} {value}, ptr {place} {order}, align 8"
                ));
            }
            2 => {
                let value = self.value(ty);
                let how =
                    self.tape
                        .choose(&["xchg", "add", "nand", "umax", "min", "uinc_wrap", "xor"]);
                self.define(
                    ty,
                    &format!("atomicrmw {how} ptr {place}, {ty} {value} {order}"),
                );
            }
            3 => {
                let (expected, new) = (self.value(ty), self.value(ty));
                let pair = self.fresh();
                self.line(&format!(
                    "{pair} = cmpxchg ptr {place}, {ty} {expected}, {ty} {new} {order} monotonic"
                ));
                self.define(ty, &format!("extractvalue {{ {ty}, i1 }} {pair}, 0"));
            }
            _ => {
                let order = self.tape.choose(&["acquire", "seq_cst", "release"]);
                self.line(&format!("fence syncscope(\"singlethread\") {order}"));
            }
        }
    }

    fn array(&mut self) {
        let wide = self.wide();
        let index = self.define(Ty::Int(64), &format!("and i64 {wide}, 7"));
        let place = self.fresh();
        let global = self.tape.choose(&[
            "@table",
            "@local_table",
            "@weak_table",
            "@table_alias",
            "@common_table",
        ]);
        if global == "@local_table" {
            self.line(&format!(
                "{place}.t = call ptr @llvm.threadlocal.address.p0(ptr {global})"
            ));
            self.line(&format!(
                "{place} = getelementptr inbounds [8 x i32], ptr {place}.t, i64 0, i64 {index}"
            ));
        } else {
            self.line(&format!(
                "{place} = getelementptr inbounds [8 x i32], ptr {global}, i64 0, i64 {index}"
            ));
        }
        match self.tape.once_in(2) {
            true => {
                let value = self.value(Ty::Int(32));
                self.line(&format!("store i32 {value}, ptr {place}, align 4"));
            }
            false => {
                self.define(Ty::Int(32), &format!("load i32, ptr {place}, align 4"));
            }
        }
    }

    /// The arguments of a call, and what stands before if some go through memory.
    fn arguments(&mut self, callee: &Signature) -> String {
        let mut words: Vec<String> = Vec::new();
        if callee.in_memory {
            let ty = Ty::Structure;
            let value = self.value(ty);
            self.line(&format!("store {ty} {value}, ptr @passed"));
            words.push(format!("ptr sret({ty}) align 8 @returned"));
            words.push(format!("ptr byval({ty}) align 8 @passed"));
        }
        for (index, ty) in callee.parameters.iter().enumerate() {
            let value = self.value(*ty);
            words.push(format!("{ty} {}{value}", callee.attribute(index)));
        }
        words.join(", ")
    }

    fn call(&mut self) {
        if self.tape.once_in(5) {
            let count = self.tape.below(9);
            let values: Vec<String> = (0..count)
                .map(|_| format!(", i64 {}", self.wide()))
                .collect();
            self.define(
                Ty::Int(64),
                &format!(
                    "call i64 (i32, ...) @variadic(i32 {count}{})",
                    values.concat()
                ),
            );
            return;
        }
        if self.callees.is_empty() || self.tape.once_in(4) {
            let names = [
                "@relay",
                "@relay_alias",
                "@relay_alias_alias",
                "@relay_weak",
                "@relay_ifunc",
            ];
            let name = self.tape.choose(&names);
            let (a, b) = (self.wide(), self.wide());
            let how = self.tape.choose(&["call", "tail call", "notail call"]);
            self.define(Ty::Int(64), &format!("{how} i64 {name}(i64 {a}, i64 {b})"));
            return;
        }
        let callee = self.callees[self.tape.below(self.callees.len())].clone();
        let arguments = self.arguments(&callee);
        let result = callee.result_name();
        let convention = callee.convention;
        let mut target = format!("@{}", callee.name);
        if self.tape.once_in(3) {
            // Through a pointer that is not known at compile time.
            target = self.fresh();
            self.line(&format!(
                "{target} = load volatile ptr, ptr @pointer_{}",
                callee.name
            ));
        }
        match callee.result {
            None => self.line(&format!("call {convention}void {target}({arguments})")),
            Some(ty) => {
                self.define(
                    ty,
                    &format!("call {convention}{result} {target}({arguments})"),
                );
            }
        }
        if callee.in_memory {
            self.define(Ty::Structure, &format!("load {STRUCTURE}, ptr @returned"));
        }
    }

    fn end(&mut self, block: usize, end: &End) {
        // Between guard and terminator nothing may be defined that phis know of; so values come from memory.
        let before = self.here.clone();
        match end {
            End::Return => self.give_back(),
            End::Branch(to) => self.line(&format!("br label %b{to}")),
            End::Condition(a, b) => {
                let condition = self.value(Ty::Int(1));
                self.line(&format!("br i1 {condition}, label %b{a}, label %b{b}"));
            }
            End::Switch(otherwise, cases) => {
                let wide = self.wide();
                let range = (cases.len() + 2).next_power_of_two();
                let index = self.define(Ty::Int(64), &format!("and i64 {wide}, {}", range - 1));
                let list: Vec<String> = cases
                    .iter()
                    .enumerate()
                    .map(|(value, to)| format!("i64 {value}, label %b{to}"))
                    .collect();
                self.line(&format!(
                    "switch i64 {index}, label %b{otherwise} [ {} ]",
                    list.join("\n    ")
                ));
            }
            End::Indirect(all) => {
                let wide = self.wide();
                let index = self.define(Ty::Int(64), &format!("urem i64 {wide}, {}", all.len()));
                let name = &self.own.name;
                let addresses: Vec<String> = all
                    .iter()
                    .map(|to| format!("ptr blockaddress(@{name}, %b{to})"))
                    .collect();
                let vector = format!("<{} x ptr> <{}>", all.len(), addresses.join(", "));
                let place = self.fresh();
                self.line(&format!("{place} = extractelement {vector}, i64 {index}"));
                let labels: Vec<String> = all.iter().map(|to| format!("label %b{to}")).collect();
                self.line(&format!(
                    "indirectbr ptr {place}, [ {} ]",
                    labels.join(", ")
                ));
            }
            End::Assembly(through, jump) => {
                self.line(&format!(
                    "callbr void asm sideeffect \"# nothing\", \"!i,~{{memory}}\"() to label %b{through} [label %b{jump}]"
                ));
            }
            End::Invoke(normal, pad) => {
                let wide = self.wide();
                let name = self.tape.choose(&["@thrower", "@between"]);
                let _ = writeln!(
                    self.text,
                    "  invoke void {name}(i64 {wide}) to label %b{normal} unwind label %b{block}.pad{md}\nb{block}.pad:\n  \
                     %pad{block} = landingpad {{ ptr, i32 }} cleanup catch ptr null{md}\n  \
                     %object{block} = extractvalue {{ ptr, i32 }} %pad{block}, 0{md}\n  \
                     %caught{block} = call ptr @__cxa_begin_catch(ptr %object{block}){md}\n  \
                     %thrown{block} = load i32, ptr %caught{block}{md}\n  \
                     %wide{block} = zext i32 %thrown{block} to i64{md}\n  call void @mix(i64 %wide{block}){md}\n  \
                     call void @__cxa_end_catch(){md}\n  br label %b{pad}{md}",
                    md = self.metadata
                );
            }
        }
        self.here = before;
    }

    fn give_back(&mut self) {
        if self.own.in_memory {
            let value = self.value(Ty::Structure);
            self.line(&format!("store {STRUCTURE} {value}, ptr %ret"));
        }
        match self.own.result {
            None => self.line("ret void"),
            Some(ty) => {
                let value = self.value(ty);
                self.line(&format!("ret {ty} {value}"));
            }
        }
    }
}
