old_without=liblzma-Add-assertions-to-lzma_bufcpy.patch
package=xz-utils
binary=src/xz/xz
configure_flags="--disable-nls --disable-shared --disable-assembler"
libraries=-lpthread

samples() {
  cat <<'END'
xz -0 <text
xz -6 -c binary
xz <empty
xz --format=lzma -c text | xz -dc
xz -c text table.csv | xz -dc
xz -T2 --block-size=50000 -c text
xz -T2 --block-size=50000 -c text | xz -T2 -dc
xz --x86 --lzma2=preset=3 -c binary
xz --delta=dist=4 --lzma2 -c zeros
xz --check=sha256 -c text >x.xz; xz -lvv x.xz
xz -c text >x; head -c 4000 x | xz -dc
xz -c text >x; printf '\001' | dd of=x bs=1 seek=5000 conv=notrunc 2>/dev/null; xz -dc x
xz --robot --list nosuch
xz -M 1MiB -dc text
xz -dcf short
xz -c text >x; xz -tv x
xz --version
xz --long-help
END
}

suite() {
  local file
  for file in tests/files/good*.xz tests/files/good*.lzma tests/files/good*.lz; do
    result "good $(basename "$file")" sh -c "src/xz/xz -dc $file >/dev/null"
  done
  for file in tests/files/bad*.xz tests/files/bad*.lzma tests/files/bad*.lz; do
    result "bad $(basename "$file")" sh -c "! src/xz/xz -dc $file >/dev/null"
  done
}

workload() { echo 'xz -T1 -1 -c $INPUTS/large >out; xz -dc out'; }
