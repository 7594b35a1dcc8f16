#!/bin/bash
# --source: a working folder only recompiles what changed, confirmed by the objects and by ninja; archives, versions
# from the package index and git are sources like the recipe's own.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need unzip git
small_package "$t"
cd "$t"
cp -r recipes/small work

built() {
  [[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
  expect built "$(json 'steps[0].outcome')"
  wheel=$(json 'steps[0].wheel')
  log=$(json 'steps[0].log')
}
# runs CODE: the wheel's output, installed by pip.
runs() {
  rm -rf env && python3 -m venv env
  env/bin/python -m pip install -q --disable-pip-version-check --no-index "$wheel"
  (cd / && "$t/env/bin/python" -c "$1")
}
# compiled: how many files the last build compiled, and took from the cache.
compiled() { echo "$(json 'steps[0]["cache"]["misses"]') $(json 'steps[0]["cache"]["hits"]')"; }

# setuptools recompiles all files when one is newer; the compile cache avoids that.
sed -i 's/^script = .*/script = "import small"/' recipes/small.toml
run_json build small --source work
built
expect "its source is a local folder, which is never cached" "$(json 'steps[0].reason')"
[[ $(json notes) == *"without the recipe's patches"* ]] || fail "no note about skipped patches: $(json notes)"
expect true "$(unzip -p "$wheel" '*/wheelsmith/provenance.json' | python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["incremental"]))')"
expect "5 unpatched" "$(runs 'import small; print(small.add(2, 3), small.version)')"
expect "" "$(find store/steps store/blobs -type f 2>/dev/null || true)" "what is in the store of an incremental build"
expect "2 0" "$(compiled)" "compiled, from the cache"
echo 'long small_add(long a, long b) { return a + b + 1; }' >work/small/add.c
run_json build small --source small=work
built
expect "1 1" "$(compiled)" "compiled, from the cache, after one of two files changed"
expect 6 "$(runs 'import small; print(small.add(2, 3))')"

# Files deleted there are removed here; --clean leaves nothing behind.
echo 'x = 1' >work/small/more.py
run_json build small --source work
built
[[ $(unzip -l "$wheel") == *small/more.py* ]] || fail "a new file is not in the wheel"
rm work/small/more.py
run_json build small --source work
built
[[ $(unzip -l "$wheel") != *small/more.py* ]] || fail "a deleted file is still in the wheel"
tree=$(dirname store/trees/*/state.json)
touch "$tree/source/leftover"
run_json build small --source work --clean
built
[[ ! -e $tree/source/leftover ]] || fail "--clean left the tree as it was"
[[ -z $(cd work && find . -newer "$t/recipes/small.toml" -name '*.o' -o -name build -o -name '*.egg-info') ]] || fail "the build littered the folder"

# An archive, a repository.
mkdir small-1.0 && cp -r recipes/small/. small-1.0 && printf 'Metadata-Version: 2.1\nName: small\nVersion: 1.0\n' >small-1.0/PKG-INFO
tar czf small-1.0.tar.gz small-1.0
run_json build small --source small-1.0.tar.gz
built
expect patched "$(runs 'import small; print(small.version)')" "from the archive"
(cd small-1.0 && git init -q . && git add . && git -c user.name=a -c user.email=a@example.org commit -q -m first)
sed -i 's/return a + b;/return b + a;/' small-1.0/small/add.c
run_json build small --source "small=git+file://$t/small-1.0"
built
commit=$(git -C small-1.0 rev-parse HEAD)
expect "$commit" "$(unzip -p "$wheel" '*/wheelsmith/provenance.json' | python3 -c 'import json, sys; print(json.load(sys.stdin)["source"]["commit"])')"
run_json build small --source "git+file://$t/small-1.0"
expect cached "$(json 'steps[0].outcome')" "the same commit again"
run build small --source "small=git+file://$t/small-1.0@no-such-branch"
expect 1 "$status"
grep -q no-such-branch "$t/err" || fail "$(cat "$t/err")"

# A version from the package index.
run_json plan six --source six==1.16.0
expect "0 1.16.0" "$status $(json 'steps[0].version')"
