#!/bin/bash
# Compares `check` with the verdicts that a person gave popular wheels (verdicts.tsv) and environments
# (environments.tsv). Wheels that are not in the folder are downloaded with pip into build/verdict-wheels (1.2 GB);
# those that the package index no longer has are counted.
#   WHEELSMITH=… tests/proof/verdicts.sh [FOLDER]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
folder=${1:-${PROOF_WHEELS:-}}
fetched=$here/../../build/verdict-wheels
mkdir -p "$fetched"
interpreter=python3
[[ ! -x ${TESTS_PYTHON:-} ]] || interpreter=$TESTS_PYTHON
work=$(mktemp -d "${TMPDIR:-/tmp}/verdicts.XXXXXX")
trap 'rm -rf "$work"' EXIT

# fetch FILE: by its name
fetch() {
  local name=${1%.whl} version python abi platform
  IFS=- read -r name version python abi platform <<<"$name"
  # A build number is between version and Python.
  [[ ! $python =~ ^[0-9] ]] || { python=$abi abi=${platform%%-*} platform=${platform#*-}; }
  python=${python##*.}
  python=${python#cp} python=${python#py}
  ((${#python} > 1)) || python=311
  "$interpreter" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: --implementation cp \
    --python-version "$python" --abi "$abi" --abi none --platform "${platform%%.*}" --dest "$fetched" "$name==$version" 2>>"$work/pip.log"
}

# judge TARGET: "bad id,id" or "good "
judge() {
  "$WHEELSMITH" check --json "$1" >"$work/out.json" || true
  python3 - "$work/out.json" <<'END'
import json, sys
item = json.load(open(sys.argv[1]))["items"][0]
errors = {f["id"] for f in item["findings"] if f["severity"] == "error"}
print(item["verdict"], ",".join(sorted(errors)), sep="\t")
END
}

right=0 wrong=0 absent=0
compare() {  # NAME, GOT, WANTED, WHY
  if [[ $2 == "$3" ]]; then
    right=$((right + 1))
  else
    wrong=$((wrong + 1))
    printf 'WRONG %s\n  wanted: %s (%s)\n  got:    %s\n' "$1" "${3//$'\t'/ }" "$4" "${2//$'\t'/ }"
  fi
}

# read treats several tabs as one, so empty columns are "-".
while IFS=$'\t' read -r wheel verdict errors why; do
  [[ -n $wheel && $wheel != \#* ]] || continue
  file=$folder/$wheel
  [[ -n $folder && -e $file ]] || file=$fetched/$wheel
  [[ -e $file ]] || fetch "$wheel" || true
  if [[ ! -e $file ]]; then
    absent=$((absent + 1))
    continue
  fi
  compare "$wheel" "$(judge "$file")" "$verdict"$'\t'"${errors#-}" "$why"
done <"$here/verdicts.tsv"
echo "$right of $((right + wrong)) wheels have the verdict that a person gave, $absent absent"

wheels_wrong=$wrong
right=0 wrong=0
while IFS=$'\t' read -r packages verdict errors why; do
  [[ -n $packages && $packages != \#* ]] || continue
  rm -rf "$work/env"
  python3 -m venv "$work/env"
  # shellcheck disable=SC2086 # several packages
  if "$work/env/bin/python" -m pip install --quiet --disable-pip-version-check $packages 2>>"$work/pip.log"; then
    compare "$packages" "$(judge "$work/env")" "$verdict"$'\t'"${errors#-}" "$why"
  else
    echo "not installed: $packages"
  fi
done <"$here/environments.tsv"
echo "$right of $((right + wrong)) environments have the verdict that a person gave"
[[ $((wheels_wrong + wrong)) -eq 0 ]]
