#!/bin/bash
# An installed folder as the loader sees it: a good one, one with a library shadowed by LD_LIBRARY_PATH, one with a
# removed library, one with a damaged file. ldd confirms what is loaded.
. "$(dirname "$0")/common.inc"
need gcc ldd unzip
site=$t/site
mkdir -p "$site" "$t/foreign"

# Two builds of libdep.so.1: ours defines DEP_1 and DEP_2, the foreign one only DEP_1.
echo 'DEP_1 { global: one; local: *; }; DEP_2 { global: two; } DEP_1;' >"$t/full.map"
echo 'DEP_1 { global: one; two; local: *; };' >"$t/old.map"
echo 'int one(void) { return 1; } int two(void) { return 2; }' >"$t/dep.c"
dep() { gcc -shared -fPIC "$t/dep.c" -o "$2" -Wl,-soname,libdep.so.1 "-Wl,--version-script,$t/$1.map" -Wl,--build-id; }
dep full "$t/libdep.so.1"
dep old "$t/foreign/libdep.so.1"
make_extension "$t/_demo.so" 'extern int two(void); int use(void) { return two(); }' "$t/libdep.so.1" \
  '-Wl,-rpath,$ORIGIN/../deps.libs' -Wl,--enable-new-dtags
demo_wheel "$t/demo-1.0-cp311-cp311-linux_x86_64.whl" "$t/_demo.so"
echo 'VALUE = 1' >"$t/value.py"
make_wheel "$t/deps-2.0-py3-none-linux_x86_64.whl" "deps.libs/libdep.so.1=$t/libdep.so.1" "deps/__init__.py=$t/value.py"
for wheel in "$t"/*.whl; do unzip -q "$wheel" -d "$site"; done
extension=$site/demo/_demo.cpython-311-x86_64-linux-gnu.so

# finding ID: its text, with its severity
finding() { json "[f'{f.severity} {f.subject} {f.what}' for f in items[0].findings if f.id == '$1']"; }
verdict() { json 'items[0].verdict'; }
loaded() { ldd "$extension" 2>&1 | grep -F libdep.so.1; }

loaded | grep -F "$site/demo/../deps.libs/libdep.so.1"
run_json check "$site"
expect good "$(verdict)" "$(<"$t/out")"
expect 0 $status
expect "" "$(json '[f.id for f in items[0].findings if f.id.startswith(("loader-", "record-"))]')"

# The foreign library comes first and the loader rejects the extension: absolute, relative and among other folders.
shadowed() {
  LD_LIBRARY_PATH=$1 loaded | grep -F 'DEP_2'
  LD_LIBRARY_PATH=$1 run_json check "$site"
  expect bad "$(verdict)" "LD_LIBRARY_PATH=$1: $(<"$t/out")"
  finding loader-shadowed | grep -E '^error demo/_demo.*libdep\.so\.1 from .*foreign/libdep\.so\.1.*deps\.libs/libdep\.so\.1.*DEP_2'
}
shadowed "$t/foreign"
shadowed "/nowhere:$t/foreign/:"
(cd "$t" && shadowed foreign)
(cd "$t/foreign" && shadowed /nowhere:)  # an empty element is the current folder
# The glibc-hwcaps folder precedes its parent where the loader uses it.
mkdir -p "$t/better/glibc-hwcaps/x86-64-v2"
cp "$t/foreign/libdep.so.1" "$t/better/glibc-hwcaps/x86-64-v2/"
if LD_LIBRARY_PATH=$t/better loaded | grep -F 'DEP_2'; then
  LD_LIBRARY_PATH=$t/better run_json check "$site"
  finding loader-shadowed | grep -F "$t/better/glibc-hwcaps/x86-64-v2/libdep.so.1"
fi

# A foreign library with all versions is only a warning; the same library at another path gives none.
dep full "$t/foreign/libdep.so.1"
LD_LIBRARY_PATH=$t/foreign run_json check "$site"
expect "good " "$(verdict) $(finding loader-shadowed)" "the same library"
echo 'int three(void) { return 3; }' >>"$t/dep.c"
dep full "$t/foreign/libdep.so.1"
LD_LIBRARY_PATH=$t/foreign loaded | grep -F "$t/foreign/libdep.so.1"
LD_LIBRARY_PATH=$t/foreign run_json check "$site"
expect good "$(verdict)" "$(<"$t/out")"
finding loader-shadowed | grep '^warning demo/_demo'

# RPATH wins over LD_LIBRARY_PATH.
cp -r "$site" "$t/rpath"
gcc -shared -fPIC "$t/_demo.so.c" -o "$t/rpath/demo/_demo.cpython-311-x86_64-linux-gnu.so" "$t/libdep.so.1" -lm \
  '-Wl,-rpath,$ORIGIN/../deps.libs' -Wl,--disable-new-dtags
(extension=$t/rpath/demo/_demo.cpython-311-x86_64-linux-gnu.so; LD_LIBRARY_PATH=$t/foreign loaded | grep -F "$t/rpath/demo/../deps.libs/libdep.so.1")
LD_LIBRARY_PATH=$t/foreign run_json check "$t/rpath"
expect "" "$(finding loader-shadowed)"

# A damaged file is named, and nothing else is reported.
cp -r "$site" "$t/damaged"
echo 'VALUE = 2' >"$t/damaged/deps/__init__.py"
run_json check "$t/damaged"
expect bad "$(verdict)"
expect "record-hash-mismatch deps/__init__.py" "$(json '[f"{f.id} {f.subject}" for f in items[0].findings if f.severity == "error"]')"

# A removed library.
rm "$site/deps.libs/libdep.so.1"
loaded | grep -F 'not found'
run_json check "$site"
expect bad "$(verdict)"
finding loader-not-found | grep -E '^error demo/_demo.*libdep\.so\.1'
json '[f.subject for f in items[0].findings if f.id.startswith("record-")]' | grep -F deps.libs/libdep.so.1

# An environment installed by pip passes, also after byte code was deleted and an administrator changed a data file. The
# environment may be named by its own folder.
if python3 -m pip --version >"$t/pip" 2>&1 && python3 -m venv "$t/env" >>"$t/pip" 2>&1; then
  echo 'certificates' >"$t/cacert.pem"
  echo 'try:
    from . import tbbpool
except ImportError:
    tbbpool = None' >"$t/parallel.py"
  gcc -shared -fPIC "$t/dep.c" -o "$t/libnowhere.so.12" -Wl,-soname,libnowhere.so.12
  make_extension "$t/plugin.so" 'extern int two(void); int use(void) { return two(); }' "$t/libnowhere.so.12"
  sed -i 's/PyInit_demo/PyInit_tbbpool/' "$t/plugin.so.c"
  gcc -shared -fPIC "$t/plugin.so.c" -o "$t/plugin.so" -lm "$t/libnowhere.so.12"
  suffix=cpython-311-x86_64-linux-gnu.so
  make_wheel "$t/extra-1.0-cp311-cp311-linux_x86_64.whl" "extra/__init__.py=$t/parallel.py" "extra/cacert.pem=$t/cacert.pem" \
    "extra/tbbpool.$suffix=$t/plugin.so" "extra/MPI.mpich.$suffix=$t/plugin.so"
  "$t/env/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps "$t"/{deps-2.0,extra-1.0}-*.whl
  installed=$(echo "$t"/env/lib/python3.*/site-packages)
  grep -q '__pycache__' "$installed"/extra-1.0.dist-info/RECORD || fail "pip lists no compiled files"
  find "$installed" -name __pycache__ -prune -exec rm -r {} +
  echo "the company's" >>"$installed/extra/cacert.pem"
  (cd / && "$t/env/bin/python" -B -c 'import extra, deps') || fail "the environment does not work"
  for folder in "$t/env" "$installed"; do
    run_json check "$folder"
    expect good "$(verdict)" "$(<"$t/out")"
    finding record-data-changed | grep -E '^warning extra/cacert.pem was changed after installation'
    expect 2 "$(finding loader-not-found | grep -c '^warning extra/.*libnowhere')" "$(finding loader-not-found)"
  done
  # Changed code does not pass.
  echo 'import os' >>"$installed/extra/__init__.py"
  run_json check "$t/env"
  finding record-hash-mismatch | grep -E '^error extra/__init__.py'
fi
