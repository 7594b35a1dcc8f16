#!/bin/bash
# torchvision and torchaudio for the CPU from small repositories with real operators, against a torch from the package
# index: the recipes' own tests pass; and each trap that they avoid, triggered by removing its handling.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
source "$tests/small_torch.inc"
need_registry
need_disk 3
need unzip libpng-config
[[ -e /usr/include/jpeglib.h ]] || skip "no jpeglib.h here"
small_torch "$t"
good() { [[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "$1 ended with $status"; }; }
options=(--torch 2.13.0 --variant cpu)

run_json build torchvision torchaudio "${options[@]}"
good build
[[ $(json notes) == *"torchvision: v0.28.0, which matches torch 2.13"*"torchaudio: v2.11.0, which matches torch 2.13"* ]] ||
  fail "$(json notes)"
[[ $(json 'steps[0].wheel') == */torchvision-0.28.0+cpu-cp3*.whl ]] || fail "$(json 'steps[0].wheel')"
[[ $(json 'steps[1].wheel') == */torchaudio-2.11.0+cpu-*.whl ]] || fail "$(json 'steps[1].wheel')"
expect "imports pass,version pass,operators pass,png pass,jpeg pass" \
  "$(json '[x.id + " " + x.outcome for x in steps[0].tests]' | paste -sd, -)"
expect "imports pass,version pass,resample pass,filter pass" \
  "$(json '[x.id + " " + x.outcome for x in steps[1].tests]' | paste -sd, -)"
[[ $(unzip -p "$(json 'steps[0].wheel')" '*/METADATA') == *"Requires-Dist: torch==2.13.0"$'\n'* ]] || fail "vision's torch"
# torch's stable interface: audio works with other torches.
[[ $(unzip -p "$(json 'steps[1].wheel')" '*/METADATA') == *"Requires-Dist: torch"$'\n'* ]] || fail "audio's torch"

# The settings that reach their builds.
while read -r package setting value variable wanted; do
  run_json plan "$package" "${options[@]}" --set "$setting=$value"
  good "plan with $setting=$value"
  expect "$wanted" "$(json "steps[0].environment.get('$variable', '-')")" "$package --set $setting=$value"
done <<'SETTINGS'
torchvision png off TORCHVISION_USE_PNG 0
torchvision jpeg off TORCHVISION_USE_JPEG 0
torchvision webp on TORCHVISION_USE_WEBP 1
torchvision pin-torch off PYTORCH_VERSION -
torchvision version-suffix none BUILD_VERSION 0.28.0
torchvision version-suffix +mine BUILD_VERSION 0.28.0+mine
torchaudio rnnt off BUILD_RNNT off
torchaudio align off BUILD_ALIGN off
torchaudio openmp off USE_OPENMP off
torchaudio version-suffix +mine BUILD_VERSION 2.11.0+mine
SETTINGS

# trap_bites PACKAGE TEXT OPTION… -- LINE…
trap_bites() {
  local package=$1 words=$2 more=()
  shift 2
  while [[ $1 != -- ]]; do more+=("$1"); shift; done
  smaller "$package" "${@:2}"
  run build "$package" "${options[@]}" "${more[@]}"
  expect 1 "$status" "without the handling: ${*:2}"
  [[ $(<"$t/out")$(<"$t/err")$(cat "$(ls -t "$t/store/logs/$package"-* | head -n 1)") == *"$words"* ]] ||
    { cat "$t/out" "$t/err" >&2; fail "no word of «$words»"; }
}
# A missing PNG is only a warning; the recipe's test detects it.
trap_bites torchvision "undefined symbol: tv_encode_png" -- '[[more-when]]' 'if = { set.png = "on" }' \
  'build.environment.TORCHVISION_USE_PNG = "0"'
# Without BUILD_VERSION the commit is in the version, which is not the planned wheel.
trap_bites torchvision "0.28.0a0+" -- 'build.environment.BUILD_VERSION = "{set.nothing}"'
trap_bites torchaudio "2.11.0a0+" -- 'build.environment.BUILD_VERSION = "{set.nothing}"'
# A machine with CUDA, or a torch for it, would be built for CUDA.
trap_bites torchaudio "no CUDA in this one" -- 'variant.cpu.build.environment.USE_CUDA = "{set.nothing}"'

# Before 2.9 CMake downloaded sox and FFmpeg.
old=(--ref torchaudio=v2.8.0)
smaller torchaudio '[[test]]' 'imports = ["torchaudio"]'
run_json build torchaudio "${options[@]}" "${old[@]}"
good "build of torchaudio 2.8"
[[ $(json 'steps[0].wheel') == */torchaudio-2.8.0+cpu-*.whl ]] || fail "$(json 'steps[0].wheel')"
trap_bites torchaudio "SOX cannot be downloaded" "${old[@]}" -- '[[more-when]]' 'if = { version = "<2.9" }' 'build.environment.BUILD_SOX = "{set.nothing}"'
trap_bites torchaudio "FFMPEG cannot be downloaded" "${old[@]}" -- '[[more-when]]' 'if = { version = "<2.9" }' 'build.environment.USE_FFMPEG = "{set.nothing}"'
