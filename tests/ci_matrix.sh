#!/bin/bash
# A plan as jobs of GitHub and GitLab: judged by the services' public schemas (as check-jsonschema has them), and run job by
# job, each with a store of its own, against a remote store.
source "$(dirname "$0")/common.inc"
source "$tests/small_package.inc"
need_registry
small_package "$t"
cd "$t"
"$TESTS_PYTHON" -m check_jsonschema --version >/dev/null 2>&1 || fail "build/tools has no check-jsonschema, which scripts/setup.sh installs"
judge() { # SCHEMA FILE
  "$TESTS_PYTHON" -m check_jsonschema --builtin-schema "vendor.$1" "$2" >"$t/judged" 2>&1 || { cat "$2" "$t/judged" >&2; fail "$1"; }
}

# The workflows of docs/ci.md.
python3 - "$tests/../docs/ci.md" <<'PYTHON'
import re, sys
blocks = re.findall(r"```yaml\n(.*?)```", open(sys.argv[1]).read(), re.S)
open("github.yml", "w").write(next(b for b in blocks if b.startswith("name:")))
open("gitlab.yml", "w").write(next(b for b in blocks if b.startswith("stages:")))
PYTHON
judge github-workflows github.yml
judge gitlab-ci gitlab.yml

# pair needs small.
mkdir -p recipes/pair
cat >recipes/pair.toml <<'TOML'
name = "pair"
summary = "imports small while it is built"
[source]
folder = "pair"
[build]
requires = ["setuptools==80.9.0"]
[[needs]]
recipe = "small"
why = "setup.py imports it"
[[test]]
name = "together"
script = "import pair, small; assert pair.five == small.add(2, 3)"
[variant.cpu]
TOML
printf '[build-system]\nrequires = ["setuptools"]\nbuild-backend = "setuptools.build_meta"\n' >recipes/pair/pyproject.toml
cat >recipes/pair/setup.py <<'PYTHON'
import pathlib
import small
from setuptools import setup
pathlib.Path("pair.py").write_text(f"five = {small.add(2, 3)}\n")
setup(name="pair", version="2.0", py_modules=["pair"], install_requires=["small>=1"])
PYTHON
printf 'Metadata-Version: 2.1\nName: pair\nVersion: 2.0\n' >recipes/pair/PKG-INFO

(umask 077; echo secret-of-this-test >"$t/token")
"$wheelsmith" serve --store "$t/central" --token-file "$t/token" --listen 127.0.0.1:0 --json >"$t/serve" 2>"$t/serve.err" </dev/null &
server=$!
trap 'ended=$?; kill $server 2>/dev/null || true; leave $ended' EXIT
for ((i = 0; i < 300; i++)); do [[ -s $t/serve ]] && break; sleep 0.1; done
[[ -s $t/serve ]] || fail "no server: $(<"$t/serve.err")"
url=$(json url "$t/serve")
export WHEELSMITH_STORE_TOKEN=secret-of-this-test WHEELSMITH_STORE=$t/planner,$url

run plan pair --matrix gitlab --base-image example/builder:1 --setup "echo it's ready"
expect 0 "$status"
cp "$t/out" child.yml
judge gitlab-ci child.yml
run plan pair --matrix github
expect 0 "$status"
cp "$t/out" matrix.json
expect "2 1,1" "$(json jobs matrix.json) $(json '",".join(str(len(s.include)) for s in stages)' matrix.json)"
expect "small pair" "$(json 'stages[0].include[0].package' matrix.json) $(json 'stages[1].include[0].package' matrix.json)"
# strategy.matrix takes each stage as it is.
python3 - <<'PYTHON'
import json
stages = json.load(open("matrix.json"))["stages"]
job = {"runs-on": "ubuntu-latest", "strategy": {"matrix": stages[0]}, "steps": [{"run": "${{ matrix.command }}"}]}
json.dump({"on": "push", "jobs": {"build": job}}, open("use.yml", "w"))
PYTHON
judge github-workflows use.yml

# The second stage before the first: refused before anything starts.
mkdir -p bin && ln -sf "$wheelsmith" bin/wheelsmith
export PATH=$t/bin:$PATH
job() { # STAGE STORE: runs the job as a runner would
  status=0
  WHEELSMITH_STORE=$t/$2,$url WHEELSMITH_OUT=$t/out-$2 \
    bash -c "$(json "stages[$1].include[0].command" matrix.json)" >"$t/out" 2>"$t/err" </dev/null || status=$?
}
job 1 early
expect 1 "$status"
grep -q 'it needs small' "$t/err" || fail "$(<"$t/err")"
[[ ! -d $t/early/trees ]] || fail "something was started"
job 0 runner0
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "the first job"; }
job 1 runner1
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "the second job"; }
[[ -f $t/out-runner1/pair-2.0-py3-none-any.whl ]] || fail "no wheel: $(ls "$t/out-runner1")"

# Everything is in the remote store now: no job is left, and a build of the whole copies.
WHEELSMITH_STORE=$t/last,$url run plan pair --matrix github
expect "0 0" "$status $(json jobs)"
WHEELSMITH_STORE=$t/last,$url run plan pair --matrix gitlab
expect 0 "$status" "$(<"$t/err")"
cp "$t/out" child.yml
judge gitlab-ci child.yml
WHEELSMITH_STORE=$t/last,$url run_json build pair
expect 0 "$status" "$(<"$t/err")"
expect "cached cached" "$(json '" ".join(s.outcome for s in steps)')"
run build pair --only nothing
expect 1 "$status"
