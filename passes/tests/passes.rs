//! Each pass on assembly small enough to see what it does: the module as the observer of the pipeline gets it.

use inkwell::basic_block::BasicBlock;
use inkwell::values::{InstructionOpcode, InstructionValue};
use p3_passes::load::{Input, Source};
use p3_passes::pipeline::{self, Options, PrepareLevel, ProductChecks};
use p3_passes::weave::WeaveOptions;
use p3_passes::{new_context, Error, Module};

const TARGET: &str = "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128\"\n\
                      target triple = \"x86_64-pc-linux-gnu\"\n";

/// Two versions, each of one or more files, and how they are merged.
struct Merge {
    options: Options,
}

impl Merge {
    fn of(versions: &[&[&str]]) -> Merge {
        let inputs = versions.iter().map(|files| Input {
            files: files.iter().map(|text| bytes(text)).collect(),
        });
        Merge {
            options: Options {
                inputs: inputs.collect(),
                entry: "main".to_string(),
                prepare: PrepareLevel::None,
                checks: ProductChecks::default(),
                weave: WeaveOptions::default(),
                native_libraries: Vec::new(),
                harness: false,
                sites: false,
                verify: true,
            },
        }
    }

    /// One file, merged with itself.
    fn with_itself(text: &str) -> Merge {
        Merge::of(&[&[text], &[text]])
    }

    fn prepared(mut self, level: PrepareLevel) -> Merge {
        self.options.prepare = level;
        self
    }

    /// The module after `pass`: the first version's, or the product.
    fn after(&self, pass: &str) -> Text {
        let context = new_context();
        let mut found = String::new();
        let mut observe = |name: &'static str, version: Option<usize>, module: &Module| {
            if name == pass && version.unwrap_or(1) == 1 {
                found = module.print_to_string().to_string();
            }
            Ok(())
        };
        pipeline::merge(&context, &self.options, &mut observe).unwrap();
        assert!(!found.is_empty(), "no module after {pass}");
        Text(found)
    }

    fn error(&self) -> Error {
        let context = new_context();
        let mut observe = |_: &'static str, _: Option<usize>, _: &Module| Ok(());
        let merged = pipeline::merge(&context, &self.options, &mut observe);
        merged.err().expect("this cannot be merged")
    }
}

fn bytes(text: &str) -> Source {
    Source::Bytes {
        name: "small.ll".to_string(),
        data: format!("{TARGET}{text}").into_bytes().into(),
    }
}

/// A module's assembly.
struct Text(String);

impl Text {
    /// The definition of a function.
    fn function(&self, name: &str) -> &str {
        let head = format!(" @{name}(");
        let start = self
            .0
            .match_indices("define ")
            .map(|(at, _)| at)
            .find(|at| self.0[*at..].lines().next().unwrap().contains(&head));
        let start = start.unwrap_or_else(|| panic!("no definition of {name} in\n{}", self.0));
        let end = self.0[start..].find("\n}\n").unwrap();
        &self.0[start..start + end]
    }

    /// The line that defines a variable or alias.
    fn global(&self, name: &str) -> &str {
        let head = format!("@{name} = ");
        let line = self.0.lines().find(|line| line.starts_with(&head));
        line.unwrap_or_else(|| panic!("no {name}"))
    }

    fn has(&self, part: &str) -> bool {
        self.0.contains(part)
    }
}

/// The position of each part in `text`, which must contain them in this order.
fn in_order(text: &str, parts: &[&str]) {
    let mut rest = text;
    for part in parts {
        let at = rest
            .find(part)
            .unwrap_or_else(|| panic!("no {part} (here or at all) in\n{text}"));
        rest = &rest[at + part.len()..];
    }
}

#[test]
fn link_joins_files_and_keeps_local_names_apart() {
    let main = "@state = internal global i32 1\n\
                declare i32 @helper()\n\
                define i32 @main() {\n  %1 = load i32, ptr @state\n  %2 = call i32 @helper()\n  ret i32 %2\n}\n";
    let helper = "@state = internal global i32 2\n\
                  define i32 @helper() {\n  %1 = load i32, ptr @state\n  ret i32 %1\n}\n";
    let linked = Merge::of(&[&[main, helper], &[main, helper]]).after("link");
    assert!(linked.function("main").contains("ptr @state,"));
    assert!(linked.function("helper").contains("ptr @state."));
    assert!(linked.global("state").contains("global i32 1"));
}

#[test]
fn link_takes_the_strong_definition() {
    let weak = "define weak i32 @f() {\n  ret i32 1\n}\n\
                define i32 @main() {\n  %1 = call i32 @f()\n  ret i32 %1\n}\n";
    let strong = "define i32 @f() {\n  ret i32 2\n}\n";
    let linked = Merge::of(&[&[weak, strong], &[weak, strong]]).after("link");
    assert!(linked.function("f").contains("ret i32 2"));
    let clash = Merge::of(&[&[strong, strong], &[strong, strong]]).error();
    assert_eq!(clash.exit_status(), 2);
}

const LOOP: &str = "define i32 @main(i32 %argc, ptr %argv) noinline optnone {\n\
    entry:\n  %n = alloca i32\n  store i32 0, ptr %n\n  br label %head\n\
    head:\n  %i = load i32, ptr %n\n  %low = icmp sge i32 %i, 3\n  br i1 %low, label %both, label %body\n\
    both:\n  %high = icmp sle i32 %i, 9\n  br i1 %high, label %done, label %body\n\
    body:\n  %same = mul i32 %argc, 7\n  %next = add i32 %i, %same\n  store i32 %next, ptr %n\n  br label %head\n\
    done:\n  %result = load i32, ptr %n\n  ret i32 %result\n}\n";

#[test]
fn prepare_none_only_lets_later_passes_in() {
    let merge = Merge::with_itself(LOOP);
    let text = merge.after("prepare");
    assert!(!text.has("optnone"));
    in_order(text.function("main"), &["alloca", "both:", "icmp sle"]);
}

#[test]
fn prepare_fold_makes_ssa_form_and_one_condition_of_two() {
    let text = Merge::with_itself(LOOP)
        .prepared(PrepareLevel::Fold)
        .after("prepare");
    let main = text.function("main");
    assert!(!text.has("optnone") && !main.contains("alloca") && !main.contains("both:"));
    in_order(main, &["phi i32", "icmp sge", "icmp sle"]);
    assert_eq!(main.matches("br i1").count(), 1, "{main}");
}

#[test]
fn prepare_fold_makes_one_condition_of_memory_read_twice() {
    let text = Merge::with_itself(
        "define i32 @main(i32 %argc, ptr %argv) {\n\
         entry:\n  %a = load i8, ptr %argv\n  %low = icmp sge i8 %a, 48\n  br i1 %low, label %both, label %no\n\
         both:\n  %b = load i8, ptr %argv\n  %high = icmp sle i8 %b, 57\n  br i1 %high, label %yes, label %no\n\
         yes:\n  br label %no\n\
         no:\n  %r = phi i32 [ 0, %entry ], [ 0, %both ], [ 1, %yes ]\n  ret i32 %r\n}\n",
    )
    .prepared(PrepareLevel::Fold)
    .after("prepare");
    let main = text.function("main");
    assert_eq!(main.matches("load i8").count(), 1, "{main}");
    assert_eq!(main.matches("br i1").count(), 0, "{main}");
}

/// `main` chooses one of two values by a branch and calls `second`, which uses it (`%x`).
fn selecting(ty: &str, values: [&str; 2], used: &str) -> String {
    format!(
        "@bytes = internal global [8 x i8] zeroinitializer\n@other = internal global i32 0\n\
         declare ptr @malloc(i64)\ndeclare void @put(i32)\n\
         define i32 @second({ty} %x) {{\n  {used}\n  ret i32 0\n}}\n\
         define i32 @main(i32 %argc, ptr %argv) {{\n\
         entry:\n  %c = icmp sgt i32 %argc, 1\n  br i1 %c, label %yes, label %no\n\
         yes:\n  br label %no\n\
         no:\n  %x = phi {ty} [ {}, %entry ], [ {}, %yes ]\n  %r = call i32 @second({ty} %x)\n  ret i32 %r\n}}\n",
        values[0], values[1]
    )
}

#[test]
fn prepare_keeps_the_branches_that_addresses_depend_on() {
    let pointer = selecting("ptr", ["@bytes", "@other"], "%v = load volatile i8, ptr %x");
    let index = selecting(
        "i32",
        ["1", "2"],
        "%wide = sext i32 %x to i64\n  %p = getelementptr i8, ptr @bytes, i64 %wide\n  store i8 1, ptr %p",
    );
    let size = selecting("i64", ["1", "2"], "%p = call ptr @malloc(i64 %x)");
    for text in [pointer, index, size] {
        let text = Merge::with_itself(&text)
            .prepared(PrepareLevel::Fold)
            .after("prepare");
        let main = text.function("main");
        assert!(!main.contains("= select"), "{main}");
        in_order(main, &["br i1", "phi "]);
        assert!(main.contains("load volatile i8, ptr @p3.apart"), "{main}");
    }
}

#[test]
fn prepare_makes_data_of_branches_that_no_address_depends_on() {
    let text = selecting("i32", ["1", "2"], "call void @put(i32 %x)");
    let text = Merge::with_itself(&text)
        .prepared(PrepareLevel::Fold)
        .after("prepare");
    let main = text.function("main");
    assert!(
        main.contains("= select") && !main.contains("br i1"),
        "{main}"
    );
}

#[test]
fn prepare_o1_moves_code_out_of_loops() {
    let text = Merge::with_itself(LOOP)
        .prepared(PrepareLevel::O1)
        .after("prepare");
    let main = text.function("main");
    assert!(!main.contains("alloca"));
    in_order(main, &["mul i32 %argc, 7", "br ", "phi i32"]);
}

#[test]
fn isolate_binds_libc_to_the_versions_own_runtime() {
    let text = Merge::with_itself(
        "declare i32 @puts(ptr)\ndeclare i32 @unknown()\n\
         define i32 @getenv() {\n  ret i32 5\n}\n\
         define i32 @main(i32 %argc, ptr %argv) {\n  %1 = call i32 @puts(ptr null)\n\
         \x20 %2 = call i32 @getenv()\n  %3 = call i32 @unknown()\n  ret i32 %2\n}\n",
    )
    .after("isolate");
    let main = text.function("main");
    in_order(
        main,
        &[
            "call i32 @p3_shim_puts(",
            "load i32, ptr @p3v_errno",
            "call i32 @unknown()",
            "store i32 %",
            "ptr @p3v_errno",
        ],
    );
    // The program's own getenv has libc's name, and wins.
    assert!(main.contains("call i32 @getenv"), "{main}");
    assert!(text.function("p3v_user_main").contains("@main"));
    assert!(text.global("p3v_index").contains("i32 0"));
}

#[test]
fn isolate_exchanges_nothing_for_a_threads_own_values() {
    let text = Merge::with_itself(
        "declare ptr @pthread_getspecific(i32)\ndeclare i32 @pthread_setspecific(i32, ptr)\n\
         declare i32 @unknown()\ndefine i32 @main() {\n  %1 = call i32 @unknown()\n\
         \x20 %2 = call ptr @pthread_getspecific(i32 %1)\n\
         \x20 %3 = call i32 @pthread_setspecific(i32 %1, ptr %2)\n  ret i32 %3\n}\n",
    )
    .after("isolate");
    let main = text.function("main");
    in_order(
        main,
        &[
            "@p3_enter(",
            "call i32 @unknown(",
            "@pthread_getspecific(",
            "@pthread_setspecific(",
        ],
    );
    assert_eq!(main.matches("@p3_").count(), 1, "{main}");
}

#[test]
fn isolate_takes_constructors_from_the_loader() {
    let text = Merge::with_itself(
        "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] \
         [{ i32, ptr, ptr } { i32 65535, ptr @early, ptr null }]\n\
         define internal void @early() {\n  ret void\n}\n\
         define i32 @main() {\n  ret i32 0\n}\n",
    )
    .after("isolate");
    assert!(!text.has("@llvm.global_ctors"));
    assert!(text.function("p3v_user_ctors").contains("@early"));
}

const ENDING: &str = "declare void @exit(i32) noreturn\n\
    define void @leave() noreturn {\n  call void @exit(i32 3) noreturn\n  unreachable\n}\n\
    define i32 @pure(i32 %x) {\n  %1 = add i32 %x, 1\n  ret i32 %1\n}\n\
    define i32 @main(i32 %argc, ptr %argv) {\n  %1 = call i32 @pure(i32 %argc)\n\
    \x20 call void @leave()\n  %2 = add i32 %1, 1\n  ret i32 %2\n}\n\
    define i32 @last(i32 %x) {\n  %1 = icmp eq i32 %x, 0\n  br i1 %1, label %a, label %b\n\
    a:\n  %2 = tail call i32 @main(i32 1, ptr null)\n  br label %b\n\
    b:\n  %3 = phi i32 [ %2, %a ], [ 7, %0 ]\n  ret i32 %3\n}\n";

#[test]
fn terminate_returns_behind_calls_that_may_end_the_version() {
    let text = Merge::with_itself(ENDING).after("terminate");
    let head = text.function("leave").lines().next().unwrap();
    assert!(!head.contains("noreturn"), "{head}");
    in_order(
        text.function("leave"),
        &[
            "@p3_shim_exit",
            "@p3v_alive",
            "br i1",
            "unreachable",
            "ret void",
        ],
    );
    in_order(
        text.function("main"),
        &[
            "@pure",
            "@leave",
            "@p3v_alive",
            "br i1",
            "ret i32 %4",
            "ret i32 0",
        ],
    );
    assert!(!text.function("pure").contains("@p3v_alive"));
    // Nothing comes behind that call but the return.
    assert!(!text.function("last").contains("@p3v_alive"));
}

#[test]
fn rename_prefixes_every_definition() {
    let text = Merge::with_itself(
        "$group = comdat any\n\
         @common = common global i32 0\n@shared = linkonce_odr global i32 1, comdat($group)\n\
         @local = thread_local global i32 2\n@table = global [1 x ptr] [ptr @f], section \"my_set\"\n\
         @again = alias i32 (), ptr @f\ndeclare i32 @unknown()\n\
         define weak i32 @f() {\n  %1 = call i32 @unknown()\n  %2 = load i32, ptr @common\n\
         \x20 %3 = load i32, ptr @shared\n  %4 = load i32, ptr @local\n  %5 = load i32, ptr @table\n  ret i32 %1\n}\n\
         define i32 @main() {\n  %1 = call i32 @again()\n  ret i32 %1\n}\n",
    )
    .after("rename");
    for name in ["common", "shared", "local", "table", "again"] {
        let line = text.global(&format!("_PP1_{name}"));
        assert!(line.contains("= internal"), "{line}");
        assert!(!line.contains("comdat"), "{line}");
    }
    assert!(text.global("_PP1_local").contains("thread_local"));
    assert!(!text.global("_PP1_table").contains("\"my_set\""));
    assert!(text.function("_PP1_f").starts_with("define internal"));
    assert!(text.function("_PP1_f").contains("call i32 @unknown()"));
    assert!(text.function("_PP1_main").contains("@_PP1_again()"));
}

#[test]
fn weave_adds_product_functions_and_keeps_the_plain_ones() {
    let version = |result: u32| {
        format!(
            "define i32 @f(i32 %x) noinline {{\n  %zero = icmp eq i32 %x, 0\n  br i1 %zero, label %a, label %b\n\
             a:\n  ret i32 {result}\nb:\n  ret i32 2\n}}\n\
             define i32 @main(i32 %argc, ptr %argv) {{\n  %1 = call i32 @f(i32 %argc)\n  ret i32 %1\n}}\n"
        )
    };
    let (old, new) = (version(7), version(8));
    let merge = Merge::of(&[&[&old], &[&new]]);
    let text = merge.after("weave");
    assert!(text.function("_PP1_f").contains("ret i32 7"));
    assert!(text.function("_PP2_f").contains("ret i32 8"));
    // One call of the product function; the conditions are compared as data before the branch on the first.
    assert_eq!(text.function("_PP_main").matches("@_PP_f(").count(), 1);
    let product = text.function("_PP_f");
    assert_eq!(product.matches("icmp eq i32").count(), 2, "{product}");
    in_order(product, &["icmp eq i32", "icmp eq i32", "br i1"]);
    assert!(product.contains("@_PP_f.diverged("), "{product}");
    text.function("_PP_f.diverged");
}

#[test]
fn weave_takes_phis_of_values_that_are_never_computed() {
    let text = "define i32 @main(i32 %argc, ptr %argv) {\nentry:\n  br label %join\n\
                dead:\n  %v = add i32 %argc, 1\n  br label %join\n\
                join:\n  %r = phi i32 [ 7, %entry ], [ %v, %dead ]\n  ret i32 %r\n}\n";
    let woven = Merge::with_itself(text).after("weave");
    let product = woven.function("_PP_main");
    assert!(!product.contains("add i32"), "{product}");
    assert_eq!(product.matches("store i32 7").count(), 2, "{product}");
}

#[test]
fn weave_leaves_variadic_functions_alone() {
    let text = "define i32 @f(i32 %x, ...) {\n  ret i32 %x\n}\n\
                define i32 @main(i32 %argc, ptr %argv) {\n  %1 = call i32 (i32, ...) @f(i32 %argc, i32 1)\n  ret i32 %1\n}\n";
    let merge = Merge::with_itself(text);
    let woven = merge.after("weave");
    assert!(!woven.has("@_PP_f("));
    in_order(woven.function("_PP_main"), &["@_PP1_f(", "@_PP2_f("]);
}

#[test]
fn weave_does_not_expect_what_a_computed_name_may_find() {
    // A handler that jumps would leave nothing woven; `jumps` is one by its type.
    let program = |string: &str, name: &str| {
        format!(
            "{string}declare ptr @dlsym(ptr, ptr)
declare ptr @signal(i32, ptr)
declare void @longjmp(ptr, i32)
define void @handler(i32 %number) {{
  ret void
}}
define void @jumps(i32 %number) {{
  call void @longjmp(ptr null, i32 1)
  ret void
}}
define i32 @main(i32 %argc, ptr %argv) {{
  %before = call ptr @signal(i32 2, ptr @handler)
  %word = load ptr, ptr %argv
  %symbol = call ptr @dlsym(ptr null, ptr {name})
  call void @jumps(i32 %argc)
  ret i32 0
}}
"
        )
    };
    let is_woven = |string: &str, name: &str| {
        let merge = Merge::with_itself(&program(string, name));
        merge.after("weave").has(" @_PP_main(")
    };
    let string = "@name = constant [6 x i8] c\"jumps\\00\"\n";
    assert!(is_woven("", "%word"));
    assert!(!is_woven(string, "@name"));
    assert!(!is_woven(string, "%word"));
}

#[test]
fn finish_leaves_one_program() {
    let text = Merge::with_itself(ENDING).after("finish");
    let visible: Vec<&str> = text
        .0
        .lines()
        .filter(|line| line.starts_with("define ") && !line.starts_with("define internal"))
        .filter(|line| !line.contains(" @klee_"))
        .collect();
    assert!(
        matches!(visible.as_slice(), [main] if main.contains(" @main(")),
        "{visible:#?}"
    );
    assert!(text.global("p3_count").contains("constant i32 2"));
    assert!(text.global("p3_checks").contains("constant i32 39"));
    assert!(text.global("p3_versions").contains("@_PP1_p3v_hooks"));
    assert!(!text.has("@llvm.threadlocal.address"));
}

/// Phis that have the same value on one edge and differ on the other; the first reads the last, whose slot therefore
/// comes before the second's.
const PHIS_IN_TURN: &str = "define i32 @main(i32 %argc, ptr %argv) {
entry:
  br label %loop
loop:
  %a = phi i32 [ 0, %entry ], [ %c, %loop ]
  %b = phi i32 [ 1, %entry ], [ %more, %loop ]
  %c = phi i32 [ 1, %entry ], [ %a, %loop ]
  %more = add i32 %b, %argc
  %goes_on = icmp slt i32 %more, 9
  br i1 %goes_on, label %loop, label %done
done:
  %sum = add i32 %a, %more
  ret i32 %sum
}
";

#[test]
fn check_accepts_phis_whose_slots_are_in_another_order() {
    Merge::with_itself(PHIS_IN_TURN).after("finish");
}

#[test]
fn check_refuses_phis_whose_values_are_exchanged() {
    let exchanged = refused(PHIS_IN_TURN, |block| {
        let is_edge = block.get_name().to_bytes().starts_with(b"edge");
        is_edge && exchange_first_values(block)
    });
    assert_eq!(exchanged, 2);
}

#[test]
fn check_accepts_another_versions_phi_of_the_same_value() {
    // The first version is still in front of its phi where the second one's has got its 0.
    let version = |blocks: &str| {
        format!("define i32 @main(i32 %argc, ptr %argv) {{\n  %is = icmp sgt i32 %argc, 1\n{blocks}}}\n")
    };
    let old = version(
        "  br i1 %is, label %join, label %empty
empty:
  br label %join
join:
  %zero = phi i64 [ 0, %empty ], [ 0, %0 ]
  ret i32 0
",
    );
    let new = version(
        "  br i1 %is, label %some, label %join
some:
  %first = load volatile ptr, ptr %argv
  br label %join
join:
  %bit = phi i64 [ 1, %some ], [ 0, %0 ]
  br label %loop
loop:
  br label %loop
",
    );
    Merge::of(&[&[&old], &[&new]])
        .prepared(PrepareLevel::None)
        .after("finish");
}

/// Merges `text` with itself and lets `change` loose on the blocks of `_PP_main`, which the checker has to refuse then.
/// Returns how many were changed.
fn refused(text: &str, mut change: impl FnMut(&BasicBlock) -> bool) -> usize {
    let mut changed = 0;
    refused_after(text, "_PP_main", |module| {
        let function = module.get_function("_PP_main");
        for block in function.into_iter().flat_map(|f| f.get_basic_blocks()) {
            changed += usize::from(change(&block));
        }
    });
    changed
}

/// Merges `text` with itself and lets `change` loose on what weave makes of it: the checker has to refuse `function` then.
fn refused_after(text: &str, function: &str, mut change: impl FnMut(&Module)) {
    let mut observe = |pass: &'static str, _: Option<usize>, module: &Module| {
        if pass == "weave" {
            change(module);
        }
        Ok(())
    };
    let merge = Merge::with_itself(text);
    let context = new_context();
    let merged = pipeline::merge(&context, &merge.options, &mut observe);
    let error = merged.err().expect("the change is noticed");
    assert!(error.to_string().contains(function), "{error}");
}

/// Exchanges what the first two stores of a block store.
fn exchange_first_values(block: &BasicBlock) -> bool {
    let stores: Vec<InstructionValue> = block
        .get_instructions()
        .filter(|i| i.get_opcode() == InstructionOpcode::Store)
        .take(2)
        .collect();
    let values: Vec<_> = stores
        .iter()
        .filter_map(|store| store.get_operand(0)?.value())
        .collect();
    stores[0].set_operand(0, values[1]) && stores[1].set_operand(0, values[0])
}

/// Both branch on whether two addresses are equal, which LLVM does not decide, with their targets exchanged. The product
/// compares the conditions, and LLVM folds that to the exclusive or of one and the other's complement.
#[test]
fn check_accepts_exchanged_targets_of_constant_conditions() {
    let version = |targets: &str| {
        format!(
            "@g = global [4 x i32] zeroinitializer
@h = global i32 0
declare i32 @putchar(i32)
define i32 @main(i32 %argc, ptr %argv) {{
entry:
  br i1 icmp ne (ptr getelementptr ([4 x i32], ptr @g, i64 1), ptr @h), {targets}
a:
  %more = load volatile i32, ptr @g
  %twice = mul i32 %more, 2
  %shifted = ashr i32 %twice, %argc
  br label %end
b:
  %second = call i32 @putchar(i32 98)
  store volatile i32 %argc, ptr @h
  br label %end
end:
  %result = phi i32 [ %shifted, %a ], [ 3, %b ]
  ret i32 %result
}}
"
        )
    };
    let (old, new) = (version("label %a, label %b"), version("label %b, label %a"));
    let text = Merge::of(&[&[&old], &[&new]]).after("weave");
    assert!(text.has("br i1 xor (i1 icmp eq (ptr getelementptr"));
}

/// A branch and a switch on one value, of which the branch says something and the switch the rest. `cases` are the
/// switch's; the branch has found out that the value is not `number`, or is not anything else.
fn branch_and_switch(targets: &str, number: u32, cases: &str) -> String {
    format!(
        "@g = global i32 0
define i32 @main(i32 %argc, ptr %argv) {{
entry:
  %is = icmp eq i32 %argc, {number}
  br i1 %is, {targets}
other:
  switch i32 %argc, label %end [ {cases} ]
again:
  br i1 %is, label %end, label %more
more:
  store volatile i32 %argc, ptr @g
  br label %end
end:
  ret i32 0
}}
"
    )
}

/// At the switch's default the value is none of the cases, and not the number either.
fn branch_before_switch() -> String {
    let cases = "i32 1, label %again i32 0, label %again";
    branch_and_switch("label %again, label %other", 0, cases)
}

#[test]
fn check_accepts_a_switch_on_what_was_branched_on() {
    let text = branch_before_switch();
    let merge = || Merge::with_itself(&text);
    merge().after("finish");
    merge().prepared(PrepareLevel::None).after("finish");
}

#[test]
fn check_accepts_a_switch_whose_default_is_never_taken() {
    let cases = "i32 5, label %again i32 6, label %more";
    let text = branch_and_switch("label %other, label %again", 5, cases);
    let merge = Merge::with_itself(&text).prepared(PrepareLevel::None);
    merge.after("finish");
}

#[test]
fn check_accepts_a_switch_without_cases() {
    let text = "define i32 @main(i32 %argc, ptr %argv) {
  switch i32 %argc, label %next []
next:
  %more = icmp sgt i32 %argc, 1
  br i1 %more, label %a, label %b
a:
  %word = load volatile ptr, ptr %argv
  switch i32 %argc, label %b []
b:
  %result = phi i32 [ 1, %a ], [ 0, %next ]
  ret i32 %result
}
";
    let merge = Merge::with_itself(text).prepared(PrepareLevel::None);
    merge.after("finish");
}

#[test]
fn check_refuses_a_switch_with_another_case() {
    let changed = refused(&branch_before_switch(), |block| {
        let end = block.get_terminator();
        let switch = end.filter(|end| end.get_opcode() == InstructionOpcode::Switch);
        let seven = block.get_context().i32_type().const_int(7, false);
        switch.is_some_and(|switch| switch.set_operand(2, seven))
    });
    assert_eq!(changed, 1);
}

/// Functions of one type whose addresses are taken, so many that dispatchers look them up in a table, and a call of one.
fn many_pointers() -> String {
    let names: Vec<String> = (0..12).map(|number| format!("@f{number}")).collect();
    let functions = names.iter().map(|name| {
        format!("define internal i32 {name}(i32 %x) {{\n%y = add i32 %x, 1\nret i32 %y\n}}\n")
    });
    let all: Vec<String> = names.iter().map(|name| format!("ptr {name}")).collect();
    format!(
        "{}@all = internal global [12 x ptr] [{}]\n\
         define i32 @main(i32 %argc, ptr %argv) {{\n\
         %at = getelementptr [12 x ptr], ptr @all, i32 0, i32 %argc\n\
         %f = load ptr, ptr %at\n%r = call i32 %f(i32 %argc)\nret i32 %r\n}}\n",
        functions.collect::<String>(),
        all.join(", ")
    )
}

#[test]
fn weave_jumps_to_product_functions_found_in_a_table() {
    let text = Merge::with_itself(&many_pointers()).after("finish");
    let dispatcher = text.function("_PP_dispatch.0");
    in_order(
        dispatcher,
        &[
            "call i64 @p3_dispatch(ptr @_PP_dispatch.0.table, ptr %4)",
            "icmp ult i64",
            "icmp eq ptr %4, ",
            "icmp eq ptr %5, ",
            "= tail call { i32, i32 } %",
            "(i1 true, i1 true, i32 %2, i32 %3)",
            "ret { i32, i32 } %",
        ],
    );
    assert!(text.has("{ ptr @_PP1_f7, ptr @_PP2_f7, ptr @_PP_f7 }"));
    // Nobody removes the parameters that it does not use.
    assert!(text
        .global("llvm.compiler.used")
        .contains("@_PP_dispatch.0"));
}

/// The instructions of the dispatcher with this opcode.
fn of_dispatcher<'m>(module: &Module<'m>, opcode: InstructionOpcode) -> Vec<InstructionValue<'m>> {
    let blocks = module
        .get_function("_PP_dispatch.0")
        .unwrap()
        .get_basic_blocks();
    let all = blocks
        .into_iter()
        .flat_map(|block| block.get_instructions());
    all.filter(|i| i.get_opcode() == opcode).collect()
}

#[test]
fn check_refuses_another_entry_than_that_of_the_pointers() {
    let text = many_pointers();
    // The number of entries, which no number may exceed.
    refused_after(&text, "_PP_dispatch.0", |module| {
        let bound = of_dispatcher(module, InstructionOpcode::ICmp)[0];
        let more = module.get_context().i64_type().const_int(13, false);
        assert!(bound.set_operand(1, more));
    });
    // The second version's pointer is compared with the first one's function; the product function is another entry's.
    let cells = [(1, 4, 0), (2, 3, 5)];
    for (cell, operand, value) in cells {
        refused_after(&text, "_PP_dispatch.0", |module| {
            let address = of_dispatcher(module, InstructionOpcode::GetElementPtr)[cell];
            let context = module.get_context();
            let integer = match operand {
                3 => context.i64_type(),
                _ => context.i32_type(),
            };
            assert!(address.set_operand(operand, integer.const_int(value, false)));
        });
    }
    // A pointer is not compared with anything.
    refused_after(&text, "_PP_dispatch.0", |module| {
        let branch = of_dispatcher(module, InstructionOpcode::Br)[2];
        let holds = module.get_context().bool_type().const_int(1, false);
        assert!(branch.set_operand(0, holds));
    });
}

#[test]
fn check_refuses_a_table_with_product_functions_exchanged() {
    refused_after(&many_pointers(), "_PP_dispatch.0", |module| {
        let context = module.get_context();
        let pointer = |name: String| {
            let function = module.get_function(&name).unwrap();
            function.as_global_value().as_pointer_value().into()
        };
        let entries: Vec<_> = (0..12)
            .map(|number| {
                let product = [1, 0].get(number).copied().unwrap_or(number);
                let cells = [
                    pointer(format!("_PP1_f{number}")),
                    pointer(format!("_PP2_f{number}")),
                    pointer(format!("_PP_f{product}")),
                ];
                context.const_struct(&cells, false)
            })
            .collect();
        let integer = |number| context.i32_type().const_int(number, false).into();
        let all = entries[0].get_type().const_array(&entries).into();
        let table = context.const_struct(&[integer(12), integer(3), integer(0), all], false);
        let global = module.get_global("_PP_dispatch.0.table").unwrap();
        global.set_initializer(&table);
    });
}
