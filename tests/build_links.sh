#!/bin/bash
# A recipe's files are never written through links in the source to other folders.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
small_package "$t"
cd "$t"
mkdir outside
ln -s "$t/outside" recipes/small/link
printf '\n[build.files]\n"link/written.txt" = "text"\n' >>recipes/small.toml
run_json build small
expect "1 failed" "$status $(json 'steps[0].outcome')"
[[ $(json 'steps[0].cause') == *"link/written.txt"*"outside its tree"* ]] || fail "$(json 'steps[0].cause')"
expect "" "$(ls outside)" "what was written outside"

# A link that stays inside is allowed.
rm recipes/small/link
ln -s small recipes/small/link
run_json build small
expect "0 built" "$status $(json 'steps[0].outcome')"
