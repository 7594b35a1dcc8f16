#!/bin/bash
# A package that attacks whoever builds it gets nothing: from its prepare command, its build script and its test. judge.py plants what
# there is to get, and looks from outside.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need pgrep
"$TESTS_PYTHON" "$tests/hostile/judge.py" "$wheelsmith" "$t/namespaces" namespaces || fail "in namespaces"
"$TESTS_PYTHON" "$tests/hostile/judge.py" "$wheelsmith" "$t/landlock" landlock || fail "in Landlock"
