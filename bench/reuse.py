#!/usr/bin/env python3
"""Benchmark of reuse: what is compiled again, and what that costs, against rivals in the same run.

    bench/reuse.py [SECTION…]            default: cold warm hit extension releases, and scatter if nvcc is in PATH

  cold       12 C++ units by ninja: without a cache and with an empty one, in turn. Goal: at most 1.02 times the CPU time.
             ccache does the same.
  warm       UNITS (200) C++ units and a link by ninja, in another folder, everything in the cache, against the link alone.
             ccache and sccache do the same. Goal: every unit is a hit.
  hit        one hit, from start to exit of the compiler's command. Goal: less than 5 ms. ccache and sccache do the same.
  extension  an extension of 40 C++ units with setuptools and without ninja, against `pip wheel`. Goal: 1.8 times as fast on
             2 cores, 6 times on 16.
  releases   two releases of a package of 12 C++ units, of which one changed: the second build against the first one. Goal: one
             unit compiles, and the saved CPU time is that of the others.
  scatter    torch-scatter's segment_coo_cuda.cu: sm_80 compiled before, sm_90 added, against compiling sm_90 alone. Goal: at
             most 1.1 times the time, and the same device code as by nvcc alone. ccache and sccache do the same.
  flash      the same with some units of flash-attn. FLASH_UNITS=flash_fwd_hdim32_fp16_sm80,…

ccache is used if it is in PATH; sccache comes from the package index. RIVALS=off skips both. For scatter and flash, sources come
from sdists, headers from the wheels of torch and of CUDA's libraries, all by `pip download` as pip is configured; CACHE=folder keeps
them (default: build/bench-reuse). Prints wall and CPU seconds and ratios, writes build/bench-reuse.json, and exits with 1 if a goal
is missed. Other work on the machine changes wall seconds; CPU seconds hardly.
"""
import glob
import hashlib
import html
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.parse
import urllib.request
import zipfile

from build import SETUPTOOLS, Timed, make_minute, settings_of, write

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WHEELSMITH = os.environ.get("WHEELSMITH") or os.path.join(ROOT, "build/wheelsmith")
CACHE = os.path.abspath(os.environ.get("CACHE") or os.path.join(ROOT, "build/bench-reuse"))
TORCH = "torch==2.13.0"
# As torch's BuildExtension defines them; flash-attn undefines them.
NO_OPERATORS = ["__CUDA_NO_HALF_OPERATORS__", "__CUDA_NO_HALF_CONVERSIONS__", "__CUDA_NO_BFLOAT16_CONVERSIONS__", "__CUDA_NO_HALF2_OPERATORS__"]
FLASH_UNITS = (os.environ.get("FLASH_UNITS") or "flash_fwd_hdim32_fp16_causal_sm80").split(",")


# --- inputs


def pip_download(requirement):
    folder = tempfile.mkdtemp(dir=CACHE)
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "-d", folder, requirement], check=True)
    return glob.glob(f"{folder}/*")[0]


def headers_of(requirement, inside):
    """The headers in a wheel, below CACHE."""
    place = os.path.join(CACHE, re.sub(r"[^a-z0-9.]+", "-", requirement))
    if not os.path.isdir(place):
        wheel = pip_download(requirement)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(place + ".part", [name for name in archive.namelist() if inside in name])
        shutil.rmtree(os.path.dirname(wheel))
        os.rename(place + ".part", place)
    return place


def index_url():
    text = subprocess.run([sys.executable, "-m", "pip", "download", "-v", "--no-deps", "-d", CACHE, "no-such-package-of-this-name"],
                          capture_output=True, text=True).stdout
    found = re.search(r"Looking in indexes: (\S+?)(?:,|\s|$)", text)
    from pip._internal.models.index import PyPI
    return found.group(1) if found else PyPI.simple_url


def sdist(name, version):
    """pip runs the package's code to download an sdist; here only the project page is read."""
    place = os.path.join(CACHE, f"{name}-{version}")
    if not os.path.isdir(place):
        page = index_url().rstrip("/") + f"/{name}/"
        with urllib.request.urlopen(page) as answer:
            links = re.findall(r'href="([^"]+)"', answer.read().decode())
        link = next(link for link in links if link.split("#")[0].endswith(f"-{version}.tar.gz"))
        archive = os.path.join(CACHE, f"{name}.tar.gz")
        urllib.request.urlretrieve(urllib.parse.urljoin(page, html.unescape(link).split("#")[0]), archive)
        os.makedirs(place + ".part")
        subprocess.run(["tar", "-xzf", archive, "-C", place + ".part", "--strip-components=1"], check=True)
        os.rename(place + ".part", place)
    return place


def torch_flags():
    torch = headers_of(TORCH, "torch/include/") + "/torch/include"
    macros = os.path.join(CACHE, "macros/c10/cuda/impl/cuda_cmake_macros.h")  # a CPU build of torch has none
    os.makedirs(os.path.dirname(macros), exist_ok=True)
    with open(macros, "w", encoding="utf-8") as file:
        file.write("#pragma once\n#define C10_CUDA_BUILD_SHARED_LIBS\n")
    folders = [torch, f"{torch}/torch/csrc/api/include", os.path.join(CACHE, "macros"), sysconfig.get_paths()["include"]]
    for library in ["nvidia-cublas==13.0.*", "nvidia-cusparse", "nvidia-cusolver"]:
        folders += glob.glob(headers_of(library, "/include/") + "/nvidia/*/include")
    return [f"-I{folder}" for folder in folders] + ["-std=c++20", "-O3", "-Xcompiler", "-fPIC", "-diag-suppress", "3189", *(f"-D{name}" for name in NO_OPERATORS)]


# --- measuring


def gencodes(archs):
    return [word for arch in archs for word in ("-gencode", f"arch=compute_{arch},code=sm_{arch}")]


def timed(command, environment, folder):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
    seconds, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"bench: {' '.join(command[:4])} ended with {done.returncode}\n{done.stderr[-3000:]}")
    return {"seconds": round(seconds, 2), "cpu": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2)}


def sccache_program():
    place = headers_of("sccache", "")
    program = glob.glob(f"{place}/*/scripts/sccache")
    if program:
        os.chmod(program[0], 0o755)
    return program[0] if program else None


class Ways:
    """Ways to compile: plain, by wheelsmith, and by its rivals, each with a store of its own."""

    def __init__(self, base, options=()):
        self.base = base
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("WHEELSMITH", "CCACHE", "SCCACHE"))}
        self.environment.update(WHEELSMITH_STORE=f"{base}/store", CCACHE_DIR=f"{base}/ccache", SCCACHE_DIR=f"{base}/sccache",
                                SCCACHE_SERVER_PORT="47311", SCCACHE_IDLE_TIMEOUT="0")
        self.ways = {"plain": [], "wheelsmith": [WHEELSMITH, "run", "--quiet", *options, "--cache", "on", "--"]}
        if os.environ.get("RIVALS", "on") == "on":
            if shutil.which("ccache"):
                self.ways["ccache"] = ["ccache"]
            if program := sccache_program():
                self.ways["sccache"] = [program]

    def compile(self, way, source, archs, flags, output):
        command = [*self.ways[way], "nvcc", *flags, *gencodes(archs), "-c", source, "-o", output]
        result = timed(command, self.environment, self.base)
        print(f"  {way:<11} {';'.join(map(str, archs)):<8} {result['seconds']:8.1f} s {result['cpu']:8.1f} s CPU", flush=True)
        return result

    def end(self):
        if "sccache" in self.ways:
            subprocess.run([*self.ways["sccache"], "--stop-server"], env=self.environment, capture_output=True)


def device_code(name):
    """The digest of all device code, and of each symbol, without names that nvcc makes up."""
    subprocess.run(["objcopy", "-O", "binary", "--only-section=.nv_fatbin", name, name + ".fatbin"], check=True)
    with open(name + ".fatbin", "rb") as file:
        code = hashlib.sha256(file.read()).hexdigest()
    symbols = subprocess.run(["nm", name], capture_output=True, text=True, check=True).stdout
    return code, re.sub(r"tmpxft_[0-9a-f]*_[0-9a-f]*-\d*_", "", re.sub(r"(?m)^[0-9a-f]* *", "", symbols))


def add_an_architecture(ways, source, flags):
    """sm_80 first, then both, against sm_90 alone."""
    rows = {"alone": ways.compile("plain", source, [90], flags, f"{ways.base}/alone.o")}
    plain = f"{ways.base}/plain.o"
    rows["both"] = ways.compile("plain", source, [80, 90], flags, plain)
    for way in ways.ways:
        if way == "plain":
            continue
        output = f"{ways.base}/{way}.o"
        rows[f"{way} first"] = ways.compile(way, source, [80], flags, output)
        rows[f"{way} added"] = ways.compile(way, source, [80, 90], flags, output)
        if way == "wheelsmith":
            rows["equal"] = device_code(output) == device_code(plain)
            rows["ratio"] = round(rows[f"{way} added"]["cpu"] / rows["alone"]["cpu"], 3)
            rows["wall ratio"] = round(rows[f"{way} added"]["seconds"] / rows["alone"]["seconds"], 3)
            print(f"  added against alone: {rows['ratio']} of the CPU time, {rows['wall ratio']} of the wall time; "
                  f"{'the same' if rows['equal'] else 'OTHER'} device code and symbols as by nvcc", flush=True)
    return rows


def scatter():
    folder = sdist("torch-scatter", "2.1.2")
    flags = [*torch_flags(), f"-I{folder}/csrc", "--expt-relaxed-constexpr", "--expt-extended-lambda"]
    return [(f"{folder}/csrc/cuda/segment_coo_cuda.cu", flags)]


def flash():
    folder = sdist("flash-attn", "2.8.3.post2")
    flags = [*torch_flags(), f"-I{folder}/csrc/flash_attn", f"-I{folder}/csrc/flash_attn/src", f"-I{folder}/csrc/cutlass/include",
             "--expt-relaxed-constexpr", "--expt-extended-lambda", "--use_fast_math", *(f"-U{name}" for name in NO_OPERATORS)]
    return [(f"{folder}/csrc/flash_attn/src/{unit}.cu", flags) for unit in FLASH_UNITS]


def added(sources):
    """The section of GPU units: results and whether the goals hold."""
    results, good = {}, True
    for source, flags in sources():
        print(f"  {os.path.basename(source)}", flush=True)
        with tempfile.TemporaryDirectory(prefix="bench-reuse-") as base:
            ways = Ways(base, ["--gpu-parts", "on"])
            try:
                result = results[os.path.basename(source)] = add_an_architecture(ways, source, flags)
            finally:
                ways.end()
        good = good and result["equal"] and result["wall ratio"] <= 1.1
    return results, good


# --- C++

UNIT = """#include <functional>
#include <map>
#include <regex>
#include <string>
#include "own.h"
bool unit_{0}(const std::string& text) {{
  static const std::map<std::string, std::regex> all{{{{"{0}", std::regex("a{0}+b")}}}};
  return OWN && std::regex_search(text, all.begin()->second);
}}
"""
SMALL_UNIT = """#include <map>
#include <string>
#include "own.h"
int unit_{0}(const std::string& text) {{
  static std::map<std::string, int> all{{{{"{0}", OWN}}}};
  return all[text];
}}
"""


def ninja_tree(folder, units, text, launcher, link):
    """A tree with a build.ninja, as CMake writes it: absolute names."""
    write(f"{folder}/src/own.h", "#define OWN 1\n")
    # As `build` does: the folder does not appear in objects.
    compiler = " ".join([*launcher, "g++", "-O1", "-fPIC", f"-ffile-prefix-map={folder}=."])
    rules = f"rule compile\n  command = {compiler} -MD -MF $out.d -c $in -o $out\n  depfile = $out.d\n"
    rules += "rule link\n  command = g++ -shared @$out.rsp -o $out\n  rspfile = $out.rsp\n  rspfile_content = $in\n"
    for number in range(units):
        write(f"{folder}/src/unit{number}.cc", text.format(number))
        rules += f"build unit{number}.o: compile {folder}/src/unit{number}.cc\n"
    if link:
        rules += "build all.so: link " + " ".join(f"unit{number}.o" for number in range(units)) + "\n"
    write(f"{folder}/build.ninja", rules)


def ninja(ways, way, folder, cache=True):
    """`ninja` by a way: a rival is in the rules, wheelsmith runs ninja."""
    prefix = []
    if way == "wheelsmith":
        prefix = [WHEELSMITH, "run", "--quiet", "--summary", f"{ways.base}/summary", *(["--cache", "on"] if cache else []), "--"]
    result = timed([*prefix, "ninja", "-k0"], ways.environment, folder)
    if prefix and cache:
        with open(f"{ways.base}/summary", encoding="utf-8") as file:
            summary = json.load(file)
        result["cache"], result["saved"] = summary.get("cache", {}), summary.get("saved", {})
    return result


def show(what, result, more=""):
    print(f"  {what:<38} {result['seconds']:8.2f} s {result['cpu']:8.2f} s CPU  {more}", flush=True)


def forget_objects(folder):
    for name in os.listdir(folder):
        if name.endswith((".o", ".d", ".so")) or name.startswith(".ninja"):
            os.remove(f"{folder}/{name}")


def cold():
    rounds = int(os.environ.get("ROUNDS") or 3)
    rows = {"wheelsmith without": [], "wheelsmith cold": [], "plain": [], "ccache cold": []}
    with tempfile.TemporaryDirectory(prefix="bench-reuse-") as base:
        ways = Ways(base)
        ninja_tree(f"{base}/tree", 12, UNIT, [], False)
        ninja_tree(f"{base}/ccache-tree", 12, UNIT, ["ccache"], False)
        for _ in range(rounds):
            for name in rows:
                if name == "ccache cold" and "ccache" not in ways.ways:
                    continue
                shutil.rmtree(f"{base}/store/objects", ignore_errors=True)
                shutil.rmtree(f"{base}/ccache", ignore_errors=True)
                folder = f"{base}/ccache-tree" if name.startswith("ccache") else f"{base}/tree"
                forget_objects(folder)
                result = ninja(ways, name.split()[0], folder, name.endswith("cold"))
                rows[name].append(result)
                show(name, result)
        ways.end()
    best = {name: min(run["cpu"] for run in runs) for name, runs in rows.items() if runs}
    ratios = {"cold against without": round(best["wheelsmith cold"] / best["wheelsmith without"], 4),
              "without against ninja alone": round(best["wheelsmith without"] / best["plain"], 4)}
    if "ccache cold" in best:
        ratios["ccache cold against ninja alone"] = round(best["ccache cold"] / best["plain"], 4)
    for what, ratio in ratios.items():
        print(f"  {what}: {ratio} (CPU, the best of {rounds})", flush=True)
    return {"runs": rows, "ratios": ratios}, ratios["cold against without"] <= 1.02


def warm():
    units = int(os.environ.get("UNITS") or 200)
    rows, good = {}, True
    with tempfile.TemporaryDirectory(prefix="bench-reuse-") as base:
        ways = Ways(base)
        ways.environment["CCACHE_BASEDIR"] = base
        for way in [way for way in ways.ways if way != "plain"]:
            launcher = [] if way == "wheelsmith" else ways.ways[way]
            for folder in ("a", "b"):
                ninja_tree(f"{base}/{way}-{folder}", units, SMALL_UNIT, launcher, True)
            first = ninja(ways, way, f"{base}/{way}-a")
            show(f"{way}: first build of {units}", first)
            again = ninja(ways, way, f"{base}/{way}-b")
            show(f"{way}: in another folder", again, str(again.get("cache", "")))
            os.remove(f"{base}/{way}-b/all.so")
            link = ninja(ways, way, f"{base}/{way}-b")
            show(f"{way}: the link alone", link)
            rows[way] = {"first": first, "warm": again, "link": link}
            if way == "wheelsmith":
                good = again["cache"]["hits"] == units
        ways.end()
    return rows, good


HITS = """import statistics, subprocess, sys, time
times = []
for _ in range(60):
    start = time.monotonic()
    subprocess.run(sys.argv[1:], check=True)
    times.append(time.monotonic() - start)
times.sort()
print(statistics.median(times) * 1000, times[0] * 1000)
"""


def hit():
    rows = {}
    with tempfile.TemporaryDirectory(prefix="bench-reuse-") as base:
        ways = Ways(base)
        write(f"{base}/own.h", "#define OWN 1\n")
        write(f"{base}/unit.cc", SMALL_UNIT.format(0))
        write(f"{base}/hits.py", HITS)
        compile_unit = ["g++", "-O1", "-c", "unit.cc", "-o", "unit.o"]
        for way, prefix in {**ways.ways, "true": []}.items():
            command = [sys.executable, "hits.py"]
            if way == "true":
                command += ["/bin/true"]
            elif way == "plain":
                command += compile_unit
            elif way == "wheelsmith":
                command = [*prefix, *command, *compile_unit]
                subprocess.run([*prefix, *compile_unit], env=ways.environment, cwd=base, check=True)
            else:
                command += [*prefix, *compile_unit]
                subprocess.run([*prefix, *compile_unit], env=ways.environment, cwd=base, check=True)
            said = subprocess.run(command, env=ways.environment, cwd=base, check=True, capture_output=True, text=True).stdout
            median, least = map(float, said.split())
            rows[way] = {"median ms": round(median, 2), "least ms": round(least, 2)}
            print(f"  {way:<12} {median:8.2f} ms, at least {least:.2f} ms", flush=True)
        ways.end()
    return rows, rows["wheelsmith"]["median ms"] < 5


def extension():
    units, rounds = int(os.environ.get("UNITS") or 40), int(os.environ.get("ROUNDS") or 2)
    ours, theirs = [], []
    with tempfile.TemporaryDirectory(prefix="bench-reuse-") as folder:
        # The same work for both: no compile cache, and the same flags, for which they have different defaults.
        environment = settings_of(folder) | {"WHEELSMITH_CACHE": "off", "CFLAGS": "-O2", "CXXFLAGS": "-O2"}
        os.makedirs(f"{folder}/recipes")
        archive, small = make_minute(f"{folder}/full", units), make_minute(f"{folder}/small", 1)
        subprocess.run([sys.executable, "-m", "venv", f"{folder}/env"], check=True)
        subprocess.run([f"{folder}/env/bin/python", "-m", "pip", "install", "--quiet", SETUPTOOLS], check=True, env=environment)
        pip = [f"{folder}/env/bin/python", "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-cache-dir", "--no-build-isolation",
               "--wheel-dir", f"{folder}/pip"]
        build = [WHEELSMITH, "build", "minute", "--variant", "cpu", "--env", "CFLAGS=-O2", "--env", "CXXFLAGS=-O2"]
        Timed([*build, "--source", f"minute={small}"], environment, folder)  # makes the environment
        for number in range(rounds):
            for runs, command in ((ours, [*build, "--env", f"ROUND={number}", "--source", f"minute={archive}"]), (theirs, [*pip, archive])):
                run = Timed(command, environment, folder)
                runs.append({"seconds": round(run.seconds, 2), "cpu": round(run.cpu, 2)})
                show("wheelsmith build" if runs is ours else "pip wheel", runs[-1])
    faster = min(run["seconds"] for run in theirs) / min(run["seconds"] for run in ours)
    cpu = min(run["cpu"] for run in ours) / min(run["cpu"] for run in theirs)
    goal = 1.8 if os.cpu_count() < 16 else 6
    print(f"  {faster:.2f} times as fast as pip wheel on {os.cpu_count()} cores (goal {goal}), {cpu:.3f} of its CPU time", flush=True)
    return {"units": units, "ours": ours, "pip": theirs, "faster": round(faster, 3), "cpu": round(cpu, 4)}, faster >= goal


def releases():
    units, rows = 12, {}
    with tempfile.TemporaryDirectory(prefix="bench-reuse-") as folder:
        environment = settings_of(folder)
        os.makedirs(f"{folder}/recipes")
        # From one place apart from the version (docs/cache.md).
        first = make_minute(f"{folder}/minute-1.0", units, "1.0")
        second = make_minute(f"{folder}/minute-1.1", units, "1.1", changed=[0])
        for name, archive in {"the first release": first, "the next one": second}.items():
            run = Timed([WHEELSMITH, "build", "minute", "--variant", "cpu", "--json", "--source", f"minute={archive}"], environment, folder)
            document = json.loads(run.output)
            rows[name] = {"seconds": round(run.seconds, 2), "cpu": round(run.cpu, 2), "cache": document["steps"][0]["cache"]}
            show(name, rows[name], str(rows[name]["cache"]))
    cache = rows["the next one"]["cache"]
    return rows, cache["misses"] == 1 and cache["hits"] == units and cache["saved_seconds"] > 0


def main():
    sections = {"cold": cold, "warm": warm, "hit": hit, "extension": extension, "releases": releases,
                "scatter": lambda: added(scatter), "flash": lambda: added(flash)}
    wanted = sys.argv[1:] or [name for name in sections if name != "flash" and (name != "scatter" or shutil.which("nvcc"))]
    for name in wanted:
        if name not in sections:
            sys.exit(f"bench: {name} is not one of {', '.join(sections)}")
    os.makedirs(CACHE, exist_ok=True)
    results, all_good = {}, True
    for name in wanted:
        print(f"{name}:", flush=True)
        result, good = sections[name]()
        results[name] = {"load": os.getloadavg()[0], "holds": good, "result": result}
        print(f"  {'ok' if good else 'MISSED'}, at a load of {os.getloadavg()[0]:.1f}", flush=True)
        all_good = all_good and good
        with open(f"{ROOT}/build/bench-reuse.json", "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    sys.exit(0 if all_good else 1)


if __name__ == "__main__":
    main()
