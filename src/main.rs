//! The executable: everything is in the library beside it, which the testsuite calls as well.

fn main() -> std::process::ExitCode {
    p3_ir::main()
}
