// Compatibility rules between code and devices. Both vendors name code after the processor it was compiled for and let
// some of it run on others; whether a wheel fits a device follows from these rules.
//
// NVIDIA. A device has a compute capability, major.minor; number = 10 * major + minor.
//   sm_XY     (SASS) same major, minor >= Y. Exception: Tegra parts (8.7 Orin) run only their own code, which runs
//             nowhere else; sm_80 on an Orin fails with "no kernel image is available".
//   sm_XYa    exactly X.Y: it uses instructions that no other processor guarantees.
//   sm_XYf    same family, minor >= Y. A family is the parts of one major without the Tegra ones: 10.0, 10.3 and 10.7;
//             12.0 and 12.1; 11.0 (Thor) alone.
//   compute_… (PTX) is compiled by the driver (JIT): without a suffix for anything from X.Y on, else as above.
//
// AMD. A target id is "gfx90a:sramecc+:xnack-": processor, then features that were fixed when compiling. The processor
// must be equal; a feature that the code does not specify matches either setting. A generic target covers a list of
// processors (families.tsv); "amdgcnspirv" is compiled by the runtime for any device.

#include "gpu/arch.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "gpu/arch_words.h"

namespace wheelsmith::gpu {

namespace {

// Jetson and DRIVE: K1, X1, X2, Xavier, Orin, Thor by its number before CUDA 13 and since.
constexpr std::array<std::uint32_t, 7> k_tegra = {32, 53, 62, 72, 87, 101, 110};

bool is_tegra(std::uint32_t number) { return std::ranges::find(k_tegra, number) != k_tegra.end(); }

bool same_major_and_newer(std::uint32_t code, std::uint32_t device) {
  if (is_tegra(code) || is_tegra(device)) return code == device;
  return code / 10 == device / 10 && code <= device;
}

Fit fit_nvidia(const Arch& code, CodeKind kind, const Arch& device) {
  if (kind != CodeKind::sass && kind != CodeKind::ptx) return Fit::none;
  const Fit reached = kind == CodeKind::sass ? Fit::native : Fit::jit;
  bool fits = false;
  if (code.suffix == "a") {
    fits = code.number == device.number;
  } else if (code.suffix == "f" || kind == CodeKind::sass) {
    fits = same_major_and_newer(code.number, device.number);
  } else {
    fits = code.number <= device.number;
  }
  return fits ? reached : Fit::none;
}

bool features_agree(const std::vector<std::string_view>& code, const std::vector<std::string_view>& device) {
  for (std::size_t i = 1; i < code.size(); ++i) {
    for (std::size_t j = 1; j < device.size(); ++j) {
      const auto name = [](std::string_view feature) { return feature.substr(0, feature.find_last_not_of("+-") + 1); };
      if (name(code[i]) == name(device[j]) && code[i] != device[j]) return false;
    }
  }
  return true;
}

bool covers(std::string_view generic, std::string_view processor) {
  return std::ranges::any_of(amd_generics(), [&](const NamedTargets& row) {
    return row.name == generic && std::ranges::find(row.members, processor) != row.members.end();
  });
}

Fit fit_amd(const Arch& code, CodeKind kind, const Arch& device) {
  if (kind != CodeKind::hip) return Fit::none;
  if (code.target == "amdgcnspirv") return device.target == code.target ? Fit::native : Fit::jit;
  const auto ours = split(code.target, ':');
  const auto theirs = split(device.target, ':');
  if (ours[0] != theirs[0] && !covers(ours[0], theirs[0])) return Fit::none;
  return features_agree(ours, theirs) ? Fit::native : Fit::none;
}

}  // namespace

Arch nvidia_arch(std::uint32_t number, std::string_view suffix) {
  return {Vendor::nvidia, number, std::string(suffix), {}};
}

Arch amd_arch(std::string_view target_id) {
  const auto parts = split(target_id, ':');
  std::vector<std::string> words(parts.begin(), parts.end());
  std::sort(words.begin() + 1, words.end());
  return {Vendor::amd, 0, {}, join(words, ":")};
}

std::string_view to_string(CodeKind kind) {
  switch (kind) {
    case CodeKind::sass: return "sass";
    case CodeKind::ptx: return "ptx";
    case CodeKind::ltoir: return "ltoir";
    case CodeKind::hip: return "hip";
  }
  return "?";
}

std::string display_name(const Arch& arch, CodeKind kind) {
  if (arch.vendor == Vendor::amd) return arch.target;
  return (kind == CodeKind::ptx ? "compute_" : "sm_") + std::to_string(arch.number) + arch.suffix;
}

Fit fit(const Arch& code, CodeKind kind, const Arch& device) {
  if (code.vendor != device.vendor) return Fit::none;
  return code.vendor == Vendor::nvidia ? fit_nvidia(code, kind, device) : fit_amd(code, kind, device);
}

}  // namespace wheelsmith::gpu
