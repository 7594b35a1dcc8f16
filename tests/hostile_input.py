"""hostile_input.py FOLDER: writes hostile inputs into the folder and prints their paths, one a line.

Each function below makes one, or several as a dictionary of names. All are small on disk or quick to write; what they claim
is not.
"""
import io
import os
import struct
import sys
import zipfile
import zlib

from wheel_maker import Wheel

PURE = "demo-1.0-py3-none-any.whl"
BINARY = "demo-1.0-cp311-cp311-manylinux_2_17_x86_64.whl"
HUGE = [1 << 32, 1 << 63, (1 << 63) - 1, (1 << 64) - 1, (1 << 64) - 30]
FATBIN_MAGIC = b"\x50\xed\x55\xba"


def wheel(members, name=PURE, stored=False, **dist_info):
    """A wheel as bytes; dist_info replaces METADATA, WHEEL or RECORD."""
    draft = Wheel(name)
    draft.members = dict(members)
    for key in ("METADATA", "WHEEL"):
        if key in dist_info:
            draft.members[f"{draft.dist_info}/{key}"] = dist_info[key]
    draft.add_dist_info()
    record = dist_info.get("RECORD", draft.record().encode())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for member, data in [*draft.members.items(), (f"{draft.dist_info}/RECORD", record)]:
            archive.writestr(zipfile.ZipInfo(member), data, archive.compression)
    return out.getvalue()


# Bare ZIP records, for archives that zipfile does not write.
def local(name, crc, packed, size, method=8):
    return struct.pack("<4s5H3I2H", b"PK\3\4", 20, 0, method, 0, 33, crc, packed, size, len(name), 0) + name


def central(name, crc, packed, size, offset, method=8, extra=b""):
    return struct.pack("<4s6H3I5H2I", b"PK\1\2", 20 | 3 << 8, 20, 0, method, 0, 33, crc, packed, size, len(name),
                       len(extra), 0, 0, 0, 0o100644 << 16, offset) + name + extra


def archive(body, entries):
    directory = b"".join(entries)
    return body + directory + struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, len(entries) & 0xffff, len(entries) & 0xffff,
                                          len(directory), len(body), 0)


def deflated(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def elf(strings, tags, extra=b"", sections=b"", **header):
    """A shared library with one loaded segment; a tag's value may be a function of the offset of `extra`."""
    strings_at = 64 + 2 * 56
    extra_at = (strings_at + len(strings) + 15) & ~15
    dynamic_at = (extra_at + len(extra) + 15) & ~15
    dynamic = b"".join(struct.pack("<QQ", tag, value(extra_at) if callable(value) else value)
                       for tag, value in [(5, strings_at), (10, len(strings)), *tags, (0, 0)])
    sections_at = dynamic_at + len(dynamic)
    total = sections_at + len(sections)
    field = {"phoff": 64, "shoff": sections_at if sections else 0, "phnum": 2, "shnum": len(sections) // 64, **header}
    data = b"\x7fELF\2\1\1".ljust(16, b"\0") + struct.pack(
        "<HHIQQQIHHHHHH", 3, 62, 1, 0, field["phoff"], field["shoff"], 0, 64, 56, field["phnum"], 64, field["shnum"], 0)
    data += struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, total, total, 4096)
    data += struct.pack("<IIQQQQQQ", 2, 6, dynamic_at, dynamic_at, dynamic_at, len(dynamic), len(dynamic), 8)
    data = (data + strings).ljust(extra_at, b"\0") + extra
    return data.ljust(dynamic_at, b"\0") + dynamic + sections


def section(kind, flags, address, offset, size, entry_size=0):
    return struct.pack("<IIQQQQIIQQ", 1, kind, flags, address, offset, size, 1, 1, 1, entry_size)


def symbols(strings, offsets, count=None):
    table = struct.pack("<III", 1, len(offsets) if count is None else count, 0).ljust(16, b"\0")
    table += b"".join(struct.pack("<IBBHQQ", offset, 0x12, 0, 0, 0, 0) for offset in [0, *offsets])
    return elf(strings, [(4, lambda at: at), (6, lambda at: at + 16), (11, 24)], table)


NAME = b"\0" + b"x" * 100 + b"\0"
ESCAPES = "\x1b]0;t\x07\x1b[31m\r\n\x7f\x9b"


def many_members():
    return wheel({f"demo/m{i}.py": b"" for i in range(100_000)}, stored=True)


def many_members_unlisted_and_colliding():
    return wheel({f"../demo/{i}{x}.py": b"" for i in range(20_000) for x in "aA"}, stored=True, RECORD=b"")


def many_record_lines():
    return wheel({}, RECORD=b"".join(b"x%d,md5=a,5\n" % i for i in range(400_000)))


def many_broken_binaries():
    return wheel({f"demo/{i}.so": b"\x7fELF\2\1\1".ljust(20, b"\0") for i in range(20_000)}, BINARY, stored=True)


def record_of_commas():
    return wheel({}, RECORD=b"," * 30_000_000)


def metadata_of_60_mb():
    return wheel({}, METADATA=b"Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n" + b"a:\n" * 20_000_000)


def many_tags():
    return wheel({}, WHEEL=b"Wheel-Version: 1.0\nTag: " + b"-".join([b".".join(b"p%d" % i for i in range(5000))] * 3) + b"\n")


def escapes():
    text = ESCAPES.encode("latin-1")
    library = elf(b"\0" + text + b"\0", [(1, 1), (14, 1), (29, 1)])
    data = wheel({f"demo/{ESCAPES}.so": library, "demo/aaaa.so": library}, BINARY,
                 METADATA=b"Metadata-Version: 2.1\nName: " + text + b"\nVersion: " + text,
                 WHEEL=b"Wheel-Version: \x1b\nBuild: \x1b\xff\nTag: \x1b-\x9b-c\n")
    return data.replace(b"demo/aaaa.so", b"demo/\x1b\xff\n\x9b.so")


def bombs(count, size):
    """Members of zeros, each a separate stream."""
    data = bytes(size)
    packed = deflated(data)
    crc = zlib.crc32(data)
    names = [b"demo/%d.py" % i for i in range(count)]
    body = b"".join(local(name, crc, len(packed), size) + packed for name in names)
    step = len(body) // count
    return archive(body, [central(name, crc, len(packed), size, i * step) for i, name in enumerate(names)])


def bomb():
    return bombs(1, 100_000_000)


def bombs_in_a_crowd():
    """Each is small enough to inflate, but not all together."""
    return bombs(9, 30_000_000)


def shared_bomb():
    """One stream of 20 MB under 30,000 names."""
    data = bytes(20_000_000)
    packed = deflated(data)
    crc = zlib.crc32(data)
    return archive(local(b"k", crc, len(packed), len(data)) + packed,
                   [central(b"f%d" % i, crc, len(packed), len(data), 0) for i in range(30_000)])


def quoted_bomb():
    """Each member's data contains the next one's header as a stored block, and so everything that follows."""
    packed = deflated(bytes(10_000_000))
    names = [b"f%04d" % i for i in range(3000)]
    size, packed_size = 10_000_000, len(packed)
    header = local(names[-1], 0, packed_size, size)
    pieces, sizes = [header + packed], [(packed_size, size)]
    for name in reversed(names[:-1]):
        quote = struct.pack("<BHH", 0, len(header), len(header) ^ 0xffff)
        size += len(header)
        packed_size += len(quote) + len(header)
        header = local(name, 0, packed_size, size)
        pieces.insert(0, header + quote)
        sizes.insert(0, (packed_size, size))
    offset, entries = 0, []
    for name, piece, (packed_size, size) in zip(names, pieces, sizes):
        entries.append(central(name, 0, packed_size, size, offset))
        offset += len(piece)
    return archive(b"".join(pieces), entries)


def zip64_sizes():
    result = {}
    for number, value in enumerate(HUGE):
        for field in range(3):
            fields = [3, 3, 0]
            fields[field] = value
            extra = struct.pack("<HHQQQ", 1, 24, *fields)
            entry = central(b"demo/a.so", 0, 0xffffffff, 0xffffffff, 0xffffffff, 0, extra)
            result[f"zip64-{number}-{field}"] = archive(local(b"demo/a.so", 0, 3, 3, 0) + b"abc", [entry])
    return result


def end_records_without_end():
    return b"PK\5\6" * 500_000


def lone_and_in_wheel(library):
    return {BINARY: wheel({"demo/a.so": library}, BINARY), "a.so": library}


def needs(count, run_path=b""):
    strings = b"\0" + b"".join(b"lib%06d.so\0" % i for i in range(count))
    tags = [(1, 1 + 13 * i) for i in range(count)] + [(29, len(strings))]
    return lone_and_in_wheel(elf(strings + run_path + b"\0", tags))


def needs_without_end():
    return needs(300_000)


def needs_times_run_paths():
    return needs(2000, b":".join(b"$ORIGIN/%d" % i for i in range(2000)))


def run_path_without_end():
    return lone_and_in_wheel(elf(b"\0" + b":" * 10_000_000 + b"\0", [(29, 1)]))


def symbols_of_one_megabyte():
    return wheel({"demo/a.so": symbols(b"\0" + b"s" * 1_000_000 + b"\0", range(1, 5000))}, BINARY)


def demangle_bombs():
    back = b"".join(b"PFS%s_S%s_S%s_E" % (s, s, s) for s in [b""] + [b"%X" % i for i in range(16)])
    strings, offsets = b"\0", []
    for i in range(3000):
        for name in (b"_Z1fP1A" + back, b"_Z" + b"P" * 300 + b"v", b"_Z1fI" + b"1bIS0_S0_E" * 30 + b"EvSs"):
            offsets.append(len(strings))
            strings += name + b"%d\0" % i
    return wheel({"demo/a.so": symbols(strings, offsets)}, BINARY)


def elf_headers():
    result = {"symbols-2-32": symbols(NAME, [1], 0xffffffff)}
    for field, value in [("phnum", 0xffff), ("shnum", 0xffff), ("phoff", 1 << 63), ("phoff", (1 << 64) - 56),
                         ("shoff", (1 << 64) - 64)]:
        result[f"header-{field}-{value:x}"] = elf(NAME, [(1, 1)], sections=bytes(192), **{field: value})
    for value in HUGE:
        for kind in (1, 2, 4, 5, 7, 11, 0x6ffffff6, 0x6ffffffe, 0x6fffffff):
            parts = [section(0, 0, 0, 0, 0), section(kind, 2, 64, 64, value, 24), section(kind, 2, value, value, value, value)]
            result[f"section-{kind:x}-{value:x}"] = elf(NAME, [(1, 1)], sections=b"".join(parts))
        for tag in [*range(2, 37), 0x6ffffef5, 0x6ffffff0, 0x6ffffffc, 0x6ffffffe]:
            result[f"tag-{tag:x}-{value:x}"] = elf(NAME, [(tag, value), (tag, 64)])
    return {"headers-" + PURE: wheel({f"demo/{name}.so": data for name, data in result.items()})}


def cyclic_versions():
    need = struct.pack("<HHIIIIHHII", 1, 65535, 1, 16, 0xffffffe0, 1, 0, 2, 1, 0xfffffff0)
    step = struct.pack("<HHIII", 1, 65535, 1, 16, 16) * 60_000
    defined = struct.pack("<HHHHIII", 1, 0, 2, 65535, 0, 20, 20) * 60_000
    needs = lambda table: elf(NAME, [(0x6ffffffe, lambda at: at), (0x6fffffff, 0xffffffff)], table)
    definitions = elf(NAME, [(0x6ffffffc, lambda at: at), (0x6ffffffd, 0xffffffff)], defined)
    return wheel({"demo/a.so": needs(need), "demo/b.so": needs(step), "demo/c.so": definitions}, BINARY)


def gnu_hash_without_end():
    tables = [struct.pack("<IIII", 0xffffffff, 0xffffffff, 0xffffffff, 6),
              struct.pack("<IIIIQI", 1, 1, 1, 6, 0, 1) + bytes(400_000),
              struct.pack("<IIIIQ", 200_000, 1, 1, 6, 0) + struct.pack("<I", 2) * 200_000 + bytes(400_000)]
    tags = [(0x6ffffef5, lambda at: at), (6, lambda at: at), (11, 24)]
    return wheel({f"demo/{i}.so": elf(NAME, tags, table) for i, table in enumerate(tables)}, BINARY)


def sections_over_one_another():
    parts = b"".join(section(kind, 2, 0, 0, 1_000_000, 24) for kind in (1, 2, 4, 7) for _ in range(15_000))
    return wheel({"demo/a.so": elf(NAME, [(1, 1)], FATBIN_MAGIC * 250_000, parts)}, BINARY)


def fatbins():
    result = {"magics.fatbin": FATBIN_MAGIC * 500_000}
    for value in HUGE:
        result[f"container-{value:x}.fatbin"] = FATBIN_MAGIC + struct.pack("<HHQ", 1, 16, value) + bytes(64)
        entry = struct.pack("<HHIQ", 2, 0x101, 64, value) + b"\xff" * 48
        result[f"entry-{value:x}.fatbin"] = FATBIN_MAGIC + struct.pack("<HHQ", 1, 16, len(entry)) + entry
    return result


def bundles():
    magic = b"__CLANG_OFFLOAD_BUNDLE__"
    result = {"magics.bundle": magic * 50_000}
    stream = zlib.compress(magic + struct.pack("<Q", 4096) + bytes(50_000_000))
    result["bomb.bundle"] = b"CCOB" + struct.pack("<HHII", 1, 0, 0xffffffff, 0) + bytes(4) + stream
    for value in HUGE:
        result[f"count-{value:x}.bundle"] = magic + struct.pack("<QQQQ", value, 0, 0, 5) + b"host-"
        result[f"entry-{value:x}.bundle"] = magic + struct.pack("<QQQQ", 1, value, value, 30) + b"hipv4-amdgcn-amd-amdhsa--gfx90a"
        result[f"id-{value:x}.bundle"] = magic + struct.pack("<QQQQ", 1, 0, 0, value) + b"host-"
        result[f"ccob-{value:x}.bundle"] = b"CCOB" + struct.pack("<HHQQQ", 3, 1, value, value, 0) + stream[:100]
    return result


def kpacks():
    header = b"KPAK" + struct.pack("<IQ", 1, 16)
    result = {"nested.kpack": header + b"\x91" * 2_000_000, "maps.kpack": header + b"\x81\xa1a" * 500_000,
              "array.kpack": header + b"\x81\xa5blobs\xdd\xff\xff\xff\xff\x80\x80",
              "map.kpack": header + b"\xdf\xff\xff\xff\xff\xa3toc\xdf\xff\xff\xff\xff"}
    for value in HUGE:
        result[f"offset-{value:x}.kpack"] = b"KPAK" + struct.pack("<IQ", 1, value) + b"\x80"
    return result


def random_bytes():
    block = b"".join(zlib.crc32(bytes([i & 255, i >> 8])).to_bytes(4, "little") for i in range(5000))
    return {f"random-{name}": magic + block for name, magic in
            [("zip", b"PK\3\4"), ("elf", b"\x7fELF\2\1\1"), ("elf32", b"\x7fELF\1\2\1"), ("fatbin", FATBIN_MAGIC),
             ("ccob", b"CCOB"), ("kpack", b"KPAK"), ("none", b"")]}


def cut_off():
    whole = wheel({"demo/a.so": symbols(NAME, [1, 2, 3])}, BINARY)
    return {f"cut-{size}-{BINARY}": whole[:size] for size in range(0, len(whole), 97)}


MAKERS = [value for value in list(globals().values())
          if callable(value) and getattr(value, "__code__", None) and value.__code__.co_argcount == 0]


def main(folder):
    for maker in MAKERS:
        made = maker()
        for name, data in (made if isinstance(made, dict) else {PURE: made}).items():
            path = os.path.join(folder, maker.__name__, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(data)
        print(os.path.join(folder, maker.__name__))


if __name__ == "__main__":
    main(sys.argv[1])
