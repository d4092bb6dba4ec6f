//! Linking the files of one version: what a native linker makes of them is what the product does.

use crate::tools::Scratch;

#[test]
fn archives_behind_a_plus_sign_give_what_is_missing() {
    let scratch = Scratch::with_program();
    scratch.write(
        "unused.c",
        "int unused(void) { return missing_everywhere(); }",
    );
    scratch.write(
        "deep.c",
        "int deeper(int); int deep(int x) { return deeper(x); }",
    );
    scratch.write("deeper.c", "int deeper(int x) { return x; }");
    scratch.write("other.c", "int deeper(int x) { return -x; } int other;");
    scratch.write(
        "uses.c",
        "int deep(int); extern int maybe(void) __attribute__((weak));
         int main(int c, char **v) { (void)v; return maybe ? maybe() : deep(c); }",
    );
    scratch.write("maybe.c", "int maybe(void) { return 9; }");
    scratch.sh(
        "clang-16 -w -Wno-error=implicit-function-declaration -c -emit-llvm unused.c deep.c deeper.c other.c uses.c maybe.c
         llvm-ar-16 rc deeper.a unused.bc deeper.bc other.bc maybe.bc
         llvm-ar-16 rc deep.a deep.bc && llvm-ar-16 rc main.a main.bc helper.bc unused.bc",
    );
    // Members of members, archives in any order, the first definition, no weak references.
    let chain = ["deep", "deeper", "main"];
    assert_eq!(scratch.functions("uses.bc+deeper.a+deep.a"), chain);
    assert_eq!(scratch.functions("uses.bc+deep.a+deeper.a"), chain);
    scratch.behaves_like("uses.bc+deep.a+deeper.a", "-w uses.c deep.c deeper.c");
    // The entry function is missing until something defines it.
    assert_eq!(scratch.functions("helper.bc+main.a"), ["helper", "main"]);
    // An archive that stands first is linked whole.
    assert_eq!(scratch.functions("main.a"), ["helper", "main", "unused"]);
}

#[test]
fn the_entry_function_may_have_another_name() {
    let scratch = Scratch::new();
    scratch.write("start.c", "int start(void) { return 3; }");
    scratch.write("empty.c", "int unrelated;");
    scratch.sh("clang-16 -c -emit-llvm start.c empty.c && llvm-ar-16 rc lib.a start.bc");
    let output = scratch.merge(&[
        "empty.bc+lib.a",
        "start.bc",
        "--entry",
        "start",
        "-o",
        "p.bc",
    ]);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn symbols_meet_as_in_a_native_link() {
    let scratch = Scratch::new();
    scratch.write(
        "one.c",
        r#"
        #include <stdio.h>
        int tentative[2];
        int strong_elsewhere;
        __attribute__((weak)) int weak_or_strong(void) { return 1; }
        __attribute__((weak)) int weak_twice(void) { return 1; }
        static int same_name(void) { return 10; }
        __attribute__((visibility("hidden"))) int hidden = 4;
        extern int aliased(void);
        int two(void);
        int absent(void) __attribute__((weak));
        __attribute__((constructor(200))) static void first(void) { puts("first"); }
        __attribute__((destructor)) static void last(void) { puts("last"); }
        int main(void) {
          tentative[1] = 5;
          printf("%d %d %d %d %d %d %d\n", tentative[1], strong_elsewhere, weak_or_strong(), weak_twice(),
                 same_name(), aliased(), absent ? 1 : 0);
          return two();
        }"#,
    );
    scratch.write(
        "two.c",
        r#"
        #include <stdio.h>
        int tentative[40];
        int strong_elsewhere = 7;
        int weak_or_strong(void) { return 2; }
        __attribute__((weak)) int weak_twice(void) { return 2; }
        static int same_name(void) { return 20; }
        static int target(void) { return 6; }
        int aliased(void) __attribute__((alias("target")));
        extern int hidden;
        __attribute__((constructor(300))) static void second(void) { puts("second"); }
        __attribute__((constructor(100))) static void zeroth(void) { puts("zeroth"); }
        __attribute__((used, section("numbers"))) static int a_number = 3;
        int two(void) { return same_name() + (int)sizeof tentative / 40 + tentative[1] + hidden; }"#,
    );
    scratch.sh("clang-16 -fcommon -O1 -c -emit-llvm one.c two.c");
    scratch.behaves_like("one.bc+two.bc", "-fcommon -O1 one.c two.c");
    scratch.behaves_like("two.bc+one.bc", "-fcommon -O1 two.c one.c");
    let text = scratch.linked("one.bc+two.bc");
    assert!(
        text.contains("@tentative = common") && text.contains("[40 x i32]"),
        "{text}"
    );
}

#[test]
fn comdats_and_inline_functions_are_kept_once() {
    let scratch = Scratch::new();
    let template =
        "template <class T> T twice(T x) { static T calls; calls += 1; return x + x + calls; }
                    inline int shared() { static int n; return ++n; }\n";
    scratch.write(
        "one.cc",
        format!("{template} int two(); int main() {{ return twice(1) + shared() + two(); }}"),
    );
    scratch.write(
        "two.cc",
        format!("{template} int two() {{ return twice(10) * 2 + shared() * 5; }}"),
    );
    scratch.sh("clang++-16 -c -emit-llvm one.cc two.cc");
    scratch.behaves_like("one.bc+two.bc", "one.cc two.cc");
    let functions = scratch.functions("one.bc+two.bc");
    assert_eq!(functions.len(), 4, "{functions:?}");
}

#[test]
fn names_that_are_escaped_meet_plain_ones() {
    let scratch = Scratch::new();
    scratch.write(
        "one.ll",
        r#"declare i32 @"\01helper"(i32)
           define i32 @main() {
             %r = call i32 @"\01helper"(i32 1)
             ret i32 %r
           }"#,
    );
    scratch.write("two.ll", "define i32 @helper(i32 %x) {\n  ret i32 %x\n}\n");
    let text = scratch.linked("one.ll+two.ll");
    assert!(text.contains("call i32 @helper(i32 1)"), "{text}");
    assert!(!text.contains("declare i32 @helper"), "{text}");
}

#[test]
fn module_flags_that_disagree_do_not_matter() {
    let scratch = Scratch::with_program();
    scratch.sh(
        "clang-16 -c -emit-llvm -g -gdwarf-4 -fPIC main.c -o main.bc
         clang-16 -c -emit-llvm -g -gdwarf-5 -fPIE -fshort-wchar -mcmodel=large -fcf-protection helper.c",
    );
    scratch.behaves_like("main.bc+helper.bc", "main.c helper.c");
    let flags = |behavior| {
        format!(
            "!llvm.module.flags = !{{!0, !1}}
             !0 = !{{i32 {behavior}, !\"PIC Level\", i32 {behavior}}}
             !1 = !{{i32 {behavior}, !\"mine\", i32 {behavior}}}\n"
        )
    };
    scratch.write(
        "one.ll",
        format!(
            "declare i32 @f()\ndefine i32 @main() {{\n  %r = call i32 @f()\n  ret i32 %r\n}}\n{}",
            flags(1)
        ),
    );
    scratch.write(
        "two.ll",
        format!("define i32 @f() {{\n  ret i32 0\n}}\n{}", flags(2)),
    );
    let output = scratch.self_merge("one.ll+two.ll");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn the_vendor_field_of_a_triple_does_not_matter() {
    let scratch = Scratch::with_program();
    scratch.sh("clang-16 --target=x86_64-unknown-linux-gnu -c -emit-llvm helper.c");
    scratch.behaves_like("main.bc+helper.bc", "main.c helper.c");
}

#[test]
fn local_functions_of_one_name_are_told_apart_by_their_files() {
    let scratch = Scratch::new();
    scratch.sh("mkdir a b");
    for (file, body) in [
        ("a/f.c", "int a(void) { return helper() + 1; }"),
        ("b/f.c", "int b(void) { return helper() * 3; }"),
        (
            "c.c",
            "int a(void), b(void); int main(void) { return helper() + a() + b(); }",
        ),
        ("d.c", "int d(void) { return helper(); }"),
    ] {
        let local =
            "__attribute__((noinline)) static int helper(void) { static int n; return ++n; }";
        scratch.write(file, format!("{local}\n{body}\n"));
    }
    scratch.sh("for f in a/f b/f c d; do clang-16 -O1 -c -emit-llvm $f.c -o $f.bc; done");
    let expected = ["a", "b", "helper", "helper.c.c", "helper.f.c", "main"];
    assert_eq!(scratch.functions("a/f.bc+b/f.bc+c.bc"), expected);
    // Another file changes no other name.
    let functions = scratch.functions("a/f.bc+d.bc+b/f.bc+c.bc");
    let others = ["d", "helper.d.c"];
    assert!(expected
        .iter()
        .chain(&others)
        .all(|f| functions.contains(&f.to_string())));
    scratch.behaves_like("a/f.bc+b/f.bc+c.bc", "-O1 a/f.c b/f.c c.c");
}

#[test]
fn many_files_are_linked_in_groups() {
    let scratch = Scratch::new();
    const COUNT: usize = 150;
    let mut main = String::from("int total; void add(int n) { total += n; }\nint main(void) {\n");
    for i in 0..COUNT {
        main.push_str(&format!("  extern void f{i}(void); f{i}();\n"));
        scratch.write(
            &format!("f{i}.c"),
            format!(
                "void add(int); int common[{}]; static int n = {i};
                 __attribute__((weak)) int which(void) {{ return {i}; }}
                 void f{i}(void) {{ add(n + which() + (int)sizeof common); }}",
                i + 1
            ),
        );
    }
    main.push_str("  return total % 251;\n}\n");
    scratch.write("main.c", main);
    scratch.sh("clang-16 -fcommon -c -emit-llvm main.c f?.c f??.c f???.c
         llvm-ar-16 rc all.a main.bc f?.bc f??.bc f???.bc");
    scratch.behaves_like("all.a", "-fcommon main.c f?.c f??.c f???.c");
    assert!(scratch
        .linked("all.a")
        .contains(&format!("[{COUNT} x i32]")));
}
