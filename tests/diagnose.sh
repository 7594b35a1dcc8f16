#!/bin/bash
# diagnose on logs of builds that failed, and of successful builds with alarming output (tests/logs, made by
# tests/proof/make_logs.sh): class, fix and command as in answers.tsv; and on files that are not logs.
source "$(dirname "$0")/common.inc"
export XDG_CONFIG_HOME=$t/config
mkdir -p "$t/config"
answers=$tests/logs/answers.tsv

mapfile -t names < <(grep -v '^#' "$answers" | cut -f1)
(cd "$tests/logs" && run_json diagnose "${names[@]}" && python3 - "$answers" "$t/out" <<'PYTHON'
import json, sys

wrong = 0
items = {item["path"]: item for item in json.load(open(sys.argv[2]))["items"]}
rows = [line.rstrip("\n").split("\t") for line in open(sys.argv[1]) if not line.startswith("#")]
for name, kind, remedy, command in rows:
    item = items[name]
    cause = item.get("cause") or {}
    got = cause.get("class") if item["verdict"] == "failed" else item["verdict"]
    words = (cause.get("what", "") + "\n" + cause.get("fix", "")).lower()
    if got != kind:
        problem = f"{kind} wanted, {got} got by {cause.get('id')}: {cause.get('why', [{}])[0].get('text')}"
    elif remedy != "-" and remedy.lower() not in words:
        problem = f"{remedy!r} is not in what {cause['id']} says: {words}"
    elif command != "-" and command not in item["command"]:
        problem = f"{command!r} is not in the command {item['command']!r}"
    else:
        continue
    print(f"{name}: {problem}")
    wrong += 1
print(f"{len(rows) - wrong} of {len(rows)} right")
sys.exit(wrong > 0)
PYTHON
) || fail "wrong answers"

# Options and recipe keys in fixes exist.
"$TESTS_PYTHON" "$tests/diagnose_fixes.py" "$wheelsmith" "$tests/../src/diagnose/data" "$t/recipes" || fail "a remedy names what does not exist"

# One line is a log too.
mkdir "$t/words"
while IFS=$'\t' read -r id kind words; do
  [[ $id != '#'* ]] || continue
  printf '%s\n' "$words" >"$t/words/$id"
done <"$tests/logs/first_words.tsv"
run_json diagnose "$t"/words/*
python3 - "$tests/logs/first_words.tsv" "$t/out" <<'PYTHON' || fail "wrong answers"
import json, os, sys

got = {}
for item in json.load(open(sys.argv[2]))["items"]:
    got[os.path.basename(item["path"])] = item["cause"]["class"] if item["verdict"] == "failed" else item["verdict"]
rows = [line.split("\t") for line in open(sys.argv[1]) if not line.startswith("#")]
wrong = [f"{row[0]}: {row[1]} wanted, {got[row[0]]} got: {row[2]}" for row in rows if got[row[0]] != row[1]]
print(*wrong, f"{len(rows) - len(wrong)} of {len(rows)} right", sep="\n")
sys.exit(len(rows) != 147 or bool(wrong))
PYTHON

# Logs written by hand in the words of tools, and those of the exams; each file says where its logs come from.
for set in "$tests"/logs/written.txt "$tests"/logs/exam/*.txt; do
rm -rf "$t/written" && mkdir "$t/written"
python3 - "$set" "$t/written" <<'PYTHON'
import os, re, sys

for name, text in re.findall(r"^=== ([^\t\n]+)\t[^\n]*\n(.*?)(?=^=== |\Z)", open(sys.argv[1]).read(), re.M | re.S):
    open(os.path.join(sys.argv[2], name), "w").write(text)
PYTHON
run_json diagnose "$t"/written/*
python3 - "$set" "$t/out" <<'PYTHON' || fail "wrong answers in $set"
import json, os, re, sys

items = {os.path.basename(item["path"]): item for item in json.load(open(sys.argv[2]))["items"]}
rows = re.findall(r"^=== ([^\t\n]+)\t([^\t\n]+)\t([^\n]+)$", open(sys.argv[1]).read(), re.M)
wrong = 0
for name, kinds, words in rows:
    item = items[name]
    cause = item.get("cause") or {}
    got = cause["class"] if item["verdict"] == "failed" else item["verdict"]
    said = (cause.get("what", "") + cause.get("fix", "")).lower()
    if got not in kinds.split("|") or (words != "-" and not any(word.lower() in said for word in words.split("|"))):
        wrong += 1
        print(f"{name}: {kinds} with {words} wanted, {got} got by {cause.get('id')}: {said}")
print(f"{os.path.basename(sys.argv[1])}: {len(rows) - wrong} of {len(rows)} right")
sys.exit(len(rows) != len(items) or wrong > 0)
PYTHON
done

# From standard input, and as text.
log=$tests/logs/mixed-parallel-make.log
"$wheelsmith" diagnose <"$log" >"$t/out" 2>"$t/err" && fail "a failure is exit status 1" || expect 1 $?
grep -q 'standard input: failed' "$t/out" || fail "$(cat "$t/out")"
grep -q '  fix: ' "$t/out" || fail "$(cat "$t/out")"
run diagnose "$log" --all
grep -q 'command: ' "$t/out" || fail "--all: $(cat "$t/out")"

# Files that are not logs.
: >"$t/empty"
head -c 3000000 /dev/urandom >"$t/rubbish"
printf 'caf\xe9 \xff\xfe error \xc3\nx\n' >"$t/latin1"
head -c 100000000 /dev/zero | tr '\0' 'x' >"$t/one_line"
printf 'x\n' >"$t/short"
run_json diagnose "$t/empty" "$t/rubbish" "$t/latin1" "$t/one_line" "$t/short" "$t" "$t/absent"
expect 1 "$status" "two of them cannot be read"
expect $'no-failure\nno-failure\nno-failure\nno-failure\nno-failure' "$(json '[i.verdict for i in items[:5]]')"
[[ $(json 'items[5].error') == *"is a folder"* ]] || fail "$(json 'items[5]')"
[[ $(json 'items[6].error') == *"No such file"* ]] || fail "$(json 'items[6]')"
run diagnose "$t/empty"
expect 0 "$status"
grep -q 'no failure found' "$t/out"

# Memory is bounded for any line length: the static program, since sanitizers use memory of their own.
if [[ -x ${TESTS_STATIC:-} ]]; then
  python3 - "$TESTS_STATIC" "$t/one_line" "$log" <<'PYTHON'
import resource, subprocess, sys

subprocess.run([sys.argv[1], "diagnose", *sys.argv[2:]], stdout=subprocess.DEVNULL)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
assert peak < 50, f"peak memory {peak:.0f} MiB"
PYTHON
fi

# No escape sequence from a log reaches the terminal.
printf 'x.c: \x1b]0;owned\x07\x1b[31mNo space left on device\x1b[0m \x9b31m\n' >"$t/escapes"
run diagnose "$t/escapes" --color never --all
! grep -q $'[\x1b\x07\x9b]' "$t/out" || fail "an escape sequence got through: $(cat -v "$t/out")"
grep -q 'No space left on device' "$t/out"

# A pipe that never ends is answered when it is interrupted.
mkfifo "$t/pipe"
python3 - "$wheelsmith" "$t/pipe" <<'PYTHON'
import json, os, signal, subprocess, sys, time

process = subprocess.Popen([sys.argv[1], "diagnose", sys.argv[2], "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
pipe = os.open(sys.argv[2], os.O_WRONLY)
os.write(pipe, b"c++: fatal error: Killed signal terminated program cc1plus\n")
time.sleep(1)
process.send_signal(signal.SIGINT)
out, err = process.communicate(timeout=60)
item = json.loads(out)["items"][0]
assert process.returncode == 130, (process.returncode, err)
assert item["cause"]["class"] == "oom" and item["complete"] is False, item
PYTHON

# The user's own knowledge: in addition, and instead.
cat >"$t/own.toml" <<'TOML'
[[pattern]]
id = "coffee"
class = "disk"
stage = "any"
match = 'the (?P<what>\w+) machine is empty'
cause = "There is no {what} left."
fix = "Refill it with {what}."
sample = 'the coffee machine is empty'
TOML
echo 'error: the coffee machine is empty' >"$t/coffee"
run_json diagnose --patterns "$t/own.toml" "$t/coffee"
expect "coffee There is no coffee left." "$(json 'items[0].cause.id') $(json 'items[0].cause.what')"
mkdir -p "$t/config/wheelsmith" && mv "$t/own.toml" "$t/config/wheelsmith/patterns.toml"
run_json diagnose "$t/coffee"
expect coffee "$(json 'items[0].cause.id')"
echo 'id = 1' >>"$t/config/wheelsmith/patterns.toml"
run diagnose "$t/coffee"
expect 2 "$status"
grep -q 'patterns.toml:' "$t/err" || fail "$(cat "$t/err")"
