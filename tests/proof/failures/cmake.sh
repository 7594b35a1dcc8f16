# CMake's version, policies, generator and cache.

old_project() { printf 'cmake_minimum_required(VERSION %s)\nproject(codec C)\nadd_library(codec codec.c)\n' "$1" >CMakeLists.txt; echo 'int codec(void) { return 1; }' >codec.c; }
cmake4_venv() { venv cmake4 3.11 'cmake==4.1.*' ninja 'pip<26' 'setuptools<81' wheel; }

log cmake-4-minimum cmake CMAKE_POLICY_VERSION_MINIMUM cmake
cmake-4-minimum() { cmake4_venv; old_project 2.8.12; typed cmake -S . -B build; }

log cmake-4-minimum-pip cmake CMAKE_POLICY_VERSION_MINIMUM -
cmake-4-minimum-pip() {
  cmake4_venv
  mkdir third_party
  (cd third_party && old_project 3.0)
  cat >CMakeLists.txt <<'CMAKE'
cmake_minimum_required(VERSION 3.18...3.31)
project(engine C)
add_subdirectory(third_party)
CMAKE
  cat >setup.py <<'CODE'
import subprocess
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
class Build(build_ext):
    def run(self):
        subprocess.check_call(['cmake', '-G', 'Ninja', '-S', '.', '-B', 'build/cmake'])
        subprocess.check_call(['cmake', '--build', 'build/cmake'])
setup(name='engine', version='0.5', ext_modules=[Extension('engine', [])], cmdclass={'build_ext': Build})
CODE
  pip install --no-build-isolation .
}

log cmake-too-old cmake cmake -
cmake-too-old() { old_project 3.29; cmake -S . -B build; }

log cmake-too-old-scikit cmake CMake -
cmake-too-old-scikit() {
  venv scikit 3.11 scikit-build-core 'pip<26' ninja
  old_project 3.20
  changeable /usr/local
  rm -f /usr/local/bin/cmake
  printf '[build-system]\nrequires = ["scikit-build-core"]\nbuild-backend = "scikit_build_core.build"\n[project]\nname = "codec"\nversion = "0.1"\n[tool.scikit-build]\ncmake.version = ">=3.29"\n' >pyproject.toml
  pip install --no-build-isolation -v .
}

log cmake-generator-changed cmake generator cmake
cmake-generator-changed() { old_project 3.18; typed cmake -B build -G 'Unix Makefiles'; typed cmake -B build -G Ninja; }

log cmake-cache-moved cmake cache cmake
cmake-cache-moved() {
  mkdir -p /home/me/old
  cd /home/me/old
  old_project 3.18
  quiet cmake -B build
  cp -r . /home/me/project
  cd /home/me/project
  typed cmake -B build
}

log cmake-ninja-missing cmake ninja -
cmake-ninja-missing() {
  changeable /usr/bin /usr/local
  rm -f /usr/bin/ninja /usr/local/bin/ninja
  old_project 3.18
  cmake -S . -B build -G Ninja
}

log cmake-make-program-stale cmake ninja -
cmake-make-program-stale() {
  old_project 3.18
  cp /usr/bin/ninja /home/me/ninja
  quiet cmake -B build -G Ninja -DCMAKE_MAKE_PROGRAM=/home/me/ninja
  rm /home/me/ninja
  touch CMakeLists.txt
  typed cmake --build build
}

log cmake-findcuda-removed cmake FindCUDA -
cmake-findcuda-removed() {
  cmake4_venv
  printf 'cmake_minimum_required(VERSION 3.28...4.1)\nproject(engine CXX)\nfind_package(CUDA REQUIRED)\n' >CMakeLists.txt
  cmake -B build
}

log cmake-findpythoninterp cmake FindPython -
cmake-findpythoninterp() {
  cmake4_venv
  printf 'cmake_minimum_required(VERSION 3.28...4.1)\nproject(engine CXX)\ncmake_policy(SET CMP0148 NEW)\nfind_package(PythonInterp 3.8 REQUIRED)\n' >CMakeLists.txt
  cmake -B build
}

log cmake-torch-package cmake torch -
cmake-torch-package() {
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(ops LANGUAGES CXX)\nfind_package(Torch REQUIRED)\nadd_library(ops ops.cc)\n' >CMakeLists.txt
  cmake -S . -B build
}

log cmake-package-missing cmake pybind11 -
cmake-package-missing() {
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(ops LANGUAGES CXX)\nfind_package(pybind11 CONFIG REQUIRED)\n' >CMakeLists.txt
  buildkit cmake -S . -B build
}

log cmake-policy-old cmake policy -
cmake-policy-old() {
  cmake4_venv
  printf 'cmake_minimum_required(VERSION 3.20)\nproject(engine CXX)\ncmake_policy(SET CMP0022 OLD)\n' >CMakeLists.txt
  cmake -B build
}

log isolation-cmake-shim isolation cmake -
isolation-cmake-shim() {
  # The program that pip's cmake package left behind when its environment went.
  printf '#!%s\nfrom cmake import cmake\nraise SystemExit(cmake())\n' "$(python_of 3.11)" >/home/me/cmake
  chmod +x /home/me/cmake
  old_project 3.18
  PATH=/home/me:$PATH cmake -B build
}
