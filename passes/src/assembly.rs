//! Symbols in the text of assembly, of files and of single instructions (inline assembly), in AT&T's syntax.
//!
//! Not handled: macros that make symbols, and alternatives for several syntaxes (`{a|b}`), whose later ones look like
//! operands.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// What stands before an instruction's name.
const PREFIXES: [&str; 14] = [
    "addr32", "bnd", "data16", "lock", "notrack", "rep", "repe", "repne", "repnz", "repz", "rex",
    "rex64", "xacquire", "xrelease",
];

/// A word that can be a symbol.
struct Symbol {
    range: Range<usize>,
    /// Whether it is defined there: `name:`, `name = ...`, `.set name, ...`, `.comm name`.
    is_defined: bool,
}

/// The symbols that the text defines.
pub(crate) fn definitions(text: &str) -> HashSet<&str> {
    let all = symbols(text).into_iter();
    all.filter(|symbol| symbol.is_defined)
        .map(|symbol| &text[symbol.range])
        .collect()
}

/// All symbols that the text may name.
pub(crate) fn names(text: &str) -> HashSet<&str> {
    let all = symbols(text).into_iter();
    all.map(|symbol| &text[symbol.range]).collect()
}

/// The text with other names for some symbols.
pub(crate) fn rename(text: &str, renamed: &HashMap<String, String>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for Symbol { range, .. } in symbols(text) {
        if let Some(new) = renamed.get(&text[range.clone()]) {
            out.push_str(&text[end..range.start]);
            out.push_str(new);
            end = range.end;
        }
    }
    out.push_str(&text[end..]);
    out
}

fn symbols(text: &str) -> Vec<Symbol> {
    let mut found = Vec::new();
    for statement in statements(text) {
        add_statement(text, statement, &mut found);
    }
    found
}

/// Statements, each as the words in it; texts in quotes and comments have none.
fn statements(text: &str) -> Vec<Vec<Range<usize>>> {
    let mut all = vec![Vec::new()];
    let mut word: Option<usize> = None;
    let (mut quoted, mut escaped, mut comment) = (false, false, false);
    for (at, c) in text.char_indices().chain([(text.len(), '\n')]) {
        let is_in_word = !quoted && !comment && is_symbol_character(c);
        if is_in_word {
            word.get_or_insert(at);
            continue;
        }
        if let Some(start) = word.take() {
            all.last_mut().expect("never empty").push(start..at);
        }
        match c {
            '\n' => (quoted, comment) = (false, false),
            _ if escaped || comment => {}
            '"' => quoted = !quoted,
            // A comment begins with this where an operand does not.
            '#' if !quoted => comment = true,
            _ => {}
        }
        escaped = quoted && c == '\\' && !escaped;
        if c == '\n' || c == ';' && !quoted && !comment {
            all.push(Vec::new());
        }
    }
    all
}

/// Adds the symbols of a statement, given its words.
fn add_statement(text: &str, words: Vec<Range<usize>>, found: &mut Vec<Symbol>) {
    let mut words = words.into_iter().peekable();
    let follows = |word: &Range<usize>| text[word.end..].trim_start_matches([' ', '\t']);
    // Labels.
    while let Some(word) = words.next_if(|word| follows(word).starts_with(':')) {
        add(text, word, true, found);
    }
    let Some(first) = words.next() else {
        return;
    };
    if follows(&first).starts_with('=') {
        add(text, first, true, found);
    } else {
        let mut operation = &text[first];
        while PREFIXES.contains(&operation) {
            match words.next() {
                Some(next) => operation = &text[next],
                None => return,
            }
        }
        if matches!(operation, ".set" | ".equ" | ".comm" | ".lcomm") {
            if let Some(word) = words.next() {
                add(text, word, true, found);
            }
        }
    }
    for word in words {
        // Registers, and what follows a symbol: `f@PLT`, `@function`.
        if !text[..word.start].ends_with(['%', '@']) {
            add(text, word, false, found);
        }
    }
}

fn add(text: &str, word: Range<usize>, is_defined: bool, found: &mut Vec<Symbol>) {
    let whole = &text[word.clone()];
    // `$f` is its address.
    let name = whole.trim_start_matches('$');
    if name.is_empty() || name.starts_with(|c: char| c == '.' || c.is_ascii_digit()) {
        return;
    }
    found.push(Symbol {
        range: word.end - name.len()..word.end,
        is_defined,
    });
}

fn is_symbol_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn assert_renamed(text: &str, expected: &str) {
        let names = ["f", "g", "table", "add", "lock", "cpuid", "eax"];
        let renamed = names.map(|name| (name.to_string(), format!("_PP1_{name}")));
        assert_eq!(rename(text, &HashMap::from(renamed)), expected);
    }

    #[test]
    fn symbols_of_files_are_found_and_renamed() {
        let text = ".globl f\nf: call g; ret\n.set h, f\nk = 3\n.symver f,f@@V1";
        assert_eq!(definitions(text), HashSet::from(["f", "h", "k"]));
        assert_renamed(
            text,
            ".globl _PP1_f\n_PP1_f: call _PP1_g; ret\n.set h, _PP1_f\nk = 3\n.symver _PP1_f,_PP1_f@@V1",
        );
        assert_renamed(".type f, @function", ".type _PP1_f, @function");
        assert_renamed(".ascii \"f; g:\" # f", ".ascii \"f; g:\" # f");
        assert_renamed("f : g: call f", "_PP1_f : _PP1_g: call _PP1_f");
    }

    #[test]
    fn operations_and_registers_are_no_symbols() {
        assert_renamed(
            "add %eax, table(%rip)\n\tlock add $$table, f+4; cpuid",
            "add %eax, _PP1_table(%rip)\n\tlock add $$_PP1_table, _PP1_f+4; cpuid",
        );
        assert_renamed("call f@PLT\n1: jmp 1b", "call _PP1_f@PLT\n1: jmp 1b");
        assert_renamed("movl $0, ${1:x}", "movl $0, ${1:x}");
        assert_eq!(names("rep movsb; jmp add"), HashSet::from(["add"]));
        assert!(definitions("1: nop; .Llocal: nop").is_empty());
    }
}
