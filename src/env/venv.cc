// A venv is a folder with three things: pyvenv.cfg, which names the base interpreter's folder; a link to that
// interpreter; and site-packages. Python's own module needs a third of a second to write them; this is immediate.
//
// Packages of another environment (the machine's own torch) are added by a .pth file whose single line calls
// site.addsitedir: unlike a plain path it also processes the .pth files there, which is how a torch installed from its
// checkout is found. Paths are written as ASCII byte literals, since the encoding with which it is read is unknown.

#include "env/venv.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "sys/files.h"

namespace wheelsmith::env {

namespace fs = std::filesystem;

namespace {

// The interpreter that is not a link of another venv.
fs::path base_interpreter(const toolchain::Python& python) {
  std::error_code error;
  const bool free_threaded = python.abi.ends_with('t');
  const fs::path own = python.base_prefix / "bin" / ("python" + python.short_version() + (free_threaded ? "t" : ""));
  if (python.prefix == python.base_prefix) return python.executable;
  if (fs::exists(own, error)) return own;
  const fs::path real = fs::canonical(python.executable, error);
  return error ? python.executable : real;
}

std::string python_bytes(const std::string& text) {
  std::string literal = "b'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte > ' ' && byte < 0x7f && c != '\'' && c != '\\';
    literal += plain ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return literal + "'";
}

std::string path_file(const std::vector<fs::path>& sites) {
  std::string text;
  for (const fs::path& site : sites) {
    if (!site.is_absolute()) throw Error(fmt::format("{} is not an absolute path", printable(site.string())));
    text += fmt::format("import os, site; site.addsitedir(os.fsdecode({}))\n", python_bytes(site.string()));
  }
  return text;
}

}  // namespace

Environment venv_at(const toolchain::Python& python, const fs::path& root) {
  // "python3.13t" for a free-threaded build, "pypy3.10": the interpreter's own name.
  std::string name = python.stdlib.filename().string();
  if (name.empty()) name = "python" + python.short_version();
  return {{}, root, root / "bin" / "python", root / "lib" / name / "site-packages"};
}

Environment write_venv(const toolchain::Python& python, const fs::path& root,
                       const std::vector<fs::path>& appended_sites) {
  const Environment environment = venv_at(python, root);
  const fs::path base = base_interpreter(python);
  if (base.string().find_first_of("\r\n") != std::string::npos) {
    throw Error(fmt::format("the path {} contains a line break", printable(base.string())));
  }
  sys::make_folders(root / "bin");
  sys::make_folders(root / "include");
  sys::make_folders(environment.site_packages);
  fs::create_directory_symlink("lib", root / "lib64");
  fs::create_symlink(base, root / "bin" / "python");
  fs::create_symlink("python", root / "bin" / "python3");
  fs::create_symlink("python", root / "bin" / ("python" + python.short_version()));
  sys::write_file(root / "pyvenv.cfg",
                  fmt::format("home = {}\ninclude-system-site-packages = false\nversion = {}\nexecutable = {}\n",
                              base.parent_path().string(), python.version, base.string()));
  if (!appended_sites.empty())
    sys::write_file(environment.site_packages / "_wheelsmith.pth", path_file(appended_sites));
  return environment;
}

Environment make_scratch_environment(const toolchain::Python& python, const std::vector<fs::path>& appended_sites,
                                     const fs::path& root) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(root, error)) && !fs::is_empty(root, error)) {
    throw Error(fmt::format("{} is not empty", printable(root.string())));
  }
  return write_venv(python, fs::absolute(root), appended_sites);
}

}  // namespace wheelsmith::env
