#!/bin/bash
# --on slurm --nodes 2: one step on two nodes of a real cluster, with a store that is marked as shared and a scratch folder.
# Compiles run on both nodes, the wheel is the same as on one machine, a failed compile is reported as on one machine, and
# the loss of the second node does not end the step. Judged by Slurm's own commands and cmp.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
source "$tests/slurm_cluster.inc"
need_registry
need_slurm
need make g++
small_package "$t"
# Eight units that make compiles at once; each holds the node that compiled it only in the governor's record.
package=$t/recipes/wide
mkdir -p "$package/wide"
printf 'name = "wide"\n[source]\nfolder = "wide"\n[build]\nrequires = ["setuptools==80.9.0"]\n[variant.cpu]\n' >"$t/recipes/wide.toml"
sed 's/small/wide/' "$t/recipes/small/pyproject.toml" >"$package/pyproject.toml"
echo 'from ._wide import *' >"$package/wide/__init__.py"
sed 's/_small"/_wide"/; s/PyInit__small/PyInit__wide/; s/small_add/unit_1/g; s/^long unit_1/extern "C" long unit_1/' "$t/recipes/small/small/module.c" >"$package/module.cc"
for i in 1 2 3 4 5 6 7 8; do
  cat >"$package/unit_$i.cc" <<CC
#include <map>
#include <regex>
#include <string>
#include "made.h"
extern "C" long unit_$i(long a, long b) {
  static const std::map<std::string, std::regex> table = {{"x", std::regex("a+$i")}};
  return std::regex_match("a", table.at("x")) ? MADE : a + b;
}
CC
done
cat >"$package/setup.py" <<'PYTHON'
import os, subprocess, sysconfig
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
class Wide(build_ext):
    def build_extension(self, ext):
        open("made.h", "w").write("#define MADE 1\n")  # written on the first node, read on both
        subprocess.check_call(["make", "INCLUDE=" + sysconfig.get_paths()["include"]])
        target = self.get_ext_fullpath(ext.name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.replace("out.so", target)
setup(packages=["wide"], cmdclass={"build_ext": Wide}, ext_modules=[Extension("wide._wide", ["module.cc"])])
PYTHON
printf 'objects = module.o $(foreach i,1 2 3 4 5 6 7 8,unit_$(i).o)\nout.so: $(objects)\n\tg++ -shared -o $@ $^\n%%.o: %%.cc\n\tg++ -O0 -fPIC -I$(INCLUDE) -c $< -o $@\n' >"$package/Makefile"
cd "$t"
run build wide --out here
expect 0 "$status" "on this machine: $(cat "$t/out" "$t/err")"

CLUSTER_NODE_TIMEOUT=10 start_cluster "$t/cluster" 2
export WHEELSMITH_STORE=$t/shared WHEELSMITH_ON=slurm WHEELSMITH_SCRATCH=$t/scratch
run store init --shared
expect 0 "$status" "store init: $(<"$t/err")"
run doctor
expect 0 "$status" "doctor: $(cat "$t/out" "$t/err")"
grep -q "$t/scratch" "$t/out" || fail "doctor does not examine the scratch folder of the jobs: $(cat "$t/out" "$t/err")"
run_json build wide --out there --nodes 2 --slurm memory=1500MB --slurm cpus=2
expect 0 "$status" "in the cluster: $(cat "$t/out" "$t/err")"
for wheel in here/*.whl; do cmp "$wheel" "there/${wheel##*/}" || fail "another wheel: ${wheel##*/}"; done
# Slurm's account of the job: two nodes; a step for each compile on the second one.
expect "n[1-2]" "$(scontrol show job -o | grep -o ' NodeList=[^ ]*' | tail -n 1 | cut -d= -f2)"
record=$(ls -t "$WHEELSMITH_STORE"/logs/compiles-*.jsonl | head -n 1)
[[ -s $record ]] || fail "no record of the compiles"
second=$(grep -c '"outcome":"done".*"node":"n2"' "$record" || true)
first=$(grep '"event":"compile"' "$record" | grep -vc '"node"' || true)
((second >= 1 && first >= 1)) || fail "compiles: $first on the first node, $second on the second one: $(<"$record")"
expect "$second" "$(grep -c 'launch task StepId=[0-9]*\.[0-9]* ' "$cluster/slurmd-n2.log")" "steps that n2 started"
grep -q "$second on other nodes" "$t/err" || fail "the summary does not tell: $(<"$t/err")"
# The job removes its tree after its report.
for ((i = 0; i < 300; i++)); do
  [[ -n $(ls "$t/shared/farm/trees" 2>/dev/null) ]] || break
  sleep 0.1
done
[[ ! -e $t/shared/trees && -z $(ls "$t/shared/farm/trees" 2>/dev/null) ]] || fail "a finished tree is left on the shared disk"

# An error on either node is the package's.
sed -i 's/return std/return st/' "$package/unit_5.cc" "$package/unit_6.cc" "$package/unit_7.cc"
run build wide --out there --nodes 2 --slurm memory=1500MB --slurm cpus=2
expect 1 "$status" "a unit that does not compile"
grep -q "unit_[567].cc:.*'st'" "$t/out" "$t/err" || fail "no cause: $(cat "$t/out" "$t/err")"
sed -i 's/return st::/return std::/' "$package"/unit_[567].cc

# The second node dies, the daemon and what it runs: its compiles run again on the first one. A store of one's own: what is known
# of the units would keep short ones on the first node.
export WHEELSMITH_STORE=$t/other
"$wheelsmith" build wide --out again --nodes 2 --slurm memory=1500MB --slurm cpus=2 >"$t/out" 2>"$t/err" </dev/null &
coordinator=$!
launched() { grep -c 'launch task StepId=[0-9]*\.[0-9]* ' "$cluster/slurmd-n2.log" || true; }
before=$(launched)
for ((i = 0; i < 2400; i++)); do
  (($(launched) > before)) && break
  kill -0 $coordinator 2>/dev/null || fail "nothing ran on n2: $(cat "$t/out" "$t/err")"
  sleep 0.05
done
(($(launched) > before)) || fail "nothing ran on n2: $(cat "$t/out" "$t/err")"
kill_node 2 || fail "n2 was not running"
for pid in $(cluster_leftovers); do
  if { tr '\0' '\n' <"/proc/$pid/environ"; } 2>/dev/null | grep -qx 'SLURMD_NODENAME=n2'; then kill -KILL "$pid" 2>/dev/null || true; fi
done
wait $coordinator || fail "without its second node: $(cat "$t/out" "$t/err")"
for wheel in here/*.whl; do cmp "$wheel" "again/${wheel##*/}" || fail "another wheel: ${wheel##*/}"; done
grep -q '"event":"node-failed".*"node":"n2"\|"node":"n2".*"event":"node-failed"' "$WHEELSMITH_STORE"/logs/compiles-*.jsonl || fail "no node failed: $(tail -n 30 "$WHEELSMITH_STORE"/logs/compiles-*.jsonl)"
