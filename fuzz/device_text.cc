// module: cache
// Texts of GPU compiles, and requests for parts of them.

#include "cache/parts/device_text.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cache/parts/part.h"

using namespace wheelsmith;
using namespace wheelsmith::cache;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const TextDigest known = digest_of_text(text, "800_900", false);
  (void)digest_of_text(text, "", true);
  const Spelling spelling{"800_900", known.spaces, "_1234_k", {"/t/k.c"}};
  // What was made neutral is spelled as before.
  if (const auto neutral = neutral_text(text, spelling); neutral && spelled_text(*neutral, spelling) != text)
    std::abort();
  (void)spelled_text(text, spelling);
  try {
    const PartRequest request = PartRequest::from_bytes(text);
    if (PartRequest::from_bytes(request.to_bytes()).to_bytes() != request.to_bytes()) std::abort();
  } catch (const Error&) {  // not a request
  }
  try {
    (void)PartFiles::from_bytes(text);
  } catch (const Error&) {  // not files
  }
  return 0;
}
