#!/bin/bash
# inspect lists the HIP code objects that clang put into a library, plain and compressed; clang-offload-bundler confirms
# it.
. "$(dirname "$0")/common.inc"
need clang++-19 clang-offload-bundler-19 llvm-objcopy-19 ld.lld-19
# The HIP declarations that clang requires, so that no SDK is needed.
cat >"$t/kernel.hip" <<'END'
#define __global__ __attribute__((global))
struct dim3 { unsigned x, y, z; };
typedef struct ihipStream_t* hipStream_t;
extern "C" int hipLaunchKernel(const void*, dim3, dim3, void**, __SIZE_TYPE__, hipStream_t);
extern "C" int __hipPopCallConfiguration(dim3*, dim3*, __SIZE_TYPE__*, hipStream_t*);
__global__ void NAME(float* x, float f) { *x *= f; }
END
compile() { clang++-19 -x hip -nogpuinc -nogpulib -fPIC -O1 "$@"; }
listing() { json '[f"{g.arch} {g.kind} {g.section} {g.count}" for g in items[0].gpu]' | sort; }
judge() { clang-offload-bundler-19 --type=o --list --input="$1" | sed -n 's/^hip.*--//p' | sort -u; }
ours() { json 'set(g.arch for g in items[0].gpu)'; }

archs=(--offload-arch=gfx90a:xnack- --offload-arch=gfx1151)
for mode in '' --offload-compress; do
  compile "${archs[@]}" $mode -DNAME=scale -c "$t/kernel.hip" -o "$t/kernel.o"
  clang++-19 -shared "$t/kernel.o" -o "$t/lib.so"
  llvm-objcopy-19 --dump-section ".hip_fatbin=$t/bundle" "$t/lib.so"

  run_json inspect "$t/lib.so"
  expect 'gfx1151 hip .hip_fatbin 1
gfx90a:xnack- hip .hip_fatbin 1' "$(listing)" "library $mode"
  expect "$(judge "$t/bundle")" "$(ours)" "against clang-offload-bundler $mode"

  # The bundle by itself.
  run_json inspect "$t/bundle"
  expect fatbin "$(json 'items[0].kind')"
  expect "$(judge "$t/bundle")" "$(ours)" "bundle $mode"

  # Unpacked sizes are those of the code objects.
  clang-offload-bundler-19 --type=o --unbundle --input="$t/bundle" --output="$t/code_object" \
    --targets=hipv4-amdgcn-amd-amdhsa--gfx1151
  expect "$(stat -c %s "$t/code_object")" "$(json '[g.unpacked_bytes for g in items[0].gpu if g.arch == "gfx1151"]')" "size $mode"

  # Two bundles in one library.
  compile "${archs[@]}" $mode -DNAME=other -c "$t/kernel.hip" -o "$t/other.o"
  clang++-19 -shared "$t/kernel.o" "$t/other.o" -o "$t/two.so"
  run_json inspect "$t/two.so"
  expect 'gfx1151 hip .hip_fatbin 2
gfx90a:xnack- hip .hip_fatbin 2' "$(listing)" "two bundles $mode"
done

wheel=$t/demo-1.0-py3-none-linux_x86_64.whl
make_wheel "$wheel" "demo/lib.so=$t/lib.so"
run_json check "$wheel" --arch gfx942,gfx1151
expect 1 $status
json '[f"{f.subject} {f.what}" for f in items[0].findings if f.severity == "error"]' | grep -F gfx942
