#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "run/outcome.h"
#include "store/store.h"

namespace wheelsmith::run {

// The wheel of a key that is in the store.
std::optional<Artifact> find_artifact(const std::string& key, const store::Store& store);

struct Delivered {
  std::filesystem::path path;
  bool replaced = false;  // a file of that name and of other content was there before
};
// Puts a wheel of the store into the wheelhouse under its name; a reader sees the old file or the new one, never a
// half. Throws Error, also when the store does not have it any more.
Delivered deliver(const Artifact& artifact, const std::filesystem::path& out, store::Store& store);

}  // namespace wheelsmith::run
