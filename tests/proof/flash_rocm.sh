#!/bin/bash
# flash-attn 2.8.3.post2 for ROCm in its Triton form: nothing is compiled, and one wheel works everywhere.
source "$(dirname "$0")/build.inc"

build flash-attn --variant rocm --torch 2.13.0
[[ ${wheel##*/} == flash_attn-2.8.3*-py3-none-any.whl ]] || fail "the name is ${wheel##*/}"
unzip -l "$wheel" >"$t/members"
if grep -q '\.so' "$t/members"; then fail "there is compiled code in it"; fi
grep -q 'flash_attn/flash_attn_triton_amd/' "$t/members" || fail "Triton's kernels are not in it"
expect "pass not-run" "$(json '" ".join(x.outcome for x in steps[-1].tests)')" "its tests, where no AMD GPU is"
run check "$wheel"
expect 0 "$status" "check: $(cat "$t/out")"
