"""Compares flash-attn with torch's own attention on the GPU: outputs and gradients, both number types, all head sizes that
the package has kernels for, causal or not, grouped heads, lengths that fill no tile. The reference is torch's plain
attention in float32; the error may be three times that of the same attention in the number type itself."""
import time

import flash_attn
import torch
from flash_attn import flash_attn_func
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

SHAPES = ((2, 512, 8, 8), (1, 1023, 8, 2))  # batch, length, heads, heads of keys and values


def reference(q, k, v, gradient, dtype, causal):
    q, k, v = (x.detach().to(dtype).requires_grad_() for x in (q, k, v))
    groups = q.shape[2] // k.shape[2]
    with sdpa_kernel(SDPBackend.MATH):
        keys, values = (x.transpose(1, 2).repeat_interleave(groups, 1) for x in (k, v))
        out = scaled_dot_product_attention(q.transpose(1, 2), keys, values, is_causal=causal).transpose(1, 2)
    return (out, *torch.autograd.grad(out, (q, k, v), gradient.to(dtype)))


def largest(difference):
    return difference.abs().max().item()


def compare(dtype, size, causal, shape):
    batch, length, heads, kv_heads = shape
    make = lambda n: torch.randn(batch, length, n, size, device="cuda", dtype=dtype, requires_grad=True)
    q, k, v = make(heads), make(kv_heads), make(kv_heads)
    out = flash_attn_func(q, k, v, causal=causal)
    gradient = torch.randn_like(out)
    ours = (out, *torch.autograd.grad(out, (q, k, v), gradient))
    exact = reference(q, k, v, gradient, torch.float32, causal)
    rounded = reference(q, k, v, gradient, dtype, causal)
    for name, got, wanted, other in zip(("out", "dq", "dk", "dv"), ours, exact, rounded):
        error, allowed = largest(got.float() - wanted), 3 * largest(other.float() - wanted) + 1e-5
        assert error <= allowed, (dtype, size, causal, shape, name, error, allowed)
        yield error / allowed


def milliseconds(call, rounds=20):
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(rounds):
        call()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / rounds * 1000


torch.manual_seed(7)
print(f"flash-attn {flash_attn.__version__}, torch {torch.__version__}, {torch.cuda.get_device_name()}, seed 7")
parts = [
    part
    for dtype in (torch.float16, torch.bfloat16)
    for size in (32, 64, 96, 128, 192, 256)
    for causal in (False, True)
    for shape in SHAPES
    for part in compare(dtype, size, causal, shape)
]
print(f"{len(parts)} of {len(parts)} tensors agree; the largest error is {max(parts):.2f} of what is allowed")
q, k, v = (torch.randn(4, 4096, 16, 128, device="cuda", dtype=torch.bfloat16) for _ in range(3))


def plain():
    with sdpa_kernel(SDPBackend.MATH):
        scaled_dot_product_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), is_causal=True)


fast, slow = milliseconds(lambda: flash_attn_func(q, k, v, causal=True)), milliseconds(plain)
print(f"4 x 4096 x 16 x 128, causal: {fast:.2f} ms, torch's plain attention {slow:.2f} ms")
