"""Random keep-sets on libraries: every kept entry must be byte-identical to one of the same wrapper's container, read by a
parser of its own. cuobjdump must list the same architectures, and every cubin that it extracts from the new library must be one
that it extracts from the old one. GNU strip and llvm-strip must accept the new library and keep all of that, and what the
loader opened before it must open afterwards, stripped or not. For large libraries, cuobjdump and strip see the first keep-set.
  slim.py WHEELSMITH CUOBJDUMP-or-"" ROUNDS LIBRARY…"""
import collections
import hashlib
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile


class Library:
    """The containers that wrappers lead to, in the order of the wrappers."""

    def __init__(self, path):
        self.data = data = open(path, "rb").read()
        phoff, shoff = struct.unpack_from("<QQ", data, 32)
        phsize, phnum, shsize, shnum, names = struct.unpack_from("<HHHHH", data, 54)
        self.loads = []
        dynamic = None
        for i in range(phnum):
            kind, _, offset, address, _, size = struct.unpack_from("<IIQQQQ", data, phoff + i * phsize)
            if kind == 1:
                self.loads.append((address, offset, size))
            if kind == 2:
                dynamic = (offset, size)
        headers = [struct.unpack_from("<IIQQQQ", data, shoff + i * shsize) for i in range(shnum)]
        text = headers[names][4]
        named = {data[text + h[0] : data.index(b"\0", text + h[0])].decode(): h for h in headers}
        tags = dict(struct.iter_unpack("<QQ", data[dynamic[0] : sum(dynamic)]))
        addends = {}
        if 7 in tags:
            start = self.at(tags[7])
            for place, info, addend in struct.iter_unpack("<QQQ", data[start : start + tags[8]]):
                if info & 0xFFFFFFFF == 8:
                    addends[place] = addend
        self.containers, self.relocatable = [], []
        segment = named.get(".nvFatBinSegment")
        if not segment:
            return
        for at in range(0, segment[5] - 23, 8):
            if struct.unpack_from("<I", data, segment[4] + at)[0] != 0x466243B1:
                continue
            place = segment[3] + at + 8
            target = addends.get(place, struct.unpack_from("<Q", data, segment[4] + at + 8)[0])
            self.containers.append(self.entries(self.at(target)))
            link = named.get("__nv_relfatbin")
            self.relocatable.append(bool(link) and link[3] <= target < link[3] + link[5])

    def at(self, address):
        for start, offset, size in self.loads:
            if start <= address < start + size:
                return address - start + offset
        raise ValueError(hex(address))

    def entries(self, at):
        magic, version, header, size = struct.unpack_from("<IHHQ", self.data, at)
        assert magic == 0xBA55ED50 and header == 16
        found, place, end = [], at + 16, at + 16 + size
        while place < end:
            kind, _, head, padded = struct.unpack_from("<HHIQ", self.data, place)
            arch, = struct.unpack_from("<I", self.data, place + 28)
            flags, = struct.unpack_from("<Q", self.data, place + 40)
            suffix = "a" if flags & 0x100000 else "f" if flags & 0x200000 else ""
            found.append(((kind, arch, suffix), self.data[place : place + head + padded]))
            place += head + padded
        assert place == end
        return found


def runs(entry, device):
    kind, arch, suffix = entry
    if kind == 1:
        return arch == device if suffix == "a" else arch // 10 == device // 10 and arch <= device if suffix == "f" else arch <= device
    if kind != 2:
        return False
    return arch == device if suffix == "a" else arch // 10 == device // 10 and arch <= device


def judge(old, new, devices):
    assert len(old.containers) == len(new.containers)
    linked = [part for part, is_link in zip(new.containers, new.relocatable) if not is_link]
    for before, after, is_link in zip(old.containers, new.containers, new.relocatable):
        left = iter(before)
        for entry in after:
            assert entry in left, ("an entry differs", entry[0])
        for device in devices:
            had, has = (any(runs(key, device) for key, _ in part) for part in (before, after))
            # Relocatable code may go if all linked code is there: the driver does not link then.
            needless = is_link and all(any(key[0] == 2 and runs(key, device) for key, _ in part) for part in linked)
            assert had == has or needless, ("lost", device)


SMALL = 20 << 20


def cubins(cuobjdump, path):
    """The digests of the cubins that cuobjdump extracts."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([cuobjdump, "-xelf", "all", os.path.abspath(path)], cwd=folder, capture_output=True, check=False)
        found = collections.Counter()
        for name in os.listdir(folder):
            with open(os.path.join(folder, name), "rb") as file:
                found[hashlib.sha256(file.read()).hexdigest()] += 1
        return found


def loads(path, beside):
    """Whether the loader opens it, with the libraries of its old folder."""
    code = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    environment = dict(os.environ, LD_LIBRARY_PATH=beside)
    return subprocess.run([sys.executable, "-c", code, os.path.abspath(path)], env=environment, capture_output=True).returncode == 0


class Tools:
    """What other tools say of the old library and of new ones."""

    def __init__(self, cuobjdump, path, old):
        self.cuobjdump, self.path, self.old = cuobjdump, path, old
        self.beside = os.path.dirname(os.path.abspath(path))
        self.loaded = loads(path, self.beside)
        self.cubins = cubins(cuobjdump, path) if cuobjdump else None
        self.strips = {}  # tools that are here: whether the old library loads after them
        for tool in ("strip", "llvm-strip", "llvm-strip-19"):
            if shutil.which(tool):
                with tempfile.TemporaryDirectory() as folder:
                    copy = shutil.copy(path, folder)
                    subprocess.run([tool, copy], capture_output=True, check=True)
                    self.strips[tool] = loads(copy, self.beside)
        self.extracted = self.stripped = 0

    def judge(self, made, devices, words):
        new = Library(made)
        if self.cuobjdump:
            listed = subprocess.run([self.cuobjdump, "-lelf", made], capture_output=True, text=True).stdout
            theirs = collections.Counter(re.findall(r"\.(sm_\d+)[a-z]?\.cubin", listed))
            ours = collections.Counter(f"sm_{key[1]}" for part in new.containers for key, _ in part if key[0] == 2)
            extra = theirs - ours  # containers that no wrapper registers
            assert not ours - theirs, (words, ours, theirs)
            if extra:
                print(f"  {os.path.basename(self.path)}: not registered: {dict(extra)}")
            kept = cubins(self.cuobjdump, made)
            assert not kept - self.cubins, (words, "cuobjdump extracts a cubin that the old library does not have")
            self.extracted += sum(kept.values())
        assert not self.loaded or loads(made, self.beside), (words, "does not load")
        for tool in self.strips:
            copy = made + ".stripped"
            shutil.copy(made, copy)
            done = subprocess.run([tool, copy], capture_output=True, text=True)
            assert done.returncode == 0, (words, tool, done.stderr)
            judge(self.old, Library(copy), devices)
            assert not self.strips[tool] or loads(copy, self.beside), (words, tool, "does not load")
            self.stripped += 1


def main():
    wheelsmith, cuobjdump, rounds, *paths = sys.argv[1:]
    seed = int(os.environ.get("SEED", random.randrange(1 << 30)))
    print("seed", seed)
    chosen = random.Random(seed)
    edits = 0
    for path in paths:
        old = Library(path)
        archs = sorted({key[1] for part in old.containers for key, _ in part})
        if not archs:
            print(f"{os.path.basename(path)}: no registered code")
            continue
        tools = Tools(cuobjdump, path, old)
        done = 0
        for _ in range(int(rounds)):
            devices = chosen.sample(archs, chosen.randint(1, min(3, len(archs))))
            words = ";".join(f"{d // 10}.{d % 10}" + ("+PTX" if chosen.random() < 0.3 else "") for d in devices)
            with tempfile.TemporaryDirectory() as out:
                command = [wheelsmith, "slim", path, "--arch", words, "--out", out, "--vendor-libraries"]
                if chosen.random() < 0.3:
                    command.append("--keep-size")
                ended = subprocess.run(command, capture_output=True, text=True)
                assert ended.returncode == 0, (words, ended.stderr)
                made = os.path.join(out, os.path.basename(path))
                judge(old, Library(made), devices)
                if done == 0 or len(old.data) < SMALL:
                    tools.judge(made, devices, words)
                done += 1
                edits += 1
        print(f"{os.path.basename(path)}: {done} keep-sets, {len(old.containers)} containers, {tools.extracted} cubins by cuobjdump, "
              f"{tools.stripped} stripped, {'loads' if tools.loaded else 'does not load here'}")
    print(f"{edits} edits are good")


main()
