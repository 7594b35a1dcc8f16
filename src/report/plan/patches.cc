#include "report/plan/patches.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/json_document.h"

namespace wheelsmith::report {

using document::Array;
using document::Table;

std::string saved_set_text(const source::SavedSet& set) {
  const source::SavedPatches& files = set.files;
  std::string text = fmt::format("patch set {} in {}\n", printable(set.patchset), printable(set.folder.string()));
  for (const std::string& name : files.written) text += fmt::format("  wrote {}\n", printable(name));
  for (const std::string& name : files.removed) text += fmt::format("  removed {}\n", printable(name));
  if (!files.kept.empty()) text += fmt::format("  {} unchanged\n", files.kept.size());
  if (files.written.empty() && files.removed.empty() && files.kept.empty())
    text += "  nothing to save: there are no commits on top of upstream\n";
  return text;
}

std::string saved_set_json(const source::SavedSet& set) {
  Table document = new_document();
  document["patchset"] = set.patchset;
  document["folder"] = set.folder.string();
  document["written"] = text_array(set.files.written);
  document["removed"] = text_array(set.files.removed);
  document["kept"] = text_array(set.files.kept);
  return document_text(document);
}

std::string patch_sets_text(const source::PatchSetList& list, const Style& style) {
  if (list.sets.empty())
    return fmt::format("{} has no patch set in {}\n", list.package, printable(list.patch_folder.string()));
  std::string text;
  for (const source::ListedSet& set : list.sets) {
    text += style.bold(printable(set.name)) + "\n";
    for (const source::ListedPatch& patch : set.patches)
      text += fmt::format("  {}{}/{}{}\n", patch.part.empty() ? "" : printable(patch.part) + "/",
                          patch.hipified ? "hipified" : "base", printable(patch.name),
                          patch.applied.value_or(false) ? "  (applied)" : "");
  }
  return text;
}

std::string patch_sets_json(const source::PatchSetList& list) {
  Array sets;
  for (const source::ListedSet& set : list.sets) {
    Array patches;
    for (const source::ListedPatch& patch : set.patches) {
      Table item;
      item["part"] = patch.part;
      item["stage"] = patch.hipified ? "hipified" : "base";
      item["name"] = patch.name;
      item["sha256"] = patch.sha256;
      item["applied"] = patch.applied ? document::Value(*patch.applied) : document::Value();
      patches.emplace_back(std::move(item));
    }
    Table item;
    item["name"] = set.name;
    item["folder"] = set.folder.string();
    item["patches"] = std::move(patches);
    sets.emplace_back(std::move(item));
  }
  Table document = new_document();
  document["package"] = list.package;
  document["items"] = std::move(sets);
  return document_text(document);
}

std::string applied_set_text(const source::AppliedSet& set) {
  if (set.patches.empty()) return fmt::format("all patches of {} are already applied\n", printable(set.patchset));
  std::string text;
  for (const std::string& name : set.patches) text += fmt::format("applied {}\n", printable(name));
  return text;
}

std::string applied_set_json(const source::AppliedSet& set) {
  Table document = new_document();
  document["patchset"] = set.patchset;
  document["applied"] = text_array(set.patches);
  return document_text(document);
}

}  // namespace wheelsmith::report
