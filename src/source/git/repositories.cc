#include "source/git/repositories.h"

// One bare repository in the store per URL, whichever mirror it is fetched from: its content is addressed by hash, so
// the origin does not matter. Only the holder of its lock changes it, reads it for a checkout or removes it. Commits
// are added and never removed; `store gc` removes it as a whole. It is sealed after each change: git notices most
// object damage only when it unpacks the object, and ref damage not at all.

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "fetch/fetch.h"
#include "source/git/commit_fetch.h"
#include "source/git/git_failure.h"
#include "sys/files.h"

namespace wheelsmith::source {

namespace {

void check_words(const std::string& url, const std::string& commit, const std::string& ref) {
  if (url.empty() || url.starts_with('-') || url.find_first_of(std::string_view("\0\n", 2)) != std::string::npos)
    throw Error(fmt::format("{} is not a repository URL", printable(url)));
  if (!is_commit(commit))
    throw Error(fmt::format("{}: {} is not a commit", printable(fetch::without_credentials(url)), printable(commit)));
  if (ref.starts_with('-') || ref.starts_with('+') || ref.find(':') != std::string::npos)
    throw Error(fmt::format("{} is not a valid branch or tag name", printable(ref)));
}

}  // namespace

Repositories::Repositories(store::Store& store, const std::map<std::string, std::string>& mirrors, bool offline,
                           std::function<bool()> stop)
    : m_store(store), m_mirrors(mirrors), m_offline(offline), m_git(store, stop), m_stop(std::move(stop)) {}

sys::Environment Repositories::build_variables() const {
  sys::Environment variables = m_mirrors.git_variables();
  if (!m_mirrors.has_folders()) return variables;
  // Without the user's own settings, which a build does not have.
  const std::filesystem::path config = m_store.temporary() / "gitconfig-build";
  sys::write_file(config, "[safe]\n\tdirectory = *\n");
  variables["GIT_CONFIG_GLOBAL"] = config.string();
  return variables;
}

void Repositories::tell(const std::string& sentence) const {
  if (m_tell) m_tell(sentence);
}

std::filesystem::path Repositories::cache(const std::string& url) const {
  return m_store.folder("git") / (store::slug(repository_name(url)) + ".git");
}

void Repositories::with(const std::string& url, const std::string& commit, const std::string& ref, const Use& use) {
  check_words(url, commit, ref);
  const std::filesystem::path repository = cache(url);
  const store::Lock held = m_store.lock("git-" + repository.filename().string());  // collect() uses the same name
  const auto make = [&] {
    sys::remove_tree(repository);
    sys::make_folders(repository.parent_path());
    (void)m_git.output({"init", "-q", "--bare", "--template=", repository.string()}, repository.parent_path(),
                       "cannot create a repository in the store");
    m_store.complete(repository);
  };
  const bool known = m_store.is_complete(repository) && !m_store.is_damaged(repository);
  if (!known) make();
  const CommitFetch here(m_git, url, {}, repository, m_stop);
  const std::string tag = tag_of_ref(ref);
  const bool has_commit = known && here.has(commit);
  if (!has_commit || (!tag.empty() && !here.has_tag(tag))) {
    std::optional<MirrorAddress> place;
    try {
      place = m_mirrors.place(url);
    } catch (const Error&) {  // the tag cannot be stored; only the commit is required
      if (!has_commit) throw;
    }
    const bool may_ask = place && (!m_offline || place->local);
    if (!has_commit && !may_ask) throw Error(forbidden_offline(url, *place, "commit " + commit));
    const CommitFetch fetch(m_git, url, place.value_or(MirrorAddress{}), repository, m_stop);
    m_store.complete(repository);  // no seal while it changes
    fetch.tidy();
    if (!has_commit) {
      tell(fmt::format("fetching {} of {}", commit.substr(0, 12), shown(url, *place)));
      // Its ref exists but its files do not: it is damaged.
      std::error_code ignored;
      if (known && std::filesystem::exists(repository / commit_ref(commit), ignored)) make();
      fetch.fetch(commit, ref);
    }
    if (!tag.empty() && may_ask) fetch.fetch_tag(tag);
    m_store.seal(repository);
  }
  use(repository);
}

std::filesystem::path Repositories::ensure(const std::string& url, const std::string& commit, const std::string& ref) {
  with(url, commit, ref, [](const std::filesystem::path&) {});
  return cache(url);
}

}  // namespace wheelsmith::source
