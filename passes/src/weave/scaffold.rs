//! What product functions are written with and do without in the end.
//!
//! While a product function is written, every value that crosses nodes is in memory, and every node has a block of
//! its own. The checker looks at it like that; then the memory becomes SSA values, stores and loads of frames that
//! are not needed go, blocks are merged and branches take the form that costs least.
//!
//! A frame's fields are used by one lock-step function, which only stores, and its continuation. Nobody else has its
//! address. So a field is as good as a local variable of the continuation that begins with what it is handed, and what
//! the continuation never reads need not be handed over. Values that are never needed at the same time share a variable
//! (`Plan::homes`). What takes fewer instructions as an SSA value becomes one; the rest stays in memory of the
//! continuation's, in one piece whose size LLVM does not know: it would make SSA values of all of it, and phis of those
//! wherever versions take turns.

use super::hand_over::{Interface, Passed, Spill};
use super::{branches, frames, switches, weights};
use crate::llvm::{Block, Builder, Type, Types, Value};
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::{BTreeMap, HashMap, HashSet};

/// A product function that has been written but not cleaned up.
pub(crate) struct Scaffold {
    pub(super) function: Value,
    /// Allocas that only loads and stores use.
    pub(super) memory: Vec<Value>,
    /// The ways out, each with code of its own for the time being.
    pub(super) spills: Vec<Spill>,
    pub(super) continuation: Option<ContinuationScaffold>,
}

/// The same for a continuation.
pub(crate) struct ContinuationScaffold {
    /// Its parameters are a frame, the state, and where to stop.
    pub(super) function: Value,
    /// The address of a 1 that LLVM does not know.
    pub(super) one: Value,
    /// Allocas that only loads and stores use.
    pub(super) memory: Vec<Value>,
    pub(super) fields: Vec<Field>,
}

/// A field of the frame, which only loads and stores of the continuation use.
pub(super) struct Field {
    pub(super) number: u32,
    /// In the entry block.
    pub(super) address: Value,
    pub(super) ty: Type,
    /// The number of the field whose memory it uses, its own or a lower one. None: what it holds is not needed after
    /// others have run.
    pub(super) home: Option<u32>,
}

impl Scaffold {
    /// Brings the function and its continuation into their final form.
    pub(crate) fn remove(self) {
        switches::remove_needless(self.function);
        let mut spills = self.spills;
        let interface = self.continuation.map(|rest| rest.remove(&spills));
        if let Some(interface) = &interface {
            interface.forget(&mut spills);
        }
        // Before the ways out are written: they show what they hand over then. What cannot be reached goes with that.
        let blocks = frames::reverse_post_order(self.function);
        let reached: HashSet<Block> = blocks.into_iter().collect();
        spills.retain(|spill| reached.contains(&spill.call.parent_block()));
        self.function.promote(&self.memory);
        let continuation = interface.map(|interface| {
            interface.hand_over(self.function, spills);
            interface.function
        });
        self.function.merge_blocks();
        self.function.forward_blocks();
        branches::branch_one_by_one(self.function);
        if let Some(continuation) = continuation {
            weights::expect_lockstep(self.function, continuation);
        }
    }
}

/// A local variable of a continuation in the place of fields that share memory.
struct Local {
    ty: Type,
    /// An alloca; none once it is an SSA value.
    memory: Option<Value>,
    /// The address of a field.
    address: Value,
    /// What the variable begins with: the field's load, if that is needed.
    given: Option<Value>,
}

impl Local {
    /// In the place of a field, which is loaded before `start`.
    fn instead_of(field: &Field, start: Value) -> Local {
        let memory = make_local(field);
        let builder = Builder::before(start);
        let given = builder.load(field.ty, field.address);
        builder.store(given, memory);
        Local {
            ty: field.ty,
            memory: Some(memory),
            address: field.address,
            given: Some(given),
        }
    }

    /// Notes what is left of it; `values` are the variables that are in memory no more.
    fn settle(&mut self, values: &HashSet<Value>) {
        let is_needed = |instruction: &Value| {
            let is_used = instruction.has_uses();
            if !is_used {
                instruction.erase_instruction();
            }
            is_used
        };
        self.memory = self.memory.filter(|memory| !values.contains(memory));
        self.memory = self.memory.filter(is_needed);
        self.given = self.given.filter(is_needed);
    }
}

impl ContinuationScaffold {
    /// Returns how it is called from now on. `spills` are all who do.
    fn remove(self, spills: &[Spill]) -> Interface {
        let mut memory = self.memory.clone();
        let mut locals: BTreeMap<u32, Local> = BTreeMap::new();
        let mut home_of = HashMap::new();
        let entry = self.function.blocks()[0];
        for field in &self.fields {
            let start = entry.terminator().filter(|_| field.address.has_uses());
            match (start, field.home) {
                (None, _) => field.address.erase_instruction(),
                (_, None) => {
                    memory.push(make_local(field));
                    field.address.erase_instruction();
                }
                (Some(start), Some(home)) => {
                    home_of.insert(field.number, home);
                    if let Some(Local { memory, .. }) = locals.get(&home) {
                        field
                            .address
                            .replace_all_uses_with(memory.unwrap_or(field.address));
                        field.address.erase_instruction();
                    } else {
                        locals.insert(home, Local::instead_of(field, start));
                    }
                }
            }
        }
        self.function.promote(&memory);
        self.function.merge_blocks();
        let variables: Vec<Value> = locals.values().filter_map(|local| local.memory).collect();
        let values = frames::simplify(self.function, &variables);
        self.function.promote(&values);
        let values = values.into_iter().collect();
        locals.values_mut().for_each(|local| local.settle(&values));
        let interface = self.settle_interface(locals, &home_of, spills);
        interface.function.forward_blocks();
        branches::branch_one_by_one(interface.function);
        // That leaves exits that only branch on, to where versions take turns.
        interface.function.forward_blocks();
        interface
    }

    /// Decides how the variables are handed over, and gives the function the parameters for it.
    fn settle_interface(
        &self,
        locals: BTreeMap<u32, Local>,
        home_of: &HashMap<u32, u32>,
        spills: &[Spill],
    ) -> Interface {
        let mut handed_by: HashMap<u32, usize> = HashMap::new();
        for spill in spills {
            let fields = spill.fields.iter();
            let homes = fields.filter_map(|(number, _)| home_of.get(number));
            for home in homes.collect::<HashSet<_>>() {
                *handed_by.entry(*home).or_default() += 1;
            }
        }
        let (mut frame, mut own, mut arguments) = (Vec::new(), Vec::new(), Vec::new());
        let (mut passed_as, mut own_of) = (HashMap::new(), HashMap::new());
        let values = locals
            .values()
            .filter(|local| local.given.is_some())
            .count();
        for (&home, local) in &locals {
            let count = handed_by.get(&home).copied().unwrap_or_default();
            if local.given.is_some() {
                let is_argument = Interface::takes_argument(values, count, spills.len());
                let (types, passed): (&mut Vec<Type>, fn(u32) -> Passed) = match is_argument {
                    true => (&mut arguments, Passed::Argument),
                    false => (&mut frame, Passed::Field),
                };
                passed_as.insert(home, passed(types.len() as u32));
                types.push(local.ty);
            }
            let has_field = matches!(passed_as.get(&home), Some(Passed::Field(_)));
            if local.memory.is_some() && !has_field {
                own_of.insert(home, own.len() as u32);
                own.push(local.ty);
            }
        }
        let passed = home_of
            .iter()
            .filter_map(|(&number, home)| Some((number, *passed_as.get(home)?)));
        let interface = Interface::new(self.function, frame, arguments, passed.collect());
        let own = (!own.is_empty()).then(|| self.own_memory(&interface, &own));
        for (home, local) in locals {
            let builder = Builder::before(local.address);
            let field = match (passed_as.get(&home), own_of.get(&home), own) {
                (Some(&Passed::Field(number)), ..) => Some(interface.field(&builder, number)),
                (_, Some(&number), Some((ty, memory))) => Some(builder.field(ty, memory, number)),
                _ => None,
            };
            if let Some(given) = local.given {
                match (passed_as.get(&home), field) {
                    (Some(&Passed::Argument(number)), _) => {
                        given.replace_all_uses_with(interface.argument(number));
                        given.erase_instruction();
                    }
                    (_, Some(field)) => load_from(given, field, local.memory),
                    _ => {}
                }
            }
            if let (Some(memory), Some(field)) = (local.memory, field) {
                memory.replace_all_uses_with(field);
                memory.erase_instruction();
            }
            local.address.erase_instruction();
        }
        interface
    }

    /// Memory for values of these types, as a struct's fields, at the beginning of the function.
    fn own_memory(&self, interface: &Interface, fields: &[Type]) -> (Type, Value) {
        let function = interface.function;
        let types = Types::of_function(function);
        let ty = types.structure(fields);
        let builder = Builder::before(function.blocks()[0].instructions()[0]);
        let one = builder.volatile_load(types.integer(32), self.one);
        (ty, builder.array_alloca(ty, one, "own"))
    }
}

/// Lets a variable begin with what its field holds: it need not be stored there.
fn load_from(given: Value, field: Value, memory: Option<Value>) {
    let stores_it = |next: &Value| {
        next.opcode() == LLVMOpcode::LLVMStore
            && next.operand(0) == Some(given)
            && memory.is_some_and(|memory| next.operand(1) == Some(memory))
    };
    if let Some(store) = given.next_instruction().filter(stores_it) {
        store.erase_instruction();
    }
    given.set_operand(0, field);
    if !given.has_uses() {
        given.erase_instruction();
    }
}

/// Removes the ways through a product function on which only some versions are active, if every caller activates
/// all of them, as dispatchers do that find it in a table. `members` is the number of activation variables.
pub(super) fn settle_activations(function: Value, members: usize) {
    let activates_all = |call: Value| {
        !call.is_instruction()
            || call.is_call()
                && call.called_function() == Some(function)
                && (0..members as u32).all(|i| {
                    call.operand(i)
                        .is_some_and(|active| active.as_integer() == Some(1))
                })
    };
    let callers = function.users();
    if !callers.into_iter().all(activates_all) {
        return;
    }
    let truth = Types::of_function(function).constant(1, 1);
    for active in function.parameters().into_iter().take(members) {
        active.replace_all_uses_with(truth);
    }
    // Not more than that: exits keep blocks of their own (`branches.rs`).
    function.fold_branches();
}

/// Puts a local variable in the place of a field.
fn make_local(field: &Field) -> Value {
    let local = Builder::before(field.address).alloca(field.ty, "local");
    field.address.replace_all_uses_with(local);
    local
}
