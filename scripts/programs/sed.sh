old_without=sed-i-follow-symlinks-fix-TOCTOU-race-CVE-2026-5958.patch
binary=sed/sed
configure_flags="--disable-nls --disable-acl --without-selinux"

samples() {
  cat <<'END'
sed s/the/THE/g text
sed -n '/^e/,/n$/p' text
sed -E 's/([a-z]+) ([a-z]+)/\2 \1/' text
sed '1!G;h;$!d' short
sed -n '$=' text
sed -z 's/\n/,/g' short
sed 'N;P;D' text
sed y/abcdefgh/ABCDEFGH/ text
sed -s -n '$p;F' short text noeol
sed 's/o/&&/2;w copy' short
sed -n 'l 20' binary | head -c 3000
sed -f nosuch text
sed s/a text
sed --debug 's/a\(b*\)/[\1]/;ta;d;:a' short
sed --posix 's/a\+/x/' short
sed -e 'a\' -e appended -e 'i inserted' -e '2c changed' short
sed --sandbox 'w x' short
sed 's/[[:upper:]]*/\U&/;s/\b./\u&/g' short
sed '2q5' short
sed --help
END
}

suite() {
  make_check 3600 SUBDIRS=. >&2
  results testsuite
}

workload() { echo 'sed -E "s/([a-z]+) ([a-z]+)/\2 \1/g;/^e.*[nt]$/s/h//g" $INPUTS/large'; }
