#include "choose/editable.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/request_error.h"
#include "base/text.h"
#include "choose/source.h"
#include "pep/wheel_name.h"
#include "sys/file.h"

namespace wheelsmith::choose {

namespace {

// Archives, repositories and versions from an index are unpacked into the store, whose files must not be edited.
void check_sources(const Request& request) {
  bool any_folder = false;
  for (const std::string& package : request.packages) {
    const auto user = source_override(request, package, package);
    if (!user) continue;
    if (user->path.empty() || !sys::is_folder(user->path))
      throw RequestError(
          fmt::format("--editable: {} is not a folder; check it out first (wheelsmith checkout {}) and use that "
                      "folder: --source {}=FOLDER",
                      printable(user->text), package, package));
    any_folder = true;
  }
  if (!any_folder)
    throw RequestError(fmt::format("--editable needs a source folder: --source {}=FOLDER",
                                   request.packages.empty() ? "NAME" : request.packages.front()));
}

}  // namespace

void check_editable(const Request& request) {
  if (!request.editable) return;
  if (request.into.empty())
    throw RequestError(
        "--editable needs an environment to install into: --into ENV (create one with: python3 -m venv ENV)");
  check_sources(request);
  const auto refuse_several = [](std::size_t count, const char* option, const char* what) {
    if (count > 1)
      throw RequestError(fmt::format("--editable builds for one {} because all files are in one folder; {} gives {}",
                                     what, option, count));
  };
  refuse_several(request.pythons.size(), "--python", "Python");
  refuse_several(request.variants.size(), "--variant", "variant");
  refuse_several(request.archs.size(), "--arch", "list of architectures");
  if (!request.platform.empty())
    throw RequestError("--platform and --editable contradict each other: an editable install has no platform tag");
}

bool is_editable(const Request& request, const std::string& package, const std::string& project) {
  if (!request.editable) return false;
  const bool named = std::any_of(request.packages.begin(), request.packages.end(),
                                 [&](const std::string& name) { return pep::same_name(name, package); });
  const auto user = source_override(request, package, project);
  return named && user && !user->path.empty() && sys::is_folder(user->path);
}

}  // namespace wheelsmith::choose
