// Whether an extension matches a torch. Torch has no stable C++ ABI: an extension is tied to the flag
// _GLIBCXX_USE_CXX11_ABI, the release and the accelerator of the torch that it was compiled against, and a mismatch
// shows as one line at import, "undefined symbol: _ZN3c106detail14torchCheckFailEPKcS2_jRKSs".
//
// With N the torch names that an extension references, and T those that torch's libraries export, each name of N \ T
// shows:
//
//   T has it under the other C++11 ABI          built with the other flag           torch-cxx11-abi
//   T has the qualified name, other parameters  built for another release           torch-version
//   its namespace is c10::cuda and T has none   built for another accelerator       torch-accelerator
//   nothing like it is there                    a much older or newer release       torch-version
//
// An empty N \ T only proves that the two link: inline functions and struct layouts are compiled in. Names of the C
// shim (aoti_torch_*, torch_*) are stable across releases; an extension that uses only those is not tied.

#include "wheel/check/torch/torch_abi.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/text.h"
#include "wheel/check/symbols/symbol_index.h"
#include "wheel/check/torch/torch_exports.h"
#include "wheel/check/torch/torch_findings.h"
#include "wheel/check/torch/torch_names.h"
#include "wheel/read/symbol_names.h"

namespace wheelsmith::wheel {

namespace {

// The torch symbols that a file of the wheel references.
struct TorchUse {
  const ElfFacts* file = nullptr;
  std::vector<std::string_view> names;
  std::vector<std::string_view> missing;  // no file exports them
  bool only_shims = true;
};

std::vector<TorchUse> find_uses(const Libraries& libraries, const SymbolIndex& index) {
  std::vector<TorchUse> uses;
  for (Libraries::Id id = 0; id < libraries.own_count(); ++id) {
    TorchUse use{.file = &libraries.file(id), .names = {}, .missing = {}};
    if (!has_symbols_to_bind(*use.file)) continue;
    for (const UndefinedSymbol& symbol : use.file->undefined) {
      if (!is_wanted(symbol) || !is_torch_name(symbol.name)) continue;
      const auto exports = index.find(symbol.name);
      const auto is_own = [&](const SymbolIndex::Export& exported) { return libraries.is_own(exported.file); };
      if (std::any_of(exports.begin(), exports.end(), is_own)) continue;
      use.names.push_back(symbol.name);
      use.only_shims = use.only_shims && is_torch_shim(symbol.name);
      if (exports.empty()) use.missing.push_back(symbol.name);
    }
    if (!use.names.empty()) uses.push_back(std::move(use));
  }
  return uses;
}

// The first torch name of each ABI in the wheel, and its file.
struct AbiWitness {
  const ElfFacts* file = nullptr;
  std::string_view name;
};
struct AbiWitnesses {
  AbiWitness old_abi;
  AbiWitness new_abi;
};

AbiWitnesses find_abis(const std::vector<TorchUse>& uses) {
  AbiWitnesses found;
  for (const TorchUse& use : uses) {
    for (const std::string_view name : use.names) {
      if (found.old_abi.file != nullptr && found.new_abi.file != nullptr) return found;
      const Cxx11Abi abi = abi_of(name);
      AbiWitness& witness = abi == Cxx11Abi::old_abi ? found.old_abi : found.new_abi;
      if (abi != Cxx11Abi::unused && witness.file == nullptr) witness = {use.file, name};
    }
  }
  return found;
}

Finding abi_mixed(const AbiWitnesses& abis) {
  return {.id = "torch-cxx11-abi-mixed",
          .severity = Severity::error,
          .subject = abis.old_abi.file->path,
          .what = fmt::format("was built with _GLIBCXX_USE_CXX11_ABI=0 ({}), but {} with 1 ({})",
                              readable(abis.old_abi.name), abis.new_abi.file->path, readable(abis.new_abi.name)),
          .why = "Every torch has one of the two ABIs, so one part of this wheel cannot load with any torch.",
          .fix =
              "Build the whole wheel with the flag that torch.compiled_with_cxx11_abi() returns; remove stale object "
              "files and prebuilt static libraries."};
}

// The missing names, classified.
TorchMismatch classify(const TorchUse& use, TorchExports& exports, const TorchGiven& torch) {
  TorchMismatch mismatch{.file = use.file};
  mismatch.accelerator = foreign_accelerator(*use.file, use.missing, torch);
  for (const std::string_view name : use.missing) {
    if (mismatch.accelerator != nullptr && is_in_namespace_of(*mismatch.accelerator, name)) {
      mismatch.accelerator_names.push_back(name);
    } else if (const auto other = exports.with_other_abi(name)) {
      mismatch.abi.push_back({name, *other});
    } else if (auto signature = exports.with_other_parameters(name)) {
      mismatch.signatures.push_back({name, *std::move(signature)});
    } else {
      mismatch.absent.push_back(name);
    }
  }
  return mismatch;
}

std::string subject_of(const std::vector<const TorchUse*>& uses) {
  if (uses.size() == 1) return uses.front()->file->path;
  return fmt::format("{} and {}", uses.front()->file->path, counted(uses.size() - 1, "other file"));
}

std::size_t count_names(const std::vector<const TorchUse*>& uses) {
  std::unordered_set<std::string_view> names;
  for (const TorchUse* use : uses) names.insert(use->names.begin(), use->names.end());
  return names.size();
}

// Files with the same positive result share one note.
void append_stable(const std::vector<const TorchUse*>& uses, std::vector<Finding>& findings) {
  if (uses.empty()) return;
  findings.push_back({.id = "torch-stable-abi",
                      .severity = Severity::note,
                      .subject = subject_of(uses),
                      .what = fmt::format("uses torch only through {} of its stable C interface",
                                          counted(count_names(uses), "function")),
                      .why = "It is not tied to one torch release or C++11 ABI.",
                      .fix = "No action needed."});
}

void append_not_given(const std::vector<const TorchUse*>& uses, const AbiWitnesses& abis,
                      std::vector<Finding>& findings) {
  if (uses.empty()) return;
  const std::string flag = abis.old_abi.file != nullptr   ? ", built with _GLIBCXX_USE_CXX11_ABI=0"
                           : abis.new_abi.file != nullptr ? ", built with _GLIBCXX_USE_CXX11_ABI=1"
                                                          : "";
  findings.push_back({.id = "torch-not-given",
                      .severity = Severity::note,
                      .subject = subject_of(uses),
                      .what = fmt::format("uses {} of torch{}", counted(count_names(uses), "symbol"), flag),
                      .why = "They were not checked, because no torch was given.",
                      .fix = "Pass the matching torch, a wheel or an installed folder: --against torch.whl"});
}

void append_fits(const std::vector<const TorchUse*>& uses, const TorchGiven& torch, std::vector<Finding>& findings) {
  if (uses.empty()) return;
  findings.push_back({.id = "torch-abi-fits",
                      .severity = Severity::note,
                      .subject = subject_of(uses),
                      .what = fmt::format("no link-level mismatch with {}; {} found", torch.name,
                                          counted(count_names(uses), "symbol")),
                      .why = "It loads with this torch. Inlined code and struct layouts cannot be checked.",
                      .fix = "No action needed."});
}

void judge_against(const std::vector<TorchUse>& uses, const TorchGiven& torch, std::vector<Finding>& findings) {
  std::vector<std::string_view> missing;
  for (const TorchUse& use : uses) missing.insert(missing.end(), use.missing.begin(), use.missing.end());
  TorchExports exports(torch.providers, missing);
  std::vector<const TorchUse*> fitting;
  for (const TorchUse& use : uses) {
    const std::size_t before = findings.size();
    append_mismatch(classify(use, exports, torch), torch, findings);
    if (findings.size() == before && !use.only_shims) fitting.push_back(&use);
  }
  append_fits(fitting, torch, findings);
}

}  // namespace

std::vector<Finding> check_torch_abi(const std::vector<ElfFacts>& own, const std::vector<Provider>& against) {
  std::vector<Finding> findings;
  if (is_torch(own)) return findings;
  const Libraries libraries(own, against);
  const SymbolIndex index(libraries);
  const std::vector<TorchUse> uses = find_uses(libraries, index);
  const AbiWitnesses abis = find_abis(uses);
  const bool is_mixed = abis.old_abi.file != nullptr && abis.new_abi.file != nullptr;
  if (is_mixed) findings.push_back(abi_mixed(abis));

  std::vector<const TorchUse*> stable;
  std::vector<const TorchUse*> tied;
  for (const TorchUse& use : uses) (use.only_shims ? stable : tied).push_back(&use);
  append_stable(stable, findings);
  if (const TorchGiven torch = find_torch(against); !torch.providers.empty()) {
    judge_against(uses, torch, findings);
  } else {
    append_not_given(tied, is_mixed ? AbiWitnesses{} : abis, findings);
  }
  return findings;
}

}  // namespace wheelsmith::wheel
