#!/bin/bash
# Builds the example package `texture` from source (for the CPU, and for two GPU architectures where nvcc is found), checks the
# wheels, installs from the wheelhouse with pip into a new environment and runs it. Ends with a picture: build/demo/edges.png.
set -euo pipefail
cd "$(dirname "$0")/.."
wheelsmith=$PWD/build/wheelsmith
demo=$PWD/build/demo
rm -rf "$demo"
mkdir -p "$demo"
export WHEELSMITH_STORE=$demo/store WHEELSMITH_OUT=$demo/wheelhouse

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
[[ -t 1 ]] || say() { printf '\n%s\n' "$*"; }
show() { say "\$ wheelsmith $*"; "$wheelsmith" "$@"; }

show build texture --variant cpu
if command -v nvcc >/dev/null; then
  show build texture --variant cuda --arch "8.0;9.0"
else
  say "no nvcc here: the CUDA wheel is left out"
fi
show build texture --variant cpu   # the second time nothing is compiled
for wheel in "$WHEELSMITH_OUT"/*.whl; do show inspect "$wheel"; show check "$wheel"; done

say "pip install from the wheelhouse, into a new environment"
python3 -m venv "$demo/env"
"$demo/env/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --find-links "$WHEELSMITH_OUT" texture
cd "$demo"   # outside the checkout: what runs is the wheel
"$demo/env/bin/python" -c 'import texture; print("texture", texture.variant, texture.architectures, "GPU:", texture.gpu_name())'
"$demo/env/bin/python" -m texture --self-test
"$demo/env/bin/python" -m texture --demo edges.png
if [[ -n $(ls /proc/driver/nvidia/gpus 2>/dev/null) ]]; then
  say "A GPU is here: its results against the CPU's"
  for wheel in "$WHEELSMITH_OUT"/*+cu*.whl; do show test "$wheel"; done
fi
say "The picture and its edges: $demo/edges.png"
