// module: pep
// variant.json of any wheel: a file with problems or without. Without problems it survives writing and reading, if the
// dialect says everything that we keep.
#include "pep/variant_file.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wheelsmith;
  if (size > 16384) return 0;
  const pep::VariantReading reading = pep::read_variant_file({reinterpret_cast<const char*>(data), size});
  const pep::VariantReading again = pep::read_variant_file(pep::variant_file_text(reading.file));
  if (reading.problems.empty() && again.file.variants != reading.file.variants) std::abort();
  (void)pep::to_strings(reading.file.variants.empty() ? pep::VariantProperties()
                                                      : reading.file.variants.begin()->second);
  return 0;
}
