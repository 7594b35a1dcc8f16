"""Helpers of the tests of `rocm package`.

index DIST OUT        a PEP 503 tree of the files in DIST and in the folder above it (packages that all families share)
members WHEEL         names and modes of a wheel's members
prove WHEEL ARTIFACTS every ELF file of the wheel is one of the artifacts' with nothing changed but its dynamic section's
                      strings: the same segments at the same addresses, the same bytes in each of its sections but .dynamic,
                      .dynstr and the section names; program headers inside a segment; no writable code
"""

import hashlib
import os
import re
import shutil
import struct
import sys
import zipfile

MAGIC = b"\x7fELF"


def index(dist, out):
    above = os.path.dirname(os.path.abspath(dist))
    for folder in (dist, above if os.path.basename(above) == "dist" else dist):
        for name in os.listdir(folder):
            if name.endswith((".whl", ".tar.gz")):
                page = os.path.join(out, re.sub("[-_.]+", "-", name.split("-")[0]).lower())
                os.makedirs(page, exist_ok=True)
                shutil.copyfile(os.path.join(folder, name), os.path.join(page, name))
    for project in os.listdir(out):
        page = os.path.join(out, project)
        links = "".join(f'<a href="{name}">{name}</a>\n' for name in sorted(os.listdir(page)) if name != "index.html")
        with open(os.path.join(page, "index.html"), "w") as file:
            file.write(f"<!DOCTYPE html><html><body>\n{links}</body></html>\n")


def members(wheel):
    with zipfile.ZipFile(wheel) as archive:
        for info in archive.infolist():
            print(f"{info.external_attr >> 16:o} {info.filename}")


class Elf:
    def __init__(self, data):
        if data[:6] != MAGIC + b"\x02\x01":
            raise ValueError("no little-endian ELF64")
        self.data = data
        self.type, self.machine = struct.unpack_from("<HH", data, 16)
        self.phoff, self.shoff = struct.unpack_from("<QQ", data, 32)
        _, self.phentsize, self.phnum, _, shnum, shstrndx = struct.unpack_from("<HHHHHH", data, 52)
        self.segments = [struct.unpack_from("<IIQQQQQQ", data, self.phoff + i * 56) for i in range(self.phnum)]
        if self.phoff + self.phnum * 56 > len(data) or self.shoff + shnum * 64 > len(data):
            raise ValueError("cut off")
        sections = [struct.unpack_from("<IIQQQQIIQQ", data, self.shoff + i * 64) for i in range(shnum)]
        names = sections[shstrndx][4] if shnum else 0
        self.sections = {}
        for section in sections:
            name = data[names + section[0] : data.index(b"\0", names + section[0])].decode() if shnum else ""
            self.sections[name] = section

    def loaded(self):
        return [s for s in self.segments if s[0] == 1]

    def is_dynamic(self):
        return any(s[0] == 2 for s in self.segments)

    def at(self, address, size):
        for _, _, offset, start, _, filesz, _, _ in self.loaded():
            if start <= address and address + size <= start + filesz:
                return self.data[offset + address - start : offset + address - start + size]
        return None

    def tags(self):
        for kind, _, offset, _, _, size, _, _ in self.segments:
            if kind == 2:
                for at in range(offset, offset + size, 16):
                    tag, value = struct.unpack_from("<QQ", self.data, at)
                    if tag == 0:
                        return
                    yield tag, value

    def strings(self, *wanted):
        values = dict(self.tags())
        table = self.at(values[5], values[10])
        return [table[value : table.index(b"\0", value)].decode() for tag, value in self.tags() if tag in wanted]


def layout_problems(elf):
    loads = elf.loaded()
    for before, after in zip(loads, loads[1:]):
        if after[3] < before[3] + before[6]:
            yield "segments overlap in memory or are out of order"
    for kind, flags, offset, address, _, filesz, memsz, align in elf.segments:
        if offset + filesz > len(elf.data):
            yield "a segment lies outside the file"
        if kind == 1 and align > 1 and (offset - address) % align:
            yield "a segment's place in the file does not fit its address"
        if kind == 1 and flags & 3 == 3:
            yield "a segment is writable and executable"
        if kind == 6:
            covered = any(s[2] <= elf.phoff and elf.phoff + elf.phnum * 56 <= s[2] + s[5] for s in loads)
            if offset != elf.phoff or not covered or elf.at(address, elf.phnum * 56) is None:
                yield "the program headers are in no segment"
    if loads and loads[0][1] & 2 and loads[0][2] == 0:
        yield "the first segment is writable"


def difference(old, new):
    yield from layout_problems(new)
    if (old.type, old.machine) != (new.type, new.machine):
        yield "another type or machine"
    for name, section in old.sections.items():
        kind, flags, address, size = section[1], section[2], section[3], section[5]
        if kind in (0, 8) or not flags & 2 or name in (".dynamic", ".dynstr"):
            continue
        if old.at(address, size) != new.at(address, size):
            yield f"the bytes of {name} differ"
    keep = lambda elf: sorted(v for t, v in elf.tags() if t in (7, 8, 17, 18, 23, 25, 26, 27, 28, 0x6FFFFEF5, 6))
    if old.is_dynamic() and keep(old) != keep(new):
        yield "relocations, symbols or constructors are elsewhere"
    if old.is_dynamic() and old.strings(1, 14) != new.strings(1, 14):
        yield "it needs other libraries, or has another name"


def prove(wheel, artifacts):
    originals = {}  # soname or base name -> files
    same = set()
    for folder, _, names in os.walk(artifacts):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            with open(path, "rb") as file:
                data = file.read()
            same.add(hashlib.sha256(data).digest())
            if data.startswith(MAGIC):
                originals.setdefault(len(data), []).append(data)
    edited = as_it_was = 0
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            data = archive.read(name)
            if not data.startswith(MAGIC):
                continue
            if hashlib.sha256(data).digest() in same:
                as_it_was += 1
                continue
            try:
                new = Elf(data)
            except (ValueError, struct.error) as error:
                sys.exit(f"{wheel}: {name}: {error}")
            if not new.is_dynamic():
                if b"WS-EXEC-TARGET:" not in data:
                    sys.exit(f"{wheel}: {name} is none of the artifacts' files")
                continue
            if not new.sections:
                if 0x7FFFFFFF not in dict(new.tags()) or list(layout_problems(new)):
                    sys.exit(f"{wheel}: {name} is no library that stands for another")
                continue
            # The original is the file with the same code.
            text = new.sections[".text"]
            problems = ["it has the code of none of the artifacts' files"]
            for candidates in originals.values():
                for old in candidates:
                    try:
                        other = Elf(old)
                    except (ValueError, struct.error):
                        continue
                    if not other.is_dynamic() or other.sections[".text"][3:6:2] != text[3:6:2]:
                        continue
                    problems = min(problems, list(difference(other, new)), key=len)
            if problems:
                sys.exit(f"{wheel}: {name}: {'; '.join(problems)}")
            for entry in [part for text in new.strings(15, 29) for part in text.split(":")]:
                if not entry.startswith("$ORIGIN"):
                    sys.exit(f"{wheel}: {name}: the run path {entry} leads out")
            if new.strings(29):
                sys.exit(f"{wheel}: {name}: a DT_RUNPATH, which LD_LIBRARY_PATH overrules")
            edited += 1
    print(f"{edited} {as_it_was}")


if __name__ == "__main__":
    {"index": index, "members": members, "prove": prove}[sys.argv[1]](*sys.argv[2:])
