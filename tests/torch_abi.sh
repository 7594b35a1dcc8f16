#!/bin/bash
# Extensions against a stand-in torch: built with the same flag, the other C++11 ABI, another torch's headers, for an
# accelerator. How they were compiled is known; the system's loader confirms which ones load.
. "$(dirname "$0")/common.inc"
need g++

# The relevant parts of a torch: std::string as parameter, as result, in an overload, and in a class with a vtable.
cat >"$t/torch.h" <<'END'
#include <string>
namespace c10 {
struct Device { explicit Device(const std::string& name); int index; };
std::string describe(const Device& device);
void check_fail(const char* file, unsigned line, const std::string& text);
}
namespace at {
struct Tensor { void* impl; };
#ifdef OTHER_TORCH
Tensor empty(long size, bool pinned, int layout);
Tensor zeros_like_old(const Tensor& like);
#else
Tensor empty(long size, bool pinned);
#endif
Tensor empty(long size, const std::string& name);
}
namespace torch { struct Library { virtual ~Library(); virtual Library& def(std::string name, int kind); }; }
namespace c10::cuda { int current_device(); }
namespace at::cuda { void* getCurrentCUDABlasHandle(); }
END
cat >"$t/c10.cc" <<'END'
#include "torch.h"
c10::Device::Device(const std::string& name) : index(static_cast<int>(name.size())) {}
std::string c10::describe(const Device& device) { return std::to_string(device.index); }
void c10::check_fail(const char*, unsigned, const std::string&) {}
END
cat >"$t/torch_cpu.cc" <<'END'
#include "torch.h"
at::Tensor at::empty(long, bool) { return {nullptr}; }
at::Tensor at::empty(long, const std::string&) { return {nullptr}; }
torch::Library::~Library() = default;
torch::Library& torch::Library::def(std::string, int) { return *this; }
END
cat >"$t/c10_cuda.cc" <<'END'
#include "torch.h"
int c10::cuda::current_device() { return 0; }
void* at::cuda::getCurrentCUDABlasHandle() { return nullptr; }
END
library() { g++ -shared -fPIC -O1 "$t/$1.cc" -o "$t/lib$1.so" -Wl,-soname,"lib$1.so" "${@:2}"; }
library c10
library torch_cpu "-L$t" -lc10
library c10_cuda
torch=$t/torch-9.9.9-cp311-cp311-linux_x86_64.whl
make_wheel "$torch" "torch/lib/libc10.so=$t/libc10.so" "torch/lib/libtorch_cpu.so=$t/libtorch_cpu.so"
mkdir "$t/installed"
unzip -q "$torch" -d "$t/installed"

# extension NAME 'CODE' FLAG…: a wheel NAME-1.0 with one library, linked to the torch it was built with.
extension() {
  printf '#include "torch.h"\nextern "C" void* PyInit__%s() { %s return nullptr; }\n' "$1" "$2" >"$t/$1.cc"
  g++ -shared -fPIC -O1 "$t/$1.cc" -o "$t/$1.so" "-L$t" -lc10 -ltorch_cpu "${@:3}"
  make_wheel "$t/$1-1.0-cp311-cp311-linux_x86_64.whl" "$1/_$1.cpython-311-x86_64-linux-gnu.so=$t/$1.so"
}
uses='c10::Device device("cpu"); at::empty(static_cast<long>(c10::describe(device).size()), "x");'
uses+='at::empty(1, false); static torch::Library library; library.def("f", 1); c10::check_fail("", 1, "");'
extension same "$uses" -D_GLIBCXX_USE_CXX11_ABI=1
extension old_flag "$uses" -D_GLIBCXX_USE_CXX11_ABI=0
extension no_strings 'at::empty(1, true);' -D_GLIBCXX_USE_CXX11_ABI=0
extension other_torch 'at::empty(1, true, 2);' -DOTHER_TORCH
extension gone 'at::zeros_like_old(at::empty(1, std::string()));' -DOTHER_TORCH
extension cuda 'c10::cuda::current_device();' -lc10_cuda
extension cuda_names 'at::cuda::getCurrentCUDABlasHandle();'

# name, verdict, finding, and a symbol that it names
table='
same good torch-abi-fits -
old_flag bad torch-cxx11-abi _ZN3c1010check_failEPKcjRKSs
no_strings good torch-abi-fits -
other_torch bad torch-version at::empty(long, bool, int)
gone bad torch-version at::zeros_like_old(at::Tensor const&)
cuda bad torch-accelerator libc10_cuda.so
cuda_names bad torch-accelerator at::cuda::getCurrentCUDABlasHandle()
'
errors() { json '[f"{f.id} {f.what}" for f in items[0].findings if f.id.startswith("torch-") and f.severity == "error"]'; }
while read -r name verdict id word; do
  [[ -n $name ]] || continue
  # As the loader sees it: the wheel's library with the libraries of this torch and no others.
  loads=good
  LD_LIBRARY_PATH=$t/installed/torch/lib ldd -r "$t/$name.so" >"$t/ldd" 2>&1 || true
  ! grep -qE 'not found|undefined symbol' "$t/ldd" || loads=bad
  expect "$verdict" $loads "$name: the loader"

  for against in "$torch" "$t/installed"; do
    run_json check "$t/$name-1.0-cp311-cp311-linux_x86_64.whl" --against "$against"
    expect "$verdict" "$(json 'items[0].verdict')" "$name against $against: $(<"$t/out")"
    if [[ $verdict == good ]]; then
      expect "$id" "$(json '[f.id for f in items[0].findings if f.id.startswith("torch-")]')" "$name"
    else
      expect "$id" "$(errors | cut -d' ' -f1)" "$name: just that"
      [[ $(errors) == *"$word"* ]] || fail "$name: $word is not named: $(errors)"
    fi
  done
done <<<"$table"

# The finding counts every torch symbol that the loader misses in the old one.
LD_LIBRARY_PATH=$t/installed/torch/lib ldd -r "$t/old_flag.so" 2>&1 | grep -c 'undefined symbol: _ZN.*\(c10\|at\|torch\)' >"$t/count"
run_json check "$t/old_flag-1.0-cp311-cp311-linux_x86_64.whl" --against "$torch"
errors | grep -F "(and $(($(<"$t/count") - 1)) more such symbol"
