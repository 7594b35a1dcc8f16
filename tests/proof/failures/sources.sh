# Sources incomplete: empty submodules and Git LFS pointers, in several projects' words; and code that does not compile with
# this compiler or library version.

# A repository with a submodule that a clone without --recursive leaves empty.
cloned_without_submodule() {
  quiet git config --global user.name me
  quiet git config --global user.email me@example.com
  quiet git config --global protocol.file.allow always
  quiet git config --global init.defaultBranch main
  mkdir -p /home/me/origin/cutlass/include/cutlass
  echo '#pragma once' >/home/me/origin/cutlass/include/cutlass/cutlass.h
  echo 'add_library(cutlass INTERFACE)' >/home/me/origin/cutlass/CMakeLists.txt
  quiet git -C /home/me/origin/cutlass init
  quiet git -C /home/me/origin/cutlass add -A
  quiet git -C /home/me/origin/cutlass commit -m 'Start'
  quiet git -C /home/me/origin init engine
  cp -r . /home/me/origin/engine/ 2>/dev/null
  quiet git -C /home/me/origin/engine submodule add /home/me/origin/cutlass third_party/cutlass
  quiet git -C /home/me/origin/engine add -A
  quiet git -C /home/me/origin/engine commit -m 'Start'
  quiet rm -rf /home/me/project/*
  quiet git clone /home/me/origin/engine /home/me/project/engine
  cd /home/me/project/engine
}

log submodule-header submodule submodule gemm.cc
submodule-header() {
  printf '#include "cutlass/cutlass.h"\nint gemm() { return 0; }\n' >gemm.cc
  printf 'CXXFLAGS = -Ithird_party/cutlass/include -O2\nall: gemm.o\n' >Makefile
  cloned_without_submodule
  make
}

log submodule-nvcc-header submodule submodule gemm.cu
submodule-nvcc-header() {
  printf '#include <cutlass/cutlass.h>\n__global__ void gemm() {}\n' >gemm.cu
  printf 'rule cuda\n  command = nvcc -arch=sm_90 -Ithird_party/cutlass/include -c $in -o $out\nbuild gemm.o: cuda gemm.cu\n' >build.ninja
  cloned_without_submodule
  ninja
}

log submodule-cmake-add submodule submodule -
submodule-cmake-add() {
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(engine LANGUAGES CXX)\nadd_subdirectory(third_party/cutlass)\n' >CMakeLists.txt
  cloned_without_submodule
  cmake -S . -B build
}

log submodule-cmake-include submodule submodule -
submodule-cmake-include() {
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(engine LANGUAGES CXX)\ninclude(third_party/cutlass/cmake/helpers.cmake)\nadd_library(engine third_party/cutlass/src/gemm.cc)\n' >CMakeLists.txt
  cloned_without_submodule
  stamped cmake -S . -B build
}

log submodule-asserted submodule submodule -
submodule-asserted() {
  plain_venv
  cat >setup.py <<'CODE'
import os
from setuptools import setup
if not os.path.exists('third_party/cutlass/CMakeLists.txt'):
    raise RuntimeError('The folder third_party/cutlass is empty. Did you run `git submodule update --init --recursive`?')
setup(name='engine', version='0.4')
CODE
  cloned_without_submodule
  pip install --no-build-isolation .
}

log submodule-flash-attn submodule submodule -
submodule-flash-attn() {
  torch_venv
  sdist flash-attn 2.8.3
  rm -rf csrc/cutlass csrc/composable_kernel
  mkdir -p csrc/cutlass csrc/composable_kernel
  FLASH_ATTENTION_FORCE_BUILD=TRUE CUDA_HOME=/usr/local/cuda pip install --no-build-isolation --no-deps .
}

log submodule-lfs-source submodule lfs tables.c
submodule-lfs-source() {
  printf 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345678\n' >tables.c
  echo 'int main(void) { return 0; }' >main.c
  printf 'app: main.o tables.o\n\tgcc -o $@ $^\n' >Makefile
  make
}

log submodule-lfs-archive submodule lfs libkernels.a
submodule-lfs-archive() {
  printf 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 88123456\n' >libkernels.a
  echo 'int run(void); int main(void) { return run(); }' >main.c
  cat >link.sh <<'CODE'
set -ex
head -c 200 libkernels.a
gcc -o app main.c libkernels.a
CODE
  bash link.sh
}

log submodule-lfs-absent submodule lfs git
submodule-lfs-absent() {
  cloned_without_submodule
  quiet git config filter.lfs.process 'git-lfs filter-process'
  quiet git config filter.lfs.required true
  quiet git config filter.lfs.smudge 'git-lfs smudge -- %f'
  echo '*.bin filter=lfs diff=lfs merge=lfs -text' >.gitattributes
  printf 'version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 88\n' >weights.bin
  local blob
  blob=$(git hash-object -w --no-filters weights.bin)
  quiet git update-index --add --cacheinfo "100644,$blob,weights.bin"
  quiet git add .gitattributes
  quiet git commit -m 'Weights'
  rm weights.bin
  typed git checkout -- weights.bin
}

log submodule-update-fails submodule submodule git
submodule-update-fails() {
  cloned_without_submodule
  mkdir third_party/cutlass -p
  quiet git -C /home/me/origin/cutlass commit --amend -m 'Rewritten'
  quiet git -C /home/me/origin/cutlass reflog expire --expire=now --all
  quiet git -C /home/me/origin/cutlass gc --prune=now
  typed git submodule update --init --recursive
}

log source-bug-cub-sum cuda-mismatch CUDA reduce.cu
source-bug-cub-sum() {
  cat >reduce.cu <<'CODE'
#include <cub/cub.cuh>
__global__ void reduce(float* out, const float* in) {
  using Reduce = cub::BlockReduce<float, 128>;
  __shared__ typename Reduce::TempStorage storage;
  float total = Reduce(storage).Reduce(in[threadIdx.x], cub::Max());
  if (threadIdx.x == 0) *out = total;
}
CODE
  printf 'reduce.o: reduce.cu\n\tnvcc -std=c++17 -O2 -arch=sm_90 -c $< -o $@\n' >Makefile
  make
}

log source-bug-cuda13-removed source-bug CUDA clock.cu
source-bug-cuda13-removed() {
  cat >clock.cu <<'CODE'
#include <cstdio>
#include <cuda_runtime.h>
int main() {
  cudaDeviceProp prop;
  cudaGetDeviceProperties(&prop, 0);
  std::printf("%d kHz, %d\n", prop.clockRate, prop.memoryClockRate);
  cudaThreadSynchronize();
}
CODE
  printf 'rule cuda\n  command = nvcc -arch=sm_90 -o $out $in\nbuild clock: cuda clock.cu\n' >build.ninja
  ninja
}

log source-bug-texture source-bug CUDA sampler.cu
source-bug-texture() {
  cat >sampler.cu <<'CODE'
texture<float, 2, cudaReadModeElementType> image;
__global__ void sample(float* out) { out[threadIdx.x] = tex2D(image, 0.5f, threadIdx.x); }
CODE
  printf 'sampler.o: sampler.cu\n\tnvcc -arch=sm_90 -c $< -o $@\n' >Makefile
  make
}

log source-bug-torch-thc source-bug THC gather.cpp
source-bug-torch-thc() {
  torch_venv
  printf '#include <torch/extension.h>\n#include <THC/THC.h>\nextern THCState* state;\n' >gather.cpp
  cat >setup.py <<'CODE'
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension
setup(name='gather', version='0.0.1', ext_modules=[CppExtension('gather', ['gather.cpp'])],
      cmdclass={'build_ext': BuildExtension.with_options(use_ninja=False)})
CODE
  python setup.py build_ext
}

log source-bug-torch-cpp-minimum host-compiler C++ ops.cpp
source-bug-torch-cpp-minimum() {
  torch_venv
  printf '#include <torch/extension.h>\nint f() { return 0; }\n' >ops.cpp
  cat >setup.py <<'CODE'
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension
setup(name='ops', version='0.0.1', ext_modules=[CppExtension('ops', ['ops.cpp'], extra_compile_args=['-std=c++14', '-Wfatal-errors'])],
      cmdclass={'build_ext': BuildExtension})
CODE
  MAX_JOBS=1 python setup.py build_ext 2>&1 | head -c 40000
  return "${PIPESTATUS[0]}"
}

log source-bug-torch-type source-bug torch check.cpp
source-bug-torch-type() {
  torch_venv
  cat >check.cpp <<'CODE'
#include <c10/util/Exception.h>
void check(bool contiguous) {
  AT_CHECK(contiguous, "x must be contiguous");
  AT_ASSERTM(contiguous, "x must be contiguous");
}
CODE
  cat >setup.py <<'CODE'
from setuptools import setup
from torch.utils.cpp_extension import BuildExtension, CppExtension
setup(name='check', version='0.0.1', ext_modules=[CppExtension('check', ['check.cpp'])], cmdclass={'build_ext': BuildExtension})
CODE
  MAX_JOBS=1 pip install --no-build-isolation . 2>&1 | head -c 50000
  return "${PIPESTATUS[0]}"
}

log source-bug-limits source-bug limits ids.cc
source-bug-limits() {
  printf '#include <vector>\nint largest(const std::vector<int>& v) { return v.empty() ? std::numeric_limits<int>::max() : v[0]; }\n' >ids.cc
  cat >build.ninja <<'NINJA'
rule cxx
  command = g++ -std=c++17 -fdiagnostics-color=always -c $in -o $out
build ids.o: cxx ids.cc
NINJA
  ninja
}

log source-bug-numpy-api source-bug numpy legacy.c
source-bug-numpy-api() {
  venv numpy2 3.11 'numpy>=2' 'setuptools<81' wheel 'pip<26'
  cat >legacy.c <<'CODE'
#include <Python.h>
#include <numpy/arrayobject.h>
#include <numpy/npy_math.h>
int width(PyArrayObject* a) { return a->descr->elsize + NPY_OWNDATA + PyArray_DESCR(a)->elsize; }
CODE
  cat >setup.py <<'CODE'
import numpy
from setuptools import Extension, setup
setup(name='legacy', version='0.9', ext_modules=[Extension('legacy', ['legacy.c'], include_dirs=[numpy.get_include()])])
CODE
  pip install --no-build-isolation .
}

log source-bug-python-api python-env Python frame.c
source-bug-python-api() {
  venv py312 3.12 'setuptools<81' wheel 'pip<26'
  printf '#include <Python.h>\n#include <longintrepr.h>\nint depth(void) { return PyThreadState_GET()->recursion_depth; }\n' >frame.c
  printf "from setuptools import Extension, setup\nsetup(name='frame', version='0.9', ext_modules=[Extension('frame', ['frame.c'])])\n" >setup.py
  pip install --no-build-isolation .
}

log source-bug-werror source-bug Werror loop.cc
source-bug-werror() {
  mkdir src
  printf '#include <vector>\nint count(const std::vector<int>& v) {\n  int n;\n  for (int i = 0; i < v.size(); ++i) n += v[i];\n  return n;\n}\n' >src/loop.cc
  for name in a b c; do echo "int $name() { return 1; }" >src/$name.cc; done
  cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.18)
project(loop LANGUAGES CXX)
file(GLOB sources src/*.cc)
add_library(loop ${sources})
target_compile_options(loop PRIVATE -Wall -Wextra -Werror -O2)
CMAKE
  quiet cmake -B build -G Ninja
  ninja -C build -j2
}

log source-bug-old-gevent python-env Python -
source-bug-old-gevent() {
  venv py312 3.12 'setuptools<81' wheel 'pip<26'
  sdist gevent 21.12.0
  pip install --no-build-isolation --no-deps . 2>&1 | head -c 50000
  return "${PIPESTATUS[0]}"
}
