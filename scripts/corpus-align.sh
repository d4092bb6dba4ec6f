#!/bin/bash
# Matches every program of coreutils with itself (p3-ir align) and prints how many nodes have a counterpart: all must.
#
# usage: corpus-align.sh [-O LEVEL]... [--programs LIST] [DIR]
#   -O LEVEL         0 (bitcode as clang -O0 leaves it) or 2 (the same after opt -O2); default both
#   --programs LIST  only these programs (comma-separated)
#   DIR              the corpus (default: as corpus-coreutils.sh, which is run if needed)
#
# The executable is $P3_IR or the release build, which is made if needed. Exit status 1: a node is not matched with
# its own copy, or a program cannot be matched at all.
. "$(dirname "$0")/corpus-lib.sh"

levels= programs=
while [ $# -gt 0 ]; do
  case $1 in
  -O) levels="$levels $2" && shift 2 ;;
  --programs) programs=${2//,/ } && shift 2 ;;
  -*) die "unknown option $1" ;;
  *) break ;;
  esac
done
levels=${levels:-0 2}
need opt-16=llvm-16 llvm-dis-16=llvm-16 python3=python3
corpus=$(corpus_dir "${1:-}")
bin=$corpus/coreutils/O0/bin
[ -e "$corpus/coreutils/O0/complete" ] || "$repository/scripts/corpus-coreutils.sh" -O 0 "$corpus"
use_wllvm
p3_ir=${P3_IR:-$repository/target/release/p3-ir}
[ -x "$p3_ir" ] || (cd "$repository" && cargo build -q --release)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Prints "NAME functions woven sequential nodes matched" and the reasons of what is not woven.
cat >"$work/count.py" <<'END'
import collections, json, sys

functions = json.load(sys.stdin)["functions"]
woven = [f for f in functions if f["sequential"] is None]
nodes = [n for f in woven for m in f["members"] for n in m["nodes"]]
matched = sum(n["group"] is not None for n in nodes)
print(sys.argv[1], len(functions), len(woven), len(functions) - len(woven), len(nodes), matched)
for reason, count in collections.Counter(f["sequential"] for f in functions if f["sequential"]).items():
    print(f"{count}\t{reason}", file=open(sys.argv[2], "a"))
END

status=0
for level in $levels; do
  : >"$work/reasons" && : >"$work/counts"
  for program in ${programs:-$(ls "$bin")}; do
    module=$work/module.bc
    extract-bc -o "$module" "$bin/$program"
    if [ "$level" = 2 ]; then
      # clang -O0 forbids all optimisation, in the functions' attributes.
      llvm-dis-16 "$module" -o - | sed '/^attributes #/s/ \(noinline\|optnone\)//g' | opt-16 -O2 -o "$module.2"
      mv "$module.2" "$module"
    fi
    if ! "$p3_ir" align "$module" "$module" --format json >"$work/align.json"; then
      echo "FAILED -O$level $program"
      status=1
      continue
    fi
    python3 "$work/count.py" "$program" "$work/reasons" <"$work/align.json" >>"$work/counts"
  done
  awk -v level="$level" '
    { functions += $2; woven += $3; sequential += $4; nodes += $5; matched += $6 }
    $5 != $6 { print "-O" level " " $1 ": " $6 " of " $5 " nodes matched"; unequal++ }
    END {
      printf "-O%s: %d programs, %d with all nodes matched; %d of %d nodes (%.3f %%); ", level, NR, NR - unequal, matched,
        nodes, nodes ? 100 * matched / nodes : 100
      printf "%d functions, %d woven, %d sequential\n", functions, woven, sequential
      exit unequal > 0
    }' "$work/counts" || status=1
  awk -F '\t' '{ count[$2] += $1 } END { for (reason in count) printf "%6d sequential: %s\n", count[reason], reason }' \
    "$work/reasons" | sort -rn
done
exit $status
