#!/bin/bash
# Exit status: 0 success, 1 the checked thing is not fine, 2 usage. Errors go to standard error, in one line.
. "$(dirname "$0")/common.inc"
wheel=$t/demo-1.0-py3-none-any.whl
echo 'x = 1' >"$t/init.py"
make_wheel "$wheel" "demo/__init__.py=$t/init.py"
cd "$t"  # where no wheelsmith.toml names packages
echo 'no wheel' >"$t/broken-1.0-py3-none-any.whl"

# wanted status, then the arguments
while read -r wanted arguments; do
  [[ -n $wanted ]] || continue
  eval "run $arguments"
  expect "$wanted" $status "wheelsmith $arguments: $(<"$t/err")"
  [[ $wanted == 0 || -s $t/err || -s $t/out ]] || fail "wheelsmith $arguments says nothing"
done <<'END'
0 --help
0 --version
0 inspect --help
0 check --help
0 inspect "$wheel"
0 check "$wheel"
1 inspect "$t/absent.whl"
1 check "$t/absent.whl"
1 check "$t/broken-1.0-py3-none-any.whl"
1 check "$wheel" "$t/broken-1.0-py3-none-any.whl"
2
2 nonsense
2 inspect
2 check
2 check --no-such-option "$wheel"
2 check --policy no_such_policy "$wheel"
2 check --arch "not an arch" "$wheel"
2 check --gpu "No Such Device" "$wheel"
2 check --explain no-such-finding
2 check --max-size much "$wheel"
2 build
2 plan
2 plan ../outside --store "$t/store"
2 build demo --steps 0 --store "$t/store"
2 build demo --jobs many --store "$t/store"
2 build demo --into "$t/env" --store "$t/store"
2 plan texture --target nonsense --store "$t/store"
2 plan texture --variant cuda --arch gfx90a --store "$t/store"
2 config show --env NAME
0 config show --env "LDFLAGS=-Wl,-s" --set "a=1,2"
0 check --exclude libfoo.so --exclude libbar.so "$wheel"
1 check --gpu A100 --gpu MI300X "$wheel"
END

run --version
grep -qE '^wheelsmith [0-9]+\.[0-9]+' "$t/out"

# The device is rejected, not the wheel behind it.
run check --gpu "No Such Device" "$wheel"
grep -q 'No Such Device' "$t/err"

# A typo gets a suggestion.
run check --polcy manylinux_2_28 "$wheel"
expect 2 $status
grep -q -e --policy "$t/err"
run inspct "$wheel"
expect 2 $status
grep -q inspect "$t/err"

# --json is one document even when nothing could be read, and contains the reason.
run_json check "$t/absent.whl"
expect 1 "$(json 'len(items)')"
[[ $(json 'items[0].error') == *"No such file"* ]]

# Also when the command failed early, with the list that its reader expects.
for command in build plan; do
  run_json "$command" --no-such-option
  expect 0 "$(json 'len(steps)')"
  [[ $(json error) == *no-such-option* ]]
done
run_json doctor --no-such-option
expect 0 "$(json 'len(checks)')"

# A closed pipe, as in `wheelsmith inspect … | head`, is not a crash.
{ "$wheelsmith" inspect "$wheel" --json || [[ $? -eq 141 || $? -eq 1 ]]; } | true
