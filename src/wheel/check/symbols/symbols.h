#pragma once

#include <string>
#include <vector>

#include "base/finding.h"
#include "wheel/read/file_roles.h"
#include "wheel/read/provider.h"

namespace wheelsmith::wheel {

// The context of the checked files.
struct SymbolScope {
  const std::vector<Provider>& against;  // given by the user
  const std::vector<Provider>& around;   // machine_libraries(), for an installed folder
  const FileRoles& roles;
};

// Undefined symbols that no file defines, strict and loose; versions that a given library lacks.
std::vector<Finding> check_symbols(const std::vector<ElfFacts>& own, const SymbolScope& scope);
std::vector<Finding> check_symbols(const std::vector<ElfFacts>& own, const std::vector<Provider>& against);

// Files with a static libstdc++ that use C++ symbols of a library with the shared one.
std::vector<Finding> check_second_libstdcxx(const std::vector<ElfFacts>& own, const SymbolScope& scope);

// `--require-symbol`: each text must match an exported (mangled or demangled) name of the files.
std::vector<Finding> check_required_symbols(const std::vector<ElfFacts>& own, const std::vector<std::string>& wanted);

}  // namespace wheelsmith::wheel
