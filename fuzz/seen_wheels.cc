// module: plan
// What a step saw of other wheels, from a shared store, must round-trip.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "plan/cutoff.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::vector<plan::SeenWheel> seen;
  try {
    seen = plan::read_seen(document::parse_json(Bytes(data, size).text(), "seen"));
  } catch (const Error&) {
    return 0;
  }
  const std::vector<plan::SeenWheel> again = plan::read_seen(plan::seen_value(seen));
  if (again.size() != seen.size()) std::abort();
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const wheel::Interface interface{seen[i].headers, seen[i].others};
    const std::string& name = seen[i].wheel.file_name;
    if (plan::seen_difference(seen[i], name, interface) != plan::seen_difference(again[i], name, interface))
      std::abort();
  }
  return 0;
}
