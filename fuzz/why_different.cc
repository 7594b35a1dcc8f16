// module: wheel
// Two versions of a member, split at the fraction given by the first byte: their difference is always explained.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "wheel/compare/compare.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const std::size_t length = (size - 1) * data[0] / 256;
  const Bytes first(data + 1, length), second(data + 1 + length, size - 1 - length);
  for (const char* name : {"a.so", "a.py", "a.pyc"}) {
    if (first.text() != second.text() && wheel::why_different(name, first, second).empty()) std::abort();
  }
  try {
    (void)wheel::compare_wheels(first, second);
  } catch (const Error&) {  // not an archive
  }
  return 0;
}
