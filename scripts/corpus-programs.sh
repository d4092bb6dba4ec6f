#!/bin/bash
# Real programs from Debian's source packages, merged with themselves: does the product do what the program does, how
# much is woven, and what does it cost? Writes testsuite/CORPUS.md.
#
# usage: corpus-programs.sh [--dir DIR] [--code LEVEL] [--steps LIST] [--again] [--table] [PROGRAM...]
#   --dir DIR  the corpus (default: as corpus-coreutils.sh)
#   --code LEVEL  how clang makes the executables of the bitcode: 1 (default), or 0, which is much quicker
#   --steps LIST  of merge, samples, suite, time and pair, comma-separated; default: all. What other steps found stays
#   --again    also what has a result already; without it named programs are done again, others only if they have none
#   --table    only write the table of the results that are there
#   PROGRAM    files in scripts/programs, without .sh; default: all
#
# What is to be known of a program stands in scripts/programs/PROGRAM.sh: variables and functions, see there.
#   package    Debian's source package (default: PROGRAM)
#   binary     the executable in the build tree, name the name it is called by (default: the base name of binary)
#   libraries  flags to link it with
#   build      builds in a copy of the source; CC=wllvm, CFLAGS and configure_flags are set
#   samples    prints command lines, one a line; they find the program as a command, and the files that
#              corpus-programs.py makes in their directory
#   workload   the same, one line that takes about a second
#   old_without  (optional) a patch in debian/patches: without it and those after it the program is an old version, which
#              is merged with the program as a pair of versions
#   suite      (optional) runs the program's own tests in the build tree, prints "PASS NAME" or "FAIL NAME" lines; puts
#              $limit before what may hang: it ends after test_seconds, and has then failed
#   test_seconds  (default: 600) of a test
#
# The bitcode is made at -O1. The plain program is made of the bitcode that is merged, at the level at which the product
# is. The p3-ir is $P3_IR, or a release build; the table names the commit that it is of: $P3_IR_COMMIT, or the last one here
# that changed it. A program that fails has a line that says where; the others go on. Exit status 1: one failed, or a product
# differs from its program. What the table says of programs without results in the corpus stays in it.
. "$(dirname "$0")/corpus-lib.sh"

directory= again= table= code=1 steps=merge,samples,suite,time,pair
while [ $# -gt 0 ]; do
  case $1 in
  --dir) directory=$2 && shift 2 ;;
  --code) code=$2 && shift 2 ;;
  --steps) steps=$2 && shift 2 ;;
  --again) again=1 && shift ;;
  --table) table=1 && shift ;;
  -*) die "unknown option $1" ;;
  *) break ;;
  esac
done
need apt-get=apt dpkg-source=dpkg-dev python3=python3-venv make=make clang-16=clang-16 llvm-config-16=llvm-16-dev
corpus=$(corpus_dir "$directory")
use_wllvm
set +e
helper=$repository/scripts/corpus-programs.py
programs=$corpus/programs
use_p3_ir
sources=(Cargo.toml Cargo.lock src passes hunt runtime)
if [ -z "${P3_IR_COMMIT:-}" ]; then
  P3_IR_COMMIT=$(git -C "$repository" log -1 --format=%h -- "${sources[@]}")
  git -C "$repository" diff --quiet HEAD -- "${sources[@]}" || P3_IR_COMMIT+=", changed"
fi
export P3_IR_COMMIT
mkdir -p "$programs"
[ -e "$programs/inputs" ] || python3 "$helper" inputs "$programs/inputs"

# results DIR...: the outcome of tests that ran under automake, from their .trs files
results() {
  local directory trs
  for directory; do
    for trs in "$directory"/*.trs; do
      [ -e "$trs" ] && sed -n "s/^:test-result: \([A-Z]*\).*/\1 $(basename "$trs" .trs)/p" "$trs" | head -n 1
    done
  done
}

# result NAME COMMAND...: a test that passes if the command succeeds
result() {
  local test=$1
  shift
  if "$@" >&2; then echo "PASS $test"; else echo "FAIL $test"; fi
}

# configure FLAG...: with plain clang, which is quicker; configure_and_make TARGET...: makes with wllvm
configure() {
  CC=clang-16 ./configure -q "$@"
}

configure_and_make() {
  # shellcheck disable=SC2086 # several flags
  configure --disable-dependency-tracking $configure_flags && make_quietly "$@"
}

# limit_tests: the script with which automake runs each test limits it
limit_tests() {
  local driver
  for driver in build-aux/test-driver config/test-driver; do
    [ ! -e $driver ] || sed -i "s/^\"\$@\" *>/$limit &/" $driver
  done
}

# make_check SECONDS ARGUMENT...: the program's own make check
make_check() {
  local seconds=$1
  shift
  limit_tests
  timeout -k 10 "$seconds" make -s CC=clang-16 AUTOCONF=: AUTOMAKE=: ACLOCAL=: AUTOHEADER=: MAKEINFO=: check "$@"
}

make_quietly() {
  make -s CC="$CC" AUTOCONF=: AUTOMAKE=: ACLOCAL=: AUTOHEADER=: MAKEINFO=: "$@"
}

# step NAME COMMAND...: runs it with its output in $out/NAME.log; a failure becomes the program's result
step() {
  local step=$1
  shift
  if ! "$@" >"$out/$step.log" 2>&1; then
    echo "$program: $step failed, see $out/$step.log"
    python3 "$helper" failed "$out" "$program" "$step" "$(tail -n 1 "$out/$step.log")"
    return 1
  fi
}

# build_bitcode TREE FILE: FILE.bc of the program, which is built in TREE; as the old version if FILE is old
build_bitcode() {
  local tree patch
  tree=$(source_package "$package") && [ -d "$tree" ] || return 1
  rm -rf "$out/$1"
  cp -a "$tree" "$out/$1"
  cd "$out/$1" || return 1
  if [ "$2" = old ]; then
    grep -q "^$old_without" debian/patches/series || return 1
    for patch in $(sed -n "/^$old_without/,\$ { /^#/d; s/[ \t].*//; p }" debian/patches/series | tac); do
      patch -p1 -R -s -f --no-backup-if-mismatch <"debian/patches/$patch" || return 1
    done
  fi
  # Debian's patches date files; nothing may be made again by autotools that are not there.
  find . -name configure -o -name '*.in' -o -name '*.m4' | xargs -r touch
  (
    export CC=wllvm CXX=wllvm++ CFLAGS="-O1 -w" FORCE_UNSAFE_CONFIGURE=1
    build
  ) || return 1
  extract-bc -o "$out/$2.bc" "$out/$1/$binary"
}

# link_plain DIR FILE: the program of FILE.bc
link_plain() {
  mkdir -p "$out/$1"
  clang-16 "-O$code" -w "$out/$2.bc" $libraries -o "$out/$1/$name"
}

# link_product DIR: the product of DIR.bc
link_product() {
  mkdir -p "$out/$1"
  opt-16 -passes=verify -disable-output "$out/$1.bc" &&
    "$p3_ir" build "$out/$1.bc" -o "$out/$1/$name" -- "-O$code" -w "$programs/defaults.c" $libraries
}

# run_suite WHICH: the program's own tests with the executable of $out/WHICH. They run in the build tree, whose path stands
# in its makefiles; a copy takes its place afterwards. A product that was in use leaves its report.
run_suite() {
  local outcome=0
  if [ -e "$out/build-kept" ]; then
    rm -rf "$out/build" && mv "$out/build-kept" "$out/build"
  fi
  rm -rf "$out/witness"
  mkdir "$out/witness" && cp -a "$out/build" "$out/build-copying" && mv "$out/build-copying" "$out/build-kept" || return 1
  cd "$out/build" && cp "$out/$1/$name" "$binary" && touch "$binary" || return 1
  (
    [ "$1" = alone ] || export P3_SHOW=1 P3_STATUS=1 P3_OUTDIR="$out/witness"
    unset CC CFLAGS
    suite
  ) >"$out/suite-$1.out" 2>"$out/suite-$1.err" </dev/null
  grep -E '^(PASS|FAIL|ERROR|SKIP|XFAIL|XPASS) ' "$out/suite-$1.out" | sort -u >"$out/suite-$1.results"
  cmp -s "$out/$1/$name" "$binary" || outcome=1
  cd "$out" && rm -rf "$out/build" && mv "$out/build-kept" "$out/build"
  [ $outcome = 0 ] && [ -s "$out/suite-$1.results" ] && { [ "$1" = alone ] || [ -e "$out/witness/report.json" ]; }
}

# takes STEP: whether it is asked for
takes() {
  case ",$steps," in *",$1,"*) ;; *) return 1 ;; esac
}

# one PROGRAM: everything, in a shell of its own
one() (
  program=$1 package=$1 libraries= configure_flags=--disable-nls
  binary=$program name= old_without= test_seconds=600
  build() { configure_and_make; }
  . "$repository/scripts/programs/$program.sh"
  name=${name:-$(basename "$binary")} limit="timeout -k 10 $test_seconds"
  out=$programs/$program
  mkdir -p "$out"
  rm -f "$out/result.json"
  samples >"$out/samples"
  workload >"$out/workload"
  if [ ! -e "$out/plain.bc" ]; then
    echo "$program: build"
    step build build_bitcode build plain || return 1
  fi
  if takes merge || [ ! -e "$out/product/$name" ]; then
    echo "$program: merge"
    step link link_plain alone plain || return 1
    step merge python3 "$helper" merge "$out" "$p3_ir" plain plain product || return 1
    step compile link_product product || return 1
  fi
  if takes samples; then
    echo "$program: samples"
    python3 "$helper" samples "$out" alone alone product "$programs/inputs"
  fi
  if takes suite && declare -f suite >/dev/null; then
    echo "$program: own tests"
    rm -f "$out"/suite-*
    step suite-alone run_suite alone && step suite-product run_suite product &&
      cp "$out/product-merge.json" "$out/suite-merge.json" ||
      { rm -f "$out"/suite-*.results && touch "$out/suite-failed"; }
  fi
  if takes time; then
    echo "$program: time"
    python3 "$helper" time "$out" "$programs/inputs"
  fi
  python3 "$helper" result "$out" "$code" "$program" "$package" "$(dpkg-parsechangelog -l "$out/build/debian/changelog" -S Version)"
  if takes pair && [ -n "$old_without" ]; then
    pair
  fi
)

# pair: the program without and with Debian's latest patches
pair() {
  echo "$program: old version"
  rm -f "$out/pair-result.json"
  [ -e "$out/old.bc" ] || step pair-build build_bitcode old-build old || return 1
  step pair-link link_plain old old || return 1
  step pair-merge python3 "$helper" merge "$out" "$p3_ir" old plain pair || return 1
  step pair-compile link_product pair || return 1
  python3 "$helper" samples "$out" old alone pair "$programs/inputs"
  step pair-align python3 "$helper" pair "$out" "$p3_ir" "$program" "$old_without"
}

# Tests may clear the environment, so the product knows by itself what it stands in for.
cat >"$programs/defaults.c" <<'END'
#include <stdlib.h>
__attribute__((constructor)) static void show_first_version(void) {
  setenv("P3_SHOW", "1", 0);
  setenv("P3_STATUS", "1", 0);
}
END

if [ -z "$table" ]; then
  named=$*
  for file in "$repository"/scripts/programs/*.sh; do
    candidate=$(basename "$file" .sh)
    if [ -n "$named" ]; then
      case " $named " in *" $candidate "*) ;; *) continue ;; esac
    elif [ -z "$again" ] && [ -e "$programs/$candidate/result.json" ]; then
      continue
    fi
    one "$candidate"
  done
fi
python3 "$helper" table "$programs" "$repository/testsuite/CORPUS.md"
