#!/bin/sh
# Attacks p3-ir for a long time, by default an hour, with new seeds: scripts/fuzz.sh [SECONDS] [SEED]
# What fails is kept in p3-fuzz-failures and makes the exit status 1.
set -eu
cd "$(dirname "$0")/.."
seconds=${1:-3600}
seed=${2:-$(date +%s)}
failed=0

cargo build --quiet -p p3-fuzz
nice target/debug/p3-fuzz corrupt --seed "$seed" --count 1000000 --seconds $((seconds / 5)) || failed=1
nice target/debug/p3-fuzz ir --seed "$seed" --count 1000000 --seconds $((seconds / 5)) || failed=1
nice target/debug/p3-fuzz --seed "$seed" --count 1000000 --seconds $((seconds * 3 / 5)) || failed=1
exit $failed
