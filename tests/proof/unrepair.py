"""unrepair.py WHEEL FOLDER: takes the grafted libraries of a wheel out again.

Writes FOLDER/NAME-…-linux_x86_64.whl without its NAME.libs, and FOLDER/libs with the libraries under the names that they had
before a tool put a hash into them. NEEDED, SONAME and run paths go back by patchelf. Prints the new wheel, or nothing for a wheel
that has no grafted libraries.
"""
import base64
import hashlib
import os
import re
import subprocess
import sys
import tempfile
import zipfile

HASH = re.compile(r"(-[0-9a-f]{8})+(?=(\.[0-9]+)*\.so|$)")
PATCHELF = os.environ.get("PATCHELF", "patchelf")


def patchelf(*arguments):
    return subprocess.run([PATCHELF, *arguments], check=True, capture_output=True, text=True).stdout


def is_elf(path):
    with open(path, "rb") as file:
        return file.read(4) == b"\x7fELF"


def original(name):
    return HASH.sub("", name)


def main(wheel, out):
    base = os.path.basename(wheel)
    parts = base[: -len(".whl")].split("-")
    with tempfile.TemporaryDirectory() as work, zipfile.ZipFile(wheel) as archive:
        if not any(name.partition("/")[0].endswith(".libs") for name in archive.namelist()):
            return  # a torch of gigabytes is not worth unpacking for that
        archive.extractall(work)
        modes = {info.filename: info.external_attr for info in archive.infolist()}
        folders = [name for name in os.listdir(work) if name.endswith(".libs") and os.path.isdir(os.path.join(work, name))]
        grafted = {name: os.path.join(work, folder, name) for folder in folders for name in os.listdir(os.path.join(work, folder))
                   if is_elf(os.path.join(work, folder, name))}
        if not grafted:
            return
        libs = os.path.join(out, "libs")
        os.makedirs(libs, exist_ok=True)
        for name, path in grafted.items():
            for needed in patchelf("--print-needed", path).split():
                if needed in grafted:
                    patchelf("--replace-needed", needed, original(needed), path)
            patchelf("--set-soname", original(name), path)
            patchelf("--remove-rpath", path)
            os.replace(path, os.path.join(libs, original(name)))
        members = []
        for folder, _, names in os.walk(work):
            for name in names:
                path = os.path.join(folder, name)
                member = os.path.relpath(path, work)
                if is_elf(path):
                    try:
                        needs = patchelf("--print-needed", path).split()
                    except subprocess.CalledProcessError:
                        needs = []  # a static program
                    touched = False
                    for needed in needs:
                        if needed in grafted:
                            patchelf("--replace-needed", needed, original(needed), path)
                            touched = True
                    # Way to the grafts goes, ways inside the package stay.
                    if touched:
                        kept = [entry for entry in patchelf("--print-rpath", path).strip().split(":")
                                if entry and not any(part in entry for part in folders)]
                        patchelf("--force-rpath", "--set-rpath", ":".join(kept), path) if kept else patchelf("--remove-rpath", path)
                members.append(member)
        dist_info = next(name for name in os.listdir(work) if name.endswith(".dist-info"))
        tags = "-".join(parts[-3:-1])
        wheel_file = os.path.join(work, dist_info, "WHEEL")
        with open(wheel_file) as file:
            lines = [line for line in file.read().splitlines() if line and not line.startswith("Tag:")]
        lines += [f"Tag: {python}-{abi}-linux_x86_64" for python in parts[-3].split(".") for abi in parts[-2].split(".")]
        with open(wheel_file, "w") as file:
            file.write("\n".join(lines) + "\n")
        target = os.path.join(out, "-".join([*parts[:-3], tags, "linux_x86_64.whl"]))
        record = f"{dist_info}/RECORD"
        rows = []
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
            for member in sorted(members, key=lambda name: (name.startswith(dist_info), name)):
                if member.startswith(f"{dist_info}/RECORD") or "/sboms/auditwheel" in member:
                    continue
                with open(os.path.join(work, member), "rb") as file:
                    data = file.read()
                info = zipfile.ZipInfo(member, (2020, 1, 1, 0, 0, 0))
                info.external_attr = modes.get(member, 0o100644 << 16)
                info.compress_type = zipfile.ZIP_DEFLATED
                new.writestr(info, data)
                digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
                name = f'"{member}"' if "," in member else member
                rows.append(f"{name},sha256={digest},{len(data)}")
            new.writestr(record, "\n".join([*rows, f"{record},,"]) + "\n")
        print(target)


main(*sys.argv[1:3])
