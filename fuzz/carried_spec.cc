// module: plan
// The specification that a wheel carries must round-trip.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "plan/rebind.h"
#include "plan/step/carried.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto document = document::try_parse_json({reinterpret_cast<const char*>(data), size});
  if (!document) return 0;
  plan::BuildSpec spec;
  try {
    spec = plan::read_carried(*document, "");
  } catch (const Error&) {  // not a specification
    return 0;
  }
  const std::string once = document::to_json(plan::carried_value(spec));
  if (document::to_json(plan::carried_value(plan::read_carried(document::parse_json(once, "x"), ""))) != once)
    std::abort();
  try {
    plan::refuse_hostile_spec(spec);
  } catch (const Error&) {  // leaves its tree
  }
  return 0;
}
