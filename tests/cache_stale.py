"""No stale hit: one input of a compile changes at a time, chosen at random, and the object that the cache delivers is
compared with what the compiler makes by itself.

cache_stale.py PROGRAM FOLDER [ROUNDS [SEED]]"""
import os
import pathlib
import random
import subprocess
import sys
import time

program, folder = sys.argv[1], pathlib.Path(sys.argv[2])
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 40
seed = int(sys.argv[4]) if len(sys.argv) > 4 else random.SystemRandom().randrange(1 << 32)
print("seed", seed, flush=True)
chance = random.Random(seed)

SOURCE = """#include "near.h"
#include <found.h>
#if __has_include(<maybe.h>)
#include <maybe.h>
#else
#define MAYBE 0
#endif
#if __has_include("beside.h")
#define BESIDE 1
#else
#define BESIDE 0
#endif
#ifdef FLAG
int flag = FLAG;
#endif
int values[] = {NEAR, FOUND, MAYBE, BESIDE, EXTRA};
const char* when = __DATE__ __TIME__;
"""
folder.mkdir(parents=True)
os.chdir(folder)
for name in ["first", "second", "third", "more"]:
    pathlib.Path(name).mkdir()
pathlib.Path("unit.c").write_text(SOURCE)
pathlib.Path("near.h").write_text("#define NEAR 1\n")
pathlib.Path("second/found.h").write_text("#define FOUND 1\n#include <inner.h>\n")
pathlib.Path("third/inner.h").write_text("#define EXTRA 1\n")
state = {"flags": ["-O1"], "order": ["first", "second", "third"], "epoch": "1000000000", "cpath": "", "compiler": 0}


def number():
    return chance.randrange(5)


def write(name, text):
    pathlib.Path(name).write_text(text)


def toggle(name, text):
    path = pathlib.Path(name)
    if path.exists():
        path.unlink()
    else:
        path.write_text(text)


def change_compiler():
    state["compiler"] = number()
    pathlib.Path("bin").mkdir(exist_ok=True)
    pathlib.Path("bin/gcc").write_text(f'#!/bin/sh\nexec /usr/bin/gcc -DCOMPILER={state["compiler"]} "$@"\n')
    pathlib.Path("bin/gcc").chmod(0o755)


CHANGES = {
    "near.h": lambda: write("near.h", f"#define NEAR {number()}\n"),
    "found.h": lambda: write("second/found.h", f"#define FOUND {number()}\n#include <inner.h>\n"),
    "inner.h": lambda: write("third/inner.h", f"#define EXTRA {number()}\n"),
    "source": lambda: write("unit.c", SOURCE + f"int more{number()};\n"),
    "earlier in the search": lambda: toggle("first/found.h", f"#define FOUND {10 + number()}\n#include <inner.h>\n"),
    "earlier, of a header": lambda: toggle("first/inner.h", f"#define EXTRA {10 + number()}\n"),
    "beside a header": lambda: toggle("second/near.h", "#define NEAR 99\n"),
    "__has_include": lambda: toggle("third/maybe.h", f"#define MAYBE {number()}\n"),
    "__has_include by a variable": lambda: toggle("more/maybe.h", f"#define MAYBE {20 + number()}\n"),
    "__has_include beside": lambda: toggle("beside.h", ""),
    "flag": lambda: state.update(flags=["-O%d" % chance.randrange(3)] + chance.choice([[], ["-DFLAG=%d" % number()], ["-g"]])),
    "order": lambda: chance.shuffle(state["order"]),
    "epoch": lambda: state.update(epoch=str(1_000_000_000 + 86_400 * number())),
    "CPATH": lambda: state.update(cpath=chance.choice(["", str(folder / "more")])),
    "compiler": change_compiler,
    "nothing": lambda: None,
}
hits = 0
change_compiler()
for step in range(rounds):
    what = chance.choice(sorted(CHANGES))
    CHANGES[what]()
    time.sleep(0.02)  # file times have the kernel clock's resolution
    command = ["gcc", *state["flags"], *("-I" + name for name in state["order"]), "-c", "unit.c", "-o"]
    environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "SOURCE_DATE_EPOCH": state["epoch"]}
    environment.pop("CPATH", None)
    if state["cpath"]:
        environment["CPATH"] = state["cpath"]
    wanted = subprocess.run([*command, "wanted.o"], env=environment, capture_output=True, text=True)
    pathlib.Path("got.o").unlink(missing_ok=True)
    got = subprocess.run(
        [program, "run", "--cache", "on", "--", *command, "got.o"], env=environment, capture_output=True, text=True
    )
    where = f"step {step}, after a change of {what}, seed {seed}"
    if wanted.returncode != got.returncode:
        sys.exit(f"{where}: exit status {got.returncode} instead of {wanted.returncode}: {got.stderr}{wanted.stderr}")
    if wanted.returncode == 0 and pathlib.Path("got.o").read_bytes() != pathlib.Path("wanted.o").read_bytes():
        sys.exit(f"{where}: a stale object: {got.stderr}")
    hits += "1 of 1 from the cache" in got.stderr
print(f"{rounds} compiles, {hits} hits, none of them stale")
if hits == 0:
    sys.exit("nothing came from the cache: this proves nothing")
