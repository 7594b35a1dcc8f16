// module: pep
// RECORD: every parsed line must round-trip.

#include "pep/record.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (pep::RecordLine line : pep::Record::parse(Bytes(data, size)).lines) {
    const std::string text = pep::to_csv_line(line);
    const pep::Record again = pep::Record::parse(Bytes(text));
    line.line = 1;
    if (again.lines.size() != 1 || again.lines[0] != line) std::abort();
  }
  return 0;
}
