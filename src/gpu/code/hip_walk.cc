#include "gpu/code/hip_walk.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/endian.h"
#include "base/error.h"
#include "gpu/code/device_elf.h"

namespace wheelsmith::gpu {
namespace {

constexpr std::uint64_t k_most_broken_bundles = 10'000;

// Finds the next magic number at a multiple of 8. Caches the result, so that a walk that alternates between two magic
// numbers searches the bytes once for each.
class NextMagic {
 public:
  NextMagic(Bytes bytes, std::string_view magic) : m_bytes(bytes), m_magic(magic) {}

  std::uint64_t find(std::uint64_t from) {
    if (m_known && m_at >= from) return m_at;
    do {
      m_at = m_bytes.find(m_magic, from);
      from = m_at + 1;
    } while (m_at < m_bytes.size() && m_at % 8 != 0);
    m_known = true;
    return m_at;
  }

 private:
  Bytes m_bytes;
  std::string_view m_magic;
  std::uint64_t m_at = 0;
  bool m_known = false;
};

class Starts {
 public:
  Starts(Bytes bytes, const std::vector<std::uint64_t>& known)
      : m_bytes(bytes),
        m_known(known),
        m_plain(bytes, k_bundle_magic),
        m_compressed(bytes, k_compressed_bundle_magic) {}

  // The first start at or after the offset; the size of the bytes if there is none. Zero padding separates bundles:
  // skipping it finds the next one without reading bundle contents.
  std::uint64_t next(std::uint64_t from) {
    const auto known = std::lower_bound(m_known.begin(), m_known.end(), from);
    const std::uint64_t limit = known == m_known.end() ? m_bytes.size() : std::min(*known, m_bytes.size());
    from += (8 - from % 8) % 8;
    while (from < limit && m_bytes.contains(from, 8) && m_bytes.get<le64>(from) == 0) from += 8;
    if (from >= limit || !m_bytes.contains(from, 8)) return limit;
    const Bytes here = m_bytes.from(from);
    if (here.starts_with(k_bundle_magic) || here.starts_with(k_compressed_bundle_magic)) return from;
    return std::min({limit, m_plain.find(from), m_compressed.find(from)});
  }

 private:
  Bytes m_bytes;
  const std::vector<std::uint64_t>& m_known;
  NextMagic m_plain;
  NextMagic m_compressed;
};

HipBundle read_at_start(Bytes bytes, UnpackBudget& budget) {
  const std::optional<DeviceElfHeader> header = DeviceElfHeader::read(bytes);
  const std::optional<Arch> arch = header ? arch_of(*header) : std::nullopt;
  if (!arch || arch->vendor != Vendor::amd) return read_hip_bundle(bytes, budget);
  // Its section headers come last, but only the loaded part matters here: the next start ends it.
  return {bytes.size(), {{arch->target, bytes.size(), bytes.size()}}};
}

}  // namespace

void walk_hip_bundles(Bytes bytes, const std::vector<std::uint64_t>& starts, UnpackBudget& budget,
                      const HipWalk& visit) {
  Starts places(bytes, starts);
  std::uint64_t broken = 0;
  for (std::uint64_t at = places.next(0); at < bytes.size();) {
    const auto following = std::upper_bound(starts.begin(), starts.end(), at);
    const std::uint64_t limit = following == starts.end() ? bytes.size() : std::min(*following, bytes.size());
    std::uint64_t size = 8;
    try {
      const HipBundle bundle = read_at_start(bytes.slice(at, limit - at), budget);
      visit.bundle(at, bundle);
      size = std::max(size, bundle.size);
    } catch (const Error& error) {
      visit.broken(at,
                   ++broken < k_most_broken_bundles ? error.what() : "too many broken bundles; the rest is not read");
      if (broken == k_most_broken_bundles) return;
    }
    at = places.next(at + size);
  }
}

}  // namespace wheelsmith::gpu
