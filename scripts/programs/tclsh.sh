package=tcl8.6
binary=unix/tclsh name=tclsh
libraries="-lm -ldl -lpthread -lz"
build() {
  cd unix && configure --disable-shared --enable-threads --disable-dtrace && make -s tclsh CC="$CC"
}

samples() {
  while read -r line; do
    echo "export TCL_LIBRARY=$out/build/library; $line"
  done <<'END'
echo 'puts [expr {2**100}]; puts [lsort -integer {3 1 2}]' | tclsh
echo 'proc f n { expr {$n < 2 ? $n : [f [expr {$n-1}]] + [f [expr {$n-2}]]} }; puts [f 15]' | tclsh
echo 'puts [catch {error boom} m]; puts $m; puts $::errorInfo' | tclsh
echo 'foreach w [split [read [open short]]] { incr c($w) }; parray c' | tclsh
echo 'puts [regsub -all {(\w)(\w)} "hello" {\2\1}]; puts [format %08.3f 3.14159]; puts [clock format 0 -gmt 1]' | tclsh
echo 'coroutine c apply {{} { for {set i 0} {$i < 3} {incr i} { yield $i } }}; puts [c][c]' | tclsh
echo 'puts [exec sort short]; puts [string map {a b} banana]; exit 4' | tclsh
echo 'after 10 {set x 1}; vwait x; puts $x' | tclsh
echo 'error uncaught' >e.tcl; tclsh e.tcl
tclsh nosuch.tcl
END
}

suite() { # regexp.test takes minutes by itself
  local file
  for file in append apply binary chan clock cmdIL cmdMZ compile concat coroutine dict encoding error eval event exec \
    expr-old fCmd fileName for foreach format get history if incr info ioCmd join lindex linsert list llength lmap \
    lrange lrepeat lreplace lsearch mathop namespace nre oo package parse parseExpr proc proc-old regexpComp rename \
    result scan set split string stringComp subst switch tailcall timer trace unknown uplevel upvar utf util var while; do
    result "$file" sh -c "cd tests && TCL_LIBRARY=../library $limit ../unix/tclsh $file.test 2>&1 | tee -a /dev/stderr | grep -q 'Failed.0\b'"
  done
}

workload() { echo "export TCL_LIBRARY=$out/build/library; "'echo "proc f n { expr {\$n < 2 ? \$n : [f [expr {\$n-1}]] + [f [expr {\$n-2}]]} }; puts [f 22]" | tclsh'; }
