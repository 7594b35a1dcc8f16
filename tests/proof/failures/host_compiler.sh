# The C or C++ compiler is absent, too old, too new or refused.

hello() { echo 'int answer() { return 42; }' >"${1:-answer.cpp}"; }

log host-compiler-gpp-missing-make host-compiler compiler g++
host-compiler-gpp-missing-make() {
  hello
  changeable /usr/bin
  rm -f /usr/bin/g++ /usr/bin/c++
  make answer.o
}

log host-compiler-missing-cmake host-compiler compiler cmake
host-compiler-missing-cmake() {
  changeable /usr/bin /usr/local
  rm -f /usr/bin/{g++,c++,clang++}* /usr/bin/x86_64-linux-gnu-g++* /usr/local/bin/{g++,c++,clang++}*
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(engine LANGUAGES C CXX)\n' >CMakeLists.txt
  typed cmake -S . -B build
}

log host-compiler-cc-absent-setuptools host-compiler gcc-99 gcc-99
host-compiler-cc-absent-setuptools() {
  plain_venv
  hello answer.c
  printf "from setuptools import Extension, setup\nsetup(name='answer', version='1', ext_modules=[Extension('answer', ['answer.c'])])\n" >setup.py
  CC=gcc-99 pip install --no-build-isolation .
}

log host-compiler-gcc-missing-pip host-compiler gcc gcc
host-compiler-gcc-missing-pip() {
  plain_venv
  changeable /usr/bin
  rm -f /usr/bin/gcc /usr/bin/cc
  sdist psutil 5.9.8
  pip install --no-build-isolation .
}

log host-compiler-cxx-absent-cmake host-compiler g++-14 -
host-compiler-cxx-absent-cmake() {
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(engine LANGUAGES CXX)\n' >CMakeLists.txt
  cmake -S . -B build -DCMAKE_CXX_COMPILER=g++-14
}

log host-compiler-cxx-env-cmake host-compiler CXX -
host-compiler-cxx-env-cmake() {
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(engine LANGUAGES CXX)\n' >CMakeLists.txt
  CXX=/opt/gcc-13/bin/g++ stamped cmake -S . -B build -G Ninja
}

log host-compiler-cc1plus-missing host-compiler g++ answer.cpp
host-compiler-cc1plus-missing() {
  plain_venv
  hello
  changeable /usr/lib/gcc /usr/libexec 2>/dev/null || changeable /usr/lib/gcc
  find /usr/lib/gcc /usr/libexec -name cc1plus -delete 2>/dev/null
  printf "from setuptools import Extension, setup\nsetup(name='answer', version='1', ext_modules=[Extension('answer', ['answer.cpp'])])\n" >setup.py
  typed uv pip install --no-build-isolation .
}

log host-compiler-as-missing host-compiler compiler -
host-compiler-as-missing() {
  changeable /usr/bin
  rm -f /usr/bin/as /usr/bin/x86_64-linux-gnu-as
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(engine LANGUAGES C)\n' >CMakeLists.txt
  cmake -S . -B build
}

log host-compiler-configure host-compiler compiler -
host-compiler-configure() {
  need autoconf
  printf 'AC_INIT([codec], [1.0])\nAC_PROG_CC\nAC_PROG_CXX\nAC_OUTPUT\n' >configure.ac
  quiet autoconf
  CC='gcc -mtune=quantum' ./configure || return 1
}

log host-compiler-nvcc-gcc-new host-compiler gcc scale.cu
host-compiler-nvcc-gcc-new() {
  cuda118
  one_kernel
  printf 'scale.o: scale.cu\n\t/usr/local/cuda-11.8/bin/nvcc -O3 -arch=sm_80 -c $< -o $@\n' >Makefile
  make
}

log host-compiler-nvcc-gcc-new-cmake host-compiler gcc -
host-compiler-nvcc-gcc-new-cmake() {
  cuda118
  one_kernel
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(scale LANGUAGES CXX CUDA)\nadd_library(scale scale.cu)\n' >CMakeLists.txt
  PATH=/usr/local/cuda-11.8/bin:$PATH cmake -B build -DCMAKE_CUDA_ARCHITECTURES=80
}

log host-compiler-nvcc-clang-new host-compiler clang scale.cu
host-compiler-nvcc-clang-new() {
  need clang++-19
  cuda118
  one_kernel
  printf 'rule cuda\n  command = /usr/local/cuda-11.8/bin/nvcc -ccbin clang++-19 -arch=sm_80 -c $in -o $out\nbuild scale.o: cuda scale.cu\n' >build.ninja
  ninja
}

log host-compiler-ccbin-wrong host-compiler ccbin scale.cu
host-compiler-ccbin-wrong() {
  one_kernel
  printf 'scale.o: scale.cu\n\tnvcc -ccbin /usr/bin/g++-10 -arch=sm_90 -c $< -o $@\n' >Makefile
  make
}

log host-compiler-std-unknown host-compiler C++ answer.cpp
host-compiler-std-unknown() {
  hello
  printf 'CXX = g++-11\nCXXFLAGS = -std=c++26 -O2\nanswer.o:\n' >Makefile
  make
}

log host-compiler-cmake-standard host-compiler C++ -
host-compiler-cmake-standard() {
  hello
  printf 'cmake_minimum_required(VERSION 3.25)\nproject(engine LANGUAGES CXX)\nadd_library(engine answer.cpp)\nset_target_properties(engine PROPERTIES CXX_STANDARD 26 CXX_STANDARD_REQUIRED ON)\n' >CMakeLists.txt
  CXX=g++-11 cmake -S . -B build
}

log host-compiler-project-minimum host-compiler GCC -
host-compiler-project-minimum() {
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(engine LANGUAGES CXX)\nif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)\n  message(FATAL_ERROR "engine requires GCC 12 or newer, but ${CMAKE_CXX_COMPILER} is ${CMAKE_CXX_COMPILER_VERSION}")\nendif()\n' >CMakeLists.txt
  CXX=g++-11 cmake -S . -B build
}

log host-compiler-meson host-compiler compiler -
host-compiler-meson() {
  venv meson 3.11 meson meson-python ninja 'pip<26'
  printf "project('codec', 'c', version: '0.1')\n" >meson.build
  CC=icc meson setup build
}

log host-compiler-cpp20-header host-compiler - concepts.cc
host-compiler-cpp20-header() {
  printf '#include <format>\n#include <string>\nstd::string hi() { return std::format("{}", 1); }\n' >concepts.cc
  printf 'CXXFLAGS = -std=c++20 -O2\nall: concepts.o\n' >Makefile
  CXX=g++-11 make -e
}
