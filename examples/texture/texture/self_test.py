"""Compares with a reference in plain Python, and the GPU with the CPU."""

import math
import random
from array import array

import texture

SIZES = [(1, 1), (1, 7), (7, 1), (2, 2), (3, 5), (33, 17), (64, 9)]


def reference_lab(rgb: bytes) -> list[float]:
    lab = []
    for at in range(0, len(rgb), 3):
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb[at : at + 3]))
        x = (0.412391 * r + 0.357584 * g + 0.180481 * b) / 0.950456
        y = 0.212639 * r + 0.715169 * g + 0.072192 * b
        z = (0.019331 * r + 0.119195 * g + 0.950532 * b) / 1.089058
        x, y, z = (t ** (1 / 3) if t > (6 / 29) ** 3 else t * (29 / 6) ** 2 / 3 + 4 / 29 for t in (x, y, z))
        lab += [116 * y - 16, 500 * (x - y), 200 * (y - z)]
    return lab


def reference_sobel(image: bytes, width: int, height: int) -> bytes:
    if len(image) == 3 * width * height:
        image = [(77 * r + 150 * g + 29 * b + 128) // 256 for r, g, b in zip(image[::3], image[1::3], image[2::3])]

    def at(x, y):
        return image[min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)]

    def strength(x, y):
        across = sum(w * (at(x + 1, y + d) - at(x - 1, y + d)) for d, w in ((-1, 1), (0, 2), (1, 1)))
        along = sum(w * (at(x + d, y + 1) - at(x + d, y - 1)) for d, w in ((-1, 1), (0, 2), (1, 1)))
        return min(255, int(math.hypot(across, along) + 0.5))

    return bytes(strength(x, y) for y in range(height) for x in range(width))


def largest_difference(a, b) -> float:
    assert len(a) == len(b), f"{len(a)} values against {len(b)}"
    return max(abs(p - q) for p, q in zip(a, b))


def expect(what: str, difference: float, bound: float) -> None:
    print(f"{what}: largest difference {difference:.2g}, at most {bound:g} allowed")
    if not difference <= bound:
        raise SystemExit(f"FAILED: {what}")


def cpu_against_reference() -> None:
    dice = random.Random(1)
    lab, edges = 0.0, 0.0
    for width, height in SIZES:
        rgb, gray = dice.randbytes(3 * width * height), dice.randbytes(width * height)
        # Every kind of buffer works like bytes.
        found = array("f", texture.rgb_to_lab(bytearray(rgb), width, height, device="cpu"))
        lab = max(lab, largest_difference(found, reference_lab(rgb)))
        for image in (rgb, gray):
            found = texture.sobel(memoryview(image), width, height, device="cpu")
            edges = max(edges, largest_difference(found, reference_sobel(image, width, height)))
    expect("LAB on the CPU against Python", lab, 1e-3)
    expect("edges on the CPU against Python", edges, 0)
    white = array("f", texture.rgb_to_lab(b"\xff" * 3, 1, 1, device="cpu"))
    expect("LAB of white", largest_difference(white, (100, 0, 0)), 1e-3)


def mistakes_are_named() -> None:
    for call in (
        lambda: texture.sobel(b"12345", 2, 2),
        lambda: texture.rgb_to_lab(b"1234", 2, 2),
        lambda: texture.sobel(b"", 0, 0),
        lambda: texture.sobel(b"1", 2**62, 2**62),
        lambda: texture.sobel(b"1", 1, 1, device="tpu"),
    ):
        try:
            call()
        except ValueError:
            continue
        raise SystemExit("FAILED: an invalid argument was accepted")
    print("invalid arguments are rejected")


def gpu_against_cpu() -> None:
    """Large enough for several CPU threads, and of odd size. The results must be bit-identical."""
    width, height = 1021, 767
    rgb = random.Random(2).randbytes(3 * width * height)
    gray = rgb[: width * height]

    def both(call, type_, image):
        return largest_difference(*(array(type_, call(image, width, height, device=d)) for d in ("cpu", "gpu")))

    expect("LAB, GPU against CPU", both(texture.rgb_to_lab, "f", rgb), 0)
    expect("edges of RGB, GPU against CPU", both(texture.sobel, "B", rgb), 0)
    expect("edges of gray, GPU against CPU", both(texture.sobel, "B", gray), 0)


def main(gpu: bool) -> None:
    """Exits with status 77, the convention for skipped tests, when a GPU is requested and there is none."""
    print(f"texture: variant {texture.variant}, architectures {' '.join(texture.architectures) or 'none'}")
    cpu_against_reference()
    mistakes_are_named()
    if gpu:
        try:
            texture.sobel(b"1", 1, 1, device="gpu")
        except RuntimeError as error:
            print(f"not run: {error}")
            raise SystemExit(77)
        print(f"on {texture.gpu_name()}")
        gpu_against_cpu()
    print("all good")
