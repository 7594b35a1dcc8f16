#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/endian.h"
#include "base/error.h"
#include "base/text.h"
#include "gpu/code/kpack.h"
#include "gpu/code/msgpack.h"
#include "gpu/slim/bundle_entries.h"
#include "gpu/slim/containers.h"

// kpack archives (their layout is in kpack.cc). Builds put one architecture into each, so most stay or go as a whole.
// One that has several is rebuilt: the blobs that stay, as they are, and a table of contents without the other targets.
// Everything in the table that is not known here is copied.

namespace wheelsmith::gpu {

namespace {

constexpr std::uint64_t k_blobs_offset = 64;

struct KpackObject {
  std::string_view kernel, target;
  Bytes pairs;  // the values that describe it, without the head of their map
  std::uint64_t pair_count = 0;
  std::uint64_t ordinal = 0;
  Bytes blob;  // as stored
};

struct OpenKpack {
  Bytes archive, contents;
  bool compressed = false;
  std::vector<KpackObject> objects;
};

// The bytes between two positions of a reader.
Bytes between(Bytes contents, const MsgpackReader& begin, const MsgpackReader& end) {
  return contents.slice(begin.at(), end.at() - begin.at());
}

OpenKpack open_kpack(Bytes archive) {
  OpenKpack kpack;
  kpack.archive = archive;
  kpack.contents = archive.from(archive.get<le64>(8));
  std::optional<MsgpackReader> toc, blobs;
  std::uint64_t zstd_offset = 0, zstd_size = 0;
  MsgpackReader reader(kpack.contents);
  for (std::uint64_t left = reader.take_map(); left != 0; --left) {
    const std::string_view key = reader.take_string();
    MsgpackReader value = reader;
    reader.skip();
    if (key == "toc") toc = value;
    if (key == "blobs") blobs = value;
    if (key == "zstd_offset") zstd_offset = value.take_unsigned();
    if (key == "zstd_size") zstd_size = value.take_unsigned();
    if (key == "compression_scheme") kpack.compressed = value.take_string() == "zstd-per-kernel";
  }
  std::vector<Bytes> stored;
  if (kpack.compressed) {
    Cursor cursor(archive.slice(zstd_offset, zstd_size));
    for (std::uint32_t left = cursor.take<le32>(); left != 0; --left) {
      const std::uint32_t size = cursor.take<le32>();
      stored.push_back(cursor.take_bytes(size));
    }
  } else if (blobs) {
    for (std::uint64_t left = blobs->take_array(); left != 0; --left) {
      std::uint64_t offset = 0, size = 0;
      for (std::uint64_t pairs = blobs->take_map(); pairs != 0; --pairs) {
        const std::string_view key = blobs->take_string();
        if (key == "offset")
          offset = blobs->take_unsigned();
        else if (key == "size")
          size = blobs->take_unsigned();
        else
          throw Error("a blob has values that are not known");
      }
      stored.push_back(archive.slice(offset, size));
    }
  }
  if (!toc) throw Error("it has no table of contents");
  for (std::uint64_t kernels = toc->take_map(); kernels != 0; --kernels) {
    const std::string_view kernel = toc->take_string();
    for (std::uint64_t targets = toc->take_map(); targets != 0; --targets) {
      KpackObject object;
      object.kernel = kernel;
      object.target = toc->take_string();
      object.pair_count = toc->take_map();
      const MsgpackReader begin = *toc;
      std::optional<std::uint64_t> ordinal;
      for (std::uint64_t pairs = object.pair_count; pairs != 0; --pairs) {
        if (toc->take_string() == "ordinal")
          ordinal = toc->take_unsigned();
        else
          toc->skip();
      }
      object.pairs = between(kpack.contents, begin, *toc);
      if (!ordinal || *ordinal >= stored.size()) throw Error("an ordinal is out of range");
      object.ordinal = *ordinal;
      object.blob = stored[*ordinal];
      kpack.objects.push_back(object);
    }
  }
  return kpack;
}

class MsgpackText {
 public:
  void map(std::uint64_t count) { head(count, 0x80, 0xde); }
  void array(std::uint64_t count) { head(count, 0x90, 0xdc); }
  void text(std::string_view text) {
    if (text.size() < 32) {
      m_out.push_back(static_cast<char>(0xa0 + text.size()));
    } else {
      m_out.push_back('\xdb');
      big_endian(text.size(), 4);
    }
    m_out += text;
  }
  void number(std::uint64_t value) {
    if (value < 0x80) {
      m_out.push_back(static_cast<char>(value));
    } else {
      m_out.push_back('\xcf');
      big_endian(value, 8);
    }
  }
  void raw(Bytes bytes) { m_out += bytes.text(); }
  [[nodiscard]] const std::string& done() const { return m_out; }

 private:
  void big_endian(std::uint64_t value, unsigned bytes) {
    for (unsigned i = bytes; i-- > 0;) m_out.push_back(static_cast<char>(value >> (8 * i) & 0xffU));
  }
  void head(std::uint64_t count, unsigned small, unsigned wide) {
    if (count < 16) {
      m_out.push_back(static_cast<char>(small + count));
    } else {
      m_out.push_back(static_cast<char>(wide + 1));
      big_endian(count, 4);
    }
  }
  std::string m_out;
};

// The toc of the kept objects; `ordinals` are the new ones.
void write_toc(MsgpackText& out, const OpenKpack& kpack, const std::vector<bool>& kept,
               const std::map<std::uint64_t, std::uint64_t>& ordinals) {
  std::vector<std::pair<std::string_view, std::vector<const KpackObject*>>> kernels;
  for (std::size_t i = 0; i < kpack.objects.size(); ++i) {
    if (!kept[i]) continue;
    const KpackObject& object = kpack.objects[i];
    if (kernels.empty() || kernels.back().first != object.kernel) kernels.push_back({object.kernel, {}});
    kernels.back().second.push_back(&object);
  }
  out.map(kernels.size());
  for (const auto& [kernel, objects] : kernels) {
    out.text(kernel);
    out.map(objects.size());
    for (const KpackObject* object : objects) {
      out.text(object->target);
      out.map(object->pair_count);
      MsgpackReader reader(object->pairs);
      for (std::uint64_t pairs = object->pair_count; pairs != 0; --pairs) {
        const MsgpackReader begin = reader;
        if (reader.take_string() == "ordinal") {
          reader.skip();
          out.text("ordinal");
          out.number(ordinals.at(object->ordinal));
          continue;
        }
        reader.skip();
        out.raw(between(object->pairs, begin, reader));
      }
    }
  }
}

std::string rebuilt_kpack(const OpenKpack& kpack, const std::vector<bool>& kept) {
  std::map<std::uint64_t, std::uint64_t> ordinals;  // old -> new, in the old order
  std::map<std::uint64_t, Bytes> blobs;
  std::vector<std::string> targets;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) continue;
    blobs.emplace(kpack.objects[i].ordinal, kpack.objects[i].blob);
    targets.emplace_back(kpack.objects[i].target);
  }
  std::string out(kpack.archive.slice(0, 16).text());
  out.resize(k_blobs_offset, '\0');
  const auto put = [&](auto value) { out.append(reinterpret_cast<const char*>(&value), sizeof value); };
  std::vector<OldPart> places;
  if (kpack.compressed) put(le32(static_cast<std::uint32_t>(blobs.size())));
  for (const auto& [ordinal, blob] : blobs) {
    ordinals.emplace(ordinal, ordinals.size());
    if (kpack.compressed) put(le32(static_cast<std::uint32_t>(blob.size())));
    places.push_back({out.size(), blob.size()});
    out += blob.text();
  }
  MsgpackText text;
  MsgpackReader reader(kpack.contents);
  const std::uint64_t keys = reader.take_map();
  text.map(keys);
  for (std::uint64_t left = keys; left != 0; --left) {
    const std::string_view key = reader.take_string();
    const MsgpackReader value = reader;
    reader.skip();
    text.text(key);
    if (key == "toc") {
      write_toc(text, kpack, kept, ordinals);
    } else if (key == "blobs") {
      text.array(places.size());
      for (const OldPart& place : places) {
        text.map(2);
        text.text("offset");
        text.number(place.offset);
        text.text("size");
        text.number(place.size);
      }
    } else if (key == "zstd_offset") {
      text.number(k_blobs_offset);
    } else if (key == "zstd_size") {
      text.number(out.size() - k_blobs_offset);
    } else if (key == "gfx_arches") {
      // The runtime searches an archive only for these.
      MsgpackReader old = value;
      std::vector<std::string_view> names;
      for (std::uint64_t count = old.take_array(); count != 0; --count) {
        const std::string_view name = old.take_string();
        const bool is_used = std::ranges::any_of(targets, [&](const std::string& target) {
          return target == name || target.substr(0, target.find(':')) == name;
        });
        if (is_used) names.push_back(name);
      }
      text.array(names.size());
      for (const std::string_view name : names) text.text(name);
    } else {
      text.raw(between(kpack.contents, value, reader));
    }
  }
  const le64 contents_offset(out.size());
  out.replace(8, sizeof contents_offset, reinterpret_cast<const char*>(&contents_offset), sizeof contents_offset);
  return out + text.done();
}

}  // namespace

void slim_kpack(Bytes archive, const KeepSet& keep, Slimmed& result, ChangeTally& tally) {
  const KpackContents contents = read_kpack(archive);
  if (!contents.problems.empty()) throw Error(contents.problems[0]);
  const OpenKpack kpack = open_kpack(archive);
  std::vector<bool> kept(kpack.objects.size(), true);
  // The targets of one kernel are a container: the runtime chooses one of them.
  for (std::size_t first = 0; first < kept.size();) {
    std::size_t last = first;
    std::vector<CodePiece> pieces;
    for (; last < kept.size() && kpack.objects[last].kernel == kpack.objects[first].kernel; ++last)
      pieces.push_back({amd_arch(normal_target_id(kpack.objects[last].target)), CodeKind::hip});
    const std::vector<bool> chosen = kept_pieces(pieces, keep);
    note_devices(pieces, keep, result);
    for (std::size_t i = first; i < last; ++i) {
      if (keep.names(Vendor::amd)) kept[i] = chosen[i - first];
      tally.add("", pieces[i - first], kpack.objects[i].blob.size(), kept[i]);
    }
    first = last;
  }
  result.changed = std::ranges::find(kept, false) != kept.end();
  result.empty = result.changed && std::ranges::find(kept, true) == kept.end();
  if (result.changed && !result.empty) result.splice.bytes(rebuilt_kpack(kpack, kept));
}

std::vector<std::string> prove_kpack(Bytes original, Bytes slimmed) {
  const auto by_name = [](Bytes archive) {
    if (!read_kpack(archive).problems.empty()) throw Error("it has unreadable objects");
    std::map<std::pair<std::string_view, std::string_view>, std::string_view> found;
    for (const KpackObject& object : open_kpack(archive).objects)
      found.emplace(std::pair(object.kernel, object.target), object.blob.text());
    return found;
  };
  const auto before = by_name(original), after = by_name(slimmed);
  for (const auto& [name, blob] : after) {
    const auto old = before.find(name);
    if (old == before.end() || old->second != blob)
      return {fmt::format("{} for {} differs", printable(name.first), printable(name.second))};
  }
  return {};
}

}  // namespace wheelsmith::gpu
