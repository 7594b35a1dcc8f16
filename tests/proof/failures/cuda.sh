# No CUDA toolkit, a part of it missing, or parts of different versions.

hide_cuda() {
  changeable /usr/local
  rm -rf /usr/local/cuda /usr/local/cuda-* /usr/local/bin/nvcc /usr/local/bin/ptxas
}

# A kernel with its setup.py for torch's extension builder.
torch_cuda_project() {
  mkdir -p csrc
  cat >csrc/scale.cpp <<'CODE'
#include <torch/extension.h>
void scale(torch::Tensor x);
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale", &scale); }
CODE
  cat >csrc/scale_kernel.cu <<'CODE'
__global__ void scale_kernel(float* x) { x[threadIdx.x] *= 2; }
CODE
  cat >setup.py <<'CODE'
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CUDAExtension
setup(name='scale', version='0.2.0',
      ext_modules=[CUDAExtension('scale_cuda', ['csrc/scale.cpp', 'csrc/scale_kernel.cu'])],
      cmdclass={'build_ext': BuildExtension})
CODE
}

# A CMake project of one kernel.
cmake_cuda_project() {
  cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.18)
project(fastnorm LANGUAGES CXX CUDA)
add_library(fastnorm SHARED norm.cu)
CMAKE
  echo '__global__ void norm(float* x) { x[threadIdx.x] *= 2; }' >norm.cu
}

log cuda-missing-torch-cuda-home cuda-missing CUDA_HOME -
cuda-missing-torch-cuda-home() { torch_venv; hide_cuda; torch_cuda_project; pip install --no-build-isolation .; }

log cuda-missing-torch-editable cuda-missing CUDA_HOME -
cuda-missing-torch-editable() { torch_venv; hide_cuda; torch_cuda_project; typed python setup.py develop; }

log cuda-missing-make cuda-missing nvcc nvcc
cuda-missing-make() {
  hide_cuda
  echo '__global__ void k() {}' >kernel.cu
  printf 'all: host.o kernel.o\nkernel.o: kernel.cu\n\tnvcc -O3 -c kernel.cu -o kernel.o\n' >Makefile
  echo 'int main() { return 0; }' >host.cpp
  make
}

log cuda-missing-script cuda-missing nvcc -
cuda-missing-script() {
  hide_cuda
  printf '#!/bin/bash\nset -e\necho "Building the extension"\nCUDA_VERSION=$(nvcc --version | tail -n1)\nnvcc -shared -o libk.so k.cu\n' >build.sh
  echo 'set -o pipefail' | cat - build.sh >b && mv b build.sh
  bash build.sh
}

log cuda-missing-cmake-language cuda-missing CUDA cmake
cuda-missing-cmake-language() { hide_cuda; cmake_cuda_project; typed cmake -B build; }

log cuda-missing-cudacxx cuda-missing CUDACXX -
cuda-missing-cudacxx() { hide_cuda; cmake_cuda_project; CUDACXX=/usr/local/cuda-12.4/bin/nvcc cmake -S . -B build -G Ninja; }

log cuda-missing-cmake-toolkit cuda-missing toolkit -
cuda-missing-cmake-toolkit() {
  hide_cuda
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(runtime LANGUAGES C CXX)\nfind_package(Threads REQUIRED)\nfind_package(CUDAToolkit REQUIRED)\n' >CMakeLists.txt
  cmake -B build
}

log cuda-missing-cmake-target cuda-missing cublas -
cuda-missing-cmake-target() {
  cmake_cuda_project
  printf 'find_package(CUDAToolkit REQUIRED)\ntarget_link_libraries(fastnorm PRIVATE CUDA::cudart CUDA::cublas CUDA::cusparse)\n' >>CMakeLists.txt
  cmake -S . -B build -DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc -DCMAKE_CUDA_ARCHITECTURES=90
}

log cuda-missing-cublas-header cuda-missing cublas gemm.cu
cuda-missing-cublas-header() {
  printf '#include <cublas_v2.h>\ncublasHandle_t handle;\n' >gemm.cu
  echo '__global__ void k() {}' >other.cu
  cat >build.ninja <<'NINJA'
rule cuda
  command = /usr/local/cuda/bin/nvcc -O2 -arch=sm_90 -Xcompiler -fPIC -c $in -o $out
build other.o: cuda other.cu
build gemm.o: cuda gemm.cu
NINJA
  ninja -k 0
}

log cuda-missing-curand-header cuda-missing curand -
cuda-missing-curand-header() {
  printf '#include <curand_kernel.h>\n__global__ void sample(curandState* s) {}\n' >sampling.cu
  printf '#include <curand.h>\nint x;\n' >host.cpp
  printf 'all: sampling.o host.o\n%%.o: %%.cu\n\tnvcc -arch=sm_90 -dc $< -o $@\n' >Makefile
  make -k -j2
}

log cuda-missing-nvtx-header cuda-missing nvToolsExt trace.cpp
cuda-missing-nvtx-header() {
  printf '#include <nvToolsExt.h>\nvoid mark() { nvtxMarkA("step"); }\n' >trace.cpp
  cat >setup.py <<'CODE'
from setuptools import Extension, setup
setup(name='tracer', version='1.2', ext_modules=[Extension('tracer', ['trace.cpp'], include_dirs=['/usr/local/cuda/include'])])
CODE
  plain_venv
  pip install --no-build-isolation .
}

log cuda-missing-cudnn-header cuda-missing cudnn conv.cc
cuda-missing-cudnn-header() {
  printf '#include <cuda_runtime.h>\n#include <cudnn.h>\ncudnnHandle_t handle;\n' >conv.cc
  printf 'CXXFLAGS = -I/usr/local/cuda/include -fPIC -fdiagnostics-color=always\nall: conv.o\n' >Makefile
  make
}

log cuda-missing-torch-context cuda-missing cusparse ctx.cpp
cuda-missing-torch-context() {
  torch_venv
  printf '#include <torch/extension.h>\n#include <ATen/cuda/CUDAContext.h>\nint f() { return 0; }\n' >ctx.cpp
  cat >setup.py <<'CODE'
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension
setup(name='ctx', version='0.1', cmdclass={'build_ext': BuildExtension},
      ext_modules=[CppExtension('ctx', ['ctx.cpp'], include_dirs=['/usr/local/cuda/include'])])
CODE
  MAX_JOBS=1 python setup.py build_ext --inplace
}

log cuda-missing-cuda-home-wrong cuda-missing CUDA_HOME -
cuda-missing-cuda-home-wrong() {
  torch124_venv
  torch_cuda_project
  sed -i "s#'csrc/scale.cpp', ##" setup.py
  CUDA_HOME=/usr/local/cuda-12.4 pip install -v --no-build-isolation .
}

log cuda-missing-cuda-home-colon cuda-missing CUDA_HOME -
cuda-missing-cuda-home-colon() {
  torch124_venv
  torch_cuda_project
  sed -i "s#'csrc/scale.cpp', ##" setup.py
  CUDA_HOME=:/usr/local/cuda python setup.py install
}

log cuda-missing-flash-attn cuda-missing nvcc -
cuda-missing-flash-attn() { torch_venv; hide_cuda; sdist flash-attn 2.8.3; FLASH_ATTENTION_FORCE_BUILD=TRUE pip install --no-build-isolation .; }

log cuda-missing-mamba cuda-missing CUDA -
cuda-missing-mamba() { torch_venv; hide_cuda; sdist mamba-ssm 2.2.4; MAMBA_FORCE_BUILD=TRUE pip install --no-build-isolation --no-deps .; }

log cuda-missing-causal-conv1d cuda-missing CUDA -
cuda-missing-causal-conv1d() { torch_venv; hide_cuda; sdist causal-conv1d 1.5.0.post8; CAUSAL_CONV1D_FORCE_BUILD=TRUE stamped pip install --no-build-isolation --no-deps .; }

log cuda-missing-meson cuda-missing CUDA -
cuda-missing-meson() {
  venv meson 3.11 meson meson-python ninja 'pip<26'
  hide_cuda
  echo '__global__ void k() {}' >k.cu
  printf "project('kernels', 'cpp', version: '0.1')\nadd_languages('cuda')\nshared_library('k', 'k.cu')\n" >meson.build
  printf '[build-system]\nrequires = ["meson-python"]\nbuild-backend = "mesonpy"\n[project]\nname = "kernels"\nversion = "0.1"\n' >pyproject.toml
  pip install --no-build-isolation .
}

log cuda-missing-scikit-build cuda-missing CUDA -
cuda-missing-scikit-build() {
  plain_venv
  hide_cuda
  cmake_cuda_project
  printf '[build-system]\nrequires = ["scikit-build-core"]\nbuild-backend = "scikit_build_core.build"\n[project]\nname = "fastnorm"\nversion = "0.1"\n' >pyproject.toml
  typed uv build --wheel
}

log cuda-missing-torch-scatter cuda-missing nvcc -
cuda-missing-torch-scatter() {
  torch_venv
  hide_cuda
  sdist torch-scatter 2.1.2
  FORCE_CUDA=1 buildkit python setup.py bdist_wheel
}

log cuda-mismatch-torch-major cuda-mismatch CUDA -
cuda-mismatch-torch-major() { torch124_venv; torch_cuda_project; CUDA_HOME=/usr/local/cuda pip install --no-build-isolation -v .; }

log cuda-mismatch-torch-older cuda-mismatch CUDA -
cuda-mismatch-torch-older() { torch124_venv; cuda118; torch_cuda_project; export CUDA_HOME=/usr/local/cuda-11.8; typed pip install --no-build-isolation .; }

log cuda-mismatch-ptxas cuda-mismatch ptxas norm.cu
cuda-mismatch-ptxas() {
  cuda118
  echo '__global__ void norm(float* x) { x[threadIdx.x] *= 2; }' >norm.cu
  cp -r /usr/local/cuda/bin cuda-bin 2>/dev/null
  changeable /usr/local/cuda-13.0
  cp /usr/local/cuda-11.8/bin/ptxas /usr/local/cuda-13.0/bin/ptxas
  printf 'norm.o: norm.cu\n\t/usr/local/cuda/bin/nvcc -O3 -arch=sm_80 -c $< -o $@\n' >Makefile
  rm -rf cuda-bin
  make
}

log cuda-mismatch-headers cuda-mismatch headers norm.cu
cuda-mismatch-headers() {
  cuda118
  printf '#include <cuda_runtime.h>\n#include <cuda_fp16.h>\n__global__ void norm(__half* x) { x[threadIdx.x] = __hadd(x[0], x[1]); }\n' >norm.cu
  cat >build.ninja <<'NINJA'
rule cuda
  command = /usr/local/cuda-11.8/bin/nvcc -ccbin g++-11 -I/usr/local/cuda/include -O2 -arch=sm_80 -c $in -o $out
build norm.o: cuda norm.cu
NINJA
  ninja 2>&1 | head -c 20000
  return "${PIPESTATUS[0]}"
}

log cuda-mismatch-cccl cuda-mismatch CUDA sort.cu
cuda-mismatch-cccl() {
  cuda118
  printf '#include <cub/cub.cuh>\n__global__ void sort() {}\n' >sort.cu
  printf 'sort.o: sort.cu\n\t/usr/local/cuda-11.8/bin/nvcc -ccbin g++-11 -std=c++17 -I/usr/local/cuda/include/cccl -arch=sm_80 -c $< -o $@\n' >Makefile
  make 2>&1 | head -c 20000
  return "${PIPESTATUS[0]}"
}

log cuda-mismatch-cmake-version cuda-mismatch version -
cuda-mismatch-cmake-version() {
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(engine LANGUAGES CXX)\nset(CUDAToolkit_ROOT /usr/local/cuda)\nfind_package(CUDAToolkit 12.4 EXACT REQUIRED)\n' >CMakeLists.txt
  cmake -B build
}
