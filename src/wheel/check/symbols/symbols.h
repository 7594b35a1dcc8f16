#pragma once

#include <string>
#include <vector>

#include "base/finding.h"
#include "wheel/read/file_roles.h"
#include "wheel/read/provider.h"

namespace wheelsmith::wheel {

// What surrounds the files that are checked.
struct SymbolScope {
  const std::vector<Provider>& against;  // what the user gives
  const std::vector<Provider>& around;   // machine_libraries(), for an installed folder
  const FileRoles& roles;
};

// Undefined symbols that nothing provides, strict and loose apart; versions that a given library lacks.
std::vector<Finding> check_symbols(const std::vector<ElfFacts>& own, const SymbolScope& scope);
std::vector<Finding> check_symbols(const std::vector<ElfFacts>& own, const std::vector<Provider>& against);

// Files that libstdc++ was linked into and that use C++ symbols of a library with the shared libstdc++.
std::vector<Finding> check_second_libstdcxx(const std::vector<ElfFacts>& own, const SymbolScope& scope);

// `--require-symbol`: each wanted text must be found in some exported or (demangled) name of the files.
std::vector<Finding> check_required_symbols(const std::vector<ElfFacts>& own, const std::vector<std::string>& wanted);

}  // namespace wheelsmith::wheel
