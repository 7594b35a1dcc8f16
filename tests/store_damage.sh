#!/bin/bash
# The store delivers only what was built, and only checked bytes are published.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need sha256sum
small_package "$t"
cd "$t"

run_json build small
expect built "$(json 'steps[0].outcome')"
wheel=$(json 'steps[0].wheel')
good=$(sha256sum <"$wheel")
blob=$(ls store/blobs/*)
expect "${blob##*/}" "${good%% *}"

# A byte of the blob, with the same size and time.
damage() {
  local time
  time=$(stat -c %y "$1")
  chmod u+w "$1"
  python3 - "$1" "$2" <<'PYTHON'
import sys
with open(sys.argv[1], "r+b") as file:
    file.seek(int(sys.argv[2])); byte = file.read(1)[0]
    file.seek(int(sys.argv[2])); file.write(bytes([byte ^ 1]))
PYTHON
  touch -d "$time" "$1"
}
for place in 0 1000 2500; do
  damage "$blob" $place
  rm -rf wheelhouse
  run_json build small
  expect "0 built" "$status $(json 'steps[0].outcome')" "with byte $place of the blob changed"
  expect "$good" "$(sha256sum <"$wheel")"
  run store verify
  expect 0 "$status"
done
# The wheelhouse's own copy is checked, too.
damage "$wheel" 100
run_json build small
expect cached "$(json 'steps[0].outcome')"
expect "$good" "$(sha256sum <"$wheel")"

# A changed record is not used.
sed -i 's/small-1\.0-/small-1.1-/' store/steps/*.json
run_json build small
expect "built $wheel" "$(json 'steps[0].outcome') $(json 'steps[0].wheel')"

# --- the shared environment ------------------------------------------------------------------------------------------
module=$(ls -d store/envs/*/lib/python*/site-packages/setuptools/build_meta.py)
environment=$(cut -d/ -f1-3 <<<"$module")
again() { # WHAT: builds anew, with whatever environment is there
  rm -rf store/steps/*.json wheelhouse
  run_json build small
  expect "0 built $good" "$status $(json 'steps[0].outcome') $(sha256sum <"$wheel")" "$1"
}
expect "" "$(find store/envs -name __pycache__)" "byte code in an environment"
expect "" "$(find store/envs -type f -perm /222 ! -name .wheelsmith-complete)" "what can be written in an environment"
damage "$module" 1000
run_json store verify
expect "1 store-env-damaged" "$status $(json 'findings[0].id')"
again "with a changed module"
run store verify
expect 0 "$status" "$(<"$t/out")"
# As Python leaves it on a full disk.
chmod u+w "${module%/*}"
mkdir "${module%/*}/__pycache__"
for tag in 310 311 312 313 314; do head -c 40 "$module" >"${module%/*}/__pycache__/build_meta.cpython-$tag.pyc"; done
again "with byte code that was cut off"
expect "" "$(find store/envs -name __pycache__)"
# An environment that a killed process was removing.
rm -rf "$environment/lib"
again "with half an environment"
# A corrupt download is fetched again.
download=$(ls store/downloads/*/setuptools-*.whl)
damage "$download" 5000
rm -rf "$environment"
again "with a corrupt download"
run store verify
expect 0 "$status" "$(<"$t/out")"

# A build script that changes shared folders produces no wheel, and harms no later build.
cp recipes/small/setup.py setup.saved
cat >>recipes/small/setup.py <<'PYTHON'
import os, setuptools
os.chmod(os.path.dirname(setuptools.__file__), 0o755)
with open(os.path.join(os.path.dirname(setuptools.__file__), "added.py"), "w") as file:
    file.write("raise SystemExit")
PYTHON
run_json build small
expect 1 "$status" "a build script changed the environment"
cp setup.saved recipes/small/setup.py
again "after a build script changed the environment"

# The wheel's own code appends to the wheel during its tests, where no sandbox hides it.
cat >>recipes/small/small/__init__.py <<'PYTHON'
import glob
for name in glob.glob("STORE/tmp/*/*.whl") + glob.glob("STORE/tmp/*/*/*.whl"):
    with open(name, "ab") as file:
        file.write(b"more")
PYTHON
sed -i "s,STORE,$t/store," recipes/small/small/__init__.py
rm -rf wheelhouse recipes/small.patch
sed -i '/^patches/d' recipes/small.toml
run_json build small --sandbox off
expect "1 failed" "$status $(json 'steps[0].outcome')"
[[ $(json 'steps[0].cause') == "the wheel changed between its check and its publication"* ]] || fail "$(json 'steps[0].cause')"
[[ ! -e wheelhouse ]] || expect "" "$(ls wheelhouse)"
