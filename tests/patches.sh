#!/bin/bash
# Commits of a checkout become patches, and the next checkout has the same trees: in submodules, and around hipify too.
source "$(dirname "$0")/common.inc"
source "$tests/git_sources.inc"
git_sources "$t/s"

tree() { git -C "$1" rev-parse 'HEAD^{tree}'; }
trees() { for part in "" /third_party/lib /third_party/lib/deps/inner; do tree "$1$part"; done; }
edit() { # FOLDER FILE SED MESSAGE
  sed -i "$3" "$1/$2"
  git -C "$1" commit -qam "$4"
}

# --- without hipify
run checkout tiny --variant cpu --into one
expect 0 $status "$(cat "$t/err")"
edit one src/a.c 's/^5$/five/' "[area] say five"
edit one src/a.c 's/^30$/thirty/' "say thirty"
printf '\000\001binary\r\n' >one/src/data.bin
printf 'a\r\nb\r\n' >one/src/dos.txt
chmod +x one/version.txt
git -C one add -A
git -C one commit -qm "a binary file, DOS lines, a mode"
edit one/third_party/lib lib.c 's/^3$/three/' "lib: say three"
edit one/third_party/lib/deps/inner inner.txt 's/inner/INNER/' "inner: loud"
wanted=$(trees one)
run patches save --dir one --patchset stable
expect 0 $status "$(cat "$t/err")"
base=patches/tiny/stable
expect "0001-area-say-five.patch 0002-say-thirty.patch 0003-a-binary-file-DOS-lines-a-mode.patch" "$(cd $base/tiny/base && echo *)"
expect "0001-lib-say-three.patch" "$(ls $base/third_party/lib/base)"
expect "0001-inner-loud.patch" "$(ls $base/third_party/lib/deps/inner/base)"
[[ $(head -1 $base/tiny/base/0001*) == "From 0000000000000000000000000000000000000000 "* ]] || fail "a commit id in the patch"
if grep -q '^-- $' $base/tiny/base/0001*; then fail "git's version is in the patch"; fi
find patches -type f -print0 | sort -z | xargs -0 sha256sum >"$t/bytes"

# `plan` and `build` use the set by name, or none; by default the one that belongs to the ref.
for set in stable tiny=stable '' none; do
  run plan tiny --variant cpu ${set:+--patchset "$set"} --script
  expect 0 $status "plan: $(cat "$t/err")"
  wanted_patches=5
  [[ $set != none ]] || wanted_patches=0
  expect $wanted_patches "$(grep -c 'patch -p1' "$t/out" || true)" "patches with --patchset '$set'"
done
run plan tiny --variant cpu --patchset stabel
expect 2 $status
grep -q 'no patch set stabel for tiny' "$t/err" || fail "$(cat "$t/err")"

# A later checkout reproduces it, even with user settings that would change the bytes.
git config -f "$t/gitconfig" diff.noprefix true
git config -f "$t/gitconfig" core.autocrlf true
git config -f "$t/gitconfig" apply.whitespace fix
git config -f "$t/gitconfig" commit.gpgSign true
GIT_CONFIG_GLOBAL=$t/gitconfig run_json checkout tiny --variant cpu --into two
expect 0 $status "$(cat "$t/err")"
expect "stable 5" "$(json 'items[0].patchset + " " + str(len(items[0].patches))')"
expect "$wanted" "$(trees two)" "the same trees"
expect "" "$(git -C two status --porcelain)"
expect "[area] say five" "$(git -C two log -1 --format=%s HEAD~2)"
expect "them" "$(git -C two log -1 --format=%an)"
GIT_CONFIG_GLOBAL=$t/gitconfig run_json patches save --dir two
expect "[] []" "$(json 'str(written) + " " + str(removed)')" "the same bytes from another checkout"
find patches -type f -print0 | sort -z | xargs -0 sha256sum | cmp - "$t/bytes"
run checkout tiny --variant cpu --into three
expect "$(git -C two rev-parse HEAD)" "$(git -C three rev-parse HEAD)" "the same commits, too"

# The saved set matches the checkout: nothing changes.
run_json checkout tiny --variant cpu --into one
expect unchanged "$(json 'items[0].outcome')"
run_json patches list tiny
expect "5 stable" "$(json 'str(len(items[0].patches)) + " " + items[0].name')"

# Dropping a commit removes its patch.
git -C one reset -q --hard HEAD^
run_json patches save --dir one
expect "tiny/base/0003-a-binary-file-DOS-lines-a-mode.patch" "$(json removed)"
git -C one reset -q --hard WHEELSMITH_UPSTREAM
git -C one/third_party/lib/deps/inner reset -q --hard WHEELSMITH_UPSTREAM
run patches save --dir one
[[ ! -e $base/tiny && ! -e $base/third_party/lib/deps ]] || fail "left: $(find $base)"
expect "0001-lib-say-three.patch" "$(ls $base/third_party/lib/base)"
rm -r patches

# --- hipify: base patches before, its commit, patches on top
run_json checkout tiny --variant rocm --into hip
expect 0 $status "$(cat "$t/err")"
expect "wheelsmith: hipify" "$(git -C hip log -1 --format=%s)"
expect "$(git -C hip rev-parse HEAD)" "$(git -C hip rev-parse WHEELSMITH_HIPIFY)"
expect "hip code" "$(git -C hip show HEAD:src/x_hip.txt)" "also what .gitignore hides"
expect "wheelsmith: hipify" "$(git -C hip/third_party/lib log -1 --format=%s)"
expect "$inner" "$(git -C hip/third_party/lib/deps/inner rev-parse WHEELSMITH_HIPIFY)"
expect "" "$(git -C hip status --porcelain)$(git -C hip/third_party/lib status --porcelain)"
edit hip src/x_hip.txt 's/hip/HIP/' "after hipify"
edit hip/third_party/lib lib.c 's/^4$/four/' "lib after hipify"
run patches save --dir hip --patchset stable
expect 0 $status "$(cat "$t/err")"
expect "hipified" "$(ls $base/tiny)"
# Another one before hipify: on a checkout without it.
run checkout tiny --variant rocm --no-hipify --no-patches --into plain
edit plain src/x.cu 's/cuda code/cuda code, better/' "before hipify"
run patches save --dir plain --patchset base-only
mkdir -p $base/tiny/base
mv patches/tiny/base-only/tiny/base/* $base/tiny/base/
rm -r patches/tiny/base-only
# (after it, the later patch meets another line: it is recreated)
rm -r $base/tiny/hipified
run checkout tiny --variant rocm --into hip2
expect 0 $status "$(cat "$t/err")"
expect "hip code, better" "$(git -C hip2 show WHEELSMITH_HIPIFY:src/x_hip.txt)"
edit hip2 src/x_hip.txt 's/hip/HIP/' "after hipify"
wanted=$(trees hip2)
run_json patches save --dir hip2
expect "$(printf 'tiny/hipified/0001-after-hipify.patch')" "$(json written)"
run checkout tiny --variant rocm --into hip3
expect "$wanted" "$(trees hip3)"
expect 3 "$(git -C hip3 rev-list --count WHEELSMITH_UPSTREAM..)"

# Uncommitted: HEAD is upstream plus the base patches, the files are hipified; and it can move away again.
run_json checkout tiny --variant rocm --no-commit-hipify --into loose
expect 0 $status "$(cat "$t/err")"
expect "before hipify" "$(git -C loose log -1 --format=%s)"
expect "HIP code, better" "$(cat loose/src/x_hip.txt)"
expect " M src/x.cu" "$(git -C loose status --porcelain | grep x.cu)"
run_json checkout tiny --variant rocm --no-commit-hipify --into loose
expect unchanged "$(json 'items[0].outcome')"
run_json checkout tiny --variant rocm --no-commit-hipify --ref v1.1 --no-patches --into loose
expect 0 $status "$(cat "$t/err")"
expect "$v11" "$(git -C loose rev-parse HEAD)"
expect "hip code" "$(cat loose/src/x_hip.txt)"
echo user >>loose/src/x.cu
run checkout tiny --variant rocm --ref v1.0 --into loose
expect 1 $status
grep -q 'src/x.cu' "$t/err"
sed -i '$d' loose/src/x.cu
run checkout tiny --variant rocm --ref v1.0 --into loose
expect 0 $status "$(cat "$t/err")"
expect "$wanted" "$(trees loose)"

# Also when it only created new files; beside the user's own.
upstream tiny checkout -q -b new-only v1.1
sed -i '/seen by hipify/d' "$up/tiny/tools/hipify.py" && commit tiny new-only >/dev/null
upstream tiny tag v1.1-new && upstream tiny checkout -q main && publish tiny
run checkout tiny --variant rocm --no-commit-hipify --no-patches --ref v1.1-new --into fresh
expect 0 $status "$(cat "$t/err")"
expect "hip code" "$(cat fresh/src/x_hip.txt)"
echo user >fresh/mine.txt
echo user >>fresh/src/x_hip.txt
run checkout tiny --variant rocm --no-commit-hipify --no-patches --ref v1.1 --into fresh
expect 1 $status
[[ $(cat "$t/err") == *"uncommitted changes: src/x_hip.txt;"* ]] || fail "$(cat "$t/err")"
sed -i '$d' fresh/src/x_hip.txt
run checkout tiny --variant rocm --no-patches --ref v1.1 --into fresh
expect 0 $status "$(cat "$t/err")"
expect "?? mine.txt" "$(git -C fresh status --porcelain)"

# --- bad input
echo "not committed" >>hip3/src/a.c
run patches save --dir hip3
expect 1 $status
grep -q 'uncommitted changes: src/a.c' "$t/err"
git -C hip3 checkout -q -- src/a.c
# Patches cannot represent a merge.
git -C hip3 checkout -qb side HEAD^ && edit hip3 src/a.c 's/^9$/nine/' side
git -C hip3 checkout -q - && git -C hip3 merge -q -m merge side
find patches -type f -print0 | sort -z | xargs -0 sha256sum >"$t/bytes"
sed -i 's/^9$/x/; s/^nine$/x/' hip3/src/a.c && git -C hip3 commit -q --amend -am "an evil merge"
run patches save --dir hip3
expect 1 $status "$(cat "$t/out")"
grep -q merge "$t/err"
find patches -type f -print0 | sort -z | xargs -0 sha256sum | cmp - "$t/bytes"

# A patch that does not apply: which, where, the actual text; nothing is left, and an existing folder stays.
mkdir -p bad/tiny/set/tiny/base
cat >bad/tiny/set/tiny/base/0001-wrong.patch <<'PATCH'
From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001
From: them <them@example.org>
Date: Tue, 2 Jan 2024 03:04:05 +0100
Subject: [PATCH] wrong

---
diff --git a/src/a.c b/src/a.c
--- a/src/a.c
+++ b/src/a.c
@@ -3,3 +3,3 @@
 3
-4
+vier
 5
@@ -20,3 +20,3 @@
 20
-XXI
+einundzwanzig
 22
PATCH
run checkout tiny --variant cpu --patch-dir bad --patchset set --into nothing
expect 1 $status
grep -q 'base/0001-wrong.patch does not apply: src/a.c, hunk 2 (line 20): it expects "XXI", but line 21 is "21"' "$t/err" || fail "$(cat "$t/err")"
[[ ! -e nothing ]] || fail "nothing is there"
picture two >"$t/before"
run checkout tiny --variant cpu --patch-dir bad --patchset set --into two
expect 1 $status
picture two | cmp - "$t/before"
run patches apply --dir two --patch-dir bad --patchset set
expect 1 $status
grep -q 'does not apply' "$t/err"
picture two | cmp - "$t/before"
# A failing hipify.
: >"$up/tiny/break-hipify" && commit tiny broken >/dev/null && publish tiny
run checkout tiny --variant rocm --ref main --submodules all --no-patches --into nothing
expect 1 $status
grep -q 'tools/hipify.py.*I cannot translate this' "$t/err" || fail "$(cat "$t/err")"
[[ ! -e nothing ]] || fail "nothing is there"
# Names.
run checkout tiny --patchset no-such
expect 2 $status
grep -q 'stable' "$t/err"
mkdir -p bad/tiny/set2/no/such/base && cp bad/tiny/set/tiny/base/* bad/tiny/set2/no/such/base/
run checkout tiny --variant cpu --patch-dir bad --patchset set2 --into nothing
expect 1 $status
grep -q 'no such submodule' "$t/err"
mkdir -p bad/tiny/set3 && cp bad/tiny/set/tiny/base/* bad/tiny/set3/
run checkout tiny --variant cpu --patch-dir bad --patchset set3 --into nothing
expect 1 $status
grep -q 'is not in a folder base or hipified' "$t/err"
# Messages that a mail cannot represent, and an empty commit.
run checkout tiny --variant cpu --no-patches --into words
for message in "[PATCH] rename" $'fine\n\n--- text\nmore' empty; do
  [[ $message == empty ]] || sed -i 's/^6$/six/' words/src/a.c
  git -C words commit -q --allow-empty -am "$message"
  run patches save --dir words --patchset words
  expect 1 $status "$message"
  [[ $(cat "$t/err") == *"lose part of the "* || $message$(cat "$t/err") == "empty"*"is empty"* ]] || fail "$message: $(cat "$t/err")"
  [[ ! -e patches/tiny/words ]] || fail "$message was written"
  git -C words reset -q --hard HEAD^
done
run patches list nonesuch
expect 2 $status
run patches save --dir other
expect 2 $status

# --- patches in the current folder are foreign code: without a trusted wheelsmith.toml they need trust, too
export WHEELSMITH_RECIPES=$root/recipes WHEELSMITH_STORE=$root/store WHEELSMITH_MIRRORS="https://git.example/=$root/mirror/"
mkdir -p "$t/clone"
cd "$t/clone"
run checkout tiny --variant cpu --ref v1.0 --no-patches --into own
expect 0 $status "$(cat "$t/err")"
(cd own && echo more >>README && git add -A && git -c user.name=a -c user.email=a@b commit -qm more)
run patches save --dir own --patchset v1.0
expect 0 $status "$(cat "$t/err")"
run_json checkout tiny --variant cpu --ref v1.0 --into again
expect "0 v1.0 1" "$status $(json 'items[0].patchset + " " + str(len(items[0].patches))')" "what was saved here is our own: $(cat "$t/err")"
patch=$(find patches -name '*.patch')
cp "$patch" "$t/patch"
sed -i 's/^+more/+evil/' "$patch"
for command in "checkout tiny --variant cpu --ref v1.0 --into third" "plan tiny --variant cpu --ref v1.0" "build tiny --variant cpu --ref v1.0"; do
  # shellcheck disable=SC2086
  run $command
  [[ $status == 2 && $(<"$t/err") == *"$t/clone/patches has a patch set v1.0 for tiny, but is not trusted"*"wheelsmith trust $t/clone "* ]] ||
    fail "$command ended with $status: $(cat "$t/err")"
done
[[ ! -e third ]] || fail "a checkout with foreign patches"
run checkout tiny --variant cpu --ref v1.0 --into third --no-patches
expect 0 $status "$(cat "$t/err")"
run_json checkout tiny --variant cpu --ref v1.0 --into fourth --patch-dir patches
expect "0 1" "$status $(json 'len(items[0].patches)')" "$(cat "$t/err")"
run_json trust
expect "0 $t/clone/patches" "$status $(json 'items[0].file')" "$(cat "$t/err")"
run checkout tiny --variant cpu --ref v1.0 --into fifth
expect 0 $status "$(cat "$t/err")"
run_json trust --remove
expect "0 $t/clone/patches" "$status $(json 'items[0].file')" "$(cat "$t/err")"
run patches save --dir own --patchset v1.0
run checkout tiny --variant cpu --ref v1.0 --into sixth
expect 2 $status "saving into another user's folder does not make it trusted"
# An untrusted wheelsmith.toml does not vouch for files beside it.
echo 'variant = "cpu"' >wheelsmith.toml
run checkout tiny --ref v1.0 --into sixth
expect 2 $status "beside an untrusted file"
trust
run checkout tiny --ref v1.0 --into sixth
expect 0 $status "beside a trusted one: $(cat "$t/err")"
