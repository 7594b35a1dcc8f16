#!/bin/bash
# build --editable: a folder is built in place and linked into an environment. Confirmed by pip (which lists, shows,
# checks and uninstalls it), by Python importing edited files, by the compile cache and ninja for what was compiled, and
# by git, which must find no source changed.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need git
small_package "$t"
cd "$t"
cp -r recipes/small desk
sed -i 's/^script = .*/script = "import small"/' recipes/small.toml

# under_git FOLDER: commits the sources.
under_git() {
  git -C "$1" init -q
  git -C "$1" add -A
  git -C "$1" -c user.name=a -c user.email=a@example.org commit -q -m first
}
# The build may leave its own files in the folder, and nothing else.
unchanged() { expect "" "$(git -C "$1" status --porcelain --untracked-files=no)" "what the build changed in $1"; }
commit() { git -C "$1" -c user.name=a -c user.email=a@example.org commit -q -a -m more; }
new_env() { rm -rf "$1" && python3 -m venv "$1" && "$1/bin/python" -m pip uninstall -q -y --disable-pip-version-check setuptools; }
pip() { "$env/bin/python" -m pip --disable-pip-version-check "$@"; }
says() { (cd / && "$env/bin/python" -c "$1"); }
built() {
  [[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
  expect "built true" "$(json 'steps[-1].outcome') $(json 'steps[-1].editable')"
  expect "" "$(json 'steps[-1].wheel')" "an editable install has no wheel"
}
# judged NAME FOLDER: pip recognizes it as an editable install of that folder, with all requirements met.
judged() {
  expect "$1 $2" "$(pip list --editable --format=json | python3 -c 'import json, sys
for item in json.load(sys.stdin): print(item["name"], item["editable_project_location"])')" "pip list --editable"
  [[ $(pip show -f "$1") == *"Editable project location: $2"* ]] || fail "pip show: $(pip show -f "$1")"
  pip check >/dev/null || fail "pip check"
}
# removed NAME: pip uninstall leaves a clean environment.
removed() {
  pip uninstall -q -y "$1"
  new_env "$t/fresh"
  find "$t/fresh" -name __pycache__ -prune -o -printf '%P\n' | sort >"$t/wanted"
  find "$env" -name __pycache__ -prune -o -printf '%P\n' | sort >"$t/got"
  diff "$t/wanted" "$t/got" >&2 || fail "pip uninstall $1 left something, or removed too much"
}
compiled() { echo "$(json 'steps[0]["cache"]["misses"]') $(json 'steps[0]["cache"]["hits"]')"; }

# Impossible requests give one sentence, before anything is built.
refused() {
  run build "${@:2}"
  expect 2 "$status" "build ${*:2}: $(cat "$t/err")"
  grep -qF -- "$1" "$t/err" || fail "build ${*:2} says: $(cat "$t/err")"
}
env=$t/env
new_env "$env"
tar czf small-1.0.tar.gz desk
refused '--editable needs an environment to install into' small --source small=desk --editable
refused '--editable needs a source folder: --source small=FOLDER' small --editable --into env
refused 'is not a folder; check it out first' small --source small=small-1.0.tar.gz --editable --into env
refused 'is not a folder; check it out first' small --source "small=git+file://$t/desk" --editable --into env
refused '--editable builds for one Python' small --source small=desk --editable --into env --python 3.11,3.12
refused '--editable builds for one variant' small --source small=desk --editable --into env --variant cpu,cuda
refused 'has no platform tag' small --source small=desk --editable --into env --platform manylinux_2_28
refused '--clean cannot be combined with --editable' small --source small=desk --editable --into env --clean
refused '--into requires --install or --editable' small --source small=desk --into env

# setuptools: replaces an older wheel; a changed Python file is visible at once, a C file after the same command.
under_git desk
run build small --install --into env
expect "5 patched" "$(says 'import small; print(small.add(2, 3), small.version)')" "the wheel that is replaced"
rm -rf wheelhouse
run_json build small --source small=desk --editable --into env
built
[[ $(json notes) == *'skipping the patch small.patch'* ]] || fail "no note about the skipped patch: $(json notes)"
judged small "$t/desk"
unchanged desk
[[ ! -e wheelhouse ]] || fail "a wheel was delivered"
[[ -z $(compgen -G "$env/lib/python3.*/site-packages/small") ]] || fail "files of the replaced wheel are left"
expect "5 $t/desk/small/__init__.py" "$(says 'import small; print(small.add(2, 3), small.__file__)')"
sed -i 's/unpatched/edited/' desk/small/__init__.py
expect edited "$(says 'import small; print(small.version)')" "an edit of a Python file"
echo 'long small_add(long a, long b) { return a + b + 1; }' >desk/small/add.c
commit desk
run_json build small --source small=desk --editable --into env
built
expect 6 "$(says 'import small; print(small.add(2, 3))')" "an edit of a C file"
expect "1 1" "$(compiled)" "compiled, from the cache, after one of two files changed"
judged small "$t/desk"
unchanged desk

# Changed variables: a warning, since nothing is removed from the folder.
run build small --source small=desk --editable --into env --set flag=two
expect 0 "$status"
grep -q 'variables or settings have changed since' "$t/err" || fail "no warning about changed variables: $(cat "$t/err")"

# A failed build leaves folder and environment unchanged.
echo 'long small_add(long a, long b) { return a + nonsense; }' >desk/small/add.c
commit desk
run_json build small --source small=desk --editable --into env
expect "1 failed build" "$status $(json 'steps[0].outcome') $(json 'steps[0].phase')"
[[ $(json 'steps[0].failure.output') == *nonsense* ]] || fail "no reason: $(cat "$t/out")"
expect 6 "$(says 'import small; print(small.add(2, 3))')" "after a failed build"
unchanged desk
# A failed test says that the package stays installed.
echo 'long small_add(long a, long b) { return a + b; }' >desk/small/add.c
commit desk
sed -i 's/^script = .*/script = "import small; assert small.add(2, 2) == 5"/' recipes/small.toml
run_json build small --source small=desk --editable --into env
expect "1 failed test" "$status $(json 'steps[0].outcome') $(json 'steps[0].phase')"
[[ $(json 'steps[0].cause') == *'stays installed'* ]] || fail "$(json 'steps[0].cause')"
sed -i 's/^script = .*/script = "import small"/' recipes/small.toml
removed small

# The plan says the same; its script does it by hand.
run_json plan small --source small=desk --editable --into env
expect true "$(json 'steps[0].editable')"
run plan small --source small=desk --editable --into env --script
expect 0 "$status"
grep -q 'hook build_editable' "$t/out" || fail "the script calls another hook"
WORK=$t/by_hand DIST=$t/dist bash "$t/out" >"$t/script.log" 2>&1 || { cat "$t/script.log" >&2; fail "the script failed"; }
judged small "$t/desk"
expect 5 "$(says 'import small; print(small.add(2, 3))')" "installed by the script"
unchanged desk
removed small

# setuptools before 64 has no hook: setup.py develop, by the environment's interpreter.
sed -i 's/setuptools==80.9.0/setuptools==59.8.0/' recipes/small.toml
cat >desk/setup.cfg <<'INI'
[metadata]
name = small
version = 1.0
INI
printf '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n' >desk/pyproject.toml
git -C desk add setup.cfg && commit desk
run_json build small --source small=desk --editable --into env
built
grep -q 'running setup.py develop' "$(json 'steps[0].log')" || fail "the log has no setup.py develop"
judged small "$t/desk"
unchanged desk
echo 'long small_add(long a, long b) { return a + b + 2; }' >desk/small/add.c
commit desk
run_json build small --source small=desk --editable --into env
built
expect "7 edited" "$(says 'import small; print(small.add(2, 3), small.version)')" "after setup.py develop"
unchanged desk
# A newer setuptools replaces the older one's link.
sed -i 's/setuptools==59.8.0/setuptools==80.9.0/' recipes/small.toml
run_json build small --source small=desk --editable --into env
built
judged small "$t/desk"
[[ -z $(find "$env" -name '*.egg-link') ]] || fail "the link of setup.py develop is left"
if find "$env" -name easy-install.pth -exec grep -F "$t/desk" {} + ; then fail "the path of setup.py develop is left"; fi
expect "7 edited" "$(says 'import small; print(small.add(2, 3), small.version)')"

# Dependencies of an editable package are built as usual, and installed before its tests. The reverse is impossible.
mkdir -p user/user
printf '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n[project]\nname = "user"\nversion = "1.0"\n' >user/pyproject.toml
echo 'import small; total = small.add(20, 3)' >user/user/__init__.py
cat >recipes/user.toml <<'TOML'
name = "user"
[source]
sdist = "user"
[build]
requires = ["setuptools==80.9.0"]
[[needs]]
recipe = "small"
why = "it adds"
[[test]]
script = "import user; assert user.total == 23, user.total"
[variant.cpu]
TOML
under_git user
new_env "$env"
cd user
run_json build user --source user=. --editable --into ../env
cd ..
built
expect small "$(json 'steps[0].package')"
[[ -e $(json 'steps[0].wheel') ]] || fail "the needed package has no wheel"
expect pass "$(json 'steps[1].tests[0].outcome')"
judged user "$t/user"
unchanged user
refused 'user needs a wheel of small, which an editable install does not produce' user small --source user=user --source small=desk --editable --into env

# hatchling: pure Python, with a program. Its requirements are named, not installed.
mkdir -p pure/src/pure
cat >pure/pyproject.toml <<'TOML'
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "pure"
version = "2.0"
dependencies = ["six>=1.16"]
[project.scripts]
pure-tool = "pure:main"
TOML
printf 'def main():\n    print("one")\n' >pure/src/pure/__init__.py
under_git pure
new_env "$env"
run build pure --source pure=pure --editable --into "$env/bin/python"
expect 0 "$status" "$(cat "$t/err")"
grep -q "pure requires packages that are not installed: $env/bin/python -m pip install 'six>=1.16'" "$t/err" || fail "$(cat "$t/err")"
pip install -q six
run_json build pure --source pure=pure --editable --into "$env/bin/python"
built
judged pure "$t/pure"
expect one "$("$env/bin/pure-tool")"
sed -i 's/one/two/' pure/src/pure/__init__.py
expect two "$("$env/bin/pure-tool")" "an edit of a Python file"
git -C pure checkout -q .
unchanged pure
pip uninstall -q -y six
removed pure

# Without isolation: CMake and meson keep their build folders, with the environment's own interpreter.
new_env "$env"
pip install -q scikit-build-core "cmake>=3.25,<4" meson-python meson ninja
cp -r "$tests/../examples/texture" texture
under_git texture
run_json build texture --variant cpu --source texture=texture --editable --no-build-isolation --into env
built
judged texture "$t/texture"
unchanged texture
says 'import texture' || fail "texture cannot be imported"
grep -q "$env/bin/python" texture/build/CMakeCache.txt || fail "CMake was configured with another interpreter"
objects() { find texture/build -name '*.o' -printf '%f %T@\n' | sort; }
objects >before
echo '// edited' >>texture/src/no_gpu.cc
commit texture
run_json build texture --variant cpu --source texture=texture --editable --no-build-isolation --into env
built
objects >after
expect no_gpu.cc.o "$(comm -13 before after | cut -d ' ' -f 1)" "compiled again"
unchanged texture
pip uninstall -q -y texture

mkdir -p mes/mes
cat >mes/pyproject.toml <<'TOML'
[build-system]
requires = ["meson-python"]
build-backend = "mesonpy"
[project]
name = "mes"
version = "3.0"
TOML
cat >mes/meson.build <<'MESON'
project('mes', 'c')
py = import('python').find_installation(pure: false)
py.install_sources('mes/__init__.py', subdir: 'mes')
py.extension_module('_mes', 'mes/value.c', 'mes/module.c', 'mes/slow.c', subdir: 'mes', install: true)
MESON
echo 'from ._mes import value' >mes/mes/__init__.py
echo 'long mes_value(void) { return 1; }' >mes/mes/value.c
echo 'int mes_slow;' >mes/mes/slow.c
cat >mes/mes/module.c <<'C'
#include <Python.h>
long mes_value(void);
static PyObject* value(PyObject* self, PyObject* args) { return PyLong_FromLong(mes_value()); }
static PyMethodDef methods[] = {{"value", value, METH_NOARGS, "a number"}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_mes", 0, -1, methods};
PyMODINIT_FUNC PyInit__mes(void) { return PyModule_Create(&module); }
C
under_git mes
run_json build mes --source mes=mes --editable --no-build-isolation --into env
built
judged mes "$t/mes"
unchanged mes
# It rebuilds on import, with the compilers of its first build and without us.
echo 'long mes_value(void) { return 2; }' >mes/mes/value.c
expect 2 "$(says 'import mes; print(mes.value())' | tail -n 1)" "built by the import"

# Ctrl-C during a compile: no source changes, and compiled objects stay. A large file takes long enough.
python3 -c '
for i in range(15000): print(f"int mes_slow{i}(int a, int b) {{ for (int i = 0; i < b; ++i) a += a * {i} % (b + i + 1); return a; }}")' >mes/mes/slow.c
echo 'long mes_value(void) { return 3; }' >mes/mes/value.c
commit mes
find mes/build -name '*value.c.o' -printf '%T@\n' >before
python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
  "$wheelsmith" build mes --source mes=mes --editable --no-build-isolation --into env >"$t/out" 2>"$t/err" </dev/null &
pid=$!
for ((i = 0; i < 600; i++)); do
  find mes/build -name '*value.c.o' -printf '%T@\n' >after
  [[ ! -s after ]] || cmp -s before after || break
  kill -0 $pid 2>/dev/null || break
  sleep 0.05
done
sleep 1 # until ninja has noted that it is done
kill -INT $pid
status=0
wait $pid || status=$?
expect 130 "$status" "interrupted: $(cat "$t/err")"
find mes/build -name '*value.c.o' -printf '%T@\n' >after
! cmp -s before after || fail "nothing was compiled before Ctrl-C"
unchanged mes
run_json build mes --source mes=mes --editable --no-build-isolation --into env
built
find mes/build -name '*value.c.o' -printf '%T@\n' >again
cmp -s after again || fail "what was compiled before Ctrl-C was compiled again"
expect 3 "$(says 'import mes; print(mes.value())' | tail -n 1)"
unchanged mes
judged mes "$t/mes"
