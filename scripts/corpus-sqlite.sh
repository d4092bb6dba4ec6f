#!/bin/sh
# Builds SQLite's shell from Debian's source as bitcode.
#
# usage: corpus-sqlite.sh [-O LEVEL]... [DIR]     (as corpus-coreutils.sh)
#
# Leaves DIR/sqlite3/OLEVEL/{shell.bc,sqlite3.bc,sqlite3}: the two modules, and the program made of them.
. "$(dirname "$0")/corpus-lib.sh"

levels=
while getopts O: option; do
  case $option in
  O) levels="$levels $OPTARG" ;;
  *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
need apt-get=apt dpkg-source=dpkg-dev make=make clang-16=clang-16 tclsh=tcl
corpus=$(corpus_dir "${1:-}")
source=$(source_package sqlite3)
build=$corpus/sqlite3/build

if [ ! -e "$build/complete" ]; then
  rm -rf "$build"
  mkdir -p "$build"
  (
    cd "$build"
    CC=clang-16 "$source/configure" -q --disable-readline --disable-tcl
    make -s sqlite3.c shell.c
  )
  touch "$build/complete"
fi
for level in ${levels:-0}; do
  out=$corpus/sqlite3/O$level
  [ ! -e "$out/complete" ] || continue
  mkdir -p "$out"
  for module in shell sqlite3; do
    clang-16 "-O$level" -g -w -I"$build" -c -emit-llvm "$build/$module.c" -o "$out/$module.bc"
  done
  clang-16 "-O$level" "$out/shell.bc" "$out/sqlite3.bc" -lm -o "$out/sqlite3"
  touch "$out/complete"
done
for level in ${levels:-0}; do
  echo "$corpus/sqlite3/O$level: $(cd "$corpus/sqlite3/O$level" && echo *)"
done
