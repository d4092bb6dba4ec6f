test_seconds=1800 # list-big has 4 GiB

samples() {
  cat <<'END'
gzip -1 <text
gzip -9 <binary
gzip <empty
gzip -nc text table.csv | gzip -dc
gzip -n -c zeros | gzip -l
gzip -nv <text >/dev/null
gzip -nc text >x; gzip -tv x
gzip -nc text >x.gz; gzip -lv x.gz
gzip -nc text >x; head -c 9000 x | gzip -dc
gzip -nc text >x; printf '\001' | dd of=x bs=1 seek=5000 conv=notrunc 2>/dev/null; gzip -dc <x
gzip --rsyncable -n <text
gzip --help
gzip -V
gzip -L
gzip -dc nosuch
gzip -dc text
gzip -dcf text
gzip -k -S .foo short; ls
END
}

suite() {
  # The second version finds what the first has written: only tests that write to standard output tell something else.
  make_check 3600 -C tests >&2
  results tests
}

workload() { echo 'gzip <$INPUTS/large >out; gzip -dc <out >/dev/null; gzip -9 <$INPUTS/large >out'; }
