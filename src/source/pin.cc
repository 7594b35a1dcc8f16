// A pin is one exact source: a file with its hash, a commit, or a folder. A choice (the newest version, the commit of a
// branch) is stored with all its inputs, so that the same command builds the same thing tomorrow, and a second build
// needs no network.

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"
#include "document/value.h"
#include "pep/choice.h"
#include "pep/project/project_page.h"
#include "pep/version.h"
#include "pep/wheel_name.h"
#include "source/archive/archive_tree.h"
#include "source/git/git.h"
#include "source/identity.h"
#include "source/source.h"
#include "source/worktree/checkout_state.h"
#include "sys/file.h"
#include "sys/file_state.h"
#include "sys/files.h"
#include "sys/process/process.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view k_notes = "source";

std::string imported_name(std::string_view project) { return "imported " + pep::normalized_name(project); }

document::Table choice_value(const Pin& pin) {
  document::Table table;
  table["project"] = pin.project;
  table["version"] = pin.version;
  table["file"] = pin.file_name;
  // A password is not stored; the index page provides the URL again.
  if (fetch::without_credentials(pin.url) == pin.url) table["url"] = pin.url;
  table["sha256"] = pin.sha256;
  return table;
}

std::optional<Pin> choice_from(const document::Value& value) {
  Pin pin;
  pin.project = value["project"].text_or();
  pin.version = value["version"].text_or();
  pin.file_name = value["file"].text_or();
  pin.url = value["url"].text_or();
  pin.sha256 = value["sha256"].text_or();
  pin.digest = "sha256:" + pin.sha256;
  if (pin.sha256.size() != 64 || pin.file_name.empty()) return {};
  return pin;
}

class Pinner {
 public:
  Pinner(const recipe::Recipe& recipe, fetch::Fetcher& fetcher, store::Store& store, const PinOptions& options)
      : m_recipe(recipe), m_fetcher(fetcher), m_store(store), m_options(options) {}

  Pin from_user(const Override& user) {
    if (!user.path.empty() && sys::is_folder(user.path)) return folder(user.path, true);
    if (!user.path.empty()) return archive_on_disk(user.path);
    if (user.url.starts_with("git+")) {
      const GitPlace place = parse_git_url(user.url);
      return git(place.url, place.ref);
    }
    if (!user.url.empty()) return archive_url(user.url);
    return sdist(user.project, user.specifier);
  }

  Pin from_recipe() {
    const recipe::Source& source = m_recipe.source;
    switch (source.kind) {
      case recipe::Source::Kind::sdist:
        return sdist(source.project.empty() ? m_recipe.project : source.project, source.version);
      case recipe::Source::Kind::folder: return folder(recipe_folder(), false);
      case recipe::Source::Kind::git: return git(source.url, source.ref);
      case recipe::Source::Kind::program: break;
    }
    Pin pin;
    pin.kind = Pin::Kind::program;
    pin.project = m_recipe.project;
    pin.digest = "sha256:" + file_digest(sys::own_executable());
    return pin;
  }

 private:
  std::string file_digest(const fs::path& path) {
    return remembered("digest", path, [&] { return to_hex(sha256(sys::map_file(path).bytes)); });
  }

  // The archive's own metadata; finding it means unpacking everything once.
  Identity archive_identity(const fs::path& path) {
    const std::string text = remembered("identity", path, [&] {
      const Identity found = identity_of(ArchiveTree(path));
      return found.name + '\n' + found.version;
    });
    const std::size_t end = std::min(text.find('\n'), text.size() - 1);
    return {text.substr(0, end), text.substr(end + 1)};
  }

  std::string remembered(std::string_view kind, const fs::path& path, const std::function<std::string()>& find_out) {
    const sys::FileState state(path);
    if (const auto known = m_store.remembered(kind, path.string(), state.key()); known && !known->empty())
      return *known;
    const std::string fact = find_out();
    if (const auto key = state.key_to_keep()) m_store.remember(kind, path.string(), *key, fact);
    return fact;
  }

  fs::path recipe_folder() const {
    std::vector<fs::path> places;
    if (!m_options.recipe_folder.empty()) places.push_back(m_options.recipe_folder);
    places.insert(places.end(), m_options.example_folders.begin(), m_options.example_folders.end());
    std::vector<std::string> tried;
    for (const fs::path& place : places) {
      const fs::path found = fs::absolute(place / m_recipe.source.folder).lexically_normal();
      if (sys::is_folder(found)) return found;
      tried.push_back(found.string());
    }
    throw Error(fmt::format("the source of {} does not exist: no folder {}; pass it with --source {}=FOLDER",
                            m_recipe.name, tried.empty() ? m_recipe.source.folder : join(tried, " or "),
                            m_recipe.name));
  }

  Pin folder(const fs::path& path, bool incremental) {
    Pin pin;
    pin.kind = Pin::Kind::folder;
    pin.folder = fs::absolute(path / "").lexically_normal().parent_path();
    pin.project = m_recipe.project;
    pin.version = identity_of(sys::FolderTree(pin.folder)).version;
    pin.incremental = incremental;
    if (const auto state = checkout_state(pin.folder, pin.project, m_recipe.source.tag_prefix)) {
      pin.git_commit = state->commit;
      pin.git_ref = state->ref;
      pin.git_tag = state->tag;
      if (pin.version.empty() && !state->tag.empty()) pin.version = state->version;
    }
    FolderDigest digest = folder_digest(pin.folder, m_store);
    pin.digest = std::move(digest.digest);
    pin.files = std::move(digest.files);
    return pin;
  }

  Pin archive_on_disk(const fs::path& path) {
    Pin pin;
    pin.project = m_recipe.project;
    pin.file_name = path.filename().string();
    pin.url = pep::file_url(path.string());
    pin.sha256 = file_digest(path);
    pin.digest = "sha256:" + pin.sha256;
    const Identity inside = archive_identity(path);
    if (pin.project.empty()) pin.project = inside.name;
    pin.version = pep::sdist_version(pin.file_name, pin.project).value_or("");
    check_version(pin.file_name, pin.version, inside.version);
    if (pin.version.empty()) pin.version = inside.version;
    return pin;
  }

  Pin archive_url(const std::string& url) {
    Pin pin;
    pin.project = m_recipe.project;
    const std::size_t hash = url.find('#');
    pin.url = url.substr(0, hash);
    pin.file_name = pep::percent_decoded(base_name(pin.url.substr(0, pin.url.find('?'))));
    if (!pep::is_safe_file_name(pin.file_name)) {
      throw Error(fmt::format("{} does not name a file", printable(fetch::without_credentials(pin.url))));
    }
    constexpr std::string_view k_sha256 = "sha256=";
    const std::size_t given = hash == std::string::npos ? hash : url.find(k_sha256, hash);
    if (given != std::string::npos) pin.sha256 = to_lower(url.substr(given + k_sha256.size(), 64));
    if (pin.sha256.empty()) pin.sha256 = file_digest(m_fetcher.download(pin.url, pin.file_name, ""));
    pin.digest = "sha256:" + pin.sha256;
    if (!pin.project.empty()) pin.version = pep::sdist_version(pin.file_name, pin.project).value_or("");
    return pin;
  }

  Pin git(const std::string& url, const std::string& ref) {
    Pin pin;
    pin.kind = Pin::Kind::git;
    pin.project = m_recipe.project;
    pin.git_url = url;
    pin.git_ref = ref;
    pin.submodules = m_recipe.source.submodules;
    const Commit commit = repositories_for(m_fetcher, m_store).resolve(url, ref, m_options.upgrade);
    pin.git_commit = commit.id;
    if (commit.ref_kind == RefKind::tag) pin.git_tag = commit.name;
    pin.version = version_of_tag(pin.git_tag, pin.project);
    pin.digest = git_digest(pin);
    return pin;
  }

  // All inputs of the choice of a file.
  std::string note_name(const std::string& project, const std::string& specifier) const {
    const fetch::IndexSettings& index = m_fetcher.options().index;
    std::string name = fmt::format("{} {} python {} index {}", project, specifier, m_options.python_version,
                                   index.no_index ? "none" : fetch::without_credentials(index.index_url));
    for (const std::string& url : index.extra_index_urls) name += " " + fetch::without_credentials(url);
    for (const std::string& link : index.find_links) name += " " + fetch::without_credentials(link);
    return name;
  }

  std::optional<Pin> kept_choice(const std::string& name) const {
    const std::optional<std::string> text = m_options.upgrade ? std::nullopt : m_store.note(k_notes, name);
    if (!text) return {};
    // An unreadable note is replaced.
    return choice_from(document::try_parse_json(*text).value_or(document::Value()));
  }

  // The newest matching sdist among those imported without an index.
  std::optional<Pin> imported_choice(const std::string& project, const std::string& specifier) const {
    const std::optional<std::string> text = m_store.note(k_notes, imported_name(project));
    if (!text) return {};
    const document::Value list = document::parse_json(*text, "the store's list of imported sources of " + project);
    if (list.array() == nullptr) return {};
    const std::vector<pep::Specifier> specifiers = pep::parse_specifiers(specifier);
    std::optional<std::pair<pep::Version, Pin>> newest;
    for (const document::Value& item : *list.array()) {
      std::optional<Pin> pin = choice_from(item);
      const auto version = pep::Version::try_parse(pin ? pin->version : "");
      if (!version || !pep::contains(specifiers, *version)) continue;
      if (!newest || newest->first < *version) newest.emplace(*version, std::move(*pin));
    }
    if (!newest) return {};
    return std::move(newest->second);
  }

  void keep(const std::string& name, const Pin& pin) {
    m_store.put_note(k_notes, name, document::to_json(choice_value(pin)));
  }

  Pin sdist(const std::string& project, const std::string& wanted) {
    const bool plain_version = !wanted.empty() && pep::Version::try_parse(wanted).has_value();
    const std::string specifier = plain_version ? "==" + wanted : wanted;
    const std::string name = note_name(project, specifier);
    if (const std::optional<Pin> kept = kept_choice(name)) return *kept;
    if (m_options.offline) {
      if (const std::optional<Pin> imported = imported_choice(project, specifier)) return *imported;
    }
    const pep::ProjectPage& page = m_fetcher.project(project);
    const pep::Version python =
        pep::Version::parse(m_options.python_version.empty() ? "3.11" : m_options.python_version);
    std::vector<pep::PassedOver> passed_over;
    const std::optional<pep::Choice> choice = pep::choose_sdist(page, specifier, python, false, &passed_over);
    if (!choice) throw Error(pep::why_no_sdist(page, specifier, passed_over));
    Pin pin;
    pin.project = project;
    pin.version = choice->version;
    pin.file_name = choice->file.name;
    pin.url = choice->file.url;
    const auto hash = choice->file.hashes.find("sha256");
    pin.sha256 =
        hash != choice->file.hashes.end() ? hash->second : file_digest(m_fetcher.download(pin.url, pin.file_name, ""));
    pin.digest = "sha256:" + pin.sha256;
    keep(name, pin);
    return pin;
  }

  const recipe::Recipe& m_recipe;
  fetch::Fetcher& m_fetcher;
  store::Store& m_store;
  const PinOptions& m_options;
};

}  // namespace

std::vector<ImportedNote> imported_notes(const std::vector<Pin>& sdists) {
  std::map<std::string, document::Array> by_project;
  for (const Pin& pin : sdists) by_project[imported_name(pin.project)].emplace_back(choice_value(pin));
  std::vector<ImportedNote> notes;
  for (const auto& [name, pins] : by_project) notes.push_back({name, document::to_json(pins)});
  return notes;
}

std::string git_digest(const Pin& pin) {
  std::string digest = "git:" + pin.git_commit;
  if (!pin.git_tag.empty()) digest += "@" + pin.git_tag;
  if (pin.submodules && pin.submodules->empty()) digest += ",none";
  if (pin.submodules) {
    for (const std::string& submodule : *pin.submodules) digest += "," + submodule;
  }
  return digest;
}

Pin pin(const recipe::Recipe& recipe, const std::optional<Override>& user, fetch::Fetcher& fetcher, store::Store& store,
        const PinOptions& options) {
  Pinner pinner(recipe, fetcher, store, options);
  return user ? pinner.from_user(*user) : pinner.from_recipe();
}

}  // namespace wheelsmith::source
