"""Judges what a hostile package got: python3 judge.py WHEELSMITH FOLDER MODE.

Plants secrets, listeners and a canary, builds an honest package, then the hostile one (its prepare command, build script and
import test all attack), then the honest one again with an empty store of results. Looks from outside at everything that the
package was after.
"""

import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import threading

wheelsmith, root, mode = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3]
here = pathlib.Path(__file__).parent
problems = []


def expect(condition, what):
    if not condition:
        problems.append(what)


def digests(folder):
    result = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            result[str(path.relative_to(folder))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return result


root.mkdir(parents=True)
home = root / "home"
(home / ".ssh").mkdir(parents=True)
(home / ".ssh" / "id_secret").write_text("secret\n")
store = root / "store"
contacts = []


def listen(family, kind, address):
    server = socket.socket(family, kind)
    server.bind(address)
    if kind == socket.SOCK_STREAM:
        server.listen()

    def serve():
        while True:
            try:
                if kind == socket.SOCK_STREAM:
                    server.accept()
                else:
                    server.recvfrom(100)
                contacts.append(str(address))
            except OSError:
                return

    threading.Thread(target=serve, daemon=True).start()
    return server


tcp = listen(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
udp = listen(socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
try:
    tcp6 = listen(socket.AF_INET6, socket.SOCK_STREAM, ("::1", 0)).getsockname()[1]
except OSError:
    tcp6 = 1
local = str(root / "local.sock")
listen(socket.AF_UNIX, socket.SOCK_STREAM, local)
abstract = f"wheelsmith-judge-{os.getpid()}"
listen(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + abstract)
canary = subprocess.Popen(["bash", "-c", "exec -a canary sleep 600"],
                          env={**os.environ, "JUDGE_PASSWORD": "secret"})

work = root / "work"
work.mkdir()
environment = {name: value for name, value in os.environ.items() if not name.startswith("WHEELSMITH_")}
environment.update(HOME=str(home), WHEELSMITH_STORE=str(store), WHEELSMITH_RECIPES=str(root / "recipes"),
                   WHEELSMITH_OUT=str(root / "wheelhouse"), JUDGE_PASSWORD="secret", XDG_CONFIG_HOME=str(root / "config"))
recipes = root / "recipes"
recipes.mkdir()
honest = recipes / "honest"
(honest / "honest").mkdir(parents=True)
(honest / "pyproject.toml").write_text((here / "package/pyproject.toml").read_text().replace("hostile", "honest"))
(honest / "setup.py").write_text("from setuptools import Extension, setup\n"
                                 "setup(packages=['honest'], ext_modules=[Extension('honest._c', ['c.c'])])\n")
(honest / "honest/__init__.py").write_text("from . import _c\n")
(honest / "c.c").write_text("""#include <Python.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_c", 0, -1, 0};
PyMODINIT_FUNC PyInit__c(void) { return PyModule_Create(&module); }
""")


def recipe(name, more=""):
    (recipes / f"{name}.toml").write_text(f"""name = "{name}"
summary = "for a test"
[source]
folder = "{name}"
[build]
requires = ["setuptools==80.9.0"]
{more}
[variant.cpu]
""")


def build(name, *more):
    done = subprocess.run([wheelsmith, "build", name, "--sandbox", mode, "--json", *more], cwd=work, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=500)
    try:
        step = json.loads(done.stdout)["steps"][0]
    except (ValueError, LookupError, KeyError):
        raise SystemExit(f"{name}: no answer: {done.stdout}\n{done.stderr}")
    log = pathlib.Path(step["log"]).read_text() if step.get("log") else ""
    return done.returncode, step, log


recipe("honest", '[[test]]\nimports = ["honest"]\n')
status, step, log = build("honest")
expect(status == 0, f"the honest package is not built at first: {step.get('cause')}\n{log[-2000:]}")
first = pathlib.Path(step["wheel"]).read_bytes() if status == 0 else b""
blob = next((str(path) for path in (store / "blobs").rglob("*") if path.is_file()), "")
caches = [str(path) for path in (store / "objects").glob("honest*")] or [str(store / "objects")]
other_tree = store / "trees" / "somebody-elses"
other_tree.mkdir(parents=True)
(other_tree / "file").write_text("secret\n")

package = recipes / "hostile"
shutil.copytree(here / "package", package)
skip = []
if mode == "landlock":
    # docs/security.md says so: Landlock hides neither processes nor sockets with a name in the file system, and knows no limit
    # for root's processes.
    skip = ["see_processes", "local_socket", "fork_without_end"]
(package / "targets.json").write_text(json.dumps({
    "secret": str(home / ".ssh/id_secret"), "store": str(store), "blob": blob, "cache": caches[0],
    "other_tree": str(other_tree), "canary": canary.pid, "tcp": tcp.getsockname()[1], "udp": udp.getsockname()[1], "tcp6": tcp6,
    "socket": local, "abstract": abstract, "record": str(home / "record"), "skip": skip}))
(package / "hostile/attack.py").write_text((package / "attack.py").read_text())
(package / "hostile/targets.json").write_text((package / "targets.json").read_text())
recipe("hostile", '''[[build.prepare]]
command = ["{python}", "attack.py", "prepare"]
why = "it is hostile"
[[test]]
name = "attack"
script = "import hostile.attack as a; a.run('test')"
[[test]]
name = "next"
command = ["attack.py", "next"]
files = ["attack.py", "targets.json"]
''')
kept = {name: digests(store / name) for name in ("blobs", "steps", "envs") if (store / name).is_dir()}
cache_before = digests(pathlib.Path(caches[0]))
status, step, log = build("hostile")
answers = re.findall(r"ATTEMPTS (\w+) (\d+) GOT (\[.*\])", log)
expect({phase for phase, _, _ in answers} == {"prepare", "build", "test", "next"}, f"not all phases attacked: {answers} {step.get('cause')}\n{log[-3000:]}")
for phase, count, got in answers:
    expect(json.loads(got) == [], f"{phase}: it got {got} of {count} attempts")
    expect(int(count) > 40, f"{phase}: only {count} attempts")
for name, before in kept.items():
    after = digests(store / name)
    changed = [path for path, digest in before.items() if after.get(path) != digest and not path.endswith(".pyc")]
    expect(not changed, f"{name} of the store changed: {changed[:5]}")
expect(digests(pathlib.Path(caches[0])).items() >= {k: v for k, v in cache_before.items() if "stats" not in k and "lock" not in k}.items(),
       "the compile cache of another package changed")
expect([] == contacts or contacts == ([local] * len(contacts) if "local_socket" in skip else []), f"it reached {set(contacts)}")
expect(canary.poll() is None, "the canary is dead")
expect(sorted(path.name for path in (home / ".ssh").iterdir()) == ["id_secret"], "something was written to the home folder")
expect(sorted(path.name for path in home.iterdir() if path.name not in (".cache", ".rustup")) == [".ssh"], f"the home folder holds {list(home.iterdir())}")
left = subprocess.run(["pgrep", "-f", str(package)], stdout=subprocess.PIPE, text=True).stdout.split()
expect(not left, f"processes are left: {left}")

verified = subprocess.run([wheelsmith, "store", "verify"], cwd=work, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
expect(verified.returncode == 0, f"store verify: {verified.stdout}")
status, step, log = build("honest")
expect(status == 0 and step["outcome"] == "cached", f"the honest package is not in the store any more: {step['outcome']}")
for path in (store / "steps").rglob("*"):
    if path.is_file():
        path.unlink()
shutil.rmtree(root / "wheelhouse")
status, step, log = build("honest")
expect(status == 0 and step["outcome"] == "built", f"the honest package is not built again: {step.get('cause')}")
expect(status == 0 and pathlib.Path(step["wheel"]).read_bytes() == first, "the honest package is another one now")
canary.kill()
if problems:
    print("\n".join(problems))
    sys.exit(1)
print("nothing was got:", ", ".join(f"{phase} {count}" for phase, count, _ in answers))
