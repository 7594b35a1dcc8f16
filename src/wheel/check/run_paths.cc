#include "wheel/check/run_paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/text.h"

namespace wheelsmith::wheel {

namespace {

// The target of a path that leaves site-packages: "nvidia/cudnn/lib" for "/../../nvidia/cudnn/lib" in "torch/_C.so", ""
// if it ends above. Nothing for a path that stays inside.
std::optional<std::string> outside_site_packages(const std::string& file, std::string_view path) {
  std::ptrdiff_t depth = static_cast<std::ptrdiff_t>(std::count(file.begin(), file.end(), '/'));
  bool leaves = false;
  std::vector<std::string> above;  // folders entered since the path left
  for (const std::string_view part : split(path, '/')) {
    if (part.empty() || part == ".") continue;
    if (part != "..") {
      ++depth;
      if (leaves) above.emplace_back(part);
      continue;
    }
    --depth;
    leaves = leaves || depth < 0;
    if (!above.empty()) above.pop_back();
  }
  return leaves ? std::optional(join(above, "/")) : std::nullopt;
}

class RunPathCheck {
 public:
  RunPathCheck(const RequiredPackages& required, const std::set<std::string>& packages)
      : m_required(required), m_packages(packages) {}

  void check(const ElfFacts& file) {
    for (const std::string& path : file.rpath) check_one(file, path, "RPATH");
    for (const std::string& path : file.runpath) check_one(file, path, "RUNPATH");
  }

  std::vector<Finding> findings;

 private:
  void check_one(const ElfFacts& file, const std::string& path, const char* tag) {
    if (!m_told.emplace(file.path, path).second) return;  // torch lists one folder five times
    if (path.empty()) {
      add("runpath-empty", file, fmt::format("{} has an empty entry", tag),
          "the loader searches the current directory, so a file placed there can be loaded instead");
      return;
    }
    const std::size_t origin = origin_size(path);
    if (origin == 0) {
      add("runpath-absolute", file,
          fmt::format(
              "{} names {}, {}", tag, path,
              path.front() == '/' ? "a folder of the build machine" : "a path relative to the current directory"),
          "on other machines the folder is missing, or holds other libraries, which are then loaded");
      return;
    }
    const auto outside = outside_site_packages(file.path, std::string_view(path).substr(origin));
    if (outside && !is_meant_for_sibling(*outside)) {
      add("runpath-leaves-wheel", file, fmt::format("{} names {}, which is above site-packages", tag, path),
          "the contents of that folder depend on where Python is installed");
    }
  }

  static std::size_t origin_size(std::string_view path) {
    for (const std::string_view word : {"${ORIGIN}", "$ORIGIN"}) {
      if (path.starts_with(word)) return word.size();
    }
    return 0;
  }

  // Builds set one run path for all files of a package, correct for those one folder deeper. From there it reaches a
  // neighbouring package, from here nothing.
  [[nodiscard]] bool is_meant_for_sibling(const std::string& outside) const {
    const std::string top = outside.substr(0, outside.find('/'));
    return !top.empty() && (m_packages.contains(top) || m_required.has_module(top));
  }

  void add(const char* id, const ElfFacts& file, std::string what, const char* why) {
    findings.push_back({id, Severity::warning, file.path, std::move(what), why,
                        "link with -Wl,-rpath,'$ORIGIN/…', or remove the entry with `wheelsmith elf edit`"});
  }

  const RequiredPackages& m_required;
  const std::set<std::string>& m_packages;
  std::set<std::pair<std::string, std::string>> m_told;
};

// auditwheel's copies carry eight hex digits of their hash in front of ".so".
bool is_grafted_name(std::string_view name) {
  const std::size_t so = name.find(".so");
  if (so == name.npos || so < 10 || name[so - 9] != '-') return false;
  return name.substr(so - 8, 8).find_first_not_of("0123456789abcdef") == name.npos;
}

}  // namespace

std::vector<Finding> check_run_paths(const std::vector<ElfFacts>& files, const RequiredPackages& required,
                                     const std::set<std::string>& packages) {
  std::set<std::string> there;
  for (const ElfFacts& file : files) {
    there.emplace(base_name(file.path));
    there.insert(file.soname);
  }
  RunPathCheck run_paths(required, packages);
  std::vector<Finding>& findings = run_paths.findings;
  for (const ElfFacts& file : files) {
    run_paths.check(file);
    for (const std::string& needed : file.needed) {
      if (is_grafted_name(needed) && !there.contains(needed)) {
        findings.push_back({"needed-grafted-missing", Severity::error, file.path,
                            fmt::format("needs {}, a bundled library that is missing from the wheel", needed),
                            "no system has a library of that name, so loading fails everywhere",
                            "run `wheelsmith repair` on the original wheel"});
      }
    }
  }
  return std::move(findings);
}

}  // namespace wheelsmith::wheel
