// module: toolchain
// A description of another machine (--machine) must round-trip.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "toolchain/description.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto machine = toolchain::read_description({reinterpret_cast<const char*>(data), size}, "machine.toml");
    const std::string written = toolchain::to_toml(machine);
    if (toolchain::to_toml(toolchain::read_description(written, "machine.toml")) != written) std::abort();
  } catch (const Error&) {}
  return 0;
}
