// module: run
// Documents and lines of a cluster's jobs: half-written files, files of other versions, other users' bytes.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "run/slurm/farm.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const std::string_view line : lines(text)) {
    try {
      const run::NodeLine read = run::parse_node_line(line);
      const std::string again = run::to_line(read);
      if (run::parse_node_line(trim(again)).kind != read.kind) std::abort();
    } catch (const Error&) {}
  }
  const auto value = document::try_parse_json(text);
  if (!value) return 0;
  try {
    const run::Try one = run::Try::from_value(*value);
    const run::Try again = run::Try::from_value(one.to_value());
    if (again.number != one.number || again.id != one.id || !(again.request == one.request)) std::abort();
  } catch (const Error&) {}
  try {
    if (run::FarmBatch::from_value(*value).tries.empty()) std::abort();
  } catch (const Error&) {}
  return 0;
}
