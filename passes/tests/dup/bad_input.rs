//! What cannot be copied is named, with the reason.

use crate::tools::Scratch;
use p3_passes::dup::{duplicate, symbols, Options};
use p3_passes::Error;
use std::collections::HashMap;
use std::fs;

/// Tries to copy the file and returns the message, less the directory's name.
fn message(scratch: &Scratch, file: &str, prefix: &str, undefined: &[(&str, &str)]) -> String {
    let path = scratch.path(file);
    let data = fs::read(&path).unwrap();
    let undefined_map: HashMap<_, _> = undefined
        .iter()
        .map(|(old, new)| (old.as_bytes().to_vec(), new.as_bytes().to_vec()))
        .collect();
    let options = Options {
        prefix,
        undefined_map: &undefined_map,
    };
    let error = duplicate(&data, path.to_str().unwrap(), options).unwrap_err();
    assert!(matches!(error, Error::BadInput { .. }));
    let directory = scratch.path("");
    error.to_string().replace(directory.to_str().unwrap(), "")
}

#[test]
fn files_of_other_kinds_are_named() {
    let scratch = Scratch::new();
    scratch.write("m.c", "int main(void) { return 0; }");
    scratch.run("clang-16 -c m.c -o m.o");
    scratch.run("clang-16 -emit-llvm -c m.c -o bitcode.o");
    scratch.run("clang-16 m.c -o pie");
    scratch.run("clang-16 -no-pie m.c -o static");
    scratch.run("clang-16 -static-pie m.c -o static-pie");
    scratch.run("clang-16 -shared -fPIC m.c -o lib.so");
    scratch.run("clang-16 --target=x86_64-apple-macos -c m.c -o macho.o");
    scratch.run("clang-16 --target=x86_64-windows -c m.c -o coff.o");
    scratch.run("clang-16 --target=wasm32 -c m.c -o wasm.o");
    scratch.run("gcc -flto -c m.c -o slim.o");
    scratch.run("llvm-ar-16 rcs bitcode.a m.o bitcode.o");
    scratch.run("ar rcs slim.a slim.o");
    scratch.run("ar rcs nested.a bitcode.a");
    scratch.run("ar rcs text.a m.c");
    scratch.run("llvm-ar-16 rcsT thin.a m.o");
    scratch.run("rm m.o");
    scratch.write("empty.o", "");
    scratch.run("ar rcs empty.a empty.o");
    scratch.write("magic", b"\x7fELF");
    scratch.write("text", "hello\n");
    scratch.write("script.a", "/* GNU ld script */\nGROUP ( libm-2.36.a )\n");
    scratch.write("tail.a", "!<arch>\nand then\n");

    let expected = [
        ("empty.o", "is empty"),
        ("text", "is not an ELF object or archive"),
        ("script.a", "is a linker script, not an object or archive: give the library that it names"),
        ("bitcode.o", "is LLVM bitcode, not a native object: merge it as bitcode"),
        ("pie", "is an ELF position-independent executable, not a relocatable object"),
        ("static-pie", "is an ELF position-independent executable, not a relocatable object"),
        ("static", "is an ELF executable, not a relocatable object"),
        ("lib.so", "is an ELF shared library, not a relocatable object"),
        ("macho.o", "is a MachO64 file, not an ELF object or archive"),
        ("coff.o", "is a Coff file, not an ELF object or archive"),
        ("wasm.o", "is a Wasm file, not an ELF object or archive"),
        (
            "slim.o",
            "is a GCC link-time-optimisation object without machine code: compile it with -ffat-lto-objects",
        ),
        ("magic", "is a truncated or damaged ELF file"),
        ("tail.a", "is a truncated or damaged archive: no member at byte 8"),
        ("bitcode.a(bitcode.o)", "is LLVM bitcode, not a native object: merge it as bitcode"),
        (
            "slim.a(slim.o)",
            "is a GCC link-time-optimisation object without machine code: compile it with -ffat-lto-objects",
        ),
        ("nested.a(bitcode.a)", "is an archive inside an archive"),
        ("text.a(m.c)", "is not an ELF object or archive"),
        ("empty.a(empty.o)", "is empty"),
        (
            "thin.a",
            "is a thin archive whose member `m.o` cannot be read: No such file or directory",
        ),
    ];
    for (file, reason) in expected {
        let (path, _) = file.split_once('(').unwrap_or((file, ""));
        assert_eq!(
            message(&scratch, path, "p_", &[]),
            format!("{file}: {reason}")
        );
    }
}

#[test]
fn every_truncation_of_an_object_is_noticed() {
    let scratch = Scratch::new();
    let path = scratch.c("m.o", "int common; int f(void) { return common++; }");
    let whole = fs::read(path).unwrap();
    for length in 0..whole.len() {
        let error = symbols(&whole[..length], "m.o").unwrap_err();
        assert!(matches!(error, Error::BadInput { .. }), "{length}");
    }
}

#[test]
fn options_that_make_no_sense_are_refused() {
    let scratch = Scratch::new();
    scratch.c("m.o", "int p_f(void); int f(void) { return p_f(); }");
    assert_eq!(
        message(&scratch, "m.o", "p_", &[]),
        "m.o: refers to the undefined symbol `p_f`, which would be the new name of its own `f`; \
         choose another prefix"
    );
    for prefix in ["", "1", "a.b", "a@"] {
        assert_eq!(
            message(&scratch, "m.o", prefix, &[]),
            format!("m.o: cannot be copied with the prefix `{prefix}`: a prefix is a C identifier")
        );
    }
    assert_eq!(
        message(&scratch, "m.o", "q_", &[("p_f", "")]),
        "m.o: cannot refer to a symbol named ``"
    );
}
