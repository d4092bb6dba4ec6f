#!/bin/bash
# Measures merge against llvm-link of the same files, what products' instructions are for, and how merging grows with
# the program: time and peak memory, as tables and as JSON.
#
# usage: bench.sh [--runs N] [--only PART] [--json FILE] [DIR]
#        bench.sh run ...: what products cost when they run (bench-run.sh)
#        bench.sh klee ...: what they cost in KLEE (klee-cost.sh)
#        bench.sh fuzz ...: what a run of them costs in a fuzzer's process (bench-fuzz.sh)
#   --runs N     the fastest of N runs counts (default 5)
#   --only PART  merge (against llvm-link), size (of products) or growth; default: all
#   --json FILE  default: target/bench.json
#   DIR          the corpus (as for corpus-coreutils.sh, which is run if needed, as is corpus-sqlite.sh)
# P3_MERGE_FLAGS are flags of merge, such as --no-weave. P3_IR is the p3-ir to use instead of a release build of this one.
. "$(dirname "$0")/corpus-lib.sh"

case ${1:-} in
run) exec "$(dirname "$0")/bench-run.sh" "${@:2}" ;;
klee) exec "$(dirname "$0")/klee-cost.sh" "${@:2}" ;;
fuzz) exec "$(dirname "$0")/bench-fuzz.sh" "${@:2}" ;;
esac

runs=5 json=$repository/target/bench.json only=
while [ $# -gt 0 ]; do
  case $1 in
  --runs) runs=$2 && shift 2 ;;
  --only) only=$2 && shift 2 ;;
  --json) json=$2 && shift 2 ;;
  -*) die "unknown option $1" ;;
  *) break ;;
  esac
done
need /usr/bin/time=time llvm-link-16=llvm-16 opt-16=llvm-16 python3=python3
wants() { [ -z "$only" ] || [ "$only" = "$1" ]; }
corpus=$(corpus_dir "${1:-}")
"$repository/scripts/corpus-coreutils.sh" "$corpus" >/dev/null
"$repository/scripts/corpus-sqlite.sh" "$corpus" >/dev/null
use_wllvm
use_p3_ir
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# fastest COMMAND...: "seconds kilobytes" of the fastest of $runs runs. Seconds are those of the processor: everything
# measured here has one thread, and other load on the machine tells less.
fastest() {
  local run
  for ((run = 0; run < runs; run++)); do
    /usr/bin/time -a -o "$work/times" -f '%U %S %M' "$@" >/dev/null
  done
  awk '{ print $1 + $2, $3 }' "$work/times" | sort -n | head -n 1
  rm "$work/times"
}

# figure KEY: the first number of that name in the merge report.
figure() {
  sed -n "s/^ *\"$1\": \([0-9]*\).*/\1/p" "$work/report.json" | head -n 1
}

records=()
# self_merge NAME MODULE...: merges the modules with themselves, and links two copies of them.
self_merge() {
  local name=$1 version copies=() seconds memory link_seconds link_memory size product
  shift
  version=$(IFS=+ && echo "$*")
  llvm-link-16 "$@" -o "$work/whole.bc"
  # For llvm-link the copies must not clash: only main stays public, under two names. (Without a public root it would
  # drop everything.)
  for copy in 1 2; do
    opt-16 -passes=internalize -internalize-public-api-list=main "$work/whole.bc" -S |
      sed "s/@main\>/@main$copy/g" | llvm-as-16 -o "$work/copy$copy.bc"
    copies+=("$work/copy$copy.bc")
  done
  read -r seconds memory <<<"$(fastest "$p3_ir" merge ${P3_MERGE_FLAGS-} "$version" "$version" -o "$work/product.bc")"
  read -r link_seconds link_memory <<<"$(fastest llvm-link-16 "${copies[@]}" -o "$work/linked.bc")"
  "$p3_ir" merge ${P3_MERGE_FLAGS-} "$version" "$version" -o "$work/product.bc" --report "$work/report.json"
  size=$(figure instructions) product=$(figure product_instructions)
  records+=("$(printf '{"name": "%s", "instructions": %s, "product_instructions": %s, "merge_seconds": %s, "merge_kilobytes": %s, "link_seconds": %s, "link_kilobytes": %s}' \
    "$name" "$size" "$product" "$seconds" "$memory" "$link_seconds" "$link_memory")")
  awk -v name="$name" -v size="$size" -v product="$product" -v s="$seconds" -v m="$memory" -v ls="$link_seconds" \
    -v lm="$link_memory" 'BEGIN {
      printf "%-8s %12d %12d %8.2f s %6d MB %8.2f s %6d MB %6.1f x\n", name, size, product, s, m / 1024, ls, lm / 1024,
        s / (ls > 0 ? ls : 0.01) }'
}

# size NAME MODULE: what the product of a module with itself consists of, in instructions and as multiples of the sum of
# the prepared inputs'.
size() {
  "$p3_ir" merge ${P3_MERGE_FLAGS-} "$2" "$2" -o "$work/product.bc" --report "$work/report.json"
  local prepared plain lockstep continuation spills runtime
  prepared=$((2 * $(figure instructions)))
  for part in plain lockstep continuation spills runtime; do
    printf -v $part '%s' "$(figure $part)"
  done
  records+=("$(printf '{"name": "%s", "prepared": %s, "plain": %s, "lockstep": %s, "continuation": %s, "spills": %s, "runtime": %s}' \
    "$1" "$prepared" "$plain" "$lockstep" "$continuation" "$spills" "$runtime")")
  awk -v n="$1" -v p="$prepared" -v a="$plain" -v b="$lockstep" -v c="$continuation" -v d="$spills" -v e="$runtime" \
    'BEGIN { printf "%-8s %9d %9d %9d %12d %9d %9d %7.2f x %7.2f x\n", n, p, a, b, c, d, e, (a + b + c + d + e) / p,
      (a + b + c + d) / p }'
}

# grow KIND SIZE: merges a generated program with itself.
grow() {
  local seconds memory instructions
  python3 "$repository/scripts/growth.py" "$1" "$2" | llvm-as-16 -o "$work/generated.bc"
  read -r seconds memory <<<"$(fastest "$p3_ir" merge "$work/generated.bc" "$work/generated.bc" -o "$work/product.bc" \
    --report "$work/report.json")"
  instructions=$(figure instructions)
  records+=("$(printf '{"name": "%s %s", "instructions": %s, "merge_seconds": %s, "merge_kilobytes": %s}' \
    "$1" "$2" "$instructions" "$seconds" "$memory")")
  awk -v kind="$1" -v size="$2" -v n="$instructions" -v p="$(figure product_instructions)" -v s="$seconds" -v m="$memory" \
    'BEGIN { printf "%-5s %8d %12d %12d %8.2f s %6d MB\n", kind, size, n, p, s, m / 1024 }'
}

if wants merge; then
  extract-bc -o "$work/sort.bc" "$corpus/coreutils/O0/bin/sort"
  printf '%-8s %12s %12s %10s %9s %10s %9s %8s\n' program instructions product merge memory llvm-link memory ratio
  self_merge sort "$work/sort.bc"
  self_merge sqlite3 "$corpus/sqlite3/O0/shell.bc" "$corpus/sqlite3/O0/sqlite3.bc"
fi
if wants size; then
  printf '%-8s %9s %9s %9s %12s %9s %9s %9s %9s\n' program prepared plain lockstep continuation spills runtime all \
    woven
  for program in cat comm csplit cut date expr factor fmt head join ls nl numfmt od paste pr printf seq sort stat tail \
    tr uniq wc; do
    extract-bc -o "$work/program.bc" "$corpus/coreutils/O0/bin/$program"
    size "$program" "$work/program.bc"
  done
  python3 "$repository/scripts/growth.py" many 40000 | llvm-as-16 -o "$work/program.bc"
  size generated "$work/program.bc"
fi
if wants growth; then
  printf '%-5s %8s %12s %12s %10s %9s\n' kind size instructions product merge memory
  for size in 1000 10000 100000 1000000; do
    grow many $size
  done
  for size in 200 2000 20000; do
    grow long $size
  done
fi
mkdir -p "$(dirname "$json")"
(IFS=, && printf '[%s]\n' "${records[*]}") >"$json"
