#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/finding.h"
#include "base/zip_epoch.h"
#include "rocm/wheel_writer.h"

namespace wheelsmith::rocm {

struct PackageOptions {
  std::filesystem::path artifacts;    // the folder of artifacts
  std::filesystem::path destination;  // wheels go into its folder dist
  // The version of all packages, by the base version of the artifacts ("" if unknown).
  std::function<std::string(const std::string& base)> version;
  std::string suffix;  // appended to the names of platform folders
  // Families that a release must contain, by platform; nothing if not given. Those of this platform are required.
  std::optional<std::vector<std::string>> linux_families, windows_families;
  bool wheel_compression = true;
  bool devel_compression = false;
  std::string platform_tag;  // "": the one that the binaries of each wheel qualify for
  std::int64_t time = k_zip_epoch;
  unsigned threads = 1;
  std::function<void(const std::string&)> on_progress;  // may be empty
};

// "gfx94X-dcgpu;gfx1151", or with commas; the empty text names none.
std::vector<std::string> family_list(std::string_view text);

struct Packaged {
  bool kpack = true;  // else per family
  std::string version;
  std::vector<std::string> targets;    // ISAs, or families
  std::vector<WrittenWheel> packages;  // the sdist too, in the order written
  std::vector<Finding> findings;
};

// The `rocm` sdist and all wheels. Throws Error if a required artifact or target is missing.
Packaged package(const PackageOptions& options);

}  // namespace wheelsmith::rocm
