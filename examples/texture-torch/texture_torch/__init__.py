"""RGB to LAB and Sobel edges as torch operators, on the device where the picture is.

    lab = texture_torch.rgb_to_lab(picture)  # uint8, height x width x 3, to float32 of that shape
    edges = texture_torch.sobel(picture)     # uint8, height x width x 3 or height x width, to uint8, height x width

They are torch.ops.texture.rgb_to_lab and torch.ops.texture.sobel, known to torch.compile; they have no gradient.
"""

from pathlib import Path

import torch

torch.ops.load_library(next(Path(__file__).parent.glob("_operators*.so")))


def rgb_to_lab(image: torch.Tensor) -> torch.Tensor:
    """L*, a* and b* (D65) of each sRGB pixel."""
    return torch.ops.texture.rgb_to_lab(image)


def sobel(image: torch.Tensor) -> torch.Tensor:
    """The strength of the edge at each pixel of an RGB or gray picture."""
    return torch.ops.texture.sobel(image)


@torch.library.register_fake("texture::rgb_to_lab")
def _(image):
    return torch.empty(image.shape, dtype=torch.float32, device=image.device)


@torch.library.register_fake("texture::sobel")
def _(image):
    return torch.empty(image.shape[:2], dtype=torch.uint8, device=image.device)
