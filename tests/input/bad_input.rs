//! What cannot be merged: exit status 2 (3 for what is valid but unsupported), one line on stderr that names
//! the file and the reason, and no output file.

use crate::tools::{Scratch, HELPER};
use std::fs;
use std::process::{Command, Output};

/// The merge answered with this status and this one line, and left nothing behind.
#[track_caller]
fn refused(scratch: &Scratch, output: &Output, status: i32, line: &str) {
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stderr, format!("p3-ir: {line}\n"));
    assert_eq!(output.status.code(), Some(status), "{stderr}");
    assert!(output.stdout.is_empty(), "{output:?}");
    for entry in fs::read_dir(scratch.directory()).unwrap() {
        let name = entry.unwrap().file_name();
        let name = name.to_string_lossy();
        assert!(
            name != "product.bc" && !name.starts_with(".p3-ir"),
            "{name}"
        );
    }
}

/// Both as the first and as the second version.
#[track_caller]
fn bad(scratch: &Scratch, version: &str, line: &str) {
    let good = "main.bc+helper.bc";
    for versions in [[version, good], [good, version]] {
        let output = scratch.merge(&[&versions[..], &["-o", "product.bc"]].concat());
        refused(scratch, &output, 2, line);
    }
}

#[test]
fn files_that_are_not_there_or_not_files() {
    let scratch = Scratch::with_program();
    scratch.write("empty.bc", "");
    scratch.sh("mkdir directory");
    bad(
        &scratch,
        "missing.bc",
        "missing.bc: No such file or directory",
    );
    bad(
        &scratch,
        "main.bc+missing.bc",
        "missing.bc: No such file or directory",
    );
    bad(&scratch, "empty.bc", "empty.bc: empty file");
    bad(&scratch, "directory", "directory: is a directory");
    bad(&scratch, "main.bc/x", "main.bc/x: Not a directory");
    bad(&scratch, "", "'': an empty file name");
    bad(&scratch, "main.bc+", "'': an empty file name");
    bad(
        &scratch,
        "new\nline",
        "new\\nline: No such file or directory",
    );
}

#[test]
fn files_of_other_kinds() {
    let scratch = Scratch::with_program();
    let unknown = "neither bitcode, LLVM assembly, an ELF file nor an archive";
    scratch.write(
        "noise",
        (0..100_000u32)
            .map(|i| (i.wrapping_mul(i) >> 3) as u8)
            .collect::<Vec<u8>>(),
    );
    bad(&scratch, "main.c", &format!("main.c: {unknown}"));
    bad(&scratch, "noise", &format!("noise: {unknown}"));
    bad(&scratch, "/dev/zero", &format!("/dev/zero: {unknown}"));
    bad(&scratch, "/dev/null", "/dev/null: empty file");

    scratch.write("main.exe", b"MZ\x90\0");
    bad(&scratch, "main.exe", &format!("main.exe: {unknown}"));
    scratch.sh("clang-16 --target=x86_64-apple-darwin -c helper.c -o helper.macho");
    let output = scratch.self_merge("helper.macho");
    let line = "helper.macho: unsupported: Mach-O file (p3-ir reads ELF files)";
    refused(&scratch, &output, 3, line);
}

#[test]
fn assembly_with_errors() {
    let scratch = Scratch::with_program();
    scratch.write("typo.ll", "define i32 @main() {\n  foo\n}\n");
    scratch.write("words.ll", "These are words.\n");
    scratch.write("unterminated.ll", "define i32 @main() {\n  ret i32 0\n");
    scratch.write(
        "invalid.ll",
        "define i32 @main() {\n  %a = add i32 %b, 1\n  %b = add i32 %a, 1\n  ret i32 %b\n}\n",
    );
    bad(
        &scratch,
        "typo.ll",
        "typo.ll:2:3: expected instruction opcode",
    );
    bad(
        &scratch,
        "words.ll",
        "words.ll:1:1: expected top-level entity",
    );
    bad(
        &scratch,
        "unterminated.ll",
        "unterminated.ll:3:1: found end of file when expecting more instructions",
    );
    bad(
        &scratch,
        "invalid.ll",
        "invalid.ll: invalid IR: Instruction does not dominate all uses!; \
         %b = add i32 %a, 1; %a = add i32 %b, 1",
    );
}

#[test]
fn damaged_bitcode() {
    let scratch = Scratch::with_program();
    let bitcode = scratch.read("main.bc");
    scratch.write("half.bc", &bitcode[..bitcode.len() / 2]);
    scratch.write("magic.bc", &bitcode[..4]);
    let cut = bitcode.len() / 2;
    let block = u32::from_le_bytes(bitcode[36..40].try_into().unwrap()) * 4 + 8;
    bad(
        &scratch,
        "half.bc",
        &format!(
            "half.bc: truncated bitcode: the block at byte 32 is {block} bytes long, but only {} are left",
            cut - 32
        ),
    );
    bad(
        &scratch,
        "magic.bc",
        "magic.bc: truncated bitcode: 4 bytes and no block",
    );
    // Behind the module block stand the names.
    scratch.write("nameless.bc", &bitcode[..32 + block as usize]);
    let output = scratch.self_merge("nameless.bc");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        stderr.starts_with("p3-ir: nameless.bc: damaged bitcode: "),
        "{stderr}"
    );
    refused(&scratch, &output, 2, stderr["p3-ir: ".len()..].trim_end());
}

#[test]
fn bitcode_of_a_newer_llvm() {
    let scratch = Scratch::with_program();
    let bitcode = scratch.read("main.bc");
    let newer = replace_bits(&bitcode[..64], b"LLVM16", b"LLVM99");
    scratch.write("newer.bc", [&newer, &bitcode[64..]].concat());
    let dumped = scratch.sh("llvm-bcanalyzer-16 --dump newer.bc | grep 'record string'");
    let producer = dumped.split('\'').nth(1).unwrap();
    assert!(producer.starts_with("LLVM99"), "{dumped}");
    bad(
        &scratch,
        "newer.bc",
        &format!("newer.bc: bitcode of a newer LLVM ({producer}); this p3-ir reads up to LLVM 16"),
    );
}

/// Replaces the only occurrence of `old`, at any bit position, by `new` of the same length. LLVM packs the
/// producer as characters of six bits, lowest bit first.
fn replace_bits(data: &[u8], old: &[u8], new: &[u8]) -> Vec<u8> {
    const ALPHABET: &[u8] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";
    let bits = |bytes: &[u8], width: usize| -> Vec<bool> {
        let each = bytes
            .iter()
            .flat_map(|byte| (0..width).map(move |i| byte >> i & 1 == 1));
        each.collect()
    };
    let packed = |text: &[u8]| {
        let index = |c: &u8| ALPHABET.iter().position(|a| a == c).unwrap() as u8;
        bits(&text.iter().map(index).collect::<Vec<u8>>(), 6)
    };
    let (mut all, old, new) = (bits(data, 8), packed(old), packed(new));
    let at = all
        .windows(old.len())
        .position(|w| w == old)
        .expect("a producer");
    all.splice(at..at + old.len(), new);
    let byte = |bits: &[bool]| bits.iter().rev().fold(0, |v, bit| v << 1 | u8::from(*bit));
    all.chunks(8).map(byte).collect()
}

#[test]
fn files_of_the_other_kinds_without_bitcode() {
    let scratch = Scratch::with_program();
    scratch.sh(
        "clang-16 -c helper.c && clang-16 -c -fembed-bitcode=marker helper.c -o marker.o
         ar rc native.a helper.o && llvm-ar-16 rc empty.a && head -c 300 helper.o > cut.o
         ar rc cut.a helper.o && truncate -s -100 cut.a
         clang-16 -fembed-bitcode=all main.c helper.c -o embedded
         : > list && llvm-objcopy-16 --add-section .llvm_bc=list helper.o unlisted.o
         head -c 1500 main.bc > part && llvm-objcopy-16 --add-section .llvmbc=part helper.o part.o",
    );
    let none = "without bitcode (no section .llvm_bc, .llvmbc or .llvm.lto)";
    bad(&scratch, "helper.o", &format!("helper.o: ELF file {none}"));
    bad(&scratch, "/bin/sh", &format!("/bin/sh: ELF file {none}"));
    bad(
        &scratch,
        "marker.o",
        "marker.o: ELF file with a bitcode marker only (compile with -fembed-bitcode=all)",
    );
    bad(
        &scratch,
        "unlisted.o",
        "unlisted.o: ELF file whose section .llvm_bc is empty",
    );
    bad(&scratch, "native.a", "native.a: archive without bitcode");
    bad(&scratch, "empty.a", "empty.a: archive without members");
    bad(
        &scratch,
        "cut.o",
        "cut.o: damaged ELF file: Invalid ELF section header offset/size/alignment",
    );
    bad(
        &scratch,
        "cut.a",
        "cut.a: truncated archive: member helper.o passes its end",
    );
    let output = scratch.self_merge("part.o");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        stderr.starts_with("p3-ir: part.o(.llvmbc): truncated bitcode: "),
        "{stderr}"
    );
}

#[test]
fn listed_bitcode_that_cannot_be_used() {
    let scratch = Scratch::with_program();
    let listing = |name: &str, list: &str| {
        scratch.write("list", list);
        scratch.sh(&format!(
            "clang-16 -c helper.c && llvm-objcopy-16 --add-section .llvm_bc=list helper.o {name}"
        ));
    };
    listing("gone.o", "main.bc\n/gone/helper.bc\n");
    listing("self.o", "self.o\n");
    listing("there.o", "back.o\n");
    listing("back.o", "main.bc\nthere.o\n");
    listing("pipe.o", "/dev/stdin\n");
    listing("native.o", "helper.o\n");
    bad(
        &scratch,
        "gone.o",
        "/gone/helper.bc (listed in gone.o): No such file or directory",
    );
    bad(
        &scratch,
        "self.o",
        "self.o (listed in self.o): names itself",
    );
    bad(
        &scratch,
        "there.o",
        "there.o (listed in back.o (listed in there.o)): names itself",
    );
    bad(
        &scratch,
        "pipe.o",
        "/dev/stdin (listed in pipe.o): not a regular file",
    );
    bad(
        &scratch,
        "native.o",
        "helper.o (listed in native.o): ELF file without bitcode (no section .llvm_bc, .llvmbc or .llvm.lto)",
    );
    for i in 0..40 {
        listing(&format!("chain{i}.o"), &format!("chain{}.o\n", i + 1));
    }
    let output = scratch.self_merge("chain0.o");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        stderr.ends_with("more than 16 files that list each other\n"),
        "{stderr}"
    );
    refused(&scratch, &output, 2, stderr["p3-ir: ".len()..].trim_end());
}

#[test]
fn thin_archives_whose_members_are_gone_or_themselves() {
    let scratch = Scratch::with_program();
    scratch.sh("cp main.bc gone.bc && llvm-ar-16 rc --thin thin.a gone.bc && rm gone.bc");
    bad(
        &scratch,
        "thin.a",
        "thin.a(gone.bc): No such file or directory",
    );
    scratch.sh("cp main.bc self.a && llvm-ar-16 rc --thin loop.a self.a && mv loop.a self.a");
    bad(&scratch, "self.a", "self.a(self.a): names itself");
}

#[test]
fn targets_that_differ() {
    let scratch = Scratch::with_program();
    scratch.sh(
        "clang-16 --target=i386-linux-gnu -c -emit-llvm helper.c -o i386.bc
         clang-16 --target=x86_64-linux-musl -c -emit-llvm helper.c -o musl.bc
         clang-16 --target=aarch64-linux-gnu -c -emit-llvm helper.c -o arm.bc
         llvm-dis-16 helper.bc -o - | sed 's/-S128\"/-S64\"/' > layout.ll",
    );
    let x86_64 = "x86_64-pc-linux-gnu";
    let output = scratch.merge(&["main.bc+helper.bc", "i386.bc", "-o", "product.bc"]);
    let line =
        format!("i386.bc: target triple i386-unknown-linux-gnu differs from {x86_64} of main.bc");
    refused(&scratch, &output, 2, &line);
    bad(
        &scratch,
        "main.bc+musl.bc",
        &format!(
            "musl.bc: target triple x86_64-unknown-linux-musl differs from {x86_64} of main.bc"
        ),
    );
    let output = scratch.merge(&["main.bc+layout.ll", "main.bc+helper.bc"]);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        stderr.starts_with("p3-ir: layout.ll: data layout e-m:e-"),
        "{stderr}"
    );
    assert!(stderr.contains("-S64 differs from e-m:e-"), "{stderr}");
    assert!(stderr.ends_with("-S128 of main.bc\n"), "{stderr}");
    assert_eq!(output.status.code(), Some(2));

    let line = "arm.bc: unsupported: target aarch64-unknown-linux-gnu (the runtime is built for x86_64 Linux)";
    refused(&scratch, &scratch.self_merge("arm.bc"), 3, line);
    scratch.write(
        "foreign.ll",
        "target datalayout = \"e-p:32:32\"\ntarget triple = \"x86_64-pc-linux-gnu\"\n\
         define i32 @main() {\n  ret i32 0\n}\n",
    );
    let line = "foreign.ll: unsupported: data layout e-p:32:32 (the runtime is built for \
                e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128)";
    refused(&scratch, &scratch.self_merge("foreign.ll"), 3, line);
}

#[test]
fn processors_that_llvm_does_not_know() {
    let scratch = Scratch::with_program();
    scratch.sh("llvm-dis-16 helper.bc
         sed 's/\"target-cpu\"=\"[^\"]*\"/\"target-cpu\"=\"x80-64\"/' helper.ll > cpu.ll
         sed 's/+cx8/-64bit/' helper.ll > mode.ll");
    let reason =
        "function 'helper' is for a processor that LLVM does not know or that has no 64-bit mode";
    bad(&scratch, "cpu.ll", &format!("cpu.ll: {reason}"));
    bad(&scratch, "mode.ll", &format!("mode.ll: {reason}"));
}

#[test]
fn entry_functions_that_are_missing() {
    let scratch = Scratch::with_program();
    scratch.write(
        "uses.c",
        "int main(int, char **); int f(void) { return main(0, 0); }",
    );
    scratch.write("variable.c", "int entry = 1;");
    scratch.sh("clang-16 -c -emit-llvm uses.c variable.c");
    bad(&scratch, "helper.bc", "helper.bc: no entry function 'main'");
    bad(
        &scratch,
        "uses.bc",
        "uses.bc: entry function 'main' is not defined",
    );
    let copy = "define available_externally i32 @main() {\n  ret i32 0\n}\n";
    scratch.write("copy.ll", copy);
    bad(
        &scratch,
        "copy.ll",
        "copy.ll: entry function 'main' is not defined",
    );
    let arguments = [
        "variable.bc",
        "variable.bc",
        "--entry",
        "entry",
        "-o",
        "product.bc",
    ];
    let line = "variable.bc: 'entry' is not a function";
    refused(&scratch, &scratch.merge(&arguments), 2, line);
}

#[test]
fn definitions_that_clash() {
    let scratch = Scratch::with_program();
    scratch.write("again.c", "int helper = 1;");
    scratch.sh("clang-16 -c -emit-llvm again.c && llvm-ar-16 rc lib.a helper.bc main.bc");
    bad(
        &scratch,
        "main.bc+helper.bc+again.bc",
        "again.bc: 'helper' is defined here and in helper.bc",
    );
    bad(
        &scratch,
        "lib.a+main.bc",
        "main.bc: 'main' is defined here and in lib.a(main.bc)",
    );
    let name = "n".repeat(1 << 20);
    scratch.write("long.ll", format!("@{name} = global i32 0\n"));
    let line = format!(
        "long.ll: '{} ...' is defined here and in long.ll",
        &name[..200]
    );
    bad(&scratch, "long.ll+long.ll", &line);
}

#[test]
fn standard_input_twice() {
    let scratch = Scratch::with_program();
    let line = "standard input: given more than once, but it can be read once only";
    for versions in [["-", "-"], ["main.bc+-", "helper.bc+-"], ["main.bc", "-+-"]] {
        let arguments = ["-o", "product.bc", "--", versions[0], versions[1]];
        refused(&scratch, &scratch.merge(&arguments), 2, line);
    }
    let output = scratch.merge(&["-", "main.bc+helper.bc", "-o", "product.bc"]);
    refused(&scratch, &output, 2, "standard input: empty file");
}

#[test]
fn too_few_and_too_many_versions() {
    let scratch = Scratch::with_program();
    for count in [0, 1, 17] {
        let output = scratch.merge(&vec!["main.bc+helper.bc"; count]);
        assert_eq!(output.status.code(), Some(2), "{count} versions");
        assert!(!scratch.path("product.bc").exists());
    }
}

#[test]
fn output_paths_that_cannot_be_written() {
    let scratch = Scratch::with_program();
    scratch
        .sh("mkdir directory && ln -s nowhere/product.bc dangling && ln -s directory to_directory");
    let cases = [
        ("missing/product.bc", "No such file or directory"),
        ("directory", "is a directory"),
        ("to_directory", "is a directory"),
        ("directory/", "is a directory"),
        ("main.bc/product.bc", "Not a directory"),
        ("dangling", "No such file or directory"),
        ("/dev/full", "No space left on device"),
        ("/proc/product.bc", "No such file or directory"),
    ];
    let version = "main.bc+helper.bc";
    for (path, reason) in cases {
        let line = format!("{path}: cannot write: {reason}");
        let output = scratch.merge(&[version, version, "-o", path]);
        refused(&scratch, &output, 2, &line);
        // The product does not appear without its report.
        let output = scratch.merge(&[version, version, "-o", "product.bc", "--report", path]);
        refused(&scratch, &output, 2, &line);
    }
    assert_eq!(fs::read_dir(scratch.path("directory")).unwrap().count(), 0);
}

#[test]
fn output_that_was_there_before_survives_a_failure() {
    let scratch = Scratch::with_program();
    scratch.write("old.bc", "old");
    let output = scratch.merge(&["main.bc", "missing.bc", "-o", "old.bc"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(scratch.read("old.bc"), b"old");

    // Links are followed, inputs may be replaced by the product.
    scratch.sh("ln -s old.bc link.bc && llvm-link-16 main.bc helper.bc -o all.bc");
    let output = scratch.merge(&["all.bc", "all.bc", "-o", "link.bc"]);
    assert!(output.status.success(), "{output:?}");
    scratch.sh("test -L link.bc && llvm-dis-16 old.bc -o /dev/null");
    let output = scratch.merge(&["all.bc", "all.bc", "-o", "all.bc"]);
    assert!(output.status.success(), "{output:?}");
    assert_ne!(scratch.functions("old.bc").len(), 2);
}

#[test]
fn assembly_that_crashes_the_reader_is_bad_input() {
    let scratch = Scratch::with_program();
    let depth = 300_000;
    let deep = format!(
        "@g = external global {}i8{}\n",
        "[1 x ".repeat(depth),
        "]".repeat(depth)
    );
    scratch.write("deep.ll", deep);
    // With a stack as large as one may wish the reader gets through.
    let output = Command::new("sh")
        .args(["-c", "ulimit -s 8192 && exec \"$0\" merge deep.ll deep.ll"])
        .arg(env!("CARGO_BIN_EXE_p3-ir"))
        .current_dir(scratch.directory())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        stderr.starts_with("p3-ir: deep.ll: LLVM's reader fails on it (signal "),
        "{stderr}"
    );
    refused(&scratch, &output, 2, stderr["p3-ir: ".len()..].trim_end());
}

#[test]
fn file_level_assembly_that_is_wrong() {
    let scratch = Scratch::with_program();
    let with = |name: &str, assembly: &str| {
        let lines = assembly
            .lines()
            .map(|line| format!("__asm__(\"{line}\\n\");\n"));
        scratch.write("asm.c", format!("{}{HELPER}", lines.collect::<String>()));
        scratch.sh(&format!("clang-16 -S -emit-llvm asm.c -o {name}.ll"));
        format!("{name}.ll")
    };
    for (assembly, reason) in [
        (
            ".macro m",
            "file-level assembly: no matching '.endmacro' in definition",
        ),
        (
            "nosuch",
            "file-level assembly: invalid instruction mnemonic 'nosuch'",
        ),
        (
            ".incbin \\\"/dev/zero\\\"",
            "LLVM's reader needs too much memory for a file of this size",
        ),
    ] {
        let name = with("wrong", assembly);
        bad(&scratch, &name, &format!("{name}: {reason}"));
    }
    // Right in each file, but not in one.
    let name = with("macro", ".macro m\n.endm");
    let version = format!("main.bc+{name}");
    let output = scratch.self_merge(&version);
    let reason = "file-level assembly that cannot stand in one file: macro 'm' is already defined";
    let line = format!("main.bc, main.bc: unsupported: {reason}");
    refused(&scratch, &output, 3, &line);
}

#[test]
fn symbols_that_the_runtime_has() {
    let scratch = Scratch::with_program();
    let main = scratch.sh("cat main.c");
    for definition in [
        "void p3_shim_exit(int status) { (void)status; }",
        "int p3v_index = 7;",
        "extern int p3v_index; int *place = &p3v_index;",
    ] {
        scratch.write("taken.c", format!("{definition}\n{main}\n{HELPER}"));
        scratch.sh("clang-16 -c -emit-llvm taken.c");
        let output = scratch.self_merge("taken.bc");
        let name = if definition.contains("exit") {
            "p3_shim_exit"
        } else {
            "p3v_index"
        };
        let line = format!("taken.bc: unsupported: symbol '{name}', which p3-ir has for itself");
        refused(&scratch, &output, 3, &line);
    }
}

#[test]
fn processor_features_that_llvm_does_not_know_are_left_out() {
    let scratch = Scratch::with_program();
    scratch.sh("clang-16 -S -emit-llvm main.c
         sed 's/+cx8/+cx8,+later,sse9/; s/\"tune-cpu\"=\"generic\"/\"tune-cpu\"=\"generis\"/' main.ll > later.ll");
    let output = scratch.merge(&[
        "later.ll+helper.bc",
        "main.bc+helper.bc",
        "-o",
        "product.bc",
    ]);
    assert_eq!(
        String::from_utf8_lossy(&output.stderr),
        "p3-ir: warning: later.ll: processor features that LLVM does not know, ignored: +later, sse9, \
         tuning for generis\n"
    );
    let attributes = scratch.sh("llvm-dis-16 product.bc -o - | grep target-features");
    assert!(attributes.contains("+cx8") && attributes.contains("\"generic\""));
    assert!(!attributes.contains("later") && !attributes.contains("generis"));
}

#[test]
fn frames_that_other_functions_reach_into() {
    let scratch = Scratch::new();
    scratch.write(
        "escape.ll",
        "declare void @llvm.localescape(...)\n\
         define i32 @main() {\n\
         \x20 %a = alloca i32\n\
         \x20 call void (...) @llvm.localescape(ptr %a)\n\
         \x20 ret i32 0\n}\n",
    );
    let line = "escape.ll: unsupported: llvm.localescape (frames that other functions reach into)";
    refused(&scratch, &scratch.self_merge("escape.ll"), 3, line);
}

#[test]
fn module_flags_of_odd_types_are_left_out() {
    let scratch = Scratch::with_program();
    scratch.sh("clang-16 -S -emit-llvm main.c
         sed 's/\"wchar_size\", i32 4/\"wchar_size\", i3 -4/; s/\"uwtable\", i32 2/\"uwtable\", i200 -1/' main.ll > odd.ll
         grep -q i3 odd.ll && grep -q i200 odd.ll");
    let output = scratch.merge(&["odd.ll+helper.bc", "main.bc+helper.bc", "-o", "product.bc"]);
    assert!(output.status.success(), "{output:?}");
    let flags = scratch.sh("llvm-dis-16 product.bc -o - | grep '^!.*\"'");
    assert!(!flags.contains("i3 ") && !flags.contains("i200"), "{flags}");
}

#[test]
fn names_of_garbage_collectors_that_llvm_cannot_write_down() {
    let scratch = Scratch::with_program();
    scratch.sh("clang-16 -S -emit-llvm main.c
         sed '/^define.*@main/s/{$/gc \"a\\\\00b\\\\0Ac\" {/' main.ll > odd.ll");
    let warning = "p3-ir: warning: odd.ll: garbage collectors' names that LLVM cannot write down, changed: of main\n";
    let output = scratch.merge(&["odd.ll+helper.bc", "main.bc+helper.bc", "-o", "product.ll"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), warning);
    assert!(scratch
        .sh("llvm-as-16 product.ll -o -|llvm-dis-16")
        .contains("gc \"a_b_c\""));
}

#[test]
fn long_chains_of_aliases() {
    let scratch = Scratch::with_program();
    let count = 3000;
    let chain: String = (0..count)
        .map(|index| format!("@a{index} = alias i32, ptr @a{}\n", index + 1))
        .collect();
    scratch.write("chain.ll", format!("{chain}@a{count} = global i32 1\n"));
    let output = scratch.merge(&["main.bc+helper.bc", "main.bc+helper.bc+chain.ll"]);
    assert!(output.status.success(), "{output:?}");
    // Every alias is one of the variable now.
    let aliases = scratch.linked("main.bc+helper.bc+chain.ll");
    let ends = format!("= alias i32, ptr @a{count}");
    assert_eq!(aliases.matches(&ends).count(), count);
}

#[test]
fn vectors_that_llvm_cannot_treat() {
    let scratch = Scratch::with_program();
    let text =
        "define <N x i8> @f(<N x i8> %a) {\n %b = add <N x i8> %a, %a\n ret <N x i8> %b\n}\n";
    scratch.write("huge.ll", text.replace('N', "4294967295"));
    let output = scratch.merge(&[
        "main.bc+helper.bc",
        "main.bc+helper.bc+huge.ll",
        "--prepare",
        "O1",
    ]);
    let line = "huge.ll: unsupported: a vector of more than 65,536 elements in 'f'";
    refused(&scratch, &output, 3, line);
}

#[test]
fn lists_of_constructors_that_are_used() {
    let scratch = Scratch::with_program();
    let list = "@llvm.global_ctors = appending global [0 x { i32, ptr, ptr }] zeroinitializer";
    let function = "define void @f() personality ptr @llvm.global_ctors {\n ret void\n}";
    scratch.write("used.ll", format!("{list}\n{function}\n"));
    bad(
        &scratch,
        "main.bc+helper.bc+used.ll",
        "used.ll: invalid IR: the list 'llvm.global_ctors' is used",
    );
}
