#!/bin/bash
# The packages of `make dist`, confirmed by the tools that users install them with: pip, uv, dpkg, tar, man;
# reproducible.
source "$(dirname "$0")/common.inc"
need dpkg-deb dpkg zip openssl man groff
cd "$t"
(cd "$tests/.." && SOURCE_DATE_EPOCH=1700000000 bash scripts/dist.sh "$wheelsmith" "$t/one" >/dev/null)
(cd / && umask 077 && TZ=Asia/Tokyo SOURCE_DATE_EPOCH=1700000000 bash "$tests/../scripts/dist.sh" "$wheelsmith" "$t/two" >/dev/null)
diff -r one two || fail "two packings differ"
(cd one && sha256sum --quiet -c SHA256SUMS)
version=$("$wheelsmith" --version | awk '{ print $NF }')

# The wheel: passes our own check, and runs when installed by pip and uv.
wheel=$(echo "$t"/one/*.whl)
run check "$wheel"
expect 0 "$status" "$(<"$t/out")"
python3 -m venv by-pip
by-pip/bin/python -m pip install -q --disable-pip-version-check --no-index "$wheel"
expect "$version" "$(by-pip/bin/wheelsmith --version | awk '{ print $NF }')" "installed by pip"
cmp by-pip/bin/wheelsmith "$wheelsmith"
by-pip/bin/python -m pip check -q --disable-pip-version-check
# uv, as a package, as a tool, and without installing it; pipx. They are not there where no package index was in reach.
uv=$(dirname "$TESTS_PYTHON")/uv
pipx=$(dirname "$TESTS_PYTHON")/pipx
export UV_CACHE_DIR=$t/uv-cache UV_TOOL_DIR=$t/uv-tools UV_TOOL_BIN_DIR=$t/uv-bin UV_NO_CONFIG=1
if [[ -x $uv ]]; then
  "$uv" venv -q by-uv
  VIRTUAL_ENV=$t/by-uv "$uv" pip install -q --no-index "$wheel"
  expect "$version" "$(by-uv/bin/wheelsmith --version | awk '{ print $NF }')" "installed by uv"
  "$uv" tool install -q --no-index "$wheel"
  expect "$version" "$(uv-bin/wheelsmith --version | awk '{ print $NF }')" "installed by uv tool"
  expect "$version" "$("$uv" tool run -q --no-index --from "$wheel" wheelsmith --version | awk '{ print $NF }')" "run by uvx"
fi
if [[ -x $pipx ]]; then
  PIP_NO_INDEX=1 UV_NO_INDEX=1 PIPX_HOME=$t/pipx PIPX_BIN_DIR=$t/pipx-bin PIPX_MAN_DIR=$t/pipx-man "$pipx" install "$wheel" >"$t/pipx.log" 2>&1 ||
    fail "$(<"$t/pipx.log")"
  expect "$version" "$(pipx-bin/wheelsmith --version | awk '{ print $NF }')" "installed by pipx"
fi
"$TESTS_PYTHON" - "$t"/one/*.cdx.json <<'PYTHON'
import json, sys
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

text = open(sys.argv[1]).read()
problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
assert problem is None, problem
names = {component["name"] for component in json.loads(text)["components"]}
assert {"libssl-dev", "libzstd-dev", "libc6-dev"} <= names, names
PYTHON

# The Debian package, into an empty root.
deb=$(echo "$t"/one/*.deb)
mkdir -p root/var/lib/dpkg/{info,updates}
touch root/var/lib/dpkg/{status,available}
dpkg --root="$t/root" --force-not-root --force-depends --force-script-chrootless --log=/dev/null -i "$deb" >"$t/dpkg.log" 2>&1 ||
  fail "$(<"$t/dpkg.log")"
expect "$version" "$(root/usr/bin/wheelsmith --version | awk '{ print $NF }')" "installed by dpkg"
expect "" "$(dpkg --root="$t/root" --verify wheelsmith)" "dpkg --verify"
[[ -s root/usr/share/bash-completion/completions/wheelsmith ]] || fail "no completion"

# The tarball, and its manual pages.
tar xzf one/*.tar.gz
expect "$version" "$(wheelsmith-*/bin/wheelsmith --version | awk '{ print $NF }')" "from the tarball"
MANPATH=$(echo "$t"/wheelsmith-*/share/man) MANWIDTH=80 man -P cat wheelsmith-build >page 2>errors
[[ ! -s errors ]] || fail "man complains: $(<errors)"
grep -q -- '--variant' page || fail "the page of build does not name its options"
for page in wheelsmith-*/share/man/man1/*; do
  zcat "$page" | groff -k -man -Tutf8 -ww -z 2>errors || true
  [[ ! -s errors ]] || fail "$page: $(head -n 3 errors)"
done
