#include "wheel/check/symbols/symbol_index.h"

#include "wheel/read/symbol_names.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::size_t k_most_exports = 256;

}  // namespace

bool is_wanted(const UndefinedSymbol& symbol) {
  return !symbol.weak && !symbol.name.empty() && !is_linker_name(symbol.name);
}

bool has_symbols_to_bind(const ElfFacts& file) {
  return file.is_dynamic && !file.machine.starts_with("machine ") && file.machine != "amdgpu" && file.machine != "cuda";
}

SymbolIndex::SymbolIndex(const Libraries& libraries) {
  for (Libraries::Id id = 0; id < libraries.own_count(); ++id) {
    const ElfFacts& file = libraries.file(id);
    if (!has_symbols_to_bind(file)) continue;
    for (const UndefinedSymbol& symbol : file.undefined) {
      if (is_wanted(symbol)) m_exports.try_emplace(symbol.name);
    }
  }
  for (Libraries::Id id = 0; id < libraries.size(); ++id) {
    const ElfFacts& file = libraries.file(id);
    if (!has_symbols_to_bind(file)) continue;
    for (const std::string& exported : file.exported) {
      const ExportedName name = split_exported(exported);
      const auto wanted = m_exports.find(name.name);
      if (wanted == m_exports.end() || wanted->second.size() == k_most_exports) continue;
      wanted->second.push_back({id, name.version});
    }
  }
}

std::span<const SymbolIndex::Export> SymbolIndex::find(std::string_view name) const {
  const auto found = m_exports.find(name);
  if (found == m_exports.end()) return {};
  return found->second;
}

bool SymbolIndex::is_crowded(std::span<const Export> exports) { return exports.size() == k_most_exports; }

}  // namespace wheelsmith::wheel
