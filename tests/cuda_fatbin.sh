#!/bin/bash
# inspect lists the device code that nvcc put into a library: architectures and kinds, with every compression, as
# relocatable code, and in standalone fat binaries.
. "$(dirname "$0")/common.inc"
need nvcc
cat >"$t/kernel.cu" <<'END'
__global__ void scale(float* x, float f) { for (int i = 0; i < 64; ++i) x[threadIdx.x + i] *= f + i; }
void launch(float* x) { scale<<<1, 32>>>(x, 2.0f); }
END
compile() { nvcc -Xcompiler -fPIC -cudart none "$@" >"$t/nvcc.log" 2>&1 || { cat "$t/nvcc.log"; fail "nvcc $*"; }; }
listing() { json '[f"{g.arch} {g.kind} {g.section} {g.count}" for g in items[0].gpu]' | sort; }

# Architectures of this toolkit; the a and f variants came later than the plain ones.
known=$(nvcc --list-gpu-code)
two=(-gencode arch=compute_80,code=sm_80 -gencode 'arch=compute_90,code=[sm_90,compute_90]')
wanted='compute_90 ptx .nv_fatbin 1
sm_80 sass .nv_fatbin 1
sm_90 sass .nv_fatbin 1'

modes=('')
if [[ $(nvcc --help) == *--compress-mode* ]]; then
  for mode in default size speed balance none; do modes+=("--compress-mode=$mode"); done
fi
for mode in "${modes[@]}"; do
  compile -shared "${two[@]}" ${mode:+"$mode"} "$t/kernel.cu" -o "$t/lib.so"
  run_json inspect "$t/lib.so"
  expect "$wanted" "$(listing)" "plain library ${mode}"
  expect 0 "$(json 'len([g for g in items[0].gpu if not 0 < g.bytes or not g.unpacked_bytes])')"
done
size=$(readelf -SW "$t/lib.so" | awk '$2 == ".nv_fatbin" || $3 == ".nv_fatbin" { for (i = 1; i < NF; ++i) if ($i == "PROGBITS") print $(i + 3) }')
[[ $(json 'sum(g.bytes for g in items[0].gpu)') -le $((16#$size)) ]] || fail "more bytes than the section has"

# Inside a wheel, and with check.
wheel=$t/demo-1.0-py3-none-linux_x86_64.whl
make_wheel "$wheel" "demo/lib.so=$t/lib.so"
run_json inspect "$wheel"
expect "$wanted" "$(listing)" "in a wheel"
run_json check "$wheel" --arch '8.0;9.0+PTX'
expect 0 "$(json 'len([f for f in items[0].findings if f.severity == "error" and "arch" in f.id])')" "$(<"$t/out")"
# Older than all compiled ones: missing. Newer than the PTX: runs, by JIT only.
arch_findings() { json "[f'{f.subject} {f.what}' for f in items[0].findings if f.id.startswith('arch') and f.severity $1 'error']"; }
run_json check "$wheel" --arch '7.5;8.0'
expect 1 $status
arch_findings == | grep -F sm_75
run_json check "$wheel" --arch '8.0;10.0'
arch_findings != | grep -F sm_100

# Relocatable code.
compile -rdc=true -shared "${two[@]}" "$t/kernel.cu" -o "$t/rdc.so"
run_json inspect "$t/rdc.so"
listing | grep -x 'sm_80 sass __nv_relfatbin 1'
listing | grep -x 'sm_90 sass __nv_relfatbin 1'
listing | grep -x 'compute_90 ptx __nv_relfatbin 1'

# LTO IR; a and f variants.
compile -rdc=true -shared -gencode arch=compute_90,code=lto_90 "$t/kernel.cu" -o "$t/lto.so"
run_json inspect "$t/lto.so"
listing | grep -E '90 ltoir __nv_relfatbin 1'
for suffixed in sm_90a sm_100a sm_100f; do
  grep -qx "$suffixed" <<<"$known" || [[ $suffixed != sm_90a ]] || continue
  nvcc -shared -Xcompiler -fPIC -cudart none -gencode "arch=compute_${suffixed#sm_},code=$suffixed" "$t/kernel.cu" -o "$t/lib.so" 2>/dev/null || continue
  run_json inspect "$t/lib.so"
  expect "$suffixed sass .nv_fatbin 1" "$(listing)"
done

# Standalone device code files.
compile -fatbin "${two[@]}" "$t/kernel.cu" -o "$t/kernel.fatbin"
run_json inspect "$t/kernel.fatbin"
expect fatbin "$(json 'items[0].kind')"
expect 'compute_90 ptx sm_80 sass sm_90 sass' "$(json 'set(f"{g.arch} {g.kind}" for g in items[0].gpu)' | xargs)"

# NVIDIA's own listing, if available.
command -v cuobjdump >/dev/null || exit 0
compile -shared "${two[@]}" "$t/kernel.cu" -o "$t/lib.so"
run_json inspect "$t/lib.so"
expect "$(cuobjdump --list-elf "$t/lib.so" | grep -oE 'sm_[0-9]+[af]?' | sort -u)" "$(json 'set(g.arch for g in items[0].gpu if g.kind == "sass")')"
