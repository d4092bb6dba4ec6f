#!/bin/bash
# Runs the scripts in scripts/sqlite/ with SQLite's shell merged with itself, against the plain shell.
#
# usage: sqlite-suite.sh [DIR]     (the corpus, as for corpus-sqlite.sh, which is run if needed)
#
# Each script is read from a file, from a pipe and, without its dot commands, from the command line; each run has
# its own directory. Output, messages, status and files left behind must be those of the plain shell, whichever
# version is shown. Exit status: 0 equal, 1 a difference.
. "$(dirname "$0")/corpus-lib.sh"

corpus=$(corpus_dir "${1:-}")
"$repository/scripts/corpus-sqlite.sh" "$corpus" >/dev/null
plain=$corpus/sqlite3/O0
scripts=$repository/scripts/sqlite
p3_ir=${P3_IR:-$repository/target/release/p3-ir}
[ -x "$p3_ir" ] || (cd "$repository" && cargo build --release)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

version=$plain/shell.bc+$plain/sqlite3.bc
"$p3_ir" merge "$version" "$version" -o "$work/product.bc"
opt-16 -passes=verify -disable-output "$work/product.bc"
"$p3_ir" build "$work/product.bc" -o "$work/product"

# observe RESULT PROGRAM HOW SCRIPT [ARGUMENT...]: what the program does goes to RESULT.{out,err,status,files}.
observe() {
  local result=$work/$1 program=$2 how=$3 script=$4 status=0
  shift 4
  rm -rf "$work/directory"
  mkdir "$work/directory"
  cd "$work/directory"
  cp "$scripts/data.csv" "$scripts/nested.sql" .
  case $how in
  file) (exec -a sqlite3 "$program" "$@" <"$script") >"$result.out" 2>"$result.err" || status=$? ;;
  pipe)
    # shellcheck disable=SC2002 # a pipe, on purpose
    (cat "$script" | (exec -a sqlite3 "$program" "$@" 2>"$result.err") | cat >"$result.out"
      exit "${PIPESTATUS[1]}") || status=$?
    ;;
  esac
  echo "$status" >"$result.status"
  for file in *; do
    echo "$file"
    case $file in *.txt) cat "$file" ;; esac
  done >"$result.files"
  cd "$repository"
}

runs=0 different=0
# compare NAME HOW SCRIPT [ARGUMENT...]
compare() {
  local name=$1 shown kind
  shift
  observe plain "$plain/sqlite3" "$@"
  for shown in 1 2; do
    P3_SHOW=$shown P3_STATUS=$shown observe product "$work/product" "$@"
    runs=$((runs + 1))
    for kind in out err status files; do
      cmp -s "$work/plain.$kind" "$work/product.$kind" && continue
      echo "DIFFERS: $name ($1), version $shown, $kind"
      diff -a "$work/plain.$kind" "$work/product.$kind" | head -n 5
      different=$((different + 1))
    done
  done
}

for script in "$scripts"/*.sql; do
  name=$(basename "$script" .sql)
  compare "$name" file "$script"
  compare "$name" pipe "$script"
  compare "$name arguments" file /dev/null :memory: "$(grep -v '^\.' "$script")"
done
compare "-json" file /dev/null -json :memory: "SELECT 1 a, 'x' b UNION SELECT 2, NULL"
compare "-cmd" file /dev/null -batch -cmd '.print hello' -csv :memory: 'SELECT 1, 2'
compare "-version" file /dev/null -version
compare "-help" file /dev/null -help
compare "bad option" file /dev/null -nonsense
compare "no file" file /dev/null -readonly /nonexistent/file 'SELECT 1'
echo "$runs runs of the product, $different differences from the plain shell"
[ "$different" = 0 ]
