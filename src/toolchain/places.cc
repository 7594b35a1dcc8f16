// Queries about files and names on this machine that never throw: inaccessible paths count as missing.

#include <algorithm>
#include <system_error>

#include "base/error.h"
#include "base/text.h"
#include "sys/file.h"
#include "sys/files.h"
#include "toolchain/ask.h"

namespace wheelsmith::toolchain {

namespace fs = std::filesystem;

std::string variable(const Host& where, const std::string& name) {
  const auto found = where.environment.find(name);
  return found == where.environment.end() ? std::string() : found->second;
}

std::vector<fs::path> path_folders(const Host& where) {
  const std::string path = variable(where, "PATH");
  std::vector<fs::path> folders;
  for (const std::string_view part : split(path, ':')) {
    fs::path folder(part);
    if (folder.is_relative()) continue;
    if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(std::move(folder));
  }
  return folders;
}

std::vector<fs::path> programs_in_path(std::string_view name, const Host& where) {
  std::vector<fs::path> found;
  if (name.empty() || name.find('/') != std::string_view::npos) return found;
  for (const fs::path& folder : path_folders(where)) {
    if (is_program(folder / name)) found.push_back(folder / name);
  }
  return found;
}

bool is_program(const fs::path& file) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (error || status.type() != fs::file_type::regular) return false;
  const fs::perms execute = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  return (status.permissions() & execute) != fs::perms::none;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error) && !error;
}

std::vector<std::string> names_in(const fs::path& folder) {
  constexpr std::size_t k_most_names = 10'000;
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator(); at.increment(error)) {
    if (names.size() == k_most_names) break;
    names.push_back(at->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string head_of(const fs::path& file, std::uint64_t limit) {
  const auto blob = sys::map_file_if_possible(file);
  return blob ? std::string(blob->bytes.clamp(0, limit).text()) : "";
}

bool is_script(const fs::path& file) { return head_of(file, 2) == "#!"; }

bool is_shim(const fs::path& program) { return program.parent_path().filename() == "shims"; }

// pyenv's own settings and versions, and the selection files from the current folder upwards.
std::string shim_state(const Host& where) {
  std::string state = variable(where, "PYENV_VERSION") + "\n" + variable(where, "ASDF_PYTHON_VERSION");
  const std::string root = variable(where, "PYENV_ROOT");
  const fs::path pyenv(root.empty() ? variable(where, "HOME") + "/.pyenv" : root);
  state += "\n" + fingerprint_of(pyenv / "version") + "\n" + fingerprint_of(pyenv / "versions");
  std::error_code error;
  fs::path folder = fs::current_path(error);
  for (int depth = 0; !error && depth < 64; ++depth) {
    for (const char* name : {".python-version", ".tool-versions"}) {
      // Only existing ones: the depth of the current folder does not matter.
      std::error_code ignored;
      if (fs::exists(folder / name, ignored)) state += "\n" + fingerprint_of(folder / name);
    }
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return state;
}

fs::path real_path(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  return error ? path : real;
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  if (folder.empty()) return false;
  const fs::path inner = path.lexically_normal();
  const fs::path outer = (folder / "").lexically_normal().parent_path();
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

fs::path on_machine(const Host& where, std::string_view relative) { return where.machine_root / relative; }

std::string first_version(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_digit(text[at])) continue;
    std::size_t end = at;
    bool dotted = false;
    while (end < text.size() &&
           (is_digit(text[end]) || (text[end] == '.' && end + 1 < text.size() && is_digit(text[end + 1])))) {
      dotted = dotted || text[end] == '.';
      ++end;
    }
    if (dotted && end - at <= 64) return std::string(text.substr(at, end - at));
    at = end;
  }
  return {};
}

bool version_less(std::string_view a, std::string_view b) {
  const std::vector<std::string_view> left = split(a, '.'), right = split(b, '.');
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    const std::uint64_t x = i < left.size() ? to_number(left[i]).value_or(0) : 0;
    const std::uint64_t y = i < right.size() ? to_number(right[i]).value_or(0) : 0;
    if (x != y) return x < y;
  }
  return false;
}

}  // namespace wheelsmith::toolchain
