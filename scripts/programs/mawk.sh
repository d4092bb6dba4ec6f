libraries=-lm
configure_flags=

samples() {
  cat <<'END'
mawk '{ n += NF } END { print NR, n }' text
mawk '{ c[$1]++ } END { for (w in c) print c[w], w | "sort" }' text
mawk -F, '{ s += $3; printf "%-5d|%8.2f|%s\n", $1, $3, toupper($2) } END { print s }' table.csv
mawk '/^e/,/n$/ { print NR ": " $0 }' text
mawk '{ gsub(/[aeiou]+/, "<&>"); print }' short
mawk 'BEGIN { while (("sort short" | getline l) > 0) print "got", l; close("sort short"); system("echo hi; exit 3") }'
mawk 'function f(n) { return n < 2 ? n : f(n-1) + f(n-2) } BEGIN { print f(18) }'
mawk 'BEGIN { print length("abc"), substr("hello", 2, 3), index("abc", "c"), split("a:b:c", x, ":"), x[3], sprintf("%x %o %e %c", 255, 8, 1.5, 65) }'
mawk '{ print > ("out" NR % 3) } END { print "done" > "/dev/stderr" }' short
mawk 'BEGIN { printf "%s }'
mawk 'BEGIN { exit 4 } END { print "end" }'
mawk -v x=5 -f nosuch
mawk 'BEGIN { getline; print "first " $0; getline x < "short"; print x }' text
mawk '{ $3 = "x"; $7 = NF } 1' OFS=- short
mawk 'BEGIN { RS = "" } { print NR, $1, NF }' short
mawk -W version
END
}

suite() {
  cd test || return
  printf '#!/bin/sh\nexec %s %s "$@"\n' "$limit" "$PWD/../mawk" >mawk && chmod +x mawk
  MAWK=./mawk sh ./mawktest >mawktest.log 2>&1 </dev/null
  cat mawktest.log >&2
  sed -n 's/^\(.*\) OK$/PASS \1/p; s/^\(.*\) had .*failure.*$/FAIL \1/p' mawktest.log
}

workload() { echo 'mawk "{ for (i = 1; i <= NF; i++) c[\$i]++ } END { for (w in c) n += c[w]; print n }" $INPUTS/large'; }
