#!/bin/bash
# The traps of FlashAttention, AITER and vLLM one by one: without the recipe's handling, the miniature fails like the
# real package; tests/recipe_vllm.sh shows that with it, it does not. Four minutes.
source "$(dirname "$0")/../common.inc"
source "$tests/small_package.inc"
source "$tests/rocm_small_sdk.inc"
source "$tests/small_vllm.inc"
need_rocm_tools
need_registry
need_disk 16
need git unzip gcc
unset ROCM_PATH ROCM_HOME HIP_PATH VIRTUAL_ENV || true
# Unverified prebuilt wheels of FlashAttention: on loopback.
mkdir -p "$t/release/flash_attn"
printf '{"origin": "downloaded"}\n' >"$t/release/_seen.json"
: >"$t/release/interface.py"
make_wheel "$t/release/flash_attn-2.8.0.post2-py3-none-any.whl" "flash_attn/_seen.json=$t/release/_seen.json" \
  "flash_attn/flash_attn_interface.py=$t/release/interface.py"
serve_folder "$t/release"
echo "$base/flash_attn-2.8.0.post2-py3-none-any.whl" >"$t/wheel_url"
small_vllm "$t"
rocm_sdk "$t/sdk"
export HOME=$t/home WHEELSMITH_STORE=$t/store WHEELSMITH_OUT=$t/wheels PATH=$t/bin:$PATH
mkdir -p "$HOME"
cd "$t"
seen() { unzip -p "$1" '*/_seen.json' >"$t/seen.json" && python3 -c 'import json, sys; print(json.load(open(sys.argv[1])).get(sys.argv[2], "-"))' "$t/seen.json" "$2"; }
good() { [[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "$1 ended with $status"; }; }

# without NAME PACKAGE OPTION… <<RECIPE: builds the package with these lines overriding its recipe.
without() {
  local name=$1 package=$2
  mkdir -p "$t/$name"
  { printf 'name = "%s"\nextends = "%s"\n' "$package" "$package"; cat; } >"$t/$name/$package.toml"
  run_json build "$package" --recipes "$t/$name" --variant rocm --rocm "$t/sdk" "${@:3}"
  wheel=$(json 'steps[-1].wheel or ""' 2>/dev/null) || wheel=
}
# bites TEXT: it failed, and the output or the log contains the text.
bites() {
  expect 1 "$status" "$1: it did not fail"
  local log
  log=$(json '[s.log for s in steps if s.outcome == "failed"][0]' 2>/dev/null) || log=/dev/null
  [[ $(cat "$t/out" "$t/err" "$log") == *"$1"* ]] || fail "no '$1' in $(cat "$t/out"; tail -n 30 "$log")"
}

# --- FlashAttention
# A prebuilt wheel instead of a build: it downloads it, and 1 is not TRUE.
for word in FALSE 1; do
  without "download-$word" flash-attn-rocm --arch gfx1151 <<TOML
[build]
network = true
network-why = "a trap"
[build.environment]
FLASH_ATTENTION_FORCE_BUILD = "$word"
TOML
  good "FORCE_BUILD=$word"
  expect downloaded "$(seen "$wheel" origin)" "FORCE_BUILD=$word: a prebuilt wheel"
done
without network-alone flash-attn-rocm --arch gfx1151 <<'TOML'
[build]
network = true
network-why = "a trap"
TOML
good "with FORCE_BUILD"
expect built "$(seen "$wheel" origin)"
# Without the variable, and without a network as always: the download fails and it is built.
without no-network flash-attn-rocm --arch gfx1151 <<'TOML'
[build.environment]
FLASH_ATTENTION_FORCE_BUILD = "FALSE"
TOML
good "without a network"
expect built "$(seen "$wheel" origin)"
# Composable Kernel: git fetches while setup.py is evaluated.
without ck flash-attn-rocm --arch gfx1151 <<'TOML'
[variant.rocm.build.environment]
FLASH_ATTENTION_TRITON_AMD_ENABLE = "1"
TOML
bites "'submodule', 'update'"
# After 2.8.3 it installs its copy of AITER with pip, which nothing prevents: rejected before anything is built.
run_json build flash-attn-rocm --ref flash-attn-rocm=main --variant rocm --rocm "$t/sdk" --arch gfx1151
bites "installs its own copy of AITER with pip"
without own-aiter flash-attn-rocm --ref flash-attn-rocm=main --arch gfx1151 <<'TOML'
[variant.rocm]
when = []
TOML
bites "'--no-build-isolation', 'third_party/aiter'"

# --- AITER
# It replaces triton and continues when that fails.
without triton aiter --arch gfx942 <<'TOML'
[[more-when]]
if = { version = ">0" }
build.environment.AITER_USE_SYSTEM_TRITON = "0"
TOML
good "AITER without its word for triton"
expect replaced "$(seen "$wheel" triton)"
expect '__version__ = "3.6.0"' "$(cat venv/lib/python3*/site-packages/triton/__init__.py)" "the user's triton, which no step can reach"
# A missing submodule.
without submodule aiter --arch gfx942 <<'TOML'
[variant.rocm.checkout]
submodules = []
TOML
bites "CK is needed by aiter"
# A requirement that only prebuilt kernels have, and that no index may have.
without flydsl aiter --arch gfx942 <<'TOML'
[build]
drop-requires = ["torch"]
TOML
bites flydsl
# Its architecture is guessed.
without target aiter --arch gfx942 <<'TOML'
[build.environment]
BUILD_TARGET = "auto"
TOML
bites "ROCm alone"

# --- vLLM
# Requirements that would install another torch: its own test detects them.
without pins vllm --arch gfx1151 <<'TOML'
[build]
prepare = []
TOML
bites "torch==2.11.99"
# The version: an edited tree gets the date, and three digits of a version are ambiguous.
without date vllm --arch gfx1151 --env SETUPTOOLS_SCM_PRETEND_VERSION= --env VLLM_VERSION_OVERRIDE= <<<''
bites "but the source is 0.32.0"
echo 7.10.0-1 >sdk/.info/version
without digits vllm --arch gfx1151 --env VLLM_VERSION_OVERRIDE= <<<''
good "without VLLM_VERSION_OVERRIDE"
[[ $wheel == */vllm-0.32.0+rocm710-* ]] || fail "ROCm 7.10.0: $wheel"
run_json plan vllm --variant rocm --arch gfx1151 --rocm "$t/sdk"
expect 0.32.0+rocm7.10.0 "$(json 'steps[-1].environment.VLLM_VERSION_OVERRIDE')"
echo 7.1.0-1 >sdk/.info/version
# An untagged commit: setuptools-scm invents a version, which only its own test detects.
without no-tag vllm --arch gfx1151 --ref vllm=main --env SETUPTOOLS_SCM_PRETEND_VERSION= --env VLLM_VERSION_OVERRIDE= <<<''
bites "AssertionError: 0.1.dev1+g"
run_json build vllm --variant rocm --rocm "$t/sdk" --arch gfx1151 --ref vllm=main
good "a commit without a tag"
[[ $(json notes) == *"is not a release, so its version is 0.0.dev0"* ]] || fail "$(json notes)"
[[ $(json 'steps[-1].wheel') == */vllm-0.0.dev0+rocm7.1.0-* ]] || fail "$(json 'steps[-1].wheel')"
# pip's cmake: it was used, and the checklist says so.
without cmake vllm --arch gfx1151 <<'TOML'
[variant.rocm.build]
more-requires = ["setuptools>=77.0.3,<80", "ninja", "cmake"]
TOML
expect 1 "$status"
expect pip "$(seen "$wheel" cmake)"
expect "cmake bad" "$(json '[c.id + " " + c.state for c in checklist if c.state == "bad"]')"
[[ $(json '[c.found for c in checklist if c.id == "cmake"][0]') == *"from pip" ]] || fail "$(json checklist)"
# A list with commas is one unknown architecture.
without commas vllm --arch gfx1151,gfx950 <<'TOML'
[variant.rocm.archs]
separator = ","
TOML
bites "None of the ROCm architectures"
# CMake clones at configure time: without a network it cannot, with a mirror it clones from there.
mv git/ROCm/triton git/ROCm/triton.away
without fetch vllm --arch gfx1151 <<'TOML'
[variant.rocm]
fetch = []
TOML
bites "Failed to clone"
mv git/ROCm/triton.away git/ROCm/triton
without fetch vllm --arch gfx1151 <<'TOML'
[variant.rocm]
fetch = []
TOML
good "CMake's own clone, by the mirror"
[[ $(unzip -l "$wheel") == *vllm/third_party/triton_kernels/__init__.py* ]] || fail "triton_kernels"

# The target without a device, and what a torch for ROCm would suggest.
run_json build vllm --variant cpu --target empty
good "the target empty"
wheel=$(json 'steps[-1].wheel')
expect "vllm-0.32.0+empty-py3-none-any.whl empty" "${wheel##*/} $(seen "$wheel" device)"
metadata=$(unzip -p "$wheel" '*.dist-info/METADATA')
[[ $metadata == *"Requires-Dist: torch-is-not-its-name"* && $metadata != *"Requires-Dist: xformers"* ]] || fail "$metadata"
run_json build vllm --variant cpu --target empty --env VLLM_TARGET_DEVICE=
bites "None of the ROCm architectures"

# The cpu target uses the provided oneDNN, by CMake's own variable; otherwise it clones.
run_json build vllm --variant cpu --despite-doctor
good "the cpu target"
wheel=$(json 'steps[-1].wheel')
[[ $wheel == */vllm-0.32.0+cpu-cp3* ]] || fail "$wheel"
# Headers of torch 2.13 in a version of vLLM that compiles as C++17.
mini_torch "$t/venv13" 2.13.0 None
old=(vllm --variant cpu --despite-doctor --torch "$t/venv13" --ref v0.11.0)
run_json build "${old[@]}"
good "vLLM 0.11 with torch 2.13"
[[ $(json notes) == *"torch's headers require C++20"* ]] || fail "$(json notes)"
mkdir "$t/standard"
printf 'name = "vllm"\nextends = "vllm"\n[build]\nedit = []\n[[more-when]]\nif = { version = ">0" }\nbuild.edit = []\n' >"$t/standard/vllm.toml"
run_json build "${old[@]}" --recipes "$t/standard"
bites "C++20 is wanted"
mv git/oneapi-src git/oneapi-src.away
run_json build vllm --variant cpu --despite-doctor --env CMAKE_TOOLCHAIN_FILE=
bites "Failed to clone"
