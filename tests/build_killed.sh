#!/bin/bash
# Killed at ten random moments (by SIGKILL and SIGINT in turn), a build produces the same wheel as an undisturbed one,
# without partial files in the store. Prints its seed.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
small_package "$t"
cd "$t"
seed=${SEED:-$RANDOM}
echo "seed $seed"
RANDOM=$seed

run_json build small
expect built "$(json 'steps[0].outcome')"
sum=$(sha256sum <"$(json 'steps[0].wheel')")
seconds=$(json 'steps[0].seconds')

export WHEELSMITH_STORE=$t/store2 WHEELSMITH_OUT=$t/wheelhouse2
for i in 0 1 2 3 4 5 6 7 8 9; do
  # bash makes background jobs ignore SIGINT, which a program may inherit; a terminal would not.
  python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
    "$wheelsmith" build small >"$t/out" 2>"$t/err" </dev/null &
  pid=$!
  sleep "$(python3 -c "print(($RANDOM % 1000) / 1000 * ($seconds * 1.2 + 0.5) * ($i + 1) / 10)")"
  if ((i % 2)); then kill -INT $pid 2>/dev/null || true; else kill -KILL $pid 2>/dev/null || true; fi
  status=0
  wait $pid || status=$?
  case $status in 0 | 130 | 137) ;; *) cat "$t/err" >&2; fail "ended with $status when interrupted" ;; esac
  for wheel in "$WHEELSMITH_OUT"/*.whl; do
    [[ ! -e $wheel || $(sha256sum <"$wheel") == "$sum" ]] || fail "a half wheel is in the wheelhouse"
  done
done
run_json build small
[[ $(json 'steps[0].outcome') == built || $(json 'steps[0].outcome') == cached ]] || { cat "$t/out" >&2; fail "not built in the end"; }
expect "$sum" "$(sha256sum <"$(json 'steps[0].wheel')")" "the wheel after ten kills"
run_json store verify
expect "" "$(json '[f.id for f in findings if f.severity == "error"]')" "store verify"
expect 0 "$status"
