#!/bin/bash
# The one-command tour (`make demo`): builds the example package `texture` from source for the CPU and, if nvcc is installed, for
# two GPU architectures; builds it again from the store; inspects and checks the wheels; installs one with pip and runs it.
# Everything, including the picture edges.png, goes to build/demo.
set -euo pipefail
cd "$(dirname "$0")/.."
wheelsmith=$PWD/build/wheelsmith
demo=$PWD/build/demo
rm -rf "$demo"
mkdir -p "$demo"
export WHEELSMITH_STORE=$demo/store WHEELSMITH_OUT=$demo/wheelhouse

bold= plain= step=0
[[ ! -t 1 ]] || bold=$'\033[1m' plain=$'\033[0m'
# step TITLE: the heading of the next chapter.
step() { step=$((step + 1)); printf '\n%s%d. %s%s\n' "$bold" "$step" "$*" "$plain"; }
# show ARGUMENT…: runs wheelsmith and shows the command, as a user would type it.
show() { printf '\n$ wheelsmith %s\n' "$(printf '%q ' "$@")"; "$wheelsmith" "$@"; }

step "Build the package texture from source, for the CPU"
show build texture --variant cpu

step "Build it for NVIDIA GPUs of two generations (sm_80 and sm_90)"
if command -v nvcc >/dev/null; then
  show build texture --variant cuda --arch "8.0;9.0"
else
  echo "Skipped: nvcc is not installed."
fi

step "Run the first build again: the wheel comes from the store, nothing is compiled"
show build texture --variant cpu

step "Inspect and check the finished wheels"
for wheel in "$WHEELSMITH_OUT"/*.whl; do show inspect "$wheel"; show check "$wheel"; done

step "Install a wheel with pip into a new environment, and run it"
python3 -m venv "$demo/env"
"$demo/env/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --find-links "$WHEELSMITH_OUT" texture
cd "$demo"   # outside the checkout, so that Python imports the wheel and not the source
"$demo/env/bin/python" -c 'import texture; print("texture", texture.variant, texture.architectures, "GPU:", texture.gpu_name())'
"$demo/env/bin/python" -m texture --self-test
"$demo/env/bin/python" -m texture --demo edges.png

if [[ -n $(ls /proc/driver/nvidia/gpus 2>/dev/null) ]]; then
  step "Compare the GPU's results with the CPU's"
  for wheel in "$WHEELSMITH_OUT"/*+cu*.whl; do show test "$wheel"; done
fi

step "Done"
echo "The wheels are in $WHEELSMITH_OUT."
echo "The package drew a picture and its edges: $demo/edges.png"
