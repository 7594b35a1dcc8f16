// module: sys
// The policy that `wheelsmith confine` reads: it must round-trip, and every path is absolute.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "sys/process/process_tree_linux.h"
#include "sys/sandbox/sandbox.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)sys::parse_stat(text);
  try {
    const sys::SandboxPolicy policy = sys::parse_policy(text);
    const std::string written = sys::to_text(policy);
    if (sys::to_text(sys::parse_policy(written)) != written) std::abort();
    for (const auto* list : {&policy.readable, &policy.writable, &policy.devices, &policy.hidden}) {
      for (const std::filesystem::path& path : *list) {
        if (!path.is_absolute()) std::abort();
      }
    }
  } catch (const Error&) {}
  return 0;
}
