#!/bin/bash
# retag gives a wheel another name, version or other tags: pip installs the result, packaging parses its name, RECORD and WHEEL
# agree with it, and members that stay are the same packed bytes.
. "$(dirname "$0")/common.inc"
need gcc unzip
cd "$t"
judge=${TESTS_PYTHON:-python3}
[[ -x $judge ]] || judge=python3
python3 -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || skip "not Python 3.11"

make_extension demo.so
head -c 3000000 /dev/urandom >data.bin
printf '#!python\nprint(1)\n' >tool
mkdir in
wheel=in/demo-1.0-cp311-cp311-linux_x86_64.whl
demo_wheel "$wheel" demo.so demo/data.bin=data.bin demo-1.0.data/scripts/demo-tool=tool demo-1.0.dist-info/RECORD.jws=tool
sum=$(sha256sum <"$wheel")

# same_members OLD NEW: every member that both have is the same packed bytes, but for the metadata.
cat >same_members.py <<'END_OF_PY'
import sys, zipfile
old, new = (zipfile.ZipFile(path) for path in sys.argv[1:])
def packed(archive, info):
    archive.fp.seek(info.header_offset + 26)
    sizes = archive.fp.read(4)
    archive.fp.seek(info.header_offset + 30 + int.from_bytes(sizes[:2], "little") + int.from_bytes(sizes[2:], "little"))
    return archive.fp.read(info.compress_size)
count = 0
for info in old.infolist():
    if ".dist-info/" in info.filename or ".data/" in info.filename: continue
    assert packed(old, info) == packed(new, new.getinfo(info.filename)), info.filename
    count += 1
assert count >= 3 and new.testzip() is None
END_OF_PY

# --- tags -----------------------------------------------------------------------------------------------------------------
run_json retag "$wheel" --auto --out auto
expect 0 $status "$(<"$t/out")$(<"$t/err")"
made=$(json 'items[0].outputs[0].path')
expect "$(sha256sum <"$made" | cut -d' ' -f1)" "$(json 'items[0].outputs[0].sha256')"
expect "$(stat -c %s "$made")" "$(json 'items[0].outputs[0].bytes')"
expect "$(stat -c %s "$wheel")" "$(json 'items[0].before_bytes')"
[[ $made == auto/demo-1.0-cp311-cp311-manylinux_2_*_x86_64.whl ]] || fail "$made"
[[ $(json 'items[0].notes') == *RECORD.jws* ]] || fail "nothing is said of the signature"
expect "$(json 'items[0].outputs[0].tags' | sort)" "$(unzip -p "$made" '*/WHEEL' | sed -n 's/^Tag: //p' | sort)"
python3 same_members.py "$wheel" "$made"
run check "$made"
expect 0 $status "$(<"$t/out")"
if "$judge" -c 'import packaging' 2>/dev/null; then
  "$judge" -c 'from packaging.utils import parse_wheel_filename; import sys; parse_wheel_filename(sys.argv[1])' "${made##*/}"
fi
if "$judge" -m auditwheel --version >/dev/null 2>&1; then
  "$judge" -m auditwheel show "$made" | tr '\n' ' ' >shown
  grep -qF "$(unzip -p "$made" '*/WHEEL' | sed -n 's/^Tag: cp311-cp311-//p' | sort | head -n 1)" shown || fail "auditwheel: $(<shown)"
fi

# The same command gives the same bytes, and a dry run says their size and writes nothing.
run retag "$wheel" --auto --out auto2
cmp "$made" "auto2/${made##*/}"
run_json retag "$wheel" --auto --out dry --dry-run
expect "$(stat -c %s "$made")" "$(json 'items[0].outputs[0].bytes')"
[[ ! -e dry ]] || fail "a dry run made a folder"

# A tag that the binaries break is refused, and nothing is written; --force writes it.
run retag "$wheel" --platform-tag manylinux_2_5_x86_64 --abi-tag cp312 --out bad
expect 1 $status "$(<"$t/out")"
[[ $(<"$t/err") == *tag-extension-suffix* ]] || fail "$(<"$t/err")"
[[ $(<"$t/err") != *'\x'* ]] || fail "$(<"$t/err")"
expect '' "$(ls -A bad 2>/dev/null || true)"
run retag "$wheel" --abi-tag cp312 --python-tag cp312 --out bad --force
expect 0 $status "$(<"$t/err")"

# --- identity -------------------------------------------------------------------------------------------------------------
run_json retag "$wheel" --name Demo.Fork --local-version cu130 --build 7 --out named
expect 0 $status "$(<"$t/out")$(<"$t/err")"
made=$(json 'items[0].outputs[0].path')
expect named/demo_fork-1.0+cu130-7-cp311-cp311-linux_x86_64.whl "$made"
run check "$made"
expect 0 $status "$(<"$t/out")"
python3 -m venv --without-pip env
"$judge" -m pip --python env/bin/python install --no-index --no-deps -q "$made" 2>pip.err || fail "$(<pip.err)"
expect '1.0+cu130' "$(env/bin/python -c 'from importlib.metadata import version; print(version("demo-fork"))')"
[[ -e env/bin/demo-tool ]] || fail "the script is not installed"
cmp data.bin env/lib/python3.11/site-packages/demo/data.bin
expect "$sum" "$(sha256sum <"$wheel")" "the input"
unzip -p "$made" '*/wheelsmith/operations.json' >operations.json
expect "${sum%% *}" "$(json 'operations[0].input.sha256' operations.json)"

# --- refusals -------------------------------------------------------------------------------------------------------------
run retag "$wheel" --build 1 --version 2 --local-version x
expect 2 $status
run retag "$wheel"
expect 2 $status
run retag "$wheel" --build ''  --out in
expect 2 $status "the input would be replaced"
expect "$sum" "$(sha256sum <"$wheel")" "the input"
echo no >no-1.0-py3-none-any.whl
run_json retag no-1.0-py3-none-any.whl "$wheel" --build 3 --out some
expect 1 $status
[[ -n $(json 'items[0].error') && -e some/demo-1.0-3-cp311-cp311-linux_x86_64.whl ]] || fail "one bad wheel stops the others"

# Wheels of one name in two folders do not replace each other.
mkdir other
demo_wheel "other/${wheel##*/}" demo.so
run_json retag "$wheel" "other/${wheel##*/}" --build 4 --out pair
expect 1 $status "$(<"$t/out")"
[[ $(json 'items[1].error') == *"already written"* ]] || fail "$(<"$t/out")"
expect "$(json 'items[0].outputs[0].sha256')" "$(sha256sum <pair/*.whl | cut -d' ' -f1)"

# An error that the input has does not stop a command, whatever the order of its members.
mkdir cased
make_wheel cased/demo-1.0-py3-none-any.whl demo/b.py=init.py demo/B.py=init.py
run retag cased/demo-1.0-py3-none-any.whl --build 5 --out cased
expect 0 $status "$(<"$t/err")"

# A signal that can be handled leaves no temporary file; after SIGKILL there is one, but no wheel.
mkdir stopped
python3 - "$wheelsmith" "$wheel" stopped <<'END_OF_PY'
import os, signal, subprocess, sys
program, wheel, out = sys.argv[1:]
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # below nohup it is ignored, and the program leaves it so
for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
    for attempt in range(50):  # until one comes while it writes
        process = subprocess.Popen([program, "retag", wheel, "--build", "6", "--out", out], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        while process.poll() is None and not os.listdir(out):
            pass
        process.send_signal(number)
        status = process.wait()
        left = os.listdir(out)
        assert not [name for name in left if not name.endswith(".whl")], (number, left)
        for name in left:
            os.remove(f"{out}/{name}")
        if status == 130 and not left:
            break
    else:
        sys.exit(f"never interrupted by {number}")
END_OF_PY
