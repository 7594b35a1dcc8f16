#pragma once

#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wheel/read/libraries.h"

namespace wheelsmith::wheel {

// Whether another file must define it: not weak, and not a name made by the linker.
bool is_wanted(const UndefinedSymbol& symbol);
// Whether the host's loader opens it and binds its symbols: not a static program, not GPU code.
bool has_symbols_to_bind(const ElfFacts& file);

// Which files export the symbols that a wheel references. Only referenced names are kept: torch's files export 100,000
// names and Triton's a million, of which an extension uses a few hundred.
class SymbolIndex {
 public:
  struct Export {
    Libraries::Id file = 0;
    std::string_view version;
  };

  explicit SymbolIndex(const Libraries& libraries);

  [[nodiscard]] std::span<const Export> find(std::string_view name) const;
  // Too many files export it to keep all; the name counts as provided.
  [[nodiscard]] static bool is_crowded(std::span<const Export> exports);

 private:
  std::unordered_map<std::string_view, std::vector<Export>> m_exports;
};

}  // namespace wheelsmith::wheel
