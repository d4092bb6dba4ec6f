//! The user's wish that the work ends before it is done, in a process that ends it in good order.
//!
//! Without [`expect`] nothing here has any effect: signals end the process.

use crate::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};

static EXPECTED: AtomicBool = AtomicBool::new(false);
static REQUESTED: AtomicBool = AtomicBool::new(false);

/// From now on somebody will call [`request`] if the user wants the work to end: what is started keeps away from the
/// signals of the terminal.
pub fn expect() {
    EXPECTED.store(true, Ordering::Relaxed);
}

/// Whether somebody will.
pub(crate) fn is_expected() -> bool {
    EXPECTED.load(Ordering::Relaxed)
}

/// The work is to end. May be called in a signal handler.
pub fn request() {
    REQUESTED.store(true, Ordering::Relaxed);
}

/// Whether it is.
pub fn is_requested() -> bool {
    REQUESTED.load(Ordering::Relaxed)
}

/// An error if it is.
pub fn check() -> Result<()> {
    match is_requested() {
        true => Err(Error::bad_input("p3-ir", "interrupted")),
        false => Ok(()),
    }
}
