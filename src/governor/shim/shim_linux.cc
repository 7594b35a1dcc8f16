#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "governor/governor.h"
#include "governor/server/sampler.h"
#include "governor/shim/shim.h"
#include "governor/shim/shim_cache.h"
#include "governor/shim/shim_folder.h"
#include "sys/files.h"
#include "sys/process/foreground.h"

// The shim: this program under a compiler's name. It asks the governor, waits, runs the real compiler and reports its
// result. A build calls it thousands of times, so it does as little as possible, and it never makes things worse:
// without a run file, without a governor, or for queries (--version) it simply becomes the real compiler.

namespace wheelsmith::governor {

namespace {

constexpr std::string_view k_shim_name = "wheelsmith-shim";
std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread
  return value == nullptr ? "" : value;
}

std::string link_target(const std::string& path) {
  std::array<char, 4096> text{};
  const ssize_t size = ::readlink(path.c_str(), text.data(), text.size());
  return size > 0 && static_cast<std::size_t>(size) < text.size()
             ? std::string(text.data(), static_cast<std::size_t>(size))
             : std::string();
}

int fail(const std::string& text) {
  std::fprintf(stderr, "wheelsmith: %s\n", text.c_str());
  return 127;
}

}  // namespace

std::vector<std::string> own_environment() {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) result.emplace_back(*entry);
  return result;
}

std::optional<std::string> read_response(const std::string& name) { return sys::read_file_if_possible(name, 16 << 20); }

std::optional<int> run_as_shim(int argc, char** argv) {
  const std::string self = link_target("/proc/self/exe");
  if (argc < 1 || base_name(self) != k_shim_name || base_name(argv[0]) == "wheelsmith") return std::nullopt;
  try {
    const std::string shims = self.substr(0, self.size() - k_shim_name.size() - std::string_view("/bin/").size());
    std::string real = variable(k_real_variable);
    ::unsetenv(k_real_variable);  // NOLINT(concurrency-mt-unsafe): one thread
    if (real.empty()) real = link_target(note_of_real(shims, argv[0]));
    if (real.empty()) return fail(fmt::format("no compiler recorded under the name {}", printable(base_name(argv[0]))));
    std::vector<std::string> words(argv, argv + argc);
    const auto as_is = [&](const std::vector<std::string>& environment) {
      words.front() = real;
      return fail(printable(real) + ": " + std::strerror(sys::become_program(real, words, environment)));
    };
    const std::string run_file = variable(k_run_variable);
    if (run_file.empty()) return as_is(own_environment());
    const auto holder = to_number(variable(k_grant_variable));
    if (holder && *holder < INT32_MAX && is_ancestor(static_cast<pid_t>(*holder))) return as_is(own_environment());
    auto command = read_command(words, read_response);
    auto run = command && command->governed ? RunFile::read(run_file) : std::nullopt;
    if (!run) return as_is(environment_below(own_environment(), shims, std::string(k_passed_variable) + "=1"));
    return Shim(shims, real, words, std::move(*command), run_file, std::move(*run)).run();
  } catch (const std::exception& error) {
    return fail(error.what());
  }
}

}  // namespace wheelsmith::governor
