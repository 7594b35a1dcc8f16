#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/zip_epoch.h"
#include "zip/writer.h"

namespace wheelsmith::rocm {

// A member whose contents are made part by part.
struct WheelMember {
  std::string path;
  std::uint64_t size = 0;
  bool executable = false;
  std::function<Blob(std::uint64_t offset, std::uint64_t size)> open;
};

WheelMember text_member(std::string path, std::string text, bool executable = false);

struct WheelPlan {
  std::string distribution, version;
  std::string platform_tag;
  std::string metadata, entry_points;  // the latter "" for none
  std::vector<WheelMember> members;    // all but .dist-info
};

struct WheelWriting {
  bool compression = true;
  int level = 6;
  std::int64_t time = k_zip_epoch;
  unsigned threads = 1;
};

struct WrittenWheel {
  std::string name;  // of the distribution
  std::filesystem::path path;
  std::uint64_t size = 0;
  std::uint64_t files = 0;
};

// Writes NAME-VERSION-py3-none-TAG.whl into the folder, completely or not at all. Equal plans give equal bytes.
WrittenWheel write_wheel(const WheelPlan& plan, const std::filesystem::path& folder, const WheelWriting& writing);

}  // namespace wheelsmith::rocm
