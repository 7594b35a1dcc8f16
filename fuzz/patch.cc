// module: source
// Parses the input as a patch and checks that no resulting name leaves its folder.

#include "source/patches/patch.h"

#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "base/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wheelsmith;
  try {
    for (const source::PatchedFile& file : source::read_patch({reinterpret_cast<const char*>(data), size})) {
      for (const std::string_view part : split(file.name, '/')) {
        if (part == ".." || part == ".git") __builtin_trap();
      }
    }
  } catch (const Error&) {}
  return 0;
}
