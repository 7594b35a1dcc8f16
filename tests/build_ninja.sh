#!/bin/bash
# A package built by CMake and ninja: one changed file recompiles one object, the log shows times, and a failed command
# can be run again in ninja's folder.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
export WHEELSMITH_STORE=$t/store WHEELSMITH_OUT=$t/wheelhouse
cp -r "$tests/../examples/texture" "$t/texture"
cd "$t"

# ninja_says: ninja's output in the last build, each line with the seconds since the start.
ninja_says() { grep -E '^\[[0-9]+/[0-9]+ [0-9]+\.[0-9]+s\] ' "$(json 'steps[0].log')" || true; }

# The format of ninja's progress does not affect the result.
run_json plan texture --variant cpu --source texture
key=$(json 'steps[0].key')
run_json plan texture --variant cpu --source texture --env 'NINJA_STATUS=%f/%t '
expect "$key" "$(json 'steps[0].key')" "key with another NINJA_STATUS"
expect '%f/%t ' "$(json 'steps[0].volatile_environment.NINJA_STATUS')"

run_json build texture --variant cpu --source texture
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
expect 3 "$(ninja_says | grep -c '\.cc\.o')" "objects compiled: $(ninja_says)"

echo '// changed' >>texture/src/no_gpu.cc
touch texture/src/cpu.cc
run_json build texture --variant cpu --source texture
expect 0 "$status"
expect 1 "$(ninja_says | grep -c '\.cc\.o')" "objects compiled after one file changed: $(ninja_says)"
[[ $(ninja_says) == *no_gpu.cc.o* ]] || fail "ninja compiled $(ninja_says)"

# The first command that failed, and the script that runs it again.
echo 'int wrong = undeclared_name;' >>texture/src/no_gpu.cc
run_json build texture --variant cpu --source texture
expect "1 failed" "$status $(json 'steps[0].outcome')"
[[ $(json 'steps[0].failure.command') == *no_gpu.cc* ]] || fail "the command is $(json 'steps[0].failure.command')"
[[ -f $(json 'steps[0].failure.folder')/build.ninja ]] || fail "the folder is $(json 'steps[0].failure.folder')"
if bash "$(json 'steps[0].repeat_script')" >"$t/repeat" 2>&1; then fail "the command that failed does not fail again"; fi
grep -q undeclared_name "$t/repeat" || fail "repeated, it says $(cat "$t/repeat")"
sed -i '$d' texture/src/no_gpu.cc
run build texture --variant cpu --source texture
expect 0 "$status" "fixed: $(cat "$t/err")"
