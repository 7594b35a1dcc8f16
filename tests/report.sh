#!/bin/bash
# `wheelsmith report`: a page, a trace and a document of a build, for any record.
source "$(dirname "$0")/common.inc"
need ninja pgrep
cd "$t"

# --- a record of 5,000 compiles
python3 "$tests/report_record.py" 5000 32 >"$t/large.jsonl"
run report "$t/large.jsonl" -o "$t/large.html" --trace "$t/large.json"
expect 0 "$status" "$(<"$t/err")"
python3 "$tests/report_judge.py" "$t/large.html" >"$t/page.json"
run_json report "$t/large.jsonl"
cmp <(json '__import__("json").dumps(document)') <(json '__import__("json").dumps(document)' "$t/page.json") || fail "the page and --json differ"
# Counted by Python from the record itself.
python3 - "$t/large.jsonl" "$t/page.json" "$t/large.json" <<'PY'
import json, sys
lines = [json.loads(line) for line in open(sys.argv[1])]
page, trace = (json.load(open(name)) for name in sys.argv[2:])
compiles = [line for line in lines if line["event"] == "compile"]
last = [c for c in compiles if c["outcome"] == "done"]
assert len(page["compiles"]) == len(compiles) > 5000 == page["summary"]["compiles"] == len(last), len(compiles)
assert page["summary"]["failed"] == 0 and page["verdict"] == "good"
assert page["summary"]["tried_again"] == sum(c["outcome"] == "out-of-memory" for c in compiles) > 0
assert page["summary"]["set_back"] == sum(c["outcome"] == "set-back" for c in compiles) > 0
assert page["summary"]["paused"] == sum(c["paused"] > 0 for c in compiles) > 0
waits = {}
for c in compiles:
    if c["wait"] > 0: waits[c["why"]] = waits.get(c["why"], 0) + c["wait"]
assert {w["why"]: round(w["seconds"], 1) for w in page["summary"]["waits"]} == {why: round(s, 1) for why, s in waits.items()}
assert page["records"][0]["slots"] == 32 and page["records"][0]["cache"]["hits"] == 1666
assert len(page["memory"]) == sum(line["event"] == "memory" for line in lines)
# Never two in a slot at one time, and each where it ran.
slots = {}
for c in sorted(page["compiles"], key=lambda c: c["start"]):
    assert c["start"] >= slots.get(c["slot"], 0) - 0.005, c
    slots[c["slot"]] = c["start"] + c["seconds"]
origin = lines[0]["at"]
starts = {(c["name"], c["try"]): c["start"] for c in page["compiles"]}
assert len(starts) == len(compiles) and all(abs(starts[c["name"], c["try"]] - (c["at"] - origin)) < 0.001 for c in compiles)
events = trace["traceEvents"]
assert sum(e["ph"] == "X" for e in events) == len(compiles)
assert abs(sum(e["dur"] for e in events if e["ph"] == "X") / 1e6 - sum(c["seconds"] for c in compiles)) < 0.1
begun = {e["id"]: e["ts"] for e in events if e["ph"] == "b"}
ended = {e["id"]: e["ts"] for e in events if e["ph"] == "e"}
assert begun.keys() == ended.keys() and all(begun[i] <= ended[i] for i in begun) and len(begun) == sum(c["wait"] > 0 for c in compiles)
PY
size=$(stat -c %s "$t/large.html")
[[ $size -lt 6000000 ]] || fail "the page of 5,000 compiles has $size bytes"

# --- hostile names do not escape, and invalid lines are counted
python3 - >"$t/hostile.jsonl" <<'PY'
import json
names = ["</script><script>window.broken = 1</script>", "<!--<script>", "]]>", "<img src=x onerror='window.broken = 1'>", "\u2028\u2029\x00\x1b[31m",
         "\ud800".encode("utf-16", "surrogatepass").decode("utf-16", "replace"), "@SCRIPT@ @DATA@", "&lt;b&gt;", "'\"`${1}", "../../etc", "a" * 100000, "__proto__"]
print(json.dumps({"event": "build", "name": names[0], "id": names[1], "cores": 4}))
for i, name in enumerate(names):
    print(json.dumps({"event": "compile", "at": 1000 + i, "seconds": 1, "wait": 0.5, "why": name, "kind": name, "outcome": name, "name": name,
                      "output": name, "unit": name, "family": name, "from": name, "cache": name}))
    print(json.dumps({"event": "unreached", "at": 1000 + i, "program": name}))
    print(json.dumps({"event": "memory", "at": 1000 + i, "used": name, "limit": -i}))
print('{"event": "compile", "at": 5')
PY
printf '\xff\xfe\n[[[[\n' >>"$t/hostile.jsonl"
run report "$t/hostile.jsonl" -o "$t/hostile.html" --trace "$t/hostile.json"
expect 0 "$status" "$(<"$t/err")"
python3 "$tests/report_judge.py" "$t/hostile.html" >"$t/page.json"
expect "12 3" "$(json 'len(compiles)' "$t/page.json") $(json 'records[0].skipped_lines' "$t/page.json")"
expect "</script><script>window.broken = 1</script>" "$(json 'compiles[0].name' "$t/page.json")"
expect 12 "$(json 'sum(e.ph == "X" for e in traceEvents)' "$t/hostile.json")"

# --- several records are one report
head -n 400 "$t/large.jsonl" | sed 's/a build of 5000 units/the other/' >"$t/other.jsonl"
run_json report "$t/large.jsonl" "$t/other.jsonl"
expect "2 32 a build of 5000 units, the other" "$(json 'len(records)') $(json 'max(c.slot for c in compiles) + 1') $(json title)"

# --- wheels by architecture, findings: from the output of `build --json`
python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(open(sys.argv[1]).readlines()[1]))' "$tests/../fuzz/corpus/fatbin.hex" >"$t/kernels.fatbin"
make_wheel "$t/gpu-1.0-py3-none-any.whl" "gpu/kernels.fatbin=$t/kernels.fatbin"
cat >"$t/steps.json" <<JSON
{"schema": 1, "steps": [{"id": "gpu-cuda", "package": "gpu", "outcome": "built", "wheel": "$t/gpu-1.0-py3-none-any.whl",
  "findings": [{"id": "x", "severity": "warning", "subject": "s", "what": "w", "why": "", "fix": ""}]},
 {"id": "gone-cuda", "package": "gone", "outcome": "built", "wheel": "$t/gone.whl"}]}
JSON
run_json report "$t/steps.json"
expect "sm_80 96 compute_90 88" "$(json '" ".join(a.arch + " " + str(a.bytes) for a in wheels[0].archs)')"
expect "good w gpu, gone" "$(json verdict) $(json 'steps[0].findings[0].what') $(json title)"
[[ $(json 'wheels[1].error') == *gone.whl* ]] || fail "a wheel that is gone: $(json wheels)"

# --- invalid input
run report "$tests/common.inc" -o "$t/none.html"
expect 1 "$status"
grep -q 'neither a compile record' "$t/err"
[[ ! -e $t/none.html ]] || fail "a report of nothing"
export WHEELSMITH_STORE=$t/empty
run report -o "$t/none.html"
expect 1 "$status"
grep -q 'contains no builds yet' "$t/err"
run report no-such-step
expect 2 "$status"
run report "$t/large.jsonl" --json -o -
expect 2 "$status"

# --- a real build: the newest of the store, by default
source "$tests/governor.inc"
units good $(for i in {1..6}; do echo "u$i=10,0.2,good"; done) k=20,0.1,killed-once
"$wheelsmith" run --quiet --cores 2 -- ninja -C good -j 8 >/dev/null
run report
expect 0 "$status" "$(<"$t/err")"
python3 "$tests/report_judge.py" "$t/wheelsmith-report.html" >"$t/page.json"
expect "7 1 ninja -C good -j 8" "$(json summary.compiles "$t/page.json") $(json summary.tried_again "$t/page.json") $(json title "$t/page.json")"
[[ $(json '{c.name for c in compiles} >= {"k.c", "u1.c"} and max(c.peak for c in compiles) > 9000000' "$t/page.json") == true ]] || fail "$(json compiles "$t/page.json")"
run_json report "$t/store/logs"
expect "ninja -C good -j 8" "$(json title)" "by the folder of logs"

# --- steps: outcomes, findings, wheels and the diagnosis of a failure
[[ -x ${TESTS_PYTHON:-/nonexistent} ]] || { echo "the package index is not reachable: the rest is skipped"; exit 0; }
source "$tests/small_package.inc"
export HOME=$t/home PIP_DISABLE_PIP_VERSION_CHECK=1
mkdir -p "$HOME"
PATH=${PATH#"$t/real:"}
small_package "$t"
run build small
[[ $status == 0 ]] || { cat "$t/out" "$t/err" >&2; fail "build small"; }
run_json report
expect "good built small" "$(json verdict) $(json 'steps[0].outcome') $(json 'steps[0].package')"
expect true "$(json 'wheels[0].size > 1000 and wheels[0].archs == []')"
expect adds "$(json 'steps[0].tests[0].id')"
expect true "$(json 'len(records) == 1 and records[0].name == steps[0].id and {c.name for c in compiles} >= {"add.c", "module.c"}')" "the step's own record: $(json 'records')"
# By the file of its outcomes, and by any spelling of its name, it is the same report.
cp "$t/out" "$t/plain.json"
newest=$(find "$t" -path '*/logs/build-*.json' -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2)
for name in "$newest" SMALL; do
  run_json report "$name"
  expect "$(json 'sorted(c.name for c in compiles)' "$t/plain.json")" "$(json 'sorted(c.name for c in compiles)')" "report $name"
done
# Removed from the wheelhouse: the store still has it. Rebuilt it is cached; the step's report is the build's.
rm "$t"/wheelhouse/*.whl
run_json report small
expect "built true" "$(json 'steps[0].outcome') $(json 'wheels[0].size > 1000')"
run build small
run_json report
expect "cached" "$(json 'steps[0].outcome')"
run_json report small
expect "built" "$(json 'steps[0].outcome')"
echo 'long broken(long a) { return a +; }' >"$t/recipes/small/small/add.c"
run build small
expect 1 "$status"
run report -o "$t/failed.html"
expect 0 "$status"
python3 "$tests/report_judge.py" "$t/failed.html" >"$t/page.json"
expect "failed failed" "$(json verdict "$t/page.json") $(json 'steps[0].outcome' "$t/page.json")"
[[ $(json 'steps[0].diagnosis.what' "$t/page.json") == ?* && $(json 'steps[0].failure.output' "$t/page.json") == *add.c* ]] || fail "$(json 'steps[0]' "$t/page.json")"
