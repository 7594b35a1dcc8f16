# Python's version, headers, build tools and their pins; and isolated environments that lack what the build imports.

pyproject() { # NAME BACKEND REQUIRES…
  printf '[build-system]\nrequires = [%s]\nbuild-backend = "%s"\n' "$3" "$2" >pyproject.toml
  [[ -z ${4:-} ]] || printf '[project]\nname = "%s"\nversion = "%s"\n' "$1" "$4" >>pyproject.toml
}
setup_importing() { printf 'import %s\nfrom setuptools import setup\nsetup(name="kernels", version="1.0")\n' "$1" >setup.py; }

log isolation-torch-pip isolation torch -
isolation-torch-pip() { torch_venv; torch_cuda_project; pyproject scale setuptools.build_meta '"setuptools", "wheel"'; pip install .; }

log isolation-torch-uv isolation torch -
isolation-torch-uv() { torch_venv; quiet pip install uv; torch_cuda_project; pyproject scale setuptools.build_meta '"setuptools", "wheel"'; uv pip install .; }

log isolation-torch-scatter isolation torch -
isolation-torch-scatter() { torch_venv; sdist torch-scatter 2.1.2; typed pip install --use-pep517 .; }

log isolation-flash-attn isolation torch -
isolation-flash-attn() { torch_venv; quiet pip install uv; sdist flash-attn 2.8.3; typed uv pip install --no-deps .; }

log isolation-numpy isolation numpy -
isolation-numpy() { plain_venv; setup_importing numpy; pyproject kernels setuptools.build_meta '"setuptools"'; stamped pip install .; }

log isolation-packaging-no-isolation isolation packaging -
isolation-packaging-no-isolation() {
  venv bare 3.11 'setuptools==65.5.0' 'pip<26'
  setup_importing packaging
  pyproject kernels setuptools.build_meta '"setuptools", "packaging"'
  pip install --no-build-isolation .
}

log python-env-bdist-wheel python-env wheel bdist_wheel
python-env-bdist-wheel() {
  venv bare 3.11 'setuptools==65.5.0' 'pip<26'
  setup_importing os
  typed python setup.py bdist_wheel
}

log isolation-backend-missing isolation scikit -
isolation-backend-missing() {
  venv bare 3.11 'setuptools==65.5.0' 'pip<26'
  pyproject codec scikit_build_core.build '"scikit-build-core"' 0.1
  pip install --no-build-isolation .
}

log isolation-cython isolation Cython -
isolation-cython() {
  plain_venv
  printf 'from Cython.Build import cythonize\nfrom setuptools import setup\nsetup(name="fast", version="1", ext_modules=cythonize("fast.pyx"))\n' >setup.py
  echo 'def f(int x): return x' >fast.pyx
  terminal pip install --use-pep517 .
}

log isolation-python-build isolation torch -
isolation-python-build() {
  venv build 3.11 build 'pip<26'
  setup_importing torch
  pyproject kernels setuptools.build_meta '"setuptools>=61"'
  python -m build --wheel
}

log python-env-pkg-resources python-env setuptools -
python-env-pkg-resources() {
  venv setuptools82 3.12 'setuptools>=82' wheel 'pip<26'
  setup_importing pkg_resources
  pip install --no-build-isolation .
}

log python-env-distutils python-env setuptools -
python-env-distutils() {
  venv bare312 3.12 'pip<26'
  printf 'from distutils.core import Extension, setup\nsetup(name="old", version="0.1")\n' >setup.py
  typed python setup.py build
}

log python-env-distutils-msvc python-env distutils -
python-env-distutils-msvc() {
  venv setuptools82 3.12 'setuptools>=82' wheel 'pip<26'
  printf 'from setuptools import setup\nfrom distutils.msvccompiler import get_build_version\nsetup(name="old", version="0.1")\n' >setup.py
  pip install --no-build-isolation .
}

log python-env-imp python-env imp -
python-env-imp() {
  venv setuptools82 3.12 'setuptools>=82' wheel 'pip<26'
  printf 'import imp\nfrom setuptools import setup\nversion = imp.load_source("v", "version.py").version\nsetup(name="old", version=version)\n' >setup.py
  echo 'version = "1"' >version.py
  pip install .
}

log python-env-cython3 python-env Cython -
python-env-cython3() {
  venv cython3 3.11 'cython>=3' 'setuptools<81' wheel 'pip<26'
  printf 'from libc.math cimport sin\ncdef extern from "math.h":\n    double cos(double) except? -1 nogil\ndef f(long n):\n    cdef long i\n    return unicode(n) + u"x" + long(n).__str__()\ncdef inline double g(double x) nogil except -1:\n    return x\ndef h(x):\n    exec "x" in {}\n' >fast.pyx
  printf 'from Cython.Build import cythonize\nfrom setuptools import setup\nsetup(name="fast", version="1", ext_modules=cythonize("fast.pyx"))\n' >setup.py
  pip install --no-build-isolation .
}

log python-env-pyyaml python-env Cython -
python-env-pyyaml() { plain_venv; sdist PyYAML 5.4.1; pip install .; }

log python-env-numpy-distutils python-env numpy -
python-env-numpy-distutils() {
  venv numpy312 3.12 'numpy>=2' 'setuptools<81' wheel 'pip<26'
  printf 'from numpy.distutils.core import Extension, setup\nsetup(name="legacy", version="0.9")\n' >setup.py
  pip install --no-build-isolation .
}

log python-env-license-table python-env license -
python-env-license-table() {
  venv bare311 3.11 'setuptools==65.5.0' wheel 'pip<26'
  pyproject kernels setuptools.build_meta '"setuptools"' 1.0
  echo 'license = "Apache-2.0"' >>pyproject.toml
  pip install --no-build-isolation .
}

log python-env-invalid-version python-env version -
python-env-invalid-version() {
  venv setuptools80 3.11 'setuptools==80.*' wheel 'pip<26'
  printf 'from setuptools import setup\nsetup(name="kernels", version="2.1-cu124-dirty.x_y")\n' >setup.py
  pip install --no-build-isolation .
}

log python-env-use-2to3 python-env 2to3 -
python-env-use-2to3() {
  plain_venv
  printf 'from setuptools import setup\nsetup(name="ancient", version="0.2", use_2to3=True)\n' >setup.py
  typed pip install .
}

log python-env-python-h python-env dev answer.c
python-env-python-h() {
  plain_venv
  hide_python_headers
  printf '#include <Python.h>\nint x;\n' >answer.c
  printf "from setuptools import Extension, setup\nsetup(name='answer', version='1', ext_modules=[Extension('answer', ['answer.c'])])\n" >setup.py
  pip install --no-build-isolation .
}

log python-env-python-h-cmake cmake Development -
python-env-python-h-cmake() {
  printf 'cmake_minimum_required(VERSION 3.18)\nproject(ops LANGUAGES CXX)\nfind_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)\n' >CMakeLists.txt
  mount -t tmpfs none /usr/include/python3.11 2>/dev/null
  cmake -S . -B build -DPython_EXECUTABLE=/usr/bin/python3
}

log python-env-requires-python python-env Python -
python-env-requires-python() {
  venv bare38 3.8 'pip<25'
  pyproject kernels setuptools.build_meta '"setuptools"' 1.0
  echo 'requires-python = ">=3.10"' >>pyproject.toml
  pip install .
}

log python-env-requires-python-uv python-env Python -
python-env-requires-python-uv() {
  plain_venv
  pyproject kernels setuptools.build_meta '"setuptools"' 1.0
  echo 'requires-python = ">=3.13"' >>pyproject.toml
  uv pip install .
}

log python-env-pin-absent python-env setuptools -
python-env-pin-absent() { plain_venv; pyproject kernels setuptools.build_meta '"setuptools==999.0"' 1.0; pip install .; }

log python-env-pin-absent-uv python-env setuptools -
python-env-pin-absent-uv() { plain_venv; pyproject kernels setuptools.build_meta '"setuptools==999.0"' 1.0; uv pip install .; }

log python-env-pin-conflict python-env - -
python-env-pin-conflict() {
  plain_venv
  printf 'packaging==24.0\nblack==24.10.0\npackaging<22\n' >requirements.txt
  pip install -r requirements.txt
}

log python-env-pin-conflict-uv python-env numpy -
python-env-pin-conflict-uv() {
  plain_venv
  printf 'scipy==1.14.1\nnumpy==1.21.6\n' >requirements.txt
  uv pip install -r requirements.txt
}

log python-env-externally-managed python-env venv -
python-env-externally-managed() {
  [[ -e /usr/lib/python3.11/EXTERNALLY-MANAGED ]] || { changeable /usr/lib/python3.11; printf '[externally-managed]\nError=To install Python packages system-wide, try apt install\n python3-xyz, where xyz is the package you are trying to\n install.\n' >/usr/lib/python3.11/EXTERNALLY-MANAGED; }
  keep pipzip get_pip_wheel
  PYTHONPATH=$(echo "$kept"/*.whl) /usr/bin/python3 -m pip install ninja 2>&1 | sed "s#$kept#/home/me#g"
  return "${PIPESTATUS[0]}"
}
get_pip_wheel() { "$(python_of 3.11)" -m pip download -q --no-deps -d "$kept" 'pip<26'; }

log python-env-entry-backend python-env backend -
python-env-entry-backend() { plain_venv; pyproject kernels setuptools.build_metta '"setuptools"' 1.0; pip install .; }

log python-env-toml python-env pyproject.toml -
python-env-toml() { plain_venv; printf '[build-system]\nrequires = ["setuptools"\nbuild-backend = "setuptools.build_meta"\n' >pyproject.toml; pip install .; }

log python-env-flat-layout python-env packages -
python-env-flat-layout() {
  venv setuptools80 3.11 'setuptools==80.*' wheel 'pip<26'
  pyproject kernels setuptools.build_meta '"setuptools"' 1.0
  mkdir csrc kernels data
  touch {csrc,kernels,data}/__init__.py
  pip install --no-build-isolation .
}

log python-env-scm-version python-env SETUPTOOLS_SCM -
python-env-scm-version() {
  venv scm 3.11 'setuptools<81' 'setuptools-scm>=8' wheel 'pip<26'
  printf '[build-system]\nrequires = ["setuptools", "setuptools-scm"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "kernels"\ndynamic = ["version"]\n[tool.setuptools_scm]\n' >pyproject.toml
  pip install --no-build-isolation .
}

log python-env-ninja-torch python-env ninja -
python-env-ninja-torch() {
  torch_venv
  changeable /usr/bin /usr/local
  rm -f /usr/bin/ninja /usr/local/bin/ninja /home/me/.venv/bin/ninja
  cat >warm_up.py <<'CODE'
from torch.utils.cpp_extension import load
load(name='ops', sources=['ops.cpp'], verbose=True)
CODE
  echo 'int x;' >ops.cpp
  python warm_up.py
}

log python-env-poetry-core python-env poetry -
python-env-poetry-core() { plain_venv; pyproject kernels poetry.core.masonry.api '"poetry-core"'; printf '[tool.poetry]\nname = "kernels"\n' >>pyproject.toml; pip install .; }
