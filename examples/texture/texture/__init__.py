"""RGB to LAB and Sobel edges, on the CPU or a GPU, of anything that has a buffer of bytes.

    lab = array("f", texture.rgb_to_lab(rgb, width, height))
    edges = texture.sobel(rgb_or_gray, width, height, device="gpu")

CPU and GPU give the same bytes. "auto" takes the GPU where there is one that this build has code for.
"""

from . import _native

variant: str = _native.variant
"""The GPU platform of this build: "cuda", "rocm", or "cpu" for none."""

architectures: tuple[str, ...] = tuple(_native.architectures.split())
"""The compiled GPU architectures, such as ("sm_80", "sm_90", "compute_90")."""


def gpu_name() -> str | None:
    """The GPU used by device="gpu", if this build has code for one."""
    return _native.gpu()[0]


def rgb_to_lab(image, width: int, height: int, device: str = "auto") -> bytes:
    """L*, a* and b* (D65) of each pixel as float32, from three bytes of sRGB each."""
    return _native.rgb_to_lab(image, width, height, _on_gpu(device))


def sobel(image, width: int, height: int, device: str = "auto") -> bytes:
    """The strength of the edge at each pixel, a byte, from one byte of gray or three of RGB each."""
    return _native.sobel(image, width, height, _on_gpu(device))


def _on_gpu(device: str) -> bool:
    if device == "cpu":
        return False
    if device not in ("auto", "gpu"):
        raise ValueError(f'device must be "auto", "cpu" or "gpu", not {device!r}')
    name, reason = _native.gpu()
    if name is None and device == "gpu":
        built_for = f" (built for {', '.join(architectures)})" if architectures else ""
        raise RuntimeError(f"no usable GPU: {reason}{built_for}")
    return name is not None
