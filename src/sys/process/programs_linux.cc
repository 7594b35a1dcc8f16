#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "sys/process/process.h"

// Program names, arguments and PATH lookups, as execvp and a shell interpret them.

namespace wheelsmith::sys {

namespace {

// The default of execvp when PATH is not set.
constexpr std::string_view k_default_path = "/bin:/usr/bin";

bool is_program(const std::filesystem::path& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_@%+=:,./-").find(c) != std::string_view::npos;
}

std::string in_quotes(std::string_view word) {
  std::string result = "'";
  for (const char c : word) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

}  // namespace

Environment current_environment() {
  Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    // For duplicate names the first entry wins, as in getenv().
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

std::filesystem::path find_program(std::string_view name, std::string_view path) {
  if (name.empty() || name.find('\0') != std::string_view::npos) return {};
  if (name.find('/') != std::string_view::npos) {
    return is_program(std::string(name)) ? std::filesystem::path(name) : std::filesystem::path();
  }
  for (const std::string_view folder : split(path, ':')) {
    const std::filesystem::path candidate = std::filesystem::path(folder.empty() ? "." : folder) / name;
    if (is_program(candidate)) return candidate;
  }
  return {};
}

std::filesystem::path find_program(std::string_view name) {
  const char* path = ::getenv("PATH");  // NOLINT(concurrency-mt-unsafe): wheelsmith never calls setenv
  return find_program(name, path != nullptr ? std::string_view(path) : k_default_path);
}

std::filesystem::path own_executable() {
  std::error_code error;
  std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) throw_sys_error(error.value(), "read", "/proc/self/exe");
  return path;
}

std::vector<std::string> own_arguments() {
  // The kernel ends each argument with a zero byte.
  std::vector<std::string> words;
  const std::string text = read_file("/proc/self/cmdline");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::string shell_quoted(std::string_view word) {
  const bool plain = !word.empty() && word.front() != '=' && std::all_of(word.begin(), word.end(), is_plain);
  return plain ? std::string(word) : in_quotes(word);
}

std::string shell_quoted(const std::vector<std::string>& argv) {
  std::string line;
  for (const std::string& word : argv) {
    // As the first word, a=b is an assignment, not a program.
    const bool assignment = line.empty() && word.find('=') != std::string::npos;
    if (!line.empty()) line += ' ';
    line += assignment ? in_quotes(word) : shell_quoted(word);
  }
  return line;
}

}  // namespace wheelsmith::sys
