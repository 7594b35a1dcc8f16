#!/bin/bash
# vLLM 0.9.2 from its sdist with torch 2.13.0, which it pins to another version and must not replace: the target without
# a device, and the cpu target with AVX2 only, which compiles everything except oneDNN (about 15 minutes on two cores).
source "$(dirname "$0")/build.inc"
need cmake g++
common=(vllm --source vllm==0.9.2 --variant cpu --torch 2.13.0)

build "${common[@]}" --target empty
[[ ${wheel##*/} == vllm-0.9.2+empty-py3-none-any.whl ]] || fail "the name is ${wheel##*/}"
expect pass "$(json '" ".join(x.outcome for x in steps[-1].tests)')" "its tests"
unzip -p "$wheel" '*.dist-info/METADATA' >"$t/metadata"
if grep -iE '^Requires-Dist: *(torch|torchvision|torchaudio|triton|xformers)([^a-z]|$)' "$t/metadata"; then fail "it binds torch"; fi
grep -q '^Requires-Dist: transformers' "$t/metadata" || fail "requirements that have nothing to do with torch are gone"
run check "$wheel"
expect 0 "$status" "check: $(cat "$t/out")"

# numa.h of the machine, or of its package unpacked here, which only the compiler knows about.
more=()
if [[ ! -e /usr/include/numa.h ]]; then
  run_json doctor "${common[@]}" --target default --set avx512=off
  expect "bad apt-get install libnuma-dev" "$(json '[c.state + " " + c.fix for c in checks if c.id == "numa"][0]')" "doctor"
  mkdir -p "$t/numa"
  (cd "$t/numa" && apt-get download libnuma-dev && dpkg -x libnuma-dev_*.deb .) >"$t/numa.log" 2>&1 || skip "libnuma-dev is not available"
  ln -sf "$(ldconfig -p | sed -n 's/.*libnuma.so.1 .* => //p' | head -n 1)" "$t/numa/libnuma.so"
  more=(--despite-doctor --env "CPATH=$t/numa/usr/include" --env "LIBRARY_PATH=$t/numa")
fi
build "${common[@]}" --target default --set avx512=off "${more[@]}"
[[ ${wheel##*/} == vllm-0.9.2+cpu-cp3*-linux_x86_64.whl || ${wheel##*/} == vllm-0.9.2+cpu-cp3*-manylinux*.whl ]] || fail "the name is ${wheel##*/}"
unzip -l "$wheel" >"$t/members"
grep -q 'vllm/_C.*\.so' "$t/members" || fail "its kernels are not in it"
expect pass "$(json '" ".join(x.outcome for x in steps[-1].tests)')" "its tests"
run check "$wheel"
expect 0 "$status" "check: $(cat "$t/out")"
