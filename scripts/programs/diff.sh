package=diffutils
binary=src/diff

samples() {
  cat <<'END'
diff text changed
diff -u text changed | sed 1,2d
diff -c --label a --label b text changed
diff -y -W 60 text changed
diff -e text changed
diff --normal -w text changed
diff -q text changed
diff text text
diff -s text text
diff binary zeros
diff -a --minimal short noeol
diff -n short noeol
diff --ifdef=NEW short text | head -c 5000
diff nosuch short
diff -r . .
mkdir d e; cp short d/a; cp noeol e/a; cp short e/b; diff -rN d e
diff -I '^f' --unchanged-group-format= --changed-group-format='<%<|%>>' short noeol
cat text | diff - changed
diff --color=always short noeol
diff --help
END
}

suite() {
  make_check 3600 -C tests >&2
  results tests
}

workload() { echo 'sed "s/h/x/;7~9d" $INPUTS/large >other; for i in 1 2 3; do diff $INPUTS/large other; done; true'; }
