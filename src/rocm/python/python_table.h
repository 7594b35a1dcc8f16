#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rocm/python/python_side.h"

// data/python_side.toml as values.

namespace wheelsmith::rocm {

struct PythonPackage {
  std::string name;         // logical: "libraries"
  std::string dist;         // "rocm-sdk-device-{target}"
  std::string family_dist;  // in family mode; "" for the same
  std::string platform;     // whose platform folder it uses; "" for its own
  std::string pure;         // "rocm_sdk_core"
  std::string extra;        // of `rocm`; "" if it is always required
  std::string summary;
  bool required = false;
  bool kpack_only = false;
  bool sdist = false;                          // the selector, which has no native files
  bool expands = false;                        // contains an archive instead of its platform folder
  std::vector<std::string> requires_packages;  // logical names, of the same version
};

struct PythonLibrary {
  std::string name, package, so, dll, folder;
  bool optional = false;
  std::vector<std::string> aliases;
};

struct PythonScript {
  std::string name, package, path;  // "hipcc", "core", "bin/hipcc"
  bool looks = false;               // only examines the machine, and needs no devel package
};

struct PythonTable {
  std::vector<PythonPackage> packages;
  std::vector<PythonLibrary> libraries;
  std::vector<PythonScript> scripts;

  // Throws Error for an unknown name.
  [[nodiscard]] const PythonPackage& package(std::string_view name) const;
};

// The embedded one.
const PythonTable& python_table();

// A file below data/python: "rocm_sdk/_devel.py".
struct PythonSource {
  std::string_view path, text;
};
std::span<const PythonSource> python_sources();
// Throws Error if it does not exist.
std::string_view python_source(std::string_view path);

// Throws Error that names the place and the problem.
PythonTable read_python_table(std::string_view toml, std::string_view file_name);

// The name of the function behind a console script: "amdclangpp" for "amdclang++".
std::string script_function(std::string_view name);
// "gfx942" for "gfx942:xnack+".
std::string base_target(std::string_view target);
// A text as a Python literal: 'gfx942'. The text cannot end the literal.
std::string python_text(std::string_view text);
// The name template in the release's mode, with {target}.
std::string dist_template(const DistInfo& info, const PythonPackage& package);
std::string platform_template(const DistInfo& info, const PythonPackage& package);
// Whether the release has it.
bool provides(const DistInfo& info, const PythonPackage& package);
// The release with sorted targets, a default, and a normalized version. Throws Error if it is invalid.
DistInfo settled(const DistInfo& info);

}  // namespace wheelsmith::rocm
