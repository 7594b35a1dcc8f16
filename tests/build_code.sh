#!/bin/bash
# After a build the device code of each library is compared with the request: exactly what the recipe expects. The
# toolkit is a stand-in, and the code is a fat binary in NVIDIA's format without kernels.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need python3 gcc
small_package "$t"
cd "$t"
mkdir -p cuda/bin cuda/include cuda/lib64
cat >cuda/bin/nvcc <<'SH'
#!/bin/sh
case $1 in
  --version) echo 'Cuda compilation tools, release 13.0, V13.0.88' ;;
  --help) echo "'sm_80','sm_90'" ;;
esac
SH
chmod +x cuda/bin/nvcc
touch cuda/include/cuda_runtime.h cuda/lib64/libcudart.so.13

# The package "compiles" for the architectures in SMALL_CODE, whatever was requested.
cat >recipes/small/setup.py <<'PYTHON'
import os
import struct
from setuptools import Extension, setup

def entry(arch):
    payload = b"S" * 64
    head = struct.pack("<HHIQIIHHIQQQQ", 2, 0x0101, 64, len(payload), 0, 0, 8, 1, arch, 0, 0x11, 0, 0)
    return head.ljust(64, b"\0") + payload

body = b"".join(entry(int(arch)) for arch in os.environ["SMALL_CODE"].split() if arch != "none")
fatbin = struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body
with open("small/code.c", "w") as out:
    section = 'const unsigned char code[] __attribute__((section(".nv_fatbin"), used, aligned(8))) = {'
    out.write(section + ",".join(map(str, fatbin)) + "};\n" if body else "int code;\n")
setup(packages=["small"], ext_modules=[Extension("small._small", ["small/add.c", "small/module.c", "small/code.c"])])
PYTHON
cat >>recipes/small.toml <<'TOML'
[variant.cuda.build.environment]
SMALL_CODE = "{set.flag}"
[variant.cuda.archs]
spelling = "dotted"
default = "8.0"
[[variant.cuda.check.code]]
library = "small/_small*.so"
must = "each"
must-not = ["7.0"]
why = "its kernels are compiled for each architecture"
TOML

# built CODE ARCHS: whether the build succeeds, and its message.
built() {
  run build small --variant cuda --cuda "$t/cuda" --arch "$2" --set "flag=$1" --despite-doctor --all
}
refused() { [[ $status == 1 ]] || fail "status $status: $(<"$t/err")"; cat "$t/out" "$t/err" | tr -s " \n" " " | grep -qF -- "$1" || fail "$(cat "$t/out" "$t/err")"; }

built "80 90" "8.0;9.0"
expect 0 "$status" "$(cat "$t/out" "$t/err")"
wheel=$(echo "$WHEELSMITH_OUT"/small-*.whl)
run_json inspect "$wheel"
expect "sm_80 sm_90" "$(json '[g.arch for g in items[0].gpu]' | sort | paste -sd' ' -)" "what the wheel holds"
built "80" "8.0;9.0"
refused 'has no device code for 9.0; it has 8.0'
built none "8.0"
refused 'has no device code for 8.0; it has no device code'
built "70 80" "8.0"
refused 'contains device code for 7.0, which the recipe excludes'
# A library without an expectation must match the whole list, like the wheel.
sed -i 's|^library = "small/_small|library = "other/_small|' recipes/small.toml
built "80" "8.0;9.0"
refused 'has no device code for sm_90; it has sm_80'
