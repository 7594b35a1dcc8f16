#!/bin/bash
# Hostile wheels and all corpora of the fuzzers through retag, repair, slim and diff: no crash, no output where there is an error, and the
# input stays as it is. Then both commands are killed at random: no half-written wheel appears.
. "$(dirname "$0")/common.inc"
need gcc
cd "$t"
python3 - "$tests/../fuzz/corpus" corpus <<'END_OF_PY'
import os, sys
os.mkdir(sys.argv[2])
for name in ("zip", "elf", "elf_edit", "wheel_check", "wheel_layout", "fatbin", "hip_bundle", "kpack", "slim_code", "record", "metadata"):
    with open(f"{sys.argv[1]}/{name}.hex") as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    for number, line in enumerate(lines):
        if number % max(1, len(lines) // 12) == 0:
            folder = f"{sys.argv[2]}/{name}-{number}"
            os.mkdir(folder)
            with open(f"{folder}/demo-1.0-cp311-cp311-linux_x86_64.whl", "wb") as file:
                file.write(bytes.fromhex(line.split("#")[0].strip()))
END_OF_PY
python3 "$tests/hostile_input.py" inputs >listed
count=0
while IFS= read -r wheel; do
  [[ $wheel == *.whl ]] || continue
  # The largest are for check's own test: what they cost here is copying.
  (($(stat -c %s "$wheel") < 20000000)) || continue
  sum=$(sha256sum <"$wheel")
  for command in "retag --build 1" "retag --auto" "repair" "slim --arch 9.0;gfx942"; do
    rm -rf made
    run $command "$wheel" --out made
    [[ $status != 1 || -z $(ls -A made 2>/dev/null || true) ]] || fail "$command $wheel left $(ls -A made)"
    [[ $status == 1 || -n $(ls made 2>/dev/null || true) ]] || fail "$command $wheel: status $status and no wheel"
  done
  # A file of any kind as a library.
  cp "$wheel" input.so
  rm -rf made
  run slim input.so --arch "9.0;gfx942" --out made
  [[ $status != 1 || ! -e made ]] || fail "slim of $wheel as a library left $(ls -A made)"
  run diff "$wheel" "$wheel"
  expect "$sum" "$(sha256sum <"$wheel")" "$wheel was changed"
  count=$((count + 1))
done < <(find corpus inputs -name "*.whl" | sort)
echo "$count hostile wheels"
((count > 60)) || fail "only $count inputs"

# --- killed at random -----------------------------------------------------------------------------------------------------
make_extension demo.so
head -c 8000000 /dev/urandom >data.bin
demo_wheel demo-1.0-cp311-cp311-linux_x86_64.whl demo.so demo/data.bin=data.bin
sum=$(sha256sum <demo-1.0-cp311-cp311-linux_x86_64.whl)
mkdir killed
echo "seed ${RANDOM_SEED:=$$}"
RANDOM=$RANDOM_SEED
for ((i = 0; i < 25; i++)); do
  command=retag
  ((i % 2)) && command=repair
  extra=
  [[ $command == retag ]] && extra=--auto
  { timeout -s KILL "0.$((RANDOM % 60 + 10))" "$wheelsmith" $command demo-1.0-cp311-cp311-linux_x86_64.whl $extra --out killed || true; } >/dev/null 2>&1
  for made in killed/*.whl; do
    [[ ! -e $made ]] || python3 -m zipfile -t "$made" >/dev/null || fail "$made is half a wheel"
  done
done
expect "$sum" "$(sha256sum <demo-1.0-cp311-cp311-linux_x86_64.whl)" "the input was changed"
run retag demo-1.0-cp311-cp311-linux_x86_64.whl --auto --out killed
expect 0 $status
