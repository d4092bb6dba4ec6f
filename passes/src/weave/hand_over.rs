//! How lock-step functions call their continuations in the end.
//!
//! Input: a lock-step function whose ways out each store what is live in a frame and call the continuation with its
//! address; what the continuation needs of it. Guarantee: the continuation gets that in parameters, and where these would
//! be very many, in a frame of fewer fields what few ways out hand over; what a way out does not hand over is undefined
//! there, and nothing stays alive for it. Ways out share code where that is shorter.

use crate::llvm::{append_block, Block, Builder, Type, Types, Value};
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::{BTreeMap, HashMap};

/// Code that fills a frame, calls the continuation and returns.
pub(super) struct Spill {
    /// The frame's alloca.
    pub(super) frame: Value,
    /// The fields that are stored: number and address.
    pub(super) fields: Vec<(u32, Value)>,
    /// Its arguments are the frame, the state, and where to stop.
    pub(super) call: Value,
    /// The return.
    pub(super) end: Value,
}

/// How a value is handed over.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Passed {
    /// By this one of the parameters behind the state and where to stop.
    Argument(u32),
    /// In this field of the frame.
    Field(u32),
}

/// How a continuation is called.
pub(super) struct Interface {
    pub(super) function: Value,
    /// What the function was before; the calls still name it.
    former: Value,
    /// The fields of its frame, the address of which is the first parameter if there are any.
    frame: Vec<Type>,
    frame_type: Type,
    arguments: Vec<Type>,
    /// Per field of the scaffold's frame that is needed.
    passed: HashMap<u32, Passed>,
}

/// So few values may be arguments of all calls, whoever hands them over. Compilers and interpreters are not made for calls
/// with very many.
const FEW: usize = 1000;

/// Of more, one is an argument if at least one way out in so many hands it over.
const SPARSE: usize = 16;

/// So many ways out share code at most: every shared value has a phi with an operand of each, which LLVM's register
/// allocator makes copies of.
const MOST_SHARING: usize = 128;

/// So many arguments of a call count as an instruction. Calls with hundreds, for each of a thousand ways out, are what
/// LLVM takes minutes for.
const MOVES: usize = 8;

impl Interface {
    /// Whether one of `values` values, which `count` of `all` ways out hand over, is to be an argument.
    pub(super) fn takes_argument(values: usize, count: usize, all: usize) -> bool {
        values <= FEW || all <= SPARSE * count
    }

    /// Gives the continuation, whose parameters are a frame, the state and where to stop, a frame with these fields
    /// and further parameters of these types.
    pub(super) fn new(
        continuation: Value,
        frame: Vec<Type>,
        arguments: Vec<Type>,
        passed: HashMap<u32, Passed>,
    ) -> Interface {
        let old = continuation.parameters();
        let kept = &old[usize::from(frame.is_empty())..];
        let types = Types::of_function(continuation);
        let parameters: Vec<Type> = kept
            .iter()
            .map(|parameter| parameter.ty())
            .chain(arguments.iter().copied())
            .collect();
        let ty = types.function(continuation.value_type().return_type(), &parameters);
        let function = continuation.with_type(ty);
        for (old, new) in kept.iter().zip(function.parameters()) {
            old.replace_all_uses_with(new);
        }
        Interface {
            function,
            former: continuation,
            frame_type: types.structure(&frame),
            frame,
            arguments,
            passed,
        }
    }

    /// The parameter for an argument.
    pub(super) fn argument(&self, number: u32) -> Value {
        let parameters = self.function.parameters();
        parameters[parameters.len() - self.arguments.len() + number as usize]
    }

    /// The address of a field of the frame, in the continuation.
    pub(super) fn field(&self, builder: &Builder, number: u32) -> Value {
        builder.field(self.frame_type, self.function.parameters()[0], number)
    }

    /// Removes what is stored for nobody.
    pub(super) fn forget(&self, spills: &mut [Spill]) {
        for spill in spills {
            spill.fields.retain(|&(number, address)| {
                let is_needed = self.passed.contains_key(&number);
                if !is_needed {
                    address
                        .users()
                        .into_iter()
                        .for_each(Value::erase_instruction);
                    address.erase_instruction();
                }
                is_needed
            });
        }
    }

    /// Replaces all calls of the continuation, which are in `function`, once [`Interface::forget`] has been there.
    pub(super) fn hand_over(&self, function: Value, spills: Vec<Spill>) {
        let entry = function.blocks()[0];
        let mut chunk = Chunk::new(entry);
        for spill in spills {
            let way = self.way_of(spill);
            if !chunk.takes(&way, self.cost_alone(&way)) {
                self.emit(function, std::mem::replace(&mut chunk, Chunk::new(entry)));
            }
            chunk.add(way);
        }
        self.emit(function, chunk);
        self.former.delete_function();
    }

    /// Takes the stores out.
    fn way_of(&self, spill: Spill) -> Way {
        let mut values = BTreeMap::new();
        for (number, address) in spill.fields {
            for store in address.users() {
                if let Some(value) = store.operand(0) {
                    values.insert(self.passed[&number], value);
                }
                store.erase_instruction();
            }
            address.erase_instruction();
        }
        Way {
            values,
            frame: spill.frame,
            call: spill.call,
            end: spill.end,
        }
    }

    /// How many instructions a way out takes with code of its own. Arguments are none, but the processor moves each.
    fn cost_alone(&self, way: &Way) -> usize {
        let fields = way.values.keys().filter(|passed| passed.is_field()).count();
        let arguments = (way.values.len() - fields) / MOVES;
        2 + usize::from(!self.frame.is_empty()) + 2 * fields + arguments
    }

    /// The code of these ways out, shared if that is shorter.
    fn emit(&self, function: Value, chunk: Chunk) {
        let alone: usize = chunk.ways.iter().map(|way| self.cost_alone(way)).sum();
        let shared = chunk.ways.len() + chunk.cost + 4 + usize::from(!self.frame.is_empty());
        if shared < alone {
            return self.share(function, &chunk);
        }
        for way in chunk.ways {
            let builder = Builder::before(way.call);
            let [state, stop] = [1, 2].map(|index| way.call.operand(index));
            if let (Some(state), Some(stop)) = (state, stop) {
                let call = self.call(&builder, state, stop, &way.values);
                if way.end.operand_count() > 0 {
                    way.end.set_operand(0, call);
                }
            }
            way.call.erase_instruction();
            way.frame.erase_instruction();
        }
    }

    fn share(&self, function: Value, chunk: &Chunk) {
        let Some(first) = chunk.ways.first() else {
            return;
        };
        let builder = Builder::at_end(append_block(function, "spill"));
        builder.set_location_of(first.call);
        let ways = chunk.ways.iter();
        let blocks: Vec<Block> = ways.map(|way| way.end.parent_block()).collect();
        let phi = |values: Vec<Value>| {
            let first = values[0];
            if chunk.is_known(first) && values.iter().all(|&value| value == first) {
                return first;
            }
            let incoming: Vec<(Value, Block)> = values.into_iter().zip(blocks.clone()).collect();
            builder.phi(first.ty(), &incoming)
        };
        let operand = |index: u32| {
            let ways = chunk.ways.iter();
            phi(ways.filter_map(|way| way.call.operand(index)).collect())
        };
        let (state, stop) = (operand(1), operand(2));
        let values: BTreeMap<Passed, Value> = chunk
            .values
            .iter()
            .map(|(&passed, handed)| match *handed {
                Handed::Everywhere(value) | Handed::Same(value) => (passed, value),
                Handed::Varying(ty) => {
                    let here = |way: &Way| way.values.get(&passed).copied();
                    let ways = chunk.ways.iter();
                    let values = ways.map(|way| here(way).unwrap_or(ty.undefined()));
                    (passed, phi(values.collect()))
                }
            })
            .collect();
        // Behind the phis.
        let again = |(&passed, &value): (&Passed, &Value)| match chunk.values[&passed] {
            Handed::Everywhere(value) => (passed, chunk.again(&builder, value)),
            _ => (passed, value),
        };
        let values = values.iter().map(again).collect();
        let call = self.call(&builder, state, stop, &values);
        let returns = first.end.operand_count() > 0;
        builder.ret(returns.then_some(call));
        for (way, &block) in chunk.ways.iter().zip(&blocks) {
            way.end.erase_instruction();
            let on = Builder::at_end(block);
            on.set_location_of(way.call);
            on.branch(builder.block());
            way.call.erase_instruction();
            way.frame.erase_instruction();
        }
    }

    /// Calls the continuation.
    fn call(
        &self,
        builder: &Builder,
        state: Value,
        stop: Value,
        values: &BTreeMap<Passed, Value>,
    ) -> Value {
        let mut operands = Vec::new();
        if !self.frame.is_empty() {
            // Allocated here and not at the entry: most activations never leave lock-step.
            operands.push(builder.alloca(self.frame_type, "frame"));
        }
        operands.extend([state, stop]);
        let first = operands.len();
        operands.extend(self.arguments.iter().map(|ty| ty.undefined()));
        for (&passed, &value) in values {
            match passed {
                Passed::Argument(number) => operands[first + number as usize] = value,
                Passed::Field(number) => {
                    let field = builder.field(self.frame_type, operands[0], number);
                    builder.store(value, field);
                }
            }
        }
        let call = builder.call(self.function.value_type(), self.function, &operands);
        // Few activations leave lock-step: what the others need stays in registers.
        call.add_call_attribute("cold");
        call
    }
}

/// A way out of lock-step: what it hands over, and its call of the continuation as it was.
struct Way {
    values: BTreeMap<Passed, Value>,
    frame: Value,
    call: Value,
    end: Value,
}

/// What ways out that share code hand over in one place.
#[derive(Clone, Copy)]
enum Handed {
    /// The same value, if any, which can be had in the whole function.
    Everywhere(Value),
    /// All of them the same value.
    Same(Value),
    /// Values of this type.
    Varying(Type),
}

/// Ways out that may share their code.
struct Chunk {
    /// The function's.
    entry: Block,
    ways: Vec<Way>,
    /// All that they hand over.
    values: BTreeMap<Passed, Handed>,
    /// How many instructions these take in shared code: a phi if they vary, and in the frame an address and a store.
    cost: usize,
    /// How many of these vary.
    varying: usize,
    /// How many values the ways hand over where these vary, all together.
    handed: usize,
}

impl Chunk {
    fn new(entry: Block) -> Chunk {
        Chunk {
            entry,
            ways: Vec::new(),
            values: BTreeMap::new(),
            cost: 0,
            varying: 0,
            handed: 0,
        }
    }

    /// What is handed over with another way out, and what that costs more in shared code: instructions, and phis.
    fn with(&self, passed: Passed, value: Value) -> (Handed, usize, usize) {
        let varying = Handed::Varying(value.ty());
        match self.values.get(&passed) {
            Some(&known @ (Handed::Everywhere(other) | Handed::Same(other))) if other == value => {
                (known, 0, 0)
            }
            Some(Handed::Everywhere(_) | Handed::Same(_)) => (varying, 1, 1),
            Some(Handed::Varying(_)) => (varying, 0, 0),
            None if self.is_everywhere(value) => {
                let again = usize::from(self.is_field_of_such(value));
                (Handed::Everywhere(value), passed.cost() + again, 0)
            }
            None if self.ways.is_empty() => (Handed::Same(value), passed.cost(), 0),
            None => (varying, passed.cost() + 1, 1),
        }
    }

    /// What all ways out have handed over so far, but this one does not.
    fn lacking<'c>(&'c self, way: &'c Way) -> impl Iterator<Item = (Passed, Type)> + 'c {
        let all = self.values.iter();
        all.filter_map(|(&passed, &handed)| match handed {
            Handed::Same(value) if !way.values.contains_key(&passed) => Some((passed, value.ty())),
            _ => None,
        })
    }

    /// Whether a value can be had in the whole function: a constant, a parameter, the address of a local variable or
    /// of something at a fixed distance.
    fn is_everywhere(&self, value: Value) -> bool {
        self.is_known(value) || self.is_field_of_such(value)
    }

    fn is_known(&self, value: Value) -> bool {
        !value.is_instruction()
            || value.opcode() == LLVMOpcode::LLVMAlloca && value.parent_block() == self.entry
    }

    fn is_field_of_such(&self, value: Value) -> bool {
        value.is_instruction()
            && value.opcode() == LLVMOpcode::LLVMGetElementPtr
            && value
                .operands()
                .into_iter()
                .all(|operand| self.is_known(operand))
            && value.operands()[1..]
                .iter()
                .all(|index| index.is_constant())
    }

    /// A value that can be had everywhere. Addresses are computed again: if what is in their place elsewhere were used
    /// here, LLVM would not do without it there, in loads and stores that can as well name the distance.
    fn again(&self, builder: &Builder, value: Value) -> Value {
        match self.is_field_of_such(value) {
            true => builder.insert_clone(value),
            false => value,
        }
    }

    /// Whether another way out, which takes `alone` instructions by itself, had better share the code of these.
    fn takes(&self, way: &Way, alone: usize) -> bool {
        let all = way.values.iter();
        let all = all.map(|(&passed, &value)| self.with(passed, value));
        let (cost, phis) = all.fold((0, 0), |(cost, phis), (_, more, new)| {
            (cost + more, phis + new)
        });
        let lacking = self.lacking(way).count();
        // The phis' operands must not grow faster than what is handed over.
        let operands = (self.ways.len() + 1) * (self.varying + phis + lacking);
        let is_dense = operands <= 4 * (self.handed + way.values.len()) + 64;
        cost + lacking < alone && is_dense && self.ways.len() < MOST_SHARING
    }

    fn add(&mut self, way: Way) {
        let lacking: Vec<(Passed, Type)> = self.lacking(&way).collect();
        self.cost += lacking.len();
        self.varying += lacking.len();
        for (passed, ty) in lacking {
            self.values.insert(passed, Handed::Varying(ty));
        }
        for (&passed, &value) in &way.values {
            let (handed, cost, phis) = self.with(passed, value);
            self.cost += cost;
            self.varying += phis;
            self.handed += usize::from(matches!(handed, Handed::Varying(_)));
            self.values.insert(passed, handed);
        }
        self.ways.push(way);
    }
}

impl Passed {
    fn is_field(self) -> bool {
        matches!(self, Passed::Field(_))
    }

    /// How many instructions it takes where ways out share code, without what finds out the value.
    fn cost(self) -> usize {
        match self {
            Passed::Argument(_) => 0,
            Passed::Field(_) => 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm;

    /// `@f` and its continuation as they are called in the end. Each way out of `@f` stores these fields, with the values
    /// of the same numbers: three parameters, one that is computed, and an address; `passed` says how which is handed over.
    fn called(ways: &[&[u32]], passed: &[(u32, Passed)], frame: usize, arguments: usize) -> String {
        let context = llvm::new_context();
        let mut text = String::from(
            "define internal i32 @f.diverged(ptr %frame, i32 %state, i32 %stop) {\n\
             %s = add i32 %state, %stop\nret i32 %s\n}\n\
             define i32 @f(i32 %w, i32 %v0, i32 %v1, i32 %v2) {\n%m = alloca [9 x i32]\n\
             %v3 = add i32 %v0, 1\n%v4 = getelementptr [9 x i32], ptr %m, i32 0, i32 5\n\
             switch i32 %w, label %way0 [",
        );
        for way in 1..ways.len() {
            text += &format!(" i32 {way}, label %way{way}");
        }
        text += " ]\n";
        for (way, fields) in ways.iter().enumerate() {
            let frame = "{ i32, i32, i32, i32, ptr }";
            text += &format!("way{way}:\n%frame{way} = alloca {frame}\n");
            for field in *fields {
                let ty = if *field == 4 { "ptr" } else { "i32" };
                text += &format!(
                    "%a{way}.{field} = getelementptr {frame}, ptr %frame{way}, i32 0, i32 {field}\n\
                     store {ty} %v{field}, ptr %a{way}.{field}\n"
                );
            }
            text += &format!(
                "%r{way} = call i32 @f.diverged(ptr %frame{way}, i32 {way}, i32 9)\nret i32 %r{way}\n"
            );
        }
        let module = llvm::parse(&context, (text + "}\n").as_bytes(), "test").unwrap();
        let named = |name: &str| llvm::global_named(&module, name).unwrap();
        let (function, continuation) = (named("f"), named("f.diverged"));
        let blocks = function.blocks();
        let spills = blocks[1..].iter().zip(ways).map(|(block, fields)| {
            let instructions = block.instructions();
            let addresses = instructions
                .iter()
                .filter(|i| i.opcode() == LLVMOpcode::LLVMGetElementPtr);
            Spill {
                frame: instructions[0],
                fields: fields.iter().copied().zip(addresses.copied()).collect(),
                call: instructions[instructions.len() - 2],
                end: instructions[instructions.len() - 1],
            }
        });
        let mut spills: Vec<Spill> = spills.collect();
        let types = Types::of(&module);
        let mut arguments = vec![types.integer(32); arguments];
        if let Some(&(_, Passed::Argument(number))) = passed.iter().find(|(field, _)| *field == 4) {
            arguments[number as usize] = types.pointer();
        }
        let interface = Interface::new(
            continuation,
            vec![types.integer(32); frame],
            arguments,
            passed.iter().copied().collect(),
        );
        interface.forget(&mut spills);
        interface.hand_over(function, spills);
        llvm::verify(&module).unwrap();
        named("f.diverged").print() + &named("f").print()
    }

    #[track_caller]
    fn assert_has(text: &str, lines: &[&str]) {
        for line in lines {
            assert!(text.contains(line), "{line}:\n{text}");
        }
    }

    #[test]
    fn what_is_needed_is_an_argument_or_in_the_frame() {
        use Passed::{Argument, Field};
        let ways: &[&[u32]] = &[&[0, 1, 2], &[1]];
        let text = called(
            ways,
            &[(0, Argument(1)), (1, Argument(0)), (2, Field(0))],
            1,
            2,
        );
        assert_has(
            &text,
            &[
                "i32 @f.diverged(ptr %0, i32 %1, i32 %2, i32 %3, i32 %4)",
                "%s = add i32 %1, %2",
                "%frame = alloca { i32 }",
                "store i32 %v2, ptr",
                "@f.diverged(ptr %frame, i32 0, i32 9, i32 %v1, i32 %v0)",
                "i32 1, i32 9, i32 %v1, i32 undef)",
            ],
        );
        assert_eq!(text.matches("store").count(), 1);
    }

    #[test]
    fn what_is_not_needed_is_not_handed_over_and_without_fields_there_is_no_frame() {
        let text = called(&[&[0, 1], &[2]], &[(2, Passed::Argument(0))], 0, 1);
        assert_has(
            &text,
            &[
                "@f.diverged(i32 0, i32 9, i32 undef)",
                "@f.diverged(i32 1, i32 9, i32 %v2)",
            ],
        );
        assert!(
            !text.contains("%frame") && !text.contains("store"),
            "{text}"
        );
    }

    #[test]
    fn ways_out_share_code_where_that_is_shorter() {
        let same: &[u32] = &[0];
        let ways = [same; 8];
        let passed = [(0, Passed::Argument(0))];
        let text = called(&ways, &passed, 0, 1);
        assert_eq!(text.matches("call i32 @f.diverged").count(), 1, "{text}");
        // The state; the rest is the same everywhere.
        assert_eq!(text.matches("phi").count(), 1, "{text}");
        assert_has(&text, &[", i32 9, i32 %v0)"]);
        let text = called(&ways[..2], &passed, 0, 1);
        assert_eq!(text.matches("call i32 @f.diverged").count(), 2, "{text}");
    }

    #[test]
    fn what_ways_out_that_share_code_hand_over_is_chosen_where_it_varies() {
        let (zero, one): (&[u32], &[u32]) = (&[0], &[1]);
        let passed = [0, 1].map(|field| (field, Passed::Argument(0)));
        let text = called(&[zero, one, zero, one, &[], zero, one, zero], &passed, 0, 1);
        assert_eq!(text.matches("call i32 @f.diverged").count(), 1, "{text}");
        assert_eq!(text.matches("phi").count(), 2, "{text}");
        assert_has(&text, &["[ %v1, %way3 ], [ undef, %way4 ], [ %v0, %way5 ]"]);
    }

    #[test]
    fn what_all_ways_out_hand_over_is_used_as_it_is() {
        let passed = [(3, Passed::Argument(0))];
        let (with, without): (&[u32], &[u32]) = (&[3], &[]);
        let text = called(&[with; 8], &passed, 0, 1);
        // The state.
        assert_eq!(text.matches("phi").count(), 1, "{text}");
        assert_has(&text, &[", i32 9, i32 %v3)"]);
        let ways = [with, with, with, with, without, with, with, with];
        let text = called(&ways, &passed, 0, 1);
        assert_eq!(text.matches("phi").count(), 2, "{text}");
        assert_has(&text, &["[ %v3, %way3 ], [ undef, %way4 ], [ %v3, %way5 ]"]);
    }

    #[test]
    fn addresses_at_fixed_distances_are_computed_again() {
        let mut ways: [&[u32]; 8] = [&[4]; 8];
        ways[3] = &[];
        let text = called(&ways, &[(4, Passed::Argument(0))], 0, 1);
        assert_eq!(text.matches("phi").count(), 1, "{text}");
        assert_eq!(text.matches("ptr %m, i32 0, i32 5").count(), 2, "{text}");
        assert!(!text.contains("ptr %v4)"), "{text}");
    }

    #[test]
    fn only_what_few_ways_out_hand_over_where_that_is_much_is_in_the_frame() {
        assert!(Interface::takes_argument(FEW, 1, 1000));
        assert!(!Interface::takes_argument(FEW + 1, 1, 1000));
        assert!(Interface::takes_argument(FEW + 1, 10, 10 * SPARSE));
        assert!(!Interface::takes_argument(FEW + 1, 10, 10 * SPARSE + 1));
    }
}
