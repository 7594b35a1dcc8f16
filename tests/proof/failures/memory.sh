# Ended for lack of memory, in the words of the kernel's victims' parents and of compilers that notice it themselves.

# A source whose compilation takes more than half a gigabyte: a table of constants computed by the compiler.
hungry_source() {
  cat >"$1" <<'CODE'
#include <array>
#include <cstddef>
constexpr std::size_t k_size = 3000000;
constexpr std::array<double, k_size> make() {
  std::array<double, k_size> table{};
  for (std::size_t i = 0; i < k_size; ++i) table[i] = static_cast<double>(i) * 0.5;
  return table;
}
constexpr auto k_table = make();
double look_up(std::size_t i) { return k_table[i]; }
CODE
}
hungry_flags='-O2 -std=c++20 -fPIC -fconstexpr-ops-limit=1000000000 -fconstexpr-loop-limit=100000000'

# The same for the device compiler: a large table of constants in device memory.
hungry_kernel() {
  {
    echo '__device__ const float table[] = {'
    seq -f '%.1ff,' 1 "${2:-150000}"
    echo '};'
    echo '__global__ void forward(float* out) { out[threadIdx.x] = table[threadIdx.x]; }'
  } >"$1"
}

log oom-make-cc1plus oom jobs attention_fwd
oom-make-cc1plus() {
  hungry_source attention_fwd.cc
  echo 'int helper() { return 1; }' >helper.cc
  cat >Makefile <<MAKE
CXXFLAGS = $hungry_flags
libops.so: helper.o attention_fwd.o
	\$(CXX) -shared -o \$@ \$^
MAKE
  memory_limit 300M make -j2
}

log oom-ninja-cc1plus oom jobs bwd_hdim256
oom-ninja-cc1plus() {
  plain_venv
  mkdir src
  for name in fwd_hdim64 fwd_hdim128 reduce norm; do echo "int $name() { return 1; }" >src/$name.cc; done
  hungry_source src/bwd_hdim256.cc
  cat >CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.20)
project(attention LANGUAGES CXX)
file(GLOB sources src/*.cc)
add_library(attention SHARED \${sources})
target_compile_options(attention PRIVATE $hungry_flags)
CMAKE
  typed cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release
  memory_limit 300M ninja -C build -v
}

log oom-pip-setuptools oom jobs kernels/table
oom-pip-setuptools() {
  plain_venv
  mkdir kernels
  hungry_source kernels/table.cpp
  echo 'int other() { return 2; }' >kernels/other.cpp
  cat >setup.py <<CODE
from setuptools import Extension, setup
flags = '$hungry_flags'.split()
setup(name='tables', version='0.3.1', ext_modules=[
    Extension('tables._C', ['kernels/other.cpp', 'kernels/table.cpp'], extra_compile_args=flags)])
CODE
  memory_limit 350M pip install --no-build-isolation -v .
}

log oom-uv oom jobs kernels/table
oom-uv() {
  plain_venv
  mkdir kernels
  hungry_source kernels/table.cpp
  cat >setup.py <<CODE
from setuptools import Extension, setup
setup(name='tables', version='0.3.1', ext_modules=[
    Extension('tables._C', ['kernels/table.cpp'], extra_compile_args='$hungry_flags'.split())])
CODE
  memory_limit 350M uv pip install --no-build-isolation .
}

log oom-nvcc-cicc oom jobs forward.cu
oom-nvcc-cicc() {
  hungry_kernel forward.cu
  cat >Makefile <<'MAKE'
NVCC = /usr/local/cuda/bin/nvcc
forward.o: forward.cu
	$(NVCC) -O3 -Xcompiler -fPIC -gencode arch=compute_90,code=sm_90 -c $< -o $@
MAKE
  memory_limit 130M make
}

# The kernel may choose the builder instead of the compiler: then pip tells only of a signal.
log oom-pip-signal oom memory -
oom-pip-signal() { torch_ninja_project 150000; MAX_JOBS=2 memory_limit 450M pip wheel --no-build-isolation --no-deps -v .; }

log oom-torch-ninja oom MAX_JOBS forward
oom-torch-ninja() { torch_ninja_project 400000; MAX_JOBS=2 memory_limit 400M python setup.py build_ext; }

torch_ninja_project() {
  torch_venv
  hungry_kernel forward.cu "$1"
  echo '__global__ void scale(float* x) { x[threadIdx.x] *= 2; }' >scale.cu
  cat >build.ninja <<'NINJA'
rule cuda
  command = /usr/local/cuda/bin/nvcc -O3 --expt-relaxed-constexpr -gencode arch=compute_90,code=sm_90 -Xcompiler -fPIC -c $in -o $out
build build/temp/scale.o: cuda scale.cu
build build/temp/forward.o: cuda forward.cu
NINJA
  cat >setup.py <<'CODE'
import subprocess
from setuptools import Extension, setup
from torch.utils.cpp_extension import BuildExtension, _run_ninja_build
class Build(BuildExtension):
    def build_extensions(self):
        _run_ninja_build('.', verbose=True, error_prefix='Error compiling objects for extension')
setup(name='attention', version='2.8.3', ext_modules=[Extension('attention', ['forward.cu'])], cmdclass={'build_ext': Build})
CODE
}

log oom-address-space-gcc oom memory tables.c
oom-address-space-gcc() {
  { echo 'const double tables[] = {'; seq -f '%.1f,' 1 400000; echo '};'; } >tables.c
  echo 'int main(void) { return 0; }' >main.c
  printf 'all: main.o tables.o\n\tgcc -o tables $^\n' >Makefile
  (ulimit -v 90000; make -k)
}

log oom-bad-alloc-clang oom memory table.cc
oom-bad-alloc-clang() {
  need clang++-19
  { echo 'const double table[] = {'; seq -f '%.1f,' 1 600000; echo '};'; } >table.cc
  cat >build.ninja <<'NINJA'
rule cxx
  command = clang++-19 -O2 -fPIC -c $in -o $out
build table.o: cxx table.cc
NINJA
  (ulimit -v 330000; ninja)
}

log oom-linker-ld oom memory -shared
oom-linker-ld() {
  local i
  for i in 1 2 3 4; do
    printf '.data\n.globl blob%s\nblob%s: .fill 90000000, 1, 7\n' $i $i >part$i.s
    as part$i.s -o part$i.o
  done
  printf 'libblobs.so: part1.o part2.o part3.o part4.o\n\tgcc -shared -o $@ $^\n' >Makefile
  memory_limit 60M make
}

log oom-python-killed oom memory -
oom-python-killed() {
  plain_venv
  cat >setup.py <<'CODE'
from setuptools import setup
print('generating 1024 kernel instances')
instances = [bytearray(4 << 20) for _ in range(256)]
setup(name='generated', version='1.0')
CODE
  printf 'set -eu\npython setup.py -q bdist_wheel\n' >build.sh
  echo '$ bash build.sh'
  memory_limit 250M bash build.sh
}

log oom-memory-error oom memory -
oom-memory-error() {
  plain_venv
  cat >generate.py <<'CODE'
instances = [bytearray(64 << 20) for _ in range(256)]
CODE
  printf 'kernels.inc: generate.py\n\tpython generate.py > $@\n' >Makefile
  (ulimit -v 1000000; make)
}

log oom-buildkit oom memory bwd_hdim256
oom-buildkit() {
  hungry_source bwd_hdim256.cc
  cat >build.sh <<CODE
set -ex
echo "=> compiling"
g++ $hungry_flags -c bwd_hdim256.cc
CODE
  buildkit memory_limit 300M bash build.sh
  local status=$?
  echo "ERROR: process \"/bin/sh -c bash build.sh\" did not complete successfully: exit code: $status"
  return $status
}
