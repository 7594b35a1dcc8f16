#include "surgery/repair/system_packages.h"

// Which package of the distribution a library is from. auditwheel starts dpkg or rpm for each file; dpkg's lists are
// plain text, and reading all of them takes some 20 ms.
//
// /lib may be a link to /usr/lib, and packages still list their files under either name, so both spellings count.

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "attest/sbom.h"
#include "base/text.h"
#include "sys/files.h"
#include "sys/process/process.h"

namespace wheelsmith::surgery {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t k_most_database_bytes = 256 << 20;

// "ID=debian" of /etc/os-release.
std::string os_release(const fs::path& root, std::string_view key) {
  const auto text = sys::read_file_if_possible(root / "etc/os-release", 1 << 20);
  if (!text) return "";
  for (const std::string_view line : lines(*text)) {
    if (!line.starts_with(key) || line.size() <= key.size() || line[key.size()] != '=') continue;
    std::string value(trim(line.substr(key.size() + 1)));
    std::erase(value, '"');
    return value;
  }
  return "";
}

std::vector<std::string> spellings(const std::string& path, const fs::path& root) {
  std::string inside = path;
  const std::string prefix = root == "/" ? "" : root.string();
  if (!prefix.empty() && inside.starts_with(prefix + "/")) inside.erase(0, prefix.size());
  std::vector<std::string> result = {inside};
  if (inside.starts_with("/usr/"))
    result.push_back(inside.substr(4));
  else
    result.push_back("/usr" + inside);
  return result;
}

class Owners {
 public:
  Owners(const std::set<std::string>& paths, const fs::path& root) : m_root(root) {
    for (const std::string& path : paths) {
      for (std::string& spelling : spellings(path, root)) m_wanted.emplace(std::move(spelling), path);
    }
  }

  std::map<std::string, SystemPackage> find() {
    find_dpkg();
    find_apk();
    find_rpm();
    return std::move(m_found);
  }

 private:
  [[nodiscard]] std::string purl(std::string_view type, const SystemPackage& package) const {
    const std::string vendor = os_release(m_root, "ID"), release = os_release(m_root, "VERSION_ID");
    attest::Properties qualifiers;
    if (!package.architecture.empty()) qualifiers.emplace_back("arch", package.architecture);
    if (!vendor.empty() && !release.empty()) qualifiers.emplace_back("distro", vendor + "-" + release);
    return attest::system_purl(type, vendor, package.name, package.version, qualifiers);
  }

  void find_dpkg() {
    const fs::path folder = m_root / "var/lib/dpkg/info";
    std::error_code ignored;  // another distribution
    std::map<std::string, std::vector<std::string>> by_package;
    for (const auto& entry : fs::directory_iterator(folder, ignored)) {
      const std::string file = entry.path().filename().string();
      if (!file.ends_with(".list")) continue;
      const auto text = sys::read_file_if_possible(entry.path(), k_most_database_bytes);
      if (!text) continue;
      for (const std::string_view line : lines(*text)) {
        const auto wanted = m_wanted.find(line);
        if (wanted != m_wanted.end()) by_package[file.substr(0, file.size() - 5)].push_back(wanted->second);
      }
    }
    if (by_package.empty()) return;
    const auto status = sys::read_file_if_possible(m_root / "var/lib/dpkg/status", k_most_database_bytes);
    for (const auto& [package, paths] : by_package) {
      const SystemPackage found = dpkg_package(package, status.value_or(""));
      for (const std::string& path : paths) m_found.emplace(path, found);
    }
  }

  // `id` is "zlib1g:amd64", or without the architecture.
  [[nodiscard]] SystemPackage dpkg_package(const std::string& id, const std::string& status) const {
    SystemPackage package;
    package.name = id.substr(0, id.find(':'));
    if (id.find(':') != id.npos) package.architecture = id.substr(id.find(':') + 1);
    std::string name, version, architecture;
    const auto take = [&] {
      const bool fits = name == package.name && (package.architecture.empty() || architecture == package.architecture);
      if (!fits || !package.version.empty()) return;
      package.version = version;
      package.architecture = architecture;
    };
    for (const std::string_view line : lines(status)) {
      if (line.empty()) {
        take();
        name.clear();
      }
      if (line.starts_with("Package: ")) name = line.substr(9);
      if (line.starts_with("Version: ")) version = line.substr(9);
      if (line.starts_with("Architecture: ")) architecture = line.substr(14);
    }
    take();
    package.purl = purl("deb", package);
    const fs::path copyright = m_root / "usr/share/doc" / package.name / "copyright";
    std::error_code ignored;  // a package may have none
    if (fs::is_regular_file(copyright, ignored)) package.licenses.push_back({"copyright", copyright});
    return package;
  }

  // Records of lines "P:name", "V:version", "A:arch", with "F:folder" and "R:file" for what it owns.
  void find_apk() {
    const auto text = sys::read_file_if_possible(m_root / "lib/apk/db/installed", k_most_database_bytes);
    if (!text) return;
    SystemPackage package;
    std::string folder;
    for (const std::string_view line : lines(*text)) {
      if (line.size() < 2 || line[1] != ':') {
        package = SystemPackage();
        continue;
      }
      const std::string value(line.substr(2));
      switch (line[0]) {
        case 'P': package.name = value; break;
        case 'V': package.version = value; break;
        case 'A': package.architecture = value; break;
        case 'F': folder = "/" + value; break;
        case 'R':
          if (const auto wanted = m_wanted.find(folder + "/" + value); wanted != m_wanted.end()) {
            SystemPackage found = package;
            found.purl = purl("apk", found);
            add_license_folder(found);
            m_found.emplace(wanted->second, std::move(found));
          }
          break;
        default: break;
      }
    }
  }

  void add_license_folder(SystemPackage& package) const {
    std::error_code ignored;  // a package may have none
    for (const auto& entry : fs::directory_iterator(m_root / "usr/share/licenses" / package.name, ignored)) {
      if (entry.is_regular_file(ignored)) package.licenses.push_back({entry.path().filename().string(), entry.path()});
    }
    std::ranges::sort(package.licenses, {}, &SystemPackage::License::name);
  }

  // Its database is SQLite or Berkeley DB, depending on its version: the program knows.
  void find_rpm() {
    std::error_code ignored;  // another distribution
    if (!fs::exists(m_root / "var/lib/rpm", ignored) && !fs::exists(m_root / "usr/lib/sysimage/rpm", ignored)) return;
    if (sys::find_program("rpm").empty()) return;
    std::set<std::string> asked;
    for (const auto& [spelling, path] : m_wanted) {
      if (m_found.contains(path) || !asked.insert(path).second) continue;
      sys::Command command;
      command.argv = {"rpm",
                      "--root",
                      m_root.string(),
                      "-qf",
                      "--qf",
                      "%{NAME}\\t%{VERSION}-%{RELEASE}\\t%{ARCH}\\n",
                      spellings(path, m_root).front()};
      command.timeout = std::chrono::seconds(20);
      const sys::Captured answer = sys::capture(command, 1 << 20);
      const std::vector<std::string_view> cells = split(trim(answer.output), '\t');
      if (!answer.exit.good() || cells.size() != 3) continue;
      SystemPackage package;
      package.name = cells[0];
      package.version = cells[1];
      package.architecture = cells[2];
      package.purl = purl("rpm", package);
      add_license_folder(package);
      m_found.emplace(path, std::move(package));
    }
  }

  fs::path m_root;
  std::map<std::string, std::string, std::less<>> m_wanted;  // spelling -> path as given
  std::map<std::string, SystemPackage> m_found;
};

}  // namespace

std::map<std::string, SystemPackage> owning_packages(const std::set<std::string>& paths, const fs::path& root) {
  return paths.empty() ? std::map<std::string, SystemPackage>() : Owners(paths, root).find();
}

}  // namespace wheelsmith::surgery
