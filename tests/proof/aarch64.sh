#!/bin/bash
# The program for aarch64, cross-built on this machine and run under qemu: unit tests and fuzz corpora, its packages, `inspect` and
# `check` of a wheel of the package index, and the build of a C extension in an emulated Debian.
#
# The emulated system lives in a user namespace with a binfmt_misc of its own (Linux 6.7), so the machine's is not changed. qemu's
# user mode has neither seccomp nor new namespaces: the program must say so, and build only with the sandbox off.
source "$(dirname "$0")/../common.inc"
[[ $(uname -m) == x86_64 ]] || skip "this proves the cross build on x86-64"
need aarch64-linux-gnu-g++ qemu-aarch64-static apt-get dpkg-deb unshare zip openssl
[[ -n ${TESTS_PYTHON:-} ]] || skip "no environment with auditwheel"
top=$(realpath "$tests/..")
cd "$top"
scripts/sysroot.sh aarch64 build/sysroot-aarch64
scripts/configure.sh release-aarch64
cmake --build build/release-aarch64 --target wheelsmith
program=$top/build/release-aarch64/bin/wheelsmith
readelf -h "$program" | grep -q 'Machine: *AArch64' || fail "not a program for aarch64"
[[ -z $(readelf -d "$program" | grep NEEDED || true) ]] || fail "not a static program"

# A path of this checkout in the program would make it differ from one built elsewhere.
expect 0 "$(grep -cFa -e "$top" -e sysroot-aarch64 "$program" || true)" "paths of the checkout in the program"

# The unit tests of modules that start no process. Starting one is what the build below does.
modules=(base zip elf pep gpu wheel archive document diagnose recipe settings store toolchain cache)
cmake --build build/release-aarch64 --target "${modules[@]/%/_test}" fuzz_elf fuzz_zip
pattern=$(IFS='|'; echo "^unit\.(${modules[*]})\$|^corpus\.(elf|zip)\$")
ctest --test-dir build/release-aarch64 --output-on-failure --no-tests=error -j "$(nproc)" -R "$pattern"

# The same packages twice, and good by the x86-64 program's word.
cd "$t"
for name in one two; do
  SOURCE_DATE_EPOCH=1700000000 bash "$top/scripts/dist.sh" "$program" "$t/$name" aarch64 >/dev/null
done
diff -r one two || fail "two packings differ"
run check one/*.whl
expect 0 "$status" "$(<"$t/out")"
expect arm64 "$(dpkg-deb -f one/*.deb Architecture)"
"$TESTS_PYTHON" -m auditwheel show one/*.whl >"$t/auditwheel" 2>&1 || true
echo "packages: $(ls one | tr '\n' ' ')"

# A wheel of the package index: the same answers from both programs, except for what they say about themselves.
python3 -m pip download -q --no-deps --only-binary :all: --platform manylinux2014_aarch64 --python-version 3.11 -d index numpy==2.1.3
for options in "inspect --json" "check --json"; do
  # shellcheck disable=SC2086
  { "$wheelsmith" $options index/*.whl >x86_64.json || true; qemu-aarch64-static "$program" $options index/*.whl >aarch64.json || true; }
  cmp x86_64.json aarch64.json || fail "$options: the programs differ"
  [[ -s x86_64.json ]] || fail "$options: no answer"
done

# A Debian for arm64, in which a C extension is built, checked and imported. The build requirements come from a folder.
root=${PROOF_ROOT:-$top/build/rootfs-aarch64}
"$top/scripts/sysroot.sh" aarch64 "$root" base-files base-passwd bash dash coreutils sed grep findutils tar gzip python3 python3-dev \
  python3-venv python3-pip g++ curl git patch binutils
for name in cc:gcc c++:g++; do ln -sf "${name#*:}" "$root/usr/bin/${name%:*}"; done
rm -rf "$root/proof"
mkdir -p "$root/proof/wheels" "$root/proof/small/src"
python3 -m pip download -q --only-binary :all: --platform any --python-version 3.11 --no-deps -d "$root/proof/wheels" setuptools wheel packaging pip
install -m 755 "$program" "$root/usr/bin/wheelsmith"
cat >"$root/proof/small/pyproject.toml" <<'TOML'
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "small"
version = "1.0"
TOML
cat >"$root/proof/small/setup.py" <<'PYTHON'
from setuptools import Extension, setup

setup(ext_modules=[Extension("small", ["src/small.c"])])
PYTHON
cat >"$root/proof/small/src/small.c" <<'C'
#include <Python.h>
static PyObject* answer(PyObject* self, PyObject* arguments) { return PyLong_FromLong(42); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "small", 0, -1, methods};
PyMODINIT_FUNC PyInit_small(void) { return PyModule_Create(&module); }
C
cat >"$t/emulate.sh" <<'SH'
set -eu
root=$1
shift
if ! grep -qs enabled /proc/sys/fs/binfmt_misc/qemu-aarch64; then
  mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
  cat /usr/lib/binfmt.d/qemu-aarch64.conf >/proc/sys/fs/binfmt_misc/register
fi
mount --rbind /dev "$root/dev"
mount --rbind /proc "$root/proc"
exec chroot "$root" /usr/bin/env -i PATH=/usr/bin:/bin HOME=/root LANG=C.UTF-8 PIP_NO_INDEX=1 PIP_FIND_LINKS=/proof/wheels "$@"
SH
emulate() { unshare --user --map-root-user --mount --propagation private sh "$t/emulate.sh" "$root" "$@"; }
emulate /bin/true 2>"$t/err" || skip "no emulated system here: $(tail -n 1 "$t/err")"
expect aarch64 "$(emulate uname -m)"
emulate wheelsmith doctor >"$t/doctor" 2>&1 || true
grep -q 'unknown  sandbox .*the system call filter' "$t/doctor" || { cat "$t/doctor" >&2; fail "doctor does not report the missing sandbox"; }
! emulate wheelsmith build /proof/small --variant cpu --store /proof/store --out /proof/out >"$t/out" 2>&1 || fail "a build without a sandbox"
grep -q -- '--sandbox off' "$t/out" || { cat "$t/out" >&2; fail "the refusal does not name the way out"; }
emulate wheelsmith build /proof/small --variant cpu --sandbox off --store /proof/store --out /proof/out --json >"$t/out" 2>"$t/err" ||
  { cat "$t/out" "$t/err" >&2; fail "the build under qemu"; }
wheel=$(echo "$root"/proof/out/*.whl)
echo "built under qemu: ${wheel##*/}"
[[ $wheel == *_aarch64.whl ]] || fail "$wheel is not for aarch64"
emulate wheelsmith check "/proof/out/${wheel##*/}" >"$t/check" || { cat "$t/check" >&2; fail "check under qemu"; }
run check "$wheel"
expect 0 "$status" "$(<"$t/out")"
emulate sh -c 'cd /proof && python3 -m venv env && env/bin/python -m pip install -q out/*.whl'
expect 42 "$(emulate /proof/env/bin/python -c 'import small; print(small.answer())')"
rm -rf "$root/proof"
