#!/bin/bash
# A g++ wrapper that links libstdc++ into every library: `doctor` links one and reads its NEEDED libraries, as readelf
# does here. It is bad for a package that uses torch; the compiler that doctor suggests is good.
. "$(dirname "$0")/common.inc"
need g++ readelf python3
export WHEELSMITH_STORE=$t/store
unset CC CXX CUDA_HOME ROCM_PATH ROCM_HOME HIP_PATH VIRTUAL_ENV CONDA_PREFIX
real=$(command -v g++)
mkdir -p "$t/bin" "$t/recipes"
printf '#!/bin/sh\nexec "%s" "$@" -static-libstdc++ -static-libgcc\n' "$real" >"$t/bin/g++"
chmod +x "$t/bin/g++"
cp "$t/bin/g++" "$t/bin/c++"
ln -s "$(command -v gcc)" "$t/bin/gcc"

echo '#include <string>
std::string probe(int n) { return std::to_string(n).substr(1); }' >"$t/probe.cc"
needs() { "$1" -shared -fPIC "$t/probe.cc" -o "$t/probe.so" && readelf -dW "$t/probe.so" | grep -c 'NEEDED.*libstdc++' || true; }
expect 0 "$(needs "$t/bin/g++")" "NEEDED of a library by the wrapper"
expect 1 "$(needs "$real")" "NEEDED of a library by the real one"

for name in plain torched; do
  printf 'name = "%s"\n[source]\nsdist = "%s"\n[variant.cpu]\n' "$name" "$name" >"$t/recipes/$name.toml"
done
printf '[requires]\ntorch = ">=2.0"\n' >>"$t/recipes/torched.toml"
# seen PACKAGE OPTION…: state and fix
seen() {
  run_json doctor "$1" --recipes "$t/recipes" --out "$t" --variant cpu "${@:2}"
  json '[f"{c.state} {c.fix}".strip() for c in checks if c.id == "compiler-runtime"]'
}
expect good "$(seen torched)" "the machine's own compiler"
export PATH=$t/bin:$PATH
expect "bad --cxx $real" "$(seen torched)"
seen torched >/dev/null
expect 1 "$status"
json '[c.found + " " + c.why for c in checks if c.id == "compiler-runtime"]' | grep -F "++ links libstdc++ as a static library" | grep -F SIGSEGV
expect "unknown --cxx $real" "$(seen plain)" "a package without torch"
# The fix fixes it.
expect good "$(seen torched --cxx "$real")"
