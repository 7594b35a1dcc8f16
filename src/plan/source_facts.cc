#include "plan/source_facts.h"

#include <fmt/format.h>

#include "base/error.h"
#include "plan/described.h"
#include "source/patches/patch_set.h"
#include "sys/files.h"

namespace wheelsmith::plan {

namespace {

using document::Array;
using document::Table;
using document::Value;

// Raised when facts are read differently. All of them are kept: a recipe made up from remembered ones must be the same.
constexpr std::string_view k_facts_version = "5";

Array list_of(const std::vector<std::string>& texts) { return {texts.begin(), texts.end()}; }

std::string to_text(const recipe::SourceFacts& facts) {
  Table table;
  table["name"] = facts.name;
  table["version"] = facts.version;
  table["backend"] = facts.backend;
  table["requires"] = list_of(facts.requires_);
  table["requires_python"] = facts.requires_python;
  table["has_pyproject"] = facts.has_pyproject;
  table["has_setup_py"] = facts.has_setup_py;
  table["has_cmake"] = facts.has_cmake;
  table["uses_torch"] = facts.uses_torch;
  table["uses_torch_extension"] = facts.uses_torch_extension;
  table["has_cuda_sources"] = facts.has_cuda_sources;
  table["has_hip_sources"] = facts.has_hip_sources;
  table["imports"] = list_of(facts.imports);
  table["setup_imports"] = list_of(facts.setup_imports);
  table["arch_variables"] = list_of(facts.arch_variables);
  table["arch_example"] = facts.arch_example;
  table["compares_with_true"] = facts.compares_with_true;
  return document::to_json(table, -1);
}

recipe::SourceFacts from_text(const std::string& text) {
  const Value value = document::parse_json(text, "remembered source facts");
  recipe::SourceFacts facts;
  facts.name = value["name"].text_or();
  facts.version = value["version"].text_or();
  facts.backend = value["backend"].text_or();
  facts.requires_ = value["requires"].texts();
  facts.requires_python = value["requires_python"].text_or();
  facts.has_pyproject = value["has_pyproject"].boolean_or(false);
  facts.has_setup_py = value["has_setup_py"].boolean_or(false);
  facts.has_cmake = value["has_cmake"].boolean_or(false);
  facts.uses_torch = value["uses_torch"].boolean_or(false);
  facts.uses_torch_extension = value["uses_torch_extension"].boolean_or(false);
  facts.has_cuda_sources = value["has_cuda_sources"].boolean_or(false);
  facts.has_hip_sources = value["has_hip_sources"].boolean_or(false);
  facts.imports = value["imports"].texts();
  facts.setup_imports = value["setup_imports"].texts();
  facts.arch_variables = value["arch_variables"].texts();
  facts.arch_example = value["arch_example"].text_or();
  facts.compares_with_true = value["compares_with_true"].boolean_or(false);
  return facts;
}

}  // namespace

recipe::SourceFacts remembered_facts(const source::Pin& pin, const std::string& subfolder, const PlanInputs& inputs) {
  if (auto described = described_facts(pin, subfolder, inputs)) return *described;
  const std::string subject = pin.digest + " " + subfolder;
  if (const auto known = inputs.store.remembered("source-facts", subject, k_facts_version)) return from_text(*known);
  inputs.on_progress(fmt::format("looking into the source of {}", pin.project));
  const recipe::SourceFacts facts = source::look_into(pin, subfolder, inputs.fetcher, inputs.store);
  inputs.store.remember("source-facts", subject, k_facts_version, to_text(facts));
  return facts;
}

std::vector<source::Patch> read_patches(const recipe::Recipe& recipe, const std::string& patchset,
                                        const PlanInputs& inputs) {
  std::vector<source::Patch> patches;
  const std::filesystem::path folder =
      inputs.recipe_folder.empty() ? std::filesystem::path(recipe.origin).parent_path() : inputs.recipe_folder;
  for (const std::string& name : recipe.source.patches) {
    const auto text = sys::read_file_if_there(folder / name, 64 << 20);
    if (!text)
      throw Error(
          fmt::format("the recipe {} names the patch {}, which is not in {}", recipe.name, name, folder.string()));
    patches.push_back({name, *text});
  }
  if (patchset.empty() || inputs.patch_folder.empty()) return patches;
  const std::filesystem::path of_set = inputs.patch_folder / recipe.name / patchset;
  const source::PatchSet set(patchset, of_set, recipe.name);
  for (const source::PatchFile& patch : set.files())
    patches.push_back({patch.name, patch.text, patch.part, patch.hipified});
  return patches;
}

}  // namespace wheelsmith::plan
