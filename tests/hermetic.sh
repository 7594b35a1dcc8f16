#!/bin/bash
# The tests do not depend on their surroundings: a wheelsmith.toml in a parent folder of the checkout, the user's
# config.toml and WHEELSMITH_* variables do not affect a script that sources common.inc.
source "$(dirname "$0")/common.inc"
parent=$t/parent
mkdir -p "$parent/checkout/build/e2e" "$t/home/.config/wheelsmith"
printf 'packages = ["from-parent"]\n[mirrors]\n"https://example.org/" = "/nowhere/"\n' >"$parent/wheelsmith.toml"
printf 'jobs = "7"\n' >"$t/home/.config/wheelsmith/config.toml"
export HOME=$t/home
unset XDG_CONFIG_HOME XDG_STATE_HOME
export WHEELSMITH_MEMORY=1GB
trust "$parent"

# They do affect a command that runs there.
cd "$parent/checkout/build/e2e"
run_json config show
expect "0 from-parent 7 1GB" "$status $(json 'settings.packages.value[0] + " " + settings.jobs.value + " " + settings.memory.value')"
[[ $(json 'list(settings)') == *mirrors* ]] || fail "no mirrors: $(cat "$t/out")"

cat >"$parent/script.sh" <<SH
source "$tests/common.inc"
cd "\$t"
run_json config show
json 'sorted({one["origin"] for one in settings.values()})'
SH
expect default "$(TESTS_OUT=$parent/checkout/build/e2e/script bash "$parent/script.sh")" "origins of the settings of a test"
# A whole test, which relies on the absence of settings.
TESTS_OUT=$parent/checkout/build/e2e/exit_codes bash "$tests/exit_codes.sh" >"$t/log" 2>&1 || fail "$(cat "$t/log")"
expect "" "$(ls "$parent/checkout/build/e2e")" "a test leaves something behind"
