#!/bin/bash
# Pins, manifests and bundles: the exact sources of a build, from torch's files or a manifest (ours or TheRock's), taken
# to a machine without network.
source "$(dirname "$0")/common.inc"
source "$tests/git_sources.inc"
git_sources "$t/s"

# --- pins
mkdir -p pytorch/.github/ci_commit_pins
git init -q --initial-branch=main "$up/vision"
echo one >"$up/vision/version.txt" && one=$(commit vision one)
echo two >"$up/vision/version.txt" && two=$(commit vision two)
publish vision
git clone -q --bare "$up/vision" "$mirror/acme/fork.git" 2>/dev/null
cat >"$root/recipes/vision.toml" <<'TOML'
name = "vision"
[source]
git = "https://git.example/acme/vision.git"
ref = "main"
[source.pinned-by]
recipe = "pytorch"
record = "torchvision"
files = [".github/ci_commit_pins/vision.txt"]
[build]
backend = "setup.py"
[variant.cpu]
TOML
pinned() { json 'items[0].commit + " " + items[0].origin'; }
run_json checkout vision --into v0
expect "$two https://git.example/acme/vision.git" "$(pinned)"
echo "$one" >pytorch/.github/ci_commit_pins/vision.txt
run_json checkout vision --torch-dir pytorch --into v1
expect 0 $status "$(cat "$t/err")"
expect "$one https://git.example/acme/vision.git" "$(pinned)"
expect pytorch/.github/ci_commit_pins/vision.txt "$(json 'items[0].ref_by')"
run checkout vision --torch-dir pytorch --require-related-commit --into v2
expect 1 $status
grep -q 'has no entry for torchvision in related_commits' "$t/err"
printf '# comment\n\nubuntu|pytorch|torchvision|main|%s|https://git.example/acme/fork.git\n' "$two" >pytorch/related_commits
run_json checkout vision --torch-dir pytorch --require-related-commit --into v2
expect "$two https://git.example/acme/fork.git" "$(pinned)"
expect pytorch/related_commits:3 "$(json 'items[0].ref_by')"
run_json checkout vision --torch-dir pytorch --ref "$one" --into v3
expect "$one https://git.example/acme/vision.git" "$(pinned)" "what the user says wins"
echo 'ubuntu|pytorch|torchvision|main' >>pytorch/related_commits
run checkout vision --torch-dir pytorch --into v4
expect 1 $status
grep -q 'related_commits:4: 4 fields' "$t/err"
[[ ! -e v4 ]] || fail v4
for place in v1 "$up"; do
  run checkout vision --torch-dir "$place" --into v5
  expect 2 $status
  [[ $(cat "$t/err") == *"--torch-dir $place: "*"of pytorch"* ]] || fail "$(cat "$t/err")"
done

# --- manifest
mkdir -p patches/tiny/stable/tiny/base
run checkout tiny --variant rocm
sed -i 's/^5$/five/' tiny/src/a.c && git -C tiny commit -qam five
run manifest write tiny
expect 1 $status
grep -q 'patches save' "$t/err"
run patches save tiny --patchset stable
expect 0 $status "$(cat "$t/err")"
run checkout tiny --variant rocm
run manifest write tiny --dir v1 -o m.json
expect 0 $status "$(cat "$t/err")"
expect 1 "$(json schema_version m.json)"
expect "$v10 https://git.example/acme/tiny.git v1.0 1.0" "$(json 'tiny.commit + " " + tiny.repo + " " + tiny.branch + " " + tiny.version' m.json)"
expect "$lib" "$(json 'tiny.submodules["third_party/lib"]' m.json)"
expect "$(git -C tiny rev-parse 'HEAD^{tree}')" "$(json tiny.tree m.json)"
run_json manifest write tiny --dir v1 -o m2.json
expect m2.json "$(json file)"
cmp m.json m2.json
run_json manifest checkout m.json --into again
expect 0 $status "$(cat "$t/err")"
expect "$(git -C tiny rev-parse 'HEAD^{tree}')" "$(git -C again/tiny rev-parse 'HEAD^{tree}')"
expect "$one" "$(git -C again/vision rev-parse HEAD)"
# TheRock's format; a project without a recipe is skipped unless it is named.
printf '{"schema_version": 1, "pytorch_vision": {"repo": "https://git.example/acme/vision.git", "commit": "%s", "branch": "main"}, "therock": {"repo": "https://git.example/acme/rock.git", "commit": "%s", "version": "7.0"}}' "$one" "$two" >rock.json
run_json manifest checkout rock.json --into rock
expect 0 $status "$(cat "$t/err")"
expect "$one" "$(git -C rock/vision rev-parse HEAD)"
grep -q 'skipped therock' "$t/err"
# Everything is validated before the first checkout.
bad() { # WORDS: bad.json is refused with them
  run manifest checkout bad.json --into nothing "${@:2}"
  [[ $status != 0 && $(cat "$t/err") == *"$1"* ]] || fail "$status $(cat "$t/err")"
  [[ ! -e nothing ]] || fail "nothing is there"
}
change() { python3 -c "import json; d = json.load(open('m.json')); $1; json.dump(d, open('bad.json', 'w'))"; }
change 'd["schema_version"] = 2' && bad "schema_version is not 1"
change 'd["vision"]["commit"] = "main"' && bad 'commit "main" is not a commit'
change 'del d["vision"]["repo"]' && bad "vision: repo is missing"
change 'd["x/../../y"] = d["vision"]' && bad "x/../../y"
change 'd["tiny"]["patches"][0]["sha256"] = "0" * 64' && bad "0001-five.patch of set stable has sha256"
change 'd["tiny"]["patchset"] = "../../x"' && bad "not a valid patch set name"
change 'd["tiny"]["submodules"] = []' && bad "submodules is a list"
cp m.json bad.json && bad "has no project nothing" --projects nothing
echo '[' >bad.json && bad "bad.json:1"
change 'd["tiny"]["tree"] = "0" * 40'
run manifest checkout bad.json --into trees --projects tiny
expect 1 $status
grep -q 'but the manifest says 0000' "$t/err"

# --- bundle: another store, and without mirrors
cat >>"$root/recipes/tiny.toml" <<'TOML'
[[variant.cpu.fetch]]
name = "vision"
git = "https://git.example/acme/vision.git"
ref-file = "version.txt"
ref-pattern = '(no such)'
ref = "main"
variable = "TINY_VISION"
why = "a test"
TOML
run_json checkout --bundle sources.tar tiny --variant cpu
expect 0 $status "$(cat "$t/err")"
expect 4 "$(json 'len(repositories)')" "$(json repositories)"
tar tf sources.tar >"$t/list"
expect "index.json" "$(sed -n 1p "$t/list")"
mkdir -p "$t/away" && cp sources.tar "$t/away/"
cd "$t/away"
printf 'recipes = "%s"\nstore = "%s"\noffline = true\n[mirrors]\n"https://git.example/" = "%s/nowhere/"\n' "$root/recipes" "$t/away/store" "$t" >wheelsmith.toml
trust
run checkout tiny --variant cpu
expect 1 $status
run_json checkout --unbundle sources.tar
expect 0 $status "$(cat "$t/err")"
expect 4 "$(json 'len(repositories)')"
run_json checkout tiny --variant cpu --no-patches
expect 0 $status "$(cat "$t/err")"
expect "$v10" "$(git -C tiny rev-parse HEAD)"
expect "$lib $inner" "$(git -C tiny/third_party/lib rev-parse HEAD) $(git -C tiny/third_party/lib/deps/inner rev-parse HEAD)"
run checkout tiny --variant cpu --submodules all --into all
expect 1 $status "extra is not in it"
[[ ! -e all ]] || fail all
# Hostile bundles.
python3 - <<'PY'
import io, json, tarfile
def change(name, edit):
    members = {m.name: tarfile.open("sources.tar").extractfile(m).read() for m in tarfile.open("sources.tar")}
    index = json.loads(members["index.json"])
    edit(members, index)
    if "index.json" in members:
        members["index.json"] = json.dumps(index).encode()
    with tarfile.open(name, "w") as out:
        for path, data in members.items():
            info = tarfile.TarInfo(path)
            info.size = len(data)
            out.addfile(info, io.BytesIO(data))
first = lambda i: i["repositories"][0]
def flip(m, i):
    path = first(i)["file"]
    m[path] = m[path][:-30] + bytes(30)
change("flipped.tar", flip)
def rehashed(m, i):
    import hashlib
    flip(m, i)
    first(i)["sha256"] = hashlib.sha256(m[first(i)["file"]]).hexdigest()
change("rehashed.tar", rehashed)
change("gone.tar", lambda m, i: m.pop(first(i)["file"]))
change("more.tar", lambda m, i: m.update({"git/../../x": b"x"}))
change("stray.tar", lambda m, i: m.update({"stray": b"x"}))
change("commit.tar", lambda m, i: first(i)["commits"].append("0" * 40))
change("ref.tar", lambda m, i: [r["refs"].append({"ref": "x", "kind": "branch", "name": "../../x", "commit": r["commits"][0]}) for r in i["repositories"]])
change("schema.tar", lambda m, i: i.update(schema=2))
change("noindex.tar", lambda m, i: m.pop("index.json"))
open("cut.tar", "wb").write(open("sources.tar", "rb").read()[:5000])
PY
for file in flipped rehashed gone more stray commit ref schema noindex cut; do
  run checkout --unbundle $file.tar --store "$t/away/store-$file"
  expect 1 $status "$file"
  [[ $(cat "$t/err") == *"error: $file.tar: "* ]] || fail "$file: $(cat "$t/err")"
  expect "" "$(ls "$t/away/store-$file/git" 2>/dev/null | grep -v lock || true)" "$file: nothing of it is kept"
done
run checkout --unbundle not-there.tar
expect 1 $status
