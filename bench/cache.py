"""Benchmark of the compile cache: disabled, cold, and warm in another folder, for C++ and for nvcc, in one run.

    bench/cache.py [cxx] [cuda]        default: both, cuda if nvcc is installed

  cxx    12 units with templates of the standard library, and one header of their own
  cuda   6 units: the kernels of examples/texture and others with CUB, for two architectures

ninja builds under `wheelsmith run`. Cold is the first build with an empty cache, warm a clean tree in another folder with
the first one's cache. "changed" is the warm tree after one unit changed. Prints wall and CPU seconds, the
hit rate and the ratios, and writes build/bench-cache.json. Goals: every unit is a hit in the other folder; warm is at least 5
times faster than without; cold takes at most 1.05 times the CPU time without.
"""
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WHEELSMITH = os.environ.get("WHEELSMITH") or os.path.join(ROOT, "build/wheelsmith")

CXX = """#include <functional>
#include <map>
#include <regex>
#include <string>
#include "own.h"
template <int N> struct Tree {{ std::map<std::string, std::function<int(int)>> all; Tree<N - 1> next;
  int sum(int x) {{ int s = next.sum(x); for (auto& [k, f] : all) s += f(x) + (int)k.size(); return s; }} }};
template <> struct Tree<0> {{ int sum(int x) {{ return x; }} }};
int unit_{0}(const std::string& text) {{
  static Tree<12> tree;
  return tree.sum({0} + OWN) + (int)std::regex_match(text, std::regex("[a-z]+{0}(x|y)*"));
}}
"""

CUDA = """#include <cub/cub.cuh>
#include "own.h"
__global__ void sort_{0}(int* keys) {{
  using Sort = cub::BlockRadixSort<int, 128, {1}>;
  __shared__ typename Sort::TempStorage storage;
  int mine[{1}];
  for (int i = 0; i < {1}; ++i) mine[i] = keys[threadIdx.x * {1} + i];
  Sort(storage).Sort(mine);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  mine[0] += 9;
#endif
  for (int i = 0; i < {1}; ++i) keys[threadIdx.x * {1} + i] = mine[i] + OWN;
}}
"""
ARCHS = "-gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90"


def make_tree(folder, kind):
    os.makedirs(f"{folder}/src")
    with open(f"{folder}/src/own.h", "w", encoding="utf-8") as file:
        file.write("#define OWN 1\n")
    names = []
    for i in range(12 if kind == "cxx" else 5):
        names.append(f"unit{i}.{'cc' if kind == 'cxx' else 'cu'}")
        with open(f"{folder}/src/{names[-1]}", "w", encoding="utf-8") as file:
            file.write(CXX.format(i) if kind == "cxx" else CUDA.format(i, 2 + i))
    if kind == "cuda":
        for place, _, files in sorted(os.walk(f"{ROOT}/examples/texture")):
            for name in sorted(files):
                if name.endswith((".cu", ".cuh", ".h", ".hpp")):
                    shutil.copy(f"{place}/{name}", f"{folder}/src/{name}")
                if name.endswith(".cu"):
                    names.append(name)
    # As `build` does: the folder does not appear in objects.
    where = f"-ffile-prefix-map={folder}=."
    command = f"nvcc -O2 -std=c++17 {ARCHS} -Xcompiler {where}" if kind == "cuda" else f"g++ -O2 -std=c++17 {where}"
    with open(f"{folder}/build.ninja", "w", encoding="utf-8") as file:
        # As CMake writes it: absolute names.
        file.write(f"rule compile\n  command = {command} -MD -MF $out.d -c $in -o $out\n  depfile = $out.d\n")
        for name in names:
            file.write(f"build {name}.o: compile {folder}/src/{name}\n")
    return len(names)


def build(folder, base, cached):
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("WHEELSMITH", "CCACHE"))}
    environment["WHEELSMITH_STORE"] = f"{base}/store"
    command = [WHEELSMITH, "run", "--quiet", "--summary", f"{base}/summary"] + (["--cache", "on"] if cached else [])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run(command + ["--", "ninja", "-k0"], cwd=folder, env=environment, capture_output=True, text=True)
    seconds = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"bench: ninja failed with status {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    with open(f"{base}/summary", encoding="utf-8") as file:
        cache = json.load(file).get("cache", {})
    return {"seconds": seconds, "cpu": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
            "hits": cache.get("hits", 0), "misses": cache.get("misses", 0)}


def measure(kind):
    base = tempfile.mkdtemp(prefix="bench-cache-")
    try:
        count = make_tree(f"{base}/a", kind)
        make_tree(f"{base}/b", kind)
        result = {"units": count, "without": build(f"{base}/a", base, False)}
        for name in os.listdir(f"{base}/a"):
            if name.endswith((".o", ".d")) or name.startswith(".ninja"):
                os.remove(f"{base}/a/{name}")
        result["cold"] = build(f"{base}/a", base, True)
        result["warm"] = build(f"{base}/b", base, True)
        for name in os.listdir(f"{base}/b"):
            if name.endswith((".o", ".d")) or name.startswith(".ninja"):
                os.remove(f"{base}/b/{name}")
        unit = f"{base}/b/src/unit0.{'cc' if kind == 'cxx' else 'cu'}"
        with open(unit, "a", encoding="utf-8") as file:
            file.write("// changed\nint changed = 1;\n")
        result["changed"] = build(f"{base}/b", base, True)
        return result
    finally:
        shutil.rmtree(base, ignore_errors=True)


def main():
    kinds = sys.argv[1:] or ["cxx"] + (["cuda"] if shutil.which("nvcc") else [])
    if not shutil.which("ninja"):
        sys.exit("bench: ninja is not installed")
    results, good = {}, True
    for kind in kinds:
        result = results[kind] = measure(kind)
        print(f"{kind}: {result['units']} units")
        for name in ("without", "cold", "warm", "changed"):
            run = result[name]
            looked = run["hits"] + run["misses"]
            rate = f"{100 * run['hits'] / looked:5.1f} % hits ({run['hits']} of {looked})" if looked else ""
            print(f"  {name:<8} {run['seconds']:8.2f} s  {run['cpu']:8.2f} s CPU  {rate}")
        goals = [("warm is faster than without, times", result["without"]["seconds"] / result["warm"]["seconds"], 5, True),
                 ("hit rate in another folder", result["warm"]["hits"] / result["units"], 1, True),
                 ("units compiled after one changed", result["changed"]["misses"], 1, False),
                 ("cold against without, CPU time", result["cold"]["cpu"] / result["without"]["cpu"], 1.05, False)]
        for what, value, limit, at_least in goals:
            holds = value >= limit if at_least else value <= limit
            good = good and holds
            print(f"  {'ok    ' if holds else 'MISSED'} {what:<42} {value:8.2f}  (goal {'>=' if at_least else '<='} {limit:g})")
    os.makedirs(f"{ROOT}/build", exist_ok=True)
    with open(f"{ROOT}/build/bench-cache.json", "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
