#!/bin/sh
# Attacks p3-ir for a long time, by default an hour, with new seeds: scripts/fuzz.sh [SECONDS] [SEED] [COUNT]
# COUNT limits the pairs of each language, ten times that many files are damaged; by default only the time counts.
# What fails is kept in p3-fuzz-failures and makes the exit status 1.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-3600}
seed=${2:-$(date +%s)}
count=${3:-100000}
failed=0

# attack TENTHS ARGUMENT...: for so much of the time
attack() {
  share=$((seconds * $1 / 10))
  shift
  nice target/debug/p3-fuzz "$@" --seed "$seed" --seconds "$share" || failed=1
}

cargo build --quiet -p p3-fuzz
attack 1 corrupt --count $((count * 10))
attack 3 ir --count "$count"
attack 6 --count "$count" --jobs "${P3_FUZZ_JOBS:-2}"
exit $failed
