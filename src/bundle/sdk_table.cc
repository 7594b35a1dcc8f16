#include "bundle/sdk_table.h"

#include <algorithm>

#include "base/text.h"
#include "document/table_reader.h"
#include "pep/wheel_name.h"

namespace wheelsmith::bundle {

namespace data {
extern const std::string_view sdk_table_toml;
}  // namespace data

namespace {

bool any_matches(const std::vector<std::string>& patterns, std::string_view text) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return glob_match(pattern, text); });
}

}  // namespace

bool SdkTable::is_sdk_folder(std::string_view name) const { return any_matches(sdk_folders, name); }

bool SdkTable::is_inside(std::string_view distribution) const {
  return any_matches(distributions, pep::normalized_name(distribution));
}

bool SdkTable::is_never(std::string_view library) const { return any_matches(never, library); }

SdkTable read_sdk_table(std::string_view toml, std::string_view file_name) {
  const document::Table table = document::parse_toml(toml, file_name);
  document::Problems problems(file_name);
  SdkTable result;
  document::TableReader reader(table, "the table", 1, problems);
  reader.texts("sdk-folders", result.sdk_folders);
  reader.texts("distributions", result.distributions);
  reader.texts("never", result.never);
  reader.within("init", [&](document::TableReader& inner) {
    inner.text("module", result.init_module);
    inner.text("list", result.init_list);
  });
  reader.each("library", [&](document::TableReader& inner) {
    SdkTable::Library library;
    inner.texts("names", library.names);
    inner.texts("also", library.also);
    inner.texts("data", library.data);
    result.libraries.push_back(std::move(library));
  });
  reader.finish();
  problems.throw_if_any();
  return result;
}

const SdkTable& sdk_table() {
  static const SdkTable table = read_sdk_table(data::sdk_table_toml, "sdk_table.toml");
  return table;
}

}  // namespace wheelsmith::bundle
