#include "cache/entry.h"

#include <zstd.h>

#include <algorithm>
#include <memory>

#include "base/endian.h"
#include "base/error.h"
#include "base/hash.h"
#include "cache/texts.h"

namespace wheelsmith::cache {

namespace {

constexpr std::string_view k_magic = "wsobj001";
constexpr std::size_t k_most_variants = 16;  // a header that changes with each build must not fill the disk

struct EntryHeader {
  char magic[8];
  std::uint8_t digest[32];  // of everything after it, and of the key
  le64 size;                // of the content
  le64 packed;              // 0: not compressed
};
static_assert(sizeof(EntryHeader) == 56);

constexpr std::size_t k_digest_size = 32;

std::string join_digests(const std::vector<std::string>& digests) {
  std::string text;
  for (const std::string& digest : digests) text += digest;
  return text;
}

std::vector<std::string> split_digests(const std::string& text) {
  std::vector<std::string> digests;
  for (std::size_t at = 0; at + k_digest_size <= text.size(); at += k_digest_size)
    digests.push_back(text.substr(at, k_digest_size));
  return digests;
}

Digest entry_digest(std::string_view key, const EntryHeader& header, std::string_view body) {
  Sha256 hash;
  hash.update(key);
  hash.update(Bytes(&header.size, sizeof header.size + sizeof header.packed));
  hash.update(body);
  return hash.finish();
}

}  // namespace

void Unit::add(Variant variant) {
  std::erase_if(variants, [&](const Variant& other) {
    return other.result == variant.result || (other.files == variant.files && other.digests == variant.digests &&
                                              other.search == variant.search && other.beside == variant.beside);
  });
  variants.insert(variants.begin(), std::move(variant));
  if (variants.size() > k_most_variants) variants.resize(k_most_variants);
}

std::string Unit::to_bytes() const {
  TextWriter writer;
  writer.add_number(variants.size());
  for (const Variant& variant : variants) {
    writer.add(variant.files).add(join_digests(variant.digests)).add(variant.names).add(variant.search);
    writer.add(variant.beside).add(variant.result);
  }
  return writer.take();
}

Unit Unit::from_bytes(std::string_view bytes) {
  TextReader reader(bytes);
  Unit unit;
  const std::uint64_t count = reader.number();
  if (count > k_most_variants) throw Error("a cache entry has too many variants");
  for (std::uint64_t i = 0; i < count; ++i) {
    Variant variant;
    variant.files = reader.list();
    variant.digests = split_digests(reader.text());
    variant.names = reader.list();
    variant.search = reader.text();
    variant.beside = reader.list();
    variant.result = reader.text();
    if (variant.digests.size() != variant.files.size()) throw Error("a cache entry has missing digests");
    unit.variants.push_back(std::move(variant));
  }
  return unit;
}

std::string Result::to_bytes() const {
  return TextWriter().add(object).add(output).add(errors).add_number(milliseconds).take();
}

Result Result::from_bytes(std::string_view bytes) {
  TextReader reader(bytes);
  Result result;
  result.object = reader.text();
  result.output = reader.text();
  result.errors = reader.text();
  result.milliseconds = reader.last_number();
  return result;
}

std::string pack_entry(std::string_view key, std::string_view content, int level) {
  EntryHeader header{};
  k_magic.copy(header.magic, sizeof header.magic);
  header.size = content.size();
  std::string bytes(sizeof header, '\0');
  if (level > 0) {
    bytes.resize(sizeof header + ZSTD_compressBound(content.size()));
    const std::size_t packed = ZSTD_compress(bytes.data() + sizeof header, bytes.size() - sizeof header, content.data(),
                                             content.size(), level);
    header.packed = ZSTD_isError(packed) != 0 ? 0 : packed;
  }
  bytes.resize(sizeof header + header.packed);
  if (header.packed == 0) bytes += content;
  const Digest digest = entry_digest(key, header, std::string_view(bytes).substr(sizeof header));
  std::copy(digest.begin(), digest.end(), header.digest);
  bytes.replace(0, sizeof header, reinterpret_cast<const char*>(&header), sizeof header);
  return bytes;
}

std::optional<std::string> unpack_entry(std::string_view key, std::string_view bytes, std::uint64_t limit) {
  if (bytes.size() < sizeof(EntryHeader)) return std::nullopt;
  const auto header = Bytes(bytes).get<EntryHeader>(0);
  const std::string_view body = bytes.substr(sizeof header);
  if (std::string_view(header.magic, sizeof header.magic) != k_magic || header.size > limit) return std::nullopt;
  const Digest digest = entry_digest(key, header, body);
  if (!std::equal(digest.begin(), digest.end(), header.digest)) return std::nullopt;
  if (header.packed == 0) return body.size() == header.size ? std::optional(std::string(body)) : std::nullopt;
  std::string content(header.size, '\0');
  if (body.size() != header.packed ||
      ZSTD_decompress(content.data(), content.size(), body.data(), body.size()) != content.size())
    return std::nullopt;
  return content;
}

}  // namespace wheelsmith::cache
