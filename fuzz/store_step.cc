// module: store
// A step's record from a shared store must round-trip.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "store/store.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  store::StepRecord record;
  try {
    record = store::StepRecord::from_value(document::parse_json(Bytes(data, size).text(), "step"));
  } catch (const Error&) {
    return 0;
  }
  const std::string text = document::to_json(record.to_value());
  const store::StepRecord again = store::StepRecord::from_value(document::parse_json(text, "step"));
  if (again.manifest != record.manifest || again.key != record.key || again.wheel_name != record.wheel_name)
    std::abort();
  return 0;
}
