// Where interpreters are searched for: PATH first, since that is what the user sees; then the folders of pyenv, uv,
// manylinux images and conda, which contain versions that are not in PATH. Names only decide which files are tried, and
// in what order; what counts is what the interpreter reports.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "toolchain/ask.h"
#include "toolchain/description.h"
#include "toolchain/wanted_python.h"

namespace wheelsmith::toolchain {

namespace fs = std::filesystem;

namespace {

// Newest first: 3.12.10 before 3.12.9.
std::vector<std::string> newest_first(std::vector<std::string> names) {
  std::stable_sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return version_less(first_version(b), first_version(a));
  });
  return names;
}

void add_below(std::vector<fs::path>& folders, const fs::path& parent) {
  if (!parent.is_absolute()) return;
  for (const std::string& name : newest_first(names_in(parent))) {
    if (is_there(parent / name / "bin")) folders.push_back(parent / name / "bin");
  }
}

std::vector<fs::path> conda_folders(const Host& where) {
  std::vector<fs::path> folders;
  const fs::path prefix = variable(where, "CONDA_PREFIX");
  if (!prefix.is_absolute()) return folders;
  folders.push_back(prefix / "bin");
  add_below(folders, prefix / "envs");
  if (prefix.parent_path().filename() == "envs") {
    folders.push_back(prefix.parent_path().parent_path() / "bin");
    add_below(folders, prefix.parent_path());
  }
  return folders;
}

// The folders after PATH.
std::vector<fs::path> version_folders(const Host& where) {
  std::vector<fs::path> folders;
  const fs::path home = variable(where, "HOME");
  const auto or_else = [&](const char* name, const fs::path& fallback) {
    const std::string value = variable(where, name);
    return value.empty() ? fallback : fs::path(value);
  };
  add_below(folders, or_else("PYENV_ROOT", home / ".pyenv") / "versions");
  add_below(folders, or_else("UV_PYTHON_INSTALL_DIR", or_else("XDG_DATA_HOME", home / ".local/share") / "uv/python"));
  add_below(folders, where.machine_root / "opt/python");  // manylinux images
  for (fs::path& folder : conda_folders(where)) folders.push_back(std::move(folder));
  return folders;
}

bool is_python_name(std::string_view name) {
  for (const std::string_view stem : {std::string_view("python"), std::string_view("pypy")}) {
    if (name.starts_with(stem)) name.remove_prefix(stem.size());
  }
  if (name.ends_with('t')) name.remove_suffix(1);
  return name.empty() || name == "3" || (name.starts_with("3.") && to_number(name.substr(2)).has_value());
}

std::string python_fix(const WantedPython& wanted) {
  const std::string version = wanted.words();
  return fmt::format(
      "install it (uv python install {0}; pyenv install {0}; or the system's python{1} and python{1}-dev) "
      "or pass the path of one with --python",
      version.empty() ? "3" : version, wanted.name_suffix());
}

Python python_at(const fs::path& given, const Host& where) {
  std::error_code error;
  fs::path path = fs::absolute(given, error);
  if (fs::is_directory(path, error)) {
    const fs::path folder = path;
    for (const char* inner : {"bin/python", "bin/python3", "bin/pypy3", "python", "python3"}) {
      path = folder / inner;
      if (is_program(path)) break;
    }
  }
  if (!is_program(path)) throw Error(fmt::format("{}: not a Python interpreter", printable(given.string())));
  if (std::optional<Python> python = read_python(path.lexically_normal(), where)) return *python;
  const Reply reply = ask({path.string(), "-I", "-B", "-c", "import json, sysconfig"}, where);
  const std::string why = reply.good ? "it does not behave like Python 3.6 or later" : reply.problem;
  throw Error(fmt::format("{}: not a working interpreter: {}", printable(given.string()), printable(why)));
}

}  // namespace

Python find_python(const std::string& wanted_text, const Host& where) {
  if (where.described) return find_described_python(wanted_text, *where.described);
  if (wanted_text.find('/') != std::string::npos) return python_at(wanted_text, where);
  const WantedPython wanted = WantedPython::parse(wanted_text);
  std::vector<fs::path> folders;
  if (where.use_conda) folders = conda_folders(where);
  for (fs::path& folder : path_folders(where)) folders.push_back(std::move(folder));
  const std::size_t in_path = folders.size();
  for (fs::path& folder : version_folders(where)) folders.push_back(std::move(folder));

  std::vector<std::string> tried;
  std::set<fs::path> seen;
  for (const bool later : {false, true}) {
    for (const std::string& name : wanted.names()) {
      // These folders have versioned names for every interpreter: no need to run each to learn its version.
      if (later && wanted.version.size() >= 2 && name.find('.') == std::string::npos) continue;
      for (std::size_t i = later ? in_path : 0; i < (later ? folders.size() : in_path); ++i) {
        const fs::path path = folders[i] / name;
        if (!is_program(path) || !seen.insert(path).second) continue;
        const std::optional<Python> python = read_python(path, where);
        if (python && wanted.fits(*python)) return *python;
        tried.push_back(printable(path.string()) + (python ? " is " + python->version : " does not run"));
      }
    }
  }
  std::string what = fmt::format("no Python {} found", wanted.words());
  if (tried.size() > 12) tried.resize(12);
  what += tried.empty() ? ": no such name in PATH, nor in the folders of pyenv, uv and conda, nor in /opt/python"
                        : ": " + join(tried, ", ");
  throw Error(what + "; " + python_fix(wanted));
}

std::vector<Python> find_pythons(const Host& where) {
  if (where.described) return where.described->pythons;
  std::vector<fs::path> folders = path_folders(where);
  for (fs::path& folder : version_folders(where)) folders.push_back(std::move(folder));
  std::vector<Python> pythons;
  std::set<std::pair<fs::path, fs::path>> seen;  // the real file and its environment
  std::set<fs::path> tried;
  for (const fs::path& folder : folders) {
    for (const std::string& name : names_in(folder)) {
      if (!is_python_name(name) || !is_program(folder / name)) continue;
      // For several names of one file in one folder the first is enough; a venv's links point outside its folder, but
      // its bin has only one interpreter.
      if (!is_script(folder / name) && !tried.insert(folder / real_path(folder / name).filename()).second) continue;
      std::optional<Python> python = read_python(folder / name, where);
      if (!python || !seen.insert({real_path(python->executable), python->prefix}).second) continue;
      pythons.push_back(std::move(*python));
    }
  }
  return pythons;
}

}  // namespace wheelsmith::toolchain
