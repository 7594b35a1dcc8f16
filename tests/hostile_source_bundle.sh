#!/bin/bash
# Bundles of sources that somebody made by hand: `checkout --unbundle` refuses them before the store changes.
source "$(dirname "$0")/common.inc"
need git
python3 "$tests/hostile_sets/source_bundle.py" "$wheelsmith" "$t/sets" || fail "see above"
