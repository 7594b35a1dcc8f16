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
namespace { __global__ void hidden(int* p) { *p = lib::twice(N); *(const void**)(p + 2) = &lib::seq; } }
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
# One less compiles no device code; nor do options of the host compiler alone, or a comment.
parts "${inc[@]}" "${one[@]}" -Xcompiler -fno-strict-aliasing -c k.cu -o k.o
expect "0 miss 7 2" "$status $got" "$(<"$t/err")"
sed -i '2s/$/ \/\/ a comment/' k.cu
parts "${inc[@]}" "${one[@]}" -c k.cu -o k.o
expect "0 miss 7 2" "$status $got" "$(<"$t/err")"
# A header that one pass reads.
echo '#define N 3' >only90.h
parts "${inc[@]}" "${two[@]}" -c k.cu -o k.o
expect "0 miss 10 2" "$status $got" "$(<"$t/err") $(ran)"
same "${inc[@]}" "${two[@]}"

# Dependencies, relocatable code, lines; options from files and variables.
echo "${two[*]}" >more
NVCC_APPEND_FLAGS='--optimize=1' parts "-Isp ace" -std=c++17 --options-file more -lineinfo -dc k.cu --output-file k.o -MD -MF k.d -MP -MT 'k.o'
expect "0 miss" "$status ${got%% *}" "$(<"$t/err")"
[[ $got != *none* ]] || fail "whole: $got"
nvcc "-Isp ace" -std=c++17 --optimize=1 --options-file more -lineinfo -dc k.cu -o plain.o -MD -MF plain.d -MP -MT 'k.o'
cmp plain.d k.d
expect "$(symbols plain.o)" "$(symbols k.o)" "relocatable"

# Without the cache; and what is not understood, runs as a whole.
cache=()
parts "${inc[@]}" "${two[@]}" --threads 2 -c k.cu -o k.o
expect "0 none 10 0" "$status $got" "$(<"$t/err")"
same "${inc[@]}" "${two[@]}"
parts "${inc[@]}" "${one[@]}" --keep --keep-dir tmp -c k.cu -o k.o
[[ $status == 1 && $got == *"keeps"* ]] || { mkdir tmp; parts "${inc[@]}" "${one[@]}" --keep --keep-dir tmp -c k.cu -o k.o; }
[[ $got == *keep* ]] || fail "--keep: $got"

# A failing part: nvcc's messages, its exit status, and no object.
failing() {
  rm -f k.o
  printf '%s\n' "$1" >bad.cu
  wanted=0
  nvcc "${@:2}" "${two[@]}" -c bad.cu -o k.o 2>plain || wanted=$?
  parts "${@:2}" "${two[@]}" -c bad.cu -o k.o
  expect "$wanted" "$status" "$1"
  cmp <(sed 's/tmpxft_[0-9a-f]*_/tmpxft_/; s/-[0-9]*_bad/-_bad/' plain) <(sed 's/tmpxft_[0-9a-f]*_/tmpxft_/; s/-[0-9]*_bad/-_bad/' "$t/err") || fail "another message: $(<plain) $(<"$t/err")"
  [[ ! -e k.o ]] || fail "a failed compile leaves an object"
}
failing '#include "nothing.h"'
failing '__global__ void k() { int x = ; }'
failing '__global__ void k(int* p) { asm("bad.op %0;" ::"l"(p)); }'
failing 'void f() { int unused; asm("xyzzy"); }' -Xcompiler -Wall

# Killed: no temporary folder, no half object.
cat >long.cu <<'CUDA'
template <int N> struct T { static __device__ int f(int x) { return T<N - 1>::f(x) * x + T<N - 1>::f(x + 1); } };
template <> struct T<0> { static __device__ int f(int x) { return x; } };
__global__ void k(int* p) { p[0] = T<17>::f(p[1]); }
CUDA
for signal in TERM KILL; do
  governed --gpu-parts on --quiet -- nvcc "${two[@]}" -c long.cu -o "$t/work/long.o" &
  run=$!
  for _ in {1..200}; do
    pgrep -f "cicc.*$t/tmp/wheelsmith-parts.*long" >/dev/null && break
    sleep 0.1
  done
  kill -"$signal" "$(pgrep -f "^nvcc .*-o $t/work/long.o" | head -n 1)" || fail "the compile is gone"
  wait "$run" || true
  for _ in {1..50}; do [[ -n $(ls "$TMPDIR") ]] || break; sleep 0.1; done
  [[ -z $(ls "$TMPDIR") && ! -e long.o ]] || fail "left behind after $signal: $(ls "$TMPDIR")"
done
