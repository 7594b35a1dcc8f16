"""Compares one wheel's NVIDIA listing with cuobjdump: gpu_listing.py WHEEL OURS.json CUOBJDUMP WORKDIR

cuobjdump, given a library, lists .nv_fatbin, and __nv_relfatbin only where that has nothing. Containers in all other
sections (libtorch_cuda.so has 58 in .lrodata) are cut out by their magic number and given to it one at a time. It lists
no LTO IR, and leaves the f off sm_100f; so they are left off ours too."""

import collections
import concurrent.futures
import json
import os
import re
import struct
import subprocess
import sys
import zipfile

CONTAINER_MAGIC = struct.pack("<IH", 0xBA55ED50, 1)


def listed(cuobjdump, path):
    """Counter of (arch, kind) as cuobjdump lists the file, or None when it fails."""
    run = subprocess.run([cuobjdump, "--list-elf", "--list-ptx", path], capture_output=True, text=True)
    counts = collections.Counter()
    for kind, arch in re.findall(r"^\s*(ELF|PTX) file +\d+: .*?\.(sm_\w+?)\.", run.stdout, re.M):
        if kind == "ELF":
            counts[arch, "sass"] += 1
        else:
            counts[arch.replace("sm_", "compute_"), "ptx"] += 1
    if run.returncode != 0 and "does not contain device code" not in run.stderr + run.stdout:
        return None
    return counts


def containers(section):
    at = section.find(CONTAINER_MAGIC)
    while at >= 0:
        header, size = struct.unpack_from("<HQ", section, at + 6)
        yield section[at : at + header + size]
        at = section.find(CONTAINER_MAGIC, at + header + size)


def listed_in_section(cuobjdump, library, name):
    """The same for one section's containers, each in a separate file."""
    dump = library + ".section"
    subprocess.run(["objcopy", "-O", "binary", f"--only-section={name}", "--set-section-flags", f"{name}=alloc",
                    library, dump], check=True)
    with open(dump, "rb") as file:
        section = file.read()
    os.unlink(dump)

    def one(numbered):
        path = f"{library}.{numbered[0]}.fatbin"
        with open(path, "wb") as out:
            out.write(numbered[1])
        counts = listed(cuobjdump, path)
        os.unlink(path)
        return counts

    with concurrent.futures.ThreadPoolExecutor() as pool:
        answers = list(pool.map(one, enumerate(containers(section))))
    return None if None in answers else sum(answers, collections.Counter())


def listed_by_us(elf):
    """Counter of (arch, kind) for each section."""
    sections = collections.defaultdict(collections.Counter)
    for code in elf["gpu"]:
        if code["kind"] in ("sass", "ptx"):
            sections[code["section"]][re.sub(r"(?<=\d)f$", "", code["arch"]), code["kind"]] += code["count"]
    return sections


def main():
    wheel, ours_file, cuobjdump, work = sys.argv[1:]
    with open(ours_file) as file:
        item = json.load(file)["items"][0]
    good = compared = entries = 0
    for elf in item["elf"]:
        sections = listed_by_us(elf)
        if not sections:
            continue
        path = os.path.join(work, "library.so")
        with zipfile.ZipFile(wheel) as archive, archive.open(elf["path"]) as source, open(path, "wb") as target:
            while block := source.read(1 << 24):
                target.write(block)
        main_section = ".nv_fatbin" if ".nv_fatbin" in sections else "__nv_relfatbin"
        for name, ours in sections.items():
            theirs = listed(cuobjdump, path) if name == main_section else listed_in_section(cuobjdump, path, name)
            if theirs is None:
                print(f"  cuobjdump cannot read {elf['path']} {name}; not judged")
                continue
            compared += 1
            entries += sum(ours.values())
            if ours == theirs:
                good += 1
            else:
                print(f"  DIFFERENT {elf['path']} {name}: only ours {dict(ours - theirs)}, "
                      f"only cuobjdump's {dict(theirs - ours)}")
        os.unlink(path)
    print(f"{os.path.basename(wheel)}: {good} of {compared} sections agree, {entries} entries", flush=True)
    sys.exit(0 if good == compared else 1)


main()
