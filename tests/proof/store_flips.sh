#!/bin/bash
# One byte of one file of the store is changed, 1,000 times at random (COUNT and SEED choose otherwise): store verify finds each, and the same
# command always ends in the same wheels.
source "$(dirname "$0")/../common.inc"
need git python3
python3 "$tests/proof/store_trials.py" flips "$wheelsmith" "$t/trials" --count "${COUNT:-1000}" ${SEED:+--seed "$SEED"}
