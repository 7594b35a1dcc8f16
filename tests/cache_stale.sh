#!/bin/bash
# The compile cache never delivers an object that the compiler would not produce: random changes of one input at a time.
source "$(dirname "$0")/common.inc"
need gcc
source "$tests/governor.inc"
export PATH=${PATH#"$t/real:"}
for name in $(compgen -e CCACHE_ || true); do unset "$name"; done
python3 "$tests/cache_stale.py" "$wheelsmith" "$t/work" "${ROUNDS:-60}"
# The parts of nvcc. An architecture takes a second, so there are few rounds here; tests/proof/gpu_parts.sh has many.
if command -v nvcc >/dev/null; then
  toolkit=$(realpath "$(nvcc -dryrun -x cu -c /dev/null -o /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p')")
  python3 "$tests/gpu_parts_stale.py" "$wheelsmith" "$t/parts" "$toolkit" "${PART_ROUNDS:-4}"
fi
