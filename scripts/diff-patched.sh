#!/bin/sh
# A real pair for p3-ir diff: Debian's `patch` without and with its fix of a crash (see corpus-patched.sh). A correct
# git-style diff is the seed; the search has to find one of the mangled ones that made the old version crash.
#
# usage: diff-patched.sh [DIR]     (DIR as for corpus-coreutils.sh)
#
# Exit status 0: the difference was found, and is called a fixed crash.
. "$(dirname "$0")/corpus-lib.sh"

corpus=$(corpus_dir "${1:-}")
p3_ir=${P3_IR:-$repository/target/release/p3-ir}
[ -x "$p3_ir" ] || (cd "$repository" && cargo build --release)
[ -e "$corpus/patch/new/complete" ] || P3_IR=$p3_ir "$repository/scripts/corpus-patched.sh" "$corpus"

cat >"$corpus/patch/rename.diff" <<'EOF'
diff --git a/one b/two
rename from one
rename to two
--- a/one
+++ b/two
@@ -1 +1 @@
-before
+after
EOF
cd "$corpus/patch"
status=0
"$p3_ir" diff old/bin/patch new/bin/patch -o found --args '-p1 --dry-run -f' --max-stdin 300 \
  --seed '-p1 --dry-run -f < rename.diff' --time "${P3_TIME:-300}" --timeout 2 >found.txt || status=$?
cat found.txt
[ $status = 1 ] || die "p3-ir diff ended with status $status"
grep -q 'fixed crash' found.txt || die "no fixed crash among the differences"
