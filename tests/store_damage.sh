#!/bin/bash
# What the store holds is delivered only if it is what was built, and what is published is what was checked.
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

# A byte of the blob, at the same size and time.
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
# The wheelhouse' own copy is looked at, too.
damage "$wheel" 100
run_json build small
expect cached "$(json 'steps[0].outcome')"
expect "$good" "$(sha256sum <"$wheel")"

# A record that was changed is not used.
sed -i 's/small-1\.0-/small-1.1-/' store/steps/*.json
run_json build small
expect "built $wheel" "$(json 'steps[0].outcome') $(json 'steps[0].wheel')"

# The wheel's own code appends to the wheel while it is tested.
cat >>recipes/small/small/__init__.py <<'PYTHON'
import glob
for name in glob.glob("STORE/tmp/*/*.whl") + glob.glob("STORE/tmp/*/*/*.whl"):
    with open(name, "ab") as file:
        file.write(b"more")
PYTHON
sed -i "s,STORE,$t/store," recipes/small/small/__init__.py
rm -rf wheelhouse recipes/small.patch
sed -i '/^patches/d' recipes/small.toml
run_json build small
expect "1 failed" "$status $(json 'steps[0].outcome')"
[[ $(json 'steps[0].cause') == "something changed the wheel between its check and its publication"* ]] || fail "$(json 'steps[0].cause')"
[[ ! -e wheelhouse ]] || expect "" "$(ls wheelhouse)"
