#include "choose/targets.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "base/request_error.h"
#include "base/text.h"
#include "pep/project/project_page.h"
#include "pep/requirement.h"
#include "pep/version.h"
#include "pep/wheel_name.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::choose {

namespace {

namespace fs = std::filesystem;

bool is_remote(std::string_view text) { return text.starts_with("git+") || text.find("://") != std::string_view::npos; }

bool is_archive_name(std::string_view text) {
  for (const std::string_view ending : {".tar.gz", ".tgz", ".tar.xz", ".tar.zst", ".tar.bz2", ".tar", ".zip"}) {
    if (text.ends_with(ending)) return true;
  }
  return false;
}

bool is_local_path(std::string_view text) {
  return text == "." || text == ".." || text.find('/') != std::string_view::npos || is_archive_name(text) ||
         text.ends_with(".whl");
}

[[noreturn]] void refuse_unnamed(const std::string& text, const std::string& why) {
  throw RequestError(fmt::format("{}: {}; name the package: wheelsmith build NAME --source NAME={}", printable(text),
                                 why, printable(sys::shell_quoted(text))));
}

// The name in "NAME-1.0.tar.gz"; "" if the file is not named that way.
std::string name_in_archive(const std::string& file_name) {
  for (std::size_t at = file_name.find('-'); at != std::string::npos; at = file_name.find('-', at + 1)) {
    const std::string name = file_name.substr(0, at);
    if (pep::is_valid_name(name) && pep::sdist_version(file_name, name)) return name;
  }
  return "";
}

std::string name_in_setup_cfg(const fs::path& folder) {
  std::string name;
  const auto text = sys::read_file_if_there(folder / "setup.cfg", 1 << 20);
  if (text) RE2::PartialMatch(*text, R"((?ms)^\[metadata\].*?^name\s*=\s*([A-Za-z0-9._-]+)\s*$)", &name);
  return name;
}

std::string name_in_folder(const std::string& text, const fs::path& folder) {
  std::error_code ignored;
  const auto has = [&](const char* file) { return fs::exists(folder / file, ignored); };
  if (!has("pyproject.toml") && !has("setup.py") && !has("setup.cfg"))
    refuse_unnamed(text, "the folder has neither pyproject.toml nor setup.py");
  std::string name = recipe::read_source(sys::FolderTree(folder.string())).name;
  if (!pep::is_valid_name(name)) name = name_in_setup_cfg(folder);
  if (!pep::is_valid_name(name)) name = folder.filename().string();
  if (!pep::is_valid_name(name)) refuse_unnamed(text, "cannot find the package's name in the folder");
  return name;
}

std::string name_of_path(const std::string& text) {
  std::error_code ignored;
  if (text.ends_with(".whl"))
    throw RequestError(fmt::format("{} is a wheel, not a source; to check it: wheelsmith check {}", printable(text),
                                   printable(sys::shell_quoted(text))));
  if (!fs::exists(text, ignored)) throw RequestError(fmt::format("{}: no such file or folder", printable(text)));
  if (fs::is_directory(text, ignored)) {
    const fs::path folder = fs::absolute(fs::path(text) / "").lexically_normal().parent_path();
    return name_in_folder(text, folder);
  }
  const std::string name = name_in_archive(fs::path(text).filename().string());
  if (name.empty()) refuse_unnamed(text, "the file is not named NAME-VERSION.tar.gz");
  return name;
}

// "…#egg=NAME", the archive's name, or the repository's.
std::string name_of_url(const std::string& text) {
  std::string name;
  if (RE2::PartialMatch(text, R"(#(?:.*&)?egg=([A-Za-z0-9._-]+))", &name)) return name;
  std::string_view place = std::string_view(text).substr(0, text.find_first_of("#?"));
  if (!text.starts_with("git+")) {
    name = name_in_archive(std::string(place.substr(place.rfind('/') + 1)));
    if (name.empty()) refuse_unnamed(text, "the file is not named NAME-VERSION.tar.gz");
    return name;
  }
  const std::size_t path = place.find('/', place.find("://") + 3);
  if (const std::size_t at = place.find('@', std::min(path, place.size())); at != place.npos)
    place = place.substr(0, at);
  while (place.ends_with('/')) place.remove_suffix(1);
  if (place.ends_with(".git")) place.remove_suffix(4);
  name = place.substr(place.rfind('/') + 1);
  if (!pep::is_valid_name(name)) refuse_unnamed(text, "the URL does not contain the package's name; add #egg=NAME");
  return name;
}

// Removes "#egg=…", which only names the package.
std::string without_egg(const std::string& url) {
  std::string result = url;
  RE2::Replace(&result, R"(#egg=[A-Za-z0-9._-]+&?)", "#");
  if (result.ends_with('#')) result.pop_back();
  return result;
}

Target with_source(const std::string& name, const std::string& place) {
  source::Override source = source::parse_override(place);
  source.name = pep::normalized_name(name);
  return {source.name, std::move(source)};
}

[[noreturn]] void refuse_name(const std::string& text) {
  throw RequestError(
      fmt::format("{}: must be a package name, NAME==VERSION, a folder such as ./{}, an archive, or git+URL@REF",
                  printable(text), pep::is_valid_name(text) ? text : "NAME"));
}

}  // namespace

bool names_a_place(const std::string& text) { return is_remote(text) || is_local_path(text); }

Target read_target(const std::string& text) {
  if (pep::is_valid_name(text) && !is_archive_name(text) && !text.ends_with(".whl"))
    return {pep::normalized_name(text), std::nullopt};
  std::string name, place;
  if (RE2::FullMatch(text, R"(([A-Za-z0-9._-]+)\s*@\s*((?:git\+|https?://|file://).+))", &name, &place) &&
      pep::is_valid_name(name))
    return with_source(name, without_egg(place));
  if (is_remote(text)) return with_source(name_of_url(text), without_egg(text));
  if (is_local_path(text)) return with_source(name_of_path(text), text);
  const auto requirement = pep::Requirement::try_parse(text);
  if (!requirement || requirement->specifiers.empty() || !requirement->extras.empty() || !requirement->marker.empty())
    refuse_name(text);
  return with_source(requirement->name, text);
}

void take_versions_as_tags(Request& request, const recipe::Library& recipes) {
  std::erase_if(request.sources, [&](const source::Override& source) {
    const recipe::Recipe* recipe = source.project.empty() ? nullptr : recipes.find(source.project);
    if (recipe == nullptr || source.name.empty() || recipe->source.kind != recipe::Source::Kind::git) return false;
    if (!source.specifier.starts_with("==") || !pep::Version::try_parse(source.specifier.substr(2)))
      throw RequestError(
          fmt::format("{}{}: {} is built from a repository; give one version, such as {}==1.2.0, or --ref REF",
                      source.project, source.specifier, recipe->name, recipe->name));
    request.refs.emplace_back(recipe->name, recipe->source.tag_prefix + source.specifier.substr(2));
    return true;
  });
}

}  // namespace wheelsmith::choose
