#!/bin/bash
# Two releases of a package share the compile cache, a fork does not; reports show for each unit where its object came
# from, and what the cache saved in time and money.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
small_package "$t"
export XDG_RUNTIME_DIR
XDG_RUNTIME_DIR=$(mktemp -d)
trap 'ended=$?; rm -rf "$XDG_RUNTIME_DIR"; leave $ended' EXIT
rm "$t/recipes/small.patch"
sed -i '/^patches = /d; /^members = /d' "$t/recipes/small.toml"
cd "$t"

# release VERSION FOLDER: its sdist, served as a package index lays out files.
release() {
  local tree=$t/small-$1
  rm -rf "$tree"
  cp -r recipes/small "$tree"
  printf 'Metadata-Version: 2.1\nName: small\nVersion: %s\n' "$1" >"$tree/PKG-INFO"
  sed -i "s/^version = .*/version = \"$1\"/" "$tree/pyproject.toml"
  sed -i 's|"small/add.c"|"small/add.c", "small/other.c"|' "$tree/setup.py"
  echo "const char* small_other(void) { return \"$1\"; }" >"$tree/small/other.c"
  mkdir -p "served/$2"
  tar -czf "served/$2/small-$1.tar.gz" "small-$1"
}
first=packages/5f/3b/$(printf 'a%.0s' {1..60})
second=packages/07/c2/$(printf 'b%.0s' {1..60})
release 1.0 "$first"
release 1.1 "$second"
release 1.2 fork/others
serve_folder served
trap 'ended=$?; kill $server 2>/dev/null || true; rm -rf "$XDG_RUNTIME_DIR"; leave $ended' EXIT

# built URL ARGUMENT…: leaves "hits misses" in $counts.
built() {
  run_json build small --source "small=$base/$1" "${@:2}"
  [[ $status == 0 && $(json 'steps[0].outcome') == built ]] || { cat "$t/out" "$t/err" >&2; fail "build ended with $status"; }
  counts=$(json 'steps[0].cache.hits')\ $(json 'steps[0].cache.misses')
}
origins() { json '" ".join(sorted(c.name + " " + c.origin for c in compiles if c.kind == "c"))' "$@"; }

built "$first/small-1.0.tar.gz"
expect "0 3 0.0" "$counts $(json saved.seconds)" "the first release"
run_json report
expect "add.c compiled module.c compiled other.c compiled" "$(origins)"
cost=$(json 'sum(c.cpu for c in compiles if c.name in ("add.c", "module.c"))')

# The date of a release does not matter to units that do not use it.
export SOURCE_DATE_EPOCH=1700000000
built "$second/small-1.1.tar.gz" --price-per-core-hour "1000 EUR"
unset SOURCE_DATE_EPOCH
expect "2 1" "$counts" "the next release"
cp out built.json
run_json report --price-per-core-hour "1000 EUR"
expect "add.c cache module.c cache other.c compiled" "$(origins)"
cp out report.json
# The saved time is what the first release's compiles of these two units took; judged by Python.
python3 - "$cost" built.json report.json <<'PY'
import json, sys
cost, build, report = float(sys.argv[1]), json.load(open(sys.argv[2])), json.load(open(sys.argv[3]))
assert 0 < cost, cost
for saved in (build["saved"], report["summary"]["saved"]):
    assert abs(saved["seconds"] - cost) < 0.01, (saved, cost)
    assert saved["currency"] == "EUR" and abs(saved["amount"] - saved["seconds"] / 3600 * 1000) < 0.001, saved
assert build["steps"][0]["cache"]["saved_seconds"] == report["records"][0]["cache"]["saved_seconds"]
assert report["summary"]["origins"]["cache"] == 2, report["summary"]
PY
run report --price-per-core-hour "1000 EUR" -o page.html
python3 "$tests/report_judge.py" page.html >page.json
expect "EUR" "$(json summary.saved.currency page.json)"

built fork/others/small-1.2.tar.gz
expect "0 3" "$counts" "a fork"

# An interrupted build leaves its objects in the tree. The build waits after its compiles, but only once.
cat >>recipes/small/setup.py <<'PYTHON'
import pathlib, sys, time
if "bdist_wheel" in sys.argv and not pathlib.Path("waited").exists():
    pathlib.Path("waited").touch()
    print("WAITING", flush=True)
    time.sleep(100)
PYTHON
release 2.0 "$first"
python3 -c 'import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])' \
  "$wheelsmith" build small --source "small=$base/$first/small-2.0.tar.gz" --cache off >out 2>err </dev/null &
pid=$!
for _ in {1..600}; do ! grep -qs WAITING store/logs/*.log || break; sleep 0.1; done
grep -qs WAITING store/logs/*.log || fail "it never waited: $(<err)"
kill -INT $pid
wait $pid || true
run build small --source "small=$base/$first/small-2.0.tar.gz" --cache off
expect 0 "$status" "$(<err)"
grep -q '3 kept from an earlier attempt' store/logs/*.log || fail "$(<err)"
run_json report
expect "3 add.c module.c other.c" "$(json summary.origins.tree) $(json '" ".join(sorted(k.name for k in kept))')"

for wrong in much "1 a b" -1; do
  run report --price-per-core-hour "$wrong"
  expect 2 "$status" "$wrong: $(<err)"
done
