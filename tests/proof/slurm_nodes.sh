#!/bin/bash
# One step on several nodes: UNITS (24) heavy units on NODES (4) nodes of CORES (4) cores, compared with the same step on one
# such node. The wheels must be the same; where the machine has as many cores as the nodes together, four nodes must be
# 2.2 times as fast as one (RATIO; for other numbers 0.55 times the number of nodes). On a smaller machine the nodes share its cores, and only the wheels are judged.
#   UNITS=6 NODES=2 CORES=1 tests/proof/slurm_nodes.sh      a machine with 2 cores
source "$(dirname "$0")/../common.inc"
source "$tests/slurm_cluster.inc"
need_slurm
need make g++
[[ -x ${TESTS_PYTHON:-/nonexistent} ]] || skip "the package index is not reachable"
units=${UNITS:-24} nodes=${NODES:-4} cores=${CORES:-4} 
ratio=${RATIO:-$(python3 -c "print(0.55 * $nodes)")}
# How heavy a unit is: instances of a template. 400 take about 10 s and 500 MB on a current core.
weight=${WEIGHT:-400}
package=$t/recipes/heavy
mkdir -p "$package/heavy"
printf 'name = "heavy"\n[source]\nfolder = "heavy"\n[build]\nrequires = ["setuptools==80.9.0"]\n[variant.cpu]\n' >"$t/recipes/heavy.toml"
printf '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "heavy"\nversion = "1"\n' >"$package/pyproject.toml"
echo 'from ._heavy import *' >"$package/heavy/__init__.py"
cat >"$package/module.cc" <<'CC'
#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_heavy", 0, -1, 0};
PyMODINIT_FUNC PyInit__heavy(void) { return PyModule_Create(&module); }
CC
for ((i = 0; i < units; i++)); do
  cat >"$package/unit_$i.cc" <<CC
#include <map>
#include <regex>
#include <string>
template <int N> struct Unit {
  static long run(const std::string& text) {
    std::map<std::string, std::map<int, std::string>> table;
    table[text][N] = text + std::to_string(N);
    for (auto& [name, values] : table) for (auto& [number, value] : values) if (number % 7 == N % 5) value += name;
    return static_cast<long>(table.size()) + Unit<N - 1>::run(text);
  }
};
template <> struct Unit<0> { static long run(const std::string& text) { return std::regex_match(text, std::regex("a+$i")); } };
long unit_$i(const std::string& text) { return Unit<$weight>::run(text); }
CC
done
cat >"$package/setup.py" <<'PYTHON'
import os, subprocess, sysconfig
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
class Heavy(build_ext):
    def build_extension(self, ext):
        subprocess.check_call(["make", "INCLUDE=" + sysconfig.get_paths()["include"]])
        target = self.get_ext_fullpath(ext.name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.replace("out.so", target)
setup(packages=["heavy"], cmdclass={"build_ext": Heavy}, ext_modules=[Extension("heavy._heavy", ["module.cc"])])
PYTHON
printf 'objects = module.o $(patsubst %%.cc,%%.o,$(sort $(wildcard unit_*.cc)))\nout.so: $(objects)\n\tg++ -shared -o $@ $^\n%%.o: %%.cc\n\tg++ -O2 -fPIC -I$(INCLUDE) -c $< -o $@\n' >"$package/Makefile"
export WHEELSMITH_RECIPES=$t/recipes WHEELSMITH_ON=slurm
cd "$t"
start_cluster "$t/cluster" "$nodes" "$cores" "${MEGABYTES:-$((cores * 1500 + 1000))}"

build_on() { # NODES STORE: seconds of the compiling
  export WHEELSMITH_STORE=$2
  run_json build heavy --out "$2-out" --nodes "$1" --slurm cpus="$cores" --slurm memory="$((cores * 1500))MB" --cache off
  expect 0 "$status" "on $1 nodes: $(tail -n 5 "$t/err")"
  record=$(ls -t "$2"/logs/compiles-*.jsonl | head -n 1)
  python3 - "$record" <<'PYTHON'
import collections, json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
done = [l for l in lines if l["event"] == "compile" and l["outcome"] == "done" and l["name"].startswith("unit_")]
begin, end = min(l["at"] for l in done), max(l["at"] + l["seconds"] for l in done)
count = collections.Counter(l.get("node", "first") for l in done)
print(f"{end - begin:.1f} {sum(l['seconds'] for l in done):.1f} {dict(sorted(count.items()))} failed: {sum(l['event'] == 'node-failed' for l in lines)}")
PYTHON
}
build_on 1 "$t/one" >"$t/first"
build_on "$nodes" "$t/several" >"$t/second"
echo "one node of $cores cores: $(<"$t/first")"
echo "$nodes nodes of $cores cores: $(<"$t/second")"
for wheel in "$t"/one-out/*.whl; do cmp "$wheel" "$t/several-out/${wheel##*/}" || fail "another wheel: ${wheel##*/}"; done
echo "the same wheel"
grep -q "n$nodes" "$t/second" || fail "no compile ran on node n$nodes"
faster=$(python3 -c "import sys; print(f'{float(sys.argv[1]) / float(sys.argv[2]):.2f}')" "$(cut -d' ' -f1 "$t/first")" "$(cut -d' ' -f1 "$t/second")")
echo "$faster times as fast on $nodes nodes, $(nproc) cores in the machine"
if (($(nproc) >= nodes * cores)); then
  python3 -c "import sys; sys.exit(float(sys.argv[1]) < float(sys.argv[2]))" "$faster" "$ratio" || fail "less than $ratio times"
fi
