#!/bin/bash
# Branches and tags of a bundle apply with --offline only: online the repository decides, which may have moved on.
source "$(dirname "$0")/common.inc"
need git
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=them GIT_AUTHOR_EMAIL=them@example.org
export GIT_COMMITTER_NAME=them GIT_COMMITTER_EMAIL=them@example.org
cd "$t"
mkdir -p recipes "git/acme"
git init -q --initial-branch=main up
printf '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n[project]\nname = "tiny"\nversion = "1"\n' >up/pyproject.toml
commit() { # TEXT: upstream moves on
  echo "$1" >up/text
  git -C up add -A
  git -C up commit -q -m "$1"
  rm -rf git/acme/tiny.git
  git clone -q --bare up git/acme/tiny.git
  git -C up rev-parse HEAD
}
cat >recipes/tiny.toml <<'TOML'
name = "tiny"
summary = "a file"
[build]
requires = ["seed"]
[source]
git = "https://git.example/acme/tiny.git"
ref = "main"
[variant.cpu]
TOML
printf 'recipes = "%s"\nstore = "%s"\n[mirrors]\n"https://git.example/" = "%s/git/"\n' "$t/recipes" "$t/store" "$t" >wheelsmith.toml
[[ $("$wheelsmith" --help) != *" trust"* ]] || "$wheelsmith" trust "$t" >/dev/null

mkdir wheels
echo >seed.py
for name in seed setuptools wheel; do make_wheel wheels/$name-1-py3-none-any.whl $name.py=seed.py; done
export PIP_NO_INDEX=1 PIP_FIND_LINKS=$t/wheels

old=$(commit one)
run checkout --bundle sources.tar tiny
expect 0 "$status" "$(<"$t/err")"
new=$(commit two)

# commit_of OPTION…: the commit that a build would use.
commit_of() {
  run_json plan tiny "$@"
  expect 0 "$status" "$(<"$t/err")"
  json 'steps[0].source.commit'
}
unbundle() { # STORE OPTION…; its build requirements are known there
  run plan tiny --ref "$old" --store "$1" --mirrors "https://git.example/=$t/git/"
  expect 0 "$status" "$(<"$t/err")"
  run checkout --unbundle sources.tar --store "$1" "${@:2}"
  expect 0 "$status" "$(<"$t/err")"
}
unbundle "$t/first"
expect "$old" "$(commit_of --store "$t/first" --offline)" "with --offline"
expect "$new" "$(commit_of --store "$t/first")" "online"
expect "$new" "$(commit_of --store "$t/first" --offline)" "with --offline, after an online answer"
expect "$old" "$(commit_of --store "$t/first" --ref "$old")" "by its commit"
unbundle "$t/second" --pin
expect "$old" "$(commit_of --store "$t/second")" "with --pin"

# When the repository is unreachable, the error suggests the bundle.
sed -i 's,/git/",/nowhere/",' wheelsmith.toml
[[ $("$wheelsmith" --help) != *" trust"* ]] || "$wheelsmith" trust "$t" >/dev/null
unbundle "$t/third"
run plan tiny --store "$t/third"
expect 1 "$status"
[[ $(<"$t/err") == *"an imported bundle has main at commit $old"*"--offline"* ]] || fail "$(<"$t/err")"
run checkout --pin
expect 2 "$status"
