"""The Python part of slim_gpu.sh: computes with a torch in a folder, and compares."""
import hashlib
import json
import sys
import zlib


def compute():
    import torch
    import torch.nn.functional as functional

    torch.manual_seed(0)
    device = "cuda"

    def random(*shape, kind=torch.float32):
        return torch.randn(*shape, generator=torch.Generator().manual_seed(1)).to(device, kind)

    results = {}

    def add(name, value):
        torch.cuda.synchronize()
        data = value.detach().to("cpu")
        if data.dtype == torch.bfloat16:
            data = data.float()
        data = data.contiguous().numpy()
        results[name] = {"sha256": hashlib.sha256(data.tobytes()).hexdigest(), "sum": float(data.astype("float64").sum())}

    for kind in (torch.float32, torch.float16, torch.bfloat16):
        name = str(kind).split(".")[1]
        a, b = random(512, 512, kind=kind), random(512, 512, kind=kind)
        add(f"matmul {name}", a @ b)
        add(f"softmax {name}", torch.softmax(a, -1))
        add(f"sort {name}", torch.sort(a, dim=-1).values)
        add(f"cumsum {name}", torch.cumsum(a, dim=-1))
        q = random(2, 8, 256, 64, kind=kind)
        add(f"attention {name}", functional.scaled_dot_product_attention(q, q, q, is_causal=True))
        add(f"convolution {name}", functional.conv2d(random(4, 16, 32, 32, kind=kind), random(8, 16, 3, 3, kind=kind)))
        add(f"layer norm {name}", functional.layer_norm(a, (512,)))
    x = random(10000)
    add("topk", torch.topk(x, 100).values)
    add("index", x[torch.arange(0, 10000, 7, device=device)])
    add("unique", torch.unique((x * 10).long()))
    add("fft", torch.fft.rfft(x).abs())
    add("random", torch.rand(1000, device=device, generator=torch.Generator(device).manual_seed(3)))
    w = random(64, 64).requires_grad_()
    (w @ w).relu().pow(2).sum().backward()
    add("gradient", w.grad)
    print(json.dumps({"torch": torch.__file__, "results": results}))


def compare(before, after):
    a, b = (json.load(open(path)) for path in (before, after))
    assert a["torch"] != b["torch"], "the copy was not used"
    differ = []
    for name, value in a["results"].items():
        other = b["results"].get(name)
        if other != value and not (other and abs(other["sum"] - value["sum"]) <= 1e-5 * max(1.0, abs(value["sum"]))):
            differ.append(name)
    same = sum(b["results"].get(name) == value for name, value in a["results"].items())
    print(f"{same} of {len(a['results'])} results are the same bits; different: {differ or 'none'}")
    return 1 if differ else 0


def compile_with_torch():
    import torch

    def step(x, y):
        return torch.softmax(x @ y, -1).relu().sum(0) + torch.sin(x).mean(0)

    x, y = torch.randn(128, 128, device="cuda"), torch.randn(128, 128, device="cuda")
    made = torch.compile(step)(x, y)
    torch.testing.assert_close(made, step(x, y), rtol=1e-4, atol=1e-4)
    print("torch.compile agrees with eager mode")


def deflated(path, wheelsmith):
    """The deflated library against its kept entries and its host part (everything else), deflated by themselves."""
    import subprocess

    found = json.loads(subprocess.run([wheelsmith, "inspect", "--json", path], capture_output=True, text=True).stdout)
    data = open(path, "rb").read()
    code = sum(entry["bytes"] for entry in found["items"][0]["gpu"])
    size = len(zlib.compress(data, 1))
    section = section_of(data, ".nv_fatbin")
    host = len(zlib.compress(data[: section[0]] + data[section[0] + section[1] :], 1))
    ratio = size / (code + host)
    print(f"file {len(data)}, deflated {size}; kept entries {code} + host part deflated {host}: ratio {ratio:.3f}")
    return 0 if ratio <= 1.05 else 1


def section_of(data, wanted):
    import struct

    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]
    text = headers[names][4]
    for header in headers:
        start = text + header[0]
        if data[start : data.index(b"\0", start)].decode() == wanted:
            return header[4], header[5]
    raise SystemExit(f"no section {wanted}")


def predicted(path):
    findings = json.load(open(path))["items"][0]["findings"]
    named = [f for f in findings if f["severity"] == "error" and "no kernel image" in f["what"] + f["why"] + f["fix"]]
    for finding in named[:3]:
        print(f"check: {finding['id']}: {finding['subject']}: {finding['what']} ({finding['why']})")
    return 0 if named else 1


if __name__ == "__main__":
    if sys.argv[1] == "compare":
        sys.exit(compare(*sys.argv[2:]))
    if sys.argv[1] == "deflated":
        sys.exit(deflated(*sys.argv[2:]))
    if sys.argv[1] == "predicted":
        sys.exit(predicted(sys.argv[2]))
    sys.path.insert(0, sys.argv[1])
    {"compute": compute, "compile": compile_with_torch}[sys.argv[2]]()
