#!/bin/bash
# split makes one variant wheel per group of architectures: each passes check and has exactly the group's entries of the
# original, uv takes the right one out of the index, pip installs the original that stands beside them, and a failure
# leaves nothing behind.
. "$(dirname "$0")/common.inc"
need nvcc unzip python3
cd "$t"
unset PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS UV_INDEX_URL UV_EXTRA_INDEX_URL UV_FIND_LINKS || true
export HOME=$t/home
mkdir -p "$HOME" in
cat >kernel.cu <<'END'
__global__ void scale(float* x) { for (int i = 0; i < 64; ++i) x[i] *= 2 + i; }
extern "C" void launch(float* x) { scale<<<1, 1>>>(x); }
END
compile() {
  local flags=() one
  for one in "${@:2}"; do flags+=(-gencode "arch=compute_${one%%[:]*},code=${one#*:}"); done
  nvcc -shared -Xcompiler -fPIC -cudart none "${flags[@]}" kernel.cu -o "$1" >nvcc.log 2>&1 || { cat nvcc.log; fail nvcc; }
}
compile all.so 80:sm_80 86:sm_86 90a:sm_90a 90:compute_90
compile old.so 80:sm_80 90:sm_90 # serves an 8.6 by sm_80
printf 'x = 1\n' >init.py
name=demo-1.0-py3-none-linux_x86_64
make_wheel "in/$name.whl" demo/all.so=all.so demo/old.so=old.so demo/__init__.py=init.py
sum=$(sha256sum <"in/$name.whl")

# --- usage
run split "in/$name.whl" --per-gpu
expect 2 $status
run split "in/$name.whl" --dialect pep850
expect 2 $status
run split "in/$name.whl" --dialect pep850 --groups '8.0;8.0'
expect 2 $status

# --- one wheel per architecture
run_json split "in/$name.whl" --per-gpu --dialect pep850 --out dist
expect 0 $status "$(<out)$(<err)"
expect 'sm80 sm86 sm90' "$(json '[o.label for o in items[0].outputs]' | xargs)"
expect "nvidia :: sm_arch :: 86_real" "$(json '[p for p in items[0].outputs[1].properties if "sm_arch" in p]')"
expect "$sum" "$(sha256sum <"in/$name.whl")" "the input"
listing() { json 'sorted(f"{g.arch} {g.kind}" for g in items[0].gpu)' | xargs; }
members() { unzip -q -o "$1" -d "$2"; }
members "in/$name.whl" whole
for label in sm80 sm86 sm90; do
  run check "dist/$name-$label.whl"
  expect 0 $status "$(<out)"
  run variant --check "dist/$name-$label.whl"
  expect 0 $status "$(<out)"
  members "dist/$name-$label.whl" $label
  [[ $(stat -c %s $label/demo/all.so) -le $(stat -c %s whole/demo/all.so) ]] || fail "$label is larger"
done
run_json inspect sm86/demo/all.so
expect 'sm_86 sass' "$(listing)"
run_json inspect sm86/demo/old.so
expect 'sm_80 sass' "$(listing)" "an 8.6 runs sm_80"
run_json inspect sm90/demo/all.so
expect 'sm_90a sass' "$(listing)"
# Entries are the original's bytes, by NVIDIA's own reader.
if command -v cuobjdump >/dev/null; then
  for label in whole sm80 sm86 sm90; do
    for file in all old; do
      mkdir -p cubins/$label.$file
      (cd cubins/$label.$file && cuobjdump -xelf all ../../$label/demo/$file.so >/dev/null)
    done
  done
  sums() { (cd cubins && sha256sum $1.*/*.cubin | cut -d' ' -f1 | sort -u); }
  for label in sm80 sm86 sm90; do
    [[ -n $(sums $label) ]] || fail "no cubin in $label"
    expect "" "$(comm -23 <(sums $label) <(sums whole))" "cubins of $label that the original does not have"
  done
fi

# --- groups; equal input gives equal bytes
run split "in/$name.whl" --groups '8.0,8.6;9.0+PTX' --dialect pep825 --out groups --no-index
expect 0 $status "$(<err)"
expect "$name-sm80_86.whl $name-sm90ptx.whl" "$(ls groups | xargs)"
run split "in/$name.whl" --groups '8.0,8.6;9.0+PTX' --dialect pep825 --out again --no-index
cmp "groups/$name-sm80_86.whl" "again/$name-sm80_86.whl"
members "groups/$name-sm90ptx.whl" ptx
run_json inspect ptx/demo/all.so
expect 'compute_90 ptx sm_90a sass' "$(listing)"

# --- a group without code: nothing is written
run split "in/$name.whl" --groups '8.0;7.0' --dialect pep825 --out none
expect 1 $status
expect "" "$(find none -name '*.whl' 2>/dev/null || true)"

# --- installers
cp "in/$name.whl" dist
run index dist
expect 0 $status "$(<out)$(<err)"
serve_folder dist
python3 -m pip --version >/dev/null 2>&1 &&
  { python3 -m pip install -q --no-cache-dir --no-deps --disable-pip-version-check --isolated --index-url "$base" --target plain demo >pip.log 2>&1 || fail "$(<pip.log)"
    cmp plain/demo/all.so all.so; }
uv=$(dirname "${TESTS_PYTHON:-/nonexistent/python}")/uv
if [[ -x $uv ]] && grep -qaF wheel-variants "$uv"; then
  for pair in 8.0:sm80 8.6:sm86 8.9:sm86 9.0:sm90 7.5:whole; do
    rm -rf site
    NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION=13.0 NV_VARIANT_PROVIDER_FORCE_SM_ARCH=${pair%:*} "$uv" pip install --quiet --no-cache \
      --preview-features wheel-variants --python "$(command -v python3)" --index-url "$base" --target site demo >uv.log 2>&1 || fail "$(<uv.log)"
    cmp site/demo/all.so "${pair#*:}/demo/all.so" || fail "another wheel for ${pair%:*}"
  done
fi
