#include "cli/source_file.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "choose/variants.h"
#include "cli/source_words.h"
#include "source/bundle/source_bundle.h"
#include "source/source.h"

namespace wheelsmith::cli {

namespace {

using document::Array;
using document::Table;

class Collector {
 public:
  Collector(Session& session, source::Repositories& repositories)
      : m_session(session), m_repositories(repositories), m_bundle(repositories) {}

  void add(const BundleWish& wish) {
    if (std::find(m_done.begin(), m_done.end(), wish.recipe->name) != m_done.end()) return;
    m_done.push_back(wish.recipe->name);
    std::string commit;
    if (!wish.origin.empty()) {
      commit = m_bundle.add(wish.origin, wish.ref, wish.submodules);
    } else if (wish.recipe->source.kind == recipe::Source::Kind::sdist) {
      add_sdist(*wish.recipe);
    }
    for (const recipe::Variant variant : wish.recipe->variants()) {
      if (wish.variant && *wish.variant != variant) continue;
      for (const std::string& target : wish.recipe->targets(variant)) {
        if (!wish.target.empty() && wish.target != target) continue;
        add_rules(wish, wish.recipe->rules(variant, target), variant, commit);
      }
    }
  }

  // All that a plan has pinned, whatever led to it.
  void add(const plan::Plan& plan) {
    for (const plan::Step& step : plan.steps) {
      if (step.is_skipped()) continue;
      add_pin(step.spec.source);
      for (const plan::FetchSource* fetch : step.spec.all<plan::FetchSource>(plan::Phase::source)) add_pin(fetch->pin);
    }
  }

  source::SourceBundle& bundle() {
    for (const source::ImportedNote& note : source::imported_notes(m_sdists))
      m_bundle.add_note({"source", note.name, note.text});
    m_sdists.clear();
    return m_bundle;
  }

 private:
  void add_pin(const source::Pin& pin) {
    if (pin.kind == source::Pin::Kind::git) m_bundle.add(pin.git_url, pin.git_ref, pin.submodules);
    if (pin.kind == source::Pin::Kind::archive) add_archive(pin);
  }

  void add_archive(const source::Pin& pin) {
    const auto same = [&](const source::BundledDownload& other) { return other.sha256 == pin.sha256; };
    const auto& there = m_bundle.downloads();
    if (std::any_of(there.begin(), there.end(), same)) return;
    m_bundle.add_download({.file_name = pin.file_name,
                           .url = pin.url,
                           .sha256 = pin.sha256,
                           .path = source::fetch_archive(pin, m_session.fetcher())});
    m_sdists.push_back(pin);
  }

  void add_sdist(const recipe::Recipe& recipe) {
    source::PinOptions options;
    options.offline = m_session.settings().flag("offline");
    const std::vector<std::string> pythons = m_session.settings().list("python");
    if (!pythons.empty()) options.python_version = pythons.front();
    const source::Pin pin = source::pin(recipe, {}, m_session.fetcher(), m_session.store(), options);
    add_archive(pin);
  }

  void add_rules(const BundleWish& wish, const recipe::Rules& rules, recipe::Variant variant,
                 const std::string& commit) {
    for (const recipe::Fetch& fetch : rules.fetches) {
      std::string ref = fetch.ref;
      if (!fetch.ref_file.empty() && !commit.empty()) {
        const auto text = m_repositories.file(wish.origin, commit, fetch.ref_file);
        std::string said;
        if (text && RE2::PartialMatch(*text, fetch.ref_pattern, &said)) ref = said;
      }
      if (!ref.empty()) m_bundle.add(fetch.git, ref, fetch.submodules);
    }
    for (const recipe::Dependency& need : rules.needs) {
      if (need.recipe.empty()) continue;
      const recipe::Recipe* recipe = m_session.recipes().find(need.recipe);
      if (recipe == nullptr) continue;
      BundleWish inner;
      inner.recipe = recipe;
      const std::vector<recipe::Variant> legal = recipe->variants();
      if (std::find(legal.begin(), legal.end(), variant) != legal.end()) inner.variant = variant;
      inner.target = need.target;
      if (recipe->source.kind == recipe::Source::Kind::git) {
        const choose::SourceChoice choice = checkout_source(*recipe, inner.variant, {}, m_session.settings()).choice;
        inner.origin = choice.url;
        inner.ref = choice.ref;
        inner.submodules = choose::choose_parts(*recipe, inner.variant, inner.target, choice.ref).submodules;
      }
      add(inner);
    }
  }

  Session& m_session;
  source::Repositories& m_repositories;
  source::SourceBundle m_bundle;
  std::vector<std::string> m_done;
  std::vector<source::Pin> m_sdists;
};

int tell(const std::vector<std::string>& repositories, const std::vector<std::string>& downloads,
         const std::string& file, const char* verb, const OutputOptions& output) {
  if (output.json) {
    Table document;
    document["schema"] = 1;
    document["file"] = file;
    document["repositories"] = Array(repositories.begin(), repositories.end());
    document["downloads"] = Array(downloads.begin(), downloads.end());
    print(document::to_json(document) + "\n");
    return k_fine;
  }
  std::string text = fmt::format("{} {}\n", verb, printable(file));
  for (const std::string& url : repositories) text += fmt::format("  {}\n", printable(url));
  for (const std::string& name : downloads) text += fmt::format("  {}\n", printable(name));
  print(text);
  return k_fine;
}

}  // namespace

namespace {

int write(source::SourceBundle& bundle, const std::string& file, const OutputOptions& output) {
  if (bundle.repositories().empty() && bundle.downloads().empty())
    throw Error("these packages have no sources to fetch: there is nothing to bundle");
  bundle.write(file);
  std::vector<std::string> urls;
  for (const auto& [url, repository] : bundle.repositories()) urls.push_back(fetch::without_credentials(url));
  std::vector<std::string> names;
  for (const source::BundledDownload& download : bundle.downloads()) names.push_back(download.file_name);
  return tell(urls, names, file, "wrote", output);
}

}  // namespace

int bundle_sources(const std::vector<BundleWish>& wishes, const std::string& file, Session& session,
                   source::Repositories& repositories, const OutputOptions& output) {
  Collector collector(session, repositories);
  for (const BundleWish& wish : wishes) collector.add(wish);
  return write(collector.bundle(), file, output);
}

int bundle_plan(const plan::Plan& plan, const std::string& file, Session& session, const OutputOptions& output) {
  const auto repositories = make_repositories(session);
  Collector collector(session, *repositories);
  collector.add(plan);
  return write(collector.bundle(), file, output);
}

int unbundle_sources(const std::string& file, Session& session, const OutputOptions& output) {
  const source::Unbundled done =
      source::unbundle(file, session.store(), session.fetcher(), [] { return sys::interrupted(); });
  return tell(done.repositories, done.downloads, file, "took in", output);
}

}  // namespace wheelsmith::cli
