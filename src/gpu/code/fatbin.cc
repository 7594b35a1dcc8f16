#include "gpu/code/fatbin.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/endian.h"
#include "base/error.h"

// NVIDIA's fat binaries. A host library holds many containers, one for each translation unit; a container holds
// entries, one for each architecture and form:
//
//   section   = container*                               at multiples of 8, usually without gaps
//   container = ContainerHeader entry*                   the last entry ends exactly where the container does
//   entry     = EntryHeader tail payload padding         tail: options and names; header_size counts it
//
// Everything needed for a listing is in the headers, so libtorch_cuda.so of torch 2.15 (520 MB, 2,981 entries) costs as
// many page touches as it has entries, and nothing is decompressed.
//
// A broken container is abandoned after its last valid entry, and the search for the next one continues there. This
// keeps the walk linear: bytes read as an entry are never read as one again, however many containers claim them.

namespace wheelsmith::gpu {
namespace {

struct ContainerHeader {
  le32 magic;
  le16 version;
  le16 header_size;
  le64 size;  // of all that follows
};
static_assert(sizeof(ContainerHeader) == 16);

struct EntryHeader {
  le16 kind;
  le16 version;
  le32 header_size;     // with the tail
  le64 padded_size;     // of the payload
  le32 packed_size;     // of the compressed stream; 0 if not compressed
  le32 options_offset;  // from here; 0: none
  le16 minor_version;   // of PTX, or of the cubin format
  le16 major_version;
  le32 arch;
  le32 name_offset;
  le32 name_size;
  le64 flags;
  le64 obfuscation;
  le64 unpacked_size;  // 0 if not compressed
};
static_assert(sizeof(EntryHeader) == 64);

constexpr std::uint64_t k_old_compression = 0x1000;
constexpr std::uint64_t k_lz4 = 0x2000;
constexpr std::uint64_t k_zstd = 0x8000;
constexpr std::uint64_t k_obfuscated = 0x10000;
constexpr std::uint64_t k_arch_specific = 0x100000;
constexpr std::uint64_t k_family_specific = 0x200000;
// The placeholder that a tool leaves for a removed entry; the driver and cuobjdump skip it.
constexpr std::uint16_t k_tombstone = 0x4000;
constexpr std::uint32_t k_highest_arch = 999;
// After this many, the bytes are not device code but a denial-of-service attempt.
constexpr std::uint64_t k_most_broken_containers = 100'000;
constexpr std::string_view k_zstd_magic = "\x28\xB5\x2F\xFD";

std::string_view suffix_of(std::uint64_t flags) {
  if ((flags & k_arch_specific) != 0) return "a";
  return (flags & k_family_specific) != 0 ? "f" : "";
}

void check_compression(const EntryHeader& header, Bytes payload) {
  const std::uint64_t flags = header.flags;
  const bool compressed = (flags & (k_old_compression | k_lz4 | k_zstd)) != 0;
  if (compressed != (header.packed_size != 0) || compressed != (header.unpacked_size != 0)) {
    throw Error(fmt::format("flags {:#x} disagree with the sizes {} (packed) and {} (unpacked)", flags,
                            std::uint32_t{header.packed_size}, std::uint64_t{header.unpacked_size}));
  }
  if (header.packed_size > payload.size()) {
    throw Error(fmt::format("{} packed bytes in a payload of {}", std::uint32_t{header.packed_size}, payload.size()));
  }
  if ((flags & k_zstd) != 0 && (flags & k_obfuscated) == 0 && !payload.starts_with(k_zstd_magic)) {
    throw Error("the payload is not a zstd frame");
  }
}

class ContainerReader {
 public:
  ContainerReader(Bytes bytes, std::uint64_t offset) : m_bytes(bytes), m_resume(offset + k_fatbin_magic.size()) {
    container.offset = offset;
  }

  // Throws Error at the first problem.
  void read() {
    const std::uint64_t start = container.offset + sizeof(ContainerHeader);
    const auto header = m_bytes.get<ContainerHeader>(container.offset);
    if (header.size % 8 != 0)
      throw Error(fmt::format("its size {} is not a multiple of 8", std::uint64_t{header.size}));
    if (!m_bytes.contains(start, header.size)) {
      throw Error(fmt::format("its {} bytes extend past the end", std::uint64_t{header.size}));
    }
    const std::uint64_t end = start + header.size;
    for (std::uint64_t at = start; at < end; at = m_resume) read_entry(at, end);
    container.size = end - container.offset;
    m_resume = end;
  }

  FatbinContainer container;
  [[nodiscard]] std::uint64_t resume() const { return m_resume; }

 private:
  void read_entry(std::uint64_t at, std::uint64_t end) {
    const Bytes rest = m_bytes.slice(at, end - at);
    const auto header = rest.get<EntryHeader>(0);
    const std::uint32_t header_size = header.header_size;
    if (header_size < sizeof(EntryHeader) || header_size % 8 != 0) {
      throw Error(fmt::format("the entry at {:#x} has a header of {} bytes", at, header_size));
    }
    if (!rest.contains(header_size, header.padded_size)) {
      throw Error(fmt::format("the entry at {:#x} extends past the container's end", at));
    }
    const std::uint64_t padded_size = header.padded_size;
    if (header.kind != k_tombstone) {
      try {
        check_compression(header, rest.slice(header_size, padded_size));
      } catch (const Error& error) {
        throw error.in(fmt::format("the entry at {:#x}", at));
      }
      if (header.arch == 0 || header.arch > k_highest_arch) {
        throw Error(fmt::format("the entry at {:#x} is for architecture {}", at, std::uint32_t{header.arch}));
      }
      FatbinEntry entry;
      entry.offset = at;
      entry.kind = static_cast<FatbinKind>(std::uint16_t{header.kind});
      entry.arch = header.arch;
      entry.suffix = suffix_of(header.flags);
      entry.bytes = header_size + padded_size;
      entry.unpacked_bytes = header.unpacked_size != 0 ? std::uint64_t{header.unpacked_size} : padded_size;
      container.entries.push_back(entry);
    }
    m_resume = at + header_size + padded_size;
  }

  Bytes m_bytes;
  std::uint64_t m_resume;
};

}  // namespace

void walk_fatbins(Bytes bytes, const FatbinWalk& visit) {
  std::uint64_t at = 0;
  std::uint64_t broken = 0;
  while ((at = bytes.find(k_fatbin_magic, at)) < bytes.size()) {
    ContainerReader reader(bytes, at);
    std::optional<std::string> why;
    try {
      reader.read();
    } catch (const Error& error) {
      why = error.what();
    }
    if (!why) {
      visit.container(reader.container);
    } else if (++broken <= k_most_broken_containers) {
      visit.broken(at, reader.container.entries.size(), *why);
    } else {
      visit.broken(at, 1, "too many broken containers; the rest is not read");
      return;
    }
    at = reader.resume();
  }
}

}  // namespace wheelsmith::gpu
