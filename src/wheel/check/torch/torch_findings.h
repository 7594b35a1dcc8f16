#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/finding.h"
#include "wheel/read/provider.h"

namespace wheelsmith::wheel {

// An accelerator that torch is built for, recognised by its libraries and their namespaces.
struct Accelerator {
  std::string_view name;
  std::array<std::string_view, 2> libraries;
  std::array<std::string_view, 2> namespaces;  // as prefixes of torch_path
};

// The torch among the providers.
struct TorchGiven {
  std::vector<const Provider*> providers;  // none: no torch was given
  std::string name;                        // "torch 2.13.0+cpu"
  std::vector<const Accelerator*> accelerators;
};

TorchGiven find_torch(const std::vector<Provider>& against);

// The accelerator that the file needs (by NEEDED, or by names that are missing) and this torch is not built for, or
// null.
const Accelerator* foreign_accelerator(const ElfFacts& file, const std::vector<std::string_view>& missing,
                                       const TorchGiven& torch);
bool is_in_namespace_of(const Accelerator& accelerator, std::string_view symbol);

// The mismatches that one file's missing names show.
struct TorchMismatch {
  const ElfFacts* file = nullptr;
  const Accelerator* accelerator = nullptr;
  std::vector<std::string_view> accelerator_names = {};
  std::vector<std::pair<std::string_view, std::string_view>> abi = {};  // missing, and torch's counterpart
  std::vector<std::pair<std::string_view, std::string>> signatures =
      {};  // missing, and torch's counterpart (demangled)
  std::vector<std::string_view> absent = {};
};

void append_mismatch(const TorchMismatch& mismatch, const TorchGiven& torch, std::vector<Finding>& findings);

}  // namespace wheelsmith::wheel
