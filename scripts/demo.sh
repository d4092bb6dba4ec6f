#!/bin/sh
# Builds p3-ir, merges two versions of a small program and runs the product on an input where they agree and on
# one where they differ. On a fresh Debian 12 with cargo it installs what is missing first.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh
cargo build --release
p3_ir=$PWD/target/release/p3-ir
source=$PWD/testsuite/cases/has_digit.c
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# show COMMAND...: prints and runs it; a difference is no failure of the demonstration.
show() {
  printf '\n$ %s\n' "$*"
  status=0
  "$@" || status=$?
  [ "$status" -le 1 ] || exit "$status"
}
cp "$source" .
show clang-16 -g -emit-llvm -c -DV=1 has_digit.c -o old.bc
show clang-16 -g -emit-llvm -c -DV=2 has_digit.c -o new.bc
PATH=${p3_ir%/*}:$PATH
show p3-ir merge old.bc new.bc -o product.bc -v
show p3-ir run product.bc -- a1b
show p3-ir run product.bc -- 2024
