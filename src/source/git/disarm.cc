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

struct GitSetting {
  std::string_view section, name, value;
};

// Settings with a name in the middle: filter.lfs.clean. An empty filter leaves files as they are.
constexpr std::array<GitSetting, 9> k_named_settings = {{
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
  std::vector<std::pair<std::string, std::string>> settings(k_plain_settings.begin(), k_plain_settings.end());
  sys::Command command;
  command.argv = {"git"};
  command.argv.insert(command.argv.end(), options.begin(), options.end());
  command.argv.insert(command.argv.end(), {"config", "--list", "--name-only", "-z"});
  command.folder = folder;
  command.environment = environment;
  command.timeout = k_longest_reading;
  sys::Captured answer;
  if (to_the_end)
    answer.exit = sys::Process(command).wait([&](std::string_view piece) { answer.output += piece; });
  else
    answer = sys::capture(command, 16 << 20);
  if (answer.exit.stopped) throw Error("interrupted");
  if (answer.exit.timed_out)
    throw Error(fmt::format("git cannot read the configuration of the repository {}", printable(folder.string())));
  for (const std::string_view key : split(answer.output, '\0')) {
    for (const GitSetting& one : k_named_settings) {
      if (key.starts_with(one.section) && key.ends_with(one.name) && key.size() > one.section.size() + one.name.size())
        settings.emplace_back(key, one.value);
    }
  }
  environment["GIT_CONFIG_COUNT"] = std::to_string(settings.size());
  for (std::size_t i = 0; i < settings.size(); ++i) {
    environment[fmt::format("GIT_CONFIG_KEY_{}", i)] = settings[i].first;
    environment[fmt::format("GIT_CONFIG_VALUE_{}", i)] = settings[i].second;
  }
}

}  // namespace wheelsmith::source
