#!/bin/bash
# Treemaps of wheels, opened and used in a headless Chromium: no errors, no requests, screenshots in PICTURES (default:
# build/proof/treemap).
#   WHEELSMITH=… tests/proof/treemap.sh WHEEL…
source "$(dirname "$0")/../common.inc"
need chromium
pictures=${PICTURES:-$tests/../build/proof/treemap}
[[ $# -gt 0 ]] || skip "names no wheel"
pages=()
for wheel; do
  page=$t/$(basename "$wheel" .whl).html
  run inspect "$wheel" --html "$page"
  expect 0 "$status" "$(<"$t/err")"
  pages+=("$page")
done
python3 "$tests/proof/treemap_browser.py" "$pictures" "${pages[@]}"
