#!/bin/bash
# index --layout: files and pages as package hosts expect them. Confirmed by the rules of the tool that generates ROCm's
# pages (one level deep, folders are named by normalized project name, links are file names), by pip and by uv.
source "$(dirname "$0")/common.inc"
need python3
[[ -x ${TESTS_PYTHON:-/nonexistent} ]] || skip "the package index is not reachable"
export HOME=$t/home PIP_CONFIG_FILE=/dev/null PIP_DISABLE_PIP_VERSION_CHECK=1
unset PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS UV_INDEX_URL UV_EXTRA_INDEX_URL UV_FIND_LINKS || true
mkdir -p "$HOME"
wheels() { python3 "$tests/index_wheels.py" "$@"; }
d=$t/wheelhouse
wheels "$d" 'alpha-1.0-py3-none-any.whl' 'sub/Beta_Tools-2.0+cu130-py3-none-any.whl:depends=alpha' 'beta_tools-2.0.tar.gz:requires=>=3.8' \
  'gamma/gamma-0.1-py3-none-any.whl'
printf '[yanked]\n"gamma-*" = "old"\n' >"$d/index.toml"

cat >"$t/rules.py" <<'PYTHON'
import html.parser, os, pathlib, sys, urllib.parse
from packaging.utils import canonicalize_name, parse_sdist_filename, parse_wheel_filename

root, count = pathlib.Path(sys.argv[1]), 0


class Links(html.parser.HTMLParser):
    def handle_starttag(self, tag, attributes):
        if tag == "a":
            self.found.append(dict(attributes)["href"])


def links(page):
    parser = Links()
    parser.found = []
    parser.feed(page.read_text())
    return parser.found


for path in root.rglob("*"):
    if not path.name.endswith((".whl", ".zip", ".tar.gz")) or path.name.startswith("."):
        continue
    folder, name = path.relative_to(root).parts  # exactly one level
    parsed = (parse_wheel_filename if name.endswith(".whl") else parse_sdist_filename)(name)[0]
    assert folder == canonicalize_name(folder) == parsed, path
    hrefs = [urllib.parse.urlsplit(href).path for href in links(root / folder / "index.html")]
    assert urllib.parse.quote(name, safe="") in hrefs, (name, hrefs)
    assert name.endswith(".tar.gz") or (path.parent / (name + ".metadata")).exists(), name
    count += 1
roots = {urllib.parse.urlsplit(href).path for href in links(root / "index.html")}
assert {f"{path.name}/" for path in root.iterdir() if path.is_dir()} <= roots, roots
print(count)
PYTHON

# installs URL: by pip and by uv, each into a new folder.
installs() {
  rm -rf "$t/by_pip" "$t/by_uv"
  "$TESTS_PYTHON" -m pip install -q --no-cache-dir --target "$t/by_pip" --index-url "$1" beta-tools >"$t/pip.log" 2>&1 || fail "pip from $1: $(<"$t/pip.log")"
  [[ -d $t/by_pip/Beta_Tools-2.0+cu130.dist-info && -d $t/by_pip/alpha-1.0.dist-info ]] || fail "pip installed $(ls "$t/by_pip")"
  [[ -x $(dirname "$TESTS_PYTHON")/uv ]] || return 0
  "$(dirname "$TESTS_PYTHON")/uv" pip install -q --no-cache --target "$t/by_uv" --python "$TESTS_PYTHON" --default-index "$1" beta-tools >"$t/uv.log" 2>&1 ||
    fail "uv from $1: $(<"$t/uv.log")"
  [[ -d $t/by_uv/Beta_Tools-2.0+cu130.dist-info ]] || fail "uv installed $(ls "$t/by_uv")"
}

run_json index "$d" --out "$t/bucket" --layout upload --product pytorch --index-name whl-next
expect 0 $status "$(<"$t/out")"
expect '3 4 4' "$(json projects) $(json files) $(json placed)"
place=$t/bucket/v5/rocm/pytorch/whl-next
expect 4 "$("$TESTS_PYTHON" "$t/rules.py" "$place")"
expect "$(stat -c %i "$d/alpha-1.0-py3-none-any.whl")" "$(stat -c %i "$place/alpha/alpha-1.0-py3-none-any.whl")" "no hard link"
[[ $(<"$place/gamma/index.html") == *'data-yanked="old"'* ]] || fail "index.toml does not hold there"
[[ $(cd "$place/beta-tools" && ls ./*.whl) == ./Beta_Tools-2.0+cu130-py3-none-any.whl && $(<"$place/beta-tools/index.html") == *'href="Beta_Tools-2.0%2Bcu130-'* ]] || fail "links"
[[ ! -e $d/index.html && ! -e $d/.wheelsmith-index ]] || fail "the folder itself was changed"
serve_folder "$t/bucket"
installs "$base/v5/rocm/pytorch/whl-next/"
installs "file://$place/"

# Again: nothing to do. A new wheel is added; one removed from the folder stays.
run_json index "$d" --out "$t/bucket" --layout upload --product pytorch --index-name whl-next
expect '0 0' "$(json placed) $(json written)"
wheels "$t/more" 'alpha-1.1-py3-none-any.whl'
run_json index "$t/more" --out "$t/bucket" --layout upload --product pytorch --index-name whl-next
expect '1 5' "$(json placed) $(json files)"
expect 5 "$("$TESTS_PYTHON" "$t/rules.py" "$place")"

run_json index "$d" --out "$t/simple" --layout project
expect 0 $status
expect 4 "$("$TESTS_PYTHON" "$t/rules.py" "$t/simple")"
installs "file://$t/simple/"
# As in the folder python/ of a CI run: flat, with one page of all files.
run_json index "$d" --out "$t/runs/123-linux/python" --layout flat --find-links --filter 'beta*' --filter alpha
expect "0 3" "$status $(json files)"
expect "Beta_Tools-2.0+cu130-py3-none-any.whl alpha-1.0-py3-none-any.whl beta_tools-2.0.tar.gz" \
  "$(cd "$t/runs/123-linux/python" && ls -d ./*.whl ./*.gz | sed 's|./||' | paste -sd' ' -)"
installs "file://$t/runs/123-linux/python/"
rm -rf "$t/by_pip"
"$TESTS_PYTHON" -m pip install -q --no-cache-dir --target "$t/by_pip" --no-index --find-links "file://$t/runs/123-linux/python/find-links.html" beta-tools || fail "pip from one page"

# Copies across file systems: recognized by size and time.
if [[ $(stat -c %d /dev/shm 2>/dev/null || echo 0) != "$(stat -c %d "$t")" && -w /dev/shm ]]; then
  far=$(mktemp -d /dev/shm/layout.XXXXXX)
  run_json index "$d" --out "$far/x" --layout project
  expect "0 4" "$status $(json placed)"
  run_json index "$d" --out "$far/x" --layout project
  expect "0 0" "$status $(json placed)"
  cmp "$d/alpha-1.0-py3-none-any.whl" "$far/x/alpha/alpha-1.0-py3-none-any.whl" || fail "the copy differs"
  rm -rf "$far"
fi

# Two files with one name and different bytes, a broken one, and invalid requests.
wheels "$d" 'other/alpha-1.0-py3-none-any.whl:salt=other'
echo nothing >"$d/broken-1.0-py3-none-any.whl"
run_json index "$d" --out "$t/again" --layout project
expect "1 index-broken-file index-same-name" "$status $(json 'sorted(f.id for f in findings)' | paste -sd' ' -)"
[[ ! -e $t/again/broken ]] || fail "a broken wheel was put there"
for words in "--layout project" "--out $t/x --layout upload" "--out $t/x --layout project --product p" "--out $t/x --layout upload --product ../p" "--out $t/x --product p"; do
  # shellcheck disable=SC2086 # words
  run index "$d" $words
  expect 2 $status "index $words"
done
run index "$d" --out "$d/inside" --layout project
expect 1 $status
[[ $(<"$t/err") == *"neither folder may contain"* ]] || fail "$(<"$t/err")"
