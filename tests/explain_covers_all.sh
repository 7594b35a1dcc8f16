#!/bin/bash
# `check --explain` knows every finding that the sources can produce.
. "$(dirname "$0")/common.inc"
src=$tests/../src

# Ids are literals; these prefixes are unique to them, except build-id (ELF), dist-info-metadata (project pages),
# rocm-version (ROCm's manifest) and rocm-sdk-core (a package).
kinds='zip|elf|metadata|wheel|record|tag|platform|symbol|torch|loader|arch|runpath|member|dist-info|name|gpu|build|size|purelib|binaries|needed|recipe|store|preload|rocm|index|variant'
# Only where findings are created: elsewhere such words are settings, packages and doctor's checks.
makers=("$src"/{zip,elf,pep,gpu,wheel,store,index} "$src"/run/step/{finish,check}.cc "$src"/rocm/{artifacts,look,package}.cc "$src"/rocm/layout/{layout,layout_parts}.cc)
grep -rhoE "\"($kinds)-[a-z0-9-]+\"" "${makers[@]}" --include='*.cc' --exclude='*_test.cc' --exclude-dir=testing |
  tr -d '"' | sort -u | grep -vxE 'build-id|dist-info-metadata|rocm-version|rocm-sdk-core' >"$t/ids"
count=$(wc -l <"$t/ids")
((count > 100)) || fail "only $count ids found: does the pattern still fit the sources?"

# An id of a new kind would escape the pattern: a literal before a severity is an id too.
grep -rhozE '"[a-z0-9]+(-[a-z0-9]+)+",\s+([a-z_>.-]+ \? )?Severity::' "$src" --include='*.cc' --exclude='*_test.cc' |
  tr '\0' '\n' | grep -oE '"[a-z0-9-]+"' | tr -d '"' | sort -u >"$t/found"
[[ -s $t/found ]]
expect "" "$(comm -13 "$t/ids" "$t/found")" "ids of a kind that this script does not know"

unexplained=()
while read -r id; do
  run check --explain "$id"
  [[ $status -eq 0 && $(wc -w <"$t/out") -gt 5 ]] || unexplained+=("$id")
done <"$t/ids"
expect "" "${unexplained[*]}" "findings that --explain does not know"

echo "$count findings are explained"
