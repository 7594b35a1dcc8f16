# The link itself fails; and what the loader says later: symbols of another torch, Python or C library.

log linker-library-missing linker foo -lfoo
linker-library-missing() {
  plain_venv
  echo 'int f(void) { return 0; }' >ext.c
  printf "from setuptools import Extension, setup\nsetup(name='ext', version='1', ext_modules=[Extension('ext', ['ext.c'], libraries=['foobar'])])\n" >setup.py
  pip install --no-build-isolation .
}

log linker-lcuda linker cuda -lcuda
linker-lcuda() {
  echo 'extern "C" int cuInit(unsigned); int main() { return cuInit(0); }' >probe.cpp
  printf 'probe: probe.cpp\n\tg++ -o $@ $< -L/usr/local/cuda/lib64 -lcudart -lcuda\n' >Makefile
  make
}

log linker-lcudart-nvcc linker CUDA kernel
linker-lcudart-nvcc() {
  echo '__global__ void k() {} int main() { k<<<1, 1>>>(); }' >kernel.cu
  cat >build.ninja <<'NINJA'
rule link
  command = nvcc -arch=sm_90 -cudart none -o $out $in -lcublasLt -lcudnn
build app: link kernel.cu
NINJA
  ninja
}

log linker-lld linker openblas -lopenblas
linker-lld() {
  need ld.lld-14
  echo 'int main(void) { return 0; }' >main.c
  printf 'app: main.c\n\tclang-14 -fuse-ld=lld-14 -o $@ $< -lopenblas\n' >Makefile
  changeable /usr/bin
  ln -sf ld.lld-14 /usr/bin/ld.lld
  sed -i 's/lld-14 -o/lld -o/' Makefile
  make
}

log linker-not-pic linker fPIC -shared
linker-not-pic() {
  printf 'static int table[4]; int* get(void) { return table; }\n' >table.c
  echo 'int* get(void); int first(void) { return *get(); }' >ext.c
  cat >Makefile <<'MAKE'
libext.so: ext.o libtable.a
	gcc -shared -o $@ ext.o -Wl,--whole-archive libtable.a -Wl,--no-whole-archive
libtable.a: table.o
	ar rcs $@ $<
table.o: table.c
	gcc -O2 -fno-pic -mcmodel=medium -c $< -o $@
ext.o: ext.c
	gcc -O2 -fPIC -c $< -o $@
MAKE
  make
}

log linker-not-pic-lld linker fPIC -shared
linker-not-pic-lld() {
  need ld.lld-14
  changeable /usr/bin
  ln -sf ld.lld-14 /usr/bin/ld.lld
  printf 'int table[4]; int first(void) { return table[0]; }\n' >table.c
  printf 'rule cc\n  command = clang-14 -O1 -fno-pic -c $in -o $out\nrule so\n  command = clang-14 -fuse-ld=lld -shared -o $out $in\nbuild table.o: cc table.c\nbuild libtable.so: so table.o\n' >build.ninja
  ninja
}

log linker-duplicate linker - -
linker-duplicate() {
  echo 'int verbose = 1;' >config.h
  printf '#include "config.h"\nint main(void) { return verbose; }\n' >main.c
  printf '#include "config.h"\nint level(void) { return verbose; }\n' >level.c
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(app C)\nadd_executable(app main.c level.c)\n' >CMakeLists.txt
  quiet cmake -B build
  cmake --build build
}

log linker-undefined linker - '-o app'
linker-undefined() {
  echo 'int decode(int); int main() { return decode(1); }' >main.cpp
  printf 'app: main.cpp\n\tg++ -o $@ $<\n' >Makefile
  make
}

log linker-undefined-order linker - '-o app'
linker-undefined-order() {
  echo '#include <zlib.h>
int main() { return crc32(0, 0, 0) != 0; }' >main.c
  printf 'app: main.c\n\tgcc -Wl,--as-needed -lz -o $@ $<\n' >Makefile
  make
}

log linker-undefined-lto linker - '-o app'
linker-undefined-lto() {
  need clang++-19
  echo 'int decode(int); int main() { return decode(1); }' >main.cpp
  printf 'app: main.cpp\n\tclang++-19 -fdiagnostics-color -o $@ $<\n' >Makefile
  stamped make
}

log linker-ld-missing linker ld '-o app'
linker-ld-missing() {
  changeable /usr/bin /usr/local
  rm -f /usr/bin/ld /usr/bin/ld.* /usr/bin/x86_64-linux-gnu-ld* /usr/bin/gold /usr/local/bin/ld
  echo 'int main(void) { return 0; }' >main.c
  printf 'app: main.c\n\tgcc -o $@ $<\n' >Makefile
  make
}

log linker-mold-missing linker mold -
linker-mold-missing() {
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(app CXX)\n' >CMakeLists.txt
  cmake -B build -DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=mold
}

log linker-lld-missing-clang linker lld '-o app'
linker-lld-missing-clang() {
  need clang-19
  echo 'int main(void) { return 0; }' >main.c
  printf 'app: main.c\n\tclang-19 -fuse-ld=lld -o $@ $<\n' >Makefile
  changeable /usr/bin /usr/lib
  rm -f /usr/bin/*lld* /usr/lib/llvm-*/bin/*lld*
  make
}

log linker-device-symbols linker rdc kernel
linker-device-symbols() {
  echo '__device__ float twice(float x) { return 2 * x; }' >device.cu
  printf 'extern __device__ float twice(float);\n__global__ void k(float* x) { *x = twice(*x); }\n' >kernel.cu
  printf 'all: device.o kernel.o\n%%.o: %%.cu\n\tnvcc -arch=sm_90 -c $< -o $@\n' >Makefile
  make
}

log linker-nvlink-undefined linker rdc nvcc
linker-nvlink-undefined() {
  printf 'extern __device__ float twice(float);\n__global__ void k(float* x) { *x = twice(*x); }\nint main() { k<<<1, 1>>>(nullptr); }\n' >kernel.cu
  printf 'app: kernel.o\n\tnvcc -arch=sm_90 -o $@ $^\nkernel.o: kernel.cu\n\tnvcc -arch=sm_90 -dc $< -o $@\n' >Makefile
  make
}

log linker-relocation linker mcmodel '-o app'
linker-relocation() {
  printf 'static char huge[3000000000u]; static char more[3000000000u]; int last[10]; int main(int n, char** v) { huge[n] = 1; return more[n] + last[n]; }\n' >main.c
  printf 'app: main.c\n\tgcc -O0 -no-pie -fno-pie -o $@ $<\n' >Makefile
  make
}

log linker-wrong-format linker arch '-o app'
linker-wrong-format() {
  need clang-19
  echo 'int f(void) { return 1; }' >f.c
  clang-19 --target=aarch64-linux-gnu -ffreestanding -c f.c -o f.o
  ar rcs libf.a f.o
  echo 'int f(void); int main(void) { return f(); }' >main.c
  printf 'app: main.c libf.a\n\tgcc -o $@ main.c -L. -lf\n' >Makefile
  make
}

log linker-arg-max linker long -
linker-arg-max() {
  plain_venv
  cat >setup.py <<'CODE'
from setuptools import Extension, setup
setup(name='many', version='1', ext_modules=[Extension('many', ['many.c'], extra_link_args=['-Wl,--defsym=symbol_number_%d_of_many=0' % i for i in range(60000)])])
CODE
  echo 'int many;' >many.c
  (ulimit -s 512; python setup.py -q build_ext 2>&1) | cut -c1-400
  return "${PIPESTATUS[0]}"
}

# An extension that is told to find a symbol which the library it is loaded with does not have.
log abi-torch-version abi torch -
abi-torch-version() {
  torch_venv
  cat >ops.cpp <<'CODE'
#include <Python.h>
namespace c10 { struct Device; namespace cuda { void SetDevice(int, bool, int); } namespace detail { void torchCheckFail(const char*, const char*, unsigned, const char*, int); } }
static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "ops", nullptr, -1, nullptr};
PyMODINIT_FUNC PyInit_ops() { c10::detail::torchCheckFail("", "", 0, "", 0); return PyModule_Create(&def); }
CODE
  quiet g++ -shared -fPIC -I"$(dirname "$(python_of 3.11)")/../include/python3.11" -o ops.so ops.cpp -Wl,-z,now
  typed python -c 'import torch, ops'
}

log abi-cxx11-string abi ABI -
abi-cxx11-string() {
  torch_venv
  cat >ops.cpp <<'CODE'
#define _GLIBCXX_USE_CXX11_ABI 0
#include <Python.h>
#include <string>
namespace c10 { struct SourceLocation; struct Error { Error(SourceLocation*, std::string); }; namespace detail { void torchInternalAssertFail(const char*, const char*, unsigned, const char*, const std::string&); } }
static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "ops", nullptr, -1, nullptr};
PyMODINIT_FUNC PyInit_ops() { c10::detail::torchInternalAssertFail("", "", 0, "", "x"); return PyModule_Create(&def); }
CODE
  quiet g++ -shared -fPIC -I"$(dirname "$(python_of 3.11)")/../include/python3.11" -o ops.so ops.cpp -Wl,-z,now
  python -c 'import torch
import ops'
}

log abi-libc10 abi torch -
abi-libc10() {
  torch_venv
  printf '#include <Python.h>\nstatic struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "ops", 0, -1, 0};\nPyMODINIT_FUNC PyInit_ops(void) { return PyModule_Create(&def); }\n' >ops.c
  local lib
  lib=$(echo /home/me/.venv/lib/python3.11/site-packages/torch/lib)
  quiet gcc -shared -fPIC -I"$(dirname "$(python_of 3.11)")/../include/python3.11" -o ops.so ops.c -Wl,--no-as-needed -L"$lib" -lc10
  typed python -c 'import ops'
}

log abi-other-python abi Python -
abi-other-python() {
  plain_venv
  cat >ops.c <<'CODE'
#include <Python.h>
static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "ops", 0, -1, 0};
PyMODINIT_FUNC PyInit_ops(void) {
  _PyGen_Send(0, 0);
  return PyModule_Create(&def);
}
CODE
  local p38
  p38=$(python_of 3.8)
  quiet gcc -shared -fPIC -I"$(dirname "$p38")/../include/python3.8" -o ops.so ops.c -Wl,-z,now
  typed "$(python_of 3.13)" -c 'import ops'
}

log abi-numpy abi numpy -
abi-numpy() {
  venv numpy1 3.11 'numpy==1.26.4' 'setuptools<81' wheel 'pip<26'
  cat >legacy.c <<'CODE'
#include <Python.h>
#include <numpy/arrayobject.h>
static struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "legacy", 0, -1, 0};
PyMODINIT_FUNC PyInit_legacy(void) { import_array(); return PyModule_Create(&def); }
CODE
  cat >setup.py <<'CODE'
import numpy
from setuptools import Extension, setup
setup(name='legacy', version='0.9', ext_modules=[Extension('legacy', ['legacy.c'], include_dirs=[numpy.get_include()])])
CODE
  quiet python setup.py build_ext --inplace
  quiet pip install 'numpy==2.1.3'
  python -c 'import legacy'
}

log abi-op-missing abi op -
abi-op-missing() { torch_venv; python -c 'import torch
torch.ops.fused_norm.forward(torch.ones(2))'; }

# An object that needs a version of the C library which is not here: the name is bent after linking, as a newer one would be.
log glibc-missing glibc GLIBC -
glibc-missing() {
  plain_venv
  printf '#include <math.h>\n#include <Python.h>\nstatic struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "ops", 0, -1, 0};\nPyMODINIT_FUNC PyInit_ops(void) { PyModule_Create(&def); return PyFloat_FromDouble(pow(Py_Version, 0.5)); }\n' >ops.c
  quiet gcc -shared -fPIC -I"$(dirname "$(python_of 3.11)")/../include/python3.11" -o ops.so ops.c -lm
  bend_version GLIBC_2.29 GLIBC_2.38 ops.so
  typed python -c 'import ops'
}

log glibcxx-missing glibc GLIBCXX -
glibcxx-missing() {
  plain_venv
  printf '#include <string>\n#include <Python.h>\nstatic struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "ops", 0, -1, 0};\nPyMODINIT_FUNC PyInit_ops(void) { std::string s(300, 97); s.reserve(5000); Py_DECREF(PyUnicode_FromString(s.c_str())); return PyModule_Create(&def); }\n' >ops.cpp
  quiet g++ -O0 -shared -fPIC -I"$(dirname "$(python_of 3.11)")/../include/python3.11" -o ops.so ops.cpp
  bend_version GLIBCXX_3.4.21 GLIBCXX_3.4.32 ops.so
  python -c 'import ops'
}

log glibc-tool glibc GLIBC -
glibc-tool() {
  cp "$(command -v ninja)" ninja
  bend_version "$(objdump -p ninja | grep -o 'GLIBC_2\.3[0-9]' | sort -V | tail -1)" GLIBC_2.39 ninja
  printf 'all:\n\t./ninja -C build\n' >Makefile
  make
}

# bend_version FROM TO FILE: both names of one length; the hash in the version need is mended too, as the loader compares both.
bend_version() {
  "$(python_of 3.11)" - "$@" <<'CODE'
import struct, sys
old, new, path = sys.argv[1:]
def elf_hash(name):
    h = 0
    for c in name.encode():
        h = (h << 4) + c
        g = h & 0xf0000000
        if g: h ^= g >> 24
        h &= ~g
    return h
data = open(path, 'rb').read()
assert len(old) == len(new) and old.encode() + b'\0' in data
data = data.replace(old.encode() + b'\0', new.encode() + b'\0')
data = data.replace(struct.pack('<I', elf_hash(old)), struct.pack('<I', elf_hash(new)))
open(path, 'wb').write(data)
CODE
}
