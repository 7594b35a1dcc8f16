#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "run/run.h"

namespace wheelsmith::run {

// Puts a finished wheel into the wheelhouse under its name; a reader sees the old file or the new one, never a half.
// True when a file of that name and of other content was there before.
bool deliver(const std::filesystem::path& wheel, const std::string& sha256, const std::filesystem::path& target,
             store::Store& store);

// The wheel of a key that is in the store, delivered; what is told of it is "cached".
std::optional<StepOutcome> take_from_store(const std::string& key, const std::filesystem::path& out,
                                           store::Store& store);

}  // namespace wheelsmith::run
