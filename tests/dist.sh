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

# The install commands of README.md and docs/install.md, typed as they are, on a machine whose Python belongs to the
# distribution, as on Debian 12. sudo and make do nothing here, and apt only simulates.
mkdir -p managed/bin managed/home checkout/build
ln -s "$t/one" checkout/build/dist
printf '#!/bin/sh\nexec "$@"\n' >managed/bin/sudo
printf '#!/bin/sh\nexec /usr/bin/apt-get -s -q "$@"\n' >managed/bin/apt
printf '#!/bin/sh\n' >managed/bin/make
chmod +x managed/bin/*
for tool in uv pipx; do
  [[ ! -x $(dirname "$TESTS_PYTHON")/$tool ]] || ln -s "$(dirname "$TESTS_PYTHON")/$tool" managed/bin/
done
ln -s "$(command -v python3)" managed/bin/python3
# pip outside a virtual environment, as Debian's packages of Python make it.
printf '#!/bin/sh\necho "error: externally-managed-environment" >&2\nexit 1\n' | tee managed/bin/pip >managed/bin/pip3
chmod +x managed/bin/pip*
in_checkout() {
  (cd checkout && env -i PATH="$t/managed/bin:/usr/bin:/bin" HOME="$t/managed/home" LC_ALL=C PIP_NO_INDEX=1 UV_NO_INDEX=1 UV_NO_CONFIG=1 \
    bash -euc "$1") >"$t/typed" 2>&1 </dev/null
}
typed=0
while IFS= read -r line; do
  words=${line%%#*}
  tool=${words%% *}
  if [[ $tool == uv || $tool == pipx ]] && [[ ! -x managed/bin/$tool ]]; then continue; fi
  [[ $tool != sudo || -x /usr/bin/apt-get ]] || continue
  rm -rf managed/home && mkdir managed/home
  in_checkout "$words" || fail "a command of README.md or docs/install.md fails: $words"$'\n'"$(<"$t/typed")"
  case $tool in
    sudo) grep -q "^Inst wheelsmith ($version " "$t/typed" || fail "$words: $(<"$t/typed")" ;;
    pipx | uv) expect "$version" "$(managed/home/.local/bin/wheelsmith --version | awk '{ print $NF }')" "$words" ;;
    python3) expect "$version" "$(managed/home/wheelsmith/bin/wheelsmith --version | awk '{ print $NF }')" "$words" ;;
    *) fail "how is this judged: $words" ;;
  esac
  typed=$((typed + 1))
done < <(sed -n 's/^    //p' "$tests/../README.md" "$tests/../docs/install.md" | grep 'build/dist' | grep -vE '^make dist *(#|$)')
((typed >= 3)) || fail "only $typed install commands were found in the documentation"
# No page says pip where Debian's Python refuses it.
bare=$(grep -nE '^ +(\$ )?(make dist && )?(sudo )?(pip3?|python3 -m pip) install .*(build/dist|wheelsmith-|\.whl)' "$tests/../README.md" "$tests/../docs/install.md" "$tests/../docs/quick-start.md" || true)
[[ -z $bare ]] || fail "pip outside a virtual environment: $bare"

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
