#!/bin/bash
# {{title}} (found by p3-ir diff).
#
# usage: repro.sh [{{usage}}]
# {{what}}
# Exit status: 0 they do the same, 1 they differ, 2 a program or a file is missing.
# Any other shell hands it on.
[ -n "${BASH_VERSION:-}" ] || exec bash "$0" "$@"
set -u
here=$(cd "$(dirname "$0")" && pwd)
programs={{programs}}
# In seconds. Of output without end the first 256 MiB are compared.
limit={{limit}}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# usable PROGRAM: prints its path from the root, or ends this script.
usable() {
  if [ ! -f "$1" ] || [ ! -x "$1" ]; then
    echo "repro.sh: $1: no such program" >&2
    return 1
  fi
  realpath "$1"
}

for file in {{streams}} {{files}}; do
  [ -r "$here/$file" ] || { echo "repro.sh: $here/$file: cannot be read" >&2; exit 2; }
done

{{marked}}# run SIDE PROGRAM: leaves SIDE.stdout, SIDE.stderr and SIDE.status, of at most $limit seconds.
run() {
  mkdir "$work/$1"
  for file in {{files}}; do cp "$here/$file" "$work/$1"; done
  (
    cd "$work/$1" || exit
    export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
    [ ! -x /usr/lib/llvm-16/bin/llvm-symbolizer ] ||
      export ASAN_SYMBOLIZER_PATH=/usr/lib/llvm-16/bin/llvm-symbolizer
    timeout --signal=KILL "$limit" bash -c 'exec -a "$0" "$@"' {{program}} "$2" {{arguments}} \
      < "$here/stdin" 2> "$work/$1.stderr" |
      timeout {{patience}} bash -c 'head -c 256M; cat > /dev/null' > "$work/$1.stdout"
    status=${PIPESTATUS[0]}
    # What timeout kills ends like anything else that is killed.
    [ $status != 137 ] || status="137 (killed, after $limit seconds if it did not end)"
    echo "exit status $status" > "$work/$1.status"
  )
}

{{body}}
