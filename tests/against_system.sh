#!/bin/bash
# Checks a wheel against the target machine: an old libstdc++ (built here, with all versions up to GLIBCXX_3.4.25) lacks
# symbols that it needs, this machine's has them. The loader confirms both.
. "$(dirname "$0")/common.inc"
need g++ ldd
# std::pmr's default resource came with GLIBCXX_3.4.26.
cat >"$t/demo.cc" <<'END'
#include <memory_resource>
#include <string>
extern "C" void* PyInit__demo() { return new std::string(std::to_string(std::pmr::get_default_resource() != nullptr)); }
END
g++ -shared -fPIC -O1 -std=c++17 "$t/demo.cc" -o "$t/_demo.so"
newest=$(readelf -V "$t/_demo.so" | grep -oE 'GLIBCXX_3\.4\.[0-9]+' | sort -V | tail -n 1)
[[ ${newest##*.} -gt 25 ]] || skip "this compiler needs nothing newer than $newest"
wheel=$t/demo-1.0-cp311-cp311-linux_x86_64.whl
demo_wheel "$wheel" "$t/_demo.so"

# The stand-in has every symbol that the extension needs from libstdc++; only the newest versions are missing, so that
# the two differ in nothing but the version.
nm -D --undefined-only --with-symbol-versions "$t/_demo.so" | awk '{ print $2 }' | grep -E '@(GLIBCXX|CXXABI)_' >"$t/wanted"
mkdir "$t/old"
previous=
for version in GLIBCXX_3.4 $(seq -f 'GLIBCXX_3.4.%.0f' 1 25) CXXABI_1.3 $(seq -f 'CXXABI_1.3.%.0f' 1 11); do
  names=$(sed -n "s/@$version\$/; /p" "$t/wanted" | tr -d '\n')
  [[ $version != *_3.4.25 ]] || names+=$(grep -E '@GLIBCXX_3\.4\.(2[6-9]|[3-9][0-9])$' "$t/wanted" | sed 's/@.*/; /' | tr -d '\n')
  echo "$version { ${names:+global: $names} ${previous:-local: *;} } ;"
  previous=' '
done >"$t/old.map"
sed 's/@.*//' "$t/wanted" | awk '{ print ".globl " $1 "\n.type " $1 ", @function\n" $1 ": ret" }' >"$t/old.s"
echo '.section .note.GNU-stack,"",@progbits' >>"$t/old.s"
gcc -shared -nostdlib "$t/old.s" -o "$t/old/libstdc++.so.6" -Wl,-soname,libstdc++.so.6 "-Wl,--version-script,$t/old.map"

errors() { json '[f"{f.id} {f.subject} {f.what}" for f in items[0].findings if f.severity == "error"]'; }
LD_LIBRARY_PATH=$t/old ldd "$t/_demo.so" 2>&1 | grep -F "version \`$newest' not found"
run_json check "$wheel" --against "$t/old/libstdc++.so.6"
expect bad "$(json 'items[0].verdict')" "$(<"$t/out")"
expect 1 $status
errors | grep -E "^symbol-version-missing demo/_demo.*$newest"
# Exactly what the loader misses.
LD_LIBRARY_PATH=$t/old ldd "$t/_demo.so" 2>&1 | sed -n "s/.*version .\([A-Z]*_[0-9.]*\)' not found.*/\1/p" | sort -u >"$t/missed"
expect "$(<"$t/missed")" "$(errors | sed 's/.* needs \(.*\) of lib.*/\1/' | grep -oE '[A-Z]+_[0-9.]+' | sort -u)" "versions"

# This machine's own libraries: one at a time, and as a sysroot.
ldd -r "$t/_demo.so" >"$t/ldd"
paths=$(awk '$3 ~ /^\// { print $3 }' "$t/ldd")
[[ $paths == *libstdc++.so.6* && $paths == *libc.so.6* ]]
against=()
mkdir -p "$t/sysroot/usr/lib"
for path in $paths; do
  against+=(--against "$(realpath "$path")")
  cp -L "$path" "$t/sysroot/usr/lib/"
done
run_json check "$wheel" "${against[@]}"
expect good "$(json 'items[0].verdict')" "this machine: $(errors)"
expect 0 $status
run_json check "$wheel" --against "$t/sysroot"
expect good "$(json 'items[0].verdict')" "sysroot: $(errors)"
# A sysroot with the old library fails again.
cp "$t/old/libstdc++.so.6" "$t/sysroot/usr/lib/"
run_json check "$wheel" --against "$t/sysroot"
expect bad "$(json 'items[0].verdict')" "$(<"$t/out")"
errors | grep -E "^symbol-version-missing demo/_demo.*$newest"
