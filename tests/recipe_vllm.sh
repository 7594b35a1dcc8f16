#!/bin/bash
# vLLM for ROCm from three miniature repositories, with a small SDK in place of ROCm and a torch that must not change:
# flash-attention, AITER where possible, vLLM; and the closing checklist. Then the messages without a ROCm.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
source "$tests/rocm_small_sdk.inc"
source "$tests/small_vllm.inc"
need_rocm_tools
need_registry
need_disk 16
need git unzip gcc
[[ ! -e /opt/rocm ]] || skip "this machine has a ROCm"
unset ROCM_PATH ROCM_HOME HIP_PATH VIRTUAL_ENV VLLM_ROCM_USE_AITER || true
small_vllm "$t"
rocm_sdk "$t/sdk"
export HOME=$t/home WHEELSMITH_STORE=$t/store WHEELSMITH_OUT=$t/wheels PATH=$t/bin:$PATH
mkdir -p "$HOME" "$t/elsewhere"
cd "$t"
torch=$(torch_sum venv)
good() { [[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; tail -n 40 "$t"/store/logs/*.log >&2; fail "$1 ended with $status"; }; }
outcomes() { json '[s.package + " " + s.outcome for s in steps]' | paste -sd, -; }
checklist() { json '[c.id + " " + c.state for c in checklist]' | paste -sd, -; }
found() { json "[c.found for c in checklist if c.id == '$1'][0]"; }
# seen WHEEL NAME: what the package recorded during its build; - if unset.
seen() { unzip -p "$1" '*/_seen.json' >"$t/seen.json" && python3 -c 'import json, sys; print(json.load(open(sys.argv[1])).get(sys.argv[2], "-"))' "$t/seen.json" "$2"; }
wheel_of() { json "[s.wheel for s in steps if s.package == '$1'][0]"; }

# --- without a ROCm: everything can be planned, missing parts are named, and nothing is compiled
variable() { json "[s.environment for s in steps if s.package == '$1'][0].get('$2', '-')"; }
for arch in gfx1151 gfx942; do
  run_json plan vllm --variant rocm --arch $arch
  good "plan for $arch"
  expect "flash-attn-rocm,aiter,vllm" "$(json '[s.package for s in steps]' | paste -sd, -)" "three phases in order"
  [[ $(json notes) == *"vllm: this machine has no ROCm"* && $(json notes) != *"flash-attn-rocm: this machine has no ROCm"* ]] || fail "notes: $(json notes)"
  if [[ $arch == gfx1151 ]]; then
    [[ $(json 'steps[1].skipped') == *"is for gfx9 (CDNA)"*"--set force=on"* ]] || fail "AITER: $(json 'steps[1]')"
    expect 11.5.1 "$(variable vllm HSA_OVERRIDE_GFX_VERSION)"
  else
    expect "" "$(json 'steps[1].skipped or ""')" "AITER for gfx942"
    expect - "$(variable vllm HSA_OVERRIDE_GFX_VERSION)"
  fi
  expect "$arch $arch" "$(variable vllm PYTORCH_ROCM_ARCH) $(variable vllm GPU_ARCHS)"
  expect "TRUE TRUE $arch" "$(variable flash-attn-rocm FLASH_ATTENTION_TRITON_AMD_ENABLE) $(variable flash-attn-rocm FLASH_ATTENTION_FORCE_BUILD) $(variable flash-attn-rocm GPU_ARCHS)"
  for package in flash-attn-rocm aiter vllm; do expect - "$(variable $package VLLM_ROCM_USE_AITER)" "$package"; done
  expect main_perf "$(json 'steps[0].source.ref')"
  [[ $(json 'steps[2].requirements') == *"setuptools-scm>=8"* && $(json 'steps[2].requirements') != *torch* ]] || fail "$(json 'steps[2].requirements')"
  expect "" "$(json '[w.version for w in steps[2].locked if w.name == "cmake"]')" "cmake of pip"
  run_json doctor vllm --variant rocm --arch $arch
  expect 1 $status
  expect "rocm rocm-cmake rocm-device-libraries" "$(json 'sorted(set(c.id for c in checks if c.state == "bad"))' | paste -sd' ' -)" "doctor for $arch"
  expect "" "$(json '[c.id for c in checks if c.state == "bad" and c.package.startswith("flash")]')" "flash-attention compiles nothing"
  [[ $(json '[c.fix for c in checks if c.id == "rocm" and c.package == "vllm"][0]') == *"rocm install"*"--family $arch"*amdgpu-install*--rocm* ]] || fail "fix: $(json checks)"
  run plan vllm --variant rocm --arch $arch --script
  good "script for $arch"
  cp "$t/out" "$t/script.sh"
  status=0
  (cd elsewhere && WORK=$t/by_hand DIST=$t/by_hand_dist bash "$t/script.sh") >"$t/script.log" 2>&1 || status=$?
  expect 1 $status "a script without a ROCm"
  [[ $(<"$t/script.log") == *BUILD_ROCM* ]] || fail "the script does not say what it wants: $(tail -n 3 "$t/script.log")"
  run_json build vllm --variant rocm --arch $arch
  expect 1 $status
  [[ $(json error) == *"rocm: none"* ]] || fail "build: $(json error)"
  [[ ! -e store/trees || -z $(ls store/trees) ]] || fail "something was compiled: $(ls store/trees)"
done

# --- everything for gfx1151
common=(vllm --variant rocm --rocm "$t/sdk" --install --into "$t/venv")
run_json build "${common[@]}" --arch gfx1151
good "build for gfx1151"
expect "flash-attn-rocm built,aiter skipped,vllm built" "$(outcomes)"
[[ $(json 'steps[1].cause') == *"vLLM does not use it there"* ]] || fail "AITER: $(json 'steps[1].cause')"
expect "cmake good,installed good,vllm-help good,vllm-version good,rocm-paths good,device-libraries good,wheels good" "$(checklist)"
[[ $(found cmake) == "$t/bin/cmake 3.31."*"(system)" ]] || fail "$(found cmake)"
[[ $(found installed) == "torch 2.13.0+rocm7.1, flash_attn 2.8.0.post2, amd-aiter (optional, skipped), vllm 0.32.0+rocm7.1.0" ]] || fail "$(found installed)"
[[ $(found device-libraries) == "HIP_DEVICE_LIB_PATH=$t/sdk/lib/llvm/amdgcn/bitcode" ]] || fail "$(found device-libraries)"
[[ $(found wheels) == vllm-0.32.0+rocm7.1.0-*.whl,*flash_attn-2.8.0.post2-py3-none-any.whl* ]] || fail "$(found wheels)"
expect "FLASH_ATTENTION_TRITON_AMD_ENABLE=TRUE,HSA_OVERRIDE_GFX_VERSION=11.5.1,VLLM_ROCM_USE_AITER=0" "$(json '[r.variable + "=" + r.value for r in runtime]' | paste -sd, -)"
vllm=$(wheel_of vllm) flash=$(wheel_of flash-attn-rocm)
expect "gfx1151 gfx1151 11.5.1 - rocm other" "$(for name in PYTORCH_ROCM_ARCH GPU_ARCHS HSA_OVERRIDE_GFX_VERSION VLLM_ROCM_USE_AITER device cmake; do seen "$vllm" $name; done | paste -sd' ' -)" "what vLLM saw"
expect "TRUE TRUE built main_perf -" "$(for name in FLASH_ATTENTION_TRITON_AMD_ENABLE FLASH_ATTENTION_FORCE_BUILD origin branch VLLM_ROCM_USE_AITER; do seen "$flash" $name; done | paste -sd' ' -)" "what flash-attention saw"
run_json inspect "$vllm"
expect gfx1151 "$(json 'sorted(set(g.arch for g in items[0].gpu))')"
[[ $(unzip -l "$vllm") == *vllm/third_party/triton_kernels/__init__.py* ]] || fail "what CMake would have cloned is not in it"
metadata=$(unzip -p "$vllm" '*.dist-info/METADATA')
[[ $metadata == *"Requires-Dist: regex"* && $metadata != *"Requires-Dist: torch"* && $metadata != *"Requires-Dist: triton"* ]] || fail "$metadata"
expect "$torch" "$(torch_sum venv)" "torch was touched"
[[ $("$t/venv/bin/vllm" --help) == *"serves with torch 2.13.0+rocm7.1"* ]] || fail "vllm --help"

# As text, without an environment to install into: uninstalled packages are unknown, and nothing fails.
run build vllm --variant rocm --rocm "$t/sdk" --arch gfx1151
expect 0 $status "$(cat "$t/out" "$t/err")"
for words in 'HSA_OVERRIDE_GFX_VERSION=11.5.1' 'FLASH_ATTENTION_TRITON_AMD_ENABLE=TRUE' 'checklist'; do
  [[ $(<"$t/out") == *"$words"* ]] || fail "the closing text lacks '$words': $(<"$t/out")"
done

# --- AITER is tried where it has no kernels; its failure stops nothing
run_json build "${common[@]}" --arch gfx1151 --set force=on
good "with --set force=on"
expect "flash-attn-rocm cached,aiter failed,vllm cached" "$(outcomes)"
[[ $(json notes) == *"although its assembly"* ]] || fail "$(json notes)"
[[ $(found installed) == *"amd-aiter (optional, failed)"* ]] || fail "$(found installed)"

# --- gfx942: AITER is one of them
run_json build "${common[@]}" --arch gfx942
good "build for gfx942"
expect "flash-attn-rocm built,aiter built,vllm built" "$(outcomes)"
expect "kept gfx942" "$(seen "$(wheel_of aiter)" triton) $(seen "$(wheel_of aiter)" GPU_ARCHS)"
[[ $(wheel_of aiter) == */amd_aiter-0.1.20.post1-*.whl ]] || fail "$(wheel_of aiter)"
expect - "$(seen "$(wheel_of vllm)" HSA_OVERRIDE_GFX_VERSION)"
[[ $(found installed) == *"amd-aiter 0.1.20.post1"* ]] || fail "$(found installed)"
expect "VLLM_ROCM_USE_AITER=1" "$(json '[r.variable + "=" + r.value for r in runtime if "AITER" in r.variable]')"
expect "$torch" "$(torch_sum venv)" "torch was touched"

# --- the checklist finds defects: a program that does not start, missing wheels, missing device libraries
echo 'raise ImportError("no HSA runtime")' >"$(echo venv/lib/python3*/site-packages)/torch/_C/__init__.py"
run_json build "${common[@]}" --arch gfx942
expect 1 $status
expect "flash-attn-rocm cached,aiter cached,vllm cached" "$(outcomes)"
expect "vllm-help bad,vllm-version bad" "$(checklist | tr , '\n' | grep -v good | paste -sd, -)"
[[ $(found vllm-help) == *"no HSA runtime"* ]] || fail "$(found vllm-help)"
mkdir recipes
cat >recipes/flash-attn-rocm.toml <<'TOML'
name = "flash-attn-rocm"
extends = "flash-attn-rocm"
[variant.rocm.build.environment]
HIP_DEVICE_LIB_PATH = "{rocm}/nothing"
[[variant.rocm.checklist]]
id = "device-libraries"
variables = ["HIP_DEVICE_LIB_PATH"]
fix = "install them"
[[variant.rocm.checklist]]
id = "wheels"
wheels = ["flash_attn", "vllm"]
TOML
rm "$(echo venv/lib/python3*/site-packages)/torch/_C/__init__.py"
echo '_GLIBCXX_USE_CXX11_ABI = True' >"$(echo venv/lib/python3*/site-packages)/torch/_C/__init__.py"
run_json build flash-attn-rocm --recipes "$t/recipes" --variant rocm --rocm "$t/sdk" --arch gfx1151
expect 1 $status
expect "device-libraries bad install them,wheels bad " "$(json '[f"{c.id} {c.state} {c.fix or str()}" for c in checklist]' | paste -sd, -)"
[[ $(found device-libraries) == *"/nothing (empty or missing)"* && $(found wheels) == *"no wheel of vllm"* ]] || fail "$(json checklist)"
