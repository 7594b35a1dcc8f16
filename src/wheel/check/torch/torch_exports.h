#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "wheel/read/provider.h"

namespace wheelsmith::wheel {

// Finds exports of torch similar to a name it does not export. Only names with the same leading identifiers are
// demangled: a dozen of torch's 100,000.
class TorchExports {
 public:
  // Indexes only the neighbours of these names.
  TorchExports(const std::vector<const Provider*>& torches, const std::vector<std::string_view>& missing);

  // The same function compiled with the other C++11 ABI flag: its mangled name.
  [[nodiscard]] std::optional<std::string_view> with_other_abi(std::string_view missing);
  // The same qualified name with other parameters: the most similar signature, demangled.
  [[nodiscard]] std::optional<std::string> with_other_parameters(std::string_view missing);

 private:
  struct Candidate {
    std::string_view symbol;
    std::string demangled;  // "" until requested
    std::string key;        // without_abi(demangled)
  };
  std::vector<Candidate>& candidates(std::string_view missing);

  struct Group {
    std::vector<Candidate> candidates;
    bool demangled = false;
  };
  std::unordered_map<std::string, Group> m_groups;  // by torch_path
};

}  // namespace wheelsmith::wheel
