// What is importable in the packages, and what installers read of them.
//
// Every package holds the same `_dist_info.py`: code (data/python/dist_info.py) and behind it the values of the
// release, one a line, in the form in which promotion tools look for them:
//
//   __version__ = '7.10.0'
//   DEFAULT_TARGET_FAMILY = 'gfx942'
//   AVAILABLE_TARGET_FAMILIES.append('gfx942')
//
// Each file belongs to one wheel only. The libraries and the device packages share a folder; its __init__.py is in the
// libraries' wheel, and uninstalling a device package leaves it alone.

#include "rocm/python/python_side.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "document/value.h"
#include "gpu/arch_words.h"
#include "rocm/python/python_table.h"

namespace wheelsmith::rocm {

namespace {

std::string fill(std::string text, std::string_view target) {
  constexpr std::string_view k_place = "{target}";
  const std::size_t at = text.find(k_place);
  if (at == text.npos) return text;
  if (target.empty()) throw Error(fmt::format("{} is built per target, and no target is given", text));
  return text.replace(at, k_place.size(), base_target(target));
}

// The placeholder "{target_family}" in Python, unchanged for compatibility.
std::string python_template(std::string text) {
  const std::size_t at = text.find("{target}");
  return at == text.npos ? text : text.replace(at, 8, "{target_family}");
}

std::string underscored(std::string text) {
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

std::string package_lines(const DistInfo& info) {
  std::string text;
  for (const PythonPackage& package : python_table().packages) {
    text += fmt::format("PackageEntry(\n    {},\n    {},\n    pure_py_package_name={},\n", python_text(package.name),
                        python_text(python_template(dist_template(info, package))), python_text(package.pure));
    if (package.required) text += "    required=True,\n";
    if (!package.platform.empty()) text += fmt::format("    platform_template={},\n", python_text(package.platform));
    if (!package.extra.empty()) text += fmt::format("    extra={},\n", python_text(python_template(package.extra)));
    text += ")\n";
  }
  return text;
}

std::string library_lines() {
  std::string text;
  for (const PythonLibrary& library : python_table().libraries) {
    text += fmt::format("LibraryEntry({}, {}, {}, {}", python_text(library.name), python_text(library.package),
                        python_text(library.so), python_text(library.dll));
    if (library.folder != "lib") text += fmt::format(", {}", python_text(library.folder));
    text += library.optional ? ", optional=True)\n" : ")\n";
    for (const std::string& alias : library.aliases)
      text += fmt::format("LIBRARY_ALIASES[{}] = {}\n", python_text(alias), python_text(library.name));
  }
  return text;
}

std::string list_of(const std::vector<std::string>& texts) {
  std::string text = "[";
  for (const std::string& item : texts) text += (text.size() > 1 ? ", " : "") + python_text(item);
  return text + "]";
}

std::string family_lines() {
  std::string text;
  for (const gpu::NamedTargets& family : gpu::amd_families())
    text += fmt::format("TARGET_FAMILY_MEMBERS[{}] = {}\n", python_text(family.name), list_of(family.members));
  return text;
}

std::string dist_info(const DistInfo& info, const PythonPackage& package, std::string_view target) {
  std::string text(python_source("dist_info.py"));
  text += package_lines(info) + "\n" + library_lines() + "\n" + family_lines() + "\n";
  text += fmt::format("__version__ = {}\nPY_PACKAGE_SUFFIX_NONCE = {}\nDEFAULT_TARGET_FAMILY = {}\n",
                      python_text(info.version), python_text(info.suffix), python_text(info.default_target));
  const auto append = [&](std::string_view list, const std::vector<std::string>& items) {
    for (const std::string& item : items) text += fmt::format("{}.append({})\n", list, python_text(item));
  };
  append("AVAILABLE_TARGET_FAMILIES", info.targets);
  append("LINUX_TARGET_FAMILIES", info.linux_targets);
  append("WINDOWS_TARGET_FAMILIES", info.windows_targets);
  append("PROVIDED_PACKAGES", package_names(info));
  text += fmt::format("THIS_TARGET_FAMILY = {}\n", target.empty() ? "None" : python_text(base_target(target)));
  text += fmt::format("THIS_PACKAGE_ENTRY = ALL_PACKAGES[{}]\n", python_text(package.name));
  return text;
}

// The end of a package's _cli.py: a function for each command that any release has.
std::string command_lines(const DistInfo& info, const PythonPackage& package) {
  std::string text =
      fmt::format("_SUFFIX = {}\n_VERSION = {}\n\n", python_text(info.suffix), python_text(info.version));
  bool any = false;
  for (const PythonScript& script : python_table().scripts) {
    if (script.package != package.name) continue;
    any = true;
    text += fmt::format("{} = _program({}{})\n", script_function(script.name), python_text(script.path),
                        script.looks ? ", expand=False" : "");
  }
  return any ? text : "";
}

}  // namespace

std::vector<std::string> package_names(const DistInfo& info) {
  std::vector<std::string> names;
  for (const PythonPackage& package : python_table().packages) {
    if (provides(info, package)) names.push_back(package.name);
  }
  return names;
}

std::string default_target(const DistInfo& info) {
  std::vector<std::string> both;
  for (const std::string& target : info.linux_targets) {
    const auto& other = info.windows_targets;
    if (std::find(other.begin(), other.end(), target) != other.end()) both.push_back(base_target(target));
  }
  const std::vector<std::string>& from = both.empty() ? info.targets : both;
  if (from.empty()) throw Error("a release of ROCm needs at least one GPU target");
  return base_target(*std::min_element(from.begin(), from.end()));
}

std::string dist_name(const DistInfo& info, std::string_view package, std::string_view target) {
  return fill(dist_template(info, python_table().package(package)), target);
}

std::string platform_folder(const DistInfo& info, std::string_view package, std::string_view target) {
  return "_" + underscored(fill(platform_template(info, python_table().package(package)), target)) + info.suffix;
}

std::vector<TextFile> pure_package_files(const DistInfo& given, std::string_view package, std::string_view target) {
  const DistInfo info = settled(given);
  const PythonPackage& entry = python_table().package(package);
  std::vector<TextFile> files;
  if (!entry.platform.empty()) return files;
  // With the target, if the package has one: two families can be installed together.
  const bool for_target = dist_template(info, entry).find("{target}") != std::string::npos;
  const std::string folder = for_target ? underscored(fill(dist_template(info, entry), target)) : entry.pure;
  files.push_back({folder + "/_dist_info.py", dist_info(info, entry, for_target ? target : "")});
  for (const PythonSource& source : python_sources()) {
    if (!source.path.starts_with(entry.pure + "/")) continue;
    TextFile file{folder + std::string(source.path.substr(entry.pure.size())), std::string(source.text)};
    if (base_name(source.path) == "_cli.py") file.text += command_lines(info, entry);
    files.push_back(std::move(file));
  }
  const std::string init = folder + "/__init__.py";
  if (std::none_of(files.begin(), files.end(), [&](const TextFile& file) { return file.path == init; }))
    files.push_back(
        {init, fmt::format("\"\"\"{}.\"\"\"\n\n{}", fill(entry.summary, target), python_source("package_init.py"))});
  if (entry.expands)
    files.push_back({folder + "/.devel_scratch", ""});  // so that RECORD contains the name (rocm_sdk/_devel.py)
  else if (!entry.sdist)
    files.push_back({platform_folder(info, package, target) + "/__init__.py", ""});
  std::sort(files.begin(), files.end(), [](const TextFile& a, const TextFile& b) { return a.path < b.path; });
  return files;
}

std::string metadata(const DistInfo& given, std::string_view package, std::string_view target) {
  const DistInfo info = settled(given);
  const PythonPackage& entry = python_table().package(package);
  std::string text = fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\nSummary: {}\nRequires-Python: >=3.8\n",
                                 dist_name(info, package, target), info.version, fill(entry.summary, target));
  for (const std::string& required : entry.requires_packages)
    text += fmt::format("Requires-Dist: {}=={}\n", dist_name(info, required, target), info.version);
  return text;
}

std::string entry_points(const DistInfo&, std::string_view package,
                         const std::function<bool(const std::string&)>& has) {
  std::string text;
  for (const PythonScript& script : python_table().scripts) {
    if (script.package != package || (!has(script.path) && !has("bin/" + script.name))) continue;
    text += fmt::format("{} = {}._cli:{}\n", script.name, python_table().package(package).pure,
                        script_function(script.name));
  }
  return text.empty() ? text : "[console_scripts]\n" + text;
}

std::vector<TextFile> device_files(const DistInfo& given, std::string_view target,
                                   const std::vector<std::string>& files) {
  const DistInfo info = settled(given);
  const std::string folder = platform_folder(info, "device", target);
  const std::string name = ".rocm_sdk_device_" + base_target(target);
  std::vector<std::string> all = files;
  all.push_back(name);
  std::sort(all.begin(), all.end());
  document::Array links;
  for (const std::string& file : all) {
    std::string up;
    for (auto depth = std::count(file.begin(), file.end(), '/'); depth >= 0; --depth) up += "../";
    document::Table link;
    link["relpath"] = file;
    link["target"] = fmt::format("{}{}/{}", up, folder, file);
    links.emplace_back(std::move(link));
  }
  document::Table list;
  list["version"] = info.version;
  list["links"] = std::move(links);
  return {{fmt::format("{}/.devel_links/{}.json", folder, base_target(target)), document::to_json(list) + "\n"},
          {folder + "/" + name, dist_name(info, "device", target) + " " + info.version + "\n"}};
}

}  // namespace wheelsmith::rocm
