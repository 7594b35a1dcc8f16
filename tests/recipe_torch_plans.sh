#!/bin/bash
# Plans of torch's recipes and related ones for GPUs, on described machines: hipify, the module that loads ROCm's
# libraries, requirements and versions by kind of release, flash attention by architecture and by Triton, architectures
# and PTX, cuDNN and NCCL. tests/recipes.sh shows whole plans; here each rule is tested alone.
source "$(dirname "$0")/common.inc"
for name in rocm cuda; do cat "$tests/recipes/machines/$name.toml" "$tests/recipes/sources.toml" >"$t/$name.toml"; done
export WHEELSMITH_STORE=$t/store
cd "$t"
good() { [[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "$1 ended with $status"; }; }

# asked PACKAGE VARIANT OPTION…
asked() {
  run_json plan "$1" --variant "$2" --machine "${machine:-$t/$2.toml}" "${@:3}"
  good "plan $*"
  step="[s for s in steps if s.package == '$1'][0]"
}
# told VARIABLE: of the last step; - if it is not set.
told() { json "$step.environment.get('$1', '-')"; }

# ROCm: the sources are translated first, the module is written, and its text lists libraries in loading order.
asked pytorch rocm
expect '${env}/bin/python tools/amd_build/build_amd.py' "$(json "$step.prepare[0]" | paste -sd' ' -)"
expect torch/_rocm_init.py "$(json "$step.files")"
[[ " $(json "$step.checks.members" | paste -sd' ' -) " == *" torch/_rocm_init.py "* ]] || fail "the module is not looked for"
"$wheelsmith" plan pytorch --variant rocm --machine "$t/rocm.toml" --script >"$t/script"
python3 - "$t/script" <<'PYTHON'
import re, sys, types
text = open(sys.argv[1]).read()
module = re.search(r"printf %s '(.*?)' >\"\$source\"/torch/_rocm_init.py", text, re.S)[1].replace("'\\''", "'")

# initialized KNOWN: the module's requests to an SDK that knows these names, and raises for others like the real one.
def initialized(known):
    asked = {}
    def initialize_process(preload_shortnames, check_version):
        for name in preload_shortnames:
            if known is not None and name not in known:
                raise ModuleNotFoundError(name)
        asked.update(names=preload_shortnames, version=check_version)
    sdk, info = types.ModuleType("rocm_sdk"), types.ModuleType("rocm_sdk._dist_info")
    sdk.initialize_process, sdk._dist_info = initialize_process, info
    if known is not None:
        info.ALL_LIBRARIES = dict.fromkeys(known)
    sys.modules.update({"rocm_sdk": sdk, "rocm_sdk._dist_info": info})
    scope = {}
    exec(module, scope)
    scope["initialize"]()
    return asked

asked = initialized(None)
assert asked["version"] == "7.1.*", asked
names = asked["names"]
assert names[0] == "amd_comgr" and names.index("amdhip64") < names.index("hipblas") < names.index("miopen"), names
assert len(names) == 14 and "rccl" in names, names
# An SDK that knows fewer names: those, in the same order.
older = set(names) - {"rccl", "roctx64"}
assert initialized(older)["names"] == [name for name in names if name in older]
assert text.index("_rocm_init.py") < text.index("build_amd.py") < text.index("bdist_wheel")
PYTHON
# Flags are added to ours, not replaced.
[[ $(told CXXFLAGS) == *-O3*-ffile-prefix-map*-Wno-error=maybe-uninitialized*rocm_sysdeps/include* ]] || fail "$(told CXXFLAGS)"
[[ $(told LDFLAGS) == *-Wl,-s*rocm_sysdeps/lib* ]] || fail "$(told LDFLAGS)"
expect "ON OFF gfx1151" "$(told USE_ROCM) $(told USE_CUDA) $(told PYTORCH_ROCM_ARCH)"
expect "- - 1" "$(told BLAS) $(told OpenBLAS_LIB_NAME) $(told USE_STATIC_MKL)" "7.1 has no OpenBLAS of its own"
# Names unknown to an older SDK make the import fail: each version has its own list.
while read -r version count wanted; do
  sed "s/^version = \"7.1.0\"/version = \"$version\"/" "$t/rocm.toml" >"$t/rocm-other.toml"
  machine=$t/rocm-other.toml
  asked pytorch rocm
  expect "OpenBLAS rocm-openblas" "$(told BLAS) $(told OpenBLAS_LIB_NAME)" "$version"
  "$wheelsmith" plan pytorch --variant rocm --machine "$machine" --script >"$t/script"
  expect "$count $wanted" "$(grep -cE '^ {8}"[a-zA-Z0-9_-]+",$' "$t/script") $({ grep -oE '^ {8}"(hipdnn|amd_smi|rocm_smi64)"' "$t/script" || true; } | tr -d ' "' | sort | paste -sd, -)" "$version"
done <<'SDKS'
7.10.0 17
7.12.0 18 hipdnn
7.13.0 20 hipdnn,rocm_smi64
7.14.0 22 amd_smi,hipdnn,rocm_smi64
10.1.0 22 amd_smi,hipdnn,rocm_smi64
SDKS
machine=

# Requirements and versions by kind of release, of a release of ROCm and of a development version.
sed 's/^version = "7.1.0"/version = "7.10.0.dev0+abc123"/' "$t/rocm.toml" >"$t/rocm-dev.toml"
while read -r description type wanted_version wanted_requirement; do
  machine=$t/$description.toml
  for package in pytorch torchvision torchaudio; do
    asked $package rocm --set "release-type=$type"
    case $package in
      pytorch)
        expect "2.13.0+$wanted_version" "$(told PYTORCH_BUILD_VERSION | sed 's/git1\{8\}/gitC/')" "$description $type"
        expect "rocm[libraries]==$wanted_requirement | triton==3.5.1" "$(told PYTORCH_EXTRA_INSTALL_REQUIREMENTS)" "$description $type"
        ;;
      torchvision) expect "0.25.0+$wanted_version" "$(told BUILD_VERSION | sed 's/git2\{8\}/gitC/')" "$description $type" ;;
      torchaudio) expect "2.10.0+$wanted_version" "$(told BUILD_VERSION | sed 's/git3\{8\}/gitC/')" "$description $type" ;;
    esac
  done
done <<'RELEASES'
rocm release rocm7.1.0 7.1.*
rocm prerelease rocm7.1.0 7.1.0
rocm nightly rocm7.1.0 7.1.0
rocm dev gitC.rocm7.1.0 7.1.0
rocm-dev nightly devrocm7.10.0.dev0-abc123 7.10.0.dev0+abc123
rocm-dev dev gitC.devrocm7.10.0.dev0-abc123 7.10.0.dev0+abc123
RELEASES
machine=
asked pytorch rocm --set version-suffix=none
expect 2.13.0 "$(told PYTORCH_BUILD_VERSION)"
asked pytorch rocm --set version-suffix=+mine --set release-type=dev
expect 2.13.0+mine "$(told PYTORCH_BUILD_VERSION)"
asked pytorch rocm --set "extra-requirements=sympy|jinja2"
expect "rocm[libraries]==7.1.* | triton==3.5.1 | sympy|jinja2" "$(told PYTORCH_EXTRA_INSTALL_REQUIREMENTS)"
# A ROCm of the machine: neither its packages nor the module.
asked pytorch rocm --set rocm-wheels=off
expect "triton==3.5.1 " "$(told PYTORCH_EXTRA_INSTALL_REQUIREMENTS) $(json "$step.files")"
[[ " $(json "$step.checks.members" | paste -sd' ' -) " != *_rocm_init* ]] || fail "the module is looked for"

# Flash attention: by the architectures that AOTriton supports, and only with Triton; both options change together, and
# its downloads need the network.
while read -r archs set wanted network; do
  options=()
  [[ $set == - ]] || options=(--set "$set")
  asked pytorch rocm --arch "$archs" "${options[@]}"
  expect "$wanted $wanted $network" "$(told USE_FLASH_ATTENTION) $(told USE_MEM_EFF_ATTENTION) $(json "$step.network")" "$archs $set"
done <<'ATTENTION'
gfx942 - ON true
gfx950 - ON true
gfx1151 - ON true
gfx1201 - ON true
gfx1152 - ON true
gfx906;gfx90a - ON true
gfx906 - OFF false
gfx908;gfx1030 - OFF false
gfx906 flash-attention=on ON true
gfx942 flash-attention=off OFF false
gfx942 aotriton=/opt/aotriton ON false
gfx942 mem-eff-attention=off ON true
ATTENTION
asked pytorch rocm --arch gfx906
[[ $(json notes) == *"AOTriton supports none of the architectures"* ]] || fail "$(json notes)"
# Without a Triton to deliver (none is published, and no LLVM is given to build it with) there is no flash attention,
# and the wheel does not require it.
mkdir "$t/recipes"
cat >"$t/recipes/pytorch.toml" <<'TOML'
name = "pytorch"
extends = "pytorch"
[[variant.rocm.needs]]
recipe = "triton"
optional = true
companion = true
why = "as in the recipe, but unpublished"
TOML
asked pytorch rocm --arch gfx942 --recipes "$t/recipes"
expect triton "$(json '[s.package for s in steps if s.skipped]')"
expect "OFF OFF false" "$(told USE_FLASH_ATTENTION) $(told USE_MEM_EFF_ATTENTION) $(json "$step.network")"
[[ $(json notes) == *"Triton is not built with it"* ]] || fail "$(json notes)"
expect "rocm[libraries]==7.1.*" "$(told PYTORCH_EXTRA_INSTALL_REQUIREMENTS)"
# With an LLVM it is built first, and required.
asked pytorch rocm --arch gfx942 --recipes "$t/recipes" --set llvm=/opt/llvm
expect "ON ON" "$(told USE_FLASH_ATTENTION) $(told USE_MEM_EFF_ATTENTION)"
expect "rocm[libraries]==7.1.* | triton==3.5.1" "$(told PYTORCH_EXTRA_INSTALL_REQUIREMENTS)" "the version that its source says"
# AMD's release/2.7 has neither, whatever is requested, and says why.
asked pytorch rocm --ref release/2.7 --arch gfx942 --set flash-attention=on
expect "0 0 false" "$(told USE_FLASH_ATTENTION) $(told USE_MEM_EFF_ATTENTION) $(json "$step.network")"
[[ $(json notes) == *"release/2.7"* ]] || fail "$(json notes)"
expect https://github.com/ROCm/pytorch.git "$(json "$step.source.url")"
asked pytorch rocm --ref main
expect https://github.com/pytorch/pytorch.git "$(json "$step.source.url")"
# Architectures without libraries are rejected; force builds them.
run plan pytorch --variant rocm --machine "$t/rocm.toml" --arch gfx90c
expect 1 "$status"
[[ $(<"$t/err") == *gfx90c*"--set force=on"* ]] || fail "$(<"$t/err")"
asked pytorch rocm --arch gfx90c --set force=on
# Vision and audio for ROCm: vision has kernels, audio has none of its own.
asked torchvision rocm
expect "1 0 0 gfx1151" "$(told FORCE_CUDA) $(told TORCHVISION_USE_NVJPEG) $(told TORCHVISION_USE_VIDEO_CODEC) $(told PYTORCH_ROCM_ARCH)"
asked torchaudio rocm
expect "1 0 - 0" "$(told USE_ROCM) $(told USE_CUDA) $(told BUILD_SOX) $(told BUILD_CUDA_CTC_DECODER)"
# Triton does not see ROCm's own LLVM.
asked triton rocm --set llvm=/opt/llvm
[[ $(told TRITON_APPEND_CMAKE_ARGS) == *-DCMAKE_FIND_USE_CMAKE_ENVIRONMENT_PATH=FALSE* ]] || fail "$(told TRITON_APPEND_CMAKE_ARGS)"
expect "+rocm7.1.0 /opt/llvm 1" "$(told TRITON_WHEEL_VERSION_SUFFIX) $(told LLVM_SYSPATH) $(told TRITON_OFFLINE_BUILD)"

# CUDA: any notation becomes torch's, requested PTX stays; architectures unknown to torch's extension builder are
# rejected.
while read -r archs wanted; do
  asked pytorch cuda --arch "$archs"
  expect "$wanted" "$(told TORCH_CUDA_ARCH_LIST)" "$archs"
done <<'ARCHS'
8.0;9.0+PTX 8.0;9.0+PTX
sm_80,sm_90a 8.0;9.0a
80;120+PTX 8.0;12.0+PTX
ARCHS
run plan pytorch --variant cuda --machine "$t/cuda.toml" --arch 10.0f
expect 2 "$status" "an f suffix"
[[ $(<"$t/err") == *10.0f* ]] || fail "$(<"$t/err")"
sed '/^\[\[gpu\]\]/,/^$/d' "$t/cuda.toml" >"$t/no-gpu.toml"
machine=$t/no-gpu.toml
asked pytorch cuda
expect "8.0;8.6;9.0+PTX" "$(told TORCH_CUDA_ARCH_LIST)" "the recipe's list runs on newer GPUs, too"
machine=
expect "1 on 0 -Xfatbin -compress-all" "$(told USE_CUDA) $(told USE_CUDNN) $(told USE_SYSTEM_NCCL) $(told TORCH_NVCC_FLAGS)"
expect "triton==3.5.1" "$(told PYTORCH_EXTRA_INSTALL_REQUIREMENTS)"
# NCCL at torch's pin is placed where torch would clone it.
expect "nccl v2.27.7-1" "$(json "$step.fetches[0].name + ' ' + $step.fetches[0].ref")"
expect 'ln -sfn ${tree}/fetched/nccl third_party/nccl' "$(json "$step.prepare[0]" | paste -sd' ' -)"
while read -r setting value variable wanted; do
  asked pytorch cuda --set "$setting=$value"
  expect "$wanted" "$(told "$variable")" "--set $setting=$value"
done <<'SETTINGS'
cudnn off USE_CUDNN off
cusparselt on USE_CUSPARSELT on
cudss on USE_CUDSS on
cufile on USE_CUFILE on
nccl off USE_NCCL 0
nccl system USE_SYSTEM_NCCL 1
flash-attention off USE_FLASH_ATTENTION off
mem-eff-attention off USE_MEM_EFF_ATTENTION off
release-type dev PYTORCH_BUILD_VERSION 2.13.0+git11111111.cu130
fbgemm-genai off USE_FBGEMM_GENAI off
cudnn-link static USE_STATIC_CUDNN 1
cudnn-root /opt/cudnn CUDNN_ROOT ${tree}/libraries/cudnn
tensorrt /opt/tensorrt TENSORRT_ROOT /opt/tensorrt
mkl-root /opt/mkl MKLROOT /opt/mkl
nvcc-flags -lineinfo TORCH_NVCC_FLAGS -Xfatbin -compress-all -lineinfo
SETTINGS
asked pytorch cuda --set nccl=system --set nccl-root=/opt/nccl
expect '1 ${tree}/libraries/nccl ${tree}/libraries/nccl/lib' "$(told USE_SYSTEM_NCCL) $(told NCCL_ROOT) $(told NCCL_LIB_DIR)"
expect "/opt/nccl/include/nccl.h /opt/nccl/lib64/libnccl.so" \
  "$(json "[l.header + ' ' + l['file'] for l in $step.libraries if l.name == 'nccl'][0]")"
asked pytorch cuda --build-type minsizerel
expect "MinSizeRel" "$(told CMAKE_BUILD_TYPE)"
asked pytorch cuda --set nccl=system
expect "" "$(json "$step.fetches")"
# Without a visible GPU torchvision compiles no GPU code unless forced.
asked torchvision cuda --arch 8.0
expect "1 8.0 0.28.0+cu130" "$(told FORCE_CUDA) $(told TORCH_CUDA_ARCH_LIST) $(told BUILD_VERSION)"

# torch with torchvision and torchaudio: the releases that belong to it, built with its wheel, and required with its label.
while read -r variant machine label; do
  run_json plan pytorch torchvision torchaudio --variant "$variant" --machine "$t/$machine.toml"
  good "plan of three for $variant"
  expect "2.13.0+$label" "$(json '[s.wheel_version for s in steps if s.package == "pytorch"][0]')" "$variant"
  [[ $(json notes) == *"torchvision: v0.28.0, which matches torch 2.13"*"torchaudio: v2.11.0, which matches torch 2.13"* ]] || fail "$(json notes)"
  torch=$(json '[s.id for s in steps if s.package == "pytorch"][0]')
  for package in torchvision torchaudio; do
    step="[s for s in steps if s.package == '$package'][0]"
    expect "$torch" "$(json "$step.needs")" "$package for $variant"
    expect "2.13.0+$label 2.13.0+$label" "$(json "$step.torch") $(told PYTORCH_VERSION)" "$package for $variant"
    [[ $(json "$step.requirements") != *torch* ]] || fail "$package gets a torch of the index: $(json "$step.requirements")"
  done
done <<'PAIRS'
cuda cuda cu130
rocm rocm rocm7.1.0
PAIRS
# A user's label applies to all; torch itself appends a number to the version, so only the public part is certain.
step='[s for s in steps if s.package == "torchvision"][0]'
run_json plan pytorch torchvision --variant cuda --machine "$t/cuda.toml" --set version-suffix=+mine
expect "2.13.0+mine 0.28.0+mine" "$(told PYTORCH_VERSION) $(told BUILD_VERSION)"
run_json plan pytorch torchvision --variant cuda --machine "$t/cuda.toml" --set build-number=2
expect "2.13.0" "$(told PYTORCH_VERSION)"
# A torch from an index is required by its version alone.
run_json plan torchvision --variant cuda --machine "$t/cuda.toml" --torch 2.13.0+cu130
expect "2.13.0" "$(told PYTORCH_VERSION)"
