#include "archive/archive.h"

// A tar archive has no directory: it is read from the first header to the end mark, and most readers trust every
// header. This reader checks what can be checked: the header's checksum, the compressor's checksum, and the presence of
// the end mark (a truncated archive looks like a shorter one).
//
// Where readers disagree, an archive can show different contents to a reviewer and to an installer. So ambiguous
// archives are rejected: content after folders and symbolic links (Python skips none, GNU tar does), sparse files,
// bytes after the compressed data.
//
// Memory is one buffer of 256 kB, at most 1 MB for names, and the decompressor's window, however large the archive is.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "archive/tar_header.h"
#include "archive/unpack_stream.h"
#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::archive {

namespace {

constexpr std::uint64_t k_piece = 256 << 10;
constexpr std::uint64_t k_longest_records = 1 << 20;
constexpr std::size_t k_longest_target = 4096;

std::uint64_t times(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? ~std::uint64_t{0} : product;
}

// The unpacked stream with all limits on it.
class Tape {
 public:
  Tape(Bytes packed, const TarLimits& limits)
      : m_stream(unpack_stream(packed)),
        m_buffer(k_piece),
        m_limit(std::min(limits.bytes, std::max(limits.free_bytes, times(limits.ratio, packed.size())))) {}

  // Exactly that many bytes, in pieces.
  void take(std::uint64_t size, const std::function<void(Bytes)>& on_piece) {
    while (size > 0) {
      const std::uint64_t got = fill(std::min(size, k_piece));
      if (got == 0) throw Error("tar: the archive is truncated in the middle of an entry");
      if (on_piece) on_piece(Bytes(m_buffer.data(), got));
      size -= got;
    }
  }

  // Nothing at the end of the stream.
  std::optional<Header> take_header() {
    Header header;
    auto* into = reinterpret_cast<std::uint8_t*>(&header);
    std::uint64_t done = 0;
    while (done < k_block) {
      const std::uint64_t got = fill(k_block - done);
      if (got == 0) break;
      std::memcpy(into + done, m_buffer.data(), got);
      done += got;
    }
    if (done == 0) return {};
    if (done < k_block) throw Error("tar: the archive is truncated in the middle of a header");
    return header;
  }

  // To the end, so that the compressor's checksum is compared.
  void drain() {
    while (fill(k_piece) != 0) {}
  }

  [[nodiscard]] bool proves_its_end() const { return m_stream->proves_its_end(); }

 private:
  std::uint64_t fill(std::uint64_t size) {
    const std::uint64_t got = m_stream->read(std::span(m_buffer).first(size));
    m_total += got;
    if (m_total > m_limit) {
      throw Error(fmt::format("tar: it unpacks to more than {}, far more than its size allows", human_bytes(m_limit)));
    }
    return got;
  }

  std::unique_ptr<Stream> m_stream;
  std::vector<std::uint8_t> m_buffer;
  std::uint64_t m_limit;
  std::uint64_t m_total = 0;
};

std::string_view refused_kind(char typeflag) {
  switch (typeflag) {
    case '3': return "a character device";
    case '4': return "a block device";
    case '6': return "a FIFO";
    case 'S': return "a sparse file";
    case 'M': return "a part of a file on several volumes";
    default: return "an entry of unknown type";
  }
}

TarEntry::Kind kind_of(const Header& header, std::string_view name) {
  switch (header.typeflag) {
    case '\0':
    case '0':
    case '7':
      // Archives from before ustar mark folders by the name's last character only.
      return name.ends_with('/') ? TarEntry::Kind::folder : TarEntry::Kind::file;
    case '1': return TarEntry::Kind::hardlink;
    case '2': return TarEntry::Kind::symlink;
    case '5': return TarEntry::Kind::folder;
    default:
      throw Error(fmt::format("tar: {} is {}, which is not supported", printable(name), refused_kind(header.typeflag)));
  }
}

class Reader {
 public:
  Reader(Bytes packed, const std::function<void(const TarEntry&)>& on_entry,
         const std::function<void(Bytes)>& on_content, const TarLimits& limits)
      : m_tape(packed, limits), m_on_entry(on_entry), m_on_content(on_content), m_limits(limits) {}

  void run() {
    bool first = true;
    while (const std::optional<Header> header = m_tape.take_header()) {
      if (is_zero_block(*header)) {
        m_tape.drain();
        return;
      }
      if (!checksum_holds(*header)) {
        throw Error(first ? "not a tar archive: its first header has no valid checksum"
                          : "tar: a header has no valid checksum: the archive is corrupt");
      }
      first = false;
      take(*header);
    }
    if (first) throw Error("not a tar archive: it is empty");
    if (!m_tape.proves_its_end()) throw Error("tar: the archive is truncated: it has no end mark");
  }

 private:
  void take(const Header& header) {
    // Each entry may have a pax header and two long names in front.
    if (++m_headers > times(4, m_limits.entries)) refuse_count();
    const std::optional<std::int64_t> size = field_number({header.size, sizeof header.size});
    if (!size || *size < 0) throw Error("tar: the size in a header is not a number");
    switch (header.typeflag) {
      case 'x': parse_pax(take_records(*size), m_next); return;
      case 'g': parse_pax(take_records(*size), m_global); return;
      case 'L': m_next["path"] = take_c_string(*size); return;
      case 'K': m_next["linkpath"] = take_c_string(*size); return;
      default: take_entry(header, static_cast<std::uint64_t>(*size));
    }
  }

  void take_entry(const Header& header, std::uint64_t size) {
    if (++m_entries > m_limits.entries) refuse_count();
    const std::string written = said("path").value_or(header_name(header));
    TarEntry entry;
    entry.kind = kind_of(header, written);
    entry.name = plain_name(written);
    entry.mode = static_cast<unsigned>(field_number({header.mode, sizeof header.mode}).value_or(0644) & 07777);
    entry.mtime = field_number({header.mtime, sizeof header.mtime}).value_or(0);
    if (const auto time = said("mtime")) entry.mtime = parse_pax_time(*time);
    if (const auto text = said("size")) {
      const auto number = to_number(*text);
      if (!number) throw Error(fmt::format("tar: the size of {} is not a number", printable(entry.name)));
      size = *number;
    }
    set_target(header, entry);
    m_next.clear();
    // The size of a hard link is the size of its target.
    entry.size = entry.kind == TarEntry::Kind::hardlink ? 0 : size;
    if (entry.kind != TarEntry::Kind::file && entry.size != 0) {
      throw Error(fmt::format("tar: {} is not a file, but has {} bytes of content", printable(entry.name), size));
    }
    if (entry.name.empty()) {
      if (entry.kind != TarEntry::Kind::folder) throw Error("tar: an entry has no name");
      return;
    }
    m_on_entry(entry);
    m_tape.take(entry.size, m_on_content);
    skip_padding(entry.size);
  }

  void set_target(const Header& header, TarEntry& entry) const {
    if (entry.kind != TarEntry::Kind::symlink && entry.kind != TarEntry::Kind::hardlink) return;
    entry.target = said("linkpath").value_or(std::string(field_text(header.link_name)));
    const bool usable = !entry.target.empty() && entry.target.size() <= k_longest_target &&
                        entry.target.find('\0') == std::string::npos;
    if (!usable) throw Error(fmt::format("tar: the link {} has no target", printable(entry.name)));
    if (entry.kind == TarEntry::Kind::hardlink) entry.target = plain_name(entry.target);
  }

  // What pax or GNU headers say; an empty value means "as in the header".
  [[nodiscard]] std::optional<std::string> said(std::string_view key) const {
    for (const Records* records : {&m_next, &m_global}) {
      const auto found = records->find(key);
      if (found == records->end()) continue;
      if (found->second.empty()) return {};
      return found->second;
    }
    return {};
  }

  std::string take_records(std::int64_t size) {
    const auto bytes = static_cast<std::uint64_t>(size);
    if (bytes > k_longest_records) throw Error("tar: a header exceeds 1 MB");
    std::string text;
    m_tape.take(bytes, [&](Bytes piece) { text += piece.text(); });
    skip_padding(bytes);
    return text;
  }

  std::string take_c_string(std::int64_t size) {
    std::string text = take_records(size);
    text.resize(std::min(text.size(), text.find('\0')));
    return text;
  }

  void skip_padding(std::uint64_t size) { m_tape.take((k_block - size % k_block) % k_block, {}); }

  [[noreturn]] void refuse_count() const {
    throw Error(fmt::format("tar: it has more than {} entries", m_limits.entries));
  }

  Tape m_tape;
  const std::function<void(const TarEntry&)>& m_on_entry;
  const std::function<void(Bytes)>& m_on_content;
  const TarLimits& m_limits;
  Records m_global;
  Records m_next;
  std::uint64_t m_entries = 0;
  std::uint64_t m_headers = 0;
};

void refuse_other_formats(Bytes packed) {
  constexpr std::pair<std::string_view, std::string_view> k_others[] = {
      {"BZh", "bzip2"}, {"\x1f\x9d", "compress"}, {"LZIP", "lzip"}, {"7z\xbc\xaf", "7z"}, {"PK\3\4", "zip"}};
  if (packed.size() >= k_block && checksum_holds(packed.get<Header>(0))) return;
  for (const auto& [magic, name] : k_others) {
    if (!packed.starts_with(magic)) continue;
    throw Error(
        fmt::format("this is {} data, which is not supported for tar archives; repack it with gzip, xz or zstd", name));
  }
}

}  // namespace

void read_tar(Bytes packed, const std::function<void(const TarEntry&)>& on_entry,
              const std::function<void(Bytes)>& on_content, const TarLimits& limits) {
  refuse_other_formats(packed);
  Reader(packed, on_entry, on_content, limits).run();
}

}  // namespace wheelsmith::archive
