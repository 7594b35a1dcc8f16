#!/bin/bash
# inspect --html writes one page without foreign markup whose sizes are those of zipfile and readelf.
. "$(dirname "$0")/common.inc"
need gcc readelf python3
cd "$t"
make_extension demo.so
echo 'x = 1' >hostile.py
wheel=demo-1.0-cp311-cp311-linux_x86_64.whl
demo_wheel "$wheel" demo.so 'demo/</script><script>broken()<.py=hostile.py' demo/deep/er/one.txt=hostile.py
cp "$wheel" renamed.whl
python3 -c 'import sys; sys.stdout.buffer.write(bytes.fromhex(open(sys.argv[1]).readlines()[1]))' "$tests/../fuzz/corpus/fatbin.hex" >kernels.fatbin

run_json inspect "$wheel" --html page.html
expect 0 $status "$(<err)"
python3 "$tests/report_judge.py" page.html >page.json
readelf -SW demo.so >sections
python3 - "$wheel" page.json sections <<'END_OF_PY'
import json, re, sys, zipfile
page = json.load(open(sys.argv[2]))["tree"]
def walk(node, path=""):
    assert not node.get("children") or sum(c["bytes"] for c in node["children"]) == node["bytes"], path
    yield path, node
    for child in node.get("children", []):
        yield from walk(child, f"{path}/{child['name']}" if path else child["name"])
nodes = dict(walk(page))
infos = [i for i in zipfile.ZipFile(sys.argv[1]).infolist() if not i.is_dir()]
assert page["bytes"] == sum(i.file_size for i in infos) and page["packed"] == sum(i.compress_size for i in infos)
for info in infos:
    assert (nodes[info.filename]["bytes"], nodes[info.filename].get("packed", 0)) == (info.file_size, info.compress_size), info.filename
extension = next(n for p, n in nodes.items() if p.endswith(".so"))
ours = {c["name"]: c["bytes"] for c in extension["children"] if c["kind"] == "section"}
judge = {}
for line in open(sys.argv[3]):
    found = re.match(r"\s*\[ *\d+\] (\S+)\s+(\S+)\s+[0-9a-f]+ [0-9a-f]+ ([0-9a-f]+)", line)
    if found and found[2] not in ("NOBITS", "NULL") and int(found[3], 16): judge[found[1]] = int(found[3], 16)
assert ours == judge and len(ours) > 10, (ours, judge)
END_OF_PY

# A fat binary by itself, a folder, and what is neither.
run inspect kernels.fatbin --html fatbin.html
expect 0 $status "$(<err)"
python3 "$tests/report_judge.py" fatbin.html >page.json
run_json inspect kernels.fatbin
expect "$(json 'sorted({g.arch for g in items[0].gpu})' out)" "$(json 'sorted({c.name for c in tree.children if c.kind == "arch"})' page.json)"
mkdir folder && cp hostile.py folder
run inspect folder/ --html folder.html
expect 0 $status "$(<err)"
run inspect hostile.py --html none.html
expect 1 $status
[[ ! -e none.html ]] || fail "a page of nothing"
run inspect "$wheel" renamed.whl --html two.html
expect 2 $status
