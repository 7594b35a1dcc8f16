#!/bin/bash
# Treemaps of wheels, opened and used in a headless Chromium: no errors, no requests, screenshots in PICTURES (default:
# build/proof/treemap).
#   WHEELSMITH=… tests/proof/treemap.sh [WHEEL…]
# Without wheels: one made on the spot, and the three largest of PROOF_WHEELS.
source "$(dirname "$0")/../common.inc"
need chromium
pictures=${PICTURES:-$tests/../build/proof/treemap}
cd "$t"
if [[ $# == 0 ]]; then
  make_extension demo.so
  for i in {1..9}; do head -c "${i}0000" /dev/urandom >"$i.bin"; done
  demo_wheel demo-1.0-cp311-cp311-linux_x86_64.whl demo.so demo/data/{1,2,3}/x.bin=1.bin demo/data/{a,b}/{c,d}/y.bin=9.bin demo/{2,3,4,5}.bin=5.bin
  set -- demo-1.0-cp311-cp311-linux_x86_64.whl
  [[ -z ${PROOF_WHEELS:-} ]] || while IFS= read -r wheel; do set -- "$@" "$wheel"; done < <(ls -S "$PROOF_WHEELS"/*.whl 2>/dev/null | head -n 3)
fi
pages=()
for wheel; do
  page=$t/$(basename "$wheel" .whl).html
  run inspect "$wheel" --html "$page"
  expect 0 "$status" "$(<"$t/err")"
  pages+=("$page")
done
python3 "$tests/proof/treemap_browser.py" "$pictures" "${pages[@]}"
