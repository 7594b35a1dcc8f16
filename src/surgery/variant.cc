#include "surgery/variant.h"

// A wheel with a label and the properties that its binaries have (wheel/tags/variant_properties.cc). Every wheel gets
// the same list of namespaces, whether it uses them or not: an index merges the files of all wheels of a version, and
// lists that are not prefixes of each other contradict.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/request_error.h"
#include "base/text.h"
#include "surgery/publish.h"
#include "wheel/tags/variant_properties.h"

namespace wheelsmith::surgery {

namespace data {
extern const std::string_view variant_providers_tsv;
}

namespace {

void add_providers(pep::VariantFile& file, const pep::VariantProperties& properties) {
  for (const std::string_view line : lines(data::variant_providers_tsv)) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string_view> cells = split(line, '\t');
    const std::string space(cells.at(0));
    file.namespaces.push_back(space);
    if (file.dialect != pep::VariantDialect::pep825)
      file.providers[space] = {{std::string(cells.at(1))}, std::string(cells.at(2))};
  }
  for (const auto& [space, features] : properties) {
    if (std::ranges::find(file.namespaces, space) != file.namespaces.end()) continue;
    if (file.dialect != pep::VariantDialect::pep825)
      throw RequestError(
          fmt::format("no provider is known for the namespace {}; only --dialect pep825 can express it", space));
    file.namespaces.push_back(space);
  }
}

// The only value of a feature, or "".
std::string only_value(const pep::VariantProperties& properties, const char* space, const char* feature) {
  const auto found = properties.find(space);
  if (found == properties.end()) return "";
  const auto values = found->second.find(feature);
  return values == found->second.end() || values->second.size() != 1 ? "" : *values->second.begin();
}

}  // namespace

std::string variant_label(const pep::VariantProperties& properties) {
  if (properties.empty()) return std::string(pep::k_null_label);
  std::string label;
  if (properties.contains("nvidia"))
    label = "cuda" + only_value(properties, "nvidia", "cuda_version_lower_bound");
  else if (properties.contains("amd"))
    label = "rocm" + only_value(properties, "amd", "rocm_version");
  else if (properties.contains("x86_64"))
    label = "x86_64_" + only_value(properties, "x86_64", "level");
  else
    label = properties.begin()->first;
  while (label.ends_with('_')) label.pop_back();
  return label.substr(0, pep::k_longest_label);
}

void set_variant(Draft& draft, pep::VariantDialect dialect, const std::string& label,
                 const pep::VariantProperties& properties) {
  if (!pep::is_variant_label(label))
    throw RequestError(
        fmt::format("--label {}: a label has lower-case letters, digits, '_' and '.'", printable(label)));
  if (label.size() > pep::k_longest_label)
    throw RequestError(fmt::format("--label {}: a label has at most {} characters", label, pep::k_longest_label));
  if (properties.empty() != (label == pep::k_null_label))
    throw RequestError(
        properties.empty()
            ? fmt::format("--label {}: the wheel has no properties, and the label of such a wheel is null", label)
            : std::string("--label null: the wheel has properties, and null means that it has none"));
  pep::VariantFile file;
  file.dialect = dialect;
  add_providers(file, properties);
  file.variants[label] = properties;
  draft.name().label = label;
  draft.put_text(draft.in_dist_info("variant.json"), pep::variant_file_text(file));
}

void make_variant(InputWheel& input, const VariantRequest& request, const WriteOptions& options, Item& item) {
  input.start_hash();
  Draft draft(input, "variant");
  document::Table shown;
  if (!request.dialect) {
    if (draft.name().label.empty() && !draft.has(draft.in_dist_info("variant.json")))
      throw Error("is not a variant wheel; there is nothing to remove");
    draft.name().label.clear();
    if (draft.has(draft.in_dist_info("variant.json"))) draft.drop(draft.in_dist_info("variant.json"));
    shown["remove"] = true;
    draft.details()["options"] = std::move(shown);
    publish(draft, {}, options, item);
    return;
  }
  const wheel::Scan scan = wheel::scan(input.tree(), {.threads = options.threads, .exported = true, .layout = true});
  wheel::FoundProperties found = wheel::find_variant_properties(scan, input.distribution());
  for (const auto& [space, features] : request.properties) {
    for (const auto& [feature, values] : features) found.properties[space][feature] = values;
  }
  for (std::string& note : found.notes) draft.note(std::move(note));
  std::string label = request.label;
  if (label.empty()) label = variant_label(found.properties);
  set_variant(draft, *request.dialect, label, found.properties);
  const std::vector<std::string> properties = pep::to_strings(found.properties);
  shown["dialect"] = pep::to_string(*request.dialect);
  shown["label"] = label;
  document::Array list;
  for (const std::string& property : pep::to_strings(request.properties)) list.emplace_back(property);
  if (!list.empty()) shown["property"] = std::move(list);
  draft.details()["options"] = std::move(shown);
  publish(draft, {&scan, true}, options, item);
  item.outputs.back().label = label;
  item.outputs.back().properties = properties;
}

}  // namespace wheelsmith::surgery
