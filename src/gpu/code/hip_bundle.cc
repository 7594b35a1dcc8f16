#include "gpu/code/hip_bundle.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/endian.h"
#include "base/error.h"
#include "base/text.h"
#include "gpu/code/unpack.h"

// Clang's offload bundles, the containers of HIP code objects:
//
//   plain      = "__CLANG_OFFLOAD_BUNDLE__" le64 count, entry{count}, code objects at the offsets of the entries
//   entry      = le64 offset, le64 size, le64 id size, id
//   compressed = "CCOB" le16 version, le16 method, sizes, le64 hash, a zlib or zstd stream of a plain bundle
//
//   sizes of version 1: le32 unpacked;  2: le32 total, le32 unpacked;  3: le64 total, le64 unpacked
//
// A plain bundle does not say where it ends: it ends with its last code object. A compressed one of version 1 ends with
// its stream. The architectures of a compressed one are in its table, which must be unpacked; it is at the beginning,
// so one block (128 kB) of a stream of gigabytes is enough. Code objects are compressed together, so each is assigned a
// share of the bundle's size in proportion to its unpacked size.

namespace wheelsmith::gpu {
namespace {

constexpr std::uint64_t k_most_table_bytes = 1'000'000;
constexpr std::uint64_t k_most_entries = 4096;
constexpr std::uint64_t k_longest_id = 512;
constexpr std::uint64_t k_most_unpacked_bytes = 16'000'000'000;

struct PlainHeader {
  char magic[24];
  le64 count;
};
static_assert(sizeof(PlainHeader) == 32);

struct PlainEntry {
  le64 offset;
  le64 size;
  le64 id_size;
};
static_assert(sizeof(PlainEntry) == 24);

struct CompressedHead {
  char magic[4];
  le16 version;
  le16 method;
};
static_assert(sizeof(CompressedHead) == 8);

// `table` holds the beginning of a bundle of `size` bytes in total; returns nothing if the table extends past it.
std::optional<HipBundle> read_bundle_table(Bytes table, std::uint64_t size) {
  if (!table.contains(0, sizeof(PlainHeader))) return std::nullopt;
  if (!table.starts_with(k_bundle_magic)) throw Error("not a bundle");
  const std::uint64_t count = table.get<PlainHeader>(0).count;
  if (count > k_most_entries) throw Error(fmt::format("its table has {} entries", count));
  HipBundle bundle;
  Cursor cursor(table, sizeof(PlainHeader));
  for (std::uint64_t i = 0; i < count; ++i) {
    if (cursor.left() < sizeof(PlainEntry)) return std::nullopt;
    const auto entry = cursor.take<PlainEntry>();
    if (entry.id_size > k_longest_id) throw Error(fmt::format("entry {} has an id that is too long", i));
    if (cursor.left() < entry.id_size) return std::nullopt;
    std::string target = target_of_entry_id(cursor.take_bytes(entry.id_size).text());
    if (entry.offset > size || entry.size > size - entry.offset) {
      throw Error(fmt::format("entry {} ({}) extends past the end", i, target.empty() ? "host" : target));
    }
    bundle.size = std::max({bundle.size, entry.offset + entry.size, cursor.at()});
    if (!target.empty()) bundle.objects.push_back({std::move(target), entry.size, entry.size});
  }
  bundle.size = std::max(bundle.size, cursor.at());
  return bundle;
}

struct CompressedHeader {
  std::uint64_t size = 0;                   // of the header
  std::optional<std::uint64_t> total_size;  // not in version 1
  std::uint64_t unpacked_size = 0;
  Packing packing = Packing::zstd;
};

CompressedHeader read_compressed_header(Bytes bytes) {
  Cursor cursor(bytes);
  const auto head = cursor.take<CompressedHead>();
  CompressedHeader header;
  switch (head.version) {
    case 1: header.unpacked_size = cursor.take<le32>(); break;
    case 2:
      header.total_size = cursor.take<le32>();
      header.unpacked_size = cursor.take<le32>();
      break;
    case 3:
      header.total_size = cursor.take<le64>();
      header.unpacked_size = cursor.take<le64>();
      break;
    default: throw Error(fmt::format("unknown version {} of compressed bundles", std::uint16_t{head.version}));
  }
  cursor.skip(sizeof(le64));  // the hash
  if (head.method > 1) throw Error(fmt::format("unknown compression method {}", std::uint16_t{head.method}));
  header.packing = static_cast<Packing>(std::uint16_t{head.method});
  header.size = cursor.at();
  if (header.total_size && (*header.total_size < header.size || *header.total_size > bytes.size())) {
    throw Error(fmt::format("its {} bytes exceed the {} available", *header.total_size, bytes.size()));
  }
  if (header.unpacked_size > k_most_unpacked_bytes) {
    throw Error(fmt::format("it claims to unpack to {} bytes", header.unpacked_size));
  }
  return header;
}

// For version 1. The end of a zstd frame is found from block to block; many broken ones over the same bytes would make
// that quadratic, so they use up a budget. A zlib stream must be inflated to find its end; one that is too large for
// that is assumed to be the last.
std::uint64_t stream_size(Packing packing, Bytes packed, UnpackBudget& budget) {
  if (packing == Packing::zlib) return zlib_stream_size(packed, budget.streams).value_or(packed.size());
  if (budget.streams == 0) throw Error("too much to unpack in one file");
  try {
    return zstd_frame_size(packed);
  } catch (const Error&) {
    budget.streams -= std::min(budget.streams, packed.size());
    throw;
  }
}

HipBundle unpack_table(const CompressedHeader& header, Bytes packed, UnpackBudget& budget) {
  const std::unique_ptr<Unpacker> unpacker = make_unpacker(header.packing, packed);
  const std::uint64_t limit = std::min(header.unpacked_size, k_most_table_bytes);
  for (std::uint64_t want = std::min<std::uint64_t>(4096, limit);; want = std::min(want * 16, limit)) {
    if (budget.tables < want) throw Error("too much to unpack in one file");
    budget.tables -= want;
    const Bytes table = unpacker->unpack_to(want);
    if (std::optional<HipBundle> bundle = read_bundle_table(table, header.unpacked_size)) return *std::move(bundle);
    if (table.size() < want || want == limit) throw Error("its table is incomplete");
  }
}

void share_out(std::uint64_t total, std::vector<HipCodeObject>& objects) {
  __extension__ using Wide = unsigned __int128;
  Wide sum = 0;
  for (const HipCodeObject& object : objects) sum += object.unpacked_bytes;
  // Shares are computed from running totals, so that they add up to the whole.
  Wide before = 0;
  for (HipCodeObject& object : objects) {
    const Wide after = before + object.unpacked_bytes;
    object.bytes = sum == 0 ? 0 : static_cast<std::uint64_t>(after * total / sum - before * total / sum);
    before = after;
  }
}

HipBundle read_compressed(Bytes bytes, UnpackBudget& budget) {
  const CompressedHeader header = read_compressed_header(bytes);
  Bytes packed = bytes.slice(header.size, header.total_size.value_or(bytes.size()) - header.size);
  if (!header.total_size) packed = packed.slice(0, stream_size(header.packing, packed, budget));
  if (header.packing == Packing::zstd &&
      zstd_content_size(packed).value_or(header.unpacked_size) != header.unpacked_size) {
    throw Error("its header and its stream disagree about the unpacked size");
  }
  HipBundle bundle = unpack_table(header, packed, budget);
  bundle.size = header.size + packed.size();
  share_out(bundle.size, bundle.objects);
  return bundle;
}

bool is_target_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.' || c == '+' || c == ':';
}

}  // namespace

std::string normal_target_id(std::string_view target) {
  if (target.empty() || target.size() > 128 || !std::all_of(target.begin(), target.end(), is_target_character)) {
    throw Error(fmt::format("'{}' is not a valid target id", printable(target.substr(0, 128))));
  }
  std::vector<std::string_view> parts = split(target, ':');
  std::sort(parts.begin() + 1, parts.end());
  std::string normal(parts.front());
  for (auto feature = parts.begin() + 1; feature != parts.end(); ++feature) normal.append(":").append(*feature);
  return normal;
}

std::string target_of_entry_id(std::string_view id) {
  // Bundles may also contain SYCL and OpenMP code, which is not listed.
  if (id.starts_with("host-") || id.starts_with("sycl-") || id.starts_with("openmp-")) return {};
  // The environment between the last two dashes is empty in every id that clang writes.
  const std::size_t dashes = id.rfind("--");
  if (dashes == std::string_view::npos)
    throw Error(fmt::format("'{}' is not a valid entry id", printable(id.substr(0, 128))));
  return normal_target_id(id.substr(dashes + 2));
}

HipBundle read_hip_bundle(Bytes bytes, UnpackBudget& budget) {
  if (bytes.starts_with(k_compressed_bundle_magic)) return read_compressed(bytes, budget);
  std::optional<HipBundle> bundle = read_bundle_table(bytes.clamp(0, k_most_table_bytes), bytes.size());
  if (!bundle) throw Error("its table is incomplete");
  return *std::move(bundle);
}

}  // namespace wheelsmith::gpu
