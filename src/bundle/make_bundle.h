#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bundle/bundler.h"
#include "wheel/check/check.h"

namespace wheelsmith::bundle {

struct BundleRequest {
  std::string wheel;              // its path
  std::vector<std::string> from;  // SDKs: folders or wheels; the first one that has a file is used
  std::filesystem::path out;
  std::string local_label{};
  std::int64_t time = BundleInputs().time;
  unsigned threads = 1;
};

struct BundledWheel {
  std::filesystem::path path;
  std::uint64_t size = 0;
  Summary summary;
  wheel::Verdict verdict;  // of the new wheel, as `check` gives it
};

// Writes the wheel into a folder and checks it. Throws RequestError if it would replace its own input.
BundledWheel make_bundle(const BundleRequest& request);

}  // namespace wheelsmith::bundle
