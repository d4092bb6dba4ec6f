#!/bin/bash
# {{title}} (found by p3-ir diff).
#
# usage: repro.sh [OLD NEW]
# Runs both versions on the input in this folder and shows how they differ: the executables that p3-ir diff built,
# or the two that are given. Exit status: 0 they do the same, 1 they differ.
set -u
here=$(cd "$(dirname "$0")" && pwd)
programs={{programs}}
old=$(realpath "${1:-$programs/1{{suffix}}}")
new=$(realpath "${2:-$programs/2{{suffix}}}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# run SIDE PROGRAM: leaves SIDE.txt, which begins with what the program wrote and ends with its status.
run() {
  mkdir "$work/$1"
  for file in {{files}}; do cp "$here/$file" "$work/$1"; done
  (
    cd "$work/$1" || exit
    export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
    [ ! -x /usr/lib/llvm-16/bin/llvm-symbolizer ] ||
      export ASAN_SYMBOLIZER_PATH=/usr/lib/llvm-16/bin/llvm-symbolizer
    (exec -a {{program}} "$2" {{arguments}}) < "$here/stdin" > "$work/$1.stdout" 2> "$work/$1.stderr"
    echo "exit status $?" > "$work/$1.status"
  )
  for part in stdout stderr status; do
    sed "s/^/$part: /" "$work/$1.$part"
  done > "$work/$1.txt"
}

run old "$old" 2> "$work/shell"
run new "$new" 2> "$work/shell"
cd "$work" || exit
diff -U 1000 old.txt new.txt
