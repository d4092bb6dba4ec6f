//! Specifications: what the runtime is told to evaluate is what the versions have just come to.

use crate::llvm::Value;

/// Checks every such call in a product function or continuation: before it, in its block, each version named in its
/// `struct p3_meeting` has reached its place, in order and last.
pub(super) fn check(function: Value) -> Result<(), String> {
    for block in function.blocks() {
        let mut reached: Vec<Value> = Vec::new();
        for call in block.instructions().into_iter().filter(|i| i.is_call()) {
            let name = call.called_function().map(Value::name_text);
            match name.as_deref() {
                Some("p3_spec_reached") => reached.extend(call.operand(0)),
                Some("p3_spec_evaluate") => {
                    let places = call.operand(0).and_then(places).unwrap_or_default();
                    let last = reached.len().checked_sub(places.len());
                    if places.is_empty() || last.is_none_or(|last| reached[last..] != places) {
                        let text = call.print();
                        return Err(format!("`{}` is not where versions are", text.trim()));
                    }
                    reached.clear();
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// The places of a meeting.
fn places(meeting: Value) -> Option<Vec<Value>> {
    let all = meeting
        .is_global()
        .then(|| meeting.initializer())??
        .element(3)?;
    let list = (0..all.ty().array_length()).filter_map(|i| all.element(i));
    Some(list.filter(|place| !place.is_null()).collect())
}
