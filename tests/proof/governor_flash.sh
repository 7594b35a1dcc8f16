#!/bin/bash
# 12 units of the real flash-attn, forward and backward with head sizes 64 to 256, for one architecture: the package's
# own rule for MAX_JOBS, MAX_JOBS=1 and 2, and the governor, before and after it has learned the units; in a memory
# cgroup of 9 GB and then without a limit. Two hours of nvcc on two cores. If the package's rule gives a number that is
# measured anyway, it is reported instead of measured twice.
#   PROOF_LIMITS="9000 0" (MB; 0: none), PROOF_RUNS="own 1 2 first second"
#   PROOF_UNITS: a folder of what another machine has learned; then "second" needs no "first"
#   PROOF_ENV, PROOF_TOOLKIT, PROOF_SOURCE: an environment with torch, a CUDA toolkit and the unpacked sdist, where they are at hand
source "$(dirname "$0")/build.inc"
torch=${PROOF_TORCH:-2.11.0}
arch=${PROOF_ARCH:-9.0}
store=$WHEELSMITH_STORE
source "$tests/governor.inc" # a store of its own: nothing is known of these units
need pgrep
PATH=${PATH#"$t/real:"} # the real gcc
need_cgroup || skip "no memory cgroup may be made here"

# All runs use what wheelsmith prepares for the package up to its first compile.
if [[ -z ${PROOF_ENV:-} ]]; then
  rm -rf "$store"/trees/flash-attn-cuda-*
  WHEELSMITH_STORE=$store "$wheelsmith" build flash-attn --variant cuda --arch "$arch" --torch "$torch" --python "$python" >"$t/build.log" 2>&1 &
  building=$!
  until pgrep -f "$store.*flash_.*cicc|cicc.*flash_" >/dev/null; do
    kill -0 "$building" || { cat "$t/build.log" >&2; fail "flash-attn did not come to its first compile"; }
    sleep 1
  done
  kill "$building"
  wait "$building" || true
  PROOF_ENV=$(ls -td "$store"/envs/*/ | head -n 1) PROOF_TOOLKIT=$(ls -td "$store"/toolkits/*/ | head -n 1)
  PROOF_SOURCE=$(dirname "$(find "$store"/trees/flash-attn-cuda-* -name setup.py -path '*flash_attn*' | head -n 1)")
fi

units=()
for head in 64 96 128 192 256; do units+=("fwd_hdim${head}_bf16" "bwd_hdim${head}_bf16"); done
units+=(fwd_hdim128_bf16_causal bwd_hdim128_bf16_causal)
# The sources that setup.py lists, reduced to these.
fresh() {
  rm -rf "$t/tree"
  mkdir "$t/tree"
  cp -r "$PROOF_SOURCE"/{setup.py,flash_attn,csrc,README.md} "$t/tree"
  python3 - "$t/tree/setup.py" "${units[@]}" <<'END'
import re, sys
text = open(sys.argv[1]).read()
kept = {f"csrc/flash_attn/src/flash_{unit}_sm80.cu" for unit in sys.argv[2:]}
named = re.findall(r'"(csrc/flash_attn/(?:src/\w+\.cu|flash_api\.cpp))",\n', text)
assert kept <= set(named), kept - set(named)
for name in set(named) - kept:
    text = re.sub(r' *"%s",\n' % re.escape(name), "", text)
open(sys.argv[1], "w").write(text)
END
}
export CUDA_HOME=$PROOF_TOOLKIT FLASH_ATTENTION_FORCE_BUILD=TRUE NVCC_THREADS=1 FLASH_ATTN_CUDA_ARCHS=${arch//./}
export PATH=$PROOF_ENV/bin:$PATH PYTHONDONTWRITEBYTECODE=1
# The package queries psutil, which reports the machine's memory, whatever the cgroup allows.
"$PROOF_ENV/bin/python" -c 'import psutil' 2>/dev/null || {
  mkdir "$t/psutil"
  "$interpreter" -m pip install -q --target "$t/psutil" --only-binary :all: --python-version "$("$PROOF_ENV/bin/python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')" psutil
  export PYTHONPATH=$t/psutil
}

build_ext() { cd "$t/tree" && python setup.py build_ext; }
export -f build_ext
export t
# The -j that the package passes to ninja.
own_rule() {
  mkdir -p "$t/ask"
  printf '#!/bin/bash\n[[ $1 == -v ]] || exec %q "$@"\necho "$@" >%q\nexit 1\n' "$(command -v ninja)" "$t/ask/said" >"$t/ask/ninja"
  chmod +x "$t/ask/ninja"
  fresh
  PATH=$t/ask:$PATH in_limit "$1" bash -c build_ext >"$t/ask/log" 2>&1 || true
  grep -o -e '-j [0-9]*' "$t/ask/said" | cut -d ' ' -f 2
}
# one NAME LIMIT COMMAND…
one() {
  local name=$1 limit=$2 start before verdict=finished
  fresh
  start=$(date +%s%N)
  forget_peak
  before=$(kills)
  local TIMEFORMAT='%U + %S' used
  used=$({ time in_limit "$limit" "${@:3}" >"$t/$name.log" 2>&1; } 2>&1) || verdict="failed with $?"
  [[ $verdict == finished ]] || tail -n 3 "$t/$name.log" >&2
  local objects
  objects=$(find "$t/tree/build" -name 'flash_*.o' | wc -l)
  echo "$name: $verdict, $(python3 -c "print(f'{($(date +%s%N) - $start) / 6e10:.1f} min, {($used) / 60:.1f} min of the processors')"), $objects of ${#units[@]} objects, $(($(kills) - before)) kills by the kernel, at most $(peak_MB) MB with the page cache, load $(cut -d ' ' -f 1 /proc/loadavg)"
  grep '^wheelsmith: ' "$t/$name.log" | tail -n 1 || true
}
for limit in ${PROOF_LIMITS:-9000 0}; do
  echo "limit: $limit MB (0: none), $(nproc) cores"
  ((limit > 0)) || limit=1000000
  rm -rf "$WHEELSMITH_STORE/units"
  [[ -z ${PROOF_UNITS:-} ]] || install -D -m 644 "$PROOF_UNITS"/*.tsv -t "$WHEELSMITH_STORE/units"
  for run in ${PROOF_RUNS:-first second 2 1 own}; do
    case $run in
      own)
        own=$(own_rule "$limit")
        echo "own-rule: MAX_JOBS=$own"
        [[ $own == [12] ]] || MAX_JOBS=$own one "own-rule" "$limit" bash -c build_ext
        ;;
      1 | 2) MAX_JOBS=$run one "MAX_JOBS=$run" "$limit" bash -c build_ext ;;
      first | second)
        one "ours-$run" "$limit" "$wheelsmith" run --log "$t/record-$limit-$run" -- bash -c build_ext
        pid=$(governor_pid)
        [[ -z $pid ]] || kill "$pid" # it remembers what it has learned
        ;;
    esac
  done
done
