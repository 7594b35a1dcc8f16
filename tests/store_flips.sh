#!/bin/bash
# A changed byte in each kind of file of the store (tests/proof/store_flips.sh changes 1,000): `store verify` detects
# it, and the same command produces the same wheels.
source "$(dirname "$0")/common.inc"
need git
python3 "$tests/proof/store_trials.py" flips "$wheelsmith" "$t/trials" --count 11 ${SEED:+--seed "$SEED"}
