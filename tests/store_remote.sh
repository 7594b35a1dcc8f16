#!/bin/bash
# A store over HTTP: what is there is not built again; what lies or fails is built; curl as a stranger gets nothing but
# steps and wheels, and writes nothing without the token.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need curl
small_package "$t"
cd "$t"
servers=()
trap 'ended=$?; ((${#servers[@]} == 0)) || kill "${servers[@]}" 2>/dev/null || true; leave $ended' EXIT
# serve_store ARGUMENT…: leaves the address in $url.
serve_store() {
  local log=$t/serve-${#servers[@]}
  "$wheelsmith" serve --store "$@" --listen 127.0.0.1:0 --json >"$log" 2>"$log.err" </dev/null &
  servers+=($!)
  for ((i = 0; i < 300; i++)); do [[ -s $log ]] && break; sleep 0.1; done
  url=$(json url "$log")
}
status_of() { curl -s -o "$t/answer" -w '%{http_code}' "$@" || true; }

run_json build small
expect built "$(json 'steps[0].outcome')"
key=$(json 'steps[0].key')
wheel=$(json 'steps[0].wheel')
sum=$(sha256sum <"$wheel")
sha=${sum%% *}
serve_store "$t/store"
origin=$url

# Another machine: nothing is built, and plan says where it comes from.
export WHEELSMITH_STORE=$t/store2,$origin WHEELSMITH_OUT=$t/wheelhouse2
run_json plan small
expect "true $origin" "$(json 'steps[0].cached') $(json 'steps[0].remote')" "plan"
run_json build small
expect "cached $sum" "$(json 'steps[0].outcome') $(sha256sum <"$(json 'steps[0].wheel')")"
run_json plan small
grep -q '"remote"' "$t/out" && fail "the copied step is still reported as remote"

# What strangers get.
expect 200 "$(status_of "${origin}blobs/$sha")"
expect "$sum" "$(sha256sum <"$t/answer")"
expect 206 "$(status_of -r 100-199 "${origin}blobs/$sha")"
cmp "$t/answer" <(tail -c +101 "$wheel" | head -c 100) || fail "a range"
expect 304 "$(status_of -H "If-None-Match: \"$sha\"" "${origin}blobs/$sha")"
expect 200 "$(status_of -I "${origin}steps/$key.json")"
expect 200 "$(status_of "${origin}steps.json")"
expect "$key" "$(json 'steps[0].key' "$t/answer")"
for path in / store.json CACHEDIR.TAG notes/x blobs/ steps/ "blobs/$sha/" "blobs/../CACHEDIR.TAG" "../etc/passwd" \
  "blobs/%2e%2e/CACHEDIR.TAG" "blobs/..%2fCACHEDIR.TAG" "steps/../CACHEDIR.TAG" "blobs/${sha^^}" "blobs/${sha}%00" "history/x"; do
  answer=$(status_of --path-as-is "$origin$path")
  [[ $answer == 404 || $answer == 400 ]] || fail "GET $path: $answer"
done
expect 403 "$(status_of -T "$wheel" "${origin}blobs/$sha")" "a store without a token is read-only"
expect 405 "$(status_of -X DELETE "${origin}blobs/$sha")"

# Writing.
(umask 077; echo secret-of-this-test >"$t/token")
serve_store "$t/store3" --token-file "$t/token" --max-upload 1MB
target=$url
auth=(-H "Authorization: Bearer secret-of-this-test")
expect 401 "$(status_of -T "$wheel" "${target}blobs/$sha")" "no token"
expect 401 "$(status_of -T "$wheel" -H "Authorization: Bearer secret-of-this-tesT" "${target}blobs/$sha")" "a wrong token"
other=$(printf '%064d' 7)
expect 422 "$(status_of -T "$wheel" "${auth[@]}" "${target}blobs/$other")" "a wrong hash"
head -c 2000000 /dev/zero >"$t/large"
expect 413 "$(status_of -T "$t/large" "${auth[@]}" "${target}blobs/$other")" "too large"
expect 413 "$(status_of -T "$t/large" -H 'Expect:' "${auth[@]}" "${target}blobs/$other")" "too large, without asking"
expect 411 "$(status_of -T - "${auth[@]}" "${target}blobs/$sha" <"$wheel")" "of unknown size"
for path in store.json steps.json "blobs/../x" "blobs/%2e%2e/x" "tmp/x" "steps/$key"; do
  answer=$(status_of --path-as-is -T "$wheel" "${auth[@]}" "$target$path")
  [[ $answer == 404 || $answer == 400 ]] || fail "PUT $path: $answer"
done
expect 409 "$(status_of -T "$t/store/steps/$key.json" "${auth[@]}" "${target}steps/$key.json")" "a step without its wheel"
sed 's/"texture"\|"small"/"other"/' "$t/store/steps/$key.json" >"$t/changed.json"
expect 422 "$(status_of -T "$t/changed.json" "${auth[@]}" "${target}steps/$key.json")" "a changed record"
expect 422 "$(status_of -T "$t/store/steps/$key.json" "${auth[@]}" "${target}steps/$other.json")" "a record of another key"
expect "" "$(find "$t/store3/blobs" "$t/store3/steps" "$t/store3/tmp" -type f ! -name .alive 2>/dev/null || true)" "something was kept"

# From store to store: by name, by key, by folder.
run_json store push small "$target"
expect 1 "$status" "push without a token"
export WHEELSMITH_STORE_TOKEN=secret-of-this-test
run_json store push small "$target"
expect "0 copied" "$status $(json 'steps[0].state')"
run_json store push "$target"
expect present "$(json 'steps[0].state')"
expect "$sum" "$(sha256sum <"$t/store3/blobs/$sha")"
WHEELSMITH_STORE=$t/store4 run_json store pull "$key" "$target"
expect copied "$(json 'steps[0].state')"
WHEELSMITH_STORE=$t/store4 run_json store push small==1.0 "$t/store5"
WHEELSMITH_STORE=$t/store5 run store verify
expect 0 "$status" "$(<"$t/out")"
WHEELSMITH_STORE=$t/store5 run_json store ls
expect "$key" "$(json 'wheels[0].key')"

# Remote stores that lie: a plain web server with a store's folder, in which something was changed.
unset WHEELSMITH_STORE_TOKEN
cp -r "$t/store5" "$t/lies"
serve_folder "$t/lies"
servers+=("$server")
trap 'ended=$?; kill "${servers[@]}" 2>/dev/null || true; leave $ended' EXIT
WHEELSMITH_STORE=$t/store6,$base WHEELSMITH_OUT=$t/wheelhouse6 run_json build small
expect cached "$(json 'steps[0].outcome')" "from a plain web server"
chmod u+w "$t/lies/blobs/$sha"
printf 'X' | dd of="$t/lies/blobs/$sha" bs=1 seek=100 conv=notrunc status=none
WHEELSMITH_STORE=$t/store7,$base WHEELSMITH_OUT=$t/wheelhouse7 run_json build small
expect "built $sum" "$(json 'steps[0].outcome') $(sha256sum <"$(json 'steps[0].wheel')")" "a wheel that was changed"
json notes | grep -q "cannot copy .* from $base" || fail "no note: $(json notes)"
# A step of another key under this one's name.
cp "$t/changed.json" "$t/lies/steps/$key.json"
WHEELSMITH_STORE=$t/store7b,$base run_json plan small
expect false "$(json 'steps[0].cached')" "a record that was changed"
json notes | grep -q "is not used" || fail "no note: $(json notes)"
# Nobody answers.
WHEELSMITH_STORE=$t/store8,http://127.0.0.1:9/ run_json plan small
expect "0 false" "$status $(json 'steps[0].cached')"
json notes | grep -q "remote store http://127.0.0.1:9/ is not used" || fail "no note: $(json notes)"
