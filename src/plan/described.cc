#include "plan/described.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/file_tree.h"
#include "base/text.h"
#include "pep/wheel_name.h"
#include "source/git/git.h"
#include "toolchain/description.h"
#include "toolchain/markers.h"

namespace wheelsmith::plan {

namespace {

using toolchain::DescribedSource;
using toolchain::Description;

constexpr std::string_view k_described = "described:";

const DescribedSource* find_source(const std::vector<std::string>& names, const PlanInputs& inputs) {
  return inputs.host.described ? inputs.host.described->source(names) : nullptr;
}

const DescribedSource* find_source(const source::Pin& pin, const PlanInputs& inputs) {
  if (pin.kind == source::Pin::Kind::git) return find_source({pin.git_url, pin.project}, inputs);
  return pin.digest.starts_with(k_described) ? find_source({pin.project}, inputs) : nullptr;
}

// The lowest version in the specifiers.
std::string lowest(const std::vector<pep::Specifier>& specifiers) {
  std::string best;
  for (const pep::Specifier& one : specifiers) {
    if (one.op == "!=" || one.op == "<" || one.op == "<=") continue;
    std::string version = one.version;
    if (version.ends_with(".*")) version.resize(version.size() - 2);
    const auto parsed = pep::Version::try_parse(version);
    if (parsed && (best.empty() || pep::Version::parse(best) < *parsed)) best = version;
  }
  return best;
}

std::string commit_in(const DescribedSource& source, const std::string& name, const std::string& ref,
                      const Description& machine) {
  const auto found = source.refs.find(ref);
  if (found != source.refs.end()) return found->second;
  const bool is_commit = ref.size() == 40 && ref.find_first_not_of("0123456789abcdef") == ref.npos;
  if (is_commit) return ref;
  if (!source.commit.empty()) return source.commit;
  std::vector<std::string> known;
  for (const auto& [other, commit] : source.refs) known.push_back(other);
  throw Error(fmt::format("the description of {0} has no ref {2} for {1}; it has {3}", machine.name, printable(name),
                          printable(ref), known.empty() ? "none" : join(known, ", ")));
}

source::Pin git_pin(const recipe::Recipe& recipe, const std::string& url, const std::string& ref,
                    const DescribedSource& described, const Description& machine) {
  source::Pin pin;
  pin.kind = source::Pin::Kind::git;
  pin.project = recipe.project;
  pin.version = described.version;
  pin.git_url = url;
  pin.git_ref = ref;
  pin.submodules = recipe.source.submodules;
  pin.git_commit = commit_in(described, url, ref, machine);
  // A ref that contains a version is a tag, unless it has a slash like a branch ("release/2.7").
  const bool branch = ref.find('/') != ref.npos;
  const std::string version = branch ? "" : source::version_of_tag(ref, recipe.project);
  if (!version.empty()) pin.git_tag = ref;
  if (pin.version.empty()) pin.version = version;
  pin.digest = source::git_digest(pin);
  return pin;
}

source::Pin file_pin(const recipe::Recipe& recipe, const std::string& project, const std::string& wanted,
                     const DescribedSource& described) {
  source::Pin pin;
  pin.project = project;
  pin.version = described.version;
  if (pin.version.empty() && pep::Version::try_parse(wanted)) pin.version = wanted;
  if (pin.version.empty()) pin.version = lowest(pep::parse_specifiers(wanted));
  if (pin.version.empty()) pin.version = "0";
  pin.digest = toolchain::described_digest(project, pin.version);
  switch (recipe.source.kind) {
    case recipe::Source::Kind::program: pin.kind = source::Pin::Kind::program; break;
    case recipe::Source::Kind::folder:
      pin.kind = source::Pin::Kind::folder;
      pin.folder = "/" + recipe.source.folder;
      break;
    default: pin.file_name = fmt::format("{}-{}.tar.gz", project, pin.version); pin.sha256 = "described";
  }
  return pin;
}

std::string version_for(const pep::Requirement& requirement, const Description& machine) {
  const auto listed = machine.wheels.find(pep::normalized_name(requirement.name));
  std::string version = lowest(requirement.specifiers);
  if (listed == machine.wheels.end()) return version.empty() ? "0" : version;
  if (version.empty() || pep::contains(requirement.specifiers, pep::Version::parse(listed->second)))
    return listed->second;
  const std::size_t label = listed->second.find('+');
  if (label != std::string::npos && version.find('+') == std::string::npos) version += listed->second.substr(label);
  return version;
}

}  // namespace

source::Pin pin_source(const recipe::Recipe& recipe, const std::optional<source::Override>& user,
                       const PlanInputs& inputs, const source::PinOptions& options) {
  const auto real = [&] { return source::pin(recipe, user, inputs.fetcher, inputs.store, options); };
  if (!inputs.host.described) return real();
  const Description& machine = *inputs.host.described;
  const std::string project = recipe.project.empty() ? recipe.name : recipe.project;
  const bool other_git = user && user->url.starts_with("git+");
  if (other_git || (!user && recipe.source.kind == recipe::Source::Kind::git)) {
    const source::GitPlace place =
        other_git ? source::parse_git_url(user->url) : source::GitPlace{recipe.source.url, recipe.source.ref};
    const DescribedSource* described = find_source({place.url, project}, inputs);
    return described == nullptr ? real() : git_pin(recipe, place.url, place.ref, *described, machine);
  }
  // Folders, archives and URLs given by the user are real.
  if (user && user->project.empty()) return real();
  const DescribedSource* described = find_source({project}, inputs);
  if (described == nullptr) return real();
  return file_pin(recipe, project, user ? user->specifier : recipe.source.version, *described);
}

std::optional<std::string> described_commit(const std::string& url, const std::string& project, const std::string& ref,
                                            const PlanInputs& inputs) {
  const DescribedSource* described = find_source({url, project}, inputs);
  if (described == nullptr) return std::nullopt;
  return commit_in(*described, url, ref, *inputs.host.described);
}

std::optional<recipe::SourceFacts> described_facts(const source::Pin& pin, const std::string& subfolder,
                                                   const PlanInputs& inputs) {
  const DescribedSource* described = find_source(pin, inputs);
  if (described == nullptr) return std::nullopt;
  recipe::SourceFacts facts = recipe::read_source(SubTree(TextTree(described->files), subfolder));
  if (facts.name.empty()) facts.name = pin.project;
  if (!described->version.empty()) facts.version = described->version;
  if (described->backend) facts.backend = *described->backend;
  if (described->requires_) facts.requires_ = *described->requires_;
  facts.has_pyproject = facts.has_pyproject || described->backend || described->requires_;
  return facts;
}

std::optional<DescribedFile> described_file(const source::Pin& pin, const std::string& path, const PlanInputs& inputs) {
  const DescribedSource* described = find_source(pin, inputs);
  if (described == nullptr) return std::nullopt;
  const auto found = described->files.find(path);
  return DescribedFile{found == described->files.end() ? std::nullopt : std::optional(found->second)};
}

env::Lock described_lock(const std::vector<std::string>& requirements, const toolchain::Python& python,
                         const Description& machine) {
  env::Lock lock;
  lock.requirements = requirements;
  std::map<std::string, std::string> versions;
  for (const std::string& text : requirements) {
    const pep::Requirement requirement = pep::Requirement::parse(text);
    if (!toolchain::applies_to(requirement, python)) continue;
    // If a name occurs twice, the stricter requirement is used, as far as that can be determined.
    std::string& version = versions[pep::normalized_name(requirement.name)];
    const std::string wanted = version_for(requirement, machine);
    if (version.empty() || pep::Version::parse(version) < pep::Version::parse(wanted)) version = wanted;
  }
  for (const auto& [name, version] : versions)
    lock.wheels.push_back({name, version, fmt::format("{}-{}-py3-none-any.whl", name, version), "", "described"});
  return lock;
}

}  // namespace wheelsmith::plan
