#include "gpu/code/kpack.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "base/endian.h"
#include "base/error.h"
#include "base/text.h"
#include "gpu/code/msgpack.h"

// ROCm's archives of code objects, separate from the host libraries that use them. Version 1:
//
//   archive = KpackHeader, zeros up to offset 64, blobs, contents (MessagePack, to the end of the file)
//   contents = { "compression_scheme": "none" | "zstd-per-kernel", "toc": { "NAME#INDEX": { TARGET ID: {
//                "type": "hsaco", "ordinal": N, "original_size": N } } }, … }
//   with "none":            "blobs": [ { "offset": N, "size": N } ], the ordinal is an index into it
//   with "zstd-per-kernel": "zstd_offset": N, "zstd_size": N; there lie le32 count, then count times le32 size and a
//                           zstd frame of that size, the ordinal counts them

namespace wheelsmith::gpu {
namespace {

constexpr std::uint64_t k_most_kernels = 1'048'576;  // the limit of ROCm's own reader
constexpr std::size_t k_most_kept_problems = 32;

struct KpackHeader {
  char magic[4];
  le32 version;
  le64 contents_offset;
};
static_assert(sizeof(KpackHeader) == 16);

// The locations of the parts of the contents, which may be in any order in the map.
struct Contents {
  std::string_view scheme;
  std::optional<MsgpackReader> toc;
  std::optional<MsgpackReader> blobs;
  std::optional<std::uint64_t> zstd_offset;
  std::optional<std::uint64_t> zstd_size;
};

Contents find_contents(MsgpackReader reader) {
  Contents contents;
  for (std::uint64_t left = reader.take_map(); left != 0; --left) {
    const std::string_view key = reader.take_string();
    MsgpackReader value = reader;
    reader.skip();
    if (key == "compression_scheme") contents.scheme = value.take_string();
    if (key == "toc") contents.toc = value;
    if (key == "blobs") contents.blobs = value;
    if (key == "zstd_offset") contents.zstd_offset = value.take_unsigned();
    if (key == "zstd_size") contents.zstd_size = value.take_unsigned();
  }
  return contents;
}

std::vector<std::uint64_t> blob_sizes(Bytes archive, MsgpackReader reader) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t left = reader.take_array(); left != 0; --left) {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    for (std::uint64_t pairs = reader.take_map(); pairs != 0; --pairs) {
      const std::string_view key = reader.take_string();
      if (key == "offset") {
        offset = reader.take_unsigned();
      } else if (key == "size") {
        size = reader.take_unsigned();
      } else {
        reader.skip();
      }
    }
    if (!archive.contains(offset, size)) throw Error(fmt::format("blob {} is outside the file", sizes.size()));
    sizes.push_back(size);
  }
  return sizes;
}

std::vector<std::uint64_t> frame_sizes(Bytes frames) {
  Cursor cursor(frames);
  const std::uint32_t count = cursor.take<le32>();
  if (count > k_most_kernels) throw Error(fmt::format("too many compressed code objects: {}", count));
  std::vector<std::uint64_t> sizes;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint32_t size = cursor.take<le32>();
    cursor.skip(size);
    sizes.push_back(size);
  }
  return sizes;
}

std::vector<std::uint64_t> packed_sizes(Bytes archive, const Contents& contents) {
  if (contents.scheme == "none") {
    if (!contents.blobs) throw Error("its contents name no blobs");
    return blob_sizes(archive, *contents.blobs);
  }
  if (contents.scheme == "zstd-per-kernel") {
    if (!contents.zstd_offset || !contents.zstd_size) throw Error("its contents do not give the location of the blobs");
    return frame_sizes(archive.slice(*contents.zstd_offset, *contents.zstd_size));
  }
  throw Error(fmt::format("unknown compression scheme '{}'", printable(contents.scheme.substr(0, 64))));
}

HipCodeObject read_object(std::string_view target, MsgpackReader reader, const std::vector<std::uint64_t>& sizes) {
  std::optional<std::uint64_t> ordinal;
  std::optional<std::uint64_t> original_size;
  for (std::uint64_t pairs = reader.take_map(); pairs != 0; --pairs) {
    const std::string_view key = reader.take_string();
    if (key == "ordinal") {
      ordinal = reader.take_unsigned();
    } else if (key == "original_size") {
      original_size = reader.take_unsigned();
    } else {
      reader.skip();
    }
  }
  if (!ordinal || *ordinal >= sizes.size()) throw Error("its ordinal is out of range");
  const std::uint64_t size = sizes[*ordinal];
  return {normal_target_id(target), size, original_size.value_or(size)};
}

}  // namespace

KpackContents read_kpack(Bytes archive) {
  if (!archive.starts_with(k_kpack_magic)) throw Error("not a kpack archive");
  const auto header = archive.get<KpackHeader>(0);
  if (header.version != 1) throw Error(fmt::format("unknown version {}", std::uint32_t{header.version}));
  const Contents contents = find_contents(MsgpackReader(archive.from(header.contents_offset)));
  if (!contents.toc) throw Error("it has no table of contents");
  const std::vector<std::uint64_t> sizes = packed_sizes(archive, contents);

  KpackContents result;
  MsgpackReader reader = *contents.toc;
  for (std::uint64_t kernels = reader.take_map(); kernels != 0; --kernels) {
    const std::string_view kernel = reader.take_string();
    for (std::uint64_t targets = reader.take_map(); targets != 0; --targets) {
      const std::string_view target = reader.take_string();
      const MsgpackReader value = reader;
      reader.skip();
      try {
        result.objects.push_back(read_object(target, value, sizes));
      } catch (const Error& error) {
        if (result.problems.size() == k_most_kept_problems) continue;
        result.problems.push_back(fmt::format("{} for {}: {}", printable(kernel.substr(0, 256)),
                                              printable(target.substr(0, 128)), error.what()));
      }
    }
  }
  return result;
}

DeviceCode::KpackReference read_kpack_reference(Bytes section) {
  MsgpackReader reader(section);
  DeviceCode::KpackReference reference;
  bool named = false;
  for (std::uint64_t pairs = reader.take_map(); pairs != 0; --pairs) {
    const std::string_view key = reader.take_string();
    if (key == "kernel_name") {
      reference.kernel_name = reader.take_string();
      named = true;
    } else if (key == "kpack_search_paths") {
      for (std::uint64_t paths = reader.take_array(); paths != 0; --paths) {
        reference.search_paths.emplace_back(reader.take_string());
      }
    } else {
      reader.skip();
    }
  }
  if (!named) throw Error("it names no kernel");
  return reference;
}

}  // namespace wheelsmith::gpu
