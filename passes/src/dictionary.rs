//! **dictionary**: what a program compares its input with, as words for a fuzzer.
//!
//! Input: the prepared modules of all versions. Guarantee: a list of byte strings, each once; the modules stay as they
//! are. Numbers of more than a byte that something is compared with (`icmp`, `switch`) come as their bytes in both
//! orders, in the width of the comparison and as few as they need, and as decimal text; strings that functions of libc
//! compare or search for come as they are. Words that not all versions have come first: a change is tried before
//! everything else.
//! Not handled: what is compared by the program's own functions, or computed.

use crate::llvm::{self, Module, Value};
use inkwell::llvm_sys::LLVMOpcode;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Longer lists are of no use: a fuzzer takes a word at random.
const MOST_WORDS: usize = 256;
/// Longer words are not compared as a whole.
const LONGEST_WORD: usize = 64;

/// Functions of libc whose arguments are strings that are compared or searched for.
const COMPARING: [&str; 17] = [
    "bcmp",
    "memcmp",
    "memmem",
    "strcasecmp",
    "strcasestr",
    "strchr",
    "strcmp",
    "strcoll",
    "strcspn",
    "strncasecmp",
    "strncmp",
    "strpbrk",
    "strsep",
    "strspn",
    "strstr",
    "strtok",
    "strverscmp",
];

/// The words of all versions.
pub(crate) fn of(versions: &[BTreeSet<Vec<u8>>]) -> Vec<Vec<u8>> {
    let mut counts: BTreeMap<&Vec<u8>, usize> = BTreeMap::new();
    for word in versions.iter().flatten() {
        *counts.entry(word).or_default() += 1;
    }
    let (common, own): (Vec<_>, Vec<_>) = counts
        .into_iter()
        .partition(|(_, count)| *count == versions.len());
    let words = own.into_iter().chain(common).map(|(word, _)| word.clone());
    words.take(MOST_WORDS).collect()
}

/// The words of one version.
pub(crate) fn words(module: &Module) -> BTreeSet<Vec<u8>> {
    let variables = llvm::variables(module).into_iter();
    let strings: HashMap<Value, Vec<u8>> = variables
        .filter_map(|variable| Some((variable, text(variable.initializer()?.as_bytes()?))))
        .collect();
    let mut words = BTreeSet::new();
    for function in llvm::functions(module) {
        for block in function.blocks() {
            for instruction in block.instructions() {
                look_at(instruction, &strings, &mut words);
            }
        }
    }
    words.retain(|word| (2..=LONGEST_WORD).contains(&word.len()));
    words
}

fn look_at(instruction: Value, strings: &HashMap<Value, Vec<u8>>, words: &mut BTreeSet<Vec<u8>>) {
    match instruction.opcode() {
        LLVMOpcode::LLVMICmp => {
            for operand in instruction.operands() {
                add_number(operand, words);
            }
        }
        LLVMOpcode::LLVMSwitch => {
            for value in instruction.case_values() {
                add_number(value, words);
            }
        }
        LLVMOpcode::LLVMCall | LLVMOpcode::LLVMInvoke => {
            let callee = instruction.called_function();
            let compares = |callee: &Value| {
                callee.is_declaration() && COMPARING.contains(&callee.name_text().as_str())
            };
            if callee.as_ref().is_some_and(compares) {
                let operands = instruction.operands();
                words.extend(operands.iter().filter_map(|o| strings.get(o)).cloned());
            }
        }
        _ => {}
    }
}

fn add_number(value: Value, words: &mut BTreeSet<Vec<u8>>) {
    let Some(width) = value.ty().integer_width().filter(|width| *width <= 64) else {
        return;
    };
    let Some(bits) = value.as_integer() else {
        return;
    };
    let unused = 64 - width;
    let number = ((bits << unused) as i64) >> unused;
    if (-256..256).contains(&number) {
        return;
    }
    let whole = width.div_ceil(8) as usize;
    let sign = if number < 0 { 0xff } else { 0 };
    let bytes = bits.to_le_bytes();
    let needed = bytes[..whole]
        .iter()
        .rposition(|b| *b != sign)
        .map_or(1, |at| at + 1)
        .next_power_of_two();
    for size in [needed.min(whole), whole] {
        let little = bytes[..size].to_vec();
        words.insert(little.iter().rev().copied().collect());
        words.insert(little);
    }
    words.insert(number.to_string().into_bytes());
}

/// A string up to its end.
fn text(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.iter().position(|b| *b == 0);
    bytes.truncate(end.unwrap_or(bytes.len()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words_of(body: &str) -> BTreeSet<Vec<u8>> {
        let context = llvm::new_context();
        let text = format!(
            "@magic = constant [5 x i8] c\"key\\00x\"\n\
             declare i32 @strcmp(ptr, ptr)\n\
             declare i32 @own(ptr, ptr)\n\
             define void @f(i16 %s, i32 %i, i128 %w, ptr %p) {{\n{body}\n}}\n"
        );
        let module = llvm::parse(&context, text.as_bytes(), "test").unwrap();
        words(&module)
    }

    fn all(words: &[&[u8]]) -> BTreeSet<Vec<u8>> {
        words.iter().map(|word| word.to_vec()).collect()
    }

    #[test]
    fn numbers_come_in_both_orders_and_as_text() {
        let found = words_of("%c = icmp eq i32 %i, 43981\nret void");
        let little: &[u8] = b"\xcd\xab\0\0";
        let big: &[u8] = b"\0\0\xab\xcd";
        assert_eq!(
            found,
            all(&[b"\xcd\xab", b"\xab\xcd", little, big, b"43981"])
        );
        let found = words_of("%c = icmp slt i16 %s, -1000\nret void");
        assert_eq!(found, all(&[b"\x18\xfc", b"\xfc\x18", b"-1000"]));
        let found = words_of(
            "switch i16 %s, label %o [ i16 7, label %o\n i16 300, label %o ]\no:\nret void",
        );
        assert_eq!(found, all(&[b"\x2c\x01", b"\x01\x2c", b"300"]));
    }

    #[test]
    fn what_says_nothing_is_left_out() {
        let found = words_of(
            "%c = icmp eq i32 %i, 255\n%d = icmp eq i128 %w, 70000\n%e = add i32 %i, 70000\nret void",
        );
        assert_eq!(found, all(&[]));
    }

    #[test]
    fn strings_that_libc_compares_end_at_their_nul() {
        let found = words_of("%c = call i32 @strcmp(ptr %p, ptr @magic)\nret void");
        assert_eq!(found, all(&[b"key"]));
        let found = words_of("%c = call i32 @own(ptr %p, ptr @magic)\nret void");
        assert_eq!(found, all(&[]));
    }

    #[test]
    fn what_one_version_has_comes_first() {
        let versions = [all(&[b"ab", b"zz"]), all(&[b"ab", b"cd"])];
        assert_eq!(of(&versions), [b"cd", b"zz", b"ab"]);
    }
}
