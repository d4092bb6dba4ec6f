old_without=1019724-handle-backslash-warning.patch
binary=src/grep
configure_flags="--disable-nls --disable-perl-regexp"
build() {
  # clang-16 takes no declaration right behind a label.
  sed -i 's/^ *stray_backslash:/&;/' lib/dfa.c
  configure_and_make
}

samples() {
  cat <<'END'
grep the text
grep -c '^e.*n$' text
grep -Ein '(oo|tt)[a-m]+ ' text
grep -vnf short text
grep -oE '[a-z]{8,}' text
grep -A2 -B1 -m3 lad text
grep -w 'the\|one' text short
grep '\(.\)\1 \(..\)\2' text
grep -F -x -e one -e six short
grep -l e text short binary empty
grep -L zzzz text short
grep -ab o binary
grep e binary
grep -r --include='s*' o .
grep -z o short
grep --color=always -n o short
grep '[' text
grep x nosuch text
grep -s x nosuch
grep -q one short
grep -Hbn six short
grep --help
END
}

suite() {
  make_check 3600 -C tests >&2
  results tests
}

workload() { echo 'for i in 1 2; do grep -cE "(t|h)[a-m]+ (.*)o\$" $INPUTS/large; grep -c "\(.\)\1 \(..\)\2" $INPUTS/large; done; true'; }
