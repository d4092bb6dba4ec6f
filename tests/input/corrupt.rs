//! Damaged files of every form: whatever is in them, `p3-ir merge` ends in time, with a product or with one
//! line that names the file.
//!
//! `P3_SEED` repeats a run, `P3_CORRUPT` sets the number of files.

use crate::tools::Scratch;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

const PROGRAM: &str = r#"
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    struct row { int key; double value; char name[8]; };
    static struct row rows[4] = {{3, 2.0, "x"}, {2, 3.5, "yy"}, {7, 0.25, "z"}};
    static int compare(const void *a, const void *b) {
      return ((const struct row *)a)->key - ((const struct row *)b)->key;
    }
    int steps(int n) {
      int total = 0;
      for (int i = 0; i < n; i++)
        switch (i % 5) {
        case 0: total += i; break;
        case 1: total ^= 3; break;
        case 3: total *= 2; break;
        default: total--;
        }
      return total;
    }
    int main(int argc, char **argv) {
      qsort(rows, 4, sizeof rows[0], compare);
      for (int i = 0; i < argc; i++) {
        printf("%s %d %g\n", argv[i], steps(i + argc), rows[i & 3].value);
        if (strlen(argv[i]) > 9) exit(3);
      }
      return 0;
    }
"#;

const FORMS: [&str; 7] = [
    "debug.bc",
    "plain.bc",
    "embedded.o",
    "bitcode.a",
    "objects.a",
    "listing.o",
    "text.ll",
];

fn forms(scratch: &Scratch) {
    scratch.write("program.c", PROGRAM);
    scratch.sh("clang-16 -O1 -g -c -emit-llvm program.c -o debug.bc
         clang-16 -O0 -c -emit-llvm program.c -o plain.bc
         clang-16 -O2 -c -fembed-bitcode=all program.c -o embedded.o
         llvm-ar-16 rc bitcode.a plain.bc && ar rc objects.a embedded.o
         llvm-dis-16 plain.bc -o text.ll && echo debug.bc > list
         clang-16 -c program.c -o native.o
         llvm-objcopy-16 --add-section .llvm_bc=list native.o listing.o");
}

/// A small generator (xorshift); the same seed gives the same files everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }
}

fn corrupt(data: &mut Vec<u8>, random: &mut Random) {
    match random.below(5) {
        0 => data.truncate(random.below(data.len())),
        1 => {
            for _ in 0..=random.below(3) {
                let at = random.below(data.len());
                data[at] ^= 1 << random.below(8);
            }
        }
        2 => {
            for _ in 0..=random.below(30) {
                let at = random.below(data.len());
                data[at] = random.below(256) as u8;
            }
        }
        // Sizes and offsets: extreme words.
        3 => {
            // Headers stand at both ends.
            let end = data.len() - 8;
            let at = match random.below(3) {
                0 => random.below(end.min(128)),
                1 => end - random.below(end.min(2048)),
                _ => random.below(end),
            } & !3;
            let width = 4 << random.below(2);
            let word = [
                0,
                u64::MAX,
                i64::MAX as u64,
                0x8000_0000,
                0x7fff_ffff_7fff_ffff,
            ];
            let word = word[random.below(5)].to_le_bytes();
            data[at..at + width].copy_from_slice(&word[..width]);
        }
        _ => {
            let from = random.below(data.len());
            let to = data.len().min(from + 1 + random.below(64));
            let piece = data[from..to].to_vec();
            let at = random.below(data.len() - piece.len());
            data[at..at + piece.len()].copy_from_slice(&piece);
        }
    }
}

fn environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

#[test]
fn damaged_files_get_an_answer() {
    const SLOW: Duration = Duration::from_secs(90);
    const ENOUGH: Duration = Duration::from_secs(60);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = environment("P3_SEED").unwrap_or(now.as_micros() as u64);
    let count = environment("P3_CORRUPT").unwrap_or(300);
    println!("seed {seed}");
    let mut random = Random(seed | 1);

    let scratch = Scratch::new();
    forms(&scratch);
    let start = Instant::now();
    let (mut refused, mut merged) = (0, 0);
    for index in 0..count {
        let form = FORMS[random.below(FORMS.len())];
        let mut data = scratch.read(form);
        corrupt(&mut data, &mut random);
        let name = format!("damaged-{form}");
        scratch.write(&name, &data);
        let _ = fs::remove_file(scratch.path("product.bc"));

        let begun = Instant::now();
        let output = scratch.merge(&[&name, "plain.bc", "-o", "product.bc"]);
        let what = format!("P3_SEED={seed}, file {index} ({form}): {output:?}");
        let exists = scratch.path("product.bc").exists();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(begun.elapsed() < SLOW, "slow: {what}");
        assert_eq!(output.status.signal(), None, "{what}");
        match output.status.code() {
            Some(0) => {
                assert!(exists, "{what}");
                merged += 1;
            }
            Some(2 | 3) => {
                assert!(!exists, "{what}");
                assert_eq!(stderr.matches('\n').count(), 1, "{what}");
                assert!(
                    stderr.starts_with("p3-ir: ") && stderr.contains(&name),
                    "{what}"
                );
                refused += 1;
            }
            _ => panic!("{what}"),
        }
        if start.elapsed() > ENOUGH {
            break;
        }
    }
    println!("{refused} refused, {merged} merged");
    assert!(refused > merged && refused + merged > 20);
}
