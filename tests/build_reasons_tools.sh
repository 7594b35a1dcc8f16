#!/bin/bash
# The parts of a CUDA toolkit and torch are inputs of the key, each by its own name. Both are stand-ins: a toolkit of
# scripts and a torch of two files are read like real ones, and nothing is compiled for a GPU.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need python3 gcc
small_package "$t"
cd "$t"
sed -i 's/^\[variant.cpu\]$/[requires]\ntorch = true\n[variant.cpu]\n[variant.cuda]\ncheck.archs = false/' recipes/small.toml

# A toolkit whose compiler prints what nvcc 13.0 prints; cicc and ptxas are in NVIDIA's folders.
mkdir -p cuda/bin cuda/nvvm/bin cuda/include/crt cuda/lib64
cat >cuda/bin/nvcc <<'SH'
#!/bin/sh
case $1 in
  --version) echo 'Cuda compilation tools, release 13.0, V13.0.88' ;;
  --help) echo "'sm_80','sm_90'" ;;
esac
SH
for name in bin/ptxas bin/cudafe++ bin/fatbinary bin/nvlink nvvm/bin/cicc; do printf '#!/bin/sh\n' >"cuda/$name"; done
chmod +x cuda/bin/* cuda/nvvm/bin/*
touch cuda/include/cuda_runtime.h cuda/lib64/libcudart.so.13

# torch VERSION CUDA: an environment that has it, as far as files and an import show.
python3 -m venv --without-pip torch
site=$(torch/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
torch() {
  mkdir -p "$site/torch/include/c10/cuda/impl"
  touch "$site/torch/include/c10/cuda/impl/cuda_cmake_macros.h"
  printf "__version__ = '%s'\ncuda = %s\nhip = None\n" "$1" "$2" >"$site/torch/version.py"
  cat >"$site/torch/__init__.py" <<'PYTHON'
from . import version
from .version import __version__
class _C:
    _GLIBCXX_USE_CXX11_ABI = True
PYTHON
  touch "$site/torch/distributed.py"
}

# look VARIANT: plans with this toolkit and torch.
look() { run_json plan small --torch "$t/torch" --cuda "$t/cuda" $([[ $1 == cpu ]] || echo --arch 9.0) --variant "$1"; expect 0 "$status" "$(cat "$t/err")"; }
# tried VARIANT: a build records its inputs, whether or not it produces a wheel (here the check may reject it).
tried() {
  run_json build small --torch "$t/torch" --cuda "$t/cuda" $([[ $1 == cpu ]] || echo --arch 9.0) --variant "$1" --despite-doctor
  look "$1"
  key=$(json 'steps[0].key')
}
# changed VARIANT NAME: the key has changed, and NAME is the only reason.
changed() {
  look "$1"
  [[ $(json 'steps[0].key') != "$key" ]] || fail "the key is the same although $2 changed"
  expect "$2 changed" "$(json 'steps[0].reason')"
}
same() { look "$1"; expect "$key" "$(json 'steps[0].key')"; }

torch 2.13.0+cpu None
tried cpu
torch 2.13.1+cpu None
changed cpu torch
torch 2.13.0+cpu None
same cpu

# Every program of the toolkit that nvcc calls, even if nvcc itself is unchanged.
torch 2.13.0+cu130 "'13.0'"
tried cuda
for part in bin/ptxas nvvm/bin/cicc bin/nvcc; do
  cp -p "cuda/$part" kept
  printf '#' >>"cuda/$part"
  name=tool:nvcc/${part##*/}
  changed cuda "${name/nvcc\/nvcc/nvcc}"
  cp -p kept "cuda/$part"
  same cuda
done
torch 2.13.1+cu130 "'13.0'"
changed cuda torch
