#!/bin/bash
# Settings have one name everywhere: command line, environment, wheelsmith.toml; verbose build output; tags that match
# the binaries.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need unzip
small_package "$t"
cd "$t"
unset WHEELSMITH_STORE WHEELSMITH_OUT WHEELSMITH_RECIPES
mkdir -p project/below
cat >project/wheelsmith.toml <<TOML
packages = ["small"]
recipes = "../recipes"
store = "$t/store"
out = "wheels"
env-file = "build.env"
jobs = "1"
[set]
flag = "from-file"
TOML
trust project
echo 'SMALL_MORE="two words"' >project/build.env
cat >>recipes/small/setup.py <<'PYTHON'
import os
print("FLAG", os.environ["SMALL_FLAG"], "MORE", os.environ.get("SMALL_MORE"), "JOBS", os.environ["MAX_JOBS"])
PYTHON

# Without names, from a subfolder: the file applies.
cd project/below
run build --verbose
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
grep -q 'FLAG from-file MORE two words JOBS 1' "$t/err" || fail "--verbose does not show what the build prints: $(cat "$t/err")"
grep -q 'add\.c' "$t/err" || fail "--verbose does not show the compiler's command"
# Newer setuptools uses CFLAGS instead of the interpreter's own flags.
grep -qE -- '-O3 .*add\.c' "$t/err" || fail "a release is compiled without optimisation: $(grep 'add\.c' "$t/err")"
ls "$t"/project/wheels/small-1.0-*.whl >/dev/null || fail "the wheel is not in the folder that wheelsmith.toml names"
log=$(echo "$t"/store/logs/small-*.log)
grep -q 'FLAG from-file' $log || fail "the log has not what the build printed"

# The environment overrides the file, the command line overrides both; `config show` names the origin.
export WHEELSMITH_OUT=$t/elsewhere WHEELSMITH_JOBS=2
run_json config show --jobs 3
expect "3 --jobs" "$(json 'settings.jobs.value + " " + settings.jobs.origin')"
run_json config show --jobs 4 --jobs 3 --python 3.11 --python 3.12
expect "3 3.11,3.12" "$(json 'settings.jobs.value + " " + ",".join(settings.python.value)')" "the last word holds, and lists grow"
expect "$t/elsewhere WHEELSMITH_OUT" "$(json 'settings.out.value + " " + settings.out.origin')"
[[ $(json 'settings.packages.origin') == *wheelsmith.toml:1 ]] || fail "packages come from $(json 'settings.packages.origin')"
run_json build
expect "0 cached $t/elsewhere" "$status $(json 'steps[0].outcome') $(json 'steps[0].wheel.rpartition("/")[0]')"
run build --set flag=other
expect 0 "$status" "$(cat "$t/err")"
if grep -q 'FLAG other' "$t/err"; then fail "a build that was not asked to shows what tools print"; fi
WHEELSMITH_JOBZ=1 run build
expect 2 "$status"
grep -q 'did you mean jobs' "$t/err" || fail "$(cat "$t/err")"
unset WHEELSMITH_JOBS
cd "$t"

# Claimed and actual tags. The stable ABI by name and by symbols: one wheel for all later Pythons.
export WHEELSMITH_STORE=$t/store WHEELSMITH_RECIPES=$t/recipes
cat >recipes/small/setup.py <<'PYTHON'
from setuptools import Extension, setup
setup(packages=["small"], ext_modules=[Extension("small._small", ["small/add.c", "small/module.c"], py_limited_api=True,
      define_macros=[("Py_LIMITED_API", "0x03080000")])])
PYTHON
run_json build small
expect "0 built" "$status $(json 'steps[0].outcome')"
name=$(json 'steps[0].wheel.split("/")[-1]')
[[ $name == small-1.0-cp3*-abi3-*.whl ]] || fail "a module of the stable ABI became $name"
python3 -m venv env
env/bin/python -m pip install -q --disable-pip-version-check --no-index "$(json 'steps[0].wheel')"
(cd / && "$t/env/bin/python" -c 'import small; assert small.add(2, 2) == 4')

# A library that Python only opens: every Python 3.
cat >recipes/small/setup.py <<'PYTHON'
import os, subprocess
from setuptools import Distribution, setup
class Binary(Distribution):
    def has_ext_modules(self): return True
subprocess.check_call([os.environ["CC"], "-shared", "-fPIC", "-o", "small/libsmall.so", "small/add.c", "-Wl,-s"])
setup(packages=["small"], package_data={"small": ["*.so"]}, distclass=Binary)
PYTHON
cat >recipes/small.patch <<'PATCH'
--- a/small/__init__.py
+++ b/small/__init__.py
@@ -1,2 +1,4 @@
-from ._small import add
+import ctypes
+import pathlib
+add = ctypes.CDLL(pathlib.Path(__file__).with_name("libsmall.so")).small_add
 version = "unpatched"
PATCH
run_json build small
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "the library ended with $status"; }
name=$(json 'steps[0].wheel.split("/")[-1]')
[[ $name == small-1.0-py3-none-manylinux*.whl ]] || fail "a library without Python's API became $name"
env/bin/python -m pip install -q --disable-pip-version-check --no-index --force-reinstall "$(json 'steps[0].wheel')"
(cd / && "$t/env/bin/python" -c 'import small; assert small.add(2, 2) == 4')

# A program that only the recipe names, outside a build's PATH. The user's variables may be secret: the build sees them,
# but neither the wheel nor the store contains them.
mkdir -p tools
printf '#!/bin/sh\necho "odd-tool 1.0"\n' >tools/odd-tool
chmod +x tools/odd-tool
printf '\n[requires]\nprograms = ["odd-tool"]\n' >>recipes/small.toml
sed -i '1i import subprocess; print("SAID", subprocess.check_output(["odd-tool"]), "TOKEN", __import__("os").environ["MY_TOKEN"][::-1])' \
  recipes/small/setup.py
printf 'MY_TOKEN=abc-123-secret\n' >secret.env
PATH=$t/tools:$PATH run build small --env-file secret.env --verbose
expect 0 "$status" "$(cat "$t/err")"
[[ $(cat "$t/err") == *"odd-tool 1.0"*"TOKEN terces-321-cba"* ]] || fail "the build has not what it was given: $(cat "$t/err")"
kept=$(grep -rlaF abc-123-secret "$t/store" || true)
expect "" "$kept" "the store keeps the value of a variable"
run build small --env-file secret.env
expect 1 "$status" "without odd-tool"
[[ $(cat "$t/err") == *odd-tool* ]] || fail "$(cat "$t/err")"
