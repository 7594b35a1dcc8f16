#include "wheel/check/loader/loader_findings.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "wheel/read/symbol_names.h"
#include "wheel/tags/platform.h"

namespace wheelsmith::wheel {

namespace {

std::string for_root(const LibraryNeed& need) {
  return need.root == need.subject ? "" : fmt::format(" (when {} is loaded)", need.root);
}

Finding about(const LibraryNeed& need, std::string_view id, Severity severity) {
  Finding finding;
  finding.id = id;
  finding.severity = severity;
  finding.subject = need.subject;
  return finding;
}

}  // namespace

std::vector<std::string> versions_lacking(const LibraryNeed& need, const ElfFacts& found) {
  std::vector<std::string> lacking;
  const auto needed = need.file->facts->versions_needed.find(std::string(need.library));
  if (needed == need.file->facts->versions_needed.end() || found.versions_provided.empty()) return lacking;
  for (const std::string& version : needed->second) {
    const auto& provided = found.versions_provided;
    if (std::find(provided.begin(), provided.end(), version) == provided.end()) lacking.push_back(version);
  }
  return lacking;
}

Finding not_found(const LibraryNeed& need, const std::vector<SearchFolder>& folders) {
  std::vector<std::string> paths;
  for (const SearchFolder& folder : folders) paths.push_back(folder.path);
  Finding finding = about(need, "loader-not-found", Severity::error);
  finding.what = fmt::format("needs {}, which the loader does not find{}", need.library, for_root(need));
  if (!paths.empty()) finding.what += fmt::format("; it searches {}", list_some(paths, 5));
  finding.why = "Loading it fails: cannot open shared object file.";
  finding.fix = "Install the library, or set a RUNPATH ($ORIGIN/…) that reaches it.";
  const std::string who = provided_by_others(std::string(need.library));
  if (!who.empty()) {
    const bool is_driver = who.find("driver") != std::string::npos;
    finding.severity = is_driver ? Severity::note : Severity::warning;
    finding.what = fmt::format("needs {}, which {} provides and which is not on this machine{}", need.library, who,
                               for_root(need));
    finding.why = "It loads only where that is installed, or after Python code has loaded the library.";
    finding.fix = fmt::format("Install {}.", who);
  } else if (need.library.starts_with("libpython")) {
    finding.severity = Severity::warning;
    finding.why = "It loads only into an interpreter that has already loaded this library.";
    finding.fix = "Do not link extensions with libpython: the interpreter provides its symbols.";
  }
  return finding;
}

Finding preload_only(const LibraryNeed& need, std::string_view elsewhere) {
  Finding finding = about(need, "loader-preload-only", Severity::warning);
  finding.what = fmt::format("needs {}, which exists as {}, but no run path reaches it{}", need.library, elsewhere,
                             for_root(need));
  finding.why = "It loads only if Python code has already loaded that file, as `import torch` does for its libraries.";
  finding.fix = "Import the package that loads it first, or add a RUNPATH relative to $ORIGIN.";
  return finding;
}

Finding shadowed(const LibraryNeed& need, const LoadedFile& found, const LoadedFile& meant) {
  const std::vector<std::string> lacking = versions_lacking(need, *found.facts);
  Finding finding = about(need, "loader-shadowed", lacking.empty() ? Severity::warning : Severity::error);
  finding.what = fmt::format("loads {} from {} instead of {}{}", need.library, found.path, meant.path, for_root(need));
  if (!lacking.empty()) finding.what += fmt::format("; it lacks {}", list_some(lacking, 3));
  finding.why = lacking.empty() ? "It runs with a different library than it was built and tested with."
                                : "The loader rejects the file: the library it finds first is too old.";
  finding.fix = "Remove the folder from LD_LIBRARY_PATH or from the run path, or remove the other library.";
  return finding;
}

Finding versions_missing(const LibraryNeed& need, const LoadedFile& found, const std::vector<std::string>& versions) {
  Finding finding = about(need, "loader-version-missing", Severity::error);
  finding.what = fmt::format("needs {} of {}; {} does not define {}{}", list_some(versions, 3), need.library,
                             found.path, versions.size() == 1 ? "it" : "them", for_root(need));
  finding.why = fmt::format("The loader rejects the file: version `{}' not found.", versions.front());
  finding.fix = fmt::format("Install a newer {}, or a wheel built for an older system.", need.library);
  return finding;
}

Finding wrong_machine(const LibraryNeed& need, const LoadedFile& skipped) {
  Finding finding = about(need, "loader-wrong-machine", Severity::note);
  finding.what =
      fmt::format("needs {}; the loader skips {}, which is for {}", need.library, skipped.path, skipped.facts->machine);
  finding.why = "The loader continues with the next folder and may find an unintended library.";
  finding.fix = "Remove the folder with libraries of the other architecture from the search path.";
  return finding;
}

}  // namespace wheelsmith::wheel
