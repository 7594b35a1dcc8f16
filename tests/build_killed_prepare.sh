#!/bin/bash
# A source that is rewritten before its build (hipify, two commands that must not run twice, patches after hipify),
# killed at ten random moments meanwhile: the build always resumes, and produces the same wheel. Prints its seed. Also:
# foreign code runs only in its documented phases, and a set's hipified patches are applied, and listed, only with
# hipify.
source "$(dirname "$0")/common.inc"
need git python3 gcc
source "$tests/small_package.inc"  # need_registry
need_registry
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=them GIT_AUTHOR_EMAIL=them@example.org
export GIT_COMMITTER_NAME=them GIT_COMMITTER_EMAIL=them@example.org
seed=${SEED:-$RANDOM}
echo "seed $seed"
RANDOM=$seed

mkdir -p "$t/up/tools" "$t/up/src" "$t/desk/recipes" "$t/desk/patches/hippy/main/hippy/base" "$t/desk/patches/hippy/main/hippy/hipified"
cd "$t/up"
git init -q --initial-branch=main .
cat >setup.py <<'PY'
from setuptools import Extension, setup
setup(name="hippy", version="1.0", py_modules=["hippy_py"], ext_modules=[Extension("hippy", ["src/hippy.c"])])
PY
printf '[build-system]\nrequires = ["setuptools", "wheel"]\nbuild-backend = "setuptools.build_meta"\n' >pyproject.toml
cat >src/hippy.c <<'C'
#define PY_SSIZE_T_CLEAN
#include <Python.h>
static PyObject *words(PyObject *self, PyObject *args) { return PyUnicode_FromString("cuda"); }
static PyMethodDef methods[] = {{"words", words, METH_NOARGS, ""}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "hippy", "", -1, methods};
PyMODINIT_FUNC PyInit_hippy(void) { return PyModule_Create(&module); }
C
echo 'log = """' >hippy_py.py
seq 1 200 >>hippy_py.py
# Each of these would produce other bytes when run twice, and takes a moment.
cat >tools/hipify.py <<'PY'
import pathlib, time
source = pathlib.Path("src/hippy.c")
source.write_text(source.read_text().replace("cuda", "hip"))
with open("hippy_py.py", "a") as file:
    for i in range(5):
        file.write("hipified %d\n" % i)
        file.flush()
        time.sleep(0.05)
PY
cat >tools/append.py <<'PY'
import sys, time
with open("hippy_py.py", "a") as file:
    for i in range(5):
        file.write("%s %d\n" % (sys.argv[1], i))
        file.flush()
        time.sleep(0.05)
    if sys.argv[1] == "second":
        file.write('"""\n')
PY
git add -A
git commit -q -m hippy
# The base patch changes hipify's input; the other one its output.
sed -i 's/"cuda"/"cuda core"/' src/hippy.c
git commit -q -a -m "say core"
git format-patch -q -1 -o "$t/desk/patches/hippy/main/hippy/base"
sed -i 's/"cuda core"/"hip core"/' src/hippy.c
git commit -q -a -m "what hipify does"
sed -i 's/"hip core"/"hip core, patched"/' src/hippy.c
git commit -q -a -m "patch the translation"
git format-patch -q -1 -o "$t/desk/patches/hippy/main/hippy/hipified"
git reset -q --hard HEAD~3

cd "$t/desk"
cat >recipes/hippy.toml <<TOML
name = "hippy"
[source]
git = "file://$t/up/.git"
ref = "main"
[checkout]
hipify = "tools/hipify.py"
[build]
files = { "written.txt" = "written" }
[[build.prepare]]
command = ["python", "tools/append.py", "first"]
[[build.prepare]]
command = ["python", "tools/append.py", "second"]
[variant.cpu]
[[variant.cpu.test]]
name = "words"
script = "import hippy; assert hippy.words() == 'hip core, patched', hippy.words()"
TOML
export WHEELSMITH_RECIPES=$t/desk/recipes WHEELSMITH_STORE=$t/store WHEELSMITH_OUT=$t/wheelhouse

run_json build hippy
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "not built"; }
expect built "$(json 'steps[0].outcome')"
sum=$(sha256sum <"$(json 'steps[0].wheel')")
seconds=$(json 'steps[0].seconds')
log=$(json 'steps[0].log')
# Foreign code runs only in phases that allow it.
phase=none
while read -r line; do
  case $line in
    "wheelsmith: phase "*) phase=${line#wheelsmith: phase } ;;
    "wheelsmith: running "*) [[ $phase == prepare || $phase == build || $phase == test ]] || fail "phase $phase runs: $line" ;;
  esac
done <"$log"
grep -q '^wheelsmith: running .*hipify' "$log" || fail "hipify did not run"
python3 - "$(json 'steps[0].wheel')" <<'PY'
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    text = wheel.read("hippy_py.py").decode()
    assert [text.count(word) for word in ("hipified 4", "first 4", "second 4")] == [1, 1, 1], text[-300:]
    provenance = json.loads(wheel.read([n for n in wheel.namelist() if n.endswith("wheelsmith/provenance.json")][0]))
    assert [p["name"] for p in provenance["patches"]] == ["0001-say-core.patch", "0001-patch-the-translation.patch"], provenance["patches"]
PY

export WHEELSMITH_STORE=$t/store2 WHEELSMITH_OUT=$t/wheelhouse2
kills=0
for ((i = 0; i < 40 && kills < 10; i++)); do
  "$wheelsmith" build hippy >"$t/out" 2>"$t/err" </dev/null &
  pid=$!
  # Until it prepares; then at a random moment of the next second or so.
  for ((j = 0; j < 600; j++)); do
    grep -q ': prepare$' "$t/err" 2>/dev/null && break
    kill -0 $pid 2>/dev/null || break
    sleep 0.02
  done
  sleep "$(python3 -c "print(($RANDOM % 1000) / 1000 * 1.2)")"
  kill -KILL $pid 2>/dev/null || true
  status=0
  wait $pid 2>/dev/null || status=$?
  case $status in
    137) kills=$((kills + 1)) ;;
    # It was faster than the kill: the wheel must be the same, and the next run starts over.
    0)
      expect "$sum" "$(sha256sum <"$(echo "$WHEELSMITH_OUT"/*.whl)")" "the wheel after $kills kills"
      rm -rf "$WHEELSMITH_STORE" "$WHEELSMITH_OUT"
      ;;
    *) cat "$t/err" >&2; fail "try $i ended with $status" ;;
  esac
done
((kills == 10)) || fail "only $kills kills"
run_json build hippy
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "it does not resume"; }
expect "$sum" "$(sha256sum <"$(json 'steps[0].wheel')")" "the wheel after ten kills"
run_json store verify
expect "" "$(json '[f.id for f in findings if f.severity == "error"]')" "store verify"

# Without hipify, neither the key nor the plan nor the checkout has its patches.
sed -i '/hipify/d' recipes/hippy.toml
run_json plan hippy
expect "0001-say-core.patch" "$(json 'steps[0].patches')" "patches without hipify"
run_json checkout hippy --into "$t/checkout" --variant cpu
expect 0 "$status" "checkout without hipify"
grep -q '"cuda core"' "$t/checkout/src/hippy.c" || fail "the base patch is missing"
git -C "$t/checkout" log --format=%s | grep -q "patch the translation" && fail "a hipified patch was applied without hipify"
true
