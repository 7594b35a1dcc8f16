#!/bin/bash
# Makes a real wheel on the spot, looks into it, checks it, damages a copy and checks that. Needs only what the build needs.
set -euo pipefail
cd "$(dirname "$0")/.."
wheelsmith=$PWD/build/wheelsmith
demo=$PWD/build/demo
rm -rf "$demo"
mkdir -p "$demo/damaged"
cd "$demo"
machine=$(uname -m)

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[[ -t 1 ]] || say() { printf '\n%s\n' "$*"; }
show() { say "\$ wheelsmith $*"; "$wheelsmith" "$@" || echo "(exit status $?)"; }

# An extension module; with nvcc found, with CUDA code in it.
cp ../../tests/extension.c .
gcc -shared -fPIC -O2 extension.c -o _demo.so -lm
members=("demo/_demo.cpython-311-$machine-linux-gnu.so=_demo.so")
if command -v nvcc >/dev/null; then
  say "nvcc is here: the wheel gets CUDA code for sm_80 and sm_90, and PTX"
  cat >kernel.cu <<'END'
__global__ void scale(float* x, float f) { for (int i = 0; i < 64; ++i) x[threadIdx.x + 32 * i] *= f; }
extern "C" void demo_scale(float* x) { scale<<<1, 32>>>(x, 2.0f); }
END
  # The CUDA runtime comes from outside the wheel, as it does for torch's own extensions; an empty library with its name
  # makes the linker write that down, whatever this machine has of CUDA.
  release=$(nvcc --version | sed -n 's/.*release \([0-9]*\).*/\1/p')
  gcc -shared -x c /dev/null -o libcudart.so "-Wl,-soname,libcudart.so.$release"
  nvcc -shared -Xcompiler -fPIC -cudart none -gencode arch=compute_80,code=sm_80 \
    -gencode 'arch=compute_90,code=[sm_90,compute_90]' kernel.cu -o libdemo_cuda.so \
    -Xlinker --no-as-needed -L. -lcudart
  members+=(demo/libdemo_cuda.so=libdemo_cuda.so)
fi
echo 'from ._demo import *' >init.py
wheel=demo-1.0-cp311-cp311-linux_$machine.whl
python3 ../../tests/wheel_maker.py "$wheel" demo/__init__.py=init.py "${members[@]}"

show inspect "$wheel"
show check "$wheel"

say "A copy in which RECORD no longer fits one of the files:"
python3 -W ignore ../../tests/mutate_wheel.py wrong_hash "$wheel" damaged >/dev/null
show check "damaged/$wheel"
