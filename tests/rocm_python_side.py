"""Proves the Python side of the ROCm packages in environments: rocm_python_side.py WORK WHEELS OTHER FAMILY [UV]

WHEELS and OTHER are folders with the packages of two releases in kpack mode (gfx942 and gfx1151), FAMILY one with those
of one family. Each `test_` function is a story of its own; its name is printed with the seconds that it took."""

import ast
import importlib.util
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile

WORK, WHEELS, OTHER, FAMILY = (os.path.abspath(path) for path in sys.argv[1:5])
UV = os.path.abspath(sys.argv[5]) if len(sys.argv) > 5 else ""
SEED = int(os.environ.get("ROCM_PYTHON_SEED") or random.SystemRandom().randrange(1 << 32))
ROUNDS = int(os.environ.get("ROCM_PYTHON_ROUNDS") or 12)
TOPOLOGY = os.path.join(WORK, "topology")
ALL = ["rocm", "rocm-sdk-core", "rocm-sdk-libraries", "rocm-sdk-devel", "rocm-profiler", "rocm-sdk-device-gfx942",
       "rocm-sdk-device-gfx1151"]  # fmt: skip


def version_of(wheels):
    name = next(name for name in os.listdir(wheels) if name.endswith(".tar.gz"))
    return re.fullmatch(r"rocm-(.*)\.tar\.gz", name).group(1)


def set_gpus(*numbers):
    """The driver's report: a processor without GPU, then one GPU for each number."""
    shutil.rmtree(TOPOLOGY, ignore_errors=True)
    for node, number in enumerate([0, *numbers]):
        os.makedirs(os.path.join(TOPOLOGY, str(node)))
        with open(os.path.join(TOPOLOGY, str(node), "properties"), "w") as file:
            file.write(f"cpu_cores_count 8\nsimd_count 4\ngfx_target_version {number}\nvendor_id 4098\n")


def environment(**more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ROCM_SDK", "PIP_", "VIRTUAL"))}
    kept.update(ROCM_SDK_TOPOLOGY=TOPOLOGY, UV_CACHE_DIR=os.path.join(WORK, "uv"), PIP_DISABLE_PIP_VERSION_CHECK="1", **more)
    return kept


def check(condition, *what):
    if not condition:
        raise AssertionError("\n".join(str(word) for word in what))


class Env:
    """A separate environment, with the installer under test."""

    count = 0

    def __init__(self, uv=False, wheels=WHEELS):
        Env.count += 1
        self.folder = os.path.join(WORK, f"env{Env.count}")
        self.uv, self.wheels = uv, wheels
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", self.folder], check=True)
        self.python = os.path.join(self.folder, "bin", "python")
        lib = os.path.join(self.folder, "lib")
        self.site = os.path.join(lib, os.listdir(lib)[0], "site-packages")
        self.root = os.path.join(self.site, "_rocm_sdk_devel")

    def run(self, *words, good=True, **variables):
        done = subprocess.run(
            [str(word) for word in words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            universal_newlines=True, env=environment(**variables), cwd=WORK, timeout=600, check=False
        )  # fmt: skip
        check(good is None or (done.returncode == 0) == good, f"{words} ended with {done.returncode}", done.stdout, done.stderr)
        return done

    def installer(self, verb, *words, good=True, **variables):
        if self.uv:
            return self.run(UV, "pip", verb, "-q", "--python", self.python, *words, good=good, **variables)
        pip = [sys.executable, "-m", "pip", "--python", self.python, verb, "-q"]
        return self.run(*pip, *(["-y"] if verb == "uninstall" else []), *words, good=good, **variables)

    def install(self, *words, wheels=None, good=True, **variables):
        more = [] if self.uv else ["--no-cache-dir"]
        if self.uv and "--force-reinstall" in words:
            words = ["--reinstall" if word == "--force-reinstall" else word for word in words]
        return self.installer("install", "--no-index", "--find-links", wheels or self.wheels, *more, *words, good=good, **variables)

    def uninstall(self, *names):
        self.installer("uninstall", *names)

    def sdk(self, *words, good=True, **variables):
        return self.run(self.python, "-P" if sys.version_info >= (3, 11) else "-s", "-m", "rocm_sdk", *words, good=good, **variables)

    def json(self, *words, good=True, **variables):
        value = json.loads(self.sdk(*words, "--json", good=good, **variables).stdout)
        check(value["schema"] == 1, value)
        return value

    def code(self, text, good=True, **variables):
        return self.run(self.python, "-c", text, good=good, **variables)

    def script(self, name, *words, good=True, **variables):
        return self.run(os.path.join(self.folder, "bin", name), *words, good=good, **variables)

    def rocm_names(self):
        """All ROCm packages in the environment."""
        names = [name for name in os.listdir(self.site) if "rocm" in name.lower()]
        return names + [name for name in os.listdir(os.path.join(self.folder, "bin")) if re.match("roc|hip|amd|offload", name)]

    def record(self, package):
        name = next(name for name in os.listdir(self.site) if name.startswith(package.replace("-", "_") + "-"))
        with open(os.path.join(self.site, name, "RECORD")) as file:
            return [line.rsplit(",", 2)[0] for line in file.read().splitlines()]

    def check_whole(self):
        """The devel tree has every member of the wheel's archive."""
        for name, kind in members(self.wheels).items():
            path = os.path.join(self.site, name)
            check(os.path.exists(path), f"{name} is missing")
            check(kind != "file" or not os.path.islink(path), f"{name} became a link")
        check(not [name for name in os.listdir(self.site) if name.endswith(".new")], "the scratch folder is still there")
        check(not os.path.exists(os.path.join(self.site, "rocm_sdk_devel", "_devel.tar")), "the archive is still there")
        recorded = {name for package in ALL if package not in ("rocm",) for name in self.try_record(package)}
        for folder, _, names in os.walk(self.root):
            for name in names:
                path = os.path.relpath(os.path.join(folder, name), self.site)
                check("__pycache__" in path or path in recorded, f"{path} is in no RECORD")

    def try_record(self, package):
        try:
            return self.record(package)
        except StopIteration:
            return []


_members = {}


def members(wheels):
    if wheels not in _members:
        wheel = next(name for name in os.listdir(wheels) if name.startswith("rocm_sdk_devel-"))
        with zipfile.ZipFile(os.path.join(wheels, wheel)) as file, file.open("rocm_sdk_devel/_devel.tar") as packed:
            with tarfile.open(fileobj=packed, mode="r|") as tar:
                _members[wheels] = {m.name: "link" if m.issym() else "file" for m in tar if not m.isdir()}
    return _members[wheels]


def installers():
    return [False, True] if UV else [False]


def test_everything():
    for uv in installers():
        env = Env(uv)
        env.install("rocm[libraries,devel,profiler,device-gfx942]")
        check(env.sdk("version").stdout.strip() == version_of(WHEELS))
        check(env.json("status")["devel"] == "not expanded yet", env.sdk("status").stdout)
        # Programs that inspect the machine do not wait for the devel package; compilers expand it.
        check("/_rocm_sdk_core/bin/rocminfo" in env.script("rocminfo").stdout)
        check(not os.path.exists(env.root), "rocminfo expanded the devel package")
        check("/_rocm_sdk_devel/bin/hipcc" in env.script("hipcc").stdout)
        check("/_rocm_sdk_devel/bin/rocminfo" in env.script("rocminfo").stdout)
        env.check_whole()
        check(env.sdk("path", "--root").stdout == env.root + "\n")
        check(env.sdk("path", "--cmake").stdout == env.root + "/lib/cmake\n")
        check(env.sdk("path", "--bin").stdout == env.root + "/bin\n")
        check(env.json("path", "--root")["cmake"] == env.root + "/lib/cmake")
        for name in "lib/libamdhip64.so", "lib/libamdhip64.so.7", "bin/hipcc":
            check(not os.path.islink(os.path.join(env.root, name)), f"{name} is a symbolic link")
        for name in "bin/hipcc", "lib/libamdhip64.so.7":
            check(os.path.samefile(os.path.join(env.root, name), os.path.join(env.site, "_rocm_sdk_core", name)))
        check(os.readlink(os.path.join(env.root, "bin/amdclang")) == "../lib/llvm/bin/amdclang")
        check(os.readlink(os.path.join(env.root, "llvm")) == "lib/llvm")
        check(os.readlink(os.path.join(env.root, "share/amd_smi/amdsmi/libamd_smi.so")) == "../../../lib/libamd_smi.so")
        done = env.sdk("test", good=None)
        check(done.returncode == 0 and "no problems found" in done.stdout, done.stdout, done.stderr)
        value = env.json("test")
        check(value["good"] and value["passed"] > 60 and set(value["parts"]) == {"base_test", "core_test", "libraries_test",
              "devel_test", "profiler_test"}, value)  # fmt: skip
        check(env.sdk("targets").stdout.strip() == "gfx942;gfx1151", env.sdk("targets").stdout)
        check(env.json("targets")["installed"] == ["gfx942"])
        env.script("rocprof-sys-run", "--version")
        # A library that finds another one only after that was loaded.
        lonely = os.path.join(env.site, "_rocm_sdk_core/lib/liblonely.so")
        hip = os.path.join(env.site, "_rocm_sdk_core/lib/libamdhip64.so.7")
        words = ["gcc", "-shared", "-fPIC", "-x", "c", "/dev/null", "-o", lonely, "-Wl,--no-as-needed", "-x", "none", hip]
        subprocess.run(words, check=True)
        value = env.json("test", good=False)
        check("liblonely.so" in json.dumps(value) and "libamdhip64.so.7" in json.dumps(value), value)
        os.unlink(lonely)
        env.uninstall(*[name for name in ALL if "gfx1151" not in name])
        check(env.rocm_names() == [], f"uninstalling left {env.rocm_names()}")


def test_uninstalled_in_any_order():
    rng = random.Random(SEED)
    names = ["rocm-sdk-libraries", "rocm-sdk-devel", "rocm-sdk-device-gfx942", "rocm-sdk-device-gfx1151", "rocm-sdk-core"]
    orders = list(itertools.permutations(names))
    for order in rng.sample(orders, 2):
        for uv in installers():
            env = Env(uv)
            env.install("rocm[libraries,devel,device-all]")
            env.sdk("init")
            env.check_whole()
            for name in order:
                env.uninstall(name)
            env.uninstall("rocm")
            check(env.rocm_names() == [], f"uninstalling {order} left {env.rocm_names()}")


def test_a_device_package_comes_and_goes():
    env = Env()
    env.install("rocm[libraries,devel,device-gfx942]")
    env.sdk("init")
    co = os.path.join(env.root, "lib/rocblas/library/Kernels_{}.co")
    check(os.path.exists(co.format("gfx942")) and not os.path.exists(co.format("gfx1151")))
    env.install("rocm-sdk-device-gfx1151")
    check(not os.path.exists(co.format("gfx1151")))
    env.sdk("path", "--root")
    check(os.path.samefile(co.format("gfx1151"), co.format("gfx1151").replace("_devel", "_libraries")))
    check("_rocm_sdk_devel/lib/rocblas/library/Kernels_gfx1151.co" in env.record("rocm-sdk-device-gfx1151"))
    before = env.record("rocm-sdk-device-gfx1151")
    env.sdk("init")
    check(env.record("rocm-sdk-device-gfx1151") == before, "a second time changes nothing")
    # The package replaces a foreign file.
    os.unlink(co.format("gfx1151"))
    os.symlink("/nonexistent", co.format("gfx1151"))
    env.sdk("init")
    check(os.path.samefile(co.format("gfx1151"), co.format("gfx1151").replace("_devel", "_libraries")))
    env.uninstall("rocm-sdk-device-gfx1151")
    check(not os.path.lexists(co.format("gfx1151")) and os.path.exists(co.format("gfx942")))
    env.uninstall("rocm-sdk-device-gfx942")
    env.code("import rocm_sdk; assert len(rocm_sdk.find_libraries('hipblas', 'miopen')) == 2; rocm_sdk.preload_libraries('hipblas')")
    check(env.json("test")["good"])
    # From another release: reported and skipped.
    env.install("--no-deps", f"rocm-sdk-device-gfx942=={version_of(OTHER)}", wheels=OTHER)
    done = env.sdk("init")
    check("does not match the release" in done.stderr, done.stderr)
    check(not os.path.exists(co.format("gfx942")))
    status = env.json("status", good=False)
    check([p["id"] for p in status["problems"]] == ["version"], status["problems"])
    check(status["problems"][0]["remedy"] == f"pip install rocm-sdk-device-gfx942=={version_of(WHEELS)}")


def test_eight_at_once():
    for words in (["init"], ["path", "--root"]):
        env = Env(bool(UV))
        env.install("rocm[libraries,devel,device-all]")
        command = [env.python, "-m", "rocm_sdk", *words]
        started = [
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(), cwd=WORK)
            for _ in range(8)
        ]
        said = [process.communicate(timeout=300)[0].decode() for process in started]
        check([process.returncode for process in started] == [0] * 8, *said)
        check(all(env.root in text for text in said), *said)
        env.check_whole()
        check(env.json("test")["good"])


class Expanding:
    """An environment whose devel package can be restored to its installed state."""

    def __init__(self):
        self.env = Env(bool(UV))
        self.env.install("rocm[libraries,devel,device-gfx942]")
        self.saved = os.path.join(WORK, "saved")
        shutil.copytree(self.env.site, self.saved, symlinks=True)

    def reset(self):
        shutil.rmtree(self.env.site)
        shutil.copytree(self.saved, self.env.site, symlinks=True)


def test_killed_in_the_middle():
    rng = random.Random(SEED)
    state = Expanding()
    env = state.env
    started = time.monotonic()
    env.sdk("init")
    whole = time.monotonic() - started
    seen = {"nothing": 0, "half": 0, "whole": 0}
    for round in range(ROUNDS):
        state.reset()
        process = subprocess.Popen([env.python, "-m", "rocm_sdk", "init", "--quiet"], env=environment(), cwd=WORK,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)  # fmt: skip
        time.sleep(rng.uniform(0.2, 1.1) * whole)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        half = os.path.exists(env.root + ".new")
        expanded = os.path.exists(os.path.join(env.root, ".devel_tree.json"))
        seen["half" if half else "whole" if expanded else "nothing"] += 1
        if expanded:
            for name in members(WHEELS):
                check(os.path.lexists(os.path.join(env.site, name)), f"round {round}: taken for whole without {name}")
        if round % 2 == 0:
            names = [name for name in ALL if name not in ("rocm-profiler", "rocm-sdk-device-gfx1151")]
            rng.shuffle(names)
            env.uv = bool(UV) and round % 4 == 0
            env.uninstall(*names)
            check(env.rocm_names() == [], f"round {round}: uninstalling {names} after the kill left {env.rocm_names()}")
        else:
            check(env.sdk("path", "--root").stdout == env.root + "\n")
            env.check_whole()
            check(os.path.exists(os.path.join(env.root, "lib/rocblas/library/Kernels_gfx942.co")), "no device code")
            check(env.json("init")["done"] == [], "the folder was not whole")
    check(seen["half"] > 0, f"no round was killed while the archive was being expanded: {seen}")
    return f"{seen}, {whole:.2f} s a whole one"


def test_leftovers():
    """Files of other tools or older packages are neither used nor in the way."""
    for uv in installers():
        env = Env(uv)
        env.install("rocm[libraries,devel]")
        os.makedirs(os.path.join(env.root, "include", "old"))
        for name in "include/old/old.h", "__init__.py", ".devel_reconcile.lock":
            with open(os.path.join(env.root, name), "w") as file:
                file.write("old\n")
        os.symlink("gone", os.path.join(env.root, "lib"))
        check(env.json("status")["devel"] == "not expanded yet")
        check("/_rocm_sdk_devel/bin/hipcc" in env.script("hipcc").stdout, "the leftover was used")
        env.check_whole()
        check(not os.path.exists(os.path.join(env.root, "include", "old")))
        env.uninstall("rocm-sdk-devel")
        check(not os.path.exists(env.root), "the devel package left its folder")
        check("/_rocm_sdk_core/bin/hipcc" in env.script("hipcc").stdout)
        env.install("rocm[devel]")
        check("/_rocm_sdk_devel/bin/hipcc" in env.script("hipcc").stdout)
        # Reinstalled while it is being expanded.
        env.install("--force-reinstall", "--no-deps", "rocm-sdk-devel")
        env.sdk("init")
        env.check_whole()
        # And the core: its files have changed, under the same names.
        env.install("--force-reinstall", "--no-deps", "rocm-sdk-core")
        env.sdk("init")
        check(os.path.samefile(env.root + "/bin/hipcc", env.site + "/_rocm_sdk_core/bin/hipcc"))


def test_damaged():
    env = Env()
    env.install("rocm[libraries,devel]")
    tar = os.path.join(env.site, "rocm_sdk_devel", "_devel.tar")
    with open(tar, "rb") as file:
        whole = file.read()
    cut = len(whole) // 2 // 512 * 512
    with open(tar, "wb") as file:
        file.write(whole[:cut])
    for words in ["path", "--root"], ["init"]:
        done = env.sdk(*words, good=False)
        check(f"{cut} bytes of {len(whole)}" in done.stderr and "pip install --force-reinstall" in done.stderr, done.stderr)
    check(not os.path.exists(env.root) and os.path.exists(tar))
    with open(tar, "wb") as file:
        file.write(whole)
    env.sdk("init")
    # A missing file is noticed by checks, and the suggested command restores it.
    os.unlink(os.path.join(env.root, "include/hipblas/hipblas.h"))
    done = env.sdk("init", good=False)
    check("include/hipblas/hipblas.h" in done.stderr, done.stderr)
    check("hipblas.h" in env.json("test", good=False)["failed"][0]["what"])
    env.install("--force-reinstall", "--no-deps", "rocm-sdk-devel")
    env.sdk("init")
    env.check_whole()
    # A missing link is recreated.
    os.unlink(os.path.join(env.root, "bin/hipcc"))
    env.sdk("init")
    env.check_whole()
    os.unlink(os.path.join(env.root, ".devel_tree.json"))
    check(env.json("status", good=False)["devel"] == "damaged")
    check("reinstall it" in env.sdk("path", "--root", good=False).stderr)


def test_links_that_cannot_be_made():
    fails = "import os, errno, runpy, sys\ndef no(*a, **k): raise OSError(errno.{}, 'no')\nos.{} = no\nsys.argv = ['rocm-sdk', 'init', '--json']\nrunpy.run_module('rocm_sdk', run_name='__main__')\n"
    env = Env()
    env.install("rocm[libraries,devel,device-gfx942]")
    done = env.code(fails.format("EPERM", "symlink"), good=False)
    check("cannot create the link" in done.stderr and "error" in json.loads(done.stdout), done.stderr)
    check(not os.path.exists(env.root) and not os.path.exists(env.root + ".new"), "a half folder was left")
    # Without hard links there are copies.
    done = env.code(fails.format("EXDEV", "link"))
    check("copies" in done.stdout, done.stdout)
    env.check_whole()
    check(not os.path.samefile(env.root + "/bin/hipcc", env.site + "/_rocm_sdk_core/bin/hipcc"))
    check(env.json("test")["good"])
    env.uninstall(*[name for name in ALL if name not in ("rocm-profiler", "rocm-sdk-device-gfx1151")])
    check(env.rocm_names() == [])
    # Another user's environment is read but not changed.
    env = Env()
    env.install("rocm[libraries,devel,device-gfx942]")
    env.sdk("init")
    look = "import os, errno, runpy, sys\nreal = os.open\ndef closed(path, flags, *a, **k):\n    if flags & os.O_RDWR: raise OSError(errno.EROFS, 'no')\n    return real(path, flags, *a, **k)\nos.open = closed\nsys.argv = ['rocm-sdk', 'init', '--json']\nrunpy.run_module('rocm_sdk', run_name='__main__')\n"
    check(json.loads(env.code(look).stdout)["done"] == [])
    # A full disk.
    env = Env()
    env.install("rocm[devel]")
    full = fails.format("ENOSPC", "rename")
    done = env.code(full, good=False)
    check("MB are free" in done.stderr, done.stderr)
    check(not os.path.exists(env.root) and not os.path.exists(env.root + ".new"))
    env.sdk("init")


def test_libraries_that_come_later():
    env = Env()
    env.install("rocm[devel]")
    env.sdk("path", "--root")
    library = os.path.join(env.root, "lib/libhipblas.so")
    check(not os.path.lexists(library))
    check(env.json("test")["parts"]["libraries_test"] == "not installed")
    env.install("rocm[libraries]")
    env.sdk("path", "--root")
    check(os.path.samefile(library, os.path.join(env.site, "_rocm_sdk_libraries/lib/libhipblas.so.3")))
    env.check_whole()
    env.uninstall("rocm-sdk-devel")
    check(not os.path.exists(env.root))


def test_what_is_missing_is_named():
    env = Env()
    env.install("rocm")
    version = version_of(WHEELS)
    done = env.sdk("path", "--root", good=False)
    check(f'pip install "rocm[devel]=={version}"' in done.stderr and done.stdout == "", done.stderr)
    check(f'pip install "rocm[devel]=={version}"' in env.json("path", "--root", good=False)["error"])
    check(env.sdk("path", "--core").stdout == env.site + "/_rocm_sdk_core\n")
    for names in "'hipblas'", "'amdhip64', 'hipblas'":
        done = env.code(f"import rocm_sdk; rocm_sdk.find_libraries({names})", good=False)
        check('ModuleNotFoundError: the library hipblas is in rocm-sdk-libraries' in done.stderr, done.stderr)
        check(f'pip install "rocm[libraries]=={version}"' in done.stderr, done.stderr)
    check("no library with the short name hipblass" in env.code("import rocm_sdk; rocm_sdk.find_libraries('hipblass')", good=False).stderr)
    check("is not in" in env.code("import rocm_sdk, os; p, = rocm_sdk.find_libraries('hipfile'); os.unlink(p); rocm_sdk.find_libraries('hipfile')", good=False).stderr)
    env.code("import rocm_sdk; assert rocm_sdk.find_libraries('rocdxg') == []; assert rocm_sdk.find_libraries('kpack') == rocm_sdk.find_libraries('rocm_kpack')")
    done = env.code("import rocm_sdk; rocm_sdk.initialize_process()", good=False, ROCM_SDK_PRELOAD_LIBRARIES="amdhip64;hipblas")
    check("RuntimeError: ROCM_SDK_PRELOAD_LIBRARIES=amdhip64;hipblas" in done.stderr, done.stderr)
    env.uninstall("rocm-sdk-core")
    status = env.json("status", good=False)
    check(status["problems"][0]["remedy"] == f'pip install "rocm=={version}"', status)
    check("rocm-sdk-core is not installed" in env.sdk("targets", good=False).stderr)


def test_versions():
    env = Env()
    env.install("rocm")
    words = "The program was compiled against a ROCm version matching"
    call = "import re, warnings, rocm_sdk; rocm_sdk.initialize_process(check_version={}, fail_on_version_mismatch={})"
    version = version_of(WHEELS)
    for wanted in repr(version), "'*'", f"'{version[:3]}*'", "re.compile('.+')", "None":
        check(words not in env.code(call.format(wanted, True)).stderr)
    for wanted in "'1.0'", "re.compile('1')", f"'{version[:-1]}'", "''", "'.*'":
        done = env.code(call.format(wanted, True), good=False)
        check("RuntimeError: " + words in done.stderr and version in done.stderr, done.stderr)
        check("UserWarning: " + words in env.code(call.format(wanted, False)).stderr)
    # As torch's _rocm_init.py calls it.
    env.code(f"import rocm_sdk; rocm_sdk.initialize_process(preload_shortnames=['amdhip64', 'rocm_sysdeps_liblzma', 'rocm-openblas'], check_version='{version}'); assert list(rocm_sdk._ALL_CDLLS) == ['amdhip64', 'rocm_sysdeps_liblzma', 'rocm-openblas']")


def test_gpus():
    env = Env()
    set_gpus(90402)
    env.install("rocm[libraries,device]")
    check(env.json("status")["device_targets"] == ["gfx942"])
    check(env.json("status")["gpus"] == ["gfx942"])
    # Another GPU: named, with the fix.
    set_gpus(110501)
    status = env.json("status", good=False)
    check(status["problems"] == [{"id": "gpu", "what": "no device code for the GPU gfx1151 of this machine is installed",
          "remedy": f'pip install "rocm[device-gfx1151]=={version_of(WHEELS)}"', "bad": True}], status)  # fmt: skip
    check("no device code for the GPU gfx1151 of this machine is installed" in env.sdk("test", good=False).stdout)
    # Beside a supported GPU it is a note.
    set_gpus(90402, 90402, 110501)
    check(env.json("status")["problems"][0]["bad"] is False)
    check("note: no device code for the GPU gfx1151" in env.sdk("test").stdout)
    # A GPU unknown to the release.
    set_gpus(90010)
    status = env.json("status", good=False)
    check(status["gpus"] == ["gfx90a"] and "it has gfx1151, gfx942" in status["problems"][0]["remedy"], status)
    check(status["target"] == "gfx1151", "the default")
    set_gpus()


def test_target_choice():
    env = Env()
    env.install("rocm")
    ask = "from rocm_sdk import _dist_info as d; print(d.determine_target_family(), d.selected_targets())"
    for gpus, variable, expected in (
        ([], "", "gfx1151 ['gfx1151']"),
        ([90402], "", "gfx942 ['gfx942']"),
        ([90402, 110501, 90402], "", "gfx942 ['gfx942', 'gfx1151']"),
        ([100306], "", "gfx1151 ['gfx1151']"),
        ([90402], "gfx1151", "gfx1151 ['gfx1151']"),
        ([], "gfx94X-dcgpu", "gfx942 ['gfx942']"),
        ([], "gfx942:xnack+", "gfx942 ['gfx942']"),
        ([], "gfx942;gfx1151", "gfx942 ['gfx942', 'gfx1151']"),
    ):
        set_gpus(*gpus)
        said = env.code(ask, ROCM_SDK_TARGET_FAMILY=variable).stdout.strip()
        check(said == expected, f"{gpus} {variable!r}: {said}, not {expected}")
    done = env.code(ask, good=False, ROCM_SDK_TARGET_FAMILY="gfx90a")
    check("ValueError: ROCM_SDK_TARGET_FAMILY=gfx90a: this release has no package for gfx90a" in done.stderr, done.stderr)
    set_gpus(100306)
    check("no code for the GPU gfx1036" in env.code(ask, ROCM_SDK_VERBOSE="1").stderr)
    names = "for n in (90402, 90010, 110501, 90008, 100306, 120001, 90012, 90500): print(d.target_of_version(n))"
    said = env.code("from rocm_sdk import _dist_info as d\n" + names).stdout.split()
    check(said == "gfx942 gfx90a gfx1151 gfx908 gfx1036 gfx1201 gfx90c gfx950".split(), said)
    set_gpus()


def test_family_mode():
    for uv in installers():
        env = Env(uv, FAMILY)
        set_gpus()
        env.install("rocm[libraries,devel,device]")
        status = env.json("status")
        check([p["name"] for p in status["packages"]] == ["rocm", "rocm-sdk-core", "rocm-sdk-devel", "rocm-sdk-libraries-gfx94X-dcgpu"], status)
        check("_devel.tar.xz" in os.listdir(os.path.join(env.site, "rocm_sdk_devel")), "this one is packed")
        check(env.json("test")["good"])
        check("_devel.tar.xz" not in os.listdir(os.path.join(env.site, "rocm_sdk_devel")))
        check(os.path.isfile(os.path.join(env.site, "_rocm_sdk_libraries_gfx94X_dcgpu/lib/libhipblas.so.3")))
        set_gpus(110501)
        check("index of the family" in env.json("status", good=False)["problems"][0]["remedy"])
        set_gpus(90402)
        check(env.json("status")["problems"] == [])
        env.uninstall("rocm", "rocm-sdk-core", "rocm-sdk-devel", "rocm-sdk-libraries-gfx94X-dcgpu")
        check(env.rocm_names() == [], env.rocm_names())
        set_gpus()


def test_the_selector_source():
    """Our backend, setuptools and PKG-INFO agree in every mode."""
    for wheels in WHEELS, FAMILY:
        version = version_of(wheels)
        folder = os.path.join(WORK, "selector")
        shutil.rmtree(folder, ignore_errors=True)
        with tarfile.open(os.path.join(wheels, f"rocm-{version}.tar.gz")) as tar:
            check(all(m.isfile() and m.mtime == 0 and m.name.startswith(f"rocm-{version}/") for m in tar.getmembers()))
            tar.extractall(folder)
        root = os.path.join(folder, f"rocm-{version}")
        subprocess.run([sys.executable, "-c", f"import rocm_selector as s; s.prepare_metadata_for_build_wheel({folder!r})"],
                       cwd=root, env=environment(), check=True)  # fmt: skip
        with open(os.path.join(folder, f"rocm-{version}.dist-info", "METADATA")) as file:
            ours = file.read()
        with open(os.path.join(root, "PKG-INFO")) as file:
            packed = file.read()
        check(ours == packed.replace("Dynamic: Requires-Dist\n", ""), "METADATA and PKG-INFO", ours, packed)
        check(("Dynamic:" in packed) == (wheels == WHEELS))
        with open(os.path.join(root, "src/rocm.egg-info/requires.txt")) as file:
            listed = file.read()
        if importlib.util.find_spec("setuptools") is None:
            continue
        shutil.rmtree(os.path.join(root, "src/rocm.egg-info"))
        subprocess.run([sys.executable, "setup.py", "-q", "egg_info"], cwd=root, env=environment(), check=True, stderr=subprocess.DEVNULL)
        with open(os.path.join(root, "src/rocm.egg-info/requires.txt")) as file:
            text = file.read()

        def sections(text):
            return {part.partition("\n")[0]: part.split()[1:] for part in ("[]\n" + text).split("\n\n")}

        check(sections(listed) == sections(text), listed, text)


def test_names_that_others_use():
    env = Env()
    env.install("rocm[libraries,devel,profiler]")
    env.code("""
import importlib, inspect
import rocm_sdk
from rocm_sdk import _dist_info as di, _devel
from rocm_sdk.tests import utils, base_test, core_test, libraries_test, devel_test, profiler_test
for name in "core libraries devel profiler".split():
    entry = di.ALL_PACKAGES[name]
    module = entry.get_py_package_name(target_family=di.determine_target_family())
    assert entry.get_dist_package_require().endswith("==" + di.__version__)
    assert entry.has_py_package(None) == (name != "devel"), name
    if name != "devel":
        utils.assert_is_physical_package(importlib.import_module(module))
        assert utils.get_module_shared_libraries(importlib.import_module(module))
root = _devel.get_devel_root()
utils.assert_is_physical_package(importlib.import_module("_rocm_sdk_devel"))
assert di.ALL_PACKAGES["devel"].has_py_package()
assert di.ALL_PACKAGES["core"].get_py_package().origin
assert utils.exec is utils.run_command and utils.get_python_cmd() and utils.find_console_script("hipcc")
assert utils.find_console_script("nothing-of-this-name") is None
assert not utils.is_windows and utils.exe_suffix == ""
entry = di.ALL_LIBRARIES["rocm_sysdeps_liblzma"]
assert (entry.package.logical_name, entry.posix_relpath, entry.shortname) == ("core", "lib/rocm_sysdeps/lib", "rocm_sysdeps_liblzma")
assert di.discover_current_target_family() is None
assert di.THIS_PACKAGE_ENTRY is di.ALL_PACKAGES["meta"] and di.THIS_TARGET_FAMILY is None and di.PY_PACKAGE_SUFFIX_NONCE == ""
for name in "rocm_sdk_core rocm_sdk_libraries rocm_sdk_devel rocm_profiler".split():
    assert importlib.import_module(name).__version__ == rocm_sdk.__version__
""")


def test_python_of_all_packages():
    """Every Python file works with the oldest declared version; no name is unused or undefined."""
    folder = os.path.join(WORK, "lint")
    for name in os.listdir(WHEELS):
        if name.endswith(".whl"):
            with zipfile.ZipFile(os.path.join(WHEELS, name)) as file:
                file.extractall(folder, [m for m in file.namelist() if re.match(r"rocm_\w+/.*\.py$", m)])
        else:
            with tarfile.open(os.path.join(WHEELS, name)) as tar:
                tar.extractall(folder, [m for m in tar.getmembers() if m.name.endswith(".py")])
    paths = [os.path.join(place, name) for place, _, names in os.walk(folder) for name in names]
    check(len(paths) > 20, paths)
    for path in paths:
        with open(path, encoding="utf-8") as file:
            ast.parse(file.read(), path, feature_version=(3, 8))
    subprocess.run([sys.executable, "-W", "error", "-m", "compileall", "-q", folder], check=True)
    if subprocess.run([sys.executable, "-m", "pyflakes", "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0:
        subprocess.run([sys.executable, "-m", "pyflakes", folder], check=True)
        return "with pyflakes"


def main():
    print(f"seed {SEED}", flush=True)
    set_gpus()
    only = os.environ.get("ROCM_PYTHON_ONLY", "")
    for name, function in list(globals().items()):
        if not name.startswith("test_") or only not in name:
            continue
        started = time.monotonic()
        said = function()
        print(f"{name}: {time.monotonic() - started:.1f} s {said or ''}", flush=True)


main()
