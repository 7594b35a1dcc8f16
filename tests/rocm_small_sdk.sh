#!/bin/bash
# ROCm as a toolchain, replaced by a small SDK made with clang 19: from a folder, from rocm-sdk in an environment, and
# from an index's wheels. The result contains the requested code; without a ROCm, all commands name what is missing.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
source "$tests/rocm_small_sdk.inc"
need_rocm_tools
need_registry
export HOME=$t/home XDG_CONFIG_HOME=$t/config WHEELSMITH_STORE=$t/store WHEELSMITH_OUT=$t/wheels
unset ROCM_PATH ROCM_HOME HIP_PATH VIRTUAL_ENV ROCM_SDK_TARGET_FAMILY || true
mkdir -p "$HOME"
[[ ! -e /opt/rocm ]] || skip "this machine has a ROCm"
cd "$tests/.."
texture=(texture --variant rocm --arch "gfx1151,gfx90a")

# --- without a ROCm: each missing part with its fix
for arch in gfx1151 gfx942; do
  run_json doctor texture --variant rocm --arch $arch
  expect 1 $status
  expect 'rocm
rocm-cmake
rocm-device-libraries' "$(json '[c.id for c in checks if c.state == "bad"]' | sort)" "bad for $arch"
  fix=$(json '[c.fix for c in checks if c.id == "rocm"][0]')
  for words in "wheelsmith rocm install --index-url URL --family $arch" 'amdgpu-install --usecase=hiplibsdk,rocm,rocmdevtools --no-dkms' \
    'hipify-clang miopen-hip' '--rocm'; do
    [[ $fix == *"$words"* ]] || fail "the fix for $arch lacks '$words': $fix"
  done
  [[ $(json '[c.found for c in checks if c.id == "rocm-family"][0]') == *gfx* ]] || fail "family of $arch"
  run_json plan texture --variant rocm --arch $arch
  expect 0 $status
  [[ $(json notes) == *"this machine has no ROCm"* ]] || fail "notes: $(json notes)"
  run plan texture --variant rocm --arch $arch --script
  expect 0 $status
  cp "$t/out" "$t/script.sh"
  status=0
  (cd "$t" && WORK=$t/by_hand DIST=$t/by_hand_dist bash "$t/script.sh") >"$t/script.log" 2>&1 || status=$?
  expect 1 $status "a script without a ROCm"
  [[ $(<"$t/script.log") == *BUILD_ROCM* ]] || fail "the script does not say what it wants: $(tail -3 "$t/script.log")"
  run_json build texture --variant rocm --arch $arch
  expect 1 $status
  [[ $(json error) == *"rocm: none"* ]] || fail "build: $(json error)"
  [[ ! -e $t/store/trees ]] || expect "" "$(ls "$t/store/trees")" "nothing was compiled"
done
run doctor texture --variant rocm --rocm "$t/nothing"
expect 1 $status
[[ $(tr -s ' \n' ' ' <"$t/out") == *"no bin/hipcc"* ]] || fail "a folder that is no ROCm" # where lines break depends on $t

# --- from a folder
rocm_sdk "$t/sdk"
run_json build "${texture[@]}" --rocm "$t/sdk"
[[ $status == 0 ]] || { tail -40 "$t"/store/logs/*/* "$t"/store/logs/* 2>/dev/null >&2 || true; fail "build: $(<"$t/out")"; }
expect 'gpu not-run no GPU
self-test pass ' "$(json '[f"{x.id} {x.outcome} {x.why}" for x in steps[0].tests]' | sort)"
wheel=$(json 'steps[0].wheel')
key=$(json 'steps[0].key')
run_json inspect "$wheel"
expect 'gfx1151
gfx90a' "$(json 'sorted(set(g.arch for g in items[0].gpu))')"
run_json check "$wheel" --arch gfx1151,gfx90a
expect 0 $status "check: $(json 'items[0].findings')"
run_json check "$wheel" --arch gfx942
expect 1 $status "gfx942 is not in it"
# The step saw a link in its own tree; no path of the SDK is in the wheel.
unzip -q -o "$wheel" -d "$t/unpacked"
if grep -rqF "$t/sdk" "$t/unpacked"; then fail "the SDK's folder is in the wheel: $(grep -rlF "$t/sdk" "$t/unpacked")"; fi

# The key depends on the compiler and its libraries, not on the folder.
plan_key() { run_json plan "${texture[@]}" --rocm "$1" && expect 0 $status && json 'steps[0].key'; }
cp -a "$t/sdk" "$t/elsewhere"
expect "$key" "$(plan_key "$t/elsewhere")" "the same ROCm elsewhere"
echo '# changed' >>"$t/elsewhere/lib/llvm/bin/clang++"
[[ $(plan_key "$t/elsewhere") != "$key" ]] || fail "another compiler, the same key"
cp "$t/sdk/lib/llvm/bin/clang++" "$t/elsewhere/lib/llvm/bin/clang++"
cp "$t/sdk/lib/llvm/amdgcn/bitcode/ocml.bc" "$t/elsewhere/lib/llvm/amdgcn/bitcode/ockl.bc"
[[ $(plan_key "$t/elsewhere") != "$key" ]] || fail "other device libraries, the same key"

# Without device libraries nothing is compiled.
rm -r "$t/elsewhere/lib/llvm/amdgcn"
run_json build "${texture[@]}" --rocm "$t/elsewhere"
expect 1 $status
[[ $(json error) == *rocm-device-libraries* ]] || fail "$(json error)"

# --- an index of wheels on loopback
export ROCM_INDEX_LOG=$t/selector.log
: >"$ROCM_INDEX_LOG"
python3 "$tests/rocm_index.py" "$t/sdk" "$t/index/nightly" 7.10.0a20261101 gfx1151 gfx90a
python3 "$tests/rocm_index.py" "$t/sdk" "$t/index/nightly" 7.9.0 gfx1151 gfx90a
python3 "$tests/rocm_index.py" "$t/sdk" "$t/index/family/gfx94X-dcgpu" 7.9.0 --family gfx94X-dcgpu gfx942
serve_folder "$t/index"

# --- rocm install
"$TESTS_PYTHON" -m venv --without-pip "$t/venv"
run_json rocm install --index-url "$base/nightly" --family gfx1151 --into "$t/venv" --dry-run
expect 0 $status "$(<"$t/err")"
expect 7.10.0a20261101 "$(json version)"
expect 'rocm-sdk-core
rocm-sdk-devel
rocm-sdk-device-gfx1151
rocm-sdk-libraries' "$(json '[w.name for w in wheels]')"
[[ ! -e $(echo "$t"/venv/lib/python*/site-packages)/rocm_sdk_core ]] || fail "a dry run installed something"
run_json rocm install --index-url "$base/nightly" --family gfx1151 --into "$t/venv" --no-pre
expect 0 $status "$(<"$t/err")"
expect 7.9.0 "$(json version)"
root=$(json root)
[[ -x $root/bin/hipcc && -f $root/include/hip/hip_runtime.h ]] || fail "no SDK in $root"
expect "$root" "$(json 'variables.ROCM_PATH')"
expect "$root/lib/llvm/amdgcn/bitcode" "$(json 'variables.HIP_DEVICE_LIB_PATH')"
expect 'family gfx1151' "$(sort -u "$ROCM_INDEX_LOG")"
# Libraries of one family, from an index with a folder per family.
"$TESTS_PYTHON" -m venv --without-pip "$t/other"
WHEELSMITH_ROCM_INDEX=$base/{channel}/{family} run_json rocm install --channel nightly --family gfx94X-dcgpu --into "$t/other"
expect 1 $status "there is no such folder"
WHEELSMITH_ROCM_INDEX=$base/family/{family} run_json rocm install --family gfx94x-dcgpu --into "$t/other"
expect 0 $status "$(<"$t/err")"
expect 'rocm-sdk-core rocm-sdk-devel rocm-sdk-libraries-gfx94x-dcgpu' "$(json '" ".join(w.name for w in wheels)')"
# Invalid arguments.
run rocm install --index-url "$base/nightly" --family gfx94X-dcgp --into "$t/venv"
expect 2 $status
[[ $(<"$t/err") == *"did you mean gfx94X-dcgpu?"* ]] || fail "$(<"$t/err")"
run rocm install --channel nightly --family gfx1151 --into "$t/venv"
expect 2 $status
[[ $(<"$t/err") == *rocm-index* ]] || fail "$(<"$t/err")"
run rocm install --index-url "$base/nightly" --family gfx1151
expect 2 $status
run rocm install --index-url "$base/nightly" --family gfx1100 --into "$t/venv"
expect 1 $status
[[ $(<"$t/err") == *rocm-sdk-device-gfx1100* ]] || fail "$(<"$t/err")"
system=$(python3 -c 'import os, sys; print(os.path.realpath(sys.executable))')
run rocm install --index-url "$base/nightly" --family gfx1151 --into "$system"
expect 1 $status
[[ $(<"$t/err") == *"not an environment"* ]] || fail "$(<"$t/err")"

# --- from rocm-sdk: in the chosen interpreter's environment, and named
run_json doctor texture --variant rocm --arch gfx1151 --python "$t/venv/bin/python"
[[ $(json '[c.found for c in checks if c.id == "rocm"][0]') == "ROCm 7.9.0 in $root (rocm-sdk)" ]] || fail "$(json checks)"
expect "" "$(json '[c.id for c in checks if c.state == "bad" and c.id.startswith("rocm")]')"
run_json build "${texture[@]}" --rocm "$t/venv" --out "$t/wheels2"
expect 0 $status "$(<"$t/out")"
run_json inspect "$(json 'steps[0].wheel')"
expect 'gfx1151
gfx90a' "$(json 'sorted(set(g.arch for g in items[0].gpu))')"

# --- from the index, for this step only
export WHEELSMITH_ROCM_INDEX=$base/{channel}
run_json plan "${texture[@]}"
expect 1 $status "which channel is not said"
run_json build "${texture[@]}" --rocm-channel nightly --rocm-version '<7.10' --out "$t/wheels3"
expect 0 $status "$(<"$t/out")"
[[ $(json notes) == *"ROCm 7.9.0 from the wheels"* ]] || fail "$(json notes)"
run_json inspect "$(json 'steps[0].wheel')"
expect 'gfx1151
gfx90a' "$(json 'sorted(set(g.arch for g in items[0].gpu))')"
# The same plan by hand.
run plan "${texture[@]}" --rocm-channel nightly --rocm-version '<7.10' --script
cp "$t/out" "$t/script.sh"
(cd "$t" && WORK=$t/by_hand DIST=$t/by_hand_dist bash "$t/script.sh") >"$t/script.log" 2>&1 || fail "$(tail -20 "$t/script.log")"
run_json inspect "$t"/by_hand_dist/*.whl
expect 'gfx1151
gfx90a' "$(json 'sorted(set(g.arch for g in items[0].gpu))')"
run_json plan texture --variant rocm --arch gfx1100 --rocm-channel nightly
expect 1 $status
[[ $(json error) == *rocm-sdk-device-gfx1100* ]] || fail "$(json error)"
