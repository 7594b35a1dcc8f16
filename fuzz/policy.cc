// module: pep
// A user's policy file: any text is a list of policies or an Error, and the policies can be queried.
#include "pep/policy.h"

#include <cstddef>
#include <cstdint>

#include "base/error.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace wheelsmith;
  if (size > 16384) {
    return 0;
  }
  try {
    const auto policies = pep::parse_policies({reinterpret_cast<const char*>(data), size}, "fuzz.toml");
    for (const pep::Policy& policy : policies) {
      (void)policy.allows("x86_64", "GLIBC_2.17");
      (void)policy.newest("x86_64", "GLIBC");
      (void)policy.has_library("libc.so.6");
      (void)pep::find_policy(policies, policy.name + "_x86_64");
    }
  } catch (const Error&) {}
  return 0;
}
