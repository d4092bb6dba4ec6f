#!/bin/bash
# Runs coreutils' own tests with self-merged products in place of the programs, against the plain programs.
#
# usage: coreutils-suite.sh [--programs LIST] [--tests LIST] [--known FILE] [--build-only] [--from PRODUCTS]
#                           [-O LEVEL] [--minutes N] [DIR]
#   --programs LIST  replace only these programs (comma-separated; default: all)
#   --tests LIST     run only these tests (comma-separated, as in tests/local.mk: misc/cut.pl; default: all)
#   --known FILE     explained differences (default: testsuite/KNOWN.md)
# P3_MERGE_FLAGS are flags of merge, such as --no-weave.
#   --build-only     merge, verify and build the programs, run nothing
#   --from PRODUCTS  do not merge; use the executables of this directory as products
#   -O LEVEL         the corpus's optimisation level, 0 (default) or 2
#   --minutes N      bound for each of the two runs (default: 60)
#   DIR              the corpus (default: as corpus-coreutils.sh, which is run if needed)
#
# Products run with P3_SHOW=1 P3_STATUS=1: what the tests see is version 1. The plain programs' results are kept in
# DIR/coreutils/OLEVEL/suite and used again. Exit status: 0 equal, or every difference is explained; 1 a
# difference is not explained, or a program does not merge, verify or build; 2 cannot run.
. "$(dirname "$0")/corpus-lib.sh"

programs= tests= known=$repository/testsuite/KNOWN.md build_only= from= level=0 minutes=60 per_test=300
while [ $# -gt 0 ]; do
  case $1 in
  --programs) programs=${2//,/ } && shift 2 ;;
  --tests) tests=${2//,/ } && shift 2 ;;
  --known) known=$2 && shift 2 ;;
  --build-only) build_only=1 && shift ;;
  --from) from=$2 && shift 2 ;;
  -O) level=$2 && shift 2 ;;
  --minutes) minutes=$2 && shift 2 ;;
  -*) die "unknown option $1" ;;
  *) break ;;
  esac
done
corpus=$(corpus_dir "${1:-}")
base=$corpus/coreutils/O$level
[ -e "$base/complete" ] || "$repository/scripts/corpus-coreutils.sh" -O "$level" "$corpus"
source=$corpus/coreutils/source
suite=$base/suite
mkdir -p "$suite"
all_programs=$(cd "$base/bin" && ls)
programs=${programs:-$all_programs}
p3_ir=${P3_IR:-$repository/target/release/p3-ir}
nice=(nice -n 10) # for what is compiled; the tests want to know their priority

# --- products

# Tests may clear the environment, so the defaults are in the product: set before main, where not set.
cat >"$suite/defaults.c" <<'EOF'
#include <stdlib.h>
__attribute__((constructor)) static void show_first_version(void) {
  setenv("P3_SHOW", "1", 0);
  setenv("P3_STATUS", "1", 0);
}
EOF

make_product() {
  local program=$1 out=$suite/products/$1
  [ "$out" -nt "$p3_ir" ] && [ "$out" -nt "$base/bin/$program" ] && return
  rm -f "$out"
  {
    "$p3_ir" merge ${P3_MERGE_FLAGS-} "$base/bin/$program" "$base/bin/$program" -o "$out.bc" &&
      opt-16 -passes=verify -disable-output "$out.bc" &&
      "$p3_ir" build "$out.bc" -o "$out" -- "-O$level" "$suite/defaults.c"
  } >"$out.log" 2>&1
}
export -f make_product
export suite base level p3_ir

if [ -n "$from" ]; then
  products=$from
else
  [ -x "$p3_ir" ] || (cd "$repository" && cargo build --release)
  products=$suite/products
  mkdir -p "$products"
  printf '%s\n' $programs | "${nice[@]}" xargs -P "$(nproc)" -I{} bash -c 'make_product {} || true'
  failed=
  for program in $programs; do
    [ -x "$products/$program" ] || failed="$failed $program"
  done
  echo "merged, verified and built: $(($(wc -w <<<"$programs") - $(wc -w <<<"$failed"))) of $(wc -w <<<"$programs")"
  for program in $failed; do
    echo "FAILED $program: $(tail -n 1 "$products/$program.log")"
  done
fi
[ -z "$build_only" ] || { [ -z "$failed" ] && exit 0 || exit 1; }

# --- runs

# A tree of its own to run in, without objects: nothing there can be built again by accident.
tree=$suite/tree
if [ ! -e "$tree/complete" ]; then
  mkdir -p "$tree"
  (cd "$base/build" && tar cf - --exclude='*.o' --exclude='*.bc' --exclude='*.a' .) | (cd "$tree" && tar xf -)
  touch "$tree/complete"
fi
# Root skips tests about permissions, so root runs them as nobody where nobody can get at the tree.
as_user=()
if [ "$(id -u)" = 0 ] && setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$tree/complete"; then
  as_user=(setpriv --reuid=65534 --regid=65534 --groups=65534,100)
  chown -R 65534:65534 "$tree"
fi

# run_tests NAME TESTS...: runs tests with the programs in $tree/src; leaves NAME/TEST.{log,trs} for each.
run_tests() {
  local name=$1 started=$SECONDS
  shift
  local logs=()
  for test; do
    logs+=("tests/${test%.*}.log")
    rm -f "$tree/tests/${test%.*}".{log,trs}
  done
  # The whole run in a session of its own, so that nothing is left behind when the time is up.
  (cd "$tree" && timeout -k 10 $((minutes * 60)) "${as_user[@]}" \
    env -u P3_SHOW -u P3_STATUS -u MAKEFLAGS HOME=/ SHELL=/bin/bash PATH=/usr/local/bin:/usr/bin:/bin RUN_EXPENSIVE_TESTS=no RUN_VERY_EXPENSIVE_TESTS=no \
    make -s -k -j"${JOBS:-4}" PROGRAMS= check_PROGRAMS= check_LIBRARIES= abs_top_builddir="$tree" \
    SH_LOG_COMPILER="/usr/bin/timeout -k 5 $per_test /bin/bash" \
    AUTOCONF=: AUTOMAKE=: ACLOCAL=: AUTOHEADER=: VERBOSE= \
    TESTS="$(printf 'tests/%s ' "$@")" "${logs[@]}" >"$suite/$name.out" 2>&1 </dev/null) || true
  for test; do
    local log=$tree/tests/${test%.*}
    mkdir -p "$suite/$name/$(dirname "$test")"
    rm -f "$suite/$name/${test%.*}".{log,trs}
    for kind in log trs; do
      [ ! -e "$log.$kind" ] || cp "$log.$kind" "$suite/$name/${test%.*}.$kind"
    done
  done
  echo "$name: $# tests in $((SECONDS - started)) s"
}

# verdict NAME TEST: PASS, FAIL, SKIP, ERROR, TIMEOUT or NONE (not reached in time).
verdict() {
  local trs=$suite/$1/${2%.*}.trs
  if [ ! -e "$trs" ]; then
    echo NONE
  elif tail -n 1 "${trs%.trs}.log" 2>/dev/null | grep -q 'exit status: \(124\|137\)'; then
    echo TIMEOUT
  else
    sed -n 's/^:test-result: //p' "$trs"
  fi
}

install_programs() {
  local program
  for program in $all_programs; do
    cp -f "$base/bin/$program" "$tree/src/$program.new" && mv -f "$tree/src/$program.new" "$tree/src/$program"
  done
  for program; do
    [ ! -x "$products/$program" ] ||
      { cp -f "$products/$program" "$tree/src/$program.new" && mv -f "$tree/src/$program.new" "$tree/src/$program"; }
  done
}

all_tests=$(make -s -C "$base/build" -f Makefile -f - print <<'EOF' | tr ' ' '\n' | sed -n 's,^tests/,,p'
print:
	@echo $(all_tests)
EOF
)
tests=${tests:-$all_tests}

missing=()
for test in $tests; do
  [ "$(verdict plain "$test")" != NONE ] || missing+=("$test")
done
if [ ${#missing[@]} -gt 0 ]; then
  install_programs
  run_tests plain "${missing[@]}"
fi
install_programs $programs
run_tests product $tests

# --- comparison

# A line of KNOWN.md that explains a test: "- `misc/tee.sh`: reason"; the name may have * in it. After the name it
# may say "(woven)" or "(--no-weave)": of such products only.
case " ${P3_MERGE_FLAGS-} " in *" --no-weave "*) kind=--no-weave ;; *) kind=woven ;; esac
known_patterns=$(sed -n "s/^- \`\([^\`]*\)\`\( ($kind)\)\?: .*/\1/p" "$known" 2>/dev/null || true)
is_known() {
  local pattern
  for pattern in $known_patterns; do
    # shellcheck disable=SC2053 # a pattern, on purpose
    [[ $1 == $pattern ]] && return
  done
  return 1
}

declare -A count
unexplained=0 stale=
for test in $tests; do
  plain=$(verdict plain "$test") product=$(verdict product "$test")
  count[plain $plain]=$((${count[plain $plain]:-0} + 1))
  count[product $product]=$((${count[product $product]:-0} + 1))
  if [ "$plain" = "$product" ]; then
    ! is_known "$test" || stale="$stale $test"
  elif is_known "$test"; then
    echo "known:  $test: $plain, product $product"
  else
    echo "DIFFERS: $test: $plain, product $product"
    unexplained=$((unexplained + 1))
  fi
done
for name in plain product; do
  printf '%-8s' "$name"
  for kind in PASS FAIL SKIP ERROR TIMEOUT NONE; do
    printf ' %s %s' "$kind" "${count[$name $kind]:-0}"
  done
  echo
done
[ -z "$stale" ] || echo "in KNOWN.md, but equal now:$stale"
echo "unexplained differences: $unexplained"
[ "$unexplained" = 0 ] && [ -z "${failed:-}" ]
