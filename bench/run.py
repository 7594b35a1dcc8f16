"""Benchmarks: our time and memory on wheels from the package index, compared with existing tools, in one run.

    bench/run.py [WHEEL NAME…]        for example: bench/run.py torch triton

Wheels come from the folder $WHEELS, or `pip download` puts them into build/bench-wheels. Prints a table and which goals were
reached, and writes build/bench.json. Goals, per wheel:
  inspect at least 15 times faster than `auditwheel show`, and at most 1.5 times the time of inflating the ELF members;
  check at least 8 times faster than `auditwheel show`;
  peak memory at most the two largest members and 150 MB.
And for torch's libtorch_cuda.so: 100 times faster than `cuobjdump --list-elf`, with less than 50 MB of private memory.
"""
import glob
import json
import os
import subprocess
import sys
import threading
import time
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build")
WHEELSMITH = os.path.join(BUILD, "wheelsmith")
WHEELS = {"torch": "2.15.0", "fbgemm_gpu": "1.9.0", "vllm": "0.32.0", "triton": "3.9.0"}
MB = 1 << 20


class Run:
    """A finished command: seconds, the kernel's peak of resident memory (including mapped files), and the peak of private
    memory, sampled every few milliseconds."""

    def __init__(self, command, watch=True):
        self.own = 0
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        watcher = threading.Thread(target=self.watch, args=(process.pid,))
        if watch:
            watcher.start()
        _, status, usage = os.wait4(process.pid, 0)
        self.seconds = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if watch:
            watcher.join()
        self.peak = usage.ru_maxrss * 1024
        self.status = process.returncode

    def watch(self, pid):
        try:
            while True:
                with open(f"/proc/{pid}/status", encoding="ascii") as file:
                    own = [int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon:")]
                if not own:  # a zombie has no memory
                    return
                self.own = max(self.own, own[0])
                time.sleep(0.003)
        except OSError:
            return


def best_of(count, command, good=(0,)):
    """The fastest of several runs. Memory is sampled in a separate run, so that it does not slow the timed ones."""
    runs = [Run(command, watch=False) for _ in range(count)]
    best = min(runs, key=lambda run: run.seconds)
    if best.status not in good:
        sys.exit(f"bench: {' '.join(command)} failed with status {best.status}")
    watched = Run(command)
    best.peak = max(run.peak for run in runs)
    best.own = watched.own
    return best


def find_wheel(name, version):
    folder = os.environ.get("WHEELS") or os.path.join(BUILD, "bench-wheels")
    pattern = os.path.join(folder, f"{name}-{version}-*.whl")
    if not glob.glob(pattern) and "WHEELS" not in os.environ:
        print(f"fetching {name} {version}", flush=True)
        platforms = [f"--platform=manylinux_2_{minor}_x86_64" for minor in (28, 27, 17)]
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
                        "--implementation=cp", "--python-version=311", "--abi=cp311", "--abi=abi3", *platforms,
                        "--dest", folder, f"{name}=={version}"], check=False)
    found = glob.glob(pattern)
    return found[0] if found else None


def warm(path):
    """Load into the page cache: this does not compare disks."""
    with open(path, "rb") as file:
        while file.read(16 * MB):
            pass


def extract(wheel, member):
    target = os.path.join(BUILD, "bench-files", os.path.basename(member))
    if not os.path.exists(target):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        with zipfile.ZipFile(wheel) as archive, archive.open(member) as source, open(target + ".part", "wb") as file:
            while block := source.read(16 * MB):
                file.write(block)
        os.chmod(target + ".part", 0o755)
        os.rename(target + ".part", target)
    return target


class Goals:
    def __init__(self):
        self.missed = 0

    def show(self, what, value, limit, at_least):
        holds = value >= limit if at_least else value <= limit
        self.missed += not holds
        sign = ">=" if at_least else "<="
        print(f"  {'ok    ' if holds else 'MISSED'} {what:<44} {value:9.2f}  (goal {sign} {limit:g})", flush=True)
        return {"what": what, "value": value, "goal": f"{sign} {limit:g}", "holds": holds}


def bench_wheel(name, path, threads, goals):
    warm(path)
    with zipfile.ZipFile(path) as archive:
        sizes = sorted((info.file_size for info in archive.infolist()), reverse=True)
    allowed = sum(sizes[:2]) + 150 * MB
    print(f"\n{os.path.basename(path)}: {os.path.getsize(path) / 1e6:.0f} MB, {len(sizes)} members", flush=True)

    lower = best_of(3, [os.path.join(BUILD, "release/bin/inflate_elf"), path, str(threads)])
    inspect = best_of(3, [WHEELSMITH, "inspect", "--json", path])
    check = best_of(3, [WHEELSMITH, "check", "--json", path], good=(0, 1))
    print(f"  inspect {inspect.seconds:.2f} s, check {check.seconds:.2f} s, inflate {lower.seconds:.2f} s", flush=True)
    results = [goals.show("inspect against inflating the ELF members", inspect.seconds / lower.seconds, 1.5, False)]
    judge = os.path.join(BUILD, "tools/bin/auditwheel")
    if os.path.exists(judge):
        auditwheel = Run([judge, "show", path], watch=False)
        print(f"  auditwheel show {auditwheel.seconds:.1f} s", flush=True)
        results += [goals.show("auditwheel show against inspect", auditwheel.seconds / inspect.seconds, 15, True),
                    goals.show("auditwheel show against check", auditwheel.seconds / check.seconds, 8, True)]
    else:
        print("  skipped: auditwheel is not installed")
    for command, run in (("inspect", inspect), ("check", check)):
        print(f"  {command}: {run.own / MB:.0f} MB private, {run.peak / MB:.0f} MB with the pages of the mapped wheel")
        results.append(goals.show(f"{command}: peak memory, MB", run.peak / MB, allowed // MB, False))
    return {"wheel": name, "inspect_s": inspect.seconds, "check_s": check.seconds, "inflate_s": lower.seconds,
            "goals": results}


def bench_gpu(wheels, goals):
    if not wheels.get("torch") or not wheels.get("triton"):
        print("\nGPU listing: skipped, needs torch's and triton's wheels (for libtorch_cuda.so and cuobjdump)")
        return None
    library = extract(wheels["torch"], "torch/lib/libtorch_cuda.so")
    cuobjdump = extract(wheels["triton"], "triton/backends/nvidia/bin/cuobjdump")
    warm(library)
    print(f"\nlibtorch_cuda.so: {os.path.getsize(library) / 1e6:.0f} MB", flush=True)
    ours = best_of(3, [WHEELSMITH, "inspect", "--json", library])
    theirs = Run([cuobjdump, "--list-elf", library], watch=False)
    print(f"  inspect {ours.seconds:.3f} s, cuobjdump --list-elf {theirs.seconds:.1f} s, {theirs.peak / MB:.0f} MB")
    return {"wheel": "libtorch_cuda.so", "inspect_s": ours.seconds, "cuobjdump_s": theirs.seconds, "goals": [
        goals.show("cuobjdump --list-elf against inspect", theirs.seconds / ours.seconds, 100, True),
        goals.show("inspect: own memory, MB", ours.own / MB, 50, False)]}


def main():
    names = sys.argv[1:] or list(WHEELS)
    threads = len(os.sched_getaffinity(0))
    goals = Goals()
    wheels = {name: find_wheel(name, version) for name, version in WHEELS.items()}
    results = []
    for name in names:
        if wheels[name]:
            results.append(bench_wheel(name, wheels[name], threads, goals))
        else:
            print(f"\n{name} {WHEELS[name]}: not available, skipped")
    if "torch" in names:
        results.append(bench_gpu(wheels, goals))
    with open(os.path.join(BUILD, "bench.json"), "w", encoding="utf-8") as file:
        json.dump({"threads": threads, "results": results}, file, indent=1)
    done = sum(len(result["goals"]) for result in results if result)
    print(f"\n{done - goals.missed} of {done} goals reached, on {threads} threads")
    sys.exit(0 if done else 1)


main()
