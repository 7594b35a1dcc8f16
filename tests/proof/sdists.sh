#!/bin/bash
# Twenty source archives of the package index, chosen at random among popular packages with C, C++, Cython, Rust, Fortran and Meson:
# `wheelsmith build` must succeed where `pip wheel` does. Where both fail the answer is printed: does it name what is missing?
#   tests/proof/sdists.sh [SEED [COUNT]]
# SDISTS="name name" builds these instead. A build may take $LIMIT seconds (360); one that takes longer in pip is left out.
seed=${1:-${SEED:-17}} count=${2:-20}
source "$(dirname "$0")/../common.inc"
limit=${LIMIT:-360}
names=${SDISTS:-$(grep -v '^#' "$tests/proof/sdists.txt" | python3 -c '
import random, sys
names = sys.stdin.read().split()
print(*random.Random(int(sys.argv[1])).sample(names, int(sys.argv[2])))' "$seed" "$count")}
echo "seed $seed: $names"
export WHEELSMITH_STORE=${PROOF_STORE:-$t/store} WHEELSMITH_OUT=$t/wheelhouse
bad=0 same=0 total=0
printf '%-20s %-8s %-11s %s\n' package pip wheelsmith "wheel or cause"
for name in $names; do
  started=$SECONDS by_pip=yes by_us=yes
  timeout "$limit" python3 -m pip wheel -q --disable-pip-version-check --no-deps --no-binary "$name" --no-cache-dir -w "$t/pip" "$name" >"$t/$name.pip" 2>&1 || by_pip=no:$?
  [[ $by_pip != no:124 ]] || { printf '%-20s over %s s in pip: left out\n' "$name" "$limit"; continue; }
  pip_took=$((SECONDS - started)) started=$SECONDS
  total=$((total + 1))
  timeout $((limit * 2)) "$wheelsmith" build "$name" --variant cpu --json >"$t/$name.json" 2>"$t/$name.err" </dev/null || by_us=no
  answer=$(python3 - "$t/$name.json" "$t/$name.err" <<'PYTHON'
import json, os, sys

try:
    document = json.load(open(sys.argv[1]))
except ValueError:
    print(open(sys.argv[2]).read()[-300:].replace("\n", " "))
    raise SystemExit
steps = document.get("steps") or [{}]
step = steps[-1]
found = step.get("diagnosis") or {}
print(os.path.basename(step.get("wheel") or "") or " | ".join(filter(None, [found.get("id"), found.get("what"), found.get("fix")])) or
      step.get("cause") or json.dumps(document)[:300], end="")
print(" (the wheel was built; its test failed)" if step.get("phase") == "test" else "")
PYTHON
)
  printf '%-20s %-8s %-11s %s\n' "$name" "${by_pip%:*}, ${pip_took}s" "$by_us, $((SECONDS - started))s" "$answer"
  # pip tests nothing: a wheel that does not import is a success for it.
  [[ $answer != *"its test failed)" ]] || by_us=yes
  if [[ $by_pip == yes && $by_us == no ]]; then
    bad=$((bad + 1))
    tail -n 30 "$t/$name.err" | sed 's/^/    /'
  elif [[ ${by_pip%:*} == "$by_us" ]]; then
    same=$((same + 1))
  fi
  [[ $by_pip == yes || -z ${KEEP_LOGS:-} ]] || cp "$t/$name".{pip,json,err} "$KEEP_LOGS"
  rm -rf "$t/pip" "$t/wheelhouse"
done
echo "$same of $total packages as with pip; $bad failed here alone"
[[ $bad == 0 ]] || fail "$bad packages build with pip and not here"
