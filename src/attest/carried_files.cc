#include "attest/carried_files.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "zip/archive.h"

namespace wheelsmith::attest {

namespace {

constexpr std::uint64_t k_most_text = 64 << 20;

// The text of DIST-INFO/name.
std::optional<std::string> text_of(const zip::Archive& archive, const std::string& dist_info, std::string_view name) {
  const zip::Entry* entry = archive.find(fmt::format("{}/{}", dist_info, name));
  if (entry == nullptr) return std::nullopt;
  if (entry->size > k_most_text) throw Error(fmt::format("{} in the wheel is too large to be from wheelsmith", name));
  return std::string(archive.read(*entry).bytes.text());
}

// The one folder that contains a provenance.json of wheelsmith.
std::string own_dist_info(const zip::Archive& archive) {
  std::string found;
  for (const zip::Entry& entry : archive.entries()) {
    const std::string folder = entry.name.substr(0, entry.name.find('/'));
    if (!folder.ends_with(".dist-info") || entry.name != folder + "/wheelsmith/provenance.json") continue;
    if (!found.empty())
      throw Error(fmt::format("the wheel has two provenances: {} and {}", printable(found), printable(folder)));
    found = folder;
  }
  if (found.empty())
    throw Error("the wheel was not built by wheelsmith: its .dist-info folder has no wheelsmith/provenance.json");
  return found;
}

}  // namespace

CarriedFiles read_carried_files(Bytes wheel) {
  const zip::Archive archive = zip::Archive::open(wheel);
  CarriedFiles files;
  files.dist_info = own_dist_info(archive);
  files.provenance = document::parse_json(text_of(archive, files.dist_info, "wheelsmith/provenance.json").value(),
                                          "provenance.json of the wheel");
  if (files.provenance.table() == nullptr || files.provenance["schema"].integer_or(0) != 1)
    throw Error("this version of wheelsmith does not support the schema of the wheel's provenance.json");
  const auto recipe = text_of(archive, files.dist_info, "wheelsmith/recipe.toml");
  if (!recipe) throw Error("the wheel has no wheelsmith/recipe.toml: it was not built by wheelsmith");
  files.recipe = *recipe;
  if (const auto build = text_of(archive, files.dist_info, "wheelsmith/build.json"))
    files.build = document::parse_json(*build, "build.json of the wheel");
  files.sbom = text_of(archive, files.dist_info, k_sbom_name);
  return files;
}

}  // namespace wheelsmith::attest
