#include <fmt/format.h>
#include <pwd.h>
#include <signal.h>
#include <unistd.h>

#include <array>

#include "base/error.h"
#include "base/text.h"
#include "container/container.h"
#include "sys/files.h"
#include "sys/io/wait.h"
#include "sys/process/foreground.h"

namespace wheelsmith::container {

namespace {

namespace fs = std::filesystem;

std::string user_name() {
  const passwd* entry = ::getpwuid(::geteuid());  // NOLINT(concurrency-mt-unsafe)
  return entry == nullptr ? std::to_string(::geteuid()) : entry->pw_name;
}

// The value of a kernel parameter; nullopt if it does not exist.
std::optional<std::string> kernel_switch(const fs::path& root, const char* path) {
  const auto text = sys::read_file_if_possible(root / path, 4096);
  if (!text) return std::nullopt;
  return std::string(trim(*text));
}

bool has_subordinate_ids(const fs::path& root, const char* file, unsigned user, const std::string& name) {
  const auto text = sys::read_file_if_possible(root / file, 1 << 20);
  if (!text) return false;
  for (const std::string_view line : split(*text, '\n')) {
    const std::string_view owner = line.substr(0, line.find(':'));
    if (owner == name || owner == std::to_string(user)) return true;
  }
  return false;
}

// Exit statuses of podman, docker and apptainer for their own failures; wheelsmith never uses them.
bool is_engine_failure(int code) { return code == 125 || code == 126 || code == 127 || code == 255; }

}  // namespace

std::vector<std::string> obstacles(const fs::path& root, unsigned user, const std::string& name) {
  std::vector<std::string> sentences;
  if (kernel_switch(root, "proc/sys/user/max_user_namespaces") == "0")
    sentences.emplace_back(
        "the kernel does not allow user namespaces (user.max_user_namespaces is 0); root can allow them with "
        "`sysctl user.max_user_namespaces=28633`");
  if (kernel_switch(root, "proc/sys/kernel/unprivileged_userns_clone") == "0")
    sentences.emplace_back(
        "the kernel allows user namespaces only for root; root can allow them with "
        "`sysctl kernel.unprivileged_userns_clone=1`");
  if (kernel_switch(root, "proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1")
    sentences.emplace_back(
        "AppArmor restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns is 1) for programs without "
        "a profile");
  if (user != 0) {
    for (const char* file : {"etc/subuid", "etc/subgid"}) {
      if (!has_subordinate_ids(root, file, user, name))
        sentences.push_back(fmt::format(
            "/{} has no line for {}; root can add one with `usermod --add-subuids 100000-165535 --add-subgids "
            "100000-165535 {}`",
            file, printable(name), printable(name)));
    }
  }
  return sentences;
}

int run_inside(const Image& image, const Container& container, const std::vector<std::string>& argv) {
  const EngineCall call = engine_call(image, container, argv);
  sys::Environment environment = sys::current_environment();
  for (const auto& [name, value] : call.variables) environment[name] = value;
  sys::ForegroundCommand command{.program = call.argv.front(), .argv = call.argv, .environment = {}};
  for (const auto& [name, value] : environment) command.environment.push_back(name + "=" + value);
  command.default_signals = {SIGINT, SIGTERM, SIGHUP};
  sys::install_interrupt_flag();
  sys::ForegroundProcess process(command);
  bool told = false;
  for (;;) {
    if (const auto exit = process.poll()) {
      if (sys::interrupted()) return exit->code == 0 ? 0 : 130;
      if (!is_engine_failure(exit->code)) return exit->code;
      std::string why;
      if (container.rootless) {
        for (const std::string& sentence : obstacles("/", ::geteuid(), user_name())) why += "\n  " + sentence;
      }
      throw Error(fmt::format("{} could not start a container of {} (exit status {}); see its message above{}",
                              to_string(image.engine), printable(image.name), exit->code, why));
    }
    // A terminal also sends SIGINT to the engine, which forwards it. A second SIGINT would kill the program at once, so
    // send SIGTERM.
    if (sys::interrupted() && !told) {
      process.signal(SIGTERM);
      told = true;
    }
    std::array waiting{sys::Waiting{.fd = &process.end()}};
    (void)sys::wait_readable(waiting, process.end().is_open() ? 1000 : 20);
  }
}

}  // namespace wheelsmith::container
