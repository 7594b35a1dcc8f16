#!/bin/bash
# A framework's wheel and its SDK libraries become one wheel, which pip installs and Python imports without the SDK,
# without rocm_sdk and without LD_LIBRARY_PATH. The SDK may be an installed tree, a site-packages or wheels.
. "$(dirname "$0")/common.inc"
need gcc unzip
unset LD_LIBRARY_PATH
include=$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
[[ -e $include/Python.h ]] || skip "no Python.h here"
cd "$t"

# --- an SDK: libraries in two folders, links, absolute run paths, data, one that is opened by name only -------------------
sdk=$t/sdk
mkdir -p "$sdk"/lib/{rocm_sysdeps/lib,rocblas/library,unused} "$sdk"/lib/llvm/amdgcn/bitcode
library() { # PATH SONAME CODE [FLAG…]
  printf '%s\n' "$3" >code.c
  gcc -shared -fPIC -D_GNU_SOURCE code.c -o "$sdk/$1" -Wl,-soname,"$2" -Wl,-rpath,/build/machine/lib "${@:4}"
}
library lib/rocm_sysdeps/lib/librocm_sysdeps_drm.so.2 librocm_sysdeps_drm.so.2 'int drm(void) { return 1; }'
library lib/libhsa-runtime64.so.1 libhsa-runtime64.so.1 'int drm(void); int hsa(void) { return 10 + drm(); }' \
  -L"$sdk/lib/rocm_sysdeps/lib" -l:librocm_sysdeps_drm.so.2
library lib/libamd_comgr.so.3 libamd_comgr.so.3 'int comgr(void) { return 5000; }'
library lib/libamdhip64.so.7.1.0 libamdhip64.so.7 '#include <dlfcn.h>
int hsa(void);
int hip(void) {
  void *h = dlopen("libamd_comgr.so.3", RTLD_NOW);
  int (*f)(void) = h ? (int (*)(void))dlsym(h, "comgr") : 0;
  return 100 + hsa() + (f ? f() : -9000);
}' -L"$sdk/lib" -l:libhsa-runtime64.so.1 -Wl,-rpath-link,"$sdk/lib/rocm_sysdeps/lib"
ln -s libamdhip64.so.7.1.0 "$sdk/lib/libamdhip64.so.7"
ln -s libamdhip64.so.7 "$sdk/lib/libamdhip64.so"
library lib/librocblas.so.5 librocblas.so.5 '#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
int blas(void) {
  Dl_info info; char path[4096]; int value = -1;
  dladdr((void *)blas, &info);
  strcpy(path, info.dli_fname);
  strcpy(strrchr(path, 47), "/rocblas/library/Tensile.dat");
  FILE *f = fopen(path, "r");
  return f && fscanf(f, "%d", &value) == 1 ? value : -1;
}
/* As the splitter leaves a library: its device code is in archives, and this (MessagePack) says where. */
__attribute__((section(".rocm_kpack_ref"), used)) static const char reference[] =
  "\x82\xb2" "kpack_search_paths" "\x91\xbe" "../.kpack/blas_@GFXARCH@.kpack" "\xab" "kernel_name" "\xa1" "x";'
mkdir "$sdk/.kpack"
touch "$sdk"/.kpack/{blas_gfx942.kpack,blas_gfx1151.kpack,fft_gfx942.kpack}
ln -s librocblas.so.5 "$sdk/lib/librocblas.so"
echo 70000 >"$sdk/lib/rocblas/library/Tensile.dat"
library lib/libunused.so.1 libunused.so.1 'int unused(void) { return 0; }'
echo bitcode >"$sdk/lib/llvm/amdgcn/bitcode/ockl.bc"

# --- the framework ------------------------------------------------------------------------------------------------------
mkdir -p frame/lib
printf 'int own(void) { return 600000; }\n' >own.c
gcc -shared -fPIC own.c -o frame/lib/libframe.so -Wl,-soname,libframe.so
cat >module.c <<'END_OF_C'
#define PY_SSIZE_T_CLEAN
#include <Python.h>
int hip(void), blas(void), own(void);
static PyObject *answer(PyObject *self, PyObject *none) { return PyLong_FromLong(hip() + blas() + own()); }
static PyMethodDef methods[] = {{"answer", answer, METH_NOARGS, ""}, {0}};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_C", 0, -1, methods};
PyMODINIT_FUNC PyInit__C(void) { return PyModule_Create(&definition); }
END_OF_C
tag=$(python3 -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
suffix=$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
gcc -shared -fPIC -I"$include" module.c -o "frame/_C$suffix" -Lframe/lib -lframe -L"$sdk/lib" -l:libamdhip64.so.7 -l:librocblas.so.5 \
  -Wl,-rpath,'/build/machine/rocm/lib:$ORIGIN/lib:$ORIGIN/../_rocm_sdk_core/lib' -Wl,-rpath-link,"$sdk/lib:$sdk/lib/rocm_sysdeps/lib"
# Linked under another name than the library's own, as careless build systems do.
run elf edit "frame/_C$suffix" --rename-needed librocblas.so.5=librocblas.so
expect 0 $status "$(<"$t/err")"
cat >frame/__init__.py <<'END_OF_PY'
from . import _rocm_init
_rocm_init.initialize()
from ._C import answer
END_OF_PY
cat >frame/_rocm_init.py <<'END_OF_PY'
def initialize():
    import rocm_sdk
    rocm_sdk.initialize_process(preload_shortnames=['amd_comgr', 'amdhip64', 'hipfile'], check_version='7.1.0')
END_OF_PY
for ((i = 0; i < 2000; i++)); do echo "# some text that packs well, $i"; done >frame/text.py
cat >METADATA <<'END_OF_METADATA'
Metadata-Version: 2.1
Name: frame
Version: 1.0+rocm7
Requires-Dist: rocm[libraries]==7.1.0
Requires-Dist: rocm-sdk-device-gfx942==7.1.0; extra == "device-gfx942"
Requires-Dist: typing-extensions; extra == "more"
Provides-Extra: more
Provides-Extra: device-gfx942

The text says Requires-Dist: rocm too.
END_OF_METADATA
wheel=$t/in/frame-1.0+rocm7-$tag-$tag-linux_x86_64.whl
mkdir in
make_wheel "$wheel" frame/__init__.py=frame/__init__.py frame/_rocm_init.py=frame/_rocm_init.py frame/text.py=frame/text.py \
  frame/lib/libframe.so=frame/lib/libframe.so "frame/_C$suffix=frame/_C$suffix" frame-1.0+rocm7.dist-info/METADATA=METADATA

# --- from an installed tree ---------------------------------------------------------------------------------------------
run_json bundle "$wheel" --from "$sdk" --out made
expect 0 $status "$(<"$t/out")$(<"$t/err")"
libs='frame.libs/lib/libamd_comgr.so.3
frame.libs/lib/libamdhip64.so.7
frame.libs/lib/libhsa-runtime64.so.1
frame.libs/lib/librocblas.so.5
frame.libs/lib/rocm_sysdeps/lib/librocm_sysdeps_drm.so.2'
expect "$libs" "$(json '[l.path for l in libraries]')"
expect 4 "$(json data_files)"
expect "frame/_C$suffix" "$(json edited)"
expect $'rocm[libraries]==7.1.0\nrocm-sdk-device-gfx942==7.1.0; extra == "device-gfx942"' "$(json dropped_requirements)"
expect '' "$(json from_elsewhere)"
[[ $(json notes) == *hipfile* ]] || fail "nothing is said of what is missing: $(json notes)"
made=made/${wheel##*/}
expect "$made" "$(json path)"
run check "$made"
expect 0 $status "$(<"$t/out")"
data='frame.libs/.kpack/blas_gfx1151.kpack
frame.libs/.kpack/blas_gfx942.kpack
frame.libs/bundle.json
frame.libs/lib/llvm/amdgcn/bitcode/ockl.bc
frame.libs/lib/rocblas/library/Tensile.dat'
expect "$data" "$(unzip -Z1 "$made" 'frame.libs/*' | grep -v '\.so' | sort)"
# Every bundled library is in an SBOM, with its hash in the SDK.
unzip -p "$made" '*.dist-info/sboms/wheelsmith-bundle.cdx.json' >"$t/sbom.json"
expect "$(unzip -Z1 "$made" 'frame.libs/*.so*' | sort)" \
  "$(json '[p.value for c in components for p in c.properties if p.name == "wheelsmith:path"]' "$t/sbom.json" | sort)"
expect "$(sha256sum <"$sdk/lib/libamd_comgr.so.3" | cut -d' ' -f1)" \
  "$(json '[c.properties[1].value for c in components if c.name == "libamd_comgr.so.3"][0]' "$t/sbom.json")"
if "${TESTS_PYTHON:-python3}" -c 'import cyclonedx.validation.json, jsonschema' 2>/dev/null; then
  "$TESTS_PYTHON" -c 'import sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read())
sys.exit(str(error) if error else 0)' "$t/sbom.json"
fi

# Unchanged members keep their packed bytes; METADATA lost its requirements and nothing else.
python3 - "$wheel" "$made" <<'END_OF_PY'
import sys, zipfile
def raw(path, name):
    with zipfile.ZipFile(path) as archive, open(path, "rb") as file:
        info = archive.getinfo(name)
        file.seek(info.header_offset + 26)
        lengths = file.read(4)
        file.seek(int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little"), 1)
        return file.read(info.compress_size)
for name in "frame/__init__.py", "frame/text.py", "frame/lib/libframe.so":
    assert raw(sys.argv[1], name) == raw(sys.argv[2], name), name
wanted = [line for line in open("METADATA") if not line.startswith("Requires-Dist: rocm")]
assert zipfile.ZipFile(sys.argv[2]).read("frame-1.0+rocm7.dist-info/METADATA").decode() == "".join(wanted)
END_OF_PY

# --- the same from a site-packages, and from wheels: byte for byte --------------------------------------------------------
mkdir -p site/numpy.libs site/_rocm_sdk_libraries/lib
cp -a "$sdk" site/_rocm_sdk_core
mv site/_rocm_sdk_core/lib/librocblas.so.5 site/_rocm_sdk_core/lib/librocblas.so site/_rocm_sdk_core/lib/rocblas site/_rocm_sdk_libraries/lib
mv site/_rocm_sdk_core/.kpack site/_rocm_sdk_libraries
cp "$sdk/lib/libunused.so.1" site/numpy.libs/libhsa-runtime64.so.1
run bundle "$wheel" --from site --out from-site
expect 0 $status "$(<"$t/err")"
cmp "$made" "from-site/${wheel##*/}"
sources=()
for package in core libraries; do
  members=()
  while IFS= read -r file; do members+=("$file=site/$file"); done < <(cd site && find "_rocm_sdk_$package" -type f -o -type l)
  sources+=(--from "rocm_sdk_$package-7.1.0-py3-none-linux_x86_64.whl")
  make_wheel "rocm_sdk_$package-7.1.0-py3-none-linux_x86_64.whl" "${members[@]}"
done
run bundle "$wheel" "${sources[@]}" --out from-wheels
expect 0 $status "$(<"$t/err")"
cmp "$made" "from-wheels/${wheel##*/}"

# --- it runs where there is no SDK ----------------------------------------------------------------------------------------
mv "$sdk" gone
python3 -m venv env
env/bin/python -m pip install -q --no-index --disable-pip-version-check "$made"
cd env
cat >use.py <<'END_OF_PY'
import frame
print(frame.answer())
loaded = {line.split()[-1] for line in open("/proc/self/maps") if ".so" in line}
ours = [path for path in loaded if any(word in path for word in ("hsa", "hip", "blas", "comgr", "drm"))]
assert len(ours) == 5 and all("/site-packages/frame.libs/" in path for path in ours), ours
END_OF_PY
expect 675111 "$(env -i bin/python use.py)"
expect '' "$(bin/python -m pip check --disable-pip-version-check | grep -v 'No broken' || true)"
bin/python -m pip uninstall -q -y --disable-pip-version-check frame
expect '' "$(find lib/python*/site-packages -maxdepth 1 -name 'frame*')" "left behind"
cd "$t"

# --- labels, refusals -----------------------------------------------------------------------------------------------------
mv gone "$sdk"
run_json bundle "$wheel" --from "$sdk" --out made --local fat
expect 0 $status "$(<"$t/err")"
expect "made/frame-1.0+rocm7.fat-$tag-$tag-linux_x86_64.whl" "$(json path)"
run check "made/frame-1.0+rocm7.fat-$tag-$tag-linux_x86_64.whl"
expect 0 $status "$(<"$t/out")"
env/bin/python -m pip install -q --no-index --disable-pip-version-check "made/frame-1.0+rocm7.fat-$tag-$tag-linux_x86_64.whl"
expect 1.0+rocm7.fat "$(env/bin/python -c 'from importlib.metadata import version; print(version("frame"))')"
cp "$wheel" before.whl
run bundle "$wheel" --from "$sdk" --out in
expect 2 $status "over itself"
cmp "$wheel" before.whl
run bundle "$wheel" --from "$sdk" --local 'a b'
expect 1 $status
run bundle "$wheel" --from METADATA
expect 1 $status
# Libraries missing from the SDK are reported; the wheel then fails, and so does the exit status.
rm "$sdk/lib/libhsa-runtime64.so.1"
run_json bundle "$wheel" --from "$sdk" --out poor
expect libhsa-runtime64.so.1 "$(json from_elsewhere)"
