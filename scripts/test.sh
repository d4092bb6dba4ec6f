#!/bin/sh
# Installs what is missing and runs all tests, and beside them a slice of p3-fuzz: P3_FUZZ_SECONDS (300), with a seed
# that is made of the commit, and no more pairs than fit into that, so that it can be known before a commit is made
# public what will be tried.
set -eu
cd "$(dirname "$0")/.."
scripts/setup.sh
seconds=${P3_FUZZ_SECONDS:-300}
commit=$(git rev-parse --verify --quiet HEAD || echo 0000000005)
seed=$((0x$(printf '%.10s' "$commit")))
log=$(mktemp)
slice=

stop() {
  [ -z "$slice" ] || kill -- "-$slice" 2> /dev/null || true
  rm -f "$log"
}
trap stop EXIT
trap 'exit 130' INT TERM

cargo build -p p3-fuzz
echo "p3-fuzz: seed $seed, $seconds s, beside the tests"
P3_FUZZ_JOBS=1 setsid scripts/fuzz.sh "$seconds" "$seed" 50 > "$log" 2>&1 < /dev/null &
slice=$!
cargo test --workspace "$@"
failed=0
wait "$slice" || failed=1
slice=
cat "$log"
[ $failed = 0 ] || echo "p3-fuzz failed; its seed was $seed"
exit $failed
