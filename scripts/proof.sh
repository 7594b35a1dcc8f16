#!/bin/bash
# Runs the proofs of tests/proof: long comparisons with other tools on real wheels, too heavy for `make test`.
set -euo pipefail
cd "$(dirname "$0")/.."
export WHEELSMITH=$PWD/build/wheelsmith TESTS_PYTHON=$PWD/build/tools/bin/python WHEELS=${WHEELS:-$PWD/build/proof-wheels}

failed=0
for proof in tests/proof/*.sh; do
  name=$(basename "$proof" .sh)
  [[ $name == fetch_wheels ]] && continue  # a helper of the others
  echo "== $name"
  status=0
  bash "$proof" || status=$?
  case $status in
    0) ;;
    77) echo "skipped" ;;
    *) failed=$((failed + 1)) ;;
  esac
done
[[ $failed -eq 0 ]] || { echo "$failed proofs failed"; exit 1; }
