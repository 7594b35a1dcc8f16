# No driver or device at run time, and ROCm parts that are not there.

log driver-cuda-runtime driver driver probe
driver-cuda-runtime() {
  cat >probe.cu <<'CODE'
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#define CHECK(x) do { cudaError_t e = (x); if (e != cudaSuccess) { std::fprintf(stderr, "CUDA error at %s:%d: %s (%s)\n", __FILE__, __LINE__, cudaGetErrorString(e), cudaGetErrorName(e)); std::exit(1); } } while (0)
int main() { int n; CHECK(cudaGetDeviceCount(&n)); std::printf("%d devices\n", n); }
CODE
  printf 'test: probe\n\t./probe\nprobe: probe.cu\n\tnvcc -arch=sm_90 -o $@ $<\n' >Makefile
  make test
}

log driver-cuda118-runtime driver driver -
driver-cuda118-runtime() {
  cuda118
  cat >probe.cu <<'CODE'
#include <cstdio>
#include <cuda_runtime.h>
int main() { void* p; cudaError_t e = cudaMalloc(&p, 16); if (e) { std::printf("cudaMalloc failed: %s\n", cudaGetErrorString(e)); return 1; } }
CODE
  quiet /usr/local/cuda-11.8/bin/nvcc -ccbin g++-11 -arch=sm_80 -o probe probe.cu
  typed ./probe
}

log driver-libcuda driver libcuda.so.1 -
driver-libcuda() {
  plain_venv
  cat >probe.py <<'CODE'
import ctypes
ctypes.CDLL('libcuda.so.1').cuInit(0)
CODE
  python probe.py
}

log driver-linked-libcuda driver libcuda.so.1 -
driver-linked-libcuda() {
  plain_venv
  echo 'int cuInit(unsigned x) { return 0; }' >stub.c
  quiet gcc -shared -fPIC -Wl,-soname,libcuda.so.1 -o libcuda.so stub.c
  printf '#include <Python.h>\nint cuInit(unsigned);\nstatic struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "ops", 0, -1, 0};\nPyMODINIT_FUNC PyInit_ops(void) { cuInit(0); return PyModule_Create(&def); }\n' >ops.c
  quiet gcc -shared -fPIC -I"$(dirname "$(python_of 3.11)")/../include/python3.11" -o ops.so ops.c -L. -lcuda
  rm libcuda.so
  typed python -c 'import ops'
}

log driver-torch-cuda driver driver -
driver-torch-cuda() { torch124_venv; python -c 'import torch
print(torch.__version__)
torch.zeros(2, device="cuda")'; }

log driver-triton driver driver -
driver-triton() {
  venv triton 3.11 triton==3.5.1 numpy torch==2.13.0 'pip<26'
  cat >kernel.py <<'CODE'
import torch, triton, triton.language as tl
@triton.jit
def twice(x): tl.store(x, tl.load(x) * 2)
twice[(1,)](torch.ones(1))
CODE
  python kernel.py
}

log driver-nvidia-smi driver nvidia-smi -
driver-nvidia-smi() {
  printf '#!/bin/bash\nset -euo pipefail\necho "== checking the GPU"\nCAPABILITY=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader)\nmake ARCH=$CAPABILITY\n' >build.sh
  bash build.sh
}

log rocm-hipcc-make rocm hipcc hipcc
rocm-hipcc-make() {
  echo '__global__ void k() {}' >k.hip
  printf 'k.o: k.hip\n\thipcc --offload-arch=gfx942 -O3 -c $< -o $@\n' >Makefile
  make
}

log rocm-opt-hipcc rocm ROCm hipcc
rocm-opt-hipcc() {
  echo '__global__ void k() {}' >k.hip
  printf 'rule hip\n  command = /opt/rocm/bin/hipcc --offload-arch=gfx1151 -c $in -o $out\nbuild k.o: hip k.hip\n' >build.ninja
  ninja
}

log rocm-cmake-language rocm HIP -
rocm-cmake-language() {
  changeable /usr/bin /usr/local
  rm -f /usr/bin/clang++* /usr/local/bin/clang++*
  printf 'cmake_minimum_required(VERSION 3.21)\nproject(kernels LANGUAGES CXX HIP)\n' >CMakeLists.txt
  cmake -S . -B build -G Ninja
}

log rocm-cmake-hip-package rocm hip -
rocm-cmake-hip-package() {
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(kernels LANGUAGES CXX)\nlist(APPEND CMAKE_PREFIX_PATH /opt/rocm)\nfind_package(hip REQUIRED)\nfind_package(rocblas REQUIRED)\n' >CMakeLists.txt
  stamped cmake -S . -B build
}

log rocm-device-library rocm ROCm k.hip
rocm-device-library() {
  need clang++-19
  echo '__attribute__((global)) void k() {}' >k.hip
  printf 'k.o: k.hip\n\tclang++-19 -x hip --offload-arch=gfx942 -c $< -o $@\n' >Makefile
  make
}

log rocm-runtime-header rocm hip_runtime k.cpp
rocm-runtime-header() {
  printf '#include <hip/hip_runtime.h>\n__global__ void k() {}\n' >k.cpp
  printf "from setuptools import Extension, setup\nsetup(name='k', version='1', ext_modules=[Extension('k', ['k.cpp'], define_macros=[('__HIP_PLATFORM_AMD__', '1')])])\n" >setup.py
  plain_venv
  pip install --no-build-isolation .
}

log rocm-library-missing rocm amdhip64 -lamdhip64
rocm-library-missing() {
  echo 'int main() { return 0; }' >main.cpp
  printf 'app: main.cpp\n\tg++ -o $@ $< -L/opt/rocm/lib -lamdhip64 -lrocblas\n' >Makefile
  make
}

log rocm-torch-home rocm ROCM_HOME -
rocm-torch-home() {
  torch_venv
  cat >setup.py <<'CODE'
from setuptools import setup
from torch.utils import cpp_extension
from torch.utils.cpp_extension import BuildExtension
print('hipcc:', cpp_extension._join_rocm_home('bin', 'hipcc'))
setup(name='ops', version='1', cmdclass={'build_ext': BuildExtension})
CODE
  pip install --no-build-isolation .
}

log rocm-hip-sdk-import rocm libamdhip64 -
rocm-hip-sdk-import() {
  plain_venv
  python -c "import ctypes
ctypes.CDLL('libamdhip64.so.6')"
}

log rocm-hipconfig rocm hipconfig -
rocm-hipconfig() {
  cat >setup.py <<'CODE'
import subprocess
from setuptools import setup
version = subprocess.check_output(['/opt/rocm/bin/hipconfig', '--version'], text=True)
setup(name='rocm_ops', version='1+' + version)
CODE
  plain_venv
  uv pip install --no-build-isolation .
}
