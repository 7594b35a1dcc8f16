// module: diagnose
// Any text is a knowledge file or an Error; a valid one can be compiled and queried.
#include "diagnose/knowledge.h"

#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "diagnose/diagnose.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wheelsmith;
  if (size > 16384) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    diagnose::Knowledge knowledge;
    knowledge.add(text, "fuzz.toml");
    knowledge.compile();
    (void)diagnose::diagnose(text, knowledge);
  } catch (const Error&) {}
  return 0;
}
