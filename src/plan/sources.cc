#include "plan/sources.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "choose/python.h"
#include "choose/recipe.h"
#include "choose/source.h"
#include "choose/variants.h"
#include "pep/version.h"
#include "pep/wheel_name.h"
#include "plan/described.h"
#include "source/patches/patch_work.h"
#include "source/worktree/checkout_state.h"
#include "sys/file.h"

namespace wheelsmith::plan {

source::PinOptions pin_options(const choose::Request& request, const PlanInputs& inputs,
                               const toolchain::Python& python) {
  source::PinOptions options;
  options.python_version = python.version;
  options.upgrade = request.upgrade;
  options.offline = request.offline;
  options.recipe_folder = inputs.recipe_folder;
  options.example_folders = inputs.example_folders;
  return options;
}

Sources::Sources(const choose::Request& request, const PlanInputs& inputs, Locks& locks, Notes& notes)
    : m_request(request), m_inputs(inputs), m_locks(locks), m_notes(notes) {}

const recipe::Recipe& Sources::recipe(const std::string& name) {
  const std::string package = pep::normalized_name(name);
  const auto inferred = m_inferred.find(package);
  if (inferred != m_inferred.end()) return inferred->second;
  if (const recipe::Recipe* known = choose::find_recipe(m_inputs.recipes, package)) return *known;
  m_inputs.on_progress(fmt::format("{} has no recipe; reading its source", package));
  const toolchain::Python python = choose::choose_pythons(m_request, m_inputs.host).front();
  const PinnedSource& found = source(choose::unknown_recipe(package), recipe::Variant::cpu, "", python);
  recipe::Recipe recipe = choose::inferred_recipe(package, found.pin, found.facts);
  // Shown once per package, and again when they change; `plan --json` and `recipe init` always show them.
  const std::string assumed = join(recipe.assumptions, "\n");
  if (!assumed.empty() && !m_inputs.store.remembered("assumptions", package, to_hex(sha256(Bytes(assumed))))) {
    for (const std::string& assumption : recipe.assumptions)
      m_notes.add(fmt::format("{} has no recipe; assumed: {}", package, assumption));
    m_inputs.store.remember("assumptions", package, to_hex(sha256(Bytes(assumed))), "told");
  }
  return m_inferred.emplace(package, std::move(recipe)).first->second;
}

const recipe::Recipe* Sources::built_torch(const recipe::Recipe& besides) const {
  if (!m_request.torch.empty()) return nullptr;
  for (const std::string& package : m_request.packages) {
    const recipe::Recipe* recipe = m_inputs.recipes.find(package);
    if (recipe != nullptr && recipe->name != besides.name && pep::same_name(recipe->project, "torch")) return recipe;
  }
  return nullptr;
}

namespace {

bool is_release(const source::Pin& pin) {
  const auto version = pep::Version::try_parse(pin.version);
  return !pin.git_tag.empty() && version && !version->is_prerelease();
}

bool has_pair(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& torch) {
  return recipe::torch_pairs(recipe.source, variant).contains(choose::torch_series(torch));
}

}  // namespace

std::optional<std::string> Sources::text(const source::Pin& pin, const std::string& path) const {
  if (const auto described = described_file(pin, path, m_inputs)) return described->text;
  return source::file_at(pin, path, m_inputs.fetcher, m_inputs.store);
}

Sources::Reader Sources::reader(const source::Pin& pin, const std::string& subfolder) {
  return [this, pin, subfolder](const std::string& path) {
    const std::string below = subfolder.empty() ? path : subfolder + "/" + path;
    const std::string name = pin.digest + "\n" + below;
    const auto known = m_texts.find(name);
    return known != m_texts.end() ? known->second : m_texts.emplace(name, text(pin, below)).first->second;
  };
}

Sources::Reader Sources::reader(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                                const toolchain::Python& python) {
  const PinnedSource& found = source(recipe, variant, target, python);
  return reader(found.pin, found.subfolder);
}

// The torch that a source given by the user is made for: from its files, else the one that the recipe pairs with its
// version. "" if torch determines the source.
std::string Sources::series_of_source(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                                      const toolchain::Python& python) {
  const bool named = choose::source_override(m_request, recipe.name, recipe.project).has_value();
  if (!named && !choose::user_ref(m_request, recipe.name)) return "";
  const PinnedSource& found = source(recipe, variant, target, python);
  const source::Pin& pin = found.pin;
  recipe::Rules rules = recipe.rules(variant, target);
  std::vector<std::string> ignored;
  recipe::apply_reads(rules, reader(pin, found.subfolder), ignored);
  if (!rules.requires_versions.torch_series.empty()) return rules.requires_versions.torch_series;
  if (!named) return "";
  const std::string of_tag = recipe::torch_for_ref(recipe, variant, pin.git_tag);
  return of_tag.empty() ? recipe::torch_for_ref(recipe, variant, recipe.source.tag_prefix + pin.version) : of_tag;
}

choose::Chosen<choose::TorchChoice> Sources::torch(const recipe::Recipe& recipe, const recipe::Rules& rules,
                                                   recipe::Variant variant, const std::string& target,
                                                   const toolchain::Python& python) {
  const bool open = rules.requires_versions.uses_torch && m_request.torch.empty();
  auto chosen = choose::choose_torch(m_request, recipe, rules, variant, python, m_inputs.host,
                                     open ? series_of_source(recipe, variant, target, python) : "");
  if (variant == recipe::Variant::cpu) m_locks.prefer_cpu_torch(chosen.what, python);
  return chosen;
}

std::string Sources::torch_series(const recipe::Recipe& recipe, const recipe::Rules& rules, recipe::Variant variant,
                                  const std::string& target, const toolchain::Python& python) {
  const recipe::Recipe* built = built_torch(recipe);
  if (built != nullptr && rules.requires_versions.uses_torch)
    return choose::torch_series(source(*built, variant, "", python).pin.version);
  const choose::TorchChoice choice = torch(recipe, rules, variant, target, python).what;
  // A given version need not be searched for.
  if (const std::string said = choose::torch_series(choice); !said.empty()) return said;
  return choose::torch_series(m_locks.torch_build(choice, python).version);
}

std::optional<source::PinnedRef> Sources::record(const recipe::Recipe& recipe, recipe::Variant variant,
                                                 const toolchain::Python& python) {
  const recipe::Source::PinnedBy& by = recipe.source.pinned_by;
  if (by.recipe.empty() || pep::same_name(by.recipe, recipe.name)) return std::nullopt;
  const auto asked = [&](const std::string& package) { return pep::same_name(package, by.recipe); };
  if (std::none_of(m_request.packages.begin(), m_request.packages.end(), asked)) return std::nullopt;
  const recipe::Recipe& pinning = this->recipe(by.recipe);
  const PinnedSource& found = source(pinning, choose::dependency_variant(pinning, variant), "", python);
  const auto read = [&](const std::string& path) { return text(found.pin, path); };
  const bool pairs_decide = by.unless_release && is_release(found.pin) && has_pair(recipe, variant, found.pin.version);
  return source::pinned_by(by.record, pairs_decide ? std::vector<std::string>() : by.files, read);
}

recipe::Recipe Sources::located(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                                const toolchain::Python& python, std::string& patchset) {
  recipe::Recipe result;
  result.name = recipe.name;
  result.project = recipe.project;
  result.origin = recipe.origin;
  result.source = recipe.source;
  const recipe::Rules& rules = recipe.rules(variant, target);
  result.source.submodules = choose::choose_parts(recipe, rules).submodules;
  if (choose::source_override(m_request, recipe.name, recipe.project)) return result;
  const choose::SourceChoice choice =
      choose::choose_source({.recipe = recipe,
                             .variant = variant,
                             .ref = choose::user_ref(m_request, recipe.name).value_or(""),
                             .origin = "",
                             .torch_named = !m_request.torch.empty(),
                             .record = [&] { return record(recipe, variant, python); },
                             .torch_series = [&] { return torch_series(recipe, rules, variant, target, python); }});
  m_notes.add(choose::notes_of(choice, recipe, recipe.source.pinned_by.recipe));
  result.source.url = choice.url;
  result.source.ref = choice.ref;
  if (m_inputs.patch_folder.empty() || choose::user_patchset(m_request, recipe.name)) return result;
  patchset = choose::choose_patchset(choice, "", source::PatchSet::names(m_inputs.patch_folder, recipe.name));
  if (patchset.empty()) return result;
  m_inputs.on_found_patchset(recipe.name, patchset);
  m_notes.add(fmt::format("{}: patch set {}", recipe.name, patchset));
  return result;
}

const PinnedSource& Sources::source(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                                    const toolchain::Python& python) {
  const std::optional<source::Override> user = choose::source_override(m_request, recipe.name, recipe.project);
  const bool git = recipe.source.kind == recipe::Source::Kind::git;
  // The release from an index depends on the interpreter; the ref of a repository on the torch of the variant, and the
  // checked-out parts on the variant.
  std::string name = recipe.name;
  if (user || recipe.source.kind != recipe::Source::Kind::folder) name += " " + python.short_version();
  if (git) name += fmt::format(" {} {}", recipe::to_string(variant), target);
  const auto found = m_sources.find(name);
  if (found != m_sources.end()) return found->second;
  PinnedSource pinned;
  const source::PinOptions options = pin_options(m_request, m_inputs, python);
  pinned.pin = git ? pin_source(located(recipe, variant, target, python, pinned.patchset), user, m_inputs, options)
                   : pin_source(recipe, user, m_inputs, options);
  if (const auto wanted = choose::user_patchset(m_request, recipe.name)) {
    pinned.patchset =
        *wanted == "none" ? "" : source::patch_set_named(m_inputs.patch_folder, recipe.name, *wanted).name();
  }
  pinned.subfolder = recipe::package_folder(recipe.source, reader(pinned.pin, ""));
  pinned.files = std::exchange(pinned.pin.files, {});  // because the pin is copied into every step
  if (pinned.pin.kind != source::Pin::Kind::program)
    pinned.facts = remembered_facts(pinned.pin, pinned.subfolder, m_inputs);
  if (pinned.pin.version.empty() && !recipe.source.version_file.empty())
    pinned.pin.version = choose::source_version(recipe, "", text(pinned.pin, recipe.source.version_file));
  if (pinned.pin.version.empty()) pinned.pin.version = pinned.facts.version;
  if (pinned.pin.version.empty() && pinned.pin.kind == source::Pin::Kind::folder) {
    const auto state = source::checkout_state(pinned.pin.folder, pinned.pin.project, recipe.source.tag_prefix);
    if (state) pinned.pin.version = state->version;
  }
  return m_sources.emplace(name, std::move(pinned)).first->second;
}

std::vector<FetchSource> Sources::fetches(const BuildSpec& spec, const recipe::Rules& rules) {
  std::vector<FetchSource> result;
  if (!rules.fetches.empty() && !m_repositories)
    m_repositories.emplace(m_inputs.store, m_inputs.fetcher.options().mirrors, m_request.offline);
  for (const recipe::Fetch& fetch : rules.fetches) {
    std::string ref = fetch.ref;
    if (!fetch.ref_file.empty()) {
      const auto said_in = text(spec.source, fetch.ref_file);
      std::string said;
      if (said_in && RE2::PartialMatch(*said_in, fetch.ref_pattern, &said)) {
        ref = said;
      } else if (ref.empty()) {
        // This version does not clone it.
        m_notes.add(fmt::format("{0}: skipped {2}: {1} does not name it in {3}", spec.package, spec.source.project,
                                fetch.name, fetch.ref_file));
        continue;
      }
    }
    m_inputs.on_progress(fmt::format("finding {} {}", fetch.name, ref));
    const auto described = described_commit(fetch.git, fetch.name, ref, m_inputs);
    FetchSource fetched;
    fetched.name = fetch.name;
    fetched.pin.kind = source::Pin::Kind::git;
    fetched.pin.project = fetch.name;
    fetched.pin.git_url = fetch.git;
    fetched.pin.git_ref = ref;
    fetched.pin.git_commit = described ? *described : m_repositories->resolve(fetch.git, ref, m_request.upgrade).id;
    fetched.pin.submodules = fetch.submodules;
    fetched.pin.digest = "git:" + fetched.pin.git_commit;
    result.push_back(std::move(fetched));
  }
  return result;
}

PatchTexts read_patches(const recipe::Recipe& recipe, const std::string& patchset, const PlanInputs& inputs) {
  PatchTexts patches;
  const std::filesystem::path folder =
      inputs.recipe_folder.empty() ? std::filesystem::path(recipe.origin).parent_path() : inputs.recipe_folder;
  for (const std::string& name : recipe.source.patches) {
    const auto text = sys::read_file_if_there(folder / name, 64 << 20);
    if (!text)
      throw Error(
          fmt::format("the recipe {} lists the patch {}, which is not in {}", recipe.name, name, folder.string()));
    patches.early.push_back({name, *text});
  }
  if (patchset.empty() || inputs.patch_folder.empty()) return patches;
  const source::PatchSet set(patchset, source::PatchSet::folder_of(inputs.patch_folder, recipe.name) / patchset,
                             recipe.name);
  for (const source::PatchFile& patch : set.files())
    (patch.hipified ? patches.hipified : patches.early).push_back({patch.name, patch.text, patch.part});
  return patches;
}

}  // namespace wheelsmith::plan
