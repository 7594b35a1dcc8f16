#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"

namespace wheelsmith::gpu {

inline constexpr std::string_view k_fatbin_magic{"\x50\xED\x55\xBA\x01\x00\x10\x00", 8};

enum class FatbinKind : std::uint16_t { ptx = 1, elf = 2, old_cubin = 4, ltoir = 8 };

struct FatbinEntry {
  std::uint64_t offset = 0;  // of its header, from the start of the walked bytes
  FatbinKind kind = FatbinKind::elf;
  std::uint32_t arch = 0;            // 90
  std::string_view suffix;           // "", "a", "f"
  std::uint64_t bytes = 0;           // header and payload, as in the file
  std::uint64_t unpacked_bytes = 0;  // payload in memory
};

struct FatbinContainer {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;  // header included
  std::vector<FatbinEntry> entries;
};

struct FatbinWalk {
  std::function<void(const FatbinContainer&)> container;
  // A container that cannot be read; `good_entries` came before the fault. With none of them, in bytes that need not
  // hold containers, it is a coincidence or an unrelated constant.
  std::function<void(std::uint64_t offset, std::uint64_t good_entries, const std::string& why)> broken;
};

// Visits every container in the bytes. Reads headers only, jumping from one to the next; searches only where no
// container follows the previous one. Linear time for any input.
void walk_fatbins(Bytes bytes, const FatbinWalk& visit);

}  // namespace wheelsmith::gpu
