#include "bundle/companions.h"

#include <algorithm>

#include "base/text.h"
#include "document/table_reader.h"
#include "pep/wheel_name.h"

namespace wheelsmith::bundle {

namespace data {
extern const std::string_view companions_toml;
}  // namespace data

namespace {

bool any_matches(const std::vector<std::string>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return glob_match(pattern, text); });
}

}  // namespace

bool Companions::is_sdk_folder(std::string_view name) const { return any_matches(sdk_folders, name); }

bool Companions::is_inside(std::string_view distribution) const {
  return any_matches(distributions, pep::normalized_name(distribution));
}

bool Companions::is_never(std::string_view library) const { return any_matches(never, library); }

Companions read_companions(std::string_view toml, std::string_view file_name) {
  const document::Table table = document::parse_toml(toml, file_name);
  document::Problems problems(file_name);
  Companions result;
  document::TableReader reader(table, "the table", 1, problems);
  reader.texts("sdk-folders", result.sdk_folders);
  reader.texts("distributions", result.distributions);
  reader.texts("never", result.never);
  reader.within("init", [&](document::TableReader& inner) {
    inner.text("module", result.init_module);
    inner.text("list", result.init_list);
  });
  reader.each("library", [&](document::TableReader& inner) {
    Companions::Library library;
    inner.texts("names", library.names);
    inner.texts("also", library.also);
    inner.texts("data", library.data);
    result.libraries.push_back(std::move(library));
  });
  reader.finish();
  problems.throw_if_any();
  return result;
}

const Companions& companions() {
  static const Companions table = read_companions(data::companions_toml, "companions.toml");
  return table;
}

}  // namespace wheelsmith::bundle
