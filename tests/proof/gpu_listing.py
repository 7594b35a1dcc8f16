"""Judges one wheel's NVIDIA listing by cuobjdump: gpu_listing.py WHEEL OURS.json CUOBJDUMP WORKDIR"""

import collections
import json
import os
import re
import subprocess
import sys
import zipfile


def judged(cuobjdump, path):
    """Counter of (arch, kind) as cuobjdump lists the file, or None where it gives up."""
    run = subprocess.run([cuobjdump, "--list-elf", "--list-ptx", path], capture_output=True, text=True)
    listed = collections.Counter()
    for kind, arch in re.findall(r"^\s*(ELF|PTX) file +\d+: .*?\.(sm_\w+?)\.", run.stdout, re.M):
        if kind == "ELF":
            listed[arch, "sass"] += 1
        else:
            listed[arch.replace("sm_", "compute_"), "ptx"] += 1
    if run.returncode != 0 and not listed and "does not contain device code" not in run.stderr + run.stdout:
        return None
    return listed


def main():
    wheel, ours_file, cuobjdump, work = sys.argv[1:]
    item = json.load(open(ours_file))["items"][0]
    good = compared = entries = 0
    for elf in item["elf"]:
        ours = collections.Counter()
        for code in elf["gpu"]:
            # cuobjdump does not look into __nv_relfatbin, and does not list LTO IR.
            if code["kind"] in ("sass", "ptx") and not code["relocatable"]:
                ours[code["arch"], code["kind"]] += code["count"]
        if not ours:
            continue
        path = os.path.join(work, "library.so")
        with zipfile.ZipFile(wheel) as archive, archive.open(elf["path"]) as source, open(path, "wb") as target:
            while block := source.read(1 << 24):
                target.write(block)
        theirs = judged(cuobjdump, path)
        os.unlink(path)
        if theirs is None:
            print(f"  cuobjdump cannot read {elf['path']}; not judged")
            continue
        compared += 1
        entries += sum(ours.values())
        if ours == theirs:
            good += 1
        else:
            print(f"  DIFFERENT {elf['path']}: only ours {dict(ours - theirs)}, only cuobjdump's {dict(theirs - ours)}")
    print(f"{os.path.basename(wheel)}: {good} of {compared} files agree, {entries} entries")
    sys.exit(0 if good == compared else 1)


main()
