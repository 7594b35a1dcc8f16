#!/bin/bash
# A package that attacks its builder gains nothing: from its prepare command, its build script and its tests. judge.py
# plants the targets, and checks them from outside.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need pgrep
"$TESTS_PYTHON" "$tests/hostile/judge.py" "$wheelsmith" "$t/namespaces" namespaces || fail "in namespaces"
"$TESTS_PYTHON" "$tests/hostile/judge.py" "$wheelsmith" "$t/landlock" landlock || fail "in Landlock"
