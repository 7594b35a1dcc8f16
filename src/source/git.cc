#include "source/git.h"

// git is asked as little as possible: one commit without its history. A repository is as hostile as an archive: hooks
// and templates do not run, only https, ssh and file are spoken (a submodule may speak file only if its parent came
// so), nobody is asked for a password, and links that lead out of the checkout are refused.

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "source/folder_writer.h"
#include "sys/files.h"
#include "sys/process.h"

namespace wheelsmith::source {

namespace {

bool is_local(std::string_view url) { return url.starts_with("file:") || url.starts_with('/'); }

sys::Captured git(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
                  std::string_view protocols) {
  sys::Environment environment = sys::current_environment();
  for (const char* name : {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE",
                           "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_TEMPLATE_DIR", "GIT_PREFIX", "GIT_COMMON_DIR"}) {
    environment.erase(name);
  }
  environment["GIT_TERMINAL_PROMPT"] = "0";
  environment["GIT_ALLOW_PROTOCOL"] = protocols;
  environment["LC_ALL"] = "C";
  sys::Command command;
  command.argv = {"git",
                  "-c",
                  "core.hooksPath=/dev/null",
                  "-c",
                  "core.fsmonitor=false",
                  "-c",
                  "advice.detachedHead=false",
                  "-c",
                  "submodule.fetchJobs=4"};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.folder = folder;
  command.environment = std::move(environment);
  return sys::capture(command);
}

std::string without_url(std::string text, const std::string& url) {
  const std::string shown = fetch::without_credentials(url);
  for (std::size_t at = text.find(url); at != std::string::npos && !url.empty();
       at = text.find(url, at + shown.size())) {
    text.replace(at, url.size(), shown);
  }
  return printable(trim(text));
}

[[noreturn]] void fail(std::string_view what, const std::string& url, const sys::Captured& result) {
  throw Error(fmt::format("{}: {} ({})", printable(fetch::without_credentials(url)), what,
                          result.errors.empty() ? sys::to_string(result.exit) : without_url(result.errors, url)));
}

void check_links(const std::filesystem::path& folder) {
  for (const sys::TreeFile& file : sys::list_tree(folder, {".git"})) {
    if (!file.link || link_stays_inside(file.name, file.link_target)) continue;
    throw Error(fmt::format("{} is a link to {}, outside of the repository", printable(file.name),
                            printable(file.link_target)));
  }
}

// A server may refuse to give a commit by its name; then the ref, and at last everything.
void fetch_commit(const Pin& pin, const std::filesystem::path& folder, std::string_view protocols) {
  sys::Captured result =
      git({"fetch", "-q", "--depth=1", "--no-tags", "--", pin.git_url, pin.git_commit}, folder, protocols);
  const auto has_commit = [&] {
    return git({"cat-file", "-e", pin.git_commit + "^{commit}"}, folder, protocols).exit.good();
  };
  if (result.exit.good() && has_commit()) return;
  if (!pin.git_ref.empty() && !is_commit(pin.git_ref)) {
    result = git({"fetch", "-q", "--depth=1", "--no-tags", "--", pin.git_url, pin.git_ref}, folder, protocols);
    if (result.exit.good() && has_commit()) return;
  }
  result = git({"fetch", "-q", "--", pin.git_url, "+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*"},
               folder, protocols);
  if (!result.exit.good()) fail("cannot be fetched", pin.git_url, result);
  if (!has_commit())
    throw Error(fmt::format("{} has no commit {}", fetch::without_credentials(pin.git_url), pin.git_commit));
}

}  // namespace

bool is_commit(std::string_view ref) {
  return ref.size() == 40 && ref.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

GitPlace parse_git_url(const std::string& text) {
  std::string_view rest = text;
  if (rest.starts_with("git+")) rest.remove_prefix(4);
  rest = rest.substr(0, rest.find('#'));
  const std::size_t scheme = rest.find("://");
  const std::size_t path = rest.find('/', scheme == std::string_view::npos ? 0 : scheme + 3);
  const std::size_t at = rest.rfind('@');
  // An '@' before the path belongs to the user's name.
  if (at == std::string_view::npos || path == std::string_view::npos || at < path) return {std::string(rest), ""};
  return {std::string(rest.substr(0, at)), std::string(rest.substr(at + 1))};
}

std::string resolve_ref(const std::string& url, const std::string& ref) {
  if (is_commit(ref)) return ref;
  if (sys::find_program("git").empty()) throw Error("the source is in a git repository, but git is not installed");
  if (url.starts_with('-') || ref.starts_with('-')) throw Error(fmt::format("{} is no repository", printable(url)));
  const std::string wanted = ref.empty() ? "HEAD" : ref;
  const sys::Captured answer = git({"ls-remote", "--", url, wanted, wanted + "^{}"}, {}, "https:ssh:file");
  if (!answer.exit.good()) fail("cannot be asked", url, answer);
  // As git itself decides: the full name, then tags (the commit behind an annotated one), then branches.
  for (const std::string& name :
       {wanted + "^{}", wanted, "refs/tags/" + wanted + "^{}", "refs/tags/" + wanted, "refs/heads/" + wanted}) {
    for (const std::string_view line : lines(answer.output)) {
      const std::size_t tab = line.find('\t');
      if (tab == std::string_view::npos || line.substr(tab + 1) != name || !is_commit(line.substr(0, tab))) continue;
      return std::string(line.substr(0, tab));
    }
  }
  throw Error(fmt::format("{} has no branch or tag {}", printable(fetch::without_credentials(url)), printable(wanted)));
}

void checkout(const Pin& pin, const std::filesystem::path& folder) {
  if (sys::find_program("git").empty()) throw Error("the source is in a git repository, but git is not installed");
  if (!is_commit(pin.git_commit) || pin.git_url.starts_with('-') || pin.git_ref.starts_with('-')) {
    throw Error(fmt::format("{} names no commit", printable(pin.git_url)));
  }
  const std::string_view protocols = is_local(pin.git_url) ? "https:ssh:file" : "https:ssh";
  sys::Captured result = git({"init", "-q", "--template="}, folder, protocols);
  if (!result.exit.good()) fail("no repository could be made", pin.git_url, result);
  fetch_commit(pin, folder, protocols);
  result = git({"checkout", "-q", "--detach", pin.git_commit}, folder, protocols);
  if (!result.exit.good()) fail("cannot be checked out", pin.git_url, result);
  std::error_code ignored;
  if (std::filesystem::exists(folder / ".gitmodules", ignored)) {
    // Relative URLs of submodules count from the remote.
    result = git({"remote", "add", "origin", pin.git_url}, folder, protocols);
    std::vector<std::string> update = {"submodule",           "-q", "update", "--init", "--recursive",
                                       "--recommend-shallow", "--"};
    update.insert(update.end(), pin.submodules.begin(), pin.submodules.end());
    result = git(update, folder, protocols);
    if (!result.exit.good()) fail("its submodules cannot be fetched", pin.git_url, result);
  }
  check_links(folder);
}

}  // namespace wheelsmith::source
