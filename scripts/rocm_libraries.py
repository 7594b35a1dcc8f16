#!/usr/bin/env python3
"""rocm_libraries.py WHEELSMITH PACKAGE...: src/wheel/data/rocm_libraries.tsv, generated from the packages of a ROCm SDK.

PACKAGE is a wheel of the SDK (rocm-sdk-core, rocm-sdk-libraries-*, rocm-profiler) or a folder with such packages
installed. The table has every soname in the folders that frameworks link with: lib, lib/rocm_sysdeps/lib and
lib/host-math/lib below the package's own folder. Existing entries are kept, because wheels for older releases
need older libraries.

    scripts/rocm_libraries.py build/wheelsmith packages/*.whl > rocm_libraries.tsv
"""
import json
import os
import re
import subprocess
import sys

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../src/wheel/data/rocm_libraries.tsv")
FOLDER = re.compile(r"(^|/)_rocm_[a-z_0-9]+/lib(/rocm_sysdeps/lib|/host-math/lib)?$")


def sonames(wheelsmith, package):
    result = subprocess.run([wheelsmith, "inspect", "--json", package], capture_output=True, text=True, check=True)
    for item in json.loads(result.stdout)["items"]:
        for file in item["elf"]:
            if FOLDER.search(os.path.dirname(file["path"])):
                yield file["soname"] or os.path.basename(file["path"])


def main():
    wheelsmith, *packages = sys.argv[1:]
    with open(TABLE, encoding="utf-8") as file:
        lines = file.read().splitlines()
    comments = [line for line in lines if line.startswith("#")]
    rows = {line.split("\t")[0] for line in lines if line and not line.startswith("#")}
    patterns = [re.compile(re.escape(row).replace(r"\*", ".*")) for row in rows]
    for package in packages:
        for soname in sonames(wheelsmith, package):
            if re.fullmatch(r"lib.+\.so(\..+)?", soname) and not any(p.fullmatch(soname) for p in patterns):
                rows.add(soname.split(".so")[0] + ".so*")
    print("\n".join(comments + [f"{row}\tROCm" for row in sorted(rows, key=str.lower)]))


main()
