package=zlib
build() { CC=clang-16 ./configure --static && make -s minigzip CC="$CC"; }

samples() {
  cat <<'END'
minigzip <text
minigzip -9 <binary
minigzip -1 <zeros
minigzip -h <text
minigzip -r <binary
minigzip <empty
minigzip <text | minigzip -d
minigzip -c text table.csv | minigzip -d
minigzip -d <short
minigzip <text >x; head -c 4000 x | minigzip -d
minigzip -d nosuch
END
}

suite() { result 'hello world' $limit sh -c 'test "$(echo hello world | ./minigzip | ./minigzip -d)" = "hello world"'; }

workload() { echo 'minigzip <$INPUTS/large >out; minigzip -d <out'; }
