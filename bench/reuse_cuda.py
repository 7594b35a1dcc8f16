#!/usr/bin/env python3
"""Benchmark of reuse for CUDA: one architecture more, against compiling that one alone and against rivals.

    bench/reuse_cuda.py [ROW…]           default: all rows whose tools are here

  scatter   torch-scatter's segment_coo_cuda.cu: sm_80 compiled before, sm_90 added, against compiling sm_90 alone.
            ccache (PATH) and sccache (the package index) do the same.
  flash     some units of flash-attn: sm_80 first, then 8.0;9.0, against compiling sm_90 alone; entries and digests of
            the device code must be those of plain nvcc. FLASH_UNITS=flash_fwd_hdim32_fp16_sm80,…

Sources come from sdists, headers from the wheels of torch and of CUDA's libraries, all by `pip download` as pip is
configured; CACHE=folder keeps them (default: build/bench-reuse-cuda). nvcc must be in PATH. Prints wall and CPU seconds and
ratios, writes build/bench-reuse-cuda.json, and exits with 1 if a goal is missed: at most 1.1 times the wall time, and equal
device code. Other work on the machine changes the wall seconds; CPU seconds hardly.
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

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
WHEELSMITH = os.environ.get("WHEELSMITH") or os.path.join(ROOT, "build/wheelsmith")
CACHE = os.path.abspath(os.environ.get("CACHE") or os.path.join(ROOT, "build/bench-reuse-cuda"))
TORCH = "torch==2.13.0"
# As torch's BuildExtension defines them; flash-attn undefines them.
NO_OPERATORS = ["__CUDA_NO_HALF_OPERATORS__", "__CUDA_NO_HALF_CONVERSIONS__", "__CUDA_NO_BFLOAT16_CONVERSIONS__", "__CUDA_NO_HALF2_OPERATORS__"]
UNITS = (os.environ.get("FLASH_UNITS") or "flash_fwd_hdim32_fp16_causal_sm80").split(",")


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


class Ways:
    """Ways to compile: plain, by wheelsmith, and by its rivals, each with a store of its own."""

    def __init__(self, base):
        self.base = base
        self.environment = {name: value for name, value in os.environ.items() if not name.startswith(("WHEELSMITH", "CCACHE", "SCCACHE"))}
        self.environment.update(WHEELSMITH_STORE=f"{base}/store", CCACHE_DIR=f"{base}/ccache", SCCACHE_DIR=f"{base}/sccache",
                                SCCACHE_SERVER_PORT="47311", SCCACHE_IDLE_TIMEOUT="0")
        self.ways = {"nvcc": [], "wheelsmith": [WHEELSMITH, "run", "--quiet", "--gpu-parts", "on", "--cache", "on", "--"]}
        if shutil.which("ccache"):
            self.ways["ccache"] = ["ccache"]
        if os.environ.get("RIVALS", "on") == "on":
            place = headers_of("sccache", "")
            program = glob.glob(f"{place}/*/scripts/sccache")
            if program:
                os.chmod(program[0], 0o755)
                self.ways["sccache"] = [program[0]]
        else:
            self.ways.pop("ccache", None)

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
    rows = {"alone": ways.compile("nvcc", source, [90], flags, f"{ways.base}/alone.o")}
    plain = f"{ways.base}/plain.o"
    rows["both"] = ways.compile("nvcc", source, [80, 90], flags, plain)
    for way in ways.ways:
        if way == "nvcc":
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
    return [(f"{folder}/csrc/flash_attn/src/{unit}.cu", flags) for unit in UNITS]


def main():
    rows = {"scatter": scatter, "flash": flash}
    wanted = sys.argv[1:] or (list(rows) if shutil.which("nvcc") else [])
    os.makedirs(CACHE, exist_ok=True)
    results, good = {}, True
    for name in wanted:
        for source, flags in rows[name]():
            print(f"{name}: {os.path.basename(source)}", flush=True)
            base = tempfile.mkdtemp(prefix="bench-reuse-")
            ways = Ways(base)
            try:
                result = results[os.path.basename(source)] = add_an_architecture(ways, source, flags)
            finally:
                ways.end()
                shutil.rmtree(base, ignore_errors=True)
            good = good and result["equal"] and result["wall ratio"] <= 1.1
            with open(f"{ROOT}/build/bench-reuse-cuda.json", "w", encoding="utf-8") as file:
                json.dump(results, file, indent=1)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
