// module: store
// Claim files and store.json, which other machines write. Parsing and writing must round-trip, and the size must not
// depend on the counter, since a claim is overwritten in place.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/bytes.h"
#include "store/claim/claim_file.h"
#include "store/claim/generation.h"
#include "store/sharing.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(Bytes(data, size).text());
  if (const auto claim = store::parse_claim(text)) {
    const std::string written = store::to_text(*claim);
    if (store::parse_claim(written) != claim) std::abort();
    store::ClaimText later = *claim;
    later.beat = ~claim->beat;
    later.held = !claim->held;
    if (store::to_text(later).size() != written.size()) std::abort();
  }
  if (const auto number = store::generation_number(text); number && store::generation_name(*number) != text)
    std::abort();
  if (const auto sharing = store::parse_sharing(text); sharing && sharing->id.find('/') != std::string::npos)
    std::abort();
  return 0;
}
