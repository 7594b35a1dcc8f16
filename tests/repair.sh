#!/bin/bash
# repair copies what a wheel needs into it: the result imports where the libraries are gone, auditwheel show agrees with its tag,
# readelf with its names. The GPU stack stays outside and is found beside the wheel.
. "$(dirname "$0")/common.inc"
need gcc readelf unzip
unset LD_LIBRARY_PATH
python3 -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || skip "not Python 3.11"
judge=${TESTS_PYTHON:-python3}
[[ -x $judge ]] || judge=python3
cd "$t"

# library NAME SONAME CODE [FLAG…]: into the folder of the build machine
mkdir -p build/{one,two} in
library() {
  printf '%s\n' "$3" >code.c
  gcc -shared -fPIC -fopenmp code.c -o "build/$1" -Wl,-soname,"$2" "${@:4}"
}
printf 'DEMO_1 { global: *; };\n' >versions
library one/libinner.so.1.5 libinner.so.1 'int inner(void) { return 1; }' -Wl,--version-script=versions
ln -s libinner.so.1.5 build/one/libinner.so.1
library one/libouter.so.2 libouter.so.2 '#include <omp.h>
int inner(void); int outer(void) { return 10 * inner() + (omp_get_max_threads() > 0); }' -Lbuild/one -l:libinner.so.1
library two/libinner.so.1 libinner.so.1 'int inner(void) { return 5; }'
library one/libplugin.so.3 libplugin.so.3 'int inner(void); int plugin(void) { return 100 * inner(); }' -Lbuild/one -l:libinner.so.1
library one/libcudart.so.13 libcudart.so.13 'int cuda(void) { return 1000; }'

# Extensions of which one loads a library by name, and a program.
extension() { # NAME CODE EXPRESSION [FLAG…]
  cat >"$1.c" <<END_OF_C
typedef void *P; extern P PyLong_FromLong(long); extern P PyModule_Create2(P, int);
#include <dlfcn.h>
$2
static P answer(P self, P none) { return PyLong_FromLong($3); }
static struct { const char *n; P f; int flags; const char *d; } methods[] = {{"answer", (P)answer, 4, ""}, {0, 0, 0, 0}};
static struct { long r; P t, i; long x; P c; const char *name, *doc; long size; P m, s, tr, cl, fr; } def = {1, 0, 0, 0, 0, "$1", 0, -1, methods};
P PyInit_$1(void) { return PyModule_Create2(&def, 1013); }
END_OF_C
  gcc -shared -fPIC "$1.c" -o "$1.so" "${@:4}"
}
rpath=-Wl,-rpath-link,build/one
extension _a 'int outer(void);' 'outer()' -Lbuild/one -l:libouter.so.2 "-Wl,-rpath,$t/build/one" $rpath
extension _b 'int inner(void);' 'inner()' -Lbuild/two -l:libinner.so.1 "-Wl,-rpath,$t/build/two" -Wl,--enable-new-dtags
extension _c 'static int load(void) { P h = dlopen("libplugin.so.3", 2); int (*f)(void) = h ? (int (*)(void))dlsym(h, "plugin") : 0; return f ? f() : -1; }' \
  'load()' "-Wl,-rpath,$t/build/one"
extension _d 'int cuda(void);' 'cuda()' -Lbuild/one -l:libcudart.so.13
printf '#include <stdio.h>\nint outer(void); int main(int c, char **v) { printf("%%d %%s\\n", outer(), c > 1 ? v[1] : ""); return 0; }\n' >tool.c
gcc tool.c -o tool -Lbuild/one -l:libouter.so.2 "-Wl,-rpath,$t/build/one" $rpath
printf 'int main(void) { return 0; }\n' >static.c
gcc -static-pie static.c -o static-tool 2>/dev/null || gcc -static static.c -o static-tool
: >init.py
cat >METADATA <<'END_OF_METADATA'
Metadata-Version: 2.4
Name: demo
Version: 1.0
Requires-Dist: nvidia-cuda-runtime
END_OF_METADATA
wheel=in/demo-1.0-cp311-cp311-linux_x86_64.whl
members=(demo/__init__.py=init.py demo/sub/__init__.py=init.py)
for name in _a _b _c _d; do members+=("demo/sub/$name.cpython-311-x86_64-linux-gnu.so=$name.so"); done
make_wheel "$wheel" "${members[@]}" demo-1.0.data/scripts/demo-tool=tool demo-1.0.data/scripts/demo-static=static-tool \
  demo-1.0.dist-info/METADATA=METADATA
sum=$(sha256sum <"$wheel")

run_json repair "$wheel" --graft "$t/build/one/libplugin.so.3" -w wheelhouse
expect 0 $status "$(<"$t/out")$(<"$t/err")"
made=$(json 'items[0].outputs[0].path')
[[ $made == wheelhouse/demo-1.0-cp311-cp311-manylinux_2_*_x86_64.whl ]] || fail "$made"
run check "$made"
expect 0 $status "$(<"$t/out")"
expect "$sum" "$(sha256sum <"$wheel")" "the input"

# Both versions of libinner came along, each under its own hash; the plugin kept its name.
short() { sha256sum "$1" | cut -c1-8; }
outer=libouter-$(short build/one/libouter.so.2).so.2
inner1=libinner-$(short build/one/libinner.so.1).so.1.5
inner2=libinner-$(short build/two/libinner.so.1).so.1
libs=$(unzip -Z1 "$made" 'demo.libs/*' | sed 's|demo.libs/||' | sort)
expect "$(printf '%s\n' "$outer" "$inner1" "$inner2" libplugin.so.3 | sort)" "$(grep -v gomp <<<"$libs")"
grep -q '^libgomp-[0-9a-f]\{8\}\.so\.1' <<<"$libs" || fail "libgomp is not there: $libs"
mkdir unpacked && unzip -q "$made" -d unpacked
needed() { readelf -dW "unpacked/$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort; }
needed "demo.libs/$outer" | grep -qxF "$inner1" || fail "outer needs $(needed "demo.libs/$outer")"
expect "$outer" "$(readelf -dW "unpacked/demo.libs/$outer" | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')"
readelf -VW "unpacked/demo.libs/$outer" | grep -qF "File: $inner1" || fail "version references: $(readelf -VW "unpacked/demo.libs/$outer")"
ext=.cpython-311-x86_64-linux-gnu.so
readelf -dW "unpacked/demo/sub/_a$ext" | grep -qF '(RPATH)' || fail "no RPATH"
readelf -dW "unpacked/demo/sub/_a$ext" | grep -qF '$ORIGIN/../../demo.libs' || fail "no way to the copies"
! readelf -dW unpacked/demo/sub/*.so | grep -F "$t/build" || fail "paths of the build machine"
readelf -dW "unpacked/demo/sub/_d$ext" | grep -qF '[$ORIGIN/../../nvidia/cu13/lib]' || fail "no way to the CUDA wheel"
needed "demo/sub/_d$ext" | grep -qx libcudart.so.13 || fail "libcudart was renamed"

# Licences and bill of materials of what a package of the distribution owns.
if [[ -e /var/lib/dpkg/status ]]; then
  unzip -p "$made" '*/sboms/wheelsmith-repair.cdx.json' >sbom.json
  expect "$(dpkg-query -W -f '${Version}' libgomp1)" "$(json '[c.version for c in components if c.name == "libgomp.so.1"][0]' sbom.json)"
  [[ $(json '[c.purl for c in components if c.name == "libgomp.so.1"][0]' sbom.json) == pkg:deb/*/libgomp1@* ]] || fail purl
  unzip -p "$made" '*/licenses/demo.libs/libgomp1/copyright' | cmp - /usr/share/doc/libgomp1/copyright
  unzip -p "$made" '*/METADATA' | grep -qx 'License-File: demo.libs/libgomp1/copyright' || fail License-File
fi

# Where the build machine's libraries are gone, all of it works.
mv build gone
python3 -m venv --without-pip env
"$judge" -m pip --python env/bin/python install --no-index --no-deps -q "$made" 2>pip.err || fail "$(<pip.err)"
mkdir -p "$(echo env/lib/python*/site-packages)/nvidia/cu13/lib"
cp gone/one/libcudart.so.13 env/lib/python*/site-packages/nvidia/cu13/lib
expect '11 5 100 1000' "$(env/bin/python -c 'from demo.sub import _a, _b, _c, _d; print(_a.answer(), _b.answer(), _c.answer(), _d.answer())')"
expect '11 word' "$(env/bin/demo-tool word)"
env/bin/demo-static
if "$judge" -m auditwheel --version >/dev/null 2>&1; then
  "$judge" -m auditwheel show "$made" 2>&1 | tr '\n' ' ' | tr -s ' ' >shown
  tag=$(sed 's/.*-\([a-z]*linux_[0-9a-z_]*\)\..*/\1/' <<<"$made")
  grep -qF "$tag" shown || fail "auditwheel says: $(<shown)"
fi
mv gone build

# Repaired twice, nothing is left to do. The same command gives the same bytes.
run_json repair "$made" --out again --exclude 'libcudart*'
expect 0 $status "$(<"$t/out")$(<"$t/err")"
expect "$libs" "$(unzip -Z1 "$(json 'items[0].outputs[0].path')" 'demo.libs/*' | sed 's|demo.libs/||' | sort)"
run repair "$wheel" --graft "$t/build/one/libplugin.so.3" -w twice
cmp "$made" "twice/${made##*/}"

# auditwheel's options.
run_json repair "$wheel" --plat manylinux_2_5_x86_64 --out old
[[ $status == 1 && $(json 'items[0].error') == *manylinux_2_5* ]] || fail "$(<"$t/out")"
expect '' "$(ls -A old 2>/dev/null || true)"
run_json repair "$wheel" --exclude 'libinner.so.*' --exclude libouter.so.2 -L .more --strip --out excluded
expect 0 $status "$(<"$t/out")"
expect '' "$(unzip -Z1 "$(json 'items[0].outputs[0].path')" | grep inner || true)"
mv build gone
run_json repair "$wheel" --out missing
[[ $status == 1 && $(json 'items[0].error') == *libouter.so.2* ]] || fail "$(<"$t/out")"
run_json repair "$wheel" --ldpaths "$t/gone/one:$t/gone/two:/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu" --out found
expect 0 $status "$(<"$t/out")"
run repair "$wheel" --plat windows
expect 2 $status

# A library that the wheel has under another name, for ctypes: no run path leads the loader to that name, so a copy is made.
mkdir own-name
printf 'int shared(void) { return 7; }\n' >own-name/shared.c
gcc -shared -fPIC own-name/shared.c -o own-name/libshared.so.1 -Wl,-soname,libshared.so.1
printf 'int shared(void); int answer(void) { return shared(); }\n' >own-name/user.c
gcc -shared -fPIC own-name/user.c -o own-name/user.so own-name/libshared.so.1
touch own-name/init.py
make_wheel own-name/demo-1.0-cp311-cp311-linux_x86_64.whl demo/__init__.py=own-name/init.py demo/libshared.so=own-name/libshared.so.1 \
  demo/_user.abi3.so=own-name/user.so
run_json repair own-name/demo-*.whl --ldpaths "$t/own-name" --out own-name/made
expect 0 $status "$(<"$t/out")"
unzip -q own-name/made/*.whl -d own-name/unpacked
mv own-name/libshared.so.1 own-name/gone
expect 7 "$(python3 -c 'import ctypes; print(ctypes.CDLL("own-name/unpacked/demo/_user.abi3.so").answer())')"
