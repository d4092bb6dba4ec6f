#!/bin/sh
# Lets p3-ir diff look for the differences of the pairs in testsuite/pairs, with every engine that is installed, and
# says whether each result is the one that must be. `scripts/diff-demo.sh NAME...` runs the pairs of these names; P3_IR
# names an executable that is built already.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh
p3_ir=${P3_IR:-$PWD/target/release/p3-ir}
[ -n "${P3_IR:-}" ] || cargo build --release
pairs=$PWD/testsuite/pairs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

# expect STATUS WORDS ENGINE NAME [FLAG...]: WORDS stand in what the command prints.
expect() {
  wanted=$1 words=$2 engine=$3 name=$4
  shift 4
  case " ${selected:-$name} " in *" $name "*) ;; *) return 0 ;; esac
  case $engine in
    klee) program=klee ;;
    afl) program=afl-fuzz ;;
    *) program=clang-16 ;;
  esac
  if ! command -v "$program" > /dev/null; then
    printf '\n%s: not run, there is no %s\n' "$name" "$program"
    return 0
  fi
  cp "$pairs/$name.c" .
  for version in 1 2; do
    clang-16 -g -c -emit-llvm -DV=$version "$name.c" -o "$name.$version.bc"
  done
  if [ "${swapped:-}" ]; then
    mv "$name.1.bc" x && mv "$name.2.bc" "$name.1.bc" && mv x "$name.2.bc"
  fi
  printf '\n$ p3-ir diff %s.1.bc %s.2.bc --engine %s %s\n' "$name" "$name" "$engine" "$*"
  status=0
  start=$(date +%s)
  "$p3_ir" diff "$name.1.bc" "$name.2.bc" --engine "$engine" "$@" > out || status=$?
  cat out
  printf '[%s s]\n' $(($(date +%s) - start))
  if [ "$status" -ne "$wanted" ] || ! grep -q "$words" out; then
    printf 'WRONG: exit status %s, expected %s and "%s"\n' "$status" "$wanted" "$words"
    failed=1
  fi
}

selected=$*
for engine in klee libfuzzer afl; do
  expect 1 'output differs' $engine has_digit --args '@arg:8'
  expect 1 'output differs' $engine magic
  expect 1 'output differs' $engine two_equal --args '@arg:4 @arg:4' --no-stdin
  expect 1 'prog < /dev/null' $engine empty_input
  expect 1 'output differs' $engine separator_twice --args '@arg:8' --no-stdin
  expect 1 'output differs' $engine off_by_one
  expect 1 'fixed crash: ERROR: AddressSanitizer' $engine heap_overflow --args '@arg:8' --no-stdin
  swapped=yes
  expect 1 'new crash: ERROR: AddressSanitizer' $engine heap_overflow --args '@arg:8' --no-stdin
  swapped=
done
expect 1 'output differs' klee data_only --args '@arg:2' --no-stdin
# Half of the time is for all paths, of which there are too many; then it looks behind the partings.
expect 1 'output differs' klee later --args '@arg:8' --no-stdin --time 180
expect 0 'equivalent on all inputs' klee refactoring --args '@arg:4' --no-stdin
expect 1 'output differs' libfuzzer seq_like --args '@args:1-3:3' --no-stdin --clang-flag=-lm
expect 1 'new crash: ERROR: AddressSanitizer' libfuzzer cut_like --args '-b @arg:12' --max-stdin 8
[ $failed -eq 0 ] && printf '\nall as it must be\n'
exit $failed
