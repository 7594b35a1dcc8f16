// module: report
// The record of a build, to which its compilers' wrappers append: reports must handle any content.

#include "report/build/build_record.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const report::BuildRecord record = report::read_record({reinterpret_cast<const char*>(data), size});
  if (record.slots > record.compiles.size()) std::abort();
  return 0;
}
