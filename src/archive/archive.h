#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"

// tar (ustar, pax, GNU long names) read as a stream out of gzip, xz, zstd or nothing. Hostile: sizes, names, nesting and
// ratios are bounded, nothing is trusted.

namespace wheelsmith::archive {

struct TarEntry {
  enum class Kind : std::uint8_t { file, folder, symlink, hardlink } kind = Kind::file;
  std::string name;    // as written, checked: relative, no "..", no NUL, no leading '/'
  std::string target;  // of links, as written
  std::uint64_t size = 0;
  unsigned mode = 0644;
  std::int64_t mtime = 0;
};

struct TarLimits {
  std::uint64_t entries = 1'000'000;
  std::uint64_t bytes = 64ull << 30;  // unpacked, all together
};

// Calls for every entry in order, then for its content in pieces. Devices, FIFOs and names that leave the folder throw
// Error; so does what is cut off or corrupt. The compression is found out from the first bytes.
void read_tar(Bytes packed, const std::function<void(const TarEntry&)>& on_entry,
              const std::function<void(Bytes)>& on_content, const TarLimits& limits = {});

}  // namespace wheelsmith::archive
