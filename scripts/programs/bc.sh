binary=bc/bc
configure_flags=
build() { configure --without-readline --without-libedit && make_quietly -C lib && make_quietly -C bc; }

samples() {
  cat <<'END'
echo 'scale=60; 1/7; sqrt(2); 3^200' | bc
echo 's(1); a(1)*4; e(2); l(10); j(1,2)' | bc -l
echo 'obase=16; 2^100; ibase=2; 1010101' | bc
echo 'define f(n) { if (n < 2) return (n); return (f(n-1)+f(n-2)); }; f(15)' | bc
echo 'a[1]=2; a[3]=4; define s(*x[]) { x[1]=9; return (x[3]); }; s(a[]); a[1]' | bc
echo 'for (i = 0; i < 20; i++) { if (i % 3) continue; print i, " "; }; print "\n"' | bc
echo '1/0; 2+2; (' | bc
echo 'while (1) { if (++n > 9) break; }; n; halt; 7' | bc
echo 'x = read(); x + 1' >r.b; printf '41\n7*6\n' | bc r.b
bc short
bc -s nosuch
echo 'last; 4; last*2; length(123.456); scale(1.25)' | bc -w
bc --help
bc -v
END
}

suite() {
  local file output status # a test prints what it has computed: the sum of that becomes part of its name
  echo 'b = 10; l = 11; i = 10' >limits.b # checklib.b takes one scale then, not six
  for file in Test/*.b; do
    output=$($limit bc/bc -l limits.b "$file" </dev/null 2>&1)
    status=$?
    result "$(basename "$file") $(cksum <<<"$status$output")" test $status = 0
  done
}

workload() { echo 'echo "scale=900; 4*a(1); e(1); sqrt(2)" | bc -l'; }
