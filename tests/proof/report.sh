#!/bin/bash
# Reports of 20, 500 and 5,000 compiles, of a failed build and of hostile names, opened and used in a headless Chromium:
# no errors, no requests, screenshots in PICTURES (default: build/proof/report).
source "$(dirname "$0")/../common.inc"
need chromium
pictures=${PICTURES:-$tests/../build/proof/report}

for size in 20:4 500:16 5000:32; do
  python3 "$tests/report_record.py" "${size%:*}" "${size#*:}" >"$t/${size%:*}.jsonl"
  run report "$t/${size%:*}.jsonl" -o "$t/${size%:*}.html"
  expect 0 "$status" "$(<"$t/err")"
done
# Two builds side by side, with steps: one failed, one with findings and device code.
python3 "$tests/report_record.py" 60 4 7 | sed 's/a build of 60 units/kernels-cuda-cp311/' >"$t/kernels.jsonl"
python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(open(sys.argv[1]).readlines()[1]))' "$tests/../fuzz/corpus/fatbin.hex" >"$t/kernels.fatbin"
make_wheel "$t/tools-1.0-py3-none-any.whl" "tools/kernels.fatbin=$t/kernels.fatbin"
WHEEL=$t/tools-1.0-py3-none-any.whl python3 - >"$t/steps.json" <<'PY'
import json
import os
print(json.dumps({"schema": 1, "steps": [
    {"id": "kernels-cuda-cp311", "package": "kernels", "outcome": "failed", "phase": "build", "seconds": 133, "cause": "the backend ended with exit status 1",
     "log": "logs/kernels-cuda-cp311.log", "repeat_script": "trees/kernels/repeat.sh", "tests": [], "findings": [],
     "failure": {"command": "nvcc -c csrc/kernels/unit_0007.cu -o unit_0007.o", "folder": "build", "output": "unit_0007.cu(12): error: identifier \"warpSize_\" is undefined", "line": 812},
     "diagnosis": {"id": "undefined-identifier", "class": "source", "what": "The source names something that this CUDA toolkit does not have.", "line": 812,
                   "fixes": ["take a toolkit of version 12.8 or later (--cuda 12.8)", "take a later version of the package"],
                   "why": [{"line": 812, "text": "unit_0007.cu(12): error: identifier \"warpSize_\" is undefined"}], "sure": "likely"}},
    {"id": "tools-cpu-cp311", "package": "tools", "outcome": "built", "seconds": 41, "reason": "it has never been built here", "wheel": os.environ["WHEEL"],
     "tests": [{"id": "imports", "outcome": "pass", "why": ""}],
     "findings": [{"id": "tag-too-narrow", "severity": "warning", "subject": "linux_x86_64", "what": "the binaries would deserve manylinux_2_28_x86_64",
                   "why": "installers refuse it elsewhere", "fix": "write the tag that it deserves"},
                  {"id": "missing-library", "severity": "error", "subject": "tools/_core.so", "what": "libfoo.so.1 is in no wheel", "why": "it does not load", "fix": "add it"}]}]}))
PY
run report "$t/steps.json" "$t/kernels.jsonl" "$t/20.jsonl" -o "$t/failed.html"
expect 0 "$status" "$(<"$t/err")"
python3 - >"$t/hostile.jsonl" <<'PY'
import json
for i in range(30):
    name = ["</script><script>window.broken = 1</script>", "<img src=x onerror='window.broken = 1'>", "javascript:window.broken=1", ["__proto__", "constructor"][i % 4 // 2], "\u202eevil", ""][i % 6]
    print(json.dumps({"event": "compile", "at": 1000 + i / 3, "seconds": 1, "wait": 0.5, "why": name, "kind": name, "outcome": name, "name": name, "output": name, "cache": name, "peak": 5}))
    print(json.dumps({"event": "unreached", "at": 1000 + i, "program": name}))
PY
run report "$t/hostile.jsonl" -o "$t/hostile.html"
expect 0 "$status" "$(<"$t/err")"

rm -rf "$pictures"
python3 "$tests/proof/report_browser.py" "$pictures" "$t/20.html" "$t/500.html" "$t/5000.html" "$t/failed.html" "$t/hostile.html"
echo "5 of 5 pages without a complaint; pictures in $pictures"
