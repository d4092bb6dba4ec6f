old_without=09-cve-2014-8139-crc-overflow.patch
build() {
  sed -i 's/-D_FORTIFY_SOURCE=[0-9]//' unix/Makefile
  make -s -f unix/Makefile CC="$CC" LD="$CC" LF2= \
    CF="$CFLAGS -I. -DACORN_FTYPE_NFS -DWILD_STOP_AT_DIR -DLARGE_FILE_SUPPORT -DUNICODE_SUPPORT -DUNICODE_WCHAR -DUTF8_MAYBE_NATIVE -DNO_LCHMOD -DDATE_FORMAT=DF_YMD -DIZ_HAVE_UXUIDGID -DNOMEMCPY -DNO_WORKING_ISPRINT" \
    unzip
}

# Archives are made by python: one with several methods and names, with a comment.
archive='import zipfile as z
a = z.ZipFile("a.zip", "w")
t = (2020, 2, 3, 4, 5, 6)
for n, m in (("text", 8), ("binary", 8), ("short", 0), ("zeros", 8), ("empty", 0)):
  i = z.ZipInfo("d/" + n, t); i.compress_type = m; i.external_attr = 0o644 << 16
  a.writestr(i, open(n, "rb").read())
a.comment = b"a comment"
a.close()'

samples() {
  printf '%s\n' "$archive" >"$out/archive.py"
  while read -r line; do
    echo "python3 $out/archive.py; $line"
  done <<'END'
unzip -p a.zip
unzip -l a.zip
unzip -v a.zip
unzip -Z a.zip
unzip -Z -v a.zip
unzip -t a.zip
unzip -tq a.zip
unzip -p a.zip d/short d/nosuch
unzip -c a.zip 'd/s*'
unzip -z a.zip
unzip -l a.zip -x 'd/*t*'
unzip -o a.zip
unzip -oj a.zip d/zeros -d new
head -c 20000 a.zip >b.zip; unzip -t b.zip
cp a.zip b.zip; printf XY | dd of=b.zip bs=1 seek=3000 conv=notrunc 2>/dev/null; unzip -t b.zip
unzip -l nosuch.zip
unzip -l text
unzip -h
unzip -hh
END
}

suite() { # what unix/Makefile's check does with unzip alone
  export TZ=CET
  result extraction $limit ./unzip -bo testmake.zip testmake.zipinfo
  result zipinfo sh -c "$limit ./unzip -Z testmake.zip | diff - testmake.zipinfo"
  result exdir $limit ./unzip -bo testmake.zip -d testun notes
  result notes sh -c "$limit ./unzip -p testmake.zip notes | diff - testun/notes"
  result quiet sh -c "$limit ./unzip -boq testmake.zip notes -d testun && ls testun/notes"
}

workload() {
  echo 'python3 -c "import zipfile, sys; a = zipfile.ZipFile(sys.argv[2], chr(119), 8); a.write(sys.argv[1])" $INPUTS/large a.zip; for i in 1 2 3 4 5 6 7 8; do unzip -p a.zip; unzip -tq a.zip; done >/dev/null'
}
