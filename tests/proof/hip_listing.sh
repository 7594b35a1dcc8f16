#!/bin/bash
# The HIP code objects of the ROCm libraries in the bitsandbytes wheel of the package index: for each library our
# targets, counts and unpacked sizes match an independent reader and, where it works, clang-offload-bundler.
#   WHEELSMITH=… tests/proof/hip_listing.sh [FOLDER]
. "$(dirname "$0")/../common.inc"
wheels=${1:-${WHEELS:-}}
need objcopy zstd unzip python3
bundler=$(command -v clang-offload-bundler-19 || true)
wheel=$(compgen -G "$wheels/bitsandbytes-*.whl" | head -n 1 || true)
[[ -n $wheels && -n $wheel ]] || skip "no bitsandbytes wheel in the folder"
unzip -q -j "$wheel" '*rocm*.so' -d "$t/libraries" || skip "no ROCm library in $wheel"

run_json inspect "$wheel"
total=0 agree=0 objects=0
for library in "$t"/libraries/*.so; do
  name=${library##*/}
  objcopy -O binary --only-section=.hip_fatbin "$library" "$t/section"
  python3 "$tests/proof/hip_listing.py" "$t/section" $bundler >"$t/judged" 2>"$t/notes" || fail "$name: $(<"$t/notes")"
  awk '{ count[$1]++; bytes[$1] += $2 } END { for (arch in count) print arch, count[arch], bytes[arch] }' "$t/judged" | sort >"$t/theirs"
  json "[f'{g.arch} {g.count} {g.unpacked_bytes}' for e in items[0].elf if e.path.endswith('/$name') for g in e.gpu]" | sort >"$t/ours"
  total=$((total + 1)) objects=$((objects + $(wc -l <"$t/judged")))
  [[ -s $t/theirs ]] || fail "$name: the judge finds nothing"
  if cmp -s "$t/theirs" "$t/ours"; then
    agree=$((agree + 1))
    echo "  $name: same, $(cut -d' ' -f1 "$t/ours" | wc -l) targets, $(<"$t/notes")"
  else
    echo "  $name: DIFFERENT"
    diff "$t/theirs" "$t/ours" | sed 's/^/    /' || true
  fi
done
echo "$agree of $total libraries agree, $objects code objects"
[[ $agree -eq $total ]]
