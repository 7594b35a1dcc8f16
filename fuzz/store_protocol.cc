// module: remote
// Input from remote stores and their clients: request paths, lists of steps, records.

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "remote/protocol.h"

using namespace wheelsmith;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = Bytes(data, size).text();
  if (const auto path = remote::parse_store_path(text)) {
    const bool is_listing = path->kind == remote::StorePath::Kind::listing;
    if (!is_listing && !remote::is_digest(path->name)) std::abort();
    if (path->kind == remote::StorePath::Kind::blob && remote::blob_path(path->name) != text) std::abort();
    if (path->kind == remote::StorePath::Kind::step && remote::step_path(path->name) != text) std::abort();
  }
  try {
    const remote::Listing listing = remote::parse_listing(text);
    if (remote::parse_listing(remote::to_text(listing)).steps != listing.steps) std::abort();
  } catch (const Error&) {
    // Not a list.
  }
  try {
    const store::StepRecord record = remote::parse_record(text, std::string(64, '0'));
    if (!remote::is_digest(record.wheel_sha256)) std::abort();
    remote::check_wheel(Bytes(data, size), record);
  } catch (const Error&) {
    // Not a record of that key, or no wheel.
  }
  return 0;
}
