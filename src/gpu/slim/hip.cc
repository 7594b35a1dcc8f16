#include <fmt/format.h>
#include <openssl/evp.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "base/endian.h"
#include "base/error.h"
#include "gpu/code/device_elf.h"
#include "gpu/code/hip_bundle.h"
#include "gpu/code/hip_walk.h"
#include "gpu/code/unpack.h"
#include "gpu/slim/bundle_entries.h"
#include "gpu/slim/containers.h"

// HIP bundles (their layout is in hip_bundle.cc) without the code objects that are not kept.
//
// The table gets shorter, and the remaining code objects move up, at the alignment they had. A compressed bundle is
// unpacked, rebuilt and compressed again with the same method; its hash is the beginning of the MD5 sum of the plain
// bundle, as clang computes it. A bundle must end where it began to be registered, so in a library it may not grow:
// one that would stays as it is. The runtime reads the table from the first 4096 bytes; a shorter one still fits.

namespace wheelsmith::gpu {

namespace {

constexpr std::uint64_t k_bundle_align = 4096;
constexpr std::uint64_t k_most_plain = 8'000'000'000;

template <class T>
void put_field(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::vector<BundleEntry> read_entries(Bytes plain) {
  constexpr std::uint64_t k_most_bundle_entries = 4096;
  if (!plain.starts_with(k_bundle_magic)) throw Error("not a bundle");
  Cursor cursor(plain, k_bundle_magic.size());
  const std::uint64_t count = cursor.take<le64>();
  if (count > k_most_bundle_entries) throw Error(fmt::format("its table has {} entries", count));
  std::vector<BundleEntry> entries;
  for (std::uint64_t i = 0; i < count; ++i) {
    BundleEntry entry;
    entry.offset = cursor.take<le64>();
    entry.size = cursor.take<le64>();
    const std::uint64_t id_size = cursor.take<le64>();
    entry.id = cursor.take_bytes(id_size).text();
    entry.target = target_of_entry_id(entry.id);
    (void)plain.slice(entry.offset, entry.size);
    entries.push_back(std::move(entry));
  }
  return entries;
}

struct PackedHeader {
  std::uint64_t size = 0;   // of the header
  std::uint64_t total = 0;  // with the stream; 0: not in the header
  std::uint64_t plain_size = 0;
  int version = 0;
  unsigned method = 0;
};

PackedHeader read_packed_header(Bytes bytes) {
  PackedHeader header;
  Cursor cursor(bytes, k_compressed_bundle_magic.size());
  header.version = cursor.take<le16>();
  header.method = cursor.take<le16>();
  if (header.version == 2) header.total = cursor.take<le32>();
  if (header.version == 3) header.total = cursor.take<le64>();
  header.plain_size = header.version == 3 ? std::uint64_t{cursor.take<le64>()} : std::uint64_t{cursor.take<le32>()};
  cursor.skip(sizeof(le64));
  header.size = cursor.at();
  if (header.version < 1 || header.version > 3 || header.method > 1) throw Error("unknown form of compressed bundle");
  return header;
}

// The new plain bundle; `kept` has one flag for each entry.
std::string rebuilt(const OpenBundle& bundle, const std::vector<bool>& kept) {
  const Bytes plain = bundle.plain.bytes;
  std::uint64_t align = k_bundle_align;
  std::uint64_t table = k_bundle_magic.size() + sizeof(le64);
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < bundle.entries.size(); ++i) {
    while (align > 1 && bundle.entries[i].size != 0 && bundle.entries[i].offset % align != 0) align /= 2;
    if (!kept[i]) continue;
    ++count;
    table += 3 * sizeof(le64) + bundle.entries[i].id.size();
  }
  const auto aligned = [&](std::uint64_t value) { return (value + align - 1) / align * align; };
  std::string out(k_bundle_magic);
  put_field(out, le64(count));
  std::uint64_t at = aligned(table);
  for (std::size_t i = 0; i < bundle.entries.size(); ++i) {
    const BundleEntry& entry = bundle.entries[i];
    if (!kept[i]) continue;
    if (entry.size != 0) at = aligned(at);
    put_field(out, le64(at));
    put_field(out, le64(entry.size));
    put_field(out, le64(entry.id.size()));
    out += entry.id;
    at += entry.size;
  }
  for (std::size_t i = 0; i < bundle.entries.size(); ++i) {
    const BundleEntry& entry = bundle.entries[i];
    if (!kept[i]) continue;
    if (entry.size != 0 || count == 1) out.resize(aligned(out.size()), '\0');
    out += plain.slice(entry.offset, entry.size).text();
  }
  return out;
}

std::string pack_stream(std::string_view plain, unsigned method) {
  std::string out;
  if (method == 1) {
    constexpr int k_level = 9;
    out.resize(ZSTD_compressBound(plain.size()));
    const std::size_t size = ZSTD_compress(out.data(), out.size(), plain.data(), plain.size(), k_level);
    if (ZSTD_isError(size) != 0) throw Error(std::string("zstd: ") + ZSTD_getErrorName(size));
    out.resize(size);
    return out;
  }
  uLongf size = compressBound(plain.size());
  out.resize(size);
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(plain.data()), plain.size(),
                Z_BEST_COMPRESSION) != Z_OK)
    throw Error("zlib cannot compress a bundle");
  out.resize(size);
  return out;
}

std::string packed_bundle(std::string_view plain, const OpenBundle& old) {
  unsigned char md5[EVP_MAX_MD_SIZE] = {};
  unsigned int md5_size = 0;
  if (EVP_Digest(plain.data(), plain.size(), md5, &md5_size, EVP_md5(), nullptr) != 1)
    throw Error("MD5, which compressed bundles need, is not available");
  const std::string stream = pack_stream(plain, old.method);
  std::string out(k_compressed_bundle_magic);
  put_field(out, le16(static_cast<std::uint16_t>(old.version)));
  put_field(out, le16(static_cast<std::uint16_t>(old.method)));
  const std::uint64_t header = old.version == 1 ? 20 : old.version == 2 ? 24 : 32;
  const std::uint64_t total = header + stream.size();
  if (old.version == 2) put_field(out, le32(static_cast<std::uint32_t>(total)));
  if (old.version == 3) put_field(out, le64(total));
  if (old.version == 3)
    put_field(out, le64(plain.size()));
  else
    put_field(out, le32(static_cast<std::uint32_t>(plain.size())));
  out.append(reinterpret_cast<const char*>(md5), sizeof(le64));
  return out + stream;
}

}  // namespace

OpenBundle open_bundle(Bytes bytes) {
  OpenBundle bundle;
  UnpackBudget budget;
  bundle.size = read_hip_bundle(bytes, budget).size;
  if (!bytes.starts_with(k_compressed_bundle_magic)) {
    bundle.plain = {nullptr, bytes.slice(0, bundle.size)};
    bundle.entries = read_entries(bundle.plain.bytes);
    return bundle;
  }
  const PackedHeader header = read_packed_header(bytes);
  bundle.version = header.version;
  bundle.method = header.method;
  const Bytes packed = bytes.slice(header.size, bundle.size - header.size);
  // Code compresses five- to twentyfold; a stream that claims far more is not code.
  const std::uint64_t most = std::min(k_most_plain, packed.size() * 200 + (64U << 20));
  if (header.plain_size > most) throw Error("it claims to unpack to too many bytes");
  const std::shared_ptr<Unpacker> unpacker = make_unpacker(static_cast<Packing>(header.method), packed);
  bundle.plain = {unpacker, unpacker->unpack_to(header.plain_size)};
  if (bundle.plain.bytes.size() != header.plain_size) throw Error("it is truncated");
  bundle.entries = read_entries(bundle.plain.bytes);
  return bundle;
}

SlimmedBundle slim_bundle(Bytes bytes, std::uint64_t offset, const std::string& section, const KeepSet& keep,
                          Slimmed& result, ChangeTally& tally) {
  SlimmedBundle made;
  const OpenBundle bundle = open_bundle(bytes);
  std::vector<CodePiece> pieces;
  std::uint64_t plain_code = 0;
  for (const BundleEntry& entry : bundle.entries) {
    if (entry.target.empty()) continue;
    pieces.push_back({amd_arch(entry.target), CodeKind::hip});
    plain_code += entry.size;
  }
  std::vector<bool> kept_code(pieces.size(), true);
  if (keep.names(Vendor::amd)) kept_code = kept_pieces(pieces, keep);
  note_devices(pieces, keep, result);
  made.kept_any = std::ranges::find(kept_code, true) != kept_code.end();
  std::vector<bool> kept(bundle.entries.size(), true);
  for (std::size_t i = 0, at = 0; i < kept.size(); ++i) {
    if (!bundle.entries[i].target.empty()) kept[i] = kept_code[at++];
  }
  std::uint64_t new_size = bundle.size;
  if (std::ranges::find(kept, false) != kept.end()) {
    std::string text = rebuilt(bundle, kept);
    if (bundle.version != 0) text = packed_bundle(text, bundle);
    if (text.size() <= bundle.size) {
      new_size = text.size();
      made.replacement = Replacement{offset, bundle.size, std::move(text), {}};
    } else {
      kept.assign(kept.size(), true);
      made.kept_any = true;
    }
  }
  // Code objects of a compressed bundle have a share of its size.
  std::uint64_t kept_plain = 0;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i] && !bundle.entries[i].target.empty()) kept_plain += bundle.entries[i].size;
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const BundleEntry& entry = bundle.entries[i];
    if (entry.target.empty()) continue;
    const auto share = [&](std::uint64_t whole, std::uint64_t of) {
      if (bundle.version == 0 || of == 0) return entry.size;
      return static_cast<std::uint64_t>(static_cast<double>(whole) *
                                        (static_cast<double>(entry.size) / static_cast<double>(of)));
    };
    tally.add(section, {amd_arch(entry.target), CodeKind::hip}, share(bundle.size, plain_code), kept[i],
              share(new_size, kept_plain));
  }
  return made;
}

std::vector<Replacement> slim_bundles(Bytes contents, std::uint64_t offset, const std::string& section,
                                      const std::vector<std::uint64_t>& starts, const KeepSet& keep, Slimmed& result,
                                      ChangeTally& tally) {
  std::vector<Replacement> replacements;
  UnpackBudget budget;
  HipWalk walk;
  bool unreadable = false;
  walk.bundle = [&](std::uint64_t at, const HipBundle& found) {
    const Bytes bundle = contents.slice(at, found.size);
    // A bare code object belongs to its wrapper and stays.
    if (!bundle.starts_with(k_bundle_magic) && !bundle.starts_with(k_compressed_bundle_magic)) {
      for (const HipCodeObject& object : found.objects) {
        const CodePiece piece{amd_arch(object.target), CodeKind::hip};
        tally.add(section, piece, object.bytes, true);
        note_devices(std::span(&piece, 1), keep, result);
      }
      return;
    }
    // Without wrappers it is unknown what loads it; a file of bundles is read by its table.
    const bool known = section.empty() || std::binary_search(starts.begin(), starts.end(), at);
    const KeepSet everything;
    SlimmedBundle made = slim_bundle(bundle, offset + at, section, known ? keep : everything, result, tally);
    if (made.replacement) replacements.push_back(*std::move(made.replacement));
  };
  walk.broken = [&](std::uint64_t, const std::string&) { unreadable = true; };
  walk_hip_bundles(contents, starts, budget, walk);
  if (unreadable) result.notes.emplace_back("it has a bundle that cannot be read, which stays");
  return replacements;
}

std::string compare_bundles(Bytes a, Bytes b) {
  const bool is_bundle = a.starts_with(k_bundle_magic) || a.starts_with(k_compressed_bundle_magic);
  if (!is_bundle) {  // a bare code object, or something unreadable: must be the same
    const std::uint64_t size = std::min(a.size(), b.size());
    return size != 0 && std::memcmp(a.data(), b.data(), size) != 0 ? "it differs" : "";
  }
  const OpenBundle before = open_bundle(a), after = open_bundle(b);
  if (before.version != after.version || before.method != after.method) return "it has another form";
  std::size_t at = 0;
  for (const BundleEntry& entry : after.entries) {
    const auto is_same = [&](const BundleEntry& old) {
      return old.id == entry.id && before.plain.bytes.slice(old.offset, old.size).text() ==
                                       after.plain.bytes.slice(entry.offset, entry.size).text();
    };
    while (at < before.entries.size() && !is_same(before.entries[at])) {
      if (before.entries[at].target.empty()) return "a host entry is missing";
      ++at;
    }
    if (at++ == before.entries.size()) return "an entry differs";
  }
  for (; at < before.entries.size(); ++at) {
    if (before.entries[at].target.empty()) return "a host entry is missing";
  }
  return "";
}

std::vector<std::string> prove_bundle_file(Bytes original, Bytes slimmed) {
  const auto starts = [](Bytes bytes) {
    std::vector<std::uint64_t> found;
    UnpackBudget budget;
    HipWalk walk;
    walk.bundle = [&](std::uint64_t at, const HipBundle&) { found.push_back(at); };
    walk.broken = [&](std::uint64_t, const std::string&) {};
    walk_hip_bundles(bytes, {}, budget, walk);
    return found;
  };
  const auto a = starts(original), b = starts(slimmed);
  if (a.size() != b.size()) return {fmt::format("it has {} bundles instead of {}", b.size(), a.size())};
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::string said = compare_bundles(original.from(a[i]), slimmed.from(b[i])); !said.empty())
      return {fmt::format("bundle {}: {}", i, said)};
  }
  return {};
}

}  // namespace wheelsmith::gpu
