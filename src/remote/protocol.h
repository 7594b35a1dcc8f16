#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/value.h"
#include "store/store.h"

// The protocol between stores over HTTP. A remote store has the paths of a store's folder, so any web server
// that serves such a folder is a read-only remote store:
//
//   GET  steps.json           the list of finished steps; only from `wheelsmith serve`
//   GET  steps/KEY.json       the record of a step
//   GET  blobs/SHA256         a wheel
//   PUT  blobs/SHA256         with "Authorization: Bearer TOKEN"; refused if the hash differs
//   PUT  steps/KEY.json       likewise; refused if its wheel is missing or its key does not match its manifest

namespace wheelsmith::remote {

inline constexpr std::string_view k_listing_path = "steps.json";
inline constexpr std::uint64_t k_largest_record = 16ull << 20;

std::string step_path(std::string_view key);
std::string blob_path(std::string_view sha256);

struct StorePath {
  enum class Kind : std::uint8_t { listing, step, blob } kind = Kind::listing;
  std::string name;  // the key or the SHA-256
};
// Empty for any other path.
std::optional<StorePath> parse_store_path(std::string_view path);

// One entry of the list.
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
Listing parse_listing(std::string_view text);  // throws Error; invalid entries are skipped

// A record from another store. Throws Error if it is invalid or does not belong to the key, which is the hash of the
// manifest in the record.
store::StepRecord parse_record(std::string_view text, std::string_view key);
// Throws Error unless the wheel belongs to the record: built by wheelsmith, with the record's key and provenance in it.
// Its hash has been verified before.
void check_wheel(Bytes wheel, const store::StepRecord& record);

bool is_digest(std::string_view text);  // 64 hex digits in lower case

}  // namespace wheelsmith::remote
