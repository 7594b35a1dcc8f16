// module: index
// Attestations beside a wheel: only those about this file are published.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "index/provenance.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string name = "demo-1.0-py3-none-any.whl", hash(64, 'a'), other(64, 'b');
  // An attestation cannot be about two files.
  if (index::provenance_problem(text, name, hash).empty() && index::provenance_problem(text, name, other).empty())
    std::abort();
  if (index::attestation_problem(text, name, hash).empty() && index::attestation_problem(text, name, other).empty())
    std::abort();
  return 0;
}
