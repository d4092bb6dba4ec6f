//! ELF classes, byte orders and machines; very large section tables; the kinds of archives.

use crate::compare;
use crate::tools::{dup_file, Scratch};
use p3_passes::dup::symbols;
use std::collections::HashMap;
use std::fmt::Write;
use std::fs;

#[test]
fn every_class_byte_order_and_machine() {
    let scratch = Scratch::new();
    let targets = [
        "x86_64-linux-gnu",
        "x86_64-linux-gnux32",
        "i386-linux-gnu",
        "aarch64-linux-gnu",
        "aarch64_be-linux-gnu",
        "arm-linux-gnueabihf",
        "armeb-linux-gnueabi",
        "mips-linux-gnu",
        "mipsel-linux-gnu",
        "mips64-linux-gnuabi64",
        "mips64el-linux-gnuabi64",
        "powerpc-linux-gnu",
        "powerpc64-linux-gnu",
        "powerpc64le-linux-gnu",
        "riscv32-linux-gnu",
        "riscv64-linux-gnu",
        "s390x-linux-gnu",
        "sparcv9-linux-gnu",
    ];
    let source = r#"
        extern int outside(int);
        extern int __start_mine[], __stop_mine[];
        __attribute__((section("mine"))) int in_section = 1;
        _Thread_local int per_thread;
        int common;
        static int hidden;
        __attribute__((weak)) int weak(int x) { return outside(x) + hidden++; }
        int call(int x) {
          switch (x) {
            case 0: return weak(1);
            case 1: return per_thread++;
            case 2: return common++;
            case 3: return __stop_mine - __start_mine;
            case 4: return outside(x - 1);
          }
          return 0;
        }
        int alias(int x) __attribute__((alias("call")));
    "#;
    for target in targets {
        for flags in ["-O1 -g", "-O0 -fPIC -fcommon -ffunction-sections"] {
            let path = scratch.object("lib.o", ".c", &format!("--target={target} {flags}"), source);
            let copy = dup_file(&path, "p_", &HashMap::new());
            let names = compare::objects(&fs::read(&path).unwrap(), &copy);
            compare::assert_prefixed(&names, "p_");
            assert!(names.defined.len() >= 6, "{target}");
            assert_eq!(names.undefined["outside"], "outside", "{target}");
            assert_eq!(names.undefined["__stop_mine"], "__stop_p_mine", "{target}");
            scratch.write("copy.o", &copy);
            scratch.run("llvm-readelf-16 -a copy.o");
        }
    }
}

#[test]
fn copies_of_32_bit_objects_run() {
    let scratch = Scratch::new();
    let flags = "--target=i386-linux-gnu -O1 -fno-pic";
    scratch.object(
        "lib.o",
        ".c",
        flags,
        "static int n; int step = 1; int get(void) { return n += step; }",
    );
    scratch.dup("lib.o", "one_", "one.o");
    scratch.dup("lib.o", "two_", "two.o");
    let program = r#"
        int one_get(void), two_get(void);
        void _start(void) {
          one_get();
          one_get();
          int status = one_get() == 3 && two_get() == 1 ? 0 : 1;
          __asm__ volatile("int $0x80" : : "a"(1), "b"(status));
        }
    "#;
    scratch.object("program.o", ".c", flags, program);
    scratch.run("ld -m elf_i386 program.o one.o two.o -o program");
    scratch.run("./program");
}

/// On 64-bit PowerPC `.f` is the code of the function whose descriptor is `f`.
#[test]
fn entry_points_go_with_their_functions() {
    let scratch = Scratch::new();
    let source = "
        .globl f, .f
        .section .opd,\"aw\"
        f: .quad .f, .TOC.@tocbase, 0
        .text
        .f: bl .g
            bl .outside
            bl .printf
    ";
    let more = "
        .globl g, .g
        .section .opd,\"aw\"
        g: .quad .g, .TOC.@tocbase, 0
        .text
        .g: blr
    ";
    let flags = "--target=powerpc64-linux-gnu";
    scratch.object("f.o", ".s", flags, source);
    scratch.object("g.o", ".s", flags, more);
    scratch.run("llvm-ar-16 rcs lib.a f.o g.o");
    scratch.dup_with("lib.a", "p_", "p.a", &[("printf", "shim_printf")]);
    let [old, new] = ["lib.a", "p.a"].map(|file| fs::read(scratch.path(file)).unwrap());
    let names = compare::archives(&old, &new);
    assert_eq!(names.defined["f"], "p_f");
    assert_eq!(names.defined[".f"], ".p_f");
    assert_eq!(names.undefined[".g"], ".p_g");
    assert_eq!(names.undefined[".outside"], ".outside");
    assert_eq!(names.undefined[".printf"], ".shim_printf");
}

/// More sections than a symbol's 16-bit field can number, and a symbol added at the end of such a table.
#[test]
fn more_than_65280_sections() {
    const SECTIONS: usize = 66_000;
    let scratch = Scratch::new();
    let mut source = String::new();
    for i in 0..SECTIONS {
        write!(
            source,
            ".section .text.f{i},\"ax\",@progbits\n.globl f{i}\nf{i}: mov ${i}, %eax\nret\n"
        )
        .unwrap();
    }
    source += ".section .text.group,\"axG\",@progbits,outside,comdat\n.globl g\ng: jmp outside\n";
    source += ".section .note.GNU-stack,\"\",@progbits\n";
    let path = scratch.object("lib.o", ".s", "", &source);
    let copy = dup_file(&path, "one_", &HashMap::new());
    let names = compare::objects(&fs::read(&path).unwrap(), &copy);
    compare::assert_prefixed(&names, "one_");
    assert!(names.sections.len() > SECTIONS);

    scratch.write("one_.o", copy);
    scratch.dup("lib.o", "two_", "two_.o");
    let program = r#"
        #include <stdio.h>
        int one_f65999(void), two_f123(void), one_g(void), two_g(void);
        int outside(void) { return 9; }
        int main(void) { printf("%d %d %d %d\n", one_f65999(), two_f123(), one_g(), two_g()); }
    "#;
    assert_eq!(
        scratch.link_and_run(program, "one_.o two_.o"),
        "65999 123 9 9\n"
    );
}

fn two_members(scratch: &Scratch) {
    scratch.c("a.o", "int b(void); int a(void) { return b() + 1; }");
    scratch.run("mkdir sub");
    scratch.c(
        "sub/a_member_with_a_rather_long_name.o",
        "int b(void) { return 41; }",
    );
}

const CALL_A: &str = r#"
    #include <stdio.h>
    int one_a(void);
    int main(void) { printf("%d\n", one_a()); }
"#;

#[test]
fn archives_of_every_kind() {
    let make = [
        "ar rcs lib.a a.o sub/a_member_with_a_rather_long_name.o",
        "ar rcS lib.a a.o sub/a_member_with_a_rather_long_name.o",
        "ar rcsT lib.a a.o sub/a_member_with_a_rather_long_name.o",
        "llvm-ar-16 --format=bsd -rcs lib.a a.o sub/a_member_with_a_rather_long_name.o",
        "llvm-ar-16 --format=darwin -rcs lib.a a.o sub/a_member_with_a_rather_long_name.o",
        "llvm-ar-16 rcsT lib.a a.o sub/a_member_with_a_rather_long_name.o",
    ];
    for make in make {
        let scratch = Scratch::new();
        two_members(&scratch);
        scratch.run(make);
        scratch.dup("lib.a", "one_", "one.a");
        assert_eq!(
            scratch.run("ar t one.a"),
            "a.o\na_member_with_a_rather_long_name.o\n",
            "{make}"
        );
        assert_eq!(scratch.link_and_run(CALL_A, "one.a"), "42\n", "{make}");
    }
}

#[test]
fn thin_archives_that_refer_into_other_archives() {
    let scratch = Scratch::new();
    two_members(&scratch);
    scratch.run("ar rcs sub/inner.a sub/a_member_with_a_rather_long_name.o");
    scratch.run("ar rcsT sub/thin.a sub/inner.a");
    scratch.run("ar rcsT lib.a a.o sub/thin.a");
    scratch.dup("lib.a", "one_", "one.a");
    assert_eq!(scratch.link_and_run(CALL_A, "one.a"), "42\n");
}

#[test]
fn members_of_equal_names_and_no_members() {
    let scratch = Scratch::new();
    scratch.run("mkdir x y");
    scratch.c("x/m.o", "int b(void); int a(void) { return b() + 1; }");
    scratch.c("y/m.o", "int b(void) { return 41; }");
    scratch.run("ar rcs lib.a x/m.o y/m.o");
    scratch.dup("lib.a", "one_", "one.a");
    assert_eq!(scratch.run("ar t one.a"), "m.o\nm.o\n");
    assert_eq!(scratch.link_and_run(CALL_A, "one.a"), "42\n");

    scratch.run("ar rcs none.a");
    scratch.dup("none.a", "one_", "copy.a");
    assert_eq!(fs::read(scratch.path("copy.a")).unwrap(), b"!<arch>\n");
}

/// What `ranlib` makes of a copy is what the copy already is.
#[test]
fn the_index_is_that_of_ranlib() {
    let scratch = Scratch::new();
    scratch.c(
        "a.o",
        "int common[3]; int a = 1; static int s; int *p(void) { return &s + a; }",
    );
    scratch.c(
        "b.o",
        "extern int a; __attribute__((weak)) int w(void) { return a; }",
    );
    scratch.c(
        "with_a_long_member_name.o",
        "_Thread_local int t; int u(void); int v(void) { return u(); }",
    );
    scratch.run("ar rcs lib.a a.o b.o with_a_long_member_name.o");
    scratch.dup("lib.a", "p_", "copy.a");
    fs::copy(scratch.path("copy.a"), scratch.path("indexed.a")).unwrap();
    scratch.run("ranlib -D indexed.a");
    assert_eq!(scratch.run("nm -s copy.a"), scratch.run("nm -s indexed.a"));
    scratch.run("cmp copy.a indexed.a");
}

#[test]
fn symbols_lists_what_is_defined_and_what_is_not() {
    let scratch = Scratch::new();
    scratch.c(
        "a.o",
        r#"
        extern int external, __start_own[], __start_foreign[] __attribute__((weak));
        __attribute__((section("own"))) int in_own = 1;
        int common, impl(void), other(void);
        static int local;
        int f(void) { return local++ + external + *__start_own + *__start_foreign + other() + impl(); }
        __asm__(".symver f, versioned@@V1");
        __asm__(".symver f, old@V1");
        "#,
    );
    scratch.c("b.o", "int other(void) { return 1; }");
    scratch.run("ar rcs lib.a a.o b.o");
    let path = scratch.path("lib.a");
    let found = symbols(&fs::read(&path).unwrap(), path.to_str().unwrap()).unwrap();
    let defined: Vec<_> = found.defined().map(String::from_utf8_lossy).collect();
    assert_eq!(
        defined,
        ["common", "f", "in_own", "old@V1", "other", "versioned@@V1"]
    );
    let undefined: Vec<_> = found.undefined().map(String::from_utf8_lossy).collect();
    assert_eq!(undefined, ["__start_foreign", "external", "impl"]);

    let copy_name = |name: &str| {
        let name = found.copy_name("p_", name.as_bytes())?;
        Some(String::from_utf8(name).unwrap())
    };
    assert_eq!(copy_name("other").as_deref(), Some("p_other"));
    assert_eq!(copy_name("versioned").as_deref(), Some("p_versioned"));
    assert_eq!(copy_name("__stop_own").as_deref(), Some("__stop_p_own"));
    assert_eq!(copy_name("old"), None);
    assert_eq!(copy_name("external"), None);
    assert_eq!(copy_name("__start_foreign"), None);
}
