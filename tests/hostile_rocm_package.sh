#!/bin/bash
# Hostile artifacts: `rocm package` rejects or neutralizes them, and nothing leaves its folders.
source "$(dirname "$0")/common.inc"
python3 "$tests/hostile_sets/rocm_package.py" "$wheelsmith" "$t/sets" || fail "see above"
