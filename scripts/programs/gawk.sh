old_without=0002-Fix-field-assignment-bug.patch
libraries="-lm -ldl"
configure_flags="--disable-nls --disable-mpfr --without-readline --disable-extensions --disable-pma"
# Its manual does not come with Debian's source.
build() { configure --disable-dependency-tracking $configure_flags && make_quietly -C support && make_quietly gawk; }

samples() {
  sed 's/^mawk/gawk/; /-W version/d' <<END
$(. "$repository/scripts/programs/mawk.sh" && samples)
END
  cat <<'END'
gawk 'BEGIN { n = split("b c a", x); asort(x); for (i = 1; i <= n; i++) print x[i]; print strftime("%Y", 0, 1), gensub(/(a)(b)/, "\\2\\1", "g", "abab") }'
gawk 'BEGIN { @include "nosuch" }'
gawk --lint 'BEGIN { x = y + 1; print x }'
gawk 'BEGIN { a["x"][1] = 2; for (i in a) for (j in a[i]) print i, j, a[i][j]; print typeof(a), PROCINFO["version"] }'
gawk 'BEGIN { print | "cat 1>&2"; "date -u -d @0" | getline d; print d; c = "sort"; print "b\na" |& c; close(c, "to"); while ((c |& getline l) > 0) print l }'
END
}

suite() {
  make_check 3600 -C test VALGRIND="$limit" >check.log 2>&1
  cat check.log >&2
  local name
  for name in $(grep -E '^[a-z0-9_]+$' check.log | sort -u); do
    if [ -e "test/_$name" ]; then echo "FAIL $name"; else echo "PASS $name"; fi
  done
}

workload() { echo 'gawk "{ for (i = 1; i <= NF; i++) c[\$i]++ } END { for (w in c) n += c[w]; print n }" $INPUTS/large'; }
