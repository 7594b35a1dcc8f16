#!/bin/bash
# The clock was set back: all files of earlier builds have future times. Builds still follow the source, the store is
# consistent, nothing in use is collected, and nothing waits for that time. A test cannot set the machine's clock, so it
# sets the files' times.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need sha256sum unzip
small_package "$t"
cd "$t"
sed -i 's/^script = .*/imports = ["small"]/; /^patches/d' recipes/small.toml
cp -r recipes/small source
from=()

# to_come TIME: sets the time of all files, folders and links.
to_come() { find store wheelhouse recipes source "$XDG_STATE_HOME" "${XDG_RUNTIME_DIR:-/nonexistent}/wheelsmith" -exec touch -h -d "$1" {} + 2>/dev/null || true; }
# built OUTCOME SUM WHAT: the build has this outcome, and the wheel's add(4, 3) this result.
built() {
  status=0
  timeout 300 "$wheelsmith" build small "${from[@]}" --json >"$t/out" 2>"$t/err" </dev/null || status=$?
  expect "0 $1" "$status $(json 'steps[0].outcome')" "$3: $(<"$t/err") $(json 'steps[0].get("cause", "")')"
  rm -rf installed
  unzip -q "$(json 'steps[0].wheel')" -d installed
  expect "$2" "$(cd installed && "$interpreter" -c 'import small; print(small.add(4, 3))')" "$3"
}
run_json plan small
interpreter=$(json 'steps[0].python' 2>/dev/null || true)
[[ -x $interpreter ]] || interpreter=$TESTS_PYTHON

built built 7 "before"
good=$(sha256sum wheelhouse/*.whl)

for time in '2 hours' '3 years'; do
  to_come "$time"
  built cached 7 "$time ahead"
  expect "$good" "$(sha256sum wheelhouse/*.whl)"
  to_come "$time"
  run store verify
  expect 0 "$status" "$(<"$t/out")"
  run_json store stats
  expect "0 1" "$status $(json steps)"
  # Items last used at the old time count as used now.
  run_json store gc --older-than 1 --keep 0B
  expect 0 "$status"
  built cached 7 "after gc"
done

# A working folder: its tree, including objects, is kept between builds.
from=(--source "small=$t/source")
built built 7 "a folder"
# A source changed now is older than the tree's objects; one restored from a backup is older still.
to_come '1 day'
sed -i 's/a + b/a * b/' source/small/add.c
built built 12 "a change after the clock was set back"
to_come '1 day'
sed -i 's/a \* b/a - b/' source/small/add.c
touch -d '1 year ago' source/small/add.c
built built 1 "an old file"
# Back to normal: new files have the current time, and the next change is an ordinary one.
sed -i 's/a - b/b - a/' source/small/add.c
built built -1 "a change later on"

# A build interrupted before, resumed now.
echo 'int broken(void) { return' >>source/small/module.c
run build small "${from[@]}"
expect 1 "$status"
to_come '1 day'
sed -i '$d' source/small/module.c
sed -i 's/b - a/a + b + 1/' source/small/add.c
built built 8 "a failed build goes on"

# Leftovers of dead processes are removed, and everything can be; then it is rebuilt.
mkdir -p store/tmp/999999-1-0
to_come '2 days'
run store gc
expect 0 "$status"
[[ ! -e store/tmp/999999-1-0 ]] || fail "a leftover of a time to come stays"
run store gc --keep 0B
expect 0 "$status"
rm -rf wheelhouse
built built 8 "after all was collected"
