#include "source/git/git_command.h"

// A repository is as untrusted as an archive: hooks and templates do not run, only the caller's protocols are allowed,
// passwords are never prompted for, and line ends stay as they are. The user's own git settings (proxies, credential
// helpers, insteadOf) apply, since they are needed to reach repositories. A local mirror often belongs to another user,
// which git refuses; reading it is safe, since nothing in it is run. This must be set in a file, because git drops `-c`
// before it starts the helper that reads the other repository.

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "fetch/fetch.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::source {

namespace {

namespace fs = std::filesystem;

std::string value_of(const sys::Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

// The files that GIT_CONFIG_GLOBAL would hide.
std::vector<std::string> user_configs(const sys::Environment& environment) {
  if (const std::string own = value_of(environment, "GIT_CONFIG_GLOBAL"); !own.empty()) return {own};
  const std::string home = value_of(environment, "HOME"), xdg = value_of(environment, "XDG_CONFIG_HOME");
  std::vector<std::string> files;
  if (!xdg.empty()) files.push_back(xdg + "/git/config");
  if (xdg.empty() && !home.empty()) files.push_back(home + "/.config/git/config");
  if (!home.empty()) files.push_back(home + "/.gitconfig");
  return files;
}

std::string quoted_text(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c == '\n' ? ' ' : c;
  }
  return result + '"';
}

// Removed with the store's temporary folder; git ignores missing included files.
fs::path write_config(store::Store& store) {
  std::string text;
  for (const std::string& file : user_configs(sys::current_environment())) {
    if (file.starts_with('/')) text += "[include]\n\tpath = " + quoted_text(file) + "\n";
  }
  text += "[safe]\n\tdirectory = *\n\tbareRepository = all\n";
  try {
    const fs::path path = store.temporary() / "gitconfig";
    sys::write_file(path, text);
    return path;
  } catch (const Error&) {  // best effort: without it git refuses mirrors of other owners, and reports it
    return {};
  }
}

// Wherever git repeats a URL it may contain a password.
std::string without_passwords(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t mark = text.find("://");
    if (mark == std::string_view::npos) break;
    std::size_t begin = mark;
    while (begin > 0 && std::isalpha(static_cast<unsigned char>(text[begin - 1]))) --begin;
    const std::size_t end = std::min(text.find_first_of(" '\"\n", mark), text.size());
    result += text.substr(0, begin);
    result += fetch::without_credentials(text.substr(begin, end - begin));
    text.remove_prefix(end);
  }
  return result + std::string(text);
}

}  // namespace

bool is_commit(std::string_view ref) {
  return ref.size() == 40 && ref.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

GitCommand::GitCommand(store::Store& store, std::function<bool()> stop)
    : m_stop(std::move(stop)), m_config(write_config(store)) {}

sys::Captured GitCommand::run(const std::vector<std::string>& arguments, const fs::path& folder,
                              std::string_view protocols) const {
  if (sys::find_program("git").empty()) throw Error("the source is in a git repository, but git is not installed");
  if (m_stop && m_stop()) throw Error("git was interrupted");
  sys::Environment environment = sys::current_environment();
  for (const char* name :
       {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE", "GIT_SHALLOW_FILE",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_TEMPLATE_DIR", "GIT_PREFIX", "GIT_COMMON_DIR",
        "GIT_CEILING_DIRECTORIES", "GIT_CONFIG", "GIT_GRAFT_FILE", "GIT_DEFAULT_HASH", "GIT_ATTR_SOURCE"}) {
    environment.erase(name);
  }
  environment["GIT_TERMINAL_PROMPT"] = "0";
  environment["GIT_ASKPASS"] = "true";
  environment["SSH_ASKPASS"] = "true";
  environment["GIT_ALLOW_PROTOCOL"] = protocols;
  environment["GIT_LFS_SKIP_SMUDGE"] = "1";
  environment["LC_ALL"] = "C";
  environment["LANGUAGE"] = "C";
  if (!environment.contains("GIT_SSH_COMMAND") && !environment.contains("GIT_SSH"))
    environment["GIT_SSH_COMMAND"] = "ssh -o BatchMode=yes";
  if (!m_config.empty()) environment["GIT_CONFIG_GLOBAL"] = m_config.string();
  sys::Command command;
  command.argv = {"git"};
  // Packs stay packs: they appear atomically, while loose objects of a killed fetch look like success.
  for (const char* setting :
       {"core.hooksPath=/dev/null", "core.fsmonitor=false", "core.autocrlf=false", "core.attributesFile=/dev/null",
        "advice.detachedHead=false", "gc.auto=0", "maintenance.auto=false", "fetch.unpackLimit=1",
        "fetch.recurseSubmodules=false", "submodule.recurse=false", "protocol.version=2", "init.defaultBranch=main",
        "http.lowSpeedLimit=1", "http.lowSpeedTime=120"}) {
    command.argv.insert(command.argv.end(), {"-c", setting});
  }
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.folder = folder;
  command.environment = std::move(environment);
  sys::Captured result = sys::capture(command, 1ull << 30);
  if (result.exit.stopped) throw Error("git was interrupted");
  return result;
}

std::string GitCommand::output(const std::vector<std::string>& arguments, const fs::path& folder,
                               std::string_view what) const {
  sys::Captured result = run(arguments, folder);
  if (!result.exit.good()) throw Error(fmt::format("{} ({})", what, git_message(result)));
  return std::move(result.output);
}

std::string git_message(const sys::Captured& result) {
  std::string_view best;
  int rank = 0;
  for (const std::string_view line : lines(result.errors)) {
    const std::string_view text = trim(line);
    // The server's message explains git's message after it.
    const int here = text.starts_with("remote: error") || text.starts_with("remote: fatal")      ? 5
                     : text.starts_with("fatal: remote error") || text.starts_with("ERROR:")     ? 5
                     : text.starts_with("ssh:") || text.starts_with("Permission denied")         ? 4
                     : text.starts_with("fatal:")                                                ? 3
                     : text.starts_with("error:")                                                ? 2
                     : text.empty() || text.starts_with("warning:") || text.starts_with("hint:") ? 0
                                                                                                 : 1;
    if (here > rank) {
      best = text;
      rank = here;
    }
  }
  if (best.empty()) return sys::to_string(result.exit);
  for (const std::string_view word : {"fatal: ", "error: ", "remote: "}) {
    if (best.starts_with(word)) best.remove_prefix(word.size());
  }
  return printable(without_passwords(best));
}

}  // namespace wheelsmith::source
