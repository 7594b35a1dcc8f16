#!/bin/bash
# An interrupted checkout: killed, interrupted, out of disk space. The folder is unchanged, and the next command
# recovers.
source "$(dirname "$0")/common.inc"
source "$tests/git_sources.inc"
git_sources "$t/s"

# A git that is slowed down or stopped when a file says so, to have a moment to interrupt.
mkdir "$t/bin"
real=$(command -v git)
cat >"$t/bin/git" <<SH
#!/bin/bash
for word in "\$@"; do
  if [[ -e $t/hold/\$word ]]; then : >"$t/held"; rm -f "$t/hold/\$word"; sleep 60; fi
done
exec $real "\$@"
SH
chmod +x "$t/bin/git"
mkdir "$t/hold"

# cut SIGNAL WORD ARGUMENT…: starts a checkout, waits until it runs a git command with that word, and sends the signal.
cut() {
  rm -f "$t/held"
  : >"$t/hold/$2"
  PATH=$t/bin:$PATH "$wheelsmith" checkout tiny --variant cpu "${@:3}" >"$t/out" 2>"$t/err" &
  pid=$!
  for ((i = 0; i < 300; i++)); do [[ -e $t/held ]] && break; sleep 0.1; done
  [[ -e $t/held ]] || fail "git $2 was never run: $(cat "$t/err")"
  kill "-$1" "$pid"
  code=0
  wait "$pid" || code=$?
  rm -f "$t/hold/"*
}

# --- a new folder: killed or interrupted while fetching, and while patching
mkdir -p patches/tiny/stable/tiny/base
cat >patches/tiny/stable/tiny/base/0001-five.patch <<'PATCH'
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: them <them@example.org>
Date: Tue, 2 Jan 2024 03:04:05 +0100
Subject: [PATCH] five

---
diff --git a/src/a.c b/src/a.c
--- a/src/a.c
+++ b/src/a.c
@@ -4,3 +4,3 @@
 4
-5
+five
 6
PATCH
for word in fetch am; do
  cut INT $word
  expect 130 $code "$(cat "$t/err")"
  [[ $(cat "$t/err") == *interrupted* ]] || fail "$(cat "$t/err")"
  expect "patches wheelsmith.toml" "$(ls -A | tr '\n' ' ' | sed 's/ $//')" "interrupted in $word"
done
cut KILL am
[[ ! -e tiny ]] || fail "half a checkout"
run checkout tiny --variant cpu
expect 0 $status "$(cat "$t/err")"
expect "patches tiny wheelsmith.toml" "$(ls -A | tr '\n' ' ' | sed 's/ $//')" "what the killed one left is gone"
patched=$(git -C tiny rev-parse HEAD)

# --- an existing folder: before anything moves, and in the middle of the move
echo kept >tiny/kept.log
picture tiny >"$t/before"
same() { picture tiny >"$t/after"; cmp "$t/before" "$t/after" || fail "$1: $(diff "$t/before" "$t/after")"; }
cut INT fetch --ref v1.1 --store "$t/store2"
expect 130 $code
same "interrupted while it fetches"
cut KILL fetch --ref v1.1 --store "$t/store3"
same "killed while it fetches"
# The move itself: root is at 1.1, lib was removed from its old path. An interrupt lets it finish.
cut INT --no-overwrite-ignore --ref v1.1 &
wait_for=$!
sleep 1
for ((i = 0; i < 300; i++)); do [[ -e $t/held ]] && break; sleep 0.1; done
sleep 1
# (the held git sleeps a minute: end its sleep)
for child in $(ps -eo pid,args | awk '/[s]leep 60$/ {print $1}'); do
  if [[ $(readlink "/proc/$child/cwd") == "$t"/* ]]; then kill "$child"; fi
done
wait "$wait_for" || true
expect "$v11" "$(git -C tiny rev-parse HEAD)" "a move that has begun arrives"
expect "" "$(git -C tiny status --porcelain)"
expect "$lib2" "$(git -C tiny/vendor/lib rev-parse HEAD)"
run checkout tiny --variant cpu
expect 0 $status "$(cat "$t/err")"
expect "$patched" "$(git -C tiny rev-parse HEAD)"
same "there and back"
for word in --update-shallow --no-overwrite-ignore remote.origin.url; do
  cut KILL $word --ref v1.1
  # The next command restores it first, and then does its work.
  run checkout tiny --variant cpu
  expect 0 $status "$(cat "$t/err")"
  expect unchanged "$("$wheelsmith" checkout tiny --variant cpu --json 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["items"][0]["outcome"])')"
  same "killed in $word"
  git -C tiny fsck --no-dangling >/dev/null 2>&1 || fail "fsck"
done
# Edited after the kill: nothing is overwritten.
cut KILL remote.origin.url --ref v1.1
echo edited >>tiny/src/new.c
run checkout tiny --variant cpu
expect 1 $status "$(cat "$t/out")"
grep -q 'edited since: src/new.c' "$t/err"
expect edited "$(tail -n 1 tiny/src/new.c)"
rm tiny/src/new.c
run checkout tiny --variant cpu
expect 0 $status "$(cat "$t/err")"
same "after it was removed"

# --- no disk space: limited file size
head -c 3000000 /dev/urandom >"$up/tiny/big.bin"
commit tiny big >/dev/null && upstream tiny tag v1.1-big && publish tiny
for new in --into\ nothing ""; do
  code=0
  # shellcheck disable=SC2086
  (ulimit -f 1000; trap '' XFSZ; exec "$wheelsmith" checkout tiny --variant cpu --ref v1.1-big $new) >"$t/out" 2>"$t/err" || code=$?
  expect 1 $code "$(cat "$t/err")"
  expect 1 "$(grep -c 'wheelsmith: error' "$t/err")"
  [[ ! -e nothing ]] || fail "nothing is there"
  same "no space"
done
run checkout tiny --variant cpu --ref v1.1-big
expect 0 $status "$(cat "$t/err")"
