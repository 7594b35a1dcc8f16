// A file is read once: in pieces for the hash, and the few relevant parts (the ZIP directory, METADATA) into a sparse
// image of the file. The file itself is not mapped: if it shrank while mapped, the program would crash, and `serve`
// reads folders that other programs write to.

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>

#include "archive/archive.h"
#include "base/attempt.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "document/value.h"
#include "index/file.h"
#include "pep/metadata/metadata.h"
#include "pep/requirement.h"
#include "pep/wheel_name.h"
#include "sys/process/process.h"
#include "zip/archive.h"

namespace wheelsmith::index {

namespace {

constexpr std::uint64_t k_piece = 1 << 20;
constexpr std::size_t k_longest_quote = 200;
constexpr std::uint64_t k_first_tail = 256 << 10;
constexpr std::uint64_t k_most_metadata = 16 << 20;
constexpr std::uint64_t k_most_sdist = 1ull << 30;  // of a larger one only the hash is published

// Memory as large as the file; untouched parts are zero and take no space.
class Image {
 public:
  explicit Image(const sys::OpenFile& file) : m_file(file), m_size(file.stat().size) {
    if (m_size == 0) throw Error("is empty");
    m_data = ::mmap(nullptr, m_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m_data == MAP_FAILED) throw Error("not enough memory to read it");
  }
  ~Image() { ::munmap(m_data, m_size); }
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  void fill(std::uint64_t offset, std::uint64_t size) {
    offset = std::min(offset, m_size);
    size = std::min(size, m_size - offset);
    const std::span<std::uint8_t> into(static_cast<std::uint8_t*>(m_data) + offset, size);
    if (m_file.read_at(offset, into) != size) throw Error("shrank while it was read");
  }
  [[nodiscard]] Bytes bytes() const { return {m_data, m_size}; }
  [[nodiscard]] std::uint64_t size() const { return m_size; }

 private:
  const sys::OpenFile& m_file;
  std::uint64_t m_size;
  void* m_data;
};

// The directory is at the end of the file, and only its end record gives its length: more and more of the tail is
// filled in until the directory can be read, or the whole file is there and it cannot.
zip::Archive open_archive(Image& image) {
  for (std::uint64_t tail = k_first_tail;; tail *= 16) {
    const bool all = tail >= image.size();
    image.fill(all ? 0 : image.size() - tail, tail);
    if (all) return zip::Archive::open(image.bytes());
    if (auto archive = if_valid([&] { return zip::Archive::open(image.bytes()); })) return std::move(*archive);
  }
}

std::string read_member(const zip::Archive& archive, const zip::Entry& entry, Image& image) {
  if (entry.size > k_most_metadata) throw Error(fmt::format("{} has {}", entry.name, human_bytes(entry.size)));
  image.fill(entry.header_offset, entry.room_end - std::min(entry.room_end, entry.header_offset));
  return std::string(archive.read(entry).bytes.text());
}

// The one .dist-info folder at the top that is the package's own.
const zip::Entry* find_in_dist_info(const zip::Archive& archive, const FileName& name, std::string_view member) {
  const zip::Entry* found = nullptr;
  for (const zip::Entry& entry : archive.entries()) {
    const std::string_view path = entry.name;
    if (!path.ends_with(member) || path.size() <= member.size()) continue;
    const std::size_t slash = path.find('/');
    if (slash != path.size() - member.size() - 1) continue;
    std::string_view folder = path.substr(0, slash);
    if (!folder.ends_with(".dist-info")) continue;
    folder.remove_suffix(10);
    if (pep::normalized_name(folder.substr(0, folder.rfind('-'))) == name.project) found = &entry;
  }
  return found;
}

void read_variant(const zip::Archive& archive, const FileName& name, Image& image, Facts& facts) {
  const zip::Entry* member = find_in_dist_info(archive, name, "variant.json");
  if (name.label.empty() && member == nullptr) return;
  if (member == nullptr) throw Error("its name has a variant label, but its .dist-info has no variant.json");
  const document::Value value = document::parse_json(read_member(archive, *member, image), member->name);
  const document::Table* variants = value["variants"].table();
  if (variants == nullptr || variants->size() != 1 || variants->begin()->first != name.label)
    throw Error(fmt::format("its variant.json does not match the label \"{}\"", name.label));
  facts.variant = document::canonical_json(value);
}

// A value shortened for findings: metadata may contain megabytes instead of a name.
std::string shortened(std::string_view text) {
  return text.size() <= k_longest_quote ? std::string(text) : std::string(text.substr(0, k_longest_quote)) + "…";
}

void read_requires_python(const pep::Headers& metadata, Facts& facts) {
  const std::string wanted(trim(metadata.get("Requires-Python")));
  if (pep::try_parse_specifiers(wanted)) {
    facts.requires_python = wanted;
  } else {
    facts.remark =
        fmt::format("its Requires-Python \"{}\" is not a valid specifier list and is omitted", shortened(wanted));
  }
}

void read_wheel(Image& image, const FileName& name, Facts& facts) {
  const zip::Archive archive = open_archive(image);
  const zip::Entry* member = find_in_dist_info(archive, name, "METADATA");
  if (member == nullptr) throw Error(fmt::format("it has no .dist-info/METADATA of {}", name.project));
  const std::string text = read_member(archive, *member, image);
  const pep::Headers metadata = pep::Headers::parse(Bytes(text));
  if (pep::normalized_name(metadata.get("Name")) != name.project)
    throw Error(fmt::format("its METADATA has Name \"{}\"", shortened(metadata.get("Name"))));
  const auto version = pep::Version::try_parse(metadata.get("Version"));
  if (!version || *version != name.parsed)
    throw Error(fmt::format("its METADATA has Version \"{}\"", shortened(metadata.get("Version"))));
  facts.metadata_sha256 = to_hex(sha256(Bytes(text)));
  read_requires_python(metadata, facts);
  read_variant(archive, name, image, facts);
}

// PKG-INFO at the top of a source distribution, or "" if there is none; the rest is not unpacked.
std::string read_pkg_info(Image& image, std::string_view file_name) {
  const auto is_it = [](std::string_view path) {
    return path.ends_with("/PKG-INFO") && path.find('/') == path.size() - 9;
  };
  image.fill(0, image.size());
  if (file_name.ends_with(".zip")) {
    const zip::Archive archive = zip::Archive::open(image.bytes());
    for (const zip::Entry& entry : archive.entries()) {
      if (is_it(entry.name)) return read_member(archive, entry, image);
    }
    return "";
  }
  struct Enough {};
  std::string text;
  bool inside = false;
  try {
    archive::read_tar(
        image.bytes(),
        [&](const archive::TarEntry& entry) {
          if (inside) throw Enough();
          inside = entry.kind == archive::TarEntry::Kind::file && is_it(entry.name);
        },
        [&](Bytes piece) {
          if (!inside) return;
          text += piece.text();
          if (text.size() > k_most_metadata) throw Error("its PKG-INFO is too large");
        });
  } catch (const Enough&) {  // PKG-INFO was read; the rest is not needed
  }
  return text;
}

void read_sdist(Image& image, const FileName& name, std::string_view file_name, Facts& facts) {
  if (image.size() > k_most_sdist) return;
  const std::string text = read_pkg_info(image, file_name);
  if (text.empty()) return;  // a plain repository archive; installers accept it too
  const pep::Headers metadata = pep::Headers::parse(Bytes(text));
  if (pep::normalized_name(metadata.get("Name")) != name.project)
    throw Error(fmt::format("its PKG-INFO has Name \"{}\"", shortened(metadata.get("Name"))));
  read_requires_python(metadata, facts);
}

}  // namespace

Facts read_facts(const sys::OpenFile& file, const FileName& name, std::string_view file_name) {
  Facts facts;
  Sha256 hash;
  std::vector<std::uint8_t> piece(static_cast<std::size_t>(std::clamp<std::uint64_t>(file.stat().size, 1, k_piece)));
  std::uint64_t at = 0;
  while (const std::size_t size = file.read_at(at, piece)) {
    if (sys::interrupted()) throw Error("interrupted");
    hash.update(Bytes(piece.data(), size));
    at += size;
  }
  facts.sha256 = to_hex(hash.finish());
  try {
    Image image(file);
    if (name.kind == FileKind::wheel) {
      read_wheel(image, name, facts);
    } else {
      read_sdist(image, name, file_name, facts);
    }
  } catch (const Error& error) {  // one input becomes an item with an error
    Facts broken;
    broken.sha256 = facts.sha256;
    broken.problem = error.what();
    facts = std::move(broken);
  }
  if (at != file.stat().size || file.stat_now() != file.stat()) throw Error("changed while it was read");
  return facts;
}

std::optional<std::string> read_metadata(const sys::OpenFile& file, const FileName& name) {
  try {
    Image image(file);
    const zip::Archive archive = open_archive(image);
    const zip::Entry* member = find_in_dist_info(archive, name, "METADATA");
    if (member == nullptr) return std::nullopt;
    return read_member(archive, *member, image);
  } catch (const Error&) {  // it changed since it was indexed; both callers report it
    return std::nullopt;
  }
}

}  // namespace wheelsmith::index
