#!/bin/bash
# A folder of wheels becomes an index, confirmed by Python's parsers and `packaging`, by pip and by uv. Only changes are
# read and written; broken, hostile and doubtful files are reported and do no harm.
source "$(dirname "$0")/common.inc"
need python3
[[ -x ${TESTS_PYTHON:-/nonexistent} ]] || skip "the package index is not reachable"
export HOME=$t/home PIP_CONFIG_FILE=/dev/null PIP_DISABLE_PIP_VERSION_CHECK=1
unset PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS UV_INDEX_URL UV_EXTRA_INDEX_URL UV_FIND_LINKS || true
mkdir -p "$HOME"
wheels() { python3 "$tests/index_wheels.py" "$@"; }
judge() { "$TESTS_PYTHON" "$tests/index_judge.py" "$@" >"$t/judged" || fail "the judge of $*"; }
judged() { json "$1" "$t/judged"; }
d=$t/wheelhouse
settle() { sleep 2.1; } # a file that changed less than 2 s before it was hashed is read once more by the next run

# --- flat and in project folders, with everything that a page can contain
wheels "$d" 'alpha-1.0-py3-none-any.whl:requires=>=3.9, <4' 'alpha-1.10-py3-none-any.whl:requires=>=3.9' 'alpha-1.9-py3-none-any.whl' \
  'Beta_Tools-2.0+cpu-py3-none-any.whl:depends=alpha>=1' 'Beta_Tools-2.0+cu130-py3-none-any.whl:depends=alpha' \
  'beta_tools-2.0.tar.gz:requires=>=3.8' 'gamma/gamma-0.1-1-py3-none-any.whl' 'alpha-2.0-py3-none-any.whl:requires=>=99'
cat >"$d/index.toml" <<'TOML'
[yanked]
"alpha-1.10-*" = "it <b>eats</b> \"files\" & 'folders'"
"gamma-*" = ""
[upload-time]
"alpha-1.0-*" = "2026-11-15T18:00:00Z"
[project.Gamma]
status = "deprecated"
reason = "use alpha"
TOML
settle
run_json index "$d" --title 'A <title>' --find-links
expect 0 $status "$(<"$t/out")"
expect '3 8 8' "$(json projects) $(json files) $(json hashed)"
judge "$d"
expect '{"requires": ">=3.9, <4", "yanked": false, "time": "2026-11-15T18:00:00Z"}' "$(judged 'projects["alpha"]["alpha-1.0-py3-none-any.whl"]')"
expect "it <b>eats</b> \"files\" & 'folders'" "$(judged 'projects["alpha"]["alpha-1.10-py3-none-any.whl"].yanked')"
expect true "$(judged 'projects["gamma"]["gamma-0.1-1-py3-none-any.whl"].yanked')"
expect '>=3.8' "$(judged 'projects["beta-tools"]["beta_tools-2.0.tar.gz"].requires')" "of the source's PKG-INFO"
[[ $(<"$d/index.html") == *'A &lt;title&gt;'* && $(<"$d/index.html") != *'<title>A <t'* ]] || fail "the title is not escaped"

# --- nothing changed: nothing is read or written
digest() { (cd "$1" && find . -type f ! -name '.wheelsmith-index*' -print0 | sort -z | xargs -0 sha256sum && find . -type f ! -name '.wheelsmith-index*' -printf '%P %T@\n' | sort) | sha256sum; }
before=$(digest "$d")
run_json index "$d" --title 'A <title>' --find-links
expect '0 0 0' "$(json hashed) $(json written) $(json removed)"
expect "$before" "$(digest "$d")" "a second run changed something"
# The same bytes elsewhere give the same pages.
cp -r "$d" "$t/elsewhere" && rm "$t/elsewhere"/.wheelsmith-index* "$t/elsewhere"/*.html "$t/elsewhere"/*.v1_json && rm -r "$t/elsewhere"/alpha
run_json index "$t/elsewhere" --title 'A <title>' --find-links
expect 8 "$(json hashed)"
diff -r --exclude '.wheelsmith-index*' "$d" "$t/elsewhere" || fail "pages depend on where they were made"

# --- one changed, one new, one gone
wheels "$d" 'alpha-1.9-py3-none-any.whl:salt=other'
settle
run_json index "$d" --title 'A <title>' --find-links
expect '1 true' "$(json hashed) $(json '2 <= written <= 6')" "one changed: $(<"$t/out")"
rm "$d/gamma/gamma-0.1-1-py3-none-any.whl"
echo 'a note of mine' >"$d/gamma/README"
run_json index "$d" --title 'A <title>'
expect '2 0 4' "$(json projects) $(json hashed) $(json removed)" "pages of gamma, its sidecar and find-links.html go"
expect README "$(ls "$d/gamma")" "what is not ours stays"
judge "$d"

# --- foreign pages are not touched; losing or damaging the state costs only time
echo '<p>mine</p>' >"$d/gamma/index.html"
wheels "$d" 'gamma/gamma-0.2-py3-none-any.whl'
settle
run index "$d"
expect 1 $status
[[ $(<"$t/err") == *gamma/index.html*'--force'* ]] || fail "$(<"$t/err")"
expect '<p>mine</p>' "$(<"$d/gamma/index.html")"
run index "$d" --force
expect 0 $status
good=$(digest "$d")
flip() { python3 -c 'import sys; d = bytearray(open(sys.argv[1], "rb").read()); d[len(d) // 2] ^= 1; open(sys.argv[1], "wb").write(d)' "$1"; }
for damage in 'truncate -s -1' 'sed -i s/1.10/1.11/' flip 'truncate -s 0' 'rm'; do
  $damage "$d/.wheelsmith-index"
  run_json index "$d"
  expect '8 0' "$(json hashed) $(json written)" "after $damage"
  run_json index "$d"
  expect '0 0' "$(json hashed) $(json written)" "again after $damage"
done
expect "$good" "$(digest "$d")"
# --rehash finds a file whose bytes changed while its size and times stayed.
run index "$d"
python3 - "$d/.wheelsmith-index" "$d" <<'PY'
import hashlib, os, sys
# The state as if the file had changed silently: another hash with the same size and times.
text = open(sys.argv[1]).read()
sha = hashlib.sha256(open(os.path.join(sys.argv[2], "alpha-1.0-py3-none-any.whl"), "rb").read()).hexdigest()
body = text[: text.rindex("end\t")].replace(sha, "0" * 64)
open(sys.argv[1], "w").write(body + "end\t" + hashlib.sha256(body.encode()).hexdigest() + "\n")
PY
run_json index "$d" --rehash
expect '1 index-changed-in-secret' "$status $(json '[f.id for f in findings]')"
judge "$d"

# --- broken, hostile and doubtful files
b=$t/bad
wheels "$b" 'good-1.0-py3-none-any.whl' 'wrong-1.0-py3-none-any.whl:metadata=other' 'odd-1.0-py3-none-any.whl:requires=whatever' 'cut-1.0-py3-none-any.whl'
truncate -s 300 "$b/cut-1.0-py3-none-any.whl"
: >"$b/empty-1.0-py3-none-any.whl"
head -c 100 /dev/urandom >"$b/noise-1.0.tar.gz"
echo x >"$b/notes.zip"
cp "$b/good-1.0-py3-none-any.whl" "$b/<script>alert(1)<!--1.0-py3-none-any.whl"
cp "$b/good-1.0-py3-none-any.whl" "$b/$(printf 'new\nline-1.0-py3-none-any.whl')"
cp "$b/good-1.0-py3-none-any.whl" "$b/$(printf 'bytes\xff-1.0-py3-none-any.whl')"
cp "$b/good-1.0-py3-none-any.whl" "$b/..-1.0-py3-none-any.whl"
cp "$b/good-1.0-py3-none-any.whl" "$t/outside-1.0-py3-none-any.whl"
ln -s ../outside-1.0-py3-none-any.whl "$b/outside-1.0-py3-none-any.whl"
ln -s good-1.0-py3-none-any.whl "$b/inside-1.0-py3-none-any.whl"
mkfifo "$b/pipe-1.0-py3-none-any.whl"
mkdir "$b/folder-1.0-py3-none-any.whl" "$b/.hidden"
cp "$b/good-1.0-py3-none-any.whl" "$b/.hidden/"
ln -s / "$b/everything"
ln -s "$t" "$b/good" # where the page of a project would be written
mkdir "$t/victim" && ln -s ../victim "$b/odd"
run_json index "$b"
expect 1 $status
[[ $(json error) == *good/index.html* ]] || fail "a page was written through a link: $(<"$t/out")"
rm "$b/good" "$b/odd"
settle
run_json index "$b"
expect 1 $status
expect 'index-broken-file cut-1.0-py3-none-any.whl
index-broken-file empty-1.0-py3-none-any.whl
index-broken-file inside-1.0-py3-none-any.whl
index-broken-file noise-1.0.tar.gz
index-broken-file wrong-1.0-py3-none-any.whl' "$(json '[f"{f.id} {f.subject}" for f in findings if f.id == "index-broken-file"]' | sort)"
expect '3 1 1 1' "$(json 'len([f for f in findings if f.id == "index-bad-name" and f.severity == "error"])') $(json 'len([f for f in findings if f.id == "index-bad-name" and f.severity == "note"])') $(json 'len([f for f in findings if f.id == "index-link-outside"])') $(json 'len([f for f in findings if f.id == "index-bad-requires-python"])')"
judge "$b"
expect 'good
odd' "$(judged 'list(projects)')"
expect '' "$(ls "$t/victim")"
run_json index "$b"
expect '1 0 0' "$status $(json hashed) $(json written)" "broken files are remembered, and told of again"
# One broken file does not affect another's page; a folder is not a wheel.
[[ $(<"$b/index.html") != *script\>alert* ]] || fail "a hostile name reached the page"

# --- filters
run_json index "$d" --out "$t/filtered" --filter 'alpha*' --filter '!alpha-1.9-*' --filter 'beta-tools>=3'
expect 'alpha: alpha-2.0-py3-none-any.whl alpha-1.10-py3-none-any.whl alpha-1.0-py3-none-any.whl' \
  "$(python3 -c 'import json,sys; p=json.load(open(sys.argv[1])); print(p["name"]+":", *[f["filename"] for f in p["files"]])' "$t/filtered/alpha/index.v1_json")"
expect 1 "$(json projects)"
run index "$d" --filter 'alpha>='
expect 2 $status
expect '../../wheelhouse/alpha-1.0-py3-none-any.whl' "$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["files"][-1]["url"])' "$t/filtered/alpha/index.v1_json")"
run_json index "$d" --out "$t/published" --base-url 'https://files.example.org/w' --no-html
expect 'https://files.example.org/w/Beta_Tools-2.0%2Bcpu-py3-none-any.whl' "$(python3 -c 'import json,sys; print(*[f["url"] for f in json.load(open(sys.argv[1]))["files"] if "cpu" in f["filename"]])' "$t/published/beta-tools/index.v1_json")"
[[ ! -e $t/published/index.html ]] || fail "--no-html"

# --- sub-indexes: each has its own files and the common ones
s=$t/sub
wheels "$s" 'rocm-7.10.0.tar.gz' 'rocm_sdk_core-7.10.0-py3-none-any.whl' 'rocm_sdk_device_gfx942-7.10.0-py3-none-any.whl' 'rocm_sdk_device_gfx1151-7.10.0-py3-none-any.whl' \
  'rocm_sdk_libraries_gfx94x_dcgpu-7.10.0-py3-none-any.whl' 'torch-2.10+cu130-py3-none-any.whl' 'torch-2.10+rocm7.10.0-py3-none-any.whl' 'torch-2.10+cpu-py3-none-any.whl' 'plain-1-py3-none-any.whl'
run_json index "$s" --sub-indexes family,variant
expect ' 9
by-family/gfx1151 7
by-family/gfx942 8
by-family/gfx94X-dcgpu 8
by-variant/cpu 7
by-variant/cu130 7
by-variant/rocm7.10.0 7' "$(json '[f"{i.place} {i.files}" for i in indexes]')"
for place in by-family/gfx1151 by-family/gfx94X-dcgpu by-variant/cu130; do judge "$s" $place; done
expect 'torch-2.10+cu130-py3-none-any.whl' "$(judged 'list(projects["torch"])')"
expect 'plain rocm rocm-sdk-core' "$(judged 'list(projects)' | sed -n '1,3p' | tr '\n' ' ' | sed 's/ $//')"
run_json index "$s"
[[ ! -e $s/by-family && ! -e $s/by-variant ]] || fail "sub-indexes that are no longer wanted stay"

# --- the layout of CI uploads
u=$t/uploads
for run in 100-linux 2000-linux; do
  wheels "$u/$run/python" "rocm-7.10.0.tar.gz:salt=$run" "rocm_sdk_core-7.10.0-py3-none-any.whl:salt=$run"
  for group in gfx942 gfx1151; do wheels "$u/$run/python/$group" "torch-2.10-py3-none-any.whl:salt=$run $group" "rocm_sdk_device_$group-7.10.0-py3-none-any.whl:salt=$run"; done
done
run_json index "$u"
expect 0 $status "runs that have files of one name: $(json findings)"
expect ' 5
100-linux/python 2
100-linux/python/gfx1151 4
100-linux/python/gfx942 4
2000-linux/python 2
2000-linux/python/gfx1151 4
2000-linux/python/gfx942 4' "$(json '[f"{i.place} {i.files}" for i in indexes]')"
judge "$u" 100-linux/python/gfx942
expect 4 "$(judged 'len(files_on_root)')" "its first page is a find-links page"
judge "$u"
[[ $(<"$u/torch/index.html") == *../2000-linux/python/* && $(<"$u/torch/index.html") != *../100-linux/* ]] || fail "the newest run does not hold"
# Without runs, two different files with one name are an error.
wheels "$t/twice/a" 'same-1-py3-none-any.whl:salt=a'
wheels "$t/twice/b" 'same-1-py3-none-any.whl:salt=b'
run_json index "$t/twice"
expect '1 index-same-name' "$status $(json '[f.id for f in findings]')"

# --- variants (PEP 825)
v=$t/variants
schema=https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json
variant() { echo "{\"\$schema\":\"$schema\",\"default-priorities\":{\"namespace\":$1},\"variants\":{\"$2\":$3}}"; }
wheels "$v" "deep-1.0-py3-none-any-cu13.whl:variant=$(variant '["nvidia","amd"]' cu13 '{"nvidia":{"cuda_version_lower_bound":["13.0"]}}')" \
  "deep-1.0-py3-none-any-rocm.whl:variant=$(variant '["nvidia"]' rocm '{"amd":{"gfx_arch":["gfx942"]}}')" "deep-1.0-py3-none-any-null.whl:variant=$(variant '["nvidia"]' null '{}')" 'deep-1.0-py3-none-any.whl'
run_json index "$v"
expect 0 $status "$(<"$t/out")"
judge "$v"
expect '["nvidia", "amd"] {"nvidia": {"cuda_version_lower_bound": ["13.0"]}}' "$(python3 -c '
import json, sys
d = json.load(open(sys.argv[1]))
assert sorted(d["variants"]) == ["cu13", "null", "rocm"], d
print(json.dumps(d["default-priorities"]["namespace"]), json.dumps(d["variants"]["cu13"]))' "$v/deep/deep-1.0-variants.json")"
[[ $(judged 'list(projects["deep"])') == *deep-1.0-variants.json* ]] || fail "the page does not list it"
wheels "$v" "deep-1.0-py3-none-linux_x86_64-cu13.whl:variant=$(variant '["amd"]' cu13 '{"nvidia":{"cuda_version_lower_bound":["12.0"]}}')" "deep-2.0-py3-none-any-x.whl:variant=$(variant '["amd"]' y '{}')"
run_json index "$v"
expect '1 index-broken-file
index-variants-differ' "$status $(json '[f.id for f in findings]')"

# --- pip and uv
pip() { "$TESTS_PYTHON" -m pip "$@"; }
run index "$d" --find-links
expect 0 $status
pip download -q --no-deps --dest "$t/got" --index-url "file://$d" alpha
expect 'alpha-1.9-py3-none-any.whl' "$(ls "$t/got")" "1.10 is yanked, 2.0 is for another Python"
pip download -q --no-deps --dest "$t/got2" --no-index --find-links "$d/find-links.html" 'beta-tools==2.0+cpu' 'gamma==0.2' 2>"$t/err"
[[ $(<"$t/err") == *yanked* ]] || fail "pip was not told that gamma 0.2 is yanked"
expect 'Beta_Tools-2.0+cpu-py3-none-any.whl gamma-0.2-py3-none-any.whl' "$(ls "$t/got2" | tr '\n' ' ' | sed 's/ $//')"
# pip verifies the file against the page's hash.
cp -r "$d" "$t/tampered"
wheels "$t/tampered" 'alpha-1.9-py3-none-any.whl:salt=tampered'
status=0
pip download -q --no-deps --dest "$t/got3" --index-url "file://$t/tampered" alpha >"$t/out" 2>&1 || status=$?
[[ $status != 0 && $(<"$t/out") == *HASH* ]] || fail "pip took a file with another hash: $(<"$t/out")"
uv=${TESTS_PYTHON%/*}/uv
if [[ -x $uv ]]; then
  "$uv" venv -q --python "$TESTS_PYTHON" "$t/venv"
  "$uv" pip install -q --python "$t/venv/bin/python" --cache-dir "$t/uvcache" --index-url "file://$d" 'beta-tools==2.0+cu130'
  expect '1.9 2.0+cu130' "$("$t/venv/bin/python" -c 'import alpha, Beta_Tools; print(alpha.version, Beta_Tools.version)')"
else
  echo "no uv here; pip alone judged"
fi

# --- interrupted while hashing: finished hashes are kept
i=$t/interrupted
wheels "$i" 'small-1-py3-none-any.whl'
settle
for n in 1 2 3 4 5 6; do truncate -s 1500M "$i/large_$n-1.tar.gz"; done
"$wheelsmith" index "$i" --threads 1 >"$t/out" 2>"$t/err" &
pid=$!
sleep 1
kill -TERM $pid
status=0
wait $pid || status=$?
if [[ $status == 0 || $status == 1 ]]; then echo "it was faster than the signal"; else
  expect 130 $status "$(<"$t/err")"
  [[ ! -e $i/index.html ]] || fail "pages of half a folder"
  run_json index "$i" --filter 'small*'
  expect 1 "$(json files)"
fi
