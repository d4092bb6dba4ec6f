//! Checks a dispatcher: it makes the calls of its versions' pointers, together where the pointers are known to be
//! the members of one product function, one after the other otherwise.

use super::Tables;
use crate::llvm::{Block, Type, Value};
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::HashMap;

pub(super) fn check(dispatcher: Value, tables: &Tables) -> Result<(), String> {
    let calls = &tables.dispatchers.borrow()[&dispatcher];
    // The activation variables are not used. The record of the place may stand at the end.
    let mut parameters = dispatcher.parameters().into_iter().skip(calls.len());
    let arguments: Vec<Vec<Value>> = calls
        .iter()
        .map(|(_, ty)| {
            parameters
                .by_ref()
                .take(ty.parameter_types().len())
                .collect()
        })
        .collect();
    let pointers: Vec<Value> = parameters.take(calls.len()).collect();
    if pointers.len() != calls.len() {
        return Err("it takes too few arguments".into());
    }
    let mut predecessors: HashMap<Block, Vec<(Block, usize)>> = HashMap::new();
    for block in dispatcher.blocks() {
        let successors = block.terminator().map(Value::successors);
        for (index, next) in successors.unwrap_or_default().into_iter().enumerate() {
            predecessors.entry(next).or_default().push((block, index));
        }
    }
    // How many versions have made their calls on entry of a block.
    let mut entered: HashMap<Block, usize> = HashMap::new();
    let mut results: Vec<Value> = vec![dispatcher; calls.len()];
    // What is returned, and what it has to be if a product function was called. A return is found before a call of
    // which it has the result if there is a way around the call: so they wait.
    let mut returned: Vec<(Value, Option<Vec<CallResult>>)> = Vec::new();
    let mut work: Vec<(Block, usize)> = dispatcher
        .blocks()
        .first()
        .map(|&b| (b, 0))
        .into_iter()
        .collect();
    while let Some((block, made)) = work.pop() {
        match entered.insert(block, made) {
            Some(before) if before != made => return Err("a call is missing or made twice".into()),
            Some(_) => continue,
            None => {}
        }
        let mut made = made;
        let mut product = None;
        for instruction in block.instructions() {
            if instruction.is_call() {
                let callee = instruction.called_function();
                if let Some(members) = callee.and_then(|callee| tables.products.get(&callee)) {
                    let known = known_pointers(block, &predecessors);
                    if made > 0 {
                        return Err("a call is made twice".into());
                    }
                    product = Some(together(
                        instruction,
                        members,
                        calls,
                        &pointers,
                        &arguments,
                        &known,
                    )?);
                    made = calls.len();
                } else if let Some(cell) = instruction.called_operand().and_then(table_cell) {
                    if made > 0 {
                        return Err("a call is made twice".into());
                    }
                    let known = known_pointers(block, &predecessors);
                    let in_bounds = known_in_bounds(block, &predecessors, &cell);
                    let call = Listed {
                        call: instruction,
                        cell,
                        known,
                        in_bounds,
                    };
                    product = Some(call.check(calls, &pointers, &arguments, tables)?);
                    made = calls.len();
                } else if made < calls.len() && instruction.called_operand() == Some(pointers[made])
                {
                    let given = instruction.arguments();
                    if instruction.called_type() != calls[made].1 || given != arguments[made] {
                        return Err(not_called(instruction));
                    }
                    results[made] = instruction;
                    made += 1;
                } else if !super::walk::is_glue_call(instruction) {
                    return Err(not_called(instruction));
                }
            } else if !is_harmless(instruction) {
                return Err(format!(
                    "`{}` belongs to no version",
                    instruction.print().trim()
                ));
            }
        }
        let Some(terminator) = block.terminator() else {
            continue;
        };
        if terminator.opcode() == LLVMOpcode::LLVMRet {
            if made != calls.len() {
                return Err("a call is missing".into());
            }
            if let Some(all) = terminator.operand(0) {
                returned.push((all, product));
            }
        }
        // A version that has ended in a child makes no call.
        let tested = match terminator.successors().len() {
            2 => terminator.operand(0).and_then(super::tested_flag),
            _ => None,
        };
        for (index, next) in terminator.successors().into_iter().enumerate() {
            let ended = tested.is_some_and(|(version, has_ended)| {
                has_ended == (index == 0) && calls.get(made).is_some_and(|call| call.0 == version)
            });
            work.push((next, made + usize::from(ended)));
        }
    }
    for (all, product) in returned {
        let alone = || {
            let with_results = (0..calls.len()).filter(|&k| !calls[k].1.return_type().is_void());
            with_results.map(|k| (results[k], None)).collect()
        };
        check_result(all, &product.unwrap_or_else(alone))?;
    }
    Ok(())
}

/// What is read from a table of product functions: entries of functions, one per version, and the product function.
struct Cell {
    table: Value,
    entry: Value,
    number: u64,
}

/// A load of a cell of a table.
fn table_cell(load: Value) -> Option<Cell> {
    if !super::body::is_load(load) {
        return None;
    }
    let address = load.operand(0)?;
    if !address.is_instruction() || address.opcode() != LLVMOpcode::LLVMGetElementPtr {
        return None;
    }
    const ENTRIES: u64 = 3;
    let [table, zero, entries, entry, number] = address.operands()[..] else {
        return None;
    };
    let is_entry = table.is_global()
        && table.as_function().is_none()
        && address.named_type() == Some(table.value_type())
        && zero.is_null()
        && entries.as_integer() == Some(ENTRIES);
    is_entry.then_some(Cell {
        table,
        entry,
        number: number.as_integer()?,
    })
}

/// The entries of a table, each one's cells.
fn entries_of(table: Value) -> Option<Vec<Vec<Value>>> {
    let entries = table.initializer()?.element(3)?;
    let entries = (0..entries.ty().array_length()).map(|index| {
        let entry = entries.element(index)?;
        (0..entry.ty().field_count())
            .map(|cell| entry.element(cell))
            .collect()
    });
    entries.collect()
}

/// A call of the product function of an entry.
struct Listed {
    call: Value,
    cell: Cell,
    known: HashMap<Value, Value>,
    in_bounds: Option<u64>,
}

impl Listed {
    /// Whatever the entry is, it is one of the table, its functions are what the pointers are, and its product function
    /// is theirs.
    fn check(
        &self,
        calls: &[(usize, Type)],
        pointers: &[Value],
        arguments: &[Vec<Value>],
        tables: &Tables,
    ) -> Result<Vec<CallResult>, String> {
        let fail = || not_called(self.call);
        let entries = entries_of(self.cell.table).ok_or_else(fail)?;
        let is_member = |number: usize, pointer: &Value| {
            let member = self.known.get(pointer).copied().and_then(table_cell);
            member.is_some_and(|member| {
                member.table == self.cell.table
                    && member.entry == self.cell.entry
                    && member.number == number as u64
            })
        };
        let are_known = (0..)
            .zip(pointers)
            .all(|(number, pointer)| is_member(number, pointer));
        let is_in_table = self
            .in_bounds
            .is_some_and(|count| count <= entries.len() as u64);
        if !are_known || !is_in_table || self.cell.number != calls.len() as u64 {
            return Err(fail());
        }
        for entry in &entries {
            let product = entry.get(calls.len()).copied().and_then(Value::as_function);
            let members = product.and_then(|product| tables.products.get(&product));
            let own: Vec<(usize, Value)> = calls
                .iter()
                .map(|call| call.0)
                .zip(entry.iter().copied())
                .collect();
            let have_types = own
                .iter()
                .zip(calls)
                .all(|(member, call)| member.1.value_type() == call.1);
            let is_product =
                product.is_some_and(|product| product.value_type() == self.call.called_type());
            if members != Some(&own) || !have_types || !is_product {
                return Err(format!(
                    "`{}` is not in the entry of its members",
                    entry
                        .last()
                        .map_or_else(String::new, |product| product.name_text())
                ));
            }
        }
        let given = self.call.arguments();
        let (active, given) = given.split_at(calls.len().min(given.len()));
        let all_active = active.iter().all(|active| active.as_integer() == Some(1));
        if !all_active || !given.iter().eq(arguments.iter().flatten()) {
            return Err(fail());
        }
        let results = calls.iter().filter(|call| !call.1.return_type().is_void());
        Ok((0..)
            .zip(results)
            .map(|(field, _)| (self.call, Some(field)))
            .collect())
    }
}

/// Below what constant the entry of `cell` is known to be at a block: the comparison on the only way to it.
fn known_in_bounds(
    block: Block,
    predecessors: &HashMap<Block, Vec<(Block, usize)>>,
    cell: &Cell,
) -> Option<u64> {
    let mut block = block;
    while let Some([(from, index)]) = predecessors.get(&block).map(Vec::as_slice) {
        let condition = from.terminator().and_then(|t| t.operand(0));
        const BELOW: u32 = 36;
        let compares = condition.filter(|condition| {
            *index == 0
                && condition.is_instruction()
                && condition.opcode() == LLVMOpcode::LLVMICmp
                && condition.operation() == BELOW
                && condition.operand(0) == Some(cell.entry)
        });
        if let Some(bound) = compares.and_then(|condition| condition.operand(1)?.as_integer()) {
            return Some(bound);
        }
        block = *from;
    }
    None
}

fn not_called(call: Value) -> String {
    format!("`{}` is not what was called", call.print().trim())
}

/// What computes and touches no memory, and loads of alive flags.
fn is_harmless(instruction: Value) -> bool {
    instruction.is_terminator()
        || super::walk::is_flag_of_glue(instruction)
        || table_cell(instruction).is_some()
        || matches!(
            instruction.opcode(),
            LLVMOpcode::LLVMICmp
                | LLVMOpcode::LLVMPHI
                | LLVMOpcode::LLVMAnd
                | LLVMOpcode::LLVMOr
                | LLVMOpcode::LLVMGetElementPtr
                | LLVMOpcode::LLVMExtractValue
                | LLVMOpcode::LLVMInsertValue
        )
}

/// A member's result: a call, or a field of what a call returns.
type CallResult = (Value, Option<u32>);

fn together(
    call: Value,
    members: &[(usize, Value)],
    calls: &[(usize, Type)],
    pointers: &[Value],
    arguments: &[Vec<Value>],
    known: &HashMap<Value, Value>,
) -> Result<Vec<CallResult>, String> {
    let fail = || format!("`{}` is not what was called", call.print().trim());
    let mut rest = members.len() as u32;
    let mut results: Vec<Option<CallResult>> = vec![None; calls.len()];
    let mut called = 0;
    let mut field = 0;
    for (index, &(version, function)) in members.iter().enumerate() {
        let ty = function.value_type();
        let count = ty.parameter_types().len() as u32;
        let mine: Vec<Value> = (rest..rest + count)
            .filter_map(|i| call.operand(i))
            .collect();
        rest += count;
        let this_field = (!ty.return_type().is_void()).then_some(field);
        field += u32::from(this_field.is_some());
        let k = calls.iter().position(|(v, _)| *v == version);
        match (call.operand(index as u32).and_then(Value::as_integer), k) {
            (Some(0), None) => {}
            (Some(1), Some(k)) => {
                let good = calls[k].1 == ty
                    && mine == arguments[k]
                    && known.get(&pointers[k]) == Some(&function);
                if !good {
                    return Err(fail());
                }
                called += 1;
                results[k] = this_field.map(|field| (call, Some(field)));
            }
            _ => return Err(fail()),
        }
    }
    match called == calls.len() {
        true => Ok(results.into_iter().flatten().collect()),
        false => Err(fail()),
    }
}

/// What pointers are known to be at a block: comparisons with functions on the only way to it.
fn known_pointers(
    block: Block,
    predecessors: &HashMap<Block, Vec<(Block, usize)>>,
) -> HashMap<Value, Value> {
    let mut known = HashMap::new();
    let mut block = block;
    while let Some([(from, index)]) = predecessors.get(&block).map(Vec::as_slice) {
        let condition = from.terminator().and_then(|t| t.operand(0));
        if let (Some(condition), 0) = (condition, *index) {
            const EQUAL: u32 = 32;
            let is_equality = condition.is_instruction()
                && condition.opcode() == LLVMOpcode::LLVMICmp
                && condition.operation() == EQUAL;
            if let (true, [pointer, function]) = (is_equality, &condition.operands()[..]) {
                known.insert(*pointer, *function);
            }
        }
        block = *from;
    }
    known
}

fn check_result(all: Value, results: &[CallResult]) -> Result<(), String> {
    // All that a product function returns may be returned as it is.
    let mut fields = 0..;
    let is_whole =
        |&(call, part): &CallResult| part.is_some() && part == fields.next() && call == all;
    if results.iter().all(is_whole) {
        return Ok(());
    }
    for (field, &(call, part)) in results.iter().enumerate() {
        let mut rest = all;
        let found = loop {
            if !rest.is_instruction() || rest.opcode() != LLVMOpcode::LLVMInsertValue {
                break None;
            }
            if rest.indices() == [field as u32] {
                break rest.operand(1);
            }
            match rest.operand(0) {
                Some(next) => rest = next,
                None => break None,
            }
        };
        let good = found.is_some_and(|value| match part {
            // Undefined if the version has ended.
            None if value.is_instruction() && value.opcode() == LLVMOpcode::LLVMPHI => value
                .incoming_values()
                .into_iter()
                .all(|value| value == call || value.is_undefined()),
            None => value == call,
            Some(part) => {
                value.is_instruction()
                    && value.opcode() == LLVMOpcode::LLVMExtractValue
                    && value.operand(0) == Some(call)
                    && value.indices() == [part]
            }
        });
        if !good {
            return Err(format!(
                "result {field} of `{}` is lost",
                call.print().trim()
            ));
        }
    }
    Ok(())
}
