#!/bin/bash
# The commands of a new user's first minutes and their exact output (tests/first_minutes.txt). Paths, versions, sizes,
# times and hashes are masked. `tests/first_minutes.sh --update` accepts changes; read the diff.
update=${1:-}
. "$(dirname "$0")/common.inc"
. "$tests/small_package.inc"
need_registry
need git
export WHEELSMITH_STORE=$t/store COLUMNS=80
golden=$tests/first_minutes.txt

mkdir -p "$t/hello/hello" "$t/bin"
ln -s "$wheelsmith" "$t/bin/wheelsmith"
cd "$t/hello"
cat >pyproject.toml <<'TOML'
[build-system]
requires = ["setuptools==80.9.0"]
build-backend = "setuptools.build_meta"
[project]
name = "hello"
version = "1.0"
TOML
cat >setup.py <<'PY'
from setuptools import Extension, setup
setup(ext_modules=[Extension("hello._hello", ["hello/hello.c"])])
PY
echo 'from ._hello import answer' >hello/__init__.py
cat >hello/hello.c <<'C'
#include <Python.h>
static PyObject* answer(PyObject* self, PyObject* none) { return PyLong_FromLong(42); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, 0}, {0, 0, 0, 0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_hello", 0, -1, methods};
PyMODINIT_FUNC PyInit__hello(void) { return PyModule_Create(&module); }
C

# Masks what differs between machines and runs.
mask() {
  sed -E -e "s#$t#DIR#g; s#$around#HOME#g; s#$wheelsmith#wheelsmith#g" \
    -e 's#^wheelsmith [0-9]+\.[0-9.]+$#wheelsmith VERSION#' \
    -e 's#[0-9]+(\.[0-9]+)? (ms|s|min|h)\b#TIME#g; s#[0-9]+(\.[0-9]+)? ?(B|kB|MB|GB)\b#SIZE#g' \
    -e 's#\b[0-9a-f]{12,64}\b#HASH#g; s#cp3[0-9]+t?#cpXY#g; s#manylinux_2_[0-9]+_[a-z0-9_]+#manylinux_TAG#g; s#_x86_64|_aarch64#_MACHINE#g' \
    -e 's#[0-9]+ warnings?, #N warnings, #' \
    -e 's#pid [0-9]+#pid PID#g; s#[0-9]+ (cores?|jobs?)\b#N \1#g'
}
: >"$t/output"
# types COMMAND LINE: runs it; records both streams, and the exit status if it is not 0.
types() {
  local code=0
  printf '$ %s\n' "$1" >>"$t/output"
  (PATH=$t/bin:$PATH eval "$1") >"$t/one" 2>&1 </dev/null || code=$?
  # Lines that depend on the machine's tools are dropped.
  mask <"$t/one" | grep -vE '^without a compile cache|sandbox|^ *(looking|finding|reading|resolving|fetching) ' >>"$t/output" || true
  ((code == 0)) || printf '(exit status %s)\n' $code >>"$t/output"
  echo >>"$t/output"
}
types 'wheelsmith'
types 'wheelsmith --version'
types 'wheelsmith biuld .'
types 'wheelsmith build --pyhton 3.11 .'
types 'wheelsmith build ./nowhere'
types 'wheelsmith build dist/hello-1.0-py3-none-any.whl'
types 'wheelsmith build . --jobs many'
types 'wheelsmith build . --gpu H100'
types 'wheelsmith help config'
types 'wheelsmith config set jobs 2'
types 'wheelsmith config set jbos 2'
types 'wheelsmith recipe show txeture'
types 'wheelsmith recipe init .'
types 'wheelsmith plan .'
types 'wheelsmith build . -q -o wheels'
types 'ls wheels | grep whl$'
types 'wheelsmith check wheels/*.whl | tail -n 1'

if [[ $update == --update ]]; then
  cp "$t/output" "$golden"
  exit 0
fi
diff -u "$golden" "$t/output" || fail "the output has changed; if that is intended: tests/first_minutes.sh --update"
