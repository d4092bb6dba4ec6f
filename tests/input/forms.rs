//! Every form in which bitcode can be given.

use crate::tools::{functions, linked, Scratch};
use std::fs::File;

/// The program's two functions, whatever the version's form.
#[track_caller]
fn is_the_program(scratch: &Scratch, version: &str) {
    assert_eq!(scratch.functions(version), ["helper", "main"], "{version}");
}

#[test]
fn bitcode_assembly_and_wrapped_bitcode() {
    let scratch = Scratch::with_program();
    scratch.sh("llvm-link-16 main.bc helper.bc -o all.bc && llvm-dis-16 all.bc && cp all.ll text");
    is_the_program(&scratch, "all.bc");
    is_the_program(&scratch, "all.ll");
    is_the_program(&scratch, "text");

    let bitcode = scratch.read("all.bc");
    let mut wrapped = Vec::new();
    for field in [0x0B17_C0DE, 0, 20, bitcode.len() as u32, 7] {
        wrapped.extend(field.to_le_bytes());
    }
    wrapped.extend(bitcode);
    wrapped.extend([0; 12]);
    scratch.write("wrapped.bc", wrapped);
    is_the_program(&scratch, "wrapped.bc");
}

#[test]
fn several_modules_in_one_stream() {
    let scratch = Scratch::with_program();
    scratch.sh("llvm-cat-16 -b main.bc helper.bc -o binary.bc && cat main.bc helper.bc > plain.bc");
    is_the_program(&scratch, "binary.bc");
    is_the_program(&scratch, "plain.bc");
}

#[test]
fn assembly_without_a_target_is_completed() {
    let scratch = Scratch::new();
    scratch.write("bare.ll", "define i32 @main() {\n  ret i32 0\n}\n");
    let text = scratch.linked("bare.ll");
    assert!(
        text.contains("target triple = \"x86_64-pc-linux-gnu\""),
        "{text}"
    );
    assert!(text.contains("target datalayout = \"e-m:e-"), "{text}");
}

#[test]
fn archives() {
    let scratch = Scratch::with_program();
    scratch.sh(
        "cp helper.bc a_member_with_a_long_name.bc && mkdir sub && cp helper.bc sub/
         llvm-ar-16 rc gnu.a main.bc a_member_with_a_long_name.bc
         llvm-ar-16 rc --format=bsd bsd.a main.bc a_member_with_a_long_name.bc
         llvm-ar-16 rc --thin thin.a main.bc sub/helper.bc
         llvm-ar-16 rcS no_table.bca main.bc helper.bc
         clang-16 -c -fembed-bitcode=all main.c helper.c
         ar rc objects.a main.o helper.o
         ar rcT thin_objects.a main.o helper.o
         mkdir elsewhere && cp thin.a main.bc elsewhere/ && mv sub elsewhere/",
    );
    for archive in [
        "gnu.a",
        "bsd.a",
        "elsewhere/thin.a",
        "no_table.bca",
        "objects.a",
        "thin_objects.a",
    ] {
        is_the_program(&scratch, archive);
    }
}

#[test]
fn members_without_bitcode_are_left_out_with_a_warning() {
    let scratch = Scratch::with_program();
    scratch.sh("clang-16 -c helper.c -o native.o && echo text > README
         llvm-ar-16 rc mixed.a main.bc helper.bc native.o README");
    is_the_program(&scratch, "mixed.a");
    let output = scratch.self_merge("mixed.a");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        text.contains("mixed.a: members left out: native.o: ELF file without"),
        "{text}"
    );
    assert!(
        text.contains("mixed.a: members left out: README: neither bitcode"),
        "{text}"
    );
}

#[test]
fn embedded_bitcode() {
    let scratch = Scratch::with_program();
    scratch.sh(
        "clang-16 -c -fembed-bitcode=all main.c && clang-16 -c -fembed-bitcode=bitcode helper.c
         clang-16 main.o helper.o -o program
         clang-16 -shared -fPIC -fembed-bitcode=all main.c helper.c -o shared.so
         ld -r main.o helper.o -o joined.o
         for o in main helper; do
           llvm-objcopy-16 --rename-section .llvmbc=.llvm.lto $o.o fat_$o.o
           llvm-objcopy-16 --set-section-alignment .llvmbc=64 $o.o aligned_$o.o
         done
         clang-16 fat_main.o fat_helper.o -o fat
         clang-16 aligned_main.o aligned_helper.o -o aligned",
    );
    for file in [
        "main.o+helper.o",
        "program",
        "shared.so",
        "joined.o",
        "fat",
        "aligned",
    ] {
        is_the_program(&scratch, file);
    }
}

/// An object as wllvm makes it: the path of the bitcode in a section, with a line feed behind it.
const LISTING_OBJECTS: &str = "
    list() {
      printf '%s\\n' \"$1\" > list
      llvm-objcopy-16 --add-section .llvm_bc=list $2
    }
    clang-16 -c main.c helper.c
    list \"$PWD/main.bc\" main.o
    list helper.bc helper.o
";

#[test]
fn listed_bitcode() {
    let scratch = Scratch::with_program();
    scratch.sh(&format!(
        "{LISTING_OBJECTS}
         clang-16 main.o helper.o -o program
         mkdir sub && cp helper.o helper.bc sub/ && ar rc listing.a main.o sub/helper.o
         ar rcT thin.a main.o sub/helper.o
         printf '%s\\0\\0%s\\n\\n' main.bc helper.bc > nul
         llvm-objcopy-16 --update-section .llvm_bc=nul program nul
         printf '%s\\n' main.bc ./helper.bc \"$PWD/main.bc\" helper.bc > twice
         llvm-objcopy-16 --update-section .llvm_bc=twice program twice
         printf 'program\\nlisting.a\\n' > nested
         llvm-objcopy-16 --update-section .llvm_bc=nested program nested"
    ));
    for file in [
        "main.o+helper.o",
        "program",
        "listing.a",
        "thin.a",
        "nul",
        "twice",
        "nested",
    ] {
        is_the_program(&scratch, file);
    }
}

#[test]
fn listed_bitcode_of_a_later_build() {
    let scratch = Scratch::with_program();
    scratch.sh(&format!(
        "{LISTING_OBJECTS}
         clang-16 main.o helper.o -o program
         touch -d '1 hour' helper.bc"
    ));
    let output = scratch.self_merge("program");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let warning = "p3-ir: warning: program: 1 listed bitcode file is newer, perhaps of another build: helper.bc\n";
    assert_eq!((output.status.code(), stderr), (Some(0), warning.repeat(2)));
    // An object is made before its bitcode is.
    let output = scratch.self_merge("main.o+helper.o");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn the_list_wins_over_embedded_bitcode() {
    let scratch = Scratch::with_program();
    scratch.sh(
        "clang-16 -c -fembed-bitcode=all main.c && printf 'main.bc\\nhelper.bc\\n' > list
         llvm-objcopy-16 --add-section .llvm_bc=list main.o both.o",
    );
    is_the_program(&scratch, "both.o");
}

#[test]
fn a_bitcode_store_stands_in_for_files_that_are_gone() {
    let scratch = Scratch::with_program();
    scratch.sh(&format!(
        "{LISTING_OBJECTS}
         clang-16 main.o helper.o -o program && mkdir store
         mv main.bc store/$(printf '%s' \"$PWD/main.bc\" | sha256sum | cut -d' ' -f1)"
    ));
    let mut command = scratch.command(&["program", "program"]);
    command.env("WLLVM_BC_STORE", scratch.path("store"));
    assert_eq!(functions(&linked(command)), ["helper", "main"]);
}

#[test]
fn standard_input_takes_every_form() {
    let scratch = Scratch::with_program();
    scratch.sh(&format!(
        "llvm-link-16 main.bc helper.bc -o all.bc && llvm-dis-16 all.bc
         llvm-ar-16 rc archive.a main.bc helper.bc
         clang-16 -fembed-bitcode=all main.c helper.c -o embedded
         {LISTING_OBJECTS}
         clang-16 main.o helper.o -o listing"
    ));
    for file in ["all.bc", "all.ll", "archive.a", "embedded", "listing"] {
        let mut command = scratch.command(&["-", "all.bc"]);
        command.stdin(File::open(scratch.path(file)).unwrap());
        assert_eq!(functions(&linked(command)), ["helper", "main"], "{file}");
    }
    // Pipes cannot be sought in; some are files by name.
    let p3_ir = env!("CARGO_BIN_EXE_p3-ir");
    scratch.sh(&format!(
        "cat archive.a | {p3_ir} merge all.bc main.bc+- -o piped.bc
         mkfifo fifo && (cat embedded > fifo &) && {p3_ir} merge all.bc fifo -o fifo.bc
         test -s piped.bc && test -s fifo.bc"
    ));
}

#[test]
fn plus_signs_join_files_unless_a_file_has_them_in_its_name() {
    let scratch = Scratch::with_program();
    is_the_program(&scratch, "main.bc+helper.bc");
    is_the_program(&scratch, "helper.bc+main.bc");
    scratch.sh("mkdir c++ && cp helper.bc c++/help+er.bc && cp main.bc 'a+b' && cp main.bc a");
    is_the_program(&scratch, "c++/help+er.bc+main.bc");
    is_the_program(&scratch, "a+b+c++/help+er.bc");
    is_the_program(&scratch, "./a+helper.bc");
}

#[test]
fn the_report_names_every_file() {
    let scratch = Scratch::with_program();
    let output = scratch.merge(&[
        "main.bc+helper.bc",
        "main.bc+helper.bc",
        "-o",
        "product.bc",
        "--report",
        "merge.json",
    ]);
    assert!(output.status.success(), "{output:?}");
    let report: serde_json::Value = serde_json::from_slice(&scratch.read("merge.json")).unwrap();
    let files = &report["versions"][1]["files"];
    assert_eq!(*files, serde_json::json!(["main.bc", "helper.bc"]));
}

#[test]
fn results_of_main_are_what_their_register_says() {
    let scratch = Scratch::new();
    let programs = [
        ("zeroext i1", "i1 true", 1),
        ("signext i1", "i1 true", 255),
        ("i8", "i8 200", 200),
        ("ptr", "ptr inttoptr (i64 9 to ptr)", 9),
        ("{ i32, i32 }", "{ i32, i32 } { i32 5, i32 6 }", 5),
    ];
    for (ty, result, status) in programs {
        let text = format!(
            "target triple = \"x86_64-pc-linux-gnu\"\n\
             define {ty} @main() {{\n  ret {result}\n}}\n"
        );
        scratch.write("main.ll", text);
        let output = scratch.self_merge("main.ll");
        assert!(output.status.success(), "{output:?}");
        let ends = scratch.sh("clang-16 -Wno-override-module main.ll -o alone
             clang-16 -Wno-override-module product.bc -o product
             ./alone && true; alone=$?
             P3_STATUS=2 ./product && true; echo $alone $?");
        assert_eq!(ends.trim(), format!("{status} {status}"), "{ty}");
    }
}

#[test]
fn functions_that_name_a_garbage_collector_are_not_woven() {
    let scratch = Scratch::new();
    scratch.write(
        "collected.ll",
        "declare void @llvm.gcroot(ptr, ptr)\n\
         define internal void @f() gc \"shadow-stack\" {\n\
         \x20 %r = alloca ptr\n\
         \x20 call void @llvm.gcroot(ptr %r, ptr null)\n\
         \x20 ret void\n}\n\
         define i32 @main() {\n  call void @f()\n  ret i32 0\n}\n",
    );
    let output = scratch.self_merge("collected.ll");
    assert!(output.status.success(), "{output:?}");
}
