#!/bin/bash
# The store's disk is full: at 30 sizes, and 30 times when a step enters one of its phases. Once there is space, the
# same command succeeds. Needs root for a tmpfs.
source "$(dirname "$0")/../common.inc"
need git python3
unshare -m true 2>/dev/null || skip "no mount namespace may be made here"
unshare -m python3 "$tests/proof/store_trials.py" full "$wheelsmith" "$t/trials" --count "${COUNT:-30}" ${SEED:+--seed "$SEED"}
