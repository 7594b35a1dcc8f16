"""Reads PPM, writes PGM and PNG, and generates a picture, without any library."""

import math
import re
import struct
import zlib
from pathlib import Path


def read_ppm(path) -> tuple[bytes, int, int]:
    """RGB, width and height of a binary PPM (P6) with one byte a channel."""
    data = Path(path).read_bytes()
    gap = rb"(?:\s|#[^\n]*\n)+"
    header = re.match(rb"P6" + gap + rb"(\d{1,9})" + gap + rb"(\d{1,9})" + gap + rb"(\d{1,9})\s", data)
    if not header or int(header[3]) != 255:
        raise ValueError(f"{path}: not a binary PPM (P6) with values up to 255")
    width, height = int(header[1]), int(header[2])
    pixels = data[header.end() :]
    if width < 1 or height < 1 or len(pixels) < 3 * width * height:
        raise ValueError(f"{path}: the header says {width} x {height} pixels, but there are {len(pixels)} bytes")
    return pixels[: 3 * width * height], width, height


def write_picture(path, pixels: bytes, width: int, height: int) -> None:
    """Gray or RGB, by the number of bytes, as the file's name says: .png, .pgm (gray) or .ppm (RGB)."""
    channels = len(pixels) // (width * height)
    kind = Path(path).suffix.lower()
    if kind == ".png":
        stride = width * channels
        rows = b"".join(b"\0" + pixels[at : at + stride] for at in range(0, len(pixels), stride))
        header = struct.pack(">IIBBBBB", width, height, 8, 2 if channels == 3 else 0, 0, 0, 0)
        chunks = (b"IHDR", header), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b"")
        data = b"\x89PNG\r\n\x1a\n" + b"".join(
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
            for name, body in chunks
        )
    elif kind == {1: ".pgm", 3: ".ppm"}[channels]:
        data = b"P%d\n%d %d\n255\n" % (5 if channels == 1 else 6, width, height) + pixels
    else:
        raise ValueError(f"{path}: use .png{', .pgm' if channels == 1 else ', .ppm'}")
    Path(path).write_bytes(data)


def landscape(width: int, height: int) -> bytes:
    """Dusk over hills and a lake: gradients, curves, thin lines and a sharp disc. Heights are 0 at the top, 1 below."""
    shore, (sun_x, sun_y, sun_size) = 0.70, (0.66, 0.33, 0.11)
    high, low, glow, sun, deep = (38, 50, 104), (255, 178, 112), (255, 214, 150), (255, 244, 214), (24, 30, 66)
    hills = [  # nearest first: height of the crest, its waves (size, how many, shift), colour
        (0.63, ((0.034, 2.3, 5.0), (0.018, 6.1, 3.0), (0.007, 17.3, 2.0), (0.004, 41.0, 0.3)), (54, 48, 86)),
        (0.55, ((0.045, 1.9, 2.6), (0.022, 4.7, 1.0), (0.008, 13.1, 1.0), (0.003, 37.0, 1.7)), (98, 78, 122)),
        (0.46, ((0.050, 1.3, 0.4), (0.030, 3.1, 2.0), (0.010, 9.7, 0.0), (0.003, 29.0, 0.9)), (143, 112, 150)),
    ]

    def mix(a, b, t):
        t = 0.0 if t < 0 else 1.0 if t > 1 else t
        return a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t

    def crest(base, waves, x):
        return base + sum(size * math.sin(count * math.pi * x / width + shift) for size, count, shift in waves)

    crests = [([crest(base, waves, x) for x in range(width)], shade) for base, waves, shade in hills]

    def sky(x, v):
        colour = mix(high, low, (v / shore) ** 1.4)
        distance = math.hypot((x / width - sun_x) * width / height, v - sun_y) - sun_size
        colour = mix(colour, glow, 0.55 * math.exp(-6 * max(distance, 0)))
        return mix(colour, sun, 0.5 - distance * height)

    def land(x, v, hill=0):
        if hill == len(crests):
            return sky(x, v)
        heights, shade = crests[hill]
        under = v - heights[min(max(int(x), 0), width - 1)]
        cover = under * height + 0.5  # of this pixel, which makes the crest smooth
        if cover <= 0:
            return land(x, v, hill + 1)
        shade = mix(shade, low, min(1.2 * under, 0.3))
        return shade if cover >= 1 else mix(land(x, v, hill + 1), shade, cover)

    def water(x, v):  # a mirror whose ripples grow towards us
        depth = (v - shore) / (1 - shore)
        ripple = math.sin(90 * math.sqrt(depth + 0.02) + 2.2 * math.sin(7 * x / width))
        mirrored = land(x + 10 * depth * ripple, shore - 0.9 * (v - shore) * (1 + 0.15 * ripple))
        return mix(mirrored, deep, 0.3 + 0.35 * depth + 0.06 * ripple)

    pixels = bytearray()
    for y in range(height):
        v = (y + 0.5) / height
        seen = land if v < shore else water
        for x in range(width):
            pixels += bytes(map(round, seen(x, v)))
    return bytes(pixels)


def below(upper: bytes, lower: bytes) -> bytes:
    """An RGB picture above a gray one of the same width, as RGB."""
    gray = bytearray(3 * len(lower))
    gray[0::3] = gray[1::3] = gray[2::3] = lower
    return upper + bytes(gray)
