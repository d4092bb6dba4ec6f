//! What the page shows of very long lines.

use super::html::escaped;
use crate::words::visible;

/// Of a line no more bytes than these are shown: those around the difference, else the first ...
pub(super) const MAX_LINE: usize = 600;
/// ... beginning so many before the difference.
pub(super) const BEFORE: usize = 120;
/// The same of commands, which have all of an input in one line.
pub(super) const MAX_COMMAND: usize = 2000;

/// The part of a line that is shown, and how much is left out before and behind it.
pub(super) struct Clip<'a> {
    pub before: usize,
    pub shown: &'a [u8],
    pub behind: usize,
}

impl<'a> Clip<'a> {
    /// At most about `max` bytes from `start` on; no character is cut in two.
    pub fn of(line: &'a [u8], start: usize, max: usize) -> Clip<'a> {
        let is_inside = |at: usize| line.get(at).is_some_and(|b| b & 0xc0 == 0x80);
        let whole = |at: usize| (at.saturating_sub(3)..=at).rev().find(|at| !is_inside(*at));
        let start = whole(start.min(line.len())).unwrap_or(start);
        let end = line.len().min(start + max);
        let end = whole(end).unwrap_or(end).max(start);
        Clip {
            before: start,
            shown: &line[start..end],
            behind: line.len() - end,
        }
    }

    /// The text between what says how much is left out.
    pub fn around(&self, text: &str) -> String {
        let left = |count: usize| match count {
            0 => String::new(),
            count => format!("<i class=\"left\">… {count} bytes …</i>"),
        };
        format!("{}{text}{}", left(self.before), left(self.behind))
    }
}

/// The beginning of a line, as it is shown.
pub(super) fn clipped(line: &[u8], max: usize) -> String {
    let clip = Clip::of(line, 0, max);
    clip.around(&escaped(&visible(clip.shown)))
}

/// The same of what is text already.
pub(super) fn clipped_text(text: &str, max: usize) -> String {
    let clip = Clip::of(text.as_bytes(), 0, max);
    clip.around(&escaped(&String::from_utf8_lossy(clip.shown)))
}
