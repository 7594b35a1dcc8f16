#!/bin/bash
# From a recipe to a wheel in the wheelhouse, confirmed by pip, unzip and auditwheel; the second build starts nothing.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need unzip
small_package "$t"

run_json build small
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
expect built "$(json 'steps[0].outcome')"
grep -q '^  small-cpu-cp3[0-9]*: build$' "$t/err" || fail "--json shows no progress on standard error: $(<"$t/err")"
expect "it has never been built here" "$(json 'steps[0].reason')"
expect pass "$(json 'steps[0].tests[0].outcome')"
wheel=$(json 'steps[0].wheel')
[[ -f $wheel ]] || fail "no wheel at $wheel"
[[ ${wheel##*/} == small-1.0-cp3*-cp3*-manylinux_2_*_x86_64.whl ]] || fail "the name is ${wheel##*/}"

# Other tools' verdicts.
unzip -tq "$wheel" >/dev/null
tag=$("$TESTS_PYTHON" -m auditwheel show "$wheel" | tr -d '\n' | sed -n 's/.*platform tag:"\([^"]*\)".*/\1/p')
[[ -z $tag || ${wheel##*/} == *"$tag.whl" ]] || fail "auditwheel says $tag"
python=$(json 'steps[0].id' | sed -n 's/.*-cp3\([0-9]*\)$/3.\1/p')
python3 -m venv "$t/env"
"$t/env/bin/python" -m pip install -q --disable-pip-version-check --no-index "$wheel"
cd /
expect "5 patched" "$("$t/env/bin/python" -c 'import small; print(small.add(2, 3), small.version)')" "installed by pip"
expect "" "$("$t/env/bin/python" -m pip check | grep -v 'No broken' || true)"
cd "$t"

# It contains recipe and provenance, and no folder of this machine.
unzip -p "$wheel" 'small-1.0.dist-info/wheelsmith/provenance.json' >"$t/provenance.json"
expect small "$(json recipe "$t/provenance.json")"
expect cpu "$(json variant "$t/provenance.json")"
expect 64 "$(json 'len(key)' "$t/provenance.json")"
unzip -p "$wheel" >"$t/contents"
if grep -aq "$t" "$t/contents"; then fail "a path of this machine is in the wheel"; fi

# Again: from the store, without starting anything.
if command -v strace >/dev/null; then
  strace -f -qq -e trace=execve -o "$t/trace" "$wheelsmith" build small --json >"$t/out" 2>"$t/err"
  expect cached "$(json 'steps[0].outcome')"
  expect 1 "$(grep -c execve "$t/trace")" "programs started by a build that is in the store"
fi
rm -r "$t/wheelhouse"
run_json build small
expect cached "$(json 'steps[0].outcome')"
expect "$wheel" "$(json 'steps[0].wheel')"
[[ -f $wheel ]] || fail "the wheel is not put into the wheelhouse again"
sum=$(sha256sum <"$wheel")

# Another store, another folder: the same bytes.
WHEELSMITH_STORE=$t/store2 WHEELSMITH_OUT=$t/wheelhouse2 run_json build small
expect built "$(json 'steps[0].outcome')"
expect "$sum" "$(sha256sum <"$(json 'steps[0].wheel')")" "built twice"

# The wheel carries its tests, and can be installed by us.
run_json test "$wheel"
expect "good pass" "$(json 'items[0].verdict') $(json 'items[0].tests[0].outcome')"
python3 -m venv --without-pip "$t/env2"
run build small --install --into "$t/env2"
expect 0 "$status"
(cd / && "$t/env2/bin/python" -c 'import small; assert small.add(1, 1) == 2')

run store verify
expect 0 "$status" "store verify: $(cat "$t/out")"

# The store's content by name; removal by name; and by value, wheels last, never the memory journal.
run_json store ls Small
expect "small 1.0 ${wheel##*/}" "$(json 'wheels[0].package') $(json 'wheels[0].version') $(json 'wheels[0].wheel')"
run store ls nothing
expect 1 "$status" "a package that the store does not have"
run_json store gc --older-than 0 --dry-run
expect "wheel true" "$(json 'items[-1].kind') $(json 'items[-1].bytes > 0')"
expect 0 "$(json 'len([i for i in items if i["path"].startswith("units")])')"
expect 1 "$(find "$WHEELSMITH_STORE/shims" -name wheelsmith-shim -printf '%i\n' | sort -u | wc -l)" "shim programs on disk"
run store rm small==1.0
expect 0 "$status" "store rm: $(cat "$t/out" "$t/err")"
grep -q "wheel .*${wheel##*/}" "$t/out" || fail "store rm names nothing: $(<"$t/out")"
run_json store ls
expect 0 "$(json 'len(wheels)')"
run store gc --older-than 0
[[ -s $WHEELSMITH_STORE/units/journal.tsv ]] || fail "store gc has removed what was learned about compiles"
run store verify
expect 0 "$status" "store verify after gc: $(cat "$t/out")"
