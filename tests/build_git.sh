#!/bin/bash
# A miniature of the big packages: a repository behind a mirror with submodules of which the variant needs one, two tags
# on one commit, a companion that its configuration would clone, files and commands before the build, rules for one
# compiler only, a requirement that is rejected, and closing checks.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need git cmake
cd "$t"
export WHEELSMITH_STORE=$t/store WHEELSMITH_OUT=$t/wheelhouse WHEELSMITH_RECIPES=$t/recipes
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
git() { command git -c protocol.file.allow=always -c init.defaultBranch=main -c advice.detachedHead=false "$@"; }
# repository NAME: a folder git/owner/NAME that is a repository with one commit of its content
repository() { git -C "git/owner/$1" init -q && commit "$1" first; }
commit() { git -C "git/owner/$1" add -A && git -C "git/owner/$1" commit -q -m "$2"; }

mkdir -p git/owner/{big,needed,unneeded,companion} recipes
echo 'int needed(void);' >git/owner/needed/needed.h
echo unneeded >git/owner/unneeded/file
printf '#define COMPANION 40\n' >git/owner/companion/companion.h
for name in needed unneeded companion; do repository "$name"; done
git -C git/owner/companion tag c1.0
printf '#define COMPANION 41\n' >git/owner/companion/companion.h
commit companion second

mkdir -p git/owner/big/sub/big git/owner/big/tools
cd git/owner/big
git init -q
for name in needed unneeded; do
  git submodule -q add "$t/git/owner/$name" "third/$name"
  git config -f .gitmodules "submodule.third/$name.url" "https://example.org/owner/$name.git"
done
echo 'set(COMPANION_TAG "c1.0")' >CMakeLists.txt
echo 'raise SystemExit("the package is in sub")' >setup.py
printf '[build-system]\nrequires = ["setuptools", "cmake"]\nbuild-backend = "setuptools.build_meta"\n' >sub/pyproject.toml
cat >sub/setup.py <<'PYTHON'
import os, pathlib, subprocess
from setuptools import Extension, setup
tag = subprocess.run(["git", "describe", "--tags"], capture_output=True, text=True, check=True).stdout.strip()
assert pathlib.Path("../third/needed/needed.h").exists()
assert not pathlib.Path("../third/unneeded/file").exists()
assert pathlib.Path("prepared.txt").read_text() == "1.2.0 cpu\n"
assert "BIG_EMPTY" not in os.environ
# CMake's FetchContent finds everything else through the mirrors, without a network.
if "GIT_CONFIG_COUNT" in os.environ and not pathlib.Path("fetched.cmake").exists():
    pathlib.Path("fetched.cmake").write_text(f"""
include(FetchContent)
FetchContent_Populate(companion GIT_REPOSITORY https://example.org/owner/companion.git GIT_TAG c1.0 QUIET
  SOURCE_DIR {os.getcwd()}/cloned BINARY_DIR {os.getcwd()}/cloned-build SUBBUILD_DIR {os.getcwd()}/cloned-subbuild)
""")
    subprocess.run(["cmake", "-P", "fetched.cmake"], check=True)
    assert "40" in pathlib.Path("cloned/companion.h").read_text()
setup(name="big-cpu", version=tag.removeprefix("v"), packages=["big"],
      ext_modules=[Extension("big._big", ["big/module.c"], include_dirs=[os.environ["COMPANION_DIR"]])])
PYTHON
cat >sub/big/module.c <<'C'
#include <Python.h>
#include <companion.h>
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_big", 0, -1, 0};
PyMODINIT_FUNC PyInit__big(void) {
  PyObject* m = PyModule_Create(&module);
  if (m != NULL) PyModule_AddIntConstant(m, "companion", COMPANION);
  return m;
}
C
echo 'from ._big import companion' >sub/big/__init__.py
echo 'import pathlib, sys; pathlib.Path("prepared.txt").write_text(" ".join(sys.argv[1:]) + "\n")' >tools/prepare.py
cd "$t"
commit big first
# Both tags are on the commit; the version is the requested one.
git -C git/owner/big tag v1.2.0rc1
git -C git/owner/big tag -a -m release v1.2.0
git clone -q --bare git/owner/companion mirror-companion.git

cat >wheelsmith.toml <<TOML
[mirrors]
"https://example.org/" = "$t/git"
"https://example.org/owner/companion" = "$t/mirror-companion.git"
TOML
trust
cat >recipes/big.toml <<'TOML'
name = "big"
[source]
git = "https://example.org/owner/big.git"
ref = "v1.2.0"
subfolder = "sub"
[settings.empty]
help = "nothing"
[build]
requires = ["setuptools==80.9.0"]
environment.BIG_EMPTY = "{set.empty}"
[build.not-from-pip]
cmake = "the machine's own is wanted"
[build.files]
"big/written.py" = "commit = '{source.commit8}'\n"
[[build.prepare]]
command = ["{python}", "../tools/prepare.py", "{version}", "{variant}"]
[checkout]
submodules = ["third/needed"]
[[fetch]]
name = "companion"
git = "https://example.org/owner/companion.git"
ref-file = "CMakeLists.txt"
ref-pattern = 'COMPANION_TAG "([^"]+)"'
variable = "COMPANION_DIR"
[[fetch]]
name = "later"
git = "https://example.org/owner/later.git"
ref-file = "CMakeLists.txt"
ref-pattern = 'LATER_TAG "([^"]+)"'
[[needs]]
recipe = "extra"
optional = true
companion = true
why = "faster with it"
[[when]]
if = { compiler = "gcc>=4", version = ">=1.2" }
why = "new compilers are strict"
build.environment.BIG_WHEN = "yes"
[[test]]
script = "import big, big.written; assert big.companion == 40 and len(big.written.commit) == 8"
[[runtime]]
variable = "BIG_HOME"
value = "{version}"
why = "it looks there"
[[checklist]]
id = "wheels"
wheels = ["big-cpu", "extra"]
[[checklist]]
id = "variables"
variables = ["BIG_WHEN"]
[[checklist]]
id = "cmake"
program = "cmake"
not-from = "pip"
[[checklist]]
id = "installed"
installed = ["big-cpu"]
[[platform]]
match = "win_*"
tag = "win_amd64"
rules = [{ id = "short-folder", what = "a short checkout folder", why = "paths end at 260 characters", fix = "C:/b" }]
[variant.cpu.build]
project = "big-cpu"
TOML
cat >recipes/extra.toml <<'TOML'
name = "extra"
[source]
git = "https://example.org/owner/nowhere.git"
[settings.force]
help = "try it"
default = "off"
choices = ["off", "on"]
[[refuse]]
why = "it has no code for the CPU"
override = "force"
[variant.cpu]
TOML

good() { [[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "$1 ended with $status"; }; }
run_json build big
good "build big"
expect "extra skipped,big built" "$(json '[s.package + " " + s.outcome for s in steps]' | paste -sd, -)"
[[ $(json 'steps[0].cause') == *"no code for the CPU; --set force=on builds"* ]] || fail "$(json 'steps[0].cause')"
[[ $(json 'steps[1].wheel') == */big_cpu-1.2.0-cp3*.whl ]] || fail "$(json 'steps[1].wheel')"
expect pass "$(json 'steps[1].tests[0].outcome')"
[[ $(json notes) == *"new compilers are strict"*"skipped later"* ]] || fail "notes: $(json notes)"
expect "wheels good,variables good,cmake good,installed unknown" "$(json '[c.id + " " + c.state for c in checklist]' | paste -sd, -)"
expect "BIG_HOME=1.2.0" "$(json 'runtime[0].variable + "=" + runtime[0].value')"
# Only the required submodule was ever requested.
expect "" "$(find "$t/store/git" -maxdepth 1 -name '*unneeded*')"

# The tag moves: nothing changes before --upgrade, and then the reason names the source.
run_json plan big
expect true "$(json 'steps[1].cached')"
echo '# a change' >>git/owner/big/tools/prepare.py
commit big second
git -C git/owner/big tag -f v1.2.0 >/dev/null
run_json plan big
expect true "$(json 'steps[1].cached')"
run_json plan big --upgrade
expect false "$(json 'steps[1].cached')"
[[ $(json 'steps[1].reason') == *source* ]] || fail "$(json 'steps[1].reason')"

# The commands that fetch are part of the key, too.
key=$(json 'steps[1].key')
sed -i 's/ref-file = "CMakeLists.txt"/ref = "main"/; /COMPANION_TAG/d' recipes/big.toml
sed -i '/^name = "later"/,/^ref-pattern/d' recipes/big.toml
sed -i '/^\[\[fetch\]\]$/{N;/\n\[\[needs/s/^\[\[fetch\]\]\n//}' recipes/big.toml
run_json plan big
[[ $(json 'steps[1].key') != "$key" && $(json 'steps[1].reason') == *companion* ]] || fail "$(json 'steps[1].reason')"

# All sources of the plan in one file: another store, without mirrors or network, plans and builds the same.
sed -i 's/companion == 40/companion == 41/' recipes/big.toml
run plan big --bundle sources.tar
good "plan --bundle"
mv wheelsmith.toml mirrors.toml
(
  export WHEELSMITH_STORE=$t/other-store
  run checkout --unbundle sources.tar --pin
  good "checkout --unbundle"
  run_json build big --out other
  good "build from a bundle"
  expect built "$(json 'steps[1].outcome')"
)
mv mirrors.toml wheelsmith.toml

# The script clones through the mirrors; a password among them appears nowhere.
run plan big --script
good "plan --script"
[[ $(<"$t/out") == *"export GIT_CONFIG_COUNT="* && $(<"$t/out") == *"$t/git"* ]] || fail "no mirrors in the script"
cp "$t/out" by_hand.sh
run_json plan big --mirrors "https://example.org/=$t/git" --mirrors https://other.example/=https://bob:TOPSECRET@host.example/
good "plan with a password"
[[ $(<"$t/out") != *TOPSECRET* ]] || fail "the password is in the plan"
run plan big --script --mirrors "https://example.org/=$t/git" --mirrors https://other.example/=https://bob:TOPSECRET@host.example/
[[ $(<"$t/out") != *TOPSECRET* ]] || fail "the password is in the script"
# A user name in a URL does not hide it from the mirrors; unknown settings are rejected.
run_json plan big --source big=git+https://bob:TOPSECRET@example.org/owner/big.git@v1.2.0
good "a URL with a user"
[[ $(<"$t/out") != *TOPSECRET* ]] || fail "the password is in the plan"
run plan big --set emtpy=1
expect 2 "$status"
[[ $(<"$t/err") == *"unknown recipe setting"* ]] || fail "$(<"$t/err")"

# Another system: the recipe's knowledge is shown, nothing is built.
run_json plan big --platform win_amd64
good "plan for Windows"
expect short-folder "$(json 'steps[1].platform_rules[0].id')"
run build big --platform win_amd64
expect 2 "$status"

# An unknown ref suggests existing ones; a repository that no mirror has gives the fix.
run build big --ref v1.2.1
expect 1 "$status"
[[ $(<"$t/err") == *"v1.2.1"*"v1.2.0"* ]] || fail "$(<"$t/err")"
rm wheelsmith.toml
run build big --upgrade
expect 1 "$status"
[[ $(<"$t/err") == *mirrors* ]] || fail "$(<"$t/err")"
