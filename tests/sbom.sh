#!/bin/bash
# Every wheel carries an SBOM (PEP 770, CycloneDX 1.6), confirmed by the validator of cyclonedx-python-lib, by pip, and
# by git and sha256sum for the source.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
need git unzip
"$TESTS_PYTHON" -c 'import cyclonedx.validation.json, jsonschema' 2>/dev/null || skip "no cyclonedx-python-lib in build/tools"
small_package "$t"

# The package's own shared library, beside its extension module.
sed -i 's/packages=\["small"\]/packages=["small"], package_data={"small": ["libextra.so"]}/' "$t/recipes/small/setup.py"
echo 'int extra(void) { return 1; }' >"$t/extra.c"
gcc -shared -fPIC "$t/extra.c" -o "$t/recipes/small/small/libextra.so" -Wl,-soname,libextra.so.1

sbom() { unzip -p "$1" '*.dist-info/sboms/wheelsmith.cdx.json'; }

run_json build small
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
wheel=$(json 'steps[0].wheel')
line=$("$TESTS_PYTHON" "$tests/sbom_judge.py" "$wheel")
compiler=gcc
[[ $line == "small 1.0 with $compiler python setuptools bundles libextra.so.1" ]] || fail "the judge saw: $line"
sbom "$wheel" >"$t/sbom.json"
expect "$(sha256sum <"$t/recipes/small.patch" | cut -d' ' -f1)" \
  "$(json '[p.value for p in metadata.component.properties if p.name == "wheelsmith:patch:small.patch"][0][7:]' "$t/sbom.json")"
expect "$(gcc -dumpfullversion)" "$(json '[c.version for c in formulation[0].components if c.name == "gcc"][0]' "$t/sbom.json")"
locked=$(json '[c.hashes[0].content for c in formulation[0].components if c.name == "setuptools"][0]' "$t/sbom.json")
[[ -d $t/store/downloads/$locked ]] || fail "no download has the hash of setuptools in the bill of materials"
expect "$locked" "$(sha256sum "$t/store/downloads/$locked/"*.whl | cut -d' ' -f1)"

# pip installs it, and keeps the file.
python3 -m venv "$t/env"
"$t/env/bin/python" -m pip install -q --disable-pip-version-check --no-index "$wheel"
cmp "$t/sbom.json" "$t"/env/lib/python3*/site-packages/small-1.0.dist-info/sboms/wheelsmith.cdx.json

# Another store: the same bytes, serial number included.
WHEELSMITH_STORE=$t/store2 WHEELSMITH_OUT=$t/wheelhouse2 run_json build small
cmp "$wheel" "$(json 'steps[0].wheel')"

# A git source with a submodule: commits as git reports them, no path of this machine.
git_quiet() { git -c user.name=a -c user.email=a@b -c protocol.file.allow=always -C "$@" >/dev/null 2>&1; }
mkdir -p "$t/part" "$t/repo"
git_quiet "$t/part" init -q -b main && echo part >"$t/part/part.txt" && git_quiet "$t/part" add . && git_quiet "$t/part" commit -qm part
cp -r "$t/recipes/small/." "$t/repo"
git_quiet "$t/repo" init -q -b main && git_quiet "$t/repo" submodule add "file://$t/part" third_party/part
git_quiet "$t/repo" add -A && git_quiet "$t/repo" commit -qm one && git_quiet "$t/repo" tag v1.0
sed "s|^folder = .*|git = \"file://$t/repo\"\nref = \"v1.0\"|" "$t/recipes/small.toml" >"$t/new.toml"
mv "$t/new.toml" "$t/recipes/small.toml"
run_json build small
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
wheel=$(json 'steps[0].wheel')
"$TESTS_PYTHON" "$tests/sbom_judge.py" "$wheel" >/dev/null
sbom "$wheel" >"$t/sbom.json"
expect "$(git -C "$t/repo" rev-parse HEAD)" "$(json 'metadata.component.pedigree.commits[0].uid' "$t/sbom.json")"
expect "@$(git -C "$t/part" rev-parse HEAD)" \
  "$(json '[p.value for p in metadata.component.properties if p.name == "wheelsmith:submodule:third_party/part"][0]' "$t/sbom.json")"
unzip -p "$wheel" '*.dist-info/wheelsmith/*.json' '*.dist-info/sboms/*' >"$t/contents"
if grep -aq "$t" "$t/contents"; then grep -a "$t" "$t/contents" >&2; fail "a path of this machine is in the wheel"; fi
