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
# The shell, sbatch and Slurm's file names each have their own special characters. Build systems accept fewer: trees are
# elsewhere.
export WHEELSMITH_STORE="$t/the store's %j \$x\\é" WHEELSMITH_ON=slurm WHEELSMITH_SCRATCH=$t/scratch
run store init --shared
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

# The command is killed while its job runs: the job goes on, `attach` finds it and takes the wheel. Then a step that needs three
# times its memory: the kernel ends the first job, the second one gets more, and what the first has compiled is not compiled again.
mkdir -p "$t/recipes/large/large"
printf 'name = "large"\n[source]\nfolder = "large"\n[build]\nrequires = ["setuptools==80.9.0"]\n[variant.cpu]\n' >"$t/recipes/large.toml"
sed 's/small/large/' "$t/recipes/small/pyproject.toml" >"$t/recipes/large/pyproject.toml"
cp "$t/recipes/small/small/add.c" "$t/recipes/large/sum.c"
sed 's/_small"/_large"/; s/PyInit__small/PyInit__large/' "$t/recipes/small/small/module.c" >"$t/recipes/large/module.c"
echo 'from ._large import *' >"$t/recipes/large/large/__init__.py"
cat >"$t/recipes/large/setup.py" <<'PYTHON'
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
class Large(build_ext):
    def run(self):
        super().run()
        held = bytearray(700 << 20)  # more than the job has
        for i in range(0, len(held), 4096):
            held[i] = 1
setup(packages=["large"], cmdclass={"build_ext": Large}, ext_modules=[Extension("large._large", ["sum.c", "module.c"])])
PYTHON
"$wheelsmith" build large --out there --slurm memory=300MB >"$t/out" 2>"$t/err" </dev/null &
coordinator=$!
for ((i = 0; i < 300; i++)); do grep -qs ': build$' "$t/err" && break; sleep 0.1; done
kill -KILL $coordinator
wait $coordinator 2>/dev/null || true
run_json attach
expect 0 "$status" "attach: $(cat "$t/out" "$t/err")"
expect built "$(json 'steps[0].outcome')"
grep -q 'it ran out of memory (300 MB).*with 1.2 GB' "$t/err" || fail "not tried again with more memory: $(<"$t/err")"
expect 1 "$(scontrol show job -o | grep -c 'JobState=OUT_OF_MEMORY')" "jobs out of memory by Slurm's own account"
expect 1 "$(cat "$WHEELSMITH_STORE"/logs/compiles-*.jsonl | grep '"name":"sum.c"' | grep -c '"cache":"miss"' || true)" "compiles of sum.c"

# The partition starts no job: a note says so, whatever variables of the user change squeue, sinfo and scancel. The
# command is killed; `attach --cancel` removes the job all the same.
slurm() { env -u SQUEUE_STATES -u SINFO_PARTITION -u SCANCEL_STATE "$@"; }
until_said() { for ((i = 0; i < 300; i++)); do grep -qs "$1" "$t/err" && return; sleep 0.1; done; fail "no '$1': $(<"$t/err")"; }
killed_build() { # SIGNAL FLAG TEXT
  : >"$t/err"
  "$wheelsmith" build small --set "flag=$2" --out there --slurm memory=300MB >"$t/out" 2>"$t/err" </dev/null &
  coordinator=$!
  until_said "$3"
  kill "-$1" $coordinator
  wait $coordinator 2>/dev/null || true
}
scontrol update partitionname=all state=down
export SQUEUE_STATES=COMPLETED SINFO_PARTITION=short SCANCEL_STATE=SUSPENDED
killed_build KILL two 'may never start: PartitionDown'
run_json builds
expect "detached 1" "$(json 'items[0].state + " " + str(len(items[0].running))')" "the job by squeue: $(slurm squeue -h)"
run attach --cancel
expect 0 "$status" "attach --cancel: $(cat "$t/out" "$t/err")"
expect "" "$(slurm squeue -h -t pending,running)" "jobs after --cancel"

# Ctrl-C leaves the job, whose step has not ended. The job ends while no command watches: `logs -f` notices it.
killed_build INT three 'queued, job'
run_json builds
expect "detached 0 1" "$(json 'items[0].state + " " + str(items[0].ended) + " " + str(len(items[0].running))')"
: >"$t/err"
timeout 60 "$wheelsmith" logs small -f >"$t/out" 2>"$t/err" </dev/null &
follower=$!
until_said 'has not started'
slurm scancel --user "$(id -un)"
ended=0
wait $follower || ended=$?
expect 1 "$ended" "logs -f of a job that has ended: $(<"$t/err")"
grep -q 'to continue: wheelsmith attach' "$t/err" || fail "not said how to continue: $(<"$t/err")"
scontrol update partitionname=all state=up
