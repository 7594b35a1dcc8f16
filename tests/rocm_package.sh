#!/bin/bash
# ROCm's artifacts become working packages that pip installs: the mode with separate device code.
. "$(dirname "$0")/common.inc"
. "$tests/rocm_small_sdk.inc"
. "$tests/rocm_artifacts.inc"
. "$tests/rocm_package.inc"
need_rocm_packaging
unset SOURCE_DATE_EPOCH ROCM_SDK_WHEEL_PLATFORM_TAG ROCM_PATH ROCM_SDK_TARGET_FAMILY
rocm_artifacts "$t/artifacts" kpack gfx90a gfx1151
package=(rocm package --artifact-dir "$t/artifacts" --version 7.10.0)

run_json "${package[@]}" --dest-dir "$t/one"
expect 0 $status "$(<"$t/err")"
expect kpack "$(json mode)"
expect 'rocm-sdk-core rocm-profiler rocm-sdk-libraries rocm-sdk-device-gfx1151 rocm-sdk-device-gfx90a rocm-sdk-devel rocm' \
  "$(json '" ".join(p.name for p in packages)')"
for path in $(json '[p.path for p in packages]'); do expect "$(stat -c %s "$path")" "$(json "[p.size for p in packages if p.path == '$path'][0]")"; done
# Skipped files are reported, and nothing else.
expect 'lib/libabsolute.so
llvm
share/odd/absolute
share/odd/dangling
share/odd/folder
share/odd/outside' "$(json 'sorted(f.subject.replace("_rocm_sdk_core/", "") for f in findings)')"
core=$(echo "$t"/one/dist/rocm_sdk_core-*.whl)
libraries=$(echo "$t"/one/dist/rocm_sdk_libraries-*.whl)
device=$(echo "$t"/one/dist/rocm_sdk_device_gfx90a-*.whl)
devel=$(echo "$t"/one/dist/rocm_sdk_devel-*.whl)
for wheel in "$t"/one/dist/*.whl; do python3 "$tests/rocm_package.py" members "$wheel" >"$wheel.members"; done
wants() { grep -qxF "$2" "$1.members" || fail "${1##*/} has no $2"; }
lacks() { ! grep -qF " $2" "$1.members" || fail "${1##*/} has $2"; }

# --- libraries under their SONAMEs and no other name; links by their kind
wants "$core" '100755 _rocm_sdk_core/lib/libamdhip64.so.7'
lacks "$core" _rocm_sdk_core/lib/libamdhip64.so.7.10.0
[[ $(<"$core.members") != *$'libamdhip64.so\n'* ]] || fail "a link to a library is in the wheel"
wants "$core" '100755 _rocm_sdk_core/lib/libunnamed.so.2'
wants "$core" '100755 _rocm_sdk_core/lib/libplain.so'
wants "$core" '100755 _rocm_sdk_core/lib/llvm/bin/clang++'
wants "$core" '100644 _rocm_sdk_core/share/odd/latest.txt'
lacks "$core" _rocm_sdk_core/lib/cmake
lacks "$core" __init__.py.
wants "$core" '100644 _rocm_sdk_core/include/hip/hip_runtime.h'
lacks "$core" rocprof-sys
wants "$core" '100755 _rocm_sdk_core/bin/rocprof-attach'
# Every file belongs to one wheel.
cut -d' ' -f2- "$t"/one/dist/*.members | sort | uniq -d >"$t/twice"
expect '' "$(<"$t/twice")" 'files that two wheels own'
wants "$device" '100644 _rocm_sdk_libraries/.kpack/blas_lib_gfx90a.kpack'
wants "$device" '100644 _rocm_sdk_libraries/.kpack/fft_lib_gfx90a:xnack-.kpack'
wants "$device" '100644 _rocm_sdk_libraries/.devel_links/gfx90a.json'
expect 'Requires-Dist: rocm-sdk-libraries==7.10.0' "$(unzip -p "$device" '*/METADATA' | grep ^Requires-Dist | tr -d ' ' | sed 's/:/: /')"
expect '' "$(unzip -p "$t"/one/dist/rocm_profiler-*.whl '*/METADATA' | grep ^Requires-Dist || true)" "the profiler requires something"
unzip -p "$devel" rocm_sdk_devel/_devel.tar >"$t/devel.tar"
tar -tvf "$t/devel.tar" >"$t/devel.list"
[[ $(<"$t/devel.list") == *'lib/libamdhip64.so.7 -> ../../_rocm_sdk_core/lib/libamdhip64.so.7'* ]] || fail "no link into the core"
[[ $(<"$t/devel.list") == *'lib/libamdhip64.so -> libamdhip64.so.7'* ]] || fail "no alias"
expect '# the compiler' "$(tar -xOf "$t/devel.tar" _rocm_sdk_devel/lib/cmake/amd_comgr/amd_comgr-config.cmake)" "of two files of one name"
[[ $(<"$t/devel.list") == *'_rocm_sdk_devel/llvm -> lib/llvm'* ]] || fail "no link to a folder"
[[ $(<"$t/devel.list") == *'lib/libunnamed.so.2 -> ../../_rocm_sdk_core/lib/libunnamed.so.2'* ]] || fail "no library without a link"
[[ $(<"$t/devel.list") != *rocblas-test* && $(<"$t/devel.list") != *passwd* ]] || fail "what does not belong there"

rm "$t"/one/dist/*.members

# --- every ELF file is verified against its original; our checks pass the wheels
for wheel in "$t"/one/dist/*.whl; do
  proved=$(python3 "$tests/rocm_package.py" prove "$wheel" "$t/artifacts")
  case ${wheel##*/} in
    rocm_sdk_core*) [[ ${proved% *} -ge 20 && ${proved#* } -ge 2 ]] || fail "$wheel: $proved" ;;
    rocm_sdk_libraries*) [[ ${proved% *} -ge 10 ]] || fail "$wheel: $proved" ;;
    rocm_sdk_device*) expect '1 1' "$proved" "the library, and the code object as it was" ;;
  esac
done
unzip -p "$core" _rocm_sdk_core/share/odd/cut-off.bin | cmp - "$t/artifacts/core-amdsmi_run_generic/core-amdsmi/stage/share/odd/cut-off.bin"
unzip -p "$core" _rocm_sdk_core/bin/odd-static | cmp - "$t/artifacts/core-amdsmi_run_generic/core-amdsmi/stage/bin/odd-static"
unzip -p "$libraries" _rocm_sdk_libraries/lib/librocblas.so.5 >"$t/librocblas.so.5"
expect '$ORIGIN:$ORIGIN/../../_rocm_sdk_core/lib:$ORIGIN/../../_rocm_sdk_core/lib/rocm_sysdeps/lib:$ORIGIN/../../_rocm_sdk_core/lib/host-math/lib:$ORIGIN/../../_rocm_sdk_core/lib/llvm/lib' \
  "$(readelf -dW "$t/librocblas.so.5" | sed -n 's/.*(RPATH).*\[\(.*\)\]/\1/p')"
run_json check "$core" "$libraries" "$device"
expect '' "$(json '[f.id + " " + f.subject for i in items for f in i.findings if f.severity == "error"]')"

# --- the same bytes from the same artifacts: another time, another number of threads, archives
run "${package[@]}" --dest-dir "$t/two" --threads 1
expect 0 $status "$(<"$t/err")"
same_bytes "$t/one/dist" "$t/two/dist"
archive_artifacts "$t/artifacts" "$t/archives"
run rocm package --artifact-dir "$t/archives" --version 7.10.0 --dest-dir "$t/three"
expect 0 $status "$(<"$t/err")"
same_bytes "$t/one/dist" "$t/three/dist"
expect dist "$(ls -A "$t/three")" 'something was left behind'

# --- installed by pip: it works, and uninstalls completely
serve_packages "$t/one/dist"
"$TESTS_PYTHON" -m venv "$t/venv"
site=$(echo "$t"/venv/lib/python*/site-packages)
find "$t/venv" | sort >"$t/before"
only_this_index
pip=("$t/venv/bin/python" -m pip --no-cache-dir -q)
"${pip[@]}" install --index-url "$base/dist" 'rocm[libraries,devel,device-gfx1151]'
"$t/venv/bin/rocm-sdk" test >"$t/test.log" 2>&1 || fail "$(<"$t/test.log")"
[[ $(<"$t/test.log") == *"no problems found"* ]] || fail "$(<"$t/test.log")"
expect 'static' "$("$site/_rocm_sdk_core/bin/odd-link")" "the program behind a link"
expect 'amdclang++' "$("$site/_rocm_sdk_core/bin/amdclang++" --own-name)" "a chain of links"
expect 'ROCm System Management Interface' "$("$t/venv/bin/rocm-smi")" "a script that finds what lies beside it"
root=$("$t/venv/bin/rocm-sdk" path --root)
expect "$root" "$("$root/bin/hipconfig" --rocmpath)" "a program of the devel tree knows where it is"
status=0
mv "$site/_rocm_sdk_core/bin/odd-static" "$t/odd-static"
"$site/_rocm_sdk_core/bin/odd-link" 2>"$t/err" || status=$?
mv "$t/odd-static" "$site/_rocm_sdk_core/bin/odd-static"
expect 127 $status
[[ $(<"$t/err") == *"cannot run $site/_rocm_sdk_core/bin/odd-static: there is no such file"* ]] || fail "$(<"$t/err")"
# CMake builds and links a program against it, which then reaches all packages by RPATH alone.
mkdir "$t/program"
cat >"$t/program/main.cc" <<'END'
#include <cstdio>
extern "C" {
#include <hipblas/hipblas.h>
}
int main() { std::printf("%s %s\n", hipblas_below(1), hipblas_below(0)); }
END
cat >"$t/program/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(small CXX)
find_package(hip REQUIRED CONFIG)
find_package(hipblas REQUIRED CONFIG)
add_executable(small main.cc)
target_link_libraries(small PRIVATE roc::hipblas hip::host)
END
cmake -S "$t/program" -B "$t/program/build" -DCMAKE_PREFIX_PATH="$("$t/venv/bin/rocm-sdk" path --cmake)" \
  -DCMAKE_CXX_COMPILER="$root/llvm/bin/clang++" -DCMAKE_EXE_LINKER_FLAGS=-Wl,--allow-shlib-undefined >"$t/cmake.log" 2>&1 || fail "$(<"$t/cmake.log")"
cmake --build "$t/program/build" >"$t/cmake.log" 2>&1 || fail "$(<"$t/cmake.log")"
expect 'rocm-openblas rocm_sysdeps_liblzma' "$("$t/program/build/small")"
# A device package is removed alone; the libraries stay complete.
"${pip[@]}" uninstall -y rocm-sdk-device-gfx1151
expect libhipblas.so.3 "$("$t/venv/bin/python" -c 'import rocm_sdk; rocm_sdk.preload_libraries("hipblas"); print(rocm_sdk.find_libraries("hipblas")[0].name)')"
[[ ! -e $site/_rocm_sdk_libraries/.kpack && ! -e $root/.kpack ]] || fail "device code stayed behind"
"${pip[@]}" uninstall -y rocm rocm-sdk-core rocm-sdk-libraries rocm-sdk-devel
find "$t/venv" -not -name __pycache__ -not -name '*.pyc' | sort >"$t/after"
expect '' "$(comm -13 "$t/before" "$t/after")" "left behind by uninstalling"

# --- errors
run rocm package --artifact-dir "$t/artifacts" --dest-dir "$t/four" --version 7.10.0 --linux-amdgpu-families 'gfx90a;gfx115X-all'
expect 1 $status
[[ $(<"$t/err") == *'no artifacts for gfx1150, gfx1152, gfx1153'* ]] || fail "$(<"$t/err")"
run rocm package --artifact-dir "$t/artifacts" --dest-dir "$t/four" --version 7.10.0 --linux-amdgpu-families gfx115X-al
[[ $(<"$t/err") == *'did you mean gfx115X-all?'* ]] || fail "$(<"$t/err")"
run rocm package --artifact-dir "$t" --dest-dir "$t/four" --version 7.10.0
expect 1 $status
run rocm package --artifact-dir "$t/artifacts" --dest-dir "$t/four" --version seven
expect 2 $status
hash=$(ls "$t"/archives/*.sha256sum | head -n 1)
cp "$hash" "$t/hash"
tr 0-9 1-90 <"$t/hash" >"$hash"
run rocm package --artifact-dir "$t/archives" --dest-dir "$t/four" --version 7.10.0
expect 1 $status
[[ $(<"$t/err") == *"does not match its .sha256sum"* ]] || fail "$(<"$t/err")"
cp "$t/hash" "$hash"
truncate -s -100 "$t/archives/amd-llvm_dev_generic.tar.zst"
run rocm package --artifact-dir "$t/archives" --dest-dir "$t/four" --version 7.10.0
expect 1 $status
[[ $(<"$t/err") == *amd-llvm_dev_generic.tar.zst* ]] || fail "$(<"$t/err")"
rm -r "$t/archives"/{amd-llvm_dev,base_lib}_generic.*
run rocm package --artifact-dir "$t/archives" --dest-dir "$t/four" --version 7.10.0
expect 1 $status
[[ $(<"$t/err") == *base_lib_generic* ]] || fail "$(<"$t/err")"
expect '' "$(find "$t/four" -type f 2>/dev/null)" "a run that failed left files"
# Interrupted in the middle of a large file, it leaves nothing.
mkdir "$t/large"
cp -r "$t/artifacts/base_lib_generic" "$t/artifacts/blas_lib_gfx90a" "$t/large"
truncate -s 6G "$t/large/base_lib_generic/base/aux-overlay/stage/share/large"
"$wheelsmith" rocm package --artifact-dir "$t/large" --dest-dir "$t/four" --version 7.10.0 --json >"$t/out" 2>"$t/err" &
pid=$!
sleep 1
kill -TERM $pid
status=0
wait $pid || status=$?
expect 130 $status "$(<"$t/err")"
[[ $(json error) == interrupted* ]] || fail "$(<"$t/out")"
expect '' "$(find "$t/four" -type f 2>/dev/null)" "a run that was stopped left files"
# By the rules for releases; the artifacts say the base version.
SOURCE_DATE_EPOCH=1760000000 run_json rocm package --artifact-dir "$t/artifacts" --dest-dir "$t/five" --release-type nightly --no-wheel-compression
expect 7.10.0a20251009 "$(json version)"
expect 0 "$(python3 -c 'import sys, zipfile; print(sum(i.compress_type for i in zipfile.ZipFile(sys.argv[1]).infolist()))' "$t"/five/dist/rocm_sdk_core-*.whl)"
