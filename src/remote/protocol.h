#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"
#include "store/store.h"

// How stores talk to each other over HTTP. A remote store has the paths of a store's folder, so a web server that
// serves such a folder is a remote store that can be read:
//
//   GET  steps.json           the list of finished steps; only of `wheelsmith serve`
//   GET  steps/KEY.json       the record of a step
//   GET  blobs/SHA256         a wheel
//   PUT  blobs/SHA256         with "Authorization: Bearer TOKEN"; refused when the bytes have another hash
//   PUT  steps/KEY.json       likewise; refused when its wheel is not there or its key is not that of its manifest

namespace wheelsmith::remote {

inline constexpr std::string_view k_listing_path = "steps.json";
inline constexpr std::uint64_t k_largest_record = 16ull << 20;

std::string step_path(std::string_view key);
std::string blob_path(std::string_view sha256);

struct StorePath {
  enum class Kind : std::uint8_t { listing, step, blob } kind = Kind::listing;
  std::string name;  // the key or the SHA-256
};
// Nothing for any other path.
std::optional<StorePath> parse_store_path(std::string_view path);

// One line of the list.
struct ListedStep {
  std::string key, package, version, wheel_name;
  std::uint64_t bytes = 0;

  bool operator==(const ListedStep&) const = default;
};
struct Listing {
  bool writable = false;
  std::vector<ListedStep> steps;
};
std::string to_text(const Listing& listing);
Listing parse_listing(std::string_view text);  // throws Error; entries that are not steps are left out

// The record of a key as it came from elsewhere. Throws Error when it is not one, or not of that key: a key is the hash
// of the manifest in the record.
store::StepRecord parse_record(std::string_view text, std::string_view key);
// Whether a wheel is the one that the record is about: built by wheelsmith, with the record's key and provenance in it.
// Throws Error where it is not. Its hash has been verified.
void check_wheel(Bytes wheel, const store::StepRecord& record);

bool is_digest(std::string_view text);  // 64 hex digits in lower case

}  // namespace wheelsmith::remote
