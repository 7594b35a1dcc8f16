#!/bin/bash
# A recipe with [repair] gets a wheel that contains the libraries it needs: one of the system and one that the build itself made.
# auditwheel, readelf and an import without the build's tree confirm it. Libraries of the user's folders are not taken.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need unzip readelf gcc
small_package "$t"
package=$t/recipes/small
mkdir -p "$t/outside"
printf 'int own(void) { return 40; }\n' >"$package/own.c"
printf 'int private_one(void) { return 1; }\n' | gcc -shared -fPIC -x c - -o "$t/outside/libprivate.so.1" -Wl,-soname,libprivate.so.1
cat >"$package/setup.py" <<END
import os, subprocess
from setuptools import Extension, setup
for folder in ("lib", "stub"):
    os.makedirs(folder, exist_ok=True)
subprocess.run("gcc -shared -fPIC own.c -o lib/libown.so.1 -Wl,-soname,libown.so.1", shell=True, check=True)
more = []
if os.path.exists("private"):
    subprocess.run("echo 'int private_one(void) { return 1; }' | gcc -shared -fPIC -x c - -o stub/libprivate.so.1 -Wl,-soname,libprivate.so.1", shell=True, check=True)
    more = ["-Lstub", "-l:libprivate.so.1", "-Wl,-rpath,$t/outside"]
setup(packages=["small"], ext_modules=[Extension("small._small", ["small/add.c", "small/module.c"],
      extra_link_args=["-Wl,--no-as-needed", "-l:libzstd.so.1", "-Llib", *more, "-l:libown.so.1", "-Wl,-rpath," + os.getcwd() + "/lib"])])
END

# Without [repair] the wheel is for this machine only.
run build small --no-test
expect 0 "$status" "$(<"$t/err")"
[[ $(find "$WHEELSMITH_OUT" -name '*.whl') == *-linux_x86_64.whl ]] || fail "tagged as portable without its libraries"
rm -r "$WHEELSMITH_OUT"

printf '\n[repair]\nenabled = true\n' >>"$t/recipes/small.toml"
run build small
expect 0 "$status" "$(<"$t/err")"
wheel=$(find "$WHEELSMITH_OUT" -name '*.whl')
[[ $wheel == *manylinux* ]] || fail "not portable: $wheel"
unzip -oq "$wheel" -d "$t/unpacked"
expect "libown libzstd" "$(basename -a "$t"/unpacked/small.libs/*.so* | sed 's/-.*//' | sort | paste -sd' ')"
readelf -d "$t"/unpacked/small/_small*.so | grep -q 'RUNPATH.*\[\$ORIGIN/../small.libs\]\|RPATH.*\[\$ORIGIN/../small.libs\]' || fail "no run path to the copies"
expect 5 "$(cd "$t/unpacked" && python3 -c 'import small; print(small.add(2, 3))')" "it loads"
expect repair "$(json 'operations[0].operation' "$t"/unpacked/*.dist-info/wheelsmith/operations.json)"
if [[ -n ${TESTS_PYTHON:-} ]]; then
  tag=$(basename "$wheel" .whl)
  "$TESTS_PYTHON" -m auditwheel show "$wheel" | tr -d '\n' | grep -q "\"${tag##*-}\"\|$(cut -d. -f1 <<<"${tag##*-}")" || fail "auditwheel does not agree with $tag"
fi
run check "$wheel"
expect 0 "$status" "$(<"$t/out")"

# Equal inputs give equal bytes.
first=$(sha256sum <"$wheel")
rm -rf "$WHEELSMITH_STORE" "$WHEELSMITH_OUT"
run build small
expect 0 "$status" "$(<"$t/err")"
expect "$first" "$(sha256sum <"$wheel")"

# The build chooses the run paths, but not which folders of the user are read.
touch "$package/private"
run build small --no-test
expect 1 "$status" "$(<"$t/err")"
grep -q 'libraries were not found: libprivate.so.1' "$t/out" || fail "no reason: $(<"$t/out")"
echo "a wheel with two copied libraries, $(basename "$wheel")"
