// Only RECORD says what was installed, and its content is untrusted: a path in it is followed only where its real
// folder is inside the environment. RECORD is removed last, so that an interrupted uninstall can be repeated.

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/error.h"
#include "base/text.h"
#include "env/installer.h"
#include "pep/record.h"
#include "pep/wheel_name.h"
#include "sys/file.h"
#include "sys/files.h"

namespace wheelsmith::env {

namespace fs = std::filesystem;

namespace {

// demo-1.0.dist-info, or an older kind of installation without RECORD.
std::optional<fs::path> find_installed(const std::string& project, const fs::path& site) {
  std::error_code error;
  const std::string wanted = pep::normalized_name(project);
  for (const fs::directory_entry& entry : fs::directory_iterator(site, error)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".dist-info") && !name.ends_with(".egg-info")) continue;
    const std::string_view stem =
        std::string_view(name).substr(0, name.size() - 10 + (name.ends_with(".egg-info") ? 1 : 0));
    if (pep::normalized_name(stem.substr(0, stem.find('-'))) == wanted) return entry.path();
  }
  return std::nullopt;
}

class Remover {
 public:
  Remover(const fs::path& environment, fs::path site)
      : m_environment(fs::canonical(environment)), m_site(std::move(site)) {}

  void remove(const std::string& name) {
    std::error_code error;
    const fs::path path = m_site / name;
    const fs::path folder = fs::canonical(path.parent_path(), error);
    if (error || name.find('\0') != std::string::npos) return;
    const fs::path file = folder / path.filename();
    if (!is_inside(folder) || fs::is_directory(fs::symlink_status(file, error))) return;
    if (!fs::remove(file, error) && error && error.value() != ENOENT) {
      throw Error(fmt::format("cannot remove {}: {}", printable(file.string()), error.message()));
    }
    if (file.extension() == ".py") m_sources.insert(file);
    m_folders.insert(folder);
  }

  // Byte code, and folders that are now empty.
  void clean_up() {
    for (const fs::path& source : m_sources) m_caches.insert(source.parent_path() / "__pycache__");
    for (const fs::path& cache : m_caches) remove_compiled(cache);
    for (auto folder = m_folders.rbegin(); folder != m_folders.rend(); ++folder) remove_empty(*folder);
  }

 private:
  [[nodiscard]] bool is_inside(const fs::path& folder) const {
    return folder == m_environment || folder.native().starts_with(m_environment.native() + "/");
  }

  void remove_compiled(const fs::path& cache) {
    std::error_code error;
    if (!fs::is_directory(fs::symlink_status(cache, error))) return;
    std::vector<fs::path> compiled;
    for (const fs::directory_entry& entry : fs::directory_iterator(cache, error)) {
      const std::string name = entry.path().filename().string();
      const fs::path source = cache.parent_path() / (name.substr(0, name.find('.')) + ".py");
      if (name.ends_with(".pyc") && m_sources.contains(source)) compiled.push_back(entry.path());
    }
    for (const fs::path& file : compiled) fs::remove(file, error);
    fs::remove(cache, error);
  }

  // Upwards to the site or the environment's root; non-empty folders stay.
  void remove_empty(fs::path folder) const {
    std::error_code error;
    while (is_inside(folder) && folder != m_environment && folder != m_site && folder.filename() != "bin" &&
           fs::remove(folder, error) && !error) {
      folder = folder.parent_path();
    }
  }

  fs::path m_environment, m_site;
  std::set<fs::path> m_sources, m_caches, m_folders;
};

// Other projects have lines in the same file.
void remove_path_line(const fs::path& file, const std::string& folder) {
  const std::optional<std::string> text = sys::read_file_if_there(file, 16 << 20);
  if (!text || folder.empty()) return;
  std::string left;
  for (const std::string_view line : lines(*text)) {
    if (trim(line) != folder) left += std::string(line) + "\n";
  }
  sys::write_file(file, left);
}

}  // namespace

std::optional<fs::path> installed_as(const std::string& project, const InstallTarget& target) {
  if (auto found = find_installed(project, target.purelib)) return found;
  return find_installed(project, target.platlib);
}

bool uninstall(const std::string& project, const InstallTarget& target) {
  bool found = false;
  for (const fs::path& site : std::set<fs::path>{target.purelib, target.platlib}) {
    // After an interrupted uninstall there may be two.
    for (auto installed = find_installed(project, site); installed; installed = find_installed(project, site)) {
      const std::optional<std::string> text = sys::read_file_if_there(*installed / "RECORD", 256 << 20);
      if (!text) {
        throw Error(fmt::format("cannot replace {}: {} has no RECORD; uninstall it with the tool that installed it",
                                project, printable(installed->string())));
      }
      Remover remover(target.data, site);
      const std::string own = installed->filename().string() + "/RECORD";
      for (const pep::RecordLine& line : pep::Record::parse(Bytes(*text)).lines) {
        if (line.path != own) remover.remove(line.path);
      }
      for (const char* name : {"INSTALLER", "REQUESTED", "direct_url.json"})
        remover.remove(installed->filename().string() + "/" + name);
      remover.clean_up();
      sys::remove_tree(*installed);
      found = true;
    }
  }
  return found;
}

// The first line of an .egg-link is the folder that easy-install.pth adds to Python's path.
bool unlink_develop(const std::string& project, const InstallTarget& target) {
  bool found = false;
  for (const fs::path& site : std::set<fs::path>{target.purelib, target.platlib}) {
    std::error_code error;
    std::vector<fs::path> links;
    for (const fs::directory_entry& entry : fs::directory_iterator(site, error)) {
      if (entry.path().extension() == ".egg-link" && pep::same_name(entry.path().stem().string(), project))
        links.push_back(entry.path());
    }
    for (const fs::path& link : links) {
      const std::string text = sys::read_file_if_there(link, 1 << 20).value_or("");
      remove_path_line(site / "easy-install.pth", std::string(trim(text.substr(0, text.find('\n')))));
      fs::remove(link, error);
      found = true;
    }
  }
  return found;
}

}  // namespace wheelsmith::env
