#!/bin/bash
# The compile cache of `build`: the same wheel with it and without, hits in another tree and in another store, told in the outcome, off by a
# setting and by a recipe, and no part of the key.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need ccache unzip
small_package "$t"
export XDG_RUNTIME_DIR
XDG_RUNTIME_DIR=$(mktemp -d)
trap 'ended=$?; rm -rf "$XDG_RUNTIME_DIR"; leave $ended' EXIT
cd "$t"
echo 'const char* small_where(void) { return __FILE__; }' >>recipes/small/small/add.c

# built WORD…: leaves "hits misses" in $counts, the wheel's hash in $wheel and the key in $key.
built() {
  run_json build small "$@"
  [[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
  expect built "$(json 'steps[0].outcome')"
  counts=$(json 'steps[0].get("cache", {}).get("hits", "none")')\ $(json 'steps[0].get("cache", {}).get("misses", "none")')
  wheel=$(sha256sum <"$(json 'steps[0].wheel')" | cut -d' ' -f1)
  key=$(json 'steps[0].key')
}
forget() { rm -rf store/steps store/blobs store/trees store/index.sqlite* wheelhouse; }

built --cache off
expect "none none" "$counts" "off by a setting"
[[ ! -e store/ccache ]] || fail "a cache that is off has a folder"
without=$wheel plain_key=$key
forget
built
expect "0 2" "$counts" "cold"
expect "$without $plain_key" "$wheel $key" "the wheel with a cold cache"
forget
built
expect "2 0" "$counts" "warm"
expect "$without $plain_key" "$wheel $key" "the wheel from the cache"
# The status line and the log say so; the report has it.
forget
run build small
expect 0 "$status" "$(<"$t/err")"
[[ $(<"$t/err") == *"2 of 2 from the cache"* ]] || fail "$(<"$t/err")"
run_json report small
expect 2 "$(json 'records[0].cache.hits')"
run_json store stats
((0 < $(json '[p["files"] for p in parts if p["name"] == "ccache"][0]'))) || fail "the cache is not in the stats"

# Another step's tree: another setting makes another key, not another object.
built --set flag=two
expect "2 0" "$counts" "with another setting"
# Another store, with this one's cache; the paths in its objects are none.
WHEELSMITH_STORE=$t/elsewhere/store built --cache-dir "$t/store/ccache"
expect "2 0 $without" "$counts $wheel" "in another store"

# A recipe that cannot.
sed -i 's/^requires = /cache = false\ncache-why = "its compiler has moods"\nrequires = /' recipes/small.toml
forget
run build small
expect 0 "$status" "$(<"$t/err")"
[[ $(<"$t/err") == *"without the compile cache: its compiler has moods"* && $(<"$t/err") != *"from the cache"* ]] || fail "$(<"$t/err")"
sed -i '/^cache-why/d' recipes/small.toml
run build small
expect 2 "$status"
[[ $(<"$t/err") == *"say cache-why"* ]] || fail "$(<"$t/err")"
sed -i '/^cache = false/d' recipes/small.toml

# Without ccache it is said, and built.
path= number=0
IFS=: read -ra folders <<<"$PATH"
for folder in "${folders[@]}"; do
  if [[ -x $folder/ccache ]]; then
    other=$t/path/$((++number))
    mkdir -p "$other"
    ln -s "$folder"/* "$other"
    rm "$other/ccache"
    folder=$other
  fi
  path+=${path:+:}$folder
done
forget
PATH=$path run build small
expect 0 "$status" "$(<"$t/err")"
[[ $(<"$t/err") == *"there is no ccache here"* ]] || fail "$(<"$t/err")"
PATH=$path run doctor
[[ $(<"$t/out") == *ccache* ]] || fail "doctor does not name it: $(<"$t/out")"
for wrong in "--cache maybe" "--cache-compression 20" "--cache-size much" "--cache-remote nowhere"; do
  # shellcheck disable=SC2086
  run build small $wrong
  expect 2 "$status" "$wrong: $(<"$t/err")"
done
