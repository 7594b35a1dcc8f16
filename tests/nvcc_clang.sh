#!/bin/bash
# Clang as nvcc's real host compiler: texture for CUDA by CMake, and a package whose setup.py calls nvcc without a
# standard. A compiler that is too new for its nvcc is detected before the build; nvcc tries it only on request.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need nvcc readelf unzip
need_registry
export WHEELSMITH_STORE=$t/store WHEELSMITH_OUT=$t/wheelhouse
touch "$t/none.cu"
toolkit=$(realpath "$(nvcc -dryrun -c "$t/none.cu" 2>&1 | sed -n 's/^#\$ TOP=//p')")
[[ -f $toolkit/include/crt/host_config.h ]] || skip "no headers beside $toolkit/bin/nvcc"
clangs=()
for major in 14 15 16 17 18 19 20; do [[ -z $(command -v clang++-$major) ]] || clangs+=("$major"); done
((${#clangs[@]})) || skip "no clang here"
newest=${clangs[-1]}
good() { [[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; tail -n 30 "$(ls -t "$t"/store/logs/*.log | head -n 1)" >&2; fail "$1 ended with $status"; }; }
cp -r "$tests/../examples/texture" "$t/texture"
cd "$t"

mkdir -p recipes/plain/plain
cat >recipes/plain/setup.py <<'PYTHON'
import os, subprocess
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext


class by_nvcc(build_ext):
    def build_extension(self, ext):
        place = self.get_ext_fullpath(ext.name)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        subprocess.check_call([os.environ["CUDACXX"], "-arch=sm_90", "-shared", "-Xcompiler", "-fPIC",
                               *os.environ.get("MORE", "").split(), "plain/kernel.cu", "-o", place])


setup(name="plain", version="1.0", packages=["plain"], ext_modules=[Extension("plain.kernel", [])], cmdclass={"build_ext": by_nvcc})
PYTHON
touch recipes/plain/plain/__init__.py
cat >recipes/plain/plain/kernel.cu <<'CUDA'
#include <cuda/std/type_traits>
#include <optional>
__global__ void scale(float* x, float f) { x[threadIdx.x] *= f; }
extern "C" int answer() {
  const std::optional<int> value = 42;
  if constexpr (cuda::std::is_same_v<int, int>) return value.value_or(0);
  return 0;
}
CUDA
cat >recipes/plain.toml <<TOML
name = "plain"
[source]
folder = "plain"
[build]
backend = "setup.py"
requires = ["setuptools==80.9.0", "wheel"]
[check]
archs = false
[[test]]
script = "import ctypes, glob, os, plain; assert ctypes.CDLL(glob.glob(os.path.dirname(plain.__file__) + '/kernel*.so')[0]).answer() == 42"
[variant.cuda.requires]
cuda = ">=11.8"
[variant.cuda.archs]
spelling = "dotted"
default = "9.0"
TOML

for major in "${clangs[@]}"; do
  by=(--variant cuda --arch 9.0 --cuda "$toolkit" --cc "clang-$major" --cxx "clang++-$major")
  run_json build texture "${by[@]}" --source texture=texture --clean --build-type relwithdebinfo
  good "texture by clang $major"
  wheel=$(json 'steps[0].wheel')
  rm -rf unpacked && mkdir unpacked && (cd unpacked && unzip -q "$wheel")
  readelf -p .comment unpacked/texture/_native.abi3.so | grep -q "clang version $major\." || fail "not of clang $major"
  if command -v cuobjdump >/dev/null; then cuobjdump --list-elf unpacked/texture/_native.abi3.so | grep -q sm_90 || fail "no code for sm_90"; fi
  run_json build plain --recipes recipes "${by[@]}"
  good "plain by clang $major"
  [[ $(json 'steps[0].tests[0].outcome') == pass ]] || fail "$(json 'steps[0].tests')"
done

# The package's choice wins, also for the host part.
run_json build plain --recipes recipes "${by[@]}" --env MORE=-std=c++20
good "a standard of the package's own"

# A toolkit that supports clang only up to a version older than the newest one here. nvcc finds its headers relative to
# itself.
cp -al "$toolkit" older 2>/dev/null || { rm -rf older && cp -a "$toolkit" older; }
rm older/include/crt/host_config.h
sed "s/__clang_major__ >= 21/__clang_major__ >= $newest/; s/must be less than 21/must be less than $newest/" "$toolkit/include/crt/host_config.h" >older/include/crt/host_config.h
by=(--variant cuda --arch 9.0 --cuda "$t/older" --cc "clang-$newest" --cxx "clang++-$newest")
fresh=(--env MORE=-lineinfo) # nothing that was built before
"$t/older/bin/nvcc" -ccbin "clang++-$newest" -c recipes/plain/plain/kernel.cu -std=c++17 -o x.o 2>/dev/null && skip "nvcc does not read the header that was changed"
run_json doctor plain --recipes recipes "${by[@]}"
expect bad "$(json '[c.state for c in checks if c.id == "host-compiler"][0]')"
[[ $(json '[c.fix for c in checks if c.id == "host-compiler"][0]') == *"--allow-unsupported-compiler"* ]] || fail "$(json checks)"
run build plain --recipes recipes "${by[@]}" "${fresh[@]}"
expect 1 "$status" "a compiler that is too new"
[[ $(<"$t/out")$(<"$t/err") == *"--allow-unsupported-compiler"* ]] || fail "$(<"$t/err")"
run_json build plain --recipes recipes "${by[@]}" "${fresh[@]}" --despite-doctor
expect "1 nvcc-clang-too-new" "$status $(json 'steps[0].diagnosis.id')" "nvcc refuses it"
run_json doctor plain --recipes recipes "${by[@]}" --allow-unsupported-compiler
expect unknown "$(json '[c.state for c in checks if c.id == "host-compiler"][0]')"
run_json build plain --recipes recipes "${by[@]}" "${fresh[@]}" --allow-unsupported-compiler
good "a compiler that is too new, on request"
