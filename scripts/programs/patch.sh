old_without=Fix_segfault_with_mangled_rename_patch.patch
binary=src/patch
configure_flags="--disable-xattr"

# With -o - the result goes to standard output; files that are replaced are so by both versions.
samples() {
  while read -r line; do
    echo "diff -u --label text --label text text changed >u; diff -c --label text --label text text changed >c; diff text changed >n; diff -e text changed >e; $line"
  done <<'END'
patch -o - text <u
patch -o - text <c
patch -o - text <n
patch -o - -R changed <u
patch -s -o - text <u
patch --dry-run text <u
patch --dry-run --verbose text <u
patch --dry-run changed <u
patch --dry-run -R text <u
patch --dry-run -f short <u
patch --dry-run -N changed <u
patch --dry-run nosuch <u
patch --dry-run -F0 text <c
patch --dry-run <noeol
sed 9,12d text >x; patch -o - x <u
head -n 30 u | patch --dry-run text
patch -o new text <u
patch text <u
patch -b text <u
patch --help
patch --version
END
}

suite() {
  make_check 3600 >&2
  results tests
}

workload() { echo 'sed "s/h/x/;7~9d" $INPUTS/large >other; diff -u $INPUTS/large other >u; for i in 1 2 3 4 5; do patch -s -o - $INPUTS/large <u; done'; }
