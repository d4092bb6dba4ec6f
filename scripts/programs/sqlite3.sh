libraries=-lm
build() {
  (CC=clang-16 ./configure -q --disable-readline --disable-tcl && make -s sqlite3.c shell.c) &&
    $CC $CFLAGS -I. shell.c sqlite3.c -lm -o sqlite3
}

samples() {
  local file
  for file in "$repository"/scripts/sqlite/*.sql; do
    echo "cp $repository/scripts/sqlite/data.csv $repository/scripts/sqlite/nested.sql .; sqlite3 <$file"
  done
  cat <<'END'
sqlite3 -json :memory: "SELECT 1 a, 'x' b UNION SELECT 2, NULL"
sqlite3 :memory: "CREATE TABLE t(a); INSERT INTO t VALUES(1"
sqlite3 -version
sqlite3 -readonly /nonexistent/file 'SELECT 1'
END
}

workload() {
  echo 'sqlite3 :memory: "with recursive c(i) as (select 1 union all select i + 1 from c where i < 300000) select count(*), sum(i * 7919 % 1009), max(printf(\"%05d\", i % 977)) from c"'
}
