// module: attest
// A provenance that a wheel carries: the statement made from it must match it.

#include "attest/statement.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto document = document::try_parse_json(text);
  if (!document) return 0;
  attest::CarriedFiles files;
  files.provenance = *document;
  files.build = *document;
  files.recipe = text;
  const document::Value statement = attest::make_statement("a-1-py3-none-any.whl", "ab", files);
  if (!attest::compare_statement(statement, "a-1-py3-none-any.whl", "ab", files).empty()) std::abort();
  (void)attest::compare_statement(*document, "a-1-py3-none-any.whl", "ab", files);
  return 0;
}
