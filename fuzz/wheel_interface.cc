// module: wheel
// The interface of a wheel, or of a library: equal bytes give equal interfaces, and nothing but an Error is thrown.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "wheel/interface/interface.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes(data, size);
  if (wheel::library_interface("lib/liba.so", bytes) != wheel::library_interface("other/liba.so", bytes)) std::abort();
  try {
    if (wheel::read_interface(bytes, 1) != wheel::read_interface(bytes, 2)) std::abort();
  } catch (const Error&) {  // not an archive
  }
  return 0;
}
