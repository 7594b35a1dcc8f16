#include "rocm/python/python_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/error.h"
#include "base/text.h"
#include "document/table_reader.h"
#include "pep/version.h"

namespace wheelsmith::rocm {

namespace data {
extern const std::string_view python_side_toml;
}

namespace {

using document::TableReader;

PythonPackage read_package(TableReader& reader) {
  PythonPackage package;
  std::string only;
  reader.text("name", package.name);
  reader.text("dist", package.dist);
  reader.text("family-dist", package.family_dist);
  reader.text("platform", package.platform);
  reader.text("pure", package.pure);
  reader.text("extra", package.extra);
  reader.text("summary", package.summary);
  reader.flag("required", package.required);
  reader.flag("expands", package.expands);
  reader.flag("sdist", package.sdist);
  reader.texts("requires", package.requires_packages);
  reader.text("only", only,
              [](const std::string& word) { return word == "kpack" ? "" : "the only valid value is \"kpack\""; });
  package.kpack_only = only == "kpack";
  return package;
}

PythonLibrary read_library(TableReader& reader) {
  PythonLibrary library;
  reader.text("name", library.name);
  reader.text("package", library.package);
  library.so = "lib" + library.name + ".so*";
  library.folder = "lib";
  reader.text("so", library.so);
  reader.text("dll", library.dll);
  reader.text("folder", library.folder);
  reader.flag("optional", library.optional);
  reader.texts("aliases", library.aliases);
  return library;
}

void read_scripts(const document::Table& scripts, PythonTable& table) {
  for (const auto& [package, folders] : scripts) {
    const std::vector<std::string> looks = folders["looks"].texts();
    if (folders.table() == nullptr) continue;
    for (const auto& [folder, names] : *folders.table()) {
      if (folder == "looks") continue;
      for (const std::string& name : names.texts())
        table.scripts.push_back({name, package, folder + "/" + name, is_one_of(name, looks)});
    }
  }
}

}  // namespace

PythonTable read_python_table(std::string_view toml, std::string_view file_name) {
  const document::Table text = document::parse_toml(toml, file_name);
  document::Problems problems(file_name);
  PythonTable table;
  TableReader reader(text, "the table", 0, problems);
  reader.each("package", [&](TableReader& inner) { table.packages.push_back(read_package(inner)); });
  reader.each("library", [&](TableReader& inner) { table.libraries.push_back(read_library(inner)); });
  if (const document::Value* scripts = reader.take("scripts"); scripts != nullptr && scripts->table() != nullptr)
    read_scripts(*scripts->table(), table);
  reader.finish();
  problems.throw_if_any();
  for (const PythonLibrary& library : table.libraries) (void)table.package(library.package);
  for (const PythonScript& script : table.scripts) (void)table.package(script.package);
  return table;
}

const PythonTable& python_table() {
  static const PythonTable table = read_python_table(data::python_side_toml, "python_side.toml");
  return table;
}

const PythonPackage& PythonTable::package(std::string_view name) const {
  for (const PythonPackage& package : packages) {
    if (package.name == name) return package;
  }
  throw Error(fmt::format("ROCm has no package \"{}\"", printable(name)));
}

std::string script_function(std::string_view name) {
  std::string result;
  for (const char c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    result += plain ? c : c == '+' ? 'p' : '_';
  }
  return result;
}

std::string base_target(std::string_view target) { return std::string(target.substr(0, target.find(':'))); }

std::string python_text(std::string_view text) {
  if (!is_valid_utf8(text)) throw Error(fmt::format("\"{}\" is not valid UTF-8", printable(text)));
  std::string result = "'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\')
      (result += '\\') += c;
    else if (byte < 0x20 || byte == 0x7f)
      fmt::format_to(std::back_inserter(result), "\\x{:02x}", byte);
    else
      result += c;
  }
  return result + "'";
}

std::string dist_template(const DistInfo& info, const PythonPackage& package) {
  return info.kpack || package.family_dist.empty() ? package.dist : package.family_dist;
}

std::string platform_template(const DistInfo& info, const PythonPackage& package) {
  return package.platform.empty() ? dist_template(info, package) : package.platform;
}

bool provides(const DistInfo& info, const PythonPackage& package) {
  if (package.kpack_only && !info.kpack) return false;
  return info.packages.empty() || package.sdist || is_one_of(package.name, info.packages);
}

DistInfo settled(const DistInfo& info) {
  DistInfo result = info;
  const auto version = pep::Version::try_parse(info.version);
  if (!version) throw Error(fmt::format("\"{}\" is not a valid Python package version", printable(info.version)));
  result.version = version->to_string();
  for (const std::string& name : info.packages) (void)python_table().package(name);
  for (std::vector<std::string>* list : {&result.targets, &result.linux_targets, &result.windows_targets}) {
    for (std::string& target : *list) {
      target = base_target(target);
      const bool plain = std::all_of(target.begin(), target.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
      });
      if (target.empty() || !plain) throw Error(fmt::format("\"{}\" is not a valid GPU target", printable(target)));
    }
    std::sort(list->begin(), list->end());
    list->erase(std::unique(list->begin(), list->end()), list->end());
  }
  if (result.targets.empty()) throw Error("a release of ROCm needs at least one GPU target");
  for (const char c : result.suffix) {
    if (script_function(std::string_view(&c, 1)) != std::string_view(&c, 1) && c != '_')
      throw Error(fmt::format("the suffix \"{}\" is not valid in a module name", printable(result.suffix)));
  }
  if (result.default_target.empty()) result.default_target = default_target(result);
  result.default_target = base_target(result.default_target);
  if (!is_one_of(result.default_target, result.targets))
    throw Error(fmt::format("the default target {} is not one of {}", printable(result.default_target),
                            join(result.targets, ", ")));
  return result;
}

}  // namespace wheelsmith::rocm
