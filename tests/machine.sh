#!/bin/bash
# Described machines: this machine's description gives the same plan; another machine's tools are not searched for here.
source "$(dirname "$0")/common.inc"
export HOME=$t/home XDG_CONFIG_HOME=$t/config
mkdir -p "$HOME" "$t/work"
cd "$t/work"
machines=$tests/recipes/machines

# --- this machine, and its description round-trips
run doctor --describe --store "$t/store"
expect 0 $status
cp "$t/out" "$t/this.toml"
[[ $(<"$t/this.toml") == *'[[python]]'* ]] || fail "no Python in it: $(<"$t/this.toml")"
run doctor --describe --machine "$t/this.toml" --store "$t/store"
expect "$(<"$t/this.toml")" "$(<"$t/out")" "described again"
# The same verdicts, real or described.
run_json doctor --store "$t/store"
json '[f"{c.state} {c.id} {c.found}" for c in checks if c.id not in ("memory", "disk-store", "disk-temporary", "disk-out")]' >"$t/here"
run_json doctor --store "$t/store" --machine "$t/this.toml"
json '[f"{c.state} {c.id} {c.found}" for c in checks if c.id not in ("memory", "disk-store", "disk-temporary", "disk-out")]' >"$t/there"
diff "$t/here" "$t/there" || fail "doctor says something else of the described machine"

# --- another machine: nothing of this one is in the plan
cat "$machines/cuda.toml" "$tests/recipes/sources.toml" >"$t/cuda.toml"
run_json plan texture --machine "$t/cuda.toml" --store "$t/store"
expect 0 $status
expect "texture-cuda-cp312-9.0" "$(json 'steps[0].id')"
expect 3.12.3 "$(json 'steps[0].python')"
expect /usr/local/cuda-13.0 "$(json 'steps[0].cuda.root')"
expect "planned for h100-node" "$(json 'steps[0].reason')"
key=$(json 'steps[0].key')
# The key depends on the machine's compiler, not on the store or the folder.
mkdir -p "$t/other"
cd "$t/other"
run_json plan texture --machine "$t/cuda.toml" --store "$t/other-store"
expect "$key" "$(json 'steps[0].key')" "key with another store"
sed 's/version = "13.3.0"/version = "13.2.0"/' "$t/cuda.toml" >"$t/older.toml"
run_json plan texture --machine "$t/older.toml" --store "$t/store"
[[ $(json 'steps[0].key') != "$key" ]] || fail "another compiler, the same key"

# --- errors are reported
run build texture --machine "$t/cuda.toml" --store "$t/store"
expect 2 $status
[[ $(<"$t/err") == *"cannot be built here"* ]] || fail "build: $(<"$t/err")"
sed 's/^\[\[cuda\]\]/[[cudda]]/' "$t/cuda.toml" >"$t/wrong.toml"
run plan texture --machine "$t/wrong.toml" --store "$t/store"
expect 2 $status
[[ $(<"$t/err") == *"wrong.toml:"*"unknown key cudda"*"did you mean cuda?"* ]] || fail "plan: $(<"$t/err")"
run plan texture --machine "$t/nowhere.toml" --store "$t/store"
expect 2 $status
run plan texture --machine "$t/cuda.toml" --python 3.11 --store "$t/store"
[[ $(<"$t/err") == *"h100-node has no Python 3.11; it has /opt/venv/bin/python3.12 3.12.3"* ]] || fail "python: $(<"$t/err")"
run plan texture --machine "$t/cuda.toml" --cuda /usr/local/cuda-12.8 --store "$t/store"
[[ $(<"$t/err") == *"/usr/local/cuda-12.8"*"h100-node has /usr/local/cuda-13.0"* ]] || fail "cuda: $(<"$t/err")"
