//! `p3-ir merge --harness` with libFuzzer: runs do not influence each other, differences are kept, what cannot
//! happen in the fuzzer's process happens in a child.

mod common;

use common::call;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Merges `source` with `-DV=1` and `-DV=2` and builds a libFuzzer program.
fn fuzzer(directory: &Path, source: &str, merge: &[&str], build: &[&str]) {
    fs::write(directory.join("program.c"), source).unwrap();
    for version in ["1", "2"] {
        let done = Command::new("clang-16")
            .args([
                "-g",
                "-O0",
                "-D_GNU_SOURCE",
                "-w",
                "-c",
                "-emit-llvm",
                "program.c",
            ])
            .arg(format!("-DV={version}"))
            .arg("-o")
            .arg(format!("v{version}.bc"))
            .current_dir(directory)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    }
    let merge = [
        &["merge", "--harness", "v1.bc", "v2.bc", "-o", "h.bc"],
        merge,
    ]
    .concat();
    assert_eq!(call(directory, &merge), (0, String::new(), String::new()));
    let build = [&["build", "h.bc", "-o", "fuzz"], build].concat();
    assert_eq!(call(directory, &build), (0, String::new(), String::new()));
    fs::create_dir(directory.join("findings")).unwrap();
}

/// Runs it on an input so many times, after as many on an empty one.
fn fuzz(directory: &Path, template: &str, input: &[u8], runs: u32) -> Output {
    fs::write(directory.join("input"), input).unwrap();
    Command::new("./fuzz")
        .arg(format!("-runs={runs}"))
        .arg("input")
        .env("P3_TEMPLATE", template)
        .env("P3_FINDINGS", directory.join("findings"))
        .env("KEPT", "yes")
        .current_dir(directory)
        .output()
        .unwrap()
}

/// The findings: their names' endings and contents, without the lines about them.
fn findings(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found: Vec<(String, Vec<u8>)> = fs::read_dir(directory.join("findings"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e != "txt"))
        .map(|path| (extension(&path), fs::read(&path).unwrap()))
        .collect();
    found.sort();
    found
}

fn extension(path: &Path) -> String {
    path.extension().unwrap().to_string_lossy().into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Version 1 says what state it finds, and leaves another one behind; version 2 says what the first run finds.
const STATE: &str = r#"
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <search.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int global = 1, zeros[100000];
static _Thread_local int own = 7;
static char *kept;
static void at_end(void) { puts("handler"); }
__attribute__((constructor)) static void start(void) { global++; }

int main(int argc, char **argv) {
  static int local;
  char text[] = "a b", directory[4096];
  if (V == 2) {
    puts("2 1 1 7 (null) 1804289383 0 1 yes other 3 0 0 1");
    puts("handler");
    return 0;
  }
  int error = errno, table = hcreate(10);
  getcwd(directory, sizeof directory);
  mode_t mask = umask(0123);
  int descriptor = open("/dev/null", O_RDONLY);
  struct sigaction before;
  sigaction(SIGTERM, NULL, &before);
  printf("%d %d %d %d %s %d %d %d %s %s %d %d %d %d\n", global++, ++zeros[99999], ++local, own++,
         kept ? kept : "(null)", rand(), error, optind, getenv("KEPT"),
         strcmp(directory, "/") ? "other" : "root", descriptor, mask == 0123, before.sa_handler == SIG_IGN,
         table);
  kept = strdup("left over");
  malloc(100000);
  char **pointers = calloc(10, sizeof *pointers);
  for (int i = 0; i < 10; i++)
    pointers[i] = malloc(1 << i);
  free(pointers[3]);
  pointers[4] = realloc(pointers[4], 100000);
  char *line = NULL;
  size_t size = 0;
  getline(&line, &size, stdin);
  FILE *file = fopen("/etc/passwd", "r");
  getc(file);
  FILE *memory = open_memstream(&line, &size);
  fputs("lost", memory);
  mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  hsearch((ENTRY){"key", "value"}, ENTER);
  setlocale(LC_ALL, "C.UTF-8");
  setenv("KEPT", "no", 1);
  signal(SIGTERM, SIG_IGN);
  srand(time(NULL));
  errno = ENOMEM;
  optind = 5;
  strtok(text, " ");
  atexit(at_end);
  chdir("/");
  exit(0);
}
"#;

#[test]
fn a_run_finds_nothing_that_another_one_left() {
    for (merge, build) in [
        (&[][..], &["--", "-O1"][..]),
        (&["--no-weave"][..], &["--sanitize", "address"][..]),
    ] {
        let scratch = tempfile::tempdir().unwrap();
        fuzzer(scratch.path(), STATE, merge, build);
        let output = fuzz(scratch.path(), "@stdin", b"line\n", 300);
        assert!(output.status.success(), "{}", stderr(&output));
        let found = findings(scratch.path());
        assert!(found.is_empty(), "{found:?} {}", line(scratch.path()));
    }
}

/// What the first finding is about.
fn line(directory: &Path) -> String {
    let texts = fs::read_dir(directory.join("findings")).unwrap();
    texts
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().is_some_and(|e| e == "txt"))
        .map(|path| fs::read_to_string(path).unwrap())
        .unwrap_or_default()
}

const DIFFERENT: &str = r#"
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
  char text[100] = "";
  int c = getchar();
  if (c == 'o' && V == 2)
    puts("more");
  if (c == 's')
    exit(V);
  if (c == 'f')
    for (volatile int i = 0; i < V; i++)
      ;
  if (c == 'a')
    assert(!"both");
  if (c == 'c')
    *(volatile int *)0 = 1;
  for (int i = 1; i < argc; i++)
    printf("%s,", argv[i]);
  if (argc > 2) {
    FILE *file = fopen(argv[2], "r");
    if (V == 2 && file && fgets(text, sizeof text, file) && strcmp(text, "file") == 0)
      puts("read");
    if (!fopen("new", "wx"))
      puts(V == 1 ? "a" : "b");
  }
  return 0;
}
"#;

#[test]
fn differences_are_kept_smallest_first() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let checks = ["--check", "output,status,divergence"];
    fuzzer(directory, DIFFERENT, &checks, &[]);
    for input in ["o longer", "o", "o long", "x", "f", "s"] {
        let output = fuzz(directory, "@stdin", input.as_bytes(), 2);
        assert!(output.status.success(), "{}", stderr(&output));
    }
    let expected = [("flow", "f"), ("input", "o"), ("input", "s")];
    let expected = expected.map(|(kind, text)| (kind.to_string(), text.as_bytes().to_vec()));
    assert_eq!(findings(directory), expected);
    let said = line(directory);
    assert!(
        said.starts_with("p3: ") && said.lines().count() == 1,
        "{said}"
    );

    // Arguments, a file and the input of one string of bytes; the file is made anew for each run.
    fs::remove_dir_all(directory.join("findings")).unwrap();
    fs::create_dir(directory.join("findings")).unwrap();
    let output = fuzz(directory, "-n @file:9 @stdin", b"\x03\0filx", 3);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(findings(directory), []);
    let output = fuzz(directory, "-n @file:9 @stdin", b"\x04\0filex", 3);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(
        findings(directory),
        [("input".to_string(), b"\x04\0filex".to_vec())]
    );

    // A crash is the fuzzer's.
    let output = fuzz(directory, "@stdin", b"c", 1);
    assert!(!output.status.success());
    assert!(stderr(&output).contains("SEGV"), "{}", stderr(&output));

    // Without a place for findings the first one ends the fuzzer. A failed assertion of both is none here.
    let alone = |input: &str| {
        fs::write(directory.join("input"), input).unwrap();
        Command::new("./fuzz")
            .arg("input")
            .current_dir(directory)
            .output()
            .unwrap()
    };
    assert!(alone("a").status.success());
    let output = alone("s");
    assert!(!output.status.success());
    assert!(stderr(&output).contains("p3: "), "{}", stderr(&output));
}

/// A fuzz target; version 2 differs for data that begin with `ab`.
const TARGET: &str = r#"
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
static int initialized, calls;
int LLVMFuzzerInitialize(int *argc, char ***argv) { return initialized = *argc > 0; }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (!initialized || ++calls > 1)
    return V;
  if (size > 1 && data[0] == 'a' && data[1] == 'b')
    return V == 1 ? 0 : -1;
  if (size == 3 && data[0] == 'o')
    ((uint8_t *)data)[size] = V;
  printf("%d\n", (int)size);
  return 0;
}
"#;

#[test]
fn versions_that_are_fuzz_targets_get_their_own_copy_of_the_data() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    let entry = ["--entry", "LLVMFuzzerTestOneInput"];
    fuzzer(directory, TARGET, &entry, &["--sanitize", "address"]);
    let output = fuzz(directory, "@stdin", b"xyz", 20);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(findings(directory), [], "{}", line(directory));
    let output = fuzz(directory, "@stdin", b"abc", 2);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(
        findings(directory),
        [("input".to_string(), b"abc".to_vec())]
    );
    let output = fuzz(directory, "@stdin", b"oab", 1);
    assert!(
        stderr(&output).contains("heap-buffer-overflow"),
        "{}",
        stderr(&output)
    );

    // The same as a program: the data are its standard input.
    let merge = [
        "merge",
        "v1.bc",
        "v1.bc",
        "--entry",
        "LLVMFuzzerTestOneInput",
    ];
    assert_eq!(call(directory, &merge), (0, String::new(), String::new()));
    assert_eq!(call(directory, &["build", "product.bc"]).0, 0);
    let run = Command::new("./product")
        .stdin(fs::File::open(directory.join("input")).unwrap())
        .current_dir(directory)
        .output()
        .unwrap();
    assert_eq!(common::texts(run), (0, "3\n".into(), "".into()));
}

/// What a process cannot do and undo.
const OUTSIDE: &str = r#"
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static int number, handled;
static void *run(void *argument) { return argument; }
static void handle(int signal) { handled = signal; }
int main(void) {
  int c = getchar(), status = 0;
  printf("%d\n", number++);
  fflush(stdout);
  if (c == 'f') {
    if (fork() == 0) {
      puts("child");
      exit(getchar() == 'x' ? V : 0);
    }
    wait(&status);
  }
  if (c == 'p')
    status = system("echo shell; exit 3");
  if (c == 't') {
    pthread_t thread;
    void *result;
    pthread_create(&thread, NULL, run, &number);
    pthread_join(thread, &result);
    status = result == &number;
  }
  if (c == 'h') {
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    status = handled;
  }
  if (c == 'k')
    kill(getpid(), SIGTERM);
  if (V == 2 && number != 1)
    puts("again");
  printf("%x\n", status);
  return 0;
}
"#;

#[test]
fn what_a_process_cannot_undo_happens_in_a_child() {
    let scratch = tempfile::tempdir().unwrap();
    let directory = scratch.path();
    fuzzer(directory, OUTSIDE, &[], &["--", "-lpthread"]);
    for input in ["f", "p", "t", "h", "k", "n"] {
        let output = fuzz(directory, "@stdin", input.as_bytes(), 3);
        assert!(output.status.success(), "{input}: {}", stderr(&output));
        assert_eq!(findings(directory), [], "{input}: {}", line(directory));
    }
    let output = fuzz(directory, "@stdin", b"fx", 3);
    assert!(output.status.success(), "{}", stderr(&output));
    assert_eq!(findings(directory).len(), 1);
}

/// Prints what the harness makes of its standard input: a line per argument, file and stream, as hexadecimal numbers.
const DECODER: &str = r#"
#include "harness/harness.h"
#include <stdarg.h>
#include <stdlib.h>

void p3_fatal(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  exit(2);
}

static void line(const char *what, struct p3_bytes bytes) {
  printf("%s ", what);
  for (size_t i = 0; i < bytes.size; i++)
    printf("%02x", bytes.at[i]);
  putchar('\n');
}

int main(int argc, char **argv) {
  static struct p3_template template;
  static struct p3_input input;
  static uint8_t data[4096];
  size_t size = fread(data, 1, sizeof data, stdin);
  p3_template_parse(&template, argv[1]);
  p3_template_decode(&template, data, size, &input);
  for (size_t i = 0; i < input.count; i++)
    line("argument", input.arguments[i]);
  line("stdin", input.stdin);
  for (size_t i = 0; i < input.files; i++)
    line("file", input.file[i]);
  if (input.marked.size)
    line("marked", input.marked);
  return 0;
}
"#;

/// The bytes that a string of the table stands for: one per character.
fn bytes(value: &serde_json::Value) -> Vec<u8> {
    let text = value.as_str().unwrap();
    text.chars().map(|c| u8::try_from(c).unwrap()).collect()
}

#[test]
fn the_template_means_what_the_table_says() {
    let scratch = tempfile::tempdir().unwrap();
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("runtime");
    fs::write(scratch.path().join("decoder.c"), DECODER).unwrap();
    let done = Command::new("clang-16")
        .args(["-D_GNU_SOURCE", "-w", "-I"])
        .arg(&runtime)
        .arg("decoder.c")
        .arg(runtime.join("harness/template.c"))
        .args(["-o", "decoder"])
        .current_dir(&scratch)
        .output()
        .unwrap();
    assert!(done.status.success(), "{done:?}");
    let table = include_str!("../testsuite/template-vectors.json");
    let vectors: Vec<serde_json::Value> = serde_json::from_str(table).unwrap();
    assert!(vectors.len() > 20);
    for vector in vectors {
        fs::write(scratch.path().join("data"), bytes(&vector["data"])).unwrap();
        let output = Command::new(scratch.path().join("decoder"))
            .arg(vector["template"].as_str().unwrap())
            .stdin(fs::File::open(scratch.path().join("data")).unwrap())
            .output()
            .unwrap();
        let mut expected = String::new();
        let mut line = |what: &str, value: &serde_json::Value| {
            let hexadecimal: String = bytes(value).iter().map(|b| format!("{b:02x}")).collect();
            expected.push_str(&format!("{what} {hexadecimal}\n"));
        };
        for argument in vector["arguments"].as_array().unwrap() {
            line("argument", argument);
        }
        line("stdin", &vector["stdin"]);
        for file in vector["files"].as_array().unwrap() {
            line("file", file);
        }
        if !vector["marked"].is_null() {
            line("marked", &vector["marked"]);
        }
        assert_eq!(
            (String::from_utf8_lossy(&output.stdout), stderr(&output)),
            (expected.into(), String::new()),
            "{vector}"
        );
    }
}
