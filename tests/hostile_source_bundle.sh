#!/bin/bash
# Forged source bundles: `checkout --unbundle` rejects them before the store changes.
source "$(dirname "$0")/common.inc"
need git
python3 "$tests/hostile_sets/source_bundle.py" "$wheelsmith" "$t/sets" || fail "see above"
