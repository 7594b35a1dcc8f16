#!/bin/bash
# The traps that the recipes of Triton, torchvision and torchaudio avoid, one by one: without the recipe's handling, the
# miniature fails like the real package. tests/recipe_triton.sh and recipe_vision_audio.sh show that with it, it does
# not. A few minutes.
source "$(dirname "$0")/../common.inc"
source "$tests/small_package.inc"
source "$tests/small_torch.inc"
need_registry
need_disk 12
need unzip ar libpng-config
[[ -e /usr/include/jpeglib.h ]] || skip "no jpeglib.h here"
small_torch "$t"
small_llvm "$t/llvm"
good() { [[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "$1 ended with $status"; }; }

# trap_bites PACKAGE TEXT OPTION… -- LINE…: built with these lines in its recipe, it fails with that text.
trap_bites() {
  local package=$1 words=$2 more=()
  shift 2
  while [[ $1 != -- ]]; do more+=("$1"); shift; done
  smaller "$package" "${@:2}"
  run build "$package" --variant cpu "${more[@]}"
  expect 1 "$status" "without the handling: ${*:2}"
  [[ $(<"$t/out")$(<"$t/err")$(cat "$(ls -t "$t/store/logs/$package"-* | head -n 1)") == *"$words"* ]] ||
    { cat "$t/out" "$t/err" >&2; fail "no word of «$words»"; }
}

# --- Triton
llvm=(--set "llvm=$t/llvm")
arguments='build.environment.TRITON_APPEND_CMAKE_ARGS ='
trap_bites triton "-Werror=unused-variable" "${llvm[@]}" -- 'build.edit = []'
# The option of the same name, which setup.py sets too, changes nothing.
trap_bites triton "-Werror=unused-variable" "${llvm[@]}" -- 'build.edit = []' "$arguments \"-DTRITON_BUILD_UT=OFF -DLLVM_ENABLE_WERROR=OFF\""
trap_bites triton "googletest would be cloned" "${llvm[@]}" -- "$arguments \"-DLLVM_ENABLE_ASSERTIONS=OFF\""
trap_bites triton "JSON_SYSPATH is not set" "${llvm[@]}" -- 'build.environment.TRITON_BUILD_PROTON = "on"'
# Where git sees the repository the commit is in a release's version.
smaller triton '[[more-when]]' 'if = { set.release-type = "release" }' 'build.environment.GIT_DIR = "{set.nothing}"'
run build triton --variant cpu "${llvm[@]}"
[[ $(ls "$t/wheelhouse") == triton-3.7.1+git* ]] || fail "$(ls "$t/wheelhouse")"
# Without offline mode it uses the network before any command runs, and there is none.
trap_bites triton "in tools_of_nvidia" "${llvm[@]}" -- '[[more-when]]' 'if = { set.llvm = "/*" }' 'build.environment.TRITON_OFFLINE_BUILD = "{set.nothing}"'
# An LLVM of another commit.
rm "$t/llvm/lib/libMLIRIR.a"
smaller triton
run build triton --variant cpu "${llvm[@]}" --clean --set link-jobs=2
expect 1 "$status"
[[ $(<"$t/out")$(<"$t/err") == *MLIR* ]] || fail "$(<"$t/out")"

# --- torchvision and torchaudio
torch=(--torch 2.13.0)
# A missing PNG is only a warning; the recipe's test detects it.
trap_bites torchvision "undefined symbol: tv_encode_png" "${torch[@]}" -- '[[more-when]]' 'if = { set.png = "on" }' \
  'build.environment.TORCHVISION_USE_PNG = "0"'
# Without BUILD_VERSION the commit is in the version, which is not the planned wheel.
trap_bites torchvision "0.28.0a0+" "${torch[@]}" -- 'build.environment.BUILD_VERSION = "{set.nothing}"'
trap_bites torchaudio "2.11.0a0+" "${torch[@]}" -- 'build.environment.BUILD_VERSION = "{set.nothing}"'
# A machine with CUDA, or a torch for it, would be built for CUDA.
trap_bites torchaudio "no CUDA in this one" "${torch[@]}" -- 'variant.cpu.build.environment.USE_CUDA = "{set.nothing}"'

# Before 2.9 CMake downloaded sox and FFmpeg.
old=(--ref torchaudio=v2.8.0)
smaller torchaudio '[[test]]' 'imports = ["torchaudio"]'
run_json build torchaudio --variant cpu "${torch[@]}" "${old[@]}"
good "build of torchaudio 2.8"
[[ $(json 'steps[0].wheel') == */torchaudio-2.8.0+cpu-*.whl ]] || fail "$(json 'steps[0].wheel')"
trap_bites torchaudio "SOX cannot be downloaded" "${torch[@]}" "${old[@]}" -- '[[more-when]]' 'if = { version = "<2.9" }' 'build.environment.BUILD_SOX = "{set.nothing}"'
trap_bites torchaudio "FFMPEG cannot be downloaded" "${torch[@]}" "${old[@]}" -- '[[more-when]]' 'if = { version = "<2.9" }' 'build.environment.USE_FFMPEG = "{set.nothing}"'
