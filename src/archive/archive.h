#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/bytes.h"

// Reads tar (ustar, pax, GNU long names) as a stream, compressed with gzip, xz, zstd or not at all. Input is untrusted:
// sizes, names, nesting and ratios are bounded. bzip2 is rejected with a message.

namespace wheelsmith::archive {

struct TarEntry {
  enum class Kind : std::uint8_t { file, folder, symlink, hardlink } kind = Kind::file;
  std::string name;    // checked and plain, see plain_name(); never ""
  std::string target;  // of symlinks as written; of hard links a plain name
  std::uint64_t size = 0;
  unsigned mode = 0644;
  std::int64_t mtime = 0;
};

struct TarLimits {
  std::uint64_t entries = 1'000'000;
  std::uint64_t bytes = 64ull << 30;  // unpacked, all together
  // A stream may grow to `ratio` times its packed size; the first `free_bytes` are not counted. Sources compress 4 to
  // 12 times; no real one 200 times.
  std::uint64_t ratio = 200;
  std::uint64_t free_bytes = 1'000'000'000;
};

// Calls for every entry in order, then for its content in pieces. Devices, FIFOs and names that point outside throw
// Error, as do truncated and corrupt archives. The first bytes determine the compression.
void read_tar(Bytes packed, const std::function<void(const TarEntry&)>& on_entry,
              const std::function<void(Bytes)>& on_content, const TarLimits& limits = {});

// The name without "." parts, doubled and trailing '/'; "" for the folder itself. Throws Error for a name that could
// point outside a folder or that no file system supports: absolute, with "..", with NUL, longer than 4096 bytes, deeper
// than 128. '\' is a character like any other.
std::string plain_name(std::string_view name);
// Whether it is the name of a file or folder inside, in the form of plain_name().
bool is_plain_name(std::string_view name);

}  // namespace wheelsmith::archive
