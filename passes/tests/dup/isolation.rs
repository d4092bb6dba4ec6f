//! Two copies of a library in one program share nothing.

use crate::compare;
use crate::tools::Scratch;

/// Copies `library` to `one_*` and `two_*`, with these prefixes, links the copies with the program and
/// returns what it prints.
fn run_two_copies(scratch: &Scratch, library: &str, program: &str) -> String {
    let copies = ["one_", "two_"].map(|prefix| {
        let copy = format!("{prefix}{library}");
        scratch.dup(library, prefix, &copy);
        copy
    });
    scratch.link_and_run(program, &format!("{} -lstdc++", copies.join(" ")))
}

#[test]
fn every_kind_of_state_exists_once_per_copy() {
    let scratch = Scratch::new();
    scratch.object(
        "state.o",
        ".c",
        "-O1 -fcommon",
        r#"
        int common_total;
        int initialised = 10;
        _Thread_local int per_thread = 20;
        static int hidden_in_file = 30;
        __attribute__((visibility("hidden"))) int hidden_in_library = 40;
        int constructed;
        __attribute__((constructor)) static void construct(void) { constructed++; }
        int helper(void);
        int helper_default(void) { return 5; }
        int weak_hook(void) __attribute__((weak));
        int weak_hook(void) { return 1; }
        int maybe_missing(void) __attribute__((weak));
        int (*table[])(void) = {helper, weak_hook};
        int step(void) {
          common_total++; initialised++; per_thread++; hidden_in_file++; hidden_in_library++;
          return common_total + initialised + per_thread + hidden_in_file + hidden_in_library +
                 table[0]() + table[1]() + (maybe_missing ? 1000 : 0);
        }
        "#,
    );
    scratch.c(
        "helper.o",
        r#"
        extern int common_total, initialised;
        extern _Thread_local int per_thread;
        extern __attribute__((visibility("hidden"))) int hidden_in_library;
        int weak_hook(void) { return 2; }
        int helper(void) { return 10000 * (common_total + initialised + per_thread + hidden_in_library); }
        "#,
    );
    scratch.run("ar rcs lib.a state.o helper.o");
    let printed = run_two_copies(
        &scratch,
        "lib.a",
        r#"
        #include <stdio.h>
        int one_step(void), two_step(void);
        extern int one_constructed, two_constructed, one_common_total, two_common_total;
        extern _Thread_local int one_per_thread, two_per_thread;
        int main(void) {
          printf("%d %d\n", one_constructed, two_constructed);
          printf("%d\n", one_step());
          printf("%d\n", one_step());
          printf("%d\n", two_step());
          printf("%d %d %d %d\n", one_common_total, two_common_total, one_per_thread, two_per_thread);
        }
        "#,
    );
    assert_eq!(printed, "1 1\n740107\n780112\n740107\n2 1 22 21\n");
}

#[test]
fn the_library_itself_can_be_linked_beside_its_copies() {
    let scratch = Scratch::new();
    scratch.c("lib.o", "int count; int next(void) { return ++count; }");
    scratch.dup("lib.o", "one_", "one.o");
    let program = r#"
        #include <stdio.h>
        int next(void), one_next(void);
        int main(void) { next(); next(); printf("%d %d\n", next(), one_next()); }
    "#;
    assert_eq!(scratch.link_and_run(program, "lib.o one.o"), "3 1\n");
}

#[test]
fn copies_of_copies_are_apart() {
    let scratch = Scratch::new();
    scratch.c("lib.o", "int count; int next(void) { return ++count; }");
    scratch.dup("lib.o", "a_", "a.o");
    scratch.dup("a.o", "a_", "aa.o");
    let program = r#"
        #include <stdio.h>
        int a_next(void), a_a_next(void);
        int main(void) { a_next(); a_next(); printf("%d %d\n", a_next(), a_a_next()); }
    "#;
    assert_eq!(scratch.link_and_run(program, "a.o aa.o"), "3 1\n");
}

const INLINE_STATE: &str = r#"
    inline int counter() { static int count; return ++count; }
    template <class T> struct Holder { static T value; };
    template <class T> T Holder<T>::value = 100;
    struct Base { virtual ~Base() {} virtual int get() { return counter() + Holder<int>::value++; } };
    struct Derived : Base { int get() override { return 1000 + Base::get(); } };
    extern "C" int NAME() { Derived derived; Base &base = derived; return base.get(); }
"#;

/// Two members with the same inline functions, statics and tables: one of each per copy.
#[test]
fn comdat_groups_merge_within_a_copy_and_not_between_copies() {
    for compiler in ["clang++-16", "g++"] {
        let scratch = Scratch::new();
        for member in ["first", "second"] {
            scratch.write(
                &format!("{member}.cc"),
                INLINE_STATE.replace("NAME", member),
            );
            scratch.run(&format!("{compiler} -c {member}.cc -o {member}.o"));
        }
        scratch.run("ar rcs lib.a first.o second.o");
        scratch.dup("lib.a", "one_", "one_.a");
        let [old, new] = ["lib.a", "one_.a"].map(|file| std::fs::read(scratch.path(file)).unwrap());
        let names = compare::archives(&old, &new);
        compare::assert_prefixed(&names, "one_");
        assert!(names.groups.len() >= 10);

        let program = r#"
            #include <stdio.h>
            int one_first(void), one_second(void), two_first(void), two_second(void);
            int main(void) {
              printf("%d\n", one_first());
              printf("%d\n", one_second());
              printf("%d\n", two_first());
              printf("%d\n", two_second());
            }
        "#;
        scratch.dup("lib.a", "two_", "two_.a");
        let printed = scratch.link_and_run(program, "one_.a two_.a -lstdc++");
        assert_eq!(printed, "1101\n1103\n1101\n1103\n", "{compiler}");
    }
}

#[test]
fn exceptions_work_in_and_across_copies() {
    let scratch = Scratch::new();
    scratch.object(
        "lib.o",
        ".cc",
        "-O1",
        r#"
        #include <stdexcept>
        #include <string>
        static int caught;
        struct Mine { int value; };
        extern "C" void throw_mine(int value) { throw Mine{value}; }
        extern "C" int catch_all(void (*thrower)(int), int value) {
          try { thrower(value); }
          catch (const Mine &mine) { return 10 * mine.value + ++caught; }
          catch (...) { return -1; }
          return 0;
        }
        extern "C" int catch_standard() {
          try { throw std::runtime_error(std::string(100, 'x')); }
          catch (const std::exception &e) { return std::string(e.what()).size(); }
        }
        "#,
    );
    let printed = run_two_copies(
        &scratch,
        "lib.o",
        r#"
        #include <stdio.h>
        void one_throw_mine(int), two_throw_mine(int);
        int one_catch_all(void (*)(int), int), two_catch_all(void (*)(int), int);
        int one_catch_standard(void), two_catch_standard(void);
        int main(void) {
          one_catch_all(one_throw_mine, 1);
          printf("%d %d\n", one_catch_all(one_throw_mine, 5), two_catch_all(two_throw_mine, 6));
          printf("%d %d\n", one_catch_standard(), two_catch_standard());
        }
        "#,
    );
    assert_eq!(printed, "52 61\n100 100\n");
}

/// Signatures that are local, that are section symbols, and that are undefined symbols which code refers to.
#[test]
fn group_signatures_of_every_kind_are_renamed() {
    let scratch = Scratch::new();
    let source = r#"
        .section .text.local,"axG",@progbits,local_signature,comdat
        .globl a
        a: mov $1, %eax
           ret
        .section .text.named,"axG",@progbits,.text.named,comdat
        .globl b
        b: mov $2, %eax
           ret
        .section .text.outside,"axG",@progbits,outside,comdat
        .globl c
        c: jmp outside
        .section .note.GNU-stack,"",@progbits
    "#;
    let program = r#"
        #include <stdio.h>
        int one_a(void), one_b(void), one_c(void), two_a(void), two_b(void), two_c(void);
        int outside(void) { return 3; }
        int main(void) {
          printf("%d%d%d%d%d%d\n", one_a(), one_b(), one_c(), two_a(), two_b(), two_c());
          printf("%d%d%d\n", one_a == two_a, one_b == two_b, one_c == two_c);
        }
    "#;
    for assembler in ["as", "clang-16 -c"] {
        scratch.write("groups.s", source);
        scratch.run(&format!("{assembler} groups.s -o groups.o"));
        assert_eq!(
            run_two_copies(&scratch, "groups.o", program),
            "123123\n000\n"
        );
        let [old, new] =
            ["groups.o", "one_groups.o"].map(|file| std::fs::read(scratch.path(file)).unwrap());
        let names = compare::objects(&old, &new);
        compare::assert_prefixed(&names, "one_");
        assert_eq!(names.groups.len(), 3);
        // Linkers join objects into one whose groups have to stay apart, too.
        scratch.run("ld -r one_groups.o two_groups.o -o both.o");
        assert_eq!(scratch.link_and_run(program, "both.o"), "123123\n000\n");
        let both = scratch.run("readelf -gW both.o");
        assert_eq!(both.matches("COMDAT group").count(), 6, "{both}");
    }
}

#[test]
fn linkonce_sections_are_renamed() {
    let scratch = Scratch::new();
    let source = r#"
        .section .gnu.linkonce.t.shared,"ax",@progbits
        .weak shared
        shared: lea counter(%rip), %rax
                incl (%rax)
                mov (%rax), %eax
                ret
        .section .gnu.linkonce.d.counter,"aw",@progbits
        .weak counter
        counter: .long 0
        .text
        .globl NAME
        NAME: jmp shared
        .section .note.GNU-stack,"",@progbits
    "#;
    scratch.asm("first.o", &source.replace("NAME", "first"));
    scratch.asm("second.o", &source.replace("NAME", "second"));
    scratch.run("ar rcs lib.a first.o second.o");
    let printed = run_two_copies(
        &scratch,
        "lib.a",
        r#"
        #include <stdio.h>
        int one_first(void), one_second(void), two_first(void), two_second(void);
        int main(void) {
          one_first();
          printf("%d ", one_second());
          printf("%d\n", two_second());
          return two_first() - 2;
        }
        "#,
    );
    assert_eq!(printed, "2 1\n");
}

#[test]
fn start_and_stop_bound_the_copys_own_section() {
    let scratch = Scratch::new();
    scratch.c(
        "entries.o",
        r#"
        __attribute__((section("registry"), used)) static int a = 1, b = 2;
        "#,
    );
    scratch.c(
        "walk.o",
        r#"
        extern int __start_registry[], __stop_registry[];
        extern int __start_elsewhere[] __attribute__((weak));
        __attribute__((section("registry"), used)) static int c = 4;
        int sum(void) {
          int sum = __start_elsewhere ? 1000 : 0;
          for (int *p = __start_registry; p < __stop_registry; p++) sum = 10 * sum + (*p)++;
          return sum;
        }
        "#,
    );
    scratch.run("ld -r walk.o entries.o -o lib.o");
    let printed = run_two_copies(
        &scratch,
        "lib.o",
        r#"
        #include <stdio.h>
        int one_sum(void), two_sum(void);
        int main(void) {
          printf("%d ", one_sum());
          printf("%d ", one_sum());
          printf("%d\n", two_sum());
        }
        "#,
    );
    assert_eq!(printed, "412 523 412\n");
}

#[test]
fn versioned_names_keep_their_versions() {
    let scratch = Scratch::new();
    scratch.c(
        "versions.o",
        r#"
        int count;
        int old_impl(void) { return 10 + ++count; }
        int new_impl(void) { return 20 + ++count; }
        __asm__(".symver old_impl, get@V1");
        __asm__(".symver new_impl, get@@V2");
        int only_old_impl(void) { return 30; }
        __asm__(".symver only_old_impl, outer@V1");
        "#,
    );
    scratch.c(
        "caller.o",
        r#"
        int get(void), get_old(void), get_new(void), outer(void);
        __asm__(".symver get_old, get@V1");
        __asm__(".symver get_new, get@V2");
        int call(void) { return 10000 * get() + 100 * get_old() + get_new(); }
        int call_outer(void) { return outer(); }
        "#,
    );
    scratch.run("ar rcs lib.a caller.o versions.o");
    scratch.dup("lib.a", "one_", "one_.a");
    let [old, new] = ["lib.a", "one_.a"].map(|file| std::fs::read(scratch.path(file)).unwrap());
    let names = compare::archives(&old, &new);
    assert_eq!(names.defined["get@V1"], "one_get@V1");
    assert_eq!(names.defined["get@@V2"], "one_get@@V2");
    assert_eq!(names.undefined["get"], "one_get");
    assert_eq!(names.undefined["get@V1"], "one_get@V1");
    assert_eq!(names.undefined["get@V2"], "one_get@V2");
    // Nothing but `outer@V1` is there, and that is not what `outer` refers to.
    assert_eq!(names.undefined["outer"], "outer");

    scratch.write(
        "map",
        "V1 { one_get; one_outer; two_get; two_outer; }; V2 { } V1;",
    );
    scratch.dup("lib.a", "two_", "two_.a");
    scratch.write(
        "program.c",
        r#"
        #include <stdio.h>
        int one_call(void), two_call(void), one_call_outer(void), two_get(void);
        int outer(void) { return 7; }
        int main(void) {
          printf("%d ", one_call());
          printf("%d %d %d\n", two_call(), one_call_outer(), two_get());
        }
        "#,
    );
    scratch.run("clang-16 -O1 program.c one_.a two_.a -Wl,--version-script=map -o program");
    assert_eq!(scratch.run("./program"), "211223 211223 7 24\n");
}

#[test]
fn undefined_symbols_are_bound_as_asked() {
    let scratch = Scratch::new();
    scratch.c(
        "lib.o",
        r#"
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        __asm__(".symver memcpy, memcpy@GLIBC_2.2.5");
        int abs(int x) { return x < 0 ? -x : x; }
        void run(volatile size_t size) {
          char buffer[16];
          memcpy(buffer, "abcdefg", size);
          printf("%s %d\n", buffer, abs(-5));
          puts("plain");
        }
        "#,
    );
    let map = [
        ("printf", "_PP1_p3_shim_printf"),
        ("memcpy", "_PP1_p3_shim_memcpy"),
        ("abs", "never_used"),
        ("not_mentioned", "never_used"),
    ];
    scratch.dup_with("lib.o", "_PP1_", "one.o", &map);
    let program = r#"
        #include <stdarg.h>
        #include <stdio.h>
        void _PP1_run(size_t);
        int _PP1_p3_shim_printf(const char *format, ...) {
          va_list list;
          va_start(list, format);
          fputs("shim: ", stdout);
          int length = vprintf(format, list);
          va_end(list);
          return length;
        }
        void *_PP1_p3_shim_memcpy(char *to, const char *from, size_t size) {
          for (size_t i = 0; i < size; i++) to[i] = from[i] + 1;
          return to;
        }
        int main(void) { _PP1_run(4); }
    "#;
    // The last characters of the buffer are not written by the library.
    let printed = scratch.link_and_run(program, "one.o -fno-builtin -ftrivial-auto-var-init=zero");
    assert!(printed.starts_with("shim: bcde"), "{printed}");
    assert!(printed.ends_with(" 5\nplain\n"), "{printed}");
}

#[test]
fn copies_of_objects_with_ir_are_linked_as_machine_code() {
    let scratch = Scratch::new();
    scratch.write(
        "lib.c",
        "static int count; int next(void) { return ++count; }",
    );
    scratch.run("gcc -O2 -flto -ffat-lto-objects -c lib.c -o lib.o");
    scratch.write(
        "program.c",
        r#"
        #include <stdio.h>
        int one_next(void), two_next(void);
        int main(void) { one_next(); printf("%d %d\n", one_next(), two_next()); }
        "#,
    );
    scratch.dup("lib.o", "one_", "one.o");
    scratch.dup("lib.o", "two_", "two.o");
    scratch.run("gcc -O2 -flto program.c one.o two.o -o program");
    assert_eq!(scratch.run("./program"), "2 1\n");
}

#[test]
fn debug_information_and_unwind_tables_stay_usable() {
    let scratch = Scratch::new();
    scratch.object(
        "lib.o",
        ".c",
        "-g3 -O1 -fstack-protector-all -gz=zlib",
        "int count;\nint next(void) {\n  return ++count;\n}\n",
    );
    scratch.dup("lib.o", "one_", "one_.o");
    let symbols = scratch.run("readelf -sW one_.o");
    let address = symbols
        .lines()
        .find(|line| line.ends_with(" one_next"))
        .and_then(|line| line.split_whitespace().nth(1))
        .unwrap();
    let found = scratch.run(&format!("llvm-symbolizer-16 --obj=one_.o 0x{address}"));
    assert!(found.contains("lib.c:2"), "{found}");
    let [old, new] = ["lib.o", "one_.o"].map(|file| {
        scratch
            .run(&format!("llvm-dwarfdump-16 --verify {file}"))
            .replace("one_.o", "lib.o")
    });
    assert_eq!(old, new);
}
