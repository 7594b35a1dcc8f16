#include "wheel/check/torch/torch_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "wheel/check/torch/torch_names.h"
#include "wheel/read/symbol_names.h"

namespace wheelsmith::wheel {

namespace {

constexpr std::array<Accelerator, 3> k_accelerators = {{
    {"CUDA", {"libc10_cuda.so", "libtorch_cuda.so"}, {"3c104cuda", "2at4cuda"}},
    {"ROCm", {"libc10_hip.so", "libtorch_hip.so"}, {"3c103hip", "2at3hip"}},
    {"XPU", {"libc10_xpu.so", "libtorch_xpu.so"}, {"3c103xpu", "2at3xpu"}},
}};
constexpr std::size_t k_examples = 3;

bool is_library_of(const Accelerator& accelerator, std::string_view name) {
  return std::find(accelerator.libraries.begin(), accelerator.libraries.end(), name) != accelerator.libraries.end();
}

std::string build_of(const TorchGiven& torch) {
  if (torch.accelerators.empty()) return "a CPU build";
  std::vector<std::string> names;
  for (const Accelerator* accelerator : torch.accelerators) names.emplace_back(accelerator->name);
  return fmt::format("a {} build", join(names, " and "));
}

Finding wrong_accelerator(const TorchMismatch& mismatch, const TorchGiven& torch) {
  std::vector<std::string> evidence;
  for (const std::string& needed : mismatch.file->needed) {
    if (is_library_of(*mismatch.accelerator, needed)) evidence.push_back(needed);
  }
  for (const std::string_view name : mismatch.accelerator_names) {
    if (evidence.size() == k_examples) break;
    evidence.push_back(readable(name));
  }
  return {.id = "torch-accelerator",
          .severity = Severity::error,
          .subject = mismatch.file->path,
          .what = fmt::format("was built for a torch with {} (it needs {}); {} is {}", mismatch.accelerator->name,
                              join(evidence, ", "), torch.name, build_of(torch)),
          .why = "The import fails: that torch does not have these libraries and symbols.",
          .fix = fmt::format("Install a torch built for {}, or rebuild the extension against this one.",
                             mismatch.accelerator->name)};
}

Finding other_abi(const TorchMismatch& mismatch, const TorchGiven& torch) {
  const auto& [missing, provided] = mismatch.abi.front();
  const bool torch_is_new = abi_of(provided) == Cxx11Abi::new_abi;
  return {
      .id = "torch-cxx11-abi",
      .severity = Severity::error,
      .subject = mismatch.file->path,
      .what = fmt::format(
          "was built with _GLIBCXX_USE_CXX11_ABI={}, {} with {}: it references {}, which exists as {}{}",
          torch_is_new ? 0 : 1, torch.name, torch_is_new ? 1 : 0, missing, provided,
          mismatch.abi.size() == 1 ? ""
                                   : fmt::format(" (and {})", counted(mismatch.abi.size() - 1, "more such symbol"))),
      .why = "The import fails with \"undefined symbol\": std::string is a different type in each ABI.",
      .fix = fmt::format("Compile with -D_GLIBCXX_USE_CXX11_ABI={}, the value of torch.compiled_with_cxx11_abi(); "
                         "torch's CMake and setuptools helpers set it.",
                         torch_is_new ? 1 : 0)};
}

std::string version_evidence(const TorchMismatch& mismatch) {
  std::vector<std::string> evidence;
  for (const auto& [missing, provided] : mismatch.signatures) {
    if (evidence.size() == k_examples) break;
    evidence.push_back(fmt::format("{} (it has {})", readable(missing), provided));
  }
  for (const std::string_view missing : mismatch.absent) {
    if (evidence.size() == k_examples) break;
    evidence.push_back(fmt::format("{} (no such name)", readable(missing)));
  }
  const std::size_t count = mismatch.signatures.size() + mismatch.absent.size();
  return join(evidence, "; ") + (count > evidence.size() ? fmt::format("; and {} more", count - evidence.size()) : "");
}

Finding other_version(const TorchMismatch& mismatch, const TorchGiven& torch) {
  const std::size_t count = mismatch.signatures.size() + mismatch.absent.size();
  return {
      .id = "torch-version",
      .severity = Severity::error,
      .subject = mismatch.file->path,
      .what = fmt::format("was built for another torch version: {} it references {} not in {}: {}",
                          counted(count, "symbol"), count == 1 ? "is" : "are", torch.name, version_evidence(mismatch)),
      .why = "The import fails with \"undefined symbol\": torch's C++ ABI changes between releases.",
      .fix = "Rebuild the extension against this torch, or install the torch that it was built with."};
}

}  // namespace

TorchGiven find_torch(const std::vector<Provider>& against) {
  TorchGiven torch;
  for (const Provider& provider : against) {
    if (!is_torch(provider.files)) continue;
    torch.providers.push_back(&provider);
    const std::string version = torch_version(provider.name);
    torch.name = version.empty() ? fmt::format("the torch in {}", provider.name) : "torch " + version;
    for (const Accelerator& accelerator : k_accelerators) {
      const bool has = std::any_of(provider.files.begin(), provider.files.end(), [&](const ElfFacts& file) {
        return is_library_of(accelerator, base_name(file.path));
      });
      if (has) torch.accelerators.push_back(&accelerator);
    }
  }
  return torch;
}

bool is_in_namespace_of(const Accelerator& accelerator, std::string_view symbol) {
  std::string path = torch_path(symbol);
  // The kind of symbol precedes the first length: "TV3c104cuda…".
  path.erase(0, std::min(path.find_first_of("0123456789"), path.size()));
  return std::any_of(accelerator.namespaces.begin(), accelerator.namespaces.end(),
                     [&](std::string_view space) { return path.starts_with(space); });
}

const Accelerator* foreign_accelerator(const ElfFacts& file, const std::vector<std::string_view>& missing,
                                       const TorchGiven& torch) {
  for (const Accelerator& accelerator : k_accelerators) {
    const auto& has = torch.accelerators;
    if (std::find(has.begin(), has.end(), &accelerator) != has.end()) continue;
    const bool needs = std::any_of(file.needed.begin(), file.needed.end(),
                                   [&](const std::string& name) { return is_library_of(accelerator, name); });
    const bool asks = std::any_of(missing.begin(), missing.end(),
                                  [&](std::string_view name) { return is_in_namespace_of(accelerator, name); });
    if (needs || asks) return &accelerator;
  }
  return nullptr;
}

void append_mismatch(const TorchMismatch& mismatch, const TorchGiven& torch, std::vector<Finding>& findings) {
  if (mismatch.accelerator != nullptr) findings.push_back(wrong_accelerator(mismatch, torch));
  if (!mismatch.abi.empty()) findings.push_back(other_abi(mismatch, torch));
  // Symbols of another accelerator are not all in its namespaces (at::native, caffe2), so they do not indicate a
  // version.
  const bool absent_counts = mismatch.accelerator == nullptr && !mismatch.absent.empty();
  if (absent_counts || !mismatch.signatures.empty()) findings.push_back(other_version(mismatch, torch));
}

}  // namespace wheelsmith::wheel
