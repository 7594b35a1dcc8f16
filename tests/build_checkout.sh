#!/bin/bash
# A package that derives its version from git, built from a checkout: at a tag, after it, and with changed files.
# setuptools-scm in the checkout confirms the versions.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need git
export HOME=$t/home GIT_CONFIG_GLOBAL=$t/gitconfig WHEELSMITH_STORE=$t/store WHEELSMITH_OUT=$t/wheelhouse
mkdir -p "$HOME"
git config --file "$t/gitconfig" user.name a
git config --file "$t/gitconfig" user.email a@example.org
cd "$t"
git init -q repo
cat >repo/pyproject.toml <<'TOML'
[build-system]
requires = ["setuptools", "setuptools-scm"]
build-backend = "setuptools.build_meta"
[project]
name = "fromgit"
dynamic = ["version"]
[tool.setuptools]
py-modules = ["fromgit"]
[tool.setuptools_scm]
TOML
echo 'answer = 1' >repo/fromgit.py
commit() { git -C repo add -A && git -C repo commit -qm "$1"; }
commit first
git -C repo tag v1.4.0
python3 -m venv "$t/judge"
"$t/judge/bin/python" -m pip install -q --disable-pip-version-check setuptools setuptools-scm

# same WHAT: the wheel's version matches the checkout, with the date that builds use.
same() {
  local wanted wheel
  wanted=$(cd repo && SOURCE_DATE_EPOCH=315532800 "$t/judge/bin/python" -m setuptools_scm)
  run_json build fromgit --source fromgit=repo
  expect 0 "$status" "$1: $(cat "$t/err")"
  wheel=$(json 'steps[0].wheel')
  expect "fromgit-$wanted-py3-none-any.whl" "${wheel##*/}" "$1"
}
same "at the tag"
expect fromgit-1.4.0-py3-none-any.whl "$(cd wheelhouse && echo fromgit-1.4.0-*.whl)"
echo 'answer = 2' >repo/fromgit.py
same "with a changed file"
commit second
same "behind the tag"
git -C repo tag v1.5.0
same "at a new tag in the same tree"
[[ -z $(git -C repo status --porcelain) ]] || fail "the checkout was changed: $(git -C repo status --porcelain)"

# From a clone without history, at a tag.
git clone -q --depth=1 --branch v1.5.0 "file://$t/repo" "$t/shallow" 2>/dev/null
run_json build fromgit --source "fromgit=$t/shallow"
expect 0 "$status" "$(cat "$t/err")"
[[ $(json 'steps[0].wheel') == */fromgit-1.5.0-py3-none-any.whl ]] || fail "made $(json 'steps[0].wheel')"

# The script does the same.
run plan fromgit --source fromgit=repo --script
expect 0 "$status"
WORK=$t/work DIST=$t/dist bash "$t/out" >"$t/script.log" 2>&1 || { cat "$t/script.log" >&2; fail "the script failed"; }
[[ -f $(echo "$t"/dist/fromgit-1.5.0-*.whl) ]] || fail "the script made $(ls "$t/dist")"
