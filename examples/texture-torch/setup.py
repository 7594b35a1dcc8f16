"""TEXTURE_VARIANT is cpu (default), cuda or rocm; TORCH_CUDA_ARCH_LIST and PYTORCH_ROCM_ARCH say for which GPUs.

TEXTURE_LABEL=cu130 makes the version 1.0.0+cu130, so that several builds can lie in one wheelhouse.
"""

import os

import torch
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension, CUDAExtension

variant = os.environ.get("TEXTURE_VARIANT", "cpu")
label = os.environ.get("TEXTURE_LABEL", "")
gpu_of_torch = "cuda" if torch.version.cuda else "rocm" if torch.version.hip else None
if variant not in ("cpu", "cuda", "rocm"):
    raise SystemExit(f"TEXTURE_VARIANT must be cpu, cuda or rocm, not {variant!r}")
if variant not in ("cpu", gpu_of_torch):
    raise SystemExit(f"TEXTURE_VARIANT={variant}, but torch {torch.__version__} is a build for {gpu_of_torch or 'cpu'}")

# Round every product before it is added, so that CPU and GPU agree to the last bit. The operators are not Python
# objects, so one wheel works with every Python; but only with the torch it was built with.
host = ["-O3", "-ffp-contract=off", "-fno-math-errno"]
device = ["-O3", "-fmad=false"] if variant == "cuda" else ["-O3", "-ffp-contract=off"]
extension = (CppExtension if variant == "cpu" else CUDAExtension)(
    "texture_torch._operators",
    ["csrc/operators.cc"] + (["csrc/operators_cuda.cu"] if variant != "cpu" else []),
    include_dirs=[os.path.abspath("csrc")],
    extra_compile_args=host if variant == "cpu" else {"cxx": host, "nvcc": device},
    extra_link_args=["-s"],
    py_limited_api=True,
)

setup(
    version="1.0.0" + (f"+{label}" if label else ""),
    install_requires=[f"torch=={torch.__version__.split('+')[0]}"],
    ext_modules=[extension],
    cmdclass={"build_ext": BuildExtension.with_options(use_ninja=True)},
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
)
