#!/bin/bash
# --on slurm: steps as jobs of a real cluster of three nodes, the same wheels as on one machine; a coordinator that dies is
# succeeded by `attach`; a step without enough memory is tried again with more. Judged by Slurm's own commands and cmp.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
source "$tests/slurm_cluster.inc"
need_registry
need_slurm
small_package "$t"
# Two packages, the second built with the first in its environment.
cat >"$t/recipes/second.toml" <<'TOML'
name = "second"
[source]
folder = "second"
[build]
requires = ["setuptools==80.9.0"]
[[needs]]
recipe = "small"
[[test]]
name = "both"
script = "import second, small; assert small.add(2, 40) == second.answer"
[variant.cpu]
TOML
mkdir -p "$t/recipes/second/second"
echo 'answer = 42' >"$t/recipes/second/second/__init__.py"
sed 's/small/second/' "$t/recipes/small/pyproject.toml" >"$t/recipes/second/pyproject.toml"
echo 'from setuptools import setup; setup(packages=["second"])' >"$t/recipes/second/setup.py"
cd "$t"
run build small second --out here
expect 0 "$status" "on this machine: $(cat "$t/out" "$t/err")"

start_cluster "$t/cluster"
export WHEELSMITH_STORE=$t/shared WHEELSMITH_ON=slurm
run_json build small second --out there --slurm memory=600MB
expect 0 "$status" "in the cluster: $(cat "$t/out" "$t/err")"
expect "built built" "$(json '" ".join(s.outcome for s in steps)')"
[[ $(json 'steps[0].node') == n? ]] || fail "no node is told: $(<"$t/out")"
for wheel in here/*.whl; do cmp "$wheel" "there/${wheel##*/}" || fail "another wheel: ${wheel##*/}"; done
expect 2 "$(scontrol show job -o | grep -c 'JobState=COMPLETED')" "jobs by Slurm's own account"
run_json builds
expect "done slurm 2" "$(json 'items[0].state + " " + items[0].on + " " + str(items[0].ended)')"
run logs small
grep -q 'phase publish' "$t/out" || fail "no log: $(<"$t/out")"
