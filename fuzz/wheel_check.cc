// module: wheel
// All checks of a wheel: they never throw for any archive content, and each finding can be printed.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "wheel/check/check.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const wheel::Verdict verdict =
        wheel::check_wheel("demo-1.0-cp311-cp311-manylinux_2_17_x86_64.whl", Bytes(data, size), {});
    for (const Finding& finding : verdict.findings) {
      if (finding.id.empty() || finding.what.empty() || finding.fix.empty()) std::abort();
    }
    if (!verdict.error.empty() && verdict.is_good()) std::abort();
  } catch (const Error&) {  // not a ZIP archive
  }
  return 0;
}
