#!/bin/bash
# Many packages, Pythons and arch lists in one plan; packages that depend on each other; failures beside successes; two
# concurrent runs; and disk failures.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need unzip
small_package "$t"
cd "$t"

# pair calls small for the sum of 2 and 3 while it is built, and again while it is tested.
mkdir -p recipes/pair
cat >recipes/pair.toml <<'TOML'
name = "pair"
[source]
folder = "pair"
[build]
requires = ["setuptools==80.9.0"]
[[needs]]
recipe = "small"
why = "setup.py imports it"
[[test]]
name = "together"
script = "import pair, small; assert pair.five == small.add(2, 3)"
[variant.cpu]
TOML
printf '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n' >recipes/pair/pyproject.toml
cat >recipes/pair/setup.py <<'PYTHON'
import pathlib
import small
from setuptools import setup
pathlib.Path("pair.py").write_text(f"five = {small.add(2, 3)}\n")
setup(name="pair", version="2.0", py_modules=["pair"], install_requires=["small>=1"])
PYTHON
printf 'Metadata-Version: 2.1\nName: pair\nVersion: 2.0\n' >recipes/pair/PKG-INFO
# lone fails, and nothing depends on it; after depends on lone.
mkdir -p recipes/lone
sed -e 's/"pair"/"lone"/' -e '/^\[\[needs/,/^why/d' -e '/^\[\[test/,/^script/d' recipes/pair.toml >recipes/lone.toml
printf '[project]\nname = "lone"\nversion = "1"\n' >recipes/lone/pyproject.toml
echo 'raise SystemExit("lone will not be built")' >recipes/lone/setup.py
sed -e 's/"pair"/"after"/' -e 's/"small"/"lone"/' recipes/pair.toml >recipes/after.toml
cp -r recipes/lone recipes/after

good() { [[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "$1 ended with $status"; }; }
outcomes() { json '[s.package + " " + s.outcome for s in steps]' | paste -sd, -; }

# A dependency is built first though it was not requested, and its wheel is available for build and test.
run_json build pair
good "build pair"
expect "small built,pair built" "$(outcomes)"
expect pass "$(json 'steps[1].tests[0].outcome')"
expect "pair-2.0-py3-none-any.whl" "$(json 'steps[1].wheel.split("/")[-1]')"
old=$(json 'steps[0].wheel')
sum=$(sha256sum <"$old")

# Its source changed: both are rebuilt, and pair against the new one.
sed -i 's/return a + b;/return b + a;/' recipes/small/small/add.c
run_json build pair
good "build pair again"
expect "small built,pair built" "$(outcomes)"
[[ $(json 'steps[1].reason') == *step:small-cpu-* ]] || fail "the reason of pair is $(json 'steps[1].reason')"
# Changed back: both are in the store. The wheelhouse has the other wheel of the same name, which is replaced.
sed -i 's/return b + a;/return a + b;/' recipes/small/small/add.c
echo 'other content' >"$old"
run build pair
good "build pair from the store"
grep -q 'replaced a different small-1.0-' "$t/err" || fail "no note about the replaced wheel: $(cat "$t/err")"
expect "$sum" "$(sha256sum <"$old")" "the wheel of the first source"

# Without --keep-going a failure ends the build; with it, everything else is built.
run_json build lone after small --steps 1
expect 1 "$status"
expect "lone failed,after skipped,small cached" "$(outcomes)"
sed -i 's/return a + b;/return a + b + 0;/' recipes/small/small/add.c
run_json build lone after pair
expect "1 lone failed,after skipped,small skipped,pair skipped" "$status $(outcomes)"
[[ $(json 'steps[2].cause') == *--keep-going* ]] || fail "small: $(json 'steps[2].cause')"
run_json build lone after pair --keep-going
expect "1 lone failed,after skipped,small built,pair built" "$status $(outcomes)"
[[ $(json 'steps[1].cause') == *"depends on lone-cpu-"*"not built"* ]] || fail "after: $(json 'steps[1].cause')"
[[ $(json 'steps[0].failure.output') == *"lone will not be built"* ]] || fail "lone: $(json 'steps[0].failure.output')"

# Two concurrent builds on one store: one wheel.
sed -i 's/return a + b + 0;/return 0 + a + b;/' recipes/small/small/add.c
"$wheelsmith" build small --json --out one >one.json 2>one.err &
first=$!
"$wheelsmith" build small --json --out two >two.json 2>two.err || fail "the second of two: $(cat two.json two.err)"
wait $first || fail "the first of two: $(cat one.json one.err)"
expect "built cached" "$(printf '%s\n' "$(json 'steps[0].outcome' one.json)" "$(json 'steps[0].outcome' two.json)" | sort | paste -sd' ' -)"
expect "$(sha256sum <"$(json 'steps[0].wheel' one.json)")" "$(sha256sum <"$(json 'steps[0].wheel' two.json)")"

# A read-only store, and a full one: one error that names the path; then everything recovers.
if unshare -rm true 2>/dev/null; then
  sed -i 's/return 0 + a + b;/return a + 0 + b;/' recipes/small/small/add.c
  status=0
  unshare -rm bash -c "mount --bind '$t/store' '$t/store' && mount -o remount,ro,bind '$t/store' && exec '$wheelsmith' build small" >out 2>err || status=$?
  expect 1 "$status" "with a read-only store: $(cat err)"
  expect 1 "$(grep -cE 'store.*(read-only|Read-only)|(read-only|Read-only).*store' err)" "errors of a read-only store: $(cat err)"
  mkdir -p full
  status=0
  unshare -rm bash -c "
    mount -t tmpfs -o size=3m,mode=755 none '$t/full'
    '$wheelsmith' --help >/dev/null
    '$wheelsmith' build small --store '$t/full' --out '$t/out-full'; status=\$?
    mount -o remount,size=900m '$t/full'
    '$wheelsmith' build small --store '$t/full' --out '$t/out-full' || exit 70
    '$wheelsmith' store verify --store '$t/full' || exit 71
    exit \$status" >out 2>err || status=$?
  expect 1 "$status" "with a full store: $(cat out err)"
  grep -qE 'no space|full|disk' err out || fail "message for a full disk: $(cat out err)"
  grep -q "$t/full" err || fail "the full folder is not named: $(cat err)"
fi

# The whole matrix, as a plan: Pythons × arch lists × packages.
pythons=$(for v in 3.11 3.12; do "$wheelsmith" plan small --python $v --offline >/dev/null 2>&1 && echo $v; done | paste -sd, - || true)
count=$(tr , '\n' <<<"$pythons" | grep -c . || true)
if ((count == 2)); then
  run_json plan small pair --python "$pythons"
  good "plan for $pythons"
  expect 4 "$(json 'len(steps)')"
  expect 4 "$(json 'len({s.key for s in steps})')" "keys"
fi
sed 's/^\[variant.cpu\]/[variant.cpu]\n[variant.cuda.archs]\ndefault = "9.0"/; s/^name = "small"/name = "many"\nproject = "small"/' recipes/small.toml >recipes/many.toml
if command -v nvcc >/dev/null; then
  run_json plan many --variant cuda --arch 8.0 --arch '9.0;10.0'
  good "plan for two arch lists"
  expect "many-cuda-8.0 many-cuda-9.0;10.0" "$(json '[s.id for s in steps]' | sed 's/-cp3[0-9]*//' | paste -sd' ' -)"
fi
run store verify
expect 0 "$status" "$(cat "$t/out")"
