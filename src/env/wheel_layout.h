#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "zip/archive.h"

// Where each file of a wheel goes, decided from the archive's directory alone before anything is written.

namespace wheelsmith::env {

enum class Scheme : std::uint8_t { purelib, platlib, scripts, headers, data };

struct LaidOutFile {
  const zip::Entry* entry = nullptr;
  Scheme scheme = Scheme::purelib;
  std::string path;  // relative to the scheme's folder; checked
  bool executable = false;
};

struct WheelLayout {
  std::string name, version;  // from the file name
  std::string dist_info;      // "demo-1.0.dist-info"
  Scheme root = Scheme::purelib;
  std::vector<LaidOutFile> files;  // without RECORD, INSTALLER and similar files
  std::string entry_points;        // the text, "" for none
  std::string record;              // the wheel's own
};

// Throws Error for a wheel whose name does not match its content, with no or several .dist-info folders, an unknown
// Wheel-Version, a link, a name that leaves, or an unknown folder in .data. Callers that know the target paths detect
// duplicates.
WheelLayout lay_out(const zip::Archive& archive, std::string_view file_name);

}  // namespace wheelsmith::env
