#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "run/outcome.h"
#include "store/store.h"

namespace wheelsmith::run {

// The stored wheel for a key.
std::optional<Artifact> find_artifact(const std::string& key, const store::Store& store);

struct Delivered {
  std::filesystem::path path;
  bool replaced = false;  // the wheelhouse had a file of that name with different content
};
// Copies a wheel from the store into the wheelhouse under its name. Readers see the old file or the new one, never a
// partial one. Throws Error, also when the wheel is no longer in the store.
Delivered deliver(const Artifact& artifact, const std::filesystem::path& out, store::Store& store);

}  // namespace wheelsmith::run
