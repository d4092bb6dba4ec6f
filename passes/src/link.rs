//! **link**: joins the modules of one version into one.
//!
//! Input: the verified modules of one version. Guarantee: one module that holds them all, with module flags
//! that cannot conflict. Duplicate definitions are the input's fault and named.

use crate::llvm::{self, Module};
use crate::{runtime, Error, Result};

/// Links `modules`, the files of the version called `name`.
pub(crate) fn link<'ctx>(modules: Vec<Module<'ctx>>, name: &str) -> Result<Module<'ctx>> {
    let mut modules = modules.into_iter();
    let whole = modules
        .next()
        .ok_or_else(|| Error::bad_input(name, "no bitcode"))?;
    runtime::check_target(&whole, name)?;
    llvm::prepare_flags(&whole);
    for module in modules {
        check_same_target(&whole, name, &module, name)?;
        llvm::prepare_flags(&module);
        llvm::link(&whole, module).map_err(|reason| Error::bad_input(name, reason))?;
    }
    Ok(whole)
}

/// Two modules that end up in one program must agree on triple and data layout.
pub(crate) fn check_same_target(
    first: &Module,
    first_name: &str,
    other: &Module,
    other_name: &str,
) -> Result<()> {
    let (a, b) = (first.get_triple(), other.get_triple());
    if a != b {
        return Err(Error::bad_input(
            other_name,
            format!(
                "target triple {} differs from {} of {first_name}",
                b.as_str().to_string_lossy(),
                a.as_str().to_string_lossy()
            ),
        ));
    }
    let (a, b) = (first.get_data_layout(), other.get_data_layout());
    if *a != *b {
        return Err(Error::bad_input(
            other_name,
            format!(
                "data layout {} differs from {} of {first_name}",
                b.as_str().to_string_lossy(),
                a.as_str().to_string_lossy()
            ),
        ));
    }
    Ok(())
}
