#!/bin/bash
# A stopped governor (SIGSTOP) costs its timeout of 30 s once per build, not once per compile. When it continues, it is
# used again. Takes a minute.
. "$(dirname "$0")/../common.inc"
need ninja gcc pgrep
. "$tests/governor.inc"
cd "$t"
units still $(for i in {1..12}; do echo "h$i=10,0.05,good"; done)
units again again=10,0.05,good
find_governor="pgrep -f -- 'governor --runtime $XDG_RUNTIME_DIR/wheelsmith' | head -n 1"
cat >"$t/commands" <<END
sleep 1
kill -STOP \$($find_governor)
ninja -C still -j 2
date +%s >still.end
kill -CONT \$($find_governor)
sleep 11
ninja -C again
END
begin=$(date +%s)
"$wheelsmith" run --quiet --cores 2 --log "$t/record" -- bash -e "$t/commands" >"$t/out" 2>&1 || fail "$(<"$t/out")"
took=$(($(<still.end) - begin))
echo "12 compiles, 2 at a time, beside a stopped governor: $took s; with its patience for each it would be 180 s"
((took < 60)) || fail "it took $took s"
expect 12 "$(grep -c '"ungoverned"' "$t/record")" "compiles without a governor"
grep -q '"name": *"again.c"' "$t/record" || fail "the governor was not asked again: $(tail -n 3 "$t/record")"
