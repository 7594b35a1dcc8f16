// module: gpu

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "gpu/arch.h"

// A parsed list must round-trip through its own text; a device's name must not crash.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wheelsmith;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const gpu::ArchList list = gpu::ArchList::parse(text);
    if (gpu::ArchList::parse(list.to_string()) != list) std::abort();
  } catch (const Error&) {}
  try {
    gpu::find_device(text);
  } catch (const Error&) {}
  return 0;
}
