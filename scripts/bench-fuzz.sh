#!/bin/bash
# Measures what a run costs in the harness (merge --harness, libFuzzer without sanitizers, value profile or mutations:
# always the same input) against a fork and exec of each of the two programs: microseconds of processor time, the least
# of several measurements, as a table and as JSON.
#
# usage: bench-fuzz.sh [--runs N] [--json FILE] [DIR]
#   --runs N     runs in the harness; programs are started a tenth as often (default 3000)
#   --json FILE  default: target/bench-fuzz.json
#   DIR          the corpus (as for corpus-coreutils.sh, which is run if needed)
# P3_IR is the p3-ir to use instead of a release build of this one.
. "$(dirname "$0")/corpus-lib.sh"

runs=3000 json=$repository/target/bench-fuzz.json
while [ $# -gt 0 ]; do
  case $1 in
  --runs) runs=$2 && shift 2 ;;
  --json) json=$2 && shift 2 ;;
  -*) die "unknown option $1" ;;
  *) break ;;
  esac
done
need clang-16=clang-16 python3=python3
corpus=$(corpus_dir "${1:-}")
"$repository/scripts/corpus-coreutils.sh" "$corpus" >/dev/null
use_wllvm
use_p3_ir
json=$(realpath -m "$json")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

records=()
# measure NAME STDIN BYTES TEMPLATE ARGUMENT...: old.bc and new.bc with this standard input and these arguments, and the
# harness with the template and the bytes that mean the same.
measure() {
  local name=$1 stdin=$2 bytes=$3 template=$4 alone harness
  shift 4
  printf "$stdin" >stdin
  printf "$bytes" >bytes
  for version in old new; do
    clang-16 -O1 -w "$version.bc" -o "$version"
  done
  "$p3_ir" merge --harness --check output,status old.bc new.bc -o harness.bc
  "$p3_ir" build harness.bc -o harness -- -O1 -w
  read -r alone harness < <(P3_TEMPLATE=$template python3 - "$runs" "$@" <<'PYTHON'
import os, subprocess, sys
runs, arguments = int(sys.argv[1]), sys.argv[2:]
environment = {"LC_ALL": "C", "PATH": os.environ["PATH"], "P3_TEMPLATE": os.environ["P3_TEMPLATE"]}
sink = open("output", "w")

def seconds(*command):
    with open("stdin") as source:
        sink.truncate(0)
        process = subprocess.Popen(command, stdin=source, stdout=sink, stderr=sink, env=environment)
        usage = os.wait4(process.pid, 0)[2]
    return usage.ru_utime + usage.ru_stime

def alone(count):
    return sum(seconds("./old", *arguments) + seconds("./new", *arguments) for _ in range(count)) / count

def harness(count):
    return (seconds("./harness", f"-runs={count + 1}", "bytes") - seconds("./harness", "-runs=1", "bytes")) / count

least = [min(measure(count) for _ in range(3)) for measure, count in ((alone, max(runs // 10, 1)), (harness, runs))]
print(*(round(1e6 * value, 1) for value in least))
PYTHON
  )
  records+=("$(printf '{"name": "%s", "fork_exec_microseconds": %s, "harness_microseconds": %s}' "$name" "$alone" "$harness")")
  awk -v n="$name" -v a="$alone" -v h="$harness" 'BEGIN { printf "%-10s %12.0f us %10.0f us %8.1f\n", n, a, h, a / h }'
}

# versions SOURCE: old.bc and new.bc
versions() {
  clang-16 -O1 -c -emit-llvm -DV=1 -I"$repository/runtime/include" "$repository/testsuite/$1" -o old.bc
  clang-16 -O1 -c -emit-llvm -DV=2 -I"$repository/runtime/include" "$repository/testsuite/$1" -o new.bc
}

printf '%-10s %15s %13s %8s\n' pair 'fork and exec' harness ratio
versions pairs/has_digit.c
measure has_digit '' 'ab1c' '@arg:8' ab1c
versions pairs/cut_like.c
measure cut_like 'a:b:c\nd:e:f\n' 'a:b:c\nd:e:f\n' '-d : -f 2 @stdin' -d : -f 2
versions cases/wrap.c
measure wrap 'The quick brown fox\njumps over it.\n' 'The quick brown fox\njumps over it.\n' '40 @stdin' 40
extract-bc -o old.bc "$corpus/coreutils/O0/bin/cut"
cp old.bc new.bc
measure cut 'a:b:c\nd:e:f\n' 'a:b:c\nd:e:f\n' '-d : -f 2 @stdin' -d : -f 2
mkdir -p "$(dirname "$json")"
(IFS=, && printf '[%s]\n' "${records[*]}") >"$json"
