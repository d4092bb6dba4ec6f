#!/bin/sh
# A real patch as a pair of versions: Debian's `patch` without and with one of its debian/patches,
# Fix_segfault_with_mangled_rename_patch (a rename in a git-style diff that lacks the old name).
#
# usage: corpus-patched.sh [DIR]     (DIR as for corpus-coreutils.sh)
#
# Leaves DIR/patch/old/bin/patch and DIR/patch/new/bin/patch, with bitcode, merges them into
# DIR/patch/product.bc and shows an input on which they differ. Exit status 0: the product shows the difference.
. "$(dirname "$0")/corpus-lib.sh"

need apt-get=apt dpkg-source=dpkg-dev python3=python3-venv make=make clang-16=clang-16 llvm-config-16=llvm-16-dev \
  patch=patch
corpus=$(corpus_dir "${1:-}")
use_wllvm
source=$(source_package patch)
change=$source/debian/patches/Fix_segfault_with_mangled_rename_patch.patch
p3_ir=${P3_IR:-$repository/target/release/p3-ir}
[ -x "$p3_ir" ] || (cd "$repository" && cargo build --release)

for version in old new; do
  out=$corpus/patch/$version
  [ ! -e "$out/complete" ] || continue
  rm -rf "$out"
  mkdir -p "$out/bin"
  # A tree of its own: configure refuses to build outside of a tree that has been changed in place.
  cp -a "$source" "$out/build"
  [ $version = new ] || patch -d "$out/build" -p1 -R -s --no-backup-if-mismatch <"$change"
  (
    cd "$out/build"
    CC=wllvm CFLAGS="-O0 -g" WLLVM_CONFIGURE_ONLY=1 ./configure -q --disable-dependency-tracking --disable-xattr
    make -s -j"$(nproc)" AUTOCONF=: AUTOMAKE=: ACLOCAL=: AUTOHEADER=: all
  )
  cp "$out/build/src/patch" "$out/bin/"
  touch "$out/complete"
done

product=$corpus/patch/product.bc
"$p3_ir" merge "$corpus/patch/old/bin/patch" "$corpus/patch/new/bin/patch" -o "$product"

# The old name of this rename is lost: with -p1 "one" has no name left, and there is no line of "---".
cat >"$corpus/patch/mangled.diff" <<'EOF'
diff --git one b/two
rename from one
rename to two
+++ b/two
@@ -1 +1 @@
-before
+after
EOF
mkdir -p "$corpus/patch/directory"
cd "$corpus/patch/directory"
echo before >two
status=0
shown=$("$p3_ir" run --stdin ../mangled.diff "$product" -- -p1 --dry-run) || status=$?
printf '%s\n' "$shown"
[ $status = 1 ] || die "p3-ir run ended with status $status"
case $shown in
*"old/bin/patch  signal SEGV"*"new/bin/patch  exit 1"*) ;;
*) die "the versions do not differ as the patch says" ;;
esac
