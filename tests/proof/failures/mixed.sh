# The real cause among others' output: parallel jobs, harmless notes before it, consequences after it.

# Twelve sources full of warnings; the seventh is what the caller makes of it.
noisy_sources() {
  mkdir -p src
  for ((i = 0; i < 12; ++i)); do
    printf '#include <cstdio>\nint kernel_%s(const char* p, unsigned n) {\n  int failed, total = 0;\n  for (int k = 0; k < n; ++k) total += p[k];\n  std::printf("error %%s\\n", total);\n  return total;\n}\n' $i >src/kernel_$i.cpp
  done
  cat >src/kernel_7.cpp
}

log mixed-parallel-make cuda-missing cusparse kernel_7
mixed-parallel-make() {
  noisy_sources <<<'#include <cusparse.h>
cusparseHandle_t handle;'
  printf 'objects = $(patsubst %%.cpp,%%.o,$(wildcard src/*.cpp))\nCXXFLAGS = -Wall -Wextra -O1 -fPIC\nlibkernels.so: $(objects)\n\t$(CXX) -shared -o $@ $^\n' >Makefile
  make -j4
}

log mixed-parallel-ninja source-bug - kernel_7
mixed-parallel-ninja() {
  plain_venv
  noisy_sources <<<'#include <vector>
int sum(const std::vector<int>& v) { return v.total(); }'
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(kernels CXX)\nfile(GLOB s src/*.cpp)\nadd_compile_options(-Wall -Wextra -fdiagnostics-color=always)\nadd_library(kernels SHARED ${s})\n' >CMakeLists.txt
  quiet cmake -B build -G Ninja
  stamped ninja -C build -j4
  local status=$?
  echo "$(date -u +%Y-%m-%dT%H:%M:%S.0000000Z) ##[error]Process completed with exit code $status."
  return $status
}

log mixed-terminal-cmake source-bug - kernel_7
mixed-terminal-cmake() {
  noisy_sources <<<'int f() { return missing_function(1); }'
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(kernels CXX)\nfile(GLOB s src/*.cpp)\nadd_library(kernels SHARED ${s})\n' >CMakeLists.txt
  terminal bash -c 'cmake -B build && cmake --build build -j3'
}

log mixed-consequences cuda-missing cublas gemm
mixed-consequences() {
  plain_venv
  printf '#include <cublas_v2.h>\n' >gemm.cpp
  echo 'int helper() { return 1; }' >helper.cpp
  cat >build.sh <<'CODE'
g++ -fPIC -I/usr/local/cuda/include -c helper.cpp -o helper.o
g++ -fPIC -I/usr/local/cuda/include -c gemm.cpp -o gemm.o
g++ -shared -o libgemm.so helper.o gemm.o -lcublas
python -c "import ctypes; ctypes.CDLL('./libgemm.so')"
CODE
  bash -x build.sh
}

log mixed-download-note cuda-missing nvcc -
mixed-download-note() {
  torch_venv
  hide_cuda
  cat >setup.py <<'CODE'
import urllib.error, urllib.request
from setuptools import setup
url = 'https://releases.example/v2.8/kernels-2.8+cu12torch2.5-cp311-cp311-linux_x86_64.whl'
print('Guessing wheel URL: ', url)
try:
    urllib.request.urlopen(url)
except urllib.error.URLError as error:
    print('Precompiled wheel not found (', error, '). Building from source...')
import subprocess
print(subprocess.check_output(['nvcc', '--version']))
setup(name='kernels', version='2.8')
CODE
  unshare -n pip install -v --no-build-isolation .
}

log mixed-clock-skew source-bug - decode.c
mixed-clock-skew() {
  echo 'int main(void) { return decode_all(); }' >main.c
  printf 'struct Header { int size; };\nint decode(struct Header* h) { return h->sizes; }\n' >decode.c
  printf 'app: main.o decode.o\n\tgcc -o $@ $^\ndecode.o: decode.c config.h\n' >Makefile
  touch -d '+2 hours' config.h
  make -k
}

log mixed-keep-going-two source-bug - first.c
mixed-keep-going-two() {
  echo 'int first(void) { return undeclared_name; }' >first.c
  echo 'int second(void) { return 2 }' >second.c
  printf 'app: first.o second.o\n\tgcc -o $@ $^ -lmissing\n' >Makefile
  make -k
  gcc -o app first.o second.o -lmissing
}

log mixed-recursive-make linker missing_codec codec
mixed-recursive-make() {
  mkdir -p libs/codec libs/image
  echo 'int codec(void); int main(void) { return codec(); }' >libs/codec/main.c
  printf 'codec: main.c\n\tgcc -o $@ $< -lmissing_codec\n' >libs/codec/Makefile
  printf 'all:\n\t@echo image is fine\n' >libs/image/Makefile
  printf 'all:\n\tfor d in image codec; do $(MAKE) -C libs/$$d || exit 1; done\n' >Makefile
  buildkit make
}

log mixed-optional-then-fail python-env dev answer
mixed-optional-then-fail() {
  plain_venv
  hide_python_headers
  printf '#include <cudnn.h>\n' >probe.c
  printf '#include <Python.h>\n' >answer.c
  cat >setup.py <<'CODE'
import subprocess
from setuptools import Extension, setup
if subprocess.run(['gcc', '-c', 'probe.c']).returncode:
    print('cuDNN was not found: building without it')
setup(name='answer', version='1', ext_modules=[Extension('answer', ['answer.c'])])
CODE
  python setup.py bdist_wheel
}

log mixed-pip-many isolation torch -
mixed-pip-many() {
  plain_venv
  mkdir kernels
  (cd kernels && setup_importing torch && pyproject kernels setuptools.build_meta '"setuptools", "wheel"')
  terminal pip install einops==0.8.0 pygments==2.18.0 ./kernels
}
