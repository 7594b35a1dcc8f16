#include "report/plan/checkout.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/json_document.h"

namespace wheelsmith::report {

namespace {

using document::Array;
using document::Table;
using document::Value;

Value checkout_value(const CheckoutItem& item) {
  const source::WorkState& state = item.result.state;
  Table result;
  result["recipe"] = state.recipe;
  result["folder"] = item.folder.string();
  result["outcome"] = std::string(to_string(item.result.outcome));
  result["origin"] = state.origin;
  result["ref"] = state.ref;
  result["ref_kind"] = source::to_string(state.ref_kind);
  result["ref_by"] = item.why;
  result["commit"] = state.commit;
  result["head"] = item.result.heads.empty() ? "" : item.result.heads.front();
  result["version"] = state.version;
  result["patchset"] = state.patchset;
  Array patches;
  for (const source::AppliedPatch& patch : state.patches) {
    Table one;
    one["part"] = patch.part;
    one["hipified"] = patch.hipified;
    one["name"] = patch.name;
    one["sha256"] = patch.sha256;
    patches.emplace_back(std::move(one));
  }
  result["patches"] = std::move(patches);
  result["hipify"] = state.hipify;
  Array parts;
  for (std::size_t i = 0; i < state.parts.size(); ++i) {
    Table part;
    part["path"] = state.parts[i].path;
    part["upstream"] = state.parts[i].upstream;
    part["commit"] = state.parts[i].made;
    part["head"] = i < item.result.heads.size() ? item.result.heads[i] : "";
    part["tree"] = i < item.result.trees.size() ? item.result.trees[i] : "";
    parts.emplace_back(std::move(part));
  }
  result["parts"] = std::move(parts);
  result["notes"] = text_array(item.result.notes);
  return result;
}

std::string bundle_text(std::string_view verb, const std::string& file, const source::BundleContents& contents) {
  std::string text = fmt::format("{} {}\n", verb, printable(file));
  for (const std::string& url : contents.repositories) text += fmt::format("  {}\n", printable(url));
  for (const std::string& name : contents.downloads) text += fmt::format("  {}\n", printable(name));
  return text;
}

}  // namespace

std::string checkout_text(const CheckoutItem& item, const Style& style) {
  const source::WorkState& state = item.result.state;
  const std::string ref = state.ref == state.commit ? "" : printable(state.ref) + " = ";
  std::string text = fmt::format("{} {} {}{}", style.green(std::string(to_string(item.result.outcome))),
                                 style.bold(printable(item.folder.string())), ref, state.commit.substr(0, 12));
  if (!state.version.empty()) text += fmt::format(" (version {})", printable(state.version));
  text += fmt::format("\n  from {}", printable(state.origin));
  if (!item.why.empty() && item.why != "--ref") text += fmt::format(", ref by {}", printable(item.why));
  text += "\n";
  if (state.parts.size() > 1)
    text += fmt::format("  {} submodule{}\n", state.parts.size() - 1, state.parts.size() == 2 ? "" : "s");
  if (!state.patches.empty())
    text += fmt::format("  {} patch{} of {}\n", state.patches.size(), state.patches.size() == 1 ? "" : "es",
                        printable(state.patchset));
  if (!state.hipify.empty())
    text += fmt::format("  hipified by {}{}\n", printable(state.hipify), state.commit_hipify ? "" : ", not committed");
  if (!item.result.trees.empty()) text += fmt::format("  tree {}\n", item.result.trees.front());
  for (const std::string& note : item.result.notes) text += fmt::format("  {}\n", style.wrap(note, 2));
  return text;
}

std::string checkout_json(const std::vector<CheckoutItem>& items) {
  Table document = new_document();
  Array list;
  for (const CheckoutItem& item : items) list.push_back(checkout_value(item));
  document["items"] = std::move(list);
  return document_text(document);
}

std::string manifest_json(const std::string& file, const std::vector<source::ManifestProject>& projects) {
  Table document = new_document();
  document["file"] = file;
  Array items;
  for (const source::ManifestProject& project : projects) {
    Table item;
    item["name"] = project.name;
    item["commit"] = project.commit;
    item["tree"] = project.tree;
    items.emplace_back(std::move(item));
  }
  document["items"] = std::move(items);
  return document_text(document);
}

std::string written_bundle_text(const std::string& file, const source::BundleContents& contents) {
  return bundle_text("wrote", file, contents);
}

std::string read_bundle_text(const std::string& file, const source::BundleContents& contents) {
  return bundle_text("imported", file, contents);
}

std::string source_bundle_json(const std::string& file, const source::BundleContents& contents) {
  Table document = new_document();
  document["file"] = file;
  document["repositories"] = text_array(contents.repositories);
  document["downloads"] = text_array(contents.downloads);
  return document_text(document);
}

}  // namespace wheelsmith::report
