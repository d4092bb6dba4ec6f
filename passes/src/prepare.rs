//! **prepare**: brings every version into the same simple form.
//!
//! Input: a version's linked module. Guarantee: `optnone` is gone (it would keep later passes out), from `ssa` on
//! locals are in SSA form, and with `fold` or `O1` short-circuit conditions are folded, which checks placed
//! between them later would prevent. Function passes only: no function changes its interface. What a version does at
//! the address 0 stays: it crashes there, though LLVM may take that for impossible.

mod addresses;

use crate::llvm::{self, Module};
use crate::{Error, Result};

/// How far versions are simplified (`--prepare`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prepare {
    /// As compiled; unfolded comparisons suit coverage-guided fuzzing.
    None,
    /// SSA form, and all branches as compiled: the places of `None` in a quarter of the code.
    Ssa,
    /// SSA form and folded conditions; suits symbolic execution.
    #[default]
    Fold,
    /// LLVM's function simplification at -O1.
    O1,
}

/// Simplifies `module`.
pub(crate) fn prepare(module: &Module, level: Prepare) -> Result<()> {
    let mut optimised = Vec::new();
    for function in llvm::functions(module) {
        // Clang at -O0 would have removed nothing, neither here nor when the product is compiled.
        if !function.has_attribute("optnone") && !function.has_attribute(NULL_IS_VALID) {
            optimised.push(function);
        }
        function.remove_attribute("optnone");
        function.add_attribute(NULL_IS_VALID);
    }
    let prepared = simplify(module, level);
    for function in optimised {
        function.remove_attribute(NULL_IS_VALID);
    }
    prepared
}

/// Keeps LLVM from removing what uses the address 0, and the ways to it.
const NULL_IS_VALID: &str = "null_pointer_is_valid";

fn simplify(module: &Module, level: Prepare) -> Result<()> {
    let pipeline = match level {
        Prepare::None => return Ok(()),
        Prepare::Ssa => "function(sroa,early-cse)",
        // early-cse: a condition on memory that is read again for its second half would not fold.
        Prepare::Fold => "function(sroa,early-cse,simplifycfg,instsimplify,simplifycfg)",
        Prepare::O1 => {
            "function(sroa,early-cse,simplifycfg,instcombine,simplifycfg,reassociate,\
             loop-mssa(loop-rotate,licm),sccp,instcombine,adce,simplifycfg)"
        }
    };
    llvm::run_passes(module, pipeline).map_err(|reason| Error::internal("prepare", reason))?;
    addresses::branch_for_addresses(module);
    Ok(())
}
