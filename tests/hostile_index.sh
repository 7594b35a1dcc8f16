#!/bin/bash
# A folder with untrusted wheels: pages of `index` and `serve` contain only their text, and no URL leaves the folder.
source "$(dirname "$0")/common.inc"
python3 "$tests/hostile_sets/index.py" "$wheelsmith" "$t/sets" || fail "see above"
