#!/bin/bash
# The table of ROCm's libraries is generated from an SDK's packages, and `check` treats its entries as ROCm's. `repair` adds
# the run path to the package that has the library, which the SDK's own Python package knows, too.
. "$(dirname "$0")/common.inc"
need gcc unzip readelf
echo 'int f(void) { return 1; }' >"$t/f.c"
for name in libamdhip64.so.7 libbrandnew.so.3 librocm_sysdeps_zstd.so.1 libprivate.so.1; do
  gcc -shared -fPIC "$t/f.c" -o "$t/$name" "-Wl,-soname,$name"
done
make_wheel "$t/rocm_sdk_core-8.0.0-py3-none-linux_x86_64.whl" "_rocm_sdk_core/lib/libamdhip64.so.7=$t/libamdhip64.so.7" \
  "_rocm_sdk_core/lib/libbrandnew.so.3=$t/libbrandnew.so.3" \
  "_rocm_sdk_core/lib/rocm_sysdeps/lib/librocm_sysdeps_zstd.so.1=$t/librocm_sysdeps_zstd.so.1" \
  "_rocm_sdk_core/lib/llvm/lib/libprivate.so.1=$t/libprivate.so.1"
table=$tests/../src/wheel/data/rocm_libraries.tsv
python3 "$tests/../scripts/rocm_libraries.py" "$wheelsmith" "$t"/rocm_sdk_core-*.whl >"$t/table"
expect "> libbrandnew.so*"$'\t'"ROCm" "$(diff "$table" "$t/table" | grep '^[<>]')" "what the packages add"
python3 "$tests/../scripts/rocm_libraries.py" "$wheelsmith" >"$t/same"
cmp "$table" "$t/same"

# One library of each row in an extension: all are notes.
libraries=()
while IFS=$'\t' read -r pattern _; do
  [[ $pattern != \#* ]] || continue
  name=${pattern//\*/}
  gcc -shared -fPIC "$t/f.c" -o "$t/$name" "-Wl,-soname,$name.9"
  libraries+=("$t/$name")
done <"$table"
((${#libraries[@]} > 40)) || fail "the table is short"
make_extension "$t/_demo.so" '' -Wl,--no-as-needed "${libraries[@]}"
demo_wheel "$t/demo-1.0-cp311-cp311-manylinux_2_34_x86_64.whl" "$t/_demo.so"
run_json check "$t"/demo-1.0-*.whl
expect good "$(json 'items[0].verdict')" "$(<"$t/out")"
expect note "$(json 'set(f.severity for f in items[0].findings if f.id == "platform-external-library")')"

# repair: a library that frameworks preload is where the SDK's Python package finds it.
python3 - "$tests/../src/rocm/data/python_side.toml" >"$t/preloaded" <<'END_OF_PY'
import re, sys
for block in open(sys.argv[1]).read().split("[[library]]")[1:]:
    field = dict(re.findall(r'^(\w+) = "([^"]*)"', block.split("\n[[")[0], re.M))
    soname = field.get("so", f"lib{field['name']}.so*").replace("*", "") .rstrip(".")
    print(soname, f"_rocm_sdk_{field['package']}/{field.get('folder', 'lib')}")
END_OF_PY
(($(wc -l <"$t/preloaded") > 20)) || fail "the SDK's table is short: $(<"$t/preloaded")"
mkdir "$t/sdk"
libraries=()
expected=()
while read -r soname folder; do
  gcc -shared -fPIC "$t/f.c" -o "$t/sdk/$soname.9" "-Wl,-soname,$soname.9"
  libraries+=("$t/sdk/$soname.9")
  expected+=("\$ORIGIN/../$folder")
done <"$t/preloaded"
make_extension "$t/_rocm.so" '' -Wl,--no-as-needed "${libraries[@]}" -Wl,-rpath,/opt/rocm/lib
printf 'Metadata-Version: 2.1\nName: demo\nVersion: 1.0\nRequires-Dist: rocm[libraries]\n' >"$t/METADATA"
mkdir "$t/in"
demo_wheel "$t/in/demo-1.0-cp311-cp311-linux_x86_64.whl" "$t/_rocm.so" "demo-1.0.dist-info/METADATA=$t/METADATA"
run_json repair "$t"/in/*.whl --out "$t/repaired"
expect 0 $status "$(<"$t/out")"
unzip -q "$(json 'items[0].outputs[0].path')" -d "$t/unpacked"
[[ ! -e $t/unpacked/demo.libs ]] || fail "a library of ROCm was copied: $(ls "$t/unpacked/demo.libs")"
expect "$(printf '%s\n' "${expected[@]}" | sort -u)" "$(readelf -dW "$t"/unpacked/demo/_demo*.so | sed -n 's/.*R.*PATH.*\[\(.*\)\]/\1/p' | tr : '\n' | sort)"
