"""Benchmark of `diagnose`: throughput and memory on 100 MB of healthy log, against `grep -c` of one pattern, in one run.

    bench/diagnose.py

The log is typical output of a successful build with ninja, pip and setuptools: long compiler commands, progress, copied files, warnings.
Goals: at least 200 MB/s of CPU time beyond the start (reading the knowledge), peak memory under 50 MB.
"""
import os
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WHEELSMITH = os.environ.get("WHEELSMITH") or os.path.join(ROOT, "build", "wheelsmith")
SIZE = 100_000_000


def healthy_log(path):
    with open(path, "w") as log:
        written = number = 0
        while written < SIZE:
            number += 1
            text = (
                f"[{number % 900}/900] /usr/local/cuda/bin/nvcc --generate-dependencies-with-compile --dependency-output unit_{number}.o.d "
                f"-I/opt/src/package/csrc -I/opt/src/package/third_party/include -I/usr/lib/python3.11/site-packages/torch/include "
                f"-c -c /opt/src/package/csrc/unit_{number}.cu -o build/temp/unit_{number}.o -D__CUDA_NO_HALF_OPERATORS__ "
                f"--expt-relaxed-constexpr -O3 -std=c++17 -gencode arch=compute_90,code=sm_90 -DTORCH_EXTENSION_NAME=_C\n"
                f"copying build/lib.linux-x86_64-cpython-311/package/module_{number}.py -> build/bdist.linux-x86_64/wheel/package\n"
                f"  Building CXX object CMakeFiles/package.dir/csrc/unit_{number}.cc.o\n"
                f"csrc/unit_{number}.cu(42): warning #177-D: variable \"x\" was declared but never referenced\n"
                f"ptxas info    : Used {number % 255} registers, 400 bytes cmem[0]\n"
            )
            log.write(text)
            written += len(text)


def cpu_of(command, runs=3):
    """The lowest CPU time of several runs, and the largest resident set."""
    best, peak = float("inf"), 0
    for _ in range(runs):
        pid = os.fork()
        if pid == 0:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.execvp(command[0], command)
        _, status, usage = os.wait4(pid, 0)
        best = min(best, usage.ru_utime + usage.ru_stime)
        peak = max(peak, usage.ru_maxrss * 1024)
    return best, peak


def main():
    with tempfile.TemporaryDirectory() as folder:
        log, empty = os.path.join(folder, "healthy.log"), os.path.join(folder, "empty.log")
        healthy_log(log)
        open(empty, "w").close()
        start, _ = cpu_of([WHEELSMITH, "diagnose", empty])
        ours, peak = cpu_of([WHEELSMITH, "diagnose", log])
        grep, _ = cpu_of(["grep", "-c", "Killed signal terminated program", log])
        plain, _ = cpu_of(["grep", "-cE", "error: .*undeclared|No space left on device", log])
    speed = SIZE / 1e6 / (ours - start)
    print(f"  start (load and compile knowledge)          {start * 1000:8.0f} ms")
    print(f"  diagnose of 100 MB                         {ours:8.3f} s CPU")
    print(f"  grep -c of one fixed text                  {grep:8.3f} s CPU   ratio {ours / grep:6.1f}")
    print(f"  grep -cE of two alternatives               {plain:8.3f} s CPU   ratio {ours / plain:6.1f}")
    for what, value, goal, holds in [
        ("throughput beyond the start, MB/s", speed, ">= 200", speed >= 200),
        ("peak memory, MB", peak / 1e6, "< 50", peak < 50e6),
    ]:
        print(f"  {'ok    ' if holds else 'MISSED'} {what:<40} {value:8.1f}  (goal {goal})")


main()
