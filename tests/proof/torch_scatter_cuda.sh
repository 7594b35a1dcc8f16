#!/bin/bash
# torch-scatter 2.1.2 from its sdist, without a recipe, for sm_90: against a CUDA torch from the package index and with
# a toolkit assembled from wheels. cuobjdump (Triton's, by default) confirms the wheel's content; on a machine with such
# a GPU it also runs.
#   PROOF_TORCH=VERSION|ENVIRONMENT: another torch
source "$(dirname "$0")/build.inc"
source "$tests/proof/torch_scatter.inc"

torch=()
[[ -z ${PROOF_TORCH:-} ]] || torch=(--torch "$PROOF_TORCH")
build torch-scatter --source torch-scatter==2.1.2 --variant cuda --arch 9.0 "${torch[@]}"

archs_in() { json '" ".join(sorted({g.arch for e in items[0].elf for g in e.gpu if g.kind == "sass"}))'; }
run_json inspect "$wheel"
expect sm_90 "$(archs_in)" "architectures of the wheel by inspect"
judge=${CUOBJDUMP:-$(command -v cuobjdump || true)}
# torch installs Triton, and Triton contains cuobjdump.
[[ -n $judge ]] || judge=$(find "$WHEELSMITH_STORE/envs" -path '*/triton/backends/nvidia/bin/cuobjdump' -print -quit)
if [[ -n $judge ]]; then
  unzip -q "$wheel" '*.so' -d "$t/libraries"
  found=$(find "$t/libraries" -name '*.so' -exec "$judge" --list-elf {} \; 2>/dev/null | grep -o 'sm_[0-9a-z]*' | sort -u)
  expect sm_90 "$found" "architectures of the wheel by cuobjdump"
  echo "1 of 1 architectures agree with cuobjdump"
fi

if ! command -v nvidia-smi >/dev/null || ! nvidia-smi -L >/dev/null 2>&1; then
  echo "not run: no GPU"
  exit 0
fi
if [[ -x ${PROOF_TORCH:-} ]]; then
  "$PROOF_TORCH" -m venv --system-site-packages "$t/env"
  env=$t/env/bin/python
else
  run_json plan torch-scatter --source torch-scatter==2.1.2 --variant cuda --arch 9.0 "${torch[@]}" --python "$python"
  new_environment "torch==$(json 'steps[-1].torch_version.split("+")[0]')" numpy
fi
"$env" -m pip install -q --disable-pip-version-check --no-index --no-deps "$wheel"
cd /
"$env" -c "$scatter_sum" cuda
