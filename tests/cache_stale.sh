#!/bin/bash
# The compile cache never delivers an object that the compiler would not produce: random changes of one input at a time.
source "$(dirname "$0")/common.inc"
need gcc
source "$tests/governor.inc"
export PATH=${PATH#"$t/real:"}
for name in $(compgen -e CCACHE_ || true); do unset "$name"; done
python3 "$tests/cache_stale.py" "$wheelsmith" "$t/work" "${ROUNDS:-60}"
