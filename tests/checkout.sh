#!/bin/bash
# Sources as working folders: one ref with its submodules, moved to another without losing anything; confirmed by git
# itself.
source "$(dirname "$0")/common.inc"
source "$tests/git_sources.inc"
git_sources "$t/s"

# --- a new folder
run_json checkout tiny --variant cpu
expect 0 $status "$(cat "$t/err")"
expect "made $v10 v1.0 tag 1.0" "$(json 'items[0].outcome + " " + items[0].commit + " " + items[0].ref + " " + items[0].ref_kind + " " + items[0].version')"
expect "$v10" "$(git -C tiny rev-parse HEAD)"
expect "" "$(git -C tiny status --porcelain)"
expect "$lib" "$(git -C tiny/third_party/lib rev-parse HEAD)"
expect "$inner" "$(git -C tiny/third_party/lib/deps/inner rev-parse HEAD)"
expect "" "$(ls tiny/third_party/extra)" "a submodule that the variant does not need"
expect "$v10" "$(git -C tiny rev-parse WHEELSMITH_UPSTREAM)"
expect "$lib" "$(git -C tiny/third_party/lib rev-parse WHEELSMITH_UPSTREAM)"
expect "v1.0" "$(git -C tiny describe --tags --exact-match --match '*[0-9]*')" "the requested one of two tags on one commit"
expect "https://git.example/acme/tiny.git" "$(git -C tiny config remote.origin.url)" "the origin, not its mirror"
expect "tiny wheelsmith.toml" "$(ls -A | tr '\n' ' ' | sed 's/ $//')" "nothing is left beside"
git -C tiny fsck --no-dangling >/dev/null 2>&1 || fail "fsck"
expect " $lib third_party/lib" "$(git -C tiny submodule status third_party/lib | sed 's/ (.*//')"

# Repeating it changes nothing; the user's commits stay, and a note says so.
run_json checkout tiny --variant cpu
expect unchanged "$(json 'items[0].outcome')"
echo mine >>tiny/src/a.c
git -C tiny commit -qam "mine"
mine=$(git -C tiny rev-parse HEAD)
run_json checkout tiny --variant cpu
expect kept "$(json 'items[0].outcome')"
[[ $(json 'items[0].notes[0]') == *"1 commit of yours"* ]] || fail "$(cat "$t/out")"
expect "$mine $v10" "$(json 'items[0].head + " " + items[0].commit')"
expect "$mine" "$(git -C tiny rev-parse HEAD)"

# The record identifies a checkout; with a damaged record it is not treated as an ordinary repository.
cp tiny/.git/wheelsmith.json "$t/good_record"
echo '{' >tiny/.git/wheelsmith.json
run checkout tiny --variant cpu
expect 1 $status
grep -q 'tiny/.git/wheelsmith.json: its record:1: ' "$t/err" || fail "$(<"$t/err")"
expect "$mine" "$(git -C tiny rev-parse HEAD)"
cp "$t/good_record" tiny/.git/wheelsmith.json

# --- another ref: own commits (also in submodules, also unpushed branches) are kept, ignored files stay, lib moves
echo theirs >>tiny/third_party/lib/lib.c
git -C tiny/third_party/lib commit -qam "mine in lib"
mine_lib=$(git -C tiny/third_party/lib rev-parse HEAD)
git -C tiny/third_party/lib/deps/inner switch -qc topic
echo topic >>tiny/third_party/lib/deps/inner/inner.txt
git -C tiny/third_party/lib/deps/inner commit -qam "on a branch"
topic=$(git -C tiny/third_party/lib/deps/inner rev-parse HEAD)
echo log >tiny/build.log
mkdir tiny/out && echo untracked >tiny/out/file
run_json checkout tiny --variant cpu --ref v1.1
expect 0 $status "$(cat "$t/err")"
expect "moved 1.1" "$(json 'items[0].outcome + " " + items[0].version')"
expect "$v11" "$(git -C tiny rev-parse HEAD)"
expect "$v11" "$(git -C tiny rev-parse WHEELSMITH_UPSTREAM)"
expect "?? out/" "$(git -C tiny status --porcelain)"
expect "$lib2" "$(git -C tiny/vendor/lib rev-parse HEAD)"
expect "$inner" "$(git -C tiny/vendor/lib/deps/inner rev-parse HEAD)"
expect "" "$(git -C tiny/vendor/lib status --porcelain)"
[[ ! -e tiny/third_party/lib ]] || fail "the old folder of the submodule is still there: $(ls -A tiny/third_party/lib)"
expect "log untracked" "$(cat tiny/build.log tiny/out/file | tr '\n' ' ' | sed 's/ $//')"
expect "$mine" "$(git -C tiny rev-parse wheelsmith/saved-1)"
expect "$mine_lib" "$(git -C tiny/vendor/lib rev-parse wheelsmith/saved-1)"
expect "$topic" "$(git -C tiny/vendor/lib/deps/inner rev-parse topic)"
[[ $(json 'items[0].notes') == *wheelsmith/saved-1* ]] || fail "not told: $(json 'items[0].notes')"
git -C tiny fsck --no-dangling >/dev/null 2>&1 || fail "fsck"

# And back, by a branch; a second set of commits gets the next number.
echo again >>tiny/src/new.c
git -C tiny commit -qam again
run_json checkout tiny --variant cpu --ref release/1.x
expect 0 $status "$(cat "$t/err")"
expect "$v10 branch" "$(json 'items[0].commit + " " + items[0].ref_kind')"
expect "$v10" "$(git -C tiny rev-parse HEAD)"
expect "$v10" "$(git -C tiny rev-parse origin/release/1.x)"
expect "$lib" "$(git -C tiny/third_party/lib rev-parse HEAD)"
[[ ! -e tiny/vendor ]] || fail "vendor is left"
expect again "$(git -C tiny log -1 --format=%s wheelsmith/saved-2)"

# --- files that must not be overwritten
refused() { # WORDS ARGUMENT…: fails with these words, and the folder is as it was
  picture tiny >"$t/before"
  run checkout tiny "${@:2}"
  expect 1 $status "checkout ${*:2}: $(cat "$t/err")"
  [[ $(cat "$t/err") == *"$1"* ]] || fail "wanted \"$1\", got: $(cat "$t/err")"
  expect 1 "$(grep -c 'wheelsmith: error' "$t/err")"
  picture tiny >"$t/after"
  cmp "$t/before" "$t/after" || fail "the folder has changed: $(diff "$t/before" "$t/after")"
  expect "" "$(ls -A | grep wheelsmith-new || true)"
}
echo dirty >>tiny/src/a.c
refused "uncommitted changes: src/a.c; commit them" --ref v1.1
git -C tiny checkout -q -- src/a.c
echo dirty >>tiny/third_party/lib/lib.c
refused "third_party/lib/lib.c" --ref v1.1
git -C tiny/third_party/lib checkout -q -- lib.c
echo staged >tiny/src/staged.c && git -C tiny add src/staged.c
refused "src/staged.c" --ref v1.1
git -C tiny rm -qf src/staged.c
echo "not theirs" >tiny/src/new.c
refused "would be overwritten by v1.1: src/new.c" --ref v1.1
rm tiny/src/new.c
mkdir -p tiny/vendor/lib && echo x >tiny/vendor/lib/x
refused "vendor/lib/x" --ref v1.1
rm -r tiny/vendor

# --- bad input: one error each, nothing changed
refused "v1.9" --ref v1.9
refused "1234567890123456789012345678901234567890" --ref pin-gone
refused "tiny-not-there" --ref v1.1 --origin https://git.example/acme/tiny-not-there.git
for ref in v1.9 pin-gone; do
  run checkout tiny --ref "$ref" --into new
  expect 1 $status
  [[ ! -e new ]] || fail "new is left after $ref"
done
run checkout tiny --into "$t/s/recipes"
expect 1 $status
grep -q 'not empty and not a git repository' "$t/err"
git clone -q "$mirror/acme/extra.git" other
run checkout tiny --into other
expect 1 $status
grep -q 'is a repository of .*extra.git, not of' "$t/err"
run checkout tny
expect 2 $status
grep -q 'did you mean tiny' "$t/err"
for bad in "--hipify --no-hipify" "--depth 0" "--submodules some" "--variant cuda" "--patchset x --no-patches" "--ref --x"; do
  # shellcheck disable=SC2086
  run checkout tiny $bad
  expect 2 $status "$bad"
done

# --- all, none; history
run checkout tiny --submodules all --into all
expect "$extra" "$(git -C all/third_party/extra rev-parse HEAD)"
run checkout tiny --submodules none --into none
expect "" "$(ls none/third_party/lib)"
run checkout tiny --ref main --submodules none --full-history --into deep
expect 2 "$(git -C deep rev-list --count HEAD)"
run checkout tiny --ref main --submodules none --into shallow
expect 1 "$(git -C shallow rev-list --count HEAD)"
run_json checkout tiny --ref main --submodules none --full-history --into shallow
expect "0 deepened 2" "$status $(json 'items[0].outcome') $(git -C shallow rev-list --count HEAD)"
run_json checkout tiny --ref main --submodules none --depth 2 --into shallow
expect unchanged "$(json 'items[0].outcome')"
run checkout tiny --ref main --submodules none --depth 2 --into two
expect 2 "$(git -C two rev-list --count HEAD)"
# A deep checkout stays deep when it moves.
run checkout tiny --ref v1.0 --into deep
expect 0 $status "$(cat "$t/err")"
expect 2 "$(git -C deep rev-list --count main 2>/dev/null || git -C deep rev-list --count origin/main)"

# --- offline: fetched refs work; others give an error
run checkout tiny --ref v1.1 --offline --into off
expect 0 $status "$(cat "$t/err")"
expect "$v11" "$(git -C off rev-parse HEAD)"
run checkout tiny --ref v1.9 --offline --into off2
expect 1 $status
[[ ! -e off2 ]] || fail "off2"

# --- a submodule that moves and gets another name, there and back again, also where an older run left the old name
upstream tiny checkout -q -b renamed v1.0
sed -i 's#lib"#other/lib"#; s#path = third_party/lib#path = vendor/lib#' "$up/tiny/.gitmodules"
upstream tiny update-index --force-remove third_party/lib
rm -rf "$up/tiny/third_party/lib"
pin tiny vendor/lib "$lib2"
commit tiny renamed >/dev/null
upstream tiny tag v1.1-renamed
upstream tiny checkout -q main
publish tiny
run checkout tiny --variant cpu --into away
echo mine >>away/third_party/lib/lib.c && git -C away/third_party/lib commit -qam mine
for round in 1 2; do
  run checkout tiny --variant cpu --ref v1.1-renamed --into away
  expect 0 $status "$(cat "$t/err")"
  expect "$lib2" "$(git -C away/vendor/lib rev-parse HEAD)"
  expect mine "$(git --git-dir away/.git/modules/lib log -1 --format=%s wheelsmith/saved-1)"
  [[ $round == 1 ]] || git config -f away/.git/modules/lib/config core.worktree ../../../third_party/lib
  run checkout tiny --variant cpu --into away
  expect 0 $status "$(cat "$t/err")"
  expect "$lib" "$(git -C away/third_party/lib rev-parse HEAD)"
  expect "" "$(git -C away status --porcelain)$(git -C away/third_party/lib status --porcelain)"
done

# --- another package's folder
printf 'name = "twin"\n[source]\ngit = "https://git.example/acme/tiny.git"\nref = "v1.0"\n[build]\nbackend = "setup.py"\n[variant.cpu]\n' >"$root/recipes/twin.toml"
run checkout twin --into tiny
expect 1 $status
[[ $(cat "$t/err") == *"is a checkout of tiny, not of twin"* ]] || fail "$(cat "$t/err")"

# --- line ends converted by the user's git are not changes
git config -f "$t/crlf" core.autocrlf true
run checkout tiny --variant cpu --into ends
rm ends/src/a.c ends/version.txt
GIT_CONFIG_GLOBAL=$t/crlf git -C ends checkout -q -- .
[[ $(head -1 ends/version.txt) == *$'\r' ]] || fail "git made no line ends"
touch -d 2001-01-01 ends/src/a.c
GIT_CONFIG_GLOBAL=$t/crlf run checkout tiny --variant cpu --ref v1.1 --into ends
expect 0 $status "$(cat "$t/err")"
expect "$v11" "$(git -C ends rev-parse HEAD)"
echo user >>ends/src/a.c
GIT_CONFIG_GLOBAL=$t/crlf run checkout tiny --variant cpu --into ends
expect 1 $status
[[ $(cat "$t/err") == *"uncommitted changes: src/a.c;"* ]] || fail "$(cat "$t/err")"

# --- unreadable and unwritable paths (root drops its privileges)
bare=()
if [[ $(id -u) == 0 ]] && setpriv --bounding-set=-all --inh-caps=-all -- true 2>/dev/null; then
  bare=(setpriv --bounding-set=-all --inh-caps=-all --)
fi
if [[ $(id -u) != 0 || ${#bare[@]} != 0 ]]; then
  printf '#!/bin/bash\nexec %s "%s" "$@"\n' "${bare[*]}" "$wheelsmith" >"$t/bare" && chmod +x "$t/bare"
  run checkout tiny --variant cpu --into locked
  for place in locked locked/src; do
    picture locked >"$t/before"
    chmod 500 $place
    wheelsmith=$t/bare run checkout tiny --variant cpu --ref v1.1 --into locked
    chmod 700 $place
    expect 1 $status "$place: $(cat "$t/out")"
    [[ $(cat "$t/err") == *locked* ]] || fail "$(cat "$t/err")"
    picture locked | diff "$t/before" - || fail "$place: the folder has changed"
    [[ ! -e locked/.git/wheelsmith-move.json ]] || fail "$place: the journal is left"
  done
  chmod 0 locked/.git
  wheelsmith=$t/bare run checkout tiny --variant cpu --into locked
  chmod 700 locked/.git
  [[ $(cat "$t/err") == *"no permission to read "*"locked/.git"* ]] || fail "$(cat "$t/err")"
  run checkout tiny --variant cpu --ref v1.1 --into locked
  expect 0 $status "$(cat "$t/err")"
fi
if [[ $(id -u) == 0 ]] && chown 65534 locked/.git locked 2>/dev/null; then
  run checkout tiny --variant cpu --into locked
  expect 1 $status
  [[ $(cat "$t/err") == *"repository of another user"* ]] || fail "$(cat "$t/err")"
fi

# --- a mirror with a wrong commit
mkdir -p "$t/lie/acme"
git clone -q --bare "$up/extra" "$t/lie/acme/tiny.git" 2>/dev/null
run checkout tiny --ref "$v10" --mirrors "https://git.example/=$t/lie/" --store "$t/store-lie" --into lied
expect 1 $status
grep -q "$v10" "$t/err"
[[ ! -e lied ]] || fail "lied"
