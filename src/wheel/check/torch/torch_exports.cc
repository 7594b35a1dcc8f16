#include "wheel/check/torch/torch_exports.h"

#include <algorithm>

#include "base/text.h"
#include "wheel/check/torch/torch_names.h"
#include "wheel/read/symbol_names.h"

namespace wheelsmith::wheel {

namespace {

// at::Tensor has about 200 members; a hostile file may have a million names of one path.
constexpr std::size_t k_most_candidates = 2000;

std::size_t common_prefix(std::string_view a, std::string_view b) {
  const auto end = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  return static_cast<std::size_t>(end.first - a.begin());
}

}  // namespace

TorchExports::TorchExports(const std::vector<const Provider*>& torches, const std::vector<std::string_view>& missing) {
  for (const std::string_view name : missing) {
    if (std::string path = torch_path(name); !path.empty()) m_groups.try_emplace(std::move(path));
  }
  if (m_groups.empty()) return;
  for (const Provider* torch : torches) {
    for (const ElfFacts& file : torch->files) {
      if (!is_torch_library(file.path)) continue;
      for (const std::string& exported : file.exported) {
        const std::string_view name = split_exported(exported).name;
        const auto group = m_groups.find(torch_path(name));
        if (group == m_groups.end() || group->second.candidates.size() == k_most_candidates) continue;
        group->second.candidates.push_back({name, "", ""});
      }
    }
  }
}

std::vector<TorchExports::Candidate>& TorchExports::candidates(std::string_view missing) {
  Group& group = m_groups[torch_path(missing)];
  if (group.demangled) return group.candidates;
  group.demangled = true;
  for (Candidate& candidate : group.candidates) {
    candidate.demangled = demangle(candidate.symbol).value_or("");
    candidate.key = without_abi(candidate.demangled);
  }
  return group.candidates;
}

std::optional<std::string_view> TorchExports::with_other_abi(std::string_view missing) {
  const std::optional<std::string> demangled = demangle(missing);
  if (!demangled) return std::nullopt;
  const std::string key = without_abi(*demangled);
  for (const Candidate& candidate : candidates(missing)) {
    // Constructors of one class demangle alike too (C1, C2), so the flag itself must differ.
    if (candidate.key == key && abi_of(candidate.symbol) != abi_of(missing)) return candidate.symbol;
  }
  return std::nullopt;
}

std::optional<std::string> TorchExports::with_other_parameters(std::string_view missing) {
  const std::optional<std::string> demangled = demangle(missing);
  if (!demangled) return std::nullopt;
  const std::string key = without_abi(*demangled);
  const Candidate* best = nullptr;
  for (const Candidate& candidate : candidates(missing)) {
    if (candidate.key.empty() || candidate.key == key) continue;
    if (qualified_name(candidate.key) != qualified_name(key)) continue;
    if (best == nullptr || common_prefix(best->key, key) < common_prefix(candidate.key, key)) best = &candidate;
  }
  if (best == nullptr) return std::nullopt;
  return readable(best->symbol);
}

}  // namespace wheelsmith::wheel
