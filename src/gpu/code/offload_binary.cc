#include "gpu/code/offload_binary.h"

#include <fmt/format.h>

#include <string_view>

#include "base/endian.h"
#include "base/error.h"

// The format that clang's new driver puts into unlinked object files: a sequence of binaries, each with one image and
// strings that describe it.
//
//   section = binary*    binary = BinaryHeader … ImageHeader, Text{texts}, C strings, the image

namespace wheelsmith::gpu {
namespace {

constexpr std::string_view k_magic = "\x10\xFF\x10\xAD";
constexpr std::uint64_t k_most_texts = 64;

struct BinaryHeader {
  char magic[4];
  le32 version;
  le64 size;  // of the binary, this header included
  le64 image_header_offset;
  le64 image_header_size;
};
static_assert(sizeof(BinaryHeader) == 32);

struct ImageHeader {
  le16 image_kind;
  le16 offload_kind;
  le32 flags;
  le64 texts_offset;
  le64 texts;
  le64 image_offset;
  le64 image_size;
};
static_assert(sizeof(ImageHeader) == 40);

struct Text {
  le64 key_offset;
  le64 value_offset;
};

void read_binary(Bytes binary, const BinaryHeader& header, std::vector<HipCodeObject>& objects) {
  const auto image = binary.get<ImageHeader>(header.image_header_offset);
  (void)binary.slice(image.image_offset, image.image_size);
  if (image.texts > k_most_texts) throw Error(fmt::format("too many strings: {}", std::uint64_t{image.texts}));
  std::string_view triple;
  std::string_view arch;
  Cursor texts(binary, image.texts_offset);
  for (std::uint64_t left = image.texts; left != 0; --left) {
    const auto text = texts.take<Text>();
    const std::string_view key = binary.c_string(text.key_offset);
    if (key == "triple") triple = binary.c_string(text.value_offset);
    if (key == "arch") arch = binary.c_string(text.value_offset);
  }
  if (triple.starts_with("amdgcn") || triple.starts_with("spirv64-amd")) {
    objects.push_back({normal_target_id(arch), image.image_size, image.image_size});
  }
}

}  // namespace

std::vector<HipCodeObject> read_offload_binaries(Bytes section) {
  std::vector<HipCodeObject> objects;
  for (std::uint64_t at = 0; section.contains(at, sizeof(BinaryHeader));) {
    const auto header = section.get<BinaryHeader>(at);
    if (!section.from(at).starts_with(k_magic)) throw Error(fmt::format("not an offload binary at {:#x}", at));
    if (header.size < sizeof(BinaryHeader)) throw Error(fmt::format("the binary at {:#x} has an invalid size", at));
    read_binary(section.slice(at, header.size), header, objects);
    at += (header.size + 7) / 8 * 8;
  }
  return objects;
}

}  // namespace wheelsmith::gpu
