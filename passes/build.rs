//! Compiles the C runtime to bitcode, which the library embeds, and the few LLVM wrappers that the C API lacks.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The LLVM major version that the Cargo features select.
const LLVM_MAJOR: &str = "16";

/// What KLEE executes of core/ and version/ on every path is compiled for speed, so that symbolic execution is short;
/// the rest, which every product has, for size.
const ON_EVERY_PATH: [&str; 9] = [
    "check",
    "exit",
    "main",
    "memory",
    "message",
    "print",
    "stdio_print",
    "stdio_std",
    "symbolic",
];

fn main() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let runtime = Path::new("../runtime");
    println!("cargo:rerun-if-changed=../runtime");
    for part in ["alone", "core", "entry", "harness", "version"] {
        compile_runtime(runtime, part, &out);
    }
    compile_wrappers();
}

/// `runtime/PART/*.c` -> `OUT_DIR/PART.bc`, one module.
fn compile_runtime(runtime: &Path, part: &str, out: &Path) {
    let mut sources: Vec<PathBuf> = fs::read_dir(runtime.join(part))
        .expect("the runtime's sources stand beside the crate")
        .map(|entry| entry.expect("a readable directory").path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .collect();
    sources.sort();
    let mut modules = Vec::new();
    for source in &sources {
        let stem = source.file_stem().expect("a file name").to_string_lossy();
        let module = out.join(format!("{part}-{stem}.bc"));
        let mut clang = Command::new(format!("clang-{LLVM_MAJOR}"));
        // Vectors, library-call rewriting and stack protectors are off because KLEE interprets this code and the
        // version's libc may be uclibc.
        let is_part_of_all = ["core", "version"].contains(&part);
        let level = match is_part_of_all && !ON_EVERY_PATH.contains(&&*stem) {
            true => "-Oz",
            false => "-O1",
        };
        clang.args(["-c", "-emit-llvm", level, "-std=gnu11", "-D_GNU_SOURCE"]);
        clang.args(["-fno-builtin", "-fno-vectorize", "-fno-slp-vectorize"]);
        // glibc's inline functions reach into its own FILE, which uclibc's is not.
        clang.args(["-D__NO_INLINE__", "-D__NO_CTYPE"]);
        // Threads that end unwind through it to the clean-ups of their callers, and what its callbacks throw goes through it.
        // It does not have clean-ups itself, but the functions that C programs have for theirs.
        clang.args(["-fexceptions", "-U__EXCEPTIONS"]);
        clang.args(["-fno-stack-protector", "-U_FORTIFY_SOURCE", "-fPIC"]);
        clang.args(["-Wall", "-Wextra", "-Werror", "-I"]);
        clang.arg(runtime).arg(source).arg("-o").arg(&module);
        run(clang);
        modules.push(module);
    }
    let mut link = Command::new(format!("llvm-link-{LLVM_MAJOR}"));
    link.args(&modules)
        .arg("-o")
        .arg(out.join(format!("{part}.bc")));
    run(link);
}

fn compile_wrappers() {
    println!("cargo:rerun-if-changed=src/llvm/wrappers.cpp");
    let config = Command::new(format!("llvm-config-{LLVM_MAJOR}"))
        .arg("--includedir")
        .output()
        .expect("llvm-config is installed with llvm-dev");
    let include = String::from_utf8(config.stdout).expect("a path in UTF-8");
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .flag("-fno-rtti")
        .flag("-fno-exceptions")
        .flag_if_supported("-Wno-unused-parameter")
        .include(include.trim())
        .file("src/llvm/wrappers.cpp")
        .compile("p3_llvm_wrappers");
}

fn run(mut command: Command) {
    let status = command
        .status()
        .unwrap_or_else(|e| panic!("cannot start {command:?}: {e}"));
    assert!(status.success(), "{command:?} failed");
}
