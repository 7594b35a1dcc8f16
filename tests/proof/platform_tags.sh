#!/bin/bash
# Compares the platform tag from `inspect` with auditwheel's for each wheel of a folder. auditwheel reads the host's
# libraries unless it is given an empty folder. platform_tags.known lists differences in which auditwheel is wrong
# (wheel, tab, reason); any other makes the proof fail.
#   WHEELSMITH=… [AUDITWHEEL=…] tests/proof/platform_tags.sh FOLDER
set -euo pipefail

folder=${1:-${PROOF_WHEELS:-}}
auditwheel=${AUDITWHEEL:-auditwheel}
known=$(dirname "$0")/platform_tags.known
if [[ -z $folder ]] || ! command -v "$auditwheel" > /dev/null; then
  echo "skipped: needs a folder of wheels and auditwheel"
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/empty"

# A wheel without ELF files makes auditwheel fail with an "error" document: that corresponds to our "any".
judge='import json, sys
try:
    document = json.load(open(sys.argv[1]))
except ValueError:
    print("crash")
else:
    print(document.get("overall_tag") or ("any" if "does not look like a platform wheel" in document.get("error", "") else "crash"))'
ours='import json, sys
item = json.load(open(sys.argv[1]))["items"][0]
print(item.get("platform_tag") or item.get("error", "nothing"))'

total=0 agree=0 excused=0
for wheel in "$folder"/*.whl; do
  [[ -e $wheel ]] || continue
  name=$(basename "$wheel")
  "$WHEELSMITH" inspect --json "$wheel" > "$work/ours.json" || true
  env -u LD_LIBRARY_PATH -u AUDITWHEEL_LD_LIBRARY_PATH "$auditwheel" show --json --ldpaths "$work/empty" "$wheel" \
    > "$work/theirs.json" 2> /dev/null || true
  mine=$(python3 -c "$ours" "$work/ours.json" 2> /dev/null || echo "no answer")
  theirs=$(python3 -c "$judge" "$work/theirs.json")
  total=$((total + 1))
  if [[ $mine == "$theirs" ]]; then
    agree=$((agree + 1)) verdict=same
  elif reason=$(grep -F "$name"$'\t' "$known" 2> /dev/null); then
    excused=$((excused + 1)) verdict="known: ${reason#*$'\t'}"
  else
    verdict=DIFFERENT
  fi
  printf '%-28s %-28s %s  %s\n' "$mine" "$theirs" "$name" "$verdict"
done
echo "$agree of $total agree, $excused known errors of auditwheel"
[[ $total -gt 0 && $((agree + excused)) -eq $total ]]
