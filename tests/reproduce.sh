#!/bin/bash
# `reproduce`: rebuilds a wheel from its own metadata; cmp compares the bytes. Differences are named: a changed source,
# another compiler, a nondeterministic build, a modified wheel.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need git unzip
small_package "$t"
mkdir "$t/nowhere"
cd "$t/nowhere"

run_json build small --env SMALL_USER=1 --env SMALL_TOKEN=hunter2
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
wheel=$(json 'steps[0].wheel')
mkdir "$t/home"
cp "$wheel" "$t/home"
wheel=$t/home/${wheel##*/}
unzip -p "$wheel" >"$t/contents"
if grep -aq hunter2 "$t/contents"; then fail "a secret is in the wheel"; fi

# Inputs that it does not carry must be given: a secret, and its source folder.
unset WHEELSMITH_RECIPES
run reproduce "$wheel" --source "$t/recipes/small"
expect 1 "$status"
grep -q 'SMALL_TOKEN, whose value is not in the wheel' "$t/err" || fail "$(<"$t/err")"
run reproduce "$wheel" --env SMALL_TOKEN=hunter2
expect 1 "$status"
grep -q -- '--source' "$t/err" || fail "$(<"$t/err")"

# The same bytes, in the same store and in an empty one, without recipe, history or result.
blobs=$(ls -R "$t/store/blobs" "$t/store/steps" | sort | sha256sum)
run_json reproduce "$wheel" --source "$t/recipes/small" --env SMALL_TOKEN=hunter2 --out "$t/again"
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "reproduce ended with $status"; }
expect "same" "$(json 'items[0].verdict')"
expect "" "$(json 'items[0].environment')"
expect built "$(json 'items[0].build.outcome')" "it must not come from the store"
cmp "$wheel" "$(json 'items[0].rebuilt')"
expect "$blobs" "$(ls -R "$t/store/blobs" "$t/store/steps" | sort | sha256sum)" "what the store holds by key"
expect "" "$(ls "$t/store/trees" | grep reproduce || true)" "trees that are left"
WHEELSMITH_STORE=$t/store2 run_json reproduce "$wheel" --source "$t/recipes/small" --env SMALL_TOKEN=hunter2
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "reproduce ended with $status"; }
expect "" "$(json 'items[0].rebuilt')"
run reproduce "$wheel" --source "$t/recipes/small" --env SMALL_TOKEN=hunter2 --offline
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "reproduce --offline ended with $status"; }
grep -q 'identical' "$t/out" || fail "$(<"$t/out")"
run reproduce "$wheel" --source "$t/recipes/small" --out "$t/home"
expect 2 "$status" "the wheel's own folder as --out"

# Another secret: other inputs, which the key shows although the values are hidden.
run_json reproduce "$wheel" --source "$t/recipes/small" --env SMALL_TOKEN=other
expect "1 differs" "$status $(json 'items[0].verdict')"
expect true "$(json 'items[0].same_payload')"
expect key "$(json 'items[0].environment[0].what')"

# A changed source is named, with its effect.
cp -r "$t/recipes/small" "$t/changed"
sed -i 's/a + b/a - b/' "$t/changed/small/add.c"
run_json reproduce "$wheel" --source "$t/changed" --env SMALL_TOKEN=hunter2
expect "1 differs" "$status $(json 'items[0].verdict')"
names=$(json '[e.what for e in items[0].environment]' | tr '\n' ' ')
[[ $names == *"source:small/add.c "* ]] || fail "the changed file is not named: $names"
json '[m.name + ": " + " | ".join(m.reasons) for m in items[0].members]' >"$t/members"
grep -q '^small/_small.*section .text' "$t/members" || fail "$(<"$t/members")"
grep -q 'RECORD' "$t/members" || fail "$(<"$t/members")"

# Another compiler is named.
if command -v clang >/dev/null && command -v clang++ >/dev/null; then
  run_json reproduce "$wheel" --source "$t/recipes/small" --env SMALL_TOKEN=hunter2 --cc clang --cxx clang++
  expect "1 differs" "$status $(json 'items[0].verdict')"
  [[ $(json '[e.here for e in items[0].environment if e.what == "compiler"][0]') == clang* ]] || fail "$(<"$t/out")"
fi

# A wheel modified after its build.
python3 - "$wheel" "$t/home/changed" <<'PYTHON'
import sys, zipfile
source = zipfile.ZipFile(sys.argv[1])
with zipfile.ZipFile(sys.argv[2], "w") as target:
    for item in source.infolist():
        data = source.read(item)
        target.writestr(item, data + b"evil = True\n" if item.filename == "small/__init__.py" else data)
    target.writestr("small/more.py", "")
PYTHON
mkdir "$t/other"
mv "$t/home/changed" "$t/other/${wheel##*/}"
run_json reproduce "$t/other/${wheel##*/}" --source "$t/recipes/small" --env SMALL_TOKEN=hunter2
expect "1 differs" "$status $(json 'items[0].verdict')"
expect "only-in-wheel" "$(json '[m.kind for m in items[0].members if m.name == "small/more.py"][0]')"
expect "line 3 - evil = True" "$(json '[m.reasons[0] for m in items[0].members if m.name == "small/__init__.py"][0]')"
rm -r "$t/other"

# A nondeterministic build.
export WHEELSMITH_RECIPES=$t/recipes
sed -i 's/^from setuptools.*/&\nimport os, binascii; open("small\/random.py", "w").write("x = %r" % binascii.hexlify(os.urandom(8)))/' "$t/recipes/small/setup.py"
run_json build small
wheel=$(json 'steps[0].wheel')
run_json reproduce "$wheel"
expect "1 differs false" "$status $(json 'items[0].verdict') $(json 'items[0].same_payload')"
[[ $(json '[m.name for m in items[0].members]' | tr '\n' ' ') == *small/random.py* ]] || fail "$(<"$t/out")"

# From a repository: the commit suffices, even if its branch moved.
git_quiet() { git -c user.name=a -c user.email=a@b -C "$@" >/dev/null 2>&1; }
mkdir "$t/repo"
cp -r "$t/recipes/small/." "$t/repo"
sed -i '/urandom/d' "$t/repo/setup.py"
git_quiet "$t/repo" init -q -b main && git_quiet "$t/repo" add -A && git_quiet "$t/repo" commit -qm one
sed -i "s|^folder = .*|git = \"file://$t/repo\"\nref = \"main\"|" "$t/recipes/small.toml"
run_json build small
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
wheel=$(json 'steps[0].wheel')
echo '# later' >>"$t/repo/small/__init__.py"
git_quiet "$t/repo" commit -qam two
run reproduce "$wheel" # an address of this machine is not taken from a wheel
expect 1 "$status"
WHEELSMITH_STORE=$t/store3 run_json reproduce "$wheel" --source "$t/repo"
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "reproduce ended with $status"; }

# An sdist of the index, by its hash alone.
run_json build iniconfig --source iniconfig==2.0.0
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
wheel=$(json 'steps[0].wheel')
WHEELSMITH_STORE=$t/store4 run_json reproduce "$wheel"
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "reproduce of an sdist ended with $status"; }

# Built with another step's wheel, which is found by hash.
mkdir -p "$t/recipes/second/second"
touch "$t/recipes/second/second/__init__.py"
cat >"$t/recipes/second.toml" <<'TOML'
name = "second"
summary = "needs small to be built"
[source]
folder = "second"
[build]
requires = ["setuptools==80.9.0"]
[[needs]]
recipe = "small"
[variant.cpu]
TOML
printf '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "second"\nversion = "2.0"\n' \
  >"$t/recipes/second/pyproject.toml"
printf 'import small\nfrom setuptools import setup\nopen("second/value.py", "w").write("x = %%d" %% small.add(1, 2))\nsetup(packages=["second"])\n' \
  >"$t/recipes/second/setup.py"
run_json build second
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
mkdir "$t/alone"
cp "$t/wheelhouse/second-2.0-py3-none-any.whl" "$t/alone"
WHEELSMITH_STORE=$t/store4 run_json reproduce "$t/alone/second-2.0-py3-none-any.whl"
expect 1 "$status"
[[ $(json 'items[0].error') == "small-1.0-"*"give its folder with --wheels"* ]] || fail "$(json 'items[0].error')"
WHEELSMITH_STORE=$t/store4 run_json reproduce "$t/alone/second-2.0-py3-none-any.whl" --wheels "$t/wheelhouse"
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "reproduce ended with $status"; }

# Foreign or hostile wheels are rejected without running anything.
echo 'x = 1' >"$t/x.py"
make_wheel "$t/demo-1.0-py3-none-any.whl" "demo/x.py=$t/x.py"
run_json reproduce "$t/demo-1.0-py3-none-any.whl"
expect 1 "$status"
[[ $(json 'items[0].error') == *"not built by wheelsmith"* ]] || fail "$(<"$t/out")"
hostile() { # hostile PYTHON: changes the specification `s` that the wheel carries
  rm -rf "$t/hostile" && mkdir "$t/hostile"
  python3 - "$wheel" "$t/hostile/${wheel##*/}" "$1" <<'PYTHON'
import json, sys, zipfile
source = zipfile.ZipFile(sys.argv[1])
with zipfile.ZipFile(sys.argv[2], "w") as target:
    for item in source.infolist():
        data = source.read(item)
        if item.filename.endswith("wheelsmith/build.json"):
            document = json.loads(data)
            s = document["spec"]
            exec(sys.argv[3])
            data = json.dumps(document)
        target.writestr(item, data)
PYTHON
  run_json reproduce "$t/hostile/${wheel##*/}"
  expect 1 "$status" "$1"
  [[ -n $(json 'items[0].error') ]] || fail "$1: $(<"$t/out")"
  [[ ! -e $t/pwned ]] || fail "$1: it ran"
}
printf '#!/bin/sh\ntouch %s/pwned\n' "$t" >"$t/evil"
chmod +x "$t/evil"
hostile "s['python']['version'] = '$t/evil'"
hostile "s['subfolder'] = '../../../../home'"
hostile "s['source'] = {'kind': 'git', 'git_url': 'ext::$t/evil', 'git_commit': 'a' * 40}"
hostile "s['source'] = {'kind': 'git', 'git_url': 'https://127.0.0.1/x', 'git_commit': '--upload-pack=$t/evil'}"
hostile "s['actions'] = [{'phase': 'source', 'what': {'kind': 'apply-patch', 'patch': {'name': 'a', 'text': '', 'folder': '../..'}}}]"
hostile "s['actions'] = [{'phase': 'prepare', 'what': {'kind': 'write-file', 'path': '$t/pwned', 'text': ''}}]"
hostile "s['actions'] = [{'phase': 'source', 'what': {'kind': 'remove-files', 'patterns': ['../*']}}]"
hostile "s['editable'] = True"
hostile "s['variant'] = 7"
rm -rf "$t/hostile"
