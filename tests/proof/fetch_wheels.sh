#!/bin/bash
# Downloads the wheels of wheels.tsv (or of the given list) into a folder, for the proofs that compare our results with
# other tools on real wheels. Existing files are not downloaded again; wheels that the package index no longer has are
# counted.
#   tests/proof/fetch_wheels.sh FOLDER [LIST]
set -euo pipefail

folder=${1:?usage: fetch_wheels.sh FOLDER [LIST]}
list=${2:-$(dirname "$0")/wheels.tsv}
mkdir -p "$folder"
# Debian's Python has no pip; the environment of the test tools has one.
interpreter=python3
[[ ! -x ${TESTS_PYTHON:-} ]] || interpreter=$TESTS_PYTHON

fetched=0 kept=0 missing=0
while IFS=$'\t' read -r name version python abi platform; do
  [[ -z $name || $name == \#* ]] && continue
  # File names differ in case and in '_' for '-'.
  present=$(find -L "$folder" -maxdepth 1 -iname "${name//-/_}-$version-*$platform*.whl" \
    \( -name "*-$abi-*" -o -name "*-none-*" \) | head -1)
  if [[ -n $present ]]; then
    kept=$((kept + 1))
  elif "$interpreter" -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
      --implementation cp --python-version "$python" --abi "$abi" --abi none --platform "$platform" \
      --dest "$folder" "$name==$version" 2>>"$folder/fetch.log"; then
    fetched=$((fetched + 1))
  else
    missing=$((missing + 1))
    echo "not there: $name $version $python $abi $platform"
  fi
done < "$list"
echo "$fetched fetched, $kept already there, $missing not there"
