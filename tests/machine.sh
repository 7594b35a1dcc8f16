#!/bin/bash
# Machines by their description: this one described is planned for as it is; another one is not looked for here.
source "$(dirname "$0")/common.inc"
export HOME=$t/home XDG_CONFIG_HOME=$t/config
mkdir -p "$HOME" "$t/work"
cd "$t/work"
machines=$tests/recipes/machines

# --- this machine, and what its description says of it again
run doctor --describe --store "$t/store"
expect 0 $status
cp "$t/out" "$t/this.toml"
[[ $(<"$t/this.toml") == *'[[python]]'* ]] || fail "no Python in it: $(<"$t/this.toml")"
run doctor --describe --machine "$t/this.toml" --store "$t/store"
expect "$(<"$t/this.toml")" "$(<"$t/out")" "described again"
# The same verdicts, whoever is asked.
run_json doctor --store "$t/store"
json '[f"{c.state} {c.id} {c.found}" for c in checks if c.id not in ("memory", "disk-store", "disk-temporary", "disk-out")]' >"$t/here"
run_json doctor --store "$t/store" --machine "$t/this.toml"
json '[f"{c.state} {c.id} {c.found}" for c in checks if c.id not in ("memory", "disk-store", "disk-temporary", "disk-out")]' >"$t/there"
diff "$t/here" "$t/there" || fail "doctor says something else of the described machine"

# --- another one: nothing of this one is in the plan
cat "$machines/cuda.toml" "$tests/recipes/sources.toml" >"$t/cuda.toml"
run_json plan texture --machine "$t/cuda.toml" --store "$t/store"
expect 0 $status
expect "texture-cuda-cp312-9.0" "$(json 'steps[0].id')"
expect 3.12.3 "$(json 'steps[0].python')"
expect /usr/local/cuda-13.0 "$(json 'steps[0].cuda.root')"
expect "planned for h100-node" "$(json 'steps[0].reason')"
key=$(json 'steps[0].key')
# The key is the machine's: not the store's, not the folder's, but its compiler's.
mkdir -p "$t/other"
cd "$t/other"
run_json plan texture --machine "$t/cuda.toml" --store "$t/other-store"
expect "$key" "$(json 'steps[0].key')" "key with another store"
sed 's/version = "13.3.0"/version = "13.2.0"/' "$t/cuda.toml" >"$t/older.toml"
run_json plan texture --machine "$t/older.toml" --store "$t/store"
[[ $(json 'steps[0].key') != "$key" ]] || fail "another compiler, the same key"

# --- what is wrong is said
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
