//! Calls of product functions and dispatchers: each stands for the next call of several versions.

use super::state::State;
use super::walk::{Log, Walk};
use crate::llvm::{Type, Value};

/// One version's part in a product call.
pub(super) struct Part {
    k: usize,
    /// What the version's own call has to call; none for a pointer, which is the first operand.
    callee: Option<Value>,
    arguments: Vec<Value>,
    pointer: Option<Value>,
    result: Option<u32>,
}

impl Walk<'_> {
    /// Whose calls a call of a product function stands for, empty for a dispatcher; none for other calls.
    pub(super) fn product_parts(
        &self,
        call: Value,
        callee: Value,
    ) -> Option<Result<Vec<Part>, String>> {
        let Some(product) = self.tables.products.get(&callee) else {
            return super::is_dispatcher_name(&callee.name_text()).then_some(Ok(Vec::new()));
        };
        let text = || call.print().trim().to_string();
        let arguments = call.arguments();
        let member_of = |version: usize| self.members.iter().position(|m| m.version == version);
        let mut rest = arguments.get(product.len()..)?;
        let mut parts = Vec::new();
        let mut result = 0;
        for (&(version, function), &active) in product.iter().zip(&arguments) {
            let count = function.parameters().len();
            if rest.len() < count {
                return Some(Err(format!("`{}` has too few arguments", text())));
            }
            let (mine, others) = rest.split_at(count);
            rest = others;
            let field = (!function.value_type().return_type().is_void()).then_some(result);
            result += u32::from(field.is_some());
            let is_active = active.is_constant().then(|| active.as_integer()).flatten();
            match (is_active, member_of(version)) {
                (Some(0), _) => {}
                (Some(1), Some(k)) => parts.push(Part {
                    k,
                    callee: Some(function),
                    arguments: mine.to_vec(),
                    pointer: None,
                    result: field,
                }),
                _ => {
                    return Some(Err(format!(
                        "`{}` activates version {}, which is not there",
                        text(),
                        version + 1
                    )))
                }
            }
        }
        Some(Ok(parts))
    }

    /// The parts of a dispatcher's call: the activation variables come first, the arguments of all, then the pointers.
    fn dispatched_parts(&self, call: Value, cursor: &[State]) -> Result<Vec<Part>, String> {
        let text = || call.print().trim().to_string();
        let count = self.members.len();
        let mut own = Vec::new();
        for (k, state) in cursor.iter().enumerate() {
            let plain = self
                .next_instruction(k, state)
                .filter(|plain| plain.is_call());
            own.push(plain.ok_or_else(|| {
                let version = self.members[k].version + 1;
                format!("`{}`, but version {version} makes no call", text())
            })?);
        }
        let wanted: usize = own
            .iter()
            .map(|plain| 2 + plain.argument_count() as usize)
            .sum();
        let all = call.arguments();
        // The record of the place may stand at the end.
        let has_record = all.len() == wanted + 1 && all[wanted].is_global();
        if all.len() != wanted && !has_record {
            return Err(format!("`{}` has too few arguments", text()));
        }
        let pointers = &all[wanted - count..wanted];
        let mut parts = Vec::new();
        let mut offset = count;
        let mut result = 0;
        for (k, plain) in own.iter().enumerate() {
            let arguments = plain.argument_count() as usize;
            let returns = !plain.called_type().return_type().is_void();
            parts.push(Part {
                k,
                callee: None,
                arguments: all[offset..offset + arguments].to_vec(),
                pointer: Some(pointers[k]),
                result: returns.then_some(result),
            });
            result += u32::from(returns);
            offset += arguments;
        }
        if let Some(dispatcher) = call.called_function() {
            let versions = self.members.iter().map(|member| member.version);
            let types: Vec<(usize, Type)> = versions
                .zip(own.iter().map(|plain| plain.called_type()))
                .collect();
            let mut dispatchers = self.tables.dispatchers.borrow_mut();
            let known = dispatchers
                .entry(dispatcher)
                .or_insert_with(|| types.clone());
            if *known != types {
                return Err(format!("`{}` dispatches calls of other types", text()));
            }
        }
        Ok(parts)
    }

    pub(super) fn match_product_call(
        &mut self,
        call: Value,
        parts: Vec<Part>,
        cursor: &mut [State],
        log: &mut Log,
    ) -> Result<(), String> {
        let text = || call.print().trim().to_string();
        let parts = match parts.is_empty() {
            true => self.dispatched_parts(call, cursor)?,
            false => parts,
        };
        for part in &parts {
            let k = part.k;
            let version = self.members[k].version + 1;
            let plain = self.next_instruction(k, &cursor[k]);
            let Some(plain) = plain.filter(|plain| plain.is_call()) else {
                return Err(format!("`{}`, but version {version} makes no call", text()));
            };
            let same_callee = match part.callee {
                Some(callee) => {
                    plain.called_function() == Some(callee)
                        && plain.called_type() == callee.value_type()
                }
                None => plain.called_function().is_none(),
            };
            let mut operands: Vec<(Value, Value)> = part
                .arguments
                .iter()
                .copied()
                .zip(plain.arguments())
                .collect();
            if let (Some(pointer), Some(called)) = (part.pointer, plain.called_operand()) {
                operands.push((pointer, called));
            }
            let same_arguments = plain.argument_count() as usize == part.arguments.len()
                && operands
                    .iter()
                    .all(|&(here, there)| self.is_plausible(here, k, there, log));
            if !same_callee || !same_arguments {
                return Err(format!(
                    "`{}` does not call what version {version} calls: `{}`",
                    text(),
                    plain.print().trim()
                ));
            }
            let product = Some((part.result, operands));
            self.commit(k, call, product, &mut cursor[k], log);
        }
        Ok(())
    }
}
