#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "elf/elf_file.h"

namespace wheelsmith::gpu {

inline constexpr std::uint32_t k_nvidia_wrapper = 0x466243B1;
inline constexpr std::uint32_t k_hip_wrapper = 0x48495046;    // "FPIH" in the file
inline constexpr std::uint32_t k_kpack_wrapper = 0x4B504948;  // "HIPK" in the file

// The pointer of one wrapper.
struct WrapperPointer {
  std::uint64_t address = 0;  // of the pointer itself
  std::uint64_t target = 0;   // its value once the library is loaded, relative to the library's base
  enum class Source : std::uint8_t { in_place, relative, other } source = Source::in_place;
};

// The pointers of the section's wrappers with that magic number, by address.
std::vector<WrapperPointer> wrapper_pointers(const elf::ElfFile& file, std::string_view section, std::uint32_t magic);

// The addresses that the section's wrappers with that magic number point to once the library is loaded, sorted and
// unique. Empty if there is no such section.
std::vector<std::uint64_t> wrapper_targets(const elf::ElfFile& file, std::string_view section, std::uint32_t magic);

}  // namespace wheelsmith::gpu
