#!/bin/bash
# Random keep-sets on the CUDA libraries of wheels in a folder: kept entries are byte-identical, no GPU loses its code, and
# cuobjdump agrees. The libraries are NVIDIA's and torch's; the copies are removed.
#   WHEELSMITH=… tests/proof/slim.sh FOLDER [ROUNDS [MOST LIBRARIES]]
set -euo pipefail
folder=${1:-${WHEELS:-}}
rounds=${2:-5}
most=${3:-20}
if [[ -z $folder ]]; then
  echo "skipped: needs a folder of wheels"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
judge=${CUOBJDUMP:-$(command -v cuobjdump || true)}
libraries=()
for wheel in "$folder"/torch-[0-9]*.whl "$folder"/nvidia_*.whl; do
  [[ -e $wheel ]] || continue
  name=$(basename "$wheel" .whl)
  unzip -q -o "$wheel" '*.so*' -d "$work/$name" 2>/dev/null || continue
  while IFS= read -r library; do
    if readelf -SW "$library" 2>/dev/null | grep -q '\.nvFatBinSegment'; then libraries+=("$library"); fi
  done < <(find "$work/$name" -type f -name '*.so*' -size +100k | sort)
done
((${#libraries[@]} > 0)) || { echo "skipped: no library with CUDA code in $folder"; exit 77; }
python3 "$(dirname "$0")/slim.py" "$WHEELSMITH" "$judge" "$rounds" "${libraries[@]:0:$most}"
