// Resolves a ref as git itself does: the full name, then a tag (for an annotated one its commit), then a branch. A
// local clone that serves as a mirror has most branches only as those of its own origin; they come last. Only heads and
// tags are requested where that is enough: the pull requests of a large project are hundreds of thousands of refs.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "document/value.h"
#include "fetch/fetch.h"
#include "source/git/git_failure.h"
#include "source/git/ref_names.h"
#include "source/git/repositories.h"

namespace wheelsmith::source {

namespace {

constexpr std::string_view k_notes = "source", k_peeled = "^{}";

struct Ref {
  std::string name, id;
};

// An annotated tag is listed twice, the second time with its commit: that one counts.
std::vector<Ref> read_refs(std::string_view listing, std::string& head_branch) {
  std::vector<Ref> refs;
  for (const std::string_view line : lines(listing)) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) continue;
    std::string_view id = line.substr(0, tab), name = line.substr(tab + 1);
    if (id.starts_with("ref: ") && name == "HEAD") head_branch = id.substr(5);
    if (!is_commit(id)) continue;
    if (name.ends_with(k_peeled)) {
      name.remove_suffix(k_peeled.size());
      if (!refs.empty() && refs.back().name == name) refs.pop_back();
    }
    refs.push_back({std::string(name), std::string(id)});
  }
  return refs;
}

Commit described(const Ref& ref, const std::string& head_branch, const std::vector<Ref>& all) {
  Commit commit;
  commit.id = ref.id;
  const std::string& name = ref.name == "HEAD" && !head_branch.empty() ? head_branch : ref.name;
  commit.ref_kind = RefKind::branch;
  commit.name = name;
  for (const std::string_view folder : {k_tags, k_heads, k_remotes}) {
    if (!name.starts_with(folder)) continue;
    commit.name = name.substr(folder.size());
    if (folder == k_tags) commit.ref_kind = RefKind::tag;
  }
  for (const Ref& other : all) {
    if (other.id == ref.id && other.name.starts_with(k_tags)) commit.tags.push_back(other.name.substr(k_tags.size()));
  }
  std::sort(commit.tags.begin(), commit.tags.end());
  return commit;
}

// Similar spellings, and names that contain the word.
std::string near_refs(const std::string& wanted, const std::vector<Ref>& refs) {
  std::vector<std::string> tags, branches, found;
  for (const Ref& ref : refs) {
    for (const std::string_view folder : {k_tags, k_heads, k_remotes}) {
      if (ref.name.starts_with(folder)) (folder == k_tags ? tags : branches).push_back(ref.name.substr(folder.size()));
    }
  }
  const auto add = [&](const std::string& name) {
    if (found.size() < 4 && std::find(found.begin(), found.end(), name) == found.end()) found.push_back(name);
  };
  for (const auto* names : {&tags, &branches}) {
    if (const auto near = nearest(wanted, *names)) add(*near);
  }
  for (const auto* names : {&tags, &branches}) {
    for (const std::string& name : *names) {
      if (wanted.size() > 2 && name.find(wanted) != std::string::npos) add(name);
    }
  }
  if (found.empty()) return "";
  for (std::string& name : found) name = printable(name);
  return "; similar: " + join(found, ", ");
}

bool is_abbreviation(std::string_view ref) {
  return ref.size() >= 7 && ref.size() < 40 && ref.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<Commit> from_note(const std::optional<std::string>& text) {
  // An unreadable note is replaced.
  const document::Value value = document::try_parse_json(text.value_or("")).value_or(document::Value());
  const auto kind = enum_named<RefKind>(value["kind"].text_or());
  const std::string id = value["commit"].text_or();
  if (!kind || !is_commit(id)) return {};
  return Commit{id, *kind, value["name"].text_or(), value["tags"].texts()};
}

std::string to_note(const Commit& commit) {
  document::Table table;
  table["commit"] = commit.id;
  table["kind"] = to_string(commit.ref_kind);
  table["name"] = commit.name;
  table["tags"] = document::Array(commit.tags.begin(), commit.tags.end());
  return document::to_json(table);
}

std::string note_of_ref(const std::string& url, const std::string& ref) {
  return fmt::format("git {} {}", repository_name(url), ref);
}

// A bundle's answer dates from when it was written. An online build must not use it forever, so it has a separate note.
std::string note_of_imported(const std::string& url, const std::string& ref) {
  return "imported " + note_of_ref(url, ref);
}

std::string in_words(const std::string& ref) { return ref.empty() ? "its default branch" : printable(ref); }

}  // namespace

std::string Repositories::list_refs(const std::string& url, const std::string& ref,
                                    const std::vector<std::string>& patterns) {
  const MirrorAddress place = m_mirrors.place(url);
  if (m_offline && !place.local) throw Error(forbidden_offline(url, place, in_words(ref)));
  tell(fmt::format("asking {} for {}", shown(url, place), in_words(ref)));
  std::vector<std::string> arguments = {"ls-remote", "--symref"};
  if (patterns.empty() && !place.local) arguments.insert(arguments.end(), {"--heads", "--tags"});
  arguments.insert(arguments.end(), {"--", place.address});
  arguments.insert(arguments.end(), patterns.begin(), patterns.end());
  sys::Captured answer = m_git.run(arguments, m_store.root(), place.protocols());
  for (int retry = 0; retry < 2 && !answer.exit.good() && !place.local && is_transient(answer); ++retry) {
    pause_before_retry(retry, m_stop);
    answer = m_git.run(arguments, m_store.root(), place.protocols());
  }
  if (!answer.exit.good()) throw Error(unreachable(url, place, in_words(ref), answer));
  return std::move(answer.output);
}

std::optional<std::string> Repositories::complete(const std::string& url, const std::string& digits) {
  const MirrorAddress place = m_mirrors.place(url);
  std::vector<std::filesystem::path> folders;
  if (place.local) folders.push_back(local_folder(place.address));
  if (m_store.is_complete(cache(url))) folders.push_back(cache(url));
  for (const std::filesystem::path& folder : folders) {
    const sys::Captured answer = m_git.run({"rev-parse", "-q", "--verify", digits + "^{commit}"}, folder);
    if (answer.exit.good() && is_commit(trim(answer.output))) return std::string(trim(answer.output));
    if (answer.errors.find("ambiguous") != std::string::npos)
      throw Error(fmt::format("{}: commit prefix {} is ambiguous", shown(url, place), digits));
  }
  return {};
}

Commit Repositories::ask(const std::string& url, const std::string& ref) {
  const std::string wanted = ref.empty() ? "HEAD" : ref;
  std::vector<std::string> patterns;
  if (wanted == "HEAD") patterns = {"HEAD", "refs/tags/*"};
  if (wanted.starts_with("refs/") && !wanted.starts_with(k_tags) && !wanted.starts_with(k_heads))
    patterns = {wanted, wanted + "^{}", "refs/tags/*"};
  std::string head_branch;
  std::vector<Ref> refs;
  const bool short_name = is_abbreviation(wanted);
  std::optional<std::string> whole;
  try {
    refs = read_refs(list_refs(url, ref, patterns), head_branch);
  } catch (const Error&) {  // unreachable, but it may have been fetched before
    if (!short_name || !(whole = complete(url, wanted))) throw;
    return {*whole, RefKind::commit, "", {}};
  }
  for (const std::string& name : {wanted, "refs/" + wanted, std::string(k_tags) + wanted, std::string(k_heads) + wanted,
                                  std::string(k_remotes) + wanted}) {
    for (const Ref& one : refs) {
      if (one.name == name) return described(one, head_branch, refs);
    }
  }
  if (short_name && (whole = complete(url, wanted))) {
    Commit commit = described({"", *whole}, "", refs);
    commit.ref_kind = RefKind::commit;
    return commit;
  }
  const std::string name = shown(url, m_mirrors.place(url));
  if (wanted == "HEAD") throw Error(fmt::format("{} has no default branch; specify a branch, tag or commit", name));
  throw Error(fmt::format("{} has no branch or tag {}{}{}", name, printable(wanted), near_refs(wanted, refs),
                          short_name ? "; a commit needs all 40 digits" : ""));
}

Commit Repositories::resolve(const std::string& url, const std::string& ref, bool upgrade) {
  if (url.empty() || url.starts_with('-')) throw Error(fmt::format("{} is not a repository URL", printable(url)));
  if (ref.starts_with('-')) throw Error(fmt::format("{} is not a valid branch or tag name", printable(ref)));
  if (is_commit(to_lower(ref))) return {to_lower(ref), RefKind::commit, "", {}};
  const std::optional<Commit> imported = from_note(m_store.note(k_notes, note_of_imported(url, ref)));
  if (!upgrade) {
    if (m_offline && imported) return *imported;
    if (const auto kept = from_note(m_store.note(k_notes, note_of_ref(url, ref)))) return *kept;
  }
  try {
    const Commit commit = ask(url, ref);
    m_store.put_note(k_notes, note_of_ref(url, ref), to_note(commit));
    // It is newer, also for a later build with --offline.
    if (imported) m_store.put_note(k_notes, note_of_imported(url, ref), "");
    return commit;
  } catch (const Error& error) {
    if (!imported || m_offline) throw;
    throw Error(fmt::format("{}; an imported bundle has {} at commit {}: use it with --offline or --ref {}",
                            error.what(), in_words(ref), imported->id, imported->id));
  }
}

Commit Repositories::import_ref(const std::string& url, const std::string& ref, bool pin) {
  if (is_commit(to_lower(ref))) return {to_lower(ref), RefKind::commit, "", {}};
  const Commit commit = ask(url, ref);
  m_store.put_note(k_notes, pin ? note_of_ref(url, ref) : note_of_imported(url, ref), to_note(commit));
  return commit;
}

}  // namespace wheelsmith::source
