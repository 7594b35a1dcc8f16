#!/bin/bash
# Changing any input of the key changes the key, and the reason names the input.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
small_package "$t"
cd "$t"

run_json build small
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
run_json plan small
expect true "$(json 'steps[0].cached')"
key=$(json 'steps[0].key')

# changed TEXT-OF-THE-REASON [OPTION…]
changed() {
  run_json plan small "${@:2}"
  expect 0 "$status" "$(cat "$t/err")"
  expect false "$(json 'steps[0].cached')" "cached although $1"
  [[ $(json 'steps[0].key') != "$key" ]] || fail "the key is the same although $1 changed"
  [[ $(json 'steps[0].reason') == *"$1"* ]] || fail "the reason says «$(json 'steps[0].reason')» instead of $1"
}
same() {
  run_json plan small "$@"
  expect "true $key" "$(json 'steps[0].cached') $(json 'steps[0].key')" "after $*"
}

# edit FILE SED-EXPRESSION REASON
edit() {
  cp -p "$1" "$t/kept"
  sed -i "$2" "$1"
  changed "$3"
  cp -p "$t/kept" "$1"
  same
}
edit recipes/small/small/add.c 's/a + b/b + a/' source:small/add.c
edit recipes/small.patch 's/+version = "patched"/+version = "better"/' patch:small.patch
edit recipes/small.toml 's/^members = /max-size = "9MB"\nmembers = /' recipe
chmod +x recipes/small/setup.py; changed source:setup.py; chmod -x recipes/small/setup.py; same
touch recipes/small/setup.py; same   # a new time is no new content
echo x >recipes/small/small/new.h; changed source:small/new.h; rm recipes/small/small/new.h; same

changed env:SMALL_FLAG --set flag=two
changed env:MORE --env MORE=1
printf 'FROM_FILE=1\n' >vars.env; changed env:FROM_FILE --env-file vars.env
changed build-type --build-type debug
changed platform --platform linux
edit recipes/small.toml 's/setuptools==80.9.0/setuptools==80.8.0/' requires:setuptools

# A compiler of the same name and version whose parts differ.
mkdir -p bin
cat >bin/my-gcc <<'SH'
#!/bin/sh
exec gcc "$@"
SH
sed 's/gcc/g++/' bin/my-gcc >bin/my-g++
chmod +x bin/*
changed tool:cc --cc "$t/bin/my-gcc" --cxx "$t/bin/my-g++"
SOURCE_DATE_EPOCH=1700000000 changed env:SOURCE_DATE_EPOCH

# The store and the wheelhouse are not inputs.
same --out "$t/elsewhere"
