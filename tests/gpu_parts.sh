#!/bin/bash
# nvcc in parts: the object is nvcc's own (entries, SASS, symbols, dependency file, messages, exit status); an
# architecture more compiles only that one; nothing is left behind, also after a kill.
source "$(dirname "$0")/common.inc"
need nvcc nm pgrep
source "$tests/governor.inc"
rm -rf "${t:?}/real"
export PATH=${PATH#"$t/real:"} TMPDIR=$t/tmp
for name in $(compgen -e CCACHE_ || true); do unset "$name"; done
unset NVCC_APPEND_FLAGS NVCC_PREPEND_FLAGS CPATH
mkdir -p "$t/tmp" "$t/work/sp ace"
cd "$t/work"
# As CCCL does it: a namespace that contains the list of architectures, and a variable in it that reaches the device.
cat >k.cu <<'CUDA'
#include "s p.h"
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define FIRST_(a, ...) a
#define FIRST(...) FIRST_(__VA_ARGS__)
#define SECOND_(a, b, ...) b
#define SECOND(...) SECOND_(__VA_ARGS__, , )
#ifndef LIST
#define LIST THRUST_300001_SM_800_NS
#endif
#if __CUDA_ARCH__ >= 900
#include "only90.h"
#else
#define N 1
#endif
namespace lib { inline namespace LIST { struct Seq {}; __device__ static const Seq seq{}; template <class T> __device__ T twice(T x) { return x + x; } } }
namespace { __global__ void hidden(int* p) { *p = lib::twice(N); } }
static __device__ int counter;
template <int M> __global__ void k(int* p) { *p = N + M + __LINE__; counter++; }
void run(int* p) { hidden<<<1, 1>>>(p); k<3><<<1, 1>>>(p); }
CUDA
echo '#define S 1' >"sp ace/s p.h"
echo '#define N 2' >only90.h
one=(-gencode arch=compute_80,code=sm_80 -DLIST=THRUST_300001_SM_800_NS)
two=(-gencode arch=compute_80,code=sm_80 -gencode "arch=compute_90,code=[sm_90,compute_90]" -DLIST=THRUST_300001_SM_800_900_NS)

# parts ARGUMENT…: nvcc in parts; $got is "hit|miss|pass|none PARTS HITS", or why it was whole.
cache=(--cache on)
parts() {
  governed --gpu-parts on "${cache[@]}" --quiet -- nvcc "$@"
  got=$(record '" ".join(str(c.get(k, "none")) for c in compiles for k in (("cache", "parts", "part_hits") if "parts" in c else ("parts_why",)))')
  [[ -z $(ls "$TMPDIR") ]] || fail "left behind: $(ls "$TMPDIR")"
}
ran() { python3 -c 'import json, sys; print(" ".join(sorted(l["part"] for l in map(json.loads, open(sys.argv[1])) if l["event"] == "part")))' "$t/record"; }
# The names that nvcc makes up each time are left out.
symbols() { nm "$1" | sed 's/^[0-9a-f]* *//; s/tmpxft_[0-9a-f]*_[0-9a-f]*-[0-9]*_//'; }
# code FILE: each entry with the digest of its code.
cuobjdump=$(command -v cuobjdump || true)
code() {
  rm -rf "$t/elf" && mkdir "$t/elf"
  objcopy -O binary --only-section=.nv_fatbin "$1" "$t/elf/fatbin" && sha256sum <"$t/elf/fatbin"
  [[ -z $cuobjdump ]] || (cd "$t/elf" && "$cuobjdump" -xelf all -xptx all "$1" >/dev/null && sha256sum ./*.cubin ./*.ptx | sed 's/tmpxft[^ ]*-[0-9]*_//')
}
# same ARGUMENT…: compiles k.cu with nvcc itself and compares.
same() {
  nvcc "$@" -c k.cu -o plain.o
  expect "$(symbols plain.o)" "$(symbols k.o)" "symbols: $*"
  expect "$(code "$PWD/plain.o")" "$(code "$PWD/k.o")" "device code: $*"
}
inc=("-Isp ace" -std=c++17 -O2)

parts "${inc[@]}" "${one[@]}" -c k.cu -o k.o
expect "0 miss 7 0" "$status $got" "$(<"$t/err")"
same "${inc[@]}" "${one[@]}"
parts "${inc[@]}" "${one[@]}" -c k.cu -o k.o
expect "0 none" "$status $got" "the whole unit again"
expect "['hit']" "$(record '[c["cache"] for c in compiles]')"
parts "${inc[@]}" "${two[@]}" -c k.cu -o k.o
expect "0 miss 10" "$status ${got% *}" "$(<"$t/err")"
[[ $(ran) != *"cicc compute_80"* && $(ran) == *"cicc compute_90 "* ]] || fail "one architecture more: $(ran)"
same "${inc[@]}" "${two[@]}"
