#!/bin/bash
# The pinned source overrides the recipe: limits are read from it, rules that do not fit it stop the plan, a checkout
# given with --source has its own ref and version, and optional dependencies can be skipped.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need git python3
export HOME=$t/home GIT_CONFIG_GLOBAL=$t/gitconfig WHEELSMITH_STORE=$t/store WHEELSMITH_RECIPES=$t/recipes
mkdir -p "$HOME" "$t/recipes"
git config --file "$t/gitconfig" user.name a
git config --file "$t/gitconfig" user.email a@b
git config --file "$t/gitconfig" protocol.file.allow always
cd "$t"

# fails TEXT ARGUMENT…: the plan is rejected with this text.
fails() {
  run plan "${@:2}"
  [[ $status != 0 ]] || fail "plan ${*:2} is not refused"
  grep -qF -- "$1" "$t/err" || fail "plan ${*:2}: $(<"$t/err")"
}
good() { run_json plan "$@"; expect 0 "$status" "plan $*: $(<"$t/err")"; }
notes() { json notes; }
# told GREP-ARGUMENTS…: whether a note matches.
told() { grep -q "$@" <<<"$(notes)"; }

# ---- a repository with two releases and a branch
git init -q -b main repo
cat >repo/pyproject.toml <<'TOML'
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "demo"
dynamic = ["version"]
requires-python = ">=3.8"
TOML
cat >repo/setup.py <<'PYTHON'
import os
from setuptools import setup
setup(name="demo", version=os.environ["DEMO_VERSION"], py_modules=["demo"])
PYTHON
touch repo/demo.py
printf 'set(ARCHS "gfx942;gfx950")\nset(STANDARD 17)\n' >repo/CMakeLists.txt
git -C repo add .
git -C repo commit -qm one
git -C repo tag v1.0.0
git -C repo branch release/1.0
printf 'set(ARCHS "gfx942;gfx1151")\nset(STANDARD 20)\n' >repo/CMakeLists.txt
git -C repo commit -qam two
git -C repo tag v1.1.0
cat >recipes/demo.toml <<TOML
name = "demo"
[source]
git = "file://$t/repo"
ref = "v1.1.0"
tag-prefix = "v"
checked = ">=1.0.0,<=1.1.0"
[requires]
rocm = false
[build.environment]
DEMO_VERSION = "{version}"
[[when]]
if = { ref = "release/1.0" }
build.environment.DEMO_BRANCH = "1.0"
[[when]]
if = { version = "<1.1" }
build.environment.DEMO_OLD = "1"
[variant.cpu]
[variant.rocm.archs]
variable = "DEMO_ARCHS"
spelling = "gfx"
default = "gfx942"
legal = ["gfx942"]
features = "refused"
[[variant.rocm.read]]
what = "archs"
file = "CMakeLists.txt"
pattern = 'ARCHS "([^"]+)"'
[[variant.rocm.read]]
what = "cxx-standard"
file = "CMakeLists.txt"
pattern = 'STANDARD ([0-9]+)'
[[variant.rocm.needs]]
recipe = "extra"
optional = true
companion = true
why = "faster with it"
TOML
cat >recipes/extra.toml <<TOML
name = "extra"
[source]
git = "file://$t/nowhere"
ref = "v1"
[requires]
rocm = false
[variant.rocm.archs]
spelling = "gfx"
TOML

# ---- architectures from the source of that tag, not from the recipe
good demo --variant rocm --arch gfx1151
expect gfx1151 "$(json 'steps[0].environment.DEMO_ARCHS')"
told -F 'demo: architectures gfx942;gfx1151 from CMakeLists.txt; the recipe has gfx942' || fail "$(notes)"
fails 'demo cannot be built for gfx1151; supported: gfx942, gfx950' demo --variant rocm --arch gfx1151 --ref v1.0.0
good demo --variant rocm --arch gfx950 --ref v1.0.0
expect 1 "$(json 'steps[0].environment.DEMO_OLD')"
# A GPU name means its plain architecture; unsupported target features are rejected.
good demo --variant rocm --gpu MI300X
expect gfx942 "$(json 'steps[0].environment.DEMO_ARCHS')"
fails 'demo does not accept target features; use gfx942' demo --variant rocm --arch gfx942:xnack-

# ---- an optional dependency with a missing repository is a warning; --without skips it
good demo --variant rocm --arch gfx942
told '^warning: demo: built without the optional extra, which cannot be planned: ' || fail "$(notes)"
expect demo "$(json '[s.package for s in steps]')"
good demo --variant rocm --arch gfx942 --without extra
told -xF 'demo: built without extra (--without)' || fail "$(notes)"
! told '^warning' || fail "$(notes)"
fails '--without other: no package of this build has such an optional dependency' demo --variant rocm --without other
sed -i 's/^optional = true$//' recipes/demo.toml
fails '--without extra: demo cannot be built without it: faster with it' demo --variant rocm --without extra
sed -i '/^\[\[variant.rocm.needs/,$d' recipes/demo.toml

# ---- a checkout: its tag, its branch, its changes
git clone -q "file://$t/repo" work
variable() { json "steps[0].environment.get('$1', '')"; }
good demo --variant cpu --source demo=work
expect "1.1.0 " "$(variable DEMO_VERSION) $(variable DEMO_OLD)"
git -C work checkout -q -b mine --track origin/release/1.0
good demo --variant cpu --source demo=work
expect "1.0.0 1" "$(variable DEMO_VERSION) $(variable DEMO_OLD)"
echo '# changed' >>work/setup.py
good demo --variant cpu --source demo=work
commit=$(git -C work rev-parse --short=8 HEAD)
expect "1.0.1.dev0+g$commit.dirty 1" "$(variable DEMO_VERSION) $(variable DEMO_OLD)"
git -C work commit -qam three
good demo --variant cpu --source demo=work
commit=$(git -C work rev-parse --short=8 HEAD)
expect "1.0.1.dev1+g$commit 1 1.0" "$(variable DEMO_VERSION) $(variable DEMO_OLD) $(variable DEMO_BRANCH)" "version, and the rule for the branch"

# ---- mismatches stop the plan, or are reported
git -C repo tag v1.2.0
good demo --variant cpu --ref v1.2.0
told '^warning: demo 1.2.0 is outside the versions that its recipe was verified for' || fail "$(notes)"
sed -i 's/requires-python = ">=3.8"/requires-python = ">=3.99"/' repo/pyproject.toml
git -C repo commit -qam four
fails 'requires Python >=3.99 (according to its metadata)' demo --variant cpu --ref main
git -C repo revert --no-edit HEAD >/dev/null
sed -i 's/^DEMO_VERSION = .*$//' recipes/demo.toml
good demo --variant cpu
told '^warning: demo: setup.py reads DEMO_VERSION without a default, and nothing sets it' || fail "$(notes)"
good demo --variant cpu --env DEMO_VERSION=1
! told DEMO_VERSION || fail "$(notes)"
cp recipes/demo.toml keep.toml
# edit FILE FROM REQUIRED
edit() {
  { cat keep.toml; printf '[[build.edit]]\nfile = "%s"\nfrom = "%s"\nto = "x"\nwhy = "a test"\nrequired = %s\n' "$@"; } >recipes/demo.toml
}
edit setup.py "import os" true
good demo --variant cpu
edit setup.py "import nothing" true
fails 'setup.py does not contain "import nothing", which the recipe replaces: a test' demo --variant cpu
edit none.py "import os" true
fails 'none.py does not exist in this source, but the recipe edits it: a test' demo --variant cpu
edit none.py "import os" false
good demo --variant cpu
told '^warning: demo 1.1.0: none.py does not exist' || fail "$(notes)"
{ cat keep.toml; printf '[checkout]\nsubmodules = ["external/none"]\n'; } >recipes/demo.toml
fails 'the recipe needs the submodule external/none, which this version does not have; it has none' demo --variant cpu
{ cat keep.toml; printf '[build]\nappend.EXTRA = "demo=={set.which}"\n[settings.which]\nhelp = "a version"\ndefault = ""\n'; } >recipes/demo.toml
fails 'EXTRA: the recipe demo expands to "demo==", which is not a valid requirement' demo --variant cpu
