build() { # the makefile takes the compiler for one of its own
  $CC $CFLAGS -DXXH_NAMESPACE=LZ4_ -Ilib lib/*.c programs/lz4cli.c programs/lz4io.c programs/bench.c programs/datagen.c -o lz4
}

samples() {
  cat <<'END'
lz4 -c text
lz4 -9 -c binary
lz4 <zeros
lz4 -c empty
lz4 -c text | lz4 -dc
lz4 -BD -B4 -c text | lz4 -dc
lz4 --no-frame-crc -BX --content-size -c table.csv
lz4 -l -c text | lz4 -d
lz4 -D short -c text | lz4 -D short -dc
lz4 -c text >x; head -c 4000 x | lz4 -dc
lz4 -c text >x; printf '\001' | dd of=x bs=1 seek=5000 conv=notrunc 2>/dev/null; lz4 -dc x
lz4 -c text >x; lz4 -tv x
lz4 -dc short
lz4 -dcf short
lz4 --fast=4 -c text
lz4 -h
lz4 -dc nosuch
END
}

suite() {
  local test
  ln -sf ../lz4 programs/lz4
  for test in basic multiple multiple-legacy frame-concatenation testmode contentSize dict opt-parser sparse skippable; do
    result "$test" $limit make -s -C tests CC=clang-16 CFLAGS="-O1 -w" "test-lz4-$test"
  done
}

workload() { echo 'for i in 1 2 3; do lz4 -9 -c $INPUTS/large >out; lz4 -dc out; done'; }
