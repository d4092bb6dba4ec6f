#!/bin/bash
# Measures what products cost natively: programs at -O2, merged with themselves and compiled at -O2, against the sum of
# the two alone. Processor time (user and system, the fastest of several runs, output to a file) on real work, and,
# where valgrind is installed, instructions on a fiftieth of it (of seq on all). As a table and as JSON.
#
# usage: bench-run.sh [--runs N] [--json FILE] [--only NAME] [DIR]
#   --runs N     the fastest of N runs counts (default 5)
#   --json FILE  default: target/bench-run.json
#   --only NAME  one program
#   DIR          the corpus (as for corpus-coreutils.sh, which is run if needed, as is corpus-sqlite.sh)
# P3_MERGE_FLAGS are flags of merge, such as --no-weave. P3_IR is the p3-ir to use instead of a release build of this one.
. "$(dirname "$0")/corpus-lib.sh"

runs=5 json=$repository/target/bench-run.json only=
while [ $# -gt 0 ]; do
  case $1 in
  --runs) runs=$2 && shift 2 ;;
  --json) json=$2 && shift 2 ;;
  --only) only=$2 && shift 2 ;;
  -*) die "unknown option $1" ;;
  *) break ;;
  esac
done
need clang-16=clang-16 python3=python3
corpus=$(corpus_dir "${1:-}")
"$repository/scripts/corpus-coreutils.sh" -O 2 "$corpus" >/dev/null
"$repository/scripts/corpus-sqlite.sh" -O 2 "$corpus" >/dev/null
use_wllvm
use_p3_ir
json=$(realpath -m "$json")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# inputs LINES PREFIX: PREFIX.txt and PREFIX.sql
inputs() {
  awk -v lines="$1" 'BEGIN {
    srand(1)
    for (i = 0; i < lines; i++) {
      word = ""
      for (k = 0; k < 20; k++)
        word = word sprintf("%c", 97 + int(rand() * 16))
      printf "%d %s field%d:abc:def\n", rand() * 1e9, word, i % 1000
    }
  }' >"$2.txt"
  awk -v rows="$(($1 / 10))" 'BEGIN {
    print "create table t (id integer primary key, name text, value real); begin;"
    for (i = 0; i < rows; i++)
      printf "insert into t values (%d, '\''row %d'\'', %d.5);\n", i, (i * 7919) % rows, i
    print "commit; create index n on t (name); select count(*), sum(value), min(name) from t;"
  }' >"$2.sql"
}

# build NAME MODULE...: alone/NAME and product/NAME
build() {
  local name=$1 version
  shift
  version=$(IFS=+ && echo "$*")
  clang-16 -O2 -w "$@" -lm -o "alone/$name"
  "$p3_ir" merge ${P3_MERGE_FLAGS-} "$version" "$version" -o product.bc
  clang-16 -O2 -w product.bc -lm -o "product/$name"
}

# seconds INPUT PROGRAM ARGUMENT...: user and system time of the fastest run
seconds() {
  python3 - "$runs" "$@" <<'PYTHON'
import os, subprocess, sys
runs, input_file, command = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
best = None
for run in range(runs):
    with open(input_file) as source, open("output", "w") as sink:
        process = subprocess.Popen(command, stdin=source, stdout=sink, env={"LC_ALL": "C", "PATH": os.environ["PATH"]})
        usage = os.wait4(process.pid, 0)[2]
    time = usage.ru_utime + usage.ru_stime
    best = time if best is None else min(best, time)
print("%.3f" % best)
PYTHON
}

# instructions INPUT PROGRAM ARGUMENT...: nothing without valgrind, which is also confused by some debug information
instructions() {
  local input=$1 program=$2
  shift 2
  command -v valgrind >/dev/null || return 0
  strip -g "$program" -o stripped
  LC_ALL=C valgrind --tool=callgrind --callgrind-out-file=/dev/null ./stripped "$@" <"$input" 2>&1 >/dev/null |
    sed -n 's/^.*Collected : //p'
}

records=()
# measure NAME INPUT ARGUMENT...: INPUT in the name of its standard input and in arguments stands for the large or small input
measure() {
  local name=$1 input=$2 alone product count_alone count_product
  shift 2
  alone=$(seconds "${input/INPUT/large}" "alone/$name" "${@/INPUT/large}")
  product=$(seconds "${input/INPUT/large}" "product/$name" "${@/INPUT/large}")
  count_alone=$(instructions "${input/INPUT/small}" "alone/$name" "${@/INPUT/small}")
  count_product=$(instructions "${input/INPUT/small}" "product/$name" "${@/INPUT/small}")
  records+=("$(printf '{"name": "%s", "alone_seconds": %s, "product_seconds": %s, "alone_instructions": %s, "product_instructions": %s}' \
    "$name" "$alone" "$product" "${count_alone:-null}" "${count_product:-null}")")
  awk -v n="$name" -v a="$alone" -v p="$product" -v ia="${count_alone:-0}" -v ip="${count_product:-0}" 'BEGIN {
    printf "%-8s %9.3f s %9.3f s %6.2f %14d %14d %6.2f\n", n, 2 * a, p, p / (a > 0 ? 2 * a : 0.001), 2 * ia, ip,
      ia ? ip / (2 * ia) : 0 }'
}

mkdir alone product
inputs 1000000 large
inputs 20000 small
printf '%-8s %11s %11s %6s %14s %14s %6s\n' program 'sum of two' product ratio instructions product ratio
for name in sort wc cut seq; do
  [ -z "$only" ] || [ "$only" = $name ] || continue
  extract-bc -o $name.bc "$corpus/coreutils/O2/bin/$name"
  build $name $name.bc
  case $name in
  sort) measure $name /dev/null --parallel=1 INPUT.txt ;;
  wc) measure $name /dev/null INPUT.txt ;;
  cut) measure $name /dev/null -d ' ' -f 2 INPUT.txt ;;
  seq) measure $name /dev/null 1 "$(wc -l <large.txt)" ;;
  esac
done
if [ -z "$only" ] || [ "$only" = sqlite3 ]; then
  build sqlite3 "$corpus/sqlite3/O2/shell.bc" "$corpus/sqlite3/O2/sqlite3.bc"
  measure sqlite3 INPUT.sql
fi
mkdir -p "$(dirname "$json")"
(IFS=, && printf '[%s]\n' "${records[*]}") >"$json"
