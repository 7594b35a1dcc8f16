"""Tar archives byte by byte, for what tarfile does not write."""

import gzip
import lzma
import shutil
import subprocess


def header(name, size=0, kind=b"0", target=b"", mode=0o644, size_field=None, prefix=b"", magic=b"ustar\x0000"):
    name, target = (value.encode() if isinstance(value, str) else value for value in (name, target))
    block = bytearray(512)
    block[0:min(100, len(name))] = name[:100]
    block[100:108] = b"%07o\0" % mode
    block[108:116] = block[116:124] = b"0000000\0"
    block[124:136] = size_field if size_field is not None else b"%011o\0" % size
    block[136:148] = b"00000000000\0"
    block[148:156] = b" " * 8
    block[156:157] = kind
    block[157:157 + min(100, len(target))] = target[:100]
    block[257:265] = magic
    block[345:345 + len(prefix)] = prefix
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block)


def padded(data):
    return data + bytes(-len(data) % 512)


def member(name, data=b"", kind=b"0", **more):
    return header(name, len(data), kind, **more) + padded(data)


def pax(records, name=b"pax", kind=b"x"):
    text = b""
    for key, value in records:
        key, value = (one.encode() if isinstance(one, str) else one for one in (key, value))
        body = b" " + key + b"=" + value + b"\n"
        length = len(body) + 1
        while len(b"%d" % length) + len(body) != length:
            length = len(b"%d" % length) + len(body)
        text += b"%d" % length + body
    return member(name, text, kind)


END = bytes(1024)


def xz(data):
    return lzma.compress(data, preset=0)


def zstd(data):
    """None where there is no zstd program."""
    if shutil.which("zstd") is None:
        return None
    return subprocess.run(["zstd", "-q", "-1", "-c"], input=data, stdout=subprocess.PIPE, check=True).stdout


def gz(data):
    return gzip.compress(data, 1)


def hostile(base, outside):
    """name -> (members as bytes without the end, whether an archive with them may be taken).

    `base` is the folder that the members lie in, `outside` an absolute path that they try to reach.
    """
    outside = str(outside)
    up = "../" * 40
    a = f"{base}/share/a.txt"
    cases = {
        "dotdot": (member(f"{base}/../../../planted", b"x"), False),
        "dotdot-first": (member("../planted", b"x"), False),
        "dotdot-many": (member(f"{base}/{up}{outside.lstrip('/')}/planted"[:90], b"x"), False),
        "absolute": (pax([("path", f"{outside}/planted")]) + member("x", b"x"), False),
        "absolute-prefix": (member("planted", b"x", prefix=outside.encode()[:150]), False),
        "device": (header(f"{base}/share/disk", kind=b"4"), False),
        "character-device": (header(f"{base}/share/tty", kind=b"3"), False),
        "fifo": (header(f"{base}/share/pipe", kind=b"6"), False),
        "hard-link-out": (header(f"{base}/share/hard", kind=b"1", target=f"{outside}/secret"[:100]), False),
        "hard-link-up": (header(f"{base}/share/hard", kind=b"1", target="../../../../outside/secret"), False),
        "hard-link-to-nothing": (header(f"{base}/share/hard", kind=b"1", target=f"{base}/nothing"), False),
        "nul-in-name": (pax([("path", f"{base}/share/a\0b")]) + member("x", b"x"), False),
        "name-too-long": (pax([("path", f"{base}/" + "n" * 5000)]) + member("x", b"x"), False),
        "deep": (pax([("path", f"{base}/" + "d/" * 2000 + "f")]) + member("x", b"x"), False),
        "huge-size": (header(a, size_field=b"77777777777\0"), False),
        "huge-size-binary": (header(a, size_field=b"\x80" + b"\xff" * 11), False),
        "negative-size": (header(a, size_field=b"\xff" * 12), False),
        "huge-pax-size": (pax([("size", str((1 << 64) - 1))]) + header(a), False),
        "pax-size-overflow": (pax([("size", "9" * 40)]) + header(a), False),
        "pax-broken": (member("pax", b"999999 path=x\n", b"x") + member("x"), False),
        "pax-huge": (header("pax", kind=b"x", size_field=b"77777777777\0"), False),
        "long-name-huge": (header("@", kind=b"L", size_field=b"77777777777\0"), False),
        "bad-checksum": (header(a)[:150] + b"zz" + header(a)[152:], False),
        "sparse": (pax([("GNU.sparse.major", "1"), ("GNU.sparse.name", a)]) + member("x", b"x"), False),
        "link-with-content": (header(f"{base}/share/l", 512, b"2", target="a") + b"x" * 512, False),
    }
    return cases


def odd(base, outside):
    """Members that an artifact may have; what becomes of them is the question."""
    outside = str(outside)
    link = lambda name, target: pax([("linkpath", target)]) + header(f"{base}/{name}", kind=b"2", target=target[:100])
    return {
        "link-absolute": link("lib/absolute.so", f"{outside}/folder/secret.so"),
        "link-up": link("lib/up.so", "../" * 30 + f"{outside}/folder/secret.so".lstrip("/")),
        "link-chain": link("lib/c0", f"{outside}/secret") + b"".join(link(f"lib/c{i}", f"c{i - 1}") for i in range(1, 60)),
        "link-loop": link("lib/x", "y") + link("lib/y", "x") + link("lib/self", "self"),
        "link-as-folder": link("share/to", str(outside)) + member(f"{base}/share/to/planted", b"x"),
        "file-as-folder": member(f"{base}/share/f", b"x") + member(f"{base}/share/f/below", b"x"),
        "twice": member(f"{base}/share/twice.txt", b"one") + member(f"{base}/share/twice.txt", b"two"),
        "file-then-link": member(f"{base}/share/t", b"one") + link("share/t", f"{outside}/secret"),
        "case-collision": member(f"{base}/share/Case.txt", b"one") + member(f"{base}/share/case.TXT", b"two"),
        "control-characters": member(f"{base}/share/a\x1b]0;t\x07\x1b[31m\r\n\x7f".encode() + b"\x9b\xff.txt", b"x"),
        "quotes": member(f"{base}/share/a'\"`$(touch planted);&<b>\\.txt", b"x"),
        "comma": member(f'{base}/share/a,"b",sha256=x,1.txt', b"x"),
        "newline": member(f"{base}/share/a\nb,sha256=x,1\n.txt", b"x"),
        "empty-parts": member(f"{base}//share/./././e.txt", b"x"),
        "set-user-id": member(f"{base}/bin/suid", b"#!/bin/sh\n", mode=0o6755),
        "script-with-path": member(f"{base}/bin/run", b"#!" + outside.encode() + b"/canary\n", mode=0o755),
        "deep-enough": pax([("path", f"{base}/" + "d/" * 100 + "f")]) + member("x", b"x"),
        "many-folders": b"".join(header(f"{base}/share/d{i}/", kind=b"5") for i in range(5000)),
        "not-an-elf": member(f"{base}/lib/libcut.so.1", b"\x7fELF\2\1\1" + bytes(9) + b"\xff" * 48),
    }
