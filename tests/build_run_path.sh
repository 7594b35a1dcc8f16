#!/bin/bash
# Wheels built here have no folder of this machine in RPATH or RUNPATH, whatever the linker was told; $ORIGIN entries
# stay. readelf, unzip and Python's own hash of RECORD's files confirm it.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need unzip readelf
small_package "$t"
sed 's/PyInit__small/PyInit__old/' "$t/recipes/small/small/module.c" >"$t/recipes/small/small/old.c"
cat >"$t/recipes/small/setup.py" <<'END'
import os, sysconfig
from setuptools import Extension, setup
paths = [sysconfig.get_config_var("LIBDIR"), os.getcwd() + "/build", "$ORIGIN/../small.libs"]
def extension(name, source, paths, *more):
    return Extension("small." + name, ["small/add.c", source], extra_link_args=["-Wl,-rpath," + ":".join(paths), *more])
setup(packages=["small"], ext_modules=[extension("_small", "small/module.c", paths, "-Wl,--enable-new-dtags"),
                                       extension("_old", "small/old.c", paths[:2], "-Wl,--disable-new-dtags")])
END

run build small
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
grep -q "removed from the RPATH of 2 files: " "$t/err" || { cat "$t/err" >&2; fail "no note about removed entries"; }
wheel=$(find "$WHEELSMITH_OUT" -name '*.whl')
unzip -oq "$wheel" -d "$t/unpacked"
expect '[$ORIGIN/../small.libs]' "$(readelf -d "$t"/unpacked/small/_small*.so | sed -n 's/.*runpath: //p')"
expect "" "$(readelf -d "$t"/unpacked/small/_old*.so | grep -E 'RPATH|RUNPATH' || true)"
python3 - "$t/unpacked" <<'END'
import base64, csv, glob, hashlib, sys
root = sys.argv[1]
for name, digest, size in csv.reader(open(glob.glob(root + "/*.dist-info/RECORD")[0])):
    if not digest: continue
    data = open(root + "/" + name, "rb").read()
    assert digest == "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode(), name
    assert int(size) == len(data), name
END
expect 2 "$(json 'len(run_paths_removed)' "$t"/unpacked/*.dist-info/wheelsmith/provenance.json)"
expect 5 "$(cd "$t/unpacked" && python3 -c 'import small; print(small.add(2, 3))')" "it loads"
run_json check "$wheel"
expect "good 0" "$(json 'items[0].verdict') $(json 'len([f for f in items[0].findings if f["id"].startswith("runpath")])')"

# A recipe can accept them.
sed -i 's|^members = .*|&\naccept.runpath-absolute = "the libraries are installed there"|' "$t/recipes/small.toml"
rm -r "$WHEELSMITH_OUT"
run build small
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
rm -r "$t/unpacked"
unzip -oq "$(find "$WHEELSMITH_OUT" -name '*.whl')" -d "$t/unpacked"
[[ $(readelf -d "$t"/unpacked/small/_old*.so) == *RPATH* ]] || fail "an accepted RPATH is removed"
