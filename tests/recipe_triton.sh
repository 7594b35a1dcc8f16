#!/bin/bash
# Triton up to its pinned LLVM, from a small repository: rejected with the reason, then built with a given LLVM. Its
# traps: tests/proof/recipe_torch_traps.sh.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
source "$tests/small_torch.inc"
need_registry
need_disk 12
need unzip ar
small_torch "$t"
small_llvm "$t/llvm"
good() { [[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "$1 ended with $status"; }; }

# The missing LLVM is reported, with the fix, before anything is fetched or compiled.
for command in plan build; do
  run $command triton --variant cpu
  expect 1 "$status" "$command without LLVM"
  [[ $(<"$t/err") == *"cmake/llvm-hash.txt"*"--set llvm="* ]] || fail "$(<"$t/err")"
done
[[ ! -e $t/store/trees ]] || fail "something was built"
run_json doctor triton --variant cpu
expect bad "$(json '[c.state for c in checks if c.id == "refused"]')"
run_json doctor triton --variant cpu --set "llvm=$t/llvm"
expect unknown "$(json '[c.state for c in checks if c.id == "refused"]')"
# checkout needs no LLVM.
run checkout triton --variant cpu --into "$t/triton"
good checkout
[[ -s $t/triton/cmake/llvm-hash.txt ]] || fail "no pin of LLVM"

run_json build triton --variant cpu --set "llvm=$t/llvm"
good build
[[ $(json 'steps[0].wheel') == */triton-3.7.1-cp3*.whl ]] || fail "$(json 'steps[0].wheel')"
expect "imports pass,version pass" "$(json '[x.id + " " + x.outcome for x in steps[0].tests]' | paste -sd, -)"
expect TRITON_PTXAS_PATH "$(json 'runtime[0].variable')"

# For torch 2.7 the package is in a subfolder, as the source itself shows.
run_json build triton --variant cpu --set "llvm=$t/llvm" --ref v3.3.1
good "build of 3.3"
[[ $(json 'steps[0].wheel') == */triton-3.3.1-cp3*.whl ]] || fail "$(json 'steps[0].wheel')"
expect "imports pass,version pass" "$(json '[x.id + " " + x.outcome for x in steps[0].tests]' | paste -sd, -)"
[[ $(unzip -l "$(json 'steps[0].wheel')") == *triton/backends/nvidia/driver.py* ]] || fail "no backends"

# With a commit's version where that is intended.
run_json build triton --variant cpu --set "llvm=$t/llvm" --set release-type=dev
good "dev build"
[[ $(json 'steps[0].wheel') == */triton-3.7.1+git$(git -C "$root/up/triton-lang/triton" rev-parse --short=8 v3.7.1)-*.whl ]] ||
  fail "$(json 'steps[0].wheel')"

# An edit without a match is not silent: a warning here, where a source without -Werror works as well.
grep -q "edited CMakeLists.txt" "$(ls -t "$t"/store/logs/triton-* | head -n 1)" || fail "the edit is not in the log"
smaller triton '[[build.edit]]' 'file = "CMakeLists.txt"' 'from = "-Wevery"' 'to = "-Wnothing"' 'why = "a test"' 'required = false' \
  '[[build.more-edit]]' 'file = "CMakeLists.txt"' 'from = "-Werror "' 'to = ""' 'why = "a test"'
run_json build triton --variant cpu --set "llvm=$t/llvm"
good "an edit that is not required"
grep -q "warning: CMakeLists.txt does not contain '-Wevery'" "$(ls -t "$t"/store/logs/triton-* | head -n 1)" || fail "no warning"
smaller triton '[[build.edit]]' 'file = "CMakeLists.txt"' 'from = "-Wevery"' 'to = "-Wnothing"' 'why = "a test"'
run build triton --variant cpu --set "llvm=$t/llvm"
expect 1 "$status" "an edit that changes nothing"
[[ $(<"$t/out")$(<"$t/err")$(cat "$(ls -t "$t"/store/logs/triton-* | head -n 1)") == *"CMakeLists.txt does not contain '-Wevery'"* ]] || fail "no word of the edit"
rm "$t/recipes/triton.toml"

run_json plan triton --variant cpu --set llvm=download
good "plan with a download"
expect true "$(json 'steps[0].network')"
expect false "$(json '"LLVM_SYSPATH" in steps[0].environment')"

# For NVIDIA the wheel contains ptxas and CUDA's headers from the toolkit; a few files suffice for that.
mkdir -p "$t/cuda/bin" "$t/cuda/include/crt" "$t/cuda/lib64"
printf '#!/bin/sh\necho "Cuda compilation tools, release 13.0, V13.0.88"\n' >"$t/cuda/bin/nvcc"
for name in ptxas cuobjdump nvdisasm; do echo "$name" >"$t/cuda/bin/$name"; done
chmod +x "$t"/cuda/bin/*
echo '#define CUDA_VERSION 13000' >"$t/cuda/include/cuda.h"
echo '// host' >"$t/cuda/include/crt/host_config.h"
options=(--variant cuda --arch 9.0 --cuda "$t/cuda" --set "llvm=$t/llvm")
run_json build triton "${options[@]}"
good "build for CUDA"
members=$(unzip -l "$(json 'steps[0].wheel')")
for name in bin/ptxas bin/ptxas-blackwell bin/cuobjdump bin/nvdisasm include/cuda.h include/crt/host_config.h; do
  [[ $members == *"triton/backends/nvidia/$name"* ]] || fail "$name is not in the wheel"
done
smaller triton 'variant.cuda.build.prepare = []'
run build triton "${options[@]}"
expect 1 "$status" "a wheel without ptxas"
[[ $(<"$t/out") == *triton/backends/nvidia/bin/ptxas* ]] || fail "$(<"$t/out")"
