//! What product functions are written with and do without in the end.
//!
//! While a product function is written, every value that crosses nodes is in memory, and every node has a block of
//! its own. The checker looks at it like that; then the memory becomes SSA values, the blocks are merged and branches
//! take the form that costs least.

use super::branches;
use crate::llvm::Value;

/// A product function that has been written but not cleaned up.
pub(crate) struct Scaffold {
    pub(super) function: Value,
    /// Allocas that only loads and stores use.
    pub(super) memory: Vec<Value>,
    /// Addresses of the frame's fields; some are not used.
    pub(super) fields: Vec<Value>,
}

impl Scaffold {
    /// Brings the function into its final form.
    pub(crate) fn remove(self) {
        self.function.promote(&self.memory);
        for field in self.fields.into_iter().filter(|field| !field.has_uses()) {
            field.erase_instruction();
        }
        self.function.merge_blocks();
        branches::branch_one_by_one(self.function);
    }
}
