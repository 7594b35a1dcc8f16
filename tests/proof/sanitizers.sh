#!/bin/bash
# The unit tests of sys (with the sandbox), store and governor (with the compile cache) under the thread sanitizer, and
# under the address and undefined-behaviour sanitizers.
. "$(dirname "$0")/../common.inc"
cd "$tests/.."
modules=(sys store governor)
count=0
for preset in tsan asan; do
  scripts/configure.sh "$preset" >"$t/configure.log" 2>&1 || fail "$(tail "$t/configure.log")"
  cmake --build "build/$preset" --target "${modules[@]/%/_test}" >"$t/build.log" 2>&1 || fail "$(tail "$t/build.log")"
  for module in "${modules[@]}"; do
    # The thread sanitizer turns vfork into fork; this test needs vfork's shared memory.
    filter=$([[ $preset == tsan ]] && echo '-Foreground.WhatCannotBeStartedSaysWhy' || echo '*')
    "build/$preset/bin/${module}_test" --gtest_filter="$filter" >"$t/$preset-$module.log" 2>&1 || fail "$preset, $module: $(tail -n 40 "$t/$preset-$module.log")"
    ! grep -E 'WARNING: ThreadSanitizer|ERROR: AddressSanitizer|runtime error:' "$t/$preset-$module.log" || fail "$preset, $module"
    count=$((count + 1))
  done
done
echo "$count of 6 runs without a report"
