#!/bin/bash
# Changes one byte of one file of the store, 1,000 times at random (set COUNT and SEED to change that): store verify
# detects each, and the same command always produces the same wheels.
source "$(dirname "$0")/../common.inc"
need git python3
python3 "$tests/proof/store_trials.py" flips "$wheelsmith" "$t/trials" --count "${COUNT:-1000}" ${SEED:+--seed "$SEED"}
