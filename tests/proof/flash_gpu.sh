#!/bin/bash
# flash-attn from its sdist with the interpreter's torch, nothing downloaded (--no-build-isolation --offline), for the
# local GPU; then compared with torch's own attention on it. For a machine with an NVIDIA GPU, a CUDA toolkit and a
# matching torch; 26 minutes on 16 cores.
#   PROOF_SDIST=FILE (flash_attn-2.8.3.tar.gz), PROOF_ARCH=9.0, PROOF_CXX=/usr/bin/g++ (and the gcc beside it)
source "$(dirname "$0")/../common.inc"
command -v nvidia-smi >/dev/null || skip "no NVIDIA GPU here"
[[ -f ${PROOF_SDIST:-} ]] || skip "PROOF_SDIST names no sdist of flash-attn"
arch=${PROOF_ARCH:-9.0}
cxx=${PROOF_CXX:-/usr/bin/g++}
export WHEELSMITH_STORE=$t/store WHEELSMITH_OUT=$t/wheelhouse
kills() { awk '/^oom_kill /{ print $2 }' /proc/vmstat; }
before=$(kills)
started=$SECONDS
run_json build flash-attn --source "flash-attn=$PROOF_SDIST" --no-build-isolation --offline --variant cuda --arch "$arch" \
  --cc "${cxx/g++/gcc}" --cxx "$cxx" --cache off
expect 0 "$status" "$(tail -n 20 "$t/err")"
echo "built in $((SECONDS - started)) s"
expect pass "$(json 'steps[0].tests[1].outcome')" "the recipe's test on the GPU"
wheel=$(json 'steps[0].wheel')
expect "$before" "$(kills)" "processes that the kernel ended for lack of memory"
"$wheelsmith" report --json >"$t/report.json"
json 'summary' "$t/report.json"
run check "$wheel" --arch "$arch"
expect 0 "$status" "$(cat "$t/out")"
python3 -m pip install -q --no-index --no-deps --target "$t/site" "$wheel"
PYTHONPATH=$t/site python3 "$tests/proof/flash_gpu.py"
