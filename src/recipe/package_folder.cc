#include "recipe/recipe.h"

namespace wheelsmith::recipe {

namespace {

// A folder that a backend can build: setup.py, or a pyproject.toml that is more than settings of linters.
bool is_package(const std::string& folder, const TextReader& text) {
  const std::string prefix = folder.empty() ? "" : folder + "/";
  if (text(prefix + "setup.py")) return true;
  const auto project = text(prefix + "pyproject.toml");
  return project && project->find("[build-system]") != std::string::npos;
}

}  // namespace

std::string package_folder(const Source& source, const TextReader& text) {
  if (source.other_subfolders.empty() || is_package(source.subfolder, text)) return source.subfolder;
  for (const std::string& folder : source.other_subfolders) {
    if (is_package(folder, text)) return folder;
  }
  return source.subfolder;
}

}  // namespace wheelsmith::recipe
