#!/bin/bash
# The farm under fire: 40 steps (20 packages with dependencies, two Pythons where there are two) on a real Slurm of three nodes.
#   1. the same wheels, byte for byte, as on one machine
#   2. kills at random moments, COUNT (10) of each: the coordinator, a slurmd, a job, slurmctld; nothing that was published is built again
#   3. a step that needs more than its memory ends OUT_OF_MEMORY once, and the second try compiles only what was missing
#   4. two coordinators with the same plan build each key once
# Prints its seed; SEED=… repeats it.
source "$(dirname "$0")/../common.inc"
source "$tests/slurm_cluster.inc"
need_slurm
[[ -x ${TESTS_PYTHON:-/nonexistent} ]] || skip "no Python registry in reach"
count=${COUNT:-10}
seed=${SEED:-$RANDOM}
RANDOM=$seed
echo "seed $seed"

pythons=$(for python in 3.9 3.10 3.11 3.12 3.13; do command -v "python$python" >/dev/null && echo "$python"; done | tail -n 2 | paste -sd, -)
packages=${PACKAGES:-20}  # with two Pythons twice as many steps
[[ $pythons == *,* ]] || packages=$((packages * 2))
names=()
for ((i = 0; i < packages; i++)); do
  name=$(printf 'p%02d' "$i")
  names+=("$name")
  mkdir -p "$t/recipes/$name/$name"
  {
    printf 'name = "%s"\n[source]\nfolder = "%s"\n[build]\nrequires = ["setuptools==80.9.0"]\n' "$name" "$name"
    # Every third needs one of the first five, every seventh the one before it.
    if ((i >= 5 && i % 3 == 0)); then printf '[[needs]]\nrecipe = "p%02d"\n' $((i % 5)); fi
    if ((i >= 5 && i % 7 == 0)); then printf '[[needs]]\nrecipe = "p%02d"\n' $((i - 1)); fi
    printf '[variant.cpu]\n'
  } >"$t/recipes/$name.toml"
  printf '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "%s"\nversion = "1.%d"\n' "$name" "$i" \
    >"$t/recipes/$name/pyproject.toml"
  printf 'from setuptools import Extension, setup\nsetup(packages=["%s"], ext_modules=[Extension("%s._x", ["x.c", "y.cc"])])\n' "$name" "$name" >"$t/recipes/$name/setup.py"
  echo "from ._x import *" >"$t/recipes/$name/$name/__init__.py"
  cat >"$t/recipes/$name/x.c" <<'C'
#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_x", 0, -1, 0};
PyMODINIT_FUNC PyInit__x(void) { return PyModule_Create(&module); }
C
  printf '#include <map>\n#include <string>\nstd::map<std::string, int> table_%s() { return {{"%s", %d}}; }\n' "$name" "$name" "$i" >"$t/recipes/$name/y.cc"
done
export WHEELSMITH_RECIPES=$t/recipes WHEELSMITH_PYTHON=$pythons
cd "$t"

WHEELSMITH_STORE=$t/one run_json build "${names[@]}" --out one-machine
expect 0 "$status" "on one machine: $(tail -n 5 "$t/err")"
steps=$(json 'len(steps)')
echo "$steps steps on one machine"

CLUSTER_NODE_TIMEOUT=20 start_cluster "$t/cluster"
export WHEELSMITH_STORE=$t/farm WHEELSMITH_ON=slurm WHEELSMITH_SLURM=memory=900MB,cpus=1

same_wheels() {
  local wheel
  expect "$steps" "$(find "$1" -name '*.whl' | wc -l)" "wheels in $1"
  for wheel in one-machine/*.whl; do cmp "$wheel" "$1/${wheel##*/}" || fail "another wheel: ${wheel##*/}"; done
}
# The number of times that a key's wheel was published: each job that did so has a line of it in its report.
published() { cat "$WHEELSMITH_STORE"/farm/steps/*/try-*.jsonl | grep -c '"outcome":"built"' || true; }

WHEELSMITH_ON=local run_json plan "${names[@]}"
cp "$t/out" "$t/plan.json"
start=$(date +%s.%N)
run_json build "${names[@]}" --out plain
expect 0 "$status" "in the cluster: $(tail -n 5 "$t/err")"
echo "plain: jobs on $(json '" ".join(sorted({s.node for s in steps}))')"
# The ideal: no schedule is shorter than the longest chain of dependencies, or than all work on all cores. By the steps' own
# times in this run, which contain what they lose to each other where the nodes are one machine.
python3 - "$t/plan.json" "$t/out" 6 "$(date +%s.%N)" "$start" <<'PYTHON'
import functools, json, sys
plan, built, slots, end, start = json.load(open(sys.argv[1])), json.load(open(sys.argv[2])), int(sys.argv[3]), *map(float, sys.argv[4:])
seconds = {s["id"]: s["seconds"] for s in built["steps"]}
needs = {s["id"]: s["needs"] for s in plan["steps"]}
@functools.cache
def chain(step):
    return seconds[step] + max((chain(n) for n in needs[step]), default=0)
longest, work = max(map(chain, seconds)), sum(seconds.values()) / slots
ideal = max(longest, work)
print(f"makespan {end - start:.1f} s; ideal {ideal:.1f} s (work / {slots} cores {work:.1f} s, longest chain {longest:.1f} s); ratio {(end - start) / ideal:.2f}")
PYTHON
same_wheels plain
expect "$steps" "$(published)" "published once each"

# Two coordinators.
export WHEELSMITH_STORE=$t/two
"$wheelsmith" build "${names[@]}" --out two-a >"$t/a" 2>&1 </dev/null &
a=$!
"$wheelsmith" build "${names[@]}" --out two-b >"$t/b" 2>&1 </dev/null &
b=$!
wait $a || { cat "$t/a" >&2; fail "the first of two coordinators"; }
wait $b || { cat "$t/b" >&2; fail "the second of two coordinators"; }
same_wheels two-a
same_wheels two-b
expect "$steps" "$(published)" "each key is built once by two coordinators"
echo "two coordinators: good"

# More memory than estimated: ended by the kernel once, and the second try compiles only what is missing.
mkdir -p "$t/recipes/hungry/hungry"
printf 'name = "hungry"\n[source]\nfolder = "hungry"\n[build]\nrequires = ["setuptools==80.9.0"]\n[variant.cpu]\n' >"$t/recipes/hungry.toml"
sed 's/p00/hungry/' "$t/recipes/p00/pyproject.toml" >"$t/recipes/hungry/pyproject.toml"
cp "$t/recipes/p00/x.c" "$t/recipes/p00/y.cc" "$t/recipes/hungry"
echo 'from ._x import *' >"$t/recipes/hungry/hungry/__init__.py"
cat >"$t/recipes/hungry/setup.py" <<'PYTHON'
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
class Hungry(build_ext):
    def run(self):
        super().run()
        held = bytearray(900 << 20)  # three times what the job has
        for i in range(0, len(held), 4096):
            held[i] = 1
setup(packages=["hungry"], cmdclass={"build_ext": Hungry}, ext_modules=[Extension("hungry._x", ["x.c", "y.cc"])])
PYTHON
export WHEELSMITH_STORE=$t/hungry-store
before=$(scontrol show job -o | grep -c 'JobState=OUT_OF_MEMORY' || true)
WHEELSMITH_PYTHON=${pythons%%,*} run_json build hungry --out hungry-out --slurm memory=300MB --slurm cpus=1
expect 0 "$status" "a step that needs three times its memory: $(tail -n 5 "$t/err")"
expect $((before + 1)) "$(scontrol show job -o | grep -c 'JobState=OUT_OF_MEMORY')" "jobs out of memory by Slurm's account"
for unit in x.c y.cc; do
  expect 1 "$(cat "$WHEELSMITH_STORE"/logs/compiles-*.jsonl | grep "\"name\":\"$unit\"" | grep -c '"cache":"miss"')" "compiles of $unit"
done
echo "out of memory once, then built without compiling again: good"

# Kills.
export WHEELSMITH_STORE=$t/killed
kinds=()
for kind in coordinator slurmd job slurmctld; do for ((i = 0; i < count; i++)); do kinds+=("$kind"); done; done
mapfile -t kinds < <(printf '%s\n' "${kinds[@]}" | python3 -c "import random, sys; k = sys.stdin.readlines(); random.Random($seed).shuffle(k); print(''.join(k), end='')")
start_build() { "$wheelsmith" build "${names[@]}" --out killed-out >>"$t/killed.log" 2>&1 </dev/null & coordinator=$!; }
start_build
done_before=0
declare -A tally
for kind in "${kinds[@]}"; do
  sleep "0.$((RANDOM % 10))"
  if ! kill -0 $coordinator 2>/dev/null; then
    wait $coordinator || true
    # All is built: go on with another store, so that there is something to kill.
    if [[ $(find killed-out -name '*.whl' 2>/dev/null | wc -l) == "$steps" ]]; then
      same_wheels killed-out
      expect "$steps" "$(published)" "nothing that was published is built again"
      rm -rf killed-out
      done_before=$((done_before + 1))
      export WHEELSMITH_STORE=$t/killed$done_before
    fi
    start_build
    sleep 1
  fi
  case $kind in
    coordinator)
      kill -KILL $coordinator 2>/dev/null || true
      wait $coordinator 2>/dev/null || true
      start_build
      ;;
    slurmd)
      node=$((RANDOM % 3 + 1))
      kill_node $node || true
      sleep 0.5
      start_node $node
      ;;
    job)
      # Of what Slurm started: the whole tree of one job dies, as by the kernel.
      for ((i = 0; i < 100; i++)); do
        id=$(squeue -h -t running -o %A 2>/dev/null | shuf -n 1 || true)
        [[ -z $id ]] || break
        kill -0 $coordinator 2>/dev/null || break
        sleep 0.1
      done
      [[ -n $id ]] && scancel --signal=KILL --full "$id" 2>/dev/null || { echo "no job to kill"; tally[none]=$((${tally[none]:-0} + 1)); continue; }
      ;;
    slurmctld)
      kill_ctld || true
      sleep 1
      start_ctld
      ;;
  esac
  tally[$kind]=$((${tally[$kind]:-0} + 1))
done
for kind in "${!tally[@]}"; do echo "killed: $kind ${tally[$kind]} times"; done
wait $coordinator || true
for ((i = 0; i < 5; i++)); do
  run_json build "${names[@]}" --out killed-out
  [[ $status != 0 ]] || break
done
expect 0 "$status" "after the kills: $(tail -n 20 "$t/err")"
same_wheels killed-out
run_json store verify
expect "" "$(json '[f.id for f in findings if f.severity == "error"]')" "store verify"
echo "${#kinds[@]} kills, $done_before whole builds in between: good"
