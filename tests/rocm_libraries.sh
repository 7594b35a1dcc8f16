#!/bin/bash
# The table of ROCm's libraries is generated from an SDK's packages, and `check` treats its entries as ROCm's.
. "$(dirname "$0")/common.inc"
need gcc
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
