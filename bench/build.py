"""Benchmarks of `build`: our overhead on a compile, the time of a large plan, and the speed of installing a wheel.

    bench/build.py [share] [plan] [install]        default: all three

  share    a generated sdist that compiles for about a minute, built alternately by us and by `pip wheel` in prepared
           environments. Goal: all phases except `build` take less than 2 % of the time.
  plan     250 recipes x 2 Pythons x 2 arch lists, planned a second time. Goal: 1,000 steps in under 0.2 s, no process started.
  install  the torch wheel of $WHEELS installed into an empty environment by us, by pip, and by uv if available. Goal: at least
           3 times faster than pip.

Prints a table and which goals were reached, and writes build/bench-build.json. It also reports CPU seconds, which are comparable
on a shared machine.
"""
import glob
import json
import os
import resource
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")
WHEELSMITH = os.environ.get("WHEELSMITH") or os.path.join(BUILD, "wheelsmith")
INSTALLER = os.environ.get("INSTALL_WHEEL") or os.path.join(BUILD, "release/bin/install_wheel")
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
SETUPTOOLS = "setuptools==80.9.0"


class Timed:
    """A finished command: wall seconds, CPU seconds including all children, and the time of each stderr line."""

    def __init__(self, command, environment=None, folder=None):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(command, env=environment, cwd=folder, stdout=output, stderr=subprocess.PIPE, text=True)
            self.lines = [(time.monotonic() - start, line.rstrip("\n")) for line in process.stderr]
            status = process.wait()
            self.seconds = time.monotonic() - start
            output.seek(0)
            self.output = output.read()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if status != 0:
            sys.exit(f"bench: {' '.join(command)[:300]} failed with status {status}\n" + "\n".join(t for _, t in self.lines[-20:]))


class Goals:
    def __init__(self):
        self.results = []

    def show(self, what, value, limit, at_least):
        holds = value >= limit if at_least else value <= limit
        sign = ">=" if at_least else "<="
        print(f"  {'ok    ' if holds else 'MISSED'} {what:<52} {value:9.3f}  (goal {sign} {limit:g})", flush=True)
        self.results.append({"what": what, "value": value, "goal": f"{sign} {limit:g}", "holds": holds})


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def settings_of(folder):
    """Environment variables that select only the folder's store, recipes and wheelhouse."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("WHEELSMITH")}
    environment |= {"WHEELSMITH_STORE": f"{folder}/store", "WHEELSMITH_RECIPES": f"{folder}/recipes",
                    "WHEELSMITH_OUT": f"{folder}/wheelhouse", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return environment


UNIT = """#include <functional>
#include <map>
#include <regex>
#include <string>
bool unit_{number}(const std::string& text) {{
  static const std::map<std::string, std::regex> all{{{{"{number}", std::regex("a{number}+b")}}}};
  return std::regex_search(text, all.begin()->second);
}}
"""
MODULE = """#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_minute", 0, -1, 0};
PyMODINIT_FUNC PyInit__minute(void) { return PyModule_Create(&module); }
"""


def make_minute(folder, units, version="1.0", changed=()):
    """An sdist of that many C++ units, each of which takes two seconds to compile, in sequence."""
    source = f"{folder}/minute-{version}"
    files = [f"unit_{number}.cc" for number in range(units)]
    for number, name in enumerate(files):
        write(f"{source}/{name}", UNIT.format(number=number) + (f"// {version}\n" if number in changed else ""))
    write(f"{source}/module.cc", MODULE)
    write(f"{source}/PKG-INFO", f"Metadata-Version: 2.1\nName: minute\nVersion: {version}\n")
    write(f"{source}/pyproject.toml", f'[build-system]\nrequires = ["{SETUPTOOLS}"]\nbuild-backend = "setuptools.build_meta"\n'
                                      f'[project]\nname = "minute"\nversion = "{version}"\n')
    write(f"{source}/setup.py", "from setuptools import Extension, setup\n"
                                f"setup(py_modules=[], ext_modules=[Extension('_minute', {['module.cc'] + files})])\n")
    archive = f"{folder}/minute-{version}.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(source, f"minute-{version}")
    shutil.rmtree(source)
    return archive


def phases_of(run):
    """Seconds of each phase, from the times of the lines that announce them."""
    names = ("source", "environment", "build", "finish", "check", "test", "publish")
    marks = [(at, name) for at, line in run.lines for name in names if line.endswith(": " + name)]
    ends = [at for at, _ in marks[1:]] + [run.seconds]
    return {name: round(end - at, 4) for (at, name), end in zip(marks, ends)} | {"plan": round(marks[0][0], 4) if marks else 0}


def units_for(folder, seconds):
    """A number of units that takes about that long to compile on this machine at its current load."""
    write(f"{folder}/unit.cc", UNIT.format(number=0))
    took = Timed(["c++", "-O2", "-fPIC", "-c", "unit.cc", "-o", "unit.o"], None, folder).seconds
    return max(4, min(40, round(seconds / took)))


def bench_share(folder, goals):
    print("\nOverhead of a build", flush=True)
    units = int(os.environ.get("UNITS") or units_for(folder, 55))
    warm, full = make_minute(f"{folder}/warm", 1), make_minute(f"{folder}/full", units)
    # The same work for both: no compile cache, and the same flags, for which they have different defaults.
    environment = settings_of(folder) | {"WHEELSMITH_CACHE": "off", "CFLAGS": "-O2", "CXXFLAGS": "-O2"}
    os.makedirs(f"{folder}/recipes", exist_ok=True)
    # pip also gets a prepared environment.
    subprocess.run([sys.executable, "-m", "venv", f"{folder}/env"], check=True)
    subprocess.run([f"{folder}/env/bin/python", "-m", "pip", "install", "--quiet", SETUPTOOLS], check=True, env=environment)
    pip = [f"{folder}/env/bin/python", "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-cache-dir", "--no-build-isolation",
           "--wheel-dir", f"{folder}/pip"]
    build = [WHEELSMITH, "build", "minute", "--variant", "cpu", "--python", PYTHON, "--env", "CFLAGS=-O2", "--env", "CXXFLAGS=-O2"]
    ours, theirs = [], []
    for number, archive in enumerate([warm, full, full]):
        # A different value of a variable makes it a different build.
        ours.append(Timed([*build, "--env", f"ROUND={number}", "--source", f"minute={archive}"], environment, folder))
        theirs.append(Timed([*pip, archive], environment, folder))
        if number != 0:
            print(f"  {units} units: ours {ours[-1].seconds:.2f} s ({ours[-1].cpu:.2f} s CPU), "
                  f"pip wheel {theirs[-1].seconds:.2f} s ({theirs[-1].cpu:.2f} s CPU)", flush=True)
    results = []
    for run in ours[1:]:
        phases = phases_of(run)
        if "build" not in phases:
            sys.exit("bench: no phases in the output:\n" + "\n".join(line for _, line in run.lines))
        print("  phases: " + ", ".join(f"{name} {seconds:.3f}" for name, seconds in phases.items()), flush=True)
        results.append({"s": run.seconds, "cpu_s": run.cpu, "phases": phases,
                        "share": (run.seconds - phases["build"]) / run.seconds * 100})
    goals.show("all phases except build, % of the build's time", min(result["share"] for result in results), 2, False)
    # The faster of two: other load only ever adds time.
    quicker = {"s": min(run.seconds for run in theirs[1:]), "cpu_s": min(run.cpu for run in theirs[1:])}
    goals.show("our time against pip wheel's", min(result["s"] for result in results) / quicker["s"], 1.02, False)
    goals.show("our CPU time against pip wheel's", min(result["cpu_s"] for result in results) / quicker["cpu_s"], 1.02, False)
    return {"units": units, "ours": results, "pip": [{"s": run.seconds, "cpu_s": run.cpu} for run in theirs[1:]]}


RECIPE = """name = "{name}"
summary = "one of many"
[source]
folder = "tiny"
[build]
requires = ["{setuptools}"]
[build.environment]
NUMBER = "{number}"
[variant.cuda.archs]
spelling = "cmake"
"""


def bench_plan(folder, goals):
    print("\nA plan of many steps", flush=True)
    environment = settings_of(folder)
    found = [name for minor in range(13, 9, -1) if shutil.which(name := f"python3.{minor}")]
    pythons = [name.removeprefix("python") for name in found[:2]]
    packages = [f"p{number:03}" for number in range(500 // len(pythons))]
    for number, name in enumerate(packages):
        write(f"{folder}/recipes/{name}.toml", RECIPE.format(name=name, number=number, setuptools=SETUPTOOLS))
    write(f"{folder}/recipes/tiny/pyproject.toml", '[project]\nname = "tiny"\nversion = "1.0"\n')
    write(f"{folder}/recipes/tiny/tiny.py", "one = 1\n")
    write(f"{folder}/wheelsmith.toml", f'packages = {json.dumps(packages)}\nvariant = ["cuda"]\narch = ["8.0", "9.0"]\n'
                                       f"python = {json.dumps(pythons)}\n")
    command = [WHEELSMITH, "plan", "--json"]
    Timed(command, environment, folder)
    runs = [Timed(command, environment, folder) for _ in range(5)]
    best, cpu = min(run.seconds for run in runs), min(run.cpu for run in runs)
    steps = len(json.loads(runs[0].output)["steps"])
    print(f"  {steps} steps, {len(pythons)} Pythons: {best:.3f} s, {cpu:.3f} s CPU; the best of 5", flush=True)
    goals.show("seconds of CPU for 1,000 steps", cpu * 1000 / steps, 0.2, False)
    goals.show("seconds for 1,000 steps", best * 1000 / steps, 0.2, False)
    return {"steps": steps, "plan_s": best, "plan_cpu_s": cpu}


def bench_install(folder, goals):
    print("\nA torch wheel into an environment", flush=True)
    wheels = glob.glob(os.path.join(os.environ.get("WHEELS") or os.path.join(BUILD, "bench-wheels"), "torch-*.whl"))
    wheels = [wheel for wheel in wheels if f"-cp{PYTHON.replace('.', '')}-" in wheel]
    if not wheels or not os.path.exists(INSTALLER):
        print(f"  skipped: needs a torch wheel for Python {PYTHON} in $WHEELS, and {INSTALLER}")
        return None
    wheel = max(wheels, key=os.path.getsize)
    with open(wheel, "rb") as file:  # into the page cache: this does not compare disks
        while file.read(1 << 24):
            pass
    no_pip = settings_of(folder)
    tools = {"ours": [INSTALLER, "{python}", wheel],
             "pip": [sys.executable, "-m", "pip", "--python", "{python}", "install", "--quiet", "--no-deps", "--no-index", wheel],
             "pip --no-compile": [sys.executable, "-m", "pip", "--python", "{python}", "install", "--quiet", "--no-deps",
                                  "--no-index", "--no-compile", wheel]}
    if uv := os.environ.get("UV") or shutil.which("uv"):
        tools["uv, nothing cached"] = [uv, "pip", "install", "--no-deps", "--offline", "--no-cache", "--python", "{python}", wheel]
    times = {}
    for name, command in tools.items():
        place = f"{folder}/env"
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", place], check=True)
        run = Timed([word.replace("{python}", f"{place}/bin/python") for word in command], no_pip, folder)
        times[name] = {"s": run.seconds, "cpu_s": run.cpu}
        print(f"  {name:<20} {run.seconds:7.2f} s {run.cpu:7.2f} s CPU", flush=True)
        shutil.rmtree(place)
    for name in list(tools)[1:]:
        limit = 3 if name == "pip" else 1
        goals.show(f"{name} against us", times[name]["s"] / times["ours"]["s"], limit, True)
        goals.show(f"{name} against us, CPU", times[name]["cpu_s"] / times["ours"]["cpu_s"], limit, True)
    return {"wheel": os.path.basename(wheel), "times": times}


def main():
    benches = {"share": bench_share, "plan": bench_plan, "install": bench_install}
    goals, results = Goals(), {}
    for name in sys.argv[1:] or benches:
        with tempfile.TemporaryDirectory() as folder:
            results[name] = benches[name](folder, goals)
    with open(os.path.join(BUILD, "bench-build.json"), "w", encoding="utf-8") as file:
        json.dump({"load": os.getloadavg()[0], "results": results, "goals": goals.results}, file, indent=1)
    held = sum(result["holds"] for result in goals.results)
    print(f"\n{held} of {len(goals.results)} goals reached, at a load of {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
