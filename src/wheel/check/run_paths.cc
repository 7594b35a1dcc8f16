#include "wheel/check/run_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "base/text.h"

namespace wheelsmith::wheel {

namespace {

// How many folders above its own root the path ends, after $ORIGIN stands for the folder of the file.
bool leaves_the_wheel(const std::string& file, std::string_view path) {
  std::ptrdiff_t depth = static_cast<std::ptrdiff_t>(std::count(file.begin(), file.end(), '/'));
  std::ptrdiff_t lowest = depth;
  for (const std::string_view part : split(path, '/')) {
    if (part == "..")
      --depth;
    else if (!part.empty() && part != ".")
      ++depth;
    lowest = std::min(lowest, depth);
  }
  return lowest < 0;
}

void check_run_path(const ElfFacts& file, const std::string& path, const char* tag, std::vector<Finding>& findings) {
  static constexpr std::string_view k_origin = "$ORIGIN";
  static constexpr std::string_view k_origin_braces = "${ORIGIN}";
  const std::string_view fix = "link with -Wl,-rpath,'$ORIGIN/…' or remove the entry";
  if (path.empty()) {
    findings.push_back({"runpath-empty", Severity::warning, file.path, fmt::format("{} has an empty element", tag),
                        "the loader takes it for the current folder: whoever controls that, controls the program",
                        std::string(fix)});
    return;
  }
  const std::size_t origin = path.starts_with(k_origin)          ? k_origin.size()
                             : path.starts_with(k_origin_braces) ? k_origin_braces.size()
                                                                 : 0;
  if (origin == 0) {
    const bool absolute = path.front() == '/';
    findings.push_back(
        {"runpath-absolute", Severity::warning, file.path,
         fmt::format("{} names {}, {}", tag, path,
                     absolute ? "a folder of the build machine" : "a folder relative to the current one"),
         "elsewhere the folder is absent or holds something else, which is then loaded", std::string(fix)});
    return;
  }
  if (leaves_the_wheel(file.path, std::string_view(path).substr(origin))) {
    findings.push_back({"runpath-leaves-wheel", Severity::warning, file.path,
                        fmt::format("{} names {}, which lies above site-packages", tag, path),
                        "what is found there depends on where Python is installed", std::string(fix)});
  }
}

// auditwheel's copies carry eight hex digits of their hash in front of ".so".
bool is_grafted_name(std::string_view name) {
  const std::size_t so = name.find(".so");
  if (so == name.npos || so < 10 || name[so - 9] != '-') return false;
  return name.substr(so - 8, 8).find_first_not_of("0123456789abcdef") == name.npos;
}

}  // namespace

std::vector<Finding> check_run_paths(const std::vector<ElfFacts>& files) {
  std::set<std::string> there;
  for (const ElfFacts& file : files) {
    there.emplace(base_name(file.path));
    there.insert(file.soname);
  }
  std::vector<Finding> findings;
  for (const ElfFacts& file : files) {
    for (const std::string& path : file.rpath) check_run_path(file, path, "RPATH", findings);
    for (const std::string& path : file.runpath) check_run_path(file, path, "RUNPATH", findings);
    for (const std::string& needed : file.needed) {
      if (is_grafted_name(needed) && !there.contains(needed)) {
        findings.push_back(
            {"needed-grafted-missing", Severity::error, file.path,
             fmt::format("needs {}, a library that was to be copied into the wheel and is not there", needed),
             "no machine has a library of that name: loading fails everywhere",
             "repair the wheel again from the one that the build made"});
      }
    }
  }
  return findings;
}

}  // namespace wheelsmith::wheel
