"""No stale device code: one input of a compile in parts changes at a time, chosen at random, and the object is compared
with nvcc's own: device code, host code and symbols.

gpu_parts_stale.py PROGRAM FOLDER TOOLKIT [ROUNDS [SEED]]"""
import os
import pathlib
import random
import re
import subprocess
import sys
import time

program, folder, toolkit = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 6
seed = int(sys.argv[5]) if len(sys.argv) > 5 else random.SystemRandom().randrange(1 << 32)
print("seed", seed, flush=True)
chance = random.Random(seed)

SOURCE = """#include "near.h"
#include <found.h>
#if __has_include(<maybe.h>)
#include <maybe.h>
#else
#define MAYBE 0
#endif
#if __CUDA_ARCH__ >= 900
#include "only90.h"
#define BELOW %d
#elif defined(__CUDA_ARCH__)
#define ONLY 0
#define BELOW %d
#else
#define HOST %d
#endif
#ifndef FLAG
#define FLAG 0
#endif
#ifdef __CUDA_ARCH__
__device__ int values[] = {NEAR, FOUND, MAYBE, ONLY, BELOW, FLAG, LINE};
#else
__device__ int values[7];
int host() { return HOST + NEAR + FLAG; }
#endif
namespace lib { inline namespace THRUST_1_SM_LIST_NS { static __device__ int inside = 1; } }
__global__ void k(int* p) { *p = values[*p] + lib::inside; asm volatile("// \\"R\\""); }
const char* text = R"(a
%s
b)";
void run(int* p) { k<<<1, 1>>>(p); }
"""


def number():
    return chance.randrange(3)


def write(name, text):
    pathlib.Path(name).write_text(text)


def toggle(name, text):
    path = pathlib.Path(name)
    if path.exists():
        path.unlink()
    else:
        path.write_text(text)


def tool(name):
    """A tool that gives itself another option: its digest counts."""
    real = os.path.realpath(toolkit / name)
    path = folder / "toolkit" / name
    path.unlink(missing_ok=True)
    option = f"-maxrregcount={32 + 8 * number()}" if name == "bin/ptxas" else f"-ftz={number() % 2}"
    path.write_text(f'#!/bin/sh\nexec {real} {option} "$@"\n')
    path.chmod(0o755)


def make_toolkit():
    """Links to the real one, and tools that can be replaced. nvcc finds everything beside itself."""
    for place in ["bin", "nvvm/bin"]:
        (folder / "toolkit" / place).mkdir(parents=True)
        for entry in (toolkit / place).iterdir():
            target = folder / "toolkit" / place / entry.name
            if place == "bin" and entry.name in ("nvcc", "nvcc.profile"):
                target.write_bytes(entry.read_bytes())
                target.chmod(0o755)
            else:
                target.symlink_to(entry)
    for entry in [*toolkit.iterdir(), *(toolkit / "nvvm").iterdir()]:
        target = folder / "toolkit" / entry.relative_to(toolkit)
        if not target.exists():
            target.symlink_to(entry)


folder.mkdir(parents=True)
os.chdir(folder)
make_toolkit()
for name in ["first", "second"]:
    pathlib.Path(name).mkdir()
state = {"archs": [80, 90], "flags": [], "order": ["first", "second"], "numbers": [1, 2, 3], "lines": 0, "text": "x"}
write("near.h", "#define NEAR 1\n#define LINE __LINE__\n")
write("second/found.h", "#define FOUND 1\n")
write("only90.h", "#define ONLY 1\n")
CHANGES = {
    "a macro below __CUDA_ARCH__": lambda: state["numbers"].__setitem__(chance.randrange(3), 10 + number()),
    "a header of one pass": lambda: write("only90.h", f"#define ONLY {number()}\n"),
    "a header of all passes": lambda: write("near.h", f"#define NEAR {number()}\n#define LINE __LINE__\n"),
    "a comment": lambda: write("second/found.h", f"// {number()}\n#define FOUND 1\n"),
    "lines": lambda: state.update(lines=number()),
    "a raw string": lambda: state.update(text="x\n\n" * number()),
    "earlier in the search": lambda: toggle("first/found.h", f"#define FOUND {10 + number()}\n"),
    "__has_include": lambda: toggle("second/maybe.h", f"#define MAYBE {number()}\n"),
    "order": lambda: chance.shuffle(state["order"]),
    "flag": lambda: state.update(flags=chance.choice([[], [f"-DFLAG={number()}"], ["-lineinfo"], ["-Xptxas", "-O1"], ["-ftz=true"], ["-g"], ["-rdc=true"]])),
    "host flag": lambda: state.update(flags=chance.choice([["-Xcompiler", "-fPIC"], ["-O1"]])),
    "architectures": lambda: state.update(archs=chance.choice([[80], [90], [80, 90], [80, 86]])),
    "ptxas": lambda: tool("bin/ptxas"),
    "cicc": lambda: tool("nvvm/bin/cicc"),
}


def facts(name):
    """What must be equal: names that nvcc makes up each time are left out."""
    found = {}
    for section in [".nv_fatbin", "__nv_relfatbin", ".text", ".rodata"]:
        subprocess.run(["objcopy", "-O", "binary", f"--only-section={section}", name, "section"], check=True)
        found[section] = pathlib.Path("section").read_bytes()
    text = subprocess.run(["nm", name], capture_output=True, text=True, check=True).stdout
    found["nm"] = re.sub(r"tmpxft_[0-9a-f]*_[0-9a-f]*-\d*_", "", text)
    return found


environment = {**os.environ, "PATH": f"{folder}/toolkit/bin:{os.environ['PATH']}"}
hits = parts = 0
for step in range(rounds):
    what = chance.choice(sorted(CHANGES)) if step > 0 else "nothing"
    if step > 0:
        CHANGES[what]()
    archs = state["archs"]
    source = SOURCE.replace("LIST", "_".join(f"{a}0" for a in archs)) % (*state["numbers"], state["text"])
    write("unit.cu", "\n" * state["lines"] + source)
    time.sleep(0.02)  # file times have the kernel clock's resolution
    codes = [word for a in archs for word in ("-gencode", f"arch=compute_{a},code=sm_{a}")]
    command = ["nvcc", "-std=c++17", *codes, *state["flags"], *("-I" + name for name in state["order"]), "-c", "unit.cu", "-o"]
    pathlib.Path("got.o").unlink(missing_ok=True)
    wanted = subprocess.run([*command, "wanted.o"], env=environment, capture_output=True, text=True)
    got = subprocess.run([program, "run", "--gpu-parts", "on", "--cache", "on", "--log", "record", "--", *command, "got.o"],
                         env=environment, capture_output=True, text=True)
    where = f"step {step}, after a change of {what}, seed {seed}, {' '.join(command)}"
    if wanted.returncode != got.returncode:
        sys.exit(f"{where}: exit status {got.returncode} instead of {wanted.returncode}: {got.stderr}{wanted.stderr}")
    if wanted.returncode == 0:
        ours, theirs = facts("got.o"), facts("wanted.o")
        for name, bytes_ in theirs.items():
            if ours[name] != bytes_:
                sys.exit(f"{where}: {name} differs: {got.stderr}")
    record = pathlib.Path("record").read_text()
    parts += sum(map(int, re.findall(r'"parts":(\d+)', record)))
    hits += sum(map(int, re.findall(r'"part_hits":(\d+)', record)))
print(f"{rounds} compiles of {parts} parts, {hits} from the cache, none of them stale")
if parts == 0:
    sys.exit("nothing was compiled in parts: this proves nothing")
