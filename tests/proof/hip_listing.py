"""hip_listing.py SECTION [BUNDLER]: prints "target size" for each HIP code object of a .hip_fatbin section, one per line.

An independent reader of offload bundles, plain and compressed, one after another with padding between. Streams are
decompressed by zstd or zlib. Each bundle is also given to clang-offload-bundler, whose list of targets must be the same
wherever it can read the bundle (release 19 knows no compressed bundles of version 3)."""

import struct
import subprocess
import sys
import tempfile
import zlib

PLAIN, PACKED = b"__CLANG_OFFLOAD_BUNDLE__", b"CCOB"


def plain_entries(bundle):
    """The entries (id, size) of a plain bundle, and where its last byte ends."""
    (count,) = struct.unpack_from("<Q", bundle, len(PLAIN))
    at, end, entries = len(PLAIN) + 8, 0, []
    for _ in range(count):
        offset, size, length = struct.unpack_from("<QQQ", bundle, at)
        entries.append((bundle[at + 24 : at + 24 + length].decode(), size))
        at += 24 + length
        end = max(end, offset + size)
    return entries, max(end, at)


def unpacked(section, at):
    """The plain bundle inside a compressed one, and the size of the latter."""
    version, method = struct.unpack_from("<HH", section, at + 4)
    if version == 2:
        total, _ = struct.unpack_from("<II", section, at + 8)
        header = 24
    elif version == 3:
        total, _ = struct.unpack_from("<QQ", section, at + 8)
        header = 32
    else:
        sys.exit(f"version {version} does not say how long it is")
    stream = section[at + header : at + total]
    if method == 0:
        return zlib.decompress(stream), total
    return subprocess.run(["zstd", "-dc"], input=stream, stdout=subprocess.PIPE, check=True).stdout, total


def bundler_says(bundler, bundle):
    with tempfile.NamedTemporaryFile() as file:
        file.write(bundle)
        file.flush()
        run = subprocess.run([bundler, "--type=o", "--list", f"--input={file.name}"], capture_output=True, text=True)
    return sorted(run.stdout.split()) if run.returncode == 0 else None


def main():
    with open(sys.argv[1], "rb") as file:
        section = file.read()
    bundler = sys.argv[2] if len(sys.argv) > 2 else None
    at, bundles, confirmed = 0, 0, 0
    while at < len(section):
        if section.startswith(PACKED, at):
            bundle, size = unpacked(section, at)
            entries, _ = plain_entries(bundle)
        elif section.startswith(PLAIN, at):
            entries, size = plain_entries(section[at:])
        else:
            following = [found for magic in (PLAIN, PACKED) if (found := section.find(magic, at)) >= 0]
            if not following:
                break
            at = min(following)
            continue
        bundles += 1
        said = bundler_says(bundler, section[at : at + size]) if bundler else None
        if said is not None:
            confirmed += 1
            if said != sorted(name for name, _ in entries):
                sys.exit(f"clang-offload-bundler says {said}, this reader {entries}")
        for name, length in entries:
            if name.startswith("hip"):
                print(name.split("--", 1)[1], length)
        at += size
    print(f"{bundles} bundles, {confirmed} confirmed by clang-offload-bundler", file=sys.stderr)


main()
