"""Artifacts of a complete but nearly empty ROCm: rocm_python_sdk.py OUT kpack|family TARGET…

Every library and every command that the Python side knows by name: libraries of one function, programs of a few lines of
shell. In kpack mode a target is an ISA with device code of its own; else a family, with the device code in the libraries."""

import json
import os
import subprocess
import sys

CORE_LIBRARIES = """amdhip64.so.7 hipfile.so.0 hiprtc.so.7 roctx64.so.4 rocprofiler-sdk.so.1 rocprofiler-sdk-roctx.so.1 roctracer64.so.4
amd_comgr.so.3 rocm_kpack.so.0 rocm_smi64.so.1 rocdecode.so.1 rocjpeg.so.1 amd_smi.so.26""".split()
LIBRARIES = """rpp.so.2 hipblas.so.3 hipblaslt.so.1 hipfft.so.0 hiprand.so.1 hipsparse.so.4 hipsolver.so.1 origami.so.1
hipsparselt.so.0 rccl.so.1 MIOpen.so.1 hipdnn_backend.so.0""".split()
ROOT_OF_SCRIPT = '$(cd "$(dirname "$0")/%s" && pwd -P)'


class Artifacts:
    def __init__(self, out):
        self.out = out

    def path(self, artifact, component, target, name):
        folder = os.path.join(self.out, f"{artifact}_{component}_{target}")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "artifact_manifest.txt"), "w") as file:
            file.write(f"{artifact}/stage\n")
        path = os.path.join(folder, artifact, "stage", name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def file(self, where, name, text, mode=0o644):
        path = self.path(*where, name)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)

    def program(self, where, name, says):
        self.file(where, name, f"#!/bin/sh\n{says}\n", 0o755)

    def link(self, where, name, target):
        os.symlink(target, self.path(*where, name))

    def library(self, where, name, folder="lib"):
        """libX.so.N.0, with links for the SONAME and for the linker."""
        stem, _, number = name.partition(".so.")
        real = self.path(*where, f"{folder}/lib{stem}.so.{number}.0")
        function = "".join(c if c.isalnum() else "_" for c in stem)
        code = f"int {function}_answer(void) {{ return 42; }}\n"
        words = ["gcc", "-shared", "-fPIC", "-O1", "-x", "c", "-", "-o", real, f"-Wl,-soname,lib{stem}.so.{number}", "-Wl,--build-id"]
        subprocess.run(words, input=code.encode(), check=True)
        self.link(where, f"{folder}/lib{stem}.so.{number}", f"lib{stem}.so.{number}.0")
        self.link(where, f"{folder}/lib{stem}.so", f"lib{stem}.so.{number}")


def core(a, kpack, targets):
    base = ("base", "lib", "generic")
    folder = os.path.join(a.out, "base_lib_generic", "base", "aux-overlay", "stage")
    os.makedirs(folder)
    manifest = {"flags": {"KPACK_SPLIT_ARTIFACTS": kpack}, "rocm_version": "7.10.0"}
    a.file(base, "../aux-overlay/stage/share/therock/therock_manifest.json", json.dumps(manifest))
    a.file(base, "../aux-overlay/stage/share/therock/dist_info.json", json.dumps({"dist_amdgpu_targets": ";".join(targets)}))
    with open(os.path.join(a.out, "base_lib_generic", "artifact_manifest.txt"), "w") as file:
        file.write("base/aux-overlay/stage\n")
    llvm = ("amd-llvm", "run", "generic")
    for name in "clang amdclang amdclang++ amdclang-cpp amdclang-cl amdflang".split():
        a.program(llvm, f"lib/llvm/bin/{name}", 'echo "OVERVIEW: clang LLVM compiler from $0"')
    a.link(llvm, "lib/llvm/bin/clang++", "clang")
    a.program(llvm, "lib/llvm/bin/amdlld", "echo USAGE: ld.lld")
    a.program(llvm, "lib/llvm/bin/offload-arch", "echo gfx942")
    for name in "amdclang amdclang++ amdflang".split():
        a.link(llvm, f"bin/{name}", f"../lib/llvm/bin/{name}")
    a.link(("amd-llvm", "dev", "generic"), "llvm", "lib/llvm")
    a.file(("amd-llvm", "dev", "generic"), "lib/llvm/include/clang.h", "/* clang */\n")
    hip = ("core-hip", "run", "generic")
    a.program(hip, "bin/hipcc", 'echo "OVERVIEW: clang LLVM compiler from $0"')
    a.program(hip, "bin/hipconfig", f'if [ "$1" = --rocmpath ]; then echo "{ROOT_OF_SCRIPT % ".."}"; else echo "HIP version: 7.10"; fi')
    for name in "rocminfo rocm_agent_enumerator".split():
        a.program(hip, f"bin/{name}", 'echo "from $0"')
    a.program(hip, "bin/hipify-clang", "echo USAGE:")
    a.program(hip, "bin/hipify-perl", "echo USAGE:")
    a.program(("core-amdsmi", "run", "generic"), "bin/amd-smi", "echo AMD-SMI")
    a.program(("core-amdsmi", "run", "generic"), "bin/rocm-smi", "echo ROCm System Management")
    for name in CORE_LIBRARIES:
        a.library(("core-hip", "lib", "generic"), name)
    # From another folder.
    a.link(("core-amdsmi", "run", "generic"), "share/amd_smi/amdsmi/libamd_smi.so", "../../../lib/libamd_smi.so")
    a.library(("sysdeps", "lib", "generic"), "rocm_sysdeps_liblzma.so.5", "lib/rocm_sysdeps/lib")
    a.library(("host-blas", "lib", "generic"), "rocm-openblas.so.0", "lib/host-math/lib")
    dev = ("core-hip", "dev", "generic")
    a.file(dev, "include/hip/hip_runtime.h", "#pragma once\n")
    a.file(dev, "lib/cmake/hip/hip-config.cmake", 'add_library(hip::host INTERFACE IMPORTED)\n')
    # Enough of them that expanding takes a while.
    for i in range(int(os.environ.get("ROCM_PYTHON_HEADERS", "1500"))):
        a.file(("prim", "dev", "generic"), f"include/rocprim/part{i % 20}/header{i}.hpp", f"#pragma once\n// {i}\n" * 20)


def profiler(a):
    where = ("rocprofiler-systems", "lib", "generic")
    a.library(where, "rocprof-sys.so.1")
    a.library(where, "profiler-hub.so.0")
    for name in "sample run instrument".split():
        a.program(("rocprofiler-systems", "run", "generic"), f"bin/rocprof-sys-{name}", f"echo rocprof-sys-{name} 1.0 $LD_LIBRARY_PATH")


def main():
    out, mode, *targets = sys.argv[1:]
    a = Artifacts(out)
    os.makedirs(out)
    core(a, mode == "kpack", targets)
    profiler(a)
    families = ["generic"] if mode == "kpack" else targets
    for family in families:
        for name in LIBRARIES:
            a.library(("blas", "lib", family), name)
        a.file(("blas", "dev", family), "include/hipblas/hipblas.h", "#pragma once\n")
    for target in targets:
        where = ("blas", "lib", target)
        a.file(where, f"lib/rocblas/library/Kernels_{target}.co", f"code for {target}\n")
        if mode == "kpack":
            a.file(where, f".kpack/blas_lib_{target}.kpack", f"kernels for {target}\n")


main()
