// module: attest
// A wheel that claims to be ours, and gpg's output about its signature.

#include "attest/carried_files.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "attest/sign.h"
#include "attest/statement.h"
#include "base/error.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const attest::Verification said = attest::read_gpg_status(text, "0123456789ABCDEF0123456789ABCDEF01234567");
  // Only a result that names the key is good.
  if (said.state == attest::Verification::State::good && text.find("VALIDSIG") == text.npos) std::abort();
  try {
    (void)attest::parse_signer(std::string(text));
  } catch (const Error&) {}
  try {
    const attest::CarriedFiles files = attest::read_carried_files(Bytes(data, size));
    (void)attest::make_statement("a-1-py3-none-any.whl", "ab", files);
  } catch (const Error&) {}
  return 0;
}
