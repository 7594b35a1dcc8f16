#!/bin/bash
# Command-line behaviour: short options, short and complete help that fits the terminal, suggestions, and invalid values that
# are rejected at once with the accepted form.
. "$(dirname "$0")/common.inc"
cd "$t"
says() { grep -qF -e "$1" "$t/out" "$t/err" || { cat "$t/out" "$t/err" >&2; fail "${2:-missing in the output}: $1"; }; }

# Bare commands print help; so do -h (short) and --help (complete, like `help COMMAND`).
run
expect 2 $status
says "Usage: wheelsmith"
says "Build wheels:"
run recipe
expect 2 $status
says "Usage: wheelsmith recipe"
for short in -V --version; do
  run $short
  expect 0 $status
  grep -qE '^wheelsmith [0-9]+\.[0-9]+' "$t/out"
done
run build -h
expect 0 $status
cp "$t/out" "$t/short"
run build --help
expect 0 $status
cp "$t/out" "$t/long"
run help build
cmp "$t/out" "$t/long" || fail "help build is not build --help"
(($(wc -l <"$t/short") <= 90 && $(wc -l <"$t/short") * 2 < $(wc -l <"$t/long"))) || fail "the short help is not short"
expect "Source Target Toolchain Resources Output Advanced Help" \
  "$(sed -n 's/^\([A-Z][a-z]*\):$/\1/p' "$t/long" | grep -v -e Arguments -e Examples | paste -sd' ' -)" "groups of build --help"
for option in -j, -o, -v, -q, -e,; do grep -q -e "^  $option" "$t/long" || fail "no $option in the help"; done
if grep -qE 'complete$|^  (step|confine|relay|governor) ' "$t/long" "$t/out"; then fail "internal commands in the help"; fi
run help recipe show
says "Usage: wheelsmith recipe show"
run help biuld
expect 2 $status
says "did you mean build?"

# Help fits the width: 80 columns without a terminal, or COLUMNS if it is set.
commands=$("$wheelsmith" --help | sed -n 's/^  \([a-z]\+\)  .*/\1/p')
(($(wc -w <<<"$commands") > 20)) || fail "too few commands: $commands"
for command in "" $commands; do
  for columns in 60 80 100; do
    COLUMNS=$columns run $command --help
    expect 0 $status "$command --help"
    # Examples are not wrapped, because users paste them.
    long=$(sed '/^Examples\?:/,$d' "$t/out" | awk -v most=$columns 'length($0) > most' | grep -vE -e '^ +[^ ]+$' -e '^  wheelsmith ' || true)
    [[ -z $long ]] || fail "wheelsmith $command --help at $columns columns:"$'\n'"$long"
  done
  run $command -h
  expect 0 $status "$command -h"
done

# Transposed letters.
while read -r meant arguments; do
  eval "run $arguments"
  expect 2 $status "wheelsmith $arguments"
  says "did you mean $meant" "wheelsmith $arguments"
done <<'END2'
build biuld x
doctor dcotor
inspect inpsect x
--variant plan x --vairant cpu
--policy check --poilcy x y
texture recipe show txeture
texture checkout txeture
cuda plan x --variant cdua
manylinux_2_28 plan x --platform mnaylinux_2_28
record-missing check --explain record-misisng
jobs config set jbos 4
init recipe inti x
END2

# An invalid value is rejected before anything is read or downloaded, wherever it comes from.
while IFS='|' read -r wanted arguments; do
  eval "run $arguments --offline"
  expect 2 $status "wheelsmith $arguments: $(<"$t/err")"
  says "$wanted" "wheelsmith $arguments"
done <<'END2'
--jobs abc: must be a whole number|plan x --jobs abc
--jobs abc: must be a whole number|build x -j abc
--jobs abc: must be a whole number|doctor --jobs abc
--jobs abc: must be a whole number|config show --jobs abc
--steps 0: must be a whole number from 1|plan x --steps 0
--timeout 1h: must be a whole number|plan x --timeout 1h
--memory lots: must be a size such as 12GB|plan x --memory lots
--platform manylinux_2_99: must be a platform tag|plan x --platform manylinux_2_99
--platform manylinux_2_99: must be a platform tag|doctor x --platform manylinux_2_99
--platform manylinux_2_99: must be a platform tag|config show --platform manylinux_2_99
--variant gpu: must be one of cpu, cuda, rocm|plan x --variant gpu
--network maybe: must be one of|plan x --network maybe
--python nosuch: must be a version|plan x --python nosuch
--torch no.such: must be a version|plan x --torch no.such
--env A: must be NAME=VALUE|plan x --env A
--env 1A: the name of a variable|plan x --env 1A=2
--gpu|plan x --gpu toaster
--cc no-such-cc: no such program|plan x --cc no-such-cc
--cuda /no/such: no such folder|plan x --cuda /no/such
--out|plan x --out /etc/passwd
x/y: no such file or folder|plan x/y
is a wheel|plan x-1.0-py3-none-any.whl
END2
run inspect --threads x y
expect 2 $status
says "--threads x: must be a whole number"
WHEELSMITH_JOBS=abc run plan x
expect 2 $status
says "WHEELSMITH_JOBS: jobs abc: must be"

# --gpu and --arch imply the variant: never a wheel without GPU code, and doctor and plan always agree.
mkdir recipes
cat >recipes/demo.toml <<'TOML'
name = "demo"
[source]
folder = "demo"
[variant.cpu]
[variant.cuda]
[variant.rocm]
TOML
sed -e 's/demo/plain/; /cuda/d; /rocm/d' recipes/demo.toml >recipes/plain.toml
mkdir recipes/demo recipes/plain
touch recipes/demo/setup.py recipes/plain/setup.py
while IFS='|' read -r wanted variant arguments; do
  for command in plan doctor; do
    eval "run_json $command $arguments --recipes recipes --offline --store $t/store"
    if ((wanted == 2)); then
      expect 2 $status "$command $arguments"
      [[ $(json error) == *"$variant"* ]] || fail "$command $arguments: $(json error)"
    elif [[ $command == plan ]]; then
      # Offline, planning fails at the build requirements, which are resolved after the choice.
      [[ $status == 1 && $(<"$t/err") == *"not been resolved before"* ]] || fail "plan $arguments: $(<"$t/err")"
    else
      [[ $(json 'checks[-1].step') == demo-"$variant"-* ]] || fail "doctor $arguments: $(json 'checks[-1].step')"
    fi
  done
done <<'END2'
0|cuda|demo --gpu H100
0|cuda|demo --arch 9.0
0|cuda|demo --arch sm_90
0|rocm|demo --gpu MI300X
0|rocm|demo --arch gfx942
2|--variant cuda,rocm|demo --arch "9.0;gfx942"
2|--variant cuda,rocm|demo --gpu H100 --gpu MI300X
2|excludes|demo --gpu H100 --variant cpu
2|excludes|demo --gpu MI300X --variant cuda
2|has only cpu|plain --gpu H100
END2
