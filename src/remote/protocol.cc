#include "remote/protocol.h"

#include <fmt/format.h>

#include <algorithm>

#include "attest/carried_files.h"
#include "base/attempt.h"
#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::remote {

namespace {

constexpr std::string_view k_steps = "steps/", k_blobs = "blobs/", k_json = ".json";

std::string plain_text(const document::Value& value, std::string_view name) {
  const std::string* text = value[name].text();
  if (text == nullptr) throw Error(fmt::format("{} is not a string", name));
  return *text;
}

ListedStep read_listed(const document::Value& value) {
  ListedStep step;
  step.key = plain_text(value, "key");
  if (!is_digest(step.key)) throw Error("not a key");
  step.package = plain_text(value, "package");
  step.version = plain_text(value, "version");
  step.wheel_name = plain_text(value, "wheel");
  step.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(value["bytes"].integer_or(0), 0));
  return step;
}

}  // namespace

bool is_digest(std::string_view text) {
  return text.size() == 64 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

std::string step_path(std::string_view key) { return fmt::format("{}{}{}", k_steps, key, k_json); }
std::string blob_path(std::string_view sha256) { return fmt::format("{}{}", k_blobs, sha256); }

std::optional<StorePath> parse_store_path(std::string_view path) {
  if (path == k_listing_path) return StorePath{StorePath::Kind::listing, ""};
  if (path.starts_with(k_blobs)) {
    const std::string_view name = path.substr(k_blobs.size());
    return is_digest(name) ? std::optional(StorePath{StorePath::Kind::blob, std::string(name)}) : std::nullopt;
  }
  if (!path.starts_with(k_steps) || !path.ends_with(k_json)) return std::nullopt;
  path.remove_prefix(k_steps.size());
  path.remove_suffix(std::min(k_json.size(), path.size()));
  return is_digest(path) ? std::optional(StorePath{StorePath::Kind::step, std::string(path)}) : std::nullopt;
}

std::string to_text(const Listing& listing) {
  document::Array steps;
  for (const ListedStep& step : listing.steps) {
    document::Table item;
    item["key"] = step.key;
    item["package"] = step.package;
    item["version"] = step.version;
    item["wheel"] = step.wheel_name;
    item["bytes"] = step.bytes;
    steps.emplace_back(std::move(item));
  }
  document::Table table;
  table["schema"] = 1;
  table["kind"] = "wheelsmith-store";
  table["writable"] = listing.writable;
  table["steps"] = std::move(steps);
  return document::to_json(table, -1) + "\n";
}

Listing parse_listing(std::string_view text) {
  const document::Value value = document::parse_json(text, std::string(k_listing_path));
  if (value["kind"].text_or() != "wheelsmith-store" || value["schema"].integer_or(0) != 1)
    throw Error(fmt::format("{} is not the listing of a store", k_listing_path));
  Listing listing;
  listing.writable = value["writable"].boolean_or(false);
  const document::Array* steps = value["steps"].array();
  if (steps == nullptr) throw Error(fmt::format("{} has no steps", k_listing_path));
  for (const document::Value& item : *steps) {
    if (auto step = if_valid([&] { return read_listed(item); })) listing.steps.push_back(std::move(*step));
  }
  return listing;
}

store::StepRecord parse_record(std::string_view text, std::string_view key) {
  if (text.size() > k_largest_record) throw Error("the record is too large");
  store::StepRecord record = store::StepRecord::from_value(document::parse_json(text, "step"));
  if (record.key != key || record.manifest.key() != key) throw Error("the record belongs to another key");
  if (!is_digest(record.wheel_sha256)) throw Error("the record does not name a wheel");
  return record;
}

void check_wheel(Bytes wheel, const store::StepRecord& record) {
  const attest::CarriedFiles files = attest::read_carried_files(wheel);
  if (files.provenance["key"].text_or() != record.key) throw Error("the wheel was built for another key");
  if (document::canonical_json(files.provenance) != document::canonical_json(record.provenance))
    throw Error("the provenance in the record differs from that in the wheel");
}

}  // namespace wheelsmith::remote
