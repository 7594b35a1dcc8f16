#!/bin/bash
# variant writes a label and properties that its binaries have: uv chooses the wheel of the (pretended) GPU out of an index,
# a JSON schema reader of PEP 825's rules accepts the file, and --check finds wheels that promise more than they hold.
. "$(dirname "$0")/common.inc"
need nvcc unzip python3
cd "$t"
unset PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS UV_INDEX_URL UV_EXTRA_INDEX_URL UV_FIND_LINKS || true
export HOME=$t/home
mkdir -p "$HOME" in
cat >kernel.cu <<'END'
__global__ void scale(float* x) { *x *= 2; }
extern "C" void launch(float* x) { scale<<<1, 1>>>(x); }
END
# library OUT GENCODE…
library() {
  local flags=() one
  for one in "${@:2}"; do flags+=(-gencode "arch=compute_${one%%[:]*},code=${one#*:}"); done
  nvcc -shared -Xcompiler -fPIC -cudart none "${flags[@]}" kernel.cu -o "$1" >nvcc.log 2>&1 || { cat nvcc.log; fail nvcc; }
}
library ampere.so 80:sm_80 86:sm_86
library hopper.so 90a:sm_90a
echo 'kind = "ampere"' >ampere.py
echo 'kind = "hopper"' >hopper.py
name=demo-1.0-py3-none-linux_x86_64
make_wheel "in/$name.whl" demo/lib.so=ampere.so demo/__init__.py=ampere.py

# --- off by default
run variant "in/$name.whl"
expect 2 $status
[[ $(<err) == *drafts*--dialect* ]] || fail "$(<err)"
run variant "in/$name.whl" --dialect pep999
expect 2 $status

# --- every dialect: name, variant.json and RECORD agree
for dialect in pep825 pep850 pep817; do
  run_json variant "in/$name.whl" --dialect $dialect --label ampere --out $dialect \
    --property 'nvidia :: cuda_version_lower_bound :: 12.0'
  expect 0 $status "$(<out)$(<err)"
  made=$dialect/$name-ampere.whl
  expect "$made" "$(json 'items[0].outputs[0].path')"
  expect 'nvidia :: cuda_version_lower_bound :: 12.0
nvidia :: sm_arch :: 80_real
nvidia :: sm_arch :: 86_real' "$(json 'items[0].outputs[0].properties')"
  unzip -p "$made" '*/variant.json' >variant.json
  expect '80_real 86_real' "$(json 'variants["ampere"]["nvidia"]["sm_arch"]' variant.json | xargs)"
  python3 - "$made" <<'END_OF_PY'
import base64, csv, hashlib, io, sys, zipfile
archive = zipfile.ZipFile(sys.argv[1])
rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(archive.read("demo-1.0.dist-info/RECORD").decode()))}
data = archive.read("demo-1.0.dist-info/variant.json")
digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
assert rows["demo-1.0.dist-info/variant.json"] == ["sha256=" + digest, str(len(data))]
assert set(rows) == set(archive.namelist())
END_OF_PY
  run variant --check "$made"
  expect 0 $status "$(<out)"
done

# --- uv takes the wheel of the GPU
mkdir wheels
cp pep850/*.whl wheels
make_wheel "in/$name.whl" demo/lib.so=hopper.so demo/__init__.py=hopper.py
run variant "in/$name.whl" --dialect pep850 --label hopper --out wheels --property 'nvidia::cuda_version_lower_bound::12.0'
expect 0 $status "$(<err)"
run index wheels
expect 0 $status "$(<out)$(<err)"
expect 'ampere hopper' "$(json 'sorted(variants)' wheels/demo/demo-1.0-variants.json 2>/dev/null | xargs)"
# variantlib knows the dialect of PEP 850 only.
if "${TESTS_PYTHON:-python3}" -c 'import variantlib' 2>/dev/null; then
  "$TESTS_PYTHON" "$tests/variant_judge.py" wheels wheels/demo/demo-1.0-variants.json 8.0 8.9 9.0 7.5 >judged 2>judge.log || fail "$(<judge.log)"
  expect '8.0 ampere 8.9 ampere 9.0 hopper 7.5 none' "$(xargs <judged)" "what variantlib chooses"
else
  echo "variantlib is not here"
fi
uv=$(dirname "${TESTS_PYTHON:-/nonexistent/python}")/uv
if [[ -x $uv ]] && grep -qaF wheel-variants "$uv"; then
  serve_folder wheels
  # chosen SM: the wheel that uv installs on a GPU of this compute capability
  chosen() {
    rm -rf site
    NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION=13.0 NV_VARIANT_PROVIDER_FORCE_SM_ARCH=$1 "$uv" pip install --quiet --no-cache \
      --preview-features wheel-variants --python "$(command -v python3)" --index-url "$base" --target site demo >uv.log 2>&1 ||
      { echo none; return; }
    sed -n 's/kind = "\(.*\)"/\1/p' site/demo/__init__.py
  }
  expect ampere "$(chosen 8.0)" "$(<uv.log)"
  expect ampere "$(chosen 8.9)" "$(<uv.log)"
  expect hopper "$(chosen 9.0)" "$(<uv.log)"
  expect none "$(chosen 7.5)" "$(<uv.log)"
else
  echo "uv is not here"
fi

# --- wheels that promise more than they hold
wrong() { # wrong ID LABEL JSON LIBRARY
  printf '%s' "$3" >variant.json
  make_wheel "bad/$name-$2.whl" demo/lib.so="$4" demo-1.0.dist-info/variant.json=variant.json
  run_json variant --check "bad/$name-$2.whl"
  [[ $(json '[f.id for f in items[0].findings]') == *$1* ]] || fail "$1: $(<out)"
  run_json check "bad/$name-$2.whl"
  [[ $(json '[f.id for f in items[0].findings]') == *$1* ]] || fail "check, $1: $(<out)"
}
mkdir bad
document() { echo "{\"\$schema\":\"https://variants-schema.wheelnext.dev/peps/825/v0.1.1.json\",\"default-priorities\":{\"namespace\":[\"nvidia\"]},\"variants\":{\"$1\":{\"nvidia\":{\"sm_arch\":[$2]}}}}"; }
wrong variant-property-false x "$(document x '"70_real"')" ampere.so
wrong variant-property-missing x "$(document x '"86_real"')" ampere.so
wrong variant-label-differs y "$(document x '"80_real"')" ampere.so
wrong variant-file-invalid x "$(document x '"86_real","80_real"')" ampere.so
make_wheel "bad/$name-z.whl" demo/lib.so=ampere.so
run variant --check "bad/$name-z.whl"
expect 1 $status
[[ $(<out) == *variant-file-missing* ]] || fail "$(<out)"

# --- back to a plain wheel
run variant --remove "pep825/$name-ampere.whl" --out plain
expect 0 $status "$(<err)"
expect "" "$(unzip -l "plain/$name.whl" | grep variant.json || true)"
