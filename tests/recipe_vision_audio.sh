#!/bin/bash
# torchvision and torchaudio for the CPU from small repositories with real operators, against a torch from the package
# index: the recipes' own tests pass. Their traps: tests/proof/recipe_torch_traps.sh.
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
