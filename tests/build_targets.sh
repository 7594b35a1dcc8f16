#!/bin/bash
# What users pass to `build`: a folder, an archive, a repository, a version; and one package in any spelling of its
# name.
. "$(dirname "$0")/common.inc"
. "$tests/small_package.inc"
need_registry
need git
export WHEELSMITH_STORE=$t/store WHEELSMITH_OUT=$t/wheels
mkdir -p "$t/My_Pkg/my_pkg"
cd "$t/My_Pkg"
cat >pyproject.toml <<'TOML'
[build-system]
requires = ["setuptools==80.9.0"]
build-backend = "setuptools.build_meta"
[project]
name = "My_Pkg"
version = "1.2"
TOML
echo 'answer = 42' >my_pkg/__init__.py
git init -q -b main . && git add -A
git -c user.name=x -c user.email=x@example.org commit -qm one && git tag v1.2
sed -i 's/42/43/' my_pkg/__init__.py && git -c user.name=x -c user.email=x@example.org commit -qam two

built() { # built WHAT ANSWER ARGUMENT…: builds, and the wheel of the wheelhouse has that answer
  rm -rf "$t/wheels"
  run_json build "${@:3}"
  expect 0 $status "$1: $(<"$t/err") $(<"$t/out")"
  expect my-pkg "$(json 'steps[0].package')" "$1"
  expect 1 "$(json 'len(steps)')"
  expect "answer = $2" "$(unzip -p "$t"/wheels/my_pkg-*.whl my_pkg/__init__.py)" "$1"
}
built "the folder itself" 43 .
(cd .. && built "a folder by name" 43 ./My_Pkg && built "with a slash" 43 My_Pkg/)
built "a tag" 42 "git+file://$t/My_Pkg@v1.2#egg=my_pkg"
built "as a requirement" 42 "my.pkg @ git+file://$t/My_Pkg@v1.2"
git archive --prefix=my_pkg-1.2/ -o "$t/my_pkg-1.2.tar.gz" v1.2
(cd .. && built "an archive" 42 ./*.tar.gz && built "an archive without a folder" 42 my_pkg-1.2.tar.gz)

# A version from the index, whose page is a local folder.
mkdir -p "$t/links" && cp "$t/my_pkg-1.2.tar.gz" "$t/links/"
export PIP_FIND_LINKS=$t/links
cd "$t"
built "a version" 42 "My_Pkg==1.2"
# One package: the second spelling finds the first one's result.
for name in my_pkg MY-PKG my.pkg; do
  run_json build "$name"
  expect 0 $status "$(<"$t/err")"
  expect cached "$(json 'steps[0].outcome')" "$name"
done
expect 1 "$(ls "$t/wheels" | grep -c 'my_pkg.*\.whl$')"
run build "My_Pkg==9"
expect 1 $status
run report MY_PKG -o "$t/report.html"
expect 0 $status "$(<"$t/err")"

# A setup.py alone, with build requirements that only it names.
mkdir -p "$t/alone"
cat >"$t/alone/setup.py" <<'PYTHON'
from setuptools import setup

setup(name="alone", version="1", py_modules=["alone"], setup_requires=["toml==0.10.2"])
PYTHON
echo 'answer = 1' >"$t/alone/alone.py"
run build "$t/alone"
expect 0 $status "setup_requires: $(<"$t/err")"
grep -q 'also requires toml==0.10.2' "$t/err" || fail "setup_requires are not installed: $(<"$t/err")"

# Assumptions about a package without a recipe are printed once, not on every run; the plan's document always has them.
export WHEELSMITH_STORE=$t/store2
run_json plan my-pkg
expect 0 $status
first=$(json '[n for n in notes if "assumed" in n]')
run_json plan my-pkg
expect "" "$(json '[n for n in notes if "assumed" in n]')" "said again"
expect "$(grep -c . <<<"$first" || true)" "$(json 'len(steps[0].assumptions)')"

# A user's own recipe: `recipe init` writes it where `build` searches.
run recipe init My_Pkg
expect 0 $status "$(<"$t/err")"
[[ -f $XDG_CONFIG_HOME/wheelsmith/recipes/my-pkg.toml ]] || fail "no recipe: $(<"$t/out")"
grep -q 'next: wheelsmith build my-pkg$' "$t/out"
sed -i 's/^summary = .*/summary = "edited by me"/' "$XDG_CONFIG_HOME/wheelsmith/recipes/my-pkg.toml"
run recipe show MY_PKG
grep -q "edited by me" "$t/out" || fail "the recipe is not used"
run recipe init my.pkg
expect 2 $status "a recipe is not overwritten"
run build my_pkg
expect 0 $status "$(<"$t/err")"
if grep -q "has no recipe" "$t/err"; then fail "build does not use the new recipe"; fi

# -q prints only the result.
run build my-pkg -q -o "$t/quiet"
expect 0 $status
expect "" "$(<"$t/err")"
expect "$(ls "$t"/quiet/*.whl)" "$(<"$t/out")" "the wheel's path"
