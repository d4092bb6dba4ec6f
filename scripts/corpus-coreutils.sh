#!/bin/sh
# Builds GNU coreutils, as Debian patches it, with bitcode in every program.
#
# usage: corpus-coreutils.sh [-O LEVEL]... [DIR]
#   -O LEVEL  optimisation to build at (0 or 2; may be given twice; default 0)
#   DIR       default: $XDG_CACHE_HOME/p3-ir or target/corpus
#
# Leaves DIR/coreutils/OLEVEL/bin/PROGRAM for each program, and the build tree that made them in
# DIR/coreutils/OLEVEL/build. What is there already is not made again.
. "$(dirname "$0")/corpus-lib.sh"

levels=
while getopts O: option; do
  case $option in
  O) levels="$levels $OPTARG" ;;
  *) exit 2 ;;
  esac
done
shift $((OPTIND - 1))
need apt-get=apt dpkg-source=dpkg-dev python3=python3-venv make=make clang-16=clang-16 llvm-config-16=llvm-16-dev \
  perl=perl
corpus=$(corpus_dir "${1:-}")
use_wllvm
source=$(source_package coreutils)

for level in ${levels:-0}; do
  out=$corpus/coreutils/O$level
  [ ! -e "$out/complete" ] || continue
  mkdir -p "$out/build"
  cd "$out/build"
  if [ ! -e configured ]; then
    # As root configure wants to be told so. Optional libraries are left out, so that every machine builds the
    # same programs; translations only cost time.
    CC=wllvm CFLAGS="-O$level -g" FORCE_UNSAFE_CONFIGURE=1 WLLVM_CONFIGURE_ONLY=1 \
      "$source/configure" -q --disable-nls --disable-dependency-tracking --without-selinux --without-libgmp \
      --disable-acl --disable-xattr --disable-libcap --with-openssl=no --enable-no-install-program=stdbuf
    touch configured
  fi
  # No manual pages, no tests of gnulib, and no regeneration of Debian's tree by autotools that may not be installed.
  make -s -j"$(nproc)" AUTOCONF=: AUTOMAKE=: ACLOCAL=: AUTOHEADER=: MAKEINFO=: man1_MANS= SUBDIRS=. all
  mkdir -p "$out/bin"
  for program in $(make -s -f Makefile -f - print <<'EOF'
print:
	@echo $(bin_PROGRAMS) $(EXTRA_PROGRAMS)
EOF
  ); do
    if [ -e "$program" ] && [ "$(basename "$program")" != libstdbuf.so ]; then
      cp "$program" "$out/bin/"
    fi
  done
  touch "$out/complete"
done
for level in ${levels:-0}; do
  echo "$corpus/coreutils/O$level/bin: $(ls "$corpus/coreutils/O$level/bin" | wc -l) programs"
done
