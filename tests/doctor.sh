#!/bin/bash
# doctor on good machines and on machines with one defect each: the state, the fix, the exit status.
. "$(dirname "$0")/common.inc"
need gcc python3
export WHEELSMITH_STORE=$t/store
unset CC CXX CUDA_HOME ROCM_PATH ROCM_HOME HIP_PATH VIRTUAL_ENV CONDA_PREFIX
python=$(python3 -c 'import sys; print(sys.executable)')
# The program under test sees another PATH than this script.
export MACHINE=$PATH
printf '#!/bin/sh\nPATH=$MACHINE\nexport PATH\nexec "%s" "$@"\n' "$wheelsmith" >"$t/in-machine"
chmod +x "$t/in-machine"
wheelsmith=$t/in-machine

state() { json "[c.state for c in checks if c.id == '$1'][:1]"; }
fix() { json "[c.fix for c in checks if c.id == '$1'][:1]"; }

# The machine alone: one document, every check complete, and a second run uses remembered facts.
run_json doctor --out "$t/out-folder"
expect "[]" "$(json "[c.id for c in checks if set(c) < {'id', 'state', 'found', 'wanted', 'why', 'fix'}] or '[]'")"
expect "[]" "$(json "[c.id for c in checks if c.state not in ('good', 'bad', 'unknown')] or '[]'")"
expect good "$(state compiler)"
expect good "$(state disk-store)"
[[ ! -e $t/out-folder ]] || fail "a look made a folder"

# The test's own recipe, independent of others.
mkdir -p "$t/recipes"
cat >"$t/recipes/demo.toml" <<'END'
name = "demo"
[source]
sdist = "demo"
[requires]
cxx-standard = 17
cmake = ">=3.18,<4"
programs = ["frobnicate"]
[known]
memory-per-job = "1MB"
[variant.cpu]
[variant.cuda.archs]
default = "9.0"
legal = ["8.0", "9.0"]
END
doctor() { run_json doctor demo --recipes "$t/recipes" --python "$python" --out "$t" "$@"; }

# A machine of scripts: compilers and curl work, cmake is too old, and one program is missing.
mkdir -p "$t/bin" "$t/shim"
for tool in gcc g++ cc c++ as ld curl python3 sh; do
  path=$(command -v "$tool") && ln -s "$path" "$t/bin/$tool"
done
script() { printf '#!/bin/sh\n%s\n' "$2" >"$1"; chmod +x "$1"; }
script "$t/bin/cmake" 'echo cmake version 3.10.2'
script "$t/bin/frobnicate" 'echo frobnicate 1.0'

MACHINE=$t/bin doctor --variant cpu
expect 1 $status
expect bad "$(state cmake)"
expect 'pip install "cmake>=3.18,<4"' "$(fix cmake)"
expect good "$(state compiler)"
expect good "$(state frobnicate)"
expect demo "$(json 'checks[0].package')"

script "$t/bin/cmake" 'echo cmake version 3.25.1'
MACHINE=$t/bin doctor --variant cpu
expect good "$(state cmake)"
expect 0 $status "$(json "[c for c in checks if c.state == 'bad']")"

# One from pip before it: named, with the program it shadows.
touch "$t/shim/pyvenv.cfg"
mkdir "$t/shim/bin"
script "$t/shim/bin/cmake" 'echo cmake version 4.1.0'
MACHINE=$t/shim/bin:$t/bin doctor --variant cpu
expect bad "$(state cmake)"
expect "pip uninstall cmake" "$(fix cmake)"
[[ $(json "[c.found for c in checks if c.id == 'cmake']") == *"4.1.0 "*"shadows cmake 3.25.1"* ]] || fail "cmake: $(cat "$t/out")"

# No compiler at all; no curl.
rm "$t"/bin/{gcc,g++,cc,c++,curl}
MACHINE=$t/bin doctor --variant cpu
expect 1 $status
expect "apt-get install build-essential" "$(fix compiler)"
expect "apt-get install curl" "$(fix curl)"
MACHINE=$t/bin run doctor demo --recipes "$t/recipes" --python "$python" --variant cpu
expect 1 $status
grep -q 'fix: apt-get install build-essential' "$t/out"
# A named compiler that does not exist.
doctor --variant cpu --cc no-such-compiler
expect bad "$(state compiler)"

# Architectures: the package's, and nvcc's where the toolkit would come from the package index.
doctor --variant cuda --arch 8.6
expect bad "$(state archs)"
expect '--arch "9.0"' "$(fix archs)"
doctor --variant cuda --cuda "$t/no-such-toolkit"
expect bad "$(state cuda)"

# An invalid platform tag is rejected, as by plan and build; and one that only the build can decide.
run doctor demo --recipes "$t/recipes" --variant cpu --platform manylinux_3x
expect 2 $status
doctor --variant cpu --platform manylinux_2_17
[[ $(state platform-glibc) == unknown || $(state platform-glibc) == good ]] || fail "platform-glibc is $(state platform-glibc)"

# A missing interpreter, and an impossible store: failed checks, not failures of doctor itself.
run_json doctor demo --recipes "$t/recipes" --variant cpu --python 3.99
expect 1 $status
expect bad "$(state python)"
touch "$t/plain"
doctor --variant cpu --store "$t/plain/store"
expect 1 $status
expect bad "$(state disk-store)"
expect "--store DIR" "$(fix disk-store)"

# A variant that the recipe lacks; a broken recipe; invalid names.
doctor --variant rocm
expect 1 $status
expect bad "$(state variant)"
echo 'name = "broken' >"$t/recipes/broken.toml"
run doctor broken --recipes "$t/recipes"
expect 2 $status "$(<"$t/err")"
run doctor "no name!" --recipes "$t/recipes"
expect 2 $status
run doctor --no-such-option
expect 2 $status
# No recipe, and no reachable source.
run_json doctor no-such-package-here --offline --recipes "$t/recipes"
expect 1 $status
expect bad "$(state recipe)"
