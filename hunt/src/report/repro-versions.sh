old=$(usable "${1:-$programs/1{{suffix}}}") || exit 2
new=$(usable "${2:-$programs/2{{suffix}}}") || exit 2
run old "$old" 2> "$work/shell"
run new "$new" 2> "$work/shell"
for side in old new; do
  for part in stdout stderr status; do
    sed "s/^/$part: /" "$work/$side.$part"
  done > "$work/$side.txt"
done
cd "$work" || exit 2
diff -U 1000 old.txt new.txt
