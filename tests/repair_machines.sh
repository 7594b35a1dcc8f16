#!/bin/bash
# repair on wheels of another libc and another machine: musl's loader and readelf judge the names, auditwheel show the tag.
. "$(dirname "$0")/common.inc"
need readelf unzip
unset LD_LIBRARY_PATH
judge=${TESTS_PYTHON:-python3}
[[ -x $judge ]] || judge=python3
cd "$t"
printf 'int inner(void) { return 1; }\n' >inner.c
printf 'int inner(void); int outer(void) { return inner(); }\n' >outer.c
printf 'int outer(void); void *PyInit__m(void) { outer(); return 0; }\n' >module.c
printf 'int outer(void); int main(void) { return outer() != 1; }\n' >main.c
echo >init.py

# unrepaired MACHINE SUFFIX COMPILER [FLAG…]: libraries in $1-libs, a wheel that needs them in $1-in
unrepaired() {
  local libs=$t/$1-libs
  mkdir -p "$libs" "$1-in"
  "${@:3}" -shared -fPIC inner.c -o "$libs/libinner.so.1" -Wl,-soname,libinner.so.1
  "${@:3}" -shared -fPIC outer.c -o "$libs/libouter.so.1" -Wl,-soname,libouter.so.1 "$libs/libinner.so.1"
  "${@:3}" -shared -fPIC module.c -o module.so "$libs/libouter.so.1" -Wl,-rpath-link,"$libs"
  "${@:3}" main.c -o main "$libs/libouter.so.1" -Wl,-rpath-link,"$libs"
  make_wheel "$1-in/demo-1.0-cp311-cp311-linux_$1.whl" demo/__init__.py=init.py "demo/_m$2=module.so" demo-1.0.data/scripts/demo-main=main
}
# repaired MACHINE TAG OPTION…: what repair makes of it, unpacked into $1-out
repaired() {
  run_json repair "$1-in"/*.whl --out "$1-made" "${@:3}"
  expect 0 $status "$(<"$t/out")$(<"$t/err")"
  made=$(json 'items[0].outputs[0].path')
  [[ $made == *-$2_$1.whl ]] || fail "$made is not $2"
  expect 2 "$(unzip -Z1 "$made" 'demo.libs/*' | wc -l)"
  unzip -q "$made" -d "$1-out"
  local outer
  outer=$(basename "$1-out"/demo.libs/libouter-*.so.1)
  readelf -dW "$1-out"/demo/_m*.so | grep -qF "[$outer]" || fail "the module needs $(readelf -dW "$1-out"/demo/_m*.so)"
  readelf -dW "$1-out/demo.libs/$outer" | grep -q 'NEEDED.*\[libinner-[0-9a-f]\{8\}\.so\.1\]' || fail "names among copies"
  if "$judge" -m auditwheel --version >/dev/null 2>&1; then
    "$judge" -m auditwheel show --ldpaths "$t/nothing" "$made" 2>&1 | tr '\n' ' ' >shown
    grep -qF "$(sed 's/.*-\([a-z]*linux_[0-9_]*_[a-z0-9_]*\)\.whl/\1/' <<<"$made" | sed 's/\..*//')" shown || fail "auditwheel says: $(<shown)"
  fi
}
tried=0
if command -v musl-gcc >/dev/null; then
  unrepaired x86_64 .cpython-311-x86_64-linux-musl.so musl-gcc
  repaired x86_64 musllinux_1_1 --ldpaths "$t/x86_64-libs"
  mv x86_64-libs gone
  chmod +x x86_64-out/demo.scripts/demo-main
  x86_64-out/demo.scripts/demo-main || fail "the program for musl does not run"
  tried=$((tried + 1))
fi
if command -v aarch64-linux-gnu-gcc >/dev/null; then
  unrepaired aarch64 .cpython-311-aarch64-linux-gnu.so aarch64-linux-gnu-gcc
  repaired aarch64 'manylinux*' --ldpaths "$t/aarch64-libs"
  # Libraries of this machine are not taken for the other one's.
  run_json repair aarch64-in/*.whl --out none
  expect 1 $status
  tried=$((tried + 1))
fi
((tried > 0)) || skip "neither musl-gcc nor aarch64-linux-gnu-gcc here"
