// module: diagnose
// Any bytes are a log: an answer independent of chunking, with lines that are in the log.
#include "diagnose/diagnose.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wheelsmith;
  if (size > 65536) return 0;
  const std::string_view log(reinterpret_cast<const char*>(data), size);
  const diagnose::Diagnosis whole = diagnose::diagnose(log);
  if (whole.failed != whole.cause.has_value()) std::abort();
  if (whole.cause && whole.cause->line > whole.lines) std::abort();
  diagnose::Diagnoser diagnoser(diagnose::builtin_knowledge());
  const std::size_t middle = size == 0 ? 0 : data[0] % size;
  diagnoser.feed(log.substr(0, middle));
  diagnoser.feed(log.substr(middle));
  if (diagnoser.finish().failed != whole.failed) std::abort();
  return 0;
}
