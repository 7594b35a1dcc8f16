#include "source/worktree/git_folder.h"

#include <fmt/format.h>

#include <algorithm>

#include "archive/archive.h"
#include "base/error.h"
#include "base/text.h"
#include "source/git/disarm.h"
#include "source/git/git_command.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

// Deep enough for every real project (PyTorch has three levels), and a limit for a repository that contains itself.
constexpr std::size_t k_deepest = 16;

sys::Environment plain_environment() {
  sys::Environment environment = sys::current_environment();
  std::erase_if(environment, [](const auto& variable) { return variable.first.starts_with("GIT_"); });
  environment["LC_ALL"] = "C";
  environment["GIT_TERMINAL_PROMPT"] = "0";
  environment["GIT_ALLOW_PROTOCOL"] = "file";
  environment["GIT_CONFIG_NOSYSTEM"] = "1";
  environment["GIT_CONFIG_GLOBAL"] = "/dev/null";
  environment["GIT_OPTIONAL_LOCKS"] = "0";
  for (const char* who : {"AUTHOR", "COMMITTER"}) {
    environment[fmt::format("GIT_{}_NAME", who)] = "wheelsmith";
    environment[fmt::format("GIT_{}_EMAIL", who)] = "wheelsmith@localhost";
  }
  return environment;
}

// The user's settings do not affect our git, except one: trusted folders of other users. git refuses other users'
// folders that are not among them, because their settings could run programs in our name.
const std::vector<std::string>& trusted_folders() {
  static const std::vector<std::string> folders = [] {
    sys::Command command;
    command.argv = {"git", "config", "--global", "--get-all", "safe.directory"};
    std::vector<std::string> found;
    const sys::Captured answer = sys::capture(command);
    for (const std::string_view line : lines(answer.output)) {
      if (!line.empty()) found.emplace_back(line);
    }
    return found;
  }();
  return folders;
}

std::string without_end(std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace

bool GitFolder::is_one(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / ".git", ignored)) return false;
  const sys::Captured top = GitFolder(folder).run({"rev-parse", "--show-toplevel"});
  return top.exit.good() && fs::equivalent(without_end(top.output), folder, ignored);
}

void GitFolder::refuse_locked(const fs::path& folder) {
  for (const fs::path& place : {folder, folder / ".git"}) {
    std::error_code error;
    const fs::directory_iterator entries(place, error);
    if (error == std::errc::permission_denied)
      throw Error(fmt::format("no permission to read {}", printable(place.string())));
    if (error) return;
    (void)fs::exists(place / "HEAD", error);
    if (error == std::errc::permission_denied)
      throw Error(fmt::format("no permission to enter {}", printable(place.string())));
  }
  const sys::Captured top = GitFolder(folder).run({"rev-parse", "--show-toplevel"});
  if (!top.exit.good() && top.errors.find("dubious ownership") != std::string::npos)
    throw Error(
        fmt::format("{} is a repository of another user, and git refuses it; if you trust it, run: git config --global "
                    "--add safe.directory {}",
                    printable(folder.string()), printable(fs::absolute(folder).string())));
}

fs::path GitFolder::git_folder() const { return text({"rev-parse", "--absolute-git-dir"}); }

sys::Captured GitFolder::run(const std::vector<std::string>& arguments, const GitMore& more) const {
  std::vector<std::string> trusted;
  for (const std::string& folder : trusted_folders()) trusted.insert(trusted.end(), {"-c", "safe.directory=" + folder});
  if (m_environment.empty()) {
    sys::Environment made = plain_environment();
    disarm_git(m_folder, trusted, made, m_patience == Patience::to_the_end);
    m_environment = std::move(made);
  }
  sys::Command command;
  command.argv = {"git",
                  "-c",
                  "core.hooksPath=/dev/null",  // these two for git before 2.31, too
                  "-c",
                  "core.fsmonitor=false",
                  "-c",
                  "core.autocrlf=false",
                  "-c",
                  "core.quotePath=false",
                  "-c",
                  "commit.gpgSign=false",
                  "-c",
                  "tag.gpgSign=false",
                  "-c",
                  "gc.auto=0",
                  "-c",
                  "submodule.recurse=false",
                  "-c",
                  "maintenance.auto=false",
                  "-c",
                  "advice.detachedHead=false"};
  command.argv.insert(command.argv.end(), trusted.begin(), trusted.end());
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.folder = m_folder;
  sys::Environment environment = m_environment;
  for (const auto& [name, value] : more.variables) environment[name] = value;
  command.environment = std::move(environment);
  command.input = more.input;
  if (m_patience == Patience::until_interrupted) {
    sys::Captured result = sys::capture(command, 1ull << 30);
    if (result.exit.stopped) throw Error("interrupted");
    return result;
  }
  sys::Captured result;
  result.exit = sys::Process(command).wait([&](std::string_view piece) { result.output += piece; });
  result.errors = result.output;
  return result;
}

std::string GitFolder::text(const std::vector<std::string>& arguments, const GitMore& more) const {
  sys::Captured result = run(arguments, more);
  if (!result.exit.good())
    throw Error(
        fmt::format("git {} in {} failed: {}", arguments.front(), printable(m_folder.string()), git_message(result)));
  return without_end(std::move(result.output));
}

std::vector<std::string> GitFolder::names(const std::vector<std::string>& arguments) const {
  const std::string all = text(arguments);
  std::vector<std::string> result;
  for (const std::string_view name : split(all, '\0')) {
    if (!name.empty()) result.emplace_back(name);
  }
  return result;
}

std::optional<std::string> GitFolder::commit(const std::string& name) const {
  const sys::Captured found = run({"rev-parse", "--verify", "-q", "--end-of-options", name + "^{commit}"});
  std::string id = without_end(found.output);
  if (id.starts_with("--end-of-options\n")) id = id.substr(17);
  if (!found.exit.good() || !is_commit(id)) return {};
  return id;
}

std::string GitFolder::head() const {
  const std::optional<std::string> id = commit("HEAD");
  if (!id) throw Error(fmt::format("{} is a repository without commits", printable(m_folder.string())));
  return *id;
}

std::string GitFolder::branch() const {
  const sys::Captured name = run({"symbolic-ref", "-q", "HEAD"});
  return name.exit.good() ? without_end(name.output) : "";
}

std::string GitFolder::tree(const std::string& commit) const {
  return text({"rev-parse", "--verify", commit + "^{tree}"});
}

std::vector<std::string> GitFolder::line_ends() const {
  std::vector<std::string> words;
  for (const char* key : {"core.autocrlf", "core.eol"}) {
    sys::Command command;
    command.argv = {"git", "config", "--get", key};
    command.folder = m_folder;
    const sys::Captured value = sys::capture(command);
    if (!value.exit.good() || trim(value.output).empty()) continue;
    words.insert(words.end(), {"-c", fmt::format("{}={}", key, trim(value.output))});
  }
  return words;
}

std::vector<std::string> GitFolder::changed_by(std::vector<std::string> words) const {
  // Unlike diff-index, status compares the content of files whose times alone have changed.
  words.insert(words.end(),
               {"status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all", "--no-renames"});
  std::vector<std::string> found = names(words);
  for (std::string& line : found) line = line.substr(std::min<std::size_t>(3, line.size()));
  std::sort(found.begin(), found.end());
  return found;
}

void GitFolder::drop_line_ends() const {
  const std::vector<std::string> words = line_ends();
  if (words.empty()) return;
  const std::vector<std::string> ours = changed_by({});
  const std::vector<std::string> theirs = changed_by(words);
  GitMore more;
  for (const std::string& name : ours) {
    if (!std::binary_search(theirs.begin(), theirs.end(), name)) more.input += name + '\0';
  }
  if (!more.input.empty()) text({"checkout-index", "-q", "-f", "-u", "-z", "--stdin"}, more);
}

std::vector<std::string> GitFolder::changed_files() const {
  std::vector<std::string> ours = changed_by({});
  const std::vector<std::string> words = ours.empty() ? std::vector<std::string>() : line_ends();
  if (words.empty()) return ours;
  const std::vector<std::string> theirs = changed_by(words);
  std::erase_if(ours, [&](const std::string& name) { return !std::binary_search(theirs.begin(), theirs.end(), name); });
  return ours;
}

std::vector<std::string> GitFolder::changed_since(const std::string& commit) const {
  const sys::TempDir place;
  const GitMore with_index{.variables = {{"GIT_INDEX_FILE", (place.path() / "index").string()}}};
  text({"read-tree", commit}, with_index);
  (void)run({"update-index", "-q", "--refresh"}, with_index);
  const std::string all = text({"diff-files", "--name-only", "-z", "--ignore-submodules=all"}, with_index);
  std::vector<std::string> result;
  for (const std::string_view name : split(all, '\0')) {
    if (!name.empty()) result.emplace_back(name);
  }
  return result;
}

std::vector<std::string> GitFolder::files_of(const std::string& commit) const {
  std::vector<std::string> result;
  for (const std::string& entry : names({"ls-tree", "-r", "-z", "--full-tree", commit})) {
    const std::size_t tab = entry.find('\t');
    if (tab != std::string::npos && !entry.starts_with("160000 ")) result.push_back(entry.substr(tab + 1));
  }
  return result;
}

void GitFolder::tag(const std::string& name, const std::string& commit) const {
  text({"update-ref", "refs/tags/" + name, commit});
}

void GitFolder::forget_tag(const std::string& name) const { text({"update-ref", "-d", "refs/tags/" + name}); }

std::vector<GitFolder::Module> GitFolder::modules() const {
  std::vector<Module> result;
  std::error_code ignored;
  if (!fs::is_regular_file(fs::symlink_status(m_folder / ".gitmodules", ignored))) return result;
  const sys::Captured found = run({"config", "-f", ".gitmodules", "-z", "--get-regexp", R"(^submodule\..*\.path$)"});
  for (const std::string_view entry : split(found.output, '\0')) {
    const std::size_t line = entry.find('\n');
    if (line == std::string_view::npos) continue;
    Module module;
    module.name = entry.substr(10, line - 10 - 5);
    module.path = entry.substr(line + 1);
    if (!archive::is_plain_name(module.path) || !archive::is_plain_name(module.name)) continue;
    // A link on the way would lead elsewhere.
    bool links = false;
    fs::path way = m_folder;
    for (const std::string_view part : split(module.path, '/'))
      links = links || fs::is_symlink(fs::symlink_status(way /= part, ignored));
    module.present = !links && fs::exists(fs::symlink_status(way / ".git", ignored));
    result.push_back(std::move(module));
  }
  std::sort(result.begin(), result.end(), [](const Module& a, const Module& b) { return a.path < b.path; });
  return result;
}

namespace {

void add_parts(const Part& part, std::size_t depth, GitFolder::Patience patience, std::vector<Part>& into) {
  if (depth > k_deepest) throw Error("submodules are nested too deep");
  into.push_back(part);
  for (const GitFolder::Module& module : part.git.modules()) {
    if (!module.present) continue;
    const std::string path = part.path.empty() ? module.path : part.path + "/" + module.path;
    add_parts({path, GitFolder(part.git.folder() / module.path, patience), module.name}, depth + 1, patience, into);
  }
}

}  // namespace

std::vector<Part> parts_of(const fs::path& root, GitFolder::Patience patience) {
  std::vector<Part> result;
  add_parts({"", GitFolder(root, patience)}, 0, patience, result);
  return result;
}

std::string shown_part(const std::string& path) {
  return path.empty() ? "the repository" : "submodule " + printable(path);
}

}  // namespace wheelsmith::source
