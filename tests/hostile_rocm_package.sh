#!/bin/bash
# Artifacts of somebody who means harm: `rocm package` refuses them or leaves the harm out, and nothing gets out of its folders.
source "$(dirname "$0")/common.inc"
python3 "$tests/hostile_sets/rocm_package.py" "$wheelsmith" "$t/sets" || fail "see above"
