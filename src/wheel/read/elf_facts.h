#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/finding.h"
#include "elf/elf_file.h"
#include "gpu/code/device_code.h"

namespace wheelsmith::wheel {

struct UndefinedSymbol {
  std::string name;
  std::string version;  // "GLIBC_2.17", "" for none
  std::string file;     // the library that the version belongs to, "" for none
  bool weak = false;
};

// Whether a file contains a static libstdc++, and whether it exports its symbols.
enum class OwnRuntime { none, hidden, visible };

enum class Cxx11Abi { unused, old_abi, new_abi, both };

// Facts about one ELF file, copied because its bytes are not kept.
struct ElfFacts {
  std::string path;  // inside the wheel or folder
  std::uint64_t size = 0;
  std::string machine;  // "x86_64"
  bool is_64bit = true;
  std::uint16_t type = 0;
  std::string soname;
  std::vector<std::string> needed;
  std::vector<std::string> rpath;  // split at ':', empty elements kept
  std::vector<std::string> runpath;
  std::map<std::string, std::vector<std::string>> versions_needed;  // library -> versions, sorted
  std::vector<std::string> versions_provided;
  bool is_dynamic = false;  // has a dynamic segment
  bool python_extension = false;
  std::string build_id;
  bool stripped = true;
  bool debug_info = false;
  Cxx11Abi cxx11_abi = Cxx11Abi::unused;
  OwnRuntime own_libstdcxx = OwnRuntime::none;  // set only for files that use C++ names of other libraries
  std::string interpreter;
  std::uint32_t x86_isa_needed = 0;
  std::vector<UndefinedSymbol> undefined;
  std::vector<std::string> exported;  // names, or name@VERSION where it has one; collected only on request
  gpu::DeviceCode device_code;
  std::vector<std::string> problems;  // parts that could not be read, as sentences
  std::vector<Finding> layout;        // collected only on request
};

}  // namespace wheelsmith::wheel
