#!/bin/bash
# ROCm's artifacts become packages: the mode with separate libraries per GPU family; installed by uv.
. "$(dirname "$0")/common.inc"
. "$tests/rocm_small_sdk.inc"
. "$tests/rocm_artifacts.inc"
. "$tests/rocm_package.inc"
need_rocm_packaging
unset SOURCE_DATE_EPOCH ROCM_SDK_WHEEL_PLATFORM_TAG ROCM_PATH ROCM_SDK_TARGET_FAMILY
rocm_artifacts "$t/artifacts" family gfx90a=gfx90a gfx115X-all=gfx1151
# A family's library replaces the generic one, and a note says so.
cp "$t/artifacts/blas_lib_gfx90a/blas/stage/lib/librocsolver.so.0" "$t/artifacts/blas_lib_generic/blas/stage/lib/"
echo other >>"$t/artifacts/blas_lib_generic/blas/stage/lib/librocsolver.so.0"

export ROCM_SDK_WHEEL_PLATFORM_TAG=linux_x86_64
run_json rocm package --artifact-dir "$t/artifacts" --dest-dir "$t/one" --version 7.10.0rc2 --devel-tarball-compression --version-suffix _nonce
expect 0 $status "$(<"$t/err")"
expect family "$(json mode)"
expect 'gfx115X-all
gfx90a' "$(json targets)"
expect 'lib/librocsolver.so.0' "$(json 'sorted(set(f.subject for f in findings if f.id == "rocm-conflict"))')"
expect './gfx115X-all/rocm-7.10.0rc2.tar.gz
./gfx115X-all/rocm_sdk_devel-7.10.0rc2-py3-none-linux_x86_64.whl
./gfx90a/rocm-7.10.0rc2.tar.gz
./gfx90a/rocm_sdk_devel-7.10.0rc2-py3-none-linux_x86_64.whl
./rocm_profiler-7.10.0rc2-py3-none-linux_x86_64.whl
./rocm_sdk_core-7.10.0rc2-py3-none-linux_x86_64.whl
./rocm_sdk_libraries_gfx115x_all-7.10.0rc2-py3-none-linux_x86_64.whl
./rocm_sdk_libraries_gfx90a-7.10.0rc2-py3-none-linux_x86_64.whl' "$(cd "$t/one/dist" && find . -type f | sort)"
for wheel in "$t"/one/dist/*.whl "$t"/one/dist/*/*.whl; do python3 "$tests/rocm_package.py" prove "$wheel" "$t/artifacts" >"$t/proved"; done
run_json inspect "$t"/one/dist/rocm_sdk_libraries_gfx115x_all-*.whl
[[ $(json 'sorted(set(g.arch for g in items[0].gpu))') == gfx1151 ]] || fail "$(json 'items[0].gpu')"
# Again, with one thread: xz packs in blocks, and they are the same.
run rocm package --artifact-dir "$t/artifacts" --dest-dir "$t/two" --version 7.10.0rc2 --devel-tarball-compression --version-suffix _nonce --threads 1
same_bytes "$t/one/dist" "$t/two/dist"
unzip -p "$t"/one/dist/gfx90a/rocm_sdk_devel-*.whl rocm_sdk_devel/_devel.tar.xz | tar -tJvf - >"$t/devel.list"
[[ $(<"$t/devel.list") == *'bin/rocblas-test'* ]] || fail "tests belong to the devel package of this mode"
[[ $(<"$t/devel.list") == *'-> ../../_rocm_sdk_libraries_gfx90a_nonce/lib/librocsolver.so.0'* ]] || fail "$(<"$t/devel.list")"
[[ $(<"$t/devel.list") != *gfx115X* ]] || fail "a link into another family's package"

# --- installed by uv if available, otherwise by pip
serve_packages "$t/one/dist/gfx115X-all"
"$TESTS_PYTHON" -m venv "$t/tools"
"$TESTS_PYTHON" -m venv "$t/venv"
find "$t/venv" | sort >"$t/before"
install=("$t/venv/bin/python" -m pip --no-cache-dir -q install)
uninstall=("$t/venv/bin/python" -m pip -q uninstall -y)
if "$t/tools/bin/python" -m pip install -q uv >"$t/uv.log" 2>&1; then
  install=("$t/tools/bin/uv" pip install --no-cache -q --python "$t/venv/bin/python" --prerelease allow)
  uninstall=("$t/tools/bin/uv" pip uninstall -q --python "$t/venv/bin/python")
fi
only_this_index
"${install[@]}" --index-url "$base/gfx115X-all" 'rocm[libraries,devel,profiler]==7.10.0rc2'
"$t/venv/bin/rocm-sdk" test >"$t/test.log" 2>&1 || fail "$(<"$t/test.log")"
site=$(echo "$t"/venv/lib/python*/site-packages)
expect "$site/_rocm_sdk_devel_nonce" "$("$t/venv/bin/rocm-sdk" path --root)"
expect 'rocprof-compute 3' "$("$t/venv/bin/rocprof-compute")"
# An unversioned profiler library is not a second copy.
plain=$site/_rocm_profiler_nonce/lib/librocprof-sys.so
[[ -f $plain ]] || fail "no $plain"
expect rocprof-sys "$(python3 -c 'import ctypes, sys; f = ctypes.CDLL(sys.argv[1]).rocprof_sys_name; f.restype = ctypes.c_char_p; print(f().decode())' "$plain")"
expect 7 "$(LD_PRELOAD=$plain python3 -c 'import ctypes; print(ctypes.CDLL(None).getpagesize())')" "it comes before the C library"
[[ $(stat -c %s "$plain") -lt $(stat -c %s "$plain.1") ]] || fail "it is as large as the library"
"${uninstall[@]}" rocm rocm-sdk-core rocm-sdk-libraries-gfx115x-all rocm-sdk-devel rocm-profiler
find "$t/venv" -not -name __pycache__ -not -name '*.pyc' -not -name .lock | sort >"$t/after"
expect '' "$(comm -13 "$t/before" "$t/after")" "left behind by uninstalling"
