//! Libraries as distributions ship them.

use crate::compare;
use crate::tools::{dup_file, Scratch};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

fn library(name: &str) -> PathBuf {
    Path::new("/usr/lib/x86_64-linux-gnu").join(name)
}

/// glibc's own archives have indirect functions, versions of symbols, linker warnings, assembler objects and
/// sections with bounds, 1,700 objects together.
#[test]
fn copies_of_real_archives_differ_in_names_only() {
    let gcc = |name: &str| {
        let scratch = Scratch::new();
        PathBuf::from(scratch.run(&format!("gcc -print-file-name={name}")).trim())
    };
    let libraries = [
        library("libz.a"),
        library("libncurses.a"),
        library("libc_nonshared.a"),
        library("libmvec.a"),
        library("libpthread.a"),
        library("libc.a"),
        gcc("libgcc_eh.a"),
        gcc("libstdc++.a"),
    ];
    for path in libraries {
        let old = fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let new = dup_file(&path, "_PP1_", &HashMap::new());
        let names = compare::archives(&old, &new);
        // Versioned names have tests of their own.
        let versioned = names.undefined.keys().any(|name| name.contains('@'));
        if !versioned {
            compare::assert_prefixed(&names, "_PP1_");
        }
    }
}

#[test]
fn two_copies_of_zlib_compress_for_each_other() {
    let scratch = Scratch::new();
    for version in ["1", "2"] {
        let copy = dup_file(
            &library("libz.a"),
            &format!("_PP{version}_"),
            &HashMap::new(),
        );
        scratch.write(&format!("z{version}.a"), copy);
    }
    let program = r#"
        #include <stdio.h>
        #include <string.h>
        int _PP1_compress(char *, unsigned long *, const char *, unsigned long);
        int _PP2_uncompress(char *, unsigned long *, const char *, unsigned long);
        int main(void) {
          static char text[100000], packed[100000], unpacked[100000];
          for (int i = 0; i < 99999; i++) text[i] = 'a' + i * i % 7;
          unsigned long packed_size = sizeof packed, size = sizeof unpacked;
          int status = _PP1_compress(packed, &packed_size, text, sizeof text);
          status += _PP2_uncompress(unpacked, &size, packed, packed_size);
          printf("%d %d %d %d\n", status, packed_size < 5000, size == sizeof text, memcmp(text, unpacked, size));
        }
    "#;
    assert_eq!(scratch.link_and_run(program, "z1.a z2.a"), "0 1 1 0\n");
}

/// Two terminals at a time, of which each copy of the library knows one.
#[test]
fn two_copies_of_terminfo_have_a_terminal_each() {
    let scratch = Scratch::new();
    for version in ["1", "2"] {
        let copy = dup_file(
            &library("libtinfo.a"),
            &format!("_PP{version}_"),
            &HashMap::new(),
        );
        scratch.write(&format!("t{version}.a"), copy);
    }
    let program = r#"
        #include <stdio.h>
        int _PP1_setupterm(const char *, int, int *), _PP2_setupterm(const char *, int, int *);
        char *_PP1_longname(void), *_PP2_longname(void);
        int _PP1_tigetnum(const char *), _PP2_tigetnum(const char *);
        int main(void) {
          int error;
          int status = _PP1_setupterm("xterm-256color", 1, &error) + _PP2_setupterm("dumb", 1, &error);
          printf("%d %d %d\n", status, _PP1_tigetnum("colors"), _PP2_tigetnum("colors"));
        }
    "#;
    assert_eq!(scratch.link_and_run(program, "t1.a t2.a"), "0 256 -1\n");
}

/// glibc's mathematics, chosen at load time for the processor; `libm.a` itself is a linker script.
#[test]
fn a_copy_of_libm_computes() {
    let scratch = Scratch::new();
    let script = fs::read_to_string(library("libm.a")).unwrap();
    let path = script
        .split_whitespace()
        .find(|word| word.contains("/libm-"))
        .unwrap();
    let copy = dup_file(Path::new(path), "_PP1_", &HashMap::new());
    compare::archives(&fs::read(path).unwrap(), &copy);
    scratch.write("m.a", copy);
    let program = r#"
        #include <stdio.h>
        double _PP1_sin(double), _PP1_pow(double, double);
        int main(void) { printf("%.6f %.1f\n", _PP1_sin(0.5), _PP1_pow(2, 10)); }
    "#;
    assert_eq!(
        scratch.link_and_run(program, "m.a -static"),
        "0.479426 1024.0\n"
    );
}
