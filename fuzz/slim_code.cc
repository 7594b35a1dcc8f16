// module: gpu
// A file as the input of slim: whatever it is, the edit either is refused or gives a file that is the old one with less
// device code, and a second edit finds nothing more to drop.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "gpu/slim/slim.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, size);
  for (const char* archs : {"9.0", "8.6+PTX;10.3", "gfx942", "gfx90a:xnack-;9.0"}) {
    gpu::KeepSet keep;
    keep.add(gpu::ArchList::parse(archs));
    for (const bool shorten : {false, true}) {
      try {
        const gpu::Slimmed slimmed = gpu::slim_code(bytes, keep, {.shorten = shorten});
        if (!slimmed.changed || slimmed.empty) continue;
        const Buffer made = slimmed.splice.apply(bytes);
        if (!gpu::prove_slim(bytes, made.bytes()).empty()) std::abort();
        if (gpu::slim_code(made.bytes(), keep, {.shorten = shorten}).changed) std::abort();
      } catch (const Error&) {  // refused
      }
    }
  }
  return 0;
}
