//! Files that nobody damaged by accident: they go round in circles, name what cannot be read, or have sizes, names and
//! declarations that readers do not expect.

use anyhow::{Context, Result};
use fastrand::Rng;
use std::fs;
use std::path::Path;
use std::process::Command;

type Maker = fn(&mut Rng, &Path) -> Result<(Vec<String>, String)>;

const MAKERS: [Maker; 12] = [
    circle, list, list, long_name, long_name, nested, sized, archive, odd, odd, odd, odd,
];

/// Writes files to `directory`; returns their names, the one to use first, and what they are.
pub fn write(rng: &mut Rng, directory: &Path) -> Result<(Vec<String>, String)> {
    MAKERS[rng.usize(..MAKERS.len())](rng, directory)
}

fn one(
    directory: &Path,
    name: &str,
    contents: impl AsRef<[u8]>,
    what: &str,
) -> Result<(Vec<String>, String)> {
    fs::write(directory.join(name), contents)?;
    Ok((vec![name.to_string()], what.to_string()))
}

/// An object whose section `.llvm_bc` is `list`.
fn listing(directory: &Path, name: &str, list: &[u8]) -> Result<()> {
    let section = directory.join(format!("{name}.list"));
    fs::write(&section, list)?;
    let status = Command::new("llvm-objcopy-16")
        .arg(format!("--add-section=.llvm_bc={name}.list"))
        .args(["native.o", name])
        .current_dir(directory)
        .status()
        .context("llvm-objcopy-16")?;
    anyhow::ensure!(status.success(), "llvm-objcopy-16");
    fs::remove_file(section)?;
    Ok(())
}

/// Objects that list each other, the last one the first or, if there are very many, nothing.
fn circle(rng: &mut Rng, directory: &Path) -> Result<(Vec<String>, String)> {
    let count = [1, 2, 3, 8, 18, 40][rng.usize(..6)];
    let names: Vec<String> = (0..count)
        .map(|index| format!("hostile{index}.o"))
        .collect();
    let lists_twice = rng.bool();
    for (index, name) in names.iter().enumerate() {
        let mut list = format!("{}\n", names[(index + 1) % count]);
        if lists_twice {
            list = format!("plain.bc\n./{list}{list}");
        }
        listing(directory, name, list.as_bytes())?;
    }
    Ok((names, format!("a circle of {count} lists")))
}

fn list(rng: &mut Rng, directory: &Path) -> Result<(Vec<String>, String)> {
    let lists: [(&str, Vec<u8>); 18] = [
        ("/dev/zero", b"/dev/zero".to_vec()),
        ("/dev/stdin", b"/dev/stdin\n".to_vec()),
        ("a directory", b".\n".to_vec()),
        ("memory", b"/proc/self/mem\n".to_vec()),
        ("an executable", b"/bin/true\n".to_vec()),
        ("a long path", vec![b'x'; 5000]),
        ("a path of many parts", b"../".repeat(3000)),
        ("many of one", b"plain.bc\n".repeat(100_000)),
        ("many that are missing", b"./missing\n".repeat(100_000)),
        ("NULs around", b"\0\0plain.bc\0\0\0debug.bc\0".to_vec()),
        ("a NUL inside", b"pla\0in.bc".to_vec()),
        ("NULs", vec![0; 100_000]),
        ("the output", b"output\n".to_vec()),
        ("bytes", (0..3000).map(|_| rng.u8(..)).collect()),
        ("a megabyte without end", vec![0xff; 1 << 20]),
        ("blanks", b"  plain.bc  \n\t\n".to_vec()),
        ("an archive", b"bitcode.a\nobjects.a\n".to_vec()),
        ("text", b"text.ll\r\n".to_vec()),
    ];
    let (what, list) = &lists[rng.usize(..lists.len())];
    listing(directory, "hostile.o", list)?;
    Ok((vec!["hostile.o".to_string()], format!("a list of {what}")))
}

/// Where a module starts.
const HEAD: &str = "target datalayout = \"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-f80:128-n8:16:32:64-S128\"\n\
    target triple = \"x86_64-pc-linux-gnu\"\n";
const MAIN: &str = "define i32 @main() {\n ret i32 0\n}\n";

/// As text, or as what LLVM makes of the text if it takes it.
fn assembly(
    rng: &mut Rng,
    directory: &Path,
    text: &[u8],
    what: &str,
) -> Result<(Vec<String>, String)> {
    let made = one(directory, "hostile.ll", text, what)?;
    if rng.bool() {
        return Ok(made);
    }
    let assembled = Command::new("llvm-as-16")
        .args(["hostile.ll", "-o", "hostile.bc"])
        .current_dir(directory)
        .output()
        .context("llvm-as-16")?;
    Ok(match assembled.status.success() {
        true => (
            vec!["hostile.bc".to_string(), "hostile.ll".to_string()],
            what.to_string(),
        ),
        false => made,
    })
}

/// A name of a megabyte, or one with a NUL and other bytes in it, wherever modules have names.
fn long_name(rng: &mut Rng, directory: &Path) -> Result<(Vec<String>, String)> {
    const PLACES: [&str; 16] = [
        "define void @\"N\"() {\n ret void\n}\n",
        "define void @\"N\"() {\n call void @\"N\"()\n ret void\n}\n",
        "declare void @\"N\"()\ndefine void @f() {\n call void @\"N\"()\n ret void\n}\n",
        "@\"N\" = global i32 1\n@p = global ptr @\"N\"\n",
        "@\"N\" = internal global i32 1\n@p = global ptr @\"N\"\n",
        "@g = global i32 1\n@\"N\" = alias i32, ptr @g\n",
        "%\"N\" = type { i32 }\n@g = global %\"N\" zeroinitializer\n",
        "$\"N\" = comdat any\n@\"N\" = global i32 1, comdat\n",
        "@g = global i32 1, section \"N\"\n",
        "define void @f() gc \"N\" {\n ret void\n}\n",
        "define void @f() #0 {\n ret void\n}\nattributes #0 = { \"N\"=\"N\" }\n",
        "define void @f(i32 %\"N\") {\n\"N1\":\n ret void\n}\n",
        "!named = !{!0}\n!0 = !{!\"N\"}\n",
        "module asm \"N\"\n",
        "source_filename = \"N\"\ndefine internal void @steps() {\n ret void\n}\n",
        "declare void @\"N\"(...)\ndefine i32 @strlen(ptr %s) {\n call void (...) @\"N\"()\n ret i32 0\n}\n",
    ];
    let place = PLACES[rng.usize(..PLACES.len())];
    let names = [
        "x".repeat(1 << 20),
        "x".repeat(1 << 20) + "\\00",
        "a\\00b".to_string(),
        "\\01_a\\0Ab\\1B[2J".to_string(),
        "\\FF\\FE".to_string(),
        "%s%n/../'\\22$(id)".to_string(),
        String::new(),
        "\\C3\\A4".repeat(200_000),
    ];
    let name = &names[rng.usize(..names.len())];
    let text = format!("{HEAD}{}{MAIN}", place.replace('N', name));
    let mut start = name.clone();
    start.truncate(12);
    assembly(
        rng,
        directory,
        text.as_bytes(),
        &format!("the name {start} in {place:?}"),
    )
}

/// Things inside each other, very deep.
fn nested(rng: &mut Rng, directory: &Path) -> Result<(Vec<String>, String)> {
    let depth = [100, 3000, 30_000, 300_000][rng.usize(..4)];
    let around = |open: &str, inner: &str, close: &str| {
        [open.repeat(depth), inner.to_string(), close.repeat(depth)].concat()
    };
    let (what, text) = match rng.u8(..8) {
        0 => (
            "structures",
            format!("@g = global {} zeroinitializer\n", around("{", "i8", "}")),
        ),
        1 => (
            "arrays",
            format!(
                "@g = global {} zeroinitializer\n",
                around("[1 x ", "i8", "]")
            ),
        ),
        2 => ("metadata", format!("!0 = {}\n", around("!{", "!1", "}"))),
        3 => (
            "expressions",
            format!(
                "@g = global i64 {}\n",
                around("add (i64 1, i64 ", "ptrtoint (ptr @g to i64)", ")")
            ),
        ),
        4 => {
            let nodes: String = (0..depth.min(10_000))
                .map(|i| format!("!{i} = !{{!{}}}\n", i + 1))
                .collect();
            (
                "a chain of metadata",
                format!("!named = !{{!0}}\n{nodes}!{} = !{{}}\n", depth.min(10_000)),
            )
        }
        5 => {
            let count = depth.min(3000);
            let aliases: String = (0..count)
                .map(|i| format!("@a{i} = alias i32, ptr @a{}\n", i + 1))
                .collect();
            (
                "a chain of aliases",
                format!("{aliases}@a{count} = global i32 1\n"),
            )
        }
        6 => {
            let count = depth.min(20_000);
            let calls: String = (0..count)
                .map(|i| {
                    format!(
                        "define void @f{i}() {{\n call void @f{}()\n ret void\n}}\n",
                        i + 1
                    )
                })
                .collect();
            (
                "a chain of calls",
                format!("{calls}declare void @f{count}()\n"),
            )
        }
        _ => {
            let count = depth.min(10_000);
            let blocks: String = (0..count)
                .map(|i| format!("b{i}:\n br i1 %c, label %b{}, label %end\n", i + 1))
                .collect();
            (
                "a chain of branches",
                format!("define void @f(i1 %c) {{\n br label %b0\n{blocks}b{count}:\n br label %end\nend:\n ret void\n}}\n"),
            )
        }
    };
    let text = format!("{HEAD}{text}{MAIN}");
    assembly(rng, directory, text.as_bytes(), &format!("{depth} {what}"))
}

/// Types and constants of absurd sizes.
fn sized(rng: &mut Rng, directory: &Path) -> Result<(Vec<String>, String)> {
    const PLACES: [&str; 12] = [
        "@g = global [N x i8] zeroinitializer\n",
        "@g = global [N x [N x i32]] undef\n",
        "@g = internal global { [N x i8], [N x i64] } zeroinitializer\n@p = global ptr @g\n",
        "define void @f() {\n %a = alloca [N x i8]\n store i8 1, ptr %a\n ret void\n}\n",
        "define void @f(i64 %n) {\n %a = alloca i32, i64 N\n %b = load i32, ptr %a\n store i32 %b, ptr %a\n ret void\n}\n",
        "define <N x i8> @f(<N x i8> %a) {\n %b = add <N x i8> %a, %a\n ret <N x i8> %b\n}\n",
        "define iN @f(iN %a) {\n %b = mul iN %a, 3\n ret iN %b\n}\n",
        "@g = global i32 1, align N\n",
        "define void @f(ptr addrspace(N) %p) {\n store i8 1, ptr addrspace(N) %p, align 1\n ret void\n}\n",
        "define void @f(ptr byval([N x i8]) align 8 %p) {\n ret void\n}\ndefine void @g(ptr %p) {\n call void @f(ptr byval([N x i8]) align 8 %p)\n ret void\n}\n",
        "define [N x i8] @f() {\n ret [N x i8] zeroinitializer\n}\n",
        "define i8 @f(ptr %p) {\n %q = getelementptr [N x i8], ptr %p, i64 N, i64 N\n %r = load i8, ptr %q\n ret i8 %r\n}\n",
    ];
    const SIZES: [&str; 12] = [
        "0",
        "1",
        "3",
        "1000",
        "65536",
        "8388608",
        "8388609",
        "1073741824",
        "4294967295",
        "4294967296",
        "1152921504606846976",
        "18446744073709551615",
    ];
    let place = PLACES[rng.usize(..PLACES.len())];
    let size = SIZES[rng.usize(..SIZES.len())];
    let text = format!("{HEAD}{}{MAIN}", place.replace('N', size));
    assembly(
        rng,
        directory,
        text.as_bytes(),
        &format!("size {size} in {place:?}"),
    )
}

fn member(name: &str, size: &str, data: &[u8]) -> Vec<u8> {
    let mut member =
        format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644).into_bytes();
    member.extend(data);
    if member.len() % 2 == 1 {
        member.push(b'\n');
    }
    member
}

fn archive(rng: &mut Rng, directory: &Path) -> Result<(Vec<String>, String)> {
    let bitcode = fs::read(directory.join("plain.bc"))?;
    let whole = bitcode.len().to_string();
    let mut data = b"!<arch>\n".to_vec();
    let thin = || b"!<thin>\n".to_vec();
    let what = match rng.u8(..12) {
        0 => {
            data.extend(member("a.bc/", "4294967295", &bitcode));
            "a size beyond the end"
        }
        1 => {
            data.extend(member("a.bc/", "9999999999", &bitcode));
            "the largest size"
        }
        2 => {
            data.extend(member("/", "8", &[0xff; 8]));
            data.extend(member("a.bc/", &whole, &bitcode));
            "a symbol table of absurd offsets"
        }
        3 => {
            data.extend(member("//", "4", b"a/\n\n"));
            data.extend(member("/4294967295", &whole, &bitcode));
            "a name beyond the table"
        }
        4 => {
            data.extend(member("#1/4294967295", &whole, &bitcode));
            "a name longer than the member"
        }
        5 => {
            data.extend(member("a.o/", "0", b"").repeat(50_000));
            "many empty members"
        }
        6 => {
            data.extend(member("a.bc/", &whole, &bitcode).repeat(30));
            "the same member thirty times"
        }
        7 => {
            let inner = [&data[..], &member("a.bc/", &whole, &bitcode)].concat();
            data.extend(member("in.a/", &inner.len().to_string(), &inner));
            "an archive in an archive"
        }
        8 => {
            data = thin();
            data.extend(member("hostile.a/", "100", b""));
            "a thin archive of itself"
        }
        9 => {
            data = thin();
            data.extend(member("/dev/zero/", "100", b""));
            "a thin archive of a device"
        }
        10 => {
            let name = "n".repeat(1 << 20);
            data.extend(member(
                "//",
                &(name.len() + 2).to_string(),
                format!("{name}/\n").as_bytes(),
            ));
            data.extend(member("/0", &whole, &bitcode));
            data.extend(member("/0", "7", b"nothing"));
            "a name of a megabyte"
        }
        _ => {
            data.extend(member("a\0b\n.bc/", &whole, &bitcode[..bitcode.len() / 2]));
            "bytes in a name"
        }
    };
    one(directory, "hostile.a", data, what)
}

/// Modules, most of them valid, that say what no compiler says.
const ODD: [&str; 84] = [
    "target datalayout = \"e-p:64\"\n",
    "target datalayout = \"x\"\n",
    "target datalayout = \"e-i64:99999999999\"\n",
    "target triple = \"\"\n",
    "target triple = \"x86_64-pc-linux-gnu-gnu-gnu-gnu\"\n",
    "target triple = \"avr-unknown-unknown\"\n",
    "target triple = \"nvptx64-nvidia-cuda\"\n",
    "module asm \"!! no instruction\"\n",
    "module asm \".section .text\"\nmodule asm \".macro m\"\n",
    "module asm \".globl main\"\nmodule asm \"main: ret\"\n",
    "module asm \".incbin \\22/dev/zero\\22\"\n",
    "module asm \".rept 1000000000\"\nmodule asm \"nop\"\nmodule asm \".endr\"\n",
    "@llvm.used = appending global [1 x ptr] [ptr @main], section \"llvm.metadata\"\n",
    "@llvm.used = global i32 1\n",
    "@llvm.compiler.used = appending global [1 x ptr] [ptr null], section \"llvm.metadata\"\n",
    "@llvm.global_ctors = appending global [2 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 1, ptr null, ptr null }, { i32, ptr, ptr } { i32 2, ptr @main, ptr @main }]\n",
    "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 -1, ptr inttoptr (i64 5 to ptr), ptr null }]\n",
    "@llvm.global_ctors = global i32 1\n",
    "@llvm.global_ctors = appending global [0 x { i32, ptr, ptr }] zeroinitializer\n",
    "@llvm.global_ctors = appending global [1 x { i32, ptr, ptr }] undef\n",
    "@llvm.global_ctors = external global [1 x { i32, ptr, ptr }]\n",
    "@a = alias i32, ptr @b\n@b = alias i32, ptr @a\n",
    "@a = alias i32, ptr @missing\n",
    "@a = alias i32, getelementptr (i8, ptr @g, i64 100)\n@g = global i32 1\n",
    "@a = weak alias i32, ptr @g\n@g = available_externally global i32 1\n",
    "@i = ifunc void (), ptr @main\n",
    "@i = ifunc void (), ptr @r\ndefine ptr @r() {\n ret ptr @i\n}\n",
    "@g = extern_weak global i32\n@p = global i1 icmp eq (ptr @g, ptr null)\n",
    "@g = common global i32 0\n@h = common thread_local global i32 0\n",
    "@g = thread_local(initialexec) global i32 1\n@p = global ptr @g\n",
    "@g = dllimport global i32\n",
    "@g = global i64 ptrtoint (ptr @g to i64)\n@h = global i64 sub (i64 ptrtoint (ptr @g to i64), i64 ptrtoint (ptr @h to i64))\n",
    "@g = global ptr blockaddress(@f, %b)\ndefine void @f() {\n br label %b\nb:\n ret void\n}\n",
    "@g = addrspace(3) global i32 1\n",
    "@stdout = global i32 1\n@stderr = internal global i32 2\n@environ = global ptr null\n",
    "@stdout = thread_local global ptr null\n",
    "@errno = external thread_local global i32\ndefine void @f() {\n store i32 1, ptr @errno\n ret void\n}\n",
    "@exit = global i32 1\n@printf = alias i32, ptr @exit\n",
    "declare i8 @stdout()\ndefine i8 @f() {\n %a = call i8 @stdout()\n ret i8 %a\n}\n",
    "declare {i32, [5 x double]} @exit(<4 x float>, ...)\ndefine void @f() {\n call {i32, [5 x double]} (<4 x float>, ...) @exit(<4 x float> zeroinitializer, i8 1)\n ret void\n}\n",
    "declare void @printf()\ndefine void @f() {\n call void @printf()\n ret void\n}\n",
    "declare x86_fp80 @malloc(x86_fp80)\ndefine x86_fp80 @f() {\n %a = call x86_fp80 @malloc(x86_fp80 0xK3FFF8000000000000000)\n ret x86_fp80 %a\n}\n",
    "declare void @setjmp()\ndeclare i1 @fork(i1)\ndefine i1 @f() {\n call void @setjmp()\n %a = call i1 @fork(i1 1)\n ret i1 %a\n}\n",
    "declare void @pp_assert(i32)\ndeclare void @PP1(ptr)\ndefine void @f() {\n call void @pp_assert(i32 1)\n call void @PP1(ptr null)\n ret void\n}\n",
    "define void @p3v_run() {\n ret void\n}\n@p3v_index = global i32 7\n@p3v_alive = global i1 0\n",
    "define void @p3_shim_exit() {\n ret void\n}\n@p3_versions = global i8 1\ndefine void @p3v_die() {\n ret void\n}\n",
    "define void @_PP1_main() {\n ret void\n}\n@_PP2_g = global i32 1\ndefine void @_PP_main() {\n ret void\n}\n",
    "declare void @llvm.no.such.thing(i32)\ndefine void @f() {\n call void @llvm.no.such.thing(i32 1)\n ret void\n}\n",
    "declare i32 @llvm.memcpy.p0.p0.i64(i32)\ndefine void @f() {\n call i32 @llvm.memcpy.p0.p0.i64(i32 1)\n ret void\n}\n",
    "declare token @llvm.coro.id(i32, ptr, ptr, ptr)\ndeclare ptr @llvm.coro.begin(token, ptr)\ndefine ptr @f() presplitcoroutine {\n %i = call token @llvm.coro.id(i32 0, ptr null, ptr null, ptr null)\n %h = call ptr @llvm.coro.begin(token %i, ptr null)\n ret ptr %h\n}\n",
    "declare void @llvm.eh.sjlj.longjmp(ptr)\ndefine void @f(ptr %p) {\n call void @llvm.eh.sjlj.longjmp(ptr %p)\n unreachable\n}\n",
    "declare ptr @llvm.returnaddress(i32)\ndeclare ptr @llvm.frameaddress.p0(i32)\ndefine ptr @f() {\n %a = call ptr @llvm.returnaddress(i32 1000)\n ret ptr %a\n}\n",
    "declare void @llvm.localescape(...)\ndefine void @f() {\n %a = alloca i32\n call void (...) @llvm.localescape(ptr %a)\n ret void\n}\n",
    "declare void @llvm.va_start(ptr)\ndefine void @f(...) {\n %a = alloca [3 x i64]\n call void @llvm.va_start(ptr %a)\n ret void\n}\n",
    "define void @f() {\n unreachable\ndead:\n %x = add i32 %x, 1\n br label %dead\n}\n",
    "define i32 @f() {\n br label %b\nb:\n br label %b\n}\n",
    "define i32 @f(i32 %n) {\n switch i32 %n, label %d []\nd:\n ret i32 undef\n}\n",
    "define i32 @f(i1024 %n) {\n switch i1024 %n, label %d [i1024 -1, label %d\n i1024 17, label %d]\nd:\n ret i32 poison\n}\n",
    "define void @f(ptr %p) {\n indirectbr ptr %p, []\n}\n",
    "define void @f() personality ptr null {\n invoke void @f() to label %a unwind label %b\na:\n ret void\nb:\n %l = landingpad { ptr, i32 } cleanup\n resume { ptr, i32 } %l\n}\n",
    "define void @f() personality ptr @__C_specific_handler {\n invoke void @f() to label %a unwind label %b\na:\n ret void\nb:\n %s = catchswitch within none [label %c] unwind to caller\nc:\n %p = catchpad within %s [ptr null]\n catchret from %p to label %a\n}\ndeclare i32 @__C_specific_handler(...)\n",
    "define void @f() {\n callbr void asm \"\", \"!i\"() to label %a [label %b]\na:\n ret void\nb:\n ret void\n}\n",
    "define i32 @f() {\n %a = call i32 asm \"no such thing $0\", \"=r\"()\n ret i32 %a\n}\n",
    "define void @f() {\n call void asm sideeffect inteldialect \"mov eax, 0x$0\", \"i\"(i32 1)\n ret void\n}\n",
    "define void @f(ptr %p) {\n store atomic i128 1, ptr %p seq_cst, align 16\n ret void\n}\n",
    "define void @f(ptr swifterror %p) {\n ret void\n}\n",
    "define void @f(ptr inalloca(i32) %p) {\n ret void\n}\n",
    "define void @f(ptr preallocated(i32) %p) {\n ret void\n}\n",
    "define x86_mmx @f(x86_mmx %a) {\n ret x86_mmx %a\n}\n",
    "define x86_amx @f(x86_amx %a) {\n ret x86_amx %a\n}\n",
    "define <vscale x 4 x i32> @f(<vscale x 4 x i32> %a) {\n ret <vscale x 4 x i32> %a\n}\n",
    "define bfloat @f(bfloat %a, half %b, fp128 %c, ppc_fp128 %d) {\n ret bfloat %a\n}\n",
    "define target(\"spirv.Image\") @f() {\n ret target(\"spirv.Image\") undef\n}\n",
    "define void @f() naked {\n call void asm \"ret\", \"\"()\n unreachable\n}\n",
    "define cc 99 void @f() {\n call cc 99 void @f()\n ret void\n}\n",
    "define amdgpu_kernel void @f() {\n ret void\n}\n",
    "define void @f() prefix i32 1 prologue i8 144 {\n ret void\n}\n",
    "define void @f() \"target-cpu\"=\"no such\" \"target-features\"=\"+no,+such,avx\" {\n ret void\n}\n",
    "define void @f() \"patchable-function-entry\"=\"x\" \"stack-protector-buffer-size\"=\"x\" \"frame-pointer\"=\"x\" {\n ret void\n}\n",
    "!llvm.module.flags = !{!0}\n!0 = !{i32 1, !\"PIC Level\", !\"x\"}\n",
    "!llvm.module.flags = !{!0, !1}\n!0 = !{i32 3, !\"a\", !1}\n!1 = !{!\"b\", i32 1}\n",
    "!llvm.dbg.cu = !{!0}\n!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !0)\n",
    "!llvm.dbg.cu = !{!0}\n!llvm.module.flags = !{!2}\n!0 = distinct !DICompileUnit(language: DW_LANG_C99, file: !1, globals: !3)\n!1 = !DIFile(filename: \"\", directory: \"\")\n!2 = !{i32 2, !\"Debug Info Version\", i32 3}\n!3 = !{!3}\n",
    "!llvm.linker.options = !{!0}\n!0 = !{!\"/dev/zero\"}\n!llvm.ident = !{!1}\n!1 = !{i32 1}\n",
];

/// Entry functions that are none, or others.
const ENTRIES: [&str; 14] = [
    "define void @main() {\n ret void\n}\n",
    "define double @main(double %a, <4 x i32> %b, i128 %c) {\n ret double %a\n}\n",
    "define { i32, i32 } @main(ptr byval({ i32, ptr }) %a, ptr sret(i32) %b) {\n ret { i32, i32 } undef\n}\n",
    "define i32 @main(...) {\n ret i32 0\n}\n",
    "define i1 @main(i1 %a, i8 %b, i16 %c, i32 %d) {\n ret i1 1\n}\n",
    "@main = global i32 1\n",
    "@main = alias i32 (), ptr @f\ndefine i32 @f() {\n ret i32 4\n}\n",
    "@main = ifunc i32 (), ptr @f\ndefine ptr @f() {\n ret ptr null\n}\n",
    "define internal i32 @main() {\n ret i32 1\n}\n",
    "define weak i32 @main() {\n %a = call i32 @main()\n ret i32 %a\n}\n",
    "define available_externally i32 @main() {\n ret i32 1\n}\n",
    "declare i32 @main()\n",
    "define fastcc i32 @main(i32 %a, ptr %b) naked noreturn {\n unreachable\n}\n",
    "define i999 @main(i999 %a, ptr %b, ptr %c) {\n ret i999 %a\n}\n",
];

fn odd(rng: &mut Rng, directory: &Path) -> Result<(Vec<String>, String)> {
    if rng.u8(..4) == 0 {
        let entry = ENTRIES[rng.usize(..ENTRIES.len())];
        return assembly(rng, directory, format!("{HEAD}{entry}").as_bytes(), entry);
    }
    let count = rng.usize(1..3);
    let parts: Vec<&str> = (0..count).map(|_| ODD[rng.usize(..ODD.len())]).collect();
    let head = if parts[0].starts_with("target") {
        ""
    } else {
        HEAD
    };
    // A second part calls its function otherwise.
    let second = parts
        .get(1)
        .map(|part| part.replace("@f(", "@f2(").replace('!', "!1"));
    let text = [head, parts[0], &second.unwrap_or_default(), MAIN].concat();
    assembly(rng, directory, text.as_bytes(), &parts.join(" | "))
}
