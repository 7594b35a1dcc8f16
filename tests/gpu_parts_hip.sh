#!/bin/bash
# HIP in parts by clang: the object is clang's own but for the compile's ID; one GPU more compiles only the code for that
# one; headers that only one GPU's code reads count; hipcc's wrapper is understood.
source "$(dirname "$0")/common.inc"
need clang++-19 clang-offload-bundler-19 ld.lld-19 nm objcopy
source "$tests/governor.inc"
rm -rf "${t:?}/real"
export PATH=${PATH#"$t/real:"} TMPDIR=$t/tmp
mkdir -p "$t/tmp" "$t/work/inc" "$t/bin"
cd "$t/work"
printf '#!/bin/sh\nexec clang++-19 -x hip "$@"\n' >"$t/bin/hipcc"
chmod +x "$t/bin/hipcc"
export PATH=$t/bin:$PATH
cat >k.hip <<'HIP'
#include "all.h"
#if defined(__gfx90a__)
#include "only90a.h"
#else
#define N 1
#endif
#define __global__ __attribute__((global))
struct dim3 { unsigned x, y, z; };
typedef struct ihipStream_t* hipStream_t;
extern "C" int hipLaunchKernel(const void*, dim3, dim3, void**, __SIZE_TYPE__, hipStream_t);
extern "C" int __hipPopCallConfiguration(dim3*, dim3*, __SIZE_TYPE__*, hipStream_t*);
extern "C" int __hipPushCallConfiguration(dim3, dim3, __SIZE_TYPE__ = 0, hipStream_t = 0);
static __attribute__((device)) int counter;
__global__ void k(int* p) { *p = N + ALL; counter++; }
void run(int* p) { k<<<dim3{1, 1, 1}, dim3{1, 1, 1}>>>(p); }
HIP
echo '#define ALL 1' >inc/all.h
echo '#define N 2' >inc/only90a.h
flags=(-nogpuinc -nogpulib -O2 -fPIC -Iinc)
one=(--offload-arch=gfx1151)
two=(--offload-arch=gfx90a:xnack- --offload-arch=gfx1151)
cache=(--cache on)
parts() {
  governed --gpu-parts on "${cache[@]}" --quiet -- "$@"
  got=$(record '" ".join(str(c.get(k, "none")) for c in compiles for k in (("cache", "parts", "part_hits") if "parts" in c else ("cache", "parts_why")))')
  [[ -z $(ls "$TMPDIR") ]] || fail "left behind: $(ls "$TMPDIR")"
}
# clang writes the ID without leading zeros.
ids() { sed -E 's/(__hip_cuid_|static\.|intern\.|cuid_)[0-9a-f]{1,16}\b/\1ID/g'; }
# same COMMAND…: k.o and what the compiler itself makes, but for the ID.
same() {
  "$@" -o plain.o
  expect "$(nm plain.o | ids)" "$(nm k.o | ids)" "symbols: $*"
}
compile=(clang++-19 -x hip "${flags[@]}")
parts "${compile[@]}" "${one[@]}" -c k.hip -o k.o
expect "0 miss 3 0" "$status $got" "$(<"$t/err")"
same "${compile[@]}" "${one[@]}" -c k.hip
parts "${compile[@]}" "${two[@]}" -c k.hip -o k.o
expect "0 miss 4 1" "$status $got" "$(<"$t/err")"
same "${compile[@]}" "${two[@]}" -c k.hip
# The same command with the same ID, part by part and whole: the same bytes.
parts "${compile[@]}" "${two[@]}" -cuid=0123456789abcdef -c k.hip -o k.o
"${compile[@]}" "${two[@]}" -cuid=0123456789abcdef -c k.hip -o plain.o
cmp plain.o k.o || fail "other bytes than clang's"
# A header of one GPU: its code is compiled again, and the whole unit is not taken for unchanged.
echo '#define N 3' >inc/only90a.h
parts "${compile[@]}" "${two[@]}" -c k.hip -o k.o
expect "0 miss 4 1" "$status $got" "a header of one GPU"
parts "${compile[@]}" "${two[@]}" -c k.hip -o k.o
expect "0 hit none" "$status $got"
echo '#define N 4' >inc/only90a.h
parts "${compile[@]}" "${two[@]}" -c k.hip -o k.o
expect "0 miss 4 1" "$status $got" "a header of one GPU, behind a hit of the other"
# hipcc, dependencies, no cache.
cache=()
parts hipcc "${flags[@]}" "${two[@]}" -MD -MF k.d -c k.hip -o k.o
expect "0 none 4 0" "$status $got" "$(<"$t/err")"
hipcc "${flags[@]}" "${two[@]}" -MD -MF plain.d -c k.hip -o k.o
cmp plain.d k.d
parts "${compile[@]}" "${two[@]}" -fgpu-rdc -c k.hip -o k.o
[[ $status == 0 && $got == *"none"* && $got != *" 4 "* ]] || fail "relocatable: $got"
# An error: clang's messages and status.
echo 'int f( {' >bad.hip
for each in bad.hip nothing.hip; do
  wanted=0
  "${compile[@]}" "${two[@]}" -c "$each" -o bad.o 2>plain || wanted=$?
  parts "${compile[@]}" "${two[@]}" -c "$each" -o bad.o
  expect "$wanted" "$status"
  cmp plain "$t/err" || fail "another message: $(<"$t/err")"
  [[ ! -e bad.o ]] || fail "a failed compile leaves an object"
done
