#!/bin/bash
# The early cut-off. shapes is a library with two headers; round compiles against one of them, paint against the other.
# A comment, a function's body, an exported symbol and each header change in turn, and exactly what must be rebuilt is.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need gcc unzip
cd "$t"
export WHEELSMITH_STORE=$t/store WHEELSMITH_OUT=$t/wheelhouse WHEELSMITH_RECIPES=$t/recipes

# package NAME CODE: a recipe, and a source with a build backend that needs nothing: it runs CODE, which compiles into
# the folder `out`, and packs that folder.
package() {
  mkdir -p "recipes/$1"
  printf 'name = "%s"\n[source]\nfolder = "%s"\n[check]\nprovided = ["libshapes.so"]\n[variant.cpu]\n' "$1" "$1" >"recipes/$1.toml"
  cat >"recipes/$1/pyproject.toml" <<'TOML'
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
TOML
  printf 'Metadata-Version: 2.1\nName: %s\nVersion: 1.0\n' "$1" >"recipes/$1/PKG-INFO"
  cat >"recipes/$1/backend.py" <<PYTHON
import pathlib, shutil, subprocess, sysconfig, zipfile
name = "$1"
def run(command):
    subprocess.run(command.split(), check=True)
def build_wheel(folder, config_settings=None, metadata_directory=None):
    shutil.rmtree("out", ignore_errors=True)
    pathlib.Path("out").mkdir()
$2
    wheel = f"{name}-1.0-cp{sysconfig.get_config_var('py_version_nodot')}-none-linux_x86_64.whl"
    with zipfile.ZipFile(folder + "/" + wheel, "w") as archive:
        for file in sorted(path for path in pathlib.Path("out").rglob("*") if path.is_file()):
            archive.write(file, file.relative_to("out"))
        info = f"{name}-1.0.dist-info/"
        archive.write("PKG-INFO", info + "METADATA")
        archive.writestr(info + "WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: false\\nTag: " + wheel[len(name) + 5:-4] + "\\n")
        archive.writestr(info + "RECORD", "")
    return wheel
PYTHON
}

package shapes '    shutil.copytree("shapes", "out/shapes")
    run("gcc -O1 -fPIC -Ishapes/include -c area.c -o area.o")
    run("gcc -shared area.o -o out/shapes/libshapes.so -Wl,-soname,libshapes.so")'
mkdir -p recipes/shapes/shapes/include
echo 'folder = __path__[0]' >recipes/shapes/shapes/__init__.py
echo 'long shapes_area(long width, long height);' >recipes/shapes/shapes/include/area.h
echo '#define SHAPES_RED 1' >recipes/shapes/shapes/include/color.h
cat >recipes/shapes/area.c <<'C'
#include "area.h"
long shapes_area(long width, long height) { return width * height; }
C

# dependant NAME HEADER EXPRESSION
dependant() {
  package "$1" '    import shapes
    python, suffix = sysconfig.get_path("include"), sysconfig.get_config_var("EXT_SUFFIX")
    run(f"gcc -O1 -fPIC -I{python} -I{shapes.folder}/include -c {name}.c -o {name}.o")
    run(f"gcc -shared {name}.o -o out/{name}{suffix} -L{shapes.folder} -lshapes -Wl,-rpath,$ORIGIN/shapes")'
  printf '\n[[needs]]\nrecipe = "shapes"\nwhy = "it is linked with libshapes.so"\n' >>"recipes/$1.toml"
  cat >"recipes/$1/$1.c" <<C
#include <Python.h>
#include <$2>
static PyObject* value(PyObject* self, PyObject* none) { return PyLong_FromLong($3); }
static PyMethodDef methods[] = {{"value", value, METH_NOARGS, 0}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "$1", 0, -1, methods};
PyMODINIT_FUNC PyInit_$1(void) { return PyModule_Create(&module); }
C
}
dependant round area.h 'shapes_area(3, 4)'
dependant paint color.h SHAPES_RED

# builds OUTCOMES WHAT PACKAGE…: what becomes of each step. A wheel in the wheelhouse changes if and only if its step was
# built.
sums() { (cd wheelhouse && sha256sum -- *.whl | awk '{print $2, $1}' | sort); }
builds() {
  local wanted=$1 what=$2 before rebuilt
  before=$(sums)
  run_json build "${@:3}"
  [[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "$what: the build ended with $status"; }
  expect "$wanted" "$(json '[s.package + " " + s.outcome for s in steps]' | paste -sd, -)" "$what"
  rebuilt=$(comm -13 <(echo "$before") <(sums) | sed 's/-.*//' | paste -sd' ' -)
  expect "$(grep -o '[a-z]* built' <<<"$wanted" | sed 's/ built//' | sort | paste -sd' ' - || true)" "$rebuilt" \
    "$what: the wheels that changed"
}
# imported MODULE: its value with the wheels of the wheelhouse.
imported() {
  rm -rf site && mkdir site
  for wheel in wheelhouse/*.whl; do unzip -qo "$wheel" -d site; done
  PYTHONPATH=$t/site python3 -c "import $1; print($1.value())"
}

mkdir wheelhouse && touch wheelhouse/none.whl
builds "shapes built,round built,paint built" "the first build" round paint
rm wheelhouse/none.whl
expect 12 "$(imported round)" "the value of round"
first=$(json '[s.key for s in steps if s.package == "round"][0]')

echo '/* a comment */' >>recipes/shapes/area.c
run_json plan round
[[ $(json 'steps[1].reason') == *"step:shapes-cpu-"*"changed; it is kept if the ABI of shapes is unchanged" ]] ||
  fail "the plan says: $(json 'steps[1].reason')"
builds "shapes built,round cached,paint cached" "a comment" round paint
expect "shapes was rebuilt, its ABI is unchanged: round is kept" "$(json 'steps[1].reason')"
expect "$first shapes" "$(json 'steps[1].kept.key + " " + steps[1].kept.rebuilt[0]')"
[[ $(json 'steps[1].key') != "$first" ]] || fail "the key of round is not the exact one"
run plan paint
grep -q 'shapes was rebuilt, its ABI is unchanged: paint is kept' "$t/out" || fail "$(<"$t/out")"

sed -i 's/return width \* height;/return 10 * width * height;/' recipes/shapes/area.c
builds "shapes built,round cached,paint cached" "the body of a function" round paint
expect 120 "$(imported round)" "the kept round with the new library"
# --exact goes by the keys alone.
run_json plan round --exact
[[ $(json 'steps[1].reason') == step:shapes-cpu-*changed ]] || fail "plan --exact: $(json 'steps[1].reason')"
builds "shapes cached,round built" "--exact" round --exact

echo 'long shapes_double(long value) { return 2 * value; }' >>recipes/shapes/area.c
builds "shapes built,round built" "an exported symbol" round
[[ $(json 'steps[1].reason') == *"shapes: shapes/libshapes.so changed" ]] || fail "$(json 'steps[1].reason')"

# paint was not part of that build, and is rebuilt for the symbol, too.
echo '#define SHAPES_RED 2' >recipes/shapes/shapes/include/color.h
builds "shapes built,round cached,paint built" "the header that paint reads" round paint
[[ $(json 'steps[2].reason') == *"shapes: shapes/include/color.h changed" ]] || fail "$(json 'steps[2].reason')"
expect "2 120" "$(imported paint) $(imported round)" "the rebuilt paint and the kept round"
echo '/* in metres */' >>recipes/shapes/shapes/include/area.h
builds "shapes built,round built,paint cached" "the header that round reads" round paint

# What a step saw leaves the store with the step.
run store rm round
expect 0 "$status" "store rm"
expect "$(grep -l '"package": "paint"' store/steps/* | wc -l)" "$(find store/seen -type f | wc -l)" "documents after store rm"
