#!/bin/bash
# inspect of a wheel with a gcc-built extension agrees with readelf and the file name.
. "$(dirname "$0")/common.inc"
wheel=$t/demo-1.0-2-cp311-cp311-linux_x86_64.whl
make_extension "$t/_demo.so" '' -Wl,-soname,libdemo.so.1 -Wl,--enable-new-dtags '-Wl,-rpath,$ORIGIN/../demo.libs:/opt/lib'
demo_wheel "$wheel" "$t/_demo.so"

run_json inspect "$wheel"
expect 0 $status
expect 1 "$(json 'len(items)')"
expect wheel "$(json 'items[0].kind')"
expect demo "$(json 'items[0].name')"
expect 1.0 "$(json 'items[0].version')"
expect cp311-cp311-linux_x86_64 "$(json 'items[0].tags')"
expect 1 "$(json 'len(items[0].elf)')"
expect '[]' "$(json 'items[0].gpu or "[]"')"
expect demo/_demo.cpython-311-x86_64-linux-gnu.so "$(json 'items[0].elf[0].path')"

# dynamic TAG: the values that readelf prints in brackets
dynamic() { readelf -dW "$t/_demo.so" | sed -n "s/.*($1).*\[\(.*\)\]/\1/p"; }
expect "$(dynamic SONAME)" "$(json 'items[0].elf[0].soname')"
expect "$(dynamic NEEDED)" "$(json 'items[0].elf[0].needed')"
expect "$(dynamic RUNPATH)" "$(json '":".join(items[0].elf[0].runpath)')"
expect "" "$(json '":".join(items[0].elf[0].rpath)')"

# Symbol versions in any grouping: the set of all words of the form NAME_1.2 must be the same.
readelf -VW "$t/_demo.so" | sed -n '/Version needs/,$p' | grep -oE 'GLIBC[A-Z]*_[0-9.]+' | sort -u >"$t/wanted"
[[ -s $t/wanted ]]
json 'items[0].elf[0].symbol_versions' | grep -oE '[A-Z]+_[0-9][0-9.]*' | sort -u >"$t/got"
diff "$t/wanted" "$t/got"

# The same file outside a wheel, and as an unpacked folder.
run_json inspect "$t/_demo.so"
expect elf "$(json 'items[0].kind')"
expect "$(dynamic NEEDED)" "$(json 'items[0].elf[0].needed')"
mkdir "$t/unpacked"
unzip -q "$wheel" -d "$t/unpacked"
run_json inspect "$t/unpacked"
expect folder "$(json 'items[0].kind')"
expect libdemo.so.1 "$(json 'items[0].elf[0].soname')"

# Several files, one of them missing: an item with an error, exit status 1, the others still listed.
run_json inspect "$wheel" "$t/absent.whl" "$t/_demo.so"
expect 1 $status
expect 3 "$(json 'len(items)')"
expect '[false, true, false]' "$(json '"[" + ", ".join("true" if "error" in i else "false" for i in items) + "]"')"

# As text: the main facts, and no escape codes outside a terminal.
run inspect "$wheel"
grep -q demo "$t/out"
grep -q x86_64 "$t/out"
! grep -q $'\e' "$t/out"

# The platform tag matches auditwheel's. An empty library path keeps this machine's libraries out of its answer.
[[ -x ${TESTS_PYTHON:-} ]] || exit 0
run_json inspect "$wheel"
mkdir "$t/empty"
"$TESTS_PYTHON" -m auditwheel show --json --ldpaths "$t/empty" "$wheel" >"$t/auditwheel.json"
grep -qF "\"$(json 'items[0].platform_tag')\"" "$t/auditwheel.json" || { cat "$t/auditwheel.json"; fail "$(json 'items[0].platform_tag')"; }
