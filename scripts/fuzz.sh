#!/bin/bash
# Fuzzes each target for SECONDS_EACH seconds, two at a time, and adds inputs that reach new code to fuzz/corpus/X.hex.
# An input that crashes, hangs or uses too much memory stays in build/fuzz-crashes and is printed.
#   scripts/fuzz.sh [TARGET…]      (make fuzz builds the targets first)
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${SECONDS_EACH:-600}
crashes=build/fuzz-crashes
mkdir -p "$crashes" build/fuzz-corpus

fuzz_one() {
  local name=$1 program=build/fuzz/bin/fuzz_$1 corpus=build/fuzz-corpus/$1 hex=fuzz/corpus/$1.hex
  local options=(-timeout=10 -rss_limit_mb=2048 -max_len=4096 -verbosity=1 -print_final_stats=1 "-artifact_prefix=$crashes/$name-")
  local log=build/fuzz-corpus/$name.log status=0
  python3 scripts/corpus.py unpack "$hex" "$corpus"
  "$program" "${options[@]}" "-max_total_time=$seconds" "$corpus" >"$log" 2>&1 || status=$?
  if [[ $status -ne 0 ]]; then
    grep -E 'ERROR|SUMMARY|runtime error|Test unit written' "$log" | sed "s/^/$name: /"
    return 1
  fi
  # From all findings, keep those that add coverage to the hand-written inputs.
  rm -rf "$corpus.merged"
  python3 scripts/corpus.py unpack-written "$hex" "$corpus.merged"
  "$program" -merge=1 -max_len=4096 "$corpus.merged" "$corpus" >"$log.merge" 2>&1 || { tail -20 "$log.merge"; return 1; }
  echo "$name: $(sed -n 's/stat::number_of_executed_units: *//p' "$log") runs; $(python3 scripts/corpus.py pack "$hex" "$corpus.merged")"
}
export -f fuzz_one
export seconds crashes

targets=("$@")
if [[ ${#targets[@]} -eq 0 ]]; then
  for source in fuzz/*.cc; do
    name=$(basename "$source" .cc)
    [[ $name == replay_main ]] || targets+=("$name")
  done
fi
echo "fuzzing ${targets[*]}: $seconds s each, two at a time"
# xargs exits with 123 when one target failed, after all have finished.
printf '%s\n' "${targets[@]}" | xargs -P 2 -I {} bash -c 'set -euo pipefail; fuzz_one {}' || {
  echo "fuzz: failed; see the inputs in $crashes"
  exit 1
}
