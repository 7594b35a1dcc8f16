#!/bin/bash
# A store that machines share: without flock() a build behaves as ever, killed or not; two builds of the same plan on two
# "machines" (each with a scratch folder of its own) make each wheel once.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
small_package "$t"
cd "$t"
machine() { # NAME COMMAND…: as a machine with that scratch folder, where no file lock works
  WHEELSMITH_SCRATCH=$t/$1 WHEELSMITH_CLAIM_TIMEOUT=5 python3 "$tests/no_locks.py" "$wheelsmith" "${@:2}"
}
python3 "$tests/no_locks.py" true || skip "no seccomp filters here"

# No locks at all, not even on the scratch disk.
machine one build small --json >"$t/out" 2>"$t/err" </dev/null || { cat "$t/out" "$t/err" >&2; fail "without locks"; }
expect built "$(json 'steps[0].outcome')"
sum=$(sha256sum <"$(json 'steps[0].wheel')")
expect true "$(json shared "$t/store/store.json")" "the store is marked"
[[ -z $(find "$t/store" -name '*.sqlite*') ]] || fail "SQLite on a shared disk"
[[ ! -e $t/store/trees && ! -e $t/store/envs ]] || fail "trees or environments on the shared disk"
machine two build small --json >"$t/out" 2>"$t/err" </dev/null
expect cached "$(json 'steps[0].outcome')" "another machine"
machine two store verify >"$t/out" || { cat "$t/out" >&2; fail "store verify"; }
machine two store gc --keep 0GB --json >"$t/out"
expect "" "$(json '[i.path for i in items if i.kind == "wheel"]')" "gc removes what another machine may use"

# Killed with the claim in its hands, by one that then builds itself. The dead are told by their process number.
rm -rf "$t/store"
machine one build small >"$t/out" 2>"$t/err" </dev/null &
pid=$!
for ((i = 0; i < 600; i++)); do
  compgen -G "$t/store/claims/step-*" >/dev/null && break
  sleep 0.1
done
# The step is a process of its own, which dies with its coordinator.
kill -KILL $pid
wait $pid 2>/dev/null || true
machine two build small --json >"$t/out" 2>"$t/err" </dev/null || { cat "$t/out" "$t/err" >&2; fail "after a kill"; }
expect "$sum" "$(sha256sum <"$(json 'steps[0].wheel')")" "the wheel after a kill"

# Three packages, two machines at once, locks as they are: a store that was made shared by hand.
for name in first second third; do
  mkdir -p "$t/recipes/$name/src/$name"
  echo "x = '$name'" >"$t/recipes/$name/src/$name/__init__.py"
  printf '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "%s"\nversion = "1.0"\n' \
    "$name" >"$t/recipes/$name/pyproject.toml"
  printf 'name = "%s"\nsummary = "one file"\n[source]\nfolder = "%s"\n[build]\nrequires = ["setuptools==80.9.0"]\n[[test]]\nname = "imports"\nscript = "import %s"\n[variant.cpu]\n' \
    "$name" "$name" "$name" >"$t/recipes/$name.toml"
done
export WHEELSMITH_STORE=$t/store2
run store init --shared
expect 0 "$status"
for one in a b; do
  WHEELSMITH_SCRATCH=$t/$one WHEELSMITH_OUT=$t/out-$one "$wheelsmith" build first second third --json \
    >"$t/out-$one.json" 2>"$t/err-$one" </dev/null &
done
wait
for one in a b; do
  expect "" "$(json '[s.id + s.outcome for s in steps if s.outcome not in ("built", "cached")]' "$t/out-$one.json")" "$one"
done
for i in 0 1 2; do
  outcomes="$(json "steps[$i].outcome" "$t/out-a.json") $(json "steps[$i].outcome" "$t/out-b.json")"
  [[ $outcomes == "built cached" || $outcomes == "cached built" ]] || fail "step $i: $outcomes"
done
expect "$(cd "$t/out-a" && sha256sum -- *.whl)" "$(cd "$t/out-b" && sha256sum -- *.whl)" "the same wheels"
