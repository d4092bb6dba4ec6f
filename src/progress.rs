//! One line on a terminal that says what is being done; nothing elsewhere.

use indicatif::{ProgressBar, ProgressStyle};

/// A line that disappears when this is dropped.
///
/// It is drawn only when something has been done, never by a thread of its own: meanwhile standard error may
/// belong to LLVM.
pub struct Progress(ProgressBar);

impl Progress {
    /// Shows the name of the work.
    pub fn new(work: &'static str) -> Progress {
        let bar = ProgressBar::new_spinner();
        let style = ProgressStyle::with_template("{spinner} {prefix} {wide_msg} {elapsed}");
        if let Ok(style) = style {
            bar.set_style(style);
        }
        bar.set_prefix(work);
        bar.tick();
        Progress(bar)
    }

    /// Shows what was finished last.
    pub fn done(&self, step: &str) {
        self.0.set_message(step.to_string());
        self.0.tick();
    }

    /// Prints a line above.
    pub fn say(&self, line: &str) {
        self.0.suspend(|| eprintln!("{line}"));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
