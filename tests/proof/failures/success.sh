# Builds that succeed, however their logs sound.

log success-warnings no-failure - -
success-warnings() {
  mkdir src
  for name in decode encode scale; do
    printf '#include <stdio.h>\n#include <string.h>\nint %s(char* p, unsigned n) {\n  int error;\n  for (int i = 0; i < n; ++i) p[i] = 0;\n  sprintf(p, "error: %%s failed", 3);\n  gets_failed(p);\n  return error;\n}\n' $name >src/$name.c
  done
  echo 'int gets_failed(char* p) { return 0; }' >src/fatal_error.c
  printf 'CFLAGS = -Wall -Wextra -O2 -fPIC\nobjects = src/decode.o src/encode.o src/scale.o src/fatal_error.o\nlibcodec.so: $(objects)\n\t$(CC) -shared -o $@ $^\n' >Makefile
  make -j2
}

log success-cmake-checks no-failure - -
success-cmake-checks() {
  cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.18)
project(engine LANGUAGES C CXX)
include(CheckIncludeFile)
include(CheckSymbolExists)
include(CheckCXXSourceCompiles)
include(CheckLanguage)
check_include_file(cudnn.h HAVE_CUDNN)
check_include_file(mkl.h HAVE_MKL)
check_symbol_exists(strlcpy string.h HAVE_STRLCPY)
check_cxx_source_compiles("#include <hip/hip_runtime.h>\nint main() { return 0; }" HAVE_HIP)
check_language(HIP)
find_package(CUDNN QUIET)
find_package(BLAS)
find_package(OpenCV)
find_package(Torch)
if(NOT HAVE_CUDNN)
  message(WARNING "cuDNN was not found: error checking of convolutions is disabled")
endif()
add_library(engine engine.cc)
CMAKE
  echo 'int engine() { return 1; }' >engine.cc
  typed cmake -S . -B build
  typed cmake --build build
}

log success-autoconf no-failure - -
success-autoconf() {
  need autoconf
  cat >configure.ac <<'AC'
AC_INIT([codec], [1.0])
AC_PROG_CC
AC_CHECK_LIB([cuda], [cuInit])
AC_CHECK_LIB([foobar], [foo])
AC_CHECK_HEADERS([cudnn.h cublas_v2.h hip/hip_runtime.h sys/stat.h])
AC_CHECK_FUNCS([strlcpy fail_always])
AC_CONFIG_FILES([Makefile])
AC_OUTPUT
AC
  printf 'all: codec.o\n' >Makefile.in
  echo 'int codec;' >codec.c
  quiet autoconf
  ./configure && grep -E 'error|failed' config.log && make
}

log success-pip-verbose no-failure - -
success-pip-verbose() {
  plain_venv
  printf '#include <Python.h>\nstatic int unused_error;\nstatic struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "answer", 0, -1, 0};\nPyMODINIT_FUNC PyInit_answer(void) { int failed; return PyModule_Create(&def); }\n' >answer.c
  printf "from setuptools import Extension, setup\nsetup(name='answer', version='1', ext_modules=[Extension('answer', ['answer.c'])])\n" >setup.py
  pip install -v --no-build-isolation .
}

log success-optional-extension no-failure - -
success-optional-extension() {
  plain_venv
  printf '#include <cublas_v2.h>\n#include <Python.h>\n' >fast.c
  mkdir answer
  touch answer/__init__.py
  printf "from setuptools import Extension, setup\nsetup(name='answer', version='1', packages=['answer'], ext_modules=[Extension('answer.fast', ['fast.c'], optional=True)])\n" >setup.py
  python setup.py bdist_wheel
}

log success-pip-retries no-failure - -
success-pip-retries() {
  plain_venv
  small_wheel kernels-1.0-py3-none-any.whl
  serve_with <<'CODE'
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    calls = 0
    def do_GET(self):
        Handler.calls += 1
        if Handler.calls <= 2:
            self.connection.close()
            return
        self.send_response(200)
        if self.path.endswith('.whl'):
            body = open('/home/me/project/kernels-1.0-py3-none-any.whl', 'rb').read()
            self.send_header('Content-Type', 'application/octet-stream')
        else:
            body = b'<a href="/kernels-1.0-py3-none-any.whl">kernels-1.0-py3-none-any.whl</a>'
            self.send_header('Content-Type', 'text/html')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
server = http.server.HTTPServer(('127.0.0.1', 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
CODE
  pip install --index-url http://127.0.0.1:$port/simple kernels
}

log success-wheel-fallback no-failure - -
success-wheel-fallback() {
  plain_venv
  cat >setup.py <<'CODE'
import urllib.error, urllib.request
from setuptools import Extension, setup
from wheel.bdist_wheel import bdist_wheel
class Cached(bdist_wheel):
    def run(self):
        url = 'https://releases.example/v1.0/kernels-1.0+cu12torch2.5-cp311-cp311-linux_x86_64.whl'
        print('Guessing wheel URL: ', url)
        try:
            urllib.request.urlretrieve(url, 'kernels.whl')
        except (urllib.error.HTTPError, urllib.error.URLError) as error:
            print('Precompiled wheel not found. Building from source...', error)
            super().run()
setup(name='kernels', version='1.0', cmdclass={'bdist_wheel': Cached}, ext_modules=[Extension('kernels', ['kernels.c'])])
CODE
  echo 'int kernels;' >kernels.c
  unshare -n pip wheel -v --no-deps --no-build-isolation .
}

log success-clock-skew no-failure - -
success-clock-skew() {
  echo 'int main(void) { return 0; }' >main.c
  printf 'main: main.o\nmain.o: main.c config.h\n' >Makefile
  touch -d '+2 hours' config.h main.c
  make
}

log success-tests-print-errors no-failure - -
success-tests-print-errors() {
  plain_venv
  cat >test_errors.py <<'CODE'
import unittest
class Errors(unittest.TestCase):
    def test_error_is_raised(self):
        print('error: could not open device')
        with self.assertRaises(RuntimeError):
            raise RuntimeError('CUDA error: out of memory')
    def test_fatal_log(self):
        print('FATAL: No space left on device (expected by this test)')
        import traceback
        try:
            raise OSError(28, 'No space left on device')
        except OSError:
            traceback.print_exc()
    @unittest.expectedFailure
    def test_known_failure(self):
        self.fail('Segmentation fault')
CODE
  printf 'check:\n\tpython -m unittest -v\n\t@echo "0 failed, 0 errors"\n' >Makefile
  make check
}

log success-make-ignored no-failure - -
success-make-ignored() {
  printf 'all: clean build\nclean:\n\t-rm build/*.o\n\t-killall -q old_server_that_never_ran\n\t-git describe --tags\nbuild:\n\tgcc -c main.c\n\t@echo done\n' >Makefile
  echo 'int x;' >main.c
  make
}

log success-retry-script no-failure - -
success-retry-script() {
  cat >build.sh <<'CODE'
attempt=1
until g++ -std=c++17 ${extra:-} -c engine.cc; do
  echo "attempt $attempt failed, retrying with -fpermissive" >&2
  extra=-fpermissive
  attempt=$((attempt + 1))
  [ $attempt -lt 4 ] || exit 1
done
echo "Successfully built engine.o after $attempt attempts"
CODE
  printf 'int f() { int* p = 0; const int* q = p; int* r = q; return *r; }\n' >engine.cc
  bash build.sh
}

log success-nvcc-warnings no-failure - -
success-nvcc-warnings() {
  cat >kernel.cu <<'CODE'
#include <cstdio>
__global__ void kernel(int* error, long long n) {
  int unused_failure = 3;
  unsigned i = threadIdx.x;
  if (i < 0) printf("fatal error\n");
  error[i] = n;
}
CODE
  printf 'kernel.o: kernel.cu\n\tnvcc -arch=native -Xptxas -v,-warn-spills -Wreorder -c $< -o $@\n' >Makefile
  make
}

log success-ninja-regenerate no-failure - -
success-ninja-regenerate() {
  printf 'cmake_minimum_required(VERSION 2.8.12)\nproject(codec C)\nadd_library(codec codec.c)\ntry_compile(WORKS ${CMAKE_BINARY_DIR} ${CMAKE_SOURCE_DIR}/broken.c OUTPUT_VARIABLE output)\nmessage(STATUS "try_compile said: ${output}")\n' >CMakeLists.txt
  echo 'int codec(void) { return 1; }' >codec.c
  echo '#error "this probe fails on purpose"' >broken.c
  cmake -B build -G Ninja && touch CMakeLists.txt && ninja -C build
}

log success-uv-resolution no-failure - -
success-uv-resolution() {
  plain_venv
  sdist psutil 5.9.8
  uv pip install -v --no-build-isolation . 2>&1 | tail -c 40000
  return "${PIPESTATUS[0]}"
}

log success-pip-conflict-note no-failure - -
success-pip-conflict-note() {
  venv setuptools80 3.11 'setuptools==80.*' wheel 'pip<26'
  printf "from setuptools import setup\nsetup(name='answer', version='1', install_requires=['packaging>=20'])\n" >setup.py
  quiet pip install --no-build-isolation .
  terminal pip install 'packaging==19.2'
}

log success-docker-stamped no-failure - -
success-docker-stamped() {
  mkdir src
  for ((i = 0; i < 12; ++i)); do printf 'int error_%s(int x) { int y; return x; }\n' $i >src/error_$i.c; done
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(errors C)\nfile(GLOB s src/*.c)\nadd_compile_options(-Wall -Wextra -fdiagnostics-color=always)\nadd_library(errors ${s})\n' >CMakeLists.txt
  buildkit bash -c 'cmake -B build -G Ninja && ninja -C build -v'
}

log success-meson no-failure - -
success-meson() {
  venv meson 3.11 meson meson-python ninja 'pip<26'
  cat >meson.build <<'MESON'
project('codec', 'c', version: '0.1')
cc = meson.get_compiler('c')
cuda = dependency('cuda', version: '>=12', required: false)
blas = dependency('openblas', required: false)
cc.has_header('cudnn.h')
cc.has_function('strlcpy')
cc.links('#error no', name: 'that linking fails')
find_program('hipcc', required: false)
shared_library('codec', 'codec.c')
MESON
  echo 'int codec(void) { return 1; }' >codec.c
  meson setup build && meson compile -C build
}

log success-torch-extension no-failure - -
success-torch-extension() {
  torch_venv
  printf '#include <Python.h>\nstatic struct PyModuleDef def = {PyModuleDef_HEAD_INIT, "tiny", 0, -1, 0};\nPyMODINIT_FUNC PyInit_tiny(void) { return PyModule_Create(&def); }\n' >tiny.c
  printf "from setuptools import setup\nfrom torch.utils.cpp_extension import BuildExtension, CppExtension\nsetup(name='tiny', version='1', ext_modules=[CppExtension('tiny', ['tiny.c'])], cmdclass={'build_ext': BuildExtension})\n" >setup.py
  MAX_JOBS=1 pip install -v --no-build-isolation .
}

log success-keep-going no-failure - -
success-keep-going() {
  printf 'all: a.o b.o\nb.o: b.c\n\tgcc -c b.c || gcc -DFALLBACK -c b.c\n' >Makefile
  echo 'int a;' >a.c
  printf '#ifndef FALLBACK\n#include <cuda_fast_path.h>\n#endif\nint b;\n' >b.c
  make -k
}

log success-cmake-native no-failure - -
success-cmake-native() {
  plain_venv
  one_kernel
  printf 'cmake_minimum_required(VERSION 3.24)\nproject(scale LANGUAGES CXX CUDA)\nadd_library(scale scale.cu)\n' >CMakeLists.txt
  cmake -B build -G Ninja -DCMAKE_CUDA_ARCHITECTURES=native -DCMAKE_CUDA_COMPILER=/usr/local/cuda/bin/nvcc && cmake --build build
}
