#!/bin/bash
# flash-attn for CUDA and one architecture: 72 units, 75 to 90 minutes on two cores. It is interrupted by Ctrl-C after a
# few objects, killed by SIGKILL after a few more, and then left alone. No finished object is compiled again: each keeps
# its time, which a second compile would change.
#   PROOF_TORCH=VERSION (below 2.14, a CUDA build), PROOF_ARCH=9.0, PROOF_OBJECTS=3 (before each stop),
#   PROOF_ENOUGH=N: ends after the third start has finished N objects, without a wheel
source "$(dirname "$0")/build.inc"
torch=${PROOF_TORCH:-2.11.0}
arch=${PROOF_ARCH:-9.0}
step=${PROOF_OBJECTS:-3}

rm -rf "$WHEELSMITH_STORE"/trees/flash-attn-cuda-*
# The build's tree; before it exists, an unused path.
tree() {
  local found=("$WHEELSMITH_STORE"/trees/flash-attn-cuda-*)
  echo "${found[0]}"
}

# The objects that ninja has recorded as finished, and their times.
finished() {
  local log
  log=$(find "$(tree)" -name .ninja_log 2>/dev/null | head -n 1 || true)
  [[ -n $log ]] || return 0
  awk -F '\t' 'NF >= 5 { print $4 }' "$log" | sort -u | while read -r object; do
    [[ $object == /* ]] || object=$(dirname "$log")/$object
    [[ ! -f $object ]] || stat -c '%n %.9Y' "$object"
  done
}
count() { finished | wc -l; }

# bash makes background jobs ignore SIGINT, which a program may inherit; a terminal would not.
start_build() {
  python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
    "$wheelsmith" build flash-attn --variant cuda --arch "$arch" --torch "$torch" --python "$python" >>"$t/build.out" 2>>"$t/build.err" &
  pid=$!
}
# A failed proof does not leave an hour of nvcc running.
pid=
trap 'ended=$?; [[ -z $pid ]] || kill "$pid" 2>/dev/null || true; leave $ended' EXIT
# wait_for COUNT: until that many objects are finished, or the build has ended.
wait_for() {
  while (($(count) < $1)); do
    kill -0 "$pid" 2>/dev/null || { cat "$t/build.out" "$t/build.err" >&2; fail "the build ended early"; }
    sleep 2
  done
}
# stop_by SIGNAL: ends the build, waits for all its processes, and records the finished objects.
stop_by() {
  kill "-$1" "$pid"
  wait "$pid" || true
  local patience=60
  while ((patience-- > 0)) && pgrep -f "$(tree)" >/dev/null; do sleep 1; done
  if pgrep -f "$(tree)" >/dev/null; then fail "after SIG$1 something is still running"; fi
  finished >"$t/finished.$1"
  echo "SIG$1: $(wc -l <"$t/finished.$1") objects finished after $SECONDS s"
}
# Every line of the older list must be in the newer one.
expect_kept() {
  local lost
  lost=$(sort "$1" | comm -23 - <(finished | sort))
  [[ -z $lost ]] || fail "compiled again: $lost"
  echo "$(wc -l <"$1") of $(wc -l <"$1") objects kept"
}

start_build
wait_for "$step"
stop_by INT
start_build
wait_for $(($(wc -l <"$t/finished.INT") + step))
expect_kept "$t/finished.INT"
stop_by KILL
expect_kept "$t/finished.INT"
start_build
wait_for $(($(wc -l <"$t/finished.KILL") + ${PROOF_ENOUGH:-1}))
expect_kept "$t/finished.KILL"
if [[ -n ${PROOF_ENOUGH:-} ]]; then
  stop_by INT
  exit 0
fi
# The tree is removed once the wheel exists, so the lists are compared during the build.
while kill -0 "$pid" 2>/dev/null; do
  finished >"$t/finished.now"
  [[ ! -s $t/finished.now ]] || mv "$t/finished.now" "$t/finished.last"
  sleep 5
done
status=0
wait "$pid" || status=$?
[[ $status == 0 ]] || { cat "$t/build.out" "$t/build.err" >&2; fail "build ended with $status"; }
lost=$(sort "$t/finished.KILL" | comm -23 - <(sort "$t/finished.last"))
[[ -z $lost ]] || fail "compiled again: $lost"
echo "$(wc -l <"$t/finished.KILL") of $(wc -l <"$t/finished.KILL") objects kept to the end; all in $SECONDS s"

wheel=$(compgen -G "$WHEELSMITH_OUT/flash_attn-*.whl")
run_json inspect "$wheel"
expect "sm_${arch/./}" "$(json '" ".join(sorted({g.arch for e in items[0].elf for g in e.gpu if g.kind == "sass"}))')"
run check "$wheel"
expect 0 "$status" "check: $(cat "$t/out")"
