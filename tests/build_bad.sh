#!/bin/bash
# Every failure gives one clear error with a fix, and nothing is lost.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
small_package "$t"
cd "$t"
run_json build small
expect built "$(json 'steps[0].outcome')"

# fails STATUS TEXT COMMAND…: exactly one error, which contains the text.
fails() {
  run "${@:3}"
  expect "$1" "$status" "wheelsmith ${*:3}: $(cat "$t/err")"
  # A failure is wrapped at 80 columns.
  cat "$t/err" "$t/out" | tr -s ' \n' ' ' | grep -qF -- "$2" || { cat "$t/out" "$t/err" >&2; fail "wheelsmith ${*:3}: no message contains «$2»"; }
}

# Recipes.
cp recipes/small.toml kept.toml
sed -i 's/^requires = /requirse = /' recipes/small.toml
fails 2 'small.toml:' build small
grep -q 'did you mean requires?' "$t/err" || fail "$(cat "$t/err")"
cp kept.toml recipes/small.toml
fails 2 'cpu' build small --variant cuda
fails 2 'did you mean' build small --build-type relaese
for command in plan build; do
  fails 2 'did you mean manylinux2014?' $command small --platform manylinux2O14
  fails 2 "--sysroot $t/nowhere: no such folder" $command small --sysroot "$t/nowhere"
done

# A patch that does not apply.
sed -i 's/unpatched/never there/' recipes/small.patch
fails 1 'small.patch' build small
sed -i 's/never there/unpatched/' recipes/small.patch

# A compile error: the first failed command, its output, and a script that runs it again.
sed -i 's/return a + b;/return a + c;/' recipes/small/small/add.c
run_json build small
expect "1 failed build" "$status $(json 'steps[0].outcome') $(json 'steps[0].phase')"
[[ $(json 'steps[0].failure.command') == *add.c* ]] || fail "the command is $(json 'steps[0].failure.command')"
[[ $(json 'steps[0].failure.output') == *undeclared* ]] || fail "the output is $(json 'steps[0].failure.output')"
expect source-bug "$(json 'steps[0].diagnosis["class"]')" "what diagnose makes of the log"
[[ $(json 'steps[0].diagnosis.why[0].text') == *undeclared* ]] || fail "the cause is $(json 'steps[0].diagnosis')"
[[ $(json 'steps[0].failure.output') != *"$t/store/trees"* ]] || fail "a path of the store: $(json 'steps[0].failure.output')"
script=$(json 'steps[0].repeat_script')
if bash "$script" >"$t/repeat" 2>&1; then fail "the command that failed does not fail again"; fi
grep -q undeclared "$t/repeat" || fail "repeated, it says $(cat "$t/repeat")"
# One screen, which ends with the fix.
run build small
(($(wc -l <"$t/out") <= 24)) || fail "more than a screen: $(cat "$t/out")"
[[ $(tail -n 2 "$t/out" | head -n 1) == *[a-z]* && $(grep -c '^  fix: ' "$t/out") -ge 1 ]] || fail "$(cat "$t/out")"
awk 'length > 110 { exit 1 }' "$t/out" || fail "long lines: $(cat "$t/out")"
sed -i 's/return a + c;/return a + b;/' recipes/small/small/add.c

# A build that tries to use the network: the message names our sandbox, not the machine's name server.
cp recipes/small/setup.py kept.py
# What it prints reaches a terminal without control sequences, except colours: others set the title or the clipboard.
sed -i '1i import urllib.request; print("\\x1b[31mred\\x1b[0m\\t\\x1b]0;title\\x07\\x1b[2J", flush=True); urllib.request.urlopen("https://sources.invalid")' recipes/small/setup.py
run_json build small
cp "$t/out" "$t/network"
python3 "$tests/terminal.py" "" "$wheelsmith" logs small >"$t/shown" 2>&1 || true
grep -q $'\e\\[31mred\e\\[0m\t.x1b]0;title.x07.x1b\\[2J' "$t/shown" || fail "logs on a terminal: $(cat -v "$t/shown")"
run logs small
grep -q $'\e]0;title\a\e\\[2J' "$t/out" || fail "logs into a file: $(cat -v "$t/out")"
mv "$t/network" "$t/out"
status=1
expect "1 network" "$status $(json 'steps[0].diagnosis["class"]')"
[[ $(json 'steps[0].diagnosis.fix') == *"--network on"* ]] || fail "the remedy is $(json 'steps[0].diagnosis.fix')"
cp kept.py recipes/small/setup.py

# A failing test: the wheel is not delivered.
sed -i 's/== 5/== 6/' recipes/small.toml
rm -rf wheelhouse
fails 1 'the test adds failed' build small
[[ -z $(ls wheelhouse 2>/dev/null) ]] || fail "a wheel whose test failed is in the wheelhouse"

# --keep-failed keeps the wheel in a separate folder and names it; --no-test delivers it, and later builds do not reuse
# it.
run_json build small --keep-failed
kept=$(json 'steps[0].refused_wheel')
[[ $kept == "$t"/wheelhouse/failed/small-1.0-*.whl && -f $kept ]] || fail "the refused wheel is «$kept»"
[[ -z $(find wheelhouse -maxdepth 1 -name '*.whl') ]] || fail "a wheel whose test failed is in the wheelhouse"
run_json build small --no-test
expect "0 built not-run" "$status $(json 'steps[0].outcome') $(json 'steps[0].tests[0].outcome')"
[[ -n $(find wheelhouse -maxdepth 1 -name 'small-1.0-*.whl') ]] || fail "no wheel of --no-test: $(ls -R wheelhouse)"
run_json build small
expect "1 failed" "$status $(json 'steps[0].outcome')" "an untested wheel came from the store"
rm -rf wheelhouse

# A test that imports a missing package is diagnosed.
cp kept.toml recipes/small.toml
sed -i 's/^script = .*/script = "import torch"/' recipes/small.toml
run_json build small
expect "1 test-no-module" "$status $(json 'steps[0].diagnosis.id')"
[[ $(json 'steps[0].diagnosis.fix') == *'[[test]] requires = ["torch"]'* ]] || fail "the remedy is $(json 'steps[0].diagnosis.fix')"
cp kept.toml recipes/small.toml

# A test killed by a signal: which signal, where in Python, and the fix.
sed -i 's/^script = .*/script = "import ctypes; ctypes.string_at(0)"/' recipes/small.toml
run_json build small
expect "1 test" "$status $(json 'steps[0].phase')"
[[ $(json 'steps[0].cause') == *"the test adds failed: killed by signal 11 (Segmentation fault)"*"Fatal Python error"* ]] ||
  fail "the cause is $(json 'steps[0].cause')"
expect "test-crash compiler-runtime" "$(json 'steps[0].diagnosis.id') $(json 'steps[0].diagnosis.check')"
[[ $(json 'steps[0].diagnosis.what') == *"test adds crashed"* ]] || fail "the diagnosis is $(json 'steps[0].diagnosis')"
cp kept.toml recipes/small.toml

# A platform tag that the wheel does not qualify for, with the symbols that prevent it.
cat >recipes/small/small/add.c <<'C'
#include <stdlib.h>
#include <stdio.h>
#include <unistd.h>
long small_add(long a, long b) { char text[8]; arc4random_buf(text, 0); return a + b; }
C
if [[ $(getconf GNU_LIBC_VERSION) =~ 2\.(3[6-9]|[4-9]) ]]; then
  fails 1 'GLIBC_2.36' build small --platform manylinux_2_17
fi
echo 'long small_add(long a, long b) { return a + b; }' >recipes/small/small/add.c

# A wrong version.
sed -i 's/version = "1.0"/dynamic = ["version"]/' recipes/small/pyproject.toml
echo 'from setuptools import Extension, setup
setup(version="9.9", packages=["small"], ext_modules=[Extension("small._small", ["small/add.c", "small/module.c"])])' >recipes/small/setup.py
printf 'Metadata-Version: 2.1\nName: small\nVersion: 1.0\n' >recipes/small/PKG-INFO
fails 1 '9.9' build small
rm recipes/small/PKG-INFO
sed -i 's/dynamic = \["version"\]/version = "1.0"/' recipes/small/pyproject.toml

# A backend that prints garbage and one that hangs.
cat >recipes/small/setup.py <<'PYTHON'
import os, sys
sys.stdout.buffer.write(bytes(range(256)) * 4096); sys.stdout.flush()
os.write(2, b"\x1b[31m\xff\xfe\n")
raise SystemExit("rubbish")
PYTHON
run_json build small
expect "1 failed" "$status $(json 'steps[0].outcome')"
printf 'import time\ntime.sleep(3600)\n' >recipes/small/setup.py
fails 1 'no output for' build small --timeout 2

# Offline: unresolved requirements are named.
cat >recipes/small/setup.py <<'PYTHON'
from setuptools import Extension, setup
setup(packages=["small"], ext_modules=[Extension("small._small", ["small/add.c", "small/module.c"])])
PYTHON
sed 's/80.9.0/80.8.0/' kept.toml >recipes/small.toml
fails 1 'offline' build small --offline
cp kept.toml recipes/small.toml
run build small --offline
expect 0 "$status" "offline with all in the store: $(cat "$t/err")"

# A build that tries to use the network has none.
cat >recipes/small/setup.py <<'PYTHON'
import socket
try:
    socket.create_connection(("192.0.2.1", 80), timeout=3)
except OSError as error:
    raise SystemExit("no network: %s" % error)
PYTHON
run build small
expect 1 "$status"

# An unknown name.
fails 1 'no-such-package-of-anyone' build no-such-package-of-anyone-at-all
run store verify
expect 0 "$status" "$(cat "$t/out")"
