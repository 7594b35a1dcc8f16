#!/bin/bash
# A folder that others put wheels into: pages of `index` and `serve` hold nothing of them but text, and no address leads out.
source "$(dirname "$0")/common.inc"
python3 "$tests/hostile_sets/index.py" "$wheelsmith" "$t/sets" || fail "see above"
