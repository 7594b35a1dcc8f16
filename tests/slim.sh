#!/bin/bash
# slim drops the device code that the named GPUs do not need: cuobjdump lists what is left, every kept cubin is the same
# bytes, the library still loads and can be stripped, and an environment that was killed half way is whole afterwards.
. "$(dirname "$0")/common.inc"
need nvcc gcc nm
cd "$t"
cuobjdump=${CUOBJDUMP:-$(command -v cuobjdump || true)}
if [[ -z $cuobjdump ]] && python3 -m pip download -q --no-deps -d judge nvidia-cuda-cuobjdump >/dev/null 2>&1; then
  python3 -m zipfile -e judge/*.whl judge
  cuobjdump=$(find judge -name cuobjdump -type f | head -n 1)
  chmod +x "$cuobjdump"
fi

for unit in one two; do
  cat >$unit.cu <<END
__global__ void scale_$unit(float* x, float f) { for (int i = 0; i < 64; ++i) x[threadIdx.x + i] *= f + i; }
__constant__ float pad_$unit[12000] = {1.0f};
extern "C" void launch_$unit(float* x) { scale_$unit<<<1, 32>>>(x, 2.0f + sizeof pad_$unit); }
END
done
archs=(-gencode arch=compute_80,code=sm_80 -gencode arch=compute_86,code=sm_86 -gencode 'arch=compute_90,code=[sm_90,compute_90]'
  -gencode arch=compute_90a,code=sm_90a -gencode arch=compute_100,code=sm_100)
nvcc -Xcompiler -fPIC -no-compress -c "${archs[@]}" one.cu two.cu >nvcc.log 2>&1 || { cat nvcc.log; fail nvcc; }
# The CUDA runtime's functions, so that the library loads without CUDA.
nm -u one.o two.o | awk '$2 ~ /^(__)?cuda/ { print "void " $2 "(void) {}" }' | sort -u >runtime.c
gcc -shared -fPIC runtime.c -o libruntime.so -Wl,-soname,libruntime.so
nvcc -cudart none -shared "${archs[@]}" one.o two.o -o lib.so -L. -lruntime -Xlinker -rpath -Xlinker '$ORIGIN' >nvcc.log 2>&1 || { cat nvcc.log; fail nvcc; }
loads() { LD_LIBRARY_PATH=. python3 -c 'import ctypes, sys; ctypes.CDLL(sys.argv[1]).launch_one' "$1"; }
loads ./lib.so
listing() { run_json inspect "$1"; json '[f"{g.arch} {g.count}" for g in items[0].gpu]' | sort | tr '\n' ' '; }

wheel=demo-1.0-py3-none-linux_x86_64.whl
echo 'x = 1' >init.py
make_wheel "$wheel" demo/__init__.py=init.py demo/lib.so=lib.so demo/libruntime.so=libruntime.so
sum=$(sha256sum <"$wheel")

# --- a wheel ---------------------------------------------------------------------------------------------------------
run_json slim "$wheel" --arch 9.0 --out slim --dry-run
expect 0 $status "$(<"$t/out")$(<"$t/err")"
[[ ! -e slim ]] || fail "a dry run wrote something"
size=$(json 'items[0].outputs[0].bytes')
run_json slim "$wheel" --arch 9.0 --out slim
made=slim/$wheel
expect "$size" "$(stat -c %s "$made")" "the size that the dry run promised"
expect "$(sha256sum <"$made" | cut -d' ' -f1)" "$(json 'items[0].outputs[0].sha256')"
expect "2" "$(json '[g.after_count for g in items[0].files[0].gpu if g.arch == "sm_90a"]')"
expect "sm_90 2 sm_90a 2 " "$(listing "$made")" "what is left"
expect "$sum" "$(sha256sum <"$wheel")" "the input"
run check "$made"
expect 0 $status "$(<"$t/out")"
python3 -m zipfile -e "$made" unpacked
grep -q '"operation": "slim"' unpacked/demo-1.0.dist-info/wheelsmith/operations.json
(($(stat -c %s unpacked/demo/lib.so) < $(stat -c %s lib.so))) || fail "the library is not shorter"
run slim "$wheel" --arch 9.0 --out again
cmp "$made" "again/$wheel"
for strip in strip llvm-strip llvm-strip-19; do
  command -v $strip >/dev/null || continue
  cp unpacked/demo/lib.so stripped.so
  $strip stripped.so
  loads ./stripped.so
done
loads ./unpacked/demo/lib.so
# cuobjdump extracts the same cubins from both.
if [[ -n $cuobjdump ]]; then
  tool=$(realpath "$cuobjdump")
  mkdir -p old new
  (cd old && "$tool" -xelf all ../lib.so >/dev/null)
  (cd new && "$tool" -xelf all ../unpacked/demo/lib.so >list)
  ls new | grep -q sm_90
  for file in new/*.cubin; do
    found=
    for other in old/*.sm_"${file##*sm_}"; do cmp -s "$file" "$other" && found=1; done
    [[ -n $found ]] || fail "$file is not in the old library"
  done
  expect "" "$("$tool" -lelf unpacked/demo/lib.so | grep -E 'sm_(80|86|100)' || true)" "cuobjdump"
fi

# --- coverage --------------------------------------------------------------------------------------------------------
run slim lib.so --gpu "RTX 4090" --out ada # 8.9 runs sm_86
[[ $(listing ada/lib.so) == "sm_86 "* ]] || fail "$(listing ada/lib.so)"
run slim lib.so --arch '12.0' --out jit # only the PTX runs there
listing jit/lib.so | grep -q compute_90
run slim lib.so --arch 7.5 --out none
expect 1 $status
[[ ! -e none ]] || fail "output despite an error"
run slim lib.so --out none
expect 2 $status
make_wheel nvidia_demo-1.0-py3-none-linux_x86_64.whl nvidia/lib.so=lib.so
run_json slim nvidia_demo-1.0-py3-none-linux_x86_64.whl --arch 9.0 --out vendor
expect "0 0" "$status $(json 'len(items[0].outputs)')"

# --- an environment --------------------------------------------------------------------------------------------------
python3 -m venv --without-pip env
site=$(echo env/lib/python3*/site-packages)
python3 -m zipfile -e "$wheel" "$site"
cp -a "$site" before
# recorded FOLDER: the size of all files in RECORD.
recorded() {
  python3 -c 'import csv, os, sys; print(sum(os.path.getsize(f"{sys.argv[1]}/{row[0]}") for row in csv.reader(open(sys.argv[2]))))' \
    "$1" "$1/demo-1.0.dist-info/RECORD"
}
size=$(recorded "$site")
run_json slim env --arch 9.0 --dry-run
expect 0 $status "$(<"$t/out")$(<"$t/err")"
diff -r before "$site" || fail "a dry run changed the environment"
expect "$size" "$(json 'items[0].before_bytes')"
size=$(json 'items[0].after_bytes')
run_json slim env --arch 9.0
expect 0 $status "$(<"$t/out")$(<"$t/err")"
cmp "$site/demo/lib.so" unpacked/demo/lib.so
expect "$size $size" "$(json 'items[0].after_bytes') $(recorded "$site")" "the size that the dry run promised"
cp -a "$site" after
run_json slim env --arch 9.0
expect "0 0 $size" "$status $(json 'len(items[0].outputs)') $(json 'items[0].after_bytes')"
diff -r after "$site" || fail "slim of a slim environment changed it"
run check env
expect 0 $status "$(<"$t/out")"
# Killed at any moment: the next command makes it whole, old or new.
for i in $(seq "${SLIM_KILLS:-12}"); do
  rm -rf "$site" && cp -a before "$site"
  "$wheelsmith" slim env --arch 9.0 >/dev/null 2>&1 &
  pid=$!
  sleep "0.0$((RANDOM % 10))"
  kill -9 $pid 2>/dev/null || true
  wait $pid 2>/dev/null || true
  run slim env --arch 9.0
  expect 0 $status "$(<"$t/err")"
  cmp "$site/demo/lib.so" unpacked/demo/lib.so
  expect "" "$(find env -name '*wheelsmith-*')" "leftovers after kill $i"
  run check env
  expect 0 $status "$(<"$t/out")"
done

# A prefix without pyvenv.cfg (conda, images of Python), a signature of RECORD, and a file that is listed but missing.
nvcc -cubin -arch=sm_80 one.cu -o k.cubin >nvcc.log 2>&1 || { cat nvcc.log; fail nvcc; }
echo '{}' >k.json
make_wheel "$wheel" demo/lib.so=lib.so demo/k.cubin=k.cubin demo/k.json=k.json demo/k.ptx=k.json demo-1.0.dist-info/RECORD.jws=k.json
site=prefix/lib/python3.11/site-packages
mkdir -p "$site"
python3 -m zipfile -e "$wheel" "$site"
rm "$site/demo/k.ptx"
run_json slim prefix --arch 9.0
expect 0 $status "$(<"$t/out")$(<"$t/err")"
cmp "$site/demo/lib.so" unpacked/demo/lib.so
for gone in demo/k.cubin demo/k.json demo-1.0.dist-info/RECORD.jws; do [[ ! -e $site/$gone ]] || fail "$gone is still there"; done
expect "$(cd "$site" && find . -type f | sed 's,^./,,' | sort)" "$(cut -d, -f1 "$site/demo-1.0.dist-info/RECORD" | sort)" "RECORD"

# A folder that is a link out of the environment is shared with others.
mkdir linked
cp -a before/demo shared
cp -a before/demo-1.0.dist-info linked
ln -s ../shared linked/demo
run_json slim linked --arch 9.0
expect 0 $status "$(<"$t/out")$(<"$t/err")"
[[ $(json 'items[0].notes') == *"demo is a link"* ]] || fail "$(<"$t/out")"
diff -r before/demo shared || fail "the shared folder was changed"
# A file that is a link becomes a file (uv --link-mode symlink).
rm linked/demo && mkdir linked/demo
for file in shared/*; do ln -s "../../$file" linked/demo; done
run slim linked --arch 9.0
expect 0 $status "$(<"$t/err")"
cmp linked/demo/lib.so unpacked/demo/lib.so
diff -r before/demo shared || fail "the file behind the link was changed"
