#!/bin/bash
# Compares the NVIDIA code that `inspect` lists with `cuobjdump --list-elf --list-ptx`, file by file, for wheels that
# contain much of it. cuobjdump comes from $CUOBJDUMP, from PATH, or from the Triton wheel in the folder.
#   WHEELSMITH=… tests/proof/gpu_listing.sh FOLDER
set -euo pipefail

folder=${1:-${WHEELS:-}}
here=$(dirname "$0")
if [[ -z $folder ]]; then
  echo "skipped: needs a folder of wheels"
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
judge=${CUOBJDUMP:-$(command -v cuobjdump || true)}
triton=$(compgen -G "$folder/triton-*.whl" | head -n 1 || true)
if [[ -z $judge && -n $triton ]]; then
  unzip -q -j "$triton" 'triton/backends/nvidia/bin/cuobjdump' -d "$work"
  chmod +x "$work/cuobjdump"
  judge=$work/cuobjdump
fi
if [[ -z $judge ]]; then
  echo "skipped: no cuobjdump"
  exit 77
fi

status=77
for pattern in torch fbgemm_gpu vllm bitsandbytes xformers; do
  for wheel in "$folder/$pattern"-[0-9]*.whl; do
    [[ -e $wheel ]] || continue
    [[ $status -eq 77 ]] && status=0
    "$WHEELSMITH" inspect --json "$wheel" > "$work/ours.json"
    python3 "$here/gpu_listing.py" "$wheel" "$work/ours.json" "$judge" "$work" || status=1
  done
done
[[ $status -eq 77 ]] && echo "skipped: no wheel with NVIDIA code in the folder"
exit $status
