# Its own tests are three files to compress and three to decompress.
build() { # Debian's makefile links a shared library
  local file
  for file in bzip2 blocksort huffman crctable randtable compress decompress bzlib; do
    $CC $CFLAGS -D_FILE_OFFSET_BITS=64 -c $file.c || return 1
  done
  $CC *.o -o bzip2
}

samples() {
  cat <<'END'
bzip2 -1 <text
bzip2 -9 <binary
bzip2 <empty
bzip2 -c text table.csv | bzip2 -dc
bzip2 -s <zeros | bzip2 -ds
bzip2 -tv text
bzip2 -kv text; bzip2 -tvv text.bz2
bzip2 -c text >x; head -c 9000 x | bzip2 -dc
bzip2 -c text >x; printf '\001' | dd of=x bs=1 seek=5000 conv=notrunc 2>/dev/null; bzip2 -dc x
bzip2 --help
bzip2 -L </dev/null
bzip2 -dc nosuch
bzip2 -dc text
bzip2 -q -f -dc text
bzip2 -vvvv -c short
END
}

suite() {
  local i
  for i in 1 2 3; do
    result "compress sample$i" sh -c "./bzip2 -$i <sample$i.ref | cmp - sample$i.bz2"
    result "decompress sample$i" sh -c "./bzip2 -d $([ $i = 3 ] && echo -s) <sample$i.bz2 | cmp - sample$i.ref"
  done
}

workload() { echo 'bzip2 <$INPUTS/large >out'; }
