#!/bin/bash
# The farm under fire: 40 steps (20 packages with dependencies, two Pythons where there are two) on a real Slurm of three nodes.
#   1. the same wheels, byte for byte, as on one machine; the makespan is at most MAKESPAN (1.2) times the ideal
#   2. two coordinators with the same plan build each key once
#   3. a step that needs more than its memory ends OUT_OF_MEMORY once, and the second try compiles only what was missing
#   4. kills at random moments, COUNT (10) of each: the coordinator, a slurmd, a job, slurmctld
# The judges of 4 stand outside of the program. The packages themselves record when their compiles begin and end (the sandbox
# is off for that). A watcher records when the store has each step, and each version of its file. Slurm's own record of
# completed jobs (jobcomp/filetxt) tells what was run and how it ended. From these:
#   - nothing is lost: all wheels are there, byte for byte those of one machine, and `store verify` has no error
#   - nothing that was published is built again: no compile begins after its step was in the store; no step is published twice;
#     no step is compiled by two processes at once; Slurm ran no more jobs than there are steps and kills of jobs and nodes
#   - every run ends: a command that was not killed ends by itself with status 0, and leaves no job in the queue
# A kill counts only if it has hit: the process is gone, and the build was not over. PACKAGES=8 COUNT=2 takes some minutes.
# Prints its seed; SEED=… repeats it. ONLY=kills leaves out 1 to 3.
source "$(dirname "$0")/../common.inc"
source "$tests/slurm_cluster.inc"
need_slurm
[[ -x ${TESTS_PYTHON:-/nonexistent} ]] || skip "no Python registry in reach"
count=${COUNT:-10}
seed=${SEED:-$RANDOM}
RANDOM=$seed
echo "seed $seed"

# A name in PATH may be a shim without an interpreter.
pythons=$(for python in 3.9 3.10 3.11 3.12 3.13; do "python$python" -c 'import venv' 2>/dev/null && echo "$python" || true; done | tail -n 2 | paste -sd, -)
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
  cat >"$t/recipes/$name/setup.py" <<PYTHON
import os, sys, time
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
def begun(pid):  # with the process id, names one process
    try:
        return open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[19]
    except OSError:
        return ""
def is_built_elsewhere():
    live = set()
    for line in open("$t/ran") if os.path.exists("$t/ran") else ():
        what, name, python, _, process = line.split()
        if (name, python) == ("$name", f"{sys.version_info[0]}{sys.version_info[1]}"):
            live = live | {process} if what == "begin" else live - {process}
    return any(begun(process.split(":")[0]) == process.split(":")[1] for process in live)
def record(what):
    line = f"{what} $name {sys.version_info[0]}{sys.version_info[1]} {time.time():.6f} {os.getpid()}:{begun(os.getpid())}\\n"
    file = os.open("$t/ran", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    os.write(file, line.encode())
    os.close(file)
class Recorded(build_ext):
    def run(self):
        if is_built_elsewhere():
            record("twice")
        record("begin")
        super().run()
        record("end")
setup(packages=["$name"], cmdclass={"build_ext": Recorded}, ext_modules=[Extension("$name._x", ["x.c", "y.cc"])])
PYTHON
  echo "from ._x import *" >"$t/recipes/$name/$name/__init__.py"
  cat >"$t/recipes/$name/x.c" <<'C'
#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_x", 0, -1, 0};
PyMODINIT_FUNC PyInit__x(void) { return PyModule_Create(&module); }
C
  printf '#include <map>\n#include <string>\nstd::map<std::string, int> table_%s() { return {{"%s", %d}}; }\n' "$name" "$name" "$i" >"$t/recipes/$name/y.cc"
done
export WHEELSMITH_RECIPES=$t/recipes WHEELSMITH_PYTHON=$pythons WHEELSMITH_SCRATCH=$t/scratch WHEELSMITH_SANDBOX=off
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
# How often the packages were compiled since the last call.
compiled() { grep -c '^begin' "$t/ran" || true; rm -f "$t/ran"; }
rm -f "$t/ran"

if [[ ${ONLY:-} != kills ]]; then
WHEELSMITH_ON=local run_json plan "${names[@]}"
cp "$t/out" "$t/plan.json"
run_json build "${names[@]}" --out plain
expect 0 "$status" "in the cluster: $(tail -n 5 "$t/err")"
echo "plain: jobs on $(json '" ".join(sorted({s.node for s in steps}))')"
# The ideal: no schedule is shorter than the longest chain of dependencies, or than all work on all cores. By the steps' own
# times in this run, which contain what they lose to each other where the nodes are one machine. The makespan is from the
# first file that is written for sbatch to the last wheel.
python3 - "$t/plan.json" "$t/out" 6 "$WHEELSMITH_STORE/farm/batches" plain "${MAKESPAN:-1.2}" <<'PYTHON'
import functools, json, pathlib, sys
plan, built, slots, limit = json.load(open(sys.argv[1])), json.load(open(sys.argv[2])), int(sys.argv[3]), float(sys.argv[6])
start = min(f.stat().st_mtime for f in pathlib.Path(sys.argv[4]).iterdir())
end = max(f.stat().st_ctime for f in pathlib.Path(sys.argv[5]).glob("*.whl"))
seconds = {s["id"]: s["seconds"] for s in built["steps"]}
needs = {s["id"]: s["needs"] for s in plan["steps"]}
@functools.cache
def chain(step):
    return seconds[step] + max((chain(n) for n in needs[step]), default=0)
longest, work = max(map(chain, seconds)), sum(seconds.values()) / slots
ideal = max(longest, work)
print(f"makespan {end - start:.1f} s; ideal {ideal:.1f} s (work / {slots} cores {work:.1f} s, longest chain {longest:.1f} s); ratio {(end - start) / ideal:.2f}")
if (end - start) / ideal > limit:
    sys.exit(f"FAILED: the makespan is more than {limit} times the ideal")
PYTHON
same_wheels plain
expect "$steps" "$(compiled)" "compiled once each"

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
expect "$steps" "$(compiled)" "each key is compiled once by two coordinators"
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

fi  # ONLY

# Kills. The watcher: a line for each version of a step's file that the store has had.
cat >"$t/watch.py" <<'PYTHON'
import os, sys, time
root, seen = sys.argv[1], {}
with open(sys.argv[2], "a", buffering=1) as out:
    while True:
        for store in sorted(n for n in os.listdir(root) if n.startswith("killed-store")):
            try:
                files = list(os.scandir(f"{root}/{store}/steps"))
            except FileNotFoundError:
                continue
            for file in files:
                if not file.name.endswith(".json"):
                    continue
                inode = file.inode()
                if seen.get((store, file.name)) != inode:
                    seen[store, file.name] = inode
                    out.write(f"{store} {file.name} {time.time():.6f} {inode}\n")
        time.sleep(0.05)
PYTHON
python3 "$t/watch.py" "$t" "$t/watched" &
watcher=$!
trap 'ended=$?; kill $watcher 2>/dev/null || true; stop_cluster; leave $ended' EXIT

# judge ROUND: what the outside knows of a store in which every step is built now.
judge() {
  same_wheels "killed-out$1"
  run_json store verify
  expect "" "$(json '[f.id for f in findings if f.severity == "error"]')" "store verify"
  sleep 0.2
  WHEELSMITH_ON=local run_json plan "${names[@]}"
  python3 - "$t/out" "$t/watched" "killed-store$1" "$t/ran" <<'PYTHON' || fail "see above; $t/ran, $t/watched"
import collections, json, re, sys
plan, store = json.load(open(sys.argv[1])), sys.argv[3]
keys = {}
for step in plan["steps"]:
    python = re.search(r"-cp(\d+)", step["id"])[1]
    keys[step["package"], python] = step["key"]
published = collections.defaultdict(list)
for line in open(sys.argv[2]):
    where, name, at, _ = line.split()
    if where == store:
        published[name.removesuffix(".json")].append(float(at))
begins, bad = collections.Counter(), []
for line in open(sys.argv[4]):
    what, package, python, at, _ = line.split()
    step, at = (package, python), float(at)
    times = published[keys[step]]
    if what == "twice":
        bad.append(f"{step} is compiled by two processes at once")
    if what != "begin":
        continue
    begins[step] += 1
    if times and at > times[0]:
        bad.append(f"{step} is compiled {at - times[0]:.2f} s after it was published")
for step, key in keys.items():
    if len(published[key]) != 1:
        bad.append(f"{step} was published {len(published[key])} times")
    if begins[step] == 0:
        bad.append(f"{step} was never compiled")
if bad:
    sys.exit("\n".join(bad))
again = sum(begins.values()) - len(keys)
print(f"{store}: {len(keys)} steps published once each; {again} compiles begun again after a kill")
PYTHON
  rm -f "$t/ran"
}

# By their numbers: a controller that was killed may record the same end twice.
jobs_completed() { grep -o '^JobId=[0-9]*' "$cluster/completed" 2>/dev/null | sort -u | wc -l || true; }
wait_for() { # SECONDS COMMAND…
  local until=$((SECONDS + $1))
  shift
  until "$@"; do ((SECONDS < until)) || return 1; sleep 0.1; done
}
no_jobs() { [[ -z $(squeue -h 2>&1) ]]; }
has_running_job() { [[ -n $(squeue -h -t running -o %A 2>/dev/null) ]]; }
# A controller that forgets jobs reuses their numbers, and Slurm drains a node that runs a job of that number; the
# administrator returns it.
resume_nodes() {
  local node
  for node in $(sinfo -h -N -t drain,down -o %N 2>/dev/null | sort -u); do scontrol update "nodename=$node" state=resume 2>/dev/null || true; done
}
is_over() { ! kill -0 "$coordinator" 2>/dev/null; }
resumed_is_over() { resume_nodes; is_over; }
all_started() { [[ -n $(squeue -h 2>/dev/null) ]] || is_over; }

round=0
start_build() { "$wheelsmith" build "${names[@]}" --out "killed-out$round" >>"$t/killed.log" 2>&1 </dev/null & coordinator=$!; }
begin_round() {
  export WHEELSMITH_STORE=$t/killed-store$round
  jobs_before=$(jobs_completed)
  harm=0     # kills that cost a job
  forgets=0  # a controller was killed: it may have forgotten the jobs of the last seconds
  start_build
}
# The command ended by itself, or is waited for: with status 0, and everything is built.
end_round() {
  local ended=0
  wait_for 600 resumed_is_over || fail "round $round does not end: $(tail -n 20 "$t/killed.log")"
  wait "$coordinator" || ended=$?
  expect 0 "$ended" "round $round, a command that was not killed: $(tail -n 20 "$t/killed.log")"
  wait_for 60 no_jobs || fail "jobs are left after round $round: $(squeue 2>&1)"
  local jobs=$(($(jobs_completed) - jobs_before))
  ((jobs <= steps + harm && (forgets == 1 || jobs >= steps))) || fail "round $round: $jobs jobs for $steps steps and $harm kills of jobs and nodes"
  judge "$round"
  echo "round $round: $jobs jobs for $steps steps, $harm kills of jobs and nodes"
  round=$((round + 1))
}

# Each returns 1 if there was nothing to hit. A job that a controller forgets because it is killed costs one more.
kill_coordinator() {
  local ended=0
  kill -KILL "$coordinator" 2>/dev/null || return 1
  wait "$coordinator" || ended=$?
  # It may have ended just before: then the round is over, and begins again with all steps cached.
  start_build
  [[ $ended == 137 ]]
}
processes_of() { # NAME=VALUE: of jobs of this cluster, the oldest first, without slurmstepd
  local folder
  for folder in $(ls -d /proc/[0-9]* | sort -V); do
    [[ $(cat "$folder/comm" 2>/dev/null) == slurm* ]] && continue
    { tr '\0' '\n' <"$folder/environ"; } 2>/dev/null | grep -qxF "$1" || continue
    { tr '\0' '\n' <"$folder/environ"; } 2>/dev/null | grep -qxF "SLURM_CONF=$cluster/slurm.conf" && echo "${folder##*/}"
  done
}
# A step is submitted at most 5 times. In a small build, chance would kill all five jobs of a step, so its fourth one and
# that one's node are left alone: the job's name ends with the number of the try.
may_kill() { # FORMAT: of running jobs
  local late
  late=$(squeue -h -t running -o '%N %j' 2>/dev/null | sed -nE 's/ .*-[4-9]$//p')
  squeue -h -t running -o "%N $1" 2>/dev/null | grep -vxE "(${late//$'\n'/|}) .*" | cut -d' ' -f2
}
# As the kernel does it: Slurm learns of it by the end of the processes.
kill_job() {
  local id pids
  id=$(may_kill %A | shuf -n 1 --random-source=<(yes "$RANDOM")) || return 1
  [[ -n $id ]] || return 1
  pids=$(processes_of "SLURM_JOB_ID=$id")
  [[ -n $pids ]] || return 1
  # shellcheck disable=SC2086
  kill -KILL $pids 2>/dev/null || return 1
  harm=$((harm + 1))
}
# Every second one with all that runs on the node, as when the power fails; it comes back some seconds later.
dead_nodes=0
kill_slurmd() {
  local node pid
  node=$(may_kill %N | shuf -n 1 --random-source=<(yes "$RANDOM")) || return 1
  node=${node#n}
  [[ -n $node ]] && pid=$(cluster_pid "$cluster/run/slurmd-n$node.pid") || return 1
  kill -KILL "$pid"
  wait_for 10 eval "! kill -0 $pid 2>/dev/null" || fail "slurmd survives"
  harm=$((harm + 2))  # of a node with two cores
  if ((dead_nodes++ % 2 == 0)); then
    for pid in $(cluster_leftovers); do
      { tr '\0' '\n' <"/proc/$pid/environ"; } 2>/dev/null | grep -qx "SLURMD_NODENAME=n$node" && kill -KILL "$pid" 2>/dev/null
    done
    sleep 2
  fi
  sleep 0.5
  start_node "$node"
}
kill_slurmctld() {
  local pid
  pid=$(cluster_pid "$cluster/run/ctld.pid") || return 1
  kill -KILL "$pid"
  wait_for 10 eval "! kill -0 $pid 2>/dev/null" || fail "slurmctld survives"
  forgets=1
  sleep 1
  start_ctld
}

kinds=()
for kind in coordinator slurmd job slurmctld; do for ((i = 0; i < count; i++)); do kinds+=("$kind"); done; done
((count == 0)) || mapfile -t kinds < <(printf '%s\n' "${kinds[@]}" | python3 -c "import random, sys; k = sys.stdin.readlines(); random.Random($seed).shuffle(k); print(''.join(k), end='')")
declare -A tally
begin_round
for kind in "${kinds[@]}"; do
  for ((tries = 0; tries < 50; tries++)); do
    if is_over; then
      end_round
      begin_round
    fi
    wait_for 60 all_started || fail "no job is submitted: $(tail -n 20 "$t/killed.log")"
    sleep "$((RANDOM % 3)).$((RANDOM % 10))"
    is_over && continue
    "kill_$kind" && break
  done
  ((tries < 50)) || fail "nothing to kill: $kind"
  tally[$kind]=$((${tally[$kind]:-0} + 1))
done
for kind in "${!tally[@]}"; do echo "killed: $kind ${tally[$kind]} times"; done
end_round

# All is there: the same command takes every wheel from the store and submits nothing.
round=$((round - 1))
before=$(jobs_completed)
run_json build "${names[@]}" --out "killed-out$round"
expect 0 "$status" "again: $(tail -n 5 "$t/err")"
expect cached "$(json '" ".join(sorted({s.outcome for s in steps}))')"
expect "$before" "$(jobs_completed)" "jobs for a build that is done"
echo "${#kinds[@]} kills in $((round + 1)) builds: good"
