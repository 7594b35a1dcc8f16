#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wheel/read/provider.h"

namespace wheelsmith::wheel {

// Whether a symbol belongs to torch: C++ names in c10, at, torch or caffe2 (their vtables, type infos and guards too),
// and the C names THP*, aoti_torch_*, torch_*.
bool is_torch_name(std::string_view symbol);
// The C functions that torch keeps stable across versions: aoti_torch_*, torch_*.
bool is_torch_shim(std::string_view symbol);

// libc10*.so, libtorch*.so, libshm*.so, libcaffe2*.so.
bool is_torch_library(std::string_view path);
// Whether these files are torch itself, not an extension with a similar name (libtorchaudio.so).
bool is_torch(const std::vector<ElfFacts>& files);

// "2.13.0+cpu" out of "…/torch-2.13.0+cpu-cp311-cp311-linux_x86_64.whl"; "" for anything else.
std::string torch_version(std::string_view provider);

// The C++11 ABI flag the symbol was compiled with, if its name shows it.
Cxx11Abi abi_of(std::string_view symbol);

// The leading identifiers of a mangled torch name with its symbol kind: "3c106detail14torchCheckFail" for a function,
// "TV2at6Tensor" for a vtable. Names that differ only in parameters, or in the C++11 ABI, have the same path.
std::string torch_path(std::string_view symbol);

// The demangled name without the parts that depend on the C++11 ABI flag: the same text for both builds of a function.
std::string without_abi(std::string demangled);

// "c10::detail::torchCheckFail" of "c10::detail::torchCheckFail(char const*, …)".
std::string_view qualified_name(std::string_view demangled);

}  // namespace wheelsmith::wheel
