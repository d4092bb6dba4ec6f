old_without=CVE-2025-48060.patch
libraries="-lonig -lm"
build() {
  autoreconf -i && configure --disable-shared --enable-static --disable-maintainer-mode --disable-docs \
    --disable-dependency-tracking && make -s src/builtin.inc && make -s jq CC="$CC"
}

samples() {
  cat <<'END'
jq . data.json
jq -c '.[] | {name, t: .tags[0]}' data.json
jq -r '.[] | [.id, .name, .value] | @csv' data.json
jq 'map(.value) | add / length' data.json
jq -S 'group_by(.name[0:1]) | map({key: .[0].name[0:1], value: length}) | from_entries' data.json
jq '[limit(5; .[] | select(.name | test("^t.*o")))]' data.json
jq -n '[range(20)] | map(pow(2; .) | sqrt | floor)'
jq -n 'def f(n): if n < 2 then n else f(n - 1) + f(n - 2) end; f(16)'
jq -n '"aGVsbG8=" | @base64d, (. | @html), ([1, {"a": null}] | tojson)'
jq -n '[1,2] as [$a,$b] | try error("x\($a+$b)") catch .'
jq -n 'error("stop")'
jq '.[' data.json
jq . text
jq -R 'split(" ") | length' short
jq -s --arg x 1 --argjson y '{"z":[2]}' '{n: length, x: $x, y: $y}' data.json
jq -e '.[0].nothing' data.json
jq --stream -c 'select(length == 2) | .[0]' data.json | head -n 30
jq -n 'reduce range(1000) as $i ([]; .[$i % 7] += $i)'
jq -n 'input, [inputs]' short
jq --tab . data.json
jq -h
END
}

suite() {
  local name
  for name in jq onig base64 optional; do
    [ -e tests/$name.test ] || continue
    result "$name.test" sh -c "$limit ./jq -L tests/modules --run-tests tests/$name.test"
  done
  result shtest env NO_VALGRIND=1 $limit sh tests/shtest
  result utf8test env NO_VALGRIND=1 $limit sh tests/utf8test
}

workload() { echo 'for i in 1 2 3 4; do jq -n "[range(60000) | {a: ., b: (. * 7 % 1001 | tostring)}] | group_by(.b) | map(length) | add"; done'; }
