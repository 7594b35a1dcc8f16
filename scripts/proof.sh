#!/bin/bash
# Runs the proofs in tests/proof: long comparisons with other tools on real wheels, too heavy for `make test`. The
# wheels (4 GB) are downloaded once into build/proof-wheels; WHEELS=FOLDER uses another folder and downloads nothing.
#   scripts/proof.sh [PROOF]…
set -euo pipefail
cd "$(dirname "$0")/.."
export WHEELSMITH=$PWD/build/wheelsmith TESTS_PYTHON=$PWD/build/tools/bin/python AUDITWHEEL=${AUDITWHEEL:-$PWD/build/tools/bin/auditwheel}
if [[ -z ${WHEELS:-} ]]; then
  WHEELS=$PWD/build/proof-wheels
  tests/proof/fetch_wheels.sh "$WHEELS"
  tests/proof/fetch_wheels.sh "$WHEELS/repair" tests/proof/repair.tsv
fi
export WHEELS PROOF_WHEELS=$WHEELS

proofs=("$@")
[[ $# -gt 0 ]] || for script in tests/proof/*.sh; do
  # Two take over an hour each (`make proof-flash`); flash_gpu skips itself without a GPU.
  [[ $script == */fetch_wheels.sh || $script == */flash_cuda.sh || $script == */governor_flash.sh ]] || proofs+=("$(basename "$script" .sh)")
done

failed=0
summary=()
mkdir -p build/proof
for proof in "${proofs[@]}"; do
  echo "== $proof"
  status=0
  TESTS_OUT=$PWD/build/proof/$proof.files bash "tests/proof/$proof.sh" 2>&1 | tee "build/proof/$proof.log" || status=$?
  rm -rf "build/proof/$proof.files"
  case $status in
    0) verdict=proved ;;
    77) verdict=skipped ;;
    *) verdict=FAILED failed=$((failed + 1)) ;;
  esac
  # The counts a proof reports: its lines with "N of M".
  counts=$(grep -oE '[0-9]+ of [0-9]+ [a-z]+( [a-z]+)?' "build/proof/$proof.log" |
    awk '{ unit = $4 (NF > 4 ? " " $5 : ""); n[unit] += $1; m[unit] += $3 } END { for (u in n) printf "%s%d of %d %s", s++ ? ", " : "", n[u], m[u], u }' || true)
  summary+=("$(printf '%-9s %-16s %s' "$verdict" "$proof" "$counts")")
done
echo "== summary"
printf '%s\n' "${summary[@]}"
[[ $failed -eq 0 ]]
