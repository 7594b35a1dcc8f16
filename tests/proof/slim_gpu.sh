#!/bin/bash
# On a machine with an H100 or H200: a copy of the installed torch, slimmed to its own architecture, computes the same
# numbers; slimmed to another one it fails as `check --gpu` predicts. Prints sizes before and after.
#   WHEELSMITH=build/dev/bin/wheelsmith tests/proof/slim_gpu.sh [python]
# Takes about three minutes and 8 GB below $TMPDIR. KEEP_SIZE=1 fills freed space with zeros instead of shortening files.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
wheelsmith=$(realpath "${WHEELSMITH:?the program}")
python=${1:-python3}
judge=$here/slim_gpu.py
if ! "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
  echo "skipped: needs torch and a GPU"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
site=$("$python" -c 'import os, torch; print(os.path.dirname(os.path.dirname(torch.__file__)))')
arch=$("$python" -c 'import torch; print("%d.%d" % torch.cuda.get_device_capability())')
options=()
[[ -z ${KEEP_SIZE:-} ]] || options+=(--keep-size)
step() { echo "== $SECONDS s: $*"; }
status=0
bad() { echo "FAILED: $*"; status=1; }

# copy_site NAME: torch and its .dist-info as files of their own, everything else as links.
copy_site() {
  mkdir -p "$work/$1"
  ln -s "$site"/* "$work/$1/" 2>/dev/null || true
  rm -f "$work/$1"/torch "$work/$1"/torch-*.dist-info
  cp -a --reflink=auto "$site"/torch "$site"/torch-*.dist-info "$work/$1/"
}
# compute NAME LOADING: the numbers of the copy, into NAME.LOADING.json.
compute() {
  CUDA_MODULE_LOADING=$2 PYTHONNOUSERSITE=1 "$python" -P -S "$judge" "$work/$1" compute >"$work/$1.$2.json" 2>"$work/$1.$2.err"
}
big() { stat -c %s "$work/$1/torch/lib/libtorch_cuda.so"; }

step "copies of $site/torch; this GPU is $arch"
copy_site own
copy_site other
"$python" -P "$judge" "$site" compute >"$work/before.json"

step "slim to $arch"
"$wheelsmith" slim "$work/own" --package torch --arch "$arch" "${options[@]}" | tee "$work/own.txt" | tail -n 40
echo "libtorch_cuda.so: $(stat -c %s "$site/torch/lib/libtorch_cuda.so") -> $(big own) bytes; torch: $(du -sm "$site/torch" | cut -f1) -> $(du -sm "$work/own/torch" | cut -f1) MB"
step "check"
"$wheelsmith" check "$work/own" >"$work/check.txt" 2>&1 || grep -A2 -E 'record|elf-' "$work/check.txt" | head -n 20

for loading in LAZY EAGER; do
  step "compute, $loading"
  if compute own "$loading"; then
    "$python" "$judge" compare "$work/before.json" "$work/own.$loading.json" || bad "different numbers with $loading"
  else
    tail -n 5 "$work/own.$loading.err"
    bad "computing with $loading"
  fi
done

step "torch.compile"
PYTHONNOUSERSITE=1 timeout 100 "$python" -P -S "$judge" "$work/own" compile || bad "torch.compile"

step "deflated size"
"$python" "$judge" deflated "$work/own/torch/lib/libtorch_cuda.so" "$wheelsmith" || bad "deflated size"

step "slim to 8.0; check --gpu predicts that it fails on this GPU"
"$wheelsmith" slim "$work/other" --package torch --arch 8.0 "${options[@]}" >"$work/other.txt"
if "$wheelsmith" check "$work/other" --gpu "$arch" --json >"$work/other.json"; then bad "check predicts no failure"; fi
"$python" "$judge" predicted "$work/other.json" || bad "check says something else"
if compute other LAZY; then
  bad "torch for 8.0 alone computes on $arch"
elif grep -q 'no kernel image is available' "$work/other.LAZY.err"; then
  echo "as predicted: $(grep -m 1 -o 'CUDA error: no kernel image.*' "$work/other.LAZY.err")"
else
  tail -n 3 "$work/other.LAZY.err"
  bad "another error than the predicted one"
fi
step "done: $([[ $status == 0 ]] && echo good || echo bad)"
exit $status
