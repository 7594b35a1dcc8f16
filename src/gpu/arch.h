#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace wheelsmith::gpu {

enum class Vendor : std::uint8_t { nvidia, amd };

// One GPU architecture. NVIDIA: number 90, suffix "a" ("", "a" or "f"). AMD: the target id "gfx90a:sramecc+:xnack-",
// "gfx9-4-generic" or "amdgcnspirv", features in alphabetical order. It does not include the form of the code.
struct Arch {
  Vendor vendor = Vendor::nvidia;
  std::uint32_t number = 0;  // NVIDIA: 90, 100, 121
  std::string suffix;        // NVIDIA: "", "a", "f"
  std::string target;        // AMD

  friend auto operator<=>(const Arch&, const Arch&) = default;
};

Arch nvidia_arch(std::uint32_t number, std::string_view suffix = "");
// Sorts the features alphabetically. Accepts any text (files are untrusted).
Arch amd_arch(std::string_view target_id);

enum class CodeKind : std::uint8_t { sass, ptx, ltoir, hip };

std::string_view to_string(CodeKind kind);
// "sm_90a" for SASS and LTO IR ("lto_90a" is nvcc's own word for the latter and is read too), "compute_90" for PTX,
// "gfx90a:xnack-" for HIP.
std::string display_name(const Arch& arch, CodeKind kind);

// A request for code of this form for this architecture.
struct ArchRequest {
  Arch arch;
  bool binary = true;  // SASS, or a HIP code object
  bool ptx = false;    // NVIDIA only

  friend bool operator==(const ArchRequest&, const ArchRequest&) = default;
};
// "9.0a+PTX", "9.0" (no PTX), "compute_90" (PTX alone), "gfx942".
std::string to_string(const ArchRequest& request);

// A list of architectures, in any common notation: torch's "8.0;9.0a+PTX", CMake's "80-real;90a;100f-virtual", nvcc's
// "sm_90a", "compute_90", "-gencode arch=compute_80,code=sm_80", FBGEMM's and flash-attention's "80;90;100", names of
// generations ("Hopper", "Ampere+PTX"), AMD's "gfx1151", "gfx90a:xnack-", "gfx94X-dcgpu" (a family of TheRock),
// separated by ';', ',' or blanks. A bare number ("90", "9.0") requests binary code only, as in all of these except
// CMake.
struct ArchList {
  std::vector<ArchRequest> requests;  // in the order written, one for each architecture

  // Throws Error that names the word and the closest valid one.
  static ArchList parse(std::string_view text);
  static std::optional<ArchList> try_parse(std::string_view text);
  // Torch's notation for NVIDIA ("8.0;9.0a+PTX"), target ids for AMD ("gfx942;gfx1151"); parse() reads it back.
  [[nodiscard]] std::string to_string() const;
  friend bool operator==(const ArchList&, const ArchList&) = default;
};

// A real device.
struct Device {
  std::string name;  // "H200"
  Arch arch;         // its compute capability or its full target id
};

// By its common name: "RTX 4090", "A100", "geforce rtx 3060 ti", "H200", "MI300X", "Strix Halo". Throws Error that
// suggests the closest known names.
Device find_device(std::string_view name);
// The same, or nothing.
std::optional<Device> try_find_device(std::string_view name);
std::vector<Device> known_devices();

// How code runs on a device.
enum class Fit : std::uint8_t { none, jit, native };
// By the rules of the driver and the HIP runtime (docs/gpu-code.md): SASS sm_XY runs on the same major and a minor >=
// Y; an "a" only on exactly its own, an "f" on its family; PTX by JIT on anything newer; HIP by processor and features,
// or by the generic target or SPIR-V (JIT). LTO IR is linker input and never runs by itself.
Fit fit(const Arch& code, CodeKind kind, const Arch& device);

}  // namespace wheelsmith::gpu
