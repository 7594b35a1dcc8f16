// Where a step's source is. A recipe names a repository and a ref, but rarely is that the whole answer: the user may
// want another ref; a fork keeps some branches; the ref belongs to a torch, published or built in the same plan, whose
// own files say which commits of its companions it was tested with; and what CMake would clone while it is configured
// has its commit written in the source. All of it is decided here, and becomes a commit that the key holds.

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "pep/wheel_name.h"
#include "plan/choose.h"
#include "plan/described.h"
#include "plan/planner.h"
#include "plan/source_facts.h"
#include "source/torch_pins.h"
#include "sys/file.h"

namespace wheelsmith::plan {

namespace {

// "2.13" of "2.13.0+cpu".
std::string series_of(const std::string& version) {
  const auto parts = split(version, '.');
  return parts.size() < 2 ? std::string() : fmt::format("{}.{}", parts[0], parts[1]);
}

// A version as it stands in a file of its own ("2.13.0a0\n") or in a Python module (__version__ = "2.8.0").
std::string version_in(const std::string& text) {
  std::string word;
  if (RE2::PartialMatch(text, R"((?m)^__version__\s*=\s*["']([^"']+)["'])", &word))
    return pep::Version::try_parse(word) ? word : "";
  for (const std::string_view line : lines(text)) {
    word = trim(line);
    if (pep::Version::try_parse(word)) return word;
  }
  return "";
}

}  // namespace

std::optional<std::string> Planner::text_of(const source::Pin& pin, const std::string& path) const {
  if (const auto described = described_file(pin, path, m_inputs)) return described->text;
  return source::file_at(pin, path, m_inputs.fetcher, m_inputs.store);
}

LockedTorch Planner::torch_before(const recipe::Recipe& recipe, const recipe::Rules& rules, recipe::Variant variant,
                                  const toolchain::Python& python) {
  std::vector<std::string> notes;
  TorchChoice torch = choose_torch(m_request, rules, variant, python, m_inputs, notes);
  prefer_torch_of_ref(torch, recipe, m_request, notes);
  if (torch.kind == TorchChoice::Kind::none) return {};
  if (torch.kind == TorchChoice::Kind::environment) {
    const auto found = toolchain::find_torch(torch.python, false, m_inputs.host);
    return found ? LockedTorch{found->version, found->cuda, found->hip} : LockedTorch{};
  }
  Step step;
  step.package = "torch";
  step.python = python;
  step.torch = torch;
  return locked_torch(lock_for(step, {torch.requirement}));
}

std::string Planner::torch_series(const recipe::Recipe& recipe, const recipe::Rules& rules, recipe::Variant variant,
                                  const toolchain::Python& python) {
  std::vector<std::string> notes;
  TorchChoice torch = choose_torch(m_request, rules, variant, python, m_inputs, notes);
  prefer_torch_of_ref(torch, recipe, m_request, notes);
  if (torch.kind == TorchChoice::Kind::requirement) {  // a version that is said need not be looked for
    for (const pep::Specifier& one : pep::Requirement::parse(torch.requirement).specifiers) {
      if (one.op == "==" || one.op == "===") return series_of(one.version);
    }
  }
  return series_of(torch_before(recipe, rules, variant, python).version);
}

std::optional<Planner::Place> Planner::pinned_place(const recipe::Recipe& recipe, recipe::Variant variant,
                                                    const toolchain::Python& python) {
  const recipe::Source::PinnedBy& by = recipe.source.pinned_by;
  if (by.recipe.empty() || pep::same_name(by.recipe, recipe.name)) return std::nullopt;
  const auto asked = [&](const std::string& package) { return pep::same_name(package, by.recipe); };
  if (std::none_of(m_request.packages.begin(), m_request.packages.end(), asked)) return std::nullopt;
  const recipe::Recipe& pinning = recipe_for(by.recipe);
  const std::vector<recipe::Variant> variants = pinning.variants();
  const bool same = std::find(variants.begin(), variants.end(), variant) != variants.end();
  const Known& known = source_for(pinning, same ? variant : variants.front(), "", python);
  const auto read = [&](const std::string& path) { return text_of(known.pin, path); };
  const std::optional<source::PinnedRef> pinned = source::pinned_by(by.record, by.files, read);
  if (!pinned) return std::nullopt;
  Place place;
  place.url = pinned->url.empty() ? recipe.source.url : pinned->url;
  place.ref = pinned->ref;
  place.why = fmt::format("{} of {} says so", pinned->where, pinning.name);
  return place;
}

Planner::Place Planner::place_of(const recipe::Recipe& recipe, recipe::Variant variant, const std::string& target,
                                 const toolchain::Python& python) {
  const recipe::Rules& rules = recipe.rules(variant, target);
  Place place;
  place.url = recipe.source.url;
  place.ref = ref_of(recipe, m_request);
  if (user_ref(m_request, recipe.name)) {  // then nothing else counts
  } else if (auto pinned = pinned_place(recipe, variant, python)) {
    place = std::move(*pinned);
    note(fmt::format("{}: {}, since {}", recipe.name, place.ref, place.why));
  } else if (!recipe.source.refs.empty()) {
    const recipe::Recipe* torch = torch_recipe(recipe);
    const std::string series = torch != nullptr && rules.requires_versions.uses_torch
                                   ? series_of(source_for(*torch, variant, "", python).pin.version)
                                   : torch_series(recipe, rules, variant, python);
    const auto found = recipe.source.refs.find(series);
    if (found != recipe.source.refs.end()) {
      place.ref = found->second;
      note(fmt::format("{}: {}, which belongs to torch {}", recipe.name, place.ref, series));
    } else if (!series.empty()) {
      note(fmt::format("{}: {}; which ref belongs to torch {} is not known, --ref chooses another", recipe.name,
                       place.ref, series));
    }
  }
  if (const recipe::Source::Family* family = recipe.source.family(place.ref, recipe::to_string(variant))) {
    if (!family->git.empty()) place.url = family->git;
    place.patchset = family->patchset;
    if (!family->why.empty()) note(fmt::format("{}: {}", recipe.name, family->why));
  }
  place.submodules = rules.checkout.submodules ? rules.checkout.submodules : recipe.source.submodules;
  return place;
}

const Planner::Known& Planner::source_for(const recipe::Recipe& recipe, recipe::Variant variant,
                                          const std::string& target, const toolchain::Python& python) {
  const std::optional<source::Override> user = choose_source(m_request, recipe.name, recipe.project);
  const bool git = recipe.source.kind == recipe::Source::Kind::git;
  // A registry's choice of a release depends on the interpreter; a repository's ref on the torch of the variant, and
  // what is checked out of it on the variant.
  std::string name = recipe.name;
  if (user || recipe.source.kind != recipe::Source::Kind::folder) name += " " + python.short_version();
  if (git) name += fmt::format(" {} {}", recipe::to_string(variant), target);
  const auto found = m_sources.find(name);
  if (found != m_sources.end()) return found->second;
  source::PinOptions options;
  options.python_version = python.version;
  options.upgrade = m_request.upgrade;
  options.offline = m_request.offline;
  options.recipe_folder = m_inputs.recipe_folder;
  options.example_folders = m_inputs.example_folders;
  Known known;
  if (git) {
    recipe::Recipe located;
    located.name = recipe.name;
    located.project = recipe.project;
    located.origin = recipe.origin;
    located.source = recipe.source;
    const recipe::Rules& rules = recipe.rules(variant, target);
    if (!user) {
      Place place = place_of(recipe, variant, target, python);
      located.source.url = place.url;
      located.source.ref = place.ref;
      // A set of the family's name, else one of the ref's own.
      const auto there = [&](const std::string& set) {
        return !set.empty() && sys::is_folder(m_inputs.patch_folder / recipe.name / set);
      };
      if (!m_inputs.patch_folder.empty())
        known.patchset = there(place.patchset) ? place.patchset : there(place.ref) ? place.ref : "";
      if (!known.patchset.empty()) note(fmt::format("{}: patch set {}", recipe.name, known.patchset));
    }
    located.source.submodules = rules.checkout.submodules ? rules.checkout.submodules : recipe.source.submodules;
    known.pin = pin_source(located, user, m_inputs, options);
  } else {
    known.pin = pin_source(recipe, user, m_inputs, options);
  }
  known.files = std::exchange(known.pin.files, {});  // the pin is copied into every step
  if (known.pin.kind != source::Pin::Kind::program)
    known.facts = remembered_facts(known.pin, recipe.source.subfolder, m_inputs);
  if (known.pin.version.empty() && !recipe.source.version_file.empty()) {
    const auto text = text_of(known.pin, recipe.source.version_file);
    if (text) known.pin.version = version_in(*text);
  }
  if (known.pin.version.empty()) known.pin.version = known.facts.version;
  return m_sources.emplace(name, std::move(known)).first->second;
}

void Planner::add_fetches(Step& step, const recipe::Rules& rules) {
  if (rules.fetches.empty()) return;
  if (!m_repositories) m_repositories.emplace(m_inputs.store, m_inputs.fetcher.options().mirrors, m_request.offline);
  for (const recipe::Fetch& fetch : rules.fetches) {
    std::string ref = fetch.ref;
    if (!fetch.ref_file.empty()) {
      const auto text = text_of(step.source, fetch.ref_file);
      std::string said;
      if (text && RE2::PartialMatch(*text, fetch.ref_pattern, &said)) {
        ref = said;
      } else if (ref.empty()) {
        // A version that does not bring it any more, or not yet.
        note(fmt::format("{}: {} names no {} in {}, which is left out", step.package, step.source.project, fetch.name,
                         fetch.ref_file));
        continue;
      }
    }
    m_inputs.on_progress(fmt::format("looking for {} {}", fetch.name, ref));
    const auto described = described_commit(fetch.git, fetch.name, ref, m_inputs);
    const std::string commit = described ? *described : m_repositories->resolve(fetch.git, ref, m_request.upgrade).id;
    FetchedSource fetched;
    fetched.name = fetch.name;
    fetched.variable = fetch.variable;
    fetched.subfolder = fetch.subfolder;
    fetched.pin.kind = source::Pin::Kind::git;
    fetched.pin.project = fetch.name;
    fetched.pin.git_url = fetch.git;
    fetched.pin.git_ref = ref;
    fetched.pin.git_commit = commit;
    fetched.pin.submodules = fetch.submodules;
    fetched.pin.digest = "git:" + commit;
    step.fetches.push_back(std::move(fetched));
  }
}

}  // namespace wheelsmith::plan
