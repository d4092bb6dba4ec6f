//! Work that another thread does meanwhile, such as waiting for a compiler.
//!
//! A process limits itself while LLVM reads a file, and what it starts then has these limits, too: whatever is to
//! be read has to be read before.

use p3_passes::{Error, Result};
use std::thread::JoinHandle;

/// Work that has begun. It is waited for, whether or not anybody asks for its result: it may write where others clean
/// up.
pub(crate) struct Background<T>(Option<JoinHandle<Result<T>>>);

impl<T: Send + 'static> Background<T> {
    /// Begins.
    pub(crate) fn start(work: impl FnOnce() -> Result<T> + Send + 'static) -> Background<T> {
        Background(Some(std::thread::spawn(work)))
    }

    /// Waits for the result.
    pub(crate) fn finish(mut self) -> Result<T> {
        let panicked = || Error::internal("hunt", "a thread ended by a panic");
        let thread = self.0.take().ok_or_else(panicked)?;
        thread.join().map_err(|_| panicked())?
    }
}

impl<T> Drop for Background<T> {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::Arc;

    #[test]
    fn results_and_errors_come_back() {
        assert_eq!(Background::start(|| Ok(7)).finish().unwrap(), 7);
        let failed = Background::<()>::start(|| Err(Error::bad_input("x", "missing")));
        assert!(matches!(failed.finish(), Err(Error::BadInput { .. })));
        let broken = Background::<()>::start(|| panic!("on purpose"));
        assert!(matches!(broken.finish(), Err(Error::Internal { .. })));
    }

    #[test]
    fn what_nobody_asks_for_is_waited_for() {
        let is_done = Arc::new(AtomicBool::new(false));
        let flag = is_done.clone();
        drop(Background::start(move || {
            std::thread::sleep(std::time::Duration::from_millis(50));
            flag.store(true, Ordering::SeqCst);
            Ok(())
        }));
        assert!(is_done.load(Ordering::SeqCst));
    }
}
