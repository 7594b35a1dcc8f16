#!/bin/bash
# The compile cache of `build`: the same wheel with and without it, hits in another tree and another store, reported in
# the outcome, disabled by a setting and by a recipe, and not part of the key.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need unzip
small_package "$t"
export XDG_RUNTIME_DIR
XDG_RUNTIME_DIR=$(mktemp -d)
trap 'ended=$?; rm -rf "$XDG_RUNTIME_DIR"; leave $ended' EXIT
cd "$t"
echo 'const char* small_where(void) { return __FILE__; }' >>recipes/small/small/add.c

# built ARGUMENT…: leaves "hits misses" in $counts, the wheel's hash in $wheel and the key in $key.
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
[[ ! -e store/objects ]] || fail "a cache that is off has a folder"
without=$wheel plain_key=$key
forget
built
expect "0 2" "$counts" "cold"
expect "$without $plain_key" "$wheel $key" "the wheel with a cold cache"
forget
built
expect "2 0" "$counts" "warm"
expect "$without $plain_key" "$wheel $key" "the wheel from the cache"
# The status line, the log and the report show it.
forget
run build small
expect 0 "$status" "$(<"$t/err")"
[[ $(<"$t/err") == *"2 of 2 from the cache"* ]] || fail "$(<"$t/err")"
run_json report small
expect 2 "$(json 'records[0].cache.hits')"
run_json store stats
((0 < $(json '[p["files"] for p in parts if p["name"] == "objects"][0]'))) || fail "the cache is not in the stats"

# Another step's tree: another setting makes another key, not another object.
built --set flag=two
expect "2 0" "$counts" "with another setting"
# Another store with this one's cache; its objects contain no paths.
WHEELSMITH_STORE=$t/elsewhere/store built --cache-dir "$t/store/objects"
expect "2 0 $without" "$counts $wheel" "in another store"

# A step without network access reaches the shared remote storage, and nothing else.
mkdir storage
echo me:secret-word >login
python3 -u "$tests/cache_server.py" storage login >server.log &
server=$!
trap 'ended=$?; kill $server 2>/dev/null || true; rm -rf "$XDG_RUNTIME_DIR"; leave $ended' EXIT
for _ in {1..100}; do [[ ! -s server.log ]] || break; sleep 0.1; done
port=$(sed -n 's/port //p' server.log)
export WHEELSMITH_CACHE_REMOTE=http://me:secret-word@localhost:$port/x
cat >>recipes/small/setup.py <<PYTHON
import socket
try:
    socket.create_connection(("127.0.0.1", $port), 2)
    print("REACHED THE NETWORK")
except OSError:
    print("reached nothing")
PYTHON
forget
built --cache-dir "$t/first"
expect "0 2" "$counts"
[[ -n $(ls storage) ]] || fail "nothing came to the storage: $(json 'steps[0].cache')"
log=$(json 'steps[0].log')
if unshare -rn true 2>/dev/null; then
  grep -q "reached nothing" "$log" || fail "the step reached the network: $(<"$log")"
  ! grep -q "REACHED" "$log" || fail "the step reached the network: $(<"$log")"
fi
forget
built --cache-dir "$t/second"
expect "2 0 2" "$counts $(json 'steps[0].cache.remote_hits')" "from another machine's storage"
! grep -rq secret-word store wheelhouse "$log" || fail "the password is in a file: $(grep -rl secret-word store wheelhouse)"
kill "$server"
wait "$server" 2>/dev/null || true
forget
built --cache-dir "$t/third"
expect "0 2" "$counts" "from a storage that is gone"
((0 < $(json 'steps[0].cache.errors'))) || fail "$(json 'steps[0].cache')"
# A failing command fails as usual.
cp recipes/small/small/add.c kept
echo 'int f( {' >>recipes/small/small/add.c
run_json build small --cache-dir "$t/third"
expect "1 failed" "$status $(json 'steps[0].outcome')"
[[ $(json 'steps[0].failure.output') == *"error: "* ]] || fail "$(<"$t/out")"
[[ $(json 'steps[0].failure.command') == *add.c* ]] || fail "$(json 'steps[0].failure')"
mv kept recipes/small/small/add.c
unset WHEELSMITH_CACHE_REMOTE

# A recipe that disables it.
sed -i 's/^requires = /cache = false\ncache-why = "its compiler has moods"\nrequires = /' recipes/small.toml
forget
run build small
expect 0 "$status" "$(<"$t/err")"
[[ $(<"$t/err") == *"without the compile cache: its compiler has moods"* && $(<"$t/err") != *"from the cache"* ]] || fail "$(<"$t/err")"
sed -i '/^cache-why/d' recipes/small.toml
run build small
expect 2 "$status"
[[ $(<"$t/err") == *"needs a cache-why"* ]] || fail "$(<"$t/err")"
sed -i '/^cache = false/d' recipes/small.toml

for wrong in "--cache maybe" "--cache-compression 20" "--cache-size much" "--cache-remote nowhere"; do
  # shellcheck disable=SC2086
  run build small $wrong
  expect 2 "$status" "$wrong: $(<"$t/err")"
done
