#!/bin/bash
# kill -9 at 200 random moments over all phases: the same command then produces the same wheels, and nothing is left in
# /tmp.
source "$(dirname "$0")/../common.inc"
need git python3
python3 "$tests/proof/store_trials.py" kills "$wheelsmith" "$t/trials" --count "${COUNT:-200}" ${SEED:+--seed "$SEED"}
