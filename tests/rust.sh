#!/bin/bash
# A Rust package's crates are downloaded before its build, which has no network: from a registry on loopback, which the
# build could not reach. Confirmed by pip and by the built program. Without a registry the message names it.
. "$(dirname "$0")/common.inc"
. "$tests/small_package.inc"
need_registry
need cargo rustc
export WHEELSMITH_STORE=$t/store WHEELSMITH_OUT=$t/wheels
"$TESTS_PYTHON" -m pip download -q --no-deps -d "$t/links" maturin >/dev/null 2>&1 || skip "no maturin in the package index"

# A registry with one crate.
mkdir -p "$t/crate/tiny-1.0.0/src" "$t/www/ti/ny" "$t/www/crates/tiny/1.0.0"
printf '[package]\nname = "tiny"\nversion = "1.0.0"\nedition = "2021"\n' >"$t/crate/tiny-1.0.0/Cargo.toml"
echo 'pub fn answer() -> i32 { 42 }' >"$t/crate/tiny-1.0.0/src/lib.rs"
tar -C "$t/crate" -czf "$t/www/crates/tiny/1.0.0/download" tiny-1.0.0
sum=$(sha256sum "$t/www/crates/tiny/1.0.0/download" | cut -d' ' -f1)
printf '{"name":"tiny","vers":"1.0.0","deps":[],"cksum":"%s","features":{},"yanked":false}\n' "$sum" >"$t/www/ti/ny/tiny"
serve_folder "$t/www"
printf '{"dl":"%s/crates/{crate}/{version}/download"}' "$base" >"$t/www/config.json"

mkdir -p "$t/rusty/src" "$t/rusty/.cargo"
cd "$t/rusty"
cat >pyproject.toml <<'TOML'
[build-system]
requires = ["maturin>=1,<2"]
build-backend = "maturin"
[project]
name = "rusty"
version = "1.0"
[tool.maturin]
bindings = "bin"
TOML
printf '[package]\nname = "rusty"\nversion = "1.0.0"\nedition = "2021"\n[dependencies]\ntiny = "1"\n' >Cargo.toml
echo 'fn main() { println!("{}", tiny::answer()); }' >src/main.rs
printf '[source.crates-io]\nreplace-with = "mirror"\n[source.mirror]\nregistry = "sparse+%s/"\n' "$base" >.cargo/config.toml
CARGO_HOME=$t/cargo cargo generate-lockfile -q || fail "cargo generate-lockfile"

run_json plan .
expect 0 $status "$(<"$t/err")"
expect "cargo --config net.offline=false fetch --locked --manifest-path Cargo.toml" "$(json 'steps[0].prepare[0]' | paste -sd' ' -)"
expect true "$(json 'not steps[0].network')" "the build has no network"
run_json build .
expect 0 $status "$(<"$t/err") $(<"$t/out")"
python3 -m venv "$t/env"
"$t/env/bin/python" -m pip install -q --no-index "$t"/wheels/rusty-*.whl
expect 42 "$("$t/env/bin/rusty")"

# When the registry does not answer, the cause names it, and the fix does not suggest network access for the build.
sed -i 's#sparse+.*/"#sparse+http://127.0.0.1:9/"#' .cargo/config.toml
run_json build . --clean --store "$t/store2"
expect 1 $status
expect "prepare network" "$(json 'steps[0].phase') $(json 'steps[0].diagnosis["class"]')" "$(<"$t/out")"
[[ $(json 'steps[0].diagnosis.what') == *127.0.0.1* && $(json 'steps[0].diagnosis') != *"--network on"* ]] || fail "$(json 'steps[0].diagnosis')"
