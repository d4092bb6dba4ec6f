//! What a sanitizer says about a crash: its kind, and where in the program's source it happened.

use crate::place::Place;
use regex::Regex;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

/// A sanitizer's report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SanitizerReport {
    /// As in `heap-buffer-overflow`, or what undefined behaviour there was.
    pub kind: String,
    /// The sanitizer's own line, without process numbers and addresses.
    pub line: String,
    /// The innermost place in a source file of the program.
    pub place: Option<Place>,
    /// The innermost function of the program.
    pub function: Option<String>,
    /// Everything that it said.
    pub text: String,
}

static FIRST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?m)^(?:==\d+==)?(?:ERROR|WARNING): (?:\w+Sanitizer): (?P<kind>[\w-]+).*$")
});
static UNDEFINED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"(?m)^(?P<file>[^\n:]+):(?P<line>\d+):(?P<column>\d+): runtime error: (?P<what>.*)$")
});
static FRAME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?m)^ *#\d+ 0x[0-9a-f]+ in (?P<function>\S+) (?P<file>/?[^\s():]+):(?P<line>\d+)(?::(?P<column>\d+))?",
    )
});
static ACCESS: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?m)^(?:READ|WRITE) of size \d+"));
/// What is another in each run: process numbers and addresses.
static NOISE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^==\d+==| on (?:unknown )?address .*| ?\(?\b0x[0-9a-f]+.*"));
/// Frames of the sanitizer itself.
const OWN: [&str; 4] = ["__interceptor_", "__asan", "__sanitizer", "__ubsan"];
const OWN_FILES: [&str; 3] = ["compiler-rt/", "sysdeps/", "/csu/"];
/// Functions by which a program ends itself: what matters is who calls them. Where libc has debug info, their frames have
/// places, too.
const ENDS: [&str; 9] = [
    "abort",
    "raise",
    "gsignal",
    "pthread_kill",
    "__pthread_kill",
    "__pthread_kill_implementation",
    "__pthread_kill_internal",
    "__assert_fail",
    "__assert_fail_base",
];

fn pattern(text: &str) -> Regex {
    // All patterns are constants that the tests use.
    Regex::new(text).unwrap_or_else(|e| unreachable!("{e}"))
}

impl SanitizerReport {
    /// Reads a report; none if the text has none in it.
    pub fn parse(text: &str) -> Option<SanitizerReport> {
        if let Some(found) = FIRST.captures(text) {
            let rest = &text[found.get(0)?.start()..];
            let line = rest.lines().next().unwrap_or_default();
            let mut line = NOISE.replace_all(line, "").trim().to_string();
            if let Some(access) = ACCESS.find(rest) {
                line = format!("{line}, {}", access.as_str());
            }
            let (place, function) = innermost(rest);
            return Some(SanitizerReport {
                kind: found["kind"].to_string(),
                line,
                place,
                function,
                text: text.to_string(),
            });
        }
        let found = UNDEFINED.captures(text)?;
        let what = NOISE.replace_all(&found["what"], "").trim().to_string();
        let (_, function) = innermost(&text[found.get(0)?.start()..]);
        Some(SanitizerReport {
            kind: undefined_kind(&what),
            line: format!("runtime error: {what}"),
            place: Some(Place::new(&found["file"], found["line"].parse().ok()?)),
            function,
            text: text.to_string(),
        })
    }
}

/// What follows the first colon has the values of this run in it.
fn undefined_kind(what: &str) -> String {
    let kind = what.split(':').next().unwrap_or(what);
    let words = kind.split_whitespace();
    let words: Vec<&str> = words
        .filter(|w| !w.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    words.join(" ")
}

/// Of the first stack, the first frame that is not the sanitizer's or libc's.
fn innermost(text: &str) -> (Option<Place>, Option<String>) {
    let stack = text.split("\n\n").next().unwrap_or(text);
    for frame in FRAME.captures_iter(stack) {
        let is_own = OWN
            .iter()
            .any(|prefix| frame["function"].starts_with(prefix))
            || OWN_FILES.iter().any(|part| frame["file"].contains(part))
            || ENDS.contains(&frame["function"].split('@').next().unwrap_or_default());
        if is_own {
            continue;
        }
        let line = frame["line"].parse().unwrap_or_default();
        let place = Place::new(&frame["file"], line);
        return (Some(place), Some(frame["function"].to_string()));
    }
    (None, None)
}

/// The variables under which sanitizers write to `log` instead of standard error, and go on as little as
/// possible after a report.
pub fn variables(log: &Path) -> Vec<(&'static str, OsString)> {
    let mut log_path = OsString::from("log_path=");
    log_path.push(log);
    let with = |options: &str| {
        let mut text = log_path.clone();
        text.push(options);
        text
    };
    let mut variables = vec![
        (
            "ASAN_OPTIONS",
            // An abort has a place, too.
            with(":detect_leaks=0:allocator_may_return_null=1:handle_abort=1:exitcode=86"),
        ),
        (
            "UBSAN_OPTIONS",
            with(":print_stacktrace=1:halt_on_error=1:exitcode=86"),
        ),
    ];
    if let Some(symbolizer) = symbolizer() {
        variables.push(("ASAN_SYMBOLIZER_PATH", symbolizer.clone().into()));
        variables.push(("UBSAN_SYMBOLIZER_PATH", symbolizer.into()));
    }
    variables
}

/// Debian calls it by another name than the sanitizers look for.
pub(crate) fn symbolizer() -> Option<PathBuf> {
    let path = PathBuf::from("/usr/lib/llvm-16/bin/llvm-symbolizer");
    path.is_file().then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASAN: &str = "\
=================================================================
==12==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000014 at pc 0x55 bp 0x7f sp 0x7e
WRITE of size 1 at 0x602000000014 thread T0
    #0 0x7f00 in __interceptor_memcpy /build/compiler-rt/lib/asan/x.cpp:10:3
    #1 0x55aa in copy /src/old.c:6:10
    #2 0x55ab in main /src/old.c:14:3

0x602000000014 is located 0 bytes to the right of 4-byte region
    #0 0x77 in malloc (prog+0x77)
    #1 0x55ac in main /src/old.c:12:3
";

    #[test]
    fn an_overflow() {
        let report = SanitizerReport::parse(ASAN).unwrap();
        assert_eq!(report.kind, "heap-buffer-overflow");
        assert_eq!(
            report.line,
            "ERROR: AddressSanitizer: heap-buffer-overflow, WRITE of size 1"
        );
        assert_eq!(report.place, Some(Place::new("/src/old.c", 6)));
        assert_eq!(report.function.as_deref(), Some("copy"));
    }

    #[test]
    fn an_abort_is_where_it_is_called() {
        let text = "\
==7==ERROR: AddressSanitizer: ABRT on unknown address 0x0000000013a1 (pc 0x7f bp 0x1 sp 0x7f T0)
    #0 0x7f42 in __pthread_kill_implementation nptl/./nptl/pthread_kill.c:44:76
    #1 0x7f43 in raise signal/../sysdeps/posix/raise.c:26:13
    #2 0x7f44 in abort stdlib/./stdlib/abort.c:79:7
    #3 0x55e1 in three /src/new.c:6:3
    #4 0x55e2 in main /src/new.c:9:3
";
        let report = SanitizerReport::parse(text).unwrap();
        assert_eq!(report.line, "ERROR: AddressSanitizer: ABRT");
        assert_eq!(report.place, Some(Place::new("/src/new.c", 6)));
        assert_eq!(report.function.as_deref(), Some("three"));
    }

    #[test]
    fn undefined_behaviour() {
        let text = "a.c:3:7: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'\n    #0 0x55 in f /src/a.c:3:7\n";
        let report = SanitizerReport::parse(text).unwrap();
        assert_eq!(report.kind, "signed integer overflow");
        assert_eq!(report.place, Some(Place::new("a.c", 3)));
        assert_eq!(report.function.as_deref(), Some("f"));
    }

    #[test]
    fn other_output_is_none() {
        assert!(SanitizerReport::parse("error: 3:4: no such file\n").is_none());
    }
}
