"""python -m texture_torch --self-test [--gpu]: compares with a reference in torch, and the GPU with the CPU."""

import argparse

import torch
import torch.nn.functional as F

import texture_torch


def reference_lab(image):
    c = image.double() / 255
    c = torch.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4123908, 0.3575843, 0.1804808], [0.2126390, 0.7151687, 0.0721923], [0.0193308, 0.1191948, 0.9505322]]
    t = c @ torch.tensor(to_xyz, dtype=torch.double).T / torch.tensor([0.9504559, 1.0, 1.0890578])
    x, y, z = torch.where(t > (6 / 29) ** 3, t ** (1 / 3), t * (29 / 6) ** 2 / 3 + 4 / 29).unbind(-1)
    return torch.stack((116 * y - 16, 500 * (x - y), 200 * (y - z)), -1)


def reference_sobel(image):
    if image.dim() == 3:
        image = (image.int() * torch.tensor([77, 150, 29])).sum(-1).add(128) // 256
    across = torch.tensor([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]], dtype=torch.double)
    padded = F.pad(image.double()[None, None], (1, 1, 1, 1), mode="replicate")
    both = F.conv2d(padded, torch.stack((across, across.T))[:, None])[0]
    return (both.square().sum(0).sqrt() + 0.5).floor().clamp(max=255).byte()


def expect(what, found, wanted, bound):
    assert found.shape == wanted.shape, f"{what}: {found.shape} against {wanted.shape}"
    difference = (found.double() - wanted.double()).abs().max().item()
    print(f"{what}: largest difference {difference:.2g}, at most {bound:g} allowed")
    if not difference <= bound:
        raise SystemExit(f"FAILED: {what}")


def cpu_against_reference():
    for height, width in ((1, 1), (1, 6), (6, 1), (37, 53)):
        rgb = torch.randint(256, (height, width, 3), dtype=torch.uint8)
        expect(f"LAB of {width} x {height}", texture_torch.rgb_to_lab(rgb), reference_lab(rgb), 1e-3)
        expect(f"edges of {width} x {height}", texture_torch.sobel(rgb), reference_sobel(rgb), 0)
        gray = rgb[..., 0]  # strided
        expect(f"edges of gray, {width} x {height}", texture_torch.sobel(gray), reference_sobel(gray), 0)


def torch_knows_the_operators():
    rgb = torch.zeros(4, 5, 3, dtype=torch.uint8)
    for operator in (texture_torch.rgb_to_lab, texture_torch.sobel):
        found, promised = operator(rgb), operator(rgb.to("meta"))  # what torch.compile sees
        assert (found.shape, found.dtype) == (promised.shape, promised.dtype), f"{found.shape} is not {promised.shape}"
    for wrong in (rgb.float(), rgb[..., :2], rgb[:0]):
        try:
            texture_torch.sobel(wrong)
        except RuntimeError:
            continue
        raise SystemExit("FAILED: an invalid picture was accepted")
    print("shapes are correct, invalid pictures are rejected")


def gpu_against_cpu():
    """The results must be bit-identical."""
    rgb = torch.randint(256, (767, 1021, 3), dtype=torch.uint8)
    expect("LAB, GPU against CPU", texture_torch.rgb_to_lab(rgb.cuda()).cpu(), texture_torch.rgb_to_lab(rgb), 0)
    expect("edges, GPU against CPU", texture_torch.sobel(rgb.cuda()).cpu(), texture_torch.sobel(rgb), 0)


def main():
    parser = argparse.ArgumentParser(prog="python -m texture_torch", description=__doc__)
    parser.add_argument("--self-test", action="store_true", required=True)
    parser.add_argument("--gpu", action="store_true", help="also compare the GPU with the CPU; exit status 77 without a GPU")
    options = parser.parse_args()
    torch.manual_seed(1)
    print(f"texture_torch on torch {torch.__version__}")
    cpu_against_reference()
    torch_knows_the_operators()
    if options.gpu:
        if not torch.cuda.is_available():
            print("not run: no GPU")
            raise SystemExit(77)
        print(f"on {torch.cuda.get_device_name()}")
        gpu_against_cpu()
    print("all good")


if __name__ == "__main__":
    main()
