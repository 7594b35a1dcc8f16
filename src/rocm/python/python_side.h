#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/sink.h"

// The Python side of the ROCm packages: importable modules, metadata, console scripts, the source distribution `rocm`.

namespace wheelsmith::rocm {

// The facts about a release that its packages share.
struct DistInfo {
  std::string version;
  bool kpack = true;                         // device code in separate packages; else libraries per family
  std::string suffix;                        // appended to the names of platform folders; usually ""
  std::vector<std::string> targets;          // kpack: base targets ("gfx942"); else families
  std::string default_target;                // "": chosen by default_target()
  std::vector<std::string> linux_targets;    // with windows_targets, where a release is for both systems
  std::vector<std::string> windows_targets;  // and not all targets are on both; else empty
  std::vector<std::string> packages;         // logical names of those that exist; empty: all of this mode
};

struct TextFile {
  std::string path;  // inside the wheel, or inside the source distribution's top folder
  std::string text;
  bool executable = false;
};

// "meta", "core", "libraries", "device", "devel", "profiler"; those of the release's mode.
std::vector<std::string> package_names(const DistInfo& info);
// The first target that both systems have, else the first of all, in alphabetical order.
std::string default_target(const DistInfo& info);

// "rocm-sdk-device-gfx942" for ("device", "gfx942:xnack+"). The target is "" if the name has none.
std::string dist_name(const DistInfo& info, std::string_view package, std::string_view target = "");
// The folder of native files: "_rocm_sdk_core"; device code overlays "_rocm_sdk_libraries".
std::string platform_folder(const DistInfo& info, std::string_view package, std::string_view target = "");

// All importable files of a wheel, sorted by path. Device packages have none: the __init__.py of their folder belongs
// to the libraries only, or uninstalling a device package would break them.
std::vector<TextFile> pure_package_files(const DistInfo& info, std::string_view package, std::string_view target = "");
std::string metadata(const DistInfo& info, std::string_view package, std::string_view target = "");
// Console scripts for the programs that the package has, in their own folder or in bin: `has("bin/hipcc")` tests its
// platform folder. "" if there are none.
std::string entry_points(const DistInfo& info, std::string_view package,
                         const std::function<bool(const std::string&)>& has);
// Additional files of a device package (paths relative to the platform folder): the list by which its files are
// linked into the devel package's folder, and a small file directly in the platform folder, which is also in that
// list. pip removes empty folders only up to the topmost folder that contained a removed file; this file makes that
// the platform folder.
std::vector<TextFile> device_files(const DistInfo& info, std::string_view target,
                                   const std::vector<std::string>& files);

// The source distribution `rocm`.
std::string selector_sdist_name(const DistInfo& info);  // "rocm-7.10.0.tar.gz"
std::vector<TextFile> selector_sdist_files(const DistInfo& info);
// The same bytes for the same release.
void write_selector_sdist(const DistInfo& info, Sink& sink);

}  // namespace wheelsmith::rocm
