//! Damaged input is an error or a copy, never a panic, and in bounded time.

use crate::tools::Scratch;
use p3_passes::dup::{duplicate, symbols, Options};
use std::collections::HashMap;
use std::fs;
use std::time::{Duration, Instant};

/// xorshift64*
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}

fn seeds() -> Vec<Vec<u8>> {
    let scratch = Scratch::new();
    let source = r#"
        extern int outside(int), __start_mine[];
        __attribute__((section("mine"))) int in_section = 1;
        int common;
        int f(int x) { return outside(x) + common++ + *__start_mine; }
        __asm__(".symver f, v@@V1");
    "#;
    let groups = r#"
        .section .text.a,"axG",@progbits,local_signature,comdat
        .section .text.b,"axG",@progbits,.text.b,comdat
        .section .text.c,"axG",@progbits,outside,comdat
        .globl c
        c: jmp outside
        .section .gnu.linkonce.t.once,"ax"
        .weak once
        once: ret
    "#;
    scratch.object("le64.o", ".c", "-O1 -fcommon", source);
    scratch.object("le32.o", ".c", "-O1 --target=i386-linux-gnu", source);
    scratch.object("be64.o", ".c", "-O1 --target=powerpc64-linux-gnu", source);
    scratch.object("be32.o", ".c", "-O1 --target=mips-linux-gnu", source);
    scratch.asm("groups.o", groups);
    let mut sections = String::new();
    for i in 0..66_000 {
        sections += &format!(".section .t{i}\n");
    }
    scratch.asm("many.o", &(sections + groups));
    scratch.run("ar rcs gnu.a le64.o groups.o be32.o");
    scratch.run("llvm-ar-16 --format=bsd -rcs bsd.a le64.o groups.o");
    scratch.run("ar rcsT thin.a le64.o groups.o");
    let files = "le64.o le32.o be64.o be32.o groups.o gnu.a bsd.a thin.a many.o";
    files
        .split(' ')
        .map(|file| fs::read(scratch.path(file)).unwrap())
        .collect()
}

fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut data = seed.to_vec();
    for _ in 0..1 + random.below(4) {
        let at = random.below(data.len());
        match random.below(6) {
            0 => data[at] ^= 1 << random.below(8),
            1 => data[at] = random.next() as u8,
            // Fields are numbers: try large, small and slightly wrong ones.
            2 => {
                let value = match random.below(4) {
                    0 => u64::MAX >> random.below(64),
                    1 => random.below(80) as u64,
                    2 => (data.len() as u64).saturating_sub(random.below(80) as u64),
                    _ => 1 << random.below(64),
                };
                let width = [2, 4, 8][random.below(3)].min(data.len() - at);
                let bytes = match random.below(2) {
                    0 => value.to_le_bytes(),
                    _ => value.rotate_left(64 - 8 * width as u32).to_be_bytes(),
                };
                data[at..at + width].copy_from_slice(&bytes[..width]);
            }
            3 => data.truncate(at.max(1)),
            4 => {
                let (from, length) = (random.below(data.len()), random.below(64));
                let piece: Vec<_> = data[from..].iter().take(length).copied().collect();
                data.splice(at..at, piece);
            }
            _ => {
                let end = data.len().min(at + random.below(64));
                data.drain(at..end);
                data.resize(data.len().max(1), 0);
            }
        }
    }
    data
}

#[test]
fn damaged_files_are_errors_or_copies() {
    const MUTANTS: usize = 30_000;
    const ENOUGH: Duration = Duration::from_secs(40);
    let seeds = seeds();
    let undefined_map = HashMap::from([(b"outside".to_vec(), b"inside".to_vec())]);
    let options = Options {
        prefix: "p_",
        undefined_map: &undefined_map,
    };
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let start = Instant::now();
    let (mut tried, mut copied) = (0, 0);
    while tried < MUTANTS && start.elapsed() < ENOUGH {
        // The one large file is tried less often.
        let choice = random.below(8 * 20 + 1) / 20;
        let mutant = mutate(&seeds[choice], &mut random);
        if let Ok(copy) = duplicate(&mutant, "/nonexistent/mutant", options) {
            copied += 1;
            assert!(copy.len() < 4 * mutant.len() + (1 << 16));
            symbols(&copy, "copy").unwrap();
        }
        tried += 1;
    }
    assert!(tried > 5_000, "only {tried} files in {ENOUGH:?}");
    assert!(
        copied > tried / 10,
        "only {copied} of {tried} files were copied"
    );
}
