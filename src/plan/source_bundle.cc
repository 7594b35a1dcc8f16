#include "plan/source_bundle.h"

#include <re2/re2.h>

#include <algorithm>

#include "base/error.h"
#include "choose/checkout.h"
#include "source/source.h"

namespace wheelsmith::plan {

namespace {

class Collector {
 public:
  explicit Collector(const BundleInputs& inputs) : m_inputs(inputs), m_bundle(inputs.repositories) {}

  void add(const BundledRecipe& wanted) {
    const recipe::Recipe& recipe = *wanted.recipe;
    if (std::find(m_done.begin(), m_done.end(), recipe.name) != m_done.end()) return;
    m_done.push_back(recipe.name);
    std::string commit;
    if (!wanted.origin.empty()) {
      commit = m_bundle.add(wanted.origin, wanted.ref, wanted.submodules);
    } else if (recipe.source.kind == recipe::Source::Kind::sdist) {
      add_sdist(recipe);
    }
    for (const recipe::Variant variant : recipe.variants()) {
      if (wanted.variant && *wanted.variant != variant) continue;
      for (const std::string& target : recipe.targets(variant)) {
        if (!wanted.target.empty() && wanted.target != target) continue;
        const recipe::Rules& rules = recipe.rules(variant, target);
        add_fetches(rules, wanted.origin, commit);
        for (const recipe::Dependency& need : rules.needs) add_dependency(need, variant);
      }
    }
  }

  void add(const source::Pin& pin) {
    if (pin.kind == source::Pin::Kind::git) m_bundle.add(pin.git_url, pin.git_ref, pin.submodules);
    if (pin.kind == source::Pin::Kind::archive) add_archive(pin);
  }

  source::BundleContents write(const std::filesystem::path& file) {
    for (const source::ImportedNote& note : source::imported_notes(m_sdists))
      m_bundle.add_note({"source", note.name, note.text});
    source::BundleContents contents = m_bundle.contents();
    if (contents.repositories.empty() && contents.downloads.empty())
      throw Error("nothing to bundle: these packages have no sources to fetch");
    m_bundle.write(file);
    return contents;
  }

 private:
  void add_archive(const source::Pin& pin) {
    const auto same = [&](const source::BundledDownload& other) { return other.sha256 == pin.sha256; };
    const auto& there = m_bundle.downloads();
    if (std::any_of(there.begin(), there.end(), same)) return;
    m_bundle.add_download({.file_name = pin.file_name,
                           .url = pin.url,
                           .sha256 = pin.sha256,
                           .path = source::fetch_archive(pin, m_inputs.fetcher)});
    m_sdists.push_back(pin);
  }

  void add_sdist(const recipe::Recipe& recipe) {
    source::PinOptions options;
    options.offline = m_inputs.offline;
    options.python_version = m_inputs.python_version;
    add_archive(source::pin(recipe, {}, m_inputs.fetcher, m_inputs.store, options));
  }

  void add_fetches(const recipe::Rules& rules, const std::string& origin, const std::string& commit) {
    for (const recipe::Fetch& fetch : rules.fetches) {
      std::string ref = fetch.ref;
      if (!fetch.ref_file.empty() && !commit.empty()) {
        const auto text = m_inputs.repositories.file(origin, commit, fetch.ref_file);
        std::string found;
        if (text && RE2::PartialMatch(*text, fetch.ref_pattern, &found)) ref = found;
      }
      if (!ref.empty()) m_bundle.add(fetch.git, ref, fetch.submodules);
    }
  }

  void add_dependency(const recipe::Dependency& need, recipe::Variant variant) {
    const recipe::Recipe* recipe = need.recipe.empty() ? nullptr : m_inputs.recipes.find(need.recipe);
    if (recipe == nullptr) return;
    BundledRecipe wanted;
    wanted.recipe = recipe;
    const std::vector<recipe::Variant> legal = recipe->variants();
    if (std::find(legal.begin(), legal.end(), variant) != legal.end()) wanted.variant = variant;
    wanted.target = need.target;
    if (recipe->source.kind == recipe::Source::Kind::git) {
      const choose::SourceChoice choice =
          choose::choose_checkout_source(*recipe, wanted.variant, {.torch = m_inputs.torch});
      wanted.origin = choice.url;
      wanted.ref = choice.ref;
      wanted.submodules = choose::choose_parts(*recipe, wanted.variant, wanted.target, choice.ref).submodules;
    }
    add(wanted);
  }

  const BundleInputs& m_inputs;
  source::SourceBundle m_bundle;
  std::vector<std::string> m_done;
  std::vector<source::Pin> m_sdists;
};

}  // namespace

source::BundleContents bundle_sources(const std::vector<BundledRecipe>& recipes, const BundleInputs& inputs,
                                      const std::filesystem::path& file) {
  Collector collector(inputs);
  for (const BundledRecipe& recipe : recipes) collector.add(recipe);
  return collector.write(file);
}

source::BundleContents bundle_sources(const Plan& plan, const BundleInputs& inputs, const std::filesystem::path& file) {
  Collector collector(inputs);
  for (const Step& step : plan.steps) {
    if (step.is_skipped()) continue;
    collector.add(step.spec.source);
    for (const FetchSource* fetch : step.spec.all<FetchSource>(Phase::source)) collector.add(fetch->pin);
  }
  return collector.write(file);
}

}  // namespace wheelsmith::plan
