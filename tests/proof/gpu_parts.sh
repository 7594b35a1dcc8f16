#!/bin/bash
# nvcc in parts, at length: many rounds of changes, each compared with nvcc itself; and a unit with torch's headers, whose
# device code must be nvcc's after one architecture was added (bench/reuse.py). Two hours of nvcc on two cores.
#   PART_ROUNDS=200   PROOF_ROWS="scatter flash"
source "$(dirname "$0")/../common.inc"
need nvcc nm objcopy
source "$tests/governor.inc"
PATH=${PATH#"$t/real:"}
toolkit=$(realpath "$(nvcc -dryrun -x cu -c /dev/null -o /dev/null 2>&1 | sed -n 's/^#\$ TOP=//p')")
python3 "$tests/gpu_parts_stale.py" "$wheelsmith" "$t/parts" "$toolkit" "${PART_ROUNDS:-200}"
status=0
# shellcheck disable=SC2086
WHEELSMITH=$wheelsmith CACHE=$t/inputs RIVALS=${RIVALS:-off} python3 "$tests/../bench/reuse.py" ${PROOF_ROWS:-scatter flash} | tee "$t/reuse" || status=$?
! grep -q OTHER "$t/reuse" || fail "other device code than nvcc's"
expect 0 "$status" "one architecture more"
