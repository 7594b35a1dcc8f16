#!/bin/bash
# Libraries that a package is compiled with: found in their places, rejected when missing, too old or incomplete, and
# visible to the build in one place. TBB is Debian's; a toolkit of scripts with headers and empty files stands for CUDA.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need python3 gcc g++ readelf unzip
export HOME=$t/home XDG_CONFIG_HOME=$t/config
small_package "$t"
cd "$t"
recipe=$t/recipes/small.toml

# --- cuDNN 7.6 does not satisfy >=8.5
mkdir -p cuda/bin cuda/include/cccl/thrust cuda/lib64/stubs
cat >cuda/bin/nvcc <<'SH'
#!/bin/sh
case $1 in
  --version) echo 'Cuda compilation tools, release 13.0, V13.0.88' ;;
  --help) echo "'sm_80','sm_90'" ;;
esac
SH
chmod +x cuda/bin/nvcc
touch cuda/include/{cuda_runtime,cublas_v2,cusparse,nvml}.h cuda/include/cccl/thrust/version.h
touch cuda/lib64/lib{cudart,cublas,cusparse}.so.13 cuda/lib64/stubs/libnvidia-ml.so
examine() { run_json doctor pytorch --variant cuda --arch 9.0 --cuda "$t/cuda" --offline "$@"; }
# check ID FIELD: of pytorch's check with that id.
check() { json "[c['$2'] for c in checks if c.id == '$1' and c.package == 'pytorch'][0]"; }
# The machine may have its own.
examine --set "cudnn-root=$t/nowhere"
expect "bad none" "$(check cudnn state) $(check cudnn found)"
[[ $(check cudnn fix) == *"install "*"cudnn"*"--set cudnn-root=PATH" ]] || fail "fix: $(check cudnn fix)"
expect good "$(check cublas state)"
printf '#define CUDNN_MAJOR 7\n#define CUDNN_MINOR 6\n#define CUDNN_PATCHLEVEL 5\n' >cuda/include/cudnn.h
examine --set "cudnn-root=$t/cuda"
expect bad "$(check cudnn state)"
[[ $(check cudnn found) == "the header $t/cuda/include/cudnn.h of cuDNN 7.6.5, but no library"* ]] || fail "$(check cudnn found)"
touch cuda/lib64/libcudnn.so.7
examine --set "cudnn-root=$t/cuda"
expect "bad cuDNN >=8.5" "$(check cudnn state) $(check cudnn wanted)"
expect "$t/cuda/include/cudnn.h is cuDNN 7.6.5, but >=8.5 is required" "$(check cudnn why)"
printf '#define CUDNN_MAJOR 9\n#define CUDNN_MINOR 1\n#define CUDNN_PATCHLEVEL 0\n' >cuda/include/cudnn_version.h
mv cuda/lib64/libcudnn.so.7 cuda/lib64/libcudnn.so.9.1.0
examine --set "cudnn-root=$t/cuda"
expect "good cuDNN 9.1.0 ($t/cuda/include/cudnn_version.h, $t/cuda/lib64/libcudnn.so.9.1.0)" \
  "$(check cudnn state) $(check cudnn found)"
# A header of one version and a file of another.
mv cuda/lib64/libcudnn.so.9.1.0 cuda/lib64/libcudnn.so.8.9.7
examine --set "cudnn-root=$t/cuda"
[[ $(check cudnn why) == *"is cuDNN 9.1.0, but $t/cuda/lib64/libcudnn.so.8.9.7 is 8.9.7" ]] || fail "$(check cudnn why)"
# Where it is unused it is not searched for.
examine --set cudnn=off
expect 0 "$(json "len([c for c in checks if c.id == 'cudnn'])")"

# --- GenAI without NCCL: rejected before anything is built
cat "$tests/recipes/machines/cuda.toml" "$tests/recipes/sources.toml" >with.toml
sed '/^nccl = /d' with.toml >without.toml
run plan fbgemm_gpu --variant cuda --target genai --machine without.toml
[[ $status != 0 && $(<"$t/err") == *"NCCL >=2 is required; found: none; "*"libnccl-dev"*"--set nccl=PATH"* ]] ||
  fail "GenAI without NCCL: $status $(<"$t/err")"
run_json doctor fbgemm_gpu --variant cuda --target genai --machine without.toml
expect "bad none" "$(json '[c.state + " " + c.found for c in checks if c.id == "nccl"][0]')"
run plan fbgemm_gpu --variant cuda --target genai --machine with.toml
expect 0 "$status" "GenAI with NCCL"
sed 's/^nccl = .*/nccl = "1.3.5"/' with.toml >old.toml
run_json doctor fbgemm_gpu --variant cuda --target genai --machine old.toml
[[ $(json '[c.why for c in checks if c.id == "nccl"][0]') == *"is NCCL 1.3.5, but >=2 is required" ]] || fail "old NCCL"

# --- NCCL from a wheel beside torch, as `pip install torch` leaves it
python3 -m venv --without-pip torch
site=$(torch/bin/python -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
mkdir -p "$site"/torch/include/c10/cuda/impl "$site"/nvidia/nccl/{include,lib}
touch "$site"/torch/{__init__,distributed}.py "$site/torch/include/c10/cuda/impl/cuda_cmake_macros.h"
printf "__version__ = '2.13.0+cu130'\ncuda = '13.0'\nhip = None\n" >"$site/torch/version.py"
printf '#define NCCL_MAJOR 2\n#define NCCL_MINOR 27\n#define NCCL_PATCH 7\n' >"$site/nvidia/nccl/include/nccl.h"
touch "$site/nvidia/nccl/lib/libnccl.so.2"
cp "$recipe" plain.toml
cat >>"$recipe" <<'TOML'
[variant.cuda.requires]
torch = true
libraries = ["nccl>=2.20"]
[variant.cuda.build.environment]
NCCL_ROOT = "{library.nccl.root}"
TOML
run_json plan small --variant cuda --arch 9.0 --torch "$t/torch" --cuda "$t/cuda"
expect 0 "$status" "$(<"$t/err")"
expect "2.27.7 $site/nvidia/nccl/lib/libnccl.so.2" "$(json "[l.version + ' ' + l['file'] for l in steps[0].libraries][0]")"
expect '${tree}/libraries/nccl' "$(json 'steps[0].environment.NCCL_ROOT')"
cp plain.toml "$recipe"

# --- NCCL from a wheel in the build environment: its file lacks the name that linkers search for, the links have it
mkdir -p wheel/nvidia/nccl/{include,lib} wheel/nvidia_nccl_cu13-99.0.dist-info links
cp "$site/nvidia/nccl/include/nccl.h" wheel/nvidia/nccl/include
echo 'int ncclGetVersion(int* version) { *version = 22707; return 0; }' >nccl.c
gcc -shared -fPIC -Wl,-soname,libnccl.so.2 -o wheel/nvidia/nccl/lib/libnccl.so.2 nccl.c
printf 'Metadata-Version: 2.1\nName: nvidia-nccl-cu13\nVersion: 99.0\n' >wheel/nvidia_nccl_cu13-99.0.dist-info/METADATA
printf 'Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n' >wheel/nvidia_nccl_cu13-99.0.dist-info/WHEEL
(cd wheel && find . -type f | sed 's|^\./||; s|$|,,|' >nvidia_nccl_cu13-99.0.dist-info/RECORD &&
  python3 -m zipfile -c ../links/nvidia_nccl_cu13-99.0-py3-none-any.whl nvidia nvidia_nccl_cu13-99.0.dist-info)
cat >>"$recipe" <<'TOML'
[variant.cuda]
check.archs = false
[variant.cuda.build]
more-requires = ["nvidia-nccl-cu13==99.0"]
[variant.cuda.requires]
libraries = ["nccl>=2.20"]
[variant.cuda.build.environment]
NCCL_ROOT = "{library.nccl.root}"
TOML
cp recipes/small/setup.py plain.py
cat >recipes/small/probe.c <<'C'
#include <nccl.h>
int ncclGetVersion(int*);
int probe(void) { int version = NCCL_MAJOR; return ncclGetVersion(&version); }
C
cat - plain.py >recipes/small/setup.py <<'PYTHON'
import os, subprocess
root = os.environ["NCCL_ROOT"]
subprocess.check_call(["cc", "-shared", "-fPIC", "-Wl,--no-undefined", f"-I{root}/include", "probe.c", f"-L{root}/lib", "-lnccl", "-o", "probe.so"])
assert "nvidia/nccl/lib" in os.path.realpath(f"{root}/lib/libnccl.so"), os.path.realpath(f"{root}/lib/libnccl.so")
PYTHON
PIP_FIND_LINKS=$t/links run build small --variant cuda --arch 9.0 --cuda "$t/cuda"
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build with NCCL of a wheel ended with $status"; }
rm -rf "${WHEELSMITH_OUT:?}"/*
cp plain.toml "$recipe"
cp plain.py recipes/small/setup.py
rm recipes/small/probe.c

# --- TBB of the operating system, compiled and linked
[[ -e /usr/include/oneapi/tbb/version.h && -n $(find /usr/lib -name libtbb.so -print -quit) ]] || skip "no libtbb-dev here"
cat >recipes/small/small/with_tbb.cc <<'C'
#include <Python.h>
#include <oneapi/tbb/version.h>
static PyObject* versions(PyObject*, PyObject*) {
  return Py_BuildValue("(iis)", TBB_VERSION_MAJOR, TBB_VERSION_MINOR, TBB_runtime_version());
}
static PyMethodDef methods[] = {{"versions", versions, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_tbb", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};
PyMODINIT_FUNC PyInit__tbb() { return PyModule_Create(&module); }
C
cat >recipes/small/setup.py <<'PYTHON'
import os
from setuptools import Extension, setup
tbb = Extension("small._tbb", ["small/with_tbb.cc"], include_dirs=[os.environ["TBB_INCLUDE"]], extra_link_args=[os.environ["TBB_FILE"]])
setup(packages=["small"], ext_modules=[Extension("small._small", ["small/add.c", "small/module.c"]), tbb])
PYTHON
sed -i 's|^SMALL_FLAG = .*|TBB_INCLUDE = "{library.tbb.include}"\nTBB_FILE = "{library.tbb.file}"|; s|^members = .*|&\nprovided = ["libtbb.so*"]|
  s|^\[settings.flag\]|[requires]\nlibraries = ["tbb>=2020"]\nplaces.tbb = "{set.tbb}"\n\n[settings.tbb]|' "$recipe"
sed -i 's|^default = "one"|default = ""|' "$recipe"
run build small
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
wheel=$(find "$WHEELSMITH_OUT" -name '*.whl')
unzip -oq "$wheel" -d unpacked
readelf -d unpacked/small/_tbb*.so | grep -q 'NEEDED.*libtbb\.so\.' || fail "not linked with TBB"
if readelf -d unpacked/small/_tbb*.so | grep -qE '(RPATH|RUNPATH)'; then fail "a run path"; fi
installed=$(dpkg-query -W -f '${Version}' libtbb-dev 2>/dev/null || true)
if [[ -n $installed ]]; then
  told=$(cd unpacked && python3 -c 'from small._tbb import versions; v = versions(); print(f"{v[0]}.{v[1]} {v[2]}")')
  [[ $installed == "${told%% *}."* && $installed == "${told##* }"* ]] || fail "compiled with $told, Debian has $installed"
fi

# The library's content counts, not its path.
run_json plan small
key=$(json 'steps[0].key')
expect "$(find /usr/lib -name libtbb.so -print -quit)" "$(json "steps[0].libraries[0]['file']")"
mkdir -p tbb/include tbb/lib
cp -r /usr/include/{tbb,oneapi} tbb/include
cp -P "$(dirname "$(find /usr/lib -name libtbb.so -print -quit)")"/libtbb.so* tbb/lib
run_json plan small --set "tbb=$t/tbb"
expect "$key $t/tbb/lib/libtbb.so" "$(json "steps[0].key + ' ' + steps[0].libraries[0]['file']")" "the same library elsewhere"
echo '// changed' >>tbb/include/oneapi/tbb/version.h
run_json plan small --set "tbb=$t/tbb"
[[ $(json 'steps[0].key') != "$key" ]] || fail "another header, the same key"
expect "library:tbb changed" "$(json 'steps[0].reason')"
# The script creates the same links.
run plan small --script
grep -q '^  link_library tbb libtbb.so ' "$t/out" || fail "the script links no TBB"
WORK=$t/script DIST=$t/script/dist bash "$t/out" >"$t/script.log" 2>&1 || { cat "$t/script.log" >&2; fail "the script"; }

run plan small --containerfile --base-image debian:12
grep -q 'apt-get install .*libtbb-dev' "$t/out" || fail "the image has no TBB"

# Incomplete and missing libraries are rejected before a compiler starts.
rm -rf tbb/lib
for place in "$t/tbb" "$t/nowhere"; do
  run build small --set "tbb=$place"
  [[ $status != 0 && $(<"$t/err") == *"TBB >=2020 is required; found: "*"--set tbb=PATH"* ]] || fail "$place: $(<"$t/err")"
done
sed -i 's|tbb>=2020|tbb>=9999|' "$recipe"
run build small
[[ $status != 0 && $(cat "$t/out" "$t/err") == *">=9999 is required"* ]] || fail "an old TBB: $(cat "$t/out" "$t/err")"
