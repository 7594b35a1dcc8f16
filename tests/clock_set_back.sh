#!/bin/bash
# The clock was set back: everything that builds left behind is of a time to come. Builds deliver what the source says, the store is
# whole, nothing that is in use is collected, and nothing waits for that time. The clock of a machine is not a test's to set, so the
# times of the files are.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need sha256sum unzip
small_package "$t"
cd "$t"
sed -i 's/^script = .*/imports = ["small"]/; /^patches/d' recipes/small.toml
cp -r recipes/small source
from=()

# to_come TIME: all files and folders that there are, links included.
to_come() { find store wheelhouse recipes source "$XDG_STATE_HOME" "${XDG_RUNTIME_DIR:-/nonexistent}/wheelsmith" -exec touch -h -d "$1" {} + 2>/dev/null || true; }
# built OUTCOME SUM WHAT: the build ends so, and add(4, 3) of the wheel is that.
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
  # What was used by the clock's old time counts as used now.
  run_json store gc --older-than 1 --keep 0B
  expect 0 "$status"
  built cached 7 "after gc"
done

# A folder that is worked on: its tree, objects included, is kept from build to build.
from=(--source "small=$t/source")
built built 7 "a folder"
# A source that is changed now is older than the objects of the tree; one that is put back from a backup is older still.
to_come '1 day'
sed -i 's/a + b/a * b/' source/small/add.c
built built 12 "a change after the clock was set back"
to_come '1 day'
sed -i 's/a \* b/a - b/' source/small/add.c
touch -d '1 year ago' source/small/add.c
built built 1 "an old file"
# Settled again: what is built now is of now, and the next change is an ordinary one.
sed -i 's/a - b/b - a/' source/small/add.c
built built -1 "a change later on"

# A build that was stopped then, and goes on now.
echo 'int broken(void) { return' >>source/small/module.c
run build small "${from[@]}"
expect 1 "$status"
to_come '1 day'
sed -i '$d' source/small/module.c
sed -i 's/b - a/a + b + 1/' source/small/add.c
built built 8 "a failed build goes on"

# Leftovers of the dead go, and all can go; afterwards it is built anew.
mkdir -p store/tmp/999999-1-0
to_come '2 days'
run store gc
expect 0 "$status"
[[ ! -e store/tmp/999999-1-0 ]] || fail "a leftover of a time to come stays"
run store gc --keep 0B
expect 0 "$status"
rm -rf wheelhouse
built built 8 "after all was collected"
