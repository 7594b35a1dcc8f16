#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "zip/archive.h"

// Where each member of a wheel goes, decided from the archive's directory alone and before anything is written.

namespace wheelsmith::env {

enum class Scheme : std::uint8_t { purelib, platlib, scripts, headers, data };

struct LaidOutFile {
  const zip::Entry* entry = nullptr;
  Scheme scheme = Scheme::purelib;
  std::string path;  // below the scheme's folder; checked
  bool executable = false;
};

struct WheelLayout {
  std::string name, version;  // as the file's name has them
  std::string dist_info;      // "demo-1.0.dist-info"
  Scheme root = Scheme::purelib;
  std::vector<LaidOutFile> files;  // RECORD, INSTALLER and the like are not among them
  std::string entry_points;        // the text, "" for none
  std::string record;              // the wheel's own
};

// Throws Error for a wheel that lies about its name, has no or several .dist-info folders, an unknown Wheel-Version, a
// link, a name that leaves, or a folder in .data that the standard does not know. Two members for one place are left to
// whoever knows the places.
WheelLayout lay_out(const zip::Archive& archive, std::string_view file_name);

}  // namespace wheelsmith::env
