#!/bin/bash
# --no-build-isolation: the interpreter's own packages, without any index; they are part of the key. pip confirms them.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
small_package "$t"
python3 -m venv "$t/with"
index=${PIP_INDEX_URL:-}
pip() {
  local setting=()
  [[ -z $index ]] || setting=("PIP_INDEX_URL=$index")
  env -u PIP_INDEX_URL "${setting[@]}" "$t/with/bin/python" -m pip --disable-pip-version-check "$@"
}
pip uninstall -q -y setuptools
export WHEELSMITH_PYTHON=$t/with/bin/python WHEELSMITH_OFFLINE=true
# Nothing can be fetched, not even by mistake.
export PIP_INDEX_URL=http://127.0.0.1:9/

# A missing requirement is an error before anything is built.
run build small --no-build-isolation
expect 1 "$status"
grep -q 'the build requires setuptools==80.9.0, which .* does not have' "$t/err" || fail "no reason: $(cat "$t/err")"

pip install -q setuptools==80.9.0
run_json build small --no-build-isolation
expect 0 "$status" "build: $(cat "$t/err")"
expect built "$(json 'steps[0].outcome')"
expect pass "$(json 'steps[0].tests[0].outcome')"
wheel=$(json 'steps[0].wheel')
unzip -p "$wheel" 'small-1.0.dist-info/wheelsmith/provenance.json' >"$t/provenance.json"
# As pip lists them.
listed=$(pip list --format=freeze | sort -f)
ours=$(python3 -c 'import json, sys
for item in json.load(open(sys.argv[1]))["installed"]: print("%s==%s" % (item["name"], item["version"]))' "$t/provenance.json" | sort -f)
expect "$listed" "$ours" "packages in the provenance"
python3 -m venv --without-pip "$t/clean"
run build small --no-build-isolation --install --into "$t/clean"
expect "5 patched" "$(cd / && "$t/clean/bin/python" -c 'import small; print(small.add(2, 3), small.version)')"

# The same environment: nothing to do. Another package in it: another key, and the reason names it.
run_json build small --no-build-isolation
expect cached "$(json 'steps[0].outcome')"
pip install -q setuptools==79.0.1
run_json build small --no-build-isolation
expect built "$(json 'steps[0].outcome')"
[[ $(json 'steps[0].reason') == *setuptools* ]] || fail "the reason is $(json 'steps[0].reason')"
[[ $(json notes) == *'wants setuptools==80.9.0 (79.0.1 is installed)'* ]] || fail "no note: $(json notes)"

# The script does the same by hand.
run plan small --no-build-isolation --script
expect 0 "$status"
WORK=$t/work DIST=$t/dist bash "$t/out" >"$t/script.log" 2>&1 || { cat "$t/script.log" >&2; fail "the script failed"; }
[[ -n $(echo "$t"/dist/small-1.0-*.whl) ]] || fail "the script made no wheel"
