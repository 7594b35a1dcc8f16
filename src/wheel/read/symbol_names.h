#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "wheel/read/elf_facts.h"

namespace wheelsmith::wheel {

// The name that other files list in NEEDED: its soname, or its base name if it has none.
std::string_view library_name(const ElfFacts& file);

// An entry of ElfFacts::exported.
struct ExportedName {
  std::string_view name;
  std::string_view version;  // "" for none
};
ExportedName split_exported(std::string_view exported);

// Names made by the linker or missing by design: _ITM_*, __gmon_start__, _DYNAMIC, _end, …
bool is_linker_name(std::string_view name);
// Names that the Python interpreter provides to everything it loads: Py*, _Py*.
bool is_interpreter_name(std::string_view name);
// Libraries of glibc and GCC: all their exports are versioned, so an unversioned reference was not bound to them.
bool is_versioned_system_library(std::string_view name);
// Those of glibc alone: symbols move between them from release to release.
bool is_glibc_library(std::string_view name);

// C++ names that libstdc++ defines: in std, __gnu_cxx and __cxxabiv1, and operators new and delete.
bool is_libstdcxx_name(std::string_view name);

// The system library that defines a name, derived from the name: "libm.so.6" for pow, "libdl.so.2" for dlopen (where
// glibc had it until 2.33), "libstdc++.so.6" for std::. "" for other names, those of libc.so.6 included.
std::string_view system_home(std::string_view name);

// Programs, which no interpreter loads.
bool is_executable(const ElfFacts& file);

// The demangled name if it can be demangled, shortened if too long to read.
std::string readable(std::string_view symbol);

// "a, b, c and 17 more", of at most `shown` items.
std::string list_some(const std::vector<std::string>& items, std::size_t shown);
// "1 symbol", "12 symbols".

}  // namespace wheelsmith::wheel
