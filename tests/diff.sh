#!/bin/bash
# diff says what differs between two wheels, libraries or environments, and why the bytes differ where nothing else does. nm and
# readelf judge symbols; zipfile made the archives.
. "$(dirname "$0")/common.inc"
need gcc nm readelf strip
cd "$t"

printf 'int one(void) { return 1; }\nint two(void) { return 2; }\n' >a.c
printf '#include <math.h>\n#include <stdio.h>\nint one(void) { return 1; }\nint three(double x) { return puts("x") + (int)sin(x); }\n' >b.c
gcc -shared -fPIC a.c -o a.so -Wl,-soname,libdemo.so.1
gcc -shared -fPIC b.c -o b.so -Wl,-soname,libdemo.so.2 -lm
wheel=demo-1.0-py3-none-linux_x86_64.whl
mkdir a b
echo 'x = 1' >x.py
echo 'x = 2' >y.py
make_wheel "a/$wheel" demo/lib.so=a.so demo/x.py=x.py demo/old.py=x.py
make_wheel "b/$wheel" demo/lib.so=b.so demo/x.py=y.py demo/new.py=x.py

run_json diff "a/$wheel" "a/$wheel"
expect 0 $status
expect true "$(json equal)"
run_json diff "a/$wheel" "b/$wheel"
expect 1 $status
expect false "$(json equal)"
# only KIND EXPRESSION: what one side has, by wheelsmith
only() { json "[d.subject for d in differences if d.kind == '$1' and d.$2 is None]"; }
expect 'demo/new.py' "$(only file left)"
expect 'demo/old.py' "$(only file right)"
exported() { nm -D --defined-only "$1" | awk '{print $3}' | sort; }
expect "$(comm -23 <(exported a.so) <(exported b.so))" "$(only symbol right | sed -n 's/.*: exported //p')"
expect "$(comm -13 <(exported a.so) <(exported b.so))" "$(only symbol left | sed -n 's/.*: exported //p')"
needed() { readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | sort; }
expect "$(comm -13 <(needed a.so) <(needed b.so))" "$(only symbol left | sed -n 's/.*: NEEDED //p')"
[[ $(json '[d.left + d.right for d in differences if d.subject.endswith("SONAME")]') == libdemo.so.1libdemo.so.2 ]] || fail SONAME
run_json diff "a/$wheel" "b/$wheel" --ignore file --ignore 'demo/lib.so' --ignore bytes
expect 0 $status "$(<"$t/out")"

# Two libraries by themselves.
run_json diff a.so b.so
expect 1 $status
expect 'a.so: exported two' "$(only symbol right | grep two)"

# The same members in another order, at another time, packed in another way: only the bytes differ.
python3 - "a/$wheel" "repacked-$wheel" <<'END_OF_PY'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as old, zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED, compresslevel=1) as new:
    for info in reversed(old.infolist()):
        again = zipfile.ZipInfo(info.filename, (2021, 2, 3, 4, 5, 6))
        again.external_attr = 0o100755 << 16
        again.compress_type = zipfile.ZIP_STORED
        new.writestr(again, old.read(info))
END_OF_PY
mkdir c && mv "repacked-$wheel" "c/$wheel"
run_json diff "a/$wheel" "c/$wheel"
expect 1 $status
expect bytes "$(json '[d.kind for d in differences]')"
for reason in time mode compression order; do [[ $(json 'differences[0].reasons') == *$reason* ]] || fail "$reason: $(<"$t/out")"; done

# The same sources with other paths: the reason stands beside the file.
gcc -g -shared -fPIC a.c -o g1.so -Wl,-soname,libdemo.so.1 -fdebug-prefix-map="$t"=/one
gcc -g -shared -fPIC a.c -o g2.so -Wl,-soname,libdemo.so.1 -fdebug-prefix-map="$t"=/two
run_json diff g1.so g2.so
[[ $(json '[r for d in differences for r in d.reasons]') == *'build ID'*.debug_line_str* ]] || fail "$(<"$t/out")"

# Environments: versions and files; byte code caches do not count.
for side in a b; do
  python3 -m venv --without-pip "env-$side"
  site=$(echo env-$side/lib/python*/site-packages)
  (cd "$site" && unzip -q "$t/$side/$wheel")
  mkdir -p "$site/demo/__pycache__" && echo $side >"$site/demo/__pycache__/x.cpython-311.pyc"
done
run_json diff env-a env-b
expect 1 $status
expect 'demo/new.py' "$(only file left)"
run_json diff env-a env-a
expect 0 $status
run_json diff env-a no-such-folder
expect 1 $status
[[ -n $(json error) ]] || fail "no error"
