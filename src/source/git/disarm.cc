#include "source/git/disarm.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace wheelsmith::source {

namespace {

constexpr std::chrono::seconds k_longest_reading(30);  // the configuration may include a pipe
constexpr std::size_t k_longest_list = 16 << 20;
// git 2.31 and newer list this setting, which the environment makes; older ones ignore such settings.
constexpr const char* k_probe = "wheelsmith.probe";

struct GitSetting {
  std::string_view section, name, value;
};

// Settings with a name in the middle: filter.lfs.clean. An empty filter leaves files as they are.
constexpr std::array<GitSetting, 10> k_named_settings = {{
    {"filter.", ".clean", ""},
    {"filter.", ".smudge", ""},
    {"filter.", ".process", ""},
    {"filter.", ".required", "false"},
    {"merge.", ".driver", "false"},
    {"diff.", ".textconv", "cat"},
    {"diff.", ".command", "false"},
    // A partial clone fetches missing objects by itself.
    {"remote.", ".uploadpack", "git-upload-pack"},
    {"remote.", ".receivepack", "git-receive-pack"},
    {"hook.", ".command", "true"},  // newer than core.hooksPath, which does not turn these off
}};

constexpr std::array<std::pair<const char*, const char*>, 9> k_plain_settings = {{
    {"core.hooksPath", "/dev/null"},
    {"core.fsmonitor", "false"},
    {"core.alternateRefsCommand", "true"},
    {"core.sshCommand", "false"},
    {"core.askPass", "true"},
    {"gpg.program", "false"},
    {"gpg.ssh.program", "false"},
    {"log.showSignature", "false"},
    {"core.pager", "cat"},
}};

}  // namespace

void disarm_git(const std::filesystem::path& folder, const std::vector<std::string>& options,
                sys::Environment& environment, bool to_the_end) {
  environment["GIT_NO_LAZY_FETCH"] = "1";
  environment["GIT_SSH_COMMAND"] = "false";
  environment["GIT_ASKPASS"] = "true";
  std::vector<std::pair<std::string, std::string>> settings(k_plain_settings.begin(), k_plain_settings.end());
  sys::Command command;
  command.argv = {"git"};
  command.argv.insert(command.argv.end(), options.begin(), options.end());
  command.argv.insert(command.argv.end(), {"config", "--list", "--name-only", "-z"});
  command.folder = folder;
  sys::Environment with_probe = environment;
  with_probe["GIT_CONFIG_COUNT"] = "1";
  with_probe["GIT_CONFIG_KEY_0"] = k_probe;
  with_probe["GIT_CONFIG_VALUE_0"] = "1";
  command.environment = std::move(with_probe);
  command.timeout = k_longest_reading;
  sys::Captured answer;
  if (to_the_end) {
    answer.exit = sys::Process(command).wait([&](std::string_view piece) {
      if (answer.output.size() < k_longest_list) answer.output += piece;
    });
  } else {
    answer = sys::capture(command, k_longest_list);
  }
  if (answer.exit.stopped) throw Error("interrupted");
  // The settings after the end of a list that was cut off would stay in effect.
  if (answer.exit.timed_out || answer.output.size() >= k_longest_list)
    throw Error(fmt::format("git cannot read the configuration of the repository {}", printable(folder.string())));
  bool obeys = false;
  std::string named;
  for (std::string_view key : split(answer.output, '\0')) {
    key.remove_prefix(key.rfind('\n') + 1);  // a warning of git may come before it
    obeys = obeys || key == k_probe;
    for (const GitSetting& one : k_named_settings) {
      if (!key.starts_with(one.section) || !key.ends_with(one.name) ||
          key.size() <= one.section.size() + one.name.size())
        continue;
      settings.emplace_back(key, one.value);
      named = key;
    }
  }
  if (!obeys && answer.exit.code == 0 && !named.empty())
    throw Error(
        fmt::format("the configuration of git in {} names a program ({}), which only git 2.31 and newer can be "
                    "told to ignore; install a newer git",
                    printable(folder.string()), printable(named)));
  environment["GIT_CONFIG_COUNT"] = std::to_string(settings.size());
  for (std::size_t i = 0; i < settings.size(); ++i) {
    environment[fmt::format("GIT_CONFIG_KEY_{}", i)] = settings[i].first;
    environment[fmt::format("GIT_CONFIG_VALUE_{}", i)] = settings[i].second;
  }
}

}  // namespace wheelsmith::source
